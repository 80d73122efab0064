"""Distances to the nearest wrong truth: against a general optimiser, and against truths drawn from the ellipsoid."""

import numpy as np
import pytest

from assaypilot.engine.domain.goals import AllEpsilonBest, Best, Threshold
from assaypilot.engine.strategies.lingame.questions import question_of
from tests.oracles import lingame as oracle

GOALS = {
    "best": (Best(0.0), Best(0.1)),
    "epsilon-best": (AllEpsilonBest(0.4, 0.0), AllEpsilonBest(0.4, 0.2)),
    "threshold": (Threshold(0.1, 0.0), Threshold(0.1, 0.1)),
}
CASES = [(name, slack) for name in GOALS for slack in (0, 1)]


def instance(seed, k=7, d=3):
    rng = np.random.default_rng((5, seed))
    x = rng.standard_normal((k, d))
    theta = rng.standard_normal(d) * 0.6
    root = rng.standard_normal((d, d + 2))
    information = root @ root.T
    return x, theta, information, rng


def wrong_ways(goal, x, means, answer):
    return oracle.alternatives(
        goal.name,
        x,
        means,
        set(np.flatnonzero(answer).tolist()),
        goal.slack,
        getattr(goal, "epsilon", None),
        getattr(goal, "threshold", None),
    )


def distance(theta, information, constraints, rng):
    if all(y @ theta >= g for y, g in constraints):
        return 0.0
    starts = [theta, *(theta + rng.standard_normal(len(theta)) for _ in range(3))]
    return oracle.closest(theta, information, constraints, starts)


@pytest.mark.parametrize(("name", "slack"), CASES)
@pytest.mark.parametrize("seed", range(4))
def test_natures_best_response_is_the_nearest_wrong_truth(name, slack, seed):
    goal = GOALS[name][slack]
    x, theta, information, rng = instance(seed)
    question, means, every = question_of(goal), x @ theta, np.ones(len(x), dtype=bool)
    answer = question.answer(means, every, every)
    assert goal.is_right(answer, means)
    shift = question.nearest(x, means, np.linalg.inv(information), answer, every, every)
    ways = wrong_ways(goal, x, means, answer)
    nearest = min(distance(theta, information, way, rng) for way in ways)
    assert shift @ information @ shift == pytest.approx(nearest, rel=1e-5)
    moved = theta + shift
    assert any(all(y @ moved >= g - 1e-7 for y, g in way) for way in ways)


@pytest.mark.parametrize(("name", "slack"), CASES)
@pytest.mark.parametrize("seed", range(4))
def test_an_arm_is_as_certain_as_the_nearest_truth_against_it_is_far(name, slack, seed):
    """In: exactly. Out: exactly for one half-space; never more than the intersection, and its best single bound."""
    goal = GOALS[name][slack]
    x, theta, information, rng = instance(seed)
    question, means, every = question_of(goal), x @ theta, np.ones(len(x), dtype=bool)
    spread = x @ np.linalg.cholesky(np.linalg.inv(information))
    sides = question.sides(means, spread, every, every)
    inverse = np.linalg.inv(information)
    for i in range(len(x)):
        if name == "threshold":
            length = x[i] @ inverse @ x[i]
            assert sides.inside[i] == pytest.approx(max(means[i] - goal.threshold + goal.slack, 0) ** 2 / length)
            assert sides.outside[i] == pytest.approx(max(goal.threshold + goal.slack - means[i], 0) ** 2 / length)
        elif name == "best" and i == np.argmax(means):
            ways = [distance(theta, information, [(x[j] - x[i], goal.slack)], rng) for j in range(len(x)) if j != i]
            assert sides.inside[i] == pytest.approx(min(ways), rel=1e-5)
        elif name == "epsilon-best":
            worst = goal.epsilon + goal.slack
            ways = [distance(theta, information, [(x[j] - x[i], worst)], rng) for j in range(len(x)) if j != i]
            if all((x[j] - x[i]) @ theta < worst for j in range(len(x))):
                assert sides.inside[i] == pytest.approx(min(ways), rel=1e-5)
            else:
                assert sides.inside[i] == 0.0
            within = [(x[i] - x[j], -goal.epsilon) for j in range(len(x)) if j != i]
            assert sides.outside[i] <= distance(theta, information, within, rng) * (1 + 1e-5)
            singles = [distance(theta, information, [way], rng) for way in within]
            assert sides.outside[i] == pytest.approx(max(singles), rel=1e-5, abs=1e-12)


@pytest.mark.parametrize(("name", "slack"), CASES)
def test_what_is_certain_holds_for_every_truth_in_the_ellipsoid(name, slack):
    """Decisions at some radius, put together, are right under 2,000 truths on its border."""
    goal = GOALS[name][slack]
    decided = 0
    for seed in range(6):
        x, theta, information, rng = instance(seed)
        question, means, every = question_of(goal), x @ theta, np.ones(len(x), dtype=bool)
        factor = np.linalg.cholesky(np.linalg.inv(information))
        sides = question.sides(means, x @ factor, every, every)
        radius = 0.15
        ins, outs = sides.inside > radius**2, sides.outside > radius**2
        decided += int((ins | outs).sum())
        for _ in range(2000):
            step = rng.standard_normal(len(theta))
            truth = x @ (theta + factor @ step * (radius / np.linalg.norm(step)))
            if name == "threshold":
                assert (truth[ins] >= goal.threshold - goal.slack - 1e-9).all()
                assert (truth[outs] <= goal.threshold + goal.slack + 1e-9).all()
            else:
                top = truth.max()
                slacks = goal.slack + getattr(goal, "epsilon", 0.0)
                assert (truth[ins] >= top - slacks - 1e-9).all()
                assert (truth[outs] < top - getattr(goal, "epsilon", 0.0) + 1e-9).all()
    assert decided > 6
