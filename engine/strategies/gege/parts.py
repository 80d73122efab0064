"""Shared parts of both GEGE algorithms: the endpoints' common unit, estimates of every endpoint, and whole counts."""

from __future__ import annotations

import math
from operator import truediv
from typing import NamedTuple

import numpy as np

from ...arrays import Floats, Ints
from ...design import achieved, apportion, ceilings, round_design
from ...design.rounding import Method
from ...domain.features import ProjectedFeatures
from ...domain.goals import ParetoSet
from ..designs import Plan, estimated, table
from ..linfact.planning import design_rows
from ..protocol import Allocation, Certificate, Problem, State

_GROWTH = 1.05
"""The largest step to the next number of measurements that may keep a promise."""

_PLENTY = 1000
"""Measurements per compound of a design from which rounding up costs next to nothing."""

_ROUND = 3.0
"""ROUND's factor 1 + 6 kappa at its loosest, kappa = 1/3 (GEGE appendix H)."""


def goal_of(problem: Problem) -> ParetoSet:
    """Return the goal, which is a Pareto set."""
    assert isinstance(problem.goal, ParetoSet)
    return problem.goal


def units(problem: Problem) -> Floats:
    """Return the unit of each endpoint, ``(n_endpoints, 1)``: its margin where the goal has margins, else its noise SD.

    Gaps compare endpoints, so these must be in a common unit: in margins a difference of 1 does not matter, in SDs all
    endpoints are equally hard to measure.
    """
    margins = goal_of(problem).margins
    return np.array(margins if any(margins) else problem.noise)[:, None]


def widest_noise(problem: Problem) -> float:
    """Return the largest noise SD of an endpoint in its unit."""
    margins = goal_of(problem).margins
    return max(map(truediv, problem.noise, margins)) if any(margins) else 1.0


class Estimates(NamedTuple):
    """Least-squares estimates of some arms in every endpoint."""

    means: Floats
    """``(n_endpoints, m)``, model scale; 0 where not estimable."""
    norms: Floats
    """``(n_endpoints, m)``: ||a||_{V^-1} with the endpoint's own V; infinite where not estimable."""


def estimates(problem: Problem, counts: Floats, means: Floats, arms: Ints) -> Estimates:
    """Return the arms' means and standard errors (at an SD of 1) from counts and means ``(n_endpoints, n_arms)``.

    Every endpoint has its own V, from the measurements that gave a value of it.
    """
    features = problem.features
    out = Estimates(np.zeros((len(counts), len(arms))), np.empty((len(counts), len(arms))))
    same_counts: dict[bytes, list[int]] = {}
    for at, row in enumerate(counts):
        same_counts.setdefault(row.tobytes(), []).append(at)
    for ends in same_counts.values():
        row = counts[ends[0]]
        measured = np.flatnonzero(row > 0)
        found, norms = estimated(features, measured, row[measured], means[ends][:, measured].T, arms)
        out.norms[ends] = norms
        out.means[ends] = np.where(np.isfinite(norms), found.T, 0.0)
    return out


class Counted(NamedTuple):
    """Whole measurements."""

    counts: Ints
    """One per candidate of the plan."""
    value: float
    """The largest ||a||^2_{V^-1} over the arms to be known."""


def exactly(plan: Plan, targets: ProjectedFeatures | None, n: int, most: float | None = None) -> Counted:
    """Return measurements of sum ``n``, which must not be below the rank.

    Apportioned; where that reaches more than ``most`` (None: ROUND's factor times the design's value over n), rounded
    by swaps (GEGE's ROUND), and with single measurements moved where even that fails.
    """
    candidates, design = plan
    limit = _ROUND * design.value / n if most is None else most
    counts = apportion(design.weights, n)
    best = Counted(_all_rows(candidates, design.support, counts), achieved(candidates, design.support, counts, targets))
    methods: tuple[Method, ...] = ("swap", "best")
    for method in methods:
        if best.value <= limit:
            break
        rounded = round_design(design, candidates, n, method=method, targets=targets)
        if rounded.value / n < best.value:
            best = Counted(_all_rows(candidates, rounded.support, rounded.counts), rounded.value / n)
    return best


def fewest(plan: Plan, targets: ProjectedFeatures | None, wells: float) -> Counted:
    """Return few measurements with ||a||^2_{V^-1} <= 1 / ``wells`` for every arm to be known.

    Apportioned to growing numbers until the whole counts themselves keep the promise, or rounded up, which always
    keeps it, where that takes no more or next to nothing.
    """
    candidates, design = plan
    n = max(math.ceil(wells * design.value), candidates.rank)
    counts = np.maximum(ceilings(design.weights, wells * design.value), 1)
    while n < counts.sum() < _PLENTY * len(counts):
        trial = apportion(design.weights, n)
        value = achieved(candidates, design.support, trial, targets)
        if value * wells <= 1.0 + 1e-9:
            return Counted(_all_rows(candidates, design.support, trial), value)
        n = max(n + 1, math.ceil(n * min(value * wells, _GROWTH)))
    value = achieved(candidates, design.support, counts, targets)
    return Counted(_all_rows(candidates, design.support, counts), value)


def _all_rows(candidates: ProjectedFeatures, support: Ints, counts: Ints) -> Ints:
    """One count per candidate."""
    out = np.zeros(candidates.n_rows, dtype=np.intp)
    out[np.asarray(support, dtype=np.intp)] = counts
    return out


def rank_of(state: State) -> int:
    """Return the fewest measurements that can estimate every active arm."""
    return table(state.problem.features, design_rows(state)[0]).rank


def targets_of(state: State, plan: Plan) -> ProjectedFeatures | None:
    """Return the active arms in a plan's coordinates; None when they are just what it may measure."""
    active = np.flatnonzero(state.active)
    return None if np.array_equal(active, plan.candidates.rows) else plan.candidates.onto(active)


def allocation(state: State, plan: Plan, counts: Ints, radius: float, *, cut: bool = False) -> Allocation:
    """Return the allocation of counts per candidate."""
    certificate = Certificate("g", plan.design.value, plan.design.lower_bound)
    return Allocation.after(state, plan.candidates.rows, counts, radius, certificate, cut=cut)
