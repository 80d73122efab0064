"""What was found in a table, line by line."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, overload

import numpy as np
from numpy.typing import NDArray
from PySide6.QtGui import QKeySequence, QShortcut
from PySide6.QtWidgets import QFileDialog, QWidget

from assaypilot.engine.arrays import Flags
from assaypilot.engine.campaign.phrases import many
from assaypilot.engine.system.progress import Report
from assaypilot.engine.tables.raw import Problem

from ..runtime.settings import Settings
from ..session.session import Session
from ..tables.rows import Column, RowsModel, text_ranks
from ..tables.table import Table
from ..widgets.inputs import FilterBox, Segments
from ..widgets.layout import STRETCH, column_of, put, row_of
from ..widgets.text import button, label
from .table_work import Checked

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

    def __init__(self, problems: Sequence[Problem], texts: Sequence[tuple[Kind, str]]) -> None:
        """Errors first, then what is not used, then ``texts``."""
        errors = [problem for problem in problems if problem.severity == "error"]
        self._problems = [*errors, *(problem for problem in problems if problem.severity != "error")]
        self._texts = list(texts)
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
        return Finding(kind, problem.row, problem.column or "", problem.reason)

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


TITLES = {"error": "Errors", "unused": "Not used", "warning": "Warnings", "note": "Notes"}


def findings(checked: Checked) -> Findings:
    """The lines of a check: errors first, then what is not used, warnings and notes."""
    texts: list[tuple[Kind, str]] = [("warning", text) for text in checked.warnings]
    texts += [("note", text) for text in checked.imported.notes]
    return Findings(checked.imported.not_used, texts)


class FindingsView(QWidget):
    """One table with what narrows it."""

    def __init__(self, session: Session, settings: Settings, said: Callable[[str], None]) -> None:
        super().__init__()
        self.session, self.settings, self._said = session, settings, said
        column = column_of(holder=self, spacing=10)
        row = row_of(spacing=10)
        self.kinds = Segments([("all", "All"), *((kind, TITLES[kind]) for kind in KINDS)], "Kind of finding")
        self.kinds.chosen.connect(lambda _: self._narrow())
        self.filter = FilterBox("Filter by text, column or row", "Filter findings")
        self.filter.narrowed.connect(lambda _: self._narrow())
        self.copy = button(
            "Copy", tip="Copies the lines that are selected, or all that are shown, with their header", then=self._copy
        )
        self.save = button("Save as csv…", tip="Writes the lines that are shown", then=self._save)
        put(row, self.kinds, STRETCH, self.copy, self.save)
        self.tools = QWidget()
        column_of(row, self.filter, holder=self.tools, spacing=8)
        column.addWidget(self.tools)
        self.model = FindingsModel(self)
        self.table = Table(self.model, name="What the check found")
        self.table.widths.stretch("text", 300)
        self.empty = label("Nothing to report: every row and value was used as it is.", "muted")
        column.addWidget(self.table, 1)
        self.whole = label("", wrap=True, selectable=True)
        self.whole.hide()
        self.table.chosen.connect(self._tell)
        put(column, self.whole, self.empty)
        column.addStretch(0)
        QShortcut(QKeySequence.StandardKey.Find, self, self.filter.setFocus)

    def show_checked(self, checked: Checked) -> None:
        """Show what was found; the filter stays."""
        found = findings(checked)
        self.model.show(found)
        self.kinds.set_text("all", f"All ({len(found):,})")
        for kind, title in TITLES.items():
            self.kinds.set_text(kind, f"{title} ({found.count(kind):,})")
        for part in (self.tools, self.table):
            part.setVisible(len(found) > 0)
        self.empty.setVisible(not len(found))
        self._narrow()

    def _narrow(self) -> None:
        self.model.narrow(self.kinds.key, self.filter.text())

    def _tell(self, row: int | None) -> None:
        """The whole text of the line that is current, which may be too long for the table."""
        text = "" if row is None else self.model.found[row].text
        self.whole.setText(text)
        self.whole.setVisible(bool(text))

    def _copy(self) -> None:
        count = self.table.copy()
        self._said(f"Copied {many(count, 'line')}.")

    def _save(self) -> None:
        name, _ = QFileDialog.getSaveFileName(
            self, "Save what is shown", str(self.settings.folder / "check.csv"), "csv files (*.csv)"
        )
        if name:
            self.save_to(Path(name))

    def save_to(self, path: Path) -> None:
        """Write the lines that are shown."""
        header, *lines = self.model.as_text()

        def work(report: Report) -> int:
            from assaypilot.engine.export.csv_file import write_csv

            return write_csv(path, header, lines)

        self.session.write(
            f"Writing {path.name}", work, lambda count: self._said(f"Wrote {count:,} lines to {path.name}.")
        )
