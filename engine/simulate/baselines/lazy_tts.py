"""Lazy track-and-stop: tracks weights that are optimal for the estimate, renewed at powers of two alone; and DKM.

Source: Jedra and Proutiere (2020), "Optimal best-arm identification in linear bandits", Algorithm 1: forced exploration
of a spanning set while the smallest eigenvalue of V is below c sqrt(t), tracking of the sum of the weights over their
support, weights renewed at t = 2^r, and the stopping rule of Proposition 3: Z(t) > beta(t) and V >= c I, with
beta = (1 + u) sigma^2 log(det(V / (u c) + I)^(1/2) / delta), c the largest squared row and u = 1. For a border between
in and out (the thresholding bandit of Rivera and Tewari 2024, as LinFACT section 7 uses it) the same with the distances
to the border; all epsilon-best then needs the border.
Ours: the weights come from a certified design; slack widens every gap; in a batch the weights stay as they were.

DKM, which tracks weights too: the game of LinGame without what linearity implies for an arm measured less often.
Source: Degenne, Koolen and Menard, "Non-asymptotic pure exploration by solving games" (2019), Algorithm 1 with AdaHedge
as the learner and nature's best response. Its confidence is one interval per arm, from that arm's own measurements, so
optimism makes it measure every arm again and again (LinGame, section 5 and Table 1). Nature, the estimate and the end
are those of the linear model, as in LinGame's comparison.
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from ...arrays import Flags, Floats, Ints
from ...design import Rows, against, xy_optimal
from ...design.budget_supports import independent
from ...domain.goals import AllEpsilonBest, Best, Threshold
from ...strategies.designs import table
from ...strategies.fixed_pool import Fit, absorbed, decided, empty_sums, fitted
from ...strategies.lingame.lingame import LinGame, Round
from ...strategies.phased import one_of
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
    StrategyInfo,
)
from ...system.progress import Report, silent
from . import AT_BUDGET, BATCH, Baseline
from .oracle import true_means

_U = 1.0
_GAP = 1e-2
_SMALL = 1e-6
"""Gaps below this share of the noise count as this."""


class LazyTts(Baseline):
    """Tracks the optimal weights of the estimate until the nearest alternative is far enough away."""

    info: ClassVar[StrategyInfo] = StrategyInfo(
        name="lazy-tts",
        version=1,
        title="Lazy track-and-stop",
        goals=("best", "threshold", "epsilon-best"),
        parameters=(
            Parameter(
                "truth",
                None,
                "for epsilon-best: the true means, of which it is told the border alone, the best minus epsilon",
            ),
            Parameter(
                "threshold",
                "proven",
                "proven: bounds that hold at every look; experiments: log((1 + log t) / delta)",
            ),
            BATCH,
            AT_BUDGET,
        ),
        guarantee="with the stated confidence what is decided before the budget ends is right",
        source="Jedra and Proutiere (2020), Algorithm 1",
        baseline=True,
    )

    def check(self, problem: Problem) -> dict[str, Any]:
        """Return the parameters; AssayPilotError for one out of range, or for all epsilon-best without a truth."""
        given = super().check(problem)
        one_of("threshold", given["threshold"], ("proven", "experiments"))
        if isinstance(problem.goal, AllEpsilonBest):
            true_means(given["truth"], problem, "lazy-tts with this goal")
        return given

    def void(self, problem: Problem) -> tuple[str, ...]:
        """Return what the parameters give up."""
        given, why = self.parameters(problem), []
        if given["threshold"] == "experiments":
            why.append("threshold=experiments stops by log((1 + log t) / delta), which no theorem covers here")
        if isinstance(problem.goal, AllEpsilonBest):
            why.append("the border between in and out is taken as told, not found")
        return (*why, *super().void(problem))

    def memory(self, problem: Problem) -> Arrays:
        """Return the sums of no measurement, and even weights on compounds that span."""
        weights = np.zeros(problem.n_arms)
        start = _spanning(problem)
        weights[start] = 1.0 / max(len(start), 1)
        return {
            **empty_sums(problem),
            "counts": np.zeros(problem.n_arms),
            "tracked": np.zeros(problem.n_arms),
            "weights": weights,
            "renew": np.array([1.0]),
        }

    def ask(self, state: State, report: Report = silent) -> Allocation:
        """Return a batch: a spanning compound while too little is known in some direction, else the one most behind."""
        problem, memory = state.problem, state.memory
        batch = self.batch(problem)
        n = batch if problem.budget is None else min(batch, problem.budget - state.spent)
        rows = np.flatnonzero(problem.measurable)
        candidates = table(problem.features, rows)
        x = candidates.coordinates()
        base = _spanning_positions(problem)
        least = float(np.linalg.eigvalsh(x[base].T @ x[base])[0]) / math.sqrt(candidates.rank)
        information = candidates.basis.T @ memory["information"][0] @ candidates.basis
        counts, behind = memory["counts"][rows].copy(), memory["counts"][rows] - memory["tracked"][rows]
        weights = memory["weights"][rows]
        # Compounds that were to be measured and cannot be any more leave their share to those that can.
        weights = weights / weights.sum() if weights.sum() > 0 else np.full(len(rows), 1.0 / len(rows))
        support = np.flatnonzero((memory["tracked"][rows] > 0) | (weights > 0))
        added = np.zeros(len(rows), dtype=np.intp)
        total = float(memory["counts"].sum())
        for done in range(n):
            report(done / n, "choosing measurements")
            behind -= weights
            if float(np.linalg.eigvalsh(information)[0]) < least * math.sqrt(total):
                # In turn: the one of them measured least.
                chosen = int(base[np.argmin(counts[base] + added[base])])
            else:
                chosen = int(support[np.argmin(behind[support])])
            added[chosen] += 1
            behind[chosen] += 1.0
            information = information + np.outer(x[chosen], x[chosen])
            total += 1.0
        report(1.0, "measurements chosen")
        return Allocation.after(state, rows, added, math.inf, Certificate("xy", math.inf, 0.0), cut=n < batch)

    def decide(self, state: State, outcome: Outcome) -> Decision | None:
        """Decide everything at once, when the nearest alternative is further away than the threshold."""
        problem, given = state.problem, self.parameters(state.problem)
        active = np.flatnonzero(state.active)
        if not (outcome.counts > 0).any() or not len(active):
            return None
        old = state.memory
        memory: dict[str, NDArray[Any]] = {**old, **absorbed(old, problem, outcome)}
        memory["counts"] = old["counts"] + outcome.counts[0]
        memory["tracked"] = old["tracked"] + old["weights"] * outcome.allocation.total
        total = float(memory["counts"].sum())
        fit = fitted(problem.features, memory["information"][0], memory["moment"][0])
        norms = fit.half_norms(active)
        rows = active[np.isfinite(norms)]
        means = np.where(np.isfinite(norms), fit.means(active), np.nan)
        members = self._members(problem, fit, rows)
        if total >= float(old["renew"][0]) and len(rows) == len(active):
            memory["weights"] = self._weights(problem, fit, rows)
            memory["renew"] = np.array([2.0 ** (math.floor(math.log2(total) + 1e-12) + 1)])
        level, known = self._threshold(problem, memory["information"][0], fit, total, given["threshold"])
        away = self._away(problem, fit, rows)
        over = problem.budget is not None and problem.budget - outcome.spent < 1
        sure = (known and len(rows) == len(active) and away > level) or (over and given["at_budget"] == "guess")
        undecided = state.status[rows] == UNDECIDED
        radius = math.sqrt(2.0 * level)
        return decided(
            state,
            outcome,
            ins=rows[members & undecided & sure],
            outs=rows[~members & undecided & sure],
            rows=active,
            estimate=means[None],
            half=(radius * norms)[None],
            numbers={"away": min(away, 1e300), "level": level, "measurements": float(outcome.counts.sum())},
            memory=memory,
        )

    def _border(self, problem: Problem) -> float:
        goal = problem.goal
        if isinstance(goal, Threshold):
            return goal.threshold
        assert isinstance(goal, AllEpsilonBest)
        means = true_means(self.parameters(problem)["truth"], problem)
        return float(means[problem.wanted].max()) - goal.epsilon

    def _members(self, problem: Problem, fit: Fit, rows: Ints) -> Flags:
        means = fit.means(rows)
        if not isinstance(problem.goal, Best):
            return means > self._border(problem)
        chosen = np.zeros(len(rows), dtype=bool)
        if len(rows):
            chosen[int(np.argmax(means))] = True
        return chosen

    def _gaps(self, problem: Problem, fit: Fit, rows: Ints) -> Floats:
        means = fit.means(rows)
        behind = means.max() - means if isinstance(problem.goal, Best) else np.abs(means - self._border(problem))
        goal = problem.goal
        assert isinstance(goal, Best | Threshold | AllEpsilonBest)
        return np.maximum(behind + goal.slack, _SMALL * problem.noise[0])

    def _away(self, problem: Problem, fit: Fit, rows: Ints) -> float:
        """Return Z(t): half the squared distance to the nearest alternative."""
        if not len(rows):
            return 0.0
        gaps = self._gaps(problem, fit, rows)
        if isinstance(problem.goal, Best):
            leader = int(np.argmax(fit.means(rows)))
            sizes = np.delete(fit.difference_norm(rows, int(rows[leader])), leader)
            gaps = np.delete(gaps, leader)
            # A compound equal to the leader is no alternative.
            gaps, sizes = gaps[sizes > 0], sizes[sizes > 0]
        else:
            sizes = fit.half_norms(rows)
        return float(0.5 * ((gaps / sizes) ** 2).min(initial=math.inf))

    def _threshold(
        self, problem: Problem, information: Floats, fit: Fit, total: float, kind: str
    ) -> tuple[float, bool]:
        """Return the threshold in units of values squared, and whether V is large enough for it."""
        features = problem.features
        c = float(features.quadratic(np.eye(features.n_columns)).max())
        values = np.linalg.eigvalsh(fit.basis.T @ information @ fit.basis)
        variance = problem.noise[0] ** 2
        if kind == "experiments":
            return variance * math.log((1.0 + math.log(max(total, 1.0))) / problem.delta), True
        log_det = float(np.log1p(values / (_U * c)).sum())
        enough = bool((values >= c * (1.0 - 1e-9)).all())
        return (1.0 + _U) * variance * (0.5 * log_det + math.log(1.0 / problem.delta)), enough

    def _weights(self, problem: Problem, fit: Fit, rows: Ints) -> Floats:
        """Return the weights that are optimal for the estimate."""
        measurable = np.flatnonzero(problem.measurable)
        candidates = table(problem.features, measurable)
        targets = table(problem.features, rows, measurable)
        weights = np.zeros(problem.n_arms)
        gaps = self._gaps(problem, fit, rows)
        if not isinstance(problem.goal, Best):
            design = xy_optimal(candidates, Rows(targets, gaps=gaps), gap=_GAP)
        else:
            leader = int(np.argmax(fit.means(rows)))
            rivals = fit.difference_norm(rows, int(rows[leader])) > 0
            rivals[leader] = True
            if rivals.sum() < 2:
                weights[_spanning(problem)] = 1.0
                weights /= weights.sum()
                return weights
            few = table(problem.features, rows[rivals], measurable)
            others = against(few, int(np.flatnonzero(np.flatnonzero(rivals) == leader)[0]), gaps=gaps[rivals])
            design = xy_optimal(candidates, others, gap=_GAP)
        weights[measurable[design.support]] = design.weights
        return weights


def _spanning_positions(problem: Problem) -> Ints:
    """Return the positions among what can be measured of compounds that span it."""
    candidates = table(problem.features, np.flatnonzero(problem.measurable))
    return independent(candidates, np.arange(candidates.n_rows))


def _spanning(problem: Problem) -> Ints:
    measurable = np.flatnonzero(problem.measurable)
    return measurable[_spanning_positions(problem)] if len(measurable) else measurable


class _ArmByArm(Round):
    """A round in which every arm is as unsure as its own measurements leave it."""

    def variances(self, counts: Floats) -> Floats:
        """One over the measurements; those of an arm that has none count as one."""
        return 1.0 / np.maximum(counts, 1.0)


class Dkm(LinGame):
    """LinGame with an interval for each arm instead of the ellipsoid."""

    round = _ArmByArm
    info: ClassVar[StrategyInfo] = replace(
        LinGame.info, name="dkm", title="DKM", source="Degenne et al. (2019), Algorithm 1", baseline=True
    )
