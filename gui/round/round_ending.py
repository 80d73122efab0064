"""Ending a round: closing it, with what becomes of what is missing, or withdrawing it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import pairwise

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QFrame, QLabel, QRadioButton, QWidget

from assaypilot.engine.campaign.issued_rounds import Missing, Round
from assaypilot.engine.campaign.state import Guarantee
from assaypilot.engine.domain.endpoint import Endpoint
from assaypilot.engine.text import joined, many

from ..session.session import Session
from ..widgets.inputs import line_edit
from ..widgets.layout import STRETCH, column_of, put, row_of
from ..widgets.text import button, label
from .round_rows import RoundModel


class EndingPanel(QFrame):
    """A card in the panel of the round: what will happen, a note, and two buttons; Escape changes nothing."""

    accepted = Signal()
    asking = Signal(bool)
    """Whether it is to be seen."""

    def __init__(self, confirm: str) -> None:
        super().__init__()
        self.setObjectName("card")
        self.body = column_of(holder=self, margins=(14, 12, 14, 12), spacing=7)
        self.heading = label("", "heading", wrap=True)
        self.body.addWidget(self.heading)
        self.words = label("", wrap=True)
        self.body.addWidget(self.words)
        self.line = line_edit("Note")
        self.line.textChanged.connect(lambda _: self.check())
        self.line.returnPressed.connect(self._go)
        row = row_of()
        self.cancel = button("Not now", then=self.reject)
        self.confirm = button(confirm, "go", then=self._go)
        put(row, STRETCH, self.cancel, self.confirm)
        put(self.body, self.line, row)
        self.hide()

    @property
    def reason(self) -> str:
        """The note."""
        return " ".join(self.line.text().split())

    def check(self) -> None:
        """Enable the confirmation when all fields are filled."""

    def reject(self) -> None:
        """Change nothing; what was typed stays for the next time."""
        if not self.isHidden():
            self.hide()
            self.asking.emit(False)

    def _appear(self, focus: QWidget) -> None:
        self.show()
        self.asking.emit(True)
        focus.setFocus(Qt.FocusReason.OtherFocusReason)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Escape changes nothing."""
        if event.key() == Qt.Key.Key_Escape:
            self.reject()
            return
        super().keyPressEvent(event)

    def _go(self) -> None:
        if self.confirm.isEnabled() and not self.isHidden():
            self.reject()
            self.accepted.emit()


class ClosePanel(EndingPanel):
    """A round is closed: what becomes of what is missing, and of the guarantee."""

    CHOICES: tuple[tuple[Missing, str, str, str], ...] = (
        (
            "return",
            "They come again next round",
            "Nothing is decided before they are in. The guarantee stays.",
            "Nothing is decided before they are in.",
        ),
        (
            "failed",
            "They failed, whatever their values",
            "Lost in the lab. The decision uses the returned results. The guarantee stays; it then assumes just "
            "that, and says so.",
            "The decision uses the returned results.",
        ),
        (
            "other",
            "Left out for another reason",
            "The decision uses the returned results, but the guarantee is void from here, and every page says so.",
            "The decision uses the returned results.",
        ),
    )
    """Key, choice, its meaning with a guarantee, and its meaning without one."""

    def __init__(self) -> None:
        super().__init__("Close the round")
        self.choices = QWidget()
        inner = column_of(holder=self.choices, spacing=4)
        self.options: dict[Missing, QRadioButton] = {}
        self.means: dict[Missing, QLabel] = {}
        """What each choice means."""
        for key, text, _, _ in self.CHOICES:
            made = QRadioButton(text)
            made.toggled.connect(lambda _: self.check())
            meaning = label("", "muted", wrap=True)
            meaning.setContentsMargins(24, 0, 0, 4)
            self.options[key], self.means[key] = made, meaning
            put(inner, made, meaning)
        self.body.insertWidget(2, self.choices)
        self.guarantee = label("", "muted", wrap=True)
        self.body.insertWidget(3, self.guarantee)
        self.caution = label("", "problem", wrap=True)
        self.body.insertWidget(4, self.caution)
        self._has_choice = False

    def ask(
        self, shown: Round, endpoints: Sequence[Endpoint], guarantee: Guarantee, *, refused: int, questioned: int
    ) -> None:
        """Show what closing a round means now.

        ``refused``: texts in it that could not be used; ``questioned``: values that are far from what was expected.
        """
        # The choices were made later than the line and the buttons, and come before them.
        for before, after in pairwise((*self.options.values(), self.line, self.cancel, self.confirm)):
            QWidget.setTabOrder(before, after)
        kind = "confirmation round" if shown.confirmation else "round"
        self.heading.setText(f"Close {kind} {shown.number}")
        self._has_choice = shown.missing > 0 and not shown.confirmation and not guarantee.calibrated
        back = f"{shown.came:,} of {shown.measurements:,} measurements are back"
        if shown.missing > 0 and shown.confirmation:
            words = f"{back}, {shown.missing:,} are missing. They are requested again by the next confirmation round."
        elif shown.missing > 0:
            each = _missing_of_each(shown, endpoints)
            what = (
                "What becomes of them?" if self._has_choice else "The next round is planned without; late values count."
            )
            words = f"{back}, {shown.missing:,} are missing{each}. {what}"
        else:
            does = "The next round can then be planned" if guarantee.calibrated else "Closing lets the results count"
            words = f"All requested results are in. {does}; closing cannot be undone."
        self.words.setText(words)
        self.choices.setVisible(self._has_choice)
        for key, _, holds, void in self.CHOICES:
            self.means[key].setText(holds if guarantee.holds else void)
        self.guarantee.setText("" if guarantee.holds else f"There is no guarantee to keep: {joined(guarantee.void)}.")
        self.guarantee.setVisible(not guarantee.holds)
        parts = [f"{many(refused, 'typed text')} could not be used and will not count; see the cells marked red."] * (
            refused > 0
        )
        parts += [f"{many(questioned, 'value')} far from what was expected will count as entered."] * (questioned > 0)
        self.caution.setText(" ".join(parts))
        self.caution.setVisible(bool(parts))
        if not any(made.isChecked() for made in self.options.values()):
            self.options["return"].setChecked(True)
        self.check()
        first = next((made for made in self.options.values() if made.isChecked()), self.confirm)
        self._appear(first if self._has_choice else self.confirm)

    @property
    def missing(self) -> Missing:
        """What becomes of what is missing."""
        if not self._has_choice:
            return "return"
        return next((key for key, made in self.options.items() if made.isChecked()), "return")

    def check(self) -> None:
        """Ask for a note only where it matters."""
        needed = self.missing != "return"
        self.line.setPlaceholderText("why, in a few words" if needed else "a note, if you like")
        self.confirm.setEnabled(bool(self.reason) or not needed)

    def start_over(self) -> None:
        """Forget what was chosen and typed for another round."""
        self.reject()
        self.line.clear()
        self.options["return"].setChecked(True)


class WithdrawPanel(EndingPanel):
    """A round without results is taken back."""

    def __init__(self) -> None:
        super().__init__("Withdraw the round")
        self.line.setPlaceholderText("a note, if you like")

    def ask(self, shown: Round, *, undoable: bool) -> None:
        """Show what withdrawing a round means; ``undoable``: whether Undo would restore it."""
        self.heading.setText(f"Withdraw round {shown.number}")
        again = "Redo issues the same list again" if undoable else "It cannot be undone"
        self.words.setText(
            f"No result has come back, so nothing is lost. Its number is not used again, and the list stays in the "
            f"history. {again}; if the lab has the work list already, tell them."
        )
        self._appear(self.confirm)


def _missing_of_each(shown: Round, endpoints: Sequence[Endpoint]) -> str:
    """Return what is missing of each endpoint of a round with several: ``: 3 of pIC50 and 5 of hERG``."""
    if len(shown.endpoints) < 2:
        return ""
    parts = [
        f"{missing:,} of {endpoints[place].name}"
        for place, missing in zip(shown.endpoints, shown.missing_of, strict=True)
        if missing
    ]
    return f": {joined(parts)}"


class RoundEnds:
    """What the two cards of the panel do."""

    def __init__(
        self, session: Session, model: RoundModel, closing: ClosePanel, withdrawing: WithdrawPanel,
        show_open: Callable[[], None],
    ) -> None:  # fmt: skip
        self._session, self._model, self._show_open = session, model, show_open
        self._closed: Callable[[], None] | None = None
        self.closing, self.withdrawing = closing, withdrawing
        self.closing.accepted.connect(self._close)
        self.withdrawing.accepted.connect(self._withdraw)

    @property
    def asking(self) -> bool:
        """Whether a card asks how the round is to end."""
        return not (self.closing.isHidden() and self.withdrawing.isHidden())

    def start_over(self) -> None:
        """Another round is shown."""
        self.closing.start_over()
        self.withdrawing.reject()

    def close(self, closed: Callable[[], None] | None) -> None:
        """Show what closing the open round means, and close it when that is confirmed."""
        model, shown = self._model, self._open()
        if model.view is None or shown is None:
            return
        self._closed = closed
        self.withdrawing.reject()
        status = model.view.status
        self.closing.ask(
            shown, status.endpoints, status.guarantee, refused=len(model.refused), questioned=len(model.questioned())
        )

    def withdraw(self) -> None:
        """Show what withdrawing the open round means, and withdraw it when that is confirmed."""
        view, shown = self._model.view, self._open()
        if view is not None and shown is not None:
            self.closing.reject()
            self.withdrawing.ask(
                shown, undoable=bool(view.undo and view.undo.startswith(("Plan round", "Plan confirmation")))
            )

    def _open(self) -> Round | None:
        """Return the open round, which is shown from now on; None when there is none that may be changed."""
        view = self._model.view
        if view is None or view.status.open_round is None or view.read_only:
            return None
        self._show_open()
        return view.status.open_round

    def _close(self) -> None:
        self._session.close_round(self.closing.missing, self.closing.reason, self._closed)

    def _withdraw(self) -> None:
        session, note = self._session, self.withdrawing.reason
        session.withdraw_round(note, lambda: session.message.emit("The round was withdrawn."))
