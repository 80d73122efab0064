"""ALBA, OD-LinBAI and Peace: the best compound by elimination, with a design for those still in at every stage.

ALBA. Source: Tao, Blanco and Zhou, "Best arm identification in linear bandits with linear dimension dependency" (2018),
Algorithms 3 and 5 (Y-ElimTil): in stage r compounds are eliminated until at most d / 2^r are left. A step bounds every
mean of the stage by half of a gap that halves from step to step, and a compound farther than that behind the best by
the estimate is eliminated.
Ours: the least-squares estimate on whole measurements of a G-optimal design, whose achieved variance counts, in place
of the estimator with random measurements; the errors of all steps, delta / (t (t + 1)), sum to delta.

OD-LinBAI: the best within a fixed budget, all but d / 2 dropped after the first stage.
Source: Yang and Tan (2022), "Minimax optimal fixed-budget best arm identification in linear bandits", Algorithm 1, as
GSE section 7 describes it: ceil(log2 d) stages, in each a G-optimal design on the compounds still in, m w(a) rounded
up, m = (T - min(K, d (d + 1) / 2) - sum of ceil(d / 2^r) for r below the last stage) / ceil(log2 d), estimates from the
stage's measurements alone, the best ceil(d / 2^r) kept. The design is that of our solver.

Peace: the best compound within a fixed budget, by designs that make the Gaussian width of those still in small.
Source: Katz-Samuels, Jain, Karnin and Jamieson, "An empirical process approach to the union bound: practical
algorithms for combinatorial and linear bandits" (2020), the algorithm for a fixed budget, as GSE section 7 and appendix
D.2 describe it: gamma(Z) is the least over designs of E max (z - z')'V^(-1/2) xi over pairs of Z, xi standard normal.
There are ceil(log2 gamma) stages of equal size; each measures by the design of those still in, and keeps as many of the
best by its estimate as have at most half of their width; in the end the best is returned.
Ours: the expectation is the mean over some fixed draws, with the Cholesky factor as the root, and L-BFGS minimises it.
"""

from __future__ import annotations

import math
from typing import Any, ClassVar, NamedTuple

import numpy as np

from ...arrays import Flags, Floats, Ints
from ...design import Design, Pairs, achieved, ceilings, round_design
from ...design.criteria import Shares
from ...design.smooth import Sample, minimised
from ...domain.features import outside_span
from ...domain.goals import Best
from ...models.ols import Estimate
from ...strategies.designs import estimated, g_design, in_question, remembered, table
from ...strategies.fixed_pool import decided
from ...strategies.gege.fixed_budget import rounds_for
from ...strategies.gse import Gse, stage_rows
from ...strategies.phased import inseparable, needs_budget, number, over_budget, settled
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
    StrategyInfo,
)
from ...strategies.rage.phase import first_of_equals
from ...system.progress import Report, silent
from . import Baseline

_GAP = 1e-2


def _within_budget(state: State, rows: Ints, design: Design, counts: Ints, radius: float) -> Allocation:
    """Return the counts of a G design's support, of those of most measurements as many as the budget allows."""
    budget = state.problem.budget
    cut = budget is not None and counts.sum() > budget - state.spent
    if cut and budget is not None:
        order = np.argsort(-counts, kind="stable")
        counts[order] = np.diff(np.minimum(np.cumsum(counts[order]), budget - state.spent), prepend=0)
    certificate = Certificate("g", design.value, design.lower_bound)
    return Allocation.after(state, rows[design.support], counts, radius, certificate, cut=bool(cut))


class Alba(Baseline):
    """Elimination by bounds of single means, from designs on ever fewer compounds."""

    info: ClassVar[StrategyInfo] = StrategyInfo(
        name="alba",
        version=1,
        title="ALBA",
        goals=("best",),
        parameters=(
            Parameter("first_gap", 1.0, "gap that the first step tells, model scale; the paper's is 1 (and then 1/2)"),
        ),
        guarantee="with the stated confidence the compound returned is the best, if the substituent effects add up",
        source="Tao et al. (2018), Algorithms 3 and 5",
        baseline=True,
    )

    def check(self, problem: Problem) -> dict[str, Any]:
        """Return the parameters; AssayPilotError for one out of range."""
        given = self.parameters(problem)
        number("first_gap", given["first_gap"])
        return given

    def memory(self, problem: Problem) -> Arrays:
        """Return the stage, and the compounds still in when it began."""
        return {"stage": np.zeros(1), "began": problem.wanted.copy()}

    def _gap(self, state: State) -> float:
        return float(self.parameters(state.problem)["first_gap"]) * 0.5**state.phase

    def _log(self, problem: Problem, phase: int) -> float:
        """Return both sides of the means of all compounds at all steps."""
        return math.log(2.0 * int(problem.wanted.sum()) * phase * (phase + 1) / problem.delta)

    def _wells(self, state: State) -> float:
        """Return the measurements per unit of variance at which every half-width is half of the gap."""
        problem = state.problem
        return 8.0 * (problem.noise[0] / self._gap(state)) ** 2 * self._log(problem, state.phase + 1)

    def _rows(self, state: State) -> Ints:
        """Return what a stage's design measures: those it began with, or all there are where these do not span them."""
        problem, began = state.problem, state.memory["began"]
        rows = np.flatnonzero(began & problem.measurable)
        undecided = np.flatnonzero(state.active)
        if not len(rows) or outside_span(problem.features, table(problem.features, rows).basis, undecided).any():
            rows = np.flatnonzero(problem.measurable)
        return rows

    def ask(self, state: State, report: Report = silent) -> Allocation:
        """Return the stage's G-optimal design, rounded up, with as many measurements as the step's gap takes."""
        problem = state.problem
        candidates, design = g_design(problem.features, self._rows(state), gap=_GAP, report=report)
        targets = candidates.onto(np.flatnonzero(state.active))
        share = self._wells(state) * achieved(candidates, design.support, design.weights, targets)
        counts = ceilings(design.weights, max(share, 1.0))
        return _within_budget(state, candidates.rows, design, counts, self._gap(state) / 2.0)

    def decide(self, state: State, outcome: Outcome) -> Decision | None:
        """Eliminate what is surely behind the best by this step's measurements; the last one left is the best."""
        problem = state.problem
        measured, active = np.flatnonzero(outcome.counts[0] > 0), np.flatnonzero(state.active)
        if not len(measured) or not len(active):
            return None
        # Equal compounds are one.
        first, kind = first_of_equals(problem.features, active)
        means, norms = estimated(
            problem.features, measured, outcome.counts[0, measured], outcome.means[0, measured], active
        )
        half = problem.noise[0] * math.sqrt(2.0 * self._log(problem, state.phase + 1)) * norms
        known = np.isfinite(half)
        low, high = np.where(known, means - half, -np.inf), np.where(known, means + half, np.inf)
        out = high < low.max()
        assert isinstance(problem.goal, Best)
        slack = problem.goal.slack
        leader = int(np.argmax(np.where(known, means, -np.inf)))
        others = np.arange(len(first))[np.isin(first, np.flatnonzero(~out))]
        done = len(others) < 2 or bool((np.delete(high, leader) <= low[leader] + slack).all())
        won = first[kind[leader]] if done else -1
        if done:
            out = np.arange(len(active)) != won
        undecided = state.status[active] == UNDECIDED
        stage, began = state.memory["stage"], state.memory["began"]
        left = int((~out).sum())
        most = table(problem.features, np.flatnonzero(problem.wanted)).rank
        if left <= most / 2.0 ** (stage[0] + 1):
            stage, began = stage + math.floor(math.log2(most / left)) - stage[0], state.active.copy()
            began[active[out]] = False
        return decided(
            state,
            outcome,
            ins=active[[won]][undecided[[won]]] if done else active[:0],
            outs=active[out & undecided],
            rows=active,
            estimate=np.where(known, means, np.nan)[None],
            half=half[None],
            numbers={"measurements": float(outcome.counts.sum()), "still_in": float(left)},
            memory={"stage": np.asarray(stage, dtype=float), "began": began},
        )

    def stop(self, state: State) -> tuple[StopReason, ...]:
        """Stop when the best is found, or the budget is used up."""
        return super().stop(state) or inseparable(state, self._wells(state), "with slack the search ends")


_TIGHT_GAP = 1e-3


class _Stages(Gse):
    """As many stages as the memory says, whatever is left of the budget."""

    def stop(self, state: State) -> tuple[StopReason, ...]:
        """Return whether one is left, or the budget is used up."""
        over = state.phase >= int(state.memory["stages"][0])
        return settled(state) or over_budget(state, 1, 0 if over else None)


class OdLinBai(_Stages):
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
        n, d = in_question(problem)
        reserved = _reserved(n, d)
        why = f"below {reserved} for rounding up and one for each of {rounds_for(d)} stages"
        needs_budget(problem, "od-linbai", reserved + rounds_for(d), why)
        return self.parameters(problem)

    def memory(self, problem: Problem) -> Arrays:
        """Return the compounds and effects in question, set once and for all."""
        n, d = in_question(problem)
        return {"size": np.array([n, d]), "stages": np.array([rounds_for(d)])}

    def ask(self, state: State, report: Report = silent) -> Allocation:
        """Return the next stage: m w(a) of the G-optimal design on the compounds still in, rounded up."""
        problem = state.problem
        n, d = (int(number) for number in state.memory["size"])
        rows = stage_rows(state, np.flatnonzero(state.active))[0].rows
        design = g_design(problem.features, rows, gap=_TIGHT_GAP, report=report).design
        assert problem.budget is not None
        share = (problem.budget - _reserved(n, d)) / rounds_for(d)
        return _within_budget(state, rows, design, ceilings(design.weights, share), math.inf)

    def kept(self, state: State, ranked: Ints) -> int:
        """Return the best ceil(d / 2^r) stay."""
        return math.ceil(int(state.memory["size"][1]) * 0.5 ** (state.phase + 1))


def _reserved(n: int, d: int) -> int:
    """Return what rounding up may cost in all stages: min(K, d (d + 1) / 2) and ceil(d / 2^r) for the others."""
    return min(n, d * (d + 1) // 2) + sum(math.ceil(d * 0.5**r) for r in range(1, rounds_for(d)))


_DRAWS = 256
_LOOKS = 60
"""Looks at the mean of the draws."""
_CLOSE = 0.02
"""The design is good enough when no compound's slope is above the average by more than this share."""


class Spread(NamedTuple):
    """A design that makes a Gaussian width small, and the width."""

    weights: Floats
    width: float


class Peace(_Stages):
    """Stages that halve the Gaussian width of the compounds still in."""

    info: ClassVar[StrategyInfo] = StrategyInfo(
        name="peace",
        version=1,
        title="Peace",
        goals=("best",),
        parameters=(),
        guarantee="the best compound is more likely found the larger the budget; no error probability is promised",
        source="Katz-Samuels et al. (2020), fixed budget",
        baseline=True,
    )

    def check(self, problem: Problem) -> dict[str, Any]:
        """No parameters; AssayPilotError for less than one measurement per effect a stage."""
        stages, d = self._stages(problem), in_question(problem)[1]
        needs_budget(problem, "peace", stages * d, f"below one for each of {d} effects in {stages} stages")
        return self.parameters(problem)

    def memory(self, problem: Problem) -> Arrays:
        """Return how many stages there are."""
        return {"stages": np.array([self._stages(problem)])}

    def _stages(self, problem: Problem) -> int:
        width = spread(problem, np.flatnonzero(problem.wanted)).width
        return max(math.ceil(math.log2(max(width, 1.0))), 1)

    def ask(self, state: State, report: Report = silent) -> Allocation:
        """Return the next stage: its share of the budget by the design of those still in."""
        problem, active = state.problem, np.flatnonzero(state.active)
        here = np.flatnonzero(problem.measurable)
        candidates, targets = table(problem.features, here), table(problem.features, active, here)
        made, (n, full) = spread(problem, active), self.share(state)
        design = Shares(np.arange(len(here)), made.weights)
        directions = Pairs(targets) if len(active) > 1 else None
        rounded = round_design(design, candidates, n, method="apportion", directions=directions, report=report)
        certificate = Certificate("width", made.width, 0.0)
        return Allocation.after(state, here[rounded.support], rounded.counts, math.inf, certificate, cut=n < full)

    def known(self, estimate: Estimate, active: Ints) -> Flags:
        """Return the design for differences, which need not estimate means: the difference from the first is enough."""
        return np.isfinite(estimate.difference_norm(int(active[0]), active))

    def kept(self, state: State, ranked: Ints) -> int:
        """Return the most whose width is at most half of that of all; one, when two are wider."""
        problem = state.problem
        half = spread(problem, np.flatnonzero(state.active)).width / 2.0
        low, high = 1, len(ranked)
        while high - low > 1:
            middle = (low + high) // 2
            if spread(problem, np.sort(ranked[:middle])).width <= half:
                low = middle
            else:
                high = middle
        return low


def spread(problem: Problem, rows: Ints) -> Spread:
    """Return the design over what can be measured of least Gaussian width of the rows.

    Remembered, as runs share its start.
    """
    features, here = problem.features, np.flatnonzero(problem.measurable)

    def make() -> Spread:
        return least_width(table(features, here).coordinates(), table(features, rows, here).coordinates())

    return remembered("peace", features, (here, rows), 8 * len(here), make)


def least_width(x: Floats, z: Floats) -> Spread:
    """Weights on the rows ``x`` ``(n, d)`` for which E max (z - z')'V^(-1/2) xi over rows of ``z`` is about least."""
    draws = np.random.default_rng(0).standard_normal((_DRAWS, x.shape[1]))
    w = np.full(len(x), 1.0 / max(len(x), 1))
    if len(z) < 2 or not len(x):
        return Spread(w, 0.0)

    def look(weights: Floats) -> Sample | None:
        try:
            root = np.linalg.inv(np.linalg.cholesky((x * weights[:, None]).T @ x))
        except np.linalg.LinAlgError:
            return None
        drawn = draws @ root
        reach = z @ drawn.T
        y = z[reach.argmax(axis=0)] - z[reach.argmin(axis=0)]
        value = float(np.einsum("ij,ij->", y, drawn)) / _DRAWS
        # The Cholesky factor L moves by L P, where P is the lower half of L^-1 dV L^-T with half its diagonal.
        moved = draws.T @ (y @ root.T) / _DRAWS
        lower = np.tril(moved, -1) + np.diag(np.diagonal(moved)) / 2.0
        white = x @ root.T
        slope = -np.einsum("ij,ij->i", white @ lower, white)
        return Sample(value, slope, bool(-slope.min() <= value / 2.0 * (1.0 + _CLOSE)))

    w = minimised(look, w, _LOOKS)
    found = look(w)
    return Spread(w, math.inf if found is None else found.value)
