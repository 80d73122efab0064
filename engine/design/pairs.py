"""All differences of the compounds of a table, however many there are."""

from __future__ import annotations

from collections.abc import Sequence

from assaypilot.engine.arrays import Floats, Ints
from assaypilot.engine.design.directions import ListedPairs, measured
from assaypilot.engine.design.whole import WholePairs
from assaypilot.engine.features import ProjectedFeatures

__all__ = ["Pairs"]


_LISTED = 5000
"""From so many rows on a whole product of sites is searched as one."""


class Pairs(ListedPairs):
    """All differences z_i - z_j of an active set, i < j; implied, never held."""

    def __init__(self, table: ProjectedFeatures, *, names: Sequence[str] | None = None) -> None:
        super().__init__(table, names=names)
        self._whole = WholePairs.of(table) if table.n_rows >= _LISTED else None

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
