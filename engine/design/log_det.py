"""The D-optimal weights on given rows: projected Newton steps, each found by conjugate gradients.

No matrix over the rows is formed, so that thousands of them cost as little as products with their features.
"""

from __future__ import annotations

import numpy as np

from ..arrays import Flags, Floats
from ..models.ols import lower_factor, lower_inverse
from .allowed import box_projection, greatest_average
from .table import DenseRows, SummedRows

_STEPS = 200
"""Steps at most."""
_ITERATIONS = 40
"""Conjugate gradient iterations of a step, at most: the faces are nearly degenerate, so more gain little."""
_RESIDUAL = 0.1
"""The share of the pull that a step may leave unanswered."""
_DAMPING = 1e-10
"""Share of the square of the rank added to the Hessian, whose null directions leave the information as it is."""
_ENTERING = 0.5
"""A weight of 0 moves only when its pull is above this share of what is tolerated, so that few weights do."""
_ENOUGH = 1e-4
"""Share of the gain foreseen by the slope that a step must reach (Armijo)."""
_SAFE = 1e-6
"""Below this gain foreseen a Newton step of a self-concordant function needs no test: rounding would hide the gain."""
_HALVINGS = 20


def information(x: Floats, weights: Floats) -> Floats:
    """Return V(w): the sum of w x x' over the rows of ``x``."""
    return (x * weights[:, None]).T @ x


def maximise_log_det(
    x: Floats,
    weights: Floats,
    *,
    upper: float = 1.0,
    tolerance: float = 1e-9,
    rows: SummedRows | None = None,
) -> tuple[Floats, int]:
    """Return weights of largest log det V on the rows of ``x`` ``(m, d)``, and the steps taken.

    Starts from feasible ``weights`` of nonsingular V; never ends lower. ``upper`` bounds each of them. Ends when no
    allowed weights have an average leverage more than d * ``tolerance`` above that of these, which is d, when nothing
    gains, or after many steps. ``rows`` may give ``x`` in a form that is faster to sum up.

    The Hessian H_ij = (x_i' V^-1 x_j)^2 (Boyd and Vandenberghe, Convex Optimization, 7.5) times a vector v is the
    quadratic form of V^-1 V(v) V^-1 at each row, so it costs no more than a gradient; a step solves on the free weights
    by conjugate gradients and is projected (Bertsekas 1982, Projected Newton methods).
    """
    rows = DenseRows(x) if rows is None else rows
    w = weights.copy()
    boxed = upper < 1.0
    value, inverse = _value_and_inverse(rows, w)
    d = len(inverse)
    for step in range(_STEPS):
        leverages = rows.quadratic(inverse)
        if greatest_average(leverages, upper) - d <= d * tolerance:
            return w, step
        between = (w > 0) & (w < upper)
        level = float(w[between] @ leverages[between] / w[between].sum()) if boxed and between.any() else float(d)
        pull = leverages - level
        least = _ENTERING * tolerance * d
        free = between | ((w <= 0) & (pull > least)) | ((w >= upper) & (pull < -least))
        if not free.any():
            return w, step
        direction = _conjugate(rows, inverse, np.where(free, pull, 0.0), free)
        slope = float(pull @ direction)
        length = 1.0
        for _ in range(_HALVINGS):
            new = w + length * direction
            if boxed:
                # Weights that stay at a bound take no part, or the shift of the projection would free them all.
                new[free] = box_projection(new[free], upper, float(w[free].sum()))
            else:
                new = np.maximum(new, 0.0)
                new /= new.sum()
            try:
                reached, inverse_there = _value_and_inverse(rows, new)
            except np.linalg.LinAlgError:
                reached = -np.inf
            sure = slope <= _SAFE and reached > -np.inf
            if sure or reached > value + _ENOUGH * length * max(slope, 0.0) * (length < 1.0):
                break
            length /= 2.0
        else:
            return w, step
        w, value, inverse = new, reached, inverse_there
    return w, _STEPS


def _value_and_inverse(rows: SummedRows, w: Floats) -> tuple[float, Floats]:
    """Return the log det V and V^-1; raises LinAlgError when V is singular."""
    factor = lower_factor(rows.information(w))
    half = lower_inverse(factor)
    return 2.0 * float(np.log(np.diagonal(factor)).sum()), half.T @ half


def _conjugate(rows: SummedRows, inverse: Floats, pull: Floats, free: Flags) -> Floats:
    """Return the direction of sum 0 on the free weights that answers the pull, by conjugate gradients."""
    count = float(np.count_nonzero(free))
    ridge = _DAMPING * float(len(inverse)) ** 2

    def centred(v: Floats) -> Floats:
        return np.where(free, v - float(v[free].sum()) / count, 0.0)

    residual = centred(pull)
    along = residual.copy()
    direction = np.zeros(len(pull))
    size = float(residual @ residual)
    enough = _RESIDUAL**2 * size
    for _ in range(_ITERATIONS):
        if size <= enough or size == 0.0:
            break
        image = centred(rows.quadratic(inverse @ rows.information(along) @ inverse)) + ridge * along
        curvature = float(along @ image)
        if curvature <= 0.0:
            break
        length = size / curvature
        direction += length * along
        residual -= length * image
        before, size = size, float(residual @ residual)
        along = residual + (size / before) * along
    return direction
