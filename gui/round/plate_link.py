"""The plates next to a round: one selection for both."""

from __future__ import annotations

from PySide6.QtCore import QItemSelection, QItemSelectionModel

from assaypilot.engine.domain.plates import Placed

from ..session.session import Session
from .round_plates import PlatesPane
from .round_rows import RoundModel
from .round_table import RoundTable


class PlateLink:
    """Keep the choice on the plates and the selection in the list the same."""

    def __init__(self, session: Session, model: RoundModel, table: RoundTable, pane: PlatesPane) -> None:
        self._session, self._model, self._table, self._pane = session, model, table, pane
        self._following = False
        """Whether a selection is being carried over from elsewhere."""
        pane.picked.connect(self._wells_chosen)
        pane.opened.connect(self._well_opened)
        table.selectionModel().selectionChanged.connect(lambda now, before: self.ring())

    def line_of(self, compound: int | None) -> int | None:
        """Return the line of a compound in the round shown; None when it is not in it."""
        items = () if self._model.round is None else self._model.round.items
        return next((line for line, item in enumerate(items) if item.compound == compound), None)

    def line_chosen(self) -> None:
        """Select the compound of the current line on every page."""
        line, shown = self._table.current_row(), self._model.round
        if not self._following and line is not None and shown is not None:
            self._following = True
            self._session.selection.choose(shown.items[line].compound)
            self._following = False

    def follow(self) -> None:
        """Go to the line of the compound that was selected on another page."""
        line = self.line_of(self._session.selection.compound)
        if self._following or line is None or line == self._table.current_row():
            return
        if self._model.view is self._session.view:
            self._following = True
            self._table.choose(line)
            self._following = False

    def quietly(self, following: bool) -> None:
        """While it is so, what becomes current is not selected on the other pages."""
        self._following = following

    def ring(self) -> None:
        """Ring the wells of the selected lines."""
        shown = self._model.round
        if shown is None or not self._pane.has_plates:
            return
        items, line = shown.items, self._table.current_row()
        rows = [row for row in self._table.selected_rows() if row < len(items)]
        current = items[line].compound if line is not None and line < len(items) else None
        self._pane.choose([items[row].compound for row in rows], current)

    def select(self, rows: list[int]) -> None:
        """Select these lines and no others; the current cell stays."""
        chosen = QItemSelection()
        last = len(self._model.columns) - 1
        for row in rows:
            place = self._model.view_row(row)
            if place is not None:
                chosen.select(self._model.index(place, 0), self._model.index(place, last))
        self._table.selectionModel().select(chosen, QItemSelectionModel.SelectionFlag.ClearAndSelect)

    def _wells_chosen(self, compounds: list[int], current: int | None) -> None:
        rows = [row for one in compounds if (row := self.line_of(one)) is not None]
        line = self.line_of(current)
        if line is not None and line in rows:
            self._table.choose(line)
        self.select(rows)

    def _well_opened(self, placed: Placed) -> None:
        line, shown = self.line_of(placed.compound), self._model.round
        if line is not None and shown is not None:
            place = shown.endpoints.index(placed.endpoints[0])
            self._table.edit_line(line, place, min(placed.replicate - 1, self._model.cells - 1))
