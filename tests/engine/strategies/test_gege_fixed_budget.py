"""GEGE with a fixed budget against its slow reference, and what it refuses and admits."""

import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given

from assaypilot.engine.domain.features import DenseFeatures, SiteFeatures
from assaypilot.engine.domain.goals import ParetoSet
from assaypilot.engine.errors import AssayPilotError
from assaypilot.engine.strategies.gege.fixed_budget import GegeFixedBudget, halving, rounds_for
from assaypilot.engine.strategies.protocol import IN, OUT, UNDECIDED, Capacity
from tests.oracles import gege as oracle
from tests.strategies import came_back, dense, phases, problem_of, product, random_table, seeds


def problem_for(features, budget, *, sd=(0.2, 0.2), margins=None, **changes):
    goal = ParetoSet((0.0,) * len(sd) if margins is None else margins)
    return problem_of(features, goal=goal, sd=list(sd), capacity=Capacity(96, 96, budget=budget), **changes)


@given(seeds)
def test_a_round_keeps_the_smallest_gaps(seed):
    rng = np.random.default_rng(seed)
    means = rng.normal(size=(rng.integers(2, 5), rng.integers(1, 12)))
    if seed % 2:
        means = np.round(means)
    keep = int(rng.integers(0, means.shape[1] + 1))
    found = halving(means, keep)
    accepted, rejected, _ = oracle.budget_round(means.T, keep)
    assert set(np.flatnonzero(found.ins)) == accepted
    assert set(np.flatnonzero(found.outs)) == rejected


@pytest.mark.parametrize(("rank", "rounds"), [(1, 1), (2, 1), (3, 2), (4, 2), (5, 3), (8, 3), (16, 4), (17, 5)])
def test_number_of_rounds(rank, rounds):
    assert rounds_for(rank) == rounds


@pytest.mark.parametrize("seed", range(6))
def test_runs_against_the_slow_reference(seed):
    rng = np.random.default_rng((7, seed))
    codes, sizes = random_table(rng, ("full", "sparse", "deficient")[seed % 3], most=24)
    features = SiteFeatures(codes, sizes)
    x = dense(features)
    truth = np.stack([x @ rng.normal(0.0, 0.6, features.n_columns) for _ in range(3)])
    sd = (0.2, 0.4, 0.1)
    budget = 301
    problem = problem_for(features, budget, sd=sd)
    rank = int(np.linalg.matrix_rank(x))
    rounds = max(1, math.ceil(math.log2(rank)))
    active, ins, outs = list(range(len(x))), set(), set()
    steps = list(phases(GegeFixedBudget(), problem, truth, rng))
    for number, (state, outcome, decision) in enumerate(steps, start=1):
        total = outcome.allocation.total
        assert total in (budget // rounds, budget // rounds + 1)
        reached = np.linalg.matrix_rank(x[outcome.allocation.arms]) == np.linalg.matrix_rank(x[active])
        assert reached, "every active arm can be estimated"
        means = np.array([oracle.estimate(x, *row)[0] for row in zip(outcome.counts, outcome.means, strict=True)])
        np.testing.assert_allclose(decision.estimate[:, active], means[:, active], atol=1e-8)
        scaled = (decision.estimate[:, active] / np.array(sd)[:, None]).T
        yes, no, kept = oracle.budget_round(scaled, math.ceil(rank / 2**number))
        ins |= {active[i] for i in yes}
        outs |= {active[i] for i in no}
        active = sorted(active[i] for i in kept)
        if number == rounds:
            ins |= set(active)
        after = GegeFixedBudget().apply(state, decision)
        assert set(np.flatnonzero(after.status == IN)) == ins
        assert set(np.flatnonzero(after.status == OUT)) == outs
        assert np.isinf(decision.radius)
    assert len(steps) <= rounds
    assert len(ins) + len(outs) == len(x)
    assert budget - rounds < after.spent <= budget or len(steps) < rounds


def test_a_budget_below_the_rank_in_each_round_is_refused():
    features = SiteFeatures(product((3, 3, 4)), (3, 3, 4))
    with pytest.raises(AssayPilotError) as refused:
        GegeFixedBudget().start(problem_for(features, 23))
    assert "a budget of 23 is below one measurement per effect and round: 8 effects in 3 rounds" in str(refused.value)
    assert "at least 24" in str(refused.value)
    state = GegeFixedBudget().start(problem_for(features, 24))
    assert GegeFixedBudget().ask(state).total == 8


def test_budget_below_the_theorem_is_reported_and_runs():
    features = SiteFeatures(product((3, 3, 4)), (3, 3, 4))
    below, above = (GegeFixedBudget().void(problem_for(features, budget)) for budget in (1079, 1080))
    assert len(above) == 1
    assert "delta is not used" in above[0]
    assert "below 1,080 measurements (45 per effect and round)" in below[1]
    assert "1,079" in below[1]


def test_arms_without_information_are_kept():
    features = DenseFeatures(np.eye(4))
    truth = np.array([[3.0, 2.0, 1.0, 0.0], [3.0, 2.0, 1.0, 0.0]])
    problem = problem_for(features, 80)
    state = GegeFixedBudget().start(problem)
    outcome = came_back(problem, truth, GegeFixedBudget().ask(state), np.random.default_rng(0))
    counts = outcome.counts.copy()
    counts[1, 0] = 0.0
    after = GegeFixedBudget().tell(state, replace(outcome, counts=counts))
    # Two are to be kept; the first is unknown, so one of the others, of the smallest gap: 1 of the second, which
    # lets go of the third by that.
    assert after.status[0] == UNDECIDED
    assert (after.status == UNDECIDED).sum() == 2
    again = came_back(problem, truth, GegeFixedBudget().ask(after), np.random.default_rng(1), spent=40)
    lost = again.counts.copy()
    lost[:, 0] = 0.0
    end = GegeFixedBudget().tell(after, replace(again, counts=lost))
    (reason,) = GegeFixedBudget().stop(end)
    assert reason.name == "budget"
    assert end.status[0] == UNDECIDED
