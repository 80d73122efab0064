"""Bounds in estimates: against the likelihood itself, integrals over it, and compounds whose truth is known."""

import time

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import optimize, stats

from assaypilot.engine.domain.features import SiteFeatures
from assaypilot.engine.models.ols import least_squares
from assaypilot.engine.models.posterior import posterior
from assaypilot.engine.models.tobit import Bounds, Cells, additive, apart, prior_of
from tests.strategies import dense, seeds, site_tables

ONE = SiteFeatures(np.zeros((1, 0), dtype=np.int32), ())
"""One compound: the intercept is its mean."""


def bounds(rows, limits, signs=1.0, counts=1.0, times=1.0):
    rows = np.array(rows, dtype=np.intp)
    return Bounds(rows, *(np.broadcast_to(one, rows.shape).astype(float) for one in (counts, limits, signs, times)))


def values(rows, means, counts=1.0):
    rows = np.array(rows, dtype=np.intp)
    return Cells(rows, np.broadcast_to(counts, rows.shape).astype(float), np.asarray(means, dtype=float))


def table(rng, sizes, n, share, sigma=0.2, size=0.7):
    """A table, its true means, exact values, and bounds for those below a limit with this share of compounds below."""
    codes = np.stack([rng.integers(0, size, n) for size in sizes], axis=1)
    features = SiteFeatures(codes, tuple(sizes))
    truth = features.times(np.concatenate([[6.0], size * rng.standard_normal(sum(sizes))]))
    seen = truth + sigma * rng.standard_normal(n)
    limit = float(np.quantile(truth, share))
    below = seen < limit
    rows = np.arange(n)
    return features, truth, values(rows[~below], seen[~below]), bounds(rows[below], limit)


@st.composite
def censored_tables(draw):
    features = draw(site_tables(25))
    rng = np.random.default_rng(draw(seeds))
    rows = np.arange(features.n_rows)
    level = draw(st.sampled_from([0.0, 6.0, 500.0]))
    seen = level + rng.normal(size=features.n_rows)
    kind = rng.integers(0, 3, features.n_rows)
    if (kind == 0).all():
        kind[0] = 1
    counts = rng.integers(1, 5, features.n_rows).astype(float)
    exact = values(rows[kind == 0], seen[kind == 0], counts[kind == 0])
    held = bounds(
        rows[kind > 0], seen[kind > 0], np.where(kind[kind > 0] == 1, 1.0, -1.0), counts[kind > 0],
        rng.integers(1, 4, features.n_rows)[kind > 0],
    )  # fmt: skip
    return features, exact, held, draw(st.sampled_from([0.1, 0.3, 2.0]))


def unlikeliness(features, exact, held, sigma):
    """Minus the logarithm of likelihood and prior as the textbook writes them, of the effects."""
    x, (centre, spread) = dense(features), prior_of(exact, held, sigma)

    def found(theta):
        means = x @ theta
        total = stats.norm.logpdf(exact.means, means[exact.rows], sigma / np.sqrt(exact.counts)).sum()
        off = held.signs * (held.limits - means[held.rows]) / (sigma / np.sqrt(held.counts))
        total += held.times @ stats.norm.logcdf(off)
        return -total - stats.norm.logpdf(theta, np.eye(len(theta))[0] * centre, spread).sum()

    return found


@settings(max_examples=40)
@given(censored_tables())
def test_the_estimate_is_where_the_likelihood_is_highest(data):
    features, exact, held, sigma = data
    view = additive(features, exact, held, sigma)
    loss = unlikeliness(features, exact, held, sigma)
    start = np.zeros(features.n_columns)
    start[0] = prior_of(exact, held, sigma).centre
    best = optimize.minimize(loss, start, method="BFGS", options={"gtol": 1e-6})
    assert loss(view.mean) <= best.fun + 1e-7 * max(1.0, abs(best.fun))
    # It is concave, so that no step along any axis leads higher from its one maximum.
    for axis in np.eye(features.n_columns):
        for step in (1e-3, -1e-3):
            assert loss(view.mean + step * sigma * axis) >= loss(view.mean) - 1e-9


@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_one_mean_solves_the_equation_of_survival_analysis(sign):
    sigma, seen, limit, k = 0.3, np.array([5.2, 5.4, 5.3]), 5.2, 4
    view = additive(ONE, values([0], [seen.mean()], 3.0), bounds([0], limit, sign, times=k), sigma)

    def slope(mean):
        """Of the log likelihood of exact and censored normal values (Cohen, Technometrics 1, 1959)."""
        z = sign * (limit - mean) / sigma
        return (seen - mean).sum() / sigma**2 - sign * k * stats.norm.pdf(z) / stats.norm.cdf(z) / sigma

    root = optimize.brentq(slope, 3.0, 8.0)
    # The prior, of ten times the noise, moves it by far less than its error.
    assert view.means()[0] == pytest.approx(root, abs=5e-3)
    assert sign * (seen.mean() - view.means()[0]) > 0.02


@settings(max_examples=25)
@given(censored_tables())
def test_the_errors_are_those_of_the_curvature_of_the_likelihood(data):
    features, exact, held, sigma = data
    view = additive(features, exact, held, sigma)
    x, (_, spread) = dense(features), prior_of(exact, held, sigma)

    def slope(rows):
        """Of the textbook's log probability of each bound, in the mean of its row."""
        sd = sigma / np.sqrt(held.counts)
        z = held.signs * (held.limits - rows) / sd
        return -held.signs * np.exp(stats.norm.logpdf(z) - stats.norm.logcdf(z)) / sd

    means, h = view.means(held.rows), 1e-4 * sigma
    told = -held.times * (slope(means + h) - slope(means - h)) / (2.0 * h)
    information = (x[exact.rows].T * exact.counts / sigma**2) @ x[exact.rows]
    information += (x[held.rows].T * told) @ x[held.rows] + np.eye(x.shape[1]) / spread**2
    expected = np.sqrt(np.einsum("ij,ij->i", x @ np.linalg.inv(information), x))
    np.testing.assert_allclose(view.sds(), expected, rtol=1e-3)


@pytest.mark.parametrize(
    ("limits", "signs", "side"),
    [([5.0], [1.0], -1), ([5.0, 5.2], [-1.0, -1.0], 1), ([5.0, 4.7], [1.0, -1.0], 0), ([8.0], [1.0], -1)],
)
def test_what_only_bounds_tell_of_is_open_to_their_side(limits, signs, side):
    # Compound 0 has a substituent of its own; compound 1 is held by an exact value.
    features = SiteFeatures(np.array([[0], [1], [2]]), (3,))
    view = additive(features, values([1, 2], [6.0, 6.4]), bounds([0] * len(limits), limits, signs), 0.2)
    assert view.sides()[0] == side
    for limit, sign in zip(limits, signs, strict=True):
        assert sign * (limit - view.means()[0]) > 0.0


def test_a_bound_that_says_nothing_moves_nothing_and_one_that_lies_in_the_way_does():
    rng = np.random.default_rng(3)
    codes = np.array([[a, b] for a in range(4) for b in range(3)])
    features, rows = SiteFeatures(codes, (4, 3)), np.arange(12)
    truth = features.times(np.array([6.0, -0.6, -0.2, 0.2, 0.6, -0.4, 0.0, 0.4]))
    exact = values(rows[1:], truth[1:] + 0.2 * rng.standard_normal(11))
    without = posterior(features, *exact, 0.2)
    far = additive(features, exact, bounds([0], 8.0), 0.2)
    np.testing.assert_allclose(far.means(), without.means(), atol=0.02)
    np.testing.assert_allclose(far.sds(), without.sds(), rtol=0.02)
    near = additive(features, exact, bounds([0], truth[0] - 0.3), 0.2)
    assert near.means()[0] < without.means()[0] - 0.05
    assert near.sds()[0] < without.sds()[0]


def test_the_first_minus_the_second_has_both_errors():
    rng = np.random.default_rng(4)
    features, _, exact, held = table(rng, (4, 3), 40, 0.3)
    other = posterior(features, np.arange(40), np.ones(40), rng.normal(size=40), 0.3)
    first = additive(features, exact, held, 0.2)
    both = apart(first, other)
    np.testing.assert_allclose(both.means(), first.means() - other.means(), atol=1e-9)
    np.testing.assert_allclose(both.sds(), np.hypot(first.sds(), other.sds()), rtol=1e-6)
    # What is known to lie below leaves the difference open above, where it is what is taken off.
    one_site = SiteFeatures(np.array([[0], [1]]), (2,))
    low = additive(one_site, values([1], [6.0]), bounds([0], 5.0), 0.2)
    plain = posterior(one_site, np.array([0, 1]), np.ones(2), np.array([7.0, 6.0]), 0.2)
    assert (apart(low, plain).sides()[0], apart(plain, low).sides()[0]) == (-1, 1)


def errors(share, seeds_, *, way):
    """Bias, and how often 95 % intervals hold, of compounds with bounds that others tell of; of all; of open ones."""
    off, below, every, open_ = [], [], [], []
    for seed in seeds_:
        features, truth, exact, cut = table(np.random.default_rng(seed), (6, 5, 4), 100, share)
        if way == "bounds":
            view = additive(features, exact, cut, 0.2)
        else:
            taken = cut[:3] if way == "limit" else bounds([], 0.0)[:3]
            view = posterior(features, *(np.concatenate(pair) for pair in zip(exact, taken, strict=True)), 0.2)
        told = least_squares(features, *exact).estimable()
        held = np.abs(view.means() - truth) <= 1.96 * view.sds()
        mine = cut.rows[told[cut.rows]]
        off.append((view.means() - truth)[mine])
        below.append(held[mine])
        every.append(held[told])
        open_.append((truth <= view.means() + 1.96 * view.sds())[~told])
    return tuple(np.concatenate(part).mean() for part in (off, below, every, open_) if len(np.concatenate(part)))


@pytest.mark.parametrize("share", [0.1, 0.3, 0.5])
def test_estimates_have_no_bias_and_intervals_hold_where_values_are_cut(share):
    """Beside leaving bounds out, and beside taking the limit for the value; 40 tables of 100 compounds each."""
    bias, below, every, *open_ = errors(share, range(40), way="bounds")
    assert abs(bias) < 0.03
    assert 0.93 < below < 0.97
    assert 0.94 < every < 0.96
    assert all(held > 0.97 for held in open_)
    left_out = errors(share, range(40), way="out")
    assert left_out[0] > bias + 0.04
    assert left_out[1] < below - 0.02
    limited = errors(share, range(40), way="limit")
    assert limited[0] > 0.1
    assert limited[1] < 0.6


@pytest.mark.parametrize(("sizes", "n", "most"), [((12, 10, 8), 960, 0.05), ((60, 50, 40), 10_000, 0.5)])
def test_it_is_found_in_milliseconds(sizes, n, most):
    features, truth, exact, held = table(np.random.default_rng(1), sizes, n, 0.3)
    taken = []
    for _ in range(3):
        begun = time.perf_counter()
        view = additive(features, exact, held, 0.2)
        means, sds = view.means(), view.sds()
        taken.append(time.perf_counter() - begun)
    assert (np.abs(means - truth) <= 1.96 * sds).mean() > 0.85
    assert min(taken) < most


@pytest.mark.parametrize("off", [30.0, 99.0, 101.0, 1e3, 1e6, 1e9])
def test_a_bound_however_far_on_the_wrong_side_is_a_value_at_its_limit(off):
    """Two compounds with the same substituents, one measured, one known to lie far below: between both, by weight."""
    features = SiteFeatures(np.array([[0], [0], [1]]), (2,))
    view = additive(features, values([0, 2], [off, off]), bounds([1], 0.0), 0.5)
    # So far out the probability of the bound falls as that of a value there: the mean is in the middle.
    assert view.means()[0] == pytest.approx(off / 2, rel=1e-2)
    assert view.sds()[0] == pytest.approx(0.5 / np.sqrt(2.0), rel=2e-2)


@pytest.mark.parametrize("scale", [1e-100, 1e-9, 1e9, 1e100])
def test_no_finite_input_is_too_large_or_too_small(scale):
    rng = np.random.default_rng(5)
    features, _, exact, held = table(rng, (4, 3), 30, 0.4)
    sizes = exact._replace(means=exact.means * scale), held._replace(limits=held.limits * scale)
    for sigma in (0.2 * scale, 0.2, 1e-12 * scale):
        view = additive(features, *sizes, sigma)
        assert np.isfinite(view.means()).all()
        assert np.isfinite(view.sds()).all()
        assert set(np.unique(view.sides())) <= {-1, 0, 1}
