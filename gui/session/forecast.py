"""Forecasts of a campaign: simulated in a process of their own, one question at a time."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Signal

from assaypilot.engine.domain.endpoint import Endpoint
from assaypilot.engine.system.places import temporary_folder
from assaypilot.engine.system.processes import in_another_process
from assaypilot.engine.system.progress import Report, silent

from ..runtime.tasks import Job, single_shot
from .session import Session

if TYPE_CHECKING:
    from assaypilot.engine.campaign.campaign import Campaign
    from assaypilot.engine.campaign.changing.terms import Change
    from assaypilot.engine.campaign.state import Settings
    from assaypilot.engine.domain.library import Library
    from assaypilot.engine.domain.measurements import Result
    from assaypilot.engine.simulate.forecast import Forecast

    from ..runtime.parcels import LibraryParcel

__all__ = ["Forecasting", "Foresight", "foresee", "foresee_draft"]


@dataclass(frozen=True, slots=True)
class Foresight:
    """What a campaign will take under some settings."""

    forecast: Forecast
    used: int = 0
    """Measurements used so far."""
    budget: int | None = None
    goal: str = ""
    """``epsilon-best``, ``pareto`` or ``best``; empty where nobody asks."""


def foresee(path: Path, change: Change | None = None, report: Report = silent) -> Foresight:
    """What the campaign in a file will take, with its settings changed when that is asked; the file stays as it is.

    AssayPilotError when the change is refused, or nothing can be foreseen.
    """
    return in_another_process(_foresee, str(path), change, report=report)


def _foresee(path: str, change: Change | None, report: Report) -> Foresight:
    from assaypilot.engine.campaign.campaign import Campaign
    from assaypilot.engine.simulate.forecast import forecast_campaign

    with temporary_folder() as folder:
        place = Path(path)
        if change is not None:
            place = folder / "changed.assaypilot"
            with Campaign.open(path, read_only=True) as campaign:
                campaign.save_copy(place)
            with Campaign.open(place) as copy:
                _change(copy, change)
        with Campaign.open(place, read_only=True) as campaign:
            now = campaign.status()
        return Foresight(
            forecast_campaign(place, report), now.measurements_used, now.settings.budget, now.settings.goal
        )


def _change(copy: Campaign, change: Change) -> None:
    """Change the copy. A round that is open and stands in the way is ended first: it will be, some day."""
    from assaypilot.engine.errors import AssayPilotError

    try:
        copy.change(change)
        return
    except AssayPilotError:
        standing = copy.status().open_round
        if standing is None:
            raise
    if standing.came:
        copy.close_round()
    else:
        copy.withdraw_round()
    copy.change(change)


def foresee_draft(
    library: Library,
    endpoints: Sequence[Endpoint],
    settings: Settings,
    history: Sequence[Result] = (),
    report: Report = silent,
) -> Foresight:
    """What a campaign that was not made yet will take; AssayPilotError when nothing can be foreseen."""
    from ..runtime.parcels import pack_library

    parcel = pack_library(library)
    forecast = in_another_process(_draft, parcel, tuple(endpoints), settings, tuple(history), report=report)
    return Foresight(forecast, 0, settings.budget, settings.goal)


def _draft(
    parcel: LibraryParcel,
    endpoints: Sequence[Endpoint],
    settings: Settings,
    history: Sequence[Result],
    report: Report,
) -> Forecast:
    from assaypilot.engine.simulate.forecast import forecast_draft

    from ..runtime.parcels import unpack_library

    return forecast_draft(unpack_library(parcel), endpoints, settings, history, report)


PAUSE = 350
"""Milliseconds without a further change before the simulation starts."""
SLOW = 3.0
"""Seconds after which the line above the foot of the window shows it, with Cancel."""
KEPT = 24
"""Answers remembered: going back to settings that were looked at before takes no time."""

Ask = Callable[[Report], Foresight]


class Forecasting(QObject):
    """Asks for what some settings will take, off the window's thread; only the latest answer is told."""

    known = Signal(object)
    """The Foresight of what was asked last."""
    refused = Signal(object)
    """Why there is none: an AssayPilotError, or Cancelled when the user stopped it."""

    def __init__(self, session: Session, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._session = session
        self._job: Job | None = None
        self._asked: tuple[Hashable, Ask] | None = None
        self._answers: OrderedDict[Hashable, Foresight] = OrderedDict()
        self._pause = single_shot(self, PAUSE, self._start)

    @property
    def busy(self) -> bool:
        """Whether an answer is to come."""
        return self._asked is not None

    def ask(self, key: Hashable, work: Ask) -> None:
        """Ask, or tell at once what was answered before; ``key`` is alike only where the answer is."""
        if self._asked is not None and self._asked[0] == key:
            return
        self.stop()
        if key in self._answers:
            self._answers.move_to_end(key)
            self.known.emit(self._answers[key])
            return
        self._asked = (key, work)
        self._pause.start()

    def stop(self) -> None:
        """What is being asked is not told any more."""
        self._pause.stop()
        self._asked = None
        if self._job is not None:
            self._session.ahead.cancel(self._job)
            self._job = None

    def forget(self) -> None:
        """Another campaign: no answer holds any more."""
        self.stop()
        self._answers.clear()

    def _start(self) -> None:
        if self._asked is None:
            return
        key, work = self._asked
        job: Job | None = None

        def landed(found: Foresight) -> None:
            self._answers[key] = found
            while len(self._answers) > KEPT:
                self._answers.popitem(last=False)
            if job is self._job:
                self._job = self._asked = None
                self.known.emit(found)

        def failed(error: Exception) -> None:
            if job is self._job:
                self._job = self._asked = None
                self.refused.emit(error)

        job = self._job = self._session.look_ahead(
            "Simulating what it will take", work, landed, failed, shown_after=SLOW
        )
