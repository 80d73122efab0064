"""What ``adaptive`` measures in a phase: a plate that says most about the comparisons that are still open."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from assaypilot.engine.design import Rows
from assaypilot.engine.design.criteria import Design
from assaypilot.engine.design.prompt import prompt_design, prompt_whole
from assaypilot.engine.design.rounding import Rounded
from assaypilot.engine.errors import AssayPilotError
from assaypilot.engine.features import OUTSIDE_TOLERANCE, ProjectedFeatures
from assaypilot.engine.progress import Report
from assaypilot.engine.strategies.adaptive.classes import designed_by
from assaypilot.engine.strategies.designs import g_design, table
from assaypilot.engine.strategies.protocol import Allocation, Certificate, State
from assaypilot.engine.strategies.repeating import in_pairs, of_classes

__all__ = ["CAREFUL", "Needs", "Way", "expected_looks", "first_phase", "next_phase"]

Floats = NDArray[np.float64]
Ints = NDArray[np.intp]

_GAP = 0.05
"""How far a phase's design may be from optimal; the next phase's depends on what this one brings."""
_ROOM = 1.3
"""A phase takes this many times the measurements that should end the campaign, where those are less than a round."""
_GROWTH = 3
"""Without a lab's rounds a phase takes at most so many times what was measured before."""
_LONGER = 0.15
"""A phase takes about this share of what was measured before, in whole rounds: fewer looks, and designs of more
measurements lose less by being whole numbers; what it costs is that a decision may come some rounds later."""
_TRIFLE = 0.1
"""Comparisons that need less than this share of the most need no place in a design."""


class Way(NamedTuple):
    """How a phase is designed, and made whole; a forecast plans many in a quicker way of its own."""

    design: Callable[..., Design]
    """As ``xy_optimal``."""
    whole: Callable[..., Rounded]
    """As ``round_design``."""


CAREFUL = Way(prompt_design, prompt_whole)


class Needs(NamedTuple):
    """Open comparisons: mean(first) - mean(second), and the precision each still needs, ``(m,)``."""

    first: Ints
    second: Ints
    precision: Floats
    """One over the standard error that should bring its walk to the limit."""


def expected_looks(total: float, per_round: int) -> int:
    """How many phases a campaign of so many measurements has, at least 2."""
    spent, looks = 0, 0
    while spent < total and looks < 30:
        spent += per_round * max(1, round(_LONGER * spent / per_round))
        looks += 1
    return max(looks, 2)


def first_phase(state: State, report: Report) -> Allocation:
    """Every mean as well as can be: nothing is known of who should be compared, or nobody can be with who counts."""
    plan = g_design(designed_by(state.problem), np.flatnonzero(state.problem.measurable), gap=_GAP, report=report)
    rank = plan.candidates.rank
    wanted = max(4 * rank, state.spent) if state.problem.capacity is None else 0
    return _issued(state, plan.candidates, plan.design, None, "g", _size(state, wanted, plan.candidates), report)


def next_phase(state: State, needs: Needs, report: Report, way: Way = CAREFUL) -> Allocation:
    """The design with the least worst ratio of variance to what is needed (XY); as many measurements as it takes."""
    problem = state.problem
    candidates = table(designed_by(problem), np.flatnonzero(problem.measurable))
    kept = needs.precision > _TRIFLE * needs.precision.max(initial=0.0)
    x = problem.features.dense(needs.first[kept]) - problem.features.dense(needs.second[kept])
    inside = x @ candidates.basis
    lengths = np.einsum("ij,ij->i", x, x)
    rest = lengths - np.einsum("ij,ij->i", inside, inside)
    told = (lengths > 0) & (rest <= OUTSIDE_TOLERANCE * lengths)
    if not told.any():
        return first_phase(state, report)
    directions = Rows(inside[told] * (problem.noise[0] * needs.precision[kept][told])[:, None])
    design = way.design(candidates, directions, gap=_GAP, report=report)
    wanted = math.ceil(min(_ROOM * design.value, 1e15))
    return _issued(state, candidates, design, directions, "xy", _size(state, wanted, candidates), report, way)


def _size(state: State, wanted: int, candidates: ProjectedFeatures) -> int:
    """Measurements of the phase: a round of the lab, two for every effect at least, and no more than it takes."""
    capacity, spent, rank = state.problem.capacity, state.spent, candidates.rank
    if capacity is None:
        return max(2 * rank, min(wanted, _GROWTH * spent) if spent else wanted)
    # Of few compounds a round does not hold more than their replicates.
    per_round = min(capacity.per_round, capacity.max_replicates * candidates.n_rows)
    rounds = max(math.ceil(2 * rank / per_round), round(_LONGER * spent / per_round))
    size = per_round * rounds
    if wanted:
        last = state.last
        # One that should have been the last and was not is followed by one with more room.
        again = last is not None and last.numbers["measurements"] % per_round > 0
        size = min(size, max(2 * wanted if again else wanted, rank))
    return size if capacity.budget is None else min(size, capacity.budget - spent)


def _issued(
    state: State,
    candidates: ProjectedFeatures,
    design: Design,
    directions: Rows | None,
    criterion: str,
    size: int,
    report: Report,
    way: Way = CAREFUL,
) -> Allocation:
    capacity = state.problem.capacity
    most = None
    if capacity is not None:
        per_round = min(capacity.per_round, capacity.max_replicates * candidates.n_rows)
        most = capacity.max_replicates * math.ceil(size / per_round)

    def whole(n: int, most: int | None) -> Rounded:
        return way.whole(design, candidates, n, directions=directions, most=most, report=report)

    def pairs(most: int | None) -> Rounded:
        own = [of[candidates.rows] for of in state.problem.lacking]
        own = [of for of in own if of.any()]
        return of_classes(lambda n: in_pairs(whole, n, most, state.problem.repeats), size, most, own)

    try:
        rounded = pairs(most)
    except AssayPilotError:
        # So few replicates of each tell too little: the lab takes more rounds for them.
        rounded = pairs(None)
    order = np.argsort(candidates.rows[rounded.support])
    budget = state.problem.budget
    return Allocation(
        phase=state.phase + 1,
        arms=candidates.rows[rounded.support][order],
        counts=rounded.counts[order].astype(np.intp),
        radius=math.inf,
        certificate=Certificate(criterion, design.value, design.lower_bound),
        cut_to_budget=budget is not None and size == budget - state.spent,
    )
