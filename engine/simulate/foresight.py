"""Forecasts made in a process of their own, which Cancel ends at once."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from ..domain.endpoint import Endpoint
from ..system.places import temporary_folder
from ..system.processes import in_another_process
from ..system.progress import Report, silent

if TYPE_CHECKING:
    from ..campaign.campaign import Campaign
    from ..campaign.changes import Change
    from ..campaign.settings import Settings
    from ..domain.library import Library
    from ..domain.measurements import Result
    from .forecast import Forecast


@dataclass(frozen=True, slots=True)
class Foresight:
    """What a campaign will take under some settings."""

    forecast: Forecast
    used: int = 0
    """Measurements used so far."""
    budget: int | None = None
    goal: str = ""
    """``epsilon-best``, ``pareto`` or ``best``; empty where no goal is open."""


def foresee(path: Path, change: Change | None = None, report: Report = silent) -> Foresight:
    """Return what the campaign in a file will take, with changed settings on request.

    The file stays as it is.

    AssayPilotError when the change is refused, or nothing can be foreseen.
    """
    return in_another_process(_foresee, str(path), change, report=report)


def _foresee(path: str, change: Change | None, report: Report) -> Foresight:
    from ..campaign.campaign import Campaign
    from .forecast import forecast_campaign

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
    """Change the copy. An open round that prevents the change is ended first: it will end anyway."""
    from ..errors import AssayPilotError

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
    """Return what a campaign that was not made yet will take; AssayPilotError when nothing can be foreseen."""
    forecast = in_another_process(_draft, library, tuple(endpoints), settings, tuple(history), report=report)
    return Foresight(forecast, 0, settings.budget, settings.goal)


def _draft(
    library: Library,
    endpoints: Sequence[Endpoint],
    settings: Settings,
    history: Sequence[Result],
    report: Report,
) -> Forecast:
    from .forecast import forecast_draft

    return forecast_draft(library, endpoints, settings, history, report)
