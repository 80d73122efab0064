"""The D-optimal weights on a few given rows: Newton steps, each to the maximum of a quadratic model in the box."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import LinAlgError, cho_factor, cho_solve, solve_triangular

__all__ = ["box_projection", "greatest_average", "information", "maximise_log_det", "whitened"]

Floats = NDArray[np.float64]

_MOST_CONSIDERED = 3000
"""The largest Newton system; of more weights, those that a step would move first."""
_MULTIPLICATIONS = 40
"""First-order steps on all weights before a Newton step on the largest system there may be."""
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
"""Share of the gain foreseen by the slope that a tested step must bring (Armijo)."""
_RIDGE = 1e-10
"""Share of the largest diagonal entry added to the Hessian, whose null directions leave the information as it is."""


def information(x: Floats, weights: Floats, base: Floats | None) -> Floats:
    """V(w): the sum of w x x' over the rows of ``x``, and ``base``, the information already there, if any."""
    total: Floats = (x * weights[:, None]).T @ x
    return total if base is None else total + base


def whitened(x: Floats, weights: Floats, base: Floats | None = None) -> tuple[Floats, float]:
    """Rows y with y_i'y_j = x_i' V(w)^-1 x_j, and log det V(w); raises LinAlgError when V is singular."""
    factor = np.linalg.cholesky(information(x, weights, base))
    y: Floats = solve_triangular(factor, x.T, lower=True, check_finite=False).T
    return y, 2.0 * float(np.log(np.diagonal(factor)).sum())


def greatest_average(leverages: Floats, upper: float | Floats) -> float:
    """The largest sum of w * leverage over weights that sum to 1, each between 0 and its ``upper``.

    A linear programme solved by filling the largest leverages to their bounds.
    """
    if isinstance(upper, np.ndarray):
        if upper.min() >= 1.0:
            return float(leverages.max())
        order = np.argsort(-leverages, kind="stable")
        filled = np.minimum(np.cumsum(upper[order]), 1.0)
        return float(np.diff(filled, prepend=0.0) @ leverages[order]) + (1.0 - float(filled[-1])) * float(
            leverages[order[0]]
        )
    if upper >= 1.0:
        return float(leverages.max())
    full = min(int(1.0 / upper * (1 + 1e-12)), len(leverages))
    if full == len(leverages):
        return upper * float(leverages.sum()) + max(0.0, 1.0 - upper * full) * float(leverages.max())
    largest = np.partition(leverages, len(leverages) - full - 1)[len(leverages) - full - 1 :]
    return upper * float(largest[1:].sum()) + max(0.0, 1.0 - upper * full) * float(largest[0])


def box_projection(point: Floats, upper: float | Floats, total: float) -> Floats:
    """The nearest vector with entries between 0 and ``upper`` that sum to ``total`` (0 <= total <= sum of upper)."""
    # The sum of clip(point - shift, 0, upper) falls with the shift, linearly between the sorted breakpoints.
    breaks = np.sort(np.concatenate([point, point - upper]))
    low, high = 0, len(breaks) - 1
    while high - low > 1:
        middle = (low + high) // 2
        if np.clip(point - breaks[middle], 0.0, upper).sum() >= total:
            low = middle
        else:
            high = middle
    at_low = float(np.clip(point - breaks[low], 0.0, upper).sum())
    at_high = float(np.clip(point - breaks[high], 0.0, upper).sum())
    share = (at_low - total) / (at_low - at_high) if at_low > at_high else 0.0
    shift = breaks[low] + share * (breaks[high] - breaks[low])
    nearest: Floats = np.clip(point - shift, 0.0, upper)
    return nearest


def _log_det(x: Floats, weights: Floats, base: Floats | None) -> float:
    sign, value = np.linalg.slogdet(information(x, weights, base))
    return float(value) if sign > 0 else -np.inf


def _solve(hessian: Floats, right: Floats) -> Floats:
    """Solutions for a positive semidefinite matrix, with as little of a ridge as makes it definite."""
    diagonal = np.diagonal(hessian).copy()
    ridge = _RIDGE * float(diagonal.max())
    while True:
        np.fill_diagonal(hessian, diagonal + ridge)
        try:
            solved: Floats = cho_solve(cho_factor(hessian, lower=True, check_finite=False), right, check_finite=False)
            return solved
        except LinAlgError:
            ridge *= 100.0


@dataclass(frozen=True, slots=True)
class _Model:
    """The quadratic model slope't - t'Ht / 2 of log det V over weights t between 0 and ``upper`` of a fixed sum."""

    hessian: Floats
    slope: Floats
    upper: Floats
    total: float

    def value(self, t: Floats) -> float:
        """The model at t."""
        return float(self.slope @ t - 0.5 * t @ (self.hessian @ t))

    def face_maximum(self, free: NDArray[np.bool_], fixed: Floats) -> tuple[Floats, Floats]:
        """The maximum with only the free weights moving, and the pull on each weight there (0 on the free ones)."""
        inside = np.flatnonzero(free)
        right = (self.slope - self.hessian @ fixed)[inside]
        solved = _solve(self.hessian[np.ix_(inside, inside)], np.column_stack([right, np.ones(len(inside))]))
        sums = solved.sum(axis=0)
        level = float(sums[0] - (self.total - fixed.sum())) / float(sums[1])
        t = fixed.copy()
        t[inside] = solved[:, 0] - level * solved[:, 1]
        return t, self.slope - self.hessian @ t - level


def _model_maximum(model: _Model, w: Floats, free: NDArray[np.bool_]) -> Floats:
    """The maximum of the model in its box, from the weights ``w`` where it was made.

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
    """The maximum of the model in its box by a primal active set that starts at the feasible ``w``."""
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
    base: Floats | None = None,
    tolerance: float = 1e-9,
    limit: int = 100,
) -> tuple[Floats, int]:
    """Weights of largest log det V on the rows of ``x`` ``(m, d)``, and the steps taken.

    Starts from feasible ``weights`` of nonsingular V; never ends lower. ``upper`` bounds them, one for all or ``(m,)``;
    ``base`` ``(d, d)`` is information already there. Ends when no allowed weights have an average leverage more than
    d * ``tolerance`` above that of these (which is d without ``base``), when nothing gains, or after ``limit`` steps.
    Sequential quadratic programming: the Hessian is -(x_i' V^-1 x_j)^2 (Boyd and Vandenberghe, Convex Optimization,
    7.5), each step goes towards the maximum of the quadratic model inside the box.
    """
    w = weights.copy()
    d = x.shape[1]
    if len(w) > _MOST_CONSIDERED and base is None and np.min(upper) >= 1.0:
        w = _multiplied(x, w, tolerance)
    bounds = np.broadcast_to(np.asarray(upper, dtype=float), w.shape)
    bounded = bool(bounds.min() < 1.0)
    y, value = whitened(x, w, base)
    for step in range(limit):
        leverages = np.einsum("ij,ij->i", y, y)
        now = float(d) if base is None else float(w @ leverages)
        if greatest_average(leverages, upper) - now <= d * tolerance:
            return w, step
        considered, free = _movable(w, leverages, bounds)
        if not free.any():
            return w, step
        part = w[considered]
        hessian = y[considered] @ y[considered].T
        hessian *= hessian
        # A proximal term: along null directions, which leave V as it is, the weights stay where they are.
        hessian[np.diag_indices(len(part))] += _RIDGE * float(np.diagonal(hessian).max())
        model = _Model(hessian, leverages[considered] + hessian @ part, bounds[considered], float(part.sum()))
        target = _model_maximum(model, part, free)
        direction = np.zeros(len(w))
        direction[considered] = target - part
        new = _line_search(x, w, direction, leverages, y, value, base)
        if new is None:
            return w, step
        w = np.clip(new, 0.0, bounds)
        if not bounded:
            w /= w.sum()
        y, value = whitened(x, w, base)
    return w, limit


def _multiplied(x: Floats, w: Floats, tolerance: float) -> Floats:
    """The weights after steps w <- w * leverage / d (Silvey, Titterington and Torsney 1978), which never lower log det.

    For more rows than a Newton system holds, where steps on a part of the weights alone make slow progress.
    """
    d = x.shape[1]
    for _ in range(_MULTIPLICATIONS):
        y, _ = whitened(x, w)
        leverages = np.einsum("ij,ij->i", y, y)
        if float(leverages.max()) <= d * (1.0 + tolerance):
            break
        w = w * leverages / d
        w /= w.sum()
    return w


def _line_search(
    x: Floats, w: Floats, direction: Floats, leverages: Floats, y: Floats, value: float, base: Floats | None
) -> Floats | None:
    """Weights further along a direction with a larger log det; None when it does not rise that way."""
    # The direction sums to 0; without the average, gains far smaller than the leverages survive rounding.
    slope = float((leverages - leverages.mean()) @ direction)
    if slope <= 0.0:
        return None
    along = (y * direction[:, None]).T @ y
    decrement = float(np.linalg.norm(along))
    length = 1.0
    while length > 1e-9:
        new = w + length * direction
        # The model's length of the step; a short one is safe, and its gain may drown in rounding.
        if length * decrement <= _SAFE_DECREMENT or _log_det(x, new, base) >= value + _SUFFICIENT * length * slope:
            return new
        length /= 2.0
    return None


def _movable(w: Floats, leverages: Floats, upper: Floats) -> tuple[NDArray[np.intp], NDArray[np.bool_]]:
    """The weights a step considers, and which of them start free: between the bounds, or gaining by leaving one."""
    between = (w > 0) & (w < upper)
    if between.any():
        level = float(w[between] @ leverages[between] / w[between].sum())
    else:
        level = 0.5 * (float(leverages[w < upper].max()) + float(leverages[w > 0].min()))
    free = between | ((w <= 0) & (leverages > level)) | ((w >= upper) & (leverages < level))
    if len(w) <= _MOST_CONSIDERED:
        return np.arange(len(w)), free
    # Between the bounds first, then those whose leverage says most clearly that they should move, then the undecided.
    distance = np.abs(leverages - level)
    key = np.where(between, -np.inf, np.where(free, -distance, distance))
    considered = np.sort(np.lexsort((key, ~between, ~free))[:_MOST_CONSIDERED])
    return considered, free[considered]
