"""Phases of LinFACT: which rows, on how many compounds, in how few rounds, and cut to a budget."""

from __future__ import annotations

import math

import numpy as np

from ...arrays import Ints
from ...design import Design, achieved, apportion, ceilings
from ...design.budget_supports import independent
from ...domain.features import ProjectedFeatures, outside_span
from ...system.progress import Report
from ..designs import Designer, Plan, g_design, table
from ..phased import rounded_up
from ..protocol import Allocation, Capacity, Certificate, State

_PRICE_OF_FEWER_ROUNDS = 1.1
"""How many times the measurements of the free design a design may cost that saves rounds."""

_ROOM = 1.05
"""A bound on the weights this close to uniform leaves a design no choice."""

_FEW = 0.25
"""Above this share of compounds among a phase's measurements, designs on fewer compounds are tried."""


def design_rows(state: State) -> tuple[Ints, Ints | None]:
    """Return what the phase may measure, and what it must bound (None: the same rows).

    Active arms that can be measured, as in the paper, when they span the active set; else all that can be measured.
    """
    problem = state.problem
    active = np.flatnonzero(state.active)
    here = np.flatnonzero(state.active & problem.measurable)
    if len(here) == len(active):
        return here, None
    if outside_span(problem.features, table(problem.features, here).basis, active).any():
        here = np.flatnonzero(problem.measurable)
    return here, active


def phase_design(state: State, wells: float, gap: float, make: Designer, report: Report) -> Plan:
    """Return the phase's design; ``wells`` is the measurements it takes per unit of the design's value."""
    features = state.problem.features
    rows, targets = design_rows(state)
    free = make(features, rows, targets, gap=gap, report=report)
    most = 4 * free.candidates.rank
    if len(free.design.support) > max(_FEW * wells * free.design.value, most):
        # A short phase pays for every compound of its design by a rounded-up measurement: fewer compounds cost less.
        fewer = make(features, rows, targets, gap=gap, max_support=most, report=report)
        free = min((free, fewer), key=lambda plan: _rounded_up(plan.design, wells))
    capacity = state.problem.capacity
    return free if capacity is None else in_few_rounds(state, capacity, targets, wells, gap, free, make, report)


def _rounded_up(design: Design, wells: float) -> int:
    return int(ceilings(design.weights, wells * design.value).sum())


def in_few_rounds(
    state: State,
    capacity: Capacity,
    targets: Ints | None,
    wells: float,
    gap: float,
    free: Plan,
    make: Designer,
    report: Report,
) -> Plan:
    """Return the design that needs the fewest rounds among those that cost little more than the free one.

    A lab takes ``max_replicates`` of a compound in a round, so a design on few compounds can need more rounds than its
    measurements fill. A bound on the weights spreads them over more compounds: first over active ones; where those are
    too few to fill a round, over everything measurable in their span, which bounds the active means just as well.
    """
    features, rows = state.problem.features, free.candidates.rows
    # Rounding up must not push a compound over the bound, and the design may cost the whole price.
    total = _PRICE_OF_FEWER_ROUNDS * wells * free.design.value
    needed = math.ceil(wells * free.design.value * float(free.design.weights.max()) / capacity.max_replicates)
    best = free

    def bounded(pool: Ints, shown: Ints | None, span: Ints | None, rounds: int) -> Plan | None:
        upper = capacity.max_replicates * rounds / total
        plan = make(features, pool, shown, span=span, gap=gap, upper=upper, report=report)
        return plan if plan.design.value <= _PRICE_OF_FEWER_ROUNDS * free.design.value else None

    def fewest(pool: Ints) -> int:
        room = math.ceil(_ROOM * total / (capacity.max_replicates * len(pool)))
        return max(math.ceil(total / capacity.per_round), room)

    low = fewest(rows)
    while low < needed:
        rounds = (low + needed) // 2
        plan = bounded(rows, targets, None, rounds)
        if plan is None:
            low = rounds + 1
        else:
            best, needed = plan, rounds
    outside = outside_span(features, free.candidates.basis)
    pool = np.flatnonzero(state.problem.measurable & ~outside)
    if len(pool) > len(rows) and fewest(pool) < needed:
        plan = bounded(pool, rows if targets is None else targets, rows, fewest(pool))
        if plan is not None:
            best = plan
    return best


def means_phase(state: State, radius: float, wells: float, gap: float, report: Report) -> Allocation:
    """Return the phase that bounds every active mean by the radius: T(a) = ceil(g(w) w(a) ``wells``) (eq. 21).

    ``wells``: measurements per unit of variance that reduce a half-width to the radius. Where the budget cuts the phase
    its radius is what that leaves.
    """
    problem = state.problem
    candidates, design = phase_design(state, wells, gap, g_design, report)
    counts = rounded_up(np.maximum(ceilings(design.weights, wells * design.value), 1), problem.repeats)
    budget = problem.budget
    cut = budget is not None and counts.sum() > budget - state.spent
    if cut and budget is not None:
        # Sized before any of its values is seen, so the realised half-widths stay valid.
        counts = cut_to(candidates, design, budget - state.spent)
        value = achieved(candidates, design.support, counts, candidates.onto(np.flatnonzero(state.active)))
        radius = math.sqrt(wells * value) * radius
    certificate = Certificate("g", design.value, design.lower_bound)
    return Allocation.after(state, candidates.rows[design.support], counts, radius, certificate, cut=bool(cut))


def cut_to(candidates: ProjectedFeatures, design: Design, n: int) -> Ints:
    """Return N measurements of the design's compounds; the full rank is kept as long as n allows."""
    counts = apportion(design.weights, n)
    if np.isfinite(achieved(candidates, design.support, counts)):
        return counts.astype(np.intp)
    # Fewer measurements than compounds in the support: one each on compounds that span, the rest by weight.
    heaviest = design.support[np.argsort(-design.weights, kind="stable")]
    chosen = np.searchsorted(design.support, independent(candidates, heaviest))
    counts = np.zeros(len(design.weights), dtype=np.intp)
    counts[chosen] = 1
    share = design.weights * (n - len(chosen))
    counts += np.floor(share).astype(np.intp)
    for position in np.argsort(-(share - np.floor(share)), kind="stable")[: n - int(counts.sum())]:
        counts[position] += 1
    return counts
