"""The steps of a campaign as the window does them: plan, enter, close, and what each of them shows next."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import Qt

if TYPE_CHECKING:
    from assaypilot.gui.dialogs.reasons import CloseRoundDialog
    from assaypilot.gui.main_window import MainWindow

__all__ = ["Journey"]


class Journey:
    """The commands of the Round menu and of the one button on top."""

    def __init__(self, window: MainWindow) -> None:
        self._window = window
        self.closing: CloseRoundDialog | None = None
        """The question what becomes of what is missing, the last one asked."""

    def do_next(self, command: str) -> None:
        """Nothing; what the one button of the strip does."""
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
        """Nothing; issues the next round and shows it."""
        window = self._window

        def planned(issued: object) -> None:
            if issued is None:
                window.messages.note("Nothing more needs to be measured.")
                window.show_page(window.pages.index(window.candidates))
                return
            window.show_page(window.pages.index(window.round))
            window.round.table.setFocus(Qt.FocusReason.OtherFocusReason)

        window.session.plan(planned)

    def confirm(self) -> None:
        """Nothing; issues the confirmation round and shows it."""
        window = self._window

        def planned(issued: object) -> None:
            if issued is None:
                window.messages.note("Every compound that is in was measured already.")
                return
            window.show_page(window.pages.index(window.round))
            window.round.table.setFocus(Qt.FocusReason.OtherFocusReason)

        window.session.plan_confirmation(planned)

    def enter_results(self) -> None:
        """Nothing; goes to the first line that waits for a result."""
        window = self._window
        window.show_page(window.pages.index(window.round))
        window.round.focus_first_empty()

    def close_round(self) -> None:
        """Nothing; asks what becomes of what is missing, and closes the round."""
        window, view = self._window, self._window.session.view
        if view is None or view.status.open_round is None:
            return
        from assaypilot.gui.dialogs.reasons import CloseRoundDialog

        dialog = CloseRoundDialog(view.status.open_round, view.status.endpoints, window)
        dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        dialog.accepted.connect(lambda: window.session.close_round(dialog.missing, dialog.reason, self._closed))
        self.closing = dialog
        dialog.open()

    def _closed(self) -> None:
        window, view = self._window, self._window.session.view
        if view is not None:
            window.messages.note(view.status.statement)
            window.show_page(window.pages.index(window.candidates))
