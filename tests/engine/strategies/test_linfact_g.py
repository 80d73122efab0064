"""LinFACT-G against the plain reference, and what is its own: radii, parameters, the design it sizes a phase with."""

import math
from dataclasses import replace

import numpy as np
import pytest

from assaypilot.engine.domain.features import DenseFeatures, SiteFeatures, merge_equal_rows
from assaypilot.engine.strategies import designs as remembered
from assaypilot.engine.strategies.linfact.linfact import LinFactG, union_log
from assaypilot.engine.strategies.protocol import IN, NOT_ESTIMABLE, OUT, UNDECIDED, Capacity, Outcome
from tests.oracles import design as designs
from tests.oracles import linfact as oracle
from tests.strategies import came_back, few, phases, problem_of, product, random_table

GAP = 1e-3
strategy = LinFactG()


@pytest.fixture
def designed(monkeypatch):
    """Every design made from here on, as (rows of the table, design, options)."""
    made = []
    real = remembered.g_optimal
    remembered.clear()

    def spy(candidates, **options):
        design = real(candidates, **options)
        made.append((candidates.rows[design.support], design, options))
        return design

    monkeypatch.setattr(remembered, "g_optimal", spy)
    yield made
    remembered.clear()


def instance(seed):
    """A random problem, its truth and its reference: tables with duplicates, with compounds that cannot be had."""
    rng = np.random.default_rng((20, seed))
    codes, sizes = random_table(rng, ("full", "sparse", "deficient")[seed % 3], most=24)
    codes = codes[np.concatenate([np.arange(len(codes)), rng.integers(0, len(codes), seed % 4)])]
    codes = codes[rng.permutation(len(codes))]
    first, arm_of = oracle.distinct(codes)
    merged, arms = merge_equal_rows(codes)
    assert merged.tolist() == first
    assert arms.tolist() == arm_of
    features = SiteFeatures(codes[merged], sizes)
    x = oracle.indicators(codes[first], sizes)
    measurable = np.ones(len(x), dtype=bool)
    if seed % 2:
        measurable = rng.random(len(x)) < 0.7
        measurable[rng.integers(len(x))] = True
    problem = problem_of(
        features,
        epsilon=float(rng.uniform(0.1, 1.0)),
        slack=float(rng.uniform(0.1, 0.6)) if seed % 5 else 0.0,
        delta=float(rng.uniform(0.02, 0.4)),
        sd=float(rng.uniform(0.05, 0.5)),
        measurable=measurable,
        decide=("realised", "planned")[seed // 2 % 2],
        gap=GAP,
    )
    reference = oracle.Reference(
        x,
        problem.goal.epsilon,
        problem.goal.slack,
        problem.delta,
        problem.noise[0],
        problem.parameters["decide"],
        np.flatnonzero(measurable).tolist(),
    )
    truth = x @ rng.normal(0.0, 0.5, x.shape[1])
    return problem, truth, reference, rng


def sets_of(state):
    good, bad, lost = (set(np.flatnonzero(state.status == code).tolist()) for code in (IN, OUT, NOT_ESTIMABLE))
    return good, bad, lost, set(np.flatnonzero(state.active).tolist())


def check_same_plan(allocation, reference, made):
    """The same measurements for the same weights; the weights optimal by value, certificate and another solver."""
    rows = reference.candidates()
    chosen = [one for one in made if one[1].value == allocation.certificate.value]
    assert chosen, "the certificate is that of no design that was made"
    planned = np.zeros(len(reference.x))
    planned[allocation.arms] = allocation.counts
    matching = []
    for support, design, _ in chosen:
        weights = np.zeros(len(reference.x))
        weights[support] = design.weights
        assert set(support) <= set(rows)
        counts, value = reference.plan(rows, weights[rows])
        assert value == pytest.approx(design.value, rel=1e-6)
        expected = np.zeros(len(reference.x))
        expected[rows] = counts
        matching.append(bool(np.array_equal(expected, planned)))
    assert any(matching)
    assert allocation.radius == pytest.approx(reference.radius(), rel=1e-12)
    support, free, options = made[0]
    x = designs.coordinates(reference.x[rows])
    d = x.shape[1]
    weights = np.zeros(len(reference.x))
    weights[support] = free.weights
    leverages = designs.leverages(x, weights[rows])
    assert leverages.max() <= d * (1 + GAP) * (1 + 1e-9)
    assert free.lower_bound <= free.value
    if options["targets"] is None:
        assert free.value == pytest.approx(leverages.max(), rel=1e-6)
        assert free.lower_bound == pytest.approx(d)
    information = x.T @ (x * weights[rows][:, None])
    slowly = designs.multiplicative(x, 300)
    # The certificate bounds what any other weights can gain.
    assert np.linalg.slogdet(x.T @ (x * slowly[:, None]))[1] <= np.linalg.slogdet(information)[1] + d * GAP
    assert designs.leverages(x, slowly).max() >= d * (1 - 1e-9)


@pytest.mark.parametrize("block", few(3, of=10))
def test_plans_and_decides_as_the_reference_does(block, designed):
    """200 tables in ten blocks, up to four phases each: measurements, means, half-widths, thresholds and sets."""
    decided = left = lost = contradicted = 0
    for seed in range(20 * block, 20 * block + 20):
        problem, truth, reference, rng = instance(seed)
        state = strategy.start(problem)
        for _ in range(4):
            assert sets_of(state) == (reference.good, reference.bad, reference.lost, reference.active)
            if strategy.stop(state):
                assert not reference.undecided
                break
            designed.clear()
            remembered.clear()
            allocation = strategy.ask(state)
            check_same_plan(allocation, reference, designed)
            missing = (0.0, 0.0, 0.3, 0.9)[seed % 4]
            outcome = came_back(
                problem, truth, allocation, rng, spent=state.spent, lost=missing, extra=int(rng.integers(0, 3))
            )
            complete = bool((outcome.counts[0, allocation.arms] >= allocation.counts).all())
            decision = strategy.decide(state, outcome)
            expected = reference.decide(outcome.counts[0], outcome.means[0], allocation.radius if complete else None)
            assert (decision is None) == (expected is None)
            if decision is None:
                continue
            active = sorted(expected["mean"])
            half = np.array([expected["half"][i] for i in active])
            mean = np.array([expected["mean"][i] for i in active])
            np.testing.assert_allclose(decision.high[0, active], mean + half, rtol=1e-7, atol=1e-9)
            np.testing.assert_allclose(decision.low[0, active], mean - half, rtol=1e-7, atol=1e-9)
            known = np.isfinite(half)
            np.testing.assert_allclose(
                decision.estimate[0, active], np.where(known, mean, np.nan), rtol=1e-7, atol=1e-9
            )
            assert np.isnan(np.delete(decision.low[0], active)).all()
            assert decision.numbers["upper_threshold"] == pytest.approx(expected["upper"], rel=1e-7, abs=1e-9)
            assert decision.numbers["lower_threshold"] == pytest.approx(expected["lower"], rel=1e-7, abs=1e-9)
            for ours, name in (
                (decision.ins, "ins"),
                (decision.outs, "outs"),
                (decision.left, "leavers"),
                (decision.contradicted, "contradicted"),
            ):
                assert set(ours.tolist()) == expected[name], (seed, name)
            decided += len(expected["ins"]) + len(expected["outs"])
            left += len(expected["leavers"])
            contradicted += len(expected["contradicted"])
            state = strategy.apply(state, decision)
        lost += len(reference.lost)
    # A block in which nothing happens compares nothing.
    assert min(decided, left, lost) > 0


def test_the_papers_own_numbers():
    """Sigma 1, radius 1/2, unit vectors: eq. 21 by hand, 2 * 4 * 1/4 / (1/4) * log(2 * 4 * 2 / 0.1) = 40.6 each."""
    problem = problem_of(DenseFeatures(np.eye(4)), slack=0.0, sd=1.0, delta=0.1, first_radius=0.5)
    allocation = strategy.ask(strategy.start(problem))
    assert allocation.counts.tolist() == [math.ceil(8 * math.log(160))] * 4
    assert union_log(4, 1, 0.1) == pytest.approx(math.log(160))
    assert union_log(4, 3, 0.1) == pytest.approx(math.log(8 * 12 / 0.1))


@pytest.mark.parametrize("capacity", [None, Capacity(24, 2), Capacity(96, 1), Capacity(12, 4, budget=60)])
@pytest.mark.parametrize("seed", range(6))
def test_every_plan_keeps_its_promise(capacity, seed):
    """The planned counts bound every active mean by the radius they promise, whatever shaped the design."""
    problem, truth, reference, rng = instance(seed)
    # A bad design too: the counts follow the value it reached, not the rank that a good one would reach.
    problem = replace(problem, capacity=capacity, parameters=problem.parameters | {"gap": (GAP, 0.9)[seed // 3]})
    x = reference.x
    for state, outcome, _ in phases(strategy, problem, truth, rng, most=3):
        allocation = outcome.allocation
        log = oracle.log_term(len(x), allocation.phase, problem.delta)
        counts = np.zeros(len(x))
        counts[allocation.arms] = allocation.counts
        assert problem.measurable[allocation.arms].all()
        assert (allocation.counts >= 1).all()
        assert (np.diff(allocation.arms) > 0).all()
        worst = max(oracle.norm(x[i], x, counts) for i in np.flatnonzero(state.active))
        promised = problem.noise[0] * worst * math.sqrt(2 * log)
        assert promised <= allocation.radius * (1 + 1e-6)
        if capacity is not None and capacity.budget is not None:
            assert outcome.spent <= capacity.budget
            if allocation.cut_to_budget:
                assert promised == pytest.approx(allocation.radius, rel=1e-6)
                assert allocation.total == capacity.budget - state.spent


def pair(decide="realised", epsilon=0.5, slack=0.0):
    """Two compounds told apart by one effect, and what a phase with 8 measurements of each decides."""
    problem = problem_of(
        DenseFeatures(np.eye(2)), epsilon=epsilon, slack=slack, delta=0.1, sd=1.0, decide=decide, first_radius=1.0
    )
    state = strategy.start(problem)
    allocation = strategy.ask(state)

    def decided(first, second, n=16 if decide == "planned" else 8):
        counts = np.full(2, float(n))
        outcome = Outcome(
            replace(allocation, counts=np.full(2, n, dtype=np.intp)), counts[None], np.array([[first, second]])
        )
        return strategy.decide(state, outcome)

    half = 1.0 if decide == "planned" else math.sqrt(2 * math.log(8 / 0.1) / 8)
    return decided, half


@pytest.mark.parametrize("decide", ["realised", "planned"])
def test_bounds_decide_strictly(decide):
    """At a tie of bounds nothing is decided; a hair beyond it is (planned radius 1 is exact in binary)."""
    decided, half = pair(decide)
    # Out when mu_2 + C < mu_1 - C - epsilon.
    edge = 2 * half + 0.5
    hair = 1e-9
    assert decided(0.0, -edge - hair).outs.tolist() == [1]
    assert decided(0.0, -edge + hair).outs.tolist() == []
    # In when mu_2 - C > mu_1 + C - epsilon, which needs narrow bounds: epsilon 5.
    decided, half = pair(decide, epsilon=5.0)
    assert decided(0.0, 2 * half - 5.0 + hair).ins.tolist() == [0, 1]
    assert decided(0.0, 2 * half - 5.0 - hair).ins.tolist() == [0]
    if decide == "planned":
        decided, _ = pair(decide)
        assert decided(0.0, -2.5).outs.tolist() == []
        decided, _ = pair(decide, epsilon=5.0)
        assert decided(0.0, -3.0).ins.tolist() == [0]
        # With slack a tie is in (>=), so that a last phase leaves nothing undecided.
        decided, _ = pair(decide, epsilon=4.0, slack=1.0)
        assert decided(0.0, -3.0).ins.tolist() == [0, 1]
        # A good compound at a tie of mu_i + C and max mu - C stays: LinFACT has <=, which could empty a set of one.
        decided, _ = pair(decide, epsilon=5.0)
        assert decided(0.0, -2.0).left.tolist() == []
        assert decided(0.0, -2.0 - hair).left.tolist() == [1]


def test_contradiction_is_reported_and_the_first_decision_stands():
    problem = problem_of(DenseFeatures(np.eye(2)), epsilon=0.5, slack=0.0, sd=0.1)
    state = strategy.start(problem)
    allocation = strategy.ask(state)
    many = np.full(2, 1e4)
    state = strategy.tell(state, Outcome(allocation, many[None], np.array([[0.0, 0.0]])))
    assert state.status.tolist() == [IN, IN]
    decision = strategy.decide(state, Outcome(allocation, many[None], np.array([[0.0, -3.0]])))
    assert decision.contradicted.tolist() == [1]
    assert decision.outs.tolist() == []
    after = strategy.apply(state, decision)
    assert after.status.tolist() == [IN, IN]
    assert after.decided_in_phase.tolist() == [1, 1]


def test_only_active_compounds_are_measured_while_they_span():
    features = SiteFeatures(product((3, 3)), (3, 3))
    problem = problem_of(features, slack=0.0)
    state = strategy.start(problem)
    active = np.zeros(9, dtype=bool)
    active[[0, 1, 3]] = True
    few = replace(state, active=active)
    assert set(strategy.ask(few).arms.tolist()) <= {0, 1, 3}
    # An active compound that cannot be had is bounded through the others.
    allowed = np.ones(9, dtype=bool)
    allowed[0] = False
    others = strategy.ask(strategy.adjust(few, measurable=allowed, spent=0))
    assert 0 not in others.arms
    assert len(others.arms) >= 3
    assert strategy.adjust(few, measurable=allowed, spent=0).status[0] == UNDECIDED
