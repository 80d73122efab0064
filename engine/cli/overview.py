"""``assaypilot overview``: the campaigns of a project at a glance, each with what comes next."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from ..campaign.overview import Glance, glances
from .console import Console, Reply, table

__all__ = ["overview"]


def overview(options: argparse.Namespace, console: Console) -> Reply:
    """List campaigns by folder and name; a file that cannot be read is listed with the reason."""
    found = glances([Path(one) for one in options.places] or [Path()], console.report)
    header = ["Campaign", "Goal", "Round", "In", "Undecided", "Out", "Measured", "Next"]
    lines = table(header, list(map(_row, found))) if found else ["There is no campaign file here."]
    return Reply(list(map(_document, found)), lines)


def _row(one: Glance) -> tuple[object, ...]:
    if one.counts is None:
        return (one.path, one.error, "", "", "", "", "", "")
    counts = (one.counts[name] for name in ("in", "undecided", "out"))
    return (one.path, one.goal, one.round, *counts, one.measurements, one.next)


def _document(one: Glance) -> dict[str, Any]:
    if one.counts is None:
        return {"file": str(one.path), "error": one.error}
    return {
        "file": str(one.path),
        "name": one.name,
        "goal": one.goal,
        "strategy": one.strategy,
        "round": one.round,
        "round_open": one.round_open,
        "outstanding": one.outstanding,
        "counts": one.counts,
        "measurements_used": one.measurements,
        "finished": one.finished,
        "claim": one.claim,
        "next": one.next,
    }
