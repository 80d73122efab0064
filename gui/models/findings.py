"""What a check of a table found: errors, what is not used, warnings and notes in one list that can be narrowed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from assaypilot.gui.models.base import Column, RowsModel, text_ranks

__all__ = ["KINDS", "Finding", "FindingsModel", "Kind"]

Kind = Literal["error", "unused", "warning", "note"]

KINDS: dict[Kind, str] = {"error": "Error", "unused": "Not used", "warning": "Warning", "note": "Note"}
"""What each kind is called, the gravest first."""
_ORDER = {kind: place for place, kind in enumerate(KINDS)}


@dataclass(frozen=True, slots=True)
class Finding:
    """One line of the list."""

    kind: Kind
    row: int | None
    """As a spreadsheet counts; None when it is about the table."""
    column: str
    text: str


class FindingsModel(RowsModel):
    """Kind, row, column, reason."""

    found: tuple[Finding, ...] = ()

    def show(self, found: Sequence[Finding]) -> None:
        """Nothing; takes over the list."""
        kept = self.found = tuple(found)
        self._kind = "all"
        self._text = ""
        self.fill(
            [
                Column(
                    "kind",
                    "Kind",
                    lambda row: KINDS[kept[row].kind],
                    lambda: np.array([_ORDER[one.kind] for one in kept], dtype=np.int64),
                    kind=lambda row: "wrong" if kept[row].kind == "error" else None,
                ),
                Column(
                    "row",
                    "Row",
                    lambda row: "" if kept[row].row is None else str(kept[row].row),
                    lambda: np.array([-1 if one.row is None else one.row for one in kept], dtype=np.int64),
                    number=True,
                ),
                Column("column", "Column", lambda row: kept[row].column, lambda: text_ranks([o.column for o in kept])),
                Column(
                    "text",
                    "What and why",
                    lambda row: kept[row].text,
                    lambda: text_ranks([one.text for one in kept]),
                    cell_tip=lambda row: kept[row].text,
                ),
            ],
            len(kept),
        )

    def narrow(self, kind: str, text: str) -> None:
        """Nothing; shows one kind (``all``: every one), and only what holds a text, regardless of case."""
        self._kind, self._text = kind, text.strip().casefold()
        if self._kind == "all" and not self._text:
            self.only(None)
            return
        self.only(
            np.fromiter(
                (
                    self._kind in ("all", one.kind)
                    and (self._text in f"{one.column} {one.text} {'' if one.row is None else one.row}".casefold())
                    for one in self.found
                ),
                dtype=bool,
                count=len(self.found),
            )
        )

    _kind = "all"
    _text = ""

    def count(self, kind: Kind) -> int:
        """How many there are of a kind."""
        return sum(one.kind == kind for one in self.found)
