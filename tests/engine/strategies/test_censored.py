"""Values known only as bounds: their worst case is one, whatever the latent values are, and costs what it must."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from scipy.special import ndtr

from assaypilot.engine.features import SiteFeatures
from assaypilot.engine.goals import AllEpsilonBest
from assaypilot.engine.models.ols import least_squares
from assaypilot.engine.strategies import censored
from assaypilot.engine.strategies.adaptive.boundary import limits
from assaypilot.engine.strategies.adaptive.evidence import Evidence, appended, nothing_measured
from assaypilot.engine.strategies.censored import LEAST_STEP, apart, beside, fit_imputed, in_steps, shyness
from assaypilot.engine.strategies.linfact.g_optimal import LinFactG
from assaypilot.engine.strategies.protocol import Allocation, Certificate, Outcome, Problem
from tests.published import beyond
from tests.published.calibration_checks import limits as error_limits


def table(*sizes):
    codes = np.array(list(itertools.product(*map(range, sizes))))
    return SiteFeatures(codes, sizes)


def outcomes(rng, features, phases=3, sigma=0.3, reach=(-np.inf, np.inf)):
    """What phases gave with a limit, and the same with the latent values."""
    n = features.n_rows
    mu = features.times(rng.normal(0, 0.5, features.n_columns))
    limit = np.quantile(mu, 0.15)
    for _ in range(phases):
        arms = rng.choice(n, size=n - 4, replace=False)
        counts, sums = np.zeros((1, n)), np.zeros((4, 1, n))
        for arm in arms:
            latent = mu[arm] + sigma * rng.normal(size=int(rng.integers(1, 3)))
            beyond = latent < limit
            counts[0, arm] = len(latent)
            low, high = np.where(beyond, max(reach[0], -1e9), latent), np.where(beyond, limit, latent)
            low[beyond & (reach[0] == -np.inf)] = -np.inf
            sums[:, 0, arm] = latent.mean(), high.mean(), low.mean(), high.mean()
        plan = Allocation(1, np.sort(arms), np.ones(len(arms), dtype=np.intp), math.inf, Certificate("g", 1.0, 1.0))
        yield Outcome(plan, counts, sums[1], 0, sums[2], sums[3]), Outcome(plan, counts, sums[0], 0), mu


@pytest.mark.parametrize("reach", [(-np.inf, np.inf), (-3.0, np.inf)])
@pytest.mark.parametrize("seed", range(4))
def test_no_step_is_larger_than_the_one_of_the_latent_values(seed, reach):
    rng = np.random.default_rng(seed)
    features = table(4, 3, 3)
    seen, latent = nothing_measured(), nothing_measured()
    for phase, (given, true, _) in enumerate(outcomes(rng, features, reach=reach)):
        before = Evidence(features, seen, 0.3)
        leader = phase * 5 if phase else None
        seen = appended(seen, given, leader, [before])
        latent = appended(latent, true, leader)
    if len(seen["low"]):
        # The same cells count for the same in both: what is compared is the values.
        latent |= {"low": latent["means"], "high": latent["means"], "shy": seen["shy"]}
    known, whole = Evidence(features, seen, 0.3), Evidence(features, latent, 0.3)
    rows = np.arange(features.n_rows)
    walks = [
        (known.behind(rows), whole.behind(rows)),
        (known.behind(rows, 7), whole.behind(rows, 7)),
        (known.between(rows, rows[::-1]), whole.between(rows, rows[::-1])),
        (known.pairs(rows, rows[:9]), whole.pairs(rows, rows[:9])),
    ]
    helped = 0
    for least, exact in walks:
        assert np.array_equal(least.precision, exact.precision)
        assert exact.doubt is None or not exact.doubt.any()
        sizes, true = least._sizes(0.2), exact._sizes(0.2)
        assert (sizes <= np.maximum(true, LEAST_STEP) + 1e-6).all()
        assert least.doubt is not None
        helped += int((sizes > LEAST_STEP + 1e-9).sum())
    assert helped > 50, "some of it must be told"
    limit = limits(0.05, 3, known.n_phases)
    low, high = known.bounded(rows, limit)[1:]
    exact_low, exact_high = whole.bounded(rows, limit)[1:]
    assert (low <= exact_low + 1e-9).all()
    assert (high >= exact_high - 1e-9).all()
    assert np.isfinite(high).any()


@pytest.mark.parametrize("seed", range(5))
def test_steps_by_shyness_are_unbiased_with_the_variance_they_say(seed):
    rng = np.random.default_rng(seed)
    features = table(4, 3, 3)
    arms = rng.choice(features.n_rows, size=20, replace=False)
    counts = rng.integers(1, 5, size=20).astype(float)
    theta = rng.normal(size=features.n_columns)
    shy = rng.integers(0, 3, size=20).astype(np.int8)
    found, weights = in_steps(features, (arms, counts, features.times(theta, arms)), shy)
    rows = np.flatnonzero(found.estimable())
    np.testing.assert_allclose(found.means(rows), features.times(theta, rows), atol=1e-9)
    x = features.dense(rows)
    spread = np.sqrt(((x @ weights) ** 2 / counts).sum(axis=1))
    np.testing.assert_allclose(found.half_norms(rows), spread, rtol=1e-9)
    whole = least_squares(features, arms, counts, np.zeros(20))
    assert (spread >= whole.half_norms(rows) - 1e-9).all(), "least squares is best"
    # What the least shy tell is told by them alone.
    first = least_squares(features, *(a[shy == shy.min()] for a in (arms, counts, np.zeros(20))))
    alone = np.flatnonzero(first.estimable())
    assert not (np.abs(features.dense(alone) @ weights)[:, shy > shy.min()] > 1e-9).any()


def test_a_step_that_counts_as_minus_four_passes_limits_hardly_more_often():
    """The crossing probability of walks of max(Z, -4), by integration, beside that of walks of Z."""
    for alpha, expected, looks in ((0.05, 3, 8), (0.2, 6, 12), (1e-3, 4, 10)):
        heights = limits(alpha, expected, looks) * np.sqrt(np.arange(1, looks + 1))
        chances = []
        for least in (LEAST_STEP, -2.0, -99.0):
            places, mass, chance = np.zeros(1), np.ones(1), 0.0
            for look, height in enumerate(heights, start=1):
                chance += float(ndtr(places - height) @ mass)
                edges = np.linspace(-7.0 * math.sqrt(look), height, 500)
                steps = edges[:, None] - places
                below = np.where(steps < least, 0.0, ndtr(steps)) @ mass
                mass = np.diff(below, prepend=0.0)[1:]
                mass[0] += below[0]
                places = (edges[1:] + edges[:-1]) / 2
            chances.append(chance)
        assert 0 <= chances[0] / chances[2] - 1 < 1e-5
        assert chances[1] / chances[2] - 1 > 1e-5, "the same of -2 is seen"


def test_half_open_intervals_widen_one_side_of_what_they_touch():
    features = table(3, 2)
    arms, counts = np.arange(6), np.ones(6)
    means = np.array([5.0, 6.0, 6.5, 7.0, 7.5, 8.0])
    low = means.copy()
    low[0] = -np.inf
    found = least_squares(features, arms, counts, means)
    below, above = apart(found, means, low, means)
    assert np.isinf(below[0])
    assert not above[0]
    assert np.isinf(above[3]), "(1, 1) counts the censored (0, 0) with a minus"
    assert not below[3]
    assert not np.concatenate(apart(found, means, means, means)).any()


def test_what_is_planned_by_comes_near_the_truth_behind_a_limit():
    rng = np.random.default_rng(3)
    features = table(4, 4, 3)
    theta = rng.normal(0, 0.6, features.n_columns)
    mu = features.times(theta)
    limit = np.quantile(mu, 0.4)
    values = mu + 0.2 * rng.normal(size=len(mu))
    means, arms = np.maximum(values, limit), np.arange(len(mu))
    low = np.where(values < limit, -np.inf, means)
    cells = (arms, np.ones(len(mu)), means)
    errors = [np.abs(one.means() - mu).mean() for one in (fit_imputed(features, cells, low, means, 0.2),
                                                          least_squares(features, *cells))]  # fmt: skip
    assert errors[0] < 0.5 * errors[1]


def test_designs_leave_out_what_would_only_give_one_more_bound():
    features = table(4, 3)
    codes = features.codes
    theta = np.concatenate([[6.0], [0.0, 0.5, 1.0, -3.0], [0.0, 0.5, 1.0]])
    planned = least_squares(features, np.arange(12), np.ones(12), features.times(theta))
    shy = shyness(planned, (4.5, np.inf), 0.2)
    assert (shy[codes[:, 0] == 3] > 0).all()
    assert not shy[codes[:, 0] != 3].any()
    measurable = np.ones(12, dtype=bool)
    top, other, bad = 8, 0, 11
    means = planned.means()
    only = beside(features, measurable, shy, means, (np.array([top]), np.array([other])))
    np.testing.assert_array_equal(only, codes[:, 0] != 3)
    needed = beside(features, measurable, shy, means, (np.array([top]), np.array([bad])))
    assert needed[codes[:, 0] != 3].all()
    assert needed[bad], "the one of its kind that is least likely to be censored"
    assert 1 <= needed[codes[:, 0] == 3].sum() <= censored._ALIKE


@pytest.mark.parametrize("seed", range(3))
def test_linfact_bounds_hold_what_they_would_of_the_latent_values(seed):
    rng = np.random.default_rng(seed)
    features = table(4, 3, 3)
    n = features.n_rows
    every = np.ones(n, dtype=bool)
    strategy = LinFactG()
    state = strategy.start(Problem(features, every, every, AllEpsilonBest(0.5, 0.5), 0.1, (0.3,)))
    for given, true, _ in outcomes(rng, features):
        told, whole = strategy.decide(state, given), strategy.decide(state, true)
        assert told.numbers["censored"] > 0
        assert "censored" not in whole.numbers
        assert (told.low <= whole.low + 1e-9).all()
        assert (told.high >= whole.high - 1e-9).all()
        assert set(told.ins) <= set(whole.ins)
        assert set(told.outs) <= set(whole.outs)


@pytest.mark.parametrize(("way", "wrong"), [("bound", 0), ("drop", 5), ("limit", 5)])
def test_bounds_as_values_and_bounds_left_out_deceive_where_ours_do_not(way, wrong):
    assert sum(run.wrong for run in beyond.deceived(way, 5)) == wrong


@pytest.mark.full
@pytest.mark.parametrize("share", [0.1, 0.3, 0.5])
def test_error_rates_with_values_beyond_the_range_hold(share):
    runs = beyond.on_random_tables(share, "bound", 40)
    assert error_limits(sum(run.wrong for run in runs), 40)[0] <= beyond.DELTA
    assert sum(run.undecided > 0 for run in runs) <= 4
    assert np.mean([run.first for run in runs]) > 0.8 * share
