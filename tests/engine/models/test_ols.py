import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from assaypilot.engine.domain.features import DenseFeatures, SiteFeatures
from assaypilot.engine.models.ols import least_squares


@st.composite
def measured_tables(draw):
    """Sparse tables of two to four sites with some rows measured, unevenly often."""
    seed = draw(st.integers(0, 2**32 - 1))
    rng = np.random.default_rng(seed)
    sizes = tuple(draw(st.lists(st.integers(1, 6), min_size=1, max_size=4)))
    n = draw(st.integers(1, 40))
    codes = np.column_stack([rng.integers(0, size, n) for size in sizes])
    m = draw(st.integers(0, n))
    rows = rng.permutation(n)[:m]
    counts = rng.integers(1, draw(st.sampled_from([2, 2000])), m).astype(float)
    values = draw(st.sampled_from([0.0, 6.0, 1e6])) + rng.normal(size=m)
    return SiteFeatures(codes, sizes), rows, counts, values


def oracle(features, rows, counts):
    """Dense X, V and a pseudo-inverse of V through the singular values of the weighted rows."""
    x = features.dense(np.arange(features.n_rows))
    weighted = np.sqrt(counts)[:, None] * x[rows]
    return x, np.linalg.pinv(weighted, rcond=1e-10)


@given(measured_tables())
def test_estimates_and_norms_agree_with_a_dense_pseudo_inverse(table):
    features, rows, counts, values = table
    fit = least_squares(features, rows, counts, values)
    x, pseudo = oracle(features, rows, counts)
    rank = np.linalg.matrix_rank(x[rows]) if len(rows) else 0
    assert fit.rank == rank
    theta = pseudo @ (np.sqrt(counts) * values)
    inside = np.array([np.linalg.matrix_rank(np.vstack([x[rows], row])) == rank for row in x])
    assert (fit.estimable() == inside).all()
    scale = max(1.0, np.abs(values).max(initial=0))
    np.testing.assert_allclose(fit.means()[inside], (x @ theta)[inside], atol=1e-8 * scale)
    norms = fit.half_norms()
    np.testing.assert_allclose(norms[inside], np.linalg.norm(x @ pseudo, axis=1)[inside], rtol=1e-6, atol=1e-9)
    assert np.isinf(norms[~inside]).all()
    assert not np.isnan(norms).any()


@given(measured_tables(), st.integers(0, 39))
def test_differences_are_finite_exactly_where_they_are_estimable(table, which):
    features, rows, counts, values = table
    one = which % features.n_rows
    norms = least_squares(features, rows, counts, values).difference_norm(one)
    x, pseudo = oracle(features, rows, counts)
    y = x[one] - x
    rank = np.linalg.matrix_rank(x[rows]) if len(rows) else 0
    inside = np.array([np.linalg.matrix_rank(np.vstack([x[rows], row])) == rank for row in y])
    assert (np.isfinite(norms) == inside).all()
    np.testing.assert_allclose(norms[inside], np.linalg.norm(y @ pseudo, axis=1)[inside], rtol=1e-6, atol=1e-7)
    assert norms[one] == 0


def test_values_far_from_zero_keep_their_digits():
    rng = np.random.default_rng(1)
    x = np.column_stack([np.ones(30), rng.normal(size=(30, 3))])
    y = 1e9 + x @ [0.0, 1.0, 2.0, 3.0]
    fit = least_squares(DenseFeatures(x), np.arange(30), np.ones(30), y)
    np.testing.assert_allclose(fit.theta[1:], [1.0, 2.0, 3.0], atol=1e-5)


@pytest.mark.parametrize(
    ("counts", "means"),
    [([1.0, np.nan], [0.0, 0.0]), ([1.0, -1.0], [0.0, 0.0]), ([1.0, 1.0], [0.0, np.inf]), ([1.0], [0.0])],
)
def test_invalid_counts_or_means_are_refused(counts, means):
    features = SiteFeatures(np.array([[0], [1]]), (2,))
    with pytest.raises(ValueError, match="must be"):
        least_squares(features, np.array([0, 1]), np.array(counts), np.array(means))


CHAINED = (
    "0046 0050 0061 01b3 0200 0274 0316 0675 0851 1111 1493 1532 16b2 2192 2304 2422 2466 2581 2633 27a3 28b5 3071 3255"
    " 3281 3340 3513 3782 3794 38a4"
)
"""Four sites' substituents of 29 compounds that tell 29 effects, one combination of them by a hundred-thousandth."""


def test_measured_rows_are_estimable_whatever_is_known_of_the_rest():
    codes = np.array([[int(letter, 16) for letter in row] for row in CHAINED.split()], dtype=np.int32)
    features = SiteFeatures(codes, (4, 9, 12, 7))
    every = np.arange(len(codes))
    found = least_squares(features, every, np.ones(len(codes)), np.zeros(len(codes)))
    singular = np.linalg.svd(features.dense(every), compute_uv=False)
    assert 1e-6 < singular[-1] / singular[0] < 1e-5
    assert found.rank == len(codes)
    # As many effects as values: each estimate is its own value, and the errors are those of single values.
    assert found.half_norms(every) == pytest.approx(np.ones(len(codes)), rel=1e-4)
    assert np.delete(found.difference_norm(0), 0) == pytest.approx(np.full(len(codes) - 1, np.sqrt(2)), rel=1e-4)
