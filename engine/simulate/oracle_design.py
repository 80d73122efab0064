"""What is enough to certify a known truth: the yardstick of every strategy."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import ndtri

from ..arrays import Flags, Floats, Ints
from ..design.criteria import nearly_inverse
from ..design.directions import Between, Rows, UnionDirections
from ..design.xy import xy_optimal
from ..domain.features import ProjectedFeatures
from ..errors import AssayPilotError
from ..system.progress import Report, silent

_GAP = 1e-4
_LOOKS = 20
_GAIN = 1e-6
_ROWS = 256
_CLOSE = 1e-12
"""A difference below this is none."""


@dataclass(frozen=True, slots=True)
class Oracle:
    """The measurements that certify the answer when the truth is known, and their design."""

    measurements: int
    """The least whole number at which every comparison holds, by the optimal continuous design."""
    value: float
    """Worst ||y||^2_{V(w)^-1} / gap^2 over the comparisons; measurements = level^2 sigma^2 value."""
    lower_bound: float
    """Proven: no design has a smaller value with these sides and these rivals."""
    level: float
    """The quantile c: a comparison holds when c sigma ||y||_{V^-1} is at most its gap."""
    support: Ints
    weights: Floats
    called_in: Flags
    """Which compounds are certified to be in; those in the zone, whichever is cheaper."""


def simultaneous_level(n: int, delta: float) -> float:
    """Return the c with n (n - 1) (1 - Phi(c)) = delta: every ordered comparison of n compounds.

    5.31 for 960 and 5 %.
    """
    pairs = n * (n - 1)
    if pairs < 1 or not 0 < delta < 1:
        raise ValueError("two compounds and a delta between 0 and 1 are needed")
    return float(-ndtri(delta / pairs))


def oracle(
    candidates: ProjectedFeatures,
    theta: ArrayLike,
    epsilon: float,
    *,
    slack: float = 0.0,
    sigma: float = 1.0,
    delta: float = 0.05,
    level: float | None = None,
    report: Report = silent,
) -> Oracle:
    """Return the measurements needed to certify, with theta known, all compounds within ``epsilon`` of the best.

    Member i: every j has y_ij'theta + epsilon + slack >= c sigma ||y_ij||. Excluded m: the best compound j has
    y_jm'theta - epsilon >= c sigma ||y_jm||. A compound in the zone may be called either; the cheaper is taken. Sides
    are chosen by the design at hand and the design is made optimal for them, until nothing gains: the weights are
    optimal for their sides, the sides the best found. Every comparison is made at the same ``level``, that of all
    compounds when None.

    AssayPilotError for a compound exactly on its border without slack, which no number of measurements decides.
    """
    truth = np.asarray(theta, dtype=float)
    if candidates.n_rows < 2:
        raise AssayPilotError("there is nothing to compare", mend="Name at least two compounds.")
    if not (epsilon > 0 and slack >= 0 and math.isfinite(epsilon + slack) and sigma > 0 and math.isfinite(sigma)):
        raise AssayPilotError(
            "epsilon and the assay noise (SD) must be above 0 and slack 0 or more",
            mend="For example 0.5, 0.2 and 0.25.",
        )
    c = simultaneous_level(candidates.n_rows, delta) if level is None else level
    sides = _Sides(candidates, candidates.times(truth), epsilon, slack)
    called = sides.first()
    best: Oracle | None = None
    design = None
    for look in range(_LOOKS):
        report(look / _LOOKS, "certifying what is known")
        design = xy_optimal(candidates, sides.directions(called), gap=_GAP, warm=design)
        if best is not None and design.value >= best.value * (1.0 - _GAIN):
            break
        needed = c**2 * sigma**2 * design.value
        best = Oracle(
            math.ceil(needed * (1.0 - _CLOSE)),
            design.value,
            design.lower_bound,
            c,
            design.support,
            design.weights,
            called,
        )
        now = sides.cheaper(design.support, design.weights)
        if np.array_equal(now, called):
            break
        called = now
    assert best is not None
    return best


class _Sides:
    """Which compounds are called in; the others are shown to be out by the best."""

    def __init__(self, candidates: ProjectedFeatures, means: Floats, epsilon: float, slack: float) -> None:
        self.candidates = candidates
        self.x = candidates.coordinates()
        self.means = means
        self.epsilon = epsilon
        self.slack = slack
        self.best = int(np.argmax(means))
        behind = float(means.max()) - means
        self.may_be_in = behind < epsilon + slack - _CLOSE
        self.may_be_out = behind > epsilon + _CLOSE
        lost = np.flatnonzero(~(self.may_be_in | self.may_be_out))
        if len(lost):
            raise AssayPilotError(
                f"{len(lost)} compounds lie exactly on the border, so no number of measurements decides them",
                mend="Give some slack.",
            )

    def first(self) -> Flags:
        """Return the sides by the larger gap."""
        behind = self.means[self.best] - self.means
        nearer_in = self.epsilon + self.slack - behind >= behind - self.epsilon
        called: Flags = self.may_be_in & (nearer_in | ~self.may_be_out)
        return called

    def directions(self, called: Flags) -> UnionDirections | Between:
        """Return the comparisons that certify these calls, each divided by its gap."""
        members = np.flatnonzero(called).astype(np.intp)
        table = self.candidates
        inside = Between(
            table.onto(table.rows[members]),
            table,
            gaps=(self.means[members] + self.epsilon + self.slack, self.means),
        )
        out = np.flatnonzero(~called)
        if not len(out):
            return inside
        gaps = self.means[self.best] - self.means[out] - self.epsilon
        return UnionDirections([inside, Rows((self.x[self.best] - self.x[out]) / gaps[:, None])])

    def cheaper(self, support: Ints, weights: Floats) -> Flags:
        """Return the side of each compound that costs least under a design."""
        rows = self.x[support]
        inverse = nearly_inverse(rows, weights)
        half = self.x @ inverse
        own = np.einsum("ij,ij->i", half, self.x)
        n = len(self.means)
        cost_in, cost_out = np.full(n, math.inf), np.full(n, math.inf)
        for start in range(0, n, _ROWS):
            block = np.arange(start, min(start + _ROWS, n))
            lengths = np.maximum(own[block, None] + own - 2.0 * (half[block] @ self.x.T), 0.0)
            ahead = self.means - self.means[block, None]
            short = np.minimum(self.epsilon + self.slack - ahead, 1e150)
            with np.errstate(divide="ignore", invalid="ignore"):
                stay = np.where(short > 0, lengths / short**2, math.inf)
                stay[block - start, block] = 0.0
                leave = np.where(ahead > self.epsilon, lengths / (ahead - self.epsilon) ** 2, math.inf)
            cost_in[block] = stay.max(axis=1)
            cost_out[block] = leave[:, self.best]
        called: Flags = self.may_be_in & ((cost_in <= cost_out) | ~self.may_be_out)
        return called
