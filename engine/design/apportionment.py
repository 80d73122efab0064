"""Whole counts near given weights: apportionment, ceilings, swaps; and the limits they keep to."""

from __future__ import annotations

import heapq
import math

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.linalg import eigh

from ..arrays import Floats, Ints
from ..errors import AssayPilotError

Counts = NDArray[np.intp]

_WHOLE = 1e-9
"""A product this close above a whole number is that number: weights carry rounding errors, 384 * w may be 3 + 4e-16."""
_KAPPA = 1.0 / 3.0
"""The loosest accuracy in the paper. It requires 5 d / kappa^2 measurements; fewer prove nothing."""
_SINGULAR = 1e-11
"""Eigenvalues of the information below this share of the largest count as zero."""
_LEAST_GAIN = 1e-6
"""The share of the gain at which the paper stops that still counts as one."""
_NEWTON = 100
_SWAPS = 4
"""Swaps per measurement before the best counts so far are returned; the paper needs at most 1 / kappa."""


def _checked(weights: ArrayLike) -> Floats:
    given = np.asarray(weights, dtype=float)
    if given.ndim != 1 or not len(given) or not np.isfinite(given).all() or given.min() < 0 or given.sum() <= 0:
        raise ValueError("weights must be finite, at least one of them above 0 and none below")
    return given


def apportion(weights: ArrayLike, n: int) -> Counts:
    """Return whole counts that sum to ``n`` and follow the weights; each positive weight gets one when ``n`` allows.

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


def apportion_within(weights: ArrayLike, n: int, low: Ints, high: Ints) -> Counts:
    """Return counts of sum ``n`` near the apportioned ones, within ``low`` and ``high`` (low.sum() <= n <= high.sum()).

    What is missing goes, one by one, where counts / weight is smallest; what is too much is taken where it is largest.
    """
    w = _checked(weights)
    if not low.sum() <= n <= high.sum():
        raise ValueError("the bounds cannot hold n")
    counts = np.clip(apportion(w, n), low, high)
    sign = 1 if counts.sum() < n else -1
    end = high if sign > 0 else low
    heap = [(sign * _per(int(c), float(v)), -float(v), i) for i, (c, v) in enumerate(zip(counts, w, strict=True))]
    heapq.heapify(heap)
    off = abs(n - int(counts.sum()))
    while off:
        _, weight, i = heapq.heappop(heap)
        if counts[i] != end[i]:
            counts[i] += sign
            off -= 1
            heapq.heappush(heap, (sign * _per(int(counts[i]), -weight), weight, i))
    return counts


def _per(count: int, weight: float) -> float:
    """Return count over weight; without weight a first measurement comes after all that have one."""
    return count / weight if weight > 0 else math.inf


def ceilings(weights: ArrayLike, total: float) -> Counts:
    """Return the least whole number not below ``total`` * weight, for each weight (LinFACT eq. 21).

    The sum may exceed it.
    """
    if not np.isfinite(total) or total < 0:
        raise ValueError("total must be finite and not negative")
    wanted = _checked(weights) * total
    whole = np.ceil(wanted - _WHOLE * np.maximum(wanted, 1.0))
    return np.maximum(whole, wanted > 0).astype(np.intp)


def swap_rounded(x: Floats, weights: Floats, n: int, start: Ints, low: Ints, high: Ints) -> Ints | None:
    """Return counts of sum ``n`` reached from ``start`` by swaps; None when the weights themselves do not span.

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
    """Return the numbers c + z, ascending with z, with the c above -min(z) for which the sum of (c + z)^-2 is 1."""
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


def limits(n_rows: int, n: int, least: Ints | None, most: int | None) -> tuple[Ints, int]:
    """Return the fewest measurements of each candidate, and the most of any; refuses what no ``n`` can keep to."""
    if n < 1:
        raise AssayPilotError(f"{n} measurements estimate nothing", mend="Plan at least one.")
    low, high = np.zeros(n_rows, dtype=np.intp) if least is None else least, n if most is None else min(most, n)
    if low.sum() > n:
        raise AssayPilotError(
            f"the required compounds alone take {int(low.sum()):,} measurements, and only {n:,} are planned",
            mend=f"Plan at least {int(low.sum()):,} measurements, or require fewer compounds.",
        )
    if high * n_rows < n:
        raise AssayPilotError(
            f"{n:,} measurements do not fit: the limits on single compounds allow {high * n_rows:,} in all",
            mend=f"Plan at most {high * n_rows:,} measurements, or allow more per compound.",
        )
    return low, high
