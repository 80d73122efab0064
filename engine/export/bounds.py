"""Values known only as bounds as tables show them: ``<5.0`` where nothing else is known, never an empty cell."""

from __future__ import annotations

import numpy as np

from ..campaign.state import Status
from ..domain.endpoint import Endpoint, Relation

__all__ = ["COUNTED", "bound_text", "entry_text", "estimate_text", "only_bounds", "open_text", "said"]

COUNTED = "Values known only as bounds count in estimates as bounds, in decisions as the bound itself."
"""What is said beside estimates wherever some values are known only as bounds."""


def bound_text(status: Status, endpoint: str, compound: int) -> str:
    """``<5.0``, ``>4.0 <5.0``: where values of an endpoint say that a compound lies, model scale; empty without one."""
    known = status.candidates
    found = []
    for sign, limits in ((">", known.over), ("<", known.under)):
        limit = float(limits[endpoint][compound]) if endpoint in limits else np.nan
        if np.isfinite(limit):
            found.append(f"{sign}{_short(limit)}")
    return " ".join(found)


def only_bounds(status: Status, compound: int) -> str:
    """Return the same of the endpoints of the goal, where a compound has bounds and no value of one of them.

    Else empty.
    """
    known = status.candidates
    several = len(status.goal_endpoints) > 1
    found = []
    for place in status.goal_endpoints:
        endpoint = status.endpoints[place]
        text = "" if known.measured_of[endpoint.name][compound] else bound_text(status, endpoint.name, compound)
        if text:
            found.append(f"{endpoint.scale_name} {text}" if several else text)
    return ", ".join(found)


def estimate_text(status: Status, endpoint: str, compound: int, digits: int = 2) -> str:
    """``5.83``; ``<5.0`` of an estimate that only bounds hold; empty before any."""
    estimate = float(status.candidates.estimates[endpoint][compound])
    if not np.isfinite(estimate):
        return ""
    return open_text(status, endpoint, compound) or f"{estimate:.{digits}f}"


def open_text(status: Status, endpoint: str, compound: int) -> str:
    """``<5.0`` of an estimate that only bounds hold; empty of all others."""
    end = _open(status, endpoint, compound)
    return f"{end[0]}{_short(end[1])}" if end else ""


def entry_text(status: Status, endpoint: Endpoint, compound: int) -> str:
    """Return the same in the unit that values are entered in: ``>10000``."""
    end = _open(status, endpoint.name, compound)
    # As a number first, so that 10000 is not written 1e+04.
    return f"{endpoint.relation_on_model(end[0])}{float(f'{endpoint.from_model(end[1]):.3g}'):.10g}" if end else ""


def _open(status: Status, endpoint: str, compound: int) -> tuple[Relation, float] | None:
    """To which side an estimate is open, and what holds it on the other."""
    known = status.candidates
    side = int(known.open_sides[endpoint][compound]) if endpoint in known.open_sides else 0
    return ("<" if side < 0 else ">", float(known.open_ends[endpoint][compound])) if side else None


def said(status: Status) -> str:
    """Return the plain word about bounds beside estimates; empty where none counts."""
    if not status.candidates.open_sides:
        return ""
    return COUNTED


def _short(value: float) -> str:
    """Return a limit with one decimal, two where it has them: ``5.0``, ``5.25``."""
    return f"{value:.1f}" if abs(value - round(value, 1)) < 5e-3 else f"{value:.2f}"
