"""Fewer compounds for the same design: weights moved off compounds that others can stand in for."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.linalg import lapack, qr, solve_triangular

from ..arrays import Floats, Ints
from .allowed import box_projection
from .log_det import diagonal_of, maximise_log_det, whitened

__all__ = ["Elimination", "elimination", "same_information_on_fewer", "without_least_needed"]


_RIDGE = 1e-9
"""Share of the largest diagonal entry added to the Hessian, so that rows that can replace each other cost nothing."""
_BLOCKS = 24
"""Blocks in which rows go when many do: the model is brought up to date after each."""
_DEPENDENT = 1e-10
"""Pivots of the moments below this share of the largest count as zero."""
_SQUARED = 1e-11
"""The same for the products of the moments with each other."""
_PIVOTING = 2e9
"""Rows times the square of the number of their moments up to which dependences are exact to rounding."""
_LEAST_SHARE = 1e-4
"""Weights that surgery leaves at or below 0 restart at this share of an even weight."""


@dataclass(frozen=True, slots=True)
class Elimination:
    """An order in which rows can go, least needed first, with what a second-order model makes of the rest."""

    gone: Ints
    """Positions in the order of going."""
    weights: list[tuple[int, Floats]]
    """How many have gone, and the weights of all rows then (of those that stay: may be slightly below 0)."""


def elimination(x: Floats, weights: Floats, remove: int, *, worth: Floats | None = None) -> Elimination:
    """The ``remove`` rows of ``x`` needed least, in order; raises LinAlgError when V is singular.

    They are picked by the loss of log det that its second-order model foresees with all other weights adjusted and
    their sum fixed, w_i^2 / (2 [H^-1]_ii) (the saliency of Hassibi and Stork's Optimal Brain Surgeon,
    H = (x_i' V^-1 x_j)^2), one by one or in small blocks. ``worth`` ``(m,)`` multiplies that loss.
    """
    m = len(x)
    y, _ = whitened(x, weights)
    hessian = y @ y.T
    hessian *= hessian
    diagonal = diagonal_of(hessian)
    diagonal += _RIDGE * float(diagonal.max())
    inverse = _inverse(hessian)
    total = inverse.sum(axis=1)
    inverse -= (total / total.sum())[:, None] * total
    w = weights.copy()
    alive = np.ones(m, dtype=bool)
    order: list[Ints] = []
    at: list[tuple[int, Floats]] = []
    block = max(1, remove // _BLOCKS)
    for begun in range(0, remove, block):
        loss = w**2 / np.maximum(np.diagonal(inverse), 1e-300)
        loss = np.where(alive, loss if worth is None else loss * worth, np.inf)
        size = min(block, remove - begun)
        gone = np.argpartition(loss, size - 1)[:size] if size > 1 else np.array([np.argmin(loss)])
        alive[gone] = False
        columns = inverse[:, gone]
        if size == 1:
            shift = columns.T / max((1.0 + 1e-12) * float(columns[gone[0], 0]), 1e-300)
        else:
            pivots = columns[gone]
            pivots[np.diag_indices(size)] += max(1e-12 * float(np.abs(np.diagonal(pivots)).max()), 1e-300)
            shift = np.linalg.solve(pivots, columns.T)
        w = w - w[gone] @ shift
        inverse -= columns @ shift
        order.append(gone)
        at.append((begun + size, w))
    return Elimination(np.concatenate(order), at)


def without_least_needed(
    x: Floats,
    plan: Elimination,
    remove: int,
    *,
    upper: float | Floats,
    tolerance: float,
) -> tuple[Ints, Floats]:
    """The kept positions in ``x`` and their D-optimal weights after the first ``remove`` rows of the plan have gone.

    Raises LinAlgError when the rest does not span, ValueError when it cannot hold all the weight under the bounds.
    """
    m = len(x)
    bounds = np.full(m, upper)
    alive = np.ones(m, dtype=bool)
    alive[plan.gone[:remove]] = False
    kept = np.flatnonzero(alive)
    if bounds[kept].sum() < 1.0:
        raise ValueError("too few rows for the upper bound")
    w = next((weights for count, weights in plan.weights if count >= remove), plan.weights[-1][1])
    start = np.maximum(w[kept], _LEAST_SHARE / m)
    start = box_projection(start, bounds[kept], 1.0) if bounds.min() < 1.0 else start / start.sum()
    best, _ = maximise_log_det(x[kept], start, upper=bounds[kept], tolerance=tolerance)
    return kept[best > 0], best[best > 0]


def _inverse(matrix: Floats) -> Floats:
    """The inverse of a positive definite matrix, by its Cholesky factor; raises LinAlgError when it is not."""
    factor, failed = lapack.dpotrf(matrix, lower=1)
    if failed == 0:
        inverse, failed = lapack.dpotri(factor, lower=1)
    if failed != 0:
        raise np.linalg.LinAlgError("not positive definite")
    # ``dpotrf`` leaves zeros above the diagonal, and ``dpotri`` leaves these.
    full: Floats = inverse + inverse.T
    diagonal = diagonal_of(full)
    diagonal /= 2.0
    return full


def _dependences(x: Floats, keep_sum: bool) -> Floats:
    """Directions ``(m, k)`` of weights that leave the sum of w x x' as it is, and their own sum when ``keep_sum``."""
    m, d = x.shape
    if m * (d * (d + 1) / 2) ** 2 <= _PIVOTING:
        first, second = np.triu_indices(d)
        products = x[:, first] * x[:, second]
        if keep_sum:
            products = np.column_stack([products, np.ones(m)])
        orthogonal, triangle, _ = qr(products, pivoting=True, check_finite=False)
        pivots = np.abs(np.diagonal(triangle))
        rank = int((pivots > _DEPENDENT * pivots[0]).sum()) if len(pivots) else 0
        exact: Floats = np.array(orthogonal[:, rank:], dtype=np.float64)
        return exact
    # Many rows: from their products with each other, faster but half as exact.
    gram = x @ x.T
    gram *= gram
    if keep_sum:
        gram += 1.0
    factor, order, rank, _ = lapack.dpstrf(gram, tol=_SQUARED * float(np.diagonal(gram).max()), lower=1, overwrite_a=1)
    null = np.zeros((m, m - rank))
    null[order[:rank] - 1] = -solve_triangular(
        factor[:rank, :rank], factor[rank:, :rank].T, lower=True, trans=1, check_finite=False
    )
    null[order[rank:] - 1] = np.eye(m - rank)
    return null


def same_information_on_fewer(x: Floats, weights: Floats, *, upper: float | Floats, keep_sum: bool = False) -> Floats:
    """Weights on at most d (d + 1) / 2 rows whose information is no smaller (Caratheodory); others become 0.

    Fewer still where the products x x' span less, as those of a site table do. Moves along null directions of
    w -> V(w), so V stays as it is until the sum of the weights has fallen, which is then given back to all. With an
    upper bound, or to ``keep_sum``, the sum stays as it is, and rows at the bound do not count.
    """
    w = weights.copy()
    bounds = np.broadcast_to(np.asarray(upper, dtype=float), w.shape)
    keep_sum = keep_sum or bool(bounds.min() < 1.0)
    movable = np.flatnonzero((w > 0) & (w < bounds))
    null = _dependences(x[movable], keep_sum)
    v, top = w[movable], np.where(bounds >= 1.0, np.inf, bounds)[movable]
    while null.shape[1]:
        direction = null[:, 0]
        if direction.sum() > 0 and not keep_sum:
            direction = -direction
        with np.errstate(divide="ignore", invalid="ignore"):
            room = np.where(direction < 0, -v / direction, (top - v) / direction)
        room = np.where(direction == 0, np.inf, room)
        hit = int(np.argmin(room))
        v = np.clip(v + room[hit] * direction, 0.0, top)
        v[hit] = 0.0 if direction[hit] < 0 else top[hit]
        # The other null directions must leave what was hit where it is.
        with_entry = int(np.argmax(np.abs(null[hit])))
        column = null[:, with_entry] / null[hit, with_entry]
        null = np.delete(null - np.outer(column, null[hit]), with_entry, axis=1)
        null[hit] = 0.0
    w[movable] = v
    return w if keep_sum else w / w.sum()
