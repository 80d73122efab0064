"""LinFACT-XY against the plain reference, and what is its own: pairs, rounding, lost arms, measurements, errors."""

import math
from dataclasses import replace

import numpy as np
import pytest
from scipy import stats

from assaypilot.engine.domain.features import DenseFeatures, SiteFeatures
from assaypilot.engine.models.ols import least_squares
from assaypilot.engine.strategies.linfact.linfact import LinFactG
from assaypilot.engine.strategies.linfact.xy_optimal import (
    Differences,
    LinFactXY,
    LinFactXYAsPrinted,
    pair_log,
)
from assaypilot.engine.strategies.protocol import IN, OUT, Capacity, Outcome
from tests.oracles import linfact_xy as oracle
from tests.strategies import came_back, dense, few, problem_of, product, random_table

KINDS = [LinFactXY, LinFactXYAsPrinted]


def instance(seed, kind):
    rng = np.random.default_rng((40, seed))
    codes, sizes = random_table(rng, ("full", "sparse", "deficient")[seed % 3], most=11)
    features = SiteFeatures(codes, sizes)
    problem = problem_of(
        features,
        epsilon=float(rng.uniform(0.1, 1.0)),
        slack=float(rng.uniform(0.1, 0.6)) if seed % 4 else 0.0,
        delta=float(rng.uniform(0.02, 0.4)),
        sd=float(rng.uniform(0.05, 0.5)),
        decide=("realised", "planned")[seed // 2 % 2],
    )
    x = dense(features)
    goal = problem.goal
    reference = oracle.Reference(
        x,
        goal.epsilon,
        goal.slack,
        problem.delta,
        problem.noise[0],
        problem.parameters["decide"],
        kind is LinFactXYAsPrinted,
    )
    return problem, x @ rng.normal(0.0, 0.5, x.shape[1]), reference, rng


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("block", few(1, of=3))
def test_plans_and_decides_as_the_reference_does(kind, block):
    """Some tables, up to four phases each: promises kept, thresholds, bounds and sets."""
    strategy = kind()
    decided = left = 0
    for seed in range(8 * block, 8 * block + 8):
        problem, truth, reference, rng = instance(seed, kind)
        if len(reference.x) < 2:
            continue
        state = strategy.start(problem)
        assert state.first_radius == pytest.approx(reference.first, rel=1e-12)
        for _ in range(4):
            assert set(np.flatnonzero(state.status == IN)) == reference.good
            assert set(np.flatnonzero(state.status == OUT)) == reference.bad
            assert set(np.flatnonzero(state.active)) == reference.active
            if strategy.stop(state):
                break
            allocation = strategy.ask(state)
            assert allocation.radius == pytest.approx(reference.radius(), rel=1e-12)
            counts = np.zeros(len(reference.x))
            counts[allocation.arms] = allocation.counts
            if len(reference.active) > 1:
                check_promise(allocation, reference, counts)
            outcome = came_back(
                problem,
                truth,
                allocation,
                rng,
                spent=state.spent,
                lost=(0.0, 0.0, 0.4)[seed % 3],
                extra=int(rng.integers(0, 3)),
            )
            promised = reference.mode == "planned" and bool(
                (outcome.counts[0, allocation.arms] >= allocation.counts).all()
            )
            decision = strategy.decide(state, outcome)
            expected = reference.decide(outcome.counts[0], outcome.means[0], allocation.radius if promised else None)
            assert (decision is None) == (expected is None)
            if decision is None:
                continue
            for name, ours in (
                ("ins", decision.ins),
                ("outs", decision.outs),
                ("leavers", decision.left),
                ("contradicted", decision.contradicted),
            ):
                assert set(ours.tolist()) == expected[name], (seed, name)
            for name in ("low", "high"):
                arms = sorted(expected[name])
                bounds = getattr(decision, name)[0]
                np.testing.assert_allclose(bounds[arms], [expected[name][i] for i in arms], rtol=1e-6, atol=1e-7)
                unknown = sorted(set(np.flatnonzero(state.active)) - set(arms))
                assert np.isinf(bounds[unknown]).all()
            decided += len(expected["ins"]) + len(expected["outs"])
            left += len(expected["leavers"])
            state = strategy.apply(state, decision)
    assert min(decided, left) > 0


def check_promise(allocation, reference, counts):
    """Every difference within what is promised, by no more measurements than rounding up would take."""
    log = oracle.log_term(len(reference.x), reference.phase + 1, reference.delta, reference.printed)
    width = reference.radius() * (1 if reference.printed else 2)
    half = reference.sigma * math.sqrt(2 * log) * oracle.worst_difference(reference.x, reference.active, counts)
    assert half <= width * (1 + 1e-6)
    asked = 2 * allocation.certificate.value * reference.sigma**2 / width**2 * log
    rank = np.linalg.matrix_rank(reference.x[sorted(reference.active)])
    assert allocation.total <= asked + rank * (rank + 1) / 2 + 1
    assert allocation.total >= 2 * allocation.certificate.lower_bound * reference.sigma**2 / width**2 * log * (1 - 1e-9)


def test_the_papers_own_numbers():
    """Unit vectors, sigma 1, radius 1/2, K = 4: g = 2 d = 8; eq. 22 by hand, and a quarter of it less the log 2."""
    problem = problem_of(DenseFeatures(np.eye(4)), slack=0.0, sd=1.0, delta=0.1, first_radius=0.5)
    printed = LinFactXYAsPrinted().ask(LinFactXYAsPrinted().start(problem))
    assert printed.counts.tolist() == [math.ceil(2 * 8 * 4 * math.log(2 * 12 * 2 / 0.1) / 4)] * 4
    tight = LinFactXY().ask(LinFactXY().start(problem))
    assert tight.counts.tolist() == [math.ceil(2 * 8 * math.log(12 * 2 / 0.1) / 4)] * 4
    assert pair_log(4, 3, 0.1) == pytest.approx(math.log(12 * 12 / 0.1))
    assert math.isfinite(pair_log(1, 1, 0.1))


def test_tight_takes_about_a_quarter_and_less_than_g():
    features = SiteFeatures(product((4, 3, 3)), (4, 3, 3))
    problem = problem_of(features, slack=0.05, sd=0.2, first_radius=0.0125)
    totals = {kind.info.name: kind().ask(kind().start(problem)).total for kind in (LinFactG, *KINDS)}
    assert totals["linfact-xy"] / totals["linfact-xy-as-printed"] == pytest.approx(0.25, abs=0.02)
    assert totals["linfact-xy"] < totals["linfact-g"]


@pytest.mark.parametrize("budget", [7, 20, 60])
@pytest.mark.parametrize("kind", KINDS)
def test_a_phase_cut_to_the_budget_promises_what_it_keeps(kind, budget):
    features = SiteFeatures(product((3, 5)), (3, 5))
    problem = problem_of(features, slack=0.02, sd=0.5, first_radius=0.05, capacity=Capacity(24, 4, budget=budget))
    state = kind().start(problem)
    allocation = kind().ask(state)
    assert allocation.cut_to_budget
    assert allocation.total == budget
    counts = np.zeros(15)
    counts[allocation.arms] = allocation.counts
    printed = kind is LinFactXYAsPrinted
    log = oracle.log_term(15, 1, problem.delta, printed)
    half = 0.5 * math.sqrt(2 * log) * oracle.worst_difference(dense(features), range(15), counts)
    assert half == pytest.approx(allocation.radius * (1 if printed else 2), rel=1e-6)


def test_compounds_sharing_an_unknown_part_are_compared():
    """A substituent was never measured: two compounds that carry it differ by what was."""
    features = SiteFeatures(product((3, 2)), (3, 2))
    fit = least_squares(features, np.array([0, 1, 2, 3]), np.full(4, 4.0), np.array([1.0, 3.0, 0.0, 2.0]))
    differences = Differences.of(fit, np.arange(6), 1.0)
    assert differences.group.tolist() == [0, 0, 0, 0, 1, 1]
    half = differences.half(np.arange(6), np.arange(6))
    assert np.isinf(half[:4, 4:]).all()
    assert half[4, 5] == pytest.approx(
        oracle.difference_norm(*dense(features)[[4, 5]], dense(features), [4] * 4 + [0] * 2)
    )
    assert differences.mean[5] - differences.mean[4] == pytest.approx(2.0)
    problem = problem_of(features, epsilon=0.5, sd=0.01)
    strategy = LinFactXY()
    state = strategy.start(problem)
    counts = np.array([[4.0] * 4 + [0.0] * 2])
    decision = strategy.decide(state, Outcome(strategy.ask(state), counts, np.array([[1.0, 3.0, 0.0, 2.0, 0.0, 0.0]])))
    assert decision.outs.tolist() == [0, 2, 3, 4]
    assert decision.ins.tolist() == []
    assert np.isnan(decision.estimate[0, 4:]).all()


@pytest.mark.parametrize("gone", [[0], [0, 1]])
def test_bounds_of_a_lost_compound_still_count(gone):
    """The best is lost: the others are decided against what was known of it, and never by forgetting it."""
    problem = problem_of(DenseFeatures(np.eye(5)), epsilon=0.5, slack=0.25, sd=0.1)
    strategy = LinFactXY()
    state = strategy.start(problem)
    means = np.array([[3.0, 2.38, 2.36, 2.40, 2.39]])
    state = strategy.tell(state, Outcome(strategy.ask(state), np.full((1, 5), 8.0), means))
    half = 0.1 * math.sqrt(2 * oracle.log_term(5, 1, 0.1, False)) * math.sqrt(2 / 8)
    # None of the others is surely within 0.75 of the best, nor surely beyond 0.5.
    assert 0.6 + half > 0.75
    assert 0.64 - half < 0.5
    assert state.status.tolist() == [IN, 0, 0, 0, 0]
    here = np.ones(5, dtype=bool)
    here[gone] = False
    less = strategy.adjust(state, measurable=here, spent=40)
    assert np.flatnonzero(less.lost).tolist() == gone
    exactly = np.where(here, 1e9, 0.0)[None]
    # Measured all but exactly now, as close to each other as before: nothing can be said of them.
    same = strategy.decide(less, Outcome(strategy.ask(less), exactly, np.where(here, means, 0.0)))
    assert same.ins.tolist() == same.outs.tolist() == []
    assert same.memory["anchor"][gone].tolist() == [3] * len(gone)
    # One is worse than it seemed: so is what it said of the best, and the others are near that.
    now = np.where(here, [[0.0, 2.38, 2.36, 2.40, 2.20]], 0.0)
    decision = strategy.decide(less, Outcome(strategy.ask(less), exactly, now))
    least, most = 2.40 + 0.6 - half, 2.20 + 0.61 + half
    assert decision.memory["above_anchor_least"][0] == pytest.approx(least - 2.40, abs=1e-3)
    assert decision.memory["above_anchor_most"][0] == pytest.approx(most - 2.40, abs=1e-3)
    assert most - 2.36 < 0.75
    assert least - 2.20 > 0.5
    assert decision.ins.tolist() == [i for i in (1, 2, 3) if here[i]]
    assert decision.outs.tolist() == [4]
    after = strategy.apply(less, same)
    again = strategy.decide(after, Outcome(strategy.ask(after), exactly, np.where(here, means, 0.0)))
    assert again.ins.tolist() == again.outs.tolist() == []
    # At the last radius, with nothing decided any more, that is the end.
    ended = replace(after, last=replace(again, radius=0.25 / 4))
    assert [reason.name for reason in strategy.stop(ended)] == ["lost"]


@pytest.mark.slow
def test_k_is_two_exactly():
    """Two compounds, one phase, no union: the error is exactly the normal's tail (planned to the radius)."""
    delta, runs = 0.3, 3000
    features = DenseFeatures(np.eye(2))
    # K (K - 1) r (r + 1) = 4, so the pair is bounded at delta / 2 of each side's 2 exp(-log).
    problem = problem_of(features, epsilon=10.0, slack=0.0, delta=delta, sd=1.0, first_radius=1.0)
    strategy = LinFactXY()
    state = strategy.start(problem)
    allocation = strategy.ask(state)
    rng = np.random.default_rng(5)
    truth = np.array([10.0, 0.0])
    wrong = sum(1 in strategy.decide(state, came_back(problem, truth, allocation, rng)).outs for _ in range(runs))
    exact = stats.norm.sf(math.sqrt(2 * math.log(4 / delta)))
    assert stats.binomtest(int(wrong), runs, exact).pvalue > 1e-3
    assert 0 < wrong / runs <= delta
