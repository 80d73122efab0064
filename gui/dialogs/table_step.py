"""The wizard's first step: a file or a pasted block, and how it was read."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtCore import Signal
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QFileDialog, QHBoxLayout, QVBoxLayout

from assaypilot.engine.errors import AssayPilotError
from assaypilot.engine.progress import Report
from assaypilot.engine.tables.raw import PATTERNS, RawTable
from assaypilot.gui.dialogs.steps import Step
from assaypilot.gui.models.notes import TableModel
from assaypilot.gui.session import Session
from assaypilot.gui.settings import Settings
from assaypilot.gui.widgets.message_bar import error_words
from assaypilot.gui.widgets.table import Table
from assaypilot.gui.widgets.text import ElidedLabel, button, label

__all__ = ["TableStep"]

SHOWN = 60


class TableStep(Step):
    """Choose a file or paste; the first rows are shown as they were read."""

    read = Signal(object)
    """The RawTable."""

    def __init__(self, session: Session, settings: Settings) -> None:
        super().__init__()
        self.session, self.settings = session, settings
        self.raw: RawTable | None = None
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(10)
        column.addWidget(
            label(
                "One row per compound, with its substituents in columns R1, R2, …; an ID, SMILES and measured values "
                "if there are any.",
                "muted",
                wrap=True,
            )
        )
        row = QHBoxLayout()
        row.setSpacing(10)
        self.choose = button("Choose a &file…", "go")
        self.choose.clicked.connect(self._choose)
        self.paste = button("&Paste from the clipboard", tip="A block copied from a spreadsheet, with its header row")
        self.paste.clicked.connect(self.paste_clipboard)
        self.file = ElidedLabel()
        row.addWidget(self.choose)
        row.addWidget(self.paste)
        row.addWidget(self.file, 1)
        column.addLayout(row)
        self.problem = label("", "problem", wrap=True)
        self.mend = label("", "muted", wrap=True)
        self.how = label("", "muted", wrap=True)
        self.model = TableModel(self)
        self.table = Table(self.model, name="The first rows of the table")
        self.table.setSortingEnabled(False)
        for part in (self.problem, self.mend, self.how):
            column.addWidget(part)
            part.hide()
        column.addWidget(self.table, 1)
        self.table.hide()
        self.empty = label("csv, tsv, txt, xlsx, xls, ods, sdf or smi; decimal point or comma.", "muted")
        column.addWidget(self.empty)
        column.addStretch(0)

    @property
    def complete(self) -> bool:
        """Whether a table was read."""
        return self.raw is not None

    def load(self, path: Path) -> None:
        """Nothing; reads a file."""
        self.settings.folder = path.parent

        def work(report: Report) -> RawTable:
            from assaypilot.engine.tables.raw import read_table

            return read_table(path, report)

        self.file.setText(str(path))
        self.session.read(f"Reading {path.name}", work, self._show, self._refuse)

    def paste_clipboard(self) -> None:
        """Nothing; reads the clipboard."""
        text = QGuiApplication.clipboard().text()

        def work(report: Report) -> RawTable:
            from assaypilot.engine.tables.raw import parse_text

            return parse_text(text, report)

        self.file.setText("Pasted from the clipboard")
        self.session.read("Reading the clipboard", work, self._show, self._refuse)

    def _choose(self) -> None:
        name, _ = QFileDialog.getOpenFileName(
            self, "Choose a table", str(self.settings.folder), f"Tables ({' '.join(PATTERNS)});;All files (*)"
        )
        if name:
            self.load(Path(name))

    def _show(self, raw: RawTable) -> None:
        self.raw = raw
        self.problem.hide()
        self.mend.hide()
        self.empty.hide()
        self.table.show()
        self.how.show()
        parts = [
            f"{len(raw):,} rows, {len(raw.columns)} columns",
            raw.described,
        ]
        if raw.kind != "workbook":
            parts.append(f"decimal {'comma' if raw.decimal == ',' else 'point'}")
        self.how.setText(" · ".join(parts) + "".join(f"\n{text}" for text in raw.warnings[:4]))
        self.model.show(raw.columns, raw.cells, min(len(raw), SHOWN))
        self.changed.emit()
        self.read.emit(raw)

    def _refuse(self, error: Exception) -> None:
        self.raw = None
        if isinstance(error, AssayPilotError):
            text, mend = error_words(error)
            self.problem.setText(text)
            self.mend.setText(mend)
            self.mend.setVisible(bool(mend))
            self.problem.show()
        self.table.hide()
        self.how.hide()
        self.empty.show()
        self.changed.emit()
