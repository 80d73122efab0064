"""What values leave possible by their likelihood: a set of effects that holds the true ones, whatever was measured.

For any prior pi fixed before the first value, M_t = integral of L_t(theta) / L_t(theta*) pi(d theta), theta* the truth,
is a martingale of mean 1 when each measurement is chosen by the past: one more factor has mean 1 for every theta. By
Ville's inequality it ever exceeds 1 / delta with probability delta at most. And log M_t is at least E_q log L_t - KL(q,
pi) - log L_t(theta*) for every q, one that was fitted to the values included (Donsker and Varadhan). So with confidence
1 - delta, at all times together, theta* lies in

    { theta : log L(theta) >= E_q log L - KL(q, pi) - log(1 / delta) }

which is convex: exact for yes and no, for counts that are Poisson, and for normal values of known SD, at any number of
measurements, with no bound on any effect. For values between 0 and 1 of which only the mean is as modelled the factor
has a mean of 1 at most, since a^y b^(1-y) is convex in y. The prior decides how small the set is, never whether it
holds. Sources: Darling and Robbins (PNAS 58, 1967) for mixtures, Jun et al. (AISTATS 2017) and Lee, Yun and Jun
(NeurIPS 2024) for sets by likelihood ratios in generalised linear models.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from assaypilot.engine.arrays import Floats
from assaypilot.engine.models.glm import Link, curvature, mean_value

__all__ = ["Data", "LikelihoodSet", "Prior", "likelihood_set", "prior_of"]


_LEVEL: dict[Link, tuple[float, float]] = {"identity": (0.0, 10.0), "logit": (0.0, 2.0), "log": (2.0, 4.0)}
"""Where the mean of all compounds is expected on the link's scale, and its SD; of plain values in noise SDs."""
_SPREAD: dict[Link, float] = {"identity": 5.0, "logit": 1.5, "log": 1.0}
"""The SD between compounds that is expected there."""
_NODES, _WEIGHTS = np.polynomial.hermite_e.hermegauss(40)
_SHARES = _WEIGHTS / _WEIGHTS.sum()
_SAFE = 1e-6
"""What rounding and the quadrature may take from the expected likelihood, as a share of what was measured."""
_STEPS = 100
_FAR = 40.0
"""Linear predictors this far from the centre are counted as infinitely far."""
_TRUST = 1.5
"""How far a linear predictor of what was measured may go in one step; curvature changes by less than e^1.5."""
_DONE = 1e-9
_AT_ONCE = 4_000_000
"""Numbers that one block of directions may take."""


@dataclass(frozen=True, eq=False)
class Data:
    """What was measured, by distinct row."""

    z: Floats
    """``(m, d)`` their coordinates."""
    counts: Floats
    """``(m,)`` measurements of each."""
    means: Floats
    """``(m,)`` their means, in units of the noise for the identity."""
    link: Link

    def losses(self, u: Floats) -> Floats:
        """Minus the log likelihood at predictors ``(.., m)``, less what does not depend on them; ``(..)``."""
        if self.link == "identity":
            return np.asarray(0.5 * (u - self.means) ** 2 @ self.counts)
        body = np.logaddexp(0.0, u) if self.link == "logit" else mean_value("log", u)
        return np.asarray((body - self.means * u) @ self.counts)

    @cached_property
    def squares(self) -> Floats:
        """``(m, d * d)``, every z z'."""
        m, d = self.z.shape
        return (self.z[:, :, None] * self.z[:, None, :]).reshape(m, d * d)

    def expected(self, u: Floats, variances: Floats) -> tuple[float, Floats, Floats]:
        """Means under normal predictors: of the loss (never below it), of m(u) and of m'(u), per row."""
        if self.link == "identity":
            loss = float(self.losses(u)) + 0.5 * float(self.counts @ variances)
            return loss, u, np.ones(len(u))
        if self.link == "log":
            whole = np.exp(np.minimum(u + 0.5 * variances, 500.0))
            return float((whole - self.means * u) @ self.counts), whole, whole
        at = u[:, None] + np.sqrt(variances)[:, None] * _NODES
        loss = float(((np.logaddexp(0.0, at) @ _SHARES) - self.means * u) @ self.counts)
        safe = _SAFE * float(self.counts.sum())
        return loss + safe, mean_value("logit", at) @ _SHARES, curvature("logit", at) @ _SHARES


@dataclass(frozen=True, eq=False)
class Prior:
    """A normal prior of the coordinates: fixed before the first value."""

    mean: Floats
    precision: Floats
    log_determinant: float
    """Of the precision."""


def prior_of(second: Floats, level: Floats, link: Link) -> Prior:
    """The prior of coordinates, by the mean of z z' over all compounds, and the ``level`` with z'level about 1 for all.

    Compounds differ by an SD that is usual on the link's scale, around a mean that is hardly known.
    """
    d = len(second)
    where, wide = _LEVEL[link]
    inverse = np.linalg.inv(second)
    covariance = _SPREAD[link] ** 2 / d * (inverse + inverse.T) / 2.0 + wide**2 * np.outer(level, level)
    precision = np.linalg.inv(covariance)
    return Prior(where * level, (precision + precision.T) / 2.0, -float(np.linalg.slogdet(covariance)[1]))


@dataclass(frozen=True, eq=False)
class LikelihoodSet:
    """All effects at which the loss is at most ``most``."""

    data: Data
    centre: Floats
    """``(d,)``, inside: the mean of a normal distribution that is as the posterior."""
    covariance: Floats
    """``(d, d)`` of that distribution."""
    most: float
    rough: bool = False
    """Whether it is taken for the ellipsoid it is like, which takes no time; for forecasts."""

    @property
    def radius(self) -> float:
        """About how many standard errors it reaches from its centre."""
        return math.sqrt(2.0 * max(self.most - float(self.data.losses(self.data.z @ self.centre)), 0.0))

    def highest(self, directions: Floats) -> Floats:
        """``(n,)``: the largest y'theta of each row y of ``directions`` ``(n, d)``; infinite where there is none.

        By sequential quadratic programming from the centre, all rows at once. What it stops at is made an upper bound
        by the loss's tangent there, so it is one whether or not the last digits were found.
        """
        if self.rough:
            spread = np.sqrt(np.einsum("nd,nd->n", directions @ self.covariance, directions).clip(0.0))
            return np.asarray(directions @ self.centre + self.radius * spread, dtype=np.float64)
        found = np.full(len(directions), np.inf)
        m, d = self.data.z.shape
        step = max(1, _AT_ONCE // (d * d + 4 * m))
        for start in range(0, len(directions), step):
            found[start : start + step] = self._highest(directions[start : start + step])
        return found

    def _highest(self, y: Floats) -> Floats:
        data, d = self.data, len(self.centre)
        out = np.full(len(y), np.inf)
        nothing = ~y.any(axis=1)
        out[nothing] = 0.0
        rows = np.flatnonzero(~nothing)
        at = np.tile(self.centre, (len(rows), 1))
        origin = y[rows] @ self.centre
        identity = np.eye(d)
        for _ in range(_STEPS):
            if not len(rows):
                break
            u = at @ data.z.T
            loss = data.losses(u)
            slope = ((mean_value(data.link, u) - data.means) * data.counts) @ data.z
            bend = ((curvature(data.link, u) * data.counts) @ data.squares).reshape(-1, d, d)
            # A hair of a ridge: where a step ends does not depend on it.
            ridge = 1e-10 * np.trace(bend, axis1=1, axis2=2) / d + 1e-12
            both = np.linalg.solve(bend + ridge[:, None, None] * identity, np.stack([y[rows], slope], axis=2))
            toward, back = both[:, :, 0], both[:, :, 1]
            reach = np.einsum("nd,nd->n", y[rows], toward)
            left = 2.0 * (self.most - loss + 0.5 * np.einsum("nd,nd->n", slope, back))
            pull = np.sqrt(np.maximum(left, 0.0) / np.maximum(reach, 1e-300))
            move = pull[:, None] * toward - back
            change = np.abs(move @ data.z.T).max(axis=1)
            scale = np.minimum(1.0, _TRUST / np.maximum(change, 1e-300))
            gone = np.einsum("nd,nd->n", y[rows], at + scale[:, None] * move) - origin > _FAR
            gain = np.einsum("nd,nd->n", y[rows], move)
            settled = ~gone & (change < 1e-6) & (np.abs(gain) < _DONE * (1.0 + np.abs(origin)) + 1e-8)
            settled &= pull > 0
            if settled.any():
                # For all theta of the set slope'(theta - at) <= most - loss, and slope = pull y here.
                short = (self.most - loss[settled]) / pull[settled]
                out[rows[settled]] = np.einsum("nd,nd->n", y[rows[settled]], at[settled]) + np.maximum(short, 0.0)
            kept = ~(gone | settled)
            at = (at + scale[:, None] * move)[kept]
            rows, origin = rows[kept], origin[kept]
        return out


def likelihood_set(data: Data, prior: Prior, delta: float) -> LikelihoodSet:
    """The set that holds the true effects with confidence 1 - delta, over all times at which it is asked for.

    q is the normal distribution next to the posterior (variational Bayes by Newton's method); any would do.
    """
    mean, covariance = _most_likely(data, prior)
    best = _evidence(data, prior, mean, covariance)
    for _ in range(_STEPS):
        u, variances = data.z @ mean, np.einsum("ij,jk,ik->i", data.z, covariance, data.z)
        _, means, slopes = data.expected(u, variances)
        precision = prior.precision + (data.z.T * (data.counts * slopes)) @ data.z
        next_covariance: Floats = np.linalg.inv(precision).astype(np.float64)
        uphill = data.z.T @ (data.counts * (data.means - means)) - prior.precision @ (mean - prior.mean)
        next_mean = mean + next_covariance @ uphill
        found = _evidence(data, prior, next_mean, next_covariance)
        if not found > best + 1e-9:
            break
        mean, covariance, best = next_mean, next_covariance, found
    return LikelihoodSet(data, mean, covariance, math.log(1.0 / delta) - best)


def _most_likely(data: Data, prior: Prior) -> tuple[Floats, Floats]:
    """The most likely coordinates under the prior, and the inverse of the curvature there: Newton's method."""

    def worth(at: Floats) -> float:
        off = at - prior.mean
        return float(data.losses(data.z @ at)) + 0.5 * float(off @ prior.precision @ off)

    at = prior.mean.copy()
    now = worth(at)
    for _ in range(_STEPS):
        u = data.z @ at
        bend = prior.precision + (data.z.T * (data.counts * curvature(data.link, u))) @ data.z
        slope = data.z.T @ (data.counts * (mean_value(data.link, u) - data.means)) + prior.precision @ (at - prior.mean)
        move = np.linalg.solve(bend, slope)
        size, after = 1.0, math.inf
        while size > 1e-9 and not after <= now - 0.1 * size * float(slope @ move) + 1e-12 * abs(now):
            after = worth(at - size * move)
            size *= 0.5
        if not after < now:
            break
        at, now = at - 2.0 * size * move, after
        if float(slope @ move) < 1e-14:
            break
    bend = prior.precision + (data.z.T * (data.counts * curvature(data.link, data.z @ at))) @ data.z
    return at, np.linalg.inv(bend).astype(np.float64)


def _evidence(data: Data, prior: Prior, mean: Floats, covariance: Floats) -> float:
    """E_q log L - KL(q, pi) of a normal q."""
    loss, _, _ = data.expected(data.z @ mean, np.einsum("ij,jk,ik->i", data.z, covariance, data.z).clip(0.0))
    off = mean - prior.mean
    divergence = 0.5 * (
        float((prior.precision * covariance).sum())
        + float(off @ prior.precision @ off)
        - len(mean)
        - prior.log_determinant
        - float(np.linalg.slogdet(covariance)[1])
    )
    return -loss - divergence
