"""The plates next to a round: one selection for both, and their share of the panel."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QItemSelection, QItemSelectionModel
from PySide6.QtWidgets import QScrollArea

from assaypilot.engine.domain.plates import Layout, Placed

if TYPE_CHECKING:
    from .round_page import RoundPage


WITH_PLATES = 372
"""Pixels of the panel at the right, at least, once there are plates in it."""
NO_LIMIT = 16_777_215


class PlateLink:
    """Keep the choice on the plates and the selection in the list the same."""

    def __init__(self, page: RoundPage, scroll: QScrollArea) -> None:
        self._page, self._scroll = page, scroll
        self._following = False
        """Whether a selection is being carried over from elsewhere."""
        self._wells = 0
        """Wells of the plate shown last."""
        pane = page.plates_pane
        pane.picked.connect(self._wells_chosen)
        pane.opened.connect(self._well_opened)
        page.table.selectionModel().selectionChanged.connect(lambda now, before: self.ring())
        page.session.selection.changed.connect(self.follow)

    # ------------------------------------------------------------------ one selection

    def line_of(self, compound: int | None) -> int | None:
        """Return the line of a compound in the round shown; None when it is not in it."""
        items = () if self._page.model.round is None else self._page.model.round.items
        return next((line for line, item in enumerate(items) if item.compound == compound), None)

    def line_chosen(self) -> None:
        """Select the compound of the current line on every page."""
        line, shown = self._page.table.current_row(), self._page.model.round
        if not self._following and line is not None and shown is not None:
            self._following = True
            self._page.session.selection.choose(shown.items[line].compound)
            self._following = False

    def follow(self) -> None:
        """Go to the line of the compound that was selected on another page."""
        page = self._page
        line = self.line_of(page.session.selection.compound)
        if self._following or not page.isVisible() or line is None or line == page.table.current_row():
            return
        if page.view is page.session.view:
            self._following = True
            page.table.choose(line)
            self._following = False

    def quietly(self, following: bool) -> None:
        """While it is so, what becomes current is not selected on the other pages."""
        self._following = following

    def ring(self) -> None:
        """Ring the wells of the selected lines."""
        page, shown = self._page, self._page.model.round
        if shown is None or not page.plates_pane.has_plates:
            return
        items, line = shown.items, page.table.current_row()
        rows = [row for row in page.table.selected_rows() if row < len(items)]
        current = items[line].compound if line is not None and line < len(items) else None
        page.plates_pane.choose([items[row].compound for row in rows], current)

    def select(self, rows: list[int]) -> None:
        """Select these lines and no others; the current cell stays."""
        page, chosen = self._page, QItemSelection()
        last = len(page.model.columns) - 1
        for row in rows:
            place = page.model.view_row(row)
            if place is not None:
                chosen.select(page.model.index(place, 0), page.model.index(place, last))
        page.table.selectionModel().select(chosen, QItemSelectionModel.SelectionFlag.ClearAndSelect)

    def _wells_chosen(self, compounds: list[int], current: int | None) -> None:
        rows = [row for one in compounds if (row := self.line_of(one)) is not None]
        line = self.line_of(current)
        if line is not None and line in rows:
            self._page.table.choose(line)
        self.select(rows)

    def _well_opened(self, placed: Placed) -> None:
        line, shown = self.line_of(placed.compound), self._page.model.round
        if line is not None and shown is not None:
            place = shown.endpoints.index(placed.endpoints[0])
            self._page.table.edit_line(line, place, min(placed.replicate - 1, self._page.model.cells - 1))

    # ------------------------------------------------------------------ the plates

    def show_plates(self, layout: Layout | None) -> None:
        """Show the plates of the round, or the line that offers them."""
        page, pane = self._page, self._page.plates_pane
        if page.view is None or page.model.round is None:
            return
        if layout is None:
            pane.show_none()
        else:
            questioned = [one.measurement.number for one in page.questioned()]
            pane.show_round(page.model, page.view.status, layout, questioned, writable=page.writable)
            self.ring()
        self.make_room()

    def make_room(self) -> None:
        """Divide the panel between the plates and the details; a question has all of it."""
        page, pane = self._page, self._page.plates_pane
        shown = page.model.round
        if page.ends.asking:
            pane.hide()
            self._scroll.verticalScrollBar().setValue(0)
            return
        offered = page.writable and shown is not None and shown.state == "open"
        pane.setVisible(pane.has_plates or offered)
        pane.setMinimumWidth(WITH_PLATES if pane.has_plates else 0)
        if not pane.has_plates:
            least = pane.minimumSizeHint().height()
            pane.setMaximumHeight(least)
            page.side.setSizes([least, max(page.height() - least, 1)])
            return
        wells = pane.plate.wells
        if pane.maximumHeight() != NO_LIMIT or wells != self._wells:
            self._wells = wells
            pane.setMaximumHeight(NO_LIMIT)
            high = min(pane.height_for(max(page.sides.sizes()[1], WITH_PLATES)), int(0.62 * page.height()))
            page.side.setSizes([high, max(page.height() - high, 1)])
