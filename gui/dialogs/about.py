"""About and the short help."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QDialog, QHBoxLayout, QScrollArea, QVBoxLayout, QWidget

from assaypilot.gui.dialogs.licences import LicencesDialog
from assaypilot.gui.reporting import versions
from assaypilot.gui.widgets.text import Details, button, label

__all__ = ["AboutDialog", "HelpDialog"]

HELP = (
    (
        "What happens here",
        "AssayPilot plans which compounds to measure next, round by round, until it can say which compounds are "
        "within a distance you name of the best one. The effects of substituents are taken to add up.",
    ),
    (
        "In, undecided, out",
        "In: within the distance, as sure as you asked. Out: not. Undecided: both are still possible. In the soft zone "
        "just beyond the distance either answer is right. Not estimable: nothing that can be measured tells about it.",
    ),
    (
        "A measurement",
        "One independent determination of one compound, with its own dilution. Duplicates on one plate are one "
        "measurement: enter their mean.",
    ),
    (
        "Entering results",
        "Select a line and type; Enter goes on to the next. Several values: 7.62; 7.58. Beyond the range: > 10000 nM. "
        "A mean: 7.6 (n=3, sd=0.2). Ctrl+V pastes a column onto the selected line and those below, or ids with "
        "values; you see what will be written first. Everything is saved at once.",
    ),
    (
        "A wrong value",
        "Edit it: you are asked why, and the original stays in the log. A value left out because of what it says "
        "voids the guarantee; measuring the compound again does not.",
    ),
    (
        "The guarantee",
        "It stands at the bottom, true at that moment, with what it assumes. When it no longer holds, it says why.",
    ),
    (
        "Exports and work lists",
        "File > Export writes the compounds on the Candidates page as they stand there, those that are in, or all: as "
        "a table, a workbook with structures, an SD-file, a report or a slide. Round > Work List writes the round for "
        "the lab, on plates if you like. Both go on in the background: Cancel leaves no file.",
    ),
    (
        "Keys",
        "Ctrl+1 to 6 pages · F2 or Enter edit · Ctrl+Z, Ctrl+Y undo, redo · Ctrl+C copy with header · Ctrl+F filter · "
        "Ctrl+N new · Ctrl+O open · Ctrl+R plan the next round · Ctrl+E export · Esc leaves what was opened",
    ),
)


class HelpDialog(QDialog):
    """The short help."""

    def __init__(self, parent: QWidget | None) -> None:
        super().__init__(parent)
        self.setWindowTitle("Help")
        self.resize(620, 560)
        outer = QVBoxLayout(self)
        outer.setContentsMargins(0, 0, 0, 14)
        inner = QWidget()
        inner.setObjectName("page")
        column = QVBoxLayout(inner)
        column.setContentsMargins(26, 22, 26, 10)
        column.setSpacing(4)
        for heading, text in HELP:
            column.addWidget(label(heading, "heading"))
            column.addWidget(label(text, wrap=True, selectable=True))
            column.addSpacing(8)
        column.addStretch(1)
        scroll = QScrollArea()
        scroll.setWidgetResizable(True)
        scroll.setWidget(inner)
        outer.addWidget(scroll, 1)
        row = QHBoxLayout()
        row.setContentsMargins(26, 0, 26, 0)
        close = button("Close", "go")
        close.setDefault(True)
        close.clicked.connect(self.accept)
        row.addStretch(1)
        row.addWidget(close)
        outer.addLayout(row)


class AboutDialog(QDialog):
    """Name, versions, licence."""

    def __init__(self, parent: QWidget | None) -> None:
        super().__init__(parent)
        self.setWindowTitle("About AssayPilot")
        column = QVBoxLayout(self)
        column.setContentsMargins(26, 22, 26, 18)
        column.setSpacing(8)
        self.setMinimumWidth(460)
        column.addWidget(label("AssayPilot", "big"))
        column.addWidget(label("Which compounds to assay next, and when to stop", "muted"))
        found = versions()
        details = Details()
        details.show_rows(found)
        column.addWidget(details)
        column.addWidget(
            label(
                "MIT licence. Qt for Python is used under the LGPL; all libraries are listed with their licences. "
                "It makes no network connection.",
                "muted",
                wrap=True,
            )
        )
        row = QHBoxLayout()
        copy = button("Copy versions")
        copy.clicked.connect(
            lambda: QGuiApplication.clipboard().setText("\n".join(f"{name} {number}" for name, number in found))
        )
        licences = button("Libraries and licences…")
        licences.clicked.connect(self.show_licences)
        close = button("Close", "go")
        close.setDefault(True)
        close.clicked.connect(self.accept)
        row.addWidget(copy)
        row.addWidget(licences)
        row.addStretch(1)
        row.addWidget(close, 0, Qt.AlignmentFlag.AlignRight)
        column.addLayout(row)

    def show_licences(self) -> None:
        """Nothing; every library with its version and licence."""
        dialog = LicencesDialog(self)
        dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        dialog.open()
