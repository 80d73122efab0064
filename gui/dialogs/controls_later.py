"""Controls named while a campaign runs: one more, or what one should read."""

from __future__ import annotations

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QWidget

from assaypilot.engine.campaign.changing.terms import Change
from assaypilot.engine.campaign.state import Status
from assaypilot.engine.errors import AssayPilotError

from ..session import Session
from ..widgets.message_bar import error_words
from ..widgets.text import label
from .begin_anew import Asking
from .goal_controls import ControlsField, controls_in

__all__ = ["ControlsDialog"]


class ControlsDialog(Asking):
    """One more control."""

    HIGH = 24
    change = Signal(object)
    """The campaign is to go on so (a Change)."""

    def __init__(self, session: Session, status: Status, locked: str, parent: QWidget | None) -> None:
        super().__init__(session, status, "Controls", "&Apply", parent)
        self._locked = locked
        there = ", ".join(control.name for control in status.settings.controls) or "none"
        self.there = label(f"Controls so far: {there}.", "muted", wrap=True)
        self.body.addWidget(self.there)
        self.controls = ControlsField()
        self.controls.edit.setPlaceholderText("one more: REF-1 = 7.1")
        self.body.addWidget(self.controls)
        self.controls.edit.textChanged.connect(lambda _: self._look())
        self._look()
        self.controls.edit.setFocus()

    def wanted(self) -> Change:
        """Return the change that is typed; AssayPilotError for what names no control."""
        return Change(controls=controls_in(self.controls.text))

    def _look(self) -> None:
        self._asked += 1
        self.controls.problem("")
        try:
            wanted = self.wanted()
        except AssayPilotError as error:
            self.controls.problem(" ".join(filter(None, error_words(error))))
            self._say("Correct the highlighted field.", ready=False)
            return
        if wanted == Change():
            self._say("All as it is.", ready=False)
        else:
            self._tell_change(wanted)

    def _go(self) -> None:
        self.change.emit(self.wanted())
        self.accept()
