"""All epsilon-best compounds from a fixed number of measurements.

Ours: LinFACT (section 8) leaves it open. Larger is better; sigma is the noise SD, T the budget, d the rank.

**What is measured.** The budget is spent in phases of whole rounds: a first one of about two fifths, then one after
another; all in one where the budget has less than two rounds or less than two measurements per effect for each. The
first estimates every mean as well as possible (G-optimal). After each, all measurements so far give an estimate and its
leader l. The next phase makes the expected number of compounds decided wrongly at the end small, as far as
is known now. A compound's estimated difference from l moves on to one at the end, normal about it. Its decision is
wrong if that is off by its own distance from the threshold epsilon + slack / 2 and half of the slack more
(``near_threshold``).
Weights first, then whole measurements, of which single ones move while that informs more.

**What is answered.** At the end a compound is in when its least-squares estimate, by all measurements, is at most
epsilon + slack / 2 below the highest one.

**How often that is wrong at most.** Let S = sum of x e over all measurements (x its row, e its error) and V = sum of
x x', so that theta_hat - theta = V^-1 S. Designs depend on the past alone, so for every vector z
exp((z'S - z'V z / 2) / sigma^2) is a martingale over the phases, of mean 1; so is its average over z from a normal
distribution of mean 0 and covariance sigma^2 L^-1, which is sqrt(det L / det(V + L)) exp(S'(V + L)^-1 S / (2 sigma^2))
(method of mixtures; Abbasi-Yadkori, Pal and Szepesvari 2011). It exceeds 1 / alpha with probability alpha at most
(Markov), whatever the designs. Take L = rho V_1, V_1 the information of the first phase, which depends on no value.
As V >= V_1, V + L <= (1 + rho) V, so but for a probability alpha

    (theta_hat - theta)'V (theta_hat - theta) < (1 + rho) sigma^2 (2 log(1 / alpha) + log(det(V + L) / det L)).

A wrong answer has two compounds whose difference y is wrong by slack / 2 at least: one missed, and the highest
estimate; or one wrongly in, and the best. So (theta_hat - theta)'V (theta_hat - theta) is at least
(slack / 2)^2 / ||y||^2 with ||y||^2 = y'V^-1 y <= w, the largest over all pairs. Together

    P(wrong) <= exp(-((slack / 2)^2 / (sigma^2 w (1 + rho)) - log(det(V + L) / det L)) / 2).

*Before the campaign*: w is that of V_1, and log(det(V + L) / det L) <= d log(1 + 1 / rho + (T - T_1) g / (rho d)) by
the inequality of the arithmetic and the geometric mean, g the largest ||x||^2_{V_1^-1} and T_1 the size of the first
phase. *At the end*: the same with the V that came, and with the estimates. A compound is wrongly out only if its
difference from l is wrong by all that it is beyond epsilon; wrongly in only if one from some other is, by what is left
to epsilon + slack. With the least of (that)^2 / ||y||^2 in place of (slack / 2)^2 / w, an answer is wrong and its
stated probability below alpha with a probability of alpha at most. Large budgets only make these bounds small; errors
are far rarer (``tests/published/REPORT-fixed-budget.md``).

Assumed: additive effects, independent normal errors of the stated SD, and that which measurements come back does not
depend on their values.

Phases of a fixed budget: an even one, and one that informs most about compounds near a threshold.
"""

from __future__ import annotations

import math
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from ..arrays import Flags, Floats, Ints
from ..design import Pairs
from ..domain.goals import AllEpsilonBest
from ..system.progress import Report, silent
from ..text import percent
from .designs import table
from .fixed_pool import Fit, absorbed, decided, empty_sums, fitted
from .near_threshold import even_phase, near_threshold
from .phased import Phased, needs_budget, over_budget, settled
from .protocol import (
    UNDECIDED,
    Allocation,
    Arrays,
    Decision,
    Outcome,
    Problem,
    State,
    StopReason,
    StrategyInfo,
)

_PHASES = 6
_FIRST = 0.4
"""Share of the budget that the first phase takes."""
_RHO = 0.5
"""Of the bound; fixed beforehand."""
_ROWS = 256
"""Compounds compared with all others at a time."""
_MOST = 20_000
"""Compounds up to which the bound at the end looks at every pair."""
_NO_ZONE = 0.1
"""Without slack, the share of epsilon within which an estimate is as good as at the threshold."""


def bound(evidence: float, grown: float) -> float:
    """Return an upper bound on the probability of a wrong answer; 1 where there is none.

    ``evidence``: the least (margin / standard error)^2; ``grown``: the logarithm of det(V + L) / det L.
    """
    return math.exp(min((grown - evidence / (1.0 + _RHO)) / 2.0, 0.0))


class EpsilonBestFixedBudget(Phased):
    """All epsilon-best compounds by the estimates at the end of the budget, measured where they decide."""

    info: ClassVar[StrategyInfo] = StrategyInfo(
        name="epsilon-best-fixed-budget",
        version=1,
        title="Epsilon-best with a fixed budget",
        goals=("epsilon-best",),
        parameters=(),
        guarantee=(
            "everything is decided within the budget, by the estimates at its end; an upper bound on the "
            "probability of an error is stated before and after, but no confidence can be chosen"
        ),
        source="ours; the proof is in its documentation",
    )

    def check(self, problem: Problem) -> dict[str, Any]:
        """Return no parameters; AssayPilotError without a budget or with one below one measurement per effect."""
        rank = _rank(problem) if problem.measurable.any() else 0
        needs_budget(problem, self.info.name, rank, f"below one measurement per effect, of which there are {rank}")
        return self.parameters(problem)

    def void(self, problem: Problem) -> tuple[str, ...]:
        """Return what the budget does not prove is decided by the estimates."""
        return ("with a fixed budget the confidence is not chosen: what is not proven is decided by the estimates",)

    def assumes(self, problem: Problem) -> tuple[str, ...]:
        """Return normal errors in addition to additivity: the bound is about them."""
        return (*super().assumes(problem), "the assay noise is normally distributed")

    def cautions(self, problem: Problem) -> tuple[str, ...]:
        """Return how often the answer is wrong at most, whatever the compounds' values are."""
        goal = problem.goal
        if problem.budget is None or not isinstance(goal, AllEpsilonBest) or not problem.measurable.any():
            return ()
        most = self.beforehand(problem)
        budget = f"{problem.in_lab(problem.budget):,} measurements"
        if most >= 1.0:
            return (
                f"{budget} are too few to prove for every table that the answer is right, though it may well be; "
                "what is proven is stated at the end",
            )
        return (f"with {budget} the answer is wrong with a probability of at most {percent(most, 2)}",)

    def beforehand(self, problem: Problem) -> float:
        """Return the bound before the first measurement, if all requested measurements come back.

        1 where there is none.
        """
        assert isinstance(problem.goal, AllEpsilonBest)
        assert problem.budget is not None
        state = self.start(problem)
        if problem.goal.slack == 0 or self.stop(state):
            return 1.0
        first = self.ask(state)
        v = problem.features.gram(first.counts.astype(np.float64), first.arms)
        fit = fitted(problem.features, v, np.zeros(len(v)))
        rows = np.flatnonzero(state.active)
        rank, rest = fit.root.shape[1], problem.budget - first.total
        g = float((fit.half_norms(np.flatnonzero(problem.measurable)) ** 2).max())
        grown = rank * math.log(1.0 + 1.0 / _RHO + rest * g / (_RHO * rank))
        return bound((problem.goal.slack / 2.0 / problem.noise[0]) ** 2 / max(_widest(fit, rows), 1e-300), grown)

    def memory(self, problem: Problem) -> Arrays:
        """Return the memory of nothing measured; ``first``: the information of the first phase."""
        sums = empty_sums(problem)
        return {**sums, "first": sums["information"][0].copy()}

    def ask(self, state: State, report: Report = silent) -> Allocation:
        """Return an even phase first, then what informs most about compounds near the threshold."""
        size = _size(state)
        fit = _fit(state.memory, state.problem)
        rows = np.flatnonzero(state.active)
        rows = rows[np.isfinite(fit.half_norms(rows))] if state.phase else rows
        if not state.phase or len(rows) < 2:
            return even_phase(state, size, report)
        goal = state.problem.goal
        assert isinstance(goal, AllEpsilonBest)
        means = fit.means(rows)
        leader = rows[int(np.argmax(means))]
        sd = state.problem.noise[0]
        beyond = np.abs(means.max() - means - goal.epsilon - goal.slack / 2.0) / sd
        half = (goal.slack / 2.0 if goal.slack > 0 else _NO_ZONE * goal.epsilon) / sd
        known = state.memory["information"][0]
        rest = max(_left(state), size)
        return near_threshold(state, int(leader), rows, beyond, half, known, size, rest, report)

    def decide(self, state: State, outcome: Outcome) -> Decision | None:
        """Decide nothing before the last phase; then everything that can be estimated, by all measurements."""
        problem, goal = state.problem, state.problem.goal
        assert isinstance(goal, AllEpsilonBest)
        active = np.flatnonzero(state.active)
        if not (outcome.counts[0] > 0).any() or not len(active):
            return None
        memory: dict[str, NDArray[Any]] = {"first": state.memory["first"], **absorbed(state.memory, problem, outcome)}
        if not state.phase:
            memory["first"] = memory["information"][0]
        fit = _fit(memory, problem)
        norms = fit.half_norms(active)
        known = np.isfinite(norms)
        means = np.where(known, fit.means(active), np.nan)
        ins = outs = np.zeros(len(active), dtype=bool)
        numbers = {"measurements": float(outcome.counts.sum())}
        assert problem.budget is not None
        over = state.phase + 1 >= _phases(problem) or problem.budget - outcome.spent < 1
        if over and known.any():
            behind = np.nanmax(means) - means
            ins = known & (behind <= goal.epsilon + goal.slack / 2.0)
            outs = known & ~ins
            numbers["wrong_at_most"] = _afterwards(memory, fit, problem, active[known], ins[known])
        undecided = state.status[active] == UNDECIDED
        # Shown are estimates with two standard errors; they decide nothing.
        return decided(
            state,
            outcome,
            ins=active[ins & undecided],
            outs=active[outs & undecided],
            rows=active,
            estimate=means[None],
            half=np.where(known, 2.0 * problem.noise[0] * norms, np.inf)[None],
            numbers=numbers,
            memory=memory,
        )

    def stop(self, state: State) -> tuple[StopReason, ...]:
        """Stop when all is decided, with a bound on the risk of an error, or the budget is used up."""
        done = settled(state)
        if done:
            risk = state.last.numbers.get("wrong_at_most") if state.last else None
            if risk is None or done[0].name != "decided":
                return done
            most = "nothing is proven of it" if risk >= 1 else f"wrong with a probability of at most {percent(risk, 2)}"
            return (StopReason("decided", f"every compound is decided by its estimate; {most}", done[0].numbers),)
        left = _left(state) if state.phase < _phases(state.problem) else 0
        return over_budget(state, 1 if state.phase else _rank(state.problem), left)


def _rank(problem: Problem) -> int:
    return table(problem.features, np.flatnonzero(problem.measurable)).rank


def _left(state: State) -> int:
    assert state.problem.budget is not None
    return state.problem.budget - state.spent


def _phases(problem: Problem) -> int:
    """Return a phase a round, up to a few.

    One alone where the budget has less than two measurements per effect for each.
    """
    assert problem.capacity is not None
    assert problem.budget is not None
    rounds = problem.budget // problem.capacity.per_round
    small = problem.budget // (2 * _rank(problem)) if problem.measurable.any() else 1
    return max(min(_PHASES, small, rounds), 1)


def _size(state: State) -> int:
    """Return measurements of the phase: its share of the budget in whole rounds; the last takes what is left."""
    problem = state.problem
    assert problem.capacity is not None
    assert problem.budget is not None
    phases, left = _phases(problem), _left(state)
    if state.phase + 1 >= phases:
        return left
    share = max(_FIRST * problem.budget, 2 * _rank(problem)) if not state.phase else left / (phases - state.phase)
    per_round = problem.capacity.per_round
    return max(min(per_round * max(round(share / per_round), 1), left), 1)


def _fit(memory: Arrays, problem: Problem) -> Fit:
    return fitted(problem.features, memory["information"][0], memory["moment"][0])


def _widest(fit: Fit, rows: Ints) -> float:
    """Return the largest ||x_i - x_j||^2_{V^-1}; infinite where a row is not estimable."""
    if not np.isfinite(fit.half_norms(rows)).all():
        return math.inf
    rows_table = table(fit.features, rows)
    if rows_table.n_rows < 2:
        return 0.0
    seen = rows_table.basis.T @ fit.root
    return float(Pairs(rows_table).find(seen @ seen.T)[1][0])


def _afterwards(memory: Arrays, fit: Fit, problem: Problem, rows: Ints, ins: Flags) -> float:
    """Return the bound at the end, of an answer ``ins`` about some rows."""
    goal = problem.goal
    assert isinstance(goal, AllEpsilonBest)
    inner = fit.basis.T @ memory["first"] @ fit.basis
    sign, first = np.linalg.slogdet(_RHO * inner)
    if sign <= 0 or len(rows) > _MOST or np.linalg.matrix_rank(inner, hermitian=True) < len(inner):
        # Effects that the first phase did not estimate have no L.
        return 1.0
    v = fit.basis.T @ memory["information"][0] @ fit.basis
    grown = float(np.linalg.slogdet(v + _RHO * inner)[1] - first)
    means, points = fit.means(rows), fit.points(rows)
    lengths = np.einsum("ij,ij->i", points, points)
    leader = int(np.argmax(means))

    def least(block: Ints, room: Floats) -> float:
        squares = np.maximum(lengths[block][:, None] + lengths - 2.0 * (points[block] @ points.T), 1e-12)
        evidence = np.maximum(room, 0.0) ** 2 / squares
        evidence[np.arange(len(block)), block] = np.inf
        return float(evidence.min(initial=np.inf))

    evidence = math.inf
    away = points - points[leader]
    out = np.flatnonzero(~ins)
    if len(out):
        far = np.maximum(means[leader] - means[out] - goal.epsilon, 0.0) ** 2
        evidence = float((far / np.maximum(np.einsum("ij,ij->i", away[out], away[out]), 1e-12)).min())
    inside = np.flatnonzero(ins)
    for start in range(0, len(inside), _ROWS):
        block = inside[start : start + _ROWS]
        evidence = min(evidence, least(block, goal.epsilon + goal.slack - (means - means[block][:, None])))
    return bound(evidence / problem.noise[0] ** 2, grown)
