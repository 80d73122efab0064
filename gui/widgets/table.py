"""The table of every page: sorts by its headings, copies as a spreadsheet does, selects by row of the data."""

from __future__ import annotations

import csv
import io
from collections.abc import Mapping, Sequence

from PySide6.QtCore import QItemSelectionModel, QModelIndex, QPersistentModelIndex, Qt, Signal
from PySide6.QtGui import QColor, QGuiApplication, QKeyEvent, QKeySequence, QPalette, QResizeEvent
from PySide6.QtWidgets import (
    QAbstractItemView,
    QHeaderView,
    QStyledItemDelegate,
    QStyleOptionHeader,
    QStyleOptionViewItem,
    QTableView,
    QWidget,
)

from assaypilot.gui.models.base import KIND, RowsModel
from assaypilot.gui.theme import tabular, theme
from assaypilot.gui.widgets.columns import Arrangement
from assaypilot.gui.widgets.marks import StatusDelegate
from assaypilot.gui.widgets.structures import StructureDelegate, Structures

__all__ = ["PlainDelegate", "Table", "as_clipboard"]

SAMPLED = 120
STEP = 7919
"""Rows looked at for the width of a column."""
NARROWEST, WIDEST = 32, 260
PADDING, ARROW = 14, 12
"""Pixels of a heading that its text leaves free, and those of the arrow of the column sorted by."""
SOFTEST = 58
"""Pixels a column that may be narrow keeps."""


def as_clipboard(table: Sequence[Sequence[str]]) -> str:
    """Rows as a spreadsheet pastes them: tabs between, quotation marks where a text has tabs or line ends."""
    buffer = io.StringIO(newline="")
    csv.writer(buffer, delimiter="\t", lineterminator="\n").writerows(table)
    return buffer.getvalue()


class PlainDelegate(QStyledItemDelegate):
    """Draws texts; muted and refused ones in their colour."""

    def initStyleOption(self, option: QStyleOptionViewItem, index: QModelIndex | QPersistentModelIndex) -> None:
        """Nothing; takes the colour from the cell's kind, and leaves the frame of a focused cell away."""
        super().initStyleOption(option, index)
        kind = index.data(KIND)
        if kind in ("wrong", "muted"):
            colours = theme().colours
            colour = QColor(colours.error if kind == "wrong" else colours.muted)
            option.palette.setColor(QPalette.ColorRole.Text, colour)
            option.palette.setColor(QPalette.ColorRole.HighlightedText, colour)


class Headings(QHeaderView):
    """Headings of one or two lines, each of which ends in an ellipsis where there is no room for it."""

    def __init__(self, parent: QWidget) -> None:
        super().__init__(Qt.Orientation.Horizontal, parent)

    def initStyleOptionForIndex(self, option: QStyleOptionHeader, logicalIndex: int) -> None:
        """Nothing; cuts each line of a heading (Qt would make one line of two before it cuts them)."""
        super().initStyleOptionForIndex(option, logicalIndex)
        arrow = ARROW if option.sortIndicator != QStyleOptionHeader.SortIndicator.None_ else 0
        room = max(self.sectionSize(logicalIndex) - PADDING - arrow, 0)
        lines = option.text.split("\n")
        option.text = "\n".join(
            option.fontMetrics.elidedText(line, Qt.TextElideMode.ElideRight, room) for line in lines
        )


class Table(QTableView):
    """A table over a RowsModel."""

    chosen = Signal(object)
    """The row of the data that became current, None when there is none."""
    dressed = Signal()
    """The columns are other ones."""
    widened = Signal(str, int)
    """Somebody gave a column, by its key, a width."""

    def __init__(self, model: RowsModel, structures: Structures | None = None, *, name: str) -> None:
        super().__init__()
        self.rows_model = model
        self.setModel(model)
        self.setAccessibleName(name)
        self.setFont(tabular(self.font()))
        self.setSelectionBehavior(QAbstractItemView.SelectionBehavior.SelectRows)
        self.setSelectionMode(QAbstractItemView.SelectionMode.ExtendedSelection)
        self.setVerticalScrollMode(QAbstractItemView.ScrollMode.ScrollPerPixel)
        self.setHorizontalScrollMode(QAbstractItemView.ScrollMode.ScrollPerPixel)
        self.setShowGrid(False)
        self.setAlternatingRowColors(False)
        self.setWordWrap(False)
        self.setTabKeyNavigation(False)
        self.setSortingEnabled(True)
        self.setCornerButtonEnabled(False)
        self.verticalHeader().hide()
        header = Headings(self)
        self.setHorizontalHeader(header)
        header.setSectionsClickable(True)
        header.setHighlightSections(False)
        header.setSortIndicatorClearable(True)
        header.setSortIndicator(-1, Qt.SortOrder.AscendingOrder)
        header.setMinimumSectionSize(NARROWEST)
        header.setSectionsMovable(True)
        self._structures = structures
        self._plain = PlainDelegate(self)
        self._status = StatusDelegate(self)
        self._pictures = None if structures is None else StructureDelegate(structures, self)
        self.setItemDelegate(self._plain)
        if structures is not None:
            structures.ready.connect(self.viewport().update)
        model.modelReset.connect(self._dress)
        self._dressed: tuple[str, ...] = ()
        self.selectionModel().currentRowChanged.connect(lambda now, before: self._tell(now))
        self._flexible, self._least = "", 0
        self._natural: list[int] = []
        self._own: dict[str, int] = {}
        """Widths somebody has set, by key; while there are any, none is changed."""
        self._arranging = False
        self.arrangement: Arrangement | None = None
        header.sectionResized.connect(self._resized)
        self._dress()

    def stretch(self, key: str, least: int = 80) -> None:
        """Nothing; from now on the column with this key takes the room that is left, but at least so many pixels."""
        self._flexible, self._least = key, least
        self.fill_room()

    def current_row(self) -> int | None:
        """The row of the data that is current."""
        index = self.currentIndex()
        return self.rows_model.source(index) if index.isValid() else None

    def selected_rows(self) -> list[int]:
        """The rows of the data that are selected, top to bottom."""
        shown = sorted({index.row() for index in self.selectionModel().selectedRows()})
        return [int(self.rows_model.rows[row]) for row in shown]

    def choose(self, row: int | None, key: str | None = None) -> bool:
        """Whether a row of the data is shown and is now the current one (in a column, default: as before)."""
        place = None if row is None else self.rows_model.view_row(row)
        if place is None:
            self.selectionModel().clear()
            return False
        column = max(self.currentIndex().column(), 0) if key is None else self.rows_model.place_of(key)
        index = self.rows_model.index(place, column)
        flags = QItemSelectionModel.SelectionFlag
        across = self.horizontalScrollBar().value()
        self.selectionModel().setCurrentIndex(index, flags.ClearAndSelect | flags.Rows)
        self.scrollTo(index)
        if key is None:  # a row was asked for, not a column
            self.horizontalScrollBar().setValue(across)
        return True

    def copy(self) -> int:
        """How many rows went to the clipboard, with a header: the selected ones, all when none is."""
        shown = sorted({index.row() for index in self.selectionModel().selectedRows()})
        keys = None if self.arrangement is None else [column.key for column in self.arrangement.columns]
        table = self.rows_model.as_text(shown or None, keys)
        QGuiApplication.clipboard().setText(as_clipboard(table))
        return len(table) - 1

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Nothing; Copy copies rows with their header."""
        if event.matches(QKeySequence.StandardKey.Copy):
            self.copy()
            return
        super().keyPressEvent(event)

    def _tell(self, now: QModelIndex) -> None:
        self.chosen.emit(self.rows_model.source(now) if now.isValid() else None)

    def _dress(self) -> None:
        """Nothing; delegates, row height and widths for the columns there are now."""
        columns = self.rows_model.columns
        pictures = any(column.smiles is not None for column in columns)
        line = self.fontMetrics().height()
        vertical = self.verticalHeader()
        vertical.setSectionResizeMode(QHeaderView.ResizeMode.Fixed)
        vertical.setDefaultSectionSize(max(2 * line + 26, 62) if pictures else line + 17)
        order = self.rows_model.sorted_by
        header = self.horizontalHeader()
        if order is None:
            header.blockSignals(True)
            header.setSortIndicator(-1, Qt.SortOrder.AscendingOrder)
            header.blockSignals(False)
        if not columns:
            return
        self.setWordWrap(pictures)
        titles = tuple(column.key + column.title for column in columns)
        if titles != self._dressed and self.arrangement is None:
            self._own.clear()
        self._dressed = titles
        for place, column in enumerate(columns):
            delegate: QStyledItemDelegate = self._plain
            if column.status is not None:
                delegate = self._status
            elif column.smiles is not None and self._pictures is not None:
                delegate = self._pictures
            self.setItemDelegateForColumn(place, delegate)
        self._natural = [column.width or self._fitting(place) for place, column in enumerate(columns)]
        self.fill_room()
        self.dressed.emit()

    def arrange(self, *, hidden: tuple[str, ...] = (), fixed: tuple[str, ...] = ()) -> Arrangement:
        """How columns are chosen, moved and remembered; see Arrangement."""
        self.arrangement = Arrangement(self, hidden=hidden, fixed=fixed)
        return self.arrangement

    def own_widths(self, widths: Mapping[str, int]) -> None:
        """Nothing; columns have these widths from now on, by key; none: they follow their texts and the room."""
        self._own = dict(widths)
        self.fill_room()

    def _fitting(self, place: int) -> int:
        column = self.rows_model.columns[place]
        metrics = self.fontMetrics()
        size = self.rows_model.size
        # A step that has nothing to do with how a product of sites repeats.
        rows = range(size) if size <= SAMPLED else [place * STEP % size for place in range(SAMPLED)]
        widest = max((metrics.horizontalAdvance(column.text(row)[:80]) for row in rows), default=0)
        # The arrow of the sorted column stands behind the title.
        return min(
            max(NARROWEST, widest + 18, max(map(metrics.horizontalAdvance, column.title.split("\n"))) + 20), WIDEST
        )

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Nothing; gives the room that is left to the flexible column."""
        super().resizeEvent(event)
        self.fill_room()

    def fill_room(self, *, again: bool = True) -> None:
        """Nothing; what room there is goes to the flexible column, what is missing is taken from the soft ones."""
        columns = self.rows_model.columns
        if not columns or len(self._natural) != len(columns) or self._arranging:
            return
        there = self.viewport().width()
        seen = [n for n in range(len(columns)) if not self.isColumnHidden(n)]
        widths = {n: self._own.get(columns[n].key, self._natural[n]) for n in seen}
        if not self._own:
            self._share(widths, there)
        self._arranging = True
        for place, width in widths.items():
            if self.columnWidth(place) != width:
                self.setColumnWidth(place, width)
        self._arranging = False
        if again and self.viewport().width() != there:  # a scroll bar came or went meanwhile
            self.fill_room(again=False)

    def _share(self, widths: dict[int, int], there: int) -> None:
        """Nothing; changes widths, by place, so that they fill the room or come near to it."""
        columns = self.rows_model.columns
        flexible = next((n for n in widths if columns[n].key == self._flexible), None)
        if flexible is not None:
            widths[flexible] = self._least
        room = there - sum(widths.values())
        for place in widths:
            more = min(columns[place].wish - widths[place], room)
            if more > 0:
                widths[place] += more
                room -= more
        if room > 0 and widths:
            # Lines and selection reach the right edge.
            last = max(widths, key=self.horizontalHeader().visualIndex)
            widths[last if flexible is None else flexible] += room
            room = 0
        soft = {n: widths[n] - SOFTEST for n in widths if columns[n].soft and widths[n] > SOFTEST}
        give = sum(soft.values())
        if room < 0 < give:
            for place, most in soft.items():
                widths[place] -= min(most, -(-most * -room // give))

    def _resized(self, place: int, before: int, now: int) -> None:
        """Nothing; once somebody has set a width, all of them are left alone."""
        columns = self.rows_model.columns
        if self._arranging or not now or not QGuiApplication.mouseButtons() & Qt.MouseButton.LeftButton:
            return
        if place < len(columns):
            self._own = {c.key: self.columnWidth(n) for n, c in enumerate(columns) if self.columnWidth(n)}
            self.widened.emit(columns[place].key, now)
