"""Free-Wilson features: products with them, their rank and span, without a dense indicator matrix.

A compound is one integer per site; its feature row is an intercept and one indicator per substituent, so that
mean = theta_0 + sum_n theta_n[code_n] and x'Mx is a sum of table look-ups over pairs of sites.
"""

from __future__ import annotations

import math
from functools import cached_property
from typing import Any, Protocol, TypeGuard

import numpy as np
from numpy.typing import NDArray

from ..arrays import Flags, Floats, Ints
from .elimination import RANK_TOLERANCE, Eliminated
from .library import Library

OUTSIDE_TOLERANCE = 1e-6
"""A row whose part outside a span is longer than this share of its length is not in the span."""

MANY_COLUMNS = 256
"""From here on a table may be reduced before it is solved; below, dense algebra takes some milliseconds."""
_PER_ENTRY = 100
"""Time of the reduction per substituent of a row, in units of dense algebra's time per column cubed."""

_DENSE_ENTRIES = 4_000_000
_LARGEST = 1 << 62
_CHUNK = 65_536


def _kept(array: NDArray[Any], kind: np.dtype[Any]) -> NDArray[Any]:
    """Return the array in rows and of that kind, not to be written to; itself when its memory is read-only."""
    owner: Any = array
    while isinstance(owner, np.ndarray) and not owner.flags.writeable and owner.base is not None:
        owner = owner.base
    locked = isinstance(owner, np.ndarray) and not owner.flags.writeable
    out = np.ascontiguousarray(array, dtype=kind) if locked else np.array(array, dtype=kind, order="C")
    out.flags.writeable = False
    return out


def _row_products(left: Floats, right: Floats) -> Floats:
    products: Floats = np.einsum("ij,ij->i", left, right)
    return products


class Features(Protocol):
    """A table of feature rows ``(n_rows, n_columns)`` that offers products, never itself as a whole."""

    @property
    def n_rows(self) -> int:
        """How many rows."""

    @property
    def n_columns(self) -> int:
        """How many columns, dependent ones included."""

    def dense(self, rows: Ints) -> Floats:
        """Return the given rows ``(m, n_columns)``; meant for small m."""

    def times(self, vector: Floats, rows: Ints | None = None) -> Floats:
        """Return X'v of each row, ``(m,)``; of several vectors ``(n_columns, k)`` ``(m, k)``."""

    def quadratic(self, matrix: Floats, rows: Ints | None = None) -> Floats:
        """Return X'Mx of each row for a symmetric matrix ``(n_columns, n_columns)``."""

    def gram(self, weights: Floats, rows: Ints | None = None) -> Floats:
        """Sum of w x x' over the rows, ``(n_columns, n_columns)``."""

    def moment(self, weights: Floats, rows: Ints | None = None) -> Floats:
        """Sum of w x over the rows, ``(n_columns,)``; for several weights ``(m, k)`` ``(n_columns, k)``."""


class DenseFeatures:
    """Numeric feature rows as they are; for the papers' synthetic instances and small tables."""

    def __init__(self, matrix: Floats) -> None:
        # A copy of what others may write to: what is remembered of a table by its content must not change under it.
        self._matrix = _kept(matrix, np.dtype(np.float64))
        if self._matrix.ndim != 2 or not np.isfinite(self._matrix).all():
            raise ValueError("features must be a finite (n_rows, n_columns) matrix")

    @property
    def n_rows(self) -> int:
        """How many rows."""
        return len(self._matrix)

    @property
    def n_columns(self) -> int:
        """How many columns, dependent ones included."""
        return int(self._matrix.shape[1])

    def dense(self, rows: Ints) -> Floats:
        """Return the given rows ``(m, n_columns)``."""
        return self._matrix[rows]

    def times(self, vector: Floats, rows: Ints | None = None) -> Floats:
        """Return X'v of each row."""
        return (self._matrix if rows is None else self._matrix[rows]) @ vector

    def quadratic(self, matrix: Floats, rows: Ints | None = None) -> Floats:
        """Return X'Mx of each row."""
        x = self._matrix if rows is None else self._matrix[rows]
        return _row_products(x @ matrix, x)

    def gram(self, weights: Floats, rows: Ints | None = None) -> Floats:
        """Sum of w x x' over the rows."""
        x = self._matrix if rows is None else self._matrix[rows]
        return x.T @ (x * weights[:, None])

    def moment(self, weights: Floats, rows: Ints | None = None) -> Floats:
        """Sum of w x over the rows."""
        return (self._matrix if rows is None else self._matrix[rows]).T @ weights


class SiteFeatures:
    """One-hot Free-Wilson features with an intercept, held as integer codes.

    Column 0 is the intercept; the substituents of the sites follow in order. ``codes`` is ``(n_rows, n_sites)``.
    """

    def __init__(self, codes: NDArray[np.integer], sizes: tuple[int, ...]) -> None:
        # A copy of what others may write to: what is remembered of a table by its content must not change under it.
        self.codes = _kept(codes, np.dtype(np.int32))
        self.sizes = sizes
        starts = 1 + np.concatenate([[0], np.cumsum(sizes)[:-1]]) if sizes else np.zeros(0)
        self._starts = starts.astype(np.intp)
        if self.codes.ndim != 2 or self.codes.shape[1] != len(sizes):
            raise ValueError("codes must be (n_rows, n_sites)")

    @classmethod
    def of(cls, library: Library) -> SiteFeatures:
        """Return the features of a library, one row per compound in its order; interacting sites are taken as one."""
        sites, codes = library.modelled
        return cls(codes, tuple(len(site.substituents) for site in sites))

    @property
    def n_rows(self) -> int:
        """How many rows."""
        return len(self.codes)

    @property
    def n_columns(self) -> int:
        """How many columns: the intercept and every substituent."""
        return 1 + sum(self.sizes)

    @property
    def full_rank(self) -> int:
        """The rank of the full product: 1 + sum(l_n - 1)."""
        return 1 + sum(size - 1 for size in self.sizes)

    def columns(self, rows: Ints | None = None) -> Ints:
        """Return the column of each row's substituent at each site, ``(m, n_sites)``."""
        return (self.codes if rows is None else self.codes[rows]) + self._starts

    def dense(self, rows: Ints) -> Floats:
        """Return the given rows ``(m, n_columns)`` as zeros and ones."""
        out = np.zeros((len(rows), self.n_columns))
        out[:, 0] = 1.0
        np.put_along_axis(out, self.columns(rows), 1.0, axis=1)
        return out

    def times(self, vector: Floats, rows: Ints | None = None) -> Floats:
        """Return X'v of each row: one look-up per site."""
        codes = self.codes if rows is None else self.codes[rows]
        total: Floats = np.zeros((len(codes), *vector.shape[1:])) + vector[0]
        for site, start in enumerate(self._starts):
            total += vector[start : start + self.sizes[site]][codes[:, site]]
        return total

    def quadratic(self, matrix: Floats, rows: Ints | None = None) -> Floats:
        """Return X'Mx of each row: one look-up per pair of sites."""
        codes = self.codes if rows is None else self.codes[rows]
        blocks = [slice(start, start + size) for start, size in zip(self._starts, self.sizes, strict=True)]
        total = np.full(len(codes), matrix[0, 0])
        diagonal = np.diagonal(matrix)
        for a, block in enumerate(blocks):
            total += (diagonal[block] + 2.0 * matrix[0, block])[codes[:, a]]
            for b in range(a):
                table = np.ascontiguousarray(2.0 * matrix[block, blocks[b]])
                total += table.ravel()[codes[:, a] * self.sizes[b] + codes[:, b]]
        return total

    def gram(self, weights: Floats, rows: Ints | None = None) -> Floats:
        """Sum of w x x' over the rows: weighted counts of pairs of substituents."""
        codes = self.codes if rows is None else self.codes[rows]
        out = np.zeros((self.n_columns, self.n_columns))
        out[0, 0] = weights.sum()
        for a, start in enumerate(self._starts):
            size = self.sizes[a]
            counts = np.bincount(codes[:, a], weights, size)
            span = np.arange(start, start + size)
            out[span, span] = counts
            out[0, span] = out[span, 0] = counts
            for b in range(a):
                pairs = np.bincount(codes[:, a] * self.sizes[b] + codes[:, b], weights, size * self.sizes[b])
                table = pairs.reshape(size, self.sizes[b])
                other = slice(self._starts[b], self._starts[b] + self.sizes[b])
                out[start : start + size, other] = table
                out[other, start : start + size] = table.T
        return out

    def moment(self, weights: Floats, rows: Ints | None = None) -> Floats:
        """Sum of w x over the rows."""
        if weights.ndim == 2:
            return np.column_stack([self.moment(column, rows) for column in weights.T])
        codes = self.codes if rows is None else self.codes[rows]
        parts = [np.array([weights.sum()])]
        parts += [np.bincount(codes[:, site], weights, size) for site, size in enumerate(self.sizes)]
        return np.concatenate(parts)


def span_basis(features: Features, rows: Ints | None = None) -> Floats:
    """Return an orthonormal basis ``(n_columns, rank)`` of the span of the given rows (all rows when None).

    From the eigenvectors of the Gram matrix of the rows with scaled columns, so that a substituent seen once
    counts like one seen a thousand times. For many sites' columns, from the few directions that no row informs.
    """
    n = features.n_rows if rows is None else len(rows)
    if n == 0:
        return np.zeros((features.n_columns, 0))
    if large(features, n):
        return orthonormal_complement(Eliminated(features.columns(rows), features.n_columns).null_space)
    gram = features.gram(np.ones(n), rows)
    scale = np.sqrt(np.diagonal(gram))
    scale = np.where(scale > 0, scale, 1.0)
    values, vectors = np.linalg.eigh(gram / scale / scale[:, None])
    if values[-1] <= 0:
        return np.zeros((features.n_columns, 0))
    kept = values > RANK_TOLERANCE * values[-1]
    if kept.all():
        # Of the whole space any basis will do; this one leaves rows as they are.
        return np.eye(features.n_columns)
    # Row space of X = scale * row space of X / scale.
    return np.linalg.qr(scale[:, None] * vectors[:, kept])[0]


def large(features: Features, n_rows: int) -> TypeGuard[SiteFeatures]:
    """Return whether so many rows of a table are reduced before they are solved."""
    return isinstance(features, SiteFeatures) and worth_eliminating(features.n_columns, n_rows * len(features.sizes))


def worth_eliminating(n_columns: int, entries: int) -> bool:
    """Return whether reduction is faster than dense algebra, whose time grows with the cube of the columns."""
    return n_columns >= MANY_COLUMNS and n_columns**3 > _PER_ENTRY * entries


def span_rank(features: Features, rows: Ints | None = None) -> int:
    """Return the rank of the given rows (all when None)."""
    if large(features, features.n_rows if rows is None else len(rows)):
        return Eliminated(features.columns(rows), features.n_columns).rank
    return int(span_basis(features, rows).shape[1])


def orthonormal_complement(directions: Floats) -> Floats:
    """Return an orthonormal basis ``(n, n - k)`` of all that is orthogonal to ``(n, k)`` independent directions."""
    return np.linalg.qr(directions, mode="complete")[0][:, directions.shape[1] :]


def outside_span(features: Features, basis: Floats, rows: Ints | None = None) -> Flags:
    """Return whether each row has a part outside the span of ``basis`` (so its mean is not estimable from there)."""
    if basis.shape[1] == features.n_columns:
        return np.zeros(features.n_rows if rows is None else len(rows), dtype=bool)
    complement = np.eye(features.n_columns) - basis @ basis.T
    lengths = features.quadratic(np.eye(features.n_columns), rows)
    return features.quadratic(complement, rows) > OUTSIDE_TOLERANCE**2 * np.maximum(lengths, 1e-300)


class ProjectedFeatures:
    """Some rows of a feature table in the coordinates of a basis of their span: ``(n_rows, rank)``, full rank.

    Small tables keep the coordinates; large ones go through look-ups, so nothing of size n_rows x rank is held.
    """

    def __init__(self, features: Features, rows: Ints | None = None, basis: Floats | None = None) -> None:
        self.features = features
        self.rows = np.arange(features.n_rows) if rows is None else np.asarray(rows, dtype=np.intp)
        self.basis = span_basis(features, self.rows) if basis is None else basis
        self._small = len(self.rows) * self.rank <= _DENSE_ENTRIES

    @property
    def n_rows(self) -> int:
        """How many rows."""
        return len(self.rows)

    @property
    def rank(self) -> int:
        """The dimension of the span."""
        return int(self.basis.shape[1])

    def onto(self, rows: Ints) -> ProjectedFeatures:
        """Return the other rows of the same table in the same coordinates (they should lie in the span)."""
        return ProjectedFeatures(self.features, rows, self.basis)

    @cached_property
    def _kept(self) -> Floats:
        if self.n_rows <= _CHUNK:
            return self.features.dense(self.rows) @ self.basis
        out = np.empty((self.n_rows, self.rank))
        for start in range(0, self.n_rows, _CHUNK):
            stop = min(start + _CHUNK, self.n_rows)
            out[start:stop] = self.features.dense(self.rows[start:stop]) @ self.basis
        return out

    def coordinates(self, positions: Ints | None = None) -> Floats:
        """Return the coordinates of rows by their position here, ``(m, rank)``; all of them when None."""
        if self._small:
            return self._kept if positions is None else self._kept[positions]
        rows = self.rows if positions is None else self.rows[positions]
        return self.features.dense(rows) @ self.basis

    def times(self, vector: Floats) -> Floats:
        """Return Z'v of each row for a vector in the coordinates here."""
        if self._small:
            return self._kept @ vector
        return self.features.times(self.basis @ vector, self.rows)

    def quadratic(self, matrix: Floats) -> Floats:
        """Return Z'Mz of each row for a symmetric matrix in the coordinates here, ``(n_rows,)``."""
        if self._small:
            return _row_products(self._kept @ matrix, self._kept)
        return self.features.quadratic(self.basis @ matrix @ self.basis.T, self.rows)

    def information(self, weights: Floats, positions: Ints | None = None) -> Floats:
        """Sum of w z z' over rows by position (all when None), ``(rank, rank)``."""
        if self._small:
            z = self.coordinates(positions)
            return z.T @ (z * weights[:, None])
        rows = self.rows if positions is None else self.rows[positions]
        return self.basis.T @ self.features.gram(weights, rows) @ self.basis

    def moment(self, weights: Floats, positions: Ints | None = None) -> Floats:
        """Sum of w z over rows by position (all when None), ``(rank,)``."""
        rows = self.rows if positions is None else self.rows[positions]
        return self.basis.T @ self.features.moment(weights, rows)


def merge_equal_rows(codes: NDArray[np.integer]) -> tuple[Ints, Ints]:
    """Arms of equal feature rows: (first compound of each arm, arm of each compound), arms in order of appearance."""
    if not len(codes):
        return np.zeros(0, dtype=np.intp), np.zeros(0, dtype=np.intp)
    _, first, inverse = np.unique(_as_numbers(codes), return_index=True, return_inverse=True, axis=0)
    order = np.argsort(first, kind="stable")
    span_rank = np.empty(len(order), dtype=np.intp)
    span_rank[order] = np.arange(len(order))
    return first[order].astype(np.intp), span_rank[inverse.ravel()]


def _as_numbers(codes: NDArray[np.integer]) -> NDArray[np.integer]:
    """One number for each row, equal ones for equal rows, where numbers are large enough: they are sorted much sooner.

    And without holding other threads up, as rows that are compared do.
    """
    low = codes.min(axis=0, initial=0).astype(np.int64)
    sizes = [int(high) - int(least) + 1 for high, least in zip(codes.max(axis=0, initial=0), low, strict=True)]
    if math.prod(sizes) >= _LARGEST:
        return codes
    found = np.zeros(len(codes), dtype=np.int64)
    for column, least, size in zip(codes.T, low, sizes, strict=True):
        found *= size
        found += column - least
    return found
