"""GEGE with fixed confidence against its slow reference, its promises by simulation, and what it refuses."""

import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from scipy.stats import binomtest, norm

from assaypilot.engine.domain.features import DenseFeatures, SiteFeatures
from assaypilot.engine.domain.goals import ParetoSet
from assaypilot.engine.strategies.gege.confidence import Boxes, Gege, by_bounds
from assaypilot.engine.strategies.protocol import IN, UNDECIDED, Outcome
from tests.oracles import gege as oracle
from tests.strategies import came_back, dense, phases, problem_of, random_table, seeds

RADII = ("tight", "proven", "simplified")


def problem_for(features, margins, *, sd=(0.2, 0.2), **changes):
    return problem_of(features, goal=ParetoSet(tuple(margins)), sd=list(sd), **changes)


def random_case(seed, *, margins=(0.3, 0.5), sd=(0.2, 0.35), **changes):
    rng = np.random.default_rng((33, seed))
    codes, sizes = random_table(rng, ("full", "sparse", "deficient")[seed % 3], most=24)
    features = SiteFeatures(codes, sizes)
    truth = np.stack([dense(features) @ rng.normal(0.0, 0.6, features.n_columns) for _ in margins])
    return problem_for(features, margins, sd=sd, **changes), truth, rng


@given(seeds)
def test_the_rules_by_bounds_against_loops_over_pairs(seed):
    rng = np.random.default_rng(seed)
    means, half = rng.normal(size=(2, 10)), rng.uniform(0.0, 1.0, (2, 10)) * (rng.random() < 0.8)
    half[rng.random(half.shape) < 0.1] = np.inf
    low, high = means - half, means + half
    margin = float(rng.choice([0.0, 1.0]))
    nothing = Boxes(np.zeros((2, 0)), np.zeros((2, 0)))
    found = by_bounds(Boxes(low, high), nothing, np.zeros(10, dtype=bool), margin)
    ins, outs, leaves = oracle.bounds_phase(low.T, high.T, margin)
    assert set(np.flatnonzero(found.ins)) == ins
    assert set(np.flatnonzero(found.outs)) == outs
    assert set(np.flatnonzero(found.leaves)) == leaves
    # Some of them in for good and measured no more: their bounds count as before.
    away = np.zeros(10, dtype=bool)
    away[sorted(leaves)[:2]] = True
    rest = by_bounds(
        Boxes(low[:, ~away], high[:, ~away]),
        Boxes(low[:, away], high[:, away]),
        np.zeros(int((~away).sum()), bool),
        margin,
    )
    assert (rest.ins == found.ins[~away]).all()
    assert (rest.outs == found.outs[~away]).all()


@pytest.mark.parametrize("radii", RADII)
@pytest.mark.parametrize("mode", ["realised", "planned"])
@pytest.mark.parametrize("seed", range(3))
def test_phases_against_the_slow_reference(seed, mode, radii):
    """Every phase of a run: the promise of the plan, the estimates, the bounds and the decisions."""
    problem, truth, rng = random_case(seed, decide=mode, radii=radii)
    x, noise = dense(problem.features), np.array(problem.noise)
    unit = np.array(problem.goal.margins)
    active, answered = list(range(problem.n_arms)), 0
    for number, (state, outcome, decision) in enumerate(phases(Gege(), problem, truth, rng, most=6), start=1):
        allocation = outcome.allocation
        assert np.flatnonzero(state.active).tolist() == active
        epsilon = max(2.0 ** math.log2(4 * state.first_radius) * 2.0 ** -(number - 1), 1.0)
        assert allocation.radius >= epsilon / 4 * (1 - 1e-12)
        share = 6 * problem.delta / (math.pi**2 * number**2)
        log = math.log(1 / share) / 32 if radii == "simplified" else math.log(2 * len(active) * 2 / share)
        rank = np.linalg.matrix_rank(x[active])
        if radii != "tight":
            size = oracle.size(number, epsilon, (noise / unit).max(), rank, len(active), 2, problem.delta, radii)
            assert allocation.total == max(size, rank)
        for c in range(2):
            mean, norms = oracle.estimate(x, outcome.counts[c], outcome.means[c])
            half = noise[c] * np.array(norms) * math.sqrt(2 * log)
            if radii in ("tight", "proven"):
                assert (half[active] <= allocation.radius * unit[c] * (1 + 1e-6)).all()
            np.testing.assert_allclose(decision.estimate[c, active], mean[active], atol=1e-8)
            shown = half[active] if mode == "realised" else allocation.radius * unit[c]
            np.testing.assert_allclose(decision.high[c, active] - decision.estimate[c, active], shown, rtol=1e-6)
        if mode == "planned":
            means = decision.estimate[:, active].T / unit
            ins, outs = oracle.confidence_phase(means, 4 * allocation.radius)
            if 4 * allocation.radius <= 1 + 1e-9:
                ins = set(range(len(active))) - outs
            expected_left = ins
        else:
            low, high = decision.low[:, active].T / unit, decision.high[:, active].T / unit
            settled = {i for i, arm in enumerate(active) if state.status[arm] == IN}
            away = np.flatnonzero(state.left)
            low, high = (
                np.vstack([low, state.low[:, away].T / unit]),
                np.vstack([high, state.high[:, away].T / unit]),
            )
            ins, outs, expected_left = oracle.bounds_phase(low, high, 1.0)
            if not settled and not len(away):
                assert {active.index(a) for a in decision.left} == expected_left
            ins, outs = ({i for i in some if i < len(active)} - settled for some in (ins, outs))
        assert {active.index(a) for a in decision.ins} == ins
        assert {active.index(a) for a in decision.outs} == outs
        active = [a for a in active if a not in set(decision.outs) | set(decision.left)]
        answered += len(ins) + len(outs)
    assert answered == problem.n_arms


def test_bounds_use_the_measurements_of_their_own_endpoint():
    """Values of the second endpoint lost: wider bounds there, by its own V, and none where nothing returned."""
    problem, truth, rng = random_case(0)
    state = Gege().start(problem)
    outcome = came_back(problem, truth, Gege().ask(state), rng)
    counts = outcome.counts.copy()
    counts[1] = np.floor(counts[1] / 2)
    counts[1, np.flatnonzero(counts[1])[0]] = 0
    decision = Gege().decide(state, replace(outcome, counts=counts))
    log = math.log(2 * problem.n_arms * 2 * math.pi**2 / (6 * problem.delta))
    x = dense(problem.features)
    for c in range(2):
        _, norms = oracle.estimate(x, counts[c], outcome.means[c])
        expected = problem.noise[c] * np.array(norms) * math.sqrt(2 * log)
        np.testing.assert_allclose((decision.high - decision.low)[c] / 2, expected, rtol=1e-7)
    counts[1] = 0
    decision = Gege().decide(state, replace(outcome, counts=counts))
    assert np.isposinf(decision.high[1]).all()
    assert len(decision.ins) == len(decision.outs) == 0
    assert np.isnan(decision.estimate[1]).all()


def test_accepted_arm_stays_active_while_it_may_beat_another():
    """In for sure, the only rival of an open one: it goes on being measured; once the other is out, it leaves."""
    problem = problem_for(DenseFeatures(np.eye(3)), (0.0, 0.0), sd=(1.0, 1.0))
    truth = np.array([[4.0, 3.5, -9.0], [4.0, 3.5, 20.0]])
    state = Gege().start(problem)
    allocation = Gege().ask(state)
    wide = Outcome(allocation, np.full((2, 3), 25.0), truth, 75)
    decision = Gege().decide(state, wide)
    # The third stands apart; the first surely is not beaten by it, but nobody knows about the second.
    assert decision.ins.tolist() == [2]
    assert decision.left.tolist() == [2]
    # The first: wide against the second, so far.
    state = Gege().apply(state, decision)
    skewed = np.array([[4.0, 3.9, 0.0], [5.5, 3.9, 0.0]])
    decision = Gege().decide(state, Outcome(Gege().ask(state), np.array([[200.0] * 3] * 2), skewed, 600))
    assert decision.ins.tolist() == [0]
    assert decision.left.tolist() == []
    state = Gege().apply(state, decision)
    assert state.active.tolist() == [True, True, False]
    decision = Gege().decide(state, Outcome(Gege().ask(state), np.full((2, 3), 1e6), truth, 10**6))
    assert decision.outs.tolist() == [1]
    assert decision.left.tolist() == [0]
    assert [r.name for r in Gege().stop(Gege().apply(state, decision))] == ["decided"]


def test_unavailable_member_counts_where_an_endpoint_was_never_measured():
    """In by one endpoint alone; the other may well beat, and does."""
    strategy, features = Gege(), DenseFeatures(np.eye(2))
    truth = np.array([[10.0, 3.0], [5.0, 1.0]])
    problem = problem_for(features, (1.0, 1.0), first_radius=2.0)
    state = strategy.start(problem)
    for phase, endpoints in enumerate((slice(0, 1), slice(0, 2), slice(0, 2))):
        if strategy.stop(state):
            break
        asked = strategy.ask(state)
        counts = np.zeros((2, 2))
        counts[endpoints, asked.arms] = asked.counts
        state = strategy.tell(state, Outcome(asked, counts, np.where(counts > 0, truth, 0.0)))
        if phase == 0:
            assert state.status.tolist() == [IN, UNDECIDED]
            state = strategy.adjust(state, measurable=np.array([False, True]), spent=0)
    assert state.status.tolist() == [IN, UNDECIDED]
    (reason,) = strategy.stop(state)
    assert reason.name == "lost"


def test_two_equal_arms_are_separated_as_often_as_the_bounds_allow():
    """K = 2, no union to hide behind: the radii of the experiments put a tied arm out at an exactly known rate."""
    problem = problem_for(
        DenseFeatures(np.eye(2)), (1.0, 1.0), sd=(1.0, 1.0), delta=0.3, radii="simplified", first_radius=1.0
    )
    state = Gege().start(problem)
    allocation = Gege().ask(state)
    n = allocation.counts[0]
    assert (allocation.counts == n).all()
    half = math.sqrt(2 * math.log(math.pi**2 / (6 * 0.3)) / 32 / n)
    exact = 2 * norm.sf(2 * half / math.sqrt(2 / n)) ** 2
    assert 0.1 < exact < 0.3
    rng = np.random.default_rng(0)
    wrong = sum(
        len(Gege().decide(state, came_back(problem, np.zeros((2, 2)), allocation, rng)).outs) > 0 for _ in range(1500)
    )
    assert binomtest(wrong, 1500, exact).pvalue > 1e-3
    # Bounds 1.3 times too narrow would be noticed.
    assert binomtest(wrong, 1500, 2 * norm.sf(2 * half / 1.3 / math.sqrt(2 / n)) ** 2).pvalue < 1e-3


def test_the_papers_first_radius():
    problem = problem_for(DenseFeatures(np.eye(3)), (0.0, 0.0), first_radius=0.25, radii="proven", sd=(3.0, 7.0))
    state = Gege().start(problem)
    assert state.first_radius == 0.25 / 4
    # In units of the noise: sigma is 1, whatever the endpoints' own.
    assert Gege().ask(state).total == oracle.size(1, 0.25, 1.0, 3, 3, 2, problem.delta, "proven")
