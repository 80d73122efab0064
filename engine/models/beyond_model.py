"""Bounds that the sum of effects cannot explain: values known to lie far from what all other compounds predict.

A compound of which only ``<5`` is known has no residual. But where others predict 7.1 for it with a standard error, the
probability that a mean of its n values lies below 5 is Phi((5 - 7.1) / sqrt(se^2 + sigma^2 / n)), exactly so for normal
noise and effects that add up, whatever the value was. Predicted from exact values of other compounds, of which those
near a bound are left out: these came as numbers only where the noise took them within.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ..domain.features import Features
from .ols import least_squares

if TYPE_CHECKING:
    from .tobit import Bounds, Cells

__all__ = ["Beyond", "beyond_model"]

_LEAST = 1.645
"""SDs by which a one-sided bound of 95 % lies off."""


class Beyond(NamedTuple):
    """A row whose bounds lie beyond what the others predict of it."""

    row: int
    limit: float
    sign: float
    """1 where its values lie below the limit, -1 where above."""
    predicted: float
    least: float
    """How far its mean is from that at least (95 %)."""
    p: float
    """That noise alone takes one so far, over all rows with bounds together (Bonferroni)."""


def beyond_model(features: Features, exact: Cells, bounds: Bounds, sigma: float) -> tuple[Beyond, ...]:
    """The rows of which only bounds are known that exact values of others predict on the wrong side, surest first."""
    if not len(exact.rows) or not sigma > 0.0:
        return ()
    from scipy.special import ndtr

    told: dict[tuple[int, float], tuple[float, float]] = {}
    for row, count, limit, sign, times in zip(*(part.tolist() for part in bounds), strict=True):
        # Of several limits the one that all values lie beyond.
        so_far, loosest = told.get((row, sign), (0.0, limit))
        told[row, sign] = so_far + count * times, sign * max(sign * loosest, sign * limit)
    own = set(exact.rows.tolist())
    keys = [key for key in told if key[0] not in own]
    rows = np.array([row for row, _ in keys], dtype=np.intp)
    fit = least_squares(features, *exact)
    norms = fit.half_norms(rows)
    reached = np.flatnonzero(np.isfinite(norms))
    if not len(reached):
        return ()
    predicted = fit.means(rows[reached])
    found = []
    for place, mean in zip(reached.tolist(), predicted.tolist(), strict=True):
        row, sign = keys[place]
        count, limit = told[row, sign]
        sd = sigma * float(np.sqrt(norms[place] ** 2 + 1.0 / count))
        beyond = sign * (mean - limit)
        if beyond > 0.0:
            p = min(len(reached) * float(ndtr(-beyond / sd)), 1.0)
            found.append(Beyond(row, limit, sign, mean, beyond - _LEAST * sd, p))
    return tuple(sorted(found, key=lambda one: one.p))
