"""What the program is made of: each library with its version, its licence and the text of that."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtGui import QFontDatabase, QGuiApplication
from PySide6.QtWidgets import (
    QAbstractItemView,
    QDialog,
    QHBoxLayout,
    QHeaderView,
    QPlainTextEdit,
    QSplitter,
    QTreeWidget,
    QTreeWidgetItem,
    QVBoxLayout,
    QWidget,
)

from ..licences import parts
from ..widgets.text import button, label

__all__ = ["LicencesDialog"]


class LicencesDialog(QDialog):
    """The libraries at the left, the licence of the chosen one at the right."""

    def __init__(self, parent: QWidget | None) -> None:
        super().__init__(parent)
        self.setWindowTitle("Libraries and licences")
        self.resize(900, 560)
        self.parts = parts()
        self.table = QTreeWidget()
        self.table.setAccessibleName("Libraries")
        self.table.setHeaderLabels(["Library", "Version", "Licence"])
        self.table.setRootIsDecorated(False)
        self.table.setUniformRowHeights(True)
        self.table.setAllColumnsShowFocus(True)
        self.table.setSelectionMode(QAbstractItemView.SelectionMode.SingleSelection)
        self.table.addTopLevelItems([QTreeWidgetItem([one.name, one.version, one.licence]) for one in self.parts])
        self.table.header().setSectionResizeMode(QHeaderView.ResizeMode.ResizeToContents)
        self.table.header().setStretchLastSection(True)
        self.text = QPlainTextEdit()
        self.text.setAccessibleName("Text of the licence")
        self.text.setReadOnly(True)
        self.text.setTabChangesFocus(True)
        self.text.setFont(QFontDatabase.systemFont(QFontDatabase.SystemFont.FixedFont))
        self.table.currentItemChanged.connect(self._show)
        beside = QSplitter(Qt.Orientation.Horizontal)
        beside.addWidget(self.table)
        beside.addWidget(self.text)
        beside.setSizes([430, 470])
        beside.setChildrenCollapsible(False)
        column = QVBoxLayout(self)
        column.setContentsMargins(22, 18, 22, 16)
        column.setSpacing(10)
        column.addWidget(label("AssayPilot stands on these libraries. Choose one to read its licence.", wrap=True))
        column.addWidget(beside, 1)
        row = QHBoxLayout()
        copy = button("Copy list")
        copy.clicked.connect(lambda: QGuiApplication.clipboard().setText(self.listed()))
        close = button("Close", "go")
        close.setDefault(True)
        close.clicked.connect(self.accept)
        row.addWidget(copy)
        row.addStretch(1)
        row.addWidget(close)
        column.addLayout(row)
        self.table.setCurrentIndex(self.table.model().index(0, 0))

    def listed(self) -> str:
        """The list as tab-separated text with a header."""
        lines = ["Library\tVersion\tLicence", *(f"{one.name}\t{one.version}\t{one.licence}" for one in self.parts)]
        return "\n".join(lines)

    def _show(self) -> None:
        one = self.parts[self.table.currentIndex().row()]
        self.text.setPlainText(f"{one.name} {one.version}\nLicence: {one.licence}\n\n{one.text()}")
