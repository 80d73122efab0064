"""The nearest truths under which an excluded compound belongs to the answer: small quadratic programmes."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np
from scipy.optimize import linprog, nnls

from ..arrays import Floats, Ints

_FIRST = 4
"""Comparisons considered first, per dimension; those that the solution violates are added later."""
_VIOLATED = 1e-9
_ROUNDS = 50
_ROWS = 256
"""Excluded compounds compared with all others at once."""
_TIED = 1e-6
"""Candidates that exceed the others by a smaller share add nothing to a mixture's programme."""
_SAFE = 1e-9
"""Share subtracted from a bound for the rounding of its own arithmetic."""


@dataclass(frozen=True, slots=True)
class Nearest:
    """The alternative nearest to the truth, and the one half-space that is as far away."""

    shift: Floats
    """``(d,)`` alternative - truth."""
    squared: float
    """Its squared length in V."""
    direction: Floats
    """y / gap, with y'V^-1 y / gap^2 = 1 / ``squared``: all such alternatives have y'(alternative - truth) >= gap."""


def single_comparisons(
    x: Floats, means: Floats, inverse: Floats, excluded: Ints, epsilon: float
) -> tuple[Floats, Ints]:
    """For each excluded compound m, the largest squared distance to a single (a_m - a_j)'theta >= -epsilon, and its j.

    No alternative that takes m in is nearer than that, since it must keep to all of them. ``x`` ``(n, d)`` are the
    compounds, ``inverse`` is V^-1. A pair of equal rows that is violated is infinitely far.
    """
    best = np.zeros(len(excluded))
    other = np.zeros(len(excluded), dtype=np.intp)
    half = x @ inverse
    own = np.einsum("ij,ij->i", half, x)
    for start in range(0, len(excluded), _ROWS):
        rows = excluded[start : start + _ROWS]
        lengths = np.maximum(own[rows, None] + own - 2.0 * (half[rows] @ x.T), 0.0)
        missing = np.maximum(means - means[rows, None] - epsilon, 0.0)
        with np.errstate(divide="ignore", invalid="ignore"):
            squared = np.where(missing > 0, missing**2 / lengths, 0.0)
        other[start : start + len(rows)] = np.argmax(squared, axis=1)
        best[start : start + len(rows)] = squared.max(axis=1)
    return best, other


def nearest_within(x: Floats, means: Floats, inverse: Floats, m: int, epsilon: float) -> Nearest | None:
    """Return the alternative nearest in V under which m is within epsilon of every compound; None when there is none.

    minimise ||u||_V^2 over (a_m - a_j)'u >= mean_j - mean_m - epsilon for all j: least distance programming, solved as
    a non-negative least squares problem (Lawson and Hanson, Solving Least Squares Problems, chapter 23) by scipy's
    ``nnls``. That is an active-set method with an exact end, kept up in a library that is here anyway; general convex
    solvers would end at a tolerance and be one dependency more. Few comparisons matter, so they come in as violated.
    """
    factor = np.linalg.cholesky((inverse + inverse.T) / 2.0)
    rows = (x[m] - x) @ factor
    needed = means - means[m] - epsilon
    lengths = np.sqrt(np.einsum("ij,ij->i", rows, rows))
    if (needed[lengths <= _VIOLATED * lengths.max()] > 0).any():
        return None
    considered = lengths > _VIOLATED * lengths.max()
    ratios = np.full(len(x), -math.inf)
    ratios[considered] = needed[considered] / lengths[considered]
    unit = float(ratios.max())
    if unit <= 0:
        return None
    working = np.argsort(-ratios, kind="stable")[: _FIRST * x.shape[1]]
    working = working[considered[working]]
    for _ in range(_ROUNDS):
        found = _least_distance(rows[working], needed[working] / unit)
        if found is None:
            return None
        v, multipliers = found
        short = np.where(considered, (needed / unit - rows @ v) / np.maximum(lengths, 1e-300), -math.inf)
        short[working] = -math.inf
        worst = np.argsort(-short, kind="stable")[: x.shape[1]]
        worst = worst[short[worst] > _VIOLATED]
        if not len(worst):
            break
        working = np.concatenate([working, worst])
    squared = float(v @ v) * unit**2
    # The multipliers add the comparisons up to one half-space that touches the others' intersection where u is.
    y = multipliers @ (x[m] - x[working])
    gap = float(multipliers @ needed[working])
    return Nearest(factor @ v * unit, squared, y / gap)


def _least_distance(rows: Floats, needed: Floats) -> tuple[Floats, Floats] | None:
    """Return the shortest v with rows v >= needed, and the multipliers; None when there is none."""
    d = rows.shape[1]
    system = np.concatenate([rows.T, needed[None, :]])
    target = np.zeros(d + 1)
    target[d] = 1.0
    multipliers, _ = nnls(system, target)
    residual = system @ multipliers - target
    if abs(residual[d]) < 1e-12:
        return None
    return -residual[:d] / residual[d], multipliers


@dataclass(frozen=True, slots=True)
class Mixture:
    """Alternatives mixed so that no design separates the truth from them quickly."""

    value: float
    """max_a sum_k p_k (a'u_k)^2: at least max_w min_k ||u_k||^2_V(w), whatever the mixture p."""
    shares: Floats
    """p ``(k,)``."""
    weights: Floats
    """``(n,)`` the weights w that separate the truth fastest from these alternatives alone."""


def mixture_bound(coordinates: Floats, shifts: Floats, rows: Ints | None = None) -> Mixture:
    """Return the mixture of the alternatives u_k ``(k, d)`` with the least max_a sum_k p_k (a'u_k)^2.

    No design separates the truth from all alternatives faster: max_w min_k ||u_k||^2_V(w) is at most this, for any p
    (LinGame eq. 1). A linear programme, solved by HiGHS; the value returned is that of the mixture found, so it is a
    bound even where the programme ended early. ``coordinates`` ``(n, d)`` are all candidates, ``rows`` those to begin
    with.
    """
    squares = (coordinates @ shifts.T) ** 2
    n, k = squares.shape
    scale = max(float(squares.mean()), 1e-300)
    rows = np.unique(np.argmax(squares, axis=0)) if rows is None else rows
    best = Mixture(math.inf, np.full(k, 1.0 / k), np.full(n, 1.0 / n))
    for _ in range(_ROUNDS):
        solved = linprog(
            np.append(np.zeros(k), 1.0),
            A_ub=np.column_stack([squares[rows] / scale, -np.ones(len(rows))]),
            b_ub=np.zeros(len(rows)),
            A_eq=np.append(np.ones(k), 0.0)[None, :],
            b_eq=[1.0],
            bounds=[(0.0, None)] * k + [(None, None)],
            method="highs",
        )
        if solved.x is None:
            break
        shares = np.maximum(solved.x[:k], 0.0)
        shares /= shares.sum()
        reached = squares @ shares
        if reached.max() < best.value:
            weights = np.zeros(n)
            weights[rows] = np.maximum(-solved.ineqlin.marginals, 0.0)
            best = Mixture(float(reached.max()), shares, weights / weights.sum())
        more = np.argsort(-reached, kind="stable")[: 2 * coordinates.shape[1]]
        new = np.setdiff1d(more[reached[more] > float(solved.x[k]) * scale * (1 + _TIED)], rows)
        if not len(new):
            break
        rows = np.concatenate([rows, new])
    value = best.value if math.isfinite(best.value) else float((squares @ best.shares).max())
    return replace(best, value=value * (1.0 + _SAFE))
