"""Bounds as Gaussian measurements: against quadrature for one row, against importance sampling for a few."""

import math

import numpy as np
import pytest

from assaypilot.engine.models.gaussian_process.components import Components
from assaypilot.engine.models.gaussian_process.likelihoods import between, match
from assaypilot.engine.models.gaussian_process.measured import Measured
from assaypilot.engine.models.gaussian_process.series import fit_series
from assaypilot.engine.models.gaussian_process.variances import FLAT, Rows, Variances
from tests.oracles import gaussian_process as oracle

INF = math.inf


@pytest.mark.parametrize(
    ("low", "high"), [(1.0, INF), (-INF, -2.0), (-0.5, 0.5), (30.0, INF), (-INF, 60.0), (8.0, 8.2)]
)
def test_one_bound_gives_the_moments_of_quadrature(low, high):
    components, scale, noise = Components((2,)), 1.0, 0.04
    logs = np.log([0.5, 0.3])
    variances = Variances(logs, logs[None], 0.0, 0.3, scale)
    rows = Rows(np.array([[0]]), np.array([0]), np.array([0.0]), np.array([1.0]))
    bounded = np.array([0])
    told = between(np.array([low]), np.array([high]), np.array([noise]))
    matched = match(components, rows, variances, bounded, told)
    prior = FLAT * scale + 0.8
    mean, variance = oracle.within(0.3, prior, low, high, noise)
    precision = 1.0 / prior + 1.0 / matched.noise[0]
    assert 1.0 / precision == pytest.approx(variance, rel=0.02)
    assert (0.3 / prior + matched.values[0] / matched.noise[0]) / precision == pytest.approx(
        mean, abs=0.02 * math.sqrt(variance)
    )


def test_bounds_among_values_give_the_moments_of_importance_sampling():
    components, scale, center = Components((2, 3)), 1.0, 5.0
    logs = np.log([0.6, 0.8, 0.1])
    codes = np.array([(0, 0), (0, 1), (1, 0), (1, 2), (1, 1)])
    noise = np.full(5, 0.05)
    values = np.array([5.2, 6.0, 4.4, 0.0, 0.0])
    variances = Variances(logs, logs[None], 0.0, center, scale)
    rows = Rows(codes, np.arange(5), values, np.array([0.05, 0.05, 0.05, 1.0, 1.0]))
    low, high = np.array([5.5, -INF]), np.array([INF, 4.8])
    matched = match(components, rows, variances, np.array([3, 4]), between(low, high, noise[3:]))
    parts = [((0,), 0.6, False), ((1,), 0.8, False)]
    compounds = list(enumerate(codes))
    prior = oracle.value_covariance(compounds, compounds, parts, 0.1, FLAT * scale, None)
    gaussian, spread = oracle.condition(prior, prior, prior + np.diag(matched.noise), matched.values - center)
    # Exact values first, which are Gaussian; then draws weighted by the bounds.
    first, left = oracle.condition(prior, prior[:, :3], prior[:3, :3] + np.diag(noise[:3]), values[:3] - center)
    draws = np.random.default_rng(1).multivariate_normal(first + center, left, 400_000)
    weight = np.array([oracle.cdf((value - 5.5) / math.sqrt(0.05)) for value in draws[:, 3]])
    weight *= np.array([oracle.cdf((4.8 - value) / math.sqrt(0.05)) for value in draws[:, 4]])
    weight /= weight.sum()
    mean = weight @ draws
    sd = np.sqrt(weight @ (draws - mean) ** 2)
    np.testing.assert_allclose(gaussian + center, mean, atol=0.06 * sd.max())
    np.testing.assert_allclose(np.sqrt(np.diag(spread)), sd, rtol=0.06)


def test_values_above_a_limit_of_quantification_are_recovered_from_bounds():
    rng = np.random.default_rng(4)
    sizes = (6, 7, 5)
    codes = np.array([(a, b, c) for a in range(6) for b in range(7) for c in range(5)])
    truth = sum(rng.normal(0, 0.7, size)[codes[:, site]] for site, size in enumerate(sizes)) + 6.0
    arms = rng.permutation(len(truth))[:120]
    seen = truth[arms] + 0.15 * rng.standard_normal(120)
    limit = float(np.quantile(truth, 0.7))
    above = seen > limit
    measured = Measured(
        arms,
        np.where(above, np.nan, seen),
        np.ones(120),
        np.where(above, limit, -INF),
        np.full(120, INF),
    )
    found = fit_series(codes, sizes, measured, noise_sd=0.15, seed=1, scales=False)
    middle = found.middle(np.arange(len(truth)))
    high = truth > limit + 0.5
    assert high.sum() >= 15
    # Values cut at the limit would all be too low; the additive part says by how much.
    assert np.mean(middle[high] - truth[high]) > -0.25
    assert np.corrcoef(middle, truth)[0, 1] > 0.95


@pytest.mark.parametrize("noise", [0.3, None])
@pytest.mark.parametrize("n_exact", [0, 2, 4])
def test_compounds_known_by_bounds_alone_lie_beyond_them_not_infinitely_far(n_exact, noise):
    codes = np.array([(a, b) for a in range(4) for b in range(5)])
    values = np.full(20, np.nan)
    values[:n_exact] = [5.2, 5.9, 5.4, 6.3][:n_exact]
    high = np.where(np.isnan(values), 5.0, INF)
    measured = Measured(np.arange(20), values, np.ones(20), np.full(20, -INF), high)
    found = fit_series(codes, (4, 5), measured, noise_sd=noise, seed=1, doubt=0.6)
    drawn = found.draw(np.arange(20), 400, np.random.default_rng(0))[:, n_exact:]
    assert (drawn.mean(axis=0) < 5.0).all()
    assert (drawn.mean(axis=0) > 1.0).all()
    assert (drawn.std(axis=0) > 0.2).all()
    assert (np.quantile(drawn, 0.975, axis=0) < 6.0).all()


@pytest.mark.parametrize("sign", [1, -1])
def test_intervals_reach_beyond_the_limit_of_the_assay(sign):
    """A scale that ends a little beyond the limit held a third of the values there."""
    sizes, inside = (8, 6, 4), []
    codes = np.array([(a, b, c) for a in range(8) for b in range(6) for c in range(4)])
    for seed in range(8):
        rng = np.random.default_rng(seed)
        truth = 5.3 + sum(rng.normal(0, 0.5, size)[codes[:, site]] for site, size in enumerate(sizes))
        truth += rng.normal(0, 0.2, len(codes))
        arms = np.sort(rng.permutation(len(codes))[:100])
        values = truth[arms] + rng.normal(0, 0.2, len(arms))
        weak = values < 5.0
        low, high = np.full(len(arms), -INF), np.where(weak, 5.0, INF)
        values = sign * np.where(weak, np.nan, values)
        low, high = (low, high) if sign > 0 else (-high, -low)
        measured = Measured(arms, values, np.ones(len(arms)), low, high)
        model = fit_series(codes, sizes, measured, noise_sd=0.2, seed=seed)
        left = np.setdiff1d(np.flatnonzero(truth < 4.8), arms)
        ends = np.quantile(model.draw(left, 400, rng), (0.025, 0.975), axis=0)
        inside += ((sign * truth[left] >= ends[0]) & (sign * truth[left] <= ends[1])).tolist()
    assert np.mean(inside) > 0.85
