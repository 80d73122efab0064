"""LinFACT with G-optimal designs, and what all LinFACT strategies share.

Shared are radii, union logs, good and bad compounds by bounds on means, and how they end.

Source: "Identifying all epsilon-best arms in linear bandits", section 4 (Algorithms 1, 3 and 4, eq. 21), with the
noise, the slack, the first radius and the realised half-widths of our own statement.
"""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Mapping
from typing import Any, ClassVar, NamedTuple

import numpy as np

from ...arrays import Flags, Floats, Ints
from ...domain.goals import AllEpsilonBest
from ...system.progress import Report, silent
from ..designs import estimated, table
from ..phased import SOFTER, Phased, inseparable, lost_reason, number, one_of, over_budget, settled
from ..protocol import (
    IN,
    UNDECIDED,
    Allocation,
    Decision,
    Outcome,
    Parameter,
    Problem,
    State,
    StopReason,
    StrategyInfo,
)
from .planning import design_rows, means_phase

DECIDE = Parameter(
    "decide",
    "realised",
    "realised: bounds from the measurements that returned; planned: the bounds the plan promised",
)
FIRST_RADIUS = Parameter(
    "first_radius", None, "half-width after the first phase, model scale; none: from noise and slack"
)
GAP = Parameter("gap", 1e-3, "how far the design may be from optimal (relative)")


def union_log(n_arms: int, phase: int, delta: float) -> float:
    """Return log(2 K r (r + 1) / delta): two sides of K means in every phase r, errors summing to delta."""
    return math.log(2.0 * n_arms * phase * (phase + 1) / delta)


def goal_of(problem: Problem) -> AllEpsilonBest:
    """Return the goal, which is always this kind here."""
    assert isinstance(problem.goal, AllEpsilonBest)
    return problem.goal


def largest_radius(largest: float, last: float, stepped: bool) -> float:
    """Return the largest ``last`` 2^k at most ``largest``.

    With ``stepped`` k is at least 0, so that halving ends at last.
    """
    steps = math.floor(math.log2(largest / last) + 1e-12)
    return last * 2.0 ** (max(steps, 0) if stepped else steps)


class Bounded(NamedTuple):
    """Means of the active arms and their half-widths; infinite, with mean 0, where nothing is known."""

    mean: Floats
    half: Floats
    numbers: Mapping[str, float] = {}

    @property
    def low(self) -> Floats:
        """The lower bounds."""
        return np.asarray(self.mean - self.half, dtype=np.float64)

    @property
    def high(self) -> Floats:
        """The upper bounds."""
        return np.asarray(self.mean + self.half, dtype=np.float64)


class Sorted(NamedTuple):
    """Decisions of a phase about the active arms, all bounds taken before any removal (Algorithm 3)."""

    good: Flags
    bad: Flags
    dispensable: Flags
    """Certainly not the best: once good, it need not be measured any more."""
    upper: float
    """The good threshold U."""
    lower: float
    """The bad threshold L."""


def sort_by_means(low: Floats, high: Floats, top: float, best: float, goal: AllEpsilonBest) -> Sorted:
    """Decide good, bad or neither by bounds on every mean.

    ``top`` and ``best`` are the largest upper and lower bounds of all that may be the best (lost arms included).
    """
    upper, lower = top - goal.epsilon, best - goal.epsilon
    bad = high < lower
    # In the soft zone narrow bounds allow both answers; bad is tested first, as in Algorithm 3.
    good = ~bad & (low >= upper - goal.slack if goal.slack > 0 else low > upper)
    return Sorted(good, bad, high < best, float(upper), float(lower))


class LinFact(Phased):
    """All epsilon-best compounds; every phase bounds every active mean by the same radius, which then halves."""

    def check(self, problem: Problem) -> dict[str, Any]:
        """Return the parameters with their defaults; AssayPilotError for one out of range."""
        parameters = self.parameters(problem)
        one_of("decide", parameters["decide"], ("realised", "planned"))
        number("gap", parameters["gap"], below=1.0)
        if parameters["first_radius"] is not None:
            number("first_radius", parameters["first_radius"])
        return parameters

    def parameters(self, problem: Problem) -> dict[str, Any]:
        """Return the parameters by name, defaults filled in."""
        parameters = super().parameters(problem)
        if parameters["gap"] is None:
            parameters["gap"] = GAP.default
        return parameters

    @abstractmethod
    def spread_log(self, problem: Problem, phase: int) -> float:
        """Return the logarithm of the phase's union bound."""

    def noise(self, problem: Problem) -> float:
        """Return the SD of one measurement on the scale of the bounds."""
        return problem.noise[0]

    def wells(self, state: State, radius: float, phase: int) -> float:
        """Return measurements per unit of the design's value: 2 sigma^2 / C^2 log(2 K r (r+1) / delta) (eq. 21)."""
        return 2.0 * (self.noise(state.problem) / radius) ** 2 * self.spread_log(state.problem, phase)

    def last_radius(self, problem: Problem) -> float | None:
        """Return the radius that leaves nothing undecided; None without slack."""
        slack = goal_of(problem).slack
        return slack / 4.0 if slack > 0 else None

    def first_radius(self, problem: Problem) -> float:
        """Return the given one, else the largest whose first phase still takes about 2 d measurements.

        With slack it is the last radius times a power of two, so that the last phase has exactly that; without, a
        power of two. 2 d sigma^2 / C^2 log(4 K / delta) >= 2 d means C <= sigma sqrt(log(4 K / delta)).
        """
        given = self.parameters(problem)["first_radius"]
        if given is not None:
            return float(given)
        last = self.last_radius(problem)
        return largest_radius(self.widest(problem), 1.0 if last is None else last, last is not None)

    def widest(self, problem: Problem) -> float:
        """Return the radius at which a first phase takes about 2 d measurements."""
        return self.noise(problem) * math.sqrt(self.spread_log(problem, 1))

    def radius(self, state: State, phase: int) -> float:
        """Return C_r: the first radius halved every phase, with slack never below the last one."""
        radius = state.first_radius * 2.0 ** -(phase - 1)
        last = self.last_radius(state.problem)
        return radius if last is None else max(radius, last)

    def ask(self, state: State, report: Report = silent) -> Allocation:
        """Return the next phase: T(a) = ceil(g(w) w(a) ``wells``) (eq. 21)."""
        phase = state.phase + 1
        radius = self.radius(state, phase)
        wells = self.wells(state, radius, phase)
        return means_phase(state, radius, wells, float(self.parameters(state.problem)["gap"]), report)

    def bounds(self, state: State, outcome: Outcome, measured: Ints, active: Ints) -> Bounded:
        """Return means and half-widths of the active arms from this phase's measurements only (eq. 24, 25).

        sigma ||a||_{V^-1} sqrt(2 log(2 K r (r+1) / delta)); infinite, with mean 0, outside the span of what was
        measured.
        """
        problem = state.problem
        counts = outcome.counts[0, measured]
        means, norms = estimated(problem.features, measured, counts, outcome.means[0, measured], active)
        return Bounded(np.where(np.isfinite(norms), means, 0.0), self.half_widths(state, outcome, norms))

    def half_widths(self, state: State, outcome: Outcome, norms: Floats) -> Floats:
        """Return the half-widths of arms of these norms; those promised, where decided as planned and kept."""
        problem = state.problem
        half = self.noise(problem) * math.sqrt(2.0 * self.spread_log(problem, state.phase + 1)) * norms
        if self.parameters(problem)["decide"] == "planned" and outcome.complete:
            # An arm that was not active when they were planned, and is now, may be outside their span. The realised
            # half-widths hold either way.
            promised = outcome.allocation.radius
            half = np.where(half <= promised * (1.0 + 1e-9), promised, half)
        return half

    def decide(self, state: State, outcome: Outcome) -> Decision | None:
        """Decide good, bad or still open for every active arm, all bounds taken before any removal (Algorithm 3)."""
        measured = np.flatnonzero(outcome.counts[0] > 0)
        active = np.flatnonzero(state.active)
        # Nothing is left to decide when all that a phase measured is unavailable now.
        if not len(measured) or not len(active):
            return None
        bounded = self.bounds(state, outcome, measured, active)
        mean, half, numbers, low, high = bounded.mean, bounded.half, bounded.numbers, bounded.low, bounded.high
        top, best, widest = float(high.max()), float(low.max()), float(half.max())
        if state.lost.any():
            # The bounds of all phases hold together, so those of lost arms still bound where the best may be.
            top = max(top, float(state.high[0, state.lost].max()))
            best = max(best, float(state.low[0, state.lost].max()))
        found = sort_by_means(low, high, top, best, goal_of(state.problem))
        spread = np.full((3, 1, state.problem.n_arms), np.nan)
        spread[0, 0, active] = mean if widest < math.inf else np.where(np.isfinite(half), mean, np.nan)
        spread[1, 0, active] = low
        spread[2, 0, active] = high
        return self.decision(state, outcome, active, found, spread, {"widest_half_width": widest, **numbers})

    def decision(
        self,
        state: State,
        outcome: Outcome,
        active: Ints,
        found: Sorted,
        spread: Floats,
        numbers: Mapping[str, float],
    ) -> Decision:
        """Return what the phase decides, once the active arms are sorted.

        ``spread``: estimate, low and high of all arms.
        """
        before = state.status[active]
        good_now = (before == IN) | (found.good & (before == UNDECIDED))
        return Decision.after(
            state,
            outcome,
            spread,
            ins=active[found.good & (before == UNDECIDED)],
            outs=active[found.bad & (before == UNDECIDED)],
            left=active[good_now & found.dispensable],
            contradicted=active[found.bad & (before == IN)],
            numbers={
                "upper_threshold": found.upper,
                "lower_threshold": found.lower,
                "measurements": float(outcome.counts.sum()),
                **numbers,
            },
        )

    def stop(self, state: State) -> tuple[StopReason, ...]:
        """Stop when all is decided, nothing is left to measure, or the budget is below one more phase."""
        done = settled(state)
        if done:
            return done
        last, finest = state.last, self.last_radius(state.problem)
        at_end = last is not None and finest is not None and last.radius <= finest * (1.0 + 1e-9)
        if last is not None and at_end and state.lost.any() and not len(last.ins) and not len(last.outs):
            return (lost_reason(state),)
        if state.problem.budget is not None:
            spent = over_budget(state, table(state.problem.features, design_rows(state)[0]).rank)
            if spent:
                return spent
        phase = state.phase + 1
        return inseparable(state, self.wells(state, self.radius(state, phase), phase), SOFTER)


class LinFactG(LinFact):
    """All epsilon-best compounds; every phase bounds every active mean by the same radius, which then halves."""

    info: ClassVar[StrategyInfo] = StrategyInfo(
        name="linfact-g",
        version=2,
        title="LinFACT-G",
        goals=("epsilon-best",),
        parameters=(DECIDE, FIRST_RADIUS, GAP),
        guarantee=(
            "with the stated confidence every compound within epsilon is returned "
            "and none worse than epsilon + slack, if the substituent effects add up"
        ),
        source="LinFACT, section 4",
        any_plan=True,
        noise_bound=True,
    )

    def spread_log(self, problem: Problem, phase: int) -> float:
        """Return log(2 K r (r + 1) / delta)."""
        return union_log(int(problem.wanted.sum()), phase, problem.delta)
