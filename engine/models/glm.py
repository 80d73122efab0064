"""Generalised linear models over measured compounds: maximum likelihood within a bound on the linear predictor.

The mean of a measurement is m(x'theta) with m the inverse of the link (canonical: normal, Bernoulli, Poisson). Where
successes and failures can be separated the likelihood grows without bound; the bound |x'theta| <= S keeps it finite.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np

from ..arrays import Flags, Floats, Ints
from ..domain.features import OUTSIDE_TOLERANCE, Features, span_basis
from ..errors import AssayPilotError

Link = Literal["identity", "logit", "log"]
LINKS: tuple[Link, ...] = get_args(Link)

_STEPS = 60
"""Newton steps at most, per problem."""
_DONE = 1e-16
"""A squared step, in standard errors of the estimate, that is none."""
_FAR = 10.0
"""Linear predictors this far outside of the bound are not waited for."""
_GAP = 1e-6
"""How far from its maximum the bounded log likelihood may be."""
_FASTER = 50.0
"""The factor by which the barrier falls."""
_LARGEST = 500.0
"""Linear predictors are cut to this size before they become powers of e."""
_ENDLESS = 30.0
"""Without a bound, linear predictors beyond this have no maximum: e^-30 is no chance that values could show."""


def mean_value(link: Link, predictor: Floats) -> Floats:
    """Return m(u): the mean of a measurement at a linear predictor."""
    if link == "logit":
        return 0.5 * np.tanh(0.5 * predictor) + 0.5
    if link == "log":
        return np.exp(np.clip(predictor, -_LARGEST, _LARGEST))
    return predictor


def curvature(link: Link, predictor: Floats) -> Floats:
    """Return m'(u): the slope of the mean, which is the variance of a measurement at a scale of 1."""
    if link == "logit":
        power = np.exp(-np.abs(np.clip(predictor, -_LARGEST, _LARGEST)))
        return power / (1.0 + power) ** 2
    return mean_value(link, predictor) if link == "log" else np.ones_like(predictor)


def least_slope(link: Link, bound: float) -> float:
    """Return c_min: the least slope m'(u) over |u| <= bound; 1 for the identity."""
    if link == "identity":
        return 1.0
    power = math.exp(-bound)
    return power if link == "log" else power / (1.0 + power) ** 2


def check_values(link: Link, means: Floats) -> None:
    """Raise AssayPilotError for values that no measurement under this link can have."""
    wrong = means[(means < 0.0) | (means > 1.0)] if link == "logit" else means[means < 0.0]
    if link == "identity" or not len(wrong):
        return
    allowed = "from 0 to 1" if link == "logit" else "of 0 or more"
    raise AssayPilotError(
        f"the {link} link takes values {allowed}, got {wrong[0]:g}",
        option="--parameter link",
        mend="Record yes or no as 1 or 0, or choose the link identity."
        if link == "logit"
        else "Record counts, or choose the link identity.",
    )


@dataclass(frozen=True, eq=False)
class GlmEstimate:
    """The estimate from some measured rows, in coordinates of a basis of their span."""

    features: Features
    link: Link
    bound: float
    """The size the linear predictors were kept within; infinite for the identity."""
    basis: Floats
    """``(n_columns, d)``, orthonormal, spans the measured rows."""
    beta: Floats
    """``(d,)``, the estimate in these coordinates."""
    information: Floats
    """``(d, d)``, sum of N m'(x'theta) x x' at the estimate, in these coordinates."""

    @property
    def rank(self) -> int:
        """The dimension of what was measured."""
        return len(self.beta)

    @property
    def theta(self) -> Floats:
        """``(n_columns,)``."""
        return self.basis @ self.beta

    def estimable(self, rows: Ints | None = None) -> Flags:
        """Return whether each row is in the span of what was measured."""
        identity = np.eye(self.features.n_columns)
        outside = self.features.quadratic(identity - self.basis @ self.basis.T, rows)
        return outside <= OUTSIDE_TOLERANCE**2 * self.features.quadratic(identity, rows)

    def predictors(self, rows: Ints | None = None) -> Floats:
        """Return the linear predictor x'theta of each row, cut to the bound, which the truth keeps too."""
        return np.clip(self.features.times(self.theta, rows), -self.bound, self.bound)


def fit_glm(
    features: Features, measured: Ints, counts: Floats, means: Floats, link: Link, bound: float = math.inf
) -> GlmEstimate:
    """Return the maximum likelihood estimate from the mean of each measured row, |x'theta| <= bound for these rows.

    ``measured`` are row numbers of ``features``, ``counts`` the independent measurements behind each mean, all
    ``(m,)``; rows with a count of zero are as if absent. The identity is weighted least squares and needs no bound;
    the others need a finite one, unless the caller knows that nothing can be separated.
    """
    rows = np.asarray(measured, dtype=np.intp)
    weights, values = np.asarray(counts, dtype=float), np.asarray(means, dtype=float)
    if not rows.shape == weights.shape == values.shape or rows.ndim != 1:
        raise ValueError("measured, counts and means must be vectors of one length")
    if not (np.isfinite(weights).all() and (weights >= 0).all()):
        raise ValueError("counts must be finite and not negative")
    kept = weights > 0
    rows, weights, values = rows[kept], weights[kept], values[kept]
    basis = span_basis(features, rows)
    limit = math.inf if link == "identity" else bound
    if not basis.shape[1]:
        return GlmEstimate(features, link, limit, basis, np.zeros(0), np.zeros((0, 0)))
    z = features.dense(rows) @ basis
    beta, information, _ = fit_coordinates(z, weights, values, link, bound)
    return GlmEstimate(features, link, limit, basis, beta, information)


def fit_coordinates(
    z: Floats, counts: Floats, means: Floats, link: Link, bound: float = math.inf
) -> tuple[Floats, Floats, bool]:
    """Return the same for rows ``(m, d)`` of full column rank: the estimate, its information, and whether it converged.

    Newton's method (IRLS) where the maximum lies within the bound, else the log barrier of the bound. ValueError for
    means that are not finite or a bound that is not above 0; AssayPilotError for means the link cannot have.
    """
    if not np.isfinite(means).all():
        raise ValueError("means must be finite")
    if not bound > 0.0:
        raise ValueError(f"bound must be above 0, got {bound}")
    check_values(link, means)
    problem = _Likelihood(z, counts, means, link)
    if link == "identity":
        # Quadratic: one step, and one that takes away its rounding.
        beta = problem.step(problem.step(np.zeros(z.shape[1])))
        return beta, problem.information(beta), True
    found = problem.unbounded(bound)
    if found is not None:
        return found, problem.information(found), True
    if math.isinf(bound):
        raise AssayPilotError(
            "the values of some compounds are all 0 (or all 1), so their means have no estimate without a bound",
            option="--parameter bound",
            mend="Give the largest size of a compound's value on the link's scale.",
        )
    beta, converged = problem.bounded(bound)
    return beta, problem.information(beta), converged


@dataclass(frozen=True, slots=True)
class _Likelihood:
    """The negative log likelihood sum of N (b(u) - y u), u = z beta, with b' = m."""

    z: Floats
    counts: Floats
    means: Floats
    link: Link

    def loss(self, predictor: Floats) -> float:
        """Return its value, less what does not depend on the estimate."""
        if self.link == "logit":
            integral = np.logaddexp(0.0, predictor)
        elif self.link == "log":
            integral = mean_value("log", predictor)
        else:
            integral = 0.5 * predictor**2
        return float(self.counts @ (integral - self.means * predictor))

    def gradient(self, predictor: Floats) -> Floats:
        """Return ``(d,)``."""
        return (self.counts * (mean_value(self.link, predictor) - self.means)) @ self.z

    def information(self, beta: Floats) -> Floats:
        """Return the sum of N m'(u) z z'."""
        return self._weighted(self.counts * curvature(self.link, self.z @ beta))

    def _weighted(self, weights: Floats) -> Floats:
        return (self.z * weights[:, None]).T @ self.z

    def step(self, beta: Floats) -> Floats:
        """One full Newton step."""
        return beta - _solve(self.information(beta), self.gradient(self.z @ beta))

    def unbounded(self, bound: float) -> Floats | None:
        """Return the maximum where it lies within the bound; None where it does not, or there is none."""
        limit = _ENDLESS if math.isinf(bound) else bound
        beta = np.zeros(self.z.shape[1])
        predictor, loss = self.z @ beta, self.loss(np.zeros(len(self.z)))
        for _ in range(_STEPS):
            gradient = self.gradient(predictor)
            move = _solve(self.information(beta), gradient)
            decrement = float(gradient @ move)
            if not math.isfinite(decrement):
                return None
            change = self.z @ move
            size, after = _backtracked(self.loss, predictor, change, loss, decrement)
            beta, predictor, loss = beta - size * move, predictor - size * change, after
            if decrement <= _DONE:
                return beta if np.abs(predictor).max() <= limit else None
            if np.abs(predictor).max() > 2.0 * limit + _FAR:
                return None
        return None

    def bounded(self, bound: float) -> tuple[Floats, bool]:
        """Return the maximum over |u| <= bound, by Newton's method under a barrier -sum log(bound^2 - u^2) / t."""
        beta = np.zeros(self.z.shape[1])
        sides = 2.0 * len(self.z)
        t = sides / max(float(self.counts.sum()), 1.0)
        settled = True
        while True:
            beta, settled = self._centred(beta, t, bound)
            if sides / t <= _GAP:
                return beta, settled
            t = min(t * _FASTER, 1.000001 * sides / _GAP)

    def _centred(self, beta: Floats, t: float, bound: float) -> tuple[Floats, bool]:
        """Return the minimum of t times the loss and the barrier."""
        predictor = self.z @ beta

        def value(at: Floats) -> float:
            room = bound**2 - at**2
            return math.inf if room.min() <= 0.0 else t * self.loss(at) - float(np.log(room).sum())

        worth = value(predictor)
        for _ in range(_STEPS):
            room = bound**2 - predictor**2
            gradient = t * self.gradient(predictor) + (2.0 * predictor / room) @ self.z
            bend = t * self.counts * curvature(self.link, predictor) + 2.0 / room + (2.0 * predictor / room) ** 2
            move = _solve(self._weighted(bend), gradient)
            decrement = float(gradient @ move)
            if decrement <= 1e-9 + 1e-13 * abs(worth):
                return beta, True
            change = self.z @ move
            size, after = _backtracked(value, predictor, change, worth, decrement)
            if size == 0.0:
                # Rounding hides what is left to gain.
                return beta, decrement <= 1e-4
            beta, predictor, worth = beta - size * move, predictor - size * change, after
        return beta, False


def _backtracked(
    value: Callable[[Floats], float], predictor: Floats, change: Floats, now: float, decrement: float
) -> tuple[float, float]:
    """Return a step size for which the value falls by a tenth of what its slope promises, and the value there.

    0 if none.
    """
    size = 1.0
    for _ in range(50):
        after = value(predictor - size * change)
        if after <= now - 0.1 * size * decrement + 1e-14 * abs(now):
            return size, after
        size *= 0.5
    return 0.0, now


def _solve(matrix: Floats, right: Floats) -> Floats:
    """Return matrix^-1 right for a positive definite matrix, columns scaled; with a tiny ridge where singular."""
    scale = 1.0 / np.sqrt(np.maximum(np.diagonal(matrix), 1e-300))
    scaled = matrix * scale * scale[:, None]
    try:
        solved = np.linalg.solve(scaled, right * scale)
    except np.linalg.LinAlgError:
        solved = np.linalg.solve(scaled + 1e-9 * np.eye(len(scaled)), right * scale)
    return np.asarray(solved * scale, dtype=np.float64)
