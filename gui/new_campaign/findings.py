"""The findings in a table, line by line, and the substituents of its sites."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import numpy as np
from PySide6.QtGui import QKeySequence, QShortcut
from PySide6.QtWidgets import QFileDialog, QWidget

from assaypilot.engine.system.progress import Report
from assaypilot.engine.text import many

from ..runtime.settings import Settings
from ..session.session import Session
from ..structures.drawing import Structures
from ..tables.rows import Column, RowsModel, numbers, words
from ..tables.table import Table
from ..widgets.inputs import FilterBox, Segments, combo_box, fill_box
from ..widgets.layout import STRETCH, column_of, put, row_of
from ..widgets.text import button, label
from .table_work import Checked

Kind = Literal["error", "unused", "warning", "note"]
KINDS: dict[Kind, str] = {"error": "Error", "unused": "Not used", "warning": "Warning", "note": "Note"}
TITLES: dict[Kind, str] = {"error": "Errors", "unused": "Not used", "warning": "Warnings", "note": "Notes"}


@dataclass(frozen=True, slots=True)
class Finding:
    """One line of the report."""

    kind: Kind
    row: int | None
    column: str
    text: str


def findings(checked: Checked) -> list[Finding]:
    """Return the findings in a table: errors first, then unused parts, warnings and notes."""
    found = [
        Finding("error" if lost.severity == "error" else "unused", lost.row, lost.column or "", lost.reason)
        for lost in checked.imported.not_used
    ]
    found.sort(key=lambda one: one.kind != "error")
    found += [Finding("warning", None, "", text) for text in checked.warnings]
    return found + [Finding("note", None, "", text) for text in checked.imported.notes]


class FindingsModel(RowsModel):
    """The report, line by line."""

    found: Sequence[Finding] = ()

    def show(self, found: Sequence[Finding]) -> None:
        """Take over the report of a check."""
        self.found = found
        kinds, rows = list(KINDS), [np.nan if one.row is None else one.row for one in found]
        columns = [
            Column(
                "kind",
                "Kind",
                lambda row: KINDS[found[row].kind],
                lambda: np.array([kinds.index(one.kind) for one in found], dtype=np.int64),
                kind=lambda row: "wrong" if found[row].kind == "error" else None,
            ),
            numbers("row", "Row", np.array(rows), ".0f"),
            words("column", "Column", [one.column for one in found]),
            words("text", "What and why", [one.text for one in found]),
        ]
        self.fill(columns, len(found))

    def narrow(self, kind: str, text: str) -> None:
        """Show the lines of a kind (``all``: of every one) that contain the words of a text."""
        mask = self.holding(text)
        if kind != "all":
            own = np.array([one.kind == kind for one in self.found], dtype=bool)
            mask = own if mask is None else mask & own
        self.only(mask)


class FindingsView(QWidget):
    """One table with its filters."""

    def __init__(self, session: Session, settings: Settings, message: Callable[[str], None]) -> None:
        super().__init__()
        self.session, self.settings, self._message = session, settings, message
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
        self.empty = label("Every row and value is used.", "muted")
        column.addWidget(self.table, 1)
        self.whole = label("", wrap=True, selectable=True)
        self.whole.hide()
        self.table.chosen.connect(self._show_whole)
        put(column, self.whole, self.empty)
        column.addStretch(0)
        QShortcut(QKeySequence.StandardKey.Find, self, self.filter.setFocus)

    def show_checked(self, checked: Checked) -> None:
        """Show the findings; the filter stays."""
        found = findings(checked)
        counts = Counter(one.kind for one in found)
        self.model.show(found)
        self.kinds.set_text("all", f"All ({len(found):,})")
        for kind, title in TITLES.items():
            self.kinds.set_text(kind, f"{title} ({counts[kind]:,})")
        for part in (self.tools, self.table):
            part.setVisible(len(found) > 0)
        self.empty.setVisible(not len(found))
        self._narrow()

    def _narrow(self) -> None:
        self.model.narrow(self.kinds.key, self.filter.text())

    def _show_whole(self, row: int | None) -> None:
        """Show the whole text of the current line, which may be too long for the table."""
        text = "" if row is None else self.model.found[row].text
        self.whole.setText(text)
        self.whole.setVisible(bool(text))

    def _copy(self) -> None:
        count = self.table.copy()
        self._message(f"Copied {many(count, 'line')}.")

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
            from assaypilot.engine.export.sheet import write_csv

            return write_csv(path, header, lines)

        self.session.write(
            f"Writing {path.name}", work, lambda count: self._message(f"Wrote {count:,} lines to {path.name}.")
        )


@dataclass(frozen=True, slots=True)
class Substituent:
    """One substituent of a site."""

    site: str
    label: str
    """As the table has it."""
    shown: str
    drawn: str
    """SMILES for a picture; empty for a plain label."""
    count: int
    """Compounds that carry it."""


class SubstituentsModel(RowsModel):
    """Site, substituent, picture where it is a structure, compounds."""

    entries: tuple[Substituent, ...] = ()

    def show(self, entries: Sequence[Substituent]) -> None:
        """Take over the list."""
        kept = self.entries = tuple(entries)
        drawn, counts = [one.drawn for one in kept], np.array([one.count for one in kept], dtype=np.int64)
        columns = [
            words("site", "Site", [one.site for one in kept]),
            words("shown", "Substituent", [one.shown for one in kept], soft=True),
            Column("picture", "Structure", lambda row: "", smiles=drawn.__getitem__, width=130),
            numbers("count", "Compounds", counts, ",.0f"),
            Column("said", "", lambda row: "seen once" if counts[row] == 1 else "", kind=lambda row: "muted"),
        ]
        self.fill([one for one in columns if one.key != "picture" or any(drawn)], len(kept))

    def narrow(self, site: str, text: str) -> None:
        """Show the substituents of a site (empty: of all) whose name, here or in the table, contains a text."""
        mask = self.holding(text, lambda row: self.entries[row].label)
        if site:
            own = np.array([one.site == site for one in self.entries], dtype=bool)
            mask = own if mask is None else mask & own
        self.only(mask)


class SitesView(QWidget):
    """Substituents, of one site or all."""

    def __init__(self) -> None:
        super().__init__()
        column = column_of(holder=self, spacing=10)
        self.site = combo_box("Site")
        self.site.setMinimumWidth(170)
        self.site.currentIndexChanged.connect(lambda _: self._narrow())
        self.filter = FilterBox("Filter substituents", "Filter substituents")
        self.filter.narrowed.connect(lambda _: self._narrow())
        self.model = SubstituentsModel(self)
        self._structures = Structures(self)
        self.table = Table(self.model, self._structures, name="Substituents of the sites")
        put(column, row_of(self.site, (self.filter, 1), spacing=10), (self.table, 1))

    def show_checked(self, checked: Checked) -> None:
        """Show the sites as they are now."""
        entries = [
            Substituent(site.name, label, shown, drawn, count)
            for site in checked.sites
            for label, shown, drawn, count in zip(
                site.substituents, site.shown, site.drawn or [""] * len(site.shown), site.counts, strict=True
            )
        ]
        sizes = [(f"{site.name}: {len(site.substituents):,} substituents", site.name) for site in checked.sites]
        fill_box(self.site, [("All sites", ""), *sizes], self.site.currentData())
        self.model.show(entries)
        self._narrow()

    def _narrow(self) -> None:
        self.model.narrow(str(self.site.currentData() or ""), self.filter.text())
