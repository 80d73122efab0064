"""The ways on from the Goal page that are more than a number: compounds, an endpoint, sites together, and controls."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtWidgets import QDialog, QWidget

from ..session import Session
from ..widgets.flow import FlowRow
from ..widgets.text import button

if TYPE_CHECKING:
    from pathlib import Path

    from assaypilot.engine.campaign.changing.restarting import Restart
    from assaypilot.engine.campaign.changing.terms import Change
    from assaypilot.engine.campaign.state import Status

    from ..view import View

__all__ = ["Ways"]


class Ways(QWidget):
    """Five buttons, most with a dialog; that of compounds is opened by the window, after a table was read."""

    def __init__(self, session: Session) -> None:
        super().__init__()
        self._session = session
        self.dialog: QDialog | None = None
        """The one that was opened last."""
        self.compounds = button(
            "Add co&mpounds\N{HORIZONTAL ELLIPSIS}",
            tip="From a table, with new substituents perhaps; what that does to the guarantee is said first",
        )
        self.endpoint = button(
            "Add an en&dpoint\N{HORIZONTAL ELLIPSIS}", tip="To record, to keep to a limit, or as a second goal"
        )
        self.together = button(
            "Take two &sites together\N{HORIZONTAL ELLIPSIS}",
            tip="For sites whose effects do not add up; begins a new campaign with what was measured",
        )
        self.controls = button(
            "Add a contro&l\N{HORIZONTAL ELLIPSIS}",
            tip="Measured in every round beside the others, to compare plates and rounds",
        )
        self.series = button(
            "&Continue with the series model",
            tip="Effects need not add up there; every measurement is kept, and Undo takes it back",
        )
        self.series.clicked.connect(self.take_series)
        self.controls.clicked.connect(self.ask_controls)
        self.endpoint.clicked.connect(self.ask_endpoint)
        self.together.clicked.connect(self.ask_together)
        row = FlowRow(self)
        for made in (self.compounds, self.endpoint, self.together, self.series, self.controls):
            row.addWidget(made)

    def ask_endpoint(self) -> None:
        """Ask for one more endpoint."""
        from ..dialogs.begin_anew import EndpointDialog

        view = self._session.view
        if view is None:
            return
        made = EndpointDialog(self._session, view.status, view.path.parent, _locked(view), self.window())
        made.add.connect(self._add)
        made.begin.connect(self._begin)
        self._open(made)

    def ask_together(self) -> None:
        """Ask which two sites are to be taken together, those with the greatest sign first."""
        from ..dialogs.begin_anew import TogetherDialog

        view = self._session.view
        if view is None:
            return
        made = TogetherDialog(self._session, view.status, view.path.parent, self.window())
        made.begin.connect(self._begin)
        self._open(made)

    def show_for(self, status: Status) -> None:
        """Show what the campaign as it is can take."""
        proven = status.guarantee.kind != "calibrated"
        self.together.setVisible(len(status.library.sites) > 1 and proven)
        self.series.setVisible(proven and all(status.endpoints[k].kind == "value" for k in status.goal_endpoints))

    def take_series(self) -> None:
        """Let the series model decide from now on, by everything measured."""
        from assaypilot.engine.campaign.changing.terms import Change

        said = "The series model decides from now on, by every measurement so far. Undo takes it back."
        self._session.change(Change(strategy="gaussian-process"), "", lambda: self._session.message.emit(said))

    def ask_controls(self) -> None:
        """Ask for more controls."""
        from ..dialogs.controls_later import ControlsDialog

        view = self._session.view
        if view is None:
            return
        made = ControlsDialog(self._session, view.status, _locked(view), self.window())
        made.change.connect(self._controls)
        self._open(made)

    def _controls(self, change: Change) -> None:
        said = "Controls were changed. Undo takes it back."
        self._session.change(change, "", lambda: self._session.message.emit(said))

    def _open(self, dialog: QDialog) -> None:
        self.dialog = dialog
        dialog.finished.connect(dialog.deleteLater)
        dialog.open()

    def _add(self, change: Change) -> None:
        assert change.endpoint is not None
        said = f"{change.endpoint.name} is an endpoint now. Undo takes it back."
        self._session.change(change, "", lambda: self._session.message.emit(said))

    def _begin(self, path: Path, wanted: Restart) -> None:
        self._session.begin_anew(path, wanted)


def _locked(view: View) -> str:
    """Why nothing can be changed; empty where it can."""
    why = (view.read_only_reason or "the file cannot be written").rstrip(".")
    return f"Read-only: {why}." if view.read_only else ""
