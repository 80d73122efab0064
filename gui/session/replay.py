"""Which moment of the campaign the pictures show: now, or the end of a round that is over."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Signal

from assaypilot.engine.errors import AssayPilotError

from ..runtime.tasks import Latest, single_shot

if TYPE_CHECKING:
    from assaypilot.engine.campaign.reasons import Reasons
    from assaypilot.engine.campaign.state import Status
    from assaypilot.engine.export.answer import Ends

    from .session import Session
    from .view import View


PACE = 1100
"""Milliseconds that a round is shown for while the rounds are played."""


class Replay(QObject):
    """The moment shown, on all pages that can show another one than now. It only reads."""

    changed = Signal()
    """Another moment is shown."""
    moved = Signal()
    """Another moment was asked for, or playing began or ended."""

    def __init__(self, session: Session) -> None:
        super().__init__(session)
        self._session = session
        self._past: View | None = None
        self._round: int | None = None
        """The round whose end is shown; None: now."""
        self.wanted: int | None = None
        """The round whose end was asked for last; None: now."""
        self.axes: Ends | None = None
        """The ends of axes that hold the candidates of every round, so that they stand still; None for now."""
        self._known: Ends | None = None
        """Those of this campaign as it is now, once it was looked back."""
        self._job = Latest()
        self._beat = single_shot(self, PACE, self._next)
        self.playing = False
        session.changed.connect(self._renew)

    # ------------------------------------------------------------------ what is shown

    @property
    def rounds(self) -> list[int]:
        """The rounds whose ends can be looked back to, oldest first, 0 for the start; empty before there is a past."""
        view = self._session.view
        if view is None:
            return []
        status = view.status
        closed = [one.number for one in status.rounds if one.state == "closed"]
        past = [0, *closed]
        # The end of the last round is now, until the next one is planned.
        return past if status.open_round is not None else past[:-1]

    @property
    def round(self) -> int | None:
        """The round whose end is shown; None: now."""
        return self._round

    def of(self, now: View) -> View:
        """What to show: the view of that moment, or of now."""
        return now if self._past is None else self._past

    @property
    def words(self) -> str:
        """What is shown, in words: ``As it stood after round 3 of 7; 384 of 960 measurements``; empty for now."""
        view = self._session.view
        if self._past is None or self._round is None or view is None:
            return ""
        from assaypilot.engine.campaign.rewind import Moment, as_it_stood

        then = self._past.status
        moment = Moment(self._round, then.events, then.measurements_used)
        return as_it_stood(moment, last_closed(view.status), view.status.measurements_used)

    # ------------------------------------------------------------------ moving

    def go(self, number: int | None) -> None:
        """Show the end of a round, None: now; ends playing."""
        self._stop_playing()
        self._go(number)

    def step(self, by: int) -> None:
        """Go so many rounds on, to now at most, or back."""
        stops: list[int | None] = [*self.rounds, None]
        place = stops.index(self.wanted) if self.wanted in stops else len(stops) - 1
        self.go(stops[min(max(place + by, 0), len(stops) - 1)])

    def play(self) -> None:
        """Show round after round until now, from the one shown on; from the start when that is now."""
        if not self.rounds:
            return
        self.playing = True
        if self.wanted is None:
            self._go(self.rounds[0])
        else:
            self._beat.start()
        self.moved.emit()

    def pause(self) -> None:
        """Stay where it is."""
        self._stop_playing()
        self.moved.emit()

    def stop(self) -> None:
        """Show now and read nothing any more."""
        self._stop_playing()
        self._job.drop()
        self._past, self._round, self.wanted = None, None, None
        self.axes = self._known = None

    # ------------------------------------------------------------------ inside

    def _renew(self, _: str) -> None:
        """Whatever was done, it is seen where it happened: now."""
        self.stop()
        self.changed.emit()
        self.moved.emit()

    def _stop_playing(self) -> None:
        self.playing = False
        self._beat.stop()

    def _next(self) -> None:
        later = [number for number in self.rounds if self.wanted is not None and number > self.wanted]
        if not later:
            self._stop_playing()
        self._go(later[0] if later else None)

    def _go(self, number: int | None) -> None:
        if number is not None and number not in self.rounds:
            number = None
        self.wanted = number
        self.moved.emit()
        self._fetch()

    def _fetch(self) -> None:
        """Read what is wanted, one moment at a time: a slider passes many that nobody looks at."""
        if self.wanted is None:
            self._show(None, None)
            return
        now = self._session.view
        if self._job.busy or now is None:
            return
        number = self.wanted

        def done(found: tuple[Status, Reasons, Ends | None]) -> None:
            self._known = found[2]
            if self.wanted == number:
                self._show(number, replace(now, status=found[0], reasons=found[1], undo=None, redo=None, read_only=True,
                                           read_only_reason="the past cannot be changed"))  # fmt: skip
            else:
                self._fetch()

        def failed(error: Exception) -> None:
            self.go(None)
            if isinstance(error, AssayPilotError):
                self._session.failed.emit(error)

        self._job.start(self._session.look_back(number, self._known, done, failed))

    def _show(self, number: int | None, past: View | None) -> None:
        changed = number != self._round
        self._round, self._past = number, past
        self.axes = None if past is None else self._known
        if changed:
            self.changed.emit()
        if self.playing and number is not None:
            self._beat.start()


def last_closed(status: Status) -> int:
    """The number of the last round that is closed; 0 before any."""
    return max((one.number for one in status.rounds if one.state == "closed"), default=0)
