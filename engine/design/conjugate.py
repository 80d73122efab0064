"""D-optimal weights on many rows: Newton steps by conjugate gradients, so that no matrix over the rows is formed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np
from scipy.linalg import cho_solve

from ..arrays import Flags, Floats
from .allowed import box_projection, greatest_average

__all__ = ["DenseRows", "Rows", "conjugate_steps"]


_ITERATIONS = 40
"""Conjugate gradient iterations of a step, at most: the faces are nearly degenerate, so more gain little."""
_RESIDUAL = 0.1
"""The share of the pull that a step may leave unanswered."""
_RIDGE = 1e-10
"""Share of the square of the rank added to the Hessian, whose null directions leave the information as it is."""
_ENTERING = 0.5
"""A weight of 0 moves only when its pull is above this share of what is tolerated, so that few weights do."""
_SUFFICIENT = 1e-4
"""Share of the gain foreseen by the slope that a step must bring (Armijo)."""
_HALVINGS = 20


class Rows(Protocol):
    """Some rows x, prepared for many sums and quadratic forms."""

    def information(self, weights: Floats) -> Floats:
        """The sum of w x x', ``(d, d)``."""

    def quadratic(self, matrix: Floats) -> Floats:
        """The x'Mx of each row for a symmetric M, ``(m,)``."""


@dataclass(frozen=True, slots=True)
class DenseRows:
    """Rows held as a matrix ``(m, d)``."""

    x: Floats

    def information(self, weights: Floats) -> Floats:
        """The sum of w x x'."""
        total: Floats = (self.x * weights[:, None]).T @ self.x
        return total

    def quadratic(self, matrix: Floats) -> Floats:
        """The x'Mx of each row."""
        out: Floats = np.einsum("ij,ij->i", self.x @ matrix, self.x)
        return out


def conjugate_steps(
    rows: Rows,
    weights: Floats,
    *,
    upper: float | Floats = 1.0,
    tolerance: float = 1e-6,
    limit: int = 60,
) -> tuple[Floats, int, bool]:
    """Weights of larger log det V on the rows, the steps taken, and whether they are optimal to the tolerance.

    The question of ``maximise_log_det`` for more rows than a Newton system should have. The Hessian
    H_ij = (x_i' V^-1 x_j)^2 times a vector v is the quadratic form of V^-1 V(v) V^-1 at each row, so it costs no more
    than a gradient; a step solves on the free weights by conjugate gradients and is projected (Bertsekas
    1982, Projected Newton methods). Never ends lower; may end early, where rounding
    hides what is to be gained.
    """
    w = weights.copy()
    bounds = np.broadcast_to(np.asarray(upper, dtype=float), w.shape)
    boxed = bool(bounds.min() < 1.0)
    value, inverse = _inverse(rows, w)
    d = len(inverse)
    for step in range(limit):
        leverages = rows.quadratic(inverse)
        if greatest_average(leverages, upper) - d <= d * tolerance:
            return w, step, True
        between = (w > 0) & (w < bounds)
        level = float(w[between] @ leverages[between] / w[between].sum()) if boxed and between.any() else float(d)
        pull = leverages - level
        least = _ENTERING * tolerance * d
        free = between | ((w <= 0) & (pull > least)) | ((w >= bounds) & (pull < -least))
        if not free.any():
            return w, step, False
        direction = _solved(rows, inverse, np.where(free, pull, 0.0), free)
        slope = float(pull @ direction)
        length = 1.0
        for _ in range(_HALVINGS):
            new = w + length * direction
            if boxed:
                # Weights that stay at a bound take no part, or the shift of the projection would free them all.
                new[free] = box_projection(new[free], bounds[free], float(w[free].sum()))
            else:
                new = np.maximum(new, 0.0)
                new /= new.sum()
            try:
                reached, inverse_there = _inverse(rows, new)
            except np.linalg.LinAlgError:
                reached = -np.inf
            if reached > value + _SUFFICIENT * length * max(slope, 0.0) * (length < 1.0):
                break
            length /= 2.0
        else:
            return w, step, False
        w, value, inverse = new, reached, inverse_there
    return w, limit, False


def _inverse(rows: Rows, w: Floats) -> tuple[float, Floats]:
    """The log det V and V^-1; raises LinAlgError when V is singular."""
    factor = np.linalg.cholesky(rows.information(w))
    inverse: Floats = cho_solve((factor, True), np.eye(len(factor)), check_finite=False)
    return 2.0 * float(np.log(np.diagonal(factor)).sum()), inverse


def _solved(rows: Rows, inverse: Floats, pull: Floats, free: Flags) -> Floats:
    """The direction of sum 0 on the free weights that answers the pull, to a share of it, by conjugate gradients."""
    count = float(np.count_nonzero(free))
    ridge = _RIDGE * float(len(inverse)) ** 2

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
