"""The least worst variance over given rows and given directions: a primal-dual interior-point method.

min over w of max over y of y' V(w)^-1 y, V(w) = base + sum of w x x', is the smooth saddle problem of w and a
distribution lambda on the directions. Written as min t subject to y' V(w)^-1 y + s = t, it takes some fifteen
Newton steps whatever the number of rows.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.linalg import LinAlgError

from ..arrays import Floats
from ..models.ols import lower_factor, lower_inverse
from .allowed import greatest_average
from .criteria import dual_bound

_TO_THE_BOUNDARY = 0.995
"""The share of the way to the nearest bound that a step goes at most."""
_RIDGE = 1e-14
"""Share of the largest diagonal entry added to the Newton matrix; a hundred times more where that is not definite."""
_MOST_RIDGE = 1e-4
_START = 0.02
"""A starting point keeps this share of the worst variance from every bound."""
_INSIDE = 0.1
"""The share of a starting point that is spread evenly."""
_AMPLE = 2.0
"""Room beyond this multiple of all weight is none that a weight could feel."""
_STEPS = 60
"""Newton steps at most."""
_GROWTH = 1.0
"""V grows by at most this share of itself in any direction in a step: where it is next to singular, as for few
directions, variances fall much further than their slopes foresee, and longer steps lead astray."""
_AHEAD = 30.0
"""The complementarity is not lowered while the error of the multipliers is this many times larger."""
_PATIENCE = 12
"""Steps without much gain before the method gives up."""


@dataclass(slots=True)
class Point:
    """An interior point: weights, distribution over the directions, slacks and multipliers."""

    w: Floats
    share: Floats
    """lambda, one per direction."""
    slack: Floats
    worst: float
    """t, the bound on every variance."""
    at_low: Floats
    at_high: Floats
    """Multipliers of the bounds on w; 0 where there is no upper bound."""
    level: float
    """The multiplier of the sum: what a unit of weight is worth."""


def starting_point(x: Floats, y: Floats, base: Floats, room: float, w: Floats, share: Floats) -> Point:
    """Return an interior point near the weights ``w`` and the distribution ``share``."""
    room = min(room, _AMPLE)
    even = np.full(len(x), 1.0 / len(x))
    # Twice, as clipping to the room may lose weight that the even part gives back.
    w = np.clip(w, 0.0, room)
    w = w * min(1.0, 1.0 / float(w.sum())) if w.any() else even
    w = (1.0 - _INSIDE) * w
    w = w + even * (1.0 - float(w.sum()))
    variances = _variances(y, base + (x * w[:, None]).T @ x)[0]
    worst = float(variances.max()) * (1.0 + _START)
    slack = np.maximum(worst - variances, _START * worst)
    share = (1.0 - _INSIDE) * share / share.sum() + _INSIDE / len(share)
    centre = float(slack @ share) / len(share)
    least = _START / len(w)
    at_high = centre / np.maximum(room - w, _START * room) if room < 1.0 else np.zeros(len(w))
    return Point(w, share, slack, worst, centre / np.maximum(w, least), at_high, worst)


def _variances(y: Floats, information: Floats) -> tuple[Floats, Floats]:
    """Return the variance of every direction, and the inverse of the Cholesky factor of V."""
    to_white = lower_inverse(lower_factor(information))
    half = to_white @ y.T
    return np.einsum("ij,ij->j", half, half), to_white


def _longest(values: Floats, changes: Floats) -> float:
    """Return the step along the changes at which the first value reaches 0."""
    falling = changes < 0.0
    return float((-values[falling] / changes[falling]).min()) if falling.any() else np.inf


class _Newton:
    """The factored Newton system at a point; solves it for any requested complementarity products."""

    def __init__(self, point: Point, falls: Floats, hessian: Floats, residuals: _Residuals, room: float) -> None:
        self.p = point
        self.r = residuals
        self.falls = falls
        self.ratio = point.share / point.slack
        self.below = np.maximum(room - point.w, _RIDGE * room)
        scaled = falls * np.sqrt(self.ratio)
        # Written as A A' so that half the products suffice.
        matrix = scaled @ scaled.T
        matrix += hessian
        matrix[np.diag_indices(len(matrix))] += point.at_low / point.w + point.at_high / self.below
        self.factor = _factored(matrix)
        self.column = -(falls @ self.ratio)
        solved = self.solve(np.column_stack([self.column, np.ones(len(matrix))]))
        self.by_worst, self.by_level = solved.T
        # Two unknowns are left, t and the level: the shares sum to 1 and the weights to their mass.
        self.last = np.array(
            [
                [self.column @ self.by_worst - self.ratio.sum(), -(self.column @ self.by_level)],
                [self.by_worst.sum(), -self.by_level.sum()],
            ]
        )

    def solve(self, right: Floats) -> Floats:
        """Return the solution for the matrix of the weights alone."""
        return self.factor.T @ (self.factor @ right)

    def step(self, slack_target: Floats | float, low_target: Floats | float, high_target: Floats | float) -> Point:
        """Return the step towards the requested complementarity products, as a Point of changes."""
        p, r = self.p, self.r
        low = low_target / p.w - p.at_low
        high = high_target / self.below - p.at_high
        pull = slack_target / p.slack - p.share + self.ratio * r.primal
        fixed = self.solve(-r.dual + low - high + self.falls @ pull)
        right = np.array([r.share - pull.sum() - self.column @ fixed, r.mass - fixed.sum()])
        worst, level = np.linalg.solve(self.last, right)
        w = fixed + worst * self.by_worst - level * self.by_level
        change = -(w @ self.falls)
        return Point(
            w=w,
            share=self.ratio * (change - worst) + pull,
            slack=worst - change - r.primal,
            worst=float(worst),
            at_low=low - p.at_low / p.w * w,
            at_high=high + p.at_high / self.below * w,
            level=float(level),
        )


@dataclass(frozen=True, slots=True)
class _Residuals:
    dual: Floats
    primal: Floats
    share: float
    mass: float


def _factored(matrix: Floats) -> Floats:
    """Return the inverse Cholesky factor of a positive semidefinite matrix, with as little of a ridge as it takes."""
    diagonal = np.diagonal(matrix).copy()
    ridge = _RIDGE
    while True:
        matrix[np.diag_indices(len(matrix))] = diagonal * (1.0 + ridge)
        try:
            return lower_inverse(lower_factor(matrix))
        except LinAlgError:
            if ridge >= _MOST_RIDGE:
                raise
        ridge *= 100.0


def solve_saddle(
    x: Floats,
    y: Floats,
    base: Floats,
    room: float,
    start: Point,
    tolerance: float,
) -> Point:
    """Return the saddle point of rows ``x`` ``(n, d)`` and directions.

    V(w) = base + sum w x x'; the weights are between 0 and ``room`` and sum to 1, less than the sum of the room.
    Ends when worst variance / dual bound - 1 on these rows and directions is at most ``tolerance``, or when steps no
    longer bring it down (rounding). Predictor and corrector after Mehrotra (1992), with slacks that need not fit while
    the steps are long.
    """
    p, best, best_gap, behind = start, start, np.inf, 0
    room = min(room, _AMPLE)
    bounded = room < 1.0
    products = len(p.share) + len(p.w) * (1 + bounded)
    for _ in range(_STEPS):
        try:
            variances, to_white = _variances(y, base + (x * p.w[:, None]).T @ x)
        except LinAlgError:
            return best
        # A variance that fell further than foreseen leaves more slack; taking it keeps the next steps long.
        p.slack = np.maximum(p.slack, p.worst - variances)
        half_x, half_y = to_white @ x.T, to_white @ y.T
        slope = half_y * p.share @ half_y.T
        pairs = half_x.T @ slope @ half_x
        scores = np.diagonal(pairs)
        shares = float(p.share.sum())
        reachable = greatest_average(scores, room) + float(np.vdot(to_white @ base @ to_white.T, slope))
        bound = dual_bound(float(p.share @ variances) / shares, reachable / shares)
        gap = float(variances.max()) / bound - 1.0 if bound > 0.0 else np.inf
        behind = 0 if gap < 0.9 * best_gap else behind + 1
        if gap < best_gap:
            best, best_gap = p, gap
        if best_gap <= tolerance or behind > _PATIENCE:
            return best
        centre = float(p.share @ p.slack + p.at_low @ p.w + p.at_high @ (room - p.w)) / products
        residuals = _Residuals(
            dual=-scores + p.level - p.at_low + p.at_high,
            primal=variances + p.slack - p.worst,
            share=1.0 - shares,
            mass=1.0 - float(p.w.sum()),
        )
        cross = half_x.T @ half_y
        falls = cross * cross
        hessian = half_x.T @ half_x
        hessian *= 2.0 * pairs
        try:
            newton = _Newton(p, falls, hessian, residuals, room)
            p = _advanced(p, newton, half_x, room, bounded, centre, products)
        except LinAlgError:
            return best
    return best


def _advanced(
    p: Point, newton: _Newton, half_x: Floats, room: float, bounded: bool, centre: float, products: int
) -> Point:
    """Return the point after a predictor and a corrector step."""
    below = room - p.w
    ahead = newton.step(0.0, 0.0, 0.0)
    primal, dual = _reach(p, ahead, below, bounded)
    primal, dual = min(1.0, primal), min(1.0, dual)
    reached = float((p.share + dual * ahead.share) @ (p.slack + primal * ahead.slack))
    reached += float((p.at_low + dual * ahead.at_low) @ (p.w + primal * ahead.w))
    reached += float((p.at_high + dual * ahead.at_high) @ (below - primal * ahead.w))
    target = centre * min(1.0, max(reached / products / centre, 0.0)) ** 3
    # Both as shares: of the level and of the worst variance.
    if float(np.abs(newton.r.dual).max()) / p.level > _AHEAD * centre * products / p.worst:
        target = centre
    step = newton.step(
        target - ahead.share * ahead.slack,
        target - ahead.w * ahead.at_low,
        target + ahead.w * ahead.at_high if bounded else 0.0,
    )
    primal, dual = _reach(p, step, below, bounded)
    primal, dual = min(1.0, _TO_THE_BOUNDARY * primal), min(1.0, _TO_THE_BOUNDARY * dual)
    growth = float(np.linalg.eigvalsh(half_x * step.w @ half_x.T)[-1])
    if primal * growth > _GROWTH:
        primal = _GROWTH / growth
        dual = min(dual, primal)
    return Point(
        w=p.w + primal * step.w,
        share=p.share + dual * step.share,
        slack=p.slack + primal * step.slack,
        worst=p.worst + primal * step.worst,
        at_low=p.at_low + dual * step.at_low,
        at_high=p.at_high + dual * step.at_high,
        level=p.level + dual * step.level,
    )


def _reach(p: Point, step: Point, below: Floats, bounded: bool) -> tuple[float, float]:
    """Return how far weights and slacks, and shares and multipliers, can go."""
    primal = min(_longest(p.w, step.w), _longest(below, -step.w), _longest(p.slack, step.slack))
    dual = min(_longest(p.share, step.share), _longest(p.at_low, step.at_low))
    return primal, min(dual, _longest(p.at_high, step.at_high)) if bounded else dual
