"""The largest share that any candidate may get, and weights in such a box."""

from __future__ import annotations

import math

import numpy as np

from ..arrays import Floats
from ..errors import AssayPilotError

_SLACK = 1e-12
"""Shares this close to a bound meet it."""


def room_for(n: int, upper: float | None) -> float:
    """Return the largest weight of each of ``n`` candidates; AssayPilotError for a bound that no weights meet."""
    most = 1.0 if upper is None else min(float(upper), 1.0)
    if not most * n >= 1.0 - _SLACK:
        raise AssayPilotError(
            f"a share of at most {most:g} of the measurements per compound is too little for {n:,} compounds",
            mend=f"The smallest share that can be met is 1/{n} = {1.0 / n:.4g}.",
        )
    return max(most, 1.0 / n)


def fewest(room: float) -> int:
    """Return the fewest candidates that can hold all the weight."""
    return math.ceil(1.0 / room - 1e-9)


def nearest(w: Floats, room: float) -> Floats:
    """Return the nearest weights up to ``room``, of as many candidates as can hold them all."""
    return w / w.sum() if room >= 1.0 else box_projection(w, room, 1.0)


def greatest_average(leverages: Floats, upper: float) -> float:
    """Return the largest sum of w * leverage over weights that sum to 1, each between 0 and ``upper``.

    A linear programme solved by filling the largest leverages to their bounds.
    """
    if upper >= 1.0:
        return float(leverages.max())
    full = min(int(1.0 / upper * (1 + 1e-12)), len(leverages))
    if full == len(leverages):
        return upper * float(leverages.sum()) + max(0.0, 1.0 - upper * full) * float(leverages.max())
    largest = np.partition(leverages, len(leverages) - full - 1)[len(leverages) - full - 1 :]
    return upper * float(largest[1:].sum()) + max(0.0, 1.0 - upper * full) * float(largest[0])


def box_projection(point: Floats, upper: float, total: float) -> Floats:
    """Return the nearest vector with entries between 0 and ``upper`` of sum ``total`` (0 <= total <= sum of upper)."""
    # The sum of clip(point - shift, 0, upper) falls with the shift, linearly between the sorted breakpoints.
    breaks = np.sort(np.concatenate([point, point - upper]))
    low, high = 0, len(breaks) - 1
    while high - low > 1:
        middle = (low + high) // 2
        if np.clip(point - breaks[middle], 0.0, upper).sum() >= total:
            low = middle
        else:
            high = middle
    at_low = float(np.clip(point - breaks[low], 0.0, upper).sum())
    at_high = float(np.clip(point - breaks[high], 0.0, upper).sum())
    share = (at_low - total) / (at_low - at_high) if at_low > at_high else 0.0
    shift = breaks[low] + share * (breaks[high] - breaks[low])
    nearest: Floats = np.clip(point - shift, 0.0, upper)
    return nearest
