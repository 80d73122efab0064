"""What BayesGap and KGCB share: a fixed budget spent in batches by a belief, and the answer of its means at the end."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...arrays import Floats, Ints
from ...errors import AssayPilotError
from ...strategies.fixed_pool import (
    absorbed,
    best_guess,
    decided,
    empty_sums,
    needs_budget,
)
from ...strategies.phased import Phased, number, settled
from ...strategies.protocol import (
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
from .bayesgap_belief import Belief, batch_of, belief

__all__ = ["BUDGET_PARAMETERS", "BudgetRun"]


_MOST = 20_000

BUDGET_PARAMETERS = (
    Parameter("prior", 1.0, "SD of the effects before anything is measured, model scale"),
    Parameter("batch", None, "measurements per phase; none: the lab's round, or 1 without a capacity"),
)


class BudgetRun(Phased):
    """A belief chooses every measurement until the budget is spent; the answer is what its means say then."""

    def check(self, problem: Problem) -> dict[str, Any]:
        """The parameters; AssayPilotError without a budget, or for a library too large to look at one by one."""
        given = self.parameters(problem)
        number("prior", given["prior"])
        batch_of(problem, given["batch"])
        needs_budget(problem, self.info.name, 1, "one measurement")
        if problem.n_arms > _MOST:
            raise AssayPilotError(
                f"{self.info.name} looks at every compound at every step; {problem.n_arms:,} are too many",
                option="--strategy",
            )
        return given

    def void(self, problem: Problem) -> tuple[str, ...]:
        """A fixed budget promises no error probability."""
        return ("a fixed budget promises no error probability: the answer is the best guess it allows",)

    def memory(self, problem: Problem) -> Arrays:
        """Nothing measured yet."""
        return empty_sums(problem)

    def choose(self, problem: Problem, x: Floats, aims: Ints, measurable: Ints, seen: Belief) -> int:
        """The next measurement: a position in the rows ``x``, one of ``measurable``; ``aims`` are in question."""
        raise NotImplementedError

    def believed(self, state: State) -> Belief:
        """What is believed now."""
        return belief(state.problem, state.memory, float(self.parameters(state.problem)["prior"]))

    def ask(self, state: State, report: Report = silent) -> Allocation:
        """A batch: after each choice the belief shrinks as if measured, while its means stay."""
        problem = state.problem
        assert problem.budget is not None
        batch = batch_of(problem, self.parameters(problem)["batch"])
        n = min(batch, problem.budget - state.spent)
        rows = np.flatnonzero(state.active | problem.measurable)
        x = problem.features.dense(rows)
        aims, measurable = np.flatnonzero(state.active[rows]), np.flatnonzero(problem.measurable[rows])
        seen = self.believed(state)
        counts = np.zeros(len(rows), dtype=np.intp)
        for done in range(n):
            report(done / n, "choosing measurements")
            chosen = measurable[0] if len(measurable) == 1 else self.choose(problem, x, aims, measurable, seen)
            counts[chosen] += 1
            seen = seen.measured(x[chosen])
        report(1.0, "measurements chosen")
        used = np.flatnonzero(counts)
        return Allocation(
            phase=state.phase + 1,
            arms=rows[used],
            counts=counts[used],
            radius=math.inf,
            certificate=Certificate(self.info.name, math.inf, 0.0),
            cut_to_budget=n < batch,
        )

    def final(self, problem: Problem, rows: Ints, seen: Belief, memory: dict[str, NDArray[Any]]) -> Floats:
        """Scores of the rows that the answer is made of; the means believed."""
        return problem.features.times(seen.mean, rows)

    def kept(self, state: State, memory: dict[str, NDArray[Any]]) -> dict[str, NDArray[Any]]:
        """What is carried beside the sums."""
        return memory

    def decide(self, state: State, outcome: Outcome) -> Decision | None:
        """Nothing before the budget is spent; then the members by the means believed."""
        problem = state.problem
        rows = np.flatnonzero(state.active)
        if not (outcome.counts > 0).any() or not len(rows):
            return None
        memory = self.kept(state, {**state.memory, **absorbed(state.memory, problem, outcome)})
        seen = belief(problem, memory, float(self.parameters(problem)["prior"]))
        means = problem.features.times(seen.mean, rows)
        spread = np.sqrt(np.maximum(problem.features.quadratic(seen.covariance, rows), 0.0))
        ins = outs = rows[:0]
        if problem.budget is not None and problem.budget - outcome.spent < 1:
            members = best_guess(problem, self.final(problem, rows, seen, memory)[None], rows)
            undecided = state.status[rows] == UNDECIDED
            ins, outs = rows[members & undecided], rows[~members & undecided]
        elif len(rows) == 1:
            # Nothing else is in question.
            ins = rows[state.status[rows] == UNDECIDED]
        return decided(
            state,
            outcome,
            ins=ins,
            outs=outs,
            rows=rows,
            estimate=means[None],
            half=1.96 * spread[None],
            numbers={"measurements": float(outcome.counts.sum())},
            memory=memory,
        )

    def stop(self, state: State) -> tuple[StopReason, ...]:
        """The budget is used up, or everything is decided."""
        done = settled(state)
        assert state.problem.budget is not None
        left = state.problem.budget - state.spent
        if done or left >= 1:
            return done
        open_arms = int(((state.status == UNDECIDED) & state.problem.wanted).sum())
        text = f"the budget of {state.problem.budget} measurements is used up"
        return (StopReason("budget", text, {"left": left, "needed": 1, "undecided": open_arms}),)
