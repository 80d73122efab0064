"""Free-Wilson tables reduced before they are solved: single-row substituents are set aside, one site is absorbed.

A substituent in a single row is whatever makes that row fit: the row has leverage 1 and informs nothing
else. Such rows leave first, again and again, since each may leave another substituent with a single row (as leaves are
plucked off a tree). Of the rows that stay, the core, the site with most substituents is absorbed: no row carries two
of them, so their block of the normal equations is diagonal (the within transformation of a two-way layout; Searle 1971,
Linear Models, section 7.1). What is left to factor is as large as the other sites of the core: of a series of 2,289
rows and rank 2,257, fifty columns.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from ..arrays import Flags, Floats, Ints

RANK_TOLERANCE = 1e-12
"""Eigenvalues of the scaled Gram matrix below this share of the largest count as zero."""


@dataclass(frozen=True, slots=True)
class _Wave:
    """Rows set aside together, each with a substituent that no other row left carries."""

    rows: Ints
    """Positions of the rows."""
    leaves: Ints
    """The column of each row's own substituent."""
    others: Ints
    """``(n, n_sites)``: the columns that its effect follows from, the intercept (column 0) in place of its own."""


def alone_and_core(columns: Ints, n_columns: int) -> tuple[Ints, Ints]:
    """Return the positions of the set-aside rows, and of the core; ``columns`` as ``Eliminated`` takes them."""
    waves, core = _set_aside(columns, n_columns)
    alone = np.zeros(len(columns), dtype=bool)
    for wave in waves:
        alone[wave.rows] = True
    return np.flatnonzero(alone), core


class Eliminated:
    """Reduced rows of indicators: those set aside, and the core of the others without its largest site.

    ``columns`` is ``(m, n_sites)`` with at least one site: the column of each row's substituent there. Column 0 of
    ``n_columns`` is the intercept, which every row has.
    """

    def __init__(self, columns: Ints, n_columns: int) -> None:
        self.columns, self.n_columns = columns, n_columns
        self.waves, self.core = _set_aside(columns, n_columns)
        own = columns[self.core]
        absorbed = int(np.argmax([len(_numbered(column, n_columns)[0]) for column in own.T]))
        # What is left, numbered from 0: the substituents of the absorbed site, and those of all others together.
        self.absorbed, self.group = _numbered(own[:, absorbed], n_columns)
        self.others, self.places = _numbered(np.delete(own, absorbed, axis=1), n_columns)

    @property
    def n_rows(self) -> int:
        """How many rows."""
        return len(self.columns)

    @property
    def rank(self) -> int:
        """The dimension of the span of the rows."""
        alone = self.n_rows - len(self.core)
        return alone + len(self.absorbed) + int(self.span.shape[1])

    def reduced(self, weights: Floats) -> tuple[Floats, Floats, Floats]:
        """Of the core, with ``weights`` ``(n_core,)``: the Schur complement of the other sites, shares, and totals.

        ``(n_others, n_others)``; ``(n_others, n_absorbed)``, the weighted share of the rows of each absorbed
        substituent that carry another; and ``(n_absorbed,)``, their weights.
        """
        n, m = len(self.others), len(self.absorbed)
        totals: Floats = np.bincount(self.group, weights, m).astype(float)
        gram, across = np.zeros((n, n)), np.zeros((n, m))
        for a in self.places.T:
            across += np.bincount(a * m + self.group, weights, n * m).reshape(n, m)
            for b in self.places.T:
                gram += np.bincount(a * n + b, weights, n * n).reshape(n, n)
        shares = across / totals
        return gram - shares @ across.T, shares, totals

    @cached_property
    def _eigen(self) -> tuple[Floats, Floats, Flags]:
        """Scale, eigenvectors of the scaled complement, and which are of the span."""
        gram, _, _ = self.reduced(np.ones(len(self.core)))
        counts = np.bincount(self.places.ravel(), minlength=len(self.others)).astype(float)
        scale = np.sqrt(counts)
        values, vectors = np.linalg.eigh(gram / scale / scale[:, None])
        # Of a scaled Gram matrix the largest eigenvalue is at least 1; of the complement it may be rounding.
        return scale, vectors, values > RANK_TOLERANCE * max(1.0, float(values.max(initial=0.0)))

    @cached_property
    def span(self) -> Floats:
        """An orthonormal basis ``(n_others, d)`` of the effects at the other sites that the core determines."""
        scale, vectors, kept = self._eigen
        return np.linalg.qr(scale[:, None] * vectors[:, kept])[0]

    @cached_property
    def null_space(self) -> Floats:
        """``(n_columns, n_columns - rank)``: independent directions in effects that no row informs."""
        scale, vectors, kept = self._eigen
        n = self.n_columns
        inner = vectors[:, ~kept] / scale[:, None]
        leaves = [wave.leaves for wave in self.waves]
        free = np.setdiff1d(np.arange(1, n), np.concatenate([*leaves, self.absorbed, self.others]))
        out = np.zeros((n, 1 + inner.shape[1] + len(free)))
        out[0, 0] = 1.0
        out[self.absorbed, 0] = -1.0
        inside = slice(1, 1 + inner.shape[1])
        out[self.others, inside] = inner
        _, shares, _ = self.reduced(np.ones(len(self.core)))
        out[self.absorbed, inside] = -shares.T @ inner
        out[free, 1 + inner.shape[1] + np.arange(len(free))] = 1.0
        self.follow(out)
        return out

    def follow(self, effects: Floats, values: Floats | None = None) -> None:
        """Set, in ``effects`` ``(n_columns, ...)``, those of the set-aside rows; ``values`` ``(n_rows, ...)``.

        Each is what makes its row fit, given all others.
        """
        for wave in reversed(self.waves):
            rest = effects[wave.others].sum(axis=1)
            effects[wave.leaves] = -rest if values is None else values[wave.rows] - rest


class Solver:
    """Weighted least squares of a reduced table: fits to any values, leverages, and covariances."""

    def __init__(self, table: Eliminated, weights: Floats) -> None:
        self.table, self.weights = table, weights
        self._own = weights[table.core]
        gram, self._shares, self._totals = table.reduced(self._own)
        self._inverse = _inverse(table.span, gram)

    def theta(self, values: Floats) -> Floats:
        """Effects ``(n_columns,)`` that fit the values ``(m,)`` best; one solution of many where the rank is short."""
        table = self.table
        core = values[table.core]
        found = self._solved(core)
        # One step of refinement, so that values far from zero lose no digits.
        found += self._solved(core - found[table.columns[table.core]].sum(axis=1))
        table.follow(found, values)
        return found

    def _solved(self, values: Floats) -> Floats:
        """Return the effects of the core; those of all other columns are 0."""
        table, weighted = self.table, self._own * values
        totals = np.bincount(table.group, weighted, len(table.absorbed))
        repeated = np.repeat(weighted, table.places.shape[1])
        moment = np.bincount(table.places.ravel(), repeated, len(table.others)) - self._shares @ totals
        beta = self._inverse @ moment
        out: Floats = np.zeros(table.n_columns)
        out[table.others] = beta
        out[table.absorbed] = totals / self._totals - beta @ self._shares
        return out

    def fitted(self, values: Floats) -> Floats:
        """Return the fit to the values of each row, ``(m,)``; the value itself of set-aside rows."""
        table = self.table
        theta = self.theta(values)
        out = np.array(values, dtype=float)
        out[table.core] = theta[table.columns[table.core]].sum(axis=1)
        return out

    @cached_property
    def leverage(self) -> Floats:
        """The leverage ``(m,)`` of each row, 1 for set-aside rows."""
        table, m = self.table, len(self.table.absorbed)
        across = self._inverse @ self._shares
        squares = 1.0 / self._totals + np.einsum("ij,ij->j", self._shares, across)
        own = squares[table.group]
        for a in table.places.T:
            own -= 2.0 * across.ravel()[a * m + table.group]
            for b in table.places.T:
                own += self._inverse[a, b]
        out = np.ones(table.n_rows)
        out[table.core] = np.clip(self._own * own, 0.0, 1.0)
        return out

    @cached_property
    def covariance(self) -> Floats:
        """A symmetric generalised inverse ``(n_columns, n_columns)`` of the normal equations.

        x'Cx is the variance of x'theta, at a noise SD of 1, for every x in the span of the rows.
        """
        table, n = self.table, self.table.n_columns
        out = np.zeros((n, n))
        across = self._inverse @ self._shares
        out[np.ix_(table.others, table.others)] = self._inverse
        out[np.ix_(table.others, table.absorbed)] = -across
        out[np.ix_(table.absorbed, table.others)] = -across.T
        block = self._shares.T @ across
        block[np.diag_indices_from(block)] += 1.0 / self._totals
        out[np.ix_(table.absorbed, table.absorbed)] = block
        for wave in reversed(table.waves):
            # effect = value - the others: independent of all that is there but through them.
            lines = -out[wave.others].sum(axis=1)
            out[wave.leaves] = lines
            out[:, wave.leaves] = lines.T
            block = -lines[:, wave.others].sum(axis=2)
            block[np.diag_indices_from(block)] += 1.0 / self.weights[wave.rows]
            out[np.ix_(wave.leaves, wave.leaves)] = block
        return out


def _numbered(columns: Ints, n_columns: int) -> tuple[Ints, Ints]:
    """Return the columns that occur, in order, and of each entry the place of its column among them."""
    seen = np.zeros(n_columns, dtype=bool)
    seen[columns] = True
    return np.flatnonzero(seen), (np.cumsum(seen) - 1)[columns]


def _inverse(span: Floats, gram: Floats) -> Floats:
    """Return the inverse of ``gram`` within a span, symmetric."""
    inside = span.T @ gram @ span
    scale = 1.0 / np.sqrt(np.diagonal(inside))
    factor = np.linalg.inv(np.linalg.cholesky(inside * scale * scale[:, None])) * scale
    half = span @ factor.T
    return half @ half.T


def _set_aside(columns: Ints, n_columns: int) -> tuple[list[_Wave], Ints]:
    """Return the set-aside rows, in waves, and the positions of all others.

    Of each column the number of rows left and the sum of their positions are kept: where one is left, the sum is it.
    """
    n, n_sites = columns.shape
    counts = np.bincount(columns.ravel(), minlength=n_columns)
    sums = np.bincount(columns.ravel(), np.repeat(np.arange(n), n_sites).astype(float), n_columns).astype(np.intp)
    left = np.ones(n, dtype=bool)
    waves = []
    single = np.flatnonzero(counts == 1)
    while len(single):
        # A row with several substituents of its own leaves by the first of them.
        rows, first = np.unique(sums[single], return_index=True)
        leaves = single[first]
        own = columns[rows]
        waves.append(_Wave(rows, leaves, np.where(own == leaves[:, None], 0, own)))
        left[rows] = False
        np.subtract.at(counts, own, 1)
        np.subtract.at(sums, own, rows[:, None])
        touched = np.unique(own)
        single = touched[counts[touched] == 1]
    return waves, np.flatnonzero(left)
