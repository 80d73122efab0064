"""Generalised linear models: against a general solver, separation, refusals, and what the estimate says of rows."""

import math

import numpy as np
import pytest

from assaypilot.engine.domain.features import DenseFeatures, SiteFeatures
from assaypilot.engine.errors import AssayPilotError
from assaypilot.engine.models import glm
from assaypilot.engine.models.ols import least_squares
from tests.oracles import glm as oracle
from tests.strategies import product, random_table


def data(rng, link, rows, size=1.0):
    """Counts and means of measurements under a random truth."""
    u = rows @ rng.normal(0.0, size, rows.shape[1])
    u *= min(1.0, 2.0 / np.abs(u).max())
    counts = rng.integers(1, 12, len(rows)).astype(float)
    if link == "logit":
        means = rng.binomial(counts.astype(int), 1 / (1 + np.exp(-u))) / counts
    elif link == "log":
        means = rng.poisson(counts * np.exp(u)) / counts
    else:
        means = u + rng.normal(size=len(u)) / np.sqrt(counts)
    return counts, means


@pytest.mark.parametrize("link", glm.LINKS)
@pytest.mark.parametrize("seed", range(8))
def test_the_largest_likelihood_within_the_bound(link, seed):
    """The linear predictors of a general solver; small bounds bind, and few measurements of each separate."""
    rng = np.random.default_rng((30, seed))
    x = rng.normal(size=(12, 3))
    counts, means = data(rng, link, x)
    bound = (0.5, 4.0)[seed % 2]
    beta, information, converged = glm.fit_coordinates(x, counts, means, link, bound)
    assert converged
    u = x @ beta
    expected = oracle.maximised(link, x, counts, means, bound)
    np.testing.assert_allclose(u, expected, atol=2e-4)
    ours = oracle.log_likelihood(link, x, counts, means, beta)
    theirs = oracle.log_likelihood(link, x, counts, means, np.linalg.lstsq(x, expected)[0])
    assert ours >= theirs - 1e-5
    if link != "identity":
        assert np.abs(u).max() <= bound * (1 + 1e-9)
    weights = [n * oracle.slope(link, v) for n, v in zip(counts, u, strict=True)]
    np.testing.assert_allclose(information, (x.T * weights) @ x, rtol=1e-6)


@pytest.mark.parametrize("bound", [0.7, 3.0, 13.0])
def test_separated_successes_end_at_the_bound(bound):
    """All yes on one side, all no on the other: no maximum without the bound."""
    x = np.array([[1.0, -1.0], [1.0, -0.5], [1.0, 0.5], [1.0, 1.0]])
    means = np.array([0.0, 0.0, 1.0, 1.0])
    for n in (1.0, 1e6):
        beta, _, converged = glm.fit_coordinates(x, np.full(4, n), means, "logit", bound)
        assert converged
        np.testing.assert_allclose(np.abs(x @ beta).max(), bound, rtol=1e-4)
        np.testing.assert_allclose(beta, [0.0, bound], atol=1e-3 * bound)
    with pytest.raises(AssayPilotError, match="no estimate without a bound"):
        glm.fit_coordinates(x, np.ones(4), means, "logit")
    zeros, _, _ = glm.fit_coordinates(np.eye(2), np.ones(2), np.zeros(2), "log", bound)
    np.testing.assert_allclose(zeros, -bound, rtol=1e-2)


@pytest.mark.parametrize("seed", range(6))
def test_the_identity_is_least_squares(seed):
    rng = np.random.default_rng((31, seed))
    codes, sizes = random_table(rng, ("sparse", "deficient")[seed % 2], most=20)
    features = SiteFeatures(codes, sizes)
    rows = np.flatnonzero(rng.random(len(codes)) < 0.6)
    counts = rng.integers(0, 5, len(rows)).astype(float)
    means = rng.normal(1e3, 1.0, len(rows))
    ours = glm.fit_glm(features, rows, counts, means, "identity")
    theirs = least_squares(features, rows, counts, means)
    assert ours.rank == theirs.rank
    np.testing.assert_array_equal(ours.estimable(), theirs.estimable())
    inside = theirs.estimable()
    np.testing.assert_allclose(ours.predictors()[inside], theirs.means()[inside], rtol=1e-9)


def test_rows_that_were_not_measured():
    features = SiteFeatures(product((3, 2)), (3, 2))
    fit = glm.fit_glm(features, np.array([0, 1, 2]), np.array([4.0, 4.0, 0.0]), np.array([0.5, 1.0, 9.0]), "logit", 3.0)
    assert fit.rank == 2
    assert fit.estimable().tolist() == [True, True, False, False, False, False]
    assert fit.predictors()[1] == pytest.approx(3.0, rel=1e-6)
    assert fit.predictors()[0] == pytest.approx(0.0, abs=1e-6)
    # Nothing measured at all: nothing known, nothing breaks.
    none = glm.fit_glm(features, np.array([0]), np.array([0.0]), np.array([0.0]), "logit", 3.0)
    assert none.rank == 0
    assert not none.estimable().any()


def test_values_no_measurement_can_have_are_refused():
    features = DenseFeatures(np.eye(2))
    both, ones = np.arange(2), np.ones(2)
    with pytest.raises(AssayPilotError, match=r"the logit link takes values from 0 to 1, got 1\.5"):
        glm.fit_glm(features, both, ones, np.array([0.5, 1.5]), "logit", 3.0)
    with pytest.raises(AssayPilotError, match=r"the log link takes values of 0 or more, got -0\.1"):
        glm.fit_glm(features, both, ones, np.array([0.5, -0.1]), "log", 3.0)
    with pytest.raises(ValueError, match="finite"):
        glm.fit_glm(features, both, ones, np.array([0.5, math.nan]), "log", 3.0)
    with pytest.raises(ValueError, match="bound must be above 0"):
        glm.fit_glm(features, both, ones, np.array([0.5, 0.5]), "log", 0.0)
    with pytest.raises(ValueError, match="one length"):
        glm.fit_glm(features, both, np.ones(3), ones, "log", 1.0)
