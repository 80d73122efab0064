"""The steps of a campaign as the window does them: plan, enter, close, and what each of them shows next."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import Qt

if TYPE_CHECKING:
    from assaypilot.engine.domain.stock import PlanName

    from ..dialogs.audit import AuditDialog
    from ..pages.round_ending import ClosePanel
    from .main_window import MainWindow

__all__ = ["Journey"]


class Journey:
    """The commands of the Round menu and of the one button on top."""

    def __init__(self, window: MainWindow) -> None:
        self._window = window
        self.closing: ClosePanel | None = None
        """The question what becomes of what is missing, once it was asked."""
        self.auditing: AuditDialog | None = None
        """The question how many compounds to draw, once it was asked."""

    def do_next(self, command: str) -> None:
        """What the one button of the strip does."""
        window = self._window
        {
            "new": window.new_campaign,
            "plan": self.plan,
            "enter": self.enter_results,
            "close": self.close_round,
            "confirm": self.confirm,
            "export": window.exporting.shortlist,
        }[command]()

    def plan(self) -> None:
        """Issue the next round and show it; where there is a choice of plans they are shown first."""
        window, view = self._window, self._window.session.view
        if view is not None and view.status.choosable:
            window.show_page(window.pages.index(window.round))
            window.round.choose_plan()
            return
        self.plan_as(None)

    def plan_as(self, choice: PlanName | None) -> None:
        """Issue the next round, cut from the plan that was chosen, and show it."""
        window = self._window

        def planned(issued: object) -> None:
            view = window.session.view
            if issued is None and view is not None and view.status.stock is not None and view.status.stock.waiting:
                window.show_page(window.pages.index(window.round))
                window.messages.note("All that is left of this step has to be made first. Say what has arrived.")
                return
            if issued is None:
                window.messages.note("Nothing more needs to be measured.")
                window.show_page(window.pages.index(window.candidates))
                return
            window.show_page(window.pages.index(window.round))
            window.round.table.setFocus(Qt.FocusReason.OtherFocusReason)

        window.session.plan(planned, choice)

    def confirm(self) -> None:
        """Issue the confirmation round and show it."""
        window = self._window

        def planned(issued: object) -> None:
            if issued is None:
                window.messages.note("Every compound that is in was measured already.")
                return
            window.show_page(window.pages.index(window.round))
            window.round.table.setFocus(Qt.FocusReason.OtherFocusReason)

        window.session.plan_confirmation(planned)

    def audit(self) -> None:
        """Ask how many compounds to draw, issue the audit round and show it."""
        from ..dialogs.audit import AuditDialog

        window, view = self._window, self._window.session.view
        if view is None:
            return
        dialog = AuditDialog(view.status, window)

        def planned(_issued: object) -> None:
            window.show_page(window.pages.index(window.round))
            window.round.table.setFocus(Qt.FocusReason.OtherFocusReason)

        dialog.accepted.connect(lambda: window.session.plan_audit(dialog.size_box.value(), planned))
        dialog.finished.connect(dialog.deleteLater)
        self.auditing = dialog
        dialog.open()

    def enter_results(self) -> None:
        """Go to the first line that waits for a result."""
        window = self._window
        window.show_page(window.pages.index(window.round))
        window.round.focus_first_empty()

    def close_round(self) -> None:
        """Say what closing the round means, beside it, and close it when that is confirmed."""
        window, view = self._window, self._window.session.view
        if view is None or view.status.open_round is None:
            return
        window.show_page(window.pages.index(window.round))
        window.round.ask_to_close(self._closed)
        self.closing = window.round.panel.closing

    def withdraw_round(self) -> None:
        """Say what withdrawing the round means, beside it, and withdraws it when that is confirmed."""
        window = self._window
        window.show_page(window.pages.index(window.round))
        window.round.ask_to_withdraw()

    def step(self, by: int) -> None:
        """Show the round before or after the one shown."""
        window = self._window
        window.show_page(window.pages.index(window.round))
        window.round.step(by)

    def _closed(self) -> None:
        window, view = self._window, self._window.session.view
        if view is not None:
            window.messages.note(view.status.statement)
            window.show_page(window.pages.index(window.candidates))
