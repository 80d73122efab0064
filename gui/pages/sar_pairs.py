"""What single and double changes did: a table of matched pairs, activity cliffs and quadruples."""

from __future__ import annotations

import numpy as np
from PySide6.QtCore import Signal
from PySide6.QtWidgets import QHBoxLayout, QVBoxLayout, QWidget

from assaypilot.engine.campaign.phrases import many
from assaypilot.engine.export.structure_activity import Compared

from ..models.pairs import KINDS, PairsModel
from ..widgets.choices import FilterBox, Segments
from ..widgets.structures import Structures
from ..widgets.table import Table
from ..widgets.text import label

__all__ = ["PairsView"]


class PairsView(QWidget):
    """The table, what it is about, and which compounds a row of it means."""

    picked = Signal(object)
    """The compounds of the row that was chosen."""

    def __init__(self, structures: Structures) -> None:
        super().__init__()
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(10)
        tools = QHBoxLayout()
        tools.setSpacing(10)
        self.kind = Segments(KINDS, "What is compared")
        self.kind.chosen.connect(lambda _: self._fill())
        self.filter = FilterBox("Filter: site, substituent, ID", "Filter the pairs")
        self.filter.narrowed.connect(self._narrow)
        tools.addWidget(self.kind)
        tools.addWidget(self.filter, 1)
        column.addLayout(tools)
        self.summary = label("", "muted", wrap=True, selectable=True)
        column.addWidget(self.summary)
        self.model = PairsModel(self)
        self.table = Table(self.model, structures, name="Pairs")
        self.table.chosen.connect(self._chosen)
        column.addWidget(self.table, 1)
        self._compared: Compared | None = None
        self._filling = False

    def show_pairs(self, compared: Compared) -> None:
        """Show what was found of one endpoint."""
        if compared is not self._compared:
            self._compared = compared
            self._fill()

    def forget(self) -> None:
        """Show nothing, as before the first campaign."""
        self._compared = None
        self.filter.clear()
        self.kind.choose(KINDS[0][0])
        self.model.fill([], 0)

    def _fill(self) -> None:
        if self._compared is None:
            return
        self._filling = True
        self.model.show(self._compared, self.kind.key)
        self.model.narrow(self.filter.text())
        self._filling = False
        self.summary.setText(self._summary(self._compared))

    def _narrow(self, text: str) -> None:
        self._filling = True
        self.model.narrow(text)
        self._filling = False

    def _chosen(self, row: int | None) -> None:
        if row is not None and not self._filling:
            self.picked.emit(self.model.compounds(row))

    def _summary(self, compared: Compared) -> str:
        found = compared.found
        if self.kind.key == "quadruples":
            four = found.quadruples
            if not four.count:
                return "No four measured compounds A, A+x, A+y and A+x+y yet."
            noise = "" if np.isnan(four.spread_of_noise) else f"; assay noise alone: {four.spread_of_noise:.2f}"
            return f"{many(four.count, 'cycle')} A, A+x, A+y, A+x+y, off by {four.spread:.2f} (RMS){noise}."
        if not found.count:
            return "No two measured compounds differ in one group yet."
        rarer = [
            f" {site.name}: {count:,} rarer substituents are not compared."
            for site, count in zip(compared.status.library.sites, found.left_out, strict=True)
            if count
        ]
        return f"{many(found.count, 'pair')} of measured compounds that differ in one group.{''.join(rarer)}"
