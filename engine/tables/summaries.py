"""Rows that only sum up others of their compound (Replicate: Mean), which would count beside what they are made of."""

from __future__ import annotations

from dataclasses import replace

from . import headers
from .raw import RawTable, fold, rows_named

__all__ = ["without_summaries"]

_CALLED = (
    *headers.ROLES["replicate"],
    *("type", "row type", "record type", "value type", "data type", "statistic", "stat", "aggregation", "run", "level"),
)
"""What columns are called that tell single measurements from what is made of them, folded."""
_MEANS = frozenset((*headers.MEANS, "median", "mittelwert", "moyenne", "aggregate", "aggregated", "summary"))
_SPREADS = frozenset((*headers.ROLES["sd"], *headers.ROLES["sem"], "cv", "%cv", "cv %", "min", "max", "n", "count"))


def without_summaries(raw: RawTable) -> RawTable:
    """Return table without rows of means whose single measurements stand in other rows of the compound, and of spreads.

    What is left out is said; a mean that stands alone stays. The same table where no column tells such rows.
    """
    ids = next((column for name in headers.IDS for column in raw.columns if fold(column) == name), None)
    if ids is None:
        return raw
    for column in raw.columns:
        if fold(column) not in _CALLED:
            continue
        words = [fold(text) for text in raw.column(column)]
        if not any(word in _MEANS for word in words) or all(word in _MEANS or not word for word in words):
            continue
        names = raw.column(ids)
        single = {name for name, word in zip(names, words, strict=True) if word not in _MEANS | _SPREADS}
        gone = [
            place
            for place, (name, word) in enumerate(zip(names, words, strict=True))
            if word in _SPREADS or (word in _MEANS and name in single)
        ]
        if not gone:
            continue
        many = len(gone) > 1
        said = (
            f"{rows_named([raw.rows[place] for place in gone])} {'sum' if many else 'sums'} up other rows by column "
            f"{column} ({raw.column(column)[gone[0]]}) and {'were' if many else 'was'} left out."
        )
        left = frozenset(gone)
        kept = [place for place in range(len(raw)) if place not in left]
        return replace(
            raw,
            cells=tuple(tuple(cells[place] for place in kept) for cells in raw.cells),
            rows=tuple(raw.rows[place] for place in kept),
            warnings=(*raw.warnings, said),
        )
    return raw
