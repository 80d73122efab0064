"""Why a compound is in, out or undecided, and what would decide it, in a chemist's words."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from assaypilot.engine.campaign.state import Status
from assaypilot.engine.campaign.words import joined, many, names
from assaypilot.engine.endpoint import Endpoint
from assaypilot.gui.confirming import doubt_text
from assaypilot.gui.models.candidates import interval_text, probability_text

__all__ = ["why"]

UNDECIDED, IN, OUT, NOT_ESTIMABLE = range(4)

Floats = NDArray[np.float64]


def why(status: Status, compound: int) -> tuple[str, str] | None:
    """Heading and text for a compound; None when nothing needs to be said beside its figures."""
    known = status.candidates
    code = int(known.status[compound])
    if compound in status.confirmation.not_confirmed:
        return ("Not confirmed", doubt_text(status, compound))
    failed = status.reason(compound)
    if failed is not None:
        return ("Why out", _failing(status, compound, failed))
    if code == NOT_ESTIMABLE:
        return (
            "Not estimable",
            "Its substituents occur only in compounds that cannot be measured, or never apart from each other, "
            "so nothing that can be measured tells about it.",
        )
    if code == UNDECIDED and np.isnan([known.estimates[e.name][compound] for e in _goal(status)]).any():
        return ("Why undecided", "Nothing has been measured yet that tells about it.")
    if len(status.goal_endpoints) > 1:
        return _trade_off(status, compound, code)
    limits = _open_limits(status, compound)
    if code == UNDECIDED:
        return ("Why undecided", f"{_near_cutoff(status, compound)}{limits}")
    return ("In, but", limits.strip()) if code == IN and limits else None


def _goal(status: Status) -> list[Endpoint]:
    return [status.endpoints[place] for place in status.goal_endpoints]


def _failing(status: Status, compound: int, failed: str) -> str:
    """The limit a compound was decided to fail, and by which bounds."""
    known = status.candidates
    endpoint = status.endpoints[int(known.failed_limit[compound])]
    bounds = interval_text(known.limit_low[endpoint.name][compound], known.limit_high[endpoint.name][compound])
    text = f"It {failed}, whatever its other values."
    # Bounds of a later phase may be wider; the first decision stands.
    beyond = not _may_keep(
        endpoint, known.limit_low[endpoint.name][compound], known.limit_high[endpoint.name][compound]
    )
    return f"{text} Its {endpoint.scale_name} lies within {bounds}, all of it beyond the limit." if beyond else text


def _may_keep(endpoint: Endpoint, low: float, high: float) -> bool:
    """Whether a mean between two bounds may keep to the limit."""
    return not (low > endpoint.highest or high < endpoint.lowest)


def _open_limits(status: Status, compound: int) -> str:
    """The limits a compound may still fail, as a sentence with a space in front; empty without any."""
    known = status.candidates
    parts = []
    for place in status.limited_endpoints:
        endpoint = status.endpoints[place]
        low, high = known.limit_low[endpoint.name][compound], known.limit_high[endpoint.name][compound]
        if low >= endpoint.lowest and high <= endpoint.highest:
            continue
        bounds = interval_text(low, high)
        chance = probability_text(float(known.probability_meets[endpoint.name][compound]))
        said = ", ".join(filter(None, (bounds and f"bounds {bounds}", chance and f"P {chance}")))
        parts.append(f"{endpoint.limit_text}{f' ({said})' if said else ''}")
    return f" Whether it keeps to {joined(parts)} is not proven yet." if parts else ""


def _next(status: Status) -> str:
    """When the next decision comes, with a space in front; empty when none is under way."""
    if status.phase is None or status.phase.outstanding <= 0:
        return ""
    return f" The next decision comes after about {many(status.phase.outstanding, 'more measurement')}."


def _near_cutoff(status: Status, compound: int) -> str:
    """Where an undecided compound lies beside the cutoff, and how well it is known."""
    known, settings = status.candidates, status.settings
    sign = status.endpoints[status.objective].sign
    below = sign * (known.cutoff - known.estimate[compound])
    if settings.goal == "best":
        where = (
            f"It lies {abs(below):.2f} behind the best estimate, {known.cutoff:.2f}"
            if below > 1e-9
            else "It has the best estimate"
        )
    else:
        where = f"It lies {abs(below):.2f} {'outside' if below > 0 else 'inside'} the cutoff at {known.cutoff:.2f}"
    low, high = known.low[compound], known.high[compound]
    if not (math.isfinite(low) and math.isfinite(high)):
        return f"{where}. No phase has been decided yet: its bounds come with the first one.{_next(status)}"
    half = (high - low) / 2
    text = f"{where}, and is known to ± {half:.2f} in the last decided phase: "
    if settings.goal == "best":
        text += "not well enough to tell it from the others that are undecided."
    else:
        text += "both sides are still possible."
        if 0 < below <= settings.softness:
            text += " It is in the soft zone, where in and out are both right answers."
    return text + _next(status)


def _trade_off(status: Status, compound: int, code: int) -> tuple[str, str] | None:
    """Which other compounds decide about one between several endpoints."""
    better, low, high = _toward_better(status)
    everywhere = "both" if len(low) == 2 else "all endpoints"
    ids = status.library.ids
    if code == OUT:
        sure = np.flatnonzero((low > high[:, [compound]]).all(axis=0))
        if sure.size:
            lead = (low[:, sure] - high[:, [compound]]).min(axis=0)
            strongest = int(sure[int(np.argmax(lead))])
            more = f", and so {'is' if sure.size == 2 else 'are'} {sure.size - 1:,} more" if sure.size > 1 else ""
            return ("Why out", f"{ids[strongest]} is certainly better in {everywhere}{more}.")
        return ("Why out", f"When it was decided another compound was certainly better in {everywhere}.")
    limits = _open_limits(status, compound)
    margins = np.array(status.margins)[:, None]
    by = f" by more than {_margins(status)}" if margins.any() else ""
    if code == IN:
        return ("Why in", f"No other compound can be better in {everywhere}{by}.{limits}")
    if not np.isfinite(low[:, compound]).all():
        return ("Why undecided", f"No phase has been decided yet: its bounds come with the first one.{_next(status)}")
    open_ = status.candidates.status != OUT
    open_[compound] = False
    rivals = np.flatnonzero(open_ & (high > low[:, [compound]] + margins).all(axis=0))
    if not rivals.size:
        return ("Why undecided", f"Its next bounds decide it.{_next(status)}")
    lead = (better[:, rivals] - better[:, [compound]]).min(axis=0)
    nearest = rivals[np.argsort(-lead, kind="stable")]
    count = f"{many(rivals.size, 'compound')} may still be better in {everywhere}{by}"
    text = f"{count}: {names([ids[int(one)] for one in nearest])}. {_against(status, compound, int(nearest[0]))}"
    text += " It is out once one of them is certainly better, and in once none can be."
    return ("What would decide it", f"{text}{limits}{_next(status)}")


def _toward_better(status: Status) -> tuple[Floats, Floats, Floats]:
    """Estimates and bounds ``(n_endpoints, n)`` of the goal's endpoints, turned so that larger is better."""
    known = status.candidates
    rows: tuple[list[Floats], list[Floats], list[Floats]] = ([], [], [])
    for one in _goal(status):
        low, high = known.lows[one.name], known.highs[one.name]
        rows[0].append(one.sign * known.estimates[one.name])
        rows[1].append(low if one.sign > 0 else -high)
        rows[2].append(high if one.sign > 0 else -low)
    first, low_rows, high_rows = (np.array(part) for part in rows)
    return first, low_rows, high_rows


def _against(status: Status, compound: int, rival: int) -> str:
    """How a compound stands beside the one most likely to beat it, endpoint by endpoint."""
    parts = []
    for one in _goal(status):
        values = status.candidates.estimates[one.name]
        ahead = one.sign * (values[rival] - values[compound])
        parts.append(f"{abs(ahead):.2f} {'better' if ahead >= 0 else 'worse'} in {one.scale_name}")
    return f"{status.library.ids[rival]} is by estimate {joined(parts)}."


def _margins(status: Status) -> str:
    """The differences that do not matter."""
    if len(set(status.margins)) == 1:
        return f"{status.margins[0]:g}"
    return joined(
        [f"{margin:g} in {one.scale_name}" for margin, one in zip(status.margins, _goal(status), strict=True)]
    )
