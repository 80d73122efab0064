"""What leaving a value out, or another value, would do: told in the dialog before it is done."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from assaypilot.engine.domain.endpoint import Endpoint

from ..dialogs.reasons import CorrectDialog, ExcludeDialog, ReasonDialog
from ..session import Session

__all__ = ["foresee_correcting", "foresee_excluding"]


def foresee_excluding(session: Session, dialog: ExcludeDialog, number: int) -> None:
    """Have the dialog say what leaving a measurement out would do, for the cause that is chosen."""

    def ask() -> None:
        judgement = dialog.judgement
        session.consequences_of_excluding(number, judgement, _told(dialog, lambda: dialog.judgement is judgement))

    dialog.asked.connect(ask)


def foresee_correcting(session: Session, dialog: CorrectDialog, number: int, endpoint: Endpoint) -> None:
    """Have the dialog say what the value typed would do, once it can be read."""

    def ask() -> None:
        entry = dialog.entry
        if entry is not None and dialog.changed:
            unit, text = entry.unit or endpoint.unit, dialog.value.text()
            still = _told(dialog, lambda: dialog.value.text() == text)
            session.consequences_of_correcting(number, entry.value, entry.relation, unit, still)

    dialog.asked.connect(ask)


def _told(dialog: ReasonDialog, still: Callable[[], bool]) -> Callable[[Sequence[str]], None]:
    """What takes the answer: the dialog, if it is still open and still asks the same."""
    open_ = [True]
    dialog.finished.connect(lambda _: open_.clear())

    def told(sentences: Sequence[str]) -> None:
        if open_ and still():
            dialog.tell(sentences)

    return told
