"""Tables that are taken apart before they are solved, against pseudo-inverses of the whole table."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from assaypilot.engine.domain import features as features_module
from assaypilot.engine.domain.elimination import Eliminated, Solver
from assaypilot.engine.domain.features import (
    MANY_COLUMNS,
    SiteFeatures,
    outside_span,
    span_basis,
    span_rank,
)
from assaypilot.engine.domain.library import Library
from assaypilot.engine.models.ols import least_squares
from assaypilot.engine.models.report import Noise, model_report


@st.composite
def sparse_tables(draw):
    """Features, rows, weights, and values: from nearly everything seen once to a full table, with gaps and groups."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    sizes = tuple(draw(st.lists(st.integers(1, 12), min_size=1, max_size=4)))
    n = draw(st.integers(1, 40))
    features = SiteFeatures(np.column_stack([rng.integers(0, size, n) for size in sizes]), sizes)
    m = draw(st.integers(0, n))
    rows = rng.permutation(n)[:m]
    weights = rng.integers(1, draw(st.sampled_from([2, 6, 2000])), m).astype(float)
    return features, rows, weights, draw(st.sampled_from([0.0, 6.0, 1e6])) + rng.normal(size=m)


def taken_apart(features, rows):
    return Eliminated(features.columns(rows), features.n_columns)


def dense(features, rows, weights):
    """The rows, the rows by the roots of their weights, and a pseudo-inverse of those."""
    x = features.dense(rows)
    weighted = np.sqrt(weights)[:, None] * x
    return x, weighted, np.linalg.pinv(weighted, rcond=1e-10)


@given(sparse_tables())
def test_rank_and_what_no_row_tells_are_those_of_the_whole_table(table):
    features, rows, _, _ = table
    x = features.dense(rows)
    rank = np.linalg.matrix_rank(x) if len(rows) else 0
    apart = taken_apart(features, rows)
    assert apart.rank == rank
    nothing = apart.null_space
    assert nothing.shape == (features.n_columns, features.n_columns - rank)
    assert np.linalg.matrix_rank(nothing) == nothing.shape[1]
    np.testing.assert_allclose(x @ nothing, 0.0, atol=1e-9)


@given(sparse_tables())
def test_fits_leverages_and_variances_are_those_of_a_pseudo_inverse(table):
    features, rows, weights, values = table
    solver = Solver(taken_apart(features, rows), weights)
    x, weighted, pseudo = dense(features, rows, weights)
    scale = max(1.0, np.abs(values).max(initial=0.0))
    fitted = x @ pseudo @ (np.sqrt(weights) * values)
    np.testing.assert_allclose(solver.fitted(values), fitted, atol=1e-8 * scale)
    np.testing.assert_allclose(x @ solver.theta(values), fitted, atol=1e-8 * scale)
    np.testing.assert_allclose(solver.leverage, np.diag(weighted @ pseudo), atol=1e-7)
    np.testing.assert_allclose(solver.covariance, solver.covariance.T, atol=1e-12)
    np.testing.assert_allclose(x @ solver.covariance @ x.T, x @ pseudo @ pseudo.T @ x.T, atol=1e-7)


def test_a_row_with_a_substituent_of_its_own_tells_only_that_and_may_leave_another_alone():
    # The third row alone has C; without it the second row alone has b: only two equal rows are compared.
    codes = np.array([[0, 0], [0, 1], [2, 1], [1, 2], [1, 2]])
    apart = taken_apart(SiteFeatures(codes, (3, 3)), np.arange(5))
    assert [wave.rows.tolist() for wave in apart.waves] == [[0, 2], [1]]
    assert apart.core.tolist() == [3, 4]
    solver = Solver(apart, np.ones(5))
    assert solver.leverage.tolist() == pytest.approx([1, 1, 1, 0.5, 0.5])
    assert solver.fitted(np.array([1.0, 2.0, 4.0, 8.0, 9.0])).tolist() == pytest.approx([1, 2, 4, 8.5, 8.5])


def test_a_long_chain_is_taken_apart_row_by_row():
    # Each row shares one substituent with the one before: only the ends stand alone, again and again.
    n = 3000
    codes = np.array([((k + 1) // 2, k // 2) for k in range(n)])
    apart = taken_apart(SiteFeatures(codes, (n // 2 + 1, n // 2 + 1)), np.arange(n))
    assert len(apart.core) == 0
    assert apart.rank == n


@given(sparse_tables())
def test_estimates_of_large_tables_are_those_of_small_ones(table):
    features, rows, weights, values = table
    small = least_squares(features, rows, weights, values)
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(features_module, "worth_eliminating", lambda n_columns, entries: True)
        large = least_squares(features, rows, weights, values)
        basis, rank = span_basis(features, rows), span_rank(features, rows)
    scale = max(1.0, np.abs(values).max(initial=0.0))
    assert large.rank == small.rank == rank
    np.testing.assert_allclose(large.theta, small.theta, atol=1e-8 * scale)
    np.testing.assert_allclose(large.covariance, small.covariance, atol=1e-8)
    np.testing.assert_allclose(large.outside, small.outside, atol=1e-9)
    np.testing.assert_allclose(basis @ basis.T, small.basis @ small.basis.T, atol=1e-9)
    np.testing.assert_allclose(large.basis @ large.inverse @ large.basis.T, large.covariance, atol=1e-8)
    np.testing.assert_array_equal(large.estimable(), small.estimable())
    np.testing.assert_array_equal(outside_span(features, basis), outside_span(features, small.basis))
    other = np.random.default_rng(0).normal(size=(len(rows), 2))
    np.testing.assert_allclose(large.of_values(other).theta, small.of_values(other).theta, atol=1e-8)


def wide(seed=1, ends=2200):
    """A series in which one site has thousands of substituents, each seen once or twice."""
    rng = np.random.default_rng(seed)
    first = np.concatenate([np.arange(ends), rng.choice(ends, ends // 25, replace=False)])
    n = len(first)
    codes = np.column_stack([first, rng.integers(0, max(4, ends // 55), n), rng.integers(0, max(3, ends // 110), n)])
    effects = [rng.normal(0, 0.5, codes[:, k].max() + 1) for k in range(3)]
    values = 6.0 + sum(effect[codes[:, k]] for k, effect in enumerate(effects)) + rng.normal(0, 0.2, n)
    rows = [[f"{site}{code}" for site, code in zip("abc", row, strict=True)] for row in codes]
    library = Library.listed(["R1", "R2", "R3"], rows, ids=[f"C{k}" for k in range(n)])
    return library, values, rng.integers(1, 4, n).astype(float)


def test_the_report_of_a_wide_series_is_that_of_the_whole_table():
    library, values, counts = wide(ends=300)
    features, rows = SiteFeatures.of(library), np.arange(len(library))
    assert features.n_columns > MANY_COLUMNS
    report = model_report(library, rows, values, counts, Noise(0.2, 20))
    x, weighted, pseudo = dense(features, rows, np.ones(len(rows)))
    leverage = np.diag(weighted @ pseudo)
    free = leverage < 1 - 1e-6
    residuals = values - x @ pseudo @ values
    rank = np.linalg.matrix_rank(x)
    assert (report.fit.rank, report.fit.leverage_one) == (rank, int((~free).sum()))
    n = len(rows)
    press = ((residuals[free] / (1 - leverage[free])) ** 2).sum()
    alone = (((values[free] - values.mean()) * n / (n - 1)) ** 2).sum()
    assert report.fit.q2 == pytest.approx(1 - press / alone, rel=1e-9)
    squares = (residuals[free] ** 2).sum()
    assert report.fit.residual_sd == pytest.approx(np.sqrt(squares / (n - rank)), rel=1e-9)
    x, weighted, pseudo = dense(features, rows, counts)
    left = values - x @ pseudo @ (np.sqrt(counts) * values)
    statistic = (counts * left**2).sum() / (n - rank) / 0.04
    assert report.lack_of_fit.statistic == pytest.approx(statistic, rel=1e-9)
    beyond = left / np.sqrt(
        (counts * left**2).sum() / (n - rank) * np.maximum(1 - np.diag(weighted @ pseudo), 1e-6) / counts
    )
    largest = np.sort(np.abs(beyond[free]))[::-1][: len(report.worst)]
    assert [abs(one.standardised) for one in report.worst] == pytest.approx(largest, rel=1e-8)
