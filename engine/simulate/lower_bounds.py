"""Characteristic times: the least that any method must spend, computed from the known truth."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from ..arrays import Floats, Ints
from ..design.alternatives import mixture_bound, nearest_within, single_comparisons
from ..design.criteria import nearly_inverse
from ..design.directions import Between, Directions, Rows, UnionDirections, against
from ..design.xy import xy_optimal
from ..domain.features import ProjectedFeatures
from ..domain.pareto import gaps
from ..errors import AssayPilotError

_GAP = 1e-4
_LOOSE_GAP = 1e-3
"""The same where every look solves quadratic programmes."""
_ROUNDS = 60
_FALLS = 1e-4
"""Half-spaces are renewed as long as the value falls by more than this share."""
_ASIDE = 0.05
"""How far from the best weights to those of the mixture the next alternatives are looked for. Several tie at the best
weights, as on full products; of 0.02 to 0.3 this closes the gap soonest."""
_ADDITIVE = 1e-6
"""Means further from a sum of contributions than this share of their spread are not additive."""


@dataclass(frozen=True, slots=True)
class Bound:
    """A characteristic time: with errors at most delta, E[measurements] >= T* log(1 / (2.4 delta)).

    By the transportation lemma of Kaufmann, Cappe and Garivier (2016), for Gaussian noise and every delta < 1; divided
    by log(1 / delta) it is the limit for delta -> 0 that LinGame reaches. Some measurements more are always needed.
    """

    value: float
    """T of ``weights``, in measurements (sigma^2 is in it): at least T*; inf when no number of measurements decides."""
    lower: float
    """Proven to be at most T*; ``value`` is T* itself when both agree."""
    support: Ints
    weights: Floats
    """The design that reaches ``value``: shares of the measurements over positions among the candidates."""
    converged: bool
    """Return whether ``value`` and ``lower`` agree to the requested gap."""

    def measurements(self, delta: float) -> float:
        """Return the least expected number of measurements when errors are at most ``delta``.

        0 where the bound is empty.
        """
        return max(0.0, self.lower * math.log(1.0 / (2.4 * delta))) if self.lower else 0.0


_ENDLESS = Bound(math.inf, math.inf, np.zeros(0, dtype=np.intp), np.zeros(0), True)
_NOTHING = Bound(0.0, 0.0, np.zeros(0, dtype=np.intp), np.zeros(0), True)


def effects_of(candidates: ProjectedFeatures, means: ArrayLike) -> Floats:
    """Return the effects theta ``(d,)`` in the candidates' coordinates whose means are those given, one per candidate.

    AssayPilotError when the means are no sums of contributions, since a bound for them would be about another truth.
    """
    mu = np.asarray(means, dtype=float)
    if mu.shape != (candidates.n_rows,) or not np.isfinite(mu).all():
        raise AssayPilotError("every compound needs a true value that is a number", mend="Fill in the missing ones.")
    moment = candidates.moment(mu)
    theta = np.asarray(np.linalg.solve(candidates.information(np.ones(candidates.n_rows)), moment), dtype=np.float64)
    off = float(np.abs(candidates.times(theta) - mu).max())
    if off > _ADDITIVE * max(float(np.ptp(mu)), 1e-300) and off > 1e-9 * float(np.abs(mu).max()):
        raise AssayPilotError(
            f"the true values are not additive: they are up to {off:.3g} away from sums of contributions",
            mend="Fit them first, and take the fitted values as the truth.",
        )
    return theta


def best_arm(
    candidates: ProjectedFeatures,
    theta: ArrayLike,
    *,
    targets: ProjectedFeatures | None = None,
    sigma: float = 1.0,
) -> Bound:
    """T* of finding the best of ``targets`` (the candidates when None) by measuring the candidates.

    T* = 2 sigma^2 min_w max_z ||z* - z||^2_{V(w)^-1} / ((z* - z)'theta)^2: LinGame eq. 5, and RAGE Theorem 1, which
    prints half of it (its proof spends gap^2 / 2 per measurement as well). inf when the best is not unique.
    """
    truth = _checked(candidates, theta, sigma)
    table = candidates if targets is None else targets
    means = table.times(truth)
    best = int(np.argmax(means))
    gaps = means[best] - means
    if table.n_rows < 2:
        return _NOTHING
    if np.delete(gaps, best).min() <= 0:
        return _ENDLESS
    return _solved(candidates, against(table, best, gaps=gaps), sigma, _GAP)


def all_epsilon_best(
    candidates: ProjectedFeatures,
    theta: ArrayLike,
    epsilon: float,
    *,
    slack: float = 0.0,
    sigma: float = 1.0,
) -> Bound:
    """T* of finding all compounds within ``epsilon`` of the best, with ``slack`` between in and out.

    A member i is lost when some j comes to exceed it by more than epsilon + slack: the distance to that half-space,
    for every j. A compound m beyond epsilon + slack is taken in when it comes within epsilon of *every* j: the distance
    to that intersection is a quadratic programme for each m. LinFACT Theorem 3.2 compares m with the best compound
    alone; under that alternative others may exceed it, so the answer need not change and the number is too high for a
    bound. Compounds in the zone between may be in or out and add nothing.

    The intersections are replaced by the half-spaces that touch them where they are nearest, which is exact at the
    present weights and never too far elsewhere; the XY design for those is the next weights, and T falls each time.
    Alternatives met on the way, mixed by a linear programme, prove the lower value. Where it is too low, more are
    looked for between the best weights and those that are best against the mixture. inf when a compound lies exactly on
    its border.
    """
    truth = _checked(candidates, theta, sigma)
    if not (math.isfinite(epsilon) and epsilon > 0 and math.isfinite(slack) and slack >= 0):
        raise AssayPilotError("epsilon must be above 0 and slack 0 or more", mend="For example 0.5 and 0.25.")
    means = candidates.times(truth)
    top = float(means.max())
    members = np.flatnonzero(means >= top - epsilon).astype(np.intp)
    excluded = np.flatnonzero(means < top - (epsilon + slack)).astype(np.intp)
    if candidates.n_rows < 2:
        return _NOTHING
    if (means[members] <= top - epsilon - slack).any():
        return _ENDLESS
    inside = _inside(candidates, members, means, epsilon + slack)
    if not len(excluded):
        if inside.find(np.eye(candidates.rank))[1][0] <= 0:
            return _NOTHING
        return _solved(candidates, inside, sigma, _LOOSE_GAP)
    return _Proven(candidates, means, inside, excluded, epsilon, sigma).bound()


def _inside(candidates: ProjectedFeatures, members: Ints, means: Floats, margin: float) -> Between:
    """Return what keeps the members in: each against every other compound, by the gap to the border."""
    return Between(candidates.onto(candidates.rows[members]), candidates, gaps=(means[members] + margin, means))


def _checked(candidates: ProjectedFeatures, theta: ArrayLike, sigma: float) -> Floats:
    truth = np.asarray(theta, dtype=float)
    if truth.shape != (candidates.rank,) or not np.isfinite(truth).all():
        raise ValueError(f"theta must be {candidates.rank} finite numbers, in the candidates' coordinates")
    if not (math.isfinite(sigma) and sigma > 0):
        raise AssayPilotError(f"the assay noise (SD) must be a number above 0, got {sigma}", mend="For example 0.2.")
    return truth


def _solved(candidates: ProjectedFeatures, directions: Directions, sigma: float, gap: float) -> Bound:
    """Return the bound whose comparisons are single half-spaces: an XY design."""
    design = xy_optimal(candidates, directions, gap=gap)
    unit = 2.0 * sigma**2
    return Bound(
        unit * float(design.value),
        unit * float(design.lower_bound),
        design.support,
        design.weights,
        bool(design.converged),
    )


class _Proven:
    """The search for the weights that separate the truth from its nearest alternative fastest."""

    def __init__(
        self,
        candidates: ProjectedFeatures,
        means: Floats,
        inside: Between,
        excluded: Ints,
        epsilon: float,
        sigma: float,
    ) -> None:
        self.candidates = candidates
        self.x = candidates.coordinates()
        self.means = means
        self.inside = inside
        self.excluded = excluded
        self.epsilon = epsilon
        self.sigma = sigma
        self.shifts: list[Floats] = []
        best = int(np.argmax(means))
        self.halves = (self.x[best] - self.x[excluded]) / (means[best] - means[excluded] - epsilon)[:, None]

    def bound(self) -> Bound:
        """Return the best weights found, with a proof of how good they are."""
        value, weights = self.descend()
        rows = np.flatnonzero(weights)
        lower = 0.0
        for _ in range(_ROUNDS):
            mixture = mixture_bound(self.x, np.array(self.shifts), rows)
            lower = max(lower, 1.0 / mixture.value)
            if value <= lower * (1.0 + _LOOSE_GAP):
                break
            self.shifts = [shift for shift, share in zip(self.shifts, mixture.shares, strict=True) if share > 0]
            rows = np.flatnonzero(mixture.weights)
            between = (1.0 - _ASIDE) * weights + _ASIDE * mixture.weights
            found = self.look(between)
            if found < value:
                value, weights = found, between
        unit = 2.0 * self.sigma**2
        support = np.flatnonzero(weights).astype(np.intp)
        converged = value <= lower * (1.0 + _LOOSE_GAP)
        return Bound(unit * value, unit * min(lower, value), support, weights[support], converged)

    def descend(self) -> tuple[float, Floats]:
        """Return the least value found by designs for half-spaces, and its weights ``(n,)``."""
        best, weights = math.inf, np.zeros(len(self.means))
        design = None
        for _ in range(_ROUNDS):
            design = xy_optimal(
                self.candidates, UnionDirections([self.inside, Rows(self.halves)]), gap=_LOOSE_GAP / 4.0, warm=design
            )
            found = np.zeros(len(self.means))
            found[design.support] = design.weights
            before, value = best, self.look(found)
            if value < best:
                best, weights = value, found
            if value > before * (1.0 - _FALLS):
                break
        return best, weights

    def look(self, weights: Floats) -> float:
        """1 / the squared distance to the nearest alternative; the half-spaces are renewed on the way."""
        used = np.flatnonzero(weights)
        inverse = nearly_inverse(self.x[used], weights[used])
        keys, values = self.inside.find(inverse, 2 * self.x.shape[1])
        nearest = 1.0 / float(values[0])
        for direction in self.inside.vectors(keys[values > 0]):
            self.shifts.append(inverse @ direction / float(direction @ inverse @ direction))
        single, other = single_comparisons(self.x, self.means, inverse, self.excluded, self.epsilon)
        order = np.argsort(single, kind="stable")
        exact = np.zeros(len(order), dtype=bool)
        for place in order:
            # An intersection is never nearer than one of its half-spaces, so the rest cannot be the nearest.
            if single[place] > nearest * (1.0 + _LOOSE_GAP) and exact.sum() >= self.x.shape[1]:
                break
            found = nearest_within(self.x, self.means, inverse, int(self.excluded[place]), self.epsilon)
            exact[place] = True
            if found is None:
                self.halves[place] = 0.0
                continue
            self.halves[place] = found.direction
            self.shifts.append(found.shift)
            nearest = min(nearest, found.squared)
        for place in np.flatnonzero(~exact & np.isfinite(single)):
            m, j = int(self.excluded[place]), int(other[place])
            self.halves[place] = (self.x[m] - self.x[j]) / (self.means[j] - self.means[m] - self.epsilon)
        return 1.0 / nearest


class ParetoComplexity(NamedTuple):
    """How hard a Pareto set is to find, by the gaps of GEGE."""

    h1_lin: float
    """Sum over the h smallest gaps of 1 / gap^2; fixed confidence needs of the order of sigma^2 H1 log(1 / delta)."""
    h2_lin: float
    """Largest i / gap_i^2 over the h smallest gaps; a fixed budget T errs about exp(-T / (sigma^2 H2 log h))."""


def pareto_complexity(means: Floats, rank: int) -> ParetoComplexity:
    """H1_lin and H2_lin of GEGE eq. 2 for features of this rank h; inf when one of the h smallest gaps is 0.

    ``means`` ``(n_endpoints, n)``, larger is better, endpoints on one scale.
    """
    smallest = np.sort(gaps(means).values)[:rank]
    with np.errstate(divide="ignore"):
        each = 1.0 / smallest**2
    return ParetoComplexity(float(each.sum()), float((np.arange(1, len(each) + 1) * each).max()))
