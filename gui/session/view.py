"""The shared data of all pages: the campaign at one moment, now or at the end of a round, and what is selected."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Signal

from assaypilot.engine.errors import AssayPilotError

from ..runtime.tasks import Latest

if TYPE_CHECKING:
    from assaypilot.engine.campaign.issued_rounds import Round
    from assaypilot.engine.campaign.reasons import Reasons
    from assaypilot.engine.campaign.state import Status
    from assaypilot.engine.export.answer import Ends

    from .session import Session


@dataclass(frozen=True, eq=False)
class View:
    """Everything the window shows of the campaign, at one head of its log."""

    status: Status
    path: Path
    read_only: bool
    read_only_reason: str | None
    undo: str | None
    redo: str | None
    practice: bool
    """Whether the shipped simulated assay can measure its rounds."""
    rank: tuple[int, int] | None
    """The rank of the model (its estimable unknowns) and the number of unknowns."""
    reasons: Reasons | None = None
    """The reason for the status of every compound."""

    @property
    def locked(self) -> str:
        """Why nothing can be changed, as a sentence; empty where it can."""
        why = (self.read_only_reason or "the file cannot be written").rstrip(".")
        return f"Read-only: {why}." if self.read_only else ""

    @property
    def round(self) -> Round | None:
        """The open round, else the latest one."""
        standing = [one for one in self.status.rounds if one.state != "withdrawn"]
        return self.status.open_round or (standing[-1] if standing else None)


class Selection(QObject):
    """One compound of the open campaign, or none; and those that were selected along with it."""

    changed = Signal()

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.compound: int | None = None
        """Position in the library."""
        self.group: tuple[int, ...] = ()
        """Several compounds selected at once; empty when one is."""

    def choose(self, compound: int | None, group: Sequence[int] = ()) -> None:
        """Select a compound everywhere, or several, of which it is the one that is explained."""
        if compound != self.compound or tuple(group) != self.group:
            self.compound, self.group = compound, tuple(group)
            self.changed.emit()


class Replay(QObject):
    """The moment shown, on all pages that can show another one than now. It only reads."""

    changed = Signal()
    """Another moment is shown."""
    moved = Signal()
    """Another moment was requested."""

    def __init__(self, session: Session) -> None:
        super().__init__(session)
        self._session = session
        self._past: View | None = None
        self._round: int | None = None
        """The round whose end is shown; None: now."""
        self.wanted: int | None = None
        """The round whose end was requested last; None: now."""
        self.axes: Ends | None = None
        """Fixed ends of axes for the candidates of every round; None for now."""
        self._known: Ends | None = None
        """Those of this campaign's current state, once an earlier round was shown."""
        self._job = Latest()
        session.changed.connect(self._renew)

    # ------------------------------------------------------------------ the moment shown

    @property
    def rounds(self) -> list[int]:
        """The rounds whose ends can be shown, oldest first, 0 for the start; empty without a past."""
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
        """Return the view to show: of that moment, or of now."""
        return now if self._past is None else self._past

    @property
    def words(self) -> str:
        """The moment shown, in words: ``As it stood after round 3 of 7; 384 of 960 measurements``; empty for now."""
        view = self._session.view
        if self._past is None or self._round is None or view is None:
            return ""
        from assaypilot.engine.campaign.rewind import Moment, as_it_stood

        then = self._past.status
        moment = Moment(self._round, then.events, then.measurements_used)
        return as_it_stood(moment, last_closed(view.status), view.status.measurements_used)

    # ------------------------------------------------------------------ moving

    def go(self, number: int | None) -> None:
        """Show the end of a round, None: now."""
        self.wanted = number if number in self.rounds else None
        self.moved.emit()
        self._fetch()

    def step(self, by: int) -> None:
        """Go so many rounds on, to now at most, or back."""
        stops: list[int | None] = [*self.rounds, None]
        place = stops.index(self.wanted) if self.wanted in stops else len(stops) - 1
        self.go(stops[min(max(place + by, 0), len(stops) - 1)])

    def stop(self) -> None:
        """Show now and read nothing any more."""
        self._job.drop()
        self._past, self._round, self.wanted = None, None, None
        self.axes = self._known = None

    # ------------------------------------------------------------------ inside

    def _renew(self, _: str) -> None:
        """Whatever was done, it is seen where it happened: now."""
        self.stop()
        self.changed.emit()
        self.moved.emit()

    def _fetch(self) -> None:
        """Read the wanted moment, one at a time: a slider passes many that are not looked at."""
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


def last_closed(status: Status) -> int:
    """Return the number of the last round that is closed; 0 before any."""
    return max((one.number for one in status.rounds if one.state == "closed"), default=0)
