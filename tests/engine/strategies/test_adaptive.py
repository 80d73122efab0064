"""``adaptive`` against its statement written plainly, its walks against normal ones, its errors against delta."""

import math
from dataclasses import replace
from functools import cache

import numpy as np
import pytest
from scipy.stats import kstest

from assaypilot.engine.domain.features import DenseFeatures, SiteFeatures
from assaypilot.engine.domain.goals import AllEpsilonBest, Best
from assaypilot.engine.domain.measurements import Pooled
from assaypilot.engine.strategies.adaptive import sequential_tests
from assaypilot.engine.strategies.adaptive.epsilon_best import Adaptive
from assaypilot.engine.strategies.adaptive.evidence import NO_ARM, SILENT, Evidence, appended, nothing_measured
from assaypilot.engine.strategies.adaptive.sequential_tests import limits
from assaypilot.engine.strategies.protocol import IN, OUT, UNDECIDED, Allocation, Capacity, Certificate
from tests.oracles.adaptive import Plain
from tests.strategies import came_back, dense, few, phases, problem_of, product, random_table


def record(features, rng, n_phases, *, sd=0.3, share=0.6):
    """A record of some phases of random measurements, with leaders drawn at random, and the truth."""
    truth = dense(features) @ rng.normal(0.0, 1.0, features.n_columns)
    memory = nothing_measured()
    for phase in range(n_phases):
        counts = rng.integers(1, 4, features.n_rows) * (rng.random(features.n_rows) < share)
        means = truth + sd * rng.standard_normal(features.n_rows) / np.sqrt(np.maximum(counts, 1))
        leader = int(rng.integers(features.n_rows)) if phase else NO_ARM
        memory = appended(memory, counts.astype(float), means, leader)
    return memory, truth


@pytest.mark.parametrize("seed", few(3, of=9))
def test_steps_are_differences_over_their_errors_phase_by_phase(seed):
    rng = np.random.default_rng((1, seed))
    codes, sizes = random_table(rng, ("full", "sparse", "deficient")[seed % 3], most=20)
    features = SiteFeatures(codes, sizes)
    memory, _ = record(features, rng, 3, share=0.5)
    evidence = Evidence(features, memory, 0.3)
    x, n = dense(features), features.n_rows
    plain = Plain(x, 0.3, 1.0, 1.0, None, None, None)
    every = np.arange(n)
    pairs, behind = evidence.pairs(every, every), evidence.behind(every)
    for r in range(3):
        here = memory["at"] == r
        rows, counts, means = memory["arms"][here], memory["counts"][here], memory["means"][here]
        phase = (x[rows].T @ (x[rows] * counts[:, None]), x[rows].T @ (counts * means))
        for i in range(n):
            for j in range(n):
                told = plain.said(phase, i, j)
                expected = (0.0, 0.0) if told is None else (told[0], 1 / told[1])
                got = pairs.difference[r, i, j], pairs.precision[r, i, j]
                assert got == pytest.approx(expected, rel=1e-5, abs=1e-7)
            led = memory["leaders"][r]
            told = None if led < 0 else plain.said(phase, led, i)
            expected = (0.0, 0.0) if told is None else (told[0], 1 / told[1])
            assert (behind.difference[r, i], behind.precision[r, i]) == pytest.approx(expected, rel=1e-5, abs=1e-7)
    assert np.array_equal(pairs.equal, (x[:, None] == x[None]).all(axis=2))


ADAPTIVE = Adaptive().planned_by(Adaptive.way, many=2)
"""As it begins with many compounds: a first phase that is no step."""


def plain_of(problem, expected):
    """The plain statement for a problem, with the levels of its proof: those near a border share nine tenths."""
    levels, n = sequential_tests.levels_of(problem), problem.n_arms

    def one_in(near, m):
        if near.all() or not near.any():
            return levels.one_in
        return levels.one_in * n * (0.9 / near.sum() if near[m] else 0.1 / (~near).sum())

    def out_limits(near, left, m):
        weight = np.where(near, 1.0, 0.1)
        holm = levels.outs * min(weight[m] / weight[left].sum(), 1.0)
        return limits(sequential_tests.rounded_level(holm + one_in(near, m)), expected, 40)

    return Plain(
        dense(problem.features),
        problem.noise[0],
        problem.goal.epsilon,
        problem.goal.slack,
        out_limits,
        lambda near, m: limits(one_in(near, m), expected, 40),
        limits(levels.best, expected, 40),
    )


@pytest.mark.parametrize("seed", few(2, of=10))
@pytest.mark.parametrize("kind", ["full", "sparse", "deficient"])
def test_decisions_are_those_of_the_plain_statement(seed, kind):
    """Whatever comes back: lost, extra and uneven measurements, up to twelve phases."""
    rng = np.random.default_rng((2, seed))
    codes, sizes = random_table(rng, kind, most=16)
    features = SiteFeatures(codes, sizes)
    truth = dense(features) @ rng.normal(0.0, 0.4, features.n_columns)
    problem = problem_of(features, epsilon=0.4, slack=0.3, delta=0.1, sd=0.25, capacity=Capacity(24, 4))
    strategy = ADAPTIVE
    plain = plain_of(problem, int(strategy.start(problem).memory["expected"][0]))
    seen = 0
    for state, outcome, decision in phases(strategy, problem, truth, rng, most=12, lost=0.15, extra=2):
        if decision is None:
            continue
        seen += 1
        plain.phase(outcome.counts[0], outcome.means[0], silent=seen == 1)
        after = strategy.apply(state, decision)
        assert np.array_equal(np.flatnonzero(after.status == OUT), np.flatnonzero(plain.out))
        assert np.array_equal(np.flatnonzero(after.status == IN), np.flatnonzero(plain.into))
        assert np.array_equal(after.memory["not_best"], plain.not_best)
    assert seen >= 2


@pytest.mark.parametrize("true", [True, False])
@pytest.mark.parametrize("seed", few(2, of=6))
def test_history_names_whom_to_compare_and_decides_nothing(seed, true):
    """It does what a silent first phase does, whether its values are right or say the contrary."""
    rng = np.random.default_rng((3, seed))
    codes, sizes = random_table(rng, "full", most=16)
    features = SiteFeatures(codes, sizes)
    truth = dense(features) @ rng.normal(0.0, 0.4, features.n_columns)
    earlier = Pooled(np.ones(len(truth)), (1.0 if true else -1.0) * truth)
    problem = problem_of(features, epsilon=0.4, slack=0.3, delta=0.1, sd=0.25, capacity=Capacity(24, 4))
    problem = replace(problem, history=(earlier,))
    first = ADAPTIVE.start(problem)
    assert first.memory["leader"][0] == np.argmax(earlier.means)
    plain = plain_of(problem, int(first.memory["expected"][0]))
    plain.phase(earlier.counts, earlier.means, silent=True)
    for state, outcome, decision in phases(ADAPTIVE, problem, truth, rng, most=12, lost=0.15, extra=2):
        if decision is None:
            continue
        assert (state.phase > 0) or outcome.allocation.certificate.criterion == "xy"
        plain.phase(outcome.counts[0], outcome.means[0])
        after = ADAPTIVE.apply(state, decision)
        assert np.array_equal(np.flatnonzero(after.status == OUT), np.flatnonzero(plain.out))
        assert np.array_equal(np.flatnonzero(after.status == IN), np.flatnonzero(plain.into))
        known = (after.low[0] <= truth) & (truth <= after.high[0])
        assert known.all()


@pytest.mark.parametrize("slack", [0.0, 0.3])
@pytest.mark.parametrize("seed", few(2, of=6))
def test_without_rounds_only_phases_after_an_end_is_in_sight_are_steps(seed, slack):
    """Which they are follows here from each plan and what was measured before it."""
    rng = np.random.default_rng((7, seed))
    codes, sizes = random_table(rng, "full" if seed % 2 else "sparse", most=12)
    features = SiteFeatures(codes, sizes)
    truth = dense(features) @ rng.normal(0.0, 0.6, features.n_columns)
    problem = problem_of(features, epsilon=0.4, slack=slack, delta=0.1, sd=0.25)
    strategy = Adaptive()
    plain = plain_of(problem, 3)
    heard = []
    for number, (state, outcome, decision) in enumerate(phases(strategy, problem, truth, rng, most=18)):
        plan = outcome.allocation.certificate
        near = plan.criterion == "xy" and plan.value <= 8 * state.spent
        heard.append(near or number >= 12 or any(heard))
        plain.phase(outcome.counts[0], outcome.means[0], silent=not heard[-1])
        after = strategy.apply(state, decision)
        assert np.array_equal(np.flatnonzero(after.status == OUT), np.flatnonzero(plain.out))
        assert np.array_equal(np.flatnonzero(after.status == IN), np.flatnonzero(plain.into))
        assert np.array_equal(after.memory["not_best"], plain.not_best)
        assert np.array_equal(after.memory["leaders"] == SILENT, ~np.array(heard))
    assert not heard[0]
    assert heard[-1]


@pytest.mark.slow
def test_walks_of_an_adaptive_campaign_are_normal():
    """Leaders and designs follow the data; steps about the truth are independent standard normal all the same."""
    features = SiteFeatures(product((3, 3)), (3, 3))
    truth = dense(features) @ np.array([0.0, 0.0, 0.3, 0.6, 0.0, 0.2, 0.5])
    problem = problem_of(features, epsilon=0.3, slack=0.2, sd=0.3, capacity=Capacity(14, 4))
    steps, sums = [], []
    for seed in range(30):
        rng = np.random.default_rng((3, seed))
        found = list(phases(Adaptive(), problem, truth, rng, most=5))
        memory = found[-1][2].memory
        behind = Evidence(features, memory, 0.3).behind(np.array([0]))
        led = memory["leaders"]
        told = behind.precision[:, 0] > 0
        z = (behind.difference[:, 0] - (truth[led] - truth[0])) * behind.precision[:, 0]
        steps.extend(z[told])
        sums.append(z[told].sum() / np.sqrt(max(told.sum(), 1)))
    assert len(steps) > 60
    assert kstest(steps, "norm").pvalue > 1e-3
    # Not the sums of stopped campaigns: those are biased, which is what the limits are for.
    assert np.std(steps) == pytest.approx(1.0, abs=0.2)


def errors(goal, truth, runs, delta=0.3):
    """Share of campaigns with a wrong decision on compounds that share no effect."""
    n = len(truth)
    problem = problem_of(DenseFeatures(np.eye(n)), goal=goal, delta=delta, sd=1.0, capacity=Capacity(8 * n, 8 * n))
    members, acceptable = goal.members(truth), goal.acceptable(truth)
    wrong = 0
    strategy, rng = ADAPTIVE, np.random.default_rng(4)
    start = strategy.start(problem)
    # Plans do not matter here: in every phase four measurements of each, and as many of the best as of all others, so
    # that errors hardly go together.
    counts = np.array([4 * (n - 1), *np.full(n - 1, 4)])
    plan = Allocation(1, np.arange(n), counts, math.inf, Certificate("g", 1.0, 1.0))
    for _ in range(runs):
        state = start
        for _ in range(9):
            state = strategy.tell(state, came_back(problem, truth, plan, rng, spent=state.spent))
            if not (state.status == UNDECIDED).any():
                break
        status = state.status
        wrong += bool((members & (status == OUT)).any() or (~acceptable & (status == IN)).any())
    return wrong / runs


@pytest.mark.slow
@pytest.mark.parametrize(
    ("goal", "gap"), [(AllEpsilonBest(0.5, 0.2), 0.5), (AllEpsilonBest(0.5, 0.2), 0.701), (Best(0.3), 0.301)]
)
def test_two_compounds_at_the_border_err_at_most_delta(goal, gap):
    """Where an error is likeliest: exactly at epsilon, or just beyond what may be in. One side of one compound errs."""
    rate = errors(goal, np.array([gap, 0.0]), 400)
    assert rate <= 0.3
    assert rate > 0.0


AT_BORDER = np.array([5.0, *np.zeros(7)])
"""Eight compounds, all but one exactly 5 behind one that surely leads: each may be put out wrongly."""


@pytest.mark.slow
def test_many_compounds_at_the_border_spend_delta_and_no_more():
    assert 0.1 <= errors(AllEpsilonBest(5.0), AT_BORDER, 80) <= 0.3


@pytest.mark.slow
def test_limits_shrunk_by_1_3_err_more_than_delta(monkeypatch):
    monkeypatch.setattr(sequential_tests, "limits", lambda *given: limits(*given) / 1.3)
    assert errors(AllEpsilonBest(5.0), AT_BORDER, 80) > 0.3


def test_the_leader_is_fixed_before_the_phase_it_compares_in():
    features = SiteFeatures(product((3, 2)), (3, 2))
    truth = dense(features) @ np.arange(6.0)
    problem = problem_of(features, sd=0.5, epsilon=0.2, slack=0.1, capacity=Capacity(24, 8))
    strategy, rng = Adaptive(), np.random.default_rng(7)
    state = strategy.start(problem)
    first = strategy.tell(state, came_back(problem, truth, strategy.ask(state), rng))
    assert first.memory["leaders"].tolist() == [-1]
    allocation = strategy.ask(first)
    up, down = (came_back(problem, sign * truth, allocation, np.random.default_rng(8)) for sign in (1, -1))
    assert strategy.tell(first, up).memory["leaders"].tolist() == strategy.tell(first, down).memory["leaders"].tolist()


def test_what_becomes_unavailable_during_a_phase_changes_nobody_it_compares_with():
    """Its leader does not come back, and is marked unavailable or not, depending on the values of the others."""
    features = SiteFeatures(product((3, 2)), (3, 2))
    problem = problem_of(features, sd=0.5, epsilon=0.2, slack=0.1, capacity=Capacity(24, 8))
    strategy, rng = Adaptive(), np.random.default_rng(7)
    state = strategy.start(problem)
    state = strategy.tell(state, came_back(problem, dense(features) @ np.arange(6.0), strategy.ask(state), rng))
    leader = int(state.memory["leader"][0])
    outcome = came_back(problem, dense(features) @ np.arange(6.0), strategy.ask(state), rng)
    counts = outcome.counts.copy()
    counts[0, leader] = 0
    came = replace(outcome, counts=counts)
    gone = np.arange(6) != leader
    without = strategy.adjust(state, measurable=gone, spent=state.spent)
    led = [strategy.tell(one, came).memory["leaders"].tolist() for one in (state, without)]
    assert led[0] == led[1] == [NO_ARM, leader]


@cache
def small_last_phase():
    """A campaign's state before a phase of fewer measurements than there are effects, and that phase."""
    features = SiteFeatures(product((4, 5, 4)), (4, 5, 4))
    for seed in range(20):
        rng = np.random.default_rng((9, seed))
        truth = dense(features) @ rng.normal(0.0, 0.4, features.n_columns)
        problem = problem_of(features, delta=0.05, capacity=Capacity(48, 4))
        for state, outcome, _ in phases(Adaptive(), problem, truth, rng, most=60):
            if outcome.allocation.total < 11:
                return state, outcome.allocation
    raise AssertionError("no campaign ended with a few measurements")


def test_a_small_phase_that_decides_nobody_is_followed_by_ever_larger_ones():
    """So that no campaign goes on for ever with phases that tell too little."""
    state, allocation = small_last_phase()
    size, sizes = allocation.total, []
    for _ in range(6):
        nobody = np.zeros(0, dtype=np.intp)
        last = replace(state.last, ins=nobody, outs=nobody, numbers={"measurements": float(size)})
        size = Adaptive().ask(replace(state, last=last)).total
        sizes.append(size)
        if size >= 48:
            break
    assert sizes == sorted(sizes)
    assert sizes[0] >= 2 * allocation.total
    assert sizes[-1] >= 48
