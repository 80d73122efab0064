"""GSE against a slow reference, its allocations, and its refusals."""

import math
from dataclasses import replace

import numpy as np
import pytest

from assaypilot.engine.domain.features import DenseFeatures, ProjectedFeatures, SiteFeatures
from assaypilot.engine.domain.goals import Best
from assaypilot.engine.errors import AssayPilotError
from assaypilot.engine.strategies.gse import ALLOCATIONS, Gse, allocate, n_stages
from assaypilot.engine.strategies.protocol import Capacity, Outcome
from tests.oracles import gse as slow
from tests.strategies import came_back, dense, problem_of, product, random_table


def asked(features, budget, *, sd=1.0, seed=0, measurable=None, **parameters):
    capacity = None if budget is None else Capacity(10**6, 10**6, budget=budget)
    made = problem_of(features, goal=Best(), sd=sd, capacity=capacity, measurable=measurable, **parameters)
    return replace(made, seed=seed)


def drawn(kind, problem, truth, allocation, rng, spent):
    """What comes back: normal values, shares of successes, or counts."""
    if kind == "linear":
        return came_back(problem, truth, allocation, rng, spent=spent)
    counts = np.zeros(problem.n_arms)
    counts[allocation.arms] = allocation.counts
    n = np.maximum(counts, 1)
    sums = (
        rng.binomial(n.astype(int), 1 / (1 + np.exp(-truth))) if kind == "logistic" else rng.poisson(n * np.exp(truth))
    )
    return Outcome(allocation, counts[None], np.where(counts > 0, sums / n, 0.0)[None], spent + int(counts.sum()))


def played(problem, truth, rng, kind="linear"):
    """(state before, outcome, decision) of every stage."""
    strategy = Gse()
    state = strategy.start(problem)
    while not strategy.stop(state):
        outcome = drawn(kind, state.problem, truth, strategy.ask(state), rng, state.spent)
        decision = strategy.decide(state, outcome)
        yield state, outcome, decision
        state = strategy.tell(state, outcome)


@pytest.mark.parametrize("model", ["linear", "logistic", "poisson"])
@pytest.mark.parametrize("seed", range(4))
def test_every_stage_keeps_the_arms_of_the_paper(model, seed):
    rng = np.random.default_rng((8, seed))
    codes, sizes = random_table(rng, ("full", "sparse")[seed % 2], most=16)
    features = SiteFeatures(codes, sizes)
    x = dense(features)
    eta = (2.0, 3.0)[seed // 2]
    truth = x @ rng.normal(0.0, 0.4, x.shape[1])
    names = list(ALLOCATIONS)
    problem = asked(features, 400, sd=0.5, model=model, allocation=names[seed], eta=eta, bound=3.0)
    steps = list(played(problem, truth, rng, model))
    stages = slow.stages(len(x), eta)
    assert len(steps) == stages
    active = list(range(len(x)))
    for stage, (_, outcome, decision) in enumerate(steps, 1):
        assert outcome.allocation.total == 400 // stages
        scores = slow.predictors(model, x, outcome.counts[0], outcome.means[0], 3.0)
        kept = slow.stay(scores, active, eta, stage == stages)
        made = sorted(set(active) - set(decision.outs.tolist()))
        assert len(made) == len(kept)
        # Bounded estimates of separated values tie, and ties may go either way.
        assert min(scores[made]) >= min(scores[kept]) - 1e-4
        if model == "linear":
            assert made == kept
        active = made
    assert steps[-1][2].ins.tolist() == active
    assert len(active) == 1


@pytest.mark.parametrize("eta", [1.3, 2.0, 2.5, 10.0])
def test_stages_are_logarithms_rounded_up(eta):
    for n in (1, 2, 3, 8, 9, 27, 100, 960):
        left, stages = n, 0
        while left > 1:
            left = min(math.ceil(left / eta - 1e-9), left - 1)
            stages += 1
        assert n_stages(n, eta) == max(stages, 1)
        if eta >= 2:
            # Rounding up within the stages can cost one more than the logarithm says, never fewer.
            assert slow.stages(n, eta) <= n_stages(n, eta) <= slow.stages(n, eta) + 1


@pytest.mark.parametrize("name", list(ALLOCATIONS))
@pytest.mark.parametrize("seed", range(6))
def test_allocations_spend_the_stage_and_estimate_every_effect(name, seed):
    rng = np.random.default_rng((3, seed))
    codes, sizes = random_table(rng, ("full", "sparse", "deficient")[seed % 3], most=30)
    candidates = ProjectedFeatures(SiteFeatures(codes, sizes))
    d = candidates.rank
    for n in (d, d + 3, 4 * d, 200):
        counts = allocate(name, candidates, candidates, n, np.random.default_rng(seed))
        assert counts.sum() == n
        assert counts.min() >= 0
        assert np.linalg.matrix_rank(candidates.coordinates(np.flatnonzero(counts))) == d
        again = allocate(name, candidates, candidates, n, np.random.default_rng(seed))
        assert np.array_equal(counts, again)


def test_designed_allocations_come_near_the_optimum_and_uniform_does_not():
    """Many compounds in one direction, few in the other: the value of G is d = 2 at best."""
    x = np.vstack([np.tile([1.0, 0.0], (30, 1)) * np.linspace(0.9, 1.0, 30)[:, None], [[0.0, 1.0]]])
    candidates = ProjectedFeatures(DenseFeatures(x))
    values = {}
    for name in ALLOCATIONS:
        counts = allocate(name, candidates, candidates, 124, np.random.default_rng(0))
        v = (x * counts[:, None]).T @ x
        values[name] = 124 * np.einsum("ij,jk,ik->i", x, np.linalg.inv(v), x).max()
    assert all(2.0 - 1e-9 <= values[name] < 2.3 for name in ("fwg", "greedy", "wynn"))
    assert values["uniform"] > 20.0


@pytest.mark.parametrize(("model", "value", "text"), [("logistic", 1.5, "shares between"), ("poisson", -1.0, "counts")])
def test_values_outside_the_model_are_refused(model, value, text):
    strategy = Gse()
    state = strategy.start(asked(DenseFeatures(np.eye(2)), 10, model=model))
    allocation = strategy.ask(state)
    with pytest.raises(AssayPilotError, match=text):
        strategy.decide(state, Outcome(allocation, np.ones((1, 2)), np.array([[value, 0.5]]), 2))


def test_greedy_refuses_too_many_compounds():
    many = SiteFeatures(product((20, 20, 10)), (20, 20, 10))
    with pytest.raises(AssayPilotError, match="4,000 are too many"):
        Gse().start(asked(many, 5000, allocation="greedy"))


def test_separated_values_still_rank():
    """All successes here, none there: the likelihood has no maximum, the bound gives it one."""
    strategy = Gse()
    state = strategy.start(asked(DenseFeatures(np.eye(3)), 30, model="logistic"))
    allocation = strategy.ask(state)
    counts = np.full((1, 3), 5.0)
    decision = strategy.decide(state, Outcome(allocation, counts, np.array([[1.0, 0.0, 0.4]]), 15))
    assert decision.outs.tolist() == [1]
    assert np.isfinite(decision.estimate).all()
