"""What a check of a table found: errors, what is not used, warnings and notes in one list that can be narrowed."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal, overload

import numpy as np
from numpy.typing import NDArray

from assaypilot.engine.arrays import Flags
from assaypilot.engine.tables.problems import Problem

from .base import Column, RowsModel, text_ranks

__all__ = ["KINDS", "Finding", "Findings", "FindingsModel", "Kind"]

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


class Findings(Sequence[Finding]):
    """The lines of a check, made when they are looked at: a table may have a hundred thousand of them."""

    def __init__(
        self, problems: Sequence[Problem], texts: Sequence[tuple[Kind, str]], say: Callable[[str], str] = str
    ) -> None:
        """Errors first, then what is not used, then ``texts``; ``say`` puts a reason into the window's words."""
        errors = [problem for problem in problems if problem.severity == "error"]
        self._problems = [*errors, *(problem for problem in problems if problem.severity != "error")]
        self._texts = list(texts)
        self._say = say
        self.kinds = np.array(
            [_ORDER["error"]] * len(errors)
            + [_ORDER["unused"]] * (len(self._problems) - len(errors))
            + [_ORDER[kind] for kind, _ in self._texts],
            dtype=np.int64,
        )
        """The kind of each line, as its place among KINDS."""

    def __len__(self) -> int:
        return len(self.kinds)

    @overload
    def __getitem__(self, place: int) -> Finding: ...
    @overload
    def __getitem__(self, place: slice) -> list[Finding]: ...
    def __getitem__(self, place: int | slice) -> Finding | list[Finding]:
        if isinstance(place, slice):
            return [self[n] for n in range(*place.indices(len(self)))]
        if place >= len(self._problems):
            kind, text = self._texts[place - len(self._problems)]
            return Finding(kind, None, "", text)
        problem = self._problems[place]
        kind = "error" if problem.severity == "error" else "unused"
        return Finding(kind, problem.row, problem.column or "", self._say(problem.reason))

    @property
    def rows(self) -> NDArray[np.int64]:
        """The row of each line, -1 where it is about the table."""
        own = [-1 if problem.row is None else problem.row for problem in self._problems]
        return np.array(own + [-1] * len(self._texts), dtype=np.int64)

    def holding(self, text: str) -> Flags:
        """Which lines hold a text in their column, row or reason, regardless of case."""
        wanted = text.casefold()
        found = [
            wanted in problem.reason.casefold()
            or wanted in (problem.column or "").casefold()
            or wanted in str(problem.row or "")
            for problem in self._problems
        ]
        return np.array(found + [wanted in said.casefold() for _, said in self._texts], dtype=bool)

    def count(self, kind: object) -> int:
        """How many there are of a kind."""
        place = next((n for name, n in _ORDER.items() if name == kind), -1)
        return int((self.kinds == place).sum())


class FindingsModel(RowsModel):
    """Kind, row, column, reason."""

    found = Findings((), ())

    def show(self, found: Findings) -> None:
        """Take over the list."""
        kept = self.found = found
        self.fill(
            [
                Column(
                    "kind",
                    "Kind",
                    lambda row: KINDS[kept[row].kind],
                    lambda: kept.kinds,
                    kind=lambda row: "wrong" if kept[row].kind == "error" else None,
                ),
                Column(
                    "row",
                    "Row",
                    lambda row: "" if kept[row].row is None else str(kept[row].row),
                    lambda: kept.rows,
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
        """Show one kind (``all``: every one), and only what holds a text, regardless of case."""
        wanted = text.strip()
        if kind == "all" and not wanted:
            self.only(None)
            return
        place = next((n for name, n in _ORDER.items() if name == kind), None)
        mask = np.ones(len(self.found), dtype=bool) if place is None else self.found.kinds == place
        self.only(mask & self.found.holding(wanted) if wanted else mask)
