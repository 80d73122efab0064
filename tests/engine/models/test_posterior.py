"""The posterior view against dense Bayesian linear algebra and an independent Monte Carlo."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from assaypilot.engine.domain.features import DenseFeatures, SiteFeatures
from assaypilot.engine.models import posterior as module
from assaypilot.engine.models.posterior import posterior, probability_within
from tests.strategies import dense, product, seeds, site_tables


@st.composite
def measured(draw, most=25):
    features = draw(site_tables(most))
    rng = np.random.default_rng(draw(seeds))
    m = draw(st.integers(1, features.n_rows))
    rows = rng.permutation(features.n_rows)[:m]
    counts = rng.integers(1, 6, m).astype(float)
    means = draw(st.sampled_from([0.0, 6.0, 500.0])) + rng.normal(size=m) * draw(st.sampled_from([0.0, 0.5, 5.0]))
    return features, rows, counts, means, draw(st.sampled_from([0.05, 0.3, 2.0])), rng


def plainly(features, rows, counts, means, sigma):
    """Mean and covariance of every compound: the prior as one more measurement of every effect, by a dense QR."""
    x = dense(features)
    singles = np.repeat(means, counts.astype(int))
    prior_sd = max(3.0 * singles.std(), 10.0 * sigma)
    expected = np.zeros(x.shape[1])
    expected[0] = singles.mean()
    stacked = np.vstack([x[rows] * np.sqrt(counts)[:, None] / sigma, np.eye(x.shape[1]) / prior_sd])
    seen = np.concatenate([means * np.sqrt(counts) / sigma, expected / prior_sd])
    q, r = np.linalg.qr(stacked)
    half = np.linalg.solve(r.T, x.T)
    return x @ np.linalg.solve(r, q.T @ seen), half.T @ half


@given(measured())
def test_means_and_sds_are_those_of_the_conditional_normal(data):
    features, rows, counts, means, sigma, _ = data
    view = posterior(features, rows, counts, means, sigma)
    mean, covariance = plainly(features, rows, counts, means, sigma)
    scale = max(1.0, np.abs(means).max())
    np.testing.assert_allclose(view.means(), mean, atol=1e-7 * scale)
    np.testing.assert_allclose(view.sds(), np.sqrt(np.diag(covariance)), rtol=1e-5, atol=1e-6)
    some = rows[:2]
    np.testing.assert_allclose(view.means(some), mean[some], atol=1e-7 * scale)
    np.testing.assert_allclose(view.sds(some), np.sqrt(np.diag(covariance))[some], rtol=1e-5, atol=1e-6)


@given(measured(most=12), st.sampled_from([1.0, -1.0]))
def test_probabilities_are_those_of_an_independent_simulation(data, sign):
    features, rows, counts, means, sigma, rng = data
    mean, covariance = plainly(features, rows, counts, means, sigma)
    everything = np.arange(features.n_rows)
    margins = (0.5 * sigma, 3.0 * sigma)
    view = posterior(features, rows, counts, means, sigma)
    found = probability_within(view, everything, margins, sign, seed=1)
    values, vectors = np.linalg.eigh(covariance)
    draws = sign * (mean + rng.standard_normal((20000, len(mean))) @ (vectors * np.sqrt(values.clip(0.0))).T)
    behind = draws.max(axis=1, keepdims=True) - draws
    for ours, margin in zip(found, margins, strict=True):
        expected = (behind <= margin).mean(axis=0)
        # 1,000 draws against 20,000: five standard errors, and one draw for what is nearly certain.
        allowed = 5 * np.sqrt(expected * (1 - expected) / 1000) + 5e-3
        assert (np.abs(ours - expected) <= allowed).all()


def simulated(view, features, margins, n_draws=1024, seed=9):
    """The same draws through the whole indicator matrix, in double precision, no row left out."""
    x = dense(features)
    values = x @ (view.mean[:, None] + view.draws(n_draws, seed))
    behind = values.max(axis=0) - values
    return [(behind <= margin).mean(axis=1) for margin in margins]


@pytest.mark.parametrize("sizes", [(4, 5, 4), (3, 3, 2, 3, 2), (12,), (30, 20)])
@pytest.mark.parametrize("changes", [{}, {"_CHUNK": 7}, {"_ENTRIES": 100}, {"_COMBINATIONS": 1}, {"_SINGLE": 0.0}])
def test_look_ups_give_what_the_indicator_matrix_gives(monkeypatch, sizes, changes):
    features = SiteFeatures(product(sizes), sizes)
    rng = np.random.default_rng(2)
    rows = rng.permutation(features.n_rows)[: features.n_rows // 2]
    truth = dense(features) @ np.concatenate([[6.0], rng.normal(0, 1.0, sum(sizes))])
    view = posterior(features, rows, np.full(len(rows), 3.0), truth[rows] + rng.normal(0, 0.1, len(rows)), 0.15)
    for name, value in changes.items():
        monkeypatch.setattr(module, name, value)
    found = probability_within(view, np.arange(features.n_rows), (0.5, 1.0), 1.0, seed=9)
    for ours, plain in zip(found, simulated(view, features, (0.5, 1.0)), strict=True):
        # One draw may fall on the other side of a margin by rounding.
        np.testing.assert_allclose(ours, plain, atol=1.1 / 1024)


def test_numeric_features_are_drawn_too():
    sites = SiteFeatures(product((4, 3)), (4, 3))
    rows, counts = np.arange(12), np.full(12, 2.0)
    means = np.random.default_rng(0).normal(6.0, 0.3, 12)
    plain = posterior(DenseFeatures(dense(sites)), rows, counts, means, 0.3)
    found = probability_within(plain, rows, (0.2, 0.5), 1.0, seed=9)
    for ours, expected in zip(found, simulated(plain, sites, (0.2, 0.5)), strict=True):
        np.testing.assert_allclose(ours, expected, atol=1.1 / 1024)


def test_without_a_measurement_there_is_no_posterior():
    features = SiteFeatures(product((2, 2)), (2, 2))
    none = np.zeros(0)
    with pytest.raises(ValueError, match="at least one measurement"):
        posterior(features, np.zeros(0, dtype=np.intp), none, none, 0.2)


magnitudes = st.one_of(st.just(0.0), st.floats(-300, 300).map(lambda power: 10.0**power))


@given(
    site_tables(12),
    st.lists(st.tuples(magnitudes, st.sampled_from([-1.0, 1.0]), st.floats(0, 22)), min_size=1, max_size=12),
    st.floats(-300, 300),
    st.floats(-3, 3),
)
def test_no_finite_input_is_too_large_or_too_small(features, cells, noise, margin):
    """Warnings are errors here, so overflow on the way would show as well."""
    cells = cells[: features.n_rows]
    means = np.array([sign * size for size, sign, _ in cells])
    counts = np.floor(10.0 ** np.array([power for _, _, power in cells]))
    view = posterior(features, np.arange(len(cells)), counts, means, 10.0**noise)
    assert np.isfinite(view.means()).all()
    assert np.isfinite(view.sds()).all()
    everything = np.arange(features.n_rows)
    (found,) = probability_within(view, everything, (10.0**margin,), 1.0, seed=1)
    assert ((found >= 0.0) & (found <= 1.0)).all()
    assert found.max() > 0.0


def test_one_absurd_value_leaves_the_measured_compounds_readable():
    """A 1e8 typed for a pIC50 of 8: the campaign still opens, and the value is near where it was put."""
    features = SiteFeatures(product((3, 3)), (3, 3))
    means = np.array([6.0, 6.1, 6.2, 1e8])
    view = posterior(features, np.array([0, 1, 3, 4]), np.ones(4), means, 0.2)
    x = dense(features)[[0, 1, 3, 4]]
    best, *_ = np.linalg.lstsq(x, means)
    np.testing.assert_allclose(view.means(np.array([0, 1, 3, 4])), x @ best, rtol=1e-6)
    assert (view.sds(np.array([0, 1, 3, 4])) < 0.2).all()
    # One compound measured absurdly often says nothing about the noise of the others.
    often = posterior(features, np.array([0, 4]), np.array([1e22, 1.0]), np.array([6.0, 7.0]), 0.2)
    np.testing.assert_allclose(often.means(np.array([0, 4])), [6.0, 7.0], atol=0.01)
    np.testing.assert_allclose(often.sds(np.array([4])), [0.2], rtol=0.01)
