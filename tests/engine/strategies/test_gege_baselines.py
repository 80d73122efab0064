"""EGE-SH, EGE-SR and APE against slow references, and what they refuse."""

import math

import numpy as np
import pytest
from hypothesis import given

from assaypilot.engine.domain.features import DenseFeatures
from assaypilot.engine.domain.goals import ParetoSet
from assaypilot.engine.errors import AssayPilotError
from assaypilot.engine.simulate.baselines.ape import Ape, threshold
from assaypilot.engine.simulate.baselines.ege import EgeSh, EgeSr
from assaypilot.engine.strategies.protocol import IN, OUT, Capacity, Outcome
from tests.oracles import gege as oracle
from tests.strategies import phases, problem_of, seeds


def problem_for(features, budget=None, *, margins=(0.0, 0.0), sd=(1.0, 1.0), **changes):
    capacity = None if budget is None else Capacity(96, 96, budget=budget)
    return problem_of(features, goal=ParetoSet(margins), sd=list(sd), capacity=capacity, **changes)


def final(strategy, problem, truth, rng, most=2000):
    state, _, decision = list(phases(strategy, problem, truth, rng, most=most))[-1]
    return strategy.apply(state, decision)


def pooled(steps):
    """Counts and means of all outcomes, arm by arm."""
    counts = sum(outcome.counts for _, outcome, _ in steps)
    sums = sum(outcome.counts * outcome.means for _, outcome, _ in steps)
    return counts, sums / np.maximum(counts, 1)


@pytest.mark.parametrize("arms", [1, 2, 5, 8, 13])
def test_sequential_halving(arms):
    rng = np.random.default_rng(arms)
    truth = rng.normal(size=(2, arms)) * 3
    rounds = max(1, math.ceil(math.log2(arms)))
    budget = arms * rounds * 3
    problem = problem_for(DenseFeatures(np.eye(arms)), budget, sd=(1.0, 0.5))
    steps = list(phases(EgeSh(), problem, truth, rng))
    active, ins, outs, spent = list(range(arms)), set(), set(), 0
    for number, (state, outcome, decision) in enumerate(steps, start=1):
        each = (budget - spent) // (rounds - number + 1) // len(active)
        assert outcome.allocation.arms.tolist() == active
        assert (outcome.allocation.counts == each).all()
        spent += each * len(active)
        _, means = pooled(steps[:number])
        yes, no, kept = oracle.budget_round((means[:, active] / [[1.0], [0.5]]).T, math.ceil(len(active) / 2))
        ins |= {active[i] for i in yes}
        outs |= {active[i] for i in no}
        active = sorted(active[i] for i in kept)
        after = EgeSh().apply(state, decision)
    assert len(active) == 1
    assert set(np.flatnonzero(after.status == IN)) == ins | set(active)
    assert set(np.flatnonzero(after.status == OUT)) == outs
    assert after.spent == spent <= budget


@pytest.mark.parametrize(("arms", "budget"), [(1, 1), (2, 9), (5, 40), (9, 200), (12, 13), (12, 30)])
def test_successive_rejects(arms, budget):
    """One arm a round, and rounds without new measurements at once."""
    rng = np.random.default_rng(arms)
    truth = rng.normal(size=(2, arms)) * 3
    problem = problem_for(DenseFeatures(np.eye(arms)), budget)
    steps = list(phases(EgeSr(), problem, truth, rng))
    counts, means = np.zeros(arms), None
    each = oracle.rejects(arms, budget)
    active, ins, outs = list(range(arms)), set(), set()
    taken = iter(range(1, len(steps) + 1))
    for done in range(1, arms):
        fresh = each[done - 1] - (each[done - 2] if done > 1 else 0)
        if fresh:
            number = next(taken)
            assert steps[number - 1][1].allocation.counts.tolist() == [fresh] * len(active)
            counts[active] += fresh
            _, means = pooled(steps[:number])
        yes, no, kept = oracle.budget_round(means[:, active].T, len(active) - 1)
        ins |= {active[i] for i in yes}
        outs |= {active[i] for i in no}
        active = sorted(active[i] for i in kept)
    state, _, decision = steps[-1]
    after = EgeSr().apply(state, decision)
    assert set(np.flatnonzero(after.status == IN)) == ins | set(active)
    assert set(np.flatnonzero(after.status == OUT)) == outs
    assert after.spent == max(counts.sum(), 1) <= budget


@given(seeds)
def test_what_ape_measures_and_when_it_stops(seed):
    """One look at random means and counts: the same arm next and the same answer as loops over all pairs."""
    rng = np.random.default_rng(seed)
    arms = int(rng.integers(2, 7))
    margin = float(rng.choice([0.0, 0.5]))
    problem = problem_for(
        DenseFeatures(np.eye(arms)), margins=(margin, margin), sd=(0.5, 0.5), radii=("proven", "simplified")[seed % 2]
    )
    state = Ape().start(problem)
    first = Ape().ask(state)
    assert first.counts.tolist() == [1] * arms
    counts = np.repeat(rng.integers(1, 4000, arms)[None], 2, axis=0).astype(float)
    means = rng.normal(size=(2, arms))
    outcome = Outcome(first, counts, means, int(counts[0].sum()))
    decision = Ape().decide(state, outcome)
    after = Ape().apply(state, decision)
    unit = margin or 0.5
    constant = threshold(problem.parameters["radii"], problem.delta, arms, 2)
    answer, stops, b, c = oracle.ape((means / unit).T, counts[0], constant, float(margin > 0), 0.5 / unit)
    assert bool(Ape().stop(after)) == stops
    if stops:
        assert set(np.flatnonzero(after.status == IN)) == answer
        assert (np.isin(after.status, (IN, OUT))).all()
    else:
        assert len(decision.ins) == len(decision.outs) == 0
        (arm,) = Ape().ask(after).arms
        assert arm == min((b, c), key=lambda i: counts[0, i])


@pytest.mark.parametrize("batch", [None, 6])
def test_ape_ends_with_the_right_answer(batch):
    truth = np.array([[3.0, 1.0, 2.0, 0.0], [0.0, 3.0, 2.0, -1.0]])
    problem = problem_for(DenseFeatures(np.eye(4)), sd=(0.3, 0.3), batch=batch)
    state = final(Ape(), problem, truth, np.random.default_rng(0))
    assert state.status.tolist() == [IN, IN, IN, OUT]
    sizes = {o.allocation.total for _, o, _ in phases(Ape(), problem, truth, np.random.default_rng(0))}
    assert sizes == {4, batch or 1}


def test_ape_says_what_it_gives_up_and_refuses_too_many_pairs():
    features = DenseFeatures(np.eye(3))
    assert Ape().void(problem_for(features)) == ()
    assert "without the union" in Ape().void(problem_for(features, radii="simplified"))[0]
    away = problem_for(features, measurable=[True, True, False])
    assert "cannot be measured" in Ape().void(away)[0]
    with pytest.raises(AssayPilotError, match="ape compares every pair of compounds: 2,001 are too many"):
        Ape().start(problem_for(DenseFeatures(np.ones((2001, 1)))))
