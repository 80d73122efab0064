"""The table of every page, its first columns frozen."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Sequence

from PySide6.QtCore import QEvent, QItemSelectionModel, QModelIndex, QObject, QPersistentModelIndex, Qt, Signal
from PySide6.QtGui import QColor, QGuiApplication, QHelpEvent, QKeyEvent, QKeySequence, QPalette, QResizeEvent
from PySide6.QtWidgets import (
    QAbstractItemView,
    QFrame,
    QHeaderView,
    QStyledItemDelegate,
    QStyleOptionHeader,
    QStyleOptionViewItem,
    QTableView,
    QWidget,
)

from ..resources.theme import tabular, theme
from ..structures.drawing import StructureDelegate, Structures
from ..structures.shown import HoverCard
from ..widgets.layout import breakable
from ..widgets.marks import StatusDelegate
from .chosen_rows import ChosenRows
from .columns import NARROWEST, Arrangement, Widths
from .rows import AT_ONCE, KIND, SMILES, RowsModel, text_rows

MOST = 0.6
"""Share of the table for fixed columns: the others need room to scroll."""


def hide_selection(header: QHeaderView, model: RowsModel) -> None:
    """Keep a header from querying the selection of a million rows, which it does not show."""
    header.setSelectionModel(QItemSelectionModel(model, header))


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
        hide_selection(header, table.rows_model)
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
        """Return the columns that stay: the first ones shown, as long as they are among its keys."""
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
        """Show the fixed columns over the table, with its widths; nothing while it is not scrolled."""
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


ROW = 34
"""Pixels of a row with a structure: ten of them fit below the plot of a small window; its tip draws it larger."""
ROWS, TALLEST, STEP = 11, 64, 4
"""Rows that a high window shows at least while structures grow with it; pixels of such a row at most, and by which
it grows."""
PADDING, ARROW = 14, 12
"""Pixels of a heading that its text leaves free, and those of the arrow of the column sorted by."""
MOST_COPIED = 200_000
"""Rows that fit a clipboard; more of them are exported."""
COPIED_AT_ONCE = 2_000


def as_clipboard(table: Iterable[Sequence[str]]) -> str:
    """Rows as a spreadsheet pastes them: tabs between, quotation marks where a text has tabs or line ends."""
    buffer = io.StringIO(newline="")
    csv.writer(buffer, delimiter="\t", lineterminator="\n").writerows(table)
    return buffer.getvalue()


class PlainDelegate(QStyledItemDelegate):
    """Draws texts; muted and refused ones in their colour."""

    def initStyleOption(self, option: QStyleOptionViewItem, index: QModelIndex | QPersistentModelIndex) -> None:
        """Take text, alignment and the colour of the cell's kind, without the frame of a focused cell.

        Qt would query ten roles through Python calls: half the time of painting a table.
        """
        model = index.model()
        option.text = str(model.data(index, Qt.ItemDataRole.DisplayRole) or "")
        option.displayAlignment = Qt.AlignmentFlag(model.data(index, Qt.ItemDataRole.TextAlignmentRole))
        option.features |= QStyleOptionViewItem.ViewItemFeature.HasDisplay
        kind = model.data(index, KIND)
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
        """Cut each line of a heading (Qt would make one line of two before it cuts them)."""
        super().initStyleOptionForIndex(option, logicalIndex)
        arrow = ARROW if option.sortIndicator != QStyleOptionHeader.SortIndicator.None_ else 0
        room = max(self.sectionSize(logicalIndex) - PADDING - arrow, 0)
        lines = option.text.split("\n")
        option.text = "\n".join(
            option.fontMetrics.elidedText(line, Qt.TextElideMode.ElideRight, room) for line in lines
        )


_HIDING = (QEvent.Type.Leave, QEvent.Type.MouseMove, QEvent.Type.Wheel, QEvent.Type.Hide)


class Table(ChosenRows):
    """A table over a RowsModel."""

    dressed = Signal()
    """The columns are other ones."""
    widened = Signal(str, int)
    """The user gave a column, by its key, a width."""

    _structures: Structures | None = None
    _card: HoverCard | None = None
    """The picture of a structure; events come before the table is made."""

    def __init__(self, model: RowsModel, structures: Structures | None = None, *, name: str) -> None:
        super().__init__(model)
        self.setAccessibleName(name)
        self.setFont(tabular(self.font()))
        self.setVerticalScrollMode(QAbstractItemView.ScrollMode.ScrollPerPixel)
        self.setHorizontalScrollMode(QAbstractItemView.ScrollMode.ScrollPerPixel)
        self.setShowGrid(False)
        self.setAlternatingRowColors(False)
        self.setWordWrap(False)
        self.setTabKeyNavigation(False)
        self.setSortingEnabled(True)
        self.setCornerButtonEnabled(False)
        self.verticalHeader().hide()
        self.verticalHeader().setSectionResizeMode(QHeaderView.ResizeMode.Fixed)
        header = Headings(self)
        self.setHorizontalHeader(header)
        header.setSectionsClickable(True)
        header.setHighlightSections(False)
        header.setSortIndicatorClearable(True)
        header.setSortIndicator(-1, Qt.SortOrder.AscendingOrder)
        header.setMinimumSectionSize(NARROWEST)
        header.setSectionsMovable(True)
        hide_selection(header, model)
        self._structures = structures
        self._plain = PlainDelegate(self)
        self._status = StatusDelegate(self)
        self._pictures = None if structures is None else StructureDelegate(structures, self)
        self.setItemDelegate(self._plain)
        if structures is not None:
            structures.ready.connect(self._show_pictures)
        model.modelReset.connect(self._dress)
        model.arranging.connect(self._arranging_rows)
        self._dressed: tuple[str, ...] = ()
        self.widths = Widths(self, model)
        self.tall = False
        """Whether rows have room for texts of two lines, as those with pictures do."""
        self.arrangement: Arrangement | None = None
        self.frozen: Frozen | None = None
        header.sectionResized.connect(self._resized)
        self._dress()

    def viewportEvent(self, event: QEvent) -> bool:
        """Whether the event ends here; the tip of a structure is its picture."""
        if isinstance(event, QHelpEvent) and self._structures is not None and self._structures.wanted:
            index = self.indexAt(event.pos())
            smiles = str(index.data(SMILES) or "") if index.isValid() else ""
            if smiles:
                self._card = self._card or HoverCard(self.window(), self._structures)
                at = self.viewport().mapTo(self.window(), event.pos())
                self._card.show_text(str(index.data(Qt.ItemDataRole.DisplayRole) or ""), breakable(smiles), smiles, at)
                return True
        if self._card is not None and event.type() in _HIDING:
            self._card.hide()
        return super().viewportEvent(event)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Copy copies rows with their header, Escape stops the computation of an order."""
        if event.matches(QKeySequence.StandardKey.Copy):
            self.copy()
        elif event.key() == Qt.Key.Key_Escape and self.rows_model.busy:
            self.rows_model.stop()
        else:
            super().keyPressEvent(event)

    def put_in_order(self, order: tuple[str, Qt.SortOrder] | None) -> None:
        """Sort by the column with this key, if there is one; None: as the data has the rows."""
        keys = [column.key for column in self.rows_model.columns]
        if order is not None and order[0] in keys:
            self.sortByColumn(keys.index(order[0]), order[1])
        else:
            self.sortByColumn(-1, Qt.SortOrder.AscendingOrder)

    def copy(self) -> int:
        """How many rows go to the clipboard, with a header: the selected ones, all when none is.

        Many are put together off the window's thread; too many are refused, by ``message``.
        """
        model = self.rows_model
        shown = self.selected_places()
        sources = model.rows[shown] if shown.size else model.rows
        columns = model.chosen_columns(
            None if self.arrangement is None else [column.key for column in self.arrangement.columns]
        )
        if len(sources) > MOST_COPIED:
            self.message.emit(
                f"{len(sources):,} rows are too many for a clipboard, which takes {MOST_COPIED:,}. Export writes all."
            )
            return 0
        if len(sources) <= COPIED_AT_ONCE or model.later is None:
            QGuiApplication.clipboard().setText(as_clipboard(text_rows(columns, sources)))
            return len(sources)

        def landed(text: str) -> None:
            QGuiApplication.clipboard().setText(text)
            self.message.emit(f"{len(sources):,} rows are on the clipboard.")

        words = f"Copying {len(sources):,} rows"
        model.later(words, lambda report: as_clipboard(text_rows(columns, sources, report)), landed, lambda: None)
        return len(sources)

    def _show_pictures(self) -> None:
        """Paint the columns of structures: a round has ten times as many other cells."""
        for view in (self, self.frozen):
            if view is None or not view.isVisible():
                continue
            for place, column in enumerate(self.rows_model.columns):
                if column.smiles is not None and not view.isColumnHidden(place):
                    at, wide = view.columnViewportPosition(place), view.columnWidth(place)
                    view.viewport().update(at, 0, wide, view.viewport().height())

    def _arranging_rows(self, going_on: bool) -> None:
        """Show the current order in the headings when no new one was computed."""
        if going_on:
            return
        order, header = self.rows_model.sorted_by, self.horizontalHeader()
        place = -1 if order is None else self.rows_model.place_of(order[0])
        down = Qt.SortOrder.AscendingOrder if order is None else order[1]
        if (header.sortIndicatorSection(), header.sortIndicatorOrder()) != (place, down):
            header.blockSignals(True)
            header.setSortIndicator(place, down)
            header.blockSignals(False)
            header.viewport().update()

    def _dress(self) -> None:
        """Set delegate, row height and widths for the current columns."""
        columns = self.rows_model.columns
        pictures = self.tall or any(column.smiles is not None for column in columns)
        self._fit_rows()
        order = self.rows_model.wanted_by
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
            self.widths.own.clear()
        self._dressed = titles
        for place, column in enumerate(columns):
            delegate: QStyledItemDelegate = self._plain
            if column.status is not None:
                delegate = self._status
            elif column.smiles is not None and self._pictures is not None:
                delegate = self._pictures
            self.setItemDelegateForColumn(place, delegate)
        self.widths.measure()
        self.dressed.emit()

    def _fit_rows(self) -> None:
        """Make rows as high as their texts need, those with structures higher where the window is."""
        columns, line = self.rows_model.columns, self.fontMetrics().height()
        vertical = self.verticalHeader()
        high = line + 17
        if self.tall:
            high = max(2 * line + 26, 62)
        elif any(column.smiles is not None for column in columns):
            room = 0 if self.rows_model.size > AT_ONCE else self.viewport().height() // ROWS // STEP * STEP
            high = max(2 * line + 6, ROW, min(room, TALLEST))
        if vertical.defaultSectionSize() != high:  # queries every row
            seen = self.visualRect(self.currentIndex()).intersects(self.viewport().rect())
            vertical.setDefaultSectionSize(high)
            if seen:
                self.scrollTo(self.currentIndex())

    def freeze(self, *keys: str) -> None:
        """Keep the first columns, where they have these keys, in sight while the table scrolls sideways."""
        self.frozen = Frozen(self, Headings(self), keys)

    def arrange(self, *, hidden: tuple[str, ...] = (), fixed: tuple[str, ...] = ()) -> Arrangement:
        """How columns are chosen, moved and remembered; see Arrangement."""
        self.arrangement = Arrangement(self, hidden=hidden, fixed=fixed)
        return self.arrangement

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Give the room that is left to the flexible column."""
        super().resizeEvent(event)
        self._fit_rows()
        self.widths.fill()

    def _resized(self, place: int, before: int, now: int) -> None:
        """Once the user has set a width, all of them are left alone."""
        columns = self.rows_model.columns
        if self.widths.filling or not now or not QGuiApplication.mouseButtons() & Qt.MouseButton.LeftButton:
            return
        if place < len(columns):
            self.widths.own = {c.key: self.columnWidth(n) for n, c in enumerate(columns) if self.columnWidth(n)}
            self.widened.emit(columns[place].key, now)
