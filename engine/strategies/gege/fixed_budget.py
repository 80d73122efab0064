"""GEGE with a fixed budget: the Pareto set of several endpoints from a given number of measurements.

Source: "Bandit Pareto Set Identification in a Multi-Output Linear Model", Algorithms 1 and 2, Theorem 2, appendix D.
"""

from __future__ import annotations

import math
from typing import Any, ClassVar, NamedTuple

import numpy as np

from ...arrays import Flags, Floats
from ...domain.pareto import gaps
from ...system.progress import Report, silent
from ..designs import g_design, in_question
from ..linfact.planning import design_rows
from ..phased import Phased, needs_budget, number, over_budget, settled
from ..protocol import (
    Allocation,
    Arrays,
    Decision,
    Outcome,
    Parameter,
    Problem,
    State,
    StopReason,
    StrategyInfo,
)
from .parts import allocation, estimates, exactly, rank_of, targets_of, units

_THEOREM = 45
"""Theorem 2 needs this many measurements per dimension and round."""

_TIE = 1e-9
"""Gaps that differ by less than this share of the largest mean tie."""


def rounds_for(rank: int) -> int:
    """Return ceil(log2 h), and one round for a single dimension."""
    return max(1, math.ceil(math.log2(max(rank, 1))))


class Halved(NamedTuple):
    """Decisions of one round about the arms it could estimate, ``(m,)`` each."""

    ins: Flags
    outs: Flags


def halving(means: Floats, keep: int) -> Halved:
    """Decide all but the ``keep`` smallest gaps: in when empirically Pareto, else out (Algorithm 2).

    ``means`` ``(n_endpoints, m)`` in common units. Ties keep arms of the empirical Pareto set, then those of the
    largest sum of means, then earlier ones. In additive tables many gaps are the same difference of two substituents:
    they tie up to rounding, which must not decide.
    """
    found = gaps(means)
    step = _TIE * max(float(np.abs(means).max(initial=0.0)), 1e-300)
    total = np.round(means.sum(axis=0) / step)
    order = np.lexsort((-total, ~found.pareto, np.round(found.values / step)))
    gone = np.zeros(means.shape[1], dtype=bool)
    gone[order[keep:]] = True
    return Halved(gone & found.pareto, gone & ~found.pareto)


class GegeFixedBudget(Phased):
    """The Pareto set; each round measures on a G-optimal design and keeps half as many arms as dimensions."""

    info: ClassVar[StrategyInfo] = StrategyInfo(
        name="gege-fixed-budget",
        version=1,
        title="GEGE with a fixed budget",
        goals=("pareto",),
        endpoints=(2, None),
        parameters=(Parameter("gap", 1e-2, "how far the design may be from optimal (relative)"),),
        guarantee=(
            "everything is decided within the budget; how often wrongly depends on the differences of compounds, "
            "which are unknown beforehand, so no confidence is stated"
        ),
        source="GEGE, section 3.2",
    )

    def check(self, problem: Problem) -> dict[str, Any]:
        """Return the parameters with their defaults; AssayPilotError without a budget or with one below the rank."""
        parameters = self.parameters(problem)
        number("gap", parameters["gap"], below=1.0)
        rank = in_question(problem)[1] if problem.measurable.any() else 0
        rounds = rounds_for(rank)
        why = f"below one measurement per effect and round: {rank} effects in {rounds} rounds{_of_each(problem)}"
        needs_budget(problem, "gege-fixed-budget", rank * rounds, why)
        return parameters

    def void(self, problem: Problem) -> tuple[str, ...]:
        """Why no error probability is promised: never is, and below the theorem's condition not even a bound holds."""
        reasons = ["with a fixed budget the chance of an error depends on the unknown means, and delta is not used"]
        rank = in_question(problem)[1] if problem.measurable.any() else 0
        condition = _THEOREM * rank * rounds_for(rank)
        if problem.budget is not None and problem.budget < condition:
            reasons.append(
                f"below {problem.in_lab(condition):,} measurements ({_THEOREM} per effect and round"
                f"{_of_each(problem)}) the paper's bound on the chance of an error does not apply; "
                f"the budget is {problem.in_lab(problem.budget):,}"
            )
        return tuple(reasons)

    def memory(self, problem: Problem) -> Arrays:
        """Return the rank at the start, which sets the number of rounds."""
        return {"rank": np.array([in_question(problem)[1]])}

    def ask(self, state: State, report: Report = silent) -> Allocation:
        """Return the next round: an even share of what is left, rounded from a G-optimal design of the active arms."""
        problem = state.problem
        rows, targets = design_rows(state)
        made = g_design(problem.features, rows, targets, gap=self.parameters(problem)["gap"], report=report)
        counts, _ = exactly(made, targets_of(state, made), _share(state))
        return allocation(state, made, counts, math.inf)

    def decide(self, state: State, outcome: Outcome) -> Decision | None:
        """Decide all but the smallest gaps, from this round's measurements only; in the last round decide all."""
        problem = state.problem
        active = np.flatnonzero(state.active)
        if not (outcome.counts > 0).any() or not len(active):
            return None
        phase = state.phase + 1
        rank = int(state.memory["rank"][0])
        found = estimates(problem, outcome.counts, outcome.means, active)
        known = np.isfinite(found.norms).all(axis=0)
        # Arms that this round did not estimate are kept, and count among those that are.
        keep = max(math.ceil(rank / 2**phase) - int((~known).sum()), 0)
        verdict = halving(found.means[:, known] / units(problem), keep)
        here = active[known]
        ins, outs = here[verdict.ins], here[verdict.outs]
        last = np.setdiff1d(active, np.concatenate([ins, outs]))
        if phase >= _rounds(state) and known.all():
            ins = np.sort(np.concatenate([ins, last]))
        shown = np.full((3, *state.low.shape), np.nan)
        shown[0][:, here] = found.means[:, known]
        shown[1][:, active], shown[2][:, active] = -np.inf, np.inf
        numbers = {"measurements": float(outcome.counts.max(axis=0).sum()), "kept": float(len(last))}
        return Decision.after(state, outcome, shown, ins=ins, outs=outs, left=ins, numbers=numbers, memory=state.memory)

    def stop(self, state: State) -> tuple[StopReason, ...]:
        """Stop when all is decided, all rounds are done, or too little is left for another round."""
        share = _share(state) if state.phase < _rounds(state) else 0
        return settled(state) or over_budget(state, rank_of(state), share)


def _of_each(problem: Problem) -> str:
    """Return that every endpoint takes its own measurement, where the lab counts so."""
    each = problem.in_lab(1)
    return f", each of {each} endpoints" if each > 1 else ""


def _rounds(state: State) -> int:
    return rounds_for(int(state.memory["rank"][0]))


def _share(state: State) -> int:
    """Return the measurements of the next round: what is left, divided evenly over the rounds to come."""
    budget = state.problem.budget
    assert budget is not None
    return max(budget - state.spent, 0) // max(_rounds(state) - state.phase, 1)
