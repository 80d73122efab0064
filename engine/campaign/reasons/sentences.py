"""Parts of sentences that explain decisions."""

from __future__ import annotations

import math

from ..phrases import many
from ..replay import Ledger
from ..state import Status

_FURTHEST = 12
"""Phases looked ahead."""


def round_of(ledger: Ledger, phase: int) -> int:
    """Return the round that closed a phase."""
    return ledger.phases[phase - 1].round


def after(ledger: Ledger, phase: int) -> str:
    """``After round 2``."""
    return f"After round {round_of(ledger, phase)}"


def interval(low: float, high: float) -> str:
    """``7.15 – 7.57``; empty when unknown."""
    if math.isnan(low) or math.isnan(high):
        return ""
    if math.isinf(low) or math.isinf(high):
        return "no bounds"
    return f"{low:.2f} \N{EN DASH} {high:.2f}"


def between(least: float, most: float) -> str:
    """How far behind: ``0.31 to 0.93 behind``, ``at most 0.93 behind, or ahead``."""
    if least >= 0.005:
        return f"{least:.2f} to {most:.2f} behind"
    return f"at most {most:.2f} behind, if at all" if most > 0 else f"at least {-most:.2f} ahead of"


def known_to(status: Status) -> str:
    """When the next decision comes, with a space in front; empty when none is under way."""
    if status.phase is None or status.phase.outstanding <= 0:
        return ""
    return f" The next decision comes after about {many(status.phase.outstanding, 'more measurement')}."


def more_measurements(status: Status, half: float, needed: float, measured: float, *, pooled: bool) -> int:
    """About how many more measurements bring a half-width down to what is needed, at the rate of those so far.

    ``measured`` is what the present one rests on. ``pooled``: all of it goes on counting; else every phase starts
    anew, with half of the last one's half-width, as long as that is not enough.
    """
    if pooled:
        return math.ceil(measured * max((half / needed) ** 2 - 1.0, 0.0))
    total, reach, size = 0.0, half, measured
    if status.phase is not None and status.phase.outstanding > 0:
        # The phase under way comes first, whatever it brings: by its size.
        total = float(status.phase.outstanding)
        reach = half * math.sqrt(measured / max(status.phase.total, 1)) if measured else half
        size = float(status.phase.total)
    for _ in range(_FURTHEST):
        if reach <= needed * (1.0 + 1e-9):
            break
        finer = max(reach / 2.0, needed)
        size *= (reach / finer) ** 2
        total, reach = total + size, finer
    return math.ceil(total)


def needed_text(status: Status, what: str, half: float, needed: float, more: int) -> str:
    """Return ``It is known to ± 0.31 now.

    ± 0.22 is needed: about 40 more measurements.``, and what the budget leaves.
    """
    digits = 2 if f"{half:.2f}" != f"{needed:.2f}" else 3
    text = f"{what} is known to ± {half:.{digits}f} now; ± {needed:.{digits}f} is needed"
    if half <= needed or more <= 0:
        return f"{text}: the next decision may settle it.{known_to(status)}"
    ahead = 0 if status.phase is None else status.phase.outstanding
    if more <= ahead:
        return f"{text}: about {many(_round(more), 'more measurement')}, with the next decision."
    said = f"{text}: about {many(_round(more), 'more measurement')}, spread as so far.{known_to(status)}"
    left = None if status.settings.budget is None else status.settings.budget - status.measurements_used
    if left is not None and left < more:
        said += f" The budget leaves {max(left, 0):,}."
    return said


def _round(count: int) -> int:
    """Return a count with two digits that mean something."""
    if count < 20:
        return count
    step = int(10 ** (len(str(count)) - 2))
    return round(count / step) * step
