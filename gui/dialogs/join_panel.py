"""A second file beside the first: which one, by which ids the two are joined, and how many found a partner."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QComboBox, QHBoxLayout, QVBoxLayout, QWidget

from assaypilot.engine.tables import headers
from assaypilot.engine.tables.raw import fold

from ..widgets.text import ElidedLabel, button, label
from .table_work import Loaded

__all__ = ["JoinPanel"]


class JoinPanel(QWidget):
    """One line without a second file, two with one."""

    wanted = Signal()
    """A second file is to be chosen."""
    dropped = Signal()
    """The second file is not wanted any more."""
    changed = Signal()
    """Another column of ids was chosen."""

    def __init__(self) -> None:
        super().__init__()
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(6)
        row = QHBoxLayout()
        row.setSpacing(10)
        self.add = button(
            "&Join a second file…", tip="Structures in one file, activities in another: joined by the ids"
        )
        self.add.clicked.connect(self.wanted)
        self.remove = button("&Without it", "link", "Reads the first file alone")
        self.remove.clicked.connect(self.dropped)
        self.file = ElidedLabel("muted")
        row.addWidget(self.add)
        row.addWidget(self.file, 1)
        row.addWidget(self.remove)
        column.addLayout(row)
        self.line = QWidget()
        ids = QHBoxLayout(self.line)
        ids.setContentsMargins(0, 0, 0, 0)
        ids.setSpacing(10)
        self.own = _combo("Column of ids of the first file")
        self.other = _combo("Column of ids of the second file")
        for combo in (self.own, self.other):
            combo.activated.connect(lambda _: self.changed.emit())
        first = label("&Ids in", "muted")
        first.setBuddy(self.own)
        second = label("are those in", "muted")
        second.setBuddy(self.other)
        self.said = ElidedLabel()
        for part in (first, self.own, second, self.other):
            ids.addWidget(part)
        ids.addWidget(self.said, 1)
        column.addWidget(self.line)
        self.show_nothing()

    def show_nothing(self) -> None:
        """There is no second file."""
        self.add.setText("&Join a second file…")
        self.file.setText("Structures in one file and activities in another are joined by their ids.")
        self.remove.hide()
        self.line.hide()

    def show_joined(self, loaded: Loaded) -> None:
        """Say what was joined."""
        second = loaded.wanted.second
        if second is None:
            self.show_nothing()
            return
        self.add.setText("&Join another file…")
        self.file.setText(f"Joined with {second.name}: {loaded.other_rows:,} rows")
        self.remove.show()
        self.line.show()
        _fill(self.own, loaded.columns, loaded.wanted.id_column)
        _fill(self.other, loaded.other_columns, loaded.wanted.other_column)
        here, there = map(len, loaded.raw.unmatched)
        self.said.setText(
            f"Without a partner: {here:,} of the first file, {there:,} of the second"
            if here or there
            else "Every id has its partner"
        )


def _combo(name: str) -> QComboBox:
    made = QComboBox()
    made.setAccessibleName(name)
    made.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToMinimumContentsLengthWithIcon)
    made.setMinimumContentsLength(15)
    return made


def _fill(combo: QComboBox, columns: Sequence[str], chosen: str | None) -> None:
    combo.clear()
    for name in columns:
        combo.addItem(name, name)
    found = next((c for known in headers.IDS for c in columns if fold(c) == known), None)
    combo.setCurrentIndex(max(combo.findData(chosen if chosen is not None else found), 0))
