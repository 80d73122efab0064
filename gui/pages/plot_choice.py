"""What the picture on the Candidates page shows: the answer, two columns of the table, or one as a histogram."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from PySide6.QtCore import Signal
from PySide6.QtWidgets import QComboBox, QWidget

from ..models.base import Column, numeric, whole_name
from ..models.properties import PROPERTIES
from ..plots.scatter import Quantity
from ..widgets.flow import FlowRow
from .sar_choices import choice_box, named_box

__all__ = ["ANSWER", "HISTOGRAM", "SCATTER", "PlotChoice"]

ANSWER, SCATTER, HISTOGRAM = "answer", "scatter", "histogram"
_ASKED = {ANSWER: (), SCATTER: ("x", "y", "colour", "size"), HISTOGRAM: ("x",)}
"""The columns that each kind of picture asks for."""
_FIRST = {"x": "estimate", "y": "mean"}
"""Keys of the columns that are drawn at first."""


class PlotChoice(QWidget):
    """The columns of a picture; ``kind`` stands elsewhere, and without columns to choose this is hidden."""

    changed = Signal()

    def __init__(self) -> None:
        super().__init__()
        self.kind = choice_box("Picture", "What is drawn of the compounds in the table", letters=9)
        for key, text in ((ANSWER, "Ranking"), (SCATTER, "Scatter"), (HISTOGRAM, "Histogram")):
            self.kind.addItem(text, key)
        row = FlowRow(self, 8)
        self.boxes: dict[str, QComboBox] = {}
        self._named: dict[str, QWidget] = {}
        for key, text in (("x", "X"), ("y", "Y"), ("colour", "Colour"), ("size", "Size")):
            box = choice_box(f"{text} of the picture", letters=10)
            box.activated.connect(lambda _: self.changed.emit())
            self.boxes[key], self._named[key] = box, named_box(text, box)
            row.addWidget(self._named[key])
        self.kind.activated.connect(lambda _: self._show())
        self._columns: Sequence[Column] = ()
        self._show()

    @property
    def key(self) -> str:
        """The kind of picture."""
        return str(self.kind.currentData())

    @property
    def wants_properties(self) -> bool:
        """Whether a column is drawn that is calculated from the structures."""
        return any(self.boxes[role].currentData() in PROPERTIES for role in _ASKED[self.key])

    def offer(self, columns: Sequence[Column], answer: str) -> None:
        """Offer the columns of a table that hold numbers; ``answer``: what the answer's own picture is called."""
        self._columns = numeric(columns)
        self.kind.setItemText(0, answer)
        for role, box in self.boxes.items():
            wanted = box.currentData() or _FIRST.get(role)
            box.clear()
            if role in ("colour", "size"):
                box.addItem("status" if role == "colour" else "all alike", "")
            for column in self._columns:
                box.addItem(whole_name(column), column.key)
            box.setCurrentIndex(max(box.findData(wanted), 0))

    def quantity(self, role: str) -> Quantity | None:
        """The column chosen for a role; None where none is."""
        key = self.boxes[role].currentData()
        column = next((one for one in self._columns if one.key == key), None)
        if column is None or column.rank is None:
            return None
        return Quantity(whole_name(column), np.asarray(column.rank(), dtype=np.float64))

    def values(self) -> dict[str, str]:
        """What is chosen, to be remembered."""
        return {"kind": self.key, **{role: str(box.currentData() or "") for role, box in self.boxes.items()}}

    def use(self, values: Any) -> None:
        """Choose what was chosen; anything else than remembered values: as at first."""
        known = values if isinstance(values, dict) else {}
        self.kind.setCurrentIndex(max(self.kind.findData(known.get("kind")), 0))
        for role, box in self.boxes.items():
            box.setCurrentIndex(max(box.findData(known.get(role) or _FIRST.get(role, "")), 0))
        self._show()

    def _show(self) -> None:
        asked = _ASKED[self.key]
        for role, one in self._named.items():
            one.setVisible(role in asked)
        self.setVisible(bool(asked))
        self.changed.emit()
