"""``adaptive`` for forecasts: the same strategy, planned in a hurry.

Nearly all of its time goes into whole measurements per compound. A forecast does not need the best ones: here a plan is
a design of shares found by a few multiplicative steps, made whole by the fastest method, with what that loses given
back. Everything else, the comparisons, their limits and the decisions, is the strategy's own code.
"""

from __future__ import annotations

import math
from contextlib import suppress
from dataclasses import replace
from typing import Any

import numpy as np

from ..design import Rows, round_design
from ..design.criteria import Design
from ..design.rounding import Rounded
from ..domain.features import ProjectedFeatures
from ..domain.goals import Goal
from ..errors import AssayPilotError
from ..strategies.adaptive.planning import Way
from ..strategies.adaptive.sequential_tests import ByWalks
from ..strategies.designs import g_design
from ..strategies.protocol import Allocation, Strategy
from ..strategies.registry import part_for
from ..system.progress import Report, silent

_STEPS = 60
"""Multiplicative steps of a design."""
_HARDEST = 400
"""Directions that a design is made for."""
_MOST = 5_000
"""Compounds that a design chooses from."""
_TINY = 1e-3
"""Added to all weights at every step, so that no compound is lost for good."""
_THINNED = {20: 6, 40: 3}
"""After so many steps a design keeps so many compounds per effect."""
_GAP = 0.05
"""How far the even design may be from optimal."""
_EVEN = 0.02
"""Share of an even design in every one, so that it informs every effect a little."""
_PLENTY = 2.5
"""Measurements per effect from which swaps are good enough."""
_SWAPPED = 0.25
"""What plans by swaps lose on the whole, compared with real ones: this times effects per measurement."""


def quick(strategy: Strategy, goal: Goal) -> Strategy:
    """Return the strategy as forecasts play it for a goal: itself, or where walks decide, planned in a hurry."""
    part = part_for(strategy, goal.name)
    return part.planned_by(_HURRIED) if isinstance(part, ByWalks) else strategy


def _shares(candidates: ProjectedFeatures, directions: Rows, gap: float, report: Report) -> Design:
    """About the design with the least worst variance of some directions, by multiplicative weights on both sides."""
    rows = np.arange(candidates.n_rows)
    if len(rows) > _MOST:
        rows = np.union1d(rows[:: len(rows) // _MOST], _even(candidates).support)
    x, y = candidates.coordinates(rows), directions.vectors(np.arange(directions.n)[:, None])
    if len(y) > _HARDEST:
        y = y[np.argsort(-np.einsum("ij,ij->i", y, y), kind="stable")[:_HARDEST]]
    weights, worst = np.full(len(x), 1.0 / len(x)), np.full(len(y), 1.0 / len(y))
    best, value = weights, math.inf
    for step in range(_STEPS + 1):
        information = x.T @ (x * weights[:, None])
        inverse = np.linalg.inv(information)
        seen = y @ inverse
        variances = np.einsum("ij,ij->i", seen, y)
        if variances.max() < value:
            best, value = weights, float(variances.max())
        if step == _STEPS:
            break
        worst = worst * variances
        worst /= worst.sum()
        slope = seen.T @ (seen * worst[:, None])
        weights = weights * np.sqrt(np.maximum(np.einsum("ij,ij->i", x @ slope, x), 0.0))
        if step + 1 in _THINNED:
            kept = np.sort(np.argsort(-weights, kind="stable")[: _THINNED[step + 1] * candidates.rank])
            if np.linalg.matrix_rank(x[kept] * np.sqrt(weights[kept])[:, None], tol=1e-6) == candidates.rank:
                x, rows, weights = x[kept], rows[kept], weights[kept]
            # What follows is of fewer compounds, as real designs are: it counts though it may be worth a little less.
            value = math.inf
        weights = weights / weights.sum() + _TINY / len(weights)
        weights /= weights.sum()
    kept = np.flatnonzero(best > 1e-5 / len(best))
    return Design("xy", rows[kept], best[kept] / best[kept].sum(), value, 0.0, False, _STEPS, 0.0)


def _even(candidates: ProjectedFeatures) -> Design:
    return g_design(candidates.features, candidates.rows, gap=_GAP).design


def _rounded(
    design: Design,
    candidates: ProjectedFeatures,
    n: int,
    *,
    directions: Rows | None = None,
    most: int | None = None,
    report: Report = silent,
) -> Rounded:
    """Whole measurements by swaps, which lose about as much as ``effective`` gives back; of few of them as it is."""
    if n >= _PLENTY * candidates.rank:
        with suppress(AssayPilotError):
            even = _even(candidates)
            weights = np.zeros(candidates.n_rows)
            weights[design.support] = (1.0 - _EVEN) * design.weights
            weights[even.support] += _EVEN * even.weights
            kept = np.flatnonzero(weights)
            design = replace(design, support=kept, weights=weights[kept])
            return round_design(design, candidates, n, method="swap", most=most, report=report)
    return round_design(design, candidates, n, method="exchange", directions=directions, most=most, report=report)


def effective(strategy: Strategy, allocation: Allocation, rank: int) -> Allocation:
    """Return the measurements as a simulation counts them: those of a plan made in a hurry are worth more."""
    if not isinstance(strategy, ByWalks) or allocation.total < _PLENTY * rank or allocation.certificate.lower_bound > 0:
        return allocation
    counts: Any = (1.0 + _SWAPPED * rank / allocation.total) * allocation.counts
    return replace(allocation, counts=counts)


_HURRIED = Way(_shares, _rounded)
