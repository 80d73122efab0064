"""OD-LinBAI: the best compound within a fixed budget, all but d / 2 dropped after the first stage.

Source: Yang and Tan (2022), "Minimax optimal fixed-budget best arm identification in linear bandits", Algorithm 1, as
GSE section 7 describes it: ceil(log2 d) stages, in each a G-optimal design on the compounds still in, m w(a) rounded
up, m = (T - min(K, d (d + 1) / 2) - sum of ceil(d / 2^r) for r below the last stage) / ceil(log2 d), estimates from the
stage's measurements alone, the best ceil(d / 2^r) kept. The design is that of our solver.
"""

from __future__ import annotations

import math
from typing import Any, ClassVar

import numpy as np

from ...design import ceilings
from ...domain.features import outside_span, span_basis, span_rank
from ...strategies.designs import fit, g_design
from ...strategies.fixed_pool import decided, needs_budget
from ...strategies.phased import Phased, settled
from ...strategies.protocol import (
    UNDECIDED,
    Allocation,
    Arrays,
    Certificate,
    Decision,
    Outcome,
    Problem,
    State,
    StopReason,
    StrategyInfo,
)
from ...system.progress import Report, silent
from . import BEST_GUESS

_GAP = 1e-3


class OdLinBai(Phased):
    """Sequential halving of the dimension by G-optimal designs."""

    info: ClassVar[StrategyInfo] = StrategyInfo(
        name="od-linbai",
        version=1,
        title="OD-LinBAI",
        goals=("best",),
        parameters=(),
        guarantee="the best compound is more likely found the larger the budget; no error probability is promised",
        source="Yang and Tan (2022), Algorithm 1",
        baseline=True,
    )

    def check(self, problem: Problem) -> dict[str, Any]:
        """No parameters; AssayPilotError for a budget that leaves m below 1."""
        n, d = _in_question(problem)
        reserved = _reserved(n, d)
        why = f"{reserved} for rounding up and one for each of {_stages(d)} stages"
        needs_budget(problem, "od-linbai", reserved + _stages(d), why)
        return self.parameters(problem)

    def void(self, problem: Problem) -> tuple[str, ...]:
        """A fixed budget promises no error probability."""
        return (BEST_GUESS,)

    def memory(self, problem: Problem) -> Arrays:
        """Compounds and effects in question, set once and for all."""
        return {"size": np.array(_in_question(problem))}

    def ask(self, state: State, report: Report = silent) -> Allocation:
        """The next stage: m w(a) of the G-optimal design on the compounds still in, rounded up."""
        problem = state.problem
        n, d = (int(number) for number in state.memory["size"])
        rows = np.flatnonzero(state.active & problem.measurable)
        active = np.flatnonzero(state.active)
        known = len(rows) and not outside_span(problem.features, span_basis(problem.features, rows), active).any()
        if not known:
            rows = np.flatnonzero(problem.measurable)
        design = g_design(problem.features, rows, gap=_GAP, report=report).design
        assert problem.budget is not None
        left = problem.budget - state.spent
        share = (problem.budget - _reserved(n, d)) / _stages(d)
        counts = ceilings(design.weights, share)
        cut = counts.sum() > left
        if cut:
            # Only after measurements nobody asked for: the heaviest of the design first.
            order = np.argsort(-counts, kind="stable")
            counts[order] = np.diff(np.minimum(np.cumsum(counts[order]), left), prepend=0)
        used = counts > 0
        return Allocation(
            phase=state.phase + 1,
            arms=rows[design.support][used],
            counts=counts[used].astype(np.intp),
            radius=math.inf,
            certificate=Certificate("g", design.value, design.lower_bound),
            cut_to_budget=bool(cut),
        )

    def decide(self, state: State, outcome: Outcome) -> Decision | None:
        """The best ceil(d / 2^r) by this stage's estimates stay."""
        problem = state.problem
        measured = np.flatnonzero(outcome.counts[0] > 0)
        active = np.flatnonzero(state.active)
        if not len(measured) or not len(active):
            return None
        _, d = (int(number) for number in state.memory["size"])
        stage = state.phase + 1
        estimate = fit(problem.features, measured, outcome.counts[0, measured], outcome.means[0, measured])
        known = estimate.estimable(active)
        scores = estimate.means(active)
        keep = 1 if stage >= _stages(d) else math.ceil(d / 2**stage)
        order = np.flatnonzero(known)[np.argsort(-scores[known], kind="stable")]
        # One that this stage tells nothing about is never dropped.
        dropped = order[max(keep - (len(active) - len(order)), 1 if len(order) else 0) :]
        undecided = state.status[active] == UNDECIDED
        goes = np.zeros(len(active), dtype=bool)
        goes[dropped] = True
        goes &= undecided
        stays = active[~goes]
        return decided(
            state,
            outcome,
            ins=stays[state.status[stays] == UNDECIDED] if len(stays) == 1 else stays[:0],
            outs=active[goes],
            rows=active,
            estimate=np.where(known, scores, np.nan)[None],
            half=np.full((1, len(active)), math.inf),
            numbers={"still_in": float(len(stays)), "measurements": float(outcome.counts.sum())},
            memory=state.memory,
        )

    def stop(self, state: State) -> tuple[StopReason, ...]:
        """One is left, or the budget is used up."""
        done = settled(state)
        assert state.problem.budget is not None
        left = state.problem.budget - state.spent
        if done or (left >= 1 and state.phase < _stages(int(state.memory["size"][1]))):
            return done
        open_arms = int(((state.status == UNDECIDED) & state.problem.wanted).sum())
        text = f"the stages are over and the budget leaves {max(left, 0)} measurements"
        return (StopReason("budget", text, {"left": left, "needed": 1, "undecided": open_arms}),)


def _stages(d: int) -> int:
    return max(math.ceil(math.log2(d)), 1) if d > 0 else 1


def _reserved(n: int, d: int) -> int:
    """What rounding up may cost in all stages: min(K, d (d + 1) / 2) and ceil(d / 2^r) for the others."""
    return min(n, d * (d + 1) // 2) + sum(math.ceil(d * 0.5**r) for r in range(1, _stages(d)))


def _in_question(problem: Problem) -> tuple[int, int]:
    """How many wanted compounds can be estimated, and the effects that their stages estimate."""
    measurable = np.flatnonzero(problem.measurable)
    wanted = np.flatnonzero(problem.wanted)
    inside = wanted[~outside_span(problem.features, span_basis(problem.features, measurable), wanted)]
    return len(inside), span_rank(problem.features, inside)
