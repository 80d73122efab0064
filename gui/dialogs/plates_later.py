"""Plates that shift their values, and controls, said while a campaign runs: what follows is said before it is done."""

from __future__ import annotations

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QWidget

from assaypilot.engine.campaign.changing.blocks import controls_in_words
from assaypilot.engine.campaign.changing.terms import LEAVE, Change
from assaypilot.engine.campaign.state import Status
from assaypilot.engine.errors import AssayPilotError
from assaypilot.gui.dialogs.begin_anew import Asking
from assaypilot.gui.dialogs.goal_controls import PlatesAndControls, controls_in
from assaypilot.gui.session import Session
from assaypilot.gui.widgets.message_bar import error_words
from assaypilot.gui.widgets.text import label

__all__ = ["PlatesDialog"]


class PlatesDialog(Asking):
    """What is taken out from now on, and one more control."""

    HIGH = 30
    change = Signal(object)
    """The campaign is to go on so (a Change)."""

    def __init__(self, session: Session, status: Status, locked: str, parent: QWidget | None) -> None:
        super().__init__(session, status, "Plates and controls", "&Apply", parent)
        self._locked = locked
        there = controls_in_words([one.as_json() for one in status.settings.controls])
        self.there = label(f"Controls so far: {there}.", "muted", wrap=True)
        self.body.addWidget(self.there)
        self.plates = PlatesAndControls()
        self.plates.combo.setCurrentIndex(self.plates.combo.findData(status.settings.blocks))
        self.plates.edit.edit.setPlaceholderText("one more: REF-1 = 7.1")
        self.body.addWidget(self.plates)
        self.plates.changed.connect(self._look)
        self._look()
        self.plates.setFocus()

    def wanted(self) -> Change:
        """What is typed; AssayPilotError for what names no control."""
        same = self.plates.blocks == self._status.settings.blocks
        return Change(blocks=LEAVE if same else self.plates.blocks, controls=controls_in(self.plates.edit.text))

    def _look(self) -> None:
        """Nothing; says what follows from what is typed."""
        self._asked += 1
        self.plates.edit.problem("")
        try:
            wanted = self.wanted()
        except AssayPilotError as error:
            self.plates.edit.problem(" ".join(filter(None, error_words(error))))
            self._say("It is said above what cannot be read.", ready=False)
            return
        if wanted == Change():
            self._say("All as it is.", ready=False)
        else:
            self._tell_change(wanted)

    def _go(self) -> None:
        self.change.emit(self.wanted())
        self.accept()
