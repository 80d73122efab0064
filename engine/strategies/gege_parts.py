"""What both GEGE algorithms share: the endpoints' common unit, estimates of every endpoint, and whole counts."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from assaypilot.engine.design import Design, achieved, apportion, ceilings, g_optimal, round_design
from assaypilot.engine.design.rounding import Method
from assaypilot.engine.features import ProjectedFeatures, outside_span
from assaypilot.engine.goals import ParetoSet
from assaypilot.engine.models.ols import Estimate, least_squares
from assaypilot.engine.progress import Report
from assaypilot.engine.strategies.protocol import Allocation, Certificate, Problem, State

__all__ = [
    "Estimates",
    "Plan",
    "allocation",
    "crowded",
    "estimates",
    "exactly",
    "fewest",
    "goal_of",
    "plan",
    "rows",
    "sparser",
    "units",
]

Floats = NDArray[np.float64]
Ints = NDArray[np.intp]

_FEW = 0.25
"""Above this share of compounds among a phase's measurements, designs on fewer compounds are tried."""

_GROWTH = 1.05
"""The largest step to the next number of measurements that may keep a promise."""


def goal_of(problem: Problem) -> ParetoSet:
    """The goal, which is a Pareto set."""
    assert isinstance(problem.goal, ParetoSet)
    return problem.goal


def units(problem: Problem) -> Floats:
    """The unit of each endpoint, ``(n_endpoints, 1)``: its margin where the goal has margins, else its noise SD.

    Gaps compare endpoints, so these must be in a common unit: in margins a difference of 1 does not matter, in SDs all
    endpoints are equally hard to measure.
    """
    margins = goal_of(problem).margins
    return np.array(margins if any(margins) else problem.noise)[:, None]


class Estimates(NamedTuple):
    """Least-squares estimates of some arms in every endpoint."""

    means: Floats
    """``(n_endpoints, m)``, model scale; 0 where not estimable."""
    norms: Floats
    """``(n_endpoints, m)``: ||a||_{V^-1} with the endpoint's own V; infinite where not estimable."""


def estimates(problem: Problem, counts: Floats, means: Floats, arms: Ints) -> Estimates:
    """The arms' means and standard errors (at an SD of 1) from counts and means ``(n_endpoints, n_arms)``.

    Every endpoint has its own V, from the measurements that gave a value of it; endpoints with the same counts share
    one factorisation.
    """
    out = Estimates(np.zeros((len(counts), len(arms))), np.empty((len(counts), len(arms))))
    seen: list[tuple[int, Ints, Estimate]] = []
    for at, row in enumerate(counts):
        like = next((one for one in seen if np.array_equal(counts[one[0]], row)), None)
        if like is None:
            measured = np.flatnonzero(row > 0)
            fit = least_squares(problem.features, measured, row[measured], means[at, measured])
            seen.append((at, measured, fit))
            out.norms[at] = fit.half_norms(arms)
            found = fit.means(arms)
        else:
            first, measured, fit = like
            out.norms[at] = out.norms[first]
            found = problem.features.times(_solved(fit, measured, row[measured], means[at, measured]), arms)
        out.means[at] = np.where(np.isfinite(out.norms[at]), found, 0.0)
    return out


def _solved(fit: Estimate, measured: Ints, counts: Floats, values: Floats) -> Floats:
    """The coefficients of other values with the counts of ``fit``, refined once as there."""
    theta = np.zeros(fit.features.n_columns)
    left = values
    for _ in range(2):
        theta = theta + fit.basis @ (fit.inverse @ (fit.basis.T @ fit.features.moment(counts * left, measured)))
        left = values - fit.features.times(theta, measured)
    return theta


class Plan(NamedTuple):
    """A design, the rows its support counts in, and the rows whose means it is for."""

    candidates: ProjectedFeatures
    targets: ProjectedFeatures
    design: Design


def rows(state: State) -> tuple[ProjectedFeatures, ProjectedFeatures]:
    """What a phase may measure, and the active arms in the same coordinates.

    Active arms that can be measured, as in the paper, when they span the active set; else all that can be measured.
    """
    problem = state.problem
    active = np.flatnonzero(state.active)
    here = np.flatnonzero(state.active & problem.measurable)
    candidates = ProjectedFeatures(problem.features, here)
    if len(here) == len(active):
        return candidates, candidates
    if not len(here) or outside_span(problem.features, candidates.basis, active).any():
        candidates = ProjectedFeatures(problem.features, np.flatnonzero(problem.measurable))
    return candidates, candidates.onto(active)


def plan(state: State, gap: float, report: Report) -> Plan:
    """The G-optimal design of a phase."""
    candidates, targets = rows(state)
    aims = None if targets is candidates else targets
    return Plan(candidates, targets, g_optimal(candidates, targets=aims, gap=gap, report=report))


def exactly(made: Plan, n: int, most: float = math.inf) -> tuple[Ints, float]:
    """Counts of sum ``n``, and the largest ||a||^2_{V^-1} they reach over the active arms.

    Apportioned; where that reaches more than ``most``, or leaves an active arm without an estimate, rounded by swaps
    (GEGE's ROUND), and by single measurements moved where even that fails. ``n`` must not be below the rank.
    """
    candidates, targets, design = made
    counts = apportion(design.weights, n)
    best = _all_rows(candidates, design.support, counts), achieved(candidates, design.support, counts, targets)
    aims = None if targets is candidates else targets
    methods: tuple[Method, ...] = ("swap", "best")
    for method in methods:
        if best[1] <= most and math.isfinite(best[1]):
            break
        rounded = round_design(design, candidates, n, method=method, targets=aims)
        if rounded.value / n < best[1]:
            best = _all_rows(candidates, rounded.support, rounded.counts), rounded.value / n
    return best


def fewest(made: Plan, wells: float) -> tuple[Ints, float]:
    """Few counts with ||a||^2_{V^-1} <= 1 / ``wells`` for every active arm, and the largest they reach.

    Apportioned to growing numbers until the whole counts themselves keep the promise; rounded up where that does not
    come about, which always does.
    """
    candidates, targets, design = made
    n = max(math.ceil(wells * design.value), candidates.rank)
    rounded_up = np.maximum(ceilings(design.weights, wells * design.value), 1)
    while n < rounded_up.sum():
        counts = apportion(design.weights, n)
        value = achieved(candidates, design.support, counts, targets)
        if value * wells <= 1.0 + 1e-9:
            return _all_rows(candidates, design.support, counts), value
        n = max(n + 1, math.ceil(n * min(value * wells, _GROWTH)))
    counts = rounded_up
    return _all_rows(candidates, design.support, counts), achieved(candidates, design.support, counts, targets)


def sparser(made: Plan, gap: float, report: Report) -> Plan:
    """The design on at most four compounds per effect: short phases pay for every compound."""
    candidates, targets, _ = made
    aims = None if targets is candidates else targets
    design = g_optimal(candidates, targets=aims, gap=gap, max_support=4 * candidates.rank, report=report)
    return Plan(candidates, targets, design)


def crowded(made: Plan, wells: float) -> bool:
    """Whether a phase of so many measurements has few for each of the design's compounds."""
    return len(made.design.support) > max(_FEW * wells * made.design.value, 4 * made.candidates.rank)


def _all_rows(candidates: ProjectedFeatures, support: Ints, counts: Ints) -> Ints:
    """One count per candidate."""
    out = np.zeros(candidates.n_rows, dtype=np.intp)
    out[np.asarray(support, dtype=np.intp)] = counts
    return out


def allocation(made: Plan, counts: Ints, *, phase: int, radius: float, cut: bool) -> Allocation:
    """The allocation of counts per candidate."""
    kept = np.flatnonzero(counts)
    order = np.argsort(made.candidates.rows[kept])
    return Allocation(
        phase=phase,
        arms=made.candidates.rows[kept][order],
        counts=counts[kept][order],
        radius=radius,
        certificate=Certificate("g", made.design.value, made.design.lower_bound),
        cut_to_budget=cut,
    )
