"""The ways on from the Goal page that are more than a number: one more endpoint, and two sites taken together."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtWidgets import QDialog, QWidget

from assaypilot.gui.session import Session
from assaypilot.gui.widgets.flow import FlowRow
from assaypilot.gui.widgets.text import button

if TYPE_CHECKING:
    from pathlib import Path

    from assaypilot.engine.campaign.changing.restarting import Restart
    from assaypilot.engine.campaign.changing.terms import Change

__all__ = ["Ways"]


class Ways(QWidget):
    """Two buttons, each with its dialog."""

    def __init__(self, session: Session) -> None:
        super().__init__()
        self._session = session
        self.dialog: QDialog | None = None
        """The one that was opened last."""
        self.endpoint = button(
            "Add an en&dpoint\N{HORIZONTAL ELLIPSIS}", tip="To record, to keep to a limit, or as a second goal"
        )
        self.together = button(
            "Take two &sites together\N{HORIZONTAL ELLIPSIS}",
            tip="For sites whose effects do not add up; begins a new campaign with what was measured",
        )
        self.endpoint.clicked.connect(self.ask_endpoint)
        self.together.clicked.connect(self.ask_together)
        row = FlowRow(self)
        for made in (self.endpoint, self.together):
            row.addWidget(made)

    def ask_endpoint(self) -> None:
        """Nothing; asks for one more endpoint."""
        from assaypilot.gui.dialogs.begin_anew import EndpointDialog

        view = self._session.view
        if view is None:
            return
        why = (view.read_only_reason or "the file cannot be written").rstrip(".")
        locked = f"Read-only: {why}." if view.read_only else ""
        made = EndpointDialog(self._session, view.status, view.path.parent, locked, self.window())
        made.add.connect(self._add)
        made.begin.connect(self._begin)
        self._open(made)

    def ask_together(self) -> None:
        """Nothing; asks which two sites are to be taken together, those with the greatest sign first."""
        from assaypilot.gui.dialogs.begin_anew import TogetherDialog

        view = self._session.view
        if view is None:
            return
        made = TogetherDialog(self._session, view.status, view.path.parent, self.window())
        made.begin.connect(self._begin)
        self._open(made)

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
