"""All differences of the compounds of a table, however many there are."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from ..arrays import Floats, Ints
from ..domain.features import ProjectedFeatures, SiteFeatures
from ..errors import AssayPilotError
from .directions import ListedPairs, measured
from .product_directions import ProductPairs

__all__ = ["Pairs"]


_LISTED = 5000
"""From so many rows on a whole product of sites is searched as one."""


class Pairs(ListedPairs):
    """All differences z_i - z_j of an active set, i < j; implied, never held."""

    def __init__(self, table: ProjectedFeatures, *, names: Sequence[str] | None = None) -> None:
        super().__init__(table, names=names)
        self._whole = _WholePairs.of(table) if table.n_rows >= _LISTED else None

    def find(self, inverse: Floats, count: int = 1) -> tuple[Ints, Floats]:
        """The farthest pair, exactly, and the farthest partners of other rows: ``(m, 2)`` positions, values."""
        if self._whole is not None:
            keys = self._whole.find(inverse, count)
            if keys is not None:
                return measured(self, keys, inverse)
            self._whole = None
        return super().find(inverse, count)

    def some(self, inverse: Floats, count: int = 1) -> tuple[Ints, Floats]:
        """Pairs far apart, found without looking at all."""
        if self._whole is not None:
            return measured(self, self._whole.some(inverse, count), inverse)
        return super().some(inverse, count)


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
