"""Values of a round that are being entered, and the plates next to them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from PySide6.QtCore import QItemSelection, QItemSelectionModel, QObject
from PySide6.QtWidgets import QScrollArea

from assaypilot.engine.campaign.issued_rounds import Round
from assaypilot.engine.domain.plates import Layout

from ..runtime.settings import Settings
from ..runtime.tasks import single_shot
from .round_rows import Cell

if TYPE_CHECKING:
    from .round_page import RoundPage


LEFT = "Escape left the cell as it was."
UNSAVED = "Typed, but not saved before the window was closed."
KEPT = "drafts/rounds"
MOST_ROUNDS = 20
"""Rounds of which unfinished texts are remembered."""
PAUSE = 250
"""Milliseconds after the last key before what is typed is on the disk."""


class Drafts(QObject):
    """The unfinished texts of the rounds, in the place the system has for settings."""

    def __init__(self, settings: Settings, parent: QObject) -> None:
        super().__init__(parent)
        self._settings = settings
        self._timer = single_shot(self, PAUSE, self.flush)
        self._next: tuple[str, dict[str, str]] | None = None

    def of(self, shown: Round) -> dict[Cell, str]:
        """Return the texts of a round, by their cells."""
        found = self._settings.values(KEPT).get(_key(shown))
        texts: dict[Cell, str] = {}
        for name, text in found.items() if isinstance(found, dict) else ():
            numbers = [int(part) for part in str(name).split() if part.isdecimal()]
            if len(numbers) == 3 and numbers[0] < len(shown.items) and numbers[1] < len(shown.endpoints) and text:
                texts[numbers[0], numbers[1], numbers[2]] = str(text)
        return texts

    def keep(self, shown: Round, texts: Mapping[Cell, str]) -> None:
        """Remember the texts of a round, in place of those before."""
        named = {" ".join(map(str, cell)): text for cell, text in texts.items() if text}
        if self._next is not None and self._next[0] != _key(shown):
            self.flush()
        self._next = (_key(shown), named)
        if not self._timer.isActive():
            self._timer.start()

    def flush(self) -> None:
        """Write what is remembered to the disk."""
        self._timer.stop()
        if self._next is None:
            return
        key, named = self._next
        self._next = None
        kept = self._settings.values(KEPT)
        if kept.get(key, {}) == named:
            return
        kept.pop(key, None)
        if named:
            kept[key] = named
        while len(kept) > MOST_ROUNDS:
            del kept[next(iter(kept))]
        self._settings.keep_values(KEPT, kept)
        self._settings.flush()


class Unkept:
    """The texts of a page that are not kept yet."""

    def __init__(self, page: RoundPage) -> None:
        self._page = page
        self._drafts: Drafts | None = None
        self._typing: dict[Cell, str] = {}
        """The text of an editor, or its last text when it was left."""
        page.table.results.typing.connect(self._typed)
        page.table.left.connect(self._left)

    def remember_in(self, settings: Settings) -> None:
        """Keep what is typed into the page beyond its window from now on."""
        self._drafts = Drafts(settings, self._page)

    def keep(self) -> None:
        """Remember what is typed and not kept, and tell the page how many values are refused."""
        self._page.unsaved.emit(len(self._page.model.refused))
        shown = self._page.model.round
        if self._drafts is not None and shown is not None and self._page.writable:
            self._drafts.keep(shown, self._typing | self._page.model.typed())

    def settled(self, line: int, place: int) -> None:
        """Forget what was typed into a line and endpoint; it was taken, or its cell shows it as refused."""
        self._typing = {cell: text for cell, text in self._typing.items() if cell[:2] != (line, place)}
        self.keep()

    def leave(self) -> None:
        """Take what is being typed before the window closes, without a question."""
        self._page.values.leaving = True
        self._page.table.commit()
        self._page.values.leaving = False
        self.keep()
        if self._drafts is not None:
            self._drafts.flush()

    def restore(self, shown: Round) -> None:
        """Put what was typed into a round and never kept back into its cells, with the reason."""
        self._typing = {}
        model = self._page.model
        if self._drafts is None or not self._page.writable:
            return
        self._drafts.flush()
        for (line, place, at), text in self._drafts.of(shown).items():
            at = min(at, model.cells - 1)
            there = model.cell_text(line, place, at)
            if there != text and (line, place, at) not in model.refused:
                model.refuse(line, place, text, UNSAVED, text, at)

    def _typed(self, line: int, place: int, at: int, text: str) -> None:
        self._typing[line, place, at] = text
        self.keep()

    def _left(self, line: int, place: int, at: int, text: str) -> None:
        """Escape restores the cell as in a spreadsheet, and what was typed is offered once more."""
        model = self._page.model
        if text and text != model.cell_text(line, place, at) and model.wrong(line, place, at) is None:
            self._page.panel.show_wrong(line, text, LEFT, text, place, at, left=True)
            self._typed(line, place, at, text)
        else:
            self.settled(line, place)


def _key(shown: Round) -> str:
    """Return what a round is remembered by: a copy of the campaign has the same rounds, another campaign has others."""
    return f"{shown.issued} {shown.number} {len(shown.items)}"


DIVIDED, COLOURED = "round/divided", "round/coloured"
"""Keys of the remembered divisions of the page and colouring of wells."""
WITH_PLATES = 372
"""Pixels of the panel at the right once there are plates in it."""
NO_LIMIT = 16_777_215


class PlateLink:
    """Keep the choice on the plates and the selection in the list the same."""

    def __init__(self, page: RoundPage, scroll: QScrollArea) -> None:
        self._page, self._scroll = page, scroll
        self._settings: Settings | None = None
        self._following = False
        """Whether a selection is being carried over from elsewhere."""
        self._wide, self._high = 0, 0
        """Pixels of the panel, and of the plates in it, set by the user; 0 while they are not."""
        self._wells = 0
        """Wells of the plate shown last."""
        pane = page.plates_pane
        pane.picked.connect(self._wells_chosen)
        pane.opened.connect(self._well_opened)
        pane.coloured.connect(self._coloured)
        page.table.selectionModel().selectionChanged.connect(lambda now, before: self.ring())
        page.sides.splitterMoved.connect(lambda *_: self._divided())
        page.side.splitterMoved.connect(lambda *_: self._raised())
        page.session.selection.changed.connect(self.follow)

    def remember_in(self, settings: Settings) -> None:
        """Restore the divisions of the page, and remember their changes."""
        self._settings = settings
        self._page.plates_pane.wanted = settings.text(COLOURED) or self._page.plates_pane.wanted
        kept = settings.values(DIVIDED)
        self._wide, self._high = (n if isinstance(n := kept.get(name), int) else 0 for name in ("wide", "high"))

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

    def _well_opened(self, compound: int, replicate: int, endpoint: int) -> None:
        line, shown = self.line_of(compound), self._page.model.round
        if line is not None and shown is not None:
            place = shown.endpoints.index(endpoint) if endpoint in shown.endpoints else 0
            self._page.table.edit_line(line, place, min(replicate - 1, self._page.model.cells - 1))

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

    def widen(self) -> None:
        """Give the panel the width that was chosen, or that plates need."""
        page = self._page
        wide = self._wide or (WITH_PLATES if page.plates_pane.has_plates else 0)
        if wide and page.isVisible() and page.sides.sizes()[1] != wide:
            page.sides.setSizes([max(page.width() - wide, 1), wide])

    def make_room(self) -> None:
        """Divide the panel between the plates and the details; a question has all of it."""
        page, pane = self._page, self._page.plates_pane
        shown = page.model.round
        self.widen()
        if page.ends.asking:
            pane.hide()
            self._scroll.verticalScrollBar().setValue(0)
            return
        offered = page.writable and shown is not None and shown.state == "open"
        pane.setVisible(pane.has_plates or offered)
        if not pane.has_plates:
            least = pane.minimumSizeHint().height()
            pane.setMaximumHeight(least)
            page.side.setSizes([least, max(page.height() - least, 1)])
            return
        wells = pane.plate.wells
        if pane.maximumHeight() != NO_LIMIT or wells != self._wells:
            self._wells = wells
            pane.setMaximumHeight(NO_LIMIT)
            high = self._high or min(pane.height_for(page.sides.sizes()[1]), int(0.62 * page.height()))
            page.side.setSizes([high, max(page.height() - high, 1)])

    def _coloured(self, key: str) -> None:
        if self._settings is not None:
            self._settings.keep_text(COLOURED, key)

    def _divided(self) -> None:
        """Remember how the page was divided by hand."""
        self._wide = self._page.sides.sizes()[1]
        if self._settings is not None:
            self._settings.keep_values(DIVIDED, {"wide": self._wide, "high": self._high})

    def _raised(self) -> None:
        """Remember how much of the panel the plates were given by hand."""
        if self._page.plates_pane.has_plates and self._page.plates_pane.isVisible():
            self._high = self._page.side.sizes()[0]
            self._divided()
