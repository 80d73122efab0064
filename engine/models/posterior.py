"""The posterior view: what is likely, for people to read. It informs; it never decides.

theta ~ N(theta_hat, sigma^2 V^-1) under a weak prior, so that every compound has a probability at any moment.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import cho_solve, cholesky, solve_triangular

from assaypilot.engine.features import Features

__all__ = ["Posterior", "posterior", "probability_within"]

Floats = NDArray[np.float64]
Ints = NDArray[np.intp]

_DRAWS = 1000
_FEWEST_DRAWS = 200
_ENTRIES = 4_000_000
_WORK = 400_000_000
_REACH = 8.0
_PRIOR_SPREAD = 3.0


@dataclass(frozen=True, eq=False)
class Posterior:
    """A normal posterior of the feature effects, in raw columns."""

    features: Features
    mean: Floats
    """``(n_columns,)``."""
    factor: Floats
    """``(n_columns, n_columns)``, lower Cholesky factor of the precision."""

    def means(self, rows: Ints | None = None) -> Floats:
        """The posterior mean of each row, model scale."""
        return self.features.times(self.mean, rows)

    def sds(self, rows: Ints | None = None) -> Floats:
        """The posterior SD of each row's mean (without assay noise)."""
        covariance = cho_solve((self.factor, True), np.eye(len(self.mean)))
        sds: Floats = np.sqrt(self.features.quadratic(covariance, rows).clip(0.0))
        return sds


def posterior(features: Features, measured: Ints, counts: Floats, means: Floats, sigma: float) -> Posterior:
    """The posterior after ``counts`` measurements with these means of the rows ``measured``, all ``(m,)``.

    The prior is weak: every effect is normal around 0 (column 0, the intercept: around the mean of the data) with an
    SD of three times the spread of the data, and never below ten times the assay noise.
    """
    if len(measured) == 0:
        raise ValueError("a posterior needs at least one measurement")
    centre = float(np.average(means, weights=counts))
    spread = float(np.sqrt(np.average((means - centre) ** 2, weights=counts)))
    prior_sd = max(_PRIOR_SPREAD * spread, 10.0 * sigma)
    precision = features.gram(counts, measured) / sigma**2
    precision[np.diag_indices_from(precision)] += 1.0 / prior_sd**2
    shift = features.moment(counts * (means - centre), measured) / sigma**2
    factor = cholesky(precision, lower=True)
    mean = cho_solve((factor, True), shift)
    mean[0] += centre
    return Posterior(features, mean, factor)


def probability_within(
    view: Posterior, rows: Ints, margins: tuple[float, ...], sign: float, seed: int
) -> tuple[Floats, ...]:
    """P(mean within margin of the best of the rows), one ``(m,)`` per margin, by seeded draws from the posterior.

    ``sign`` -1 when smaller is better. Rows too far below the best ones to reach it are given 0 without drawing. The
    standard error of a probability is at most 0.016 for tables up to 400,000 rows.
    """
    mean = sign * view.means(rows)
    sd = view.sds(rows)
    lead = (mean - _REACH * sd).max() - max(margins)
    near = np.flatnonzero(mean + _REACH * sd >= lead)
    draws = int(np.clip(_WORK // max(len(near), 1), _FEWEST_DRAWS, _DRAWS))
    noise = np.random.default_rng(seed).standard_normal((len(view.mean), draws))
    theta = sign * (view.mean[:, None] + solve_triangular(view.factor, noise, lower=True, trans="T"))
    hits = np.zeros((len(margins), len(near)))
    block = max(1, _ENTRIES // max(len(near), 1))
    dense = view.features.dense(rows[near]) if len(near) * len(view.mean) <= _ENTRIES else None
    for start in range(0, draws, block):
        some = theta[:, start : start + block]
        if dense is not None:
            values = dense @ some
        else:
            values = np.column_stack([view.features.times(column, rows[near]) for column in some.T])
        behind = values.max(axis=0) - values
        for k, margin in enumerate(margins):
            hits[k] += (behind <= margin).sum(axis=1)
    out = np.zeros((len(margins), len(rows)))
    out[:, near] = hits / draws
    return tuple(out)
