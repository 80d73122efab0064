import math
from dataclasses import replace

import numpy as np
import pytest
from scipy.stats import norm

from assaypilot.engine.domain.goals import AllEpsilonBest, Best, ParetoSet, Threshold
from assaypilot.engine.simulate.instances import get
from assaypilot.engine.simulate.instances.instance import dense
from assaypilot.engine.simulate.runner import Task
from assaypilot.engine.simulate.yardsticks import of_draw, yardsticks
from tests.engine.simulate.making import Plain, instance_of


def test_lingames_hard_instance():
    """T* = 880.6 (closed form); the oracle compares a1 with two others at 1 - 0.01 / 2."""
    known = of_draw(get("lingame-hard").make(0), 0.01)
    assert known.lower_bound == pytest.approx(880.6 * math.log(1 / 0.024), rel=1e-3)
    assert known.oracle == pytest.approx(norm.isf(0.005) ** 2 * 880.6 / 2, rel=1e-3)


def test_two_arms_in_closed_form():
    drawn = dense(np.eye(2), np.array([1.0, 0.4]), Best(), sd=0.5)
    best = of_draw(drawn, 0.05)
    assert best.lower_bound == pytest.approx(2 * 0.25 * 4 / 0.36 * math.log(1 / 0.12), rel=1e-3)
    assert best.oracle == math.ceil(norm.isf(0.05) ** 2 * 0.25 * 4 / 0.36)
    slack = of_draw(replace(drawn, goal=Best(0.1)), 0.05)
    assert slack.lower_bound == pytest.approx(best.lower_bound * (0.6 / 0.7) ** 2, rel=1e-3)
    zone = of_draw(replace(drawn, goal=Best(0.7)), 0.05)
    assert zone.lower_bound is None
    assert zone.oracle < slack.oracle


@pytest.mark.parametrize(
    ("drawn", "said"),
    [
        (get("gse-logistic-5").make(0), "Gaussian"),
        (get("covboost").make(0), "Pareto"),
        (dense(np.eye(3), np.array([1.0, 1.0, 0.0]), Best()), "not unique"),
        (dense(np.eye(3), np.array([1.0, 0.5, 0.0]), AllEpsilonBest(0.5)), "border"),
        (dense(np.array([[1.0], [2.0]]), np.array([1.0, 1.0]), Best(0.1)), "additive"),
        (dense(np.eye(2), np.array([1.0, 0.0]), Threshold(0.5)), "goal"),
    ],
)
def test_none_where_they_are_not_defined(drawn, said):
    known = of_draw(drawn, 0.05)
    assert (known.lower_bound, known.oracle) == (None, None)
    assert said in known.note


def test_the_complexity_of_a_pareto_set_is_in_units_of_the_noise():
    means = np.array([[1.0, 0.0, 0.2], [0.0, 1.0, 0.2]])
    one = dense(np.eye(3), means, ParetoSet((0.0, 0.0)))
    half = dense(np.eye(3), means, ParetoSet((0.0, 0.0)), sd=0.5)
    h1, h2 = of_draw(one, 0.1).complexity
    assert of_draw(half, 0.1).complexity == pytest.approx((h1 / 4, h2 / 4))
    # Gaps of the three: nobody dominates, each is 0.8 ahead of the nearest somewhere, or what that one is.
    assert h2 <= h1


def test_random_instances_give_the_mean_over_their_first_draws():
    task = Task(Plain(), get("lingame-sphere-6"), seed=5)
    three = yardsticks(task, 3)
    assert three.draws == 3
    assert yardsticks(task, 1).lower_bound != three.lower_bound
    assert yardsticks(task, 3) == three
    assert yardsticks(Task(Plain(), get("lingame-pi6")), 50).draws == 1
    tie = instance_of(dense(np.eye(2), np.array([1.0, 1.0]), Best()))
    assert yardsticks(Task(Plain(), tie), 2).lower_bound is None
