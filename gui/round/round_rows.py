"""An issued round as a fixed list, with a cell for each measurement that is to come back."""

from __future__ import annotations

from typing import Any

from PySide6.QtCore import QObject, Qt, Signal

from assaypilot.engine.campaign.cautions import Surprise, surprises
from assaypilot.engine.campaign.issued_rounds import Round
from assaypilot.engine.campaign.state import Status
from assaypilot.engine.domain.endpoint import Endpoint
from assaypilot.engine.domain.library import Library
from assaypilot.engine.domain.measurements import Measurement
from assaypilot.engine.domain.plates import Layout

from ..session.view import View
from ..tables.rows import Index, RowsModel
from .entry import as_first_entered, entered_text
from .round_columns import (
    STRUCK,
    Slot,
    fill_slots,
    is_late,
    of_round,
    result_cell,
    result_place,
    round_columns,
)

Cell = tuple[int, int, int]
"""Line of the round, place of the endpoint among the round's, place of the measurement among those of both."""


def _same_lines(before: Library, now: Library, shown: Round) -> bool:
    """Whether a round's lines read the same; to compare whole libraries would keep the window waiting."""
    compounds = [item.compound for item in shown.items]
    return before.sites == now.sites and all(before.ids[row] == now.ids[row] for row in compounds)


class RoundModel(RowsModel):
    """One row per line of the round; what is typed is handed out by ``entered`` and shown until it is kept."""

    entered = Signal(int, int, int, str)
    """Line of the round, place of the endpoint, place of the measurement, and the text typed into its cell."""
    unsaved = Signal(int)
    """How many typed values are not in the file."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.view: View | None = None
        """The campaign of the round."""
        self.round: Round | None = None
        self.endpoints: tuple[Endpoint, ...] = ()
        """Those of the round, in its order."""
        self.editable = False
        self.late = False
        """Whether it is a closed round, into which results that come late may be typed."""
        self.kept: set[int] = set()
        """Numbers of surprising measurements that are to stay."""
        self.cells = 1
        """Cells of each line and endpoint; lines that request less leave the last ones blank."""
        self.values: list[list[Measurement]] = []
        """What the campaign has for each line, the first endpoint's values first."""
        self._values: list[list[list[Measurement]]] = []
        """The same by line and endpoint."""
        self._slots: list[list[list[Slot]]] = []
        self._library: Library | None = None
        self._layout: Layout | None = None
        self._saving: dict[Cell, str] = {}
        self._wrong: dict[Cell, tuple[str, str, str]] = {}

    @property
    def writable(self) -> bool:
        """Whether this window may change the campaign."""
        return self.view is not None and not self.view.read_only

    def clear(self) -> None:
        """Show no campaign."""
        self.view = self.round = None
        self.fill([], 0)
        self.unsaved.emit(0)

    def show(self, view: View, shown: Round) -> None:
        """Take over a round. The same round again changes its texts only, not the rows or the selection.

        What comes late is typed into a closed round.
        """
        self.view, status, layout = view, view.status, shown.layout
        round_ = self.round is not None and self.round.number == shown.number and self.round.items == shown.items
        round_ = round_ and self._library is not None and _same_lines(self._library, status.library, shown)
        same = round_ and (layout is None) == (self._layout is None) and (layout is None or layout == self._layout)
        self._layout = layout
        self.round, self.endpoints = shown, tuple(status.endpoints[place] for place in shown.endpoints)
        self.late = self.writable and shown.state == "closed"
        self.editable = self.writable and shown.state != "withdrawn"
        self._library = status.library
        before = self.cells
        self._collect(status, shown)
        self._saving.clear()
        if not round_:
            self._wrong.clear()
        self.unsaved.emit(len(self._wrong))
        if same and before == self.cells:
            self.refresh()
            return
        self.fill(round_columns(self, status, layout), len(shown.items))

    def questioned(self) -> list[Surprise]:
        """Return the values of an open round that are to be confirmed."""
        if self.view is None or self.round is None or self.round.state != "open":
            return []
        return [one for one in surprises(self.view.status, self.round) if one.measurement.number not in self.kept]

    # ------------------------------------------------------------------ contents of cells

    def values_of(self, row: int, place: int) -> list[Measurement]:
        """Return what the campaign has for a line and endpoint, excluded ones included."""
        return self._values[row][place]

    def slots(self, row: int, place: int) -> list[Slot]:
        """Return the contents of the cells of a line and endpoint."""
        return self._slots[row][place]

    def slot(self, row: int, place: int, at: int) -> Slot | None:
        """Return the content of a cell; None for one that the line does not request."""
        own = self._slots[row][place]
        return own[at] if at < len(own) else None

    def saving(self, row: int, place: int, text: str, at: int = 0) -> None:
        """Show a typed text while it is being written."""
        self._saving[row, place, at] = text
        self._wrong.pop((row, place, at), None)
        self._retyped(row)

    def refuse(self, row: int, place: int, text: str, reason: str, suggestion: str = "", at: int = 0) -> None:
        """Keep a text that could not be used where it was typed, with the reason and what may be meant."""
        self._saving.pop((row, place, at), None)
        self._wrong[row, place, at] = (text, reason, suggestion)
        self._retyped(row)

    def forgive(self, row: int, place: int = 0, at: int | None = None) -> None:
        """Show again what the campaign has, in one cell or in all of a line and endpoint."""
        for cell in [cell for cell in (*self._saving, *self._wrong) if cell[:2] == (row, place)]:
            if at is None or cell[2] == at:
                self._saving.pop(cell, None)
                self._wrong.pop(cell, None)
        self._retyped(row)

    def wrong(self, row: int, place: int = 0, at: int | None = None) -> tuple[str, str, str] | None:
        """Return the text that could not be used, why, and what may be meant; None when there is none.

        Without ``at`` the first of the line and endpoint.
        """
        found = sorted(cell for cell in self._wrong if cell[:2] == (row, place) and at in (None, cell[2]))
        return self._wrong[found[0]] if found else None

    @property
    def refused(self) -> dict[Cell, tuple[str, str, str]]:
        """All texts that could not be used, by their cells."""
        return dict(self._wrong)

    def cell_text(self, row: int, place: int, at: int) -> str:
        """Return the value the campaign has in use in a cell."""
        slot = self.slot(row, place, at)
        return "" if slot is None or slot.kept is None else entered_text(slot.kept, self.endpoints[place])

    def waits(self, row: int, place: int) -> bool:
        """Whether a line waits for a result of an endpoint."""
        return self.round is not None and self.round.back[row][place] < self.round.items[row].of(place)

    def cell_waits(self, row: int, place: int, at: int) -> bool:
        """Whether a cell waits for a result."""
        slot = self.slot(row, place, at)
        return slot is not None and slot.empty and self.waits(row, place)

    def first_empty(self) -> int | None:
        """Return the first line, in the order shown, that waits for a result."""
        for line in self.rows:
            row = int(line)
            if self.first_place(row) is not None:
                return row
        return None

    def first_place(self, row: int) -> int | None:
        """Return the first endpoint of a line that waits for a result; None when none does."""
        return next((place for place in range(len(self.endpoints)) if self.waits(row, place)), None)

    def first_cell(self, row: int) -> tuple[int, int] | None:
        """Endpoint and place of the first cell of a line that waits for a result; None when none does."""
        for at in range(self.cells):
            for place in range(len(self.endpoints)):
                if self.cell_waits(row, place, at):
                    return place, at
        return None

    def free_cell(self, row: int, place: int, number: int = 0) -> int:
        """Return the place of the first empty cell of a line and endpoint, behind so many others."""
        free = [at for at, slot in enumerate(self._slots[row][place]) if slot.empty]
        return free[number] if number < len(free) else min(len(self._slots[row][place]), self.cells - 1)

    def line_cells(self, row: int) -> list[tuple[int, int]]:
        """Endpoint and place of each cell of a line, from left to right."""
        places = range(len(self.endpoints))
        return [(k, at) for at in range(self.cells) for k in places if at == 0 or self.slot(row, k, at) is not None]

    def place_at(self, index: Index) -> int | None:
        """Return the endpoint of a cell of results; None for any other cell."""
        return result_place(self.columns[index.column()].key) if index.isValid() else None

    def cell_at(self, index: Index) -> tuple[int, int] | None:
        """Endpoint and place of a cell for results; None for any other."""
        return result_cell(self.columns[index.column()].key) if index.isValid() else None

    # ------------------------------------------------------------------ Qt

    def flags(self, index: Index) -> Qt.ItemFlag:
        """Return what can be done with a cell."""
        flags = super().flags(index)
        cell = self.cell_at(index)
        if self.editable and cell is not None:
            slot = self.slot(self.source(index), *cell)
            # The parts of a mean, and values from before the round was closed, stay.
            closed = self.late and not (slot is not None and slot.empty)
            if not closed and (slot is None or slot.within is None):
                flags |= Qt.ItemFlag.ItemIsEditable
        return flags

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        """Return the data of a cell in a role."""
        spoken = Qt.ItemDataRole.AccessibleTextRole
        cell = self.cell_at(index) if role in (Qt.ItemDataRole.EditRole, STRUCK, spoken) else None
        if cell is None:
            return super().data(index, role)
        row = self.source(index)
        if role == STRUCK:
            return self._struck(row, *cell)
        if role == spoken:
            return self._spoken(row, *cell, str(super().data(index, role)))
        if (row, *cell) in self._wrong:
            return self._wrong[row, *cell][0]
        return self.cell_text(row, *cell)

    def setData(self, index: Index, value: Any, role: int = Qt.ItemDataRole.EditRole) -> bool:
        """Whether something new was typed; it is kept when the campaign has taken it."""
        cell = self.cell_at(index)
        if role != Qt.ItemDataRole.EditRole or cell is None or not (self.flags(index) & Qt.ItemFlag.ItemIsEditable):
            return False
        row, text = self.source(index), str(value).strip().strip(";").strip()
        if text == self.cell_text(row, *cell):
            self.forgive(row, *cell)
            return False
        self.entered.emit(row, *cell, text)
        return True

    # ------------------------------------------------------------------ contents of columns

    def result_text(self, row: int, place: int, at: int) -> str:
        """Return what a cell shows."""
        cell = (row, place, at)
        if cell in self._wrong:
            return self._wrong[cell][0]
        if cell in self._saving:
            return self._saving[cell]
        slot = self.slot(row, place, at)
        if slot is not None and slot.within is not None:
            return "in the mean"
        return self.cell_text(row, place, at)

    def result_kind(self, row: int, place: int, at: int) -> str | None:
        """How a cell is drawn: ``wrong``, ``saving``, ``done``, ``beyond`` the line's request, or open (None)."""
        cell = (row, place, at)
        if cell in self._wrong or cell in self._saving:
            return "wrong" if cell in self._wrong else "saving"
        slot = self.slot(row, place, at)
        if slot is None:
            return "beyond"
        if slot.within is not None:
            return "within"
        return None if slot.empty and self.waits(row, place) else "done"

    def result_tip(self, row: int, place: int, at: int) -> str:
        """Return what is to be known of a cell."""
        if (row, place, at) in self._wrong:
            return self._wrong[row, place, at][1]
        slot = self.slot(row, place, at)
        if slot is not None and slot.within is not None:
            return f"Within the mean {entered_text(slot.within, self.endpoints[place])}"
        return "\n".join(self._history(one, place) for one in (() if slot is None else slot.measurements))

    def state(self, row: int) -> str:
        """How far a line is, over all endpoints: 1 of 3, and what is special about its values."""
        if self.round is None:
            return ""
        values, back = self.values[row], self.round.back[row]
        bounds = {one.relation for one in values if one.excluded is None}
        counts = (
            (sum(one.excluded is not None for one in values), "excluded"),
            (sum(is_late(one, self.round) for one in values), "late"),
        )
        requested = sum(self.round.items[row].of(place) for place in range(len(back)))
        words = [f"{sum(back)} of {requested}"]
        words += [words for relation, words in (("<", "below range"), (">", "above range")) if relation in bounds]
        return ", ".join([*words, *(f"{count} {what}" for count, what in counts if count)])

    def state_tip(self, row: int) -> str:
        """How far each endpoint of a line is."""
        if self.round is None or len(self.endpoints) < 2:
            return self.state(row)
        item, back = self.round.items[row], self.round.back[row]
        return "\n".join(
            f"{endpoint.name}: {back[place]} of {item.of(place)}" for place, endpoint in enumerate(self.endpoints)
        )

    # ------------------------------------------------------------------ inside

    def _history(self, one: Measurement, place: int) -> str:
        """Return a measurement with all that was done to it."""
        line = entered_text(one, self.endpoints[place])
        if one.excluded is not None:
            line += f" – excluded: {one.excluded}"
        if one.corrected is not None:
            line += f" – corrected: {one.corrected} (entered as {as_first_entered(one, self.endpoints[place])})"
        if one.entered.comment:
            line += f" – {one.entered.comment}"
        if self.round is not None and is_late(one, self.round):
            line += f" – came late, in round {one.round}"
        return line

    def _struck(self, row: int, place: int, at: int) -> str:
        """Return what a cell shows struck through: an excluded value, or what was entered before it was corrected."""
        slot = self.slot(row, place, at)
        if (row, place, at) in self._saving or (row, place, at) in self._wrong or slot is None:
            return ""
        if slot.kept is not None and slot.kept.corrected is not None:
            return as_first_entered(slot.kept, self.endpoints[place])
        return entered_text(slot.excluded[-1], self.endpoints[place]) if slot.excluded else ""

    def _spoken(self, row: int, place: int, at: int, text: str) -> str:
        """Return the text of a cell for a screen reader, including what colour or a line through it shows."""
        if (row, place, at) in self._wrong:
            return f"{text}, not kept: {self._wrong[row, place, at][1]}"
        struck = self._struck(row, place, at)
        if struck:
            return f"{text}, struck through: {struck}"
        return f"{text} pending" if self.cell_waits(row, place, at) and text.endswith(":") else text

    def _collect(self, status: Status, shown: Round) -> None:
        line = {item.compound: row for row, item in enumerate(shown.items)}
        at = {endpoint: place for place, endpoint in enumerate(shown.endpoints)}
        self._values = [[[] for _ in shown.endpoints] for _ in shown.items]
        for one in status.measurements:
            if one.endpoint in at and one.compound in line and of_round(one, shown):
                self._values[line[one.compound]][at[one.endpoint]].append(one)
        self.values = [[one for of_it in cells for one in of_it] for cells in self._values]
        self._slots = [
            [fill_slots(self._values[row][place], shown, item.of(place)) for place in at.values()]
            for row, item in enumerate(shown.items)
        ]
        self.cells = max((len(of_it) for cells in self._slots for of_it in cells), default=1) or 1

    def _retyped(self, row: int) -> None:
        """Show a line whose texts were refused, forgiven or saved."""
        self.unsaved.emit(len(self._wrong))
        place = self.view_row(row)
        if place is not None:
            self.dataChanged.emit(self.index(place, 0), self.index(place, len(self.columns) - 1))
