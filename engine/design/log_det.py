"""The D-optimal weights on given rows: Newton steps, each to the maximum of a quadratic model in the box.

Of many rows by conjugate gradients, so that no matrix over the rows is formed.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.linalg import LinAlgError
from scipy.linalg import lapack

from ..arrays import Flags, Floats
from ..models.ols import lower_factor, lower_inverse
from .allowed import box_projection, greatest_average
from .table import DenseRows, SummedRows

MANY = 800
"""Rows from which conjugate gradients come first: a Newton system is solved only for what they leave."""
_LARGEST = 2500
"""The largest Newton system."""
_PATIENCE = 8
"""Solutions a primal-dual active set may take before it counts as running in circles."""
_STILL = 1e-13
"""A pull on a weight below this share of the slope is rounding."""
_LEAST_PIVOTS = 12
_PIVOT_WORK = 5e8
"""Solutions of a primal active set: this over the cube of the weights, so that a step ends in part of a second."""
_SAFE_DECREMENT = 0.25
"""Below it a full Newton step of a self-concordant function needs no test of its value."""
_SUFFICIENT = 1e-3
"""Share of the gain foreseen by the slope that a tested step must reach (Armijo)."""
_STEPS, _CONJUGATE_STEPS = 100, 60
"""Steps at most."""
_RIDGE = 1e-10
"""Share of the largest diagonal entry added to the Hessian, whose null directions leave the information as it is."""
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
_HALVINGS = 20


def information(x: Floats, weights: Floats) -> Floats:
    """Return V(w): the sum of w x x' over the rows of ``x``."""
    return (x * weights[:, None]).T @ x


def whitened(x: Floats, weights: Floats) -> tuple[Floats, float]:
    """Return rows y with y_i'y_j = x_i' V(w)^-1 x_j, and log det V(w); raises LinAlgError when V is singular."""
    factor = lower_factor(information(x, weights))
    y: Floats = lapack.dtrtrs(factor, x.T, lower=1)[0].T
    return y, 2.0 * float(np.log(np.diagonal(factor)).sum())


def _log_det(x: Floats, weights: Floats) -> float:
    sign, value = np.linalg.slogdet(information(x, weights))
    return float(value) if sign > 0 else -np.inf


def _solve(hessian: Floats, right: Floats) -> Floats:
    """Return solutions for a positive semidefinite matrix, with as little of a ridge as makes it definite."""
    diagonal = np.diagonal(hessian).copy()
    ridge = _RIDGE * float(diagonal.max())
    while True:
        diagonal_of(hessian)[:] = diagonal + ridge
        try:
            solved: Floats = lapack.dpotrs(lower_factor(hessian), right, lower=1)[0]
            return solved
        except LinAlgError:
            ridge *= 100.0


def diagonal_of(matrix: Floats) -> Floats:
    """Return the diagonal of a square matrix, to be written to."""
    view: Floats = np.einsum("ii->i", matrix)
    return view


@dataclass(frozen=True, slots=True)
class _Model:
    """The quadratic model slope't - t'Ht / 2 of log det V over weights t between 0 and ``upper`` of a fixed sum."""

    hessian: Floats
    slope: Floats
    upper: Floats
    total: float

    def value(self, t: Floats) -> float:
        """Return the model at t."""
        return float(self.slope @ t - 0.5 * t @ (self.hessian @ t))

    def face_maximum(self, free: Flags, fixed: Floats) -> tuple[Floats, Floats]:
        """Return the maximum over the free weights, and the pull on each weight there (0 on the free ones)."""
        inside = np.flatnonzero(free)
        right = np.ones((len(inside), 2))
        right[:, 0] = (self.slope - self.hessian @ fixed)[inside]
        part = self.hessian.copy() if len(inside) == len(free) else self.hessian[inside[:, None], inside]
        solved = _solve(part, right)
        sums = solved.sum(axis=0)
        level = float(sums[0] - (self.total - fixed.sum())) / float(sums[1])
        t = fixed.copy()
        t[inside] = solved[:, 0] - level * solved[:, 1]
        return t, self.slope - self.hessian @ t - level


def _model_maximum(model: _Model, w: Floats, free: Flags) -> Floats:
    """Return the maximum of the model in its box, from the weights ``w`` where it was made.

    First a primal-dual active set (Hintermueller, Ito and Kunisch 2003): all weights that leave the box go to its face,
    all that want back are freed; a few solutions are mostly enough. It may run in circles on dependent rows; then a
    primal active set, one weight at a time, which cannot.
    """
    upper = model.upper
    at_top = ~free & (w >= upper)
    t, inside = w, free
    for _ in range(_PATIENCE):
        t, pull = model.face_maximum(inside, np.where(at_top, upper, 0.0))
        too_low, too_high = inside & (t < 0.0), inside & (t > upper)
        freed = ~inside & np.where(at_top, pull < 0.0, pull > 0.0)
        if not (too_low.any() or too_high.any() or freed.any()):
            return t
        at_top = (at_top & ~freed) | too_high
        inside = (inside & ~too_low & ~too_high) | freed
        if not inside.any():
            break
    projected = box_projection(t, upper, model.total)
    best = projected if model.value(projected) > model.value(w) else w
    return _one_at_a_time(model, best)


def _one_at_a_time(model: _Model, w: Floats) -> Floats:
    """Return the maximum of the model in its box by a primal active set that starts at the feasible ``w``."""
    upper = model.upper
    free = (w > 0.0) & (w < upper)
    least = _STILL * float(np.abs(model.slope).max())
    t = w.copy()
    # Any feasible point with a better model is a way up, so large systems are not solved to the end.
    for _ in range(max(_LEAST_PIVOTS, int(_PIVOT_WORK / len(w) ** 3))):
        if not free.any():
            # In a corner: the pair between which moving weight gains most, if any.
            slope = model.slope - model.hessian @ t
            taker = int(np.argmax(np.where(t < upper, slope, -np.inf)))
            giver = int(np.argmin(np.where(t > 0.0, slope, np.inf)))
            if slope[taker] - slope[giver] <= least:
                break
            free[[taker, giver]] = True
        target, pull = model.face_maximum(free, np.where(free, 0.0, t))
        direction = target - t
        with np.errstate(divide="ignore", invalid="ignore"):
            room = np.where(direction < 0.0, -t / direction, (upper - t) / direction)
        room = np.where(free & (direction != 0.0), room, np.inf)
        first = int(np.argmin(room))
        if room[first] < 1.0:
            t = np.clip(t + max(float(room[first]), 0.0) * direction, 0.0, upper)
            t[first] = 0.0 if direction[first] < 0.0 else upper[first]
            free[first] = False
            continue
        t = target
        gain = np.where(free, 0.0, np.where(t >= upper, -pull, pull))
        wants = int(np.argmax(gain))
        if gain[wants] <= least:
            break
        free[wants] = True
    return np.clip(t, 0.0, upper)


def maximise_log_det(
    x: Floats,
    weights: Floats,
    *,
    upper: float | Floats = 1.0,
    tolerance: float = 1e-9,
    rows: SummedRows | None = None,
) -> tuple[Floats, int]:
    """Return weights of largest log det V on the rows of ``x`` ``(m, d)``, and the steps taken.

    Starts from feasible ``weights`` of nonsingular V; never ends lower. ``upper`` bounds them, one for all or ``(m,)``.
    Ends when no allowed weights have an average leverage more than
    d * ``tolerance`` above that of these, which is d, when nothing gains, or after 100 steps.
    Sequential quadratic programming: the Hessian is -(x_i' V^-1 x_j)^2 (Boyd and Vandenberghe, Convex Optimization,
    7.5), each step goes towards the maximum of the quadratic model inside the box. Many rows by conjugate gradients,
    for which ``rows`` may give ``x`` in a faster form.
    """
    w = weights.copy()
    d = x.shape[1]
    if len(w) > MANY:
        w, steps, done = conjugate_steps(DenseRows(x) if rows is None else rows, w, upper=upper, tolerance=tolerance)
        if done or len(w) > _LARGEST:
            return w, steps
    bounds = np.full(len(w), upper)
    bounded = bool(bounds.min() < 1.0)
    y, value = whitened(x, w)
    for step in range(_STEPS):
        leverages = np.einsum("ij,ij->i", y, y)
        if greatest_average(leverages, upper) - d <= d * tolerance:
            return w, step
        free = _movable(w, leverages, bounds)
        if not free.any():
            return w, step
        hessian = y @ y.T
        hessian *= hessian
        # A proximal term: along null directions, which leave V as it is, the weights stay where they are.
        diagonal = diagonal_of(hessian)
        diagonal += _RIDGE * float(diagonal.max())
        model = _Model(hessian, leverages + hessian @ w, bounds, float(w.sum()))
        direction = _model_maximum(model, w, free) - w
        new = _line_search(x, w, direction, leverages, y, value)
        if new is None:
            return w, step
        w = np.minimum(np.maximum(new, 0.0), bounds)
        if not bounded:
            w /= w.sum()
        y, value = whitened(x, w)
    return w, _STEPS


def _line_search(x: Floats, w: Floats, direction: Floats, leverages: Floats, y: Floats, value: float) -> Floats | None:
    """Return weights further along a direction with a larger log det; None when it does not rise that way."""
    # The direction sums to 0; without the average, gains far smaller than the leverages survive rounding.
    slope = float((leverages - leverages.sum() / len(w)) @ direction)
    if slope <= 0.0:
        return None
    along = (y * direction[:, None]).T @ y
    decrement = math.sqrt(float(np.vdot(along, along)))
    length = 1.0
    while length > 1e-9:
        new = w + length * direction
        # The model's length of the step; a short one is safe, and its gain may drown in rounding.
        if length * decrement <= _SAFE_DECREMENT or _log_det(x, new) >= value + _SUFFICIENT * length * slope:
            return new
        length /= 2.0
    return None


def _movable(w: Floats, leverages: Floats, upper: Floats) -> Flags:
    """Return which weights start free: between the bounds, or gaining by leaving one."""
    between: Flags = (w > 0) & (w < upper)
    if between.all():
        return between
    if between.any():
        level = float(w[between] @ leverages[between] / w[between].sum())
    elif not (w < upper).any():  # the bounds leave no choice
        return np.zeros(len(w), dtype=bool)
    else:
        level = 0.5 * (float(leverages[w < upper].max()) + float(leverages[w > 0].min()))
    return between | ((w <= 0) & (leverages > level)) | ((w >= upper) & (leverages < level))


def conjugate_steps(
    rows: SummedRows,
    weights: Floats,
    *,
    upper: float | Floats,
    tolerance: float,
) -> tuple[Floats, int, bool]:
    """Return weights of larger log det V on the rows, the steps taken, and whether they are optimal to the tolerance.

    The question of ``maximise_log_det`` for more rows than a Newton system should have. The Hessian
    H_ij = (x_i' V^-1 x_j)^2 times a vector v is the quadratic form of V^-1 V(v) V^-1 at each row, so it costs no more
    than a gradient; a step solves on the free weights by conjugate gradients and is projected (Bertsekas
    1982, Projected Newton methods). Never ends lower; may end early, where rounding
    hides what is to be gained.
    """
    w = weights.copy()
    bounds = np.broadcast_to(np.asarray(upper, dtype=float), w.shape)
    boxed = bool(bounds.min() < 1.0)
    value, inverse = _value_and_inverse(rows, w)
    d = len(inverse)
    for step in range(_CONJUGATE_STEPS):
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
        direction = _conjugate(rows, inverse, np.where(free, pull, 0.0), free)
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
                reached, inverse_there = _value_and_inverse(rows, new)
            except np.linalg.LinAlgError:
                reached = -np.inf
            if reached > value + _ENOUGH * length * max(slope, 0.0) * (length < 1.0):
                break
            length /= 2.0
        else:
            return w, step, False
        w, value, inverse = new, reached, inverse_there
    return w, _CONJUGATE_STEPS, False


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
