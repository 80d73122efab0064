"""A table whose rows are chosen, and stay chosen in another order."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
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
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QAbstractItemView, QTableView

from assaypilot.engine.arrays import Ints

from .rows import AT_ONCE, RowsModel

PIECES = 500
"""Pieces a selection may fall into when rows are put in another order, and is still kept."""
Flag = QItemSelectionModel.SelectionFlag
Move = QAbstractItemView.CursorAction
_STEPS = {
    Qt.Key.Key_Up: Move.MoveUp,
    Qt.Key.Key_Down: Move.MoveDown,
    Qt.Key.Key_PageUp: Move.MovePageUp,
    Qt.Key.Key_PageDown: Move.MovePageDown,
    Qt.Key.Key_Home: Move.MoveHome,
    Qt.Key.Key_End: Move.MoveEnd,
}


class ChosenRows(QTableView):
    """A view of a RowsModel in which whole rows are chosen; they stay chosen when the rows change their order."""

    chosen = Signal(object)
    """The row of the data that became current, None when there is none."""
    message = Signal(str)
    """The result of a copy, in a sentence."""

    def __init__(self, model: RowsModel) -> None:
        super().__init__()
        self.rows_model = model
        self.setModel(model)
        self.setSelectionBehavior(QAbstractItemView.SelectionBehavior.SelectRows)
        self.setSelectionMode(QAbstractItemView.SelectionMode.ExtendedSelection)
        model.turning.connect(self._keep_selection)
        model.turned.connect(self._select_again)
        self._kept: tuple[int | None, int, Ints] | None = None
        self.selectionModel().currentRowChanged.connect(lambda now, before: self._emit_chosen(now))

    def current_row(self) -> int | None:
        """Return the row of the data that is current."""
        index = self.currentIndex()
        return self.rows_model.source(index) if index.isValid() else None

    def selected_rows(self) -> list[int]:
        """Return the rows of the data that are selected, top to bottom."""
        return [int(row) for row in self.rows_model.rows[self.selected_places()]]

    def selected_places(self) -> Ints:
        """Return the rows that are selected as they are shown, from 0, top to bottom."""
        chosen = np.zeros(self.rows_model.rowCount(), dtype=bool)
        for one in cast("Iterable[QItemSelectionRange]", self.selectionModel().selection()):
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
        if key is None:  # a row was requested, not a column
            self.horizontalScrollBar().setValue(across)
        return True

    def choose_rows(self, rows: Ints | Sequence[int], current: int | None = None) -> int:
        """Select these rows of the data as far as they are shown; return how many.

        The ``current`` one is a row of the data, the topmost where it is not among those shown.
        """
        wanted = np.zeros(self.rows_model.size, dtype=bool)
        wanted[np.asarray(rows, dtype=np.intp)] = True
        shown = self.rows_model.rows[wanted[self.rows_model.rows]]
        if shown.size:
            first = current if current is not None and current in shown else int(shown[0])
            self._kept = (first, max(self.currentIndex().column(), 0), shown)
            self._select_again()
            self.chosen.emit(first)
        return int(shown.size)

    def selectionCommand(
        self, index: QModelIndex | QPersistentModelIndex, event: QEvent | None = None
    ) -> QItemSelectionModel.SelectionFlag:
        """Return the command for the selection: a key with Ctrl takes it along, as in a spreadsheet."""
        if event is None:  # requested by the program, whatever keys are held
            return Flag.ClearAndSelect | Flag.Rows
        command = super().selectionCommand(index, event)
        moves = command == Flag.NoUpdate and isinstance(event, QKeyEvent) and event.key() in _STEPS
        return Flag.ClearAndSelect | Flag.Rows if moves else command

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """With Shift a key takes the selection along, however far it leads."""
        held, key = event.modifiers(), Qt.Key(event.key())
        if held & Qt.KeyboardModifier.ShiftModifier and key in _STEPS:
            self._select_to(self.moveCursor(_STEPS[key], held & ~Qt.KeyboardModifier.ShiftModifier))
        else:
            super().keyPressEvent(event)

    def _select_to(self, target: QModelIndex) -> None:
        """Select all rows from where the selection began to a row, however far away that is."""
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

    def keyboardSearch(self, search: str) -> None:
        """Look for nothing: Qt would ask each row of a long table for its text, and the filter finds names."""

    # ------------------------------------------------------------------ rows in another order

    def _keep_selection(self) -> None:
        """Let go of the selection of a long table: a million rows would move one by one."""
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
        """Select the same rows at their new places; in too many pieces only the current one."""
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

    def _emit_chosen(self, now: QModelIndex) -> None:
        self.chosen.emit(self.rows_model.source(now) if now.isValid() else None)
