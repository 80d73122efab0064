"""RAGE: the best of what is wanted, found by measuring what can be measured, with fixed confidence.

Source: "Sequential experimental design for transductive linear bandits", Algorithm 1, appendix B (rounding) and F, with
its slips corrected: rho is the squared norm, the errors of the phases sum to delta, the noise has a size, a tie ends.
"""

from __future__ import annotations

import math
from typing import Any, ClassVar, NamedTuple

import numpy as np

from ...arrays import Flags, Floats, Ints
from ...design import Design
from ...design.pairs import Farthest
from ...domain.features import ProjectedFeatures
from ...domain.goals import Best
from ...models.ols import Estimate
from ...system.progress import Report, silent
from ..designs import fit as fit_measured
from ..designs import table, xy_design
from ..linfact.linfact import largest_radius
from ..linfact.planning import design_rows, in_few_rounds, means_phase
from ..phased import (
    SOFTER,
    Phased,
    inseparable,
    number,
    one_of,
    over_budget,
    settled,
    wider,
)
from ..protocol import (
    UNDECIDED,
    Allocation,
    Arrays,
    Certificate,
    Decision,
    Outcome,
    Parameter,
    Problem,
    State,
    StopReason,
    StrategyInfo,
)
from .phase import (
    GAPS,
    Compared,
    Field,
    away,
    compared,
    compared_now,
    cut,
    effects,
    field_of,
    first_of_equals,
    nothing_compared,
    printed,
    unanswerable,
    whole,
    with_compared,
)

_LESS = 0.95
"""The least step down from a radius that did not end the search."""


def union_log(n_wanted: int, phase: int, delta: float, radii: str = "proven") -> float:
    """Return the logarithm of the confidence bound: errors of all phases sum to delta.

    ``proven``: log(|Z|^2 t (t + 1) / delta), every ordered pair. ``tight``: log((|Z| - 1) t (t + 1) / delta): an error
    needs the best to be beaten by one of the |Z| - 1 others, or to be returned behind one, and both are the same
    one-sided event about that pair. ``as_printed``: log(|Z|^2 t^2 / delta), whose errors sum to 1.64 delta.
    """
    if radii == "as_printed":
        return math.log(n_wanted**2 * phase**2 / delta)
    pairs = n_wanted**2 if radii == "proven" else max(n_wanted - 1, 1)
    return math.log(pairs * phase * (phase + 1) / delta)


class Rage(Phased):
    """The best wanted compound; every phase bounds the differences of those still in, and drops the beaten ones."""

    info: ClassVar[StrategyInfo] = StrategyInfo(
        name="rage",
        slow=True,
        version=1,
        title="RAGE",
        goals=("best",),
        parameters=(
            Parameter(
                "decide",
                "realised",
                "realised: bounds from the measurements that returned; planned: never closer than the plan promised",
            ),
            Parameter(
                "first_radius",
                None,
                "half-width of every difference after the first phase, model scale; none: from noise and slack",
            ),
            Parameter(
                "radii",
                "proven",
                "proven: all ordered pairs in the union; tight: only those with the best, which is enough; "
                "as_printed: as in the paper (errors sum to 1.64 delta, rounding within a tenth by its formula)",
            ),
            Parameter(
                "slack_rule",
                "stated",
                "stated: stop when every difference is known to slack / 2; "
                "tight: when the leader's differences are known to the slack, which is enough",
            ),
            Parameter(
                "gap", None, "how far the design may be from optimal (relative); none: 0.01, for thousands wanted 0.2"
            ),
        ),
        guarantee=(
            "with the stated confidence the compound returned is the best of those wanted (with slack: within slack "
            "of it), if the substituent effects add up"
        ),
        source="RAGE, Algorithm 1",
        any_plan=True,
    )

    def check(self, problem: Problem) -> dict[str, Any]:
        """Return the parameters with their defaults; AssayPilotError for one out of range."""
        given = self.parameters(problem)
        one_of("decide", given["decide"], ("realised", "planned"))
        one_of("radii", given["radii"], ("proven", "tight", "as_printed"))
        one_of("slack_rule", given["slack_rule"], ("stated", "tight"))
        if given["gap"] is not None:
            number("gap", given["gap"], below=1.0)
        if given["first_radius"] is not None:
            number("first_radius", given["first_radius"])
        return given

    def void(self, problem: Problem) -> tuple[str, ...]:
        """Return a warning: the printed radii promise less than they state."""
        if self.parameters(problem)["radii"] == "as_printed":
            return ("with the radii as printed the errors of the phases may sum to 1.64 times delta",)
        return ()

    def memory(self, problem: Problem) -> Arrays:
        """Return which arms were compared with any other."""
        return nothing_compared(problem)

    def adjust(self, state: State, *, measurable: Flags, spent: int) -> State:
        """Return the state when only these arms can be measured.

        One that was compared counts as lost when it runs out.
        """
        return with_compared(super().adjust(state, measurable=measurable, spent=spent))

    def first_radius(self, problem: Problem) -> float:
        """Return the half-width of every difference after the first phase.

        The largest whose first phase still takes about 2 d measurements: 2 rho sigma^2 / C^2 log(..) with rho about
        2 d, as on a full product. With slack it is the last radius times a power of two, without a power of two.
        """
        given = self.parameters(problem)
        if given["first_radius"] is not None:
            return float(given["first_radius"])
        largest = problem.noise[0] * math.sqrt(2.0 * self._log(problem, 1))
        return largest_radius(largest, self._last_radius(problem) or 1.0, _slack(problem) > 0)

    def radius(self, state: State, phase: int) -> float:
        """Return C_t: the first radius halved every phase, with slack not below what ends the search.

        It did not end there when measurements failed, or when some compound cannot be measured any more: then a little
        less, by as much as was missing, since the same again could always miss it.
        """
        radius, finest = state.first_radius * 2.0 ** -(phase - 1), self._last_radius(state.problem)
        last = state.last
        if radius >= finest or last is None or last.radius > finest * (1.0 + 1e-9):
            return max(radius, finest)
        width = last.numbers["widest_half_width"]
        missed = finest / width if width > finest * (1.0 + 1e-9) else 0.0
        return last.radius * min(max(missed**2, math.sqrt(0.5)), _LESS)

    def _last_radius(self, problem: Problem) -> float:
        return _slack(problem) / (2.0 if self.parameters(problem)["slack_rule"] == "stated" else 1.0)

    def _log(self, problem: Problem, phase: int) -> float:
        return union_log(int(problem.wanted.sum()), phase, problem.delta, self.parameters(problem)["radii"])

    def _for_means(self, problem: Problem) -> float:
        """Return how many times a mean's half-width counts, so that means and differences err at most delta together.

        A Gaussian tail is at most half of exp(-x^2 / 2). So |Z| (|Z| - 1) pairs and 2 |Z| sides of means at the
        logarithm of ``proven`` take (|Z| + 1) / (2 |Z|) of a phase's error. ``tight`` leaves half of it to the means,
        whose logarithm is then log(2 |Z| t (t + 1) / delta); the factor is largest in the first phase.
        """
        if self.parameters(problem)["radii"] != "tight":
            return 1.0
        own = math.log(4.0 * int(problem.wanted.sum()) / problem.delta)
        return max(math.sqrt(own / self._log(problem, 1)), 1.0)

    def _wells(self, state: State, radius: float) -> float:
        """Return measurements per unit of variance that reduce a half-width to the radius."""
        log = self._log(state.problem, state.phase + 1)
        return 2.0 * (state.problem.noise[0] / radius) ** 2 * log

    def ask(self, state: State, report: Report = silent) -> Allocation:
        """Return the next phase: an XY design over the differences of those still in, with N_t measurements.

        N_t is the least found whose whole measurements keep the promise, 2 rho sigma^2 log(..) / N_t <= C_t^2 with the
        rho they achieve; as printed it is max(ceil(2 (1 + e) rho sigma^2 / C_t^2 log(..)), 2 support / e).
        """
        problem, phase = state.problem, state.phase + 1
        radius = self.radius(state, phase)
        if state.lost.any():
            gap = self.parameters(problem)["gap"]
            # Every mean within half the radius, hence every difference within the radius.
            wells = 4.0 * self._wells(state, radius)
            return means_phase(state, radius, wells, GAPS[0] if gap is None else float(gap), report)
        field = field_of(state)
        if field.targets.n_rows < 2:
            # Nothing is left to compare: one measurement closes the question.
            return Allocation(phase, field.candidates.rows[:1], np.ones(1, np.intp), math.inf, Certificate("xy", 0, 0))
        wells = self._wells(state, radius)
        design = self._design(state, field, wells, report)
        as_printed = self.parameters(problem)["radii"] == "as_printed"
        if as_printed:
            made = printed(field, design, wells, report)
        else:
            design, made = whole(field, design, wells, report)
        budget = problem.budget
        too_many = budget is not None and made.total > budget - state.spent
        if too_many and budget is not None:
            # Sized before any of its values is seen, so the realised half-widths stay valid.
            made = cut(field, design, budget - state.spent, report)
            radius = math.sqrt(wells * made.value / made.total) * radius
        certificate = Certificate("xy", design.value, design.lower_bound)
        rows = field.candidates.rows[made.support]
        return Allocation.after(state, rows, made.counts, radius, certificate, cut=bool(too_many))

    def _design(self, state: State, field: Field, wells: float, report: Report) -> Design:
        """Return the phase's design; with a capacity one that needs fewer rounds, where that costs little more."""
        given = self.parameters(state.problem)["gap"]
        gap = GAPS[field.many] if given is None else float(given)
        problem, rows, targets = state.problem, field.candidates.rows, field.targets.rows
        free = xy_design(problem.features, rows, targets, gap=gap, report=report)
        if problem.capacity is None or field.many:
            return free.design
        return in_few_rounds(state, problem.capacity, targets, wells, gap, free, xy_design, report).design

    def decide(self, state: State, outcome: Outcome) -> Decision | None:
        """Decide which arms are beaten by one still in; the last one left, or with slack the leader, is the best."""
        problem = state.problem
        measured = np.flatnonzero(outcome.counts[0] > 0)
        active = np.flatnonzero(state.active)
        if not len(measured) or not len(active):
            return None
        phase, given = state.phase + 1, self.parameters(problem)
        first, kind = first_of_equals(problem.features, active)
        rows = active[first]
        fit = fit_measured(problem.features, measured, outcome.counts[0, measured], outcome.means[0, measured])
        spread = problem.noise[0] * math.sqrt(2.0 * self._log(problem, phase))
        promised = outcome.allocation.radius if given["decide"] == "planned" and outcome.complete else 0.0
        found = compared(fit, rows, spread, promised if math.isfinite(promised) else 0.0)
        bounds = _bounds(problem, fit, active, spread)
        verdict = self._verdict(state, fit, rows, found, bounds, spread)
        undecided = state.status[active] == UNDECIDED
        is_first = np.zeros(len(active), dtype=bool)
        is_first[first] = True
        wins = np.isin(kind, verdict.won) & is_first & undecided
        loses = undecided & (verdict.out[kind] | (np.isin(kind, verdict.won) & ~wins))
        return Decision.after(
            state,
            outcome,
            bounds,
            ins=active[wins],
            outs=active[loses],
            numbers={
                "still_in": float((~verdict.out).sum()) if not len(verdict.won) else 1.0,
                "widest_half_width": verdict.width,
                "only_lost": float(verdict.held),
                "every_pair_compared": float(found.exact),
                "measurements": float(outcome.counts.sum()),
            },
            memory=compared_now(state, active[found.known[kind]]),
        )

    def _verdict(
        self, state: State, fit: Estimate, rows: Ints, found: Compared, bounds: Floats, spread: float
    ) -> _Verdict:
        """Return the arms that are out and the best one, given the bounds of those that cannot be measured any more."""
        slack, none = _slack(state.problem), np.zeros(0, dtype=np.intp)
        out = found.out.copy()
        factor = self._for_means(state.problem)
        gone = away(state, factor)
        # The bounds of all phases hold together.
        now = wider(bounds[1, 0, rows], bounds[2, 0, rows], factor)
        before_now = wider(state.low[0, rows], state.high[0, rows], factor)
        low, high = np.maximum(now[0], before_now[0]), np.minimum(now[1], before_now[1])
        width = 0.0 if (~out).sum() < 2 else math.inf
        if width and slack > 0:
            width = self._widest(state.problem, fit, rows[~out], found.leader, spread)
        if gone is not None:
            out |= high < gone.low
        left = np.flatnonzero(~out)
        if not len(left) or (len(left) > 1 and width > self._last_radius(state.problem) * (1.0 + 1e-9)):
            return _Verdict(out, none, width)
        best = int(left[0]) if len(left) == 1 else int(np.flatnonzero(rows == found.leader)[0])
        if gone is not None and gone.high > low[best] + slack * (1.0 + 1e-9):
            return _Verdict(out, none, width, held=True)
        return _Verdict(np.arange(len(rows)) != best, np.array([best]), width)

    def _widest(self, problem: Problem, fit: Estimate, rows: Ints, leader: int, spread: float) -> float:
        """Return the largest half-width that slack limits: of all pairs, or of those with the leader."""
        with_leader = float(fit.difference_norm(leader, rows).max())
        if self.parameters(problem)["slack_rule"] == "tight" or not math.isfinite(with_leader):
            return spread * with_leader
        table = ProjectedFeatures(problem.features, rows, fit.basis)
        return spread * math.sqrt(float(Farthest(table).find(fit.inverse)[1][0]))

    def stop(self, state: State) -> tuple[StopReason, ...]:
        """Stop when the best is found, nothing is left to measure, or the budget is too small for a decision."""
        done = settled(state)
        if done and done[0].name != "decided":
            return done
        stuck = unanswerable(state, _slack(state.problem), self._for_means(state.problem)) or done
        if stuck:
            return stuck
        budget = state.problem.budget
        if budget is not None:
            needed = 1
            if budget - state.spent >= 1 and state.lost.any():
                needed = table(state.problem.features, design_rows(state)[0]).rank
            elif budget - state.spent >= 1:
                needed = effects(field_of(state).targets)
            spent = over_budget(state, needed)
            if spent:
                return spent
        return inseparable(state, self._wells(state, self.radius(state, state.phase + 1)), SOFTER)


def _slack(problem: Problem) -> float:
    assert isinstance(problem.goal, Best)
    return problem.goal.slack


class _Verdict(NamedTuple):
    out: Flags
    """Rows that are not the best."""
    won: Ints
    """Position of the row that is the best; empty while there is none."""
    width: float
    """The largest half-width that slack limits."""
    held: bool = False
    """Some row would be the best, but for those that cannot be measured any more."""


def _bounds(problem: Problem, fit: Estimate, active: Ints, spread: float) -> Floats:
    """Return estimate, low and high of every mean, shown next to the differences that decide; ``(3, 1, n_arms)``."""
    half = spread * fit.half_norms(active)
    known = np.isfinite(half)
    mean = np.where(known, fit.means(active), 0.0)
    out = np.full((3, 1, problem.n_arms), np.nan)
    out[:, 0, active] = np.where(known, mean, np.nan), mean - half, mean + half
    return out
