"""Pairs of a table that is a whole product of its sites: the farthest found over the sites, not over the rows."""

from __future__ import annotations

import math

import numpy as np

from assaypilot.engine.arrays import Floats, Ints
from assaypilot.engine.design.product_directions import ProductPairs
from assaypilot.engine.errors import AssayPilotError
from assaypilot.engine.features import ProjectedFeatures, SiteFeatures

__all__ = ["WholePairs"]


class WholePairs:
    """The pairs of a table that lists every compound of its sites once, by branch and bound over the sites."""

    def __init__(self, product: ProductPairs, place: Ints) -> None:
        self._product = product
        self._place = place
        """The row of every position of the product."""

    @classmethod
    def of(cls, table: ProjectedFeatures) -> WholePairs | None:
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
