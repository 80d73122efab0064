"""The end of the open round, as the page asks for it: closed or withdrawn once it was said what that means."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from assaypilot.engine.campaign.state import Round

from ..questions import surprises

if TYPE_CHECKING:
    from .round import RoundPage

__all__ = ["RoundEnds"]


class RoundEnds:
    """What the two cards of the panel do."""

    def __init__(self, page: RoundPage) -> None:
        self._page = page
        self._closed: Callable[[], None] | None = None
        self.closing, self.withdrawing = page.panel.closing, page.panel.withdrawing
        self.closing.accepted.connect(self._close)
        self.withdrawing.accepted.connect(self._withdraw)
        for card in (self.closing, self.withdrawing):
            card.asking.connect(lambda _: page.beside.make_room())

    @property
    def asking(self) -> bool:
        """Whether it is being asked how the round is to end."""
        return not (self.closing.isHidden() and self.withdrawing.isHidden())

    def start_anew(self) -> None:
        """Another round is shown."""
        self.closing.start_anew()
        self.withdrawing.reject()

    def close(self, closed: Callable[[], None] | None) -> None:
        """Say what closing the open round means, and close it when that is confirmed."""
        page, shown = self._page, self._open()
        if page.view is None or shown is None:
            return
        page.table.commit()
        self._closed = closed
        self.withdrawing.reject()
        status = page.view.status
        questioned = sum(one.measurement.number not in page.kept for one in surprises(status, shown))
        self.closing.ask(
            shown, status.endpoints, status.guarantee, refused=len(page.model.refused), questioned=questioned
        )

    def withdraw(self) -> None:
        """Say what withdrawing the open round means, and withdraws it when that is confirmed."""
        view, shown = self._page.view, self._open()
        if view is not None and shown is not None:
            self.closing.reject()
            self.withdrawing.ask(shown, undoable=bool(view.undo and view.undo.startswith("Plan")))

    def _open(self) -> Round | None:
        """The open round, which is shown from now on; None when there is none that may be changed."""
        page = self._page
        if page.view is None or page.view.status.open_round is None or page.view.read_only:
            return None
        page.look_at(None)
        return page.view.status.open_round

    def _close(self) -> None:
        self._page.session.close_round(self.closing.missing, self.closing.reason, self._closed)

    def _withdraw(self) -> None:
        session, note = self._page.session, self.withdrawing.reason
        session.withdraw_round(note, lambda: session.message.emit("The round was withdrawn."))
