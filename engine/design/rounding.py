"""From shares to whole measurements."""

from __future__ import annotations

import heapq

import numpy as np
from numpy.typing import ArrayLike, NDArray

__all__ = ["apportion", "ceilings"]

Counts = NDArray[np.intp]

_WHOLE = 1e-9
"""A product this close above a whole number is that number: weights carry rounding errors, 384 * w may be 3 + 4e-16."""


def _checked(weights: ArrayLike) -> NDArray[np.float64]:
    given = np.asarray(weights, dtype=float)
    if given.ndim != 1 or not len(given) or not np.isfinite(given).all() or given.min() < 0 or given.sum() <= 0:
        raise ValueError("weights must be finite, at least one of them above 0 and none below")
    return given


def apportion(weights: ArrayLike, n: int) -> Counts:
    """Whole counts that sum to ``n`` and follow the weights; each positive weight gets one when ``n`` allows.

    Efficient design apportionment (Pukelsheim, Optimal Design of Experiments, 12.5; RAGE appendix B): it makes the
    smallest counts / weights as large as any counts of that sum can. With fewer measurements than positive weights the
    largest weights get one each. Ties go to the earlier position.
    """
    shares = _checked(weights)
    shares = shares / shares.sum()
    if n < 0:
        raise ValueError("n must not be negative")
    counts = np.zeros(len(shares), dtype=np.intp)
    positive = np.flatnonzero(shares > 0)
    if n <= len(positive):
        counts[positive[np.argsort(-shares[positive], kind="stable")[:n]]] = 1
        return counts
    w = shares[positive]
    given = np.ceil((n - len(w) / 2.0) * w)
    off = n - round(float(given.sum()))
    if off > 0:
        # One more where counts / weight is smallest.
        heap = [(float(c / s), i) for i, (c, s) in enumerate(zip(given, w, strict=True))]
        heapq.heapify(heap)
        for _ in range(off):
            _, i = heap[0]
            given[i] += 1.0
            heapq.heapreplace(heap, (float(given[i] / w[i]), i))
    elif off < 0:
        # One fewer where what is left / weight stays largest; the last measurement of a compound is never taken.
        heap = [(-float((c - 1.0) / s), -i) for i, (c, s) in enumerate(zip(given, w, strict=True))]
        heapq.heapify(heap)
        for _ in range(-off):
            _, i = heap[0]
            given[-i] -= 1.0
            heapq.heapreplace(heap, (-float((given[-i] - 1.0) / w[-i]), i))
    counts[positive] = given.astype(np.intp)
    return counts


def ceilings(weights: ArrayLike, total: float) -> Counts:
    """The least whole number not below ``total`` * weight, for each weight (LinFACT eq. 21); the sum may exceed it."""
    if not np.isfinite(total) or total < 0:
        raise ValueError("total must be finite and not negative")
    wanted = _checked(weights) * total
    whole = np.ceil(wanted - _WHOLE * np.maximum(wanted, 1.0))
    return np.maximum(whole, wanted > 0).astype(np.intp)
