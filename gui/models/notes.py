"""What was not used of a table, and what a paste would write: rows with a reason."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from assaypilot.gui.models.base import Column, RowsModel, text_ranks

__all__ = ["NotUsed", "NotUsedModel", "PastedModel", "PastedRow", "TableModel"]


@dataclass(frozen=True, slots=True)
class NotUsed:
    """A cell or row of a table that was left out."""

    row: int | None
    column: str
    reason: str


class NotUsedModel(RowsModel):
    """Row, column, reason."""

    def show(self, entries: Sequence[NotUsed]) -> None:
        """Nothing; takes over the list."""
        kept = list(entries)
        self.fill(
            [
                Column(
                    "row",
                    "Row",
                    lambda row: "" if kept[row].row is None else str(kept[row].row),
                    lambda: np.array([-1 if e.row is None else e.row for e in kept], dtype=np.int64),
                    number=True,
                ),
                Column("column", "Column", lambda row: kept[row].column, lambda: text_ranks([e.column for e in kept])),
                Column("reason", "Reason", lambda row: kept[row].reason, lambda: text_ranks([e.reason for e in kept])),
            ],
            len(kept),
        )


@dataclass(frozen=True, slots=True)
class PastedRow:
    """One value of a paste or a results file, and what becomes of it."""

    place: str
    """Where it stood: a row of the file or of the clipboard."""
    compound: str
    text: str
    """The value as read."""
    becomes: str
    """What will be kept; empty when it is rejected."""
    note: str
    rejected: bool = False


class PastedModel(RowsModel):
    """What will be written where, and what was rejected and why."""

    def show(self, rows: Sequence[PastedRow]) -> None:
        """Nothing; takes over the list."""
        kept = list(rows)
        self.fill(
            [
                Column("place", "From row", lambda row: kept[row].place, number=True),
                Column("compound", "ID", lambda row: kept[row].compound),
                Column("text", "Value", lambda row: kept[row].text, number=True),
                Column("becomes", "Kept as", lambda row: kept[row].becomes, number=True),
                Column(
                    "note",
                    "",
                    lambda row: ("rejected: " if kept[row].rejected else "") + kept[row].note,
                    kind=lambda row: "wrong" if kept[row].rejected else None,
                ),
            ],
            len(kept),
        )


class TableModel(RowsModel):
    """The first rows of a table as they were read."""

    def show(self, columns: Sequence[str], cells: Sequence[Sequence[str]], rows: int) -> None:
        """Nothing; takes over the first ``rows`` rows."""

        def column(place: int) -> Column:
            texts = cells[place]
            return Column(columns[place], columns[place], lambda row: texts[row])

        self.fill([column(place) for place in range(len(columns))], rows)
