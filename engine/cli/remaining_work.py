"""What is left to do by a forecast, as ``status`` and ``forecast`` say it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..campaign.phrases import many
from ..campaign.state import Status
from ..text.percentages import percent

if TYPE_CHECKING:
    from ..simulate.forecast import Forecast, Spread

__all__ = ["left_to_do", "range_lines"]


def left_to_do(now: Status, made: Forecast) -> dict[str, Any]:
    """``measurements_to_finish`` and ``rounds_to_finish``, each with low, median and high."""
    return {
        "measurements_to_finish": _left(made.measurements, now.measurements_used),
        "rounds_to_finish": _left(made.rounds, now.rounds_made),
    }


def range_lines(now: Status, made: Forecast) -> list[str]:
    """Return what the whole campaign takes, in lines for people."""
    more = ", or more" if made.open_ended else ""
    used = f", {now.measurements_used:,} of them made" if now.measurements_used else ""
    return [
        f"To the end: {_range(made.measurements)} measurements in all{more} (8 times in 10; "
        f"middle {made.measurements.middle:,}{used})",
        f"            {_range(made.rounds)} rounds{more}",
        f"Decided at the end: {percent(made.decided)} of {many(made.runs, 'simulated campaign')}",
    ]


def _left(spread: Spread, done: int) -> dict[str, int]:
    return {"low": spread.low - done, "median": spread.middle - done, "high": spread.high - done}


def _range(spread: Spread) -> str:
    return f"{spread.low:,}" if spread.low == spread.high else f"{spread.low:,} to {spread.high:,}"
