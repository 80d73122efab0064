"""What a campaign waits for: the one thing to do next, which the window's button does and the command line names."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from .state import Status

__all__ = ["NextStep", "current_round", "next_step"]

NextStep = Literal["plan", "wait", "enter", "close", "confirm", "export"]
"""``wait``: nothing can be planned before what was ordered has arrived; ``close``: everything is in."""


def next_step(now: Status) -> NextStep:
    """Return what is to be done next, by whoever may write to the campaign."""
    standing = now.open_round
    if standing is not None:
        return "enter" if standing.missing > 0 else "close"
    if now.finished:
        return "confirm" if now.confirmation.due else "export"
    return "wait" if now.stock is not None and now.stock.waiting else "plan"


def current_round(now: Status) -> int:
    """Return the number of the open round; without one that which the next round will have."""
    return now.open_round.number if now.open_round else max((one.number for one in now.rounds), default=0) + 1
