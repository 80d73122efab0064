"""The table of every page: sorts by its headings, copies as a spreadsheet does, selects by row of the data."""

from __future__ import annotations

import csv
import io
import time
from collections.abc import Iterable, Mapping, Sequence
from typing import cast

import numpy as np
from PySide6.QtCore import (
    QEvent,
    QItemSelection,
    QItemSelectionModel,
    QItemSelectionRange,
    QModelIndex,
    QPersistentModelIndex,
    Qt,
    Signal,
)
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

from assaypilot.engine.arrays import Ints
from assaypilot.gui.models.base import AT_ONCE, KIND, Column, RowsModel, told
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
SOFTEST = 92
"""Pixels a column that may be narrow keeps."""
MOST_COPIED = 200_000
"""Rows that fit a clipboard; more of them are exported."""
COPIED_AT_ONCE = 2_000
PIECES = 500
"""Pieces a selection may fall into when rows are put in another order, and is still kept."""
SOUGHT = 0.04
"""Seconds that typing a name may search for its row."""
PAUSE = 1.0
"""Seconds after which typing begins a new name."""
_MOVES = (
    Qt.Key.Key_Up,
    Qt.Key.Key_Down,
    Qt.Key.Key_Left,
    Qt.Key.Key_Right,
    Qt.Key.Key_Home,
    Qt.Key.Key_End,
    Qt.Key.Key_PageUp,
    Qt.Key.Key_PageDown,
)

Flag = QItemSelectionModel.SelectionFlag
Move = QAbstractItemView.CursorAction
_STEPS = {
    Qt.Key.Key_Up: Move.MoveUp,
    Qt.Key.Key_Down: Move.MoveDown,
    Qt.Key.Key_PageUp: Move.MovePageUp,
    Qt.Key.Key_PageDown: Move.MovePageDown,
}
_TO_EDGES = {
    Qt.Key.Key_Up: Move.MoveUp,
    Qt.Key.Key_Down: Move.MoveDown,
    Qt.Key.Key_Home: Move.MoveHome,
    Qt.Key.Key_End: Move.MoveEnd,
}


def as_clipboard(table: Iterable[Sequence[str]]) -> str:
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
    said = Signal(str)
    """What became of a copy, in a sentence."""

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
        self.verticalHeader().setSectionResizeMode(QHeaderView.ResizeMode.Fixed)
        header = Headings(self)
        self.setHorizontalHeader(header)
        header.setSectionsClickable(True)
        header.setHighlightSections(False)
        header.setSortIndicatorClearable(True)
        header.setSortIndicator(-1, Qt.SortOrder.AscendingOrder)
        header.setMinimumSectionSize(NARROWEST)
        header.setSectionsMovable(True)
        # The headings would ask a million rows whether they are selected; they show nothing of it.
        header.setSelectionModel(QItemSelectionModel(model, header))
        self._structures = structures
        self._plain = PlainDelegate(self)
        self._status = StatusDelegate(self)
        self._pictures = None if structures is None else StructureDelegate(structures, self)
        self.setItemDelegate(self._plain)
        if structures is not None:
            structures.ready.connect(self.viewport().update)
        model.modelReset.connect(self._dress)
        model.turning.connect(self._keep_selection)
        model.turned.connect(self._select_again)
        model.arranging.connect(self._arranging_rows)
        self._kept: tuple[int | None, int, Ints] | None = None
        self._typed, self._typed_at = "", 0.0
        self._dressed: tuple[str, ...] = ()
        self.selectionModel().currentRowChanged.connect(lambda now, before: self._tell(now))
        self._flexible, self._least = "", 0
        self._natural: list[int] = []
        """Widths that the columns' texts ask for, worked out for these columns and this size of the text."""
        self._columns: tuple[Column, ...] = ()
        self._sized: tuple[str, float] = ("", 0.0)
        self.tall = False
        """Whether rows have room for texts of two lines, as those with pictures do."""
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

    def put_in_order(self, order: tuple[str, Qt.SortOrder] | None) -> None:
        """Nothing; sorts by the column with this key, if there is one; None: as the data has the rows."""
        keys = [column.key for column in self.rows_model.columns]
        if order is not None and order[0] in keys:
            self.sortByColumn(keys.index(order[0]), order[1])
        else:
            self.sortByColumn(-1, Qt.SortOrder.AscendingOrder)

    def current_row(self) -> int | None:
        """The row of the data that is current."""
        index = self.currentIndex()
        return self.rows_model.source(index) if index.isValid() else None

    def selected_rows(self) -> list[int]:
        """The rows of the data that are selected, top to bottom."""
        return [int(row) for row in self.rows_model.rows[self.selected_places()]]

    def selected_places(self) -> Ints:
        """The rows that are selected as they are shown, from 0, top to bottom."""
        chosen = np.zeros(self.rows_model.rowCount(), dtype=bool)
        for one in cast(Iterable[QItemSelectionRange], self.selectionModel().selection()):
            chosen[one.top() : one.bottom() + 1] = True
        return np.flatnonzero(chosen)

    def choose(self, row: int | None, key: str | None = None) -> bool:
        """Whether a row of the data is shown and is now the current one (in a column, default: as before)."""
        place = None if row is None else self.rows_model.view_row(row)
        if place is None:
            self.selectionModel().clear()
            return False
        column = max(self.currentIndex().column(), 0) if key is None else self.rows_model.place_of(key)
        index = self.rows_model.index(place, column)
        across = self.horizontalScrollBar().value()
        self.setCurrentIndex(index)  # the view's own: Shift with an arrow goes on from here
        self.scrollTo(index)
        if key is None:  # a row was asked for, not a column
            self.horizontalScrollBar().setValue(across)
        return True

    def copy(self) -> int:
        """How many rows go to the clipboard, with a header: the selected ones, all when none is.

        Many are put together off the window's thread; too many are refused, and ``said`` says so.
        """
        model = self.rows_model
        shown = self.selected_places()
        sources = model.rows[shown] if shown.size else model.rows
        columns = model.chosen_columns(
            None if self.arrangement is None else [column.key for column in self.arrangement.columns]
        )
        if len(sources) > MOST_COPIED:
            self.said.emit(
                f"{len(sources):,} rows are too many for a clipboard, which takes {MOST_COPIED:,}. Export writes all."
            )
            return 0
        if len(sources) <= COPIED_AT_ONCE or model.later is None:
            QGuiApplication.clipboard().setText(as_clipboard(told(columns, sources)))
            return len(sources)

        def landed(text: str) -> None:
            QGuiApplication.clipboard().setText(text)
            self.said.emit(f"{len(sources):,} rows are on the clipboard.")

        words = f"Copying {len(sources):,} rows"
        model.later(words, lambda report: as_clipboard(told(columns, sources, report)), landed, lambda: None)
        return len(sources)

    # ------------------------------------------------------------------ keys

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Nothing; Copy copies rows with their header, Escape stops an order that is being worked out."""
        if event.matches(QKeySequence.StandardKey.Copy):
            self.copy()
            return
        if event.key() == Qt.Key.Key_Escape and self.rows_model.busy:
            self.rows_model.stop()
            return
        held, key = event.modifiers(), Qt.Key(event.key())
        control = held & Qt.KeyboardModifier.ControlModifier
        if held & Qt.KeyboardModifier.ShiftModifier and key in (_TO_EDGES if control else _STEPS):
            action = _TO_EDGES[key] if control else _STEPS[key]
            self._select_to(self.moveCursor(action, held & ~Qt.KeyboardModifier.ShiftModifier))
            return
        super().keyPressEvent(event)

    def _select_to(self, target: QModelIndex) -> None:
        """Nothing; selects all rows from where the selection began to a row, however far away that is."""
        now, chosen = self.currentIndex(), self.selected_places()
        if not (now.isValid() and target.isValid()):
            return
        begun = now.row()
        if chosen.size:
            begun = int(chosen[0] if begun == chosen[-1] else chosen[-1])
        top, bottom = sorted((begun, target.row()))
        model = self.rows_model
        self.selectionModel().setCurrentIndex(target, Flag.NoUpdate)
        part = QItemSelection(model.index(top, 0), model.index(bottom, model.columnCount() - 1))
        self.selectionModel().select(part, Flag.ClearAndSelect)
        self.scrollTo(target)

    def moveCursor(self, action: Move, modifiers: Qt.KeyboardModifier) -> QModelIndex:
        """Where a key leads: with Ctrl an arrow leads to the edge of the table, as in a spreadsheet."""
        now = self.currentIndex()
        if modifiers & Qt.KeyboardModifier.ControlModifier and now.isValid():
            rows, header = self.rows_model.rowCount(), self.horizontalHeader()
            places = [header.logicalIndex(visual) for visual in range(header.count())]
            places = [place for place in places if not header.isSectionHidden(place)]
            if action == Move.MoveUp:
                return self.rows_model.index(0, now.column())
            if action == Move.MoveDown:
                return self.rows_model.index(rows - 1, now.column())
            if action in (Move.MoveLeft, Move.MoveRight) and places:
                return self.rows_model.index(now.row(), places[0 if action == Move.MoveLeft else -1])
        return super().moveCursor(action, modifiers)

    def selectionCommand(
        self, index: QModelIndex | QPersistentModelIndex, event: QEvent | None = None
    ) -> QItemSelectionModel.SelectionFlag:
        """What becomes of the selection: a key with Ctrl takes it along, as in a spreadsheet."""
        if event is None:  # asked for by the program, whatever keys are held
            return Flag.ClearAndSelect | Flag.Rows
        if isinstance(event, QKeyEvent) and event.type() == QEvent.Type.KeyPress and event.key() in _MOVES:
            held = event.modifiers()
            if held & Qt.KeyboardModifier.ControlModifier and not held & Qt.KeyboardModifier.ShiftModifier:
                return Flag.ClearAndSelect | Flag.Rows
        return super().selectionCommand(index, event)

    def keyboardSearch(self, search: str) -> None:
        """Nothing; goes to the next row whose name (else the current column) begins with what is typed."""
        now = time.monotonic()
        fresh = not self._typed or now - self._typed_at > PAUSE
        self._typed = (search if fresh else self._typed + search).casefold()
        self._typed_at = now
        model, rows = self.rows_model, self.rows_model.rows
        if not len(rows) or not self._typed.strip():
            return
        place = next(
            (n for n, one in enumerate(model.columns) if one.key == "id"), max(self.currentIndex().column(), 0)
        )
        text = model.columns[place].text
        start = max(self.currentIndex().row(), 0) + int(fresh)
        ends = now + SOUGHT
        for step in range(len(rows)):
            row = int(rows[(start + step) % len(rows)])
            if text(row).casefold().startswith(self._typed):
                self.choose(row)
                return
            if step % 500 == 499 and time.monotonic() > ends:
                self.said.emit("Ctrl+F looks through all rows.")
                return

    # ------------------------------------------------------------------ rows in another order

    def _keep_selection(self) -> None:
        """Nothing; lets go of the selection of a long table: a million rows would move one by one."""
        if self.rows_model.rowCount() <= AT_ONCE:
            return
        index = self.currentIndex()
        row = self.rows_model.source(index) if index.isValid() else None
        self._kept = (row, max(index.column(), 0), self.rows_model.rows[self.selected_places()])
        selection = self.selectionModel()
        selection.blockSignals(True)
        selection.clear()
        selection.blockSignals(False)

    def _select_again(self) -> None:
        """Nothing; selects the rows that were selected, where they stand now; in too many pieces only the current."""
        if self._kept is None:
            return
        (row, column, sources), self._kept = self._kept, None
        model, selection = self.rows_model, self.selectionModel()
        chosen = np.zeros(model.size, dtype=bool)
        chosen[sources] = True
        edges = np.diff(chosen[model.rows].astype(np.int8), prepend=0, append=0)
        tops, ends = np.flatnonzero(edges == 1), np.flatnonzero(edges == -1)
        across = self.horizontalScrollBar().value()
        place = None if row is None else model.view_row(row)
        selection.blockSignals(True)
        if place is not None:
            selection.setCurrentIndex(model.index(place, column), Flag.NoUpdate)
        if len(tops) > PIECES:
            tops, ends = (np.array([place]), np.array([place + 1])) if place is not None else (tops[:0], ends[:0])
        wanted, last = QItemSelection(), len(model.columns) - 1
        for top, end in zip(tops.tolist(), ends.tolist(), strict=True):
            wanted.append(QItemSelectionRange(model.index(top, 0), model.index(end - 1, last)))
        selection.select(wanted, Flag.ClearAndSelect)
        selection.blockSignals(False)
        if place is not None:
            self.scrollTo(model.index(place, column))
            self.horizontalScrollBar().setValue(across)
        self.viewport().update()

    def _arranging_rows(self, going_on: bool) -> None:
        """Nothing; when no order came of it, the headings show the one there is."""
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

    def _tell(self, now: QModelIndex) -> None:
        self.chosen.emit(self.rows_model.source(now) if now.isValid() else None)

    def _dress(self) -> None:
        """Nothing; delegates, row height and widths for the columns there are now."""
        columns = self.rows_model.columns
        pictures = self.tall or any(column.smiles is not None for column in columns)
        line = self.fontMetrics().height()
        vertical = self.verticalHeader()
        high = max(2 * line + 26, 62) if pictures else line + 17
        if vertical.defaultSectionSize() != high:  # asks every row
            vertical.setDefaultSectionSize(high)
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
            self._own.clear()
        self._dressed = titles
        for place, column in enumerate(columns):
            delegate: QStyledItemDelegate = self._plain
            if column.status is not None:
                delegate = self._status
            elif column.smiles is not None and self._pictures is not None:
                delegate = self._pictures
            self.setItemDelegateForColumn(place, delegate)
        sized = (self.font().key(), theme().scale)
        if self._sized != sized or self._columns is not columns:  # a filter alone changes no text of any row
            self._sized, self._columns = sized, columns
            self._natural = [_scaled(c.width, c) or self._fitting(place) for place, c in enumerate(columns)]
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
            max(NARROWEST, widest + 18, max(map(metrics.horizontalAdvance, column.title.split("\n"))) + 20),
            _scaled(WIDEST),
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
        # The flexible column comes first: in what is left for it its words would stand one below the other.
        for place in sorted(widths, key=lambda place: place != flexible):
            more = min(_scaled(columns[place].wish, columns[place]) - widths[place], room)
            if more > 0:
                widths[place] += more
                room -= more
        if room > 0 and widths:
            # Lines and selection reach the right edge; a number does not go there alone.
            words = [place for place in widths if not columns[place].number and columns[place].smiles is None]
            visual = self.horizontalHeader().visualIndex
            last = max(words or widths, key=visual)
            if flexible is None and any(visual(place) > visual(last) for place in widths):
                room -= self._spread(widths, room)  # a gap in the middle would tear lines apart
            widths[last if flexible is None else flexible] += room
            room = 0
        softest = _scaled(SOFTEST)
        soft = {n: widths[n] - softest for n in widths if columns[n].soft and widths[n] > softest}
        give = sum(soft.values())
        if room < 0 < give:
            for place, most in soft.items():
                widths[place] -= min(most, -(-most * -room // give))

    def _spread(self, widths: dict[int, int], room: int) -> int:
        """The part of some room that all columns but pictures took, each in proportion to its width."""
        columns = self.rows_model.columns
        growing = {place: width for place, width in widths.items() if columns[place].smiles is None}
        whole = sum(growing.values())
        more = {place: room * width // whole for place, width in growing.items()} if whole else {}
        for place, one in more.items():
            widths[place] += one
        return sum(more.values())

    def _resized(self, place: int, before: int, now: int) -> None:
        """Nothing; once somebody has set a width, all of them are left alone."""
        columns = self.rows_model.columns
        if self._arranging or not now or not QGuiApplication.mouseButtons() & Qt.MouseButton.LeftButton:
            return
        if place < len(columns):
            self._own = {c.key: self.columnWidth(n) for n, c in enumerate(columns) if self.columnWidth(n)}
            self.widened.emit(columns[place].key, now)


def _scaled(pixels: int, column: Column | None = None) -> int:
    """Pixels as wide as the letters ask for; of a picture half as much more."""
    more = theme().scale - 1
    return round(pixels * (1 + (more / 2 if column is not None and column.smiles is not None else more)))
