"""Adaptive Pareto Exploration: the Pareto set of arms that share nothing, with fixed confidence, one arm after another.

Source: Kone, Kaufmann and Richert, "Adaptive Algorithms for Relaxed Pareto Set Identification" (2023), which GEGE
compares with; the stopping rule of its epsilon-1 relaxation, exact at 0.
"""

from __future__ import annotations

import math
from functools import lru_cache
from typing import Any, ClassVar, NamedTuple

import numpy as np

from ...arrays import Floats, Ints
from ...domain.pareto import beaten
from ...errors import AssayPilotError
from ...strategies.fixed_pool import decided
from ...strategies.gege.parts import estimates, goal_of, units
from ...strategies.linfact.planning import design_rows
from ...strategies.phased import one_of
from ...strategies.protocol import (
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
from . import Baseline
from .ege import own_means, pooled

_MOST = 2000
"""Compounds whose pairs can be looked at after every measurement."""


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
    """Return the constant of the bonus of a pair: C^g(log(K (K - 1) d / (2 delta)) / 2).

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
    """``(n_endpoints,)``."""
    constant: float


def _bounds(known: _Known, some: Ints) -> tuple[Floats, Floats]:
    """Return bounds on M(i, j) = max over endpoints of mean_i - mean_j for some i and all j, ``(len(some), m)`` each.

    The bonus of a pair is 2 sigma sqrt((C + log(4 + log N_i) + log(4 + log N_j)) (1 / N_i + 1 / N_j)). With the signs
    of all means turned round it is M(j, i).
    """
    means, counts, sigma, constant = known
    lower = np.full((len(some), means.shape[1]), -math.inf)
    upper = lower.copy()
    for mean, count, sd in zip(means, counts, sigma, strict=True):
        inverse = np.divide(1.0, count, out=np.full_like(count, np.inf), where=count > 0)
        logs = np.log(4.0 + np.log(np.maximum(count, 1.0)))
        bonus = np.add.outer(logs[some] + constant, logs) * np.add.outer(inverse[some], inverse)
        bonus = 2.0 * sd * np.sqrt(bonus)
        differences = np.subtract.outer(mean[some], mean)
        np.maximum(lower, differences - bonus, out=lower)
        np.maximum(upper, differences + bonus, out=upper)
    return lower, upper


class _Race:
    """The bounds on M(i, j) for all pairs of arms, kept while counts grow and means stay."""

    def __init__(self, known: _Known, epsilon: float) -> None:
        self.known = known
        self.epsilon = epsilon
        m = known.means.shape[1]
        self.lower, self.upper = _bounds(known, np.arange(m))
        np.fill_diagonal(self.lower, math.inf)
        np.fill_diagonal(self.upper, math.inf)

    def nearest(self) -> Floats:
        """Return the least M^-(i, j) with epsilon over all j: above 0, i is surely within epsilon of the front."""
        least: Floats = self.lower.min(axis=1) + self.epsilon
        return least

    def above(self) -> Floats:
        """Return the largest m^-(i, j) = -M^+(i, j) over all others j: above 0, i is surely beaten."""
        return -self.hope()

    def hope(self) -> Floats:
        """Return the least M^+(i, j) over all others j: how far i may be above the front."""
        least: Floats = self.upper.min(axis=1)
        return least

    def next_pair(self) -> tuple[int, int] | None:
        """Return the uncertain arm that may be farthest above the front, and the one that may beat it.

        None if all are sure.
        """
        unsure = np.flatnonzero(self.nearest() <= 0)
        if not len(unsure):
            return None
        bold = int(unsure[np.argmax(self.hope()[unsure])])
        return bold, int(np.argmin(self.lower[bold]))

    def measured(self, arm: int) -> None:
        """Add one more measurement of an arm to the means."""
        self.known.counts[:, arm] += 1.0
        one = np.array([arm])
        lower, upper = _bounds(self.known, one)
        self.lower[arm], self.upper[arm] = lower[0], upper[0]
        lower, upper = _bounds(self.known._replace(means=-self.known.means), one)
        self.lower[:, arm], self.upper[:, arm] = lower[0], upper[0]
        self.lower[arm, arm] = self.upper[arm, arm] = math.inf


class Ape(Baseline):
    """The uncertain arm that may be farthest above the front, or the one that threatens it most: the less measured."""

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
        """Return the parameters with their defaults; AssayPilotError for one out of range."""
        parameters = super().check(problem)
        one_of("radii", parameters["radii"], ("proven", "simplified"))
        if problem.wanted.sum() > _MOST:
            raise AssayPilotError(
                f"ape compares every pair of compounds: {int(problem.wanted.sum()):,} are too many",
                option="--strategy",
                mend=f"It takes up to {_MOST:,}.",
            )
        return parameters

    def void(self, problem: Problem) -> tuple[str, ...]:
        """Return why no error probability is promised with these parameters."""
        reasons = []
        if self.parameters(problem)["radii"] == "simplified":
            reasons.append("bounds without the union over compounds and endpoints, as in the papers' experiments")
        if (problem.wanted & ~problem.measurable).any():
            reasons.append("compounds that cannot be measured are judged by an additive estimate")
        return tuple(reasons)

    def memory(self, problem: Problem) -> Arrays:
        """Return all measurements so far."""
        shape = (problem.n_endpoints, problem.n_arms)
        return {"counts": np.zeros(shape), "means": np.zeros(shape)}

    def ask(self, state: State, report: Report = silent) -> Allocation:
        """Measure every arm once; then the arms of a batch, as if the means stayed the same."""
        problem = state.problem
        rows, _ = design_rows(state)
        counts = np.zeros(problem.n_arms, dtype=np.intp)
        left = problem.n_arms if problem.budget is None else problem.budget - state.spent
        never = rows[(state.memory["counts"][:, rows] == 0).any(axis=0)]
        if len(never):
            counts[never[:left]] = 1
        else:
            batch = self.batch(problem)
            counts = self._chosen(state, rows, batch if problem.budget is None else min(batch, left))
        certificate = Certificate("adaptive", float(len(rows)), 0.0)
        return Allocation.after(state, np.arange(len(counts)), counts, math.inf, certificate, cut=len(never) > left)

    def decide(self, state: State, outcome: Outcome) -> Decision | None:
        """Decide nothing until both stopping indices are above 0; then everything."""
        active = np.flatnonzero(state.active)
        if not (outcome.counts > 0).any() or not len(active):
            return None
        problem = state.problem
        counts, means = pooled(state.memory, outcome)
        known = self._known(problem, counts, means, active)
        front = ~beaten(known.means, known.means)
        race = _Race(known, self._epsilon(problem))
        nearest, above = race.nearest(), race.above()
        finished = bool((np.where(front, nearest, np.maximum(above, nearest)) > 0).all())
        ins = front | (above <= 0)
        return decided(
            state,
            outcome,
            ins=active[ins & finished],
            outs=active[~ins & finished],
            rows=active,
            estimate=np.where(known.counts > 0, known.means * units(problem), np.nan),
            half=np.full(known.means.shape, math.inf),
            numbers={"measurements": float(outcome.counts.max(axis=0).sum())},
            memory={"counts": counts, "means": means},
            leave=True,
        )

    def batch(self, problem: Problem) -> int:
        """Return the measurements per phase: as given, else the lab's round but no more than compounds, else 1."""
        given = self.parameters(problem)["batch"]
        if given is not None:
            return int(given)
        return 1 if problem.capacity is None else max(min(problem.capacity.per_round, problem.n_arms), 1)

    def _chosen(self, state: State, rows: Ints, n: int) -> Ints:
        """``(n_arms,)`` measurements of a batch: each as the paper chooses, with those before it counted as made."""
        problem = state.problem
        active = np.flatnonzero(state.active)
        race = _Race(
            self._known(problem, state.memory["counts"], state.memory["means"], active), self._epsilon(problem)
        )
        place = np.full(problem.n_arms, -1)
        place[active] = np.arange(len(active))
        least = state.memory["counts"].min(axis=0)
        chosen = np.zeros(problem.n_arms, dtype=np.intp)
        for _ in range(n):
            pair = race.next_pair()
            able = [int(arm) for arm in active[list(pair)] if problem.measurable[arm]] if pair else []
            arm = min(able, key=lambda one: least[one]) if able else int(rows[np.argmin(least[rows])])
            chosen[arm] += 1
            least[arm] += 1.0
            if place[arm] >= 0:
                race.measured(int(place[arm]))
        return chosen

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
            np.array(problem.noise) / unit[:, 0],
            constant,
        )
