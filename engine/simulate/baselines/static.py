"""Baselines that fix their design beforehand, static G, static XY and uniform measurement of all; and XY-Adaptive.

What a fixed design's pooled estimate proves, for each goal: members and non-members that bounds at one level leave.

The weights are fixed before the first value and only the number of measurements grows, so the pooled least-squares
estimate at look t is Gaussian around the truth; the errors of the looks, delta / (t (t + 1)), sum to delta.

Static designs: the G-optimal or the XY-optimal weights for the whole run, for comparison with adaptive ones.

Sources: Soare et al. (2014) G- and XY-allocation; RAGE, appendix F (growing phases, union-bound test at every look).
The greedy allocation of Soare's experiments is replaced by the optimal design it approaches.

XY-Adaptive: phases on the differences of those still in, each until the worst variance is a tenth of the last one's.
Source: Soare et al., section 5, with alpha = 0.1 and compounds discarded for good at the end of a phase, as in the
experiments there and in RAGE (appendix F). The first phase is compared with a variance of 1 / (d (d + 1) + 1). Every
phase forgets the ones before.
Ours: the optimal design, rounded as RAGE's is, in place of the greedy choice that approaches it, and bounds whose
errors sum to delta over the phases.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import replace
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...arrays import Flags, Floats, Ints
from ...domain.features import outside_span
from ...domain.goals import AllEpsilonBest, Best, ParetoSet
from ...strategies.designs import fit_norms, g_design, table, xy_design
from ...strategies.fixed_pool import Fit, absorbed, best_guess, decided, empty_sums, fitted
from ...strategies.linfact.linfact import sort_by_means
from ...strategies.phased import number, whole
from ...strategies.protocol import (
    NOT_ESTIMABLE,
    UNDECIDED,
    Allocation,
    Arrays,
    Certificate,
    Decision,
    Outcome,
    Parameter,
    Problem,
    State,
    StrategyInfo,
)
from ...strategies.rage.phase import first_of_equals
from ...strategies.rage.rage import Rage
from ...system.progress import Report, silent
from . import AT_BUDGET, Baseline

_BLOCK = 256


class Proven(NamedTuple):
    """Flags over the rows."""

    ins: Flags
    outs: Flags


def look_log(comparisons: int, look: int, delta: float) -> float:
    """log(M t (t + 1) / delta) for M one-sided comparisons at look t."""
    return math.log(max(comparisons, 1) * look * (look + 1) / delta)


def by_means(goal: AllEpsilonBest, mean: Floats, half: Floats) -> Proven:
    """All epsilon-best from intervals of single means (LinFACT Algorithm 3 without phases)."""
    low, high = mean - half, mean + half
    found = sort_by_means(low, high, float(high.max()), float(low.max()), goal)
    return Proven(found.good, found.bad)


def by_pairs(goal: AllEpsilonBest, fit: Fit, rows: Ints, spread: float) -> Proven:
    """All epsilon-best from bounds of differences, ``spread`` times their standard error at a noise SD of 1.

    Out: some j is better by more than epsilon. In: every j is surely better by at most epsilon + slack.
    """
    mean = fit.means(rows)
    ins, outs = np.ones(len(rows), dtype=bool), np.zeros(len(rows), dtype=bool)
    for start in range(0, len(rows), _BLOCK):
        part = slice(start, start + _BLOCK)
        ahead = mean - mean[part, None]
        width = spread * _distances(fit, rows[part], rows)
        outs[part] = (ahead - width > goal.epsilon).any(axis=1)
        ins[part] = (ahead + width <= goal.epsilon + goal.slack).all(axis=1)
    return Proven(ins & ~outs, outs)


def _distances(fit: Fit, rows: Ints, others: Ints) -> Floats:
    """||x_i - x_j||_{V^-1} of every row and every other ``(len(rows), len(others))``; infinite where not estimable."""
    known = np.isfinite(fit.half_norms(rows)), np.isfinite(fit.half_norms(others))
    u, v = fit.points(rows), fit.points(others)
    squares = (u**2).sum(axis=1)[:, None] + (v**2).sum(axis=1) - 2.0 * (u @ v.T)
    found: Floats = np.sqrt(np.maximum(squares, 0.0))
    found[rows[:, None] == others] = 0.0
    # The difference of two rows can be estimable where neither is.
    for place in np.flatnonzero(~known[0]):
        found[place] = fit.difference_norm(others, int(rows[place]))
    found[np.ix_(known[0], ~known[1])] = math.inf
    return found


def best_by_pairs(goal: Best, fit: Fit, rows: Ints, spread: float) -> Proven:
    """Return the best, where the leader is surely no worse than any other (by more than slack); else nothing."""
    mean = fit.means(rows)
    leader = int(np.argmax(mean))
    width = spread * fit.difference_norm(rows, int(rows[leader]))
    # Equal rows differ by nothing and are no rivals.
    sure = bool(np.all(np.delete(mean[leader] - mean - width + goal.slack >= 0, leader)))
    ins = np.zeros(len(rows), dtype=bool)
    ins[leader] = sure
    return Proven(ins, ~ins & sure)


def pareto_by_means(goal: ParetoSet, mean: Floats, half: Floats) -> Proven:
    """Return the Pareto set from intervals of single means ``(n_endpoints, m)``.

    Out: some j is surely better in every endpoint. In: no j can be better by more than the margin in every endpoint.
    """
    low, high = mean - half, mean + half
    m = mean.shape[1]
    ins, outs = np.ones(m, dtype=bool), np.zeros(m, dtype=bool)
    margins = np.asarray(goal.margins)[:, None, None]
    for start in range(0, m, _BLOCK):
        part = slice(start, min(start + _BLOCK, m))
        surely = (low[:, None, :] > high[:, part, None]).all(axis=0)
        outs[part] = np.any(surely, axis=1)
        rival = (high[:, None, :] > low[:, part, None] + margins).all(axis=0)
        own = np.arange(part.start, part.stop)
        rival[own - part.start, own] = False
        ins[part] = ~rival.any(axis=1)
    return Proven(ins & ~outs, outs)


def comparisons(problem: Problem, *, pairs: bool) -> int:
    """Return the number of one-sided statements of the rules above about all compounds in question."""
    n = int(problem.wanted.sum())
    return n * (n - 1) if pairs else 2 * n * problem.n_endpoints


_LARGEST = math.log(1e15)
"""Totals beyond this are no counts any more."""


class Shares(NamedTuple):
    """The weights of a run."""

    arms: Ints
    """Ascending."""
    weights: Floats
    certificate: Certificate


def run_parameters(growth: float) -> tuple[Parameter, ...]:
    """Return what every run of one design has: when it looks, and what it answers at the budget."""
    return (
        Parameter("growth", growth, "measurements grow by this factor from look to look (RAGE, appendix F)"),
        Parameter("first", None, "measurements before the first look; none: two for every effect"),
        AT_BUDGET,
    )


class StaticRun(Baseline, ABC):
    """Measures by fixed weights and looks at growing intervals, by bounds at delta / (t (t + 1))."""

    pairs = False
    """Whether all epsilon-best is decided by bounds of differences, instead of those of single means."""

    def check(self, problem: Problem) -> dict[str, Any]:
        """Return the parameters with their defaults; AssayPilotError for one out of range."""
        given = super().check(problem)
        number("growth", given["growth"], above=1.0)
        if given["first"] is not None:
            whole("first", given["first"])
        return given

    def memory(self, problem: Problem) -> Arrays:
        """Return the sums of no measurement, and no requests."""
        return {**empty_sums(problem), "asked": np.zeros(problem.n_arms)}

    @abstractmethod
    def shares(self, problem: Problem, measurable: Ints, targeted: Ints, report: Report) -> Shares:
        """Return the weights over what can be measured, for the target compounds; they do not depend on values."""

    def comparisons(self, problem: Problem) -> int:
        """Return the number of simultaneous one-sided statements."""
        return comparisons(problem, pairs=problem.goal.name == "best" or self.pairs)

    def ask(self, state: State, report: Report = silent) -> Allocation:
        """Return what brings the requested measurements nearest to the weights at the next look's total."""
        problem, given = state.problem, self.parameters(state.problem)
        # Compounds that are out count too: one design serves the whole run.
        targeted = np.flatnonzero(problem.wanted & (state.status != NOT_ESTIMABLE))
        measurable = np.flatnonzero(problem.measurable)
        plan = self.shares(
            problem,
            measurable,
            targeted[~outside_span(problem.features, table(problem.features, measurable).basis, targeted)],
            report,
        )
        requested = state.memory["asked"]
        before = float(requested.sum())
        first = given["first"] or 2 * table(problem.features, measurable).rank
        total = min(math.log(first) + state.phase * math.log(float(given["growth"])), _LARGEST)
        needed = max(math.ceil(math.exp(total) * (1.0 - 1e-12) - before), 1)
        left = needed if problem.budget is None else min(needed, problem.budget - state.spent)
        missing = np.maximum(plan.weights * (before + left) - requested[plan.arms], 0.0)
        exact = missing * (left / float(missing.sum()))
        counts = np.floor(exact + 1e-9)
        # Ties between equal remainders in an order drawn once, so that no compound is preferred by its name.
        lot = np.random.default_rng(problem.seed).permutation(problem.n_arms)[plan.arms]
        order = np.lexsort((lot, -np.round(exact - counts, 9)))
        counts[order[: round(left - counts.sum())]] += 1
        return Allocation.after(state, plan.arms, counts, math.inf, plan.certificate, cut=left < needed)

    def decide(self, state: State, outcome: Outcome) -> Decision | None:
        """Return what all measurements so far prove; at the end of the budget, on request, what they suggest."""
        problem, given = state.problem, self.parameters(state.problem)
        rows = np.flatnonzero(state.active)
        if not (outcome.counts > 0).any() or not len(rows):
            return None
        requested = state.memory["asked"].copy()
        requested[outcome.allocation.arms] += outcome.allocation.counts
        memory: dict[str, NDArray[Any]] = {**absorbed(state.memory, problem, outcome), "asked": requested}
        fits = [fitted(problem.features, *sums) for sums in zip(memory["information"], memory["moment"], strict=True)]
        level = look_log(self.comparisons(problem), state.phase + 1, problem.delta)
        spreads = np.array(problem.noise)[:, None] * math.sqrt(2.0 * level)
        half = spreads * np.array([fit.half_norms(rows) for fit in fits])
        mean = np.array([fit.means(rows) for fit in fits])
        known = np.isfinite(half)
        proven = self._proven(problem, fits[0], rows, np.where(known, mean, 0.0), half, float(spreads[0, 0]))
        undecided = state.status[rows] == UNDECIDED
        ins, outs = proven.ins & undecided, proven.outs & undecided
        over = problem.budget is not None and problem.budget - outcome.spent < 1
        if over and given["at_budget"] == "guess":
            sure = known.all(axis=0)
            if sure.any():
                guess = best_guess(problem, mean[:, sure], rows[sure])
                open_now = (undecided & ~ins & ~outs)[sure]
                ins[np.flatnonzero(sure)[guess & open_now]] = True
                outs[np.flatnonzero(sure)[~guess & open_now]] = True
        return decided(
            state,
            outcome,
            ins=rows[ins],
            outs=rows[outs],
            rows=rows,
            estimate=np.where(known, mean, np.nan),
            half=half,
            numbers={"measurements": float(outcome.counts.sum()), "level": level},
            memory=memory,
        )

    def _proven(self, problem: Problem, fit: Fit, rows: Ints, mean: Floats, half: Floats, spread: float) -> Proven:
        goal = problem.goal
        if isinstance(goal, Best):
            return best_by_pairs(goal, fit, rows, spread)
        if isinstance(goal, ParetoSet):
            return pareto_by_means(goal, mean, half)
        assert isinstance(goal, AllEpsilonBest)
        return by_pairs(goal, fit, rows, spread) if self.pairs else by_means(goal, mean[0], half[0])


_GAP = 1e-2
_SOURCE = "Soare et al. (2014); RAGE, appendix F"


def _info(name: str, title: str, source: str, *, pareto: bool = False) -> StrategyInfo:
    return StrategyInfo(
        name=name,
        version=1,
        title=title,
        goals=("epsilon-best", "pareto", "best") if pareto else ("epsilon-best", "best"),
        parameters=run_parameters(1.35),
        guarantee="with the stated confidence what is decided before the budget ends is right",
        source=source,
        baseline=True,
        endpoints=(1, None if pareto else 1),
    )


class StaticG(StaticRun):
    """One G-optimal design for the whole run."""

    info: ClassVar[StrategyInfo] = _info(
        "static-g", "Static G design", "Soare et al. (2014); RAGE, appendix F", pareto=True
    )

    def shares(self, problem: Problem, measurable: Ints, targeted: Ints, report: Report) -> Shares:
        """Return D-optimal weights over what can be measured, which are G-optimal for it."""
        made = g_design(problem.features, measurable, gap=_GAP, report=report)
        design = made.design
        return Shares(measurable[design.support], design.weights, Certificate("g", design.value, design.lower_bound))


class StaticXY(StaticRun):
    """One XY-optimal design for the differences of all compounds in question, for the whole run."""

    pairs = True
    info: ClassVar[StrategyInfo] = _info("static-xy", "Static XY design", _SOURCE)

    def shares(self, problem: Problem, measurable: Ints, targeted: Ints, report: Report) -> Shares:
        """Return XY-optimal weights for all differences; of equal or single compounds those of a G design."""
        features = problem.features
        if len(first_of_equals(features, targeted)[0]) < 2:
            made = g_design(features, measurable, gap=_GAP, report=report)
        else:
            made = xy_design(features, measurable, targeted, gap=_GAP, report=report)
        design = made.design
        return Shares(
            measurable[design.support], design.weights, Certificate(design.criterion, design.value, design.lower_bound)
        )


class Uniform(StaticRun):
    """Every compound that can be measured, in turn and in an order drawn once; the additive model estimates."""

    info: ClassVar[StrategyInfo] = _info(
        "uniform", "Uniform", "the usual comparison; stopping as in RAGE, appendix F", pareto=True
    )

    def shares(self, problem: Problem, measurable: Ints, targeted: Ints, report: Report) -> Shares:
        """Return equal weights."""
        n = len(measurable)
        weights = np.full(n, 1.0 / n)
        norms = fit_norms(problem.features, measurable, weights, targeted)
        rank = float(table(problem.features, measurable).rank)
        return Shares(measurable, weights, Certificate("g", float((norms**2).max(initial=rank)), rank))


class XYAdaptive(Rage):
    """RAGE whose phases end by their variance instead of their half-width."""

    info: ClassVar[StrategyInfo] = replace(
        Rage.info,
        name="xy-adaptive",
        title="XY-Adaptive",
        parameters=(*Rage.info.parameters, Parameter("alpha", 0.1, "worst variance of a phase over that of the last")),
        source="Soare et al. (2014), section 5",
        baseline=True,
    )

    def check(self, problem: Problem) -> dict[str, Any]:
        """Return the parameters; AssayPilotError for one out of range."""
        given = super().check(problem)
        number("alpha", given["alpha"], below=1.0)
        return given

    def first_radius(self, problem: Problem) -> float:
        """Return the half-width of every difference after the first phase."""
        return self._half_width(problem, 1)

    def radius(self, state: State, phase: int) -> float:
        """Return the half-width of a phase's variance; with slack not below what ends the search."""
        goal, own = state.problem.goal, self._half_width(state.problem, phase)
        assert isinstance(goal, Best)
        return max(own, super().radius(state, phase)) if goal.slack > 0 else own

    def _half_width(self, problem: Problem, phase: int) -> float:
        d = table(problem.features, np.flatnonzero(problem.measurable)).rank
        variance = float(self.parameters(problem)["alpha"]) ** phase / (d * (d + 1) + 1)
        return problem.noise[0] * math.sqrt(2.0 * self._log(problem, phase) * variance)
