"""Everything a check found, line by line: narrowed by kind and text, copied, saved as csv."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from PySide6.QtGui import QKeySequence, QShortcut
from PySide6.QtWidgets import QFileDialog, QHBoxLayout, QVBoxLayout, QWidget

from assaypilot.engine.campaign.phrases import many
from assaypilot.engine.system.progress import Report

from ..models.findings import KINDS, Findings, FindingsModel, Kind
from ..session import Session
from ..settings import Settings
from ..widgets.choices import FilterBox, Segments
from ..widgets.table import Table
from ..widgets.text import button, label
from .check_work import Checked
from .import_words import import_words

__all__ = ["FindingsView", "findings"]

TITLES = {"error": "Errors", "unused": "Not used", "warning": "Warnings", "note": "Notes"}


def findings(checked: Checked) -> Findings:
    """The lines of a check: errors first, then what is not used, warnings and notes."""
    texts: list[tuple[Kind, str]] = [("warning", import_words(text)) for text in checked.warnings]
    texts += [("note", import_words(text)) for text in checked.imported.notes]
    return Findings(checked.imported.not_used, texts, _reason)


def _reason(text: str) -> str:
    return import_words(text) if "--" in text else text


class FindingsView(QWidget):
    """One table with what narrows it."""

    def __init__(self, session: Session, settings: Settings, said: Callable[[str], None]) -> None:
        super().__init__()
        self.session, self.settings, self._said = session, settings, said
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(10)
        row = QHBoxLayout()
        row.setSpacing(10)
        self.kinds = Segments([("all", "All"), *((kind, TITLES[kind]) for kind in KINDS)], "Kind of finding")
        self.kinds.chosen.connect(lambda _: self._narrow())
        self.filter = FilterBox("Filter by text, column or row", "Filter findings")
        self.filter.narrowed.connect(lambda _: self._narrow())
        self.copy = button("&Copy", tip="Copies the lines that are selected, or all that are shown, with their header")
        self.copy.clicked.connect(self._copy)
        self.save = button("&Save as csv…", tip="Writes the lines that are shown")
        self.save.clicked.connect(self._save)
        row.addWidget(self.kinds)
        row.addWidget(self.filter, 1)
        row.addWidget(self.copy)
        row.addWidget(self.save)
        column.addLayout(row)
        self.model = FindingsModel(self)
        self.table = Table(self.model, name="What the check found")
        self.table.widths.stretch("text", 300)
        self.empty = label("Nothing to report: every row and value was used as it is.", "muted")
        column.addWidget(self.table, 1)
        self.whole = label("", wrap=True, selectable=True)
        self.whole.hide()
        self.table.chosen.connect(self._tell)
        column.addWidget(self.whole)
        column.addWidget(self.empty)
        column.addStretch(0)
        QShortcut(QKeySequence.StandardKey.Find, self, self.filter.setFocus)

    def show_checked(self, checked: Checked) -> None:
        """Show what was found; the filter stays."""
        found = findings(checked)
        self.model.show(found)
        self.kinds.set_text("all", f"All ({len(found):,})")
        for kind, title in TITLES.items():
            self.kinds.set_text(kind, f"{title} ({found.count(kind):,})")
        self.table.setVisible(len(found) > 0)
        self.empty.setVisible(not len(found))
        self.copy.setEnabled(len(found) > 0)
        self.save.setEnabled(len(found) > 0)
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
