"""XY designs for listed directions, quickly: weights and shares come into balance by multiplicative steps.

Weights of candidates grow with what they would help, shares of directions with their variances (multiplicative weights
of both players of the game; Arora, Hazan and Kale, Theory of Computing 8, 2012). Neither settles, their averages do;
and any shares prove a bound, so that how close a design is to the best possible is known at every step. Thousands of
candidates cost look-ups only: no working sets, no systems of equations. ``xy_optimal`` comes closer, where that is
needed.
"""

from __future__ import annotations

import math
import time
from dataclasses import dataclass

import numpy as np
from numpy.linalg import LinAlgError

from ..arrays import Floats
from ..domain.features import ProjectedFeatures, SiteFeatures
from ..system.progress import Report, silent
from ..text import percent
from .criteria import Design, dual_bound
from .directions import Rows
from .xy import xy_optimal

_LARGE = 20_000
"""Compounds times effects from which on the thorough ways take long: 960 compounds of 28 effects take a second, 10,000
of 63 half a minute. The plans of the quick ones are better there: they are made whole with all compounds in view."""
_STEPS = 300
"""Steps before the search ends without a design; 40 to 90 are enough for a gap of 0.05."""
_EVERY = 10
"""Steps between two looks at the averages."""
_PACE = 30
"""Steps by which the pace is estimated; where it would end far from the gap, as with few more compounds than
effects, nothing more is tried: each step costs the cube of the effects."""
_LEEWAY = 3.0
"""How far beyond the gap a pace may point: steps become slower in general, and sometimes faster."""
_EVEN = 1e-3
"""Share of an even design in every one, so that each estimates every effect a little."""
_MOST = 100_000
"""Candidates up to which all are evaluated in every step."""
_FEWEST = 10
"""Directions from which on there is something to balance: of fewer, ``xy_optimal`` finds designs on fewer compounds,
whose whole measurements are better."""


def multiplicative_xy(
    candidates: ProjectedFeatures, directions: Rows, *, gap: float, report: Report = silent
) -> Design | None:
    """Return a design of least largest y'V(w)^-1 y over the directions to a relative gap, with a proven lower bound.

    None where the gap is not reached in some hundred steps, or numbers do not allow it: ``xy_optimal`` has to
    be used then. For tables of sites; the support may be large. Deterministic.
    """
    begun = time.perf_counter()
    sites = isinstance(candidates.features, SiteFeatures)
    if not sites or not 0 < candidates.n_rows <= _MOST or directions.n < _FEWEST:
        return None
    try:
        found = _Game(candidates, directions).played(gap, report)
    except LinAlgError:
        return None
    if not found.value <= found.lower * (1.0 + gap):
        return None
    report(1.0, "design ready")
    return Design(
        criterion="xy",
        support=np.arange(candidates.n_rows),
        weights=found.weights,
        value=found.value,
        lower_bound=min(found.lower, found.value),
        converged=True,
        iterations=found.steps,
        seconds=time.perf_counter() - begun,
        gap=max(found.value / found.lower - 1.0, 0.0),
        shares=found.shares,
    )


@dataclass(slots=True)
class _Played:
    """State of a game."""

    weights: Floats
    """The best of all weights evaluated."""
    shares: Floats
    value: float = math.inf
    """The worst variance under these weights."""
    lower: float = 0.0
    """A lower bound for all weights."""
    steps: int = 0


class _Game:
    """The candidates of a table of sites against directions."""

    def __init__(self, candidates: ProjectedFeatures, directions: Rows) -> None:
        self._features, self._basis, self._rows = candidates.features, candidates.basis, candidates.rows
        self._y = directions.vectors(np.arange(directions.n)[:, None])

    def _look(self, weights: Floats, shares: Floats, best: _Played) -> tuple[Floats, Floats]:
        """Return variances of the directions and scores of the candidates; the best so far are kept there.

        Raises LinAlgError when the weights leave some effect inestimable.
        """
        inverse = np.linalg.inv(self._basis.T @ self._features.gram(weights, self._rows) @ self._basis)
        seen = self._y @ ((inverse + inverse.T) / 2.0)
        variances = np.einsum("ij,ij->i", seen, self._y)
        if not (variances > 0.0).all():  # NaN, or below 0 by rounding
            raise LinAlgError("the weights are next to singular")
        if float(variances.max()) < best.value:
            best.weights, best.value = weights, float(variances.max())
        slope = self._basis @ (seen.T @ (seen * shares[:, None])) @ self._basis.T
        scores = np.maximum(self._features.quadratic(slope, self._rows), 0.0)
        best.lower = max(best.lower, dual_bound(float(shares @ variances), float(scores.max())))
        return variances, scores

    def played(self, gap: float, report: Report) -> _Played:
        """Return the best of both sides after steps until the gap is reached, or too many."""
        n, m = len(self._rows), len(self._y)
        weights, shares = np.full(n, 1.0 / n), np.full(m, 1.0 / m)
        found = _Played(weights, shares)
        mean = weights
        gaps: list[float] = []
        while found.steps < _STEPS and not found.value <= found.lower * (1.0 + gap):
            variances, scores = self._look(weights, shares, found)
            found.steps += 1
            shares = shares * variances
            shares = shares / shares.sum()
            weights = weights * scores
            weights = (1.0 - _EVEN) * weights / weights.sum() + _EVEN / n
            # Later steps count more: the first ones were far away.
            latest = 2.0 / (found.steps + 1)
            mean = (1.0 - latest) * mean + latest * weights
            found.shares = (1.0 - latest) * found.shares + latest * shares
            if found.steps % _EVERY == 0:
                self._look(mean, found.shares, found)
                off = found.value / found.lower - 1.0 if found.lower else math.inf
                gaps.append(off)
                if _hopeless(gaps, gap):
                    break
                report(min(0.9, found.steps / _STEPS), f"{percent(off, 2)} above the best possible")
        return found


def _hopeless(gaps: list[float], gap: float) -> bool:
    """Return whether the gaps so far, one every ten steps, shrink too slowly to come near ``gap`` in time."""
    back = _PACE // _EVERY
    if len(gaps) < 2 * back or not 0.0 < gaps[-1] < math.inf:
        return False
    left = (_STEPS // _EVERY - len(gaps)) / back
    return bool(gaps[-1] * (gaps[-1] / gaps[-1 - back]) ** left > _LEEWAY * gap)


def fast_xy(candidates: ProjectedFeatures, directions: Rows, *, gap: float, report: Report = silent) -> Design:
    """Return a design as ``xy_optimal`` does, of a large table sooner and on more compounds; its gap is proven."""
    if candidates.n_rows * candidates.rank >= _LARGE:
        found = multiplicative_xy(candidates, directions, gap=gap, report=report)
        if found is not None:
            return found
    return xy_optimal(candidates, directions, gap=gap, report=report)
