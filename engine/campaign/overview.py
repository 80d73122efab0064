"""The next step of a campaign, and the campaigns of a project at a glance."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from ..errors import AssayPilotError
from ..system.progress import Report, silent
from .campaign import Campaign

if TYPE_CHECKING:
    from .state import Status


_ENDING = ".assaypilot"


@dataclass(frozen=True, slots=True)
class Glance:
    """The state of a campaign; of an unreadable file only the path and why."""

    path: Path
    error: str = ""
    name: str = ""
    goal: str = ""
    strategy: str = ""
    claim: str = ""
    """Kind of claim: calibrated, proven or none."""
    round: int = 0
    round_open: bool = False
    outstanding: int = 0
    """Results that an open round still waits for."""
    counts: Mapping[str, int] | None = None
    """Compounds by status."""
    measurements: int = 0
    finished: bool = False
    next: NextStep = "plan"


def glances(places: Iterable[Path], report: Report = silent) -> list[Glance]:
    """Return the states of the campaign files named, and of those in the folders named; by folder and name.

    Nothing is written, and a file that another program has open is read, too. AssayPilotError for a place that does
    not exist.
    """
    files: list[Path] = []
    for place in places:
        if place.is_dir():
            files += sorted(path for path in place.iterdir() if path.suffix.casefold() == _ENDING)
        elif place.exists():
            files.append(place)
        else:
            raise AssayPilotError(
                "there is no such file or folder", file=str(place), mend="Name campaign files or a folder of them."
            )
    found = []
    for number, path in enumerate(files):
        report(number / len(files), f"reading {path.name}")
        found.append(_glance(path))
    return found


def _glance(path: Path) -> Glance:
    try:
        with Campaign.open(path, read_only=True) as campaign:
            now = campaign.status()
    except AssayPilotError as error:
        error.file = None
        return Glance(path, error=str(error))
    return Glance(
        path,
        name=now.name,
        goal=now.goal_sentence,
        strategy=now.strategy,
        claim=now.claim.kind,
        round=max((one.number for one in now.rounds), default=0),
        round_open=now.open_round is not None,
        outstanding=0 if now.open_round is None else now.open_round.missing,
        counts=dict(now.counts),
        measurements=now.measurements_used,
        finished=now.finished,
        next=next_step(now),
    )


NextStep = Literal["plan", "wait", "enter", "close", "confirm", "export"]
"""``wait``: nothing can be planned before what was ordered has arrived; ``close``: everything is in."""


def next_step(now: Status) -> NextStep:
    """Return what is to be done next, by a user who may write to the campaign."""
    standing = now.open_round
    if standing is not None:
        return "enter" if standing.missing > 0 else "close"
    if now.finished:
        return "confirm" if now.confirmation.due else "export"
    return "wait" if now.stock is not None and now.stock.waiting else "plan"


def current_round(now: Status) -> int:
    """Return the number of the open round; without one that which the next round will have."""
    return now.open_round.number if now.open_round else max((one.number for one in now.rounds), default=0) + 1
