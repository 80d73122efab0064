"""The campaigns of a folder in one table: how each stands and what comes next; a double click opens one."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtCore import QSize, Qt, Signal
from PySide6.QtWidgets import (
    QAbstractItemView,
    QDialog,
    QFileDialog,
    QHBoxLayout,
    QHeaderView,
    QTreeWidget,
    QTreeWidgetItem,
    QVBoxLayout,
    QWidget,
)

from assaypilot.engine.campaign.next_step import NextStep
from assaypilot.engine.campaign.overview import Glance, glances

from ..models.base import plain_tip
from ..session import Session
from ..settings import Settings
from ..widgets.text import button, label

__all__ = ["ProjectDialog"]

NEXT: dict[NextStep, str] = {
    "plan": "Plan the next round",
    "wait": "Wait for what was ordered",
    "enter": "Enter results",
    "close": "Close the round",
    "confirm": "Confirm the shortlist",
    "export": "Export the shortlist",
}
COLUMNS = ("Campaign", "Goal", "Round", "In", "Undecided", "Out", "Measured", "Next")
GOAL, FIRST_NUMBER, LAST_NUMBER = 1, 2, 6
ROW = 30
"""Pixels of a row's height."""


class ProjectDialog(QDialog):
    """Lists a folder's campaigns; they are read in the background and never changed."""

    chosen = Signal(object)
    """The path of a campaign to open."""

    def __init__(self, session: Session, settings: Settings, parent: QWidget | None) -> None:
        super().__init__(parent)
        self.setWindowTitle("Campaigns of a project")
        self.resize(980, 460)
        self.session, self.settings = session, settings
        self.folder = Path(settings.folder)
        column = QVBoxLayout(self)
        column.setContentsMargins(22, 18, 22, 16)
        column.setSpacing(10)
        top = QHBoxLayout()
        self.place = label("", "muted", wrap=True)
        self.choose = button("Choose &folder…")
        self.choose.clicked.connect(self._ask)
        self.again = button("&Refresh")
        self.again.clicked.connect(self.read)
        top.addWidget(self.place, 1)
        top.addWidget(self.again)
        top.addWidget(self.choose)
        column.addLayout(top)
        self.table = QTreeWidget()
        self.table.setAccessibleName("Campaigns")
        self.table.setHeaderLabels(list(COLUMNS))
        self.table.setRootIsDecorated(False)
        self.table.setUniformRowHeights(True)
        self.table.setAllColumnsShowFocus(True)
        self.table.setSelectionMode(QAbstractItemView.SelectionMode.SingleSelection)
        self.table.header().setStretchLastSection(False)
        self.table.header().setSectionResizeMode(QHeaderView.ResizeMode.ResizeToContents)
        self.table.header().setSectionResizeMode(GOAL, QHeaderView.ResizeMode.Stretch)
        self.table.itemActivated.connect(lambda _: self._open())
        self.table.currentItemChanged.connect(lambda *_: self._refresh())
        column.addWidget(self.table, 1)
        row = QHBoxLayout()
        close = button("Close")
        close.clicked.connect(self.reject)
        self.open_button = button("&Open campaign", "go")
        self.open_button.clicked.connect(self._open)
        row.addStretch(1)
        row.addWidget(close)
        row.addWidget(self.open_button)
        column.addLayout(row)
        self.read()

    def read(self) -> None:
        """Read the campaigns of the folder again."""
        folder = self.folder
        self.place.setText(f"Reading {folder}…")
        self.again.setEnabled(False)
        self.session.read("Reading campaigns", lambda report: glances([folder], report), self._show, self._failed)

    def _show(self, found: list[Glance]) -> None:
        self.again.setEnabled(True)
        waiting = sum(one.next not in ("export",) for one in found if not one.error)
        none = "No campaign in " if not found else f"{len(found):,} in all, {waiting:,} with something to do: "
        self.place.setText(f"{none}{self.folder}")
        self.table.clear()
        self.table.addTopLevelItems([_line(one) for one in found])
        self._refresh()

    def _failed(self, error: Exception) -> None:
        self.again.setEnabled(True)
        self.place.setText(f"{self.folder} cannot be read: {error}")

    def _ask(self) -> None:
        name = QFileDialog.getExistingDirectory(self, "Choose the folder of a project", str(self.folder))
        if name:
            self.folder = self.settings.folder = Path(name)
            self.read()

    def _refresh(self) -> None:
        item = self.table.currentItem()
        self.open_button.setEnabled(item is not None and item.data(0, Qt.ItemDataRole.UserRole) is not None)

    def _open(self) -> None:
        item = self.table.currentItem()
        path = None if item is None else item.data(0, Qt.ItemDataRole.UserRole)
        if path is not None:
            self.accept()
            self.chosen.emit(path)


def _line(one: Glance) -> QTreeWidgetItem:
    if one.counts is None:
        item = QTreeWidgetItem([one.path.stem, f"cannot be read: {one.error}"])
        item.setToolTip(GOAL, plain_tip(one.error))
        item.setSizeHint(0, QSize(0, ROW))
        return item
    counts = [f"{one.counts[name]:,}" for name in ("in", "undecided", "out")]
    step = f"Enter {one.outstanding:,} results" if one.next == "enter" else NEXT[one.next]
    item = QTreeWidgetItem([one.name, one.goal, str(one.round), *counts, f"{one.measurements:,}", step])
    item.setData(0, Qt.ItemDataRole.UserRole, one.path)
    item.setToolTip(0, plain_tip(str(one.path)))
    item.setToolTip(GOAL, plain_tip(one.goal))
    item.setSizeHint(0, QSize(0, ROW))
    for place in range(FIRST_NUMBER, LAST_NUMBER + 1):
        item.setTextAlignment(place, Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
    return item
