"""RAGE against a slow reference, its guarantee, its ends, and its order beside static designs and the oracle."""

import itertools
import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from scipy.stats import binomtest, norm

from assaypilot.engine.domain.features import DenseFeatures, SiteFeatures
from assaypilot.engine.domain.goals import Best
from assaypilot.engine.strategies.protocol import IN, NOT_ESTIMABLE, OUT, UNDECIDED
from assaypilot.engine.strategies.rage.phase import beaten
from assaypilot.engine.strategies.rage.rage import Rage, union_log
from tests.oracles import rage as slow
from tests.strategies import came_back, dense, finished, phases, problem_of, product, random_table, seeds


def asked(features, *, slack=0.0, sd=1.0, delta=0.05, wanted=None, **changes):
    problem = problem_of(features, goal=Best(slack), sd=sd, delta=delta, **changes)
    return problem if wanted is None else replace(problem, wanted=np.asarray(wanted, dtype=bool))


def found(strategy, problem, truth, seed):
    return finished(strategy, strategy.start(problem), truth, np.random.default_rng(seed))


@pytest.mark.parametrize("seed", range(10))
def test_every_decision_is_that_of_the_paper(seed):
    rng = np.random.default_rng((4, seed))
    codes, sizes = random_table(rng, ("full", "sparse", "deficient")[seed % 3], most=14)
    features = SiteFeatures(codes, sizes)
    x = dense(features)
    n = len(x)
    slack, sd = (0.0, 0.2)[seed % 2], 0.3
    problem = asked(features, slack=slack, sd=sd)
    truth = x @ rng.normal(0.0, 0.6, x.shape[1])
    seen = 0
    for state, outcome, decision in phases(Rage(), problem, truth, rng, most=6, lost=0.1, extra=1):
        spread = sd * math.sqrt(2.0 * slow.log_term(n, state.phase + 1, problem.delta))
        active = np.flatnonzero(state.active)
        left, theta, v = slow.survivors(x, outcome.counts[0], outcome.means[0], active, spread)
        open_ones = [i for i in active if state.status[i] == UNDECIDED]
        width = slow.widest(x, v, left, spread) if slack else (0.0 if len(left) < 2 else math.inf)
        if width <= slack / 2.0 * (1 + 1e-9) or len(left) == 1:
            best = max(left, key=lambda i: float(x[i] @ theta))
            assert decision.ins.tolist() == [best]
            assert sorted(decision.outs.tolist()) == [i for i in open_ones if i != best]
        else:
            assert decision.ins.tolist() == []
            assert sorted(decision.outs.tolist()) == [i for i in open_ones if i not in left]
        seen += 1
    assert seen


@pytest.mark.parametrize("radii", ["proven", "tight", "as_printed"])
def test_a_phase_keeps_its_promise_with_the_fewest_measurements_it_can(radii):
    """Every difference of those in is within the radius, and 2 rho sigma^2 log / C^2 is what that takes at least."""
    features = SiteFeatures(product((3, 3, 2)), (3, 3, 2))
    x = dense(features)
    problem = asked(features, sd=0.5, first_radius=0.5, radii=radii)
    strategy = Rage()
    allocation = strategy.ask(strategy.start(problem))
    log = union_log(18, 1, problem.delta, radii)
    counts = np.zeros(18)
    counts[allocation.arms] = allocation.counts
    achieved = slow.rho(x, counts, x)
    assert math.sqrt(2.0 * 0.25 * achieved * log) <= 0.5 * (1 + 1e-9)
    # The XY value of a full product is the sum of 2 l_n.
    least = 2.0 * 16 * 0.25 * log / 0.25
    assert least * (1 - 1e-9) <= allocation.total <= least * (1.15 if radii == "as_printed" else 1.05) + 2
    assert allocation.certificate.lower_bound <= 16.0 * (1 + 1e-9) <= allocation.certificate.value * (1 + 2e-9)


@given(seeds)
def test_elimination_by_leaders_and_blocks_is_the_rule(seed):
    rng = np.random.default_rng(seed)
    m = int(rng.integers(1, 60))
    scores, points = rng.normal(size=m), rng.normal(size=(m, 3))
    spread, least = float(rng.uniform(0.05, 1.0)), float(rng.choice([0.0, 0.4]))
    found = beaten(scores, points, spread, least)
    assert found.exact
    for i in range(m):
        expected = any(
            scores[j] - scores[i] > max(spread * np.linalg.norm(points[j] - points[i]), least) for j in range(m)
        )
        assert found.rows[i] == expected


@pytest.mark.parametrize("given", [{}, {"slack_rule": "tight", "radii": "tight"}])
@pytest.mark.parametrize("lost", [0.02, 0.3])
def test_with_slack_it_ends_though_measurements_fail(given, lost):
    """The last radius is what ends the search exactly, so a phase that lacks one measurement must ask for more."""
    features = SiteFeatures(product((3, 3)), (3, 3))
    truth = dense(features) @ np.array([0, 0, 0.05, -0.8, 0, 0.05, -0.8])
    problem, strategy, more = asked(features, slack=0.2, sd=0.2, **given), Rage(), 0
    finest = 0.2 if given else 0.1
    for seed in range(6):
        state, rng, radii = strategy.start(problem), np.random.default_rng(seed), []
        while not strategy.stop(state):
            allocation = strategy.ask(state)
            radii.append(allocation.radius)
            assert len(radii) < 12
            state = strategy.tell(state, came_back(problem, truth, allocation, rng, spent=state.spent, lost=lost))
        last = [r for r in radii if r <= finest * (1 + 1e-9)]
        # Each asks for a little more than the one before it, and for no more than twice as much.
        assert all(0.7 <= after / before <= 0.95 + 1e-9 for before, after in itertools.pairwise(last))
        more += len(last) > 1
        assert (state.status == IN).sum() == 1
    assert more


def test_a_difference_can_be_estimated_where_no_mean_can():
    """Both wanted compounds carry a part nobody else has; the phase measures neither, and still decides."""
    x = np.array([[1.0, 0, 1], [0, 1.0, 1], [1.0, 0, 0], [0, 1.0, 0]])
    strategy = Rage()
    problem = asked(DenseFeatures(x), sd=0.1, wanted=[1, 1, 0, 0])
    state = strategy.start(problem)
    allocation = strategy.ask(state)
    counts = np.array([[0.0, 0, 1000, 1000]])
    outcome = came_back(problem, np.zeros(4), allocation, np.random.default_rng(0))
    decision = strategy.decide(state, replace(outcome, counts=counts, means=np.array([[0.0, 0, 1.0, 0.0]])))
    assert (decision.ins.tolist(), decision.outs.tolist()) == ([0], [1])
    assert np.isnan(decision.estimate[0, :2]).all()
    assert np.isposinf(decision.high[0, :2]).all()


def test_winner_that_becomes_unavailable_is_remembered():
    """No phase told any mean, so no bound is left of the one that beat the second; the third is not the best for it."""
    wanted = np.hstack([np.eye(3), np.ones((3, 1))])
    strategy = Rage()
    problem = asked(DenseFeatures(np.vstack([wanted, np.eye(4)])), sd=0.1, wanted=[1, 1, 1, 0, 0, 0, 0])
    problem = replace(problem, measurable=np.array([0, 0, 0, 1, 1, 1, 1], dtype=bool))
    state = strategy.start(problem)
    outcome = came_back(problem, np.zeros(7), strategy.ask(state), np.random.default_rng(0))
    counts, means = np.zeros((1, 7)), np.zeros((1, 7))
    counts[0, 3:6], means[0, 3:6] = (1000, 1000, 1), (1.0, 0.9, 0.89)
    state = strategy.tell(state, replace(outcome, counts=counts, means=means))
    assert state.status[:3].tolist() == [UNDECIDED, OUT, UNDECIDED]
    assert np.isposinf(state.high[0, :3]).all()
    state = strategy.adjust(state, measurable=np.array([0, 0, 0, 0, 1, 1, 1], dtype=bool), spent=state.spent)
    assert state.status[:3].tolist() == [NOT_ESTIMABLE, OUT, UNDECIDED]
    assert state.lost.tolist() == [True, False, False, False, False, False, False]
    (reason,) = strategy.stop(state)
    assert (reason.name, reason.numbers["lost"]) == ("lost", 1)
    # Had nobody been compared yet, nothing would have been decided by it.
    fresh = strategy.adjust(strategy.start(problem), measurable=state.problem.measurable, spent=0)
    assert not fresh.lost.any()
    assert not strategy.stop(fresh)
    # It comes back, and the search goes on.
    back = strategy.adjust(state, measurable=problem.measurable, spent=state.spent)
    assert not back.lost.any()
    assert not strategy.stop(back)


def test_radii_as_printed_promise_nothing():
    features = DenseFeatures(np.eye(2))
    assert Rage().void(asked(features)) == ()
    assert Rage().void(asked(features, radii="tight")) == ()
    (why,) = Rage().void(asked(features, radii="as_printed"))
    assert "1.64" in why


@pytest.mark.slow
def test_two_compounds_err_as_often_as_the_boundary_says():
    """K = 2, no union: an error in phase 1 has the probability of one tail, which a bound 1.3 times too small shows."""
    problem = asked(DenseFeatures(np.eye(2)), sd=1.0, delta=0.3, radii="tight", first_radius=8.0)
    strategy = Rage()
    state = strategy.start(problem)
    allocation = strategy.ask(state)
    gap, runs = 0.05, 2000
    truth = np.array([gap, 0.0])
    rng = np.random.default_rng(0)
    outs = [strategy.decide(state, came_back(problem, truth, allocation, rng)).outs.tolist() for _ in range(runs)]
    size = math.sqrt(float((1.0 / allocation.counts).sum()))
    exact = norm.sf(math.sqrt(2.0 * math.log(2.0 / 0.3)) + gap / size)
    found = sum(out == [0] for out in outs)
    assert binomtest(found, runs, exact).pvalue > 1e-3
    assert binomtest(found, runs, norm.sf(math.sqrt(2.0 * math.log(2.0 / 0.3)) / 1.3 + gap / size)).pvalue < 1e-3


@pytest.mark.parametrize("radii", ["proven", "tight"])
@pytest.mark.parametrize("n", [1, 2, 5, 300])
def test_means_and_differences_err_no_more_than_delta_together(radii, n):
    """Bounds of means count against who is lost: their tails and those of the pairs leave a phase its share."""
    delta = 0.05
    problem = asked(SiteFeatures(np.arange(n, dtype=np.int32)[:, None], (n,)), delta=delta, radii=radii)
    factor = Rage()._for_means(problem)
    for phase in (1, 2, 7, 40):
        spread = math.sqrt(2.0 * union_log(n, phase, delta, radii))
        pairs = n * (n - 1) if radii == "proven" else n - 1
        error = pairs * norm.sf(spread) + 2 * n * norm.sf(factor * spread)
        assert error <= delta / (phase * (phase + 1))
    assert (factor > 1.0) == (radii == "tight")
