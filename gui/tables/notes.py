"""The first rows of a table, and what a paste would write."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from .rows import Column, RowsModel

__all__ = ["PastedModel", "PastedRow", "TableModel"]


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
        """Take over the list."""
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
        """Take over the first ``rows`` rows."""

        def column(place: int) -> Column:
            texts = cells[place]
            return Column(columns[place], columns[place], lambda row: texts[row])

        self.fill([column(place) for place in range(len(columns))], rows)
