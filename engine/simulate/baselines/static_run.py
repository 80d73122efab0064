"""One design for a whole run: more and more measurements by the same weights, until their bounds prove the answer."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...arrays import Floats, Ints
from ...domain.features import outside_span
from ...domain.goals import AllEpsilonBest, Best, ParetoSet
from ...errors import AssayPilotError
from ...strategies.designs import table
from ...strategies.fixed_pool import (
    Fit,
    absorbed,
    best_guess,
    decided,
    empty_sums,
    fitted,
)
from ...strategies.phased import Phased, number, one_of, settled
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
    StopReason,
)
from ...system.progress import Report, silent
from .static_rules import (
    Proven,
    best_by_pairs,
    by_means,
    by_pairs,
    comparisons,
    look_log,
    pareto_by_means,
)

__all__ = ["Shares", "StaticRun", "run_parameters"]


_LARGEST = math.log(1e15)
"""Totals beyond this are no counts any more."""


class Shares(NamedTuple):
    """The weights of a run."""

    arms: Ints
    """Ascending."""
    weights: Floats
    certificate: Certificate


def run_parameters(growth: float) -> tuple[Parameter, ...]:
    """What every run of one design has: when it looks, and what it answers at the budget."""
    return (
        Parameter("growth", growth, "measurements grow by this factor from look to look (RAGE, appendix F)"),
        Parameter("first", None, "measurements before the first look; none: two for every effect"),
        Parameter(
            "at_budget",
            "undecided",
            "undecided: what the bounds do not prove stays open; guess: the estimates decide it, without a promise",
        ),
    )


class StaticRun(Phased):
    """Measures by fixed weights and looks at growing intervals, by bounds at delta / (t (t + 1))."""

    pairs = False
    """Whether all epsilon-best is decided by bounds of differences, instead of those of single means."""

    def check(self, problem: Problem) -> dict[str, Any]:
        """The parameters with their defaults; AssayPilotError for one out of range."""
        given = self.parameters(problem)
        number("growth", given["growth"], above=1.0)
        one_of("at_budget", given["at_budget"], ("undecided", "guess"))
        first = given["first"]
        if first is not None and (isinstance(first, bool) or not isinstance(first, int) or first < 1):
            raise AssayPilotError(
                f"first must be a whole number of measurements, at least 1, got {first!r}",
                option="--parameter first",
            )
        return given

    def void(self, problem: Problem) -> tuple[str, ...]:
        """A guess at the budget is no proof."""
        if self.parameters(problem)["at_budget"] == "guess" and problem.budget is not None:
            return ("what is not proven when the budget ends is decided by the estimates",)
        return ()

    def memory(self, problem: Problem) -> Arrays:
        """Nothing measured, nothing asked for."""
        return {**empty_sums(problem), "asked": np.zeros(problem.n_arms)}

    def shares(self, problem: Problem, measurable: Ints, aims: Ints, report: Report) -> Shares:
        """The weights over what can be measured, for the compounds aimed at; values have no say in them."""
        raise NotImplementedError

    def comparisons(self, problem: Problem) -> int:
        """How many one-sided statements hold at once."""
        return comparisons(problem, pairs=problem.goal.name == "best" or self.pairs)

    def ask(self, state: State, report: Report = silent) -> Allocation:
        """What brings the measurements asked for so far nearest to the weights at the next look's total."""
        problem, given = state.problem, self.parameters(state.problem)
        # Who is out counts too: the design is one for the whole run.
        aims = np.flatnonzero(problem.wanted & (state.status != NOT_ESTIMABLE))
        measurable = np.flatnonzero(problem.measurable)
        plan = self.shares(
            problem,
            measurable,
            aims[~outside_span(problem.features, table(problem.features, measurable).basis, aims)],
            report,
        )
        asked = state.memory["asked"]
        before = float(asked.sum())
        first = given["first"] or 2 * table(problem.features, measurable).rank
        total = min(math.log(first) + state.phase * math.log(float(given["growth"])), _LARGEST)
        wanted = max(math.ceil(math.exp(total) * (1.0 - 1e-12) - before), 1)
        left = wanted if problem.budget is None else min(wanted, problem.budget - state.spent)
        missing = np.maximum(plan.weights * (before + left) - asked[plan.arms], 0.0)
        exact = missing * (left / float(missing.sum()))
        counts = np.floor(exact + 1e-9)
        # Ties between equal remainders in an order drawn once, so that no compound is preferred by its name.
        lot = np.random.default_rng(problem.seed).permutation(problem.n_arms)[plan.arms]
        order = np.lexsort((lot, -np.round(exact - counts, 9)))
        counts[order[: round(left - counts.sum())]] += 1
        used = counts > 0
        return Allocation(
            phase=state.phase + 1,
            arms=plan.arms[used],
            counts=counts[used].astype(np.intp),
            radius=math.inf,
            certificate=plan.certificate,
            cut_to_budget=left < wanted,
        )

    def decide(self, state: State, outcome: Outcome) -> Decision | None:
        """What all measurements so far prove; at the end of the budget, if so asked, what they suggest."""
        problem, given = state.problem, self.parameters(state.problem)
        rows = np.flatnonzero(state.active)
        if not (outcome.counts > 0).any() or not len(rows):
            return None
        asked = state.memory["asked"].copy()
        asked[outcome.allocation.arms] += outcome.allocation.counts
        memory: dict[str, NDArray[Any]] = {**absorbed(state.memory, problem, outcome), "asked": asked}
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

    def stop(self, state: State) -> tuple[StopReason, ...]:
        """Everything is decided, nothing is left to measure, or the budget is used up."""
        done = settled(state)
        budget = state.problem.budget
        if done or budget is None or budget - state.spent >= 1:
            return done
        open_arms = int(((state.status == UNDECIDED) & state.problem.wanted).sum())
        text = f"the budget of {budget} measurements is used up"
        return (StopReason("budget", text, {"left": budget - state.spent, "needed": 1, "undecided": open_arms}),)
