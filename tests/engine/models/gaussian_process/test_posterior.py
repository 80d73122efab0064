"""Joint draws of the series model against dense Gaussian formulas written independently."""

import numpy as np
import pytest
from scipy.stats import multivariate_normal

from assaypilot.engine.models.gaussian_process.components import Components
from assaypilot.engine.models.gaussian_process.posterior import Compounds, Posterior
from assaypilot.engine.models.gaussian_process.variances import (
    FLAT,
    Around,
    Density,
    Rows,
    Variances,
    fit_variances,
    prior_of,
)
from tests.oracles import gaussian_process as oracle

SIZES = (3, 2, 4)
LIKE = (
    np.array([[1.0, 0.6, 0.1], [0.6, 1.0, 0.3], [0.1, 0.3, 1.0]]),
    np.array([[1.0, 0.4], [0.4, 1.0]]),
    None,
)
CODES = np.array([(a, b, c) for a in range(3) for b in range(2) for c in range(4)])
CENTER, SCALE = 5.0, 1.7
SITES = ((0,), (1,), (2,), (0, 1), (0, 2), (1, 2))


def the_rows(kind):
    """Nine results of seven compounds, with what the named case adds to them."""
    arms = np.array([0, 3, 3, 5, 9, 14, 17, 22, 22])
    rng = np.random.default_rng(1)
    unknown = kind == "noise unknown"
    shifts = (np.array([0, 0, 1, 1, -1, 0, 1, 2, 2]), np.array([0, 1, 0, 1, 0, 1, 0, 1, 0])) if kind == "shifts" else ()
    noise = np.array([1, 0.5, 0.25, 1, 1, 1, 0.5, 1, 1]) * (1.0 if unknown else 0.09)
    values = CENTER + rng.standard_normal(9)
    return Rows(CODES[arms], arms, values, noise, shifts, unknown, 0.3 if unknown else 0.0, 2 if unknown else 0)


def the_parts(kind):
    """Components as the engine has them, and the parts they stand for, in the order of their variances."""
    like = LIKE if kind == "similarity" else None
    components = Components(SIZES, like)
    order = []
    for sites in SITES:
        order.append((sites, False))
        if like is not None and len(sites) == 1 and like[sites[0]] is not None:
            order.append((sites, True))
    if like is not None:
        order.append(((0, 1, 2), True))
    assert components.n_variances == len(order)
    return components, order


def dense(kind, logs):
    """Posterior mean and covariance of every compound, and the covariance of the rows."""
    _, order = the_parts(kind)
    rows, each = the_rows(kind), np.exp(logs)
    parts = [(sites, each[place], similar) for place, (sites, similar) in enumerate(order)]
    own, flat = each[len(parts)], FLAT * SCALE
    shifts = each[len(parts) + 1 : len(parts) + 1 + len(rows.shifts)]
    noise = rows.noise * (each[-1] if rows.unknown_noise else 1.0)
    everything = list(enumerate(CODES))
    measured = [(arm, CODES[arm]) for arm in rows.arms]
    prior = oracle.value_covariance(everything, everything, parts, own, flat, LIKE)
    cross = oracle.value_covariance(everything, measured, parts, own, flat, LIKE)
    seen = oracle.value_covariance(measured, measured, parts, own, flat, LIKE)
    seen = seen + oracle.row_covariance(measured, rows.shifts, shifts, noise)
    mean, covariance = oracle.condition(prior, cross, seen, rows.values - CENTER)
    return mean + CENTER, covariance, seen


def some_logs(kind, seed=3):
    components, _ = the_parts(kind)
    size = components.n_variances + 1 + len(the_rows(kind).shifts) + the_rows(kind).unknown_noise
    return np.random.default_rng(seed).normal(-1.5, 0.7, size)


KINDS = ("identity", "similarity", "shifts", "noise unknown")


@pytest.mark.parametrize("kind", KINDS)
def test_draws_have_the_mean_and_covariance_of_the_dense_formulas(kind):
    logs = some_logs(kind)
    components, _ = the_parts(kind)
    rows = the_rows(kind)
    posterior = Posterior(components, rows, Variances(logs, logs[None], 0.0, CENTER, SCALE), tails=False)
    mean, covariance, _ = dense(kind, logs)
    np.testing.assert_allclose(posterior.mean(Compounds(CODES, rows.arms)), mean, atol=1e-6)
    draws = posterior.draw(Compounds(CODES, rows.arms), 40_000, np.random.default_rng(5))
    sd = np.sqrt(np.diag(covariance))
    assert np.abs((draws.mean(axis=0) - mean) / sd).max() < 5.0 / np.sqrt(len(draws))
    error = (np.cov(draws, rowvar=False) - covariance) / np.outer(sd, sd)
    assert np.abs(error).max() < 7.0 / np.sqrt(len(draws))


@pytest.mark.parametrize("kind", KINDS)
def test_each_row_is_predicted_from_the_others(kind):
    logs, rows = some_logs(kind), the_rows(kind)
    posterior = Posterior(the_parts(kind)[0], rows, Variances(logs, logs[None], 0.0, CENTER, SCALE))
    predicted, errors = posterior.check()
    _, _, seen = dense(kind, logs)
    for i in range(len(rows)):
        rest = np.delete(np.arange(len(rows)), i)
        mean, variance = oracle.condition(
            seen[i : i + 1, i : i + 1], seen[i : i + 1, rest], seen[np.ix_(rest, rest)], rows.values[rest] - CENTER
        )
        assert predicted[i] == pytest.approx(mean[0] + CENTER, abs=1e-6)
        assert errors[i] == pytest.approx((rows.values[i] - predicted[i]) / np.sqrt(variance[0, 0]), abs=1e-6)


@pytest.mark.parametrize("kind", KINDS)
def test_density_and_gradient_agree_with_finite_differences_of_the_dense_density(kind):
    rows, logs = the_rows(kind), some_logs(kind)
    density = Density(the_parts(kind)[0], rows, Around(CENTER, SCALE, FLAT))
    mean, spread = prior_of(the_parts(kind)[0], rows, SCALE)

    def slow(at):
        total = oracle.log_density(rows.values - CENTER, dense(kind, at)[2])
        total += multivariate_normal.logpdf(at, mean, spread) - multivariate_normal.logpdf(mean, mean, spread)
        if rows.unknown_noise:  # replicates: a chi-square of their sum of squares
            total -= 0.5 * (rows.freedom * at[-1] + rows.squares * np.exp(-at[-1]))
        return total

    value, factor = density.at(logs)
    gradient, _ = density.derivatives(logs, factor)
    assert value == pytest.approx(slow(logs), abs=1e-6)
    for k in range(len(logs)):
        step = np.zeros(len(logs))
        step[k] = 1e-4
        assert gradient[k] == pytest.approx((slow(logs + step) - slow(logs - step)) / 2e-4, abs=1e-4)


@pytest.mark.parametrize("kind", KINDS)
def test_fitted_variances_are_a_mode_of_the_density(kind):
    rows, components = the_rows(kind), the_parts(kind)[0]
    fitted = fit_variances(components, rows, n_draws=1, rng=np.random.default_rng(0))
    density = Density(components, rows, Around(fitted.center, fitted.scale, FLAT))
    top = density.at(fitted.mode)[0]
    rng = np.random.default_rng(2)
    for _ in range(60):
        assert density.at(fitted.mode + rng.normal(0.0, 0.5, len(fitted.mode)))[0] < top + 1e-2


def test_draws_of_variances_have_the_moments_of_their_posterior():
    """Two variances only, so that the posterior can be summed over a grid."""
    codes = np.repeat(np.arange(4), 3)[:, None]
    rng = np.random.default_rng(8)
    values = rng.standard_normal(4)[codes[:, 0]] + 0.4 * rng.standard_normal(12)
    rows = Rows(codes, np.arange(12), values, np.full(12, 0.01))
    components = Components((4,))
    fitted = fit_variances(components, rows, n_draws=400, rng=np.random.default_rng(3))
    density = Density(components, rows, Around(fitted.center, fitted.scale, FLAT))
    axis = np.linspace(-7.0, 5.0, 90)
    grid = np.array([(a, b) for a in axis for b in axis])
    weight = np.array([density.at(point)[0] for point in grid])
    weight = np.exp(weight - weight.max())
    weight /= weight.sum()
    mean = weight @ grid
    sd = np.sqrt(weight @ (grid - mean) ** 2)
    np.testing.assert_allclose(fitted.draws.mean(axis=0), mean, atol=0.2)
    np.testing.assert_allclose(fitted.draws.std(axis=0), sd, rtol=0.2)


def test_compounds_learn_from_those_with_similar_substituents_at_every_site():
    """Values are deviations shared by groups of substituents; four in ten compounds are measured."""
    rng, size = np.random.default_rng(4), 12
    codes = np.array([(a, b) for a in range(size) for b in range(size)])
    groups = codes // 3
    values = rng.standard_normal((4, 4))[groups[:, 0], groups[:, 1]] + 0.1 * rng.standard_normal(len(codes))
    alike = np.where(np.arange(size)[:, None] // 3 == np.arange(size) // 3, 0.9, 0.0) + 0.1 * np.eye(size)
    arms = np.sort(rng.permutation(len(codes))[:58])
    left = np.setdiff1d(np.arange(len(codes)), arms)
    rows = Rows(codes[arms], arms, values[arms], np.full(len(arms), 0.01))
    errors = []
    for similarity in ((alike, alike), None):
        components = Components((size, size), similarity)
        fitted = fit_variances(components, rows, n_draws=4, rng=np.random.default_rng(1))
        mean = Posterior(components, rows, fitted).mean(Compounds(codes, arms))
        errors.append(np.std((mean - values)[left]))
    assert errors[0] < 0.6 * errors[1]
