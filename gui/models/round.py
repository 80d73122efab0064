"""An issued round as a fixed list with a cell per line and endpoint for its results."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from PySide6.QtCore import QObject, Qt, Signal

from assaypilot.gui.entry import entered_text
from assaypilot.gui.models.base import Column, Index, RowsModel, text_ranks, two_lines
from assaypilot.gui.models.library import id_column, site_columns, structure_column

if TYPE_CHECKING:
    from assaypilot.engine.campaign.state import Round, RoundItem, Status
    from assaypilot.engine.endpoint import Endpoint
    from assaypilot.engine.library import Library
    from assaypilot.engine.measurements import Measurement
    from assaypilot.engine.plates.layout import Layout

__all__ = ["RESULT", "RoundModel", "line_state", "result_key", "result_place"]

NARROW_PICTURE = 88
"""Pixels of a structure where the wells need room beside it."""
RESULT = "result"
"""Key of the first column of results."""


def result_key(place: int) -> str:
    """Key of the column of results of an endpoint, by its place among the round's."""
    return RESULT if place == 0 else f"{RESULT}-{place}"


def result_place(key: str) -> int | None:
    """The endpoint of a column, by its place among the round's; None for a column that holds no results."""
    if key == RESULT:
        return 0
    return int(key.removeprefix(f"{RESULT}-")) if key.startswith(f"{RESULT}-") else None


def line_state(item: RoundItem, back: Sequence[int], values: Sequence[Measurement]) -> str:
    """How far a line is, over all endpoints: pending, 1 of 3, complete, and what is special about its values."""
    asked = sum(item.of(place) for place in range(len(back)))
    if sum(back) >= asked:
        words = ["complete"]
    elif any(back):
        words = [f"{sum(back)} of {asked}"]
    else:
        words = ["pending"]
    bounds = {one.relation for one in values if one.excluded is None}
    if "<" in bounds:
        words.append("below range")
    if ">" in bounds:
        words.append("above range")
    excluded = sum(one.excluded is not None for one in values)
    if excluded:
        words.append(f"{excluded} excluded")
    return ", ".join(words)


class RoundModel(RowsModel):
    """One row per line of the round; what is typed is handed out by ``entered`` and shown until it is kept.

    A cell is a line and the place of an endpoint among those of the round.
    """

    entered = Signal(int, int, str)
    """Line of the round, place of the endpoint, and the text typed into its cell."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.round: Round | None = None
        self.endpoints: tuple[Endpoint, ...] = ()
        """Those of the round, in its order."""
        self.editable = False
        self._values: list[list[list[Measurement]]] = []
        self._library: Library | None = None
        self._layout: Layout | None = None
        self._saving: dict[tuple[int, int], str] = {}
        self._wrong: dict[tuple[int, int], tuple[str, str, str]] = {}

    def show(self, status: Status, shown: Round, *, editable: bool, layout: Layout | None = None) -> None:
        """Nothing; takes over a round. The same round again changes its texts only, not the rows or the selection.

        ``layout``: where its measurements stand, when that is known.
        """
        same = self.round is not None and self.round.number == shown.number and self.round.items == shown.items
        same = same and self._library is not None and self._library.digest == status.library.digest
        same = same and (layout is None) == (self._layout is None) and (layout is None or layout == self._layout)
        self._layout = layout
        self.round, self.endpoints = shown, tuple(status.endpoints[place] for place in shown.endpoints)
        self.editable = editable and shown.state == "open"
        self._library = status.library
        self._collect(status, shown)
        self._saving.clear()
        if same:
            self.refresh()
            return
        self._wrong.clear()
        self.fill(self._columns(status), len(shown.items))

    @property
    def values(self) -> list[list[Measurement]]:
        """What the campaign has for each line, the first endpoint's values first."""
        return [[one for of_it in cells for one in of_it] for cells in self._values]

    def values_of(self, row: int, place: int) -> list[Measurement]:
        """What the campaign has for a cell, excluded ones included."""
        return self._values[row][place]

    def saving(self, row: int, place: int, text: str) -> None:
        """Nothing; shows a typed text while it is being written."""
        self._saving[row, place] = text
        self._wrong.pop((row, place), None)
        self._tell(row)

    def refuse(self, row: int, place: int, text: str, reason: str, suggestion: str = "") -> None:
        """Nothing; keeps a text that could not be used where it was typed, with the reason and what may be meant."""
        self._saving.pop((row, place), None)
        self._wrong[row, place] = (text, reason, suggestion)
        self._tell(row)

    def forgive(self, row: int, place: int = 0) -> None:
        """Nothing; shows again what the campaign has."""
        self._saving.pop((row, place), None)
        if self._wrong.pop((row, place), None) is not None:
            self._tell(row)

    def wrong(self, row: int, place: int = 0) -> tuple[str, str, str] | None:
        """The text that could not be used, why, and what may be meant; None when there is none."""
        return self._wrong.get((row, place))

    def kept_text(self, row: int, place: int = 0) -> str:
        """The values the campaign has for a cell, as the cell shows them."""
        if not self.endpoints:
            return ""
        kept = [one for one in self._values[row][place] if one.excluded is None]
        return "; ".join(entered_text(one, self.endpoints[place]) for one in kept)

    def waits(self, row: int, place: int) -> bool:
        """Whether a cell waits for a result."""
        return self.round is not None and self.round.back[row][place] < self.round.items[row].of(place)

    def first_empty(self, after: int = -1) -> int | None:
        """The first line (in the order shown, behind row ``after`` of the data) that waits for a result."""
        for line in self.rows:
            row = int(line)
            if row > after and self.first_place(row) is not None:
                return row
        return None

    def first_place(self, row: int) -> int | None:
        """The first endpoint of a line that waits for a result; None when none does."""
        return next((place for place in range(len(self.endpoints)) if self.waits(row, place)), None)

    def place_at(self, index: Index) -> int | None:
        """The endpoint whose results a cell holds; None when it holds none."""
        return result_place(self.columns[index.column()].key) if index.isValid() else None

    # ------------------------------------------------------------------ Qt

    def flags(self, index: Index) -> Qt.ItemFlag:
        """What can be done with a cell."""
        flags = super().flags(index)
        if self.editable and self.place_at(index) is not None:
            flags |= Qt.ItemFlag.ItemIsEditable
        return flags

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        """What a cell has to say in a role."""
        place = self.place_at(index) if role == Qt.ItemDataRole.EditRole else None
        if place is not None:
            row = self.source(index)
            if (row, place) in self._wrong:
                return self._wrong[row, place][0]
            kept = self.kept_text(row, place)
            return f"{kept}; " if kept and self.waits(row, place) else kept
        return super().data(index, role)

    def setData(self, index: Index, value: Any, role: int = Qt.ItemDataRole.EditRole) -> bool:
        """Whether something new was typed; it is kept when the campaign has taken it."""
        place = self.place_at(index)
        if role != Qt.ItemDataRole.EditRole or place is None or not (self.flags(index) & Qt.ItemFlag.ItemIsEditable):
            return False
        row, text = self.source(index), str(value).strip().strip(";").strip()
        if text == self.kept_text(row, place):
            self.forgive(row, place)
            return False
        self.entered.emit(row, place, text)
        return True

    # ------------------------------------------------------------------ inside

    def _collect(self, status: Status, shown: Round) -> None:
        line = {item.compound: row for row, item in enumerate(shown.items)}
        at = {endpoint: place for place, endpoint in enumerate(shown.endpoints)}
        self._values = [[[] for _ in shown.endpoints] for _ in shown.items]
        for one in status.measurements:
            if one.round == shown.number and one.endpoint in at and not one.withdrawn:
                row = line.get(one.compound)
                if row is not None:
                    self._values[row][at[one.endpoint]].append(one)

    def _tell(self, row: int) -> None:
        place = self.view_row(row)
        if place is not None:
            self.dataChanged.emit(self.index(place, 0), self.index(place, len(self.columns) - 1))

    def _result(self, row: int, place: int) -> str:
        if (row, place) in self._wrong:
            return self._wrong[row, place][0]
        return self._saving.get((row, place)) or self.kept_text(row, place)

    def _kind(self, row: int, place: int) -> str | None:
        if (row, place) in self._wrong or (row, place) in self._saving:
            return "wrong" if (row, place) in self._wrong else "saving"
        return None if self.waits(row, place) else "done"

    def _result_tip(self, row: int, place: int) -> str:
        if (row, place) in self._wrong:
            return self._wrong[row, place][1]
        lines = []
        for one in self._values[row][place]:
            line = entered_text(one, self.endpoints[place])
            if one.excluded is not None:
                line += f" – excluded: {one.excluded}"
            if one.corrected is not None:
                line += f" – corrected: {one.corrected} (entered as {one.entered.value:g})"
            if one.entered.comment:
                line += f" – {one.entered.comment}"
            lines.append(line)
        return "\n".join(lines)

    def _state(self, row: int) -> str:
        if self.round is None:
            return ""
        return line_state(self.round.items[row], self.round.back[row], self.values[row])

    def _state_tip(self, row: int) -> str:
        """How far each endpoint of a line is."""
        if self.round is None or len(self.endpoints) < 2:
            return self._state(row)
        item, back = self.round.items[row], self.round.back[row]
        return "\n".join(
            f"{endpoint.name}: {back[place]} of {item.of(place)}" for place, endpoint in enumerate(self.endpoints)
        )

    def _returned(self) -> list[int]:
        return [] if self.round is None else [sum(back) for back in self.round.back]

    def _columns(self, status: Status) -> list[Column]:
        library, shown = status.library, self.round
        assert shown is not None
        items = shown.items
        at = [item.compound for item in items]
        places = np.array(at, dtype=np.intp)

        def moved(column: Column) -> Column:
            """A column of the library at the round's compounds."""
            rank, smiles, tip = column.rank, column.smiles, column.cell_tip
            return Column(
                column.key,
                column.title,
                lambda row: column.text(at[row]),
                None if rank is None else lambda: rank()[places],
                smiles=None if smiles is None else lambda row: smiles(at[row]),
                cell_tip=None if tip is None else lambda row: tip(at[row]),
                width=min(column.width, NARROW_PICTURE) if self._layout is not None else column.width,
                soft=column.soft,
            )

        several = len(self.endpoints) > 1
        why = Column("why", "Why", lambda row: items[row].reason, tip="Why the compound was picked")
        return [
            Column("line", "#", lambda row: str(row + 1), lambda: np.arange(len(items)), number=True, tip="Rank"),
            *(moved(column) for column in structure_column(library)),
            moved(id_column(library)),
            *(moved(column) for column in site_columns(library)),
            Column(
                "replicates",
                "Times",
                lambda row: str(items[row].replicates),
                lambda: np.array([item.replicates for item in items], dtype=np.int64),
                number=True,
                tip="How often to measure the compound in this round: independent determinations"
                + (" of each endpoint" if several else ""),
                cell_tip=self._asked if several else None,
            ),
            *([] if self._layout is None else [_wells(self._layout, at)]),
            _expected(status, items, several=several),
            # Many cells for results need the room; the panel says why, too.
            *([] if several else [why]),
            *(self._result_column(items, place) for place in range(len(self.endpoints))),
            Column(
                "state",
                "State",
                self._state,
                lambda: np.array(self._returned(), dtype=np.int64),
                width=82,
                cell_tip=self._state_tip,
            ),
            *([why] if several else []),
        ]

    def _result_column(self, items: Sequence[RoundItem], place: int) -> Column:
        """The cells of one endpoint."""
        several = len(self.endpoints) > 1
        name = self._entry_unit(place) if several else f"Result ({self._entry_unit(place)})"
        return Column(
            result_key(place),
            two_lines(name),
            lambda row: self._result(row, place),
            number=True,
            kind=lambda row: self._kind(row, place),
            cell_tip=lambda row: self._result_tip(row, place),
            tip=(f"Results of {self.endpoints[place].name}. " if several else "")
            + "One value per measurement, separated by semicolons: 7.62; 7.58. "
            "Also > 10000 nM, 35 nM, or a mean: 7.6 (n=3, sd=0.2)",
            width=102 if several else 134 if self._layout is None else 112,
            wish=48 + 38 * max(item.of(place) for item in items),
            name=name,
        )

    def _asked(self, row: int) -> str:
        """How often each endpoint is asked for in a line."""
        if self.round is None:
            return ""
        item = self.round.items[row]
        return "\n".join(f"{endpoint.name}: {item.of(place)}" for place, endpoint in enumerate(self.endpoints))

    def _entry_unit(self, place: int) -> str:
        name, unit = self.endpoints[place].name, self.endpoints[place].unit
        return name if not unit or unit in name else f"{name}, {unit}"


def _wells(layout: Layout, at: Sequence[int]) -> Column:
    """Where the measurements of each line stand; of plates of several endpoints, those of all of them."""
    stand: dict[int, dict[str, list[str]]] = {}
    told: dict[int, list[str]] = {}
    for plate in layout.plates:
        for one in plate.placed:
            stand.setdefault(one.compound, {}).setdefault(plate.name.rpartition("-")[2], []).append(one.well)
            told.setdefault(one.compound, []).append(f"{plate.name} {one.range}, measurement {one.replicate}")

    def text(compound: int) -> str:
        named = len(layout.plates) > 1
        parts = stand.get(compound, {}).items()
        return "; ".join(f"{plate}\u00a0{', '.join(wells)}" if named else ", ".join(wells) for plate, wells in parts)

    texts = [text(compound) for compound in at]
    tips = ["\n".join(told.get(compound, ())) for compound in at]
    return Column(
        "wells",
        "Wells",
        lambda row: texts[row],
        lambda: text_ranks(texts),
        tip="Where the measurements stand on the plates of the last work list; the first well of each",
        cell_tip=lambda row: tips[row],
        soft=True,
    )


def _expected(status: Status, items: Sequence[RoundItem], *, several: bool) -> Column:
    """What was expected of the objective."""

    def text(row: int) -> str:
        item = items[row]
        if item.expected is None:
            return "–"
        if item.low is None or item.high is None:
            return f"{item.expected:.2f}"
        return f"{item.expected:.2f} ± {(item.high - item.low) / 2:.2f}"

    scale = status.endpoints[status.objective].scale_name
    return Column(
        "expected",
        f"Expected\n{textwrap.shorten(scale, 18, placeholder=' …')}" if several else "Expected",
        text,
        lambda: np.array([np.nan if item.expected is None else item.expected for item in items]),
        number=True,
        tip=f"What was expected{f' of {scale}' if several else ''} when the round was issued, with its 95 % interval; "
        "– before any measurement",
    )
