"""Columns that stay at the left while the rest of a table scrolls sideways."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QEvent, QObject, Qt
from PySide6.QtWidgets import QAbstractItemView, QFrame, QHeaderView, QTableView

if TYPE_CHECKING:
    from .table import Table

__all__ = ["Frozen"]

MOST = 0.6
"""Share of the table that may stay: what scrolls needs room."""


class Frozen(QTableView):
    """A second view of a table's first columns, over it; shown only while the table is scrolled."""

    def __init__(self, table: Table, header: QHeaderView, keys: tuple[str, ...]) -> None:
        super().__init__(table)
        self._table, self._keys = table, frozenset(keys)
        self.setObjectName("frozen")
        self.setAccessibleName(f"{table.accessibleName()}, first columns")
        self.setHorizontalHeader(header)
        self.setModel(table.rows_model)
        self.setSelectionModel(table.selectionModel())
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setShowGrid(False)
        self.setEditTriggers(QAbstractItemView.EditTrigger.NoEditTriggers)
        self.setSelectionBehavior(table.selectionBehavior())
        self.setSelectionMode(table.selectionMode())
        self.setVerticalScrollMode(QAbstractItemView.ScrollMode.ScrollPerPixel)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setVerticalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setAutoScroll(False)
        self.setFont(table.font())
        self.verticalHeader().hide()
        self.verticalHeader().setSectionResizeMode(QHeaderView.ResizeMode.Fixed)
        header.setSectionsClickable(True)
        header.setSectionResizeMode(QHeaderView.ResizeMode.Fixed)
        header.sectionClicked.connect(self._sort)
        table.verticalScrollBar().valueChanged.connect(self.verticalScrollBar().setValue)
        self.verticalScrollBar().valueChanged.connect(table.verticalScrollBar().setValue)
        table.horizontalScrollBar().valueChanged.connect(lambda _: self.lay())
        table.dressed.connect(self.lay)
        moving = table.horizontalHeader()
        moving.sectionResized.connect(lambda *_: self.lay())
        moving.sectionMoved.connect(lambda *_: self.lay())
        moving.sortIndicatorChanged.connect(lambda *_: self.lay())
        table.installEventFilter(self)
        self.hide()

    def leading(self) -> list[int]:
        """Return the columns that stay: the first ones shown, as long as they are among those asked for."""
        header, columns = self._table.horizontalHeader(), self._table.rows_model.columns
        found: list[int] = []
        for visual in range(header.count()):
            place = header.logicalIndex(visual)
            if header.isSectionHidden(place):
                continue
            if place >= len(columns) or columns[place].key not in self._keys:
                break
            found.append(place)
        return found

    def lay(self) -> None:
        """Show the columns that stay over the table, as it has them; nothing while it is not scrolled."""
        table, places = self._table, self.leading()
        wide = sum(table.columnWidth(place) for place in places)
        if not places or not table.horizontalScrollBar().value() or wide > MOST * table.viewport().width():
            self.hide()
            return
        own, theirs = self.horizontalHeader(), table.horizontalHeader()
        for place in range(own.count()):
            self.setColumnHidden(place, place not in places)
        for visual, place in enumerate(places):
            own.moveSection(own.visualIndex(place), visual)
            self.setColumnWidth(place, table.columnWidth(place))
            self.setItemDelegateForColumn(place, table.itemDelegateForColumn(place) or table.itemDelegate())
        self.verticalHeader().setDefaultSectionSize(table.verticalHeader().defaultSectionSize())
        self.setWordWrap(table.wordWrap())
        own.setFixedHeight(theirs.height())
        own.setSortIndicator(theirs.sortIndicatorSection(), theirs.sortIndicatorOrder())
        own.setSortIndicatorShown(True)
        edge = table.frameWidth()
        self.setGeometry(edge, edge, wide + 1, theirs.height() + table.viewport().height())
        self.show()
        self.raise_()
        self.verticalScrollBar().setValue(table.verticalScrollBar().value())

    def _sort(self, place: int) -> None:
        header = self._table.horizontalHeader()
        up = header.sortIndicatorSection() == place and header.sortIndicatorOrder() == Qt.SortOrder.AscendingOrder
        self._table.sortByColumn(place, Qt.SortOrder.DescendingOrder if up else Qt.SortOrder.AscendingOrder)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Follow the size of the table; no event ends here."""
        if event.type() == QEvent.Type.Resize:
            self.lay()
        return False
