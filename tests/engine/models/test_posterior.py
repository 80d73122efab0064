"""The posterior view against dense Bayesian linear algebra and an independent Monte Carlo."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from assaypilot.engine.features import SiteFeatures
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


@settings(max_examples=30)
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


def test_two_compounds_in_closed_form():
    """mu_2 - mu_1 is normal, so P(1 within m of the best) = P(mu_2 - mu_1 <= m)."""
    features = SiteFeatures(np.array([[0], [1]]), (2,))
    counts, means, sigma = np.array([4.0, 9.0]), np.array([1.0, 1.4]), 0.5
    view = posterior(features, np.array([0, 1]), counts, means, sigma)
    mean, covariance = plainly(features, np.array([0, 1]), counts, means, sigma)
    sd = math.sqrt(covariance[0, 0] + covariance[1, 1] - 2 * covariance[0, 1])
    for margin in (0.0, 0.3, 1.0):
        (found,) = probability_within(view, np.array([0, 1]), (margin,), 1.0, seed=0)
        for one, other in ((0, 1), (1, 0)):
            exact = stats.norm.cdf((margin - (mean[other] - mean[one])) / sd)
            assert found[one] == pytest.approx(exact, abs=0.05)


@given(measured(most=15))
def test_probabilities_grow_with_the_margin_and_somebody_is_best(data):
    features, rows, counts, means, sigma, _ = data
    view = posterior(features, rows, counts, means, sigma)
    everything = np.arange(features.n_rows)
    best, near, all_of_them = probability_within(view, everything, (0.0, sigma, 1e6), 1.0, seed=3)
    assert (best <= near).all()
    assert best.sum() > 1.0 - 1e-9
    assert (all_of_them == 1.0).all()
    again = probability_within(view, everything, (0.0, sigma, 1e6), 1.0, seed=3)
    assert all(np.array_equal(a, b) for a, b in zip((best, near, all_of_them), again, strict=True))


def test_smaller_is_better_mirrors_larger_is_better():
    features = SiteFeatures(product((3, 2)), (3, 2))
    rows, counts = np.arange(6), np.full(6, 2.0)
    means = np.array([1.0, 1.2, 0.5, 0.7, 0.1, 0.3])
    up = posterior(features, rows, counts, means, 0.3)
    down = posterior(features, rows, counts, -means, 0.3)
    (larger,) = probability_within(up, rows, (0.2,), 1.0, seed=0)
    (smaller,) = probability_within(down, rows, (0.2,), -1.0, seed=0)
    np.testing.assert_allclose(larger, smaller, atol=0.06)
    assert larger.argmax() == 1


def test_compounds_far_below_are_given_0_and_large_tables_go_through_look_ups(monkeypatch):
    """The way without a dense matrix gives what the dense way gives: same draws."""
    features = SiteFeatures(product((4, 5, 4)), (4, 5, 4))
    rng = np.random.default_rng(2)
    rows = rng.permutation(80)[:40]
    truth = dense(features) @ np.concatenate([[6.0], rng.normal(0, 1.0, 13)])
    view = posterior(features, rows, np.full(40, 3.0), truth[rows] + rng.normal(0, 0.1, 40), 0.15)
    everything = np.arange(80)
    one = probability_within(view, everything, (0.5, 1.0), 1.0, seed=9)
    from assaypilot.engine.models import posterior as module

    monkeypatch.setattr(module, "_ENTRIES", 100)
    two = probability_within(view, everything, (0.5, 1.0), 1.0, seed=9)
    for a, b in zip(one, two, strict=True):
        np.testing.assert_allclose(a, b, atol=2e-3)
    # 30 SDs below the best: exactly nothing.
    assert one[1][truth < truth.max() - 4.0].max() == 0.0


def test_without_a_measurement_there_is_no_posterior():
    features = SiteFeatures(product((2, 2)), (2, 2))
    none = np.zeros(0)
    with pytest.raises(ValueError, match="at least one measurement"):
        posterior(features, np.zeros(0, dtype=np.intp), none, none, 0.2)
