"""The Candidates page: the ranked intervals over the table, one selection, and why."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
from PySide6.QtCore import QPoint, Qt, Signal
from PySide6.QtGui import QGuiApplication, QShowEvent
from PySide6.QtWidgets import QMenu, QWidget

from assaypilot.engine.arrays import Flags, Floats
from assaypilot.engine.chemistry.names import site_names
from assaypilot.engine.text import many

from ..plots.candidates import CandidatesCanvas
from ..plots.choices import ANSWER, PlotChoice
from ..session.session import Session
from ..session.view import View
from ..structures.drawing import Structures
from ..tables.properties import exported
from ..tables.table import Table
from ..tables.tools import TableTools
from ..widgets.inputs import Segments
from ..widgets.layout import column_of, put, row_of, show_menu, splitter
from ..widgets.text import button, label, mnemonic_free
from ..window.export_dialog import Screen, screen_of
from ..window.page import ReplayPage, side_panel, with_side
from .candidate_panel import CandidatePanel
from .candidate_rows import CandidatesModel, filter_facts, filter_hint, when_words

UNDECIDED, IN = 0, 1
_FIRST_ORDER = ("status", Qt.SortOrder.AscendingOrder)


class CandidatesPage(ReplayPage):
    """Every compound with status, estimate and bounds; the plot and the table are one selection."""

    export = Signal()
    """The content of the page is to be exported."""
    arranged = Signal()
    """Columns were chosen, moved or sorted by."""

    def __init__(self, session: Session, structures: Structures) -> None:
        super().__init__(session, "Candidates")
        self.plot = PlotChoice()
        self.plot.changed.connect(self._plot_chosen)
        self.heading.addWidget(self.plot.kind)
        self.column.addWidget(self.plot)
        self.canvas = CandidatesCanvas(structures, self.plot)
        self.canvas.picked.connect(self._pick)
        self.canvas.moved.connect(self._draw)
        self.canvas.enclosed.connect(self._enclosed)
        lower = QWidget()
        column = column_of(holder=lower, margins=(0, 8, 0, 0), spacing=10)
        tools = row_of(spacing=10)
        self.which = Segments([("alive", "In + undecided"), ("in", "In"), ("all", "All")], "Which compounds are shown")
        self.which.chosen.connect(lambda _: self._narrow())
        self.model = CandidatesModel(self)
        self.table = Table(self.model, structures, name="Candidates")
        self.tools = TableTools(session, self.table, "candidates")
        self.tools.narrowing.connect(self._narrow)
        self.tools.calculated.connect(self._show_properties)
        self.filter, self.shown, self.columns_button = self.tools.filter, self.tools.shown, self.tools.columns
        self.export_button = button("E&xport…", tip="Writes compounds to CSV, Excel, SD-file, PDF or PowerPoint: these "
                                    "ones as they stand here, those that are in, or all")  # fmt: skip
        self.export_button.clicked.connect(self.export)
        put(tools, self.which, (self.filter, 1), self.shown, self.tools.draw, self.tools.sliders)
        put(tools, self.columns_button, self.export_button)
        column.addLayout(tools)
        self.table.freeze("status", "id", "structure")
        self.table.setContextMenuPolicy(Qt.ContextMenuPolicy.CustomContextMenu)
        self.table.customContextMenuRequested.connect(self._menu)
        self.table.chosen.connect(self._chosen)
        self.table.selectionModel().selectionChanged.connect(lambda *_: self._mark_selected())
        self.arrangement = self.tools.arrange(hidden=("available", "measured", "decided", "far"), fixed=("id",))
        self.arrangement.changed.connect(self._arranged)
        column.addWidget(self.table, 1)
        self.empty = label("", "muted", wrap=True)
        self.empty.setAlignment(Qt.AlignmentFlag.AlignCenter)
        column.addWidget(self.empty)
        self.split = splitter(Qt.Orientation.Vertical, self.canvas, lower)
        self.split.setStretchFactor(0, 2)
        self.split.setStretchFactor(1, 3)
        self.split.setSizes([150, 420])
        self.column.addWidget(self.split, 1)
        self.panel = CandidatePanel(structures, session)
        self.sides = with_side(self, self.panel.as_side(*side_panel()))
        self._compound: int | None = None
        self._filtered: Flags | None = None
        """The compounds the filter leaves, which the plot shows too; None: all."""
        self._behind = False
        """Whether another compound was selected elsewhere while this page was not seen."""
        session.selection.changed.connect(self._selected)
        self._sorted = False
        self._wanted_order = _FIRST_ORDER

    # ------------------------------------------------------------------ calls of the window

    def refresh(self, view: View, *, opened: bool) -> None:
        """Show the current state of a campaign."""
        self._now = view
        self._view = view = self.session.replay.of(view)
        status = view.status
        if opened:
            self._sorted = False
        elsewhere = (opened or self._behind) and self.session.selection.compound is not None
        if opened or self._behind:
            self._compound, self._behind = self.session.selection.compound, False
        wanted = self._compound
        self.model.show(status, self.tools.properties(status.library))
        if not self._sorted and np.isfinite(status.candidates.estimate).any():
            keys = [column.key for column in self.model.columns]
            key, order = self._wanted_order if self._wanted_order[0] in keys else _FIRST_ORDER
            self.table.sortByColumn(self.model.place_of(key), order)
            self._sorted = True
        self.tools.calculate(status.library)
        self._compound = wanted
        several = len(status.goal_endpoints) > 1
        self.plot.offer(self.model.columns, "Trade-offs" if several else "Ranking")
        self._reserve()
        self.filter.setPlaceholderText(filter_hint(status))
        self.which.set_text("all", f"All {len(status.library):,}")
        # The parts below do not move while an earlier round is shown.
        self.subtitle.setMinimumHeight(0 if view is self._now else self.subtitle.height())
        # The replay bar shows this for earlier rounds.
        self.subtitle.setText(when_words(view) if view is self._now else "")
        self.panel.show_rounds(self._now, self.session.replay.round)
        self._narrow()
        if elsewhere:
            self._reveal()
            self._choose_group()

    def forget(self) -> None:
        """Show no campaign, as before the first one."""
        self._now = self._view = self._compound = self._filtered = None
        self._behind = self._sorted = False
        self.model.fill([], 0)
        self.canvas.forget()

    def showEvent(self, event: QShowEvent) -> None:
        """Go to the compound selected on another page."""
        super().showEvent(event)
        if self._behind:
            self._follow()

    def copy(self) -> None:
        """Copy the selected rows of the shown moment, or the picture or panel that has the keyboard."""
        if self.canvas.hasFocus():
            self.canvas.copy()
            return
        if self.panel.copy():
            return
        rows = self.table.copy()
        if self._view is not self._now:
            self.session.message.emit(f"{many(rows, 'compound')} copied. {self.session.replay.words}.")

    def _pick(self, compound: int) -> None:
        """Select the compound clicked in the plot, without moving the plot."""
        with self.canvas.pointing():
            self.select(compound)

    def select(self, compound: int | None) -> None:
        """Make a compound the selected one."""
        self._compound = compound
        self.table.choose(compound)
        self._explain()
        self.session.selection.choose(compound)

    def on_screen(self) -> Screen:
        """Return the current table for an export; an earlier round that is shown gives way to it."""
        if self._now is None:
            raise RuntimeError("the page was never shown")
        self.session.replay.go(None)
        if self._view is not self._now:
            self.refresh(self._now, opened=False)
        self.filter.settle()
        status = self._now.status
        found = self.tools.properties(status.library)
        words = self.filter.text().strip()
        return screen_of(
            status, self.model, self.arrangement.columns, exported(status, found),
            choice=self.which.text(self.which.key), words=words, arranged=not self.arrangement.untouched,
        )  # fmt: skip

    def arrange(self, values: dict[str, Any]) -> None:
        """Arrange the columns as they were, and sort by the one they were sorted by."""
        self.arrangement.use(values)
        self._wanted_order = self.arrangement.order or _FIRST_ORDER
        self.filter.setText(str(values.get("filter", "")))
        self.plot.use(values.get("plot"))
        which = values.get("which")
        self.which.choose(which if which in self.which.keys else self.which.keys[0])

    @property
    def layout_values(self) -> dict[str, Any]:
        """How the table is arranged and narrowed, to be remembered with the campaign."""
        return {**self.arrangement.values(), "filter": self.filter.text(), "which": self.which.key,
                "plot": self.plot.values()}  # fmt: skip

    # ------------------------------------------------------------------ inside

    def _arranged(self) -> None:
        if self._view is not None:
            if self.model.wanted_by is not None:
                self._wanted_order = self.model.wanted_by
            self.tools.calculate(self._view.status.library)
        self.arranged.emit()

    def _show_properties(self) -> None:
        """Show the calculated properties."""
        if self._now is not None and self._now is self.session.view:
            self.refresh(self._now, opened=False)

    def _narrow(self) -> None:
        if self._view is None:
            return
        status = self._view.status
        columns = self.model.columns
        words = self.tools.narrowed(status.library, columns, lambda: filter_facts(status, columns))
        narrowed, mask = words.mask is not None, words.mask
        self._filtered = words.mask
        if self.which.key != "all":
            codes = status.candidates.status
            chosen = codes == IN if self.which.key == "in" else (codes == IN) | (codes == UNDECIDED)
            mask = chosen if mask is None else mask & chosen
        wanted = self._compound
        self.model.only(mask)
        rows = self.model.rowCount()
        self.tools.show_count(narrowed, rows)
        self.empty.setVisible(rows == 0)
        if rows == 0:
            self.empty.setText(self._why_empty(narrowed))
        self._compound = wanted
        if wanted is None or not self.table.choose(wanted):
            if rows and wanted is None:
                self.table.choose(int(self.model.rows[0]))
            else:
                self._explain()
        else:
            self._explain()

    def _menu(self, at: QPoint) -> None:
        """Open the menu of the selected compound."""
        if self._view is None or self._compound is None:
            return
        library, compound = self._view.status.library, self._compound
        menu = QMenu(self)
        menu.addAction("&Copy rows", self.table.copy)
        smiles = library.drawing(compound)
        if smiles:
            menu.addAction("Copy &SMILES", lambda: QGuiApplication.clipboard().setText(smiles))
            menu.addAction("S&imilar compounds", lambda: self._filter_by(f"like:{smiles}"))
            menu.addAction("S&ubstructure of it…", lambda: self.tools.draw_structure(smiles))
        menu.addSeparator()
        for place, site in enumerate(library.sites):
            name = site_names(site.substituents)[library.codes[compound, place]]
            if " " not in site.name + name:
                words = f"{site.name}={name}"
                menu.addAction(mnemonic_free(f"Only {site.name} = {name}"), partial(self._filter_by, words))
        show_menu(menu, self.table.viewport().mapToGlobal(at))

    def _filter_by(self, words: str) -> None:
        self.which.choose("all")
        self.filter.setText(words)

    def _why_empty(self, filtered: bool) -> str:
        if filtered:
            return "Escape in the filter empties it."
        if self.which.key == "in":
            return "No compound is in yet. That takes decided rounds."
        return "Every compound is out or not estimable. All shows them."

    def _chosen(self, compound: int | None) -> None:
        if compound is not None and compound != self._compound:
            self._compound = compound
            self._explain()
            self.session.selection.choose(compound)

    def _selected(self) -> None:
        selection = self.session.selection
        if selection.compound == self._compound and not selection.group:
            return
        self._behind = True
        if self.isVisible():
            self._follow()

    def _follow(self) -> None:
        """Select the compound selected on another page."""
        if self._view is None or self._view is not self.session.view:
            return  # the page is about to be filled again
        self._behind = False
        self._compound = self.session.selection.compound
        self.table.choose(self._compound)
        self._explain()
        self._reveal()
        self._choose_group()

    def _reveal(self) -> None:
        """Show all compounds when a selected one is among those left out by their status."""
        compound = self._compound
        if compound is None or self.filter.text() or self.which.key == "all":
            return
        if not np.isin([compound, *self.session.selection.group], self.model.rows).all():
            self.which.choose("all")

    def _choose_group(self) -> None:
        """Select all compounds that were selected at once on another page."""
        if self.session.selection.group:
            self.table.choose_rows(self.session.selection.group, self._compound)

    def _explain(self) -> None:
        if self._view is None:
            return
        self.panel.show_compound(self._view, self._compound)
        self._draw()

    def _reserve(self) -> None:
        """Give the plot the height that it needs."""
        front = self._view is not None and len(self._view.status.goal_endpoints) > 1
        self.canvas.reserve(220 if front or self.plot.key != ANSWER else 140)

    def _plot_chosen(self) -> None:
        """Draw another picture."""
        self.canvas.show_kind()
        self._reserve()
        if self._view is not None:
            if self.plot.wants_properties:
                self.session.calculations.want(self._view.status.library)
            self._draw()
            self.arranged.emit()

    def _enclosed(self, outline: Floats) -> None:
        """Select in the table the compounds that a line in the plot encloses."""
        scene = self.canvas.scene
        if scene is None:
            return
        compounds = scene.enclosed(outline)
        if self._view is not None and not np.isin(compounds, self.model.rows).all() and not self.filter.text():
            self.which.choose("all")
        with self.canvas.pointing():
            count = self.table.choose_rows(compounds)
            self._draw()
        self.session.message.emit(f"{many(count, 'compound')} selected. Copy takes their rows.")

    def _mark_selected(self) -> None:
        """Mark in a picture of columns the compounds selected in the table."""
        if self.plot.key != ANSWER:
            self._draw()

    def _draw(self) -> None:
        if self._view is not None:
            within = None if self._view is self._now else self.session.replay.axes
            self.canvas.draw_status(
                self._view.status, self._compound, rows=self.model.rows, chosen=self.table.selected_rows(),
                only=self._filtered, within=within,
            )  # fmt: skip
