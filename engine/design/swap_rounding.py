"""Swap rounding: whole counts whose information is nearly that of the weights in every direction at once."""

from __future__ import annotations

import math

import numpy as np
from scipy.linalg import eigh

from ..arrays import Floats, Ints

__all__ = ["swap_rounded"]


_KAPPA = 1.0 / 3.0
"""The loosest accuracy the paper knows. It asks for 5 d / kappa^2 measurements; on fewer nothing is proven."""
_SINGULAR = 1e-11
"""Eigenvalues of the information below this share of the largest count as zero."""
_LEAST_GAIN = 1e-6
"""The share of the gain at which the paper stops that still counts as one."""
_NEWTON = 100
_SWAPS = 4
"""Swaps per measurement before the best counts so far are returned; the paper needs at most 1 / kappa."""


def swap_rounded(x: Floats, weights: Floats, n: int, start: Ints, low: Ints, high: Ints) -> Ints | None:
    """Counts of sum ``n`` reached from ``start`` by swaps; None when the weights themselves do not span.

    The rows ``x`` ``(m, d)`` are brought to coordinates in which n V(weights) is the identity; swaps then raise the
    smallest eigenvalue of the counts' information, so that every criterion is nearly that of the weights: within
    1 + 6 kappa for n >= 5 d / kappa^2 by GEGE appendix H. Allen-Zhu,
    Li, Singh and Wang, Near-optimal design of experiments via regret minimization (ICML 2017): A = (c I + alpha Z)^-2
    with trace 1 and alpha = sqrt(d) / kappa; out goes the row of smallest x'Ax / (1 - 2 alpha x'A^(1/2)x), in comes
    that of largest x'Ax / (1 + 2 alpha x'A^(1/2)x). The paper stops when that gains less than kappa / n; here it goes
    on while anything is gained, and the counts of the largest smallest eigenvalue on the way are returned.
    """
    values, vectors = eigh((x * (n * weights)[:, None]).T @ x)
    if values[0] <= _SINGULAR * values[-1]:
        return None
    half = vectors / np.sqrt(values)
    rows = x @ half
    d = rows.shape[1]
    kappa = min(_KAPPA, math.sqrt(5.0 * d / n))
    alpha = math.sqrt(d) / kappa
    counts = start.astype(np.intp).copy()
    best, best_least = counts.copy(), -math.inf
    for _ in range(_SWAPS * n + 1):
        z, basis = eigh((rows * counts[:, None]).T @ rows)
        if z[0] > best_least:
            best, best_least = counts.copy(), float(z[0])
        turned = rows @ basis
        root = 1.0 / _shifted(alpha * z)
        first, second = turned**2 @ root, turned**2 @ root**2
        reach = 1.0 - 2.0 * alpha * first
        may_go = (counts > low) & (reach > 0.0)
        may_come = counts < high
        if not may_go.any() or not may_come.any():
            break
        loss = np.where(may_go, second / np.where(reach > 0.0, reach, 1.0), math.inf)
        gain = np.where(may_come, second / (1.0 + 2.0 * alpha * first), -math.inf)
        out, into = int(np.argmin(loss)), int(np.argmax(gain))
        if out == into or gain[into] - loss[out] <= _LEAST_GAIN * kappa / n:
            break
        counts[out] -= 1
        counts[into] += 1
    return best


def _shifted(z: Floats) -> Floats:
    """The numbers c + z, ascending with z, with the c above -min(z) for which the sum of (c + z)^-2 is 1."""
    above = z - z.min()
    # Newton from the left of a convex falling function, so it never passes the root; c + min(z) is 1 to sqrt(d).
    c = 1.0
    for _ in range(_NEWTON):
        step = (float(((c + above) ** -2).sum()) - 1.0) / (2.0 * float(((c + above) ** -3).sum()))
        if step <= 1e-15 * c:
            break
        c += step
    moved: Floats = c + above
    return moved
