"""How well the series model predicted: intervals noted when a round was issued, against the values of the round."""

from __future__ import annotations

import math
from collections import defaultdict

from scipy.special import bdtr, chdtr

from .noise import known as assay_noise
from .replay import Ledger
from .state import ModelCheck

__all__ = ["model_check"]

_LEVEL = 0.95
_NARROW = 0.01
"""Probability of so few values inside below which the intervals are too narrow."""
_WIDE = 3e-4
"""Probability of so small errors, and so close replicates, below which the intervals are too wide."""


def model_check(ledger: Ledger) -> ModelCheck | None:
    """Return how many values of the objective fell inside their intervals, all rounds and the last; None without any.

    A value is the mean of what a round brought for a compound; its interval is that of the model, widened by the
    assay noise of as many determinations. Single answers and counts lie inside or outside of intervals by their kind,
    so these are not judged.
    """
    if not ledger.calibrated or ledger.endpoints[ledger.objective].kind != "value":
        return None
    sd = assay_noise.informing(ledger)[ledger.objective].noise_sd or 0.0
    came = defaultdict(list)
    for m in ledger.measurements:
        if m.usable and m.relation == "=" and m.endpoint == ledger.objective:
            came[m.round, m.compound].append(m)
    within, freedom = 0.0, 0
    inside: list[bool] = []
    errors: list[float] = []
    last = 0, 0, 0
    for issued in ledger.rounds:
        before = len(inside)
        for item in issued.items:
            own = came.get((issued.number, item.compound))
            if not own or item.expected is None or item.low is None or item.high is None:
                continue
            mean, n = sum(m.n * m.value for m in own) / sum(m.n for m in own), sum(m.n for m in own)
            side = item.high - item.expected if mean > item.expected else item.expected - item.low
            if sd > 0:
                within += sum(m.n * (m.value - mean) ** 2 for m in own) / sd**2
                freedom += len(own) - 1
            half = math.hypot(side, _TWO_SIDED * sd / math.sqrt(n))
            inside.append(abs(mean - item.expected) <= half)
            errors.append(_TWO_SIDED * (mean - item.expected) / half if half > 0 else 0.0)
        if len(inside) > before:
            last = issued.number, len(inside) - before, sum(inside[before:])
    if not inside:
        return None
    squares = sum(error**2 for error in errors)
    narrow = bool(bdtr(sum(inside), len(inside), _LEVEL) < _NARROW)
    wide = bool(chdtr(len(errors) + freedom, squares + within) < _WIDE)
    return ModelCheck(len(inside), sum(inside), math.sqrt(squares / len(errors)), *last, narrow, wide)


_TWO_SIDED = 1.959964
