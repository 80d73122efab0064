"""Empirical Gap Elimination, EGE-SH and EGE-SR: fixed-budget Pareto sets of arms that share nothing.

Source: Kone, Kaufmann and Richert, "Bandit Pareto Set Identification: the Fixed Budget Setting" (2024), which GEGE
compares with: the same gaps, but every arm has its own mean, from all its measurements so far.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from typing import Any, ClassVar

import numpy as np

from ...arrays import Floats, Ints
from ...strategies.fixed_pool import decided
from ...strategies.gege.fixed_budget import Halved, halving, rounds_for
from ...strategies.gege.parts import estimates, units
from ...strategies.linfact.planning import design_rows
from ...strategies.phased import needs_budget, over_budget, settled
from ...strategies.protocol import (
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
from . import FixedBudget


def pooled(memory: Arrays, outcome: Outcome) -> tuple[Floats, Floats]:
    """Return counts and means ``(n_endpoints, n_arms)`` of every measurement so far."""
    counts = memory["counts"] + outcome.counts
    fresh = np.where(outcome.counts > 0, outcome.means, 0.0)
    sums = memory["counts"] * memory["means"] + outcome.counts * fresh
    return counts, sums / np.maximum(counts, 1.0)


def own_means(problem: Problem, counts: Floats, means: Floats, arms: Ints) -> Floats:
    """Return the mean of each arm's own measurements, ``(n_endpoints, m)``; NaN where there is none.

    An arm that cannot be measured takes the additive estimate from those that were: these algorithms have no other
    estimate of it.
    """
    out = np.where(counts[:, arms] > 0, means[:, arms], np.nan)
    if np.isnan(out).any():
        found = estimates(problem, counts, means, arms)
        extrapolated = np.isnan(out) & np.isfinite(found.norms) & ~problem.measurable[arms]
        out = np.where(extrapolated, found.means, out)
    return out


class _Eliminating(FixedBudget, ABC):
    """What EGE-SH and EGE-SR share: rounds in which every remaining arm is measured equally often."""

    @abstractmethod
    def rounds(self, arms: int) -> int:
        """Return how many rounds there are for so many arms."""

    @abstractmethod
    def per_arm(self, state: State, arms: int) -> int:
        """Return the measurements of each of so many arms in the next round."""

    @abstractmethod
    def verdict(self, state: State, means: Floats, unknown: int) -> tuple[Halved, int]:
        """Return what a phase decides of the arms it knows (``unknown`` others stay), and the rounds that took."""

    @abstractmethod
    def least_budget(self, arms: int) -> int:
        """Return the smallest budget that measures every arm in the first round."""

    def check(self, problem: Problem) -> dict[str, Any]:
        """No parameters; AssayPilotError without a budget or with one that cannot measure every arm."""
        arms = int(problem.wanted.sum())
        needs_budget(problem, self.info.name, self.least_budget(arms), f"too small for {arms:,} compounds")
        return self.parameters(problem)

    def memory(self, problem: Problem) -> Arrays:
        """Return all measurements so far, the number of arms at the start, and the rounds done."""
        shape = (problem.n_endpoints, problem.n_arms)
        arms = int(problem.wanted.sum())
        return {"counts": np.zeros(shape), "means": np.zeros(shape), "arms": np.array([arms]), "rounds": np.array([0])}

    def ask(self, state: State, report: Report = silent) -> Allocation:
        """Measure every arm of the round equally often."""
        rows, _ = design_rows(state)
        counts = np.full(len(rows), self.per_arm(state, len(rows)))
        return Allocation.after(state, rows, counts, math.inf, Certificate("equal", float(len(rows)), 0.0))

    def decide(self, state: State, outcome: Outcome) -> Decision | None:
        """Return the arms of the largest empirical gaps leave the race; after the last round the rest is in."""
        problem = state.problem
        active = np.flatnonzero(state.active)
        if not (outcome.counts > 0).any() or not len(active):
            return None
        counts, means = pooled(state.memory, outcome)
        found = own_means(problem, counts, means, active)
        known = ~np.isnan(found).any(axis=0)
        here = active[known]
        verdict, done = self.verdict(state, found[:, known] / units(problem), int((~known).sum()))
        done += _done(state)
        ins, outs = here[verdict.ins], here[verdict.outs]
        last = np.setdiff1d(active, np.concatenate([ins, outs]))
        if done >= self.rounds(_arms(state)) and known.all():
            ins = np.sort(np.concatenate([ins, last]))
        return decided(
            state,
            outcome,
            ins=ins,
            outs=outs,
            rows=active,
            estimate=found,
            half=np.full(found.shape, math.inf),
            numbers={"measurements": float(outcome.counts.max(axis=0).sum()), "kept": float(len(last))},
            memory={**state.memory, "counts": counts, "means": means, "rounds": np.array([done])},
            leave=True,
        )

    def stop(self, state: State) -> tuple[StopReason, ...]:
        """Return whether all is decided, all rounds are done, or less is left than one measurement of each arm."""
        arms = len(design_rows(state)[0])
        each = self.per_arm(state, arms) if _done(state) < self.rounds(_arms(state)) else 0
        return settled(state) or over_budget(state, arms, each * arms)


class EgeSh(_Eliminating):
    """Sequential halving: ceil(log2 K) rounds of equal size, half of the arms decided in each."""

    info: ClassVar[StrategyInfo] = StrategyInfo(
        name="ege-sh",
        version=1,
        title="EGE-SH",
        goals=("pareto",),
        endpoints=(2, None),
        parameters=(),
        guarantee="everything is decided within the budget, compound by compound; no confidence is stated",
        source="Kone, Kaufmann and Richert (2024), EGE-SH",
        baseline=True,
    )

    def rounds(self, arms: int) -> int:
        """ceil(log2 K)."""
        return rounds_for(arms)

    def least_budget(self, arms: int) -> int:
        """K ceil(log2 K)."""
        return arms * rounds_for(arms)

    def per_arm(self, state: State, arms: int) -> int:
        """Return an even share of what is left over the rounds to come, divided by the arms of this one."""
        budget = state.problem.budget
        assert budget is not None
        rounds = max(self.rounds(_arms(state)) - _done(state), 1)
        return int(max(budget - state.spent, 0) // rounds // max(arms, 1))

    def verdict(self, state: State, means: Floats, unknown: int) -> tuple[Halved, int]:
        """Keep half of the arms, rounded up: those of the smallest gaps."""
        return halving(means, max(math.ceil((means.shape[1] + unknown) / 2) - unknown, 0)), 1


class EgeSr(_Eliminating):
    """Successive rejects: K - 1 rounds, one arm decided in each."""

    info: ClassVar[StrategyInfo] = StrategyInfo(
        name="ege-sr",
        version=1,
        title="EGE-SR",
        goals=("pareto",),
        endpoints=(2, None),
        parameters=(),
        guarantee="everything is decided within the budget, compound by compound; no confidence is stated",
        source="Kone, Kaufmann and Richert (2024), EGE-SR",
        baseline=True,
    )

    def rounds(self, arms: int) -> int:
        """K - 1, and one for a single arm."""
        return max(arms - 1, 1)

    def least_budget(self, arms: int) -> int:
        """K + 1, which gives every arm one measurement (a single arm needs one)."""
        return arms + 1 if arms > 1 else 1

    def per_arm(self, state: State, arms: int) -> int:
        """n_r - n_(r-1) with n_r = ceil((T - K) / (log K-bar (K + 1 - r))); what is left at most."""
        budget = state.problem.budget
        assert budget is not None
        step = _step(_arms(state), budget, _done(state) + 1)
        return int(min(step, max(budget - state.spent, 0) // max(arms, 1)))

    def verdict(self, state: State, means: Floats, unknown: int) -> tuple[Halved, int]:
        """Return the arm of the largest gap, of equal ones one that some other beats.

        Again in rounds without measurements.
        """
        budget = state.problem.budget
        assert budget is not None
        m = means.shape[1]
        ins, outs = np.zeros(m, dtype=bool), np.zeros(m, dtype=bool)
        rest = np.arange(m)
        rounds = 0
        while True:
            rounds += 1
            if len(rest) + unknown > 1 and len(rest):
                one = halving(means[:, rest], len(rest) - 1)
                ins[rest[one.ins]], outs[rest[one.outs]] = True, True
                rest = rest[~(one.ins | one.outs)]
            following = _done(state) + rounds + 1
            if following > self.rounds(_arms(state)) or _step(_arms(state), budget, following) > 0:
                return Halved(ins, outs), rounds


def _step(arms: int, budget: int, phase: int) -> int:
    """n_r - n_(r-1) with n_r = ceil((T - K) / ((1/2 + sum of 1/i from 2 to K) (K + 1 - r))) and n_0 = 0."""
    if arms == 1:
        return budget
    share = (budget - arms) / (0.5 + sum(1.0 / i for i in range(2, arms + 1)))
    before = math.ceil(share / (arms + 2 - phase)) if phase > 1 else 0
    return math.ceil(share / (arms + 1 - phase)) - before


def _arms(state: State) -> int:
    return int(state.memory["arms"][0])


def _done(state: State) -> int:
    return int(state.memory["rounds"][0])
