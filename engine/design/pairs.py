"""All differences of the compounds of a table, or of a whole product of sites, however many there are."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from ..arrays import Floats, Ints
from ..domain.features import OUTSIDE_TOLERANCE, ProjectedFeatures, SiteFeatures
from ..errors import AssayPilotError
from .directions import Named, measured, refuse_apart, refuse_outside
from .farthest import Farthest
from .inverses import square_root
from .largest_sum import Pieces, largest_sum
from .products import Product

Codes = NDArray[np.int32]

_LISTED = 5000
"""From so many rows on a whole product of sites is searched as one."""
_AVERAGED = 600
"""Rows whose pairs stand for all in an average."""
_MOST_LEVELS = 2500
"""Pairs of substituents, summed over the sites, up to which the largest difference is found or bounded."""
_STARTS = 64
_CLIMBS = 50
"""Pairs of compounds that are improved site by site, at least, and how often each site is looked at."""
_SAMPLE = 2000
"""Compounds whose differences stand for all in an average."""
_EXACT = 1e-9
"""A bound this close above the largest found is the largest, but for rounding."""


class Pairs:
    """All differences z_i - z_j of the rows of a table, i < j; implied, never held."""

    def __init__(self, table: ProjectedFeatures, *, names: Sequence[str] | None = None) -> None:
        self.table = table
        self.n = table.n_rows * (table.n_rows - 1) // 2
        self.dimension = table.rank
        self._name = Named(names, table.n_rows)
        if self.n == 0:
            raise AssayPilotError("there is nothing to compare", mend="Name at least two compounds.")
        refuse_apart(table, None, self._name)
        self._farthest = Farthest(table)
        self._whole = _WholePairs.of(table) if table.n_rows >= _LISTED else None

    def find(self, inverse: Floats, count: int = 1) -> tuple[Ints, Floats]:
        """The farthest pair, exactly, and the farthest partners of other rows: ``(m, 2)`` positions, values."""
        if self._whole is not None:
            keys = self._whole.find(inverse, count)
            if keys is not None:
                return measured(self, keys, inverse)
            self._whole = None
        return self._farthest.find(inverse, count)

    def some(self, inverse: Floats, count: int = 1) -> tuple[Ints, Floats]:
        """Pairs far apart, found without looking at all."""
        if self._whole is not None:
            return measured(self, self._whole.some(inverse, count), inverse)
        return self._farthest.some(inverse, count)

    def average(self, inverse: Floats, sharpness: float) -> Floats:
        """An average of y y' over all pairs of a few hundred evenly chosen rows, the larger ones weighted up."""
        n = self.table.n_rows
        chosen = np.arange(n) if n <= _AVERAGED else np.linspace(0, n - 1, _AVERAGED).astype(np.intp)
        z = self.table.coordinates(chosen)
        u = z @ square_root(inverse)
        lengths = np.einsum("ij,ij->i", u, u)
        weights = lengths[:, None] + lengths - 2.0 * (u @ u.T)
        largest = float(weights.max())
        if largest <= 0.0:
            return np.zeros_like(inverse)
        weights *= sharpness / largest
        weights -= sharpness
        np.exp(weights, out=weights)
        np.fill_diagonal(weights, 0.0)
        # The sum over pairs of weight times (z_i - z_j)(z_i - z_j)'.
        total = 2.0 * (z.T @ (z * weights.sum(axis=1)[:, None]) - z.T @ weights @ z)
        average: Floats = (total + total.T) / (2.0 * float(weights.sum()))
        return average

    def vectors(self, keys: Ints) -> Floats:
        """The differences of the pairs."""
        return self.table.coordinates(keys[:, 0]) - self.table.coordinates(keys[:, 1])

    def name(self, key: Ints) -> str:
        """The pair."""
        return f"{self._name(int(key[0]))} against {self._name(int(key[1]))}"


class _WholePairs:
    """The pairs of a table that lists every compound of its sites once, by branch and bound over the sites."""

    def __init__(self, product: ProductPairs, place: Ints) -> None:
        self._product = product
        self._place = place
        """The row of every position of the product."""

    @classmethod
    def of(cls, table: ProjectedFeatures) -> _WholePairs | None:
        """The same for a table; None where it is no whole product, or one of too many substituents."""
        features = table.features
        if not isinstance(features, SiteFeatures) or table.n_rows != math.prod(features.sizes):
            return None
        try:
            product = ProductPairs(table)
        except AssayPilotError:
            return None
        positions = product.product.positions(features.codes[table.rows])
        place = np.full(table.n_rows, -1, dtype=np.intp)
        place[positions] = np.arange(table.n_rows)
        return None if (place < 0).any() else cls(product, place)

    def find(self, inverse: Floats, count: int) -> Ints | None:
        """Pairs of rows ``(m, 2)`` far apart, among them the farthest; None where that takes too long to prove."""
        self._product.exact = True
        keys, _ = self._product.find(inverse, count)
        return self._rows(keys) if self._product.exact else None

    def some(self, inverse: Floats, count: int) -> Ints:
        """Pairs of rows far apart: one may be missed."""
        return self._rows(self._product.some(inverse, count)[0])

    def _rows(self, keys: Ints) -> Ints:
        rows: Ints = np.sort(self._place[keys], axis=1)
        return rows


class ProductPairs:
    """All differences z - z' of the compounds of a whole product, in the coordinates of a table of candidates.

    For X a listed table (what can be measured) and Z everything that could be made of the same sites: K (K - 1) / 2
    directions for K up to 9e18, none of them listed. At each site a difference has one of l (l - 1) + 1 values, so the
    largest y'My is that of a product of so many levels, by branch and bound over the sites. Where that takes too long
    the first value ``find`` gives is a proven upper bound, and so is the value of a design: ``exact`` says which.
    """

    def __init__(self, candidates: ProjectedFeatures) -> None:
        features = candidates.features
        if not isinstance(features, SiteFeatures) or not features.sizes:
            raise AssayPilotError("a whole product needs a table of substituents at sites")
        self.product = Product(features.sizes)
        k = self.product.n_rows
        self.n = k * (k - 1) // 2
        self.dimension = candidates.rank
        self.exact = True
        """Whether every largest difference asked for so far was found, not only bounded."""
        if self.n == 0:
            raise AssayPilotError("there is nothing to compare", mend="Name at least two compounds.")
        self._sizes = features.sizes
        self._basis = candidates.basis
        starts = 1 + np.concatenate([[0], np.cumsum(features.sizes)[:-1]]).astype(np.intp)
        self._blocks = [slice(int(s), int(s) + size) for s, size in zip(starts, features.sizes, strict=True)]
        self._refuse_unseen()
        # Of each site: which substituent the one compound has and which the other; first, that both have the same.
        self._levels = [
            np.array([(0, 0), *((a, b) for a in range(size) for b in range(size) if a != b)], dtype=np.int32)
            for size in features.sizes
        ]
        self._counts = tuple(len(levels) for levels in self._levels)
        if sum(self._counts) > _MOST_LEVELS:
            raise AssayPilotError(
                f"sites of {', '.join(map(str, features.sizes))} substituents have too many differences to find the "
                "largest over all of their compounds",
                mend="Name the compounds that matter, or fewer substituents.",
            )
        rng = np.random.default_rng(0)
        rows = np.column_stack([rng.integers(0, size, min(_SAMPLE, k)) for size in features.sizes])
        rows = np.unique(rows.astype(np.int32), axis=0)
        some = SiteFeatures(rows, features.sizes)
        self._sample = Pairs(ProjectedFeatures(some, None, self._basis)) if len(rows) > 1 else None
        self.stand_in: Ints = self.product.positions(rows)
        """Positions of compounds whose differences stand for all while a design is searched for."""

    def _refuse_unseen(self) -> None:
        """Raise when some substituent cannot be told from the others of its site."""
        for site, block in enumerate(self._blocks):
            size = block.stop - block.start
            differences = np.zeros((size, self._basis.shape[0]))
            differences[np.arange(size), np.arange(block.start, block.stop)] = 1.0
            differences[:, block.start] -= 1.0
            inside = differences @ self._basis
            rest = np.linalg.norm(differences - inside @ self._basis.T, axis=1)
            unseen = np.flatnonzero(rest > OUTSIDE_TOLERANCE)

            def named(code: int, site: int = site) -> str:
                return f"substituent {code + 1} of site {site + 1}"

            refuse_outside(unseen.astype(np.intp), named)

    def find(self, inverse: Floats, count: int = 1) -> tuple[Ints, Floats]:
        """Keys ``(m, 2)``, positions in the product, and y' inverse y; the first value is the largest, or its bound."""
        metric = self._basis @ inverse @ self._basis.T
        parts = []
        for block, levels in zip(self._blocks, self._levels, strict=True):
            rows = np.zeros((len(levels), len(metric)))
            at = np.arange(len(levels))
            rows[at, block.start + levels[:, 0]] += 1.0
            rows[at, block.start + levels[:, 1]] -= 1.0
            parts.append(rows)
        seen = [rows @ metric for rows in parts]
        own = [np.einsum("ij,ij->i", left, rows) for left, rows in zip(seen, parts, strict=True)]
        pairs = {(a, b): 2.0 * (seen[a] @ parts[b].T) for b in range(len(parts)) for a in range(b)}
        keys, values = self.some(inverse, count)
        largest = largest_sum(Pieces(own, pairs), self._codes(keys[0]))
        chosen = np.array([levels[code] for levels, code in zip(self._levels, largest.codes, strict=True)])
        if largest.value > values[0] * (1.0 + _EXACT):
            keys = np.concatenate([self._keys(chosen[None, :, 0], chosen[None, :, 1]), keys])[:count]
            values = np.concatenate([[largest.value], values])[:count]
        if largest.bound > values[0] * (1.0 + _EXACT):
            self.exact = False
            values = np.concatenate([[largest.bound], values[1:]])
        return keys, values

    def some(self, inverse: Floats, count: int = 1) -> tuple[Ints, Floats]:
        """Pairs far apart, from many improved one site at a time until no site gains."""
        metric = self._basis @ inverse @ self._basis.T
        rng = np.random.default_rng(1)
        n = max(_STARTS, count)
        first = np.column_stack([rng.integers(0, size, n) for size in self._sizes]).astype(np.int32)
        second = np.column_stack([rng.integers(0, size, n) for size in self._sizes]).astype(np.int32)
        y = self._dense(first, second)
        apart = []
        for block in self._blocks:
            own = np.diagonal(metric)[block]
            apart.append(own[:, None] + own - 2.0 * metric[block, block])
        for _ in range(_CLIMBS):
            before = first.copy(), second.copy()
            for site, block in enumerate(self._blocks):
                y[:, block] = 0.0
                pull = 2.0 * (y @ metric[:, block])
                worth = apart[site] + pull[:, :, None] - pull[:, None, :]
                best = worth.reshape(n, -1).argmax(axis=1)
                first[:, site], second[:, site] = np.unravel_index(best, apart[site].shape)
                y[np.arange(n), block.start + first[:, site]] += 1.0
                y[np.arange(n), block.start + second[:, site]] -= 1.0
            if np.array_equal(before[0], first) and np.array_equal(before[1], second):
                break
        keys = np.unique(self._keys(first, second), axis=0)
        values = np.einsum("ij,ij->i", self.vectors(keys) @ inverse, self.vectors(keys))
        order = np.argsort(-values, kind="stable")[:count]
        return keys[order], values[order]

    def average(self, inverse: Floats, sharpness: float) -> Floats:
        """An average of y y' over all pairs of some of the compounds, the larger ones weighted up."""
        if self._sample is None:
            y = self.vectors(self.some(inverse, 1)[0])
            alone: Floats = y.T @ y / len(y)
            return alone
        return self._sample.average(inverse, sharpness)

    def vectors(self, keys: Ints) -> Floats:
        """The differences of the pairs."""
        return self._dense(self.product.codes(keys[:, 0]), self.product.codes(keys[:, 1])) @ self._basis

    def coordinates(self, positions: Ints) -> Floats:
        """Compounds of the product, up to the same shift of all: what their differences are made of."""
        rows: Floats = SiteFeatures(self.product.codes(positions), self._sizes).dense(np.arange(len(positions)))
        return rows @ self._basis

    def name(self, key: Ints) -> str:
        """The pair, by the substituents' numbers."""
        one, other = (self.product.codes(key[i : i + 1])[0] + 1 for i in (0, 1))
        return f"compound {'-'.join(map(str, one))} against {'-'.join(map(str, other))}"

    def _codes(self, key: Ints) -> list[int]:
        """The level of every site's difference."""
        one, other = self.product.codes(key[:1])[0], self.product.codes(key[1:])[0]
        return [
            int(np.flatnonzero((levels == (a, b) if a != b else levels == (0, 0)).all(axis=1))[0])
            for levels, a, b in zip(self._levels, one, other, strict=True)
        ]

    def _dense(self, first: Codes, second: Codes) -> Floats:
        rows = np.arange(len(first))
        y = np.zeros((len(first), self._basis.shape[0]))
        for site, block in enumerate(self._blocks):
            y[rows, block.start + first[:, site]] += 1.0
            y[rows, block.start + second[:, site]] -= 1.0
        return y

    def _keys(self, first: Codes, second: Codes) -> Ints:
        """Both positions, the smaller first."""
        both = np.column_stack([self.product.positions(first), self.product.positions(second)])
        keys: Ints = np.sort(both, axis=1)
        return keys
