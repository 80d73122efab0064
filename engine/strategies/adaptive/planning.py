"""Phases of ``adaptive``: each measures a plate that informs most about the comparisons that are still open.

**The rest of a budget** that is smaller than a phase about everything. A phase of few comparisons takes fewer
measurements than there are effects (``Draft.fewest``). So where the budget leaves less than one for every effect, the
comparisons nearest to their limits are planned for alone, as many as what is left is likely to decide; where that
is none, the campaign ends and states what the nearest would take. The phases before it choose the comparisons of a
phase, as always, so nothing of the guarantee changes.

The needs of the open comparisons of one endpoint are those of the estimate so far, the hardest ones alone.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from ...arrays import Floats, Ints
from ...design import Rows
from ...design.criteria import Design
from ...design.multiplicative_xy import fast_xy
from ...design.rounding import Rounded, round_design, without_traces
from ...design.subspace import estimated_span
from ...domain.features import OUTSIDE_TOLERANCE, ProjectedFeatures
from ...errors import AssayPilotError
from ...system.progress import Report, silent
from ..designs import g_design, table
from ..phased import in_pairs
from ..protocol import Allocation, Certificate, State, StopReason
from .evidence import AGAINST, HARDEST, Evidence

_GAP = 0.05
"""How far a phase's design may be from optimal; the next phase's depends on the results of this one."""
ROOM = 1.3
"""A phase takes this many times the measurements that should end the campaign, where those are less than a round."""
NEAR = 8
"""Without a lab's rounds: an end that takes at most so many times what was measured before is in sight."""
_LONGER = 0.15
"""A phase takes about this share of what was measured before, in whole rounds: fewer looks, and designs of more
measurements lose less by being whole numbers; what it costs is that a decision may come some rounds later."""
SHORT = 2.0
"""How many times more than was meant the largest variance of a last phase may be."""
_TRIFLE = 0.1
"""Comparisons that need less than this share of the most need no place in a design."""
_LEAST = 2
"""Measurements of a comparison: one of either."""


class Way(NamedTuple):
    """How a phase is designed, and made whole; a forecast plans many in a quicker way of its own."""

    design: Callable[..., Design]
    """As ``xy_optimal``."""
    whole: Callable[..., Rounded]
    """As ``round_design``."""
    growth: int = 3
    """Without a lab's rounds a phase takes at most so many times what was measured before."""
    parts: int = 1
    """Phases that an end in sight is divided into, without a lab's rounds."""


CAREFUL = Way(fast_xy, round_design)


class Needs(NamedTuple):
    """Open comparisons: mean(first) - mean(second), and the precision each still needs, ``(m,)``."""

    first: Ints
    second: Ints
    precision: Floats
    """One over the standard error that should move its walk to the limit."""


def expected_looks(total: float, per_round: int) -> int:
    """Return how many phases a campaign of so many measurements has, at least 2."""
    spent, looks = 0, 0
    while spent < total and looks < 30:
        spent += per_round * max(1, round(_LONGER * spent / per_round))
        looks += 1
    return max(looks, 2)


def first_phase(state: State, report: Report, *, whole_round: bool = True) -> Allocation:
    """Return a phase for every mean (G-optimal): no comparison is known yet, or none that counts can be measured.

    ``whole_round``: whether it fills a round of the lab even where two measurements for every effect are fewer.
    """
    plan = g_design(state.problem.features, np.flatnonzero(state.problem.measurable), gap=_GAP, report=report)
    draft = Draft(state, plan.candidates, plan.design, None, report)
    size = draft.full(max(4 * plan.candidates.rank, state.spent))
    if not whole_round and not state.spent and state.problem.capacity is not None:
        size = min(size, 2 * plan.candidates.rank)
    return draft.issued("g", size, draft.whole(size))


def next_phase(state: State, needs: Needs, report: Report, way: Way = CAREFUL) -> Allocation:
    """Return the design with the least worst ratio of variance to what is needed (XY).

    As many measurements as it takes.
    """
    draft = drafted(state, needs, report, way)
    return first_phase(state, report) if draft is None else draft.issued("xy", *draft.enough())


def drafted(state: State, needs: Needs, report: Report, way: Way) -> Draft | None:
    """Return that design, not yet in whole measurements; None where no measurement informs about what is needed."""
    problem = state.problem
    candidates = table(problem.features, np.flatnonzero(problem.measurable))
    kept = needs.precision > _TRIFLE * needs.precision.max(initial=0.0)
    x = problem.features.dense(needs.first[kept]) - problem.features.dense(needs.second[kept])
    inside = x @ candidates.basis
    lengths = np.einsum("ij,ij->i", x, x)
    rest = lengths - np.einsum("ij,ij->i", inside, inside)
    estimable = (lengths > 0) & (rest <= OUTSIDE_TOLERANCE * lengths)
    if not estimable.any():
        return None
    directions = Rows(inside[estimable] * (problem.noise[0] * needs.precision[kept][estimable])[:, None])
    design = way.design(candidates, directions, gap=_GAP, report=report)
    return Draft(state, candidates, design, directions, report, way)


@dataclass(frozen=True, slots=True)
class Draft:
    """A design on its way to whole measurements of a phase."""

    state: State
    candidates: ProjectedFeatures
    design: Design
    directions: Rows | None
    """Comparisons over the standard error that each should have: the design's value is their largest variance."""
    report: Report
    way: Way = CAREFUL

    @property
    def per_round(self) -> int:
        """Measurements of a round: of few compounds it does not hold more than their replicates."""
        capacity = self.state.problem.capacity
        assert capacity is not None
        return min(capacity.per_round, capacity.max_replicates * self.candidates.n_rows)

    def full(self, wanted: int) -> int:
        """Return the size of a phase that is not the last: a round of the lab, and two for every effect at least."""
        spent, rank, capacity = self.state.spent, self.candidates.rank, self.state.problem.capacity
        if capacity is None:
            return max(2 * rank, min(wanted, self.way.growth * spent) if spent else wanted)
        rounds = max(math.ceil(2 * rank / self.per_round), round(_LONGER * spent / self.per_round))
        return self._within_budget(self.per_round * rounds)

    def _within_budget(self, size: int) -> int:
        budget = self.state.problem.budget
        return size if budget is None else min(size, budget - self.state.spent)

    def enough(self) -> tuple[int, Rounded]:
        """Return how many measurements move all comparisons to their limits, at most a full phase; and these."""
        room, least = ROOM, 0
        last = self.state.last
        if self.state.problem.capacity is None:
            if self.design.value <= NEAR * self.state.spent:
                room /= self.way.parts
        elif last is not None:
            measured = int(last.numbers["measurements"])
            if measured % self.per_round > 0:
                # One that should have been the last and was not is followed by one with more room; one that decided
                # no arm by a larger one, so that it comes to an end whatever keeps small ones from deciding.
                room *= 2.0
                least = 0 if len(last.ins) + len(last.outs) else 2 * measured
        wanted = math.ceil(min(room * self.design.value, 1e15))
        full = self.full(wanted)
        size = full if wanted >= full else min(full, self.fewest(max(wanted, least)))
        return self.precise(size, full, SHORT / room)

    def precise(self, size: int, full: int, variance: float) -> tuple[int, Rounded]:
        """Return how many measurements, from ``size`` to ``full``, have no larger variance than this; and these.

        Few whole measurements can be much less informative than their share of the design.
        """
        found = self.whole(size)
        while size < full and found.value > variance * size:
            size = min(full, max(size + 1, math.ceil(found.value / variance)))
            found = self.whole(size)
        return size, found

    def fewest(self, wanted: int) -> int:
        """Return at least so many measurements, with which a phase is as informative as that many of the design.

        One for every effect that the design estimates: for a few comparisons these are less than all. Where their
        compounds cannot be measured so often, all effects are estimated, besides what is wanted.
        """
        capacity, rank = self.state.problem.capacity, self.candidates.rank
        assert self.directions is not None
        held = math.inf if capacity is None else capacity.max_replicates * len(self.design.support)
        size = wanted
        while size < rank:
            # Of more measurements fewer weights are traces, and the rest may estimate more effects.
            span = estimated_span(without_traces(self.design, size), self.candidates, self.directions)
            if span is None:
                return rank
            if size > held:
                return rank + wanted
            if span.rank <= size:
                return size
            size = span.rank
        return size

    def whole(self, size: int) -> Rounded:
        """Return so many whole measurements of the design."""
        most = None
        capacity, repeats = self.state.problem.capacity, self.state.problem.repeats
        if capacity is not None:
            most = capacity.max_replicates * math.ceil(size / self.per_round)

        def whole(n: int, most: int | None) -> Rounded:
            directions, report = self.directions, self.report
            return self.way.whole(self.design, self.candidates, n, directions=directions, most=most, report=report)

        try:
            return in_pairs(whole, size, most, repeats)
        except AssayPilotError:
            # So few replicates of each are not enough: the lab takes more rounds for them.
            return in_pairs(whole, size, None, repeats)

    def issued(self, criterion: str, size: int, rounded: Rounded) -> Allocation:
        """Return the phase of these measurements, as many as ``size`` or, in pairs, one fewer."""
        budget, spent = self.state.problem.budget, self.state.spent
        cut = budget is not None and size == budget - spent
        certificate = Certificate(criterion, self.design.value, self.design.lower_bound)
        arms = self.candidates.rows[rounded.support]
        return Allocation.after(self.state, arms, rounded.counts, math.inf, certificate, cut=cut)


class Rest(NamedTuple):
    """Use of the rest of a budget."""

    allocation: Allocation | None
    """A phase of no more than is left; None where that informs about no comparison."""
    needed: int
    """Measurements that the next decision takes."""
    roughly: bool
    """Whether that is what it is likely to take; else it takes at least so many."""


def left_of(state: State) -> int | None:
    """Return what the budget leaves, where that is less than one measurement for every effect.

    None where it is more.
    """
    budget = state.problem.budget
    if budget is None:
        return None
    left = budget - state.spent
    return left if left < rank_of(state) else None


def rank_of(state: State) -> int:
    """Return how many effects can be estimated."""
    return table(state.problem.features, np.flatnonzero(state.problem.measurable)).rank


def rest_of(state: State, needs: Needs | None, left: int, way: Way, report: Report = silent) -> Rest:
    """Return the phase that the rest of the budget is for.

    ``needs``: the open comparisons, None before they are known.
    """
    rank = rank_of(state)
    if needs is None or not len(needs.first) or left < _LEAST:
        return Rest(None, _LEAST if state.phase else rank, roughly=False)
    nearest = np.argsort(needs.precision, kind="stable")
    n, needed = len(nearest), rank
    while n:
        few = nearest[:n]
        draft = drafted(state, Needs(needs.first[few], needs.second[few], needs.precision[few]), report, way)
        if draft is None:
            return Rest(None, rank, roughly=False)
        size = max(math.ceil(min(draft.design.value, 1e15)), 1)
        if size <= left:
            size = draft.fewest(size)
        needed = size
        if size <= left:
            wanted = min(math.ceil(ROOM * draft.design.value), left)
            return Rest(draft.issued("xy", *draft.precise(max(size, wanted), left, SHORT / ROOM)), size, roughly=True)
        n //= 2
    return Rest(None, needed, roughly=True)


def nothing_more(left: int, rest: Rest, open_arms: int) -> StopReason:
    """Return the reason to stop: the budget is spent, or what is left of it allows no decision."""
    numbers = {"left": left, "needed": rest.needed, "undecided": open_arms, "roughly": float(rest.roughly)}
    words = "about" if rest.roughly else "at least"
    text = f"the budget leaves {max(left, 0)} measurements, and one more decision needs {words} {rest.needed}"
    return StopReason("budget", text, numbers)


_RIVALS = 40
"""Compounds that may be the best, by the estimate, that plans are made against."""


@dataclass(frozen=True, slots=True)
class Sides:
    """Conditions for deciding a compound, as differences and limits of walks."""

    out_beyond: float
    """Out (or not the best): farther than this behind the best."""
    in_within: float
    """In: no farther than this behind any arm that may be the best."""
    outs: Callable[[Ints], Floats]
    """Limits of walks of arms against their leaders, ``(looks, arms)``."""
    ins: Callable[[Ints], Floats]
    """The same of arms against rivals."""
    least_gap: float
    """Least distance from a border that is planned for: one of its two sides is farther."""


def needs_of_sides(evidence: Evidence, sides: Sides, leader: int, open_arms: Ints, possible: Ints) -> Needs:
    """Return for every open compound the cheaper of being out and being in, the hardest ones only."""
    pooled = evidence.pooled
    means = pooled.means()
    gap = means[leader] - means[open_arms]
    least = _least_gaps(evidence, leader, open_arms, sides)
    beyond = np.maximum(gap - sides.out_beyond, least)
    to_out = evidence.behind(open_arms).needed(-sides.out_beyond, sides.outs(open_arms), beyond)
    to_out[gap < sides.out_beyond] = np.inf
    own = np.array([leader], dtype=np.intp)
    alone = evidence.pairs(open_arms, own)
    within = np.maximum(sides.in_within - gap, least)[:, None]
    to_in = alone.needed(sides.in_within, sides.ins(open_arms)[:, :, None], within)[:, 0]
    hardest = np.argsort(-np.minimum(to_out, to_in), kind="stable")[:HARDEST]
    arms, least = open_arms[hardest], least[hardest]
    out = to_out[hardest] <= to_in[hardest]
    first, second, precision = [np.full(int(out.sum()), leader)], [arms[out]], [to_out[hardest][out]]
    arms, least = arms[~out], least[~out]
    if len(arms):
        high = means[possible] + 2.0 * evidence.sigma * pooled.half_norms(possible)
        rivals = possible[np.argsort(-high, kind="stable")[:_RIVALS]]
        steps = evidence.pairs(arms, rivals)
        gaps = sides.in_within - (means[rivals] - means[arms][:, None])
        ins = sides.ins(arms)[:, :, None]
        each = steps.needed(sides.in_within, ins, np.maximum(gaps, least[:, None]))
        each[steps.passed(sides.in_within, ins) | (arms[:, None] == rivals)] = 0.0
        worst = np.argsort(-each, axis=1, kind="stable")[:, :AGAINST]
        i, j = np.repeat(np.arange(len(arms)), worst.shape[1]), worst.ravel()
        kept = (each[i, j] > 0.5 * each.max(axis=1)[i]) & (each[i, j] > 0)
        first.append(arms[i[kept]])
        second.append(rivals[j[kept]])
        precision.append(each[i[kept], j[kept]])
    return Needs(np.concatenate(first), np.concatenate(second), np.concatenate(precision))


def needs_of_best(evidence: Evidence, sides: Sides, leader: int, open_arms: Ints) -> Needs:
    """Return for every other compound the cheaper of not being the best and of the leader within its slack."""
    others = open_arms[open_arms != leader]
    means = evidence.pooled.means()
    gap = means[leader] - means[others]
    least = _least_gaps(evidence, leader, others, sides)
    to_out = evidence.behind(others).needed(0.0, sides.outs(others), np.maximum(gap, least))
    near = evidence.behind(others, leader)
    ins = sides.ins(np.array([leader]))
    to_in = near.needed(sides.in_within, ins, np.maximum(gap + sides.in_within, least))
    to_in[near.passed(sides.in_within, ins)] = 0.0
    need = np.minimum(to_out, to_in)
    hardest = np.argsort(-need, kind="stable")[:HARDEST]
    return Needs(np.full(len(hardest), leader), others[hardest], need[hardest])


def _least_gaps(evidence: Evidence, leader: int, arms: Ints, sides: Sides) -> Floats:
    """Return differences from a border below which an estimate cannot tell the side: half of their standard errors."""
    error = evidence.sigma * evidence.pooled.difference_norm(leader, arms)
    half: Floats = np.where(np.isfinite(error), error, 0.0) / 2.0
    return np.maximum(np.maximum(half, sides.least_gap), 1e-9)
