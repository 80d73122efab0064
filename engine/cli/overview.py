"""``assaypilot overview``: the campaigns of a project at a glance, each with what comes next."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from ..campaign.campaign import Campaign
from ..campaign.next_step import next_step
from ..errors import AssayPilotError
from .console import Console, Reply, table

__all__ = ["overview"]

_ENDING = ".assaypilot"


def overview(options: argparse.Namespace, console: Console) -> Reply:
    """List campaigns by folder and name; a file that cannot be read is listed with the reason."""
    files = list(_files([Path(one) for one in options.places] or [Path()]))
    entries = []
    for number, path in enumerate(files):
        console.report(number / len(files), f"reading {path.name}")
        entries.append(_entry(path))
    header = ["Campaign", "Goal", "Round", "In", "Undecided", "Out", "Measured", "Next"]
    rows = [
        (entry["file"], entry["error"], "", "", "", "", "", "")
        if "error" in entry
        else (
            entry["file"],
            entry["goal"],
            entry["round"],
            *(entry["counts"][name] for name in ("in", "undecided", "out")),
            entry["measurements_used"],
            entry["next"],
        )
        for entry in entries
    ]
    return Reply(entries, table(header, rows) if rows else ["There is no campaign file here."])


def _files(places: list[Path]) -> Iterator[Path]:
    """Yield the campaign files named and those in the folders named, without their subfolders."""
    for place in places:
        if place.is_dir():
            yield from sorted(path for path in place.iterdir() if path.suffix.casefold() == _ENDING)
        elif place.exists():
            yield place
        else:
            raise AssayPilotError(
                "there is no such file or folder", file=str(place), mend="Name campaign files or a folder of them."
            )


def _entry(path: Path) -> dict[str, Any]:
    try:
        with Campaign.open(path, read_only=True) as campaign:
            now = campaign.status()
    except AssayPilotError as error:
        return {"file": str(path), "error": str(error)}
    return {
        "file": str(path),
        "name": now.name,
        "goal": now.goal_sentence,
        "strategy": now.strategy,
        "round": max((one.number for one in now.rounds), default=0),
        "round_open": now.open_round is not None,
        "outstanding": 0 if now.open_round is None else now.open_round.missing,
        "counts": dict(now.counts),
        "measurements_used": now.measurements_used,
        "finished": now.finished,
        "claim": now.claim.kind,
        "next": next_step(now),
    }
