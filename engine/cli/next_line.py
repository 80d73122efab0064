"""The line that ends what a command says: the command that comes next."""

from __future__ import annotations

from pathlib import Path

from ..campaign.overview import current_round, next_step
from ..campaign.state import Status
from ..export.formats import FORMATS

__all__ = ["next_line"]


def next_line(now: Status, file: str | Path) -> str:
    """``Next: assaypilot plan series.assaypilot --out round2.csv``."""
    number, others = current_round(now), ", ".join(ending for ending in FORMATS if ending != ".xlsx")
    return (
        "Next: "
        + {
            "plan": f"assaypilot plan {file} --out round{number}.csv",
            "wait": f"assaypilot stock {file} --arrived ID,... when something that was ordered is there",
            "enter": f"fill in the work list of round {number}, then: assaypilot record {file} round{number}.csv",
            "close": f"assaypilot record {file} --close",
            "confirm": f"assaypilot plan {file} --confirm --out confirm.csv",
            "export": f"assaypilot export {file} shortlist.xlsx (or {others})",
        }[next_step(now)]
    )
