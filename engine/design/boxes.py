"""Weights in a box: the largest average they allow, and the nearest ones."""

from __future__ import annotations

import numpy as np

from ..arrays import Floats

__all__ = ["box_projection", "greatest_average"]


def greatest_average(leverages: Floats, upper: float | Floats) -> float:
    """The largest sum of w * leverage over weights that sum to 1, each between 0 and its ``upper``.

    A linear programme solved by filling the largest leverages to their bounds.
    """
    if isinstance(upper, np.ndarray):
        if upper.min() >= 1.0:
            return float(leverages.max())
        order = np.argsort(-leverages, kind="stable")
        filled = np.minimum(np.cumsum(upper[order]), 1.0)
        return float(np.diff(filled, prepend=0.0) @ leverages[order]) + (1.0 - float(filled[-1])) * float(
            leverages[order[0]]
        )
    if upper >= 1.0:
        return float(leverages.max())
    full = min(int(1.0 / upper * (1 + 1e-12)), len(leverages))
    if full == len(leverages):
        return upper * float(leverages.sum()) + max(0.0, 1.0 - upper * full) * float(leverages.max())
    largest = np.partition(leverages, len(leverages) - full - 1)[len(leverages) - full - 1 :]
    return upper * float(largest[1:].sum()) + max(0.0, 1.0 - upper * full) * float(largest[0])


def box_projection(point: Floats, upper: float | Floats, total: float) -> Floats:
    """The nearest vector with entries between 0 and ``upper`` that sum to ``total`` (0 <= total <= sum of upper)."""
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
