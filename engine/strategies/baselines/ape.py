"""Adaptive Pareto Exploration: the Pareto set of arms that share nothing, with fixed confidence, one arm after another.

Source: Kone, Kaufmann and Richert, "Adaptive Algorithms for Relaxed Pareto Set Identification" (2023), which GEGE
compares with; the stopping rule of its epsilon-1 relaxation, exact at 0.
"""

from __future__ import annotations

import math
from functools import lru_cache
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from assaypilot.engine.errors import AssayPilotError
from assaypilot.engine.pareto import beaten
from assaypilot.engine.progress import Report, silent
from assaypilot.engine.strategies.baselines.ege import own_means, pooled
from assaypilot.engine.strategies.gege_parts import estimates, goal_of, units
from assaypilot.engine.strategies.linfact_planning import design_rows
from assaypilot.engine.strategies.phased import Phased, one_of, settled
from assaypilot.engine.strategies.protocol import (
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

__all__ = ["Ape", "deviation", "threshold"]

Floats = NDArray[np.float64]
Ints = NDArray[np.intp]
Flags = NDArray[np.bool_]

_AT_ONCE = 1 << 18
"""Pairs of arms looked at together."""


@lru_cache(maxsize=256)
def deviation(x: float) -> float:
    """C^g(x) = min over 1/2 < l < 1 of (g(l) + x) / l, g(l) = 2l - 2l log(4l) + log zeta(2l) - log(1 - l) / 2.

    Kaufmann and Koolen, "Mixture martingales revisited" (2021), Theorem 9: sum over a in S of N_a (mean error of
    a)^2 / 2 stays below |S| C^g(x / |S|) + 2 sum of log(4 + log N_a), at all times at once, but for e^-x.
    """
    from scipy.optimize import minimize_scalar
    from scipy.special import zeta

    def value(part: float) -> float:
        g = 2 * part - 2 * part * math.log(4 * part) + math.log(zeta(2 * part)) - math.log(1 - part) / 2
        return (g + x) / part

    return float(minimize_scalar(value, bounds=(0.5 + 1e-9, 1 - 1e-12), method="bounded").fun)


def threshold(radii: str, delta: float, arms: int, endpoints: int) -> float:
    """The constant of the bonus of a pair: C^g(log(K (K - 1) d / (2 delta)) / 2).

    ``simplified``: without the union over pairs and endpoints and with x + log x for C^g, as in the experiments.
    """
    if radii == "simplified":
        x = math.log(1.0 / delta) / 2.0
        return x + max(math.log(x), 0.0) if x > 0 else 0.0
    return deviation(math.log(max(arms * (arms - 1) / 2.0, 1.0) * endpoints / delta) / 2.0)


class _Known(NamedTuple):
    """What is known of the arms in the race, in the endpoints' common units, ``(n_endpoints, m)``."""

    means: Floats
    counts: Floats
    """Measurements, or what an estimate is worth in measurements; 0 where nothing is known."""
    sigma: Floats
    """``(n_endpoints, 1)``."""
    constant: float


class _Indices(NamedTuple):
    """Over all others j, for each arm i, ``(m,)``."""

    nearest: Floats
    """min of M^-(i, j) with epsilon: above 0, i surely stands within epsilon of the front."""
    above: Floats
    """max of m^-(i, j): above 0, i is surely beaten."""
    hope: Floats
    """min of M^+(i, j): how far i may stand out."""


def _pairs(known: _Known, some: Ints) -> tuple[Floats, Floats]:
    """mean_i - mean_j and its bonus for some i and all j, ``(n_endpoints, len(some), m)``.

    2 sigma sqrt((C + log(4 + log N_i) + log(4 + log N_j)) (1 / N_i + 1 / N_j)).
    """
    logs = np.log(4.0 + np.log(np.maximum(known.counts, 1.0)))
    inverse = np.divide(1.0, known.counts, out=np.full_like(known.counts, np.inf), where=known.counts > 0)
    spread = (known.constant + logs[:, some, None] + logs[:, None, :]) * (inverse[:, some, None] + inverse[:, None, :])
    apart = known.means[:, some, None] - known.means[:, None, :]
    return apart, 2.0 * known.sigma[:, :, None] * np.sqrt(spread)


def _indices(known: _Known, epsilon: float) -> _Indices:
    m = known.means.shape[1]
    out = _Indices(np.empty(m), np.empty(m), np.empty(m))
    step = max(_AT_ONCE // m, 1)
    for start in range(0, m, step):
        some = np.arange(start, min(start + step, m))
        apart, bonus = _pairs(known, some)
        lower, upper = (apart - bonus).max(axis=0), (apart + bonus).max(axis=0)
        # m^-(i, j) = min of mean_j - mean_i - bonus = -max of mean_i - mean_j + bonus.
        own = some - start, some
        above = -upper
        lower[own], upper[own], above[own] = math.inf, math.inf, -math.inf
        out.nearest[some] = lower.min(axis=1) + epsilon
        out.above[some] = above.max(axis=1)
        out.hope[some] = upper.min(axis=1)
    return out


class Ape(Phased):
    """The arm that may stand out most of those not yet sure, or the one that threatens it most: the less measured."""

    info: ClassVar[StrategyInfo] = StrategyInfo(
        name="ape",
        version=1,
        title="APE",
        goals=("pareto",),
        endpoints=(2, None),
        parameters=(
            Parameter(
                "radii",
                "proven",
                "proven: bounds that hold at all times; simplified: as in the papers' experiments, without the union",
            ),
            Parameter(
                "batch", None, "measurements chosen before the next look; none: 1, or a lab's round up to all compounds"
            ),
        ),
        guarantee=(
            "with the stated confidence every compound that no other beats in all endpoints is returned, "
            "and none that another beats by more than the given differences in all of them, compound by compound"
        ),
        source="Kone, Kaufmann and Richert (2023)",
        baseline=True,
    )

    def check(self, problem: Problem) -> dict[str, Any]:
        """The parameters with their defaults; AssayPilotError for one out of range."""
        parameters = self.parameters(problem)
        one_of("radii", parameters["radii"], ("proven", "simplified"))
        batch = parameters["batch"]
        if batch is not None and (isinstance(batch, bool) or not isinstance(batch, int) or batch < 1):
            raise AssayPilotError(
                f"batch must be a whole number of 1 or more, got {batch!r}", option="--parameter batch"
            )
        return parameters

    def void(self, problem: Problem) -> tuple[str, ...]:
        """Why no error probability is promised with these parameters."""
        reasons = []
        if self.parameters(problem)["radii"] == "simplified":
            reasons.append("bounds without the union over compounds and endpoints, as in the papers' experiments")
        if (problem.wanted & ~problem.measurable).any():
            reasons.append("compounds that cannot be measured are judged by an additive estimate")
        return tuple(reasons)

    def memory(self, problem: Problem) -> Arrays:
        """All measurements so far."""
        shape = (problem.n_endpoints, problem.n_arms)
        return {"counts": np.zeros(shape), "means": np.zeros(shape)}

    def ask(self, state: State, report: Report = silent) -> Allocation:
        """Every arm once; then the arms of a batch, as if the means stayed what they are now."""
        problem = state.problem
        rows, _ = design_rows(state)
        counts = np.zeros(problem.n_arms, dtype=np.intp)
        left = problem.n_arms if problem.budget is None else problem.budget - state.spent
        never = rows[(state.memory["counts"][:, rows] == 0).any(axis=0)]
        if len(never):
            counts[never[:left]] = 1
        else:
            batch = self._batch(problem)
            for _ in range(batch if problem.budget is None else min(batch, left)):
                counts[self._next(state, rows, counts)] += 1
        arms = np.flatnonzero(counts)
        return Allocation(
            phase=state.phase + 1,
            arms=arms,
            counts=counts[arms],
            radius=math.inf,
            certificate=Certificate("adaptive", float(len(rows)), 0.0),
            cut_to_budget=len(never) > left,
        )

    def decide(self, state: State, outcome: Outcome) -> Decision | None:
        """Nothing until both stopping indices are above 0; then everything."""
        active = np.flatnonzero(state.active)
        if not (outcome.counts > 0).any() or not len(active):
            return None
        problem = state.problem
        counts, means = pooled(state.memory, outcome)
        known = self._known(problem, counts, means, active)
        front = ~beaten(known.means, known.means)
        index = _indices(known, self._epsilon(problem))
        certain = np.where(front, index.nearest, np.maximum(index.above, index.nearest))
        finished = bool((certain > 0).all())
        ins = front | (index.above <= 0)
        shown = np.full((3, *state.low.shape), np.nan)
        shown[0][:, active] = np.where(known.counts > 0, known.means * units(problem), np.nan)
        shown[1][:, active], shown[2][:, active] = -np.inf, np.inf
        return Decision(
            phase=state.phase + 1,
            radius=math.inf,
            ins=active[ins] if finished else active[:0],
            outs=active[~ins] if finished else active[:0],
            left=active[ins] if finished else active[:0],
            estimate=shown[0],
            low=shown[1],
            high=shown[2],
            contradicted=active[:0],
            spent=outcome.spent,
            numbers={"measurements": float(outcome.counts.max(axis=0).sum())},
            memory={"counts": counts, "means": means},
        )

    def stop(self, state: State) -> tuple[StopReason, ...]:
        """Everything decided, or the budget used up."""
        done = settled(state)
        if done:
            return done
        budget = state.problem.budget
        if budget is not None and state.spent >= budget:
            open_arms = int(((state.status == UNDECIDED) & state.problem.wanted).sum())
            text = "the budget leaves 0 measurements, and one more decision needs at least 1"
            return (StopReason("budget", text, {"left": 0, "needed": 1, "undecided": open_arms}),)
        return ()

    def _batch(self, problem: Problem) -> int:
        given = self.parameters(problem)["batch"]
        if given is not None:
            return int(given)
        return 1 if problem.capacity is None else max(min(problem.capacity.per_round, problem.n_arms), 1)

    def _next(self, state: State, rows: Ints, more: Ints) -> int:
        """The arm to measure next, with ``more`` measurements counted as made."""
        problem = state.problem
        active = np.flatnonzero(state.active)
        counts: Floats = state.memory["counts"] + more.astype(float)
        known = self._known(problem, counts, state.memory["means"], active)
        index = _indices(known, self._epsilon(problem))
        unsure = np.flatnonzero(index.nearest <= 0)
        least = counts.min(axis=0)
        pair: list[int] = []
        if len(unsure):
            bold = int(unsure[np.argmax(index.hope[unsure])])
            apart, bonus = _pairs(known, np.array([bold]))
            threat = (apart - bonus)[:, 0].max(axis=0)
            threat[bold] = math.inf
            pair = [int(arm) for arm in active[[bold, int(np.argmin(threat))]] if problem.measurable[arm]]
        return min(pair, key=lambda arm: least[arm]) if pair else int(rows[np.argmin(least[rows])])

    def _epsilon(self, problem: Problem) -> float:
        return 1.0 if any(goal_of(problem).margins) else 0.0

    def _known(self, problem: Problem, counts: Floats, means: Floats, arms: Ints) -> _Known:
        unit = units(problem)
        found = own_means(problem, counts, means, arms)
        worth = counts[:, arms]
        if (~problem.measurable[arms]).any():
            norms = estimates(problem, counts, means, arms).norms
            indirect = np.divide(1.0, norms**2, out=np.zeros_like(norms), where=np.isfinite(norms) & (norms > 0))
            worth = np.where((worth > 0) | problem.measurable[arms], worth, indirect)
        constant = threshold(
            self.parameters(problem)["radii"], problem.delta, int(problem.wanted.sum()), problem.n_endpoints
        )
        return _Known(
            np.nan_to_num(found / unit),
            np.where(np.isnan(found), 0.0, worth),
            np.array(problem.noise)[:, None] / unit,
            constant,
        )
