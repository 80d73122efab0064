"""The Library page: every compound of the campaign."""

from __future__ import annotations

import math
from typing import Any

from PySide6.QtCore import QPoint, Qt
from PySide6.QtGui import QShowEvent
from PySide6.QtWidgets import QMenu

from assaypilot.engine.text import many

from ..round.reason_dialog import ask_unavailable
from ..session.session import Session
from ..session.view import View
from ..structures.drawing import Structures
from ..tables.filter import Facts, facts_of
from ..tables.table import Table
from ..tables.tools import TableTools
from ..widgets.layout import put, row_of, show_menu
from ..widgets.text import Callout, button
from ..window.page import Page
from .library_rows import LibraryModel, availability, history_means

_REMARKS = 6
"""Remarks on the table that are listed."""


class LibraryPage(Page):
    """The table of compounds with the substituents of each."""

    def __init__(self, session: Session, structures: Structures) -> None:
        super().__init__(session, "Library")
        self.setLayout(self.column)
        self.remarks = button("", "link", tip="Shows or hides what reading the table brought up")
        self.remarks.setCheckable(True)
        self.notes = Callout()
        self.remarks.toggled.connect(self.notes.setVisible)
        self.heading.addWidget(self.remarks, 0, Qt.AlignmentFlag.AlignTop)
        self.column.addWidget(self.notes)
        tools = row_of(spacing=10)
        self.model = LibraryModel(self)
        self.table = Table(self.model, structures, name="Compounds of the library")
        self.tools = TableTools(session, self.table, "library")
        self.tools.narrowing.connect(self._narrow)
        self.tools.calculated.connect(self._show_properties)
        self.filter, self.shown = self.tools.filter, self.tools.shown
        self.gone = button(
            "Mark as &unavailable…", tip="Note that the selected compounds cannot be made or bought", then=self._mark
        )
        put(tools, (self.filter, 1), self.shown, self.tools.draw, self.tools.sliders, self.tools.columns, self.gone)
        self.column.addLayout(tools)
        self.table.freeze("id", "structure")
        self.arrangement = self.tools.arrange(fixed=("id",))
        self.arrangement.changed.connect(self._arranged)
        self.table.chosen.connect(self._chosen)
        self.table.setContextMenuPolicy(Qt.ContextMenuPolicy.CustomContextMenu)
        self.table.customContextMenuRequested.connect(self._menu)
        self.column.addWidget(self.table, 1)
        self._view: View | None = None
        session.selection.changed.connect(self._selected)

    def forget(self) -> None:
        """Show no campaign, as before the first one."""
        self._view = None
        self.model.fill([], 0)
        self.remarks.setChecked(False)

    def refresh(self, view: View, *, opened: bool) -> None:
        """Show the current state of a campaign."""
        self._view = view
        status = view.status
        library = status.library
        self.model.show(status, self.tools.properties(library))
        if opened:
            self.table.put_in_order(self.arrangement.order)
        self.tools.calculate(library)
        self._narrow()
        sizes = [len(site.substituents) for site in library.sites]
        combinations = math.prod(sizes)
        of = "" if combinations == len(library) else f" of {combinations:,}"
        made_of = " × ".join(f"{size:,} {site.name}" for size, site in zip(sizes, library.sites, strict=True))
        gone = int((availability(status) > 0).sum())
        parts = [f"{len(library):,}{of} compounds: {made_of}"]
        if gone:
            parts.append(f"{gone:,} unavailable")
        history = sum(one.round == 0 for one in status.measurements)
        if history:
            parts.append(f"{history:,} values from before")
        rank = view.rank
        if rank is not None and rank[0] < rank[1]:
            parts.append(f"the library can estimate {rank[0]:,} of {rank[1]:,} unknowns")
        self.subtitle.setText(" · ".join(parts))
        self.gone.setEnabled(not view.read_only)
        warnings = status.warnings[:_REMARKS]
        self.remarks.setVisible(bool(warnings))
        self.remarks.setText(many(len(warnings), "remark"))
        self.notes.setVisible(bool(warnings) and self.remarks.isChecked())
        self.notes.show_text("", "\n".join(warnings))

    def arrange(self, values: dict[str, Any]) -> None:
        """Arrange the columns as they were, and sort by the one they were sorted by."""
        self.arrangement.use(values)
        self.filter.setText(str(values.get("filter", "")))

    @property
    def layout_values(self) -> dict[str, Any]:
        """How the table is arranged and narrowed, to be remembered with the campaign."""
        return {**self.arrangement.values(), "filter": self.filter.text()}

    def copy(self) -> None:
        """Copy the selected rows."""
        self.table.copy()

    def showEvent(self, event: QShowEvent) -> None:
        """Go to the compound selected on another page."""
        super().showEvent(event)
        self._selected()

    def _narrow(self) -> None:
        if self._view is None:
            return
        status, columns = self._view.status, self.model.columns

        def facts() -> Facts:
            return facts_of(columns, history_means(status, status.objective))

        found = self.tools.narrowed(status.library, columns, facts)
        self.model.only(found.mask)
        self.table.choose(self.session.selection.compound)
        self.tools.show_count(found.mask is not None, self.model.rowCount())

    def _chosen(self, compound: int | None) -> None:
        # The keyboard alone coming to the table makes a row the current one, and selects none.
        if compound is not None and self.isVisible() and self.table.selected_places().size:
            self.session.selection.choose(compound)

    def _selected(self) -> None:
        """Go to the compound that is selected, once the page is seen."""
        compound = self.session.selection.compound
        if self._view is None or self._view is not self.session.view or not self.isVisible():
            return  # the page is filled again when it is seen
        if compound is not None and compound != self.table.current_row():
            self.table.choose(compound)

    def _arranged(self) -> None:
        if self._view is not None:
            self.tools.calculate(self._view.status.library)

    def _show_properties(self) -> None:
        if self._view is not None and self._view is self.session.view:
            self.refresh(self._view, opened=False)

    def _menu(self, at: QPoint) -> None:
        menu = QMenu(self)
        menu.addAction("&Copy", self.copy)
        gone = menu.addAction("Mark as &unavailable…", self._mark)
        gone.setEnabled(self.gone.isEnabled() and bool(self.table.selected_rows()))
        show_menu(menu, self.table.viewport().mapToGlobal(at))

    def _mark(self) -> None:
        rows = self.table.selected_rows()
        if self._view is None:
            return
        if not rows:
            self.session.message.emit("Select the compounds first that are unavailable.")
            return
        names = [self._view.status.library.ids[row] for row in rows]
        ask_unavailable(names, self.session, self)
