"""Values known only as bounds as tables show them: ``<5.0`` where nothing else is known, never an empty cell."""

from __future__ import annotations

import numpy as np

from ..campaign.state import Status


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
    """``5.83``; empty before any."""
    estimate = float(status.candidates.estimates[endpoint][compound])
    return f"{estimate:.{digits}f}" if np.isfinite(estimate) else ""


def said(status: Status) -> str:
    """Return the plain word about bounds beside estimates; empty where there are none."""
    if not (status.candidates.under or status.candidates.over):
        return ""
    if status.guarantee.kind == "calibrated":
        return "A value known only as a bound counts as what it leaves open."
    return "Estimates leave out values known only as a bound; decisions count the limit."


def _short(value: float) -> str:
    """Return a limit with one decimal, two where it has them: ``5.0``, ``5.25``."""
    return f"{value:.1f}" if abs(value - round(value, 1)) < 5e-3 else f"{value:.2f}"
