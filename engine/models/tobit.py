"""Estimates that count values known only as bounds (``>10000``): the censored likelihood, for people to read.

With normal noise the likelihood of the effects is a product of the densities of exact values and of the probabilities
that the others lie beyond their bounds (Tobin, Econometrica 26, 1958; Amemiya, Advanced Econometrics, 1985, chapter
10). Its logarithm is concave, as is that of the weak prior, so Newton's method finds the one maximum, and the curvature
there is the information: estimates are normal around the truth with it, as they are without bounds. It informs, and
never decides: decisions count a bound as itself.

Where no exact value tells of a row, nothing but the prior ends it on one side. The maximum then lies a little beyond
the bound, and says no more than the bound does: such rows are *open* to that side.

Each step stands on normal values that say of the effects what the bounds do, a weight and a value for each, so that it
is one small posterior as without bounds.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import cholesky
from scipy.special import log_ndtr

from ..arrays import Floats, Ints
from ..domain.features import Features
from .posterior import Posterior, WeakPrior, posterior, weak_prior

__all__ = ["Bounds", "Cells", "Censored", "additive", "apart", "prior_of"]


_STEPS, _HALVINGS = 60, 30
_CLOSE = 1e-10
"""Newton's method ends when no row with a bound moves by more, in noise SDs of one measurement."""
_LEAST = 1e-9
"""A bound never says less than this share of what an exact value would."""
_ONE_SIDED = 0.5
"""How much more bounds on one side pull at a row than those on the other, as a share of both, where it is open."""
_FAR = 100.0
_LOG_ROOT = 0.5 * float(np.log(2.0 * np.pi))


class Cells(NamedTuple):
    """Means of rows, ``(m,)`` each, model scale; there may be none."""

    rows: Ints
    counts: Floats
    means: Floats


class Bounds(NamedTuple):
    """Values of rows of which only a bound is known, ``(k,)`` each, model scale."""

    rows: Ints
    counts: Floats
    """Determinations behind one of them, whose mean lies beyond the limit."""
    limits: Floats
    signs: Floats
    """1 where they lie below the limit, -1 where above."""
    times: Floats
    """How often the same came back."""


@dataclass(frozen=True, eq=False)
class Censored(Posterior):
    """The normal posterior of the effects, bounds counted: around where their likelihood is highest."""

    under: Floats
    """``(n_columns,)``, how far the bounds from above move the effects, to first order."""
    over: Floats
    """The same of those from below."""

    def sides(self, rows: Ints | None = None) -> NDArray[np.int8]:
        """To which side a row is open that only bounds tell of: -1 below, 1 above, 0 where it is held from both."""
        under, over = self.features.times(self.under, rows), self.features.times(self.over, rows)
        pull, most = under + over, np.abs(under) + np.abs(over)
        found: NDArray[np.int8] = np.where(np.abs(pull) > _ONE_SIDED * most, np.sign(pull), 0.0).astype(np.int8)
        return found


def prior_of(exact: Cells, bounds: Bounds, sigma: float) -> WeakPrior:
    """The weak prior where some values are known only as bounds, which count as if they were at their limits."""
    counts = np.concatenate([exact.counts, bounds.counts * bounds.times])
    return weak_prior(counts, np.concatenate([exact.means, bounds.limits]), sigma)


def additive(features: Features, exact: Cells, bounds: Bounds, sigma: float) -> Censored:
    """What exact means and bounds say together, with the weak prior of values at their limits.

    The maximum of the likelihood and its curvature, by Newton's method.
    """
    prior = prior_of(exact, bounds, sigma)

    def solve(more: Cells) -> Posterior:
        """The posterior of the exact values and of some more."""
        rows, counts, means = (np.concatenate(pair) for pair in zip(exact, more, strict=True))
        return posterior(features, rows, counts, means, sigma, prior)

    sds = sigma / np.sqrt(bounds.counts)
    nothing = np.zeros(0, dtype=np.intp)
    base = solve(Cells(nothing, np.zeros(0), np.zeros(0)))

    def height(theta: Floats) -> float:
        z = bounds.signs * (bounds.limits - features.times(theta, bounds.rows)) / sds
        off = base.factor.T @ (theta - base.mean) / sigma
        return float(bounds.times @ log_ndtr(z) - 0.5 * off @ off)

    def around(theta: Floats) -> tuple[Posterior, Floats]:
        """The posterior with the bounds as they are near some effects, and how each pulls at its row, in noise SDs."""
        means = features.times(theta, bounds.rows)
        slope, falls = _pull(bounds, means, sds)
        shares = np.maximum(falls, _LEAST)
        told = Cells(bounds.rows, bounds.times * bounds.counts * shares, means + sds * slope / shares)
        return solve(told), bounds.times * slope * np.sqrt(bounds.counts)

    # First as if all bounds were values.
    theta = solve(Cells(bounds.rows, bounds.counts * bounds.times, bounds.limits)).mean
    best = height(theta)
    for _ in range(_STEPS):
        step = around(theta)[0].mean - theta
        for _ in range(_HALVINGS):
            reached = height(theta + step)
            if reached >= best:
                break
            step = 0.5 * step
        else:
            break
        theta, best = theta + step, reached
        if np.abs(features.times(step, bounds.rows)).max() <= _CLOSE * sigma:
            break
    view, pulls = around(theta)
    moved = [
        sigma * (view.covariance @ features.moment(np.where(bounds.signs == sign, pulls, 0.0), bounds.rows))
        for sign in (1.0, -1.0)
    ]
    return Censored(features, theta, view.factor, sigma, *moved)


def _pull(bounds: Bounds, means: Floats, sds: Floats) -> tuple[Floats, Floats]:
    """Of log Phi(sign (limit - mean) / sd), in SDs: its slope in the mean, and how fast that falls, from 0 to 1."""
    z = bounds.signs * (bounds.limits - means) / sds
    near = z.clip(-_FAR, _FAR)
    hazard = np.exp(-0.5 * near * near - _LOG_ROOT - log_ndtr(near))
    # Far on the wrong side both are differences of large numbers: by their series in 1 / z.
    far = z < -_FAR
    t = -1.0 / np.where(far, z, -1.0)
    rest = np.where(far, t * (1.0 - (2.0 - 10.0 * t**2) * t**2), near + hazard)
    hazard = np.where(far, rest - np.minimum(z, 0.0), hazard)
    return -bounds.signs * hazard, (hazard * rest).clip(0.0)


def apart(first: Posterior, second: Posterior) -> Censored:
    """What two posteriors say of the first minus the second, whose errors are independent."""
    sigma = float(np.hypot(first.sigma, second.sigma))
    covariance = first.covariance * (first.sigma / sigma) ** 2 + second.covariance * (second.sigma / sigma) ** 2
    factor: Floats = cholesky(np.linalg.inv(covariance), lower=True)
    none = np.zeros(len(first.mean))
    # A bound from above on the second is one from below on the difference.
    pulls = [(one.under, one.over) if isinstance(one, Censored) else (none, none) for one in (first, second)]
    under, over = pulls[0][0] - pulls[1][1], pulls[0][1] - pulls[1][0]
    return Censored(first.features, first.mean - second.mean, factor, sigma, under, over)
