import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from assaypilot.engine.domain.features import (
    DenseFeatures,
    ProjectedFeatures,
    SiteFeatures,
    merge_equal_rows,
    outside_span,
    span_basis,
)
from assaypilot.engine.domain.library import Library
from tests.oracles import linfact as oracle
from tests.strategies import dense, libraries, product, seeds, site_tables


@st.composite
def tables_with_rows(draw):
    """A table, some of its rows (maybe several times, maybe none: all), and a generator."""
    features = draw(site_tables())
    rng = np.random.default_rng(draw(seeds))
    size = draw(st.integers(0, 2 * features.n_rows))
    rows = rng.integers(0, features.n_rows, size) if draw(st.booleans()) else None
    return features, rows, rng


def symmetric(rng, n):
    matrix = rng.normal(size=(n, n))
    return matrix + matrix.T


@given(tables_with_rows())
def test_products_are_those_of_the_indicator_matrix(table):
    features, rows, rng = table
    whole = oracle.indicators(features.codes, features.sizes)
    x = whole if rows is None else whole[rows]
    n = features.n_columns
    vector, matrix, weights = rng.normal(size=n), symmetric(rng, n), rng.normal(size=len(x))
    assert np.array_equal(features.dense(np.arange(features.n_rows) if rows is None else rows), x)
    same = {"rtol": 1e-10, "atol": 1e-10}
    np.testing.assert_allclose(features.times(vector, rows), x @ vector, **same)
    np.testing.assert_allclose(features.quadratic(matrix, rows), np.diag(x @ matrix @ x.T), **same)
    np.testing.assert_allclose(features.gram(weights, rows), x.T @ np.diag(weights) @ x, **same)
    np.testing.assert_allclose(features.moment(weights, rows), x.T @ weights, **same)
    plain = DenseFeatures(whole)
    np.testing.assert_allclose(plain.times(vector, rows), x @ vector, **same)
    np.testing.assert_allclose(plain.quadratic(matrix, rows), np.diag(x @ matrix @ x.T), **same)
    np.testing.assert_allclose(plain.gram(weights, rows), x.T @ np.diag(weights) @ x, **same)
    np.testing.assert_allclose(plain.moment(weights, rows), x.T @ weights, **same)
    assert (plain.n_rows, plain.n_columns) == (features.n_rows, features.n_columns) == whole.shape


@given(tables_with_rows())
def test_the_basis_spans_exactly_the_rows(table):
    features, rows, _ = table
    x = dense(features) if rows is None else features.dense(rows)
    basis = span_basis(features, rows)
    assert basis.shape == (features.n_columns, np.linalg.matrix_rank(x) if len(x) else 0)
    np.testing.assert_allclose(basis.T @ basis, np.eye(basis.shape[1]), atol=1e-10)
    np.testing.assert_allclose(x @ basis @ basis.T, x, atol=1e-9)


@given(tables_with_rows())
def test_outside_is_what_least_squares_cannot_reach(table):
    features, rows, _ = table
    x = dense(features)
    chosen = x if rows is None else x[rows]
    outside = outside_span(features, span_basis(features, rows))
    assert outside.tolist() == [not oracle.in_span(row, chosen) for row in x]


def test_rank_of_a_full_product():
    for sizes in ((2,), (3, 4), (4, 5, 4, 3, 4)):
        features = SiteFeatures(product(sizes), sizes)
        assert features.full_rank == span_basis(features).shape[1] == 1 + sum(n - 1 for n in sizes)


@given(tables_with_rows())
def test_projected_coordinates_are_the_rows_in_another_basis(table):
    features, rows, rng = table
    if rows is not None and not len(rows):
        rows = np.array([0])
    projected = ProjectedFeatures(features, rows)
    x = dense(features) if rows is None else features.dense(rows)
    z = projected.coordinates()
    d = np.linalg.matrix_rank(x)
    assert z.shape == (projected.n_rows, projected.rank) == (len(x), d)
    assert np.linalg.matrix_rank(z) == d
    # An orthonormal basis keeps all inner products.
    np.testing.assert_allclose(z @ z.T, x @ x.T, atol=1e-9)
    some = rng.integers(0, len(x), 3)
    np.testing.assert_allclose(projected.coordinates(some), z[some])
    vector, matrix, weights = rng.normal(size=d), symmetric(rng, d), rng.normal(size=len(x))
    np.testing.assert_allclose(projected.times(vector), z @ vector, atol=1e-9)
    np.testing.assert_allclose(projected.quadratic(matrix), np.diag(z @ matrix @ z.T), atol=1e-9)
    np.testing.assert_allclose(projected.information(weights), z.T @ np.diag(weights) @ z, atol=1e-9)
    np.testing.assert_allclose(projected.information(weights[some], some), (z[some].T * weights[some]) @ z[some])
    np.testing.assert_allclose(projected.moment(weights), z.T @ weights, atol=1e-9)
    np.testing.assert_allclose(projected.moment(weights[some], some), z[some].T @ weights[some], atol=1e-9)
    others = projected.onto(np.arange(features.n_rows))
    np.testing.assert_allclose(others.coordinates(), dense(features) @ projected.basis, atol=1e-12)


@given(libraries(), st.data())
def test_equal_rows_are_one_arm(library, data):
    first, arm_of = merge_equal_rows(library.codes)
    assert (first.tolist(), arm_of.tolist()) == oracle.distinct(library.codes.tolist())
    features = SiteFeatures.of(library)
    assert features.n_rows == len(library)
    assert features.sizes == tuple(len(site.substituents) for site in library.sites)


def test_no_rows_are_no_arms():
    first, arm_of = merge_equal_rows(np.zeros((0, 3), dtype=np.int32))
    assert first.shape == arm_of.shape == (0,)
    features = SiteFeatures.of(Library.listed(["R1"], [["a"]]))
    assert span_basis(features, np.zeros(0, dtype=np.intp)).shape == (2, 0)
    assert span_basis(DenseFeatures(np.zeros((2, 3)))).shape == (3, 0)


def test_what_is_no_table_is_refused():
    with pytest.raises(ValueError, match="finite"):
        DenseFeatures(np.array([[1.0, np.nan]]))
    with pytest.raises(ValueError, match="finite"):
        DenseFeatures(np.zeros(3))
    with pytest.raises(ValueError, match="codes must be"):
        SiteFeatures(np.zeros((2, 3)), (1, 1))
