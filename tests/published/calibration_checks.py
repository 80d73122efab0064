"""What simulated campaigns came to, and when that passes."""

from dataclasses import dataclass, field

import numpy as np
from scipy import stats

from assaypilot.engine.domain.goals import Best
from assaypilot.engine.strategies.protocol import IN, OUT

KS_FLOOR = 1e-3
"""Smallest p value that passes; seeds are fixed, so a right program passes always."""


@dataclass
class Calibration:
    """What a number of simulated campaigns came to."""

    kind: str
    name: str
    mode: str
    delta: float
    runs: int = 0
    wrong: int = 0
    unfinished: int = 0
    """Runs that ended with compounds undecided."""
    measurements: list = field(default_factory=list)
    errors: list = field(default_factory=list)
    """Standardised, independent."""
    promise: float = 0.0
    """The largest half-width that the measurements allow, divided by the one decided or promised with."""
    seconds: float = 0.0
    """Processor time."""

    @property
    def rate(self):
        return self.wrong / self.runs

    @property
    def ks(self):
        """p value of the standardised errors against N(0, 1)."""
        return float(stats.kstest(self.errors, "norm").pvalue)

    @property
    def spread(self):
        return float(np.std(self.errors))


def limits(wrong, runs):
    """One-sided 95 % lower and upper limits of a rate (Clopper and Pearson)."""
    lower = stats.beta.ppf(0.05, wrong, runs - wrong + 1) if wrong else 0.0
    upper = stats.beta.ppf(0.95, wrong + 1, runs - wrong) if wrong < runs else 1.0
    return float(lower), float(upper)


def complaints(found):
    """Why a calibration does not pass; empty when it does."""
    out = []
    if limits(found.wrong, found.runs)[0] > found.delta:
        out.append("errors")
    if found.errors and found.ks < KS_FLOOR:
        out.append("standardised errors")
    if found.promise > 1.0 + 1e-6:
        out.append("promise")
    return out


def is_wrong(goal, status, truth, wanted=None):
    """Whether an answer says something untrue, whatever becomes of what is undecided.

    A member out, or something in that is not acceptable; of best, every acceptable one out.
    """
    asked = np.ones(len(status), dtype=bool) if wanted is None else wanted
    means = np.where(asked, truth, np.nan)
    means = means if goal.name == "pareto" else np.atleast_2d(means)[0]
    acceptable = goal.acceptable(means) & asked
    if ((status == IN) & asked & ~acceptable).any():
        return True
    if isinstance(goal, Best):
        return bool((status[acceptable] == OUT).all())
    members = goal.members(means) & asked
    if goal.name == "threshold":
        members = means > goal.threshold + goal.slack
    return bool((status[members] == OUT).any())


def inverse_of(x, counts):
    """``(d, d)``, the pseudo-inverse of the information in counts ``(n_arms,)`` of dense rows."""
    values, vectors = _known(x, counts)
    return vectors / values @ vectors.T


def _known(x, counts):
    """Eigenvalues and eigenvectors of the information, of what is known alone."""
    values, vectors = np.linalg.eigh((x.T * counts) @ x)
    kept = values > 1e-10 * values[-1]
    return values[kept], vectors[:, kept]


def own_sds(x, counts, sd):
    """The SD of every mean, from the counts alone; NaN for one that the measured compounds do not span."""
    values, vectors = _known(x, counts)
    inside = x @ vectors
    outside = np.linalg.norm(x - inside @ vectors.T, axis=1)
    return np.where(outside < 1e-7, sd * np.sqrt((inside**2 / values).sum(axis=1)), np.nan)


def pair_sds(x, counts, sd, arms):
    """The SD of the difference of every pair of some arms, from the counts alone; all must be estimable."""
    apart = x[arms][:, None, :] - x[arms][None, :, :]
    squares = np.einsum("ijk,kl,ijl->ij", apart, inverse_of(x, counts), apart)
    return sd * np.sqrt(squares.clip(0.0))


def standardised(x, counts, errors, sds):
    """Independent N(0, 1) numbers from the errors of some means ``errors / sds`` (NaN where there are none).

    ``x`` are the dense rows, ``counts`` the measurements of a phase. Of the means with a number as many are taken as
    are independent, and their correlations, known from the counts, are taken out.
    """
    chosen = independent(x, np.flatnonzero(np.isfinite(errors) & np.isfinite(sds)))
    if not len(chosen):
        return []
    covariance = x[chosen] @ inverse_of(x, counts) @ x[chosen].T
    own = np.sqrt(np.diagonal(covariance))
    factor = np.linalg.cholesky(covariance / own / own[:, None])
    return list(np.linalg.solve(factor, errors[chosen] / sds[chosen]))


def independent(x, arms):
    """The first of some arms whose rows are linearly independent."""
    chosen, basis = [], np.zeros((0, x.shape[1]))
    for arm in arms:
        rest = x[arm] - basis.T @ (basis @ x[arm])
        rest -= basis.T @ (basis @ rest)
        length = np.linalg.norm(rest)
        if length > 1e-8 * max(np.linalg.norm(x[arm]), 1e-300):
            chosen.append(arm)
            basis = np.vstack([basis, rest / length])
    return np.array(chosen, dtype=int)
