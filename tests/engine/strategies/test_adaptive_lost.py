"""``adaptive`` while compounds run out: it ends, and those lost still count."""

import math

import numpy as np
import pytest

from assaypilot.engine.domain.features import DenseFeatures
from assaypilot.engine.domain.goals import AllEpsilonBest, Best
from assaypilot.engine.strategies.adaptive.epsilon_best import Adaptive
from assaypilot.engine.strategies.protocol import (
    IN,
    NOT_ESTIMABLE,
    OUT,
    UNDECIDED,
    Allocation,
    Capacity,
    Certificate,
    Outcome,
)
from tests.strategies import came_back, problem_of

GOAL = AllEpsilonBest(0.3, 0.1)
LAB = Capacity(24, 24)


def started(goal, n, *, sd=0.3, delta=0.05, capacity=LAB, measurable=None, x=None):
    features = DenseFeatures(np.eye(n) if x is None else x)
    problem = problem_of(features, goal=goal, sd=sd, delta=delta, capacity=capacity, measurable=measurable)
    return Adaptive().start(problem)


def measured(state, counts, truth, rng):
    """The state after a phase of just these measurements."""
    counts = np.asarray(counts, dtype=float)
    means = truth + state.problem.noise[0] * rng.standard_normal(len(counts)) / np.sqrt(np.maximum(counts, 1))
    plan = Allocation(state.phase + 1, np.arange(1), np.ones(1, np.intp), math.inf, Certificate("g", 1, 1))
    spent = state.spent + int(counts.sum())
    return Adaptive().tell(state, Outcome(plan, counts[None], np.where(counts > 0, means, 0.0)[None], spent))


def with_only(state, *measurable):
    return Adaptive().adjust(state, measurable=np.array(measurable, dtype=bool), spent=state.spent)


def ended(state, truth, rng, most=60):
    strategy = Adaptive()
    for _ in range(most):
        if strategy.stop(state):
            return state
        state = strategy.tell(state, came_back(state.problem, truth, strategy.ask(state), rng, spent=state.spent))
    raise AssertionError("it does not end")


@pytest.mark.parametrize("goal", [GOAL, Best(0.1)], ids=["epsilon-best", "best"])
@pytest.mark.parametrize("capacity", [LAB, None], ids=["plates", "no plates"])
@pytest.mark.parametrize("seed", range(3))
def test_it_ends_when_one_that_may_be_the_best_runs_out(goal, capacity, seed):
    truth, rng = np.array([1.0, 0.9, 0.85, -2.0]), np.random.default_rng(seed)
    state = started(goal, 4, capacity=capacity)
    state = with_only(measured(state, [6, 6, 6, 6], truth, rng), False, True, True, True)
    state = ended(state, truth, rng)
    assert state.status.tolist() == [NOT_ESTIMABLE, UNDECIDED, UNDECIDED, OUT]
    (reason,) = Adaptive().stop(state)
    assert reason.name == "lost"
    assert reason.text == "1 of the best cannot be measured any more; against what is known of it 2 stay open"
    assert state.spent < 2000


def test_one_that_ran_out_and_is_surely_worse_holds_nobody_up():
    """It is not the best by the bounds of single means; so is one that it beats surely."""
    truth, rng = np.array([1.0, 0.9, -1.0]), np.random.default_rng(0)
    state = measured(started(GOAL, 3), [1, 1, 4], truth, rng)
    state = ended(with_only(state, True, True, False), truth, rng)
    assert state.status.tolist() == [IN, IN, NOT_ESTIMABLE]
    assert state.memory["not_best"].tolist() == [False, False, True]
    state = measured(started(GOAL, 3), [400, 1, 1], np.array([3.0, 0.0, 0.0]), rng)
    state = ended(with_only(state, False, True, True), truth, rng)
    assert state.status.tolist() == [IN, OUT, OUT]


def test_compared_compound_counts_where_no_phase_estimated_its_mean():
    """c = d + a - b led, then could not be estimated any more: by it d was refuted, so a must not be in."""
    x = np.array([[1.0, 0, 0], [0, 1.0, 0], [1.0, -1.0, 1.0], [0, 0, 1.0]])
    truth, rng = x @ np.array([1.0, -1.0, 3.0]), np.random.default_rng(0)
    state = started(GOAL, 4, sd=0.01, x=x)
    state = measured(state, [4, 4, 0, 0], truth, rng)
    state = measured(state, [0, 0, 0, 4], truth, rng)
    for _ in range(3):
        state = measured(state, [4, 4, 0, 0], truth, rng)
    assert state.memory["leaders"][2:].tolist() == [2, 2, 2]
    assert state.memory["not_best"][3]
    assert not np.isfinite(state.high[0, 2])
    state = with_only(state, True, False, False, True)
    assert state.lost[2]
    for _ in range(6):
        state = measured(state, [4, 0, 0, 4], truth, rng)
    assert not (state.status == IN).any()


def test_tie_without_slack_is_reported():
    state, plan = started(Best(0.0), 2, capacity=None), [1e13, 1e13]
    for _ in range(2):
        state = measured(state, plan, np.zeros(2), np.random.default_rng(0))
    (reason,) = Adaptive().stop(state)
    assert reason.name == "undecidable"
    assert reason.text.startswith("2 compounds are too close to tell apart")
