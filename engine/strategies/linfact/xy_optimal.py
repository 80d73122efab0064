"""LinFACT with XY-optimal designs: the measurements go where differences between compounds need them.

Source: "Identifying all epsilon-best arms in linear bandits", section 4.1 (Algorithms 2 to 4, eq. 22, 23). As printed,
eq. 22 bounds every difference by C_r while the rule spends 2 C_r on it, and counts each pair twice; ``linfact-xy``
takes the measurements that its rule needs.

How far behind the best each compound is follows from bounds on differences; the matrix of all pairs is never held. The
difference of i and j is known to within D_ij = s ||a_i - a_j||_{V^-1}. What decides about i are two numbers: the
largest mu_j - mu_i - D_ij (so far behind it is at least) and the largest mu_j - mu_i + D_ij (at most).
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import ClassVar, Literal, NamedTuple

import numpy as np

from ...arrays import Flags, Floats, Ints
from ...design import Pairs, ceilings, round_design
from ...design.criteria import inverse_information
from ...design.rounding import Rounded
from ...domain.features import OUTSIDE_TOLERANCE, ProjectedFeatures
from ...models.ols import Estimate
from ...system.progress import Report, silent
from ..designs import Plan, fit, remembered, saturated, table, xy_design
from ..phased import fewest, rounded_up
from ..protocol import Allocation, Arrays, Certificate, Decision, Outcome, Problem, State, StrategyInfo
from .linfact import DECIDE, FIRST_RADIUS, GAP, LinFact, Sorted, goal_of
from .planning import cut_to, design_rows, phase_design

_ALL = 4096
"""Up to so many arms all pairs are compared; above, all arms with those that can matter most."""
_STRONGEST = 1024
_ENTRIES = 2_000_000
"""Pairs held at once."""
_DIRECT = 20_000
"""Differences of rows, in entries, up to which they are taken one by one, which keeps all digits."""
_PLENTY = 20
"""Measurements per compound of a design from which rounding up costs next to nothing."""
_TRIES = 5
"""Numbers of measurements for which a rounded design is tried, before rounding up."""
_EXCHANGED = 1500
"""Arms up to which single measurements are moved until the rounded design is as good as it gets."""
_NO_ARMS = np.zeros(0, dtype=np.intp)


@dataclass(frozen=True, slots=True)
class Differences:
    """Estimated differences of some arms in a phase, with half-widths."""

    mean: Floats
    """``(n,)``, of what was measured; the difference of two is known when they are of one group."""
    seen: Floats
    """``(n, rank)``: ||seen_i - seen_j|| is the standard error of a difference at a noise SD of 1."""
    group: Ints
    """``(n,)``: 0 for arms in the span of what was measured; others share a number when they differ within it."""
    spread: float
    """Half-width over standard error at a noise SD of 1."""
    promised: float = 0.0
    """Half-widths below this are taken to be this."""
    own: float = 0.0
    """The half-width of an arm's difference to itself: 0, but for the rule as printed."""

    @classmethod
    def of(cls, fit: Estimate, arms: Ints, spread: float, promised: float = 0.0, own: float = 0.0) -> Differences:
        """Return the differences of arms by a fit."""
        factor = fit.basis @ np.linalg.cholesky(fit.inverse) if fit.rank else fit.basis
        seen = np.empty((len(arms), fit.rank))
        for start in range(0, len(arms), 65_536):
            rows = arms[start : start + 65_536]
            seen[start : start + 65_536] = fit.features.dense(rows) @ factor
        return cls(fit.means(arms), seen, _groups(fit, arms), spread, promised, own)

    @classmethod
    def independent(
        cls, means: Floats, counts: Floats, spread: float, promised: float = 0.0, own: float = 0.0
    ) -> Differences:
        """Return the differences of measured arms that are as many as the effects: all independent."""
        return cls(means, np.diag(1.0 / np.sqrt(counts)), np.zeros(len(means), dtype=np.intp), spread, promised, own)

    def half(self, first: Ints, second: Ints) -> Floats:
        """Return D of every pair of one list and another, ``(len(first), len(second))``."""
        a, b = self.seen[first], self.seen[second]
        if a.shape[0] * b.size <= _DIRECT:
            difference = a[:, None, :] - b[None, :, :]
            squares = np.einsum("ijk,ijk->ij", difference, difference)
        else:
            centre = b.mean(axis=0)
            a, b = a - centre, b - centre
            squares = np.einsum("ij,ij->i", a, a)[:, None] + np.einsum("ij,ij->i", b, b) - 2.0 * (a @ b.T)
            np.maximum(squares, 0.0, out=squares)
        half: Floats = np.sqrt(squares, out=squares)
        half *= self.spread
        if self.promised > 0.0:
            half[half <= self.promised * (1.0 + 1e-9)] = self.promised
        if self.group.any():
            half[self.group[first][:, None] != self.group[second]] = np.inf
        half[first[:, None] == second] = self.own
        return half


class Behind(NamedTuple):
    """How far each arm is behind the best of some arms, in the model's scale."""

    least: Floats
    """``(n,)``, at least 0: surely so far behind."""
    most: Floats
    """``(n,)``: surely no farther behind; infinite when it cannot be compared with some arm."""
    most_known: Floats
    """``(n,)``: the same against arms of its own group only."""


def behind(differences: Differences) -> Behind:
    """Return the bounds of every arm against all others.

    With very many arms ``most`` may be larger and ``least`` smaller.

    They hold all the same: above ``_ALL`` arms, only the strongest are compared one by one, and the rest is bounded by
    D_ij <= s ||a_i|| + s ||a_j|| together.
    """
    n = len(differences.mean)
    mean, group = differences.mean, differences.group
    rivals = np.arange(n)
    rest = np.zeros(0, dtype=np.intp)
    reach = np.zeros(0)
    if n > _ALL:
        reach = differences.spread * np.linalg.norm(differences.seen, axis=1)
        strong = np.zeros(n, dtype=bool)
        strong[np.argsort(-mean, kind="stable")[:_STRONGEST]] = True
        strong[np.argsort(-(mean + reach), kind="stable")[:_STRONGEST]] = True
        rivals, rest = np.flatnonzero(strong), np.flatnonzero(~strong)
    least, most, known = np.zeros(n), np.zeros(n), np.zeros(n)
    step = max(1, _ENTRIES // max(len(rivals), 1))
    for start in range(0, n, step):
        rows = np.arange(start, min(start + step, n))
        half = differences.half(rows, rivals)
        ahead = mean[rivals] - mean[rows, None]
        least[rows] = np.maximum((ahead - half).max(axis=1), 0.0)
        ahead += half
        most[rows] = ahead.max(axis=1)
        if group.any():
            ahead[np.isinf(half)] = -np.inf
        known[rows] = ahead.max(axis=1)
    if len(rest):
        shared = group[rest] == 0
        farthest = float((mean[rest] + reach[rest])[shared].max(initial=-np.inf))
        highest = float(mean[rest][shared].max(initial=-np.inf))
        bound = np.maximum(farthest - mean + reach, highest - mean + differences.promised)
        known = np.maximum(known, bound)
        most = np.maximum(most, bound if shared.all() else np.inf)
    # An arm is not behind itself, but rounding can suggest it.
    return Behind(least, np.maximum(most, differences.own), np.maximum(known, differences.own))


def _groups(fit: Estimate, arms: Ints) -> Ints:
    """0 for estimable arms; one number for arms whose parts outside of what was measured are equal."""
    outside = np.flatnonzero(~fit.estimable(arms))
    group = np.zeros(len(arms), dtype=np.intp)
    if len(outside):
        parts = fit.features.dense(arms[outside]) @ fit.outside
        scale = OUTSIDE_TOLERANCE * max(float(np.abs(parts).max()), 1e-300)
        group[outside] = 1 + np.unique(np.round(parts / scale), axis=0, return_inverse=True)[1].ravel()
    return group


def pair_log(n_arms: int, phase: int, delta: float) -> float:
    """Return log(K (K - 1) r (r + 1) / delta): two sides of K (K - 1) / 2 differences in every phase r."""
    return math.log(max(n_arms * (n_arms - 1), 1) * phase * (phase + 1) / delta)


class LinFactXY(LinFact):
    """All epsilon-best compounds by bounds on differences; those of phase r are within 2 C_r."""

    info: ClassVar[StrategyInfo] = StrategyInfo(
        name="linfact-xy",
        slow=True,
        version=1,
        title="LinFACT-XY",
        goals=("epsilon-best",),
        parameters=(DECIDE, FIRST_RADIUS, GAP),
        guarantee=(
            "with the stated confidence every compound within epsilon is returned "
            "and none worse than epsilon + slack, if the substituent effects add up; "
            "its bounds are of each compound's distance from the best"
        ),
        source="LinFACT, section 4, with the measurements that its rule needs",
        any_plan=True,
        noise_bound=True,
    )
    planned_share: ClassVar[float] = 2.0
    """The half-width a difference is measured to, in units of the radius; the rule spends 2."""
    own_share: ClassVar[float] = 0.0
    """Half-width that the planned rule takes for a compound's difference to itself, in units of the radius."""

    def spread_log(self, problem: Problem, phase: int) -> float:
        """Return log(K (K - 1) r (r + 1) / delta)."""
        return pair_log(int(problem.wanted.sum()), phase, problem.delta)

    def wells(self, state: State, radius: float, phase: int) -> float:
        """Return measurements per unit of the design's value: 2 sigma^2 / (2 C)^2 log(K (K - 1) r (r+1) / delta)."""
        return super().wells(state, self.planned_share * radius, phase)

    def widest(self, problem: Problem) -> float:
        """Return the radius at which a first phase takes about 2 d measurements, by a design of value 2 d.

        That is the least value for d compounds that share no effect; most tables have a somewhat larger one.
        """
        return math.sqrt(2.0) / self.planned_share * super().widest(problem)

    def memory(self, problem: Problem) -> Arrays:
        """For each arm the bounds of its difference to another (``anchor``) from when both were last measured."""
        n = problem.n_arms
        return {
            "anchor": np.full(n, -1, dtype=np.intp),
            "above_anchor_least": np.full(n, -np.inf),
            "above_anchor_most": np.full(n, np.inf),
        }

    def ask(self, state: State, report: Report = silent) -> Allocation:
        """Return the next phase: eq. 22 with the achieved value of the rounded design."""
        problem = state.problem
        phase = state.phase + 1
        radius = self.radius(state, phase)
        rows, targets = design_rows(state)
        compared = table(problem.features, rows if targets is None else targets, None if targets is None else rows)
        independent = targets is None and compared.n_rows == compared.rank > 1
        if not independent and _all_equal(compared):
            # Nothing to separate: one measurement of them is enough.
            report(1.0, "nothing to compare")
            one = rows[:1]
            return Allocation(phase, one, np.ones(1, dtype=np.intp), radius, Certificate("xy", 0.0, 0.0))
        wells = self.wells(state, radius, phase)
        plan = phase_design(state, wells, float(self.parameters(problem)["gap"]), xy_design, report)
        candidates, design = plan
        support, counts = _rounded(plan, compared.rows, wells)
        counts = rounded_up(counts, problem.repeats)
        budget = problem.budget
        cut = budget is not None and counts.sum() > budget - state.spent
        if cut and budget is not None:
            support, counts = design.support, cut_to(candidates, design, budget - state.spent)
            pairs = Pairs(candidates.onto(compared.rows))
            radius *= math.sqrt(wells * _value(candidates, pairs, support, counts))
        certificate = Certificate("xy", design.value, design.lower_bound)
        return Allocation.after(state, candidates.rows[support], counts, radius, certificate, cut=bool(cut))

    def decide(self, state: State, outcome: Outcome) -> Decision | None:
        """Decide out when some active arm is surely more than epsilon better; in when none can be.

        Bounds shown: how far behind the best an arm is at least and at most, below the best estimate; of an arm with no
        estimate, none. Against other arms that cannot be compared with it no arm is in, whatever is shown.
        """
        problem, goal = state.problem, goal_of(state.problem)
        measured = np.flatnonzero(outcome.counts[0] > 0)
        active = np.flatnonzero(state.active)
        if not len(measured) or not len(active):
            return None
        differences = self._differences(state, outcome, measured, active)
        known = differences.group == 0
        leader = int(np.argmax(np.where(known, differences.mean, -np.inf)))
        to_leader = differences.half(np.arange(len(active)), np.array([leader]))[:, 0]
        to_leader[leader] = 0.0
        found = behind(differences)
        above = differences.mean - differences.mean[leader]
        lost = _lost_bounds(state, active, known, above - to_leader, above + to_leader)
        found = _with_lost(found, lost, above, to_leader)
        bad = found.least > goal.epsilon
        good = ~bad & (found.most <= goal.epsilon + goal.slack)
        top = float(differences.mean[leader]) if known.any() else 0.0
        spread = np.full((3, 1, problem.n_arms), np.nan)
        spread[0, 0, active] = np.where(known, differences.mean, np.nan)
        spread[1, 0, active] = np.where(known, top - found.most_known, -np.inf)
        spread[2, 0, active] = np.where(known, top - found.least, np.inf)
        sorted_arms = Sorted(good, bad, found.least > 0.0, top - goal.epsilon, top - goal.epsilon)
        numbers = {"widest_half_width": float(to_leader.max())}
        decision = self.decision(state, outcome, active, sorted_arms, spread, numbers)
        memory = _remembered_bounds(state, active, known, leader, lost, above - to_leader, above + to_leader)
        return replace(decision, memory=memory)

    def _differences(self, state: State, outcome: Outcome, measured: Ints, active: Ints) -> Differences:
        problem = state.problem
        counts, means = outcome.counts[0, measured], outcome.means[0, measured]
        spread = problem.noise[0] * math.sqrt(2.0 * self.spread_log(problem, state.phase + 1))
        promised = own = 0.0
        if self.parameters(problem)["decide"] == "planned" and outcome.complete:
            radius = outcome.allocation.radius
            promised, own = 2.0 * radius, self.own_share * radius
        if saturated(problem.features, measured, active):
            return Differences.independent(means, counts, spread, promised, own)
        return Differences.of(fit(problem.features, measured, counts, means), active, spread, promised, own)


class LinFactXYAsPrinted(LinFactXY):
    """LinFACT-XY as its paper prints it: every difference within C_r, where the rule needs 2 C_r."""

    info: ClassVar[StrategyInfo] = StrategyInfo(
        name="linfact-xy-as-printed",
        slow=True,
        version=1,
        title="LinFACT-XY, as printed",
        goals=("epsilon-best",),
        parameters=(DECIDE, FIRST_RADIUS, GAP),
        guarantee=LinFactXY.info.guarantee + "; about four times the measurements that this needs",
        source="LinFACT, section 4, eq. 22",
        any_plan=True,
    )
    planned_share: ClassVar[float] = 1.0
    own_share: ClassVar[float] = 2.0

    def spread_log(self, problem: Problem, phase: int) -> float:
        """Return log(2 K (K - 1) r (r + 1) / delta), eq. 22: each pair counted twice."""
        return math.log(2.0) + super().spread_log(problem, phase)


def _all_equal(rows: ProjectedFeatures) -> bool:
    """Return whether all rows are one and the same."""
    if rows.n_rows == 1:
        return True
    if rows.rank > 1:
        few = rows.coordinates(np.arange(min(rows.n_rows, 64)))
        if not np.allclose(few, few[0], rtol=0.0, atol=1e-9 * float(np.abs(few).max())):
            return False
    every = rows.coordinates()
    return bool(np.allclose(every, every[0], rtol=0.0, atol=1e-9 * float(np.abs(every).max())))


def _value(candidates: ProjectedFeatures, pairs: Pairs, support: Ints, counts: Ints) -> float:
    """Return the largest ||y||^2_{V^-1} over the pairs for V of the counts."""
    used = counts > 0
    inverse = inverse_information(candidates.coordinates(support[used]), counts[used].astype(float))
    return math.inf if inverse is None else float(pairs.find(inverse)[1][0])


def _rounded(plan: Plan, compared: Ints, wells: float) -> tuple[Ints, Ints]:
    """Return positions and whole counts for which every difference keeps the promise (``wells`` ||y||^2 <= 1).

    Up to 20 measurements per compound the design is rounded to fewer and fewer measurements; above, counts are rounded
    up, which costs at most one measurement per compound.
    """
    candidates, design = plan
    up = np.maximum(ceilings(design.weights, wells * design.value), 1).astype(np.intp)
    if up.sum() >= _PLENTY * len(up):
        return design.support, up

    pairs = Pairs(candidates.onto(compared))
    method: Literal["exchange", "apportion"] = "exchange" if pairs.table.n_rows <= _EXCHANGED else "apportion"

    def whole(n: int) -> Rounded:
        return round_design(design, candidates, n, method=method, directions=pairs, pool=_NO_ARMS)

    def make() -> tuple[Ints, Ints]:
        n = max(math.ceil(wells * design.value * (1.0 - 1e-9)), candidates.rank)
        fewer = fewest(whole, n, int(up.sum()), wells, _TRIES)
        return (design.support, up) if fewer is None else (fewer.support, fewer.counts)

    parts = (candidates.rows, compared, candidates.basis, design.support, design.weights, wells)
    return remembered("rounded pairs", candidates.features, parts, 16 * len(design.support), make)


def _lost_bounds(state: State, active: Ints, known: Flags, least: Floats, most: Floats) -> Floats:
    """For each lost arm the bounds of its mean minus the leader's, ``(2, n_lost)``; infinite when not known.

    ``least`` and ``most`` bound the active means minus the leader's now. What was known of a lost arm is its difference
    to its anchor; the anchor, or any active arm with the same anchor, leads from there to the leader.
    """
    lost = np.flatnonzero(state.lost)
    out = np.vstack([np.full(len(lost), -np.inf), np.full(len(lost), np.inf)])
    if not len(lost):
        return out
    memory = state.memory
    anchor, old_least, old_most = memory["anchor"], memory["above_anchor_least"], memory["above_anchor_most"]
    for position, arm in enumerate(lost):
        by = np.flatnonzero(known & ((anchor[active] == anchor[arm]) | (active == anchor[arm])) & (anchor[arm] >= 0))
        is_anchor = active[by] == anchor[arm]
        from_least = np.where(is_anchor, 0.0, old_least[active[by]])
        from_most = np.where(is_anchor, 0.0, old_most[active[by]])
        out[0, position] = (old_least[arm] - from_most + least[by]).max(initial=-np.inf)
        out[1, position] = (old_most[arm] - from_least + most[by]).min(initial=np.inf)
    return out


def _with_lost(found: Behind, lost: Floats, above: Floats, to_leader: Floats) -> Behind:
    """Return the bounds against lost arms, too; ``lost`` bounds their means minus the leader's."""
    if not lost.size:
        return found
    nearest, farthest = lost[0].max() - above - to_leader, lost[1].max() - above + to_leader
    least = np.where(np.isfinite(nearest), np.maximum(found.least, nearest), found.least)
    return Behind(least, np.maximum(found.most, farthest), np.maximum(found.most_known, farthest))


def _remembered_bounds(
    state: State, active: Ints, known: Flags, leader: int, lost: Floats, least: Floats, most: Floats
) -> Arrays:
    """Return the memory after a phase: active and lost arms get the leader for their anchor."""
    memory = {name: array.copy() for name, array in state.memory.items()}
    if known.any():
        here = active[known]
        memory["anchor"][here] = active[leader]
        memory["above_anchor_least"][here] = least[known]
        memory["above_anchor_most"][here] = most[known]
        reached = np.isfinite(lost[1])
        gone = np.flatnonzero(state.lost)[reached]
        memory["anchor"][gone] = active[leader]
        memory["above_anchor_least"][gone] = lost[0, reached]
        memory["above_anchor_most"][gone] = lost[1, reached]
    return memory
