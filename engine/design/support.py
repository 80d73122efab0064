"""Fewer compounds for the same design: weights moved off compounds that others can stand in for."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import qr

from assaypilot.engine.design.newton import box_projection, maximise_log_det, whitened

__all__ = ["same_information_on_fewer", "without_least_needed"]

Floats = NDArray[np.float64]
Ints = NDArray[np.intp]

_RIDGE = 1e-9
"""Share of the largest diagonal entry added to the Hessian, so that rows that can replace each other cost nothing."""
_LEAST_SHARE = 1e-4
"""Weights that surgery leaves at or below 0 restart at this share of an even weight."""


def without_least_needed(
    x: Floats, weights: Floats, remove: int, *, upper: float, tolerance: float
) -> tuple[Ints, Floats]:
    """The kept positions in ``x`` and their D-optimal weights after removing the ``remove`` least needed rows.

    The rows to go are picked one by one by the loss of log det that its second-order model foresees with all other
    weights adjusted and their sum fixed, w_i^2 / (2 [H^-1]_ii) (the saliency of Hassibi and Stork's Optimal Brain
    Surgeon, H = (x_i' V^-1 x_j)^2). Raises LinAlgError when the rest does not span, ValueError when it cannot hold
    all the weight under the bound.
    """
    m = len(x)
    if (m - remove) * upper < 1.0:
        raise ValueError("too few rows for the upper bound")
    y, _ = whitened(x, weights)
    hessian = (y @ y.T) ** 2
    hessian[np.diag_indices(m)] += _RIDGE * float(np.diagonal(hessian).max())
    inverse = np.linalg.inv(hessian)
    total = inverse.sum(axis=1)
    inverse -= np.outer(total, total) / total.sum()
    w = weights.copy()
    alive = np.ones(m, dtype=bool)
    for _ in range(remove):
        loss = np.where(alive, w**2 / np.maximum(np.diagonal(inverse), 1e-300), np.inf)
        gone = int(np.argmin(loss))
        alive[gone] = False
        column = inverse[:, gone] / max(float(inverse[gone, gone]), 1e-300)
        w -= column * w[gone]
        inverse -= np.outer(column, inverse[gone])
    kept = np.flatnonzero(alive)
    start = np.maximum(w[kept], _LEAST_SHARE / m)
    start = box_projection(start, upper, 1.0) if upper < 1.0 else start / start.sum()
    best, _ = maximise_log_det(x[kept], start, upper=upper, tolerance=tolerance)
    return kept[best > 0], best[best > 0]


def same_information_on_fewer(x: Floats, weights: Floats, *, upper: float) -> Floats:
    """Weights on at most d (d + 1) / 2 rows whose information is no smaller (Caratheodory); others become 0.

    Moves along null directions of w -> V(w), so V stays as it is until the sum of the weights has fallen, which is
    then given back to all. With an upper bound the sum is kept instead, and rows at the bound do not count.
    """
    w = weights.copy()
    d = x.shape[1]
    movable = np.flatnonzero((w > 0) & (w < upper))
    first, second = np.triu_indices(d)
    products = x[movable][:, first] * x[movable][:, second]
    if upper < 1.0:
        products = np.column_stack([products, np.ones(len(movable))])
    if len(movable) <= products.shape[1]:
        return w
    orthogonal = qr(products, check_finite=False)[0]
    null = orthogonal[:, products.shape[1] :].copy()
    v = w[movable]
    while null.shape[1]:
        direction = null[:, 0]
        if direction.sum() > 0 and upper >= 1.0:
            direction = -direction
        with np.errstate(divide="ignore", invalid="ignore"):
            room = np.where(direction < 0, -v / direction, (upper - v) / direction if upper < 1.0 else np.inf)
        room = np.where(direction == 0, np.inf, room)
        hit = int(np.argmin(room))
        v = np.clip(v + room[hit] * direction, 0.0, upper)
        v[hit] = 0.0 if direction[hit] < 0 else upper
        # The other null directions must leave what was hit where it is.
        with_entry = int(np.argmax(np.abs(null[hit])))
        column = null[:, with_entry] / null[hit, with_entry]
        null = np.delete(null - np.outer(column, null[hit]), with_entry, axis=1)
        null[hit] = 0.0
    w[movable] = v
    return w / w.sum() if upper >= 1.0 else w
