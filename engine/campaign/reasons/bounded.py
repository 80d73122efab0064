"""What is said of a compound whose values are known only as bounds: where it lies, and what counts them how."""

from __future__ import annotations

import math

import numpy as np

from ..state import Status
from ..words import joined
from .words import interval

__all__ = ["beside", "lies"]


def lies(status: Status, compound: int) -> str:
    """``Nothing but bounds tells of it: below 5.00``; empty where exact values do."""
    known, name = status.candidates, status.endpoints[status.objective].name
    side = int(known.open_sides[name][compound]) if name in known.open_sides else 0
    if not side:
        return ""
    end = float(known.open_ends[name][compound])
    where = "below" if side < 0 else "above"
    cutoff = known.cutoff
    apart = ""
    if math.isfinite(cutoff) and side * status.endpoints[status.objective].sign < 0 and side * (cutoff - end) < 0:
        apart = f", and so outside the cutoff at {cutoff:.2f}"
    return f"Nothing but bounds tells of it: it lies {where} {end:.2f}{apart}"


def beside(status: Status, compound: int) -> str:
    """Why estimates and the bounds that decide may not fit, as a sentence; empty where nothing needs it.

    That is: where a compound has bounds, or its estimate lies outside its deciding bounds while some values are bounds.
    """
    known = status.candidates
    odd = []
    for place in status.goal_endpoints:
        endpoint = status.endpoints[place]
        if endpoint.name not in known.open_sides:
            continue
        low, high = float(known.lows[endpoint.name][compound]), float(known.highs[endpoint.name][compound])
        estimate = float(known.estimates[endpoint.name][compound])
        if np.isfinite([low, high, estimate]).all() and not low <= estimate <= high:
            odd.append(f"{endpoint.scale_name} {estimate:.2f} lies outside {interval(low, high)}")
    if odd:
        return (
            f"Its estimate {joined(odd)}, by which it is decided: estimates count all values, and bounds as bounds; "
            "decisions count those of their phases, and of each bound the bound itself."
        )
    if known.censored[compound] and status.bounds_taken:
        return "Estimates count its bounds as bounds; decisions count each bound itself."
    return ""
