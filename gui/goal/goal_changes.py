"""The possible changes of a goal, and their controls."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QDialog, QFrame, QWidget

from assaypilot.engine.campaign.changes import Change
from assaypilot.engine.campaign.state import Status
from assaypilot.engine.errors import AssayPilotError

from ..new_campaign.goal_strategy import ControlsField, controls_in
from ..session.session import Session
from ..widgets.inputs import line_edit
from ..widgets.layout import STRETCH, FlowRow, column_of, put, row_of, show_dialog
from ..widgets.text import button, error_words, label, polish
from .add_endpoint import Asking, EndpointDialog


def fold(distance: float) -> str:
    """Return a distance in log units as a factor: ``2-fold`` for 0.3, ``3-fold`` for 0.5; empty for none."""
    if not 0.0 < distance < 6.0:
        return ""
    factor = 10.0**distance
    whole = round(factor)
    close = abs(factor - whole) < 0.06 * factor
    return f"{whole:,}-fold" if close and whole > 1 else f"{factor:.2g}-fold"


def in_folds(distance: float | None, unit: str) -> str:
    """Return the unit of a distance, with the distance as a factor where it is in log units: ``log = 3-fold``."""
    folds = fold(distance) if distance is not None and unit == "log" else ""
    return f"{unit} = {folds}" if folds else unit


class ChangePanel(QFrame):
    """Sentences, a reason for the history, and buttons to apply or keep the settings."""

    apply = Signal(str)
    """The settings are to be changed, for this reason."""
    leave = Signal()
    """The settings are to stay unchanged."""

    def __init__(self) -> None:
        super().__init__()
        self.setObjectName("card")
        column = column_of(holder=self, margins=(14, 12, 14, 14), spacing=9)
        self.heading = label("If this is applied", "heading", wrap=True)
        self.words = label("", wrap=True, selectable=True)
        self.note = line_edit(
            "Why the settings are changed",
            hint="Why? (kept in the history)",
            tip="A note for the history; may stay empty",
        )
        self.leave_button = button("As &it is", tip="Discards what was typed; nothing is changed", then=self.leave)
        self.apply_button = button("&Apply", "go", then=lambda: self.apply.emit(self.note.text().strip()))
        self.note.returnPressed.connect(self.apply_button.click)
        buttons = row_of(STRETCH, self.leave_button, self.apply_button)
        put(column, self.heading, self.words, self.note, buttons)
        self._locked = ""
        self.hide()

    def lock(self, why: str) -> None:
        """Lock the settings for a reason; empty: unlock them."""
        self._locked = why

    def wait(self) -> None:
        """Show that the consequences of the typed values are not known yet."""
        self._show_text("If this is applied", "Checking what this does…", ready=False)

    def show_consequences(self, sentences: Sequence[str]) -> None:
        """Show the consequences of the typed settings."""
        self._show_text("If this is applied", "\n\n".join(sentences) or "Nothing else changes.", ready=True)

    def refuse(self, text: str) -> None:
        """Show why the typed settings cannot be applied."""
        self._show_text("This cannot be applied", text, ready=False, problem=True)

    def nothing(self) -> None:
        """There is nothing to apply."""
        self.note.clear()
        self.hide()

    def _show_text(self, heading: str, text: str, *, ready: bool, problem: bool = False) -> None:
        self.heading.setText(heading)
        locked = bool(self._locked)
        self.words.setText(f"{text}\n\n{self._locked}" if locked and ready else text)
        polish(self.words, role="problem" if problem else "")
        self.note.setVisible(not problem and not locked)
        self.apply_button.setVisible(not problem and not locked)
        self.apply_button.setEnabled(ready)
        tip = "Changes the campaign; Undo takes it back" if ready else "As soon as it is known what this does"
        self.apply_button.setToolTip(tip)
        self.setAccessibleName(f"{heading}: {text}")
        self.show()


class ControlsDialog(Asking):
    """One more control."""

    HIGH = 18

    def __init__(self, session: Session, status: Status, locked: str, parent: QWidget | None) -> None:
        super().__init__(session, status, "Controls", "&Apply", self.wanted, locked, parent)
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
        """Return the typed change; AssayPilotError for a text that names no control."""
        return Change(controls=controls_in(self.controls.text))

    def _look(self) -> None:
        self._question.drop()
        self.controls.problem("")
        try:
            wanted = self.wanted()
        except AssayPilotError as error:
            self.controls.problem(" ".join(filter(None, error_words(error))))
            self._show_text("Correct the highlighted field.", ready=False)
            return
        if wanted == Change():
            self._show_text("", ready=False)
        else:
            self._ask(lambda campaign: campaign.consequences(wanted))


class Ways(QWidget):
    """Five buttons, most with a dialog; that of compounds is opened by the window, after a table was read."""

    def __init__(self, session: Session) -> None:
        super().__init__()
        self._session = session
        self.dialog: QDialog | None = None
        """The one that was opened last."""
        self.compounds = button(
            "Add co&mpounds\N{HORIZONTAL ELLIPSIS}",
            tip="From a table, with new substituents perhaps; what that does is shown first",
        )
        self.endpoint = button(
            "Add an en&dpoint\N{HORIZONTAL ELLIPSIS}", tip="To record, to keep to a limit, or as a second goal"
        )
        self.controls = button(
            "Add a contro&l\N{HORIZONTAL ELLIPSIS}",
            tip="Measured in every round with the others, to compare plates and rounds",
        )
        self.series = button(
            "&Continue with the series model",
            tip="Effects need not add up there; every measurement is kept, and Undo takes it back",
            then=self.take_series,
        )
        self.controls.clicked.connect(self.ask_controls)
        self.endpoint.clicked.connect(self.ask_endpoint)
        row = FlowRow(self)
        put(row, self.compounds, self.endpoint, self.series, self.controls)

    def show_for(self, status: Status) -> None:
        """Show which changes the campaign can take now."""
        proven = not status.guarantee.calibrated
        self.series.setVisible(proven and all(status.endpoints[k].kind == "value" for k in status.goal_endpoints))

    def ask_endpoint(self) -> None:
        """Ask for one more endpoint."""
        self._ask(EndpointDialog)

    def ask_controls(self) -> None:
        """Ask for more controls."""
        self._ask(ControlsDialog)

    def take_series(self) -> None:
        """Let the series model decide from now on, by everything measured."""
        self._change(Change(strategy="gaussian-process"))

    def _ask(self, kind: Callable[[Session, Status, str, QWidget], Asking]) -> None:
        view = self._session.view
        if view is not None:
            self.dialog = made = kind(self._session, view.status, view.locked, self.window())
            made.answered.connect(self._change)
            show_dialog(made)

    def _change(self, change: Change) -> None:
        done = "Controls were changed"
        if change.strategy is not None:
            done = "The series model decides from now on, by every measurement so far"
        elif change.endpoint is not None:
            done = f"{change.endpoint.name} is an endpoint now"
        message = f"{done}. Undo takes it back."
        self._session.change(change, "", lambda: self._session.message.emit(message))
