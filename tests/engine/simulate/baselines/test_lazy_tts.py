"""Lazy track-and-stop: its stopping rule, its tracking, its answers, its errors."""

import math

import numpy as np
import pytest
from scipy.stats import binomtest

from assaypilot.engine.domain.features import DenseFeatures
from assaypilot.engine.domain.goals import AllEpsilonBest, Best, Threshold
from assaypilot.engine.errors import AssayPilotError
from assaypilot.engine.simulate.baselines.lazy_tts import LazyTts
from assaypilot.engine.strategies.protocol import IN, UNDECIDED, Capacity
from tests.strategies import came_back, problem_of

X = np.array([[1.0, 0.0], [0.0, 1.0], [math.cos(0.4), math.sin(0.4)]])
TRUTH = X @ np.array([1.0, 0.0])


def asked(x=X, *, goal=None, sd=0.5, delta=0.1, budget=None, **given):
    capacity = None if budget is None else Capacity(10**6, 10**6, budget=budget)
    return problem_of(DenseFeatures(x), goal=goal or Best(), sd=sd, delta=delta, capacity=capacity, **given)


def steps(problem, truth, rng, most=6000):
    strategy = LazyTts()
    state = strategy.start(problem)
    for _ in range(most):
        if strategy.stop(state):
            break
        outcome = came_back(problem, truth, strategy.ask(state), rng, spent=state.spent)
        after = strategy.tell(state, outcome)
        yield state, outcome, after
        state = after


def test_it_stops_when_the_nearest_alternative_is_beyond_the_threshold_and_not_before():
    problem = asked(batch=3)
    v, b = np.zeros((2, 2)), np.zeros(2)
    for state, outcome, after in steps(problem, TRUTH, np.random.default_rng(0)):
        counts, means = outcome.counts[0], outcome.means[0]
        v = v + (X * counts[:, None]).T @ X
        b = b + X.T @ (counts * means)
        if np.linalg.matrix_rank(v) < 2:
            assert (after.status == UNDECIDED).all()
            continue
        theta = np.linalg.solve(v, b)
        best = int(np.argmax(X @ theta))
        inverse = np.linalg.inv(v)
        z = min(
            ((X[best] - X[j]) @ theta) ** 2 / (2 * (X[best] - X[j]) @ inverse @ (X[best] - X[j]))
            for j in range(3)
            if j != best
        )
        beta = 2 * 0.25 * (0.5 * np.log(np.linalg.det(v + np.eye(2))) + math.log(1 / 0.1))
        stops = z > beta and np.linalg.eigvalsh(v)[0] >= 1.0 - 1e-9
        assert (np.flatnonzero(after.status == IN).tolist() == [best]) == stops
        assert (state.status == UNDECIDED).all()
    assert stops


def test_it_tracks_the_weights_that_are_optimal_for_the_truth():
    """By symmetry of the closed form for d = 2 (LinGame): nearly all on the second compound."""
    problem = asked(sd=1.0, delta=1e-6, batch=64)
    *_, (_, _, after) = steps(problem, TRUTH, np.random.default_rng(1))
    y = X[0] - X[2]
    share = np.abs(y) / np.abs(y).sum()
    counts = after.memory["counts"]
    weights = after.memory["weights"]
    np.testing.assert_allclose(weights[:2], share, atol=0.1)
    assert abs(counts[1] / counts.sum() - share[1]) < 0.15


@pytest.mark.parametrize("goal", [Best(), Best(0.3), Threshold(0.5), Threshold(0.9, 0.2), AllEpsilonBest(0.5)])
def test_errors_are_at_most_delta(goal):
    runs, bad = 10, 0
    for seed in range(runs):
        given = {"truth": [TRUTH.tolist()]} if isinstance(goal, AllEpsilonBest) else {}
        problem = asked(goal=goal, batch=10, delta=0.3, **given)
        *_, (_, _, after) = steps(problem, TRUTH, np.random.default_rng((7, seed)))
        assert not (after.status == UNDECIDED).any()
        bad += not goal.is_right(after.status == IN, TRUTH)
    assert binomtest(bad, runs).proportion_ci(0.9).low <= 0.3


def test_a_guess_at_the_budget():
    problem = asked(budget=40, at_budget="guess", sd=1.0, batch=8)
    *_, (_, _, after) = steps(problem, TRUTH, np.random.default_rng(0))
    assert after.spent == 40
    assert (after.status == IN).sum() == 1
    honest = asked(budget=40, sd=1.0, batch=8)
    *_, (_, _, after) = steps(honest, TRUTH, np.random.default_rng(0))
    assert (after.status == UNDECIDED).all()
    (reason,) = LazyTts().stop(after)
    assert (reason.name, reason.numbers["undecided"]) == ("budget", 3)


def test_goal_whose_truth_is_needed_is_refused_without_it():
    with pytest.raises(AssayPilotError, match="lazy-tts with this goal needs the true means"):
        LazyTts().start(asked(goal=AllEpsilonBest(0.5)))
