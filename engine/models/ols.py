"""Weighted least squares over measured compounds: estimates, and how well any row of the table is determined.

Everything is a product with the feature table, so a library of a million compounds costs table look-ups over pairs of
sites and one (n_columns, n_columns) matrix, never a matrix of compounds.
Positive definite matrices are factored by LAPACK itself: on some twenty rows the checks that numpy and scipy put around
it take longer than the work.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.linalg import LinAlgError
from scipy.linalg import lapack

from ..arrays import Flags, Floats, Ints
from ..domain.elimination import Eliminated, Solver
from ..domain.features import OUTSIDE_TOLERANCE, Features, SiteFeatures, large, orthonormal_complement, span_basis


def lower_factor(matrix: Floats) -> Floats:
    """Return the lower Cholesky factor; raises LinAlgError for a matrix that is not positive definite."""
    factor, failed = lapack.dpotrf(matrix, lower=1)
    if failed:
        raise LinAlgError("not positive definite")
    found: Floats = factor
    return found


def lower_inverse(factor: Floats) -> Floats:
    """Return the inverse of a lower triangular matrix; raises LinAlgError for a singular one."""
    inverse, failed = lapack.dtrtri(factor, lower=1)
    if failed:
        raise LinAlgError("singular")
    found: Floats = inverse
    return found


def positive_inverse(matrix: Floats) -> Floats:
    """Return the inverse of a positive definite matrix, symmetric; raises LinAlgError when it is not."""
    half = lower_inverse(lower_factor(matrix))
    return half.T @ half


@dataclass(frozen=True, eq=False)
class Estimate:
    """The least-squares estimate from some measured rows, in coordinates of a basis of their span.

    A row outside that span is not estimable: its norm is infinite (never NaN), and the number ``means`` gives for it
    is only the part of it that was measured.
    """

    features: Features
    """The table whose rows the methods take."""
    rank: int
    """The dimension ``d`` of what was measured."""
    theta: Floats
    """``(n_columns,)``, the shortest solution."""
    covariance: Floats
    """``(n_columns, n_columns)``, a pseudo-inverse of V = sum of N(a) a a': the covariance at a noise SD of 1."""
    outside: Floats
    """``(n_columns, n_columns)``, the projection onto what was not measured."""
    _kept: Flags
    """Which of the rows given had a count above 0."""
    _rows: Ints
    _weights: Floats
    _way: _Coordinates | _Elimination
    """How it was found."""

    @cached_property
    def basis(self) -> Floats:
        """``(n_columns, d)``, orthonormal, spans the measured rows."""
        way = self._way
        return way.basis if isinstance(way, _Coordinates) else orthonormal_complement(way.unmeasured)

    @cached_property
    def inverse(self) -> Floats:
        """``(d, d)``, V^-1 in these coordinates; ``basis @ inverse @ basis.T`` is ``covariance``."""
        way = self._way
        return way.inverse if isinstance(way, _Coordinates) else self.basis.T @ self.covariance @ self.basis

    def of_values(self, means: Floats) -> Estimate:
        """Return what ``least_squares`` gives for other means of the same rows and counts, to the last bit.

        Or for several at once, ``(m, k)``: ``theta`` and what ``means`` gives then have k columns.
        """
        values = np.asarray(means, dtype=float)
        if values.shape[:1] != self._kept.shape or values.ndim > 2:
            raise ValueError("measured, counts and means must be vectors of one length")
        values = values[self._kept]
        if not np.isfinite(values).all():
            raise ValueError("means must be finite")
        if not self.rank:
            return self
        if isinstance(self._way, _Elimination):
            return replace(self, theta=self._way.theta(values))
        beta = _solved(self.features, self._rows, self._weights, values, self.basis, self.inverse)
        return replace(self, theta=self.basis @ beta)

    def means(self, rows: Ints | None = None) -> Floats:
        """Return the mean x'theta of each row; to be shown only where ``estimable``."""
        return self.features.times(self.theta, rows)

    def estimable(self, rows: Ints | None = None) -> Flags:
        """Return whether each row is in the span of what was measured."""
        if self.rank == self.features.n_columns or (rows is not None and np.array_equal(rows, self._rows)):
            return np.ones(self.features.n_rows if rows is None else len(rows), dtype=bool)
        lengths = self.features.quadratic(np.eye(self.features.n_columns), rows)
        return self.features.quadratic(self.outside, rows) <= OUTSIDE_TOLERANCE**2 * lengths

    def half_norms(self, rows: Ints | None = None) -> Floats:
        """Return ||x||_{V^-1} of each row: its standard error at a noise SD of 1; infinite where not estimable."""
        squares = self.features.quadratic(self.covariance, rows)
        return np.where(self.estimable(rows), np.sqrt(np.maximum(squares, 0.0)), np.inf)

    def difference_norm(self, row: int, rows: Ints | None = None) -> Floats:
        """Return ||x_row - x_j||_{V^-1} for each j of the rows; infinite where that difference is not estimable.

        The difference of two rows can be estimable when neither is, as when both carry the same unmeasured
        substituent.
        """
        identity = np.eye(self.features.n_columns)
        one = np.array([row], dtype=np.intp)
        x = self.features.dense(one)[0]

        def squares(matrix: Floats) -> Floats:
            cross = self.features.times(matrix @ x, rows)
            total: Floats = np.maximum(x @ matrix @ x + self.features.quadratic(matrix, rows) - 2.0 * cross, 0.0)
            return total

        lengths = squares(identity)
        # Against the rows' own lengths, so that rounding in a difference of equal rows is not taken for a direction.
        scale = float(x @ x) + self.features.quadratic(identity, rows)
        inside = squares(self.outside) <= OUTSIDE_TOLERANCE**2 * scale
        norms: Floats = np.where(inside, np.sqrt(squares(self.covariance)), np.inf)
        norms[lengths <= 1e-24 * scale] = 0.0
        return norms


class _Coordinates(NamedTuple):
    """An estimate found in coordinates of a basis."""

    basis: Floats
    inverse: Floats


class _Elimination(NamedTuple):
    """An estimate of many effects, found by elimination."""

    solver: Solver
    unmeasured: Floats
    """``(n_columns, n_columns - d)``, an orthonormal basis of what was not measured."""

    def theta(self, values: Floats) -> Floats:
        """Return the shortest solution for values of the rows, ``(m,)`` or ``(m, k)``."""
        found = self.solver.theta(values) if values.ndim == 1 else _columns(self.solver.theta, values)
        return found - self.unmeasured @ (self.unmeasured.T @ found)


def _columns(function: Callable[[Floats], Floats], values: Floats) -> Floats:
    """Return a function of each column, side by side."""
    return np.array([function(column) for column in values.T]).T


def least_squares(
    features: Features, measured: Ints, counts: Floats, means: Floats, basis: Floats | None = None
) -> Estimate:
    """Return the weighted least-squares estimate from the mean of each measured row.

    ``measured`` are row numbers of ``features`` (equal rows may come several times), ``counts`` the independent
    determinations behind each mean, ``means`` the values on the model scale; all ``(m,)``. Rows with a count of zero
    are as if absent, and no rows at all give an estimate of rank 0. The noise SD is not part of it: multiply the norms.
    ``basis``: ``span_basis`` of the rows with a count, where it is known.
    """
    rows = np.asarray(measured, dtype=np.intp)
    weights = np.asarray(counts, dtype=float)
    values = np.asarray(means, dtype=float)
    if not rows.shape == weights.shape == values.shape or rows.ndim != 1:
        raise ValueError("measured, counts and means must be vectors of one length")
    if not (weights.min(initial=0.0) >= 0.0 and weights.max(initial=0.0) < np.inf):
        raise ValueError("counts must be finite and not negative")
    kept = weights > 0
    rows, weights, values = rows[kept], weights[kept], values[kept]
    if not np.isfinite(values).all():
        raise ValueError("means must be finite")
    n_columns = features.n_columns
    if basis is None and len(rows) and large(features, len(rows)):
        return _by_elimination(features, rows, weights, values, kept)
    basis = span_basis(features, rows) if basis is None else basis
    if not basis.shape[1]:
        zeros = np.zeros((n_columns, n_columns))
        way = _Coordinates(basis, np.zeros((0, 0)))
        return Estimate(features, 0, np.zeros(n_columns), zeros, np.eye(n_columns), kept, rows, weights, way)
    information = basis.T @ features.gram(weights, rows) @ basis
    inverse = _inverse(information)
    projection = np.eye(n_columns) - basis @ basis.T
    covariance = basis @ inverse @ basis.T
    beta = _solved(features, rows, weights, values, basis, inverse)
    return Estimate(
        features,
        len(beta),
        basis @ beta,
        (covariance + covariance.T) / 2,
        (projection + projection.T) / 2,
        kept,
        rows,
        weights,
        _Coordinates(basis, inverse),
    )


def _by_elimination(features: SiteFeatures, rows: Ints, weights: Floats, values: Floats, kept: Flags) -> Estimate:
    """Return the same by elimination: products with an (n_columns, n_columns) matrix instead of its inverse."""
    table = Eliminated(features.columns(rows), features.n_columns)
    solver = Solver(table, weights)
    unmeasured: Floats = np.linalg.qr(table.null_space)[0]
    covariance = solver.covariance
    # P C P with P = 1 - unmeasured unmeasured', the projection onto what was measured: the symmetric such inverse.
    left = covariance - unmeasured @ (unmeasured.T @ covariance)
    pseudo = left - (left @ unmeasured) @ unmeasured.T
    way = _Elimination(solver, unmeasured)
    projection = unmeasured @ unmeasured.T
    return Estimate(
        features,
        table.rank,
        way.theta(values),
        (pseudo + pseudo.T) / 2,
        (projection + projection.T) / 2,
        kept,
        rows,
        weights,
        way,
    )


def _solved(features: Features, rows: Ints, weights: Floats, values: Floats, basis: Floats, inverse: Floats) -> Floats:
    """Return the estimate in coordinates of the basis."""
    if not values.any():
        return np.zeros((len(inverse), *values.shape[1:]))
    beta = inverse @ (basis.T @ features.moment((weights * values.T).T, rows))
    # One step of refinement, so that values far from zero lose no digits.
    left = values - features.times(basis @ beta, rows)
    return beta + inverse @ (basis.T @ features.moment((weights * left.T).T, rows))


def _inverse(matrix: Floats) -> Floats:
    """Return the inverse of a positive definite matrix, symmetric to the last digit."""
    scale = 1.0 / np.sqrt(np.diagonal(matrix))
    return positive_inverse(matrix * scale * scale[:, None]) * scale * scale[:, None]
