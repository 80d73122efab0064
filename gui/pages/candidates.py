"""The Candidates page: the ranked intervals over the table, one selection, and why."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from PySide6.QtCore import QByteArray, Qt, Signal
from PySide6.QtWidgets import QHBoxLayout, QSplitter, QVBoxLayout, QWidget

from assaypilot.engine.campaign.state import Status
from assaypilot.gui.filtering import narrow
from assaypilot.gui.models.candidates import CandidatesModel
from assaypilot.gui.pages.base import Page, side_panel, with_side
from assaypilot.gui.pages.candidate_panel import CandidatePanel
from assaypilot.gui.plots.candidates import Picture, picture_of
from assaypilot.gui.plots.canvas import Canvas
from assaypilot.gui.session import Session, View
from assaypilot.gui.widgets.choices import FilterBox, Segments
from assaypilot.gui.widgets.structures import Structures
from assaypilot.gui.widgets.table import Table
from assaypilot.gui.widgets.text import button, label

__all__ = ["CandidatesPage"]

UNDECIDED, IN = 0, 1


class CandidatesPage(Page):
    """Every compound with status, estimate and bounds; the plot and the table are one selection."""

    export = Signal(str)
    """Which compounds the page shows: ``alive`` (in and undecided), ``in`` or ``all``."""

    def __init__(self, session: Session, structures: Structures) -> None:
        super().__init__(session, "Candidates")
        self.canvas = Canvas("The candidates")
        self.canvas.clicked.connect(self._clicked)
        lower = QWidget()
        column = QVBoxLayout(lower)
        column.setContentsMargins(0, 8, 0, 0)
        column.setSpacing(10)
        tools = QHBoxLayout()
        tools.setSpacing(10)
        self.which = Segments([("alive", "In + undecided"), ("in", "In"), ("all", "All")], "Which compounds are shown")
        self.which.chosen.connect(lambda _: self._narrow())
        self.filter = FilterBox("Filter: id, substituent, R1=Me, >7.5", "Filter the candidates")
        self.filter.narrowed.connect(lambda _: self._narrow())
        self.shown = label("", "muted")
        self.export_button = button("&Export shortlist…", tip="Writes the compounds of this choice to a csv file")
        self.export_button.clicked.connect(lambda: self.export.emit(self.which.key))
        tools.addWidget(self.which)
        tools.addWidget(self.filter, 1)
        tools.addWidget(self.shown)
        tools.addWidget(self.export_button)
        column.addLayout(tools)
        self.model = CandidatesModel(self)
        self.table = Table(self.model, structures, name="Candidates")
        self.table.chosen.connect(self._chosen)
        column.addWidget(self.table, 1)
        self.empty = label("", "muted", wrap=True)
        self.empty.setAlignment(Qt.AlignmentFlag.AlignCenter)
        column.addWidget(self.empty)
        self.split = QSplitter(Qt.Orientation.Vertical)
        self.split.setHandleWidth(1)
        self.split.setChildrenCollapsible(False)
        self.split.addWidget(self.canvas)
        self.split.addWidget(lower)
        self.split.setStretchFactor(0, 2)
        self.split.setStretchFactor(1, 3)
        self.split.setSizes([230, 360])
        self.column.addWidget(self.split, 1)
        side, panel = side_panel()
        self.panel = CandidatePanel(structures)
        panel.addLayout(self.panel)
        self.sides = with_side(self, side)
        self._view: View | None = None
        self._compound: int | None = None
        self.picture: Picture | None = None
        """What the plot shows."""
        self._sorted = False

    # ------------------------------------------------------------------ what the window calls

    def refresh(self, view: View, *, opened: bool) -> None:
        """Nothing; shows a campaign as it is now."""
        self._view = view
        status = view.status
        if opened:
            self.filter.setText("")
            self._compound = None
            self._sorted = False
        wanted = self._compound
        self.model.show(status)
        if not self._sorted and np.isfinite(status.candidates.estimate).any():
            self.table.sortByColumn(self.model.place_of("status"), Qt.SortOrder.AscendingOrder)
            self._sorted = True
        self._compound = wanted
        several = len(status.goal_endpoints) > 1
        self.canvas.setMinimumHeight(250 if several else 170)
        self.filter.setPlaceholderText(_filter_hint(status))
        self.which.set_text("all", f"All {len(status.library):,}")
        self.subtitle.setText(_when(view))
        self.panel.show_rounds(view)
        self._narrow()

    def copy(self) -> None:
        """Nothing; copies the selected rows."""
        self.table.copy()

    def look_for(self) -> None:
        """Nothing; goes to the filter."""
        self.filter.setFocus()
        self.filter.selectAll()

    def splitter_state(self) -> QByteArray | None:
        """How the page is divided."""
        return self.split.saveState()

    def restore_splitter(self, state: QByteArray) -> None:
        """Nothing; divides the page as it was."""
        self.split.restoreState(state)

    def select(self, compound: int | None) -> None:
        """Nothing; makes a compound the selected one."""
        self._compound = compound
        self.table.choose(compound)
        self._explain()

    @property
    def shown_compounds(self) -> list[int]:
        """The compounds in the table, top to bottom: what is exported."""
        return [int(row) for row in self.model.rows]

    # ------------------------------------------------------------------ inside

    def _narrow(self) -> None:
        if self._view is None:
            return
        status = self._view.status
        codes = status.candidates.status
        mask: NDArray[np.bool_] | None = None
        if self.which.key == "in":
            mask = codes == IN
        elif self.which.key == "alive":
            mask = (codes == IN) | (codes == UNDECIDED)
        known = status.candidates
        named = {endpoint.name: known.estimates[endpoint.name] for endpoint in status.endpoints}
        named |= {e.scale_name: known.estimates[e.name] for e in status.endpoints}
        words = narrow(self.filter.text(), status.library, known.estimate, named)
        if words is not None:
            mask = words if mask is None else mask & words
        wanted = self._compound
        self.model.only(mask)
        rows = self.model.rowCount()
        self.shown.setText(f"{rows:,} shown")
        self.shown.setVisible(words is not None)
        self.empty.setVisible(rows == 0)
        if rows == 0:
            self.empty.setText(self._why_empty(words is not None))
        self._compound = wanted
        if wanted is None or not self.table.choose(wanted):
            if rows and wanted is None:
                self.table.choose(int(self.model.rows[0]))
            else:
                self._explain()
        else:
            self._explain()

    def _why_empty(self, filtered: bool) -> str:
        if filtered:
            return "No compound fits the filter. Escape in the box empties it."
        if self.which.key == "in":
            return "Nothing is in yet. It takes decided rounds to say so."
        return "Every compound is out or not estimable. All shows them."

    def _chosen(self, compound: int | None) -> None:
        if compound is not None and compound != self._compound:
            self._compound = compound
            self._explain()

    def _clicked(self, x: float, y: float) -> None:
        if self.picture is not None:
            compound = self.picture.at(x, y, (float(self.canvas.width()), float(self.canvas.height())))
            if compound is not None:
                self.select(compound)

    def _explain(self) -> None:
        if self._view is None:
            return
        self.panel.show_compound(self._view, self._compound)
        self._draw()

    def _draw(self) -> None:
        if self._view is None:
            return
        self.picture = picture_of(self._view.status, self._compound)
        self.canvas.setAccessibleName(self.picture.name)
        self.canvas.show_figure(self.picture.draw)


def _filter_hint(status: Status) -> str:
    """What the filter understands, with names of this campaign."""
    names = [status.endpoints[place].scale_name for place in status.measured_endpoints]
    short = next((name for name in names[1:] if " " not in name and len(name) < 12), "")
    return f"Filter: id, substituent, R1=Me, >7.5{f', {short}<5' if short else ''}"


def _when(view: View) -> str:
    """What the page's numbers rest on, in a few words."""
    status = view.status
    closed = [one.number for one in status.rounds if one.state == "closed"]
    standing = status.open_round
    parts = [f"after round {max(closed)}" if closed else "before the first round"]
    if status.finished:
        parts.append(status.statement)
    if standing is not None and standing.came > 0:
        back, asked = standing.came, standing.measurements
        parts.append(f"estimates include {back:,} of {asked:,} results of round {standing.number}")
    return " · ".join(parts)
