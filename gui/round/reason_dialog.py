"""Small dialogs that ask for a reason: a value left out or corrected, unavailable compounds."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from PySide6.QtCore import Signal
from PySide6.QtGui import QShowEvent
from PySide6.QtWidgets import QDialog, QLabel, QLineEdit, QRadioButton, QWidget

from assaypilot.engine.domain.endpoint import Endpoint
from assaypilot.engine.domain.measurements import Measurement
from assaypilot.engine.tables.values import Value

from ..runtime.tasks import Latest, single_shot
from ..session.session import Consequences, Session
from ..widgets.inputs import Form, line_edit
from ..widgets.layout import column_of, show_dialog
from ..widgets.text import go_or_cancel, label, polish
from .entry import entered_text, parse_entry, user_decimal

WIDTH = 66
"""Average letters across the dialogs, so that large text does not break into many short lines."""
PAUSE = 200
"""Milliseconds after the last key before the consequences of a value are computed."""
RESTS = "No decision rests on it yet."


class ReasonDialog(QDialog):
    """A heading, some choices, and a line for the reason, without which it cannot be confirmed."""

    consequences_wanted = Signal()
    """The consequences are needed, for ``show_consequences``."""

    def __init__(self, title: str, heading: str, confirm: str, parent: QWidget | None) -> None:
        super().__init__(parent)
        self.setWindowTitle(title)
        self.setMinimumWidth(max(480, WIDTH * self.fontMetrics().averageCharWidth()))
        self.body = column_of(holder=self, margins=(22, 20, 22, 18), spacing=10)
        self.heading = label(heading, "title", wrap=True)
        self.body.addWidget(self.heading)
        self.form = Form()
        self.form.setHorizontalSpacing(14)
        self.form.setVerticalSpacing(9)
        self.body.addLayout(self.form)
        self.line = line_edit("Reason")
        self.line.textChanged.connect(lambda _: self.check())
        self.box, self.confirm = go_or_cancel(confirm, self)

    def finish(self, caption: str, hint: str) -> None:
        """Add the line for the reason and the buttons below what is there."""
        self.line.setPlaceholderText(hint)
        self.form.addRow(label(caption), self.line)
        self.body.addSpacing(6)
        self.body.addWidget(self.box)
        self.check()

    @property
    def reason(self) -> str:
        """The reason given."""
        return " ".join(self.line.text().split())

    def check(self) -> None:
        """Enable the confirmation when all fields are filled."""
        self.confirm.setEnabled(bool(self.reason))

    def foresee(self, session: Session, question: Callable[[], Consequences | None]) -> None:
        """Show the consequences on request; ``question`` returns those of the typed text, None of nothing."""
        answer = Latest()

        def ask() -> None:
            answer.drop()
            planned = question()
            if planned is not None:
                answer.start(session.consequences(planned, self.show_consequences, lambda error: None))

        self.consequences_wanted.connect(ask)
        self.finished.connect(lambda _: answer.drop())

    def show_consequences(self, sentences: Sequence[str]) -> None:
        """Show the consequences for the decisions and the guarantee."""

    def show_text(self, place: QLabel, text: str) -> None:
        """Show a text, and make the room it needs."""
        place.setText(text)
        place.setVisible(bool(text))
        self._make_room()

    def showEvent(self, event: QShowEvent) -> None:
        """Request the consequences once it is seen."""
        super().showEvent(event)
        self._make_room()
        self.consequences_wanted.emit()

    def _make_room(self) -> None:
        needed = self.body.totalHeightForWidth(self.width()) if self.isVisible() else 0
        if needed > self.height():
            self.resize(self.width(), needed)


class UnavailableDialog(ReasonDialog):
    """Compounds that cannot be made or bought."""

    def __init__(self, names: Sequence[str], parent: QWidget | None, *, proof: bool = False) -> None:
        """``proof``: whether a proof decides."""
        what = names[0] if len(names) == 1 else f"{len(names):,} compounds"
        super().__init__("Unavailable", f"{what} unavailable", "Mark as unavailable", parent)
        does = (
            "The guarantee stays if the reason has nothing to do with their values. What depends on them alone becomes "
            "not estimable."
            if proof
            else "They keep an estimate, and may still be in."
        )
        note = label(f"They are no longer requested. {does} Undo takes it back.", "muted", wrap=True)
        self.body.insertWidget(1, note)
        self.finish("Reason", "for example: starting material not available")


def ask_unavailable(names: Sequence[str], session: Session, parent: QWidget) -> None:
    """Ask why compounds are unavailable, and mark them."""
    view = session.view
    dialog = UnavailableDialog(names, parent, proof=view is not None and not view.status.guarantee.calibrated)
    show_dialog(dialog, lambda: session.mark_unavailable(names, dialog.reason))


class ExcludeDialog(ReasonDialog):
    """A value that is to be left out."""

    def __init__(
        self,
        measurement: Measurement,
        name: str,
        endpoint: Endpoint,
        parent: QWidget | None,
        *,
        instead: str = "",
        proof: bool = False,
    ) -> None:
        """``instead``: the text where no decision rests on the value; ``proof``: whether a proof decides."""
        self._instead, self._proof = instead, proof
        text = entered_text(measurement, endpoint)
        super().__init__("Exclude a value", f"Exclude {text} of {name}", "Exclude it", parent)
        self.technical = QRadioButton("A technical cause, whatever the value (a leak, a wrong plate)")
        self.judged = QRadioButton("Because of the value itself")
        self.technical.setChecked(True)
        self.consequence = label("", "muted", wrap=True)
        self.body.insertWidget(1, self.technical)
        self.body.insertWidget(2, self.judged)
        self.body.insertWidget(3, self.consequence)
        for choice in (self.technical, self.judged):
            choice.setVisible(proof)  # the series model takes what is left, whatever the reason
        self.technical.toggled.connect(lambda _: self._show_consequence())
        self.technical.toggled.connect(lambda _: self.consequences_wanted.emit())
        self.finish("Reason", "for example: dispensing error in well C5")
        self._show_consequence()

    @property
    def judgement(self) -> bool:
        """Whether the value itself is the reason."""
        return self.judged.isChecked()

    def showEvent(self, event: QShowEvent) -> None:
        """No choice is cut, however large the text is."""
        for choice in (self.technical, self.judged):
            choice.setMinimumWidth(choice.sizeHint().width())
        self.setMinimumWidth(max(self.minimumWidth(), self.body.totalMinimumSize().width()))
        super().showEvent(event)

    def show_consequences(self, sentences: Sequence[str]) -> None:
        """Show the consequences for the decisions, and the actual cost instead of the general one."""
        if not self._instead:
            self.show_text(self.consequence, "\n\n".join(sentences or (self._in_general, *[RESTS] * self._proof)))

    def _show_consequence(self) -> None:
        self.show_text(self.consequence, self._instead or self._in_general)

    @property
    def _in_general(self) -> str:
        if not self._proof:
            return "It no longer counts. It stays in the log."
        return (
            "Leaving values out because of what they say voids the guarantee, and every page will say so. "
            "Measuring the compound again does not."
            if self.judgement
            else "The guarantee stays: it then assumes that the cause had nothing to do with the value. "
            "The value stays in the log."
        )


class CorrectDialog(ReasonDialog):
    """A value that was mistyped."""

    def __init__(
        self,
        measurement: Measurement,
        name: str,
        endpoint: Endpoint,
        parent: QWidget | None,
        text: str = "",
        *,
        exact: bool = False,
        proof: bool = False,
    ) -> None:
        """``exact``: what is known only as a bound is refused, as a control has to read a number.

        ``proof``: whether a proof decides.
        """
        before = entered_text(measurement, endpoint)
        super().__init__("Correct a value", f"Correct {before} of {name}", "Correct it", parent)
        self._endpoint, self._exact, self._proof = endpoint, exact, proof
        self.value = QLineEdit(text or before)
        self.value.setAccessibleName("Corrected value")
        self.value.selectAll()
        self.problem = label("", "problem", wrap=True)
        self.problem.hide()
        self.form.addRow(label("Value"), self.value)
        self.form.addRow("", self.problem)
        self._before = before
        self.consequence = label("", "muted", wrap=True)
        self.consequence.hide()
        self.form.addRow("", self.consequence)
        self._pause = single_shot(self, PAUSE, self.consequences_wanted)
        self.value.textChanged.connect(lambda _: self._typed())
        self.finish("Reason", "for example: digits swapped when typing")

    def show_consequences(self, sentences: Sequence[str]) -> None:
        """Show the consequences of the typed value for the decisions and the guarantee."""
        self.show_text(self.consequence, "\n\n".join(sentences or [RESTS] * self._proof) if self.changed else "")

    @property
    def changed(self) -> bool:
        """Whether another value is typed than the one that is there."""
        return self.value.text().strip() != self._before

    def _typed(self) -> None:
        self.check()
        self.show_text(self.consequence, "")
        self._pause.start()

    @property
    def entry(self) -> Value | None:
        """The new value; None while it cannot be read."""
        try:
            return self._read()
        except ValueError:
            return None

    def _read(self) -> Value:
        text = self.value.text()
        entry = parse_entry(text, self._endpoint, user_decimal())
        if self._exact and entry.relation != "=":
            raise ValueError(f"{text.strip()} is no number, and a control has to read one")
        return entry

    def check(self) -> None:
        """Let the dialog be confirmed with another, readable value and a reason."""
        problem = ""
        try:
            self._read()
        except ValueError as error:
            problem = str(error) if self.changed else ""
        self.show_text(self.problem, problem)
        polish(self.value, wrong="true" if problem else "false")
        self.confirm.setEnabled(not problem and self.changed and bool(self.reason))
