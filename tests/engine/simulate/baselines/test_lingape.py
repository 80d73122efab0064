"""LinGapE, m-LinGapE and LinGIFA: races and pulls against plain references, errors, refusals."""

import math

import numpy as np
import pytest

from assaypilot.engine.domain.features import DenseFeatures
from assaypilot.engine.domain.goals import AllEpsilonBest, Best
from assaypilot.engine.simulate.baselines.lingape import LinGapE, LinGIFA, MLinGapE, index_race, leading_race
from assaypilot.engine.strategies.protocol import IN, Outcome
from tests.oracles import lingame as oracle
from tests.strategies import came_back, problem_of, unit_rows

EVERY = pytest.mark.parametrize("kind", [LinGapE, MLinGapE, LinGIFA])
TOP = pytest.mark.parametrize("kind", [MLinGapE, LinGIFA])


def campaign(kind, problem, truth, seed, *, most=5000, **came):
    strategy, rng = kind(), np.random.default_rng((9, seed))
    state = strategy.start(problem)
    for _ in range(most):
        if strategy.stop(state):
            break
        state = strategy.tell(state, came_back(problem, truth, strategy.ask(state), rng, spent=state.spent, **came))
    return state


@pytest.mark.parametrize(
    ("race", "reference"), [(leading_race, oracle.race_by_means), (index_race, oracle.race_by_indices)]
)
@pytest.mark.parametrize("seed", range(12))
def test_the_race_is_that_of_the_definition(race, reference, seed):
    rng = np.random.default_rng((2, seed))
    k, m = 9, int(rng.integers(1, 8))
    means, spread, width = rng.standard_normal(k), rng.standard_normal((k, 3)), float(rng.uniform(0.0, 1.0))

    def index(i, j):
        return means[i] - means[j] + width * np.linalg.norm(spread[i] - spread[j])

    found = race(means, spread, width, m)
    leaders, weakest, challenger, excess = reference(means, index, m)
    assert set(found.leaders.tolist()) == leaders
    assert (found.weakest, found.challenger) == (weakest, challenger)
    assert found.excess == pytest.approx(excess)


@EVERY
@pytest.mark.parametrize("batch", [1, 4])
@pytest.mark.parametrize("seed", range(3))
def test_pulls_and_the_end_are_those_of_the_definition(kind, batch, seed):
    """argmin |y| in (A + a a')^-1 over all arms, every matrix inverted anew; the end when B is within the slack."""
    rng = np.random.default_rng((3, seed))
    x, sd, norm = unit_rows(rng, 6, 3), 0.25, 1.5
    truth = x @ rng.standard_normal(3)
    goal = Best(0.1) if kind is LinGapE else AllEpsilonBest(0.5, 0.1)
    given = {} if kind is LinGapE else {"m": 2}
    problem = problem_of(DenseFeatures(x), goal=goal, sd=sd, norm=norm, pull="greedy", batch=batch, **given)
    strategy = kind()
    state = strategy.start(problem)
    state = strategy.tell(state, came_back(problem, truth, strategy.ask(state), rng))
    eta = (sd / norm) ** 2
    reference = oracle.race_by_indices if kind is LinGIFA else oracle.race_by_means
    ended = False
    for _ in range(600):
        counts = state.memory["counts"]
        a = x.T @ (counts[:, None] * x) + eta * np.eye(3)
        means = x @ np.linalg.solve(a, x.T @ state.memory["sums"])
        beta = oracle.beta(counts.sum(), math.log(10), d=3, length=1.0, eta=eta, norm=norm, sigma=sd)
        width = sd * math.sqrt(2 * beta)

        def race(a, means=means, width=width):
            inverse = np.linalg.inv(a)

            def index(i, j):
                y = x[i] - x[j]
                return means[i] - means[j] + width * math.sqrt(max(y @ inverse @ y, 0.0))

            return reference(means, index, given.get("m", 1))

        leaders, *_, excess = race(a)
        ended = bool(strategy.stop(state))
        assert ended == (excess <= goal.slack)
        if ended:
            assert set(np.flatnonzero(state.status == IN).tolist()) == leaders
            break
        allocation = strategy.ask(state)
        planned = np.zeros(6, dtype=int)
        for _ in range(batch):
            _, b, c, _ = race(a)
            y = x[b] - x[c]
            arm = int(np.argmin([y @ np.linalg.inv(a + np.outer(row, row)) @ y for row in x]))
            planned[arm] += 1
            a = a + np.outer(x[arm], x[arm])
        assert np.flatnonzero(planned).tolist() == allocation.arms.tolist()
        assert planned[allocation.arms].tolist() == allocation.counts.tolist()
        state = strategy.tell(state, came_back(problem, truth, allocation, rng, spent=state.spent))
    assert ended


@TOP
def test_the_wrong_m_gives_as_many_compounds_all_the_same(kind):
    x = np.eye(4)
    truth = np.array([1.0, 0.9, 0.0, -0.5])
    problem = problem_of(DenseFeatures(x), epsilon=0.4, slack=0.1, sd=0.05, m=3, batch=8)
    state = campaign(kind, problem, truth, 0)
    assert np.flatnonzero(state.status == IN).tolist() == [0, 1, 2]
    (reason,) = kind().void(problem)
    assert reason == (
        "it returns the 3 best compounds up to the slack; those are the ones within epsilon only when there are 3 "
        "of them and the slack is 0"
    )


@EVERY
def test_no_decision_while_a_compound_is_not_known_at_all(kind):
    problem = problem_of(DenseFeatures(np.eye(3)), goal=Best(), sd=0.1, first="spanning")
    strategy = kind()
    state = strategy.start(problem)
    counts = np.array([1e4, 1e4, 0.0])
    decision = strategy.decide(state, Outcome(strategy.ask(state), counts[None], np.array([[1.0, 0.0, 9.0]]), 20000))
    assert len(decision.ins) == len(decision.outs) == 0
    assert np.isposinf(decision.high[0, 2])
    assert strategy.ask(strategy.apply(state, decision)).arms.tolist() == [2]
