"""Contributions and predictions from the others, against fits made anew by another way."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from assaypilot.engine.domain.features import SiteFeatures
from assaypilot.engine.domain.library import Library, Site
from assaypilot.engine.models.contributions import contributions
from assaypilot.engine.models.diagnostics import leave_one_out
from assaypilot.engine.models.ols import least_squares


def library_of(sizes):
    return Library.product([Site(f"R{k + 1}", tuple("ABCDEFGH"[:n])) for k, n in enumerate(sizes)])


def found(library, rows, means, counts, noise):
    return contributions(library, least_squares(SiteFeatures.of(library), rows, counts, means), rows, counts, noise)


def dense(library):
    """Indicators of every substituent but the first of each site, and an intercept: a basis of full rank."""
    columns = [np.ones(len(library))]
    for k, site in enumerate(library.sites):
        columns += [(library.codes[:, k] == code).astype(float) for code in range(1, len(site.substituents))]
    return np.array(columns).T


@given(st.integers(0, 10_000))
def test_the_interval_is_that_of_the_contrast_in_a_fit_of_full_rank(seed):
    rng = np.random.default_rng(seed)
    library = library_of((3, 4, 2))
    rows = rng.permutation(len(library))[: rng.integers(12, 25)]
    counts = rng.integers(1, 5, len(rows)).astype(float)
    means = rng.normal(6.0, 1.0, len(rows))
    x = dense(library)[rows]
    v = x.T @ (x * counts[:, None])
    if np.linalg.matrix_rank(v) < len(v):
        return
    beta, covariance = np.linalg.solve(v, x.T @ (counts * means)), np.linalg.inv(v)
    first = 1
    for k, site in enumerate(found(library, rows, means, counts, 0.3)):
        size = len(library.sites[k].substituents)
        weights = np.bincount(library.codes[rows, k], counts, size) / counts.sum()
        for code, one in enumerate(site.substituents):
            contrast = np.zeros(len(beta))
            own = np.eye(size)[code] - weights
            contrast[first : first + size - 1] = own[1:]
            half = 1.959964 * 0.3 * np.sqrt(contrast @ covariance @ contrast)
            assert one.value == pytest.approx(contrast @ beta, abs=1e-9)
            assert (one.low, one.high) == pytest.approx((one.value - half, one.value + half), abs=1e-6)
        first += size - 1


def test_unconnected_substituent_has_no_value():
    # R1=C only with R2=C, and R2=C only there: nobody can tell which of the two it was. D was never measured.
    library = library_of((4, 3))
    pairs = [(0, 0), (1, 0), (0, 1), (1, 1), (2, 2)]
    rows = np.array([a * 3 + b for a, b in pairs])
    means = np.array([6.0, 7.0, 6.5, 7.5, 9.0])
    first, second = found(library, rows, means, np.ones(5), 0.2)
    assert [one.value for one in first.substituents[:2]] == pytest.approx([-0.5, 0.5])
    assert [one.value for one in second.substituents[:2]] == pytest.approx([-0.25, 0.25])
    for one in (first.substituents[2], first.substituents[3], second.substituents[2]):
        assert np.isnan([one.value, one.low, one.high]).all()
    assert [one.measurements for one in first.substituents] == [2, 2, 1, 0]


@given(st.integers(0, 10_000))
def test_a_prediction_from_the_others_is_that_of_a_fit_without_the_row(seed):
    rng = np.random.default_rng(seed)
    library = library_of((3, 3, 2))
    rows = rng.permutation(len(library))[: rng.integers(6, 18)]
    counts = rng.integers(1, 5, len(rows)).astype(float)
    means = rng.normal(6.0, 1.0, len(rows))
    x = dense(library)
    predicted = leave_one_out(least_squares(SiteFeatures.of(library), rows, counts, means), rows, means, counts)
    for k, row in enumerate(rows):
        kept = np.delete(np.arange(len(rows)), k)
        weights = np.sqrt(counts[kept])
        some = x[rows[kept]] * weights[:, None]
        if np.linalg.matrix_rank(np.vstack([some, x[row]])) > np.linalg.matrix_rank(some):
            assert np.isnan(predicted[k])
        else:
            beta = np.linalg.lstsq(some, means[kept] * weights, rcond=None)[0]
            assert predicted[k] == pytest.approx(x[row] @ beta, abs=1e-6)
