"""All epsilon-best compounds from a fixed budget: what it refuses, says, measures and promises."""

import math

import numpy as np
import pytest

from assaypilot.engine.domain.features import SiteFeatures
from assaypilot.engine.domain.goals import AllEpsilonBest
from assaypilot.engine.errors import AssayPilotError
from assaypilot.engine.strategies.epsilon_best_fixed_budget import EpsilonBestFixedBudget
from assaypilot.engine.strategies.protocol import IN, OUT, UNDECIDED, Capacity
from tests.strategies import came_back, dense, problem_of, product


def made(budget, *, per_round=24, sd=0.3, slack=0.25):
    features = SiteFeatures(product((4, 3)), (4, 3))
    capacity = Capacity(per_round, per_round, budget=budget)
    return problem_of(features, goal=AllEpsilonBest(0.5, slack), sd=[sd], capacity=capacity)


def ended(problem, truth, rng):
    """The state at the end, and the sizes of the phases."""
    strategy, sizes = EpsilonBestFixedBudget(), []
    state = strategy.start(problem)
    while not strategy.stop(state):
        allocation = strategy.ask(state)
        sizes.append(allocation.total)
        state = strategy.tell(state, came_back(problem, truth, allocation, rng, spent=state.spent))
    return state, sizes


def test_a_budget_is_required_and_one_below_the_effects_refused():
    with pytest.raises(AssayPilotError, match="needs a budget") as refused:
        EpsilonBestFixedBudget().start(made(None))
    assert refused.value.option == "--budget"
    with pytest.raises(AssayPilotError, match="below one measurement per effect, of which there are 6"):
        EpsilonBestFixedBudget().start(made(5))


@pytest.mark.parametrize(("budget", "sizes"), [(24, [24]), (40, [40]), (48, [24, 24]), (100, [48, 24, 24, 4])])
def test_budget_is_spent_completely_in_whole_rounds(budget, sizes):
    rng = np.random.default_rng(4)
    problem = made(budget)
    truth = (dense(problem.features) @ rng.normal(0.0, 0.5, problem.features.n_columns))[None]
    state, found = ended(problem, truth, rng)
    assert sum(found) == budget
    assert found == sizes
    assert not (state.status == UNDECIDED).any()


def test_stated_error_bound_holds_at_the_end():
    """An answer is wrong and said to be so with less than alpha with a probability of alpha at most."""
    alpha, runs, early, said = 0.2, 15, 0, 0
    rng = np.random.default_rng(11)
    for _ in range(runs):
        problem = made(240, sd=0.15, per_round=80)
        truth = (dense(problem.features) @ rng.normal(0.0, 0.4, problem.features.n_columns))[None]
        state, _ = ended(problem, truth, rng)
        most = state.last.numbers["wrong_at_most"]
        behind = truth[0].max() - truth[0]
        bad = ((state.status == OUT) & (behind <= 0.5)).any() or ((state.status == IN) & (behind > 0.75)).any()
        said += most < alpha
        early += bad and most < alpha
    assert said > 2
    assert early <= alpha * runs


RHO = 0.5
"""The proof holds for any; this one is what all that was ever stated rests on."""
SD, EPSILON, SLACK = 0.15, 0.5, 0.25


def coordinates(x):
    """The rows in an orthonormal basis of their span, where V has an inverse."""
    _, sizes, rows = np.linalg.svd(x, full_matrices=False)
    return x @ rows[sizes > 1e-9 * sizes[0]].T


def information(x, counts):
    return (x * counts[:, None]).T @ x


def played(problem, truth, rng):
    """The last state, and the counts and sums of every phase, ``(n_phases, n_arms)`` each."""
    strategy = EpsilonBestFixedBudget()
    state, counts, sums = strategy.start(problem), [], []
    while not strategy.stop(state):
        outcome = came_back(problem, truth, strategy.ask(state), rng, spent=state.spent)
        counts.append(outcome.counts[0])
        sums.append(outcome.counts[0] * outcome.means[0])
        state = strategy.tell(state, outcome)
    return state, np.array(counts), np.array(sums)


def chance(told, grown):
    return min(math.exp((grown - told / (1.0 + RHO)) / 2.0), 1.0)


@pytest.mark.parametrize("budget", [900, 1300])
def test_bound_before_the_campaign_is_that_of_the_proof(budget):
    problem = made(budget, per_round=budget // 4, sd=SD)
    strategy = EpsilonBestFixedBudget()
    first = strategy.ask(strategy.start(problem))
    x = coordinates(dense(problem.features))
    counts = np.zeros(len(x))
    counts[first.arms] = first.counts
    inverse, d = np.linalg.inv(information(x, counts)), x.shape[1]
    widest = max(float(y @ inverse @ y) for a in x for y in a - x)
    largest = max(float(a @ inverse @ a) for a in x)
    grown = d * math.log(1.0 + 1.0 / RHO + (budget - first.total) * largest / (RHO * d))
    expected = chance((SLACK / 2.0) ** 2 / (SD**2 * widest), grown)
    assert 1e-3 < expected < 0.9
    assert strategy.beforehand(problem) == pytest.approx(expected, rel=1e-6, abs=0.0)


def test_bound_at_the_end_is_that_of_the_proof():
    rng, below = np.random.default_rng(12), 0
    for _ in range(20):
        problem = made(160, per_round=26, sd=SD)
        truth = (dense(problem.features) @ rng.normal(0.0, 0.4, problem.features.n_columns))[None]
        state, counts, sums = played(problem, truth, rng)
        assert len(counts) > 1
        x = coordinates(dense(problem.features))
        first, v = information(x, counts[0]), information(x, counts.sum(axis=0))
        means = x @ np.linalg.solve(v, x.T @ sums.sum(axis=0))
        behind, inverse = means.max() - means, np.linalg.inv(v)
        ins = behind <= EPSILON + SLACK / 2.0
        np.testing.assert_array_equal(state.status == IN, ins)
        leader, told = int(np.argmax(means)), math.inf
        for m in range(len(x)):
            for j in range(len(x)) if ins[m] else [leader]:
                y = x[j] - x[m]
                off = EPSILON + SLACK - (means[j] - means[m]) if ins[m] else behind[m] - EPSILON
                told = min(told, off**2 / float(y @ inverse @ y) if j != m else math.inf)
        grown = np.linalg.slogdet(v + RHO * first)[1] - np.linalg.slogdet(RHO * first)[1]
        expected = chance(told / SD**2, grown)
        below += 1e-3 < expected < 0.9
        assert state.last.numbers["wrong_at_most"] == pytest.approx(expected, rel=1e-6, abs=0.0)
    assert below >= 4
