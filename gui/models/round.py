"""An issued round as a fixed list with one cell per line for its results."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from PySide6.QtCore import QObject, Qt, Signal

from assaypilot.gui.entry import entered_text
from assaypilot.gui.models.base import Column, Index, RowsModel
from assaypilot.gui.models.library import id_column, site_columns, structure_column

if TYPE_CHECKING:
    from assaypilot.engine.campaign.state import Round, Status
    from assaypilot.engine.endpoint import Endpoint
    from assaypilot.engine.library import Library
    from assaypilot.engine.measurements import Measurement

__all__ = ["RoundModel", "line_state"]


def line_state(replicates: int, returned: int, values: Sequence[Measurement]) -> str:
    """How far a line is: pending, 1 of 3, complete, and what is special about its values."""
    if returned >= replicates:
        words = ["complete"]
    elif returned:
        words = [f"{returned} of {replicates}"]
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
    """One row per line of the round; what is typed is handed out by ``entered`` and shown until it is kept."""

    entered = Signal(int, str)
    """Line of the round and the text typed into its result cell."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.round: Round | None = None
        self.endpoint: Endpoint | None = None
        self.editable = False
        self.values: list[list[Measurement]] = []
        self._library: Library | None = None
        self._saving: dict[int, str] = {}
        self._wrong: dict[int, tuple[str, str, str]] = {}

    def show(self, status: Status, shown: Round, *, editable: bool) -> None:
        """Nothing; takes over a round. The same round again changes its texts only, not the rows or the selection."""
        same = self.round is not None and self.round.number == shown.number and self.round.items == shown.items
        same = same and self._library is not None and self._library.digest == status.library.digest
        self.round, self.endpoint = shown, status.endpoints[status.objective]
        self.editable = editable and shown.state == "open"
        self._library = status.library
        self._collect(status, shown)
        self._saving.clear()
        if same:
            self.refresh()
            return
        self._wrong.clear()
        self.fill(self._columns(status), len(shown.items))

    def saving(self, row: int, text: str) -> None:
        """Nothing; shows a typed text while it is being written."""
        self._saving[row] = text
        self._wrong.pop(row, None)
        self._tell(row)

    def refuse(self, row: int, text: str, reason: str, suggestion: str = "") -> None:
        """Nothing; keeps a text that could not be used where it was typed, with the reason and what may be meant."""
        self._saving.pop(row, None)
        self._wrong[row] = (text, reason, suggestion)
        self._tell(row)

    def forgive(self, row: int) -> None:
        """Nothing; shows again what the campaign has."""
        self._saving.pop(row, None)
        if self._wrong.pop(row, None) is not None:
            self._tell(row)

    def wrong(self, row: int) -> tuple[str, str, str] | None:
        """The text that could not be used, why, and what may be meant; None when there is none."""
        return self._wrong.get(row)

    def kept_text(self, row: int) -> str:
        """The values the campaign has for a line, as the cell shows them."""
        if self.endpoint is None:
            return ""
        parts = [entered_text(one, self.endpoint) for one in self.values[row] if one.excluded is None]
        return "; ".join(parts)

    def first_empty(self, after: int = -1) -> int | None:
        """The first line (in the order shown, behind row ``after`` of the data) that waits for a result."""
        if self.round is None:
            return None
        for line in self.rows:
            row = int(line)
            if row > after and self.round.returned[row] < self.round.items[row].replicates:
                return row
        return None

    # ------------------------------------------------------------------ Qt

    def flags(self, index: Index) -> Qt.ItemFlag:
        """What can be done with a cell."""
        flags = super().flags(index)
        if self.editable and index.isValid() and self.columns[index.column()].key == "result":
            flags |= Qt.ItemFlag.ItemIsEditable
        return flags

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        """What a cell has to say in a role."""
        if role == Qt.ItemDataRole.EditRole and index.isValid() and self.columns[index.column()].key == "result":
            row = self.source(index)
            if row in self._wrong:
                return self._wrong[row][0]
            kept = self.kept_text(row)
            waits = self.round is not None and self.round.returned[row] < self.round.items[row].replicates
            return f"{kept}; " if kept and waits else kept
        return super().data(index, role)

    def setData(self, index: Index, value: Any, role: int = Qt.ItemDataRole.EditRole) -> bool:
        """Whether something new was typed; it is kept when the campaign has taken it."""
        if role != Qt.ItemDataRole.EditRole or not (self.flags(index) & Qt.ItemFlag.ItemIsEditable):
            return False
        row, text = self.source(index), str(value).strip().strip(";").strip()
        if text == self.kept_text(row):
            self.forgive(row)
            return False
        self.entered.emit(row, text)
        return True

    # ------------------------------------------------------------------ inside

    def _collect(self, status: Status, shown: Round) -> None:
        line = {item.compound: row for row, item in enumerate(shown.items)}
        self.values = [[] for _ in shown.items]
        for one in status.measurements:
            if one.round == shown.number and one.endpoint == status.objective and not one.withdrawn:
                row = line.get(one.compound)
                if row is not None:
                    self.values[row].append(one)

    def _tell(self, row: int) -> None:
        place = self.view_row(row)
        if place is not None:
            self.dataChanged.emit(self.index(place, 0), self.index(place, len(self.columns) - 1))

    def _result(self, row: int) -> str:
        if row in self._wrong:
            return self._wrong[row][0]
        return self._saving.get(row) or self.kept_text(row)

    def _kind(self, row: int) -> str | None:
        if row in self._wrong or row in self._saving:
            return "wrong" if row in self._wrong else "saving"
        complete = self.round is not None and self.round.returned[row] >= self.round.items[row].replicates
        return "done" if complete else None

    def _result_tip(self, row: int) -> str:
        if row in self._wrong:
            return self._wrong[row][1]
        lines = []
        for one in self.values[row]:
            if self.endpoint is None:
                continue
            line = entered_text(one, self.endpoint)
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
        return line_state(self.round.items[row].replicates, self.round.returned[row], self.values[row])

    def _returned(self) -> Sequence[int]:
        return () if self.round is None else self.round.returned

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
                width=column.width,
                soft=column.soft,
            )

        def expected(row: int) -> str:
            item = items[row]
            if item.expected is None:
                return "–"
            if item.low is None or item.high is None:
                return f"{item.expected:.2f}"
            return f"{item.expected:.2f} ± {(item.high - item.low) / 2:.2f}"

        def expected_keys() -> np.ndarray[Any, np.dtype[np.float64]]:
            return np.array([np.nan if item.expected is None else item.expected for item in items])

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
                tip="How often to measure the compound in this round: independent determinations",
            ),
            Column(
                "expected",
                "Expected",
                expected,
                expected_keys,
                number=True,
                tip="What was expected when the round was issued, with its 95 % interval; – before any measurement",
            ),
            Column("why", "Why", lambda row: items[row].reason, tip="Why the compound was picked"),
            Column(
                "result",
                f"Result ({self._entry_unit()})",
                self._result,
                number=True,
                kind=self._kind,
                cell_tip=self._result_tip,
                tip="One value per measurement, separated by semicolons: 7.62; 7.58. "
                "Also > 10000 nM, 35 nM, or a mean: 7.6 (n=3, sd=0.2)",
                width=134,
                wish=48 + 38 * max(item.replicates for item in items),
            ),
            Column("state", "State", self._state, lambda: np.array(self._returned(), dtype=np.int64), width=82),
        ]

    def _entry_unit(self) -> str:
        if self.endpoint is None:
            return ""
        name, unit = self.endpoint.name, self.endpoint.unit
        return name if not unit or unit in name else f"{name}, {unit}"
