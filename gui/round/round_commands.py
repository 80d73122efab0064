"""Commands of the round: plan, issue, confirm, audit, withdraw."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QDialog, QFormLayout, QSpinBox, QWidget

from assaypilot.engine.campaign.auditing import CONFIDENCE, members_if_none
from assaypilot.engine.campaign.state import Status
from assaypilot.engine.strategies.protocol import IN
from assaypilot.engine.text import percent

from ..widgets.layout import column_of, show_dialog
from ..widgets.text import go_or_cancel, label
from ..window.page import PageName

if TYPE_CHECKING:
    from ..window.page import Desk
    from .round_ending import ClosePanel
    from .round_page import RoundPage


USUAL = 48
"""Compounds that are proposed."""


def population_of(status: Status) -> int:
    """Return how many compounds are not in, can be measured and never were; 0 where no audit is possible."""
    if status.settings.goal in ("pareto", "top") or status.limited_endpoints or not status.measurements or status.phase:
        return 0
    free = status.library.measurable & (status.candidates.status != IN) & (status.candidates.measured == 0)
    free[list(status.unavailable)] = False
    return int(np.count_nonzero(free))


class AuditDialog(QDialog):
    """Asks for the size of the sample."""

    def __init__(self, status: Status, parent: QWidget | None) -> None:
        super().__init__(parent)
        self.setWindowTitle("Plan audit round")
        self._population = population_of(status)
        column = column_of(holder=self, margins=(22, 20, 22, 16), spacing=12)
        about = f"Draws from the {self._population:,} compounds that are not in and were never measured, at random."
        column.addWidget(label(about, wrap=True))
        self.size_box = QSpinBox()
        self.size_box.setRange(1, self._population)
        self.size_box.setValue(min(USUAL, self._population))
        self.size_box.setAccessibleName("Compounds to draw")
        self.size_box.valueChanged.connect(self._show_bound)
        form = QFormLayout()
        form.addRow("&Compounds to draw", self.size_box)
        column.addLayout(form)
        self.bound = label("", wrap=True)
        column.addWidget(self.bound)
        buttons, self.go = go_or_cancel("&Plan audit round", self)
        column.addWidget(buttons)
        self.setMinimumWidth(26 * self.fontMetrics().height())
        self._show_bound()

    def _show_bound(self) -> None:
        size = self.size_box.value()
        missed, rest = members_if_none(self._population, size), self._population - size
        self.bound.setText(
            f"If none of them is a member, at most {missed:,} of the other {rest:,} are ({percent(CONFIDENCE)}), "
            "whatever the model believes."
            if rest
            else "All of them are measured: nothing is missed."
        )


class RoundCommands:
    """The commands of the Round menu and of the one button on top."""

    def __init__(self, desk: Desk, page: RoundPage) -> None:
        self._desk, self._page = desk, page
        self.closing: ClosePanel | None = None
        """The dialog about missing results, once it was shown."""
        self.auditing: AuditDialog | None = None
        """The dialog about the number of compounds to draw, once it was shown."""

    def plan(self) -> None:
        """Issue the next round and show it."""
        desk = self._desk

        def planned(issued: object) -> None:
            view = desk.session.view
            if issued is None and view is not None and view.status.stock is not None and view.status.stock.waiting:
                desk.show_page(PageName.ROUND)
                desk.messages.note("All that is left has to be made first. Mark what has arrived.")
                return
            if issued is None:
                desk.messages.note("Nothing more needs to be measured.")
                desk.show_page(PageName.CANDIDATES)
                return
            desk.show_page(PageName.ROUND)
            self._page.table.setFocus(Qt.FocusReason.OtherFocusReason)

        desk.session.plan(planned)

    def confirm(self) -> None:
        """Issue the confirmation round and show it."""
        desk = self._desk

        def planned(issued: object) -> None:
            if issued is None:
                desk.messages.note("Every compound that is in was measured already.")
                return
            desk.show_page(PageName.ROUND)
            self._page.table.setFocus(Qt.FocusReason.OtherFocusReason)

        desk.session.plan_confirmation(planned)

    def audit(self) -> None:
        """Ask how many compounds to draw, issue the audit round and show it."""
        desk, view = self._desk, self._desk.session.view
        if view is None:
            return
        dialog = AuditDialog(view.status, desk.parent)

        def planned(_issued: object) -> None:
            desk.show_page(PageName.ROUND)
            self._page.table.setFocus(Qt.FocusReason.OtherFocusReason)

        self.auditing = dialog
        show_dialog(dialog, lambda: desk.session.plan_audit(dialog.size_box.value(), planned))

    def enter_results(self) -> None:
        """Go to the first line that waits for a result."""
        desk = self._desk
        desk.show_page(PageName.ROUND)
        self._page.focus_first_empty()

    def close_round(self) -> None:
        """Show in the panel what closing the round means, and close it when that is confirmed."""
        desk, view = self._desk, self._desk.session.view
        if view is None or view.status.open_round is None:
            return
        desk.show_page(PageName.ROUND)
        self._page.ends.close(self._closed)
        self.closing = self._page.panel.closing

    def withdraw_round(self) -> None:
        """Show in the panel what withdrawing the round means, and withdraw it when that is confirmed."""
        desk = self._desk
        desk.show_page(PageName.ROUND)
        self._page.ends.withdraw()

    def step(self, by: int) -> None:
        """Show the round before or after the one shown."""
        desk = self._desk
        desk.show_page(PageName.ROUND)
        self._page.step(by)

    def _closed(self) -> None:
        desk, view = self._desk, self._desk.session.view
        if view is not None:
            desk.messages.note(view.status.statement)
            desk.show_page(PageName.CANDIDATES)
