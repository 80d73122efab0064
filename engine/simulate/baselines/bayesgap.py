"""BayesGap and KGCB: Bayesian baselines that measure one compound at a time.

BayesGap with a linear belief: the best within a fixed budget, by the smallest gap a belief allows.

Source: Hoffman, Shahriari and de Freitas (2014), "On correlation and budget constraints in model-based bandit
optimization", Algorithm 1 and Theorem 1: bounds U, L = mean +- beta s; B(k) = max over i != k of U(i) - L(k);
J = argmin B, j = argmax U among the others; the one of the two with the larger s is measured; the answer is the J of
the step with the smallest B(J). beta^2 = ((T - K) / sigma^2 + kappa / eta^2) / (4 H), kappa = sum of 1 / ||x||^2,
H = sum of max((gap + epsilon) / 2, epsilon)^-2, the gaps estimated by mean +- 3 s as in section 5 there. For all
epsilon-best (LinFACT section 7) those within epsilon of the best by the means at the end.
Ours: with T <= K the first term of beta counts one measurement; in place of a compound that cannot be measured the one
that tells most about it is; in a batch the means stay as they were.

KGCB: the knowledge gradient with correlated beliefs under an additive model, within a fixed budget.

Source: Negoescu, Frazier and Powell (2011), "The knowledge-gradient algorithm for sequencing experiments in drug
discovery" (linear belief); Frazier, Powell and Dayanik (2009), "The knowledge-gradient policy for correlated normal
beliefs", Algorithms 1 and 2 (the expectation of a maximum of lines). The measurement taken is the one after which the
largest mean is expected to be highest. For all epsilon-best (LinFACT section 7) those within epsilon of the best by the
means at the end. Simplified: the prior is N(0, prior^2 I) on the effects; in a batch the means stay as they were.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr

from ...arrays import Floats, Ints
from ...domain.goals import Best
from ...errors import AssayPilotError
from ...models.ols import positive_inverse
from ...strategies.fixed_pool import absorbed, best_guess, decided, empty_sums
from ...strategies.phased import needs_budget, number
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
from . import BATCH, FixedBudget


@dataclass(frozen=True, slots=True, eq=False)
class Belief:
    """Means and covariance of the effects, in the columns of the features."""

    mean: Floats
    covariance: Floats
    noise: float

    def measured(self, x: Floats) -> Belief:
        """Return the belief after one more measurement of a row ``x`` of unknown value: only the spread shrinks."""
        step = self.covariance @ x
        scaled = step / (self.noise**2 + float(x @ step))
        return Belief(self.mean, self.covariance - step[:, None] * scaled, self.noise)


def belief(problem: Problem, sums: Arrays, prior: float) -> Belief:
    """Return the posterior of N(0, prior^2 I) after the measurements in the sums (of one endpoint)."""
    return _belief(sums["information"][0].tobytes(), sums["moment"][0].tobytes(), problem.noise[0], prior)


@lru_cache(maxsize=8)
def _belief(information: bytes, moment: bytes, noise: float, prior: float) -> Belief:
    """Return the posterior of sums; the last few are kept, because planning and deciding need the same."""
    towards = np.frombuffer(moment) / noise**2
    precision = np.frombuffer(information).reshape(len(towards), -1) / noise**2
    precision.flat[:: len(towards) + 1] += 1.0 / prior**2
    covariance = positive_inverse(precision)
    return Belief(covariance @ towards, covariance, noise)


_MOST = 20_000

BUDGET_PARAMETERS = (
    Parameter("prior", 1.0, "SD of the effects before anything is measured, model scale"),
    BATCH,
)


class BudgetRun(FixedBudget, ABC):
    """A belief chooses every measurement until the budget is spent; the answer follows from its means."""

    def check(self, problem: Problem) -> dict[str, Any]:
        """Return the parameters; AssayPilotError without a budget, or for a library too large to look at one by one."""
        given = super().check(problem)
        number("prior", given["prior"])
        needs_budget(problem, self.info.name)
        if problem.n_arms > _MOST:
            raise AssayPilotError(
                f"{self.info.name} looks at every compound at every step; {problem.n_arms:,} are too many",
                option="--strategy",
            )
        return given

    def memory(self, problem: Problem) -> Arrays:
        """Return the sums of no measurement."""
        return empty_sums(problem)

    @abstractmethod
    def choose(self, problem: Problem, x: Floats, targets: Ints, measurable: Ints, seen: Belief) -> int:
        """Return the next measurement: a position in the rows ``x``, one of ``measurable``.

        ``aims`` are in question.
        """

    def believed(self, state: State) -> Belief:
        """Return what is believed now."""
        return belief(state.problem, state.memory, float(self.parameters(state.problem)["prior"]))

    def ask(self, state: State, report: Report = silent) -> Allocation:
        """Return a batch: after each choice the belief shrinks as if measured, while its means stay."""
        problem = state.problem
        assert problem.budget is not None
        batch = self.batch(problem)
        n = min(batch, problem.budget - state.spent)
        rows = np.flatnonzero(state.active | problem.measurable)
        x = problem.features.dense(rows)
        targets, measurable = np.flatnonzero(state.active[rows]), np.flatnonzero(problem.measurable[rows])
        seen = self.believed(state)
        counts = np.zeros(len(rows), dtype=np.intp)
        for done in range(n):
            report(done / n, "choosing measurements")
            chosen = measurable[0] if len(measurable) == 1 else self.choose(problem, x, targets, measurable, seen)
            counts[chosen] += 1
            seen = seen.measured(x[chosen])
        report(1.0, "measurements chosen")
        certificate = Certificate(self.info.name, math.inf, 0.0)
        return Allocation.after(state, rows, counts, math.inf, certificate, cut=n < batch)

    def final(self, problem: Problem, rows: Ints, seen: Belief, memory: dict[str, NDArray[Any]]) -> Floats:
        """Return the scores of the rows that the answer is made of; the means believed."""
        return problem.features.times(seen.mean, rows)

    def kept(self, state: State, memory: dict[str, NDArray[Any]]) -> dict[str, NDArray[Any]]:
        """Return what is kept besides the sums."""
        return memory

    def decide(self, state: State, outcome: Outcome) -> Decision | None:
        """Decide nothing before the budget is spent; then the members by the means believed."""
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


_SMALL = 1e-3
"""Gaps below this share of the noise count as this, so that a tie leaves beta above 0."""


class BayesGap(BudgetRun):
    """Measures the less known of the leader and its strongest rival."""

    info: ClassVar[StrategyInfo] = StrategyInfo(
        name="bayesgap",
        version=1,
        title="BayesGap",
        goals=("best", "epsilon-best"),
        parameters=(*BUDGET_PARAMETERS, Parameter("epsilon", 0.0, "gaps below this do not matter, model scale")),
        guarantee="the best compound is more likely found the larger the budget; no error probability is promised",
        source="Hoffman et al. (2014), Algorithm 1",
        baseline=True,
    )

    def check(self, problem: Problem) -> dict[str, Any]:
        """Return the parameters; AssayPilotError for one out of range."""
        given = super().check(problem)
        if given["epsilon"] != 0:
            number("epsilon", given["epsilon"])
        return given

    def memory(self, problem: Problem) -> Arrays:
        """Return the sums of no measurement, without a leader."""
        return {**super().memory(problem), "leader": np.array([-1.0]), "smallest": np.array([math.inf])}

    def choose(self, problem: Problem, x: Floats, targets: Ints, measurable: Ints, seen: Belief) -> int:
        """Return the less known of leader and rival, or the most informative arm where it cannot be measured."""
        leader, rival, _, spread = self._pair(problem, x[targets], seen)
        target = int(targets[leader if spread[leader] >= spread[rival] else rival])
        if (measurable == target).any():
            return target
        across = x[measurable] @ seen.covariance
        own = np.einsum("ij,ij->i", across, x[measurable])
        return int(measurable[np.argmax((across @ x[target]) ** 2 / (seen.noise**2 + own))])

    def _pair(self, problem: Problem, x: Floats, seen: Belief) -> tuple[int, int, float, Floats]:
        """Return the leader, rival, the leader's B, and the spread of every row."""
        given = self.parameters(problem)
        return _paired(x.tobytes(), seen, float(given["epsilon"]), float(given["prior"]), problem.budget or 0)

    def kept(self, state: State, memory: dict[str, NDArray[Any]]) -> dict[str, NDArray[Any]]:
        """Return the leader of the step with the smallest B so far: the one this step was chosen by."""
        problem = state.problem
        rows = np.flatnonzero(state.active)
        if len(rows) > 1:
            leader, _, behind, _ = self._pair(problem, problem.features.dense(rows), self.believed(state))
            if behind < float(memory["smallest"][0]):
                memory |= {"leader": np.array([float(rows[leader])]), "smallest": np.array([behind])}
        return memory

    def final(self, problem: Problem, rows: Ints, seen: Belief, memory: dict[str, NDArray[Any]]) -> Floats:
        """Return the means; for the best the leader of the smallest B before all."""
        scores = super().final(problem, rows, seen, memory)
        leader = np.flatnonzero(rows == int(memory["leader"][0]))
        if isinstance(problem.goal, Best) and len(leader):
            scores = scores.copy()
            scores[leader] = math.inf
        return scores


@lru_cache(maxsize=8)
def _paired(rows: bytes, seen: Belief, epsilon: float, prior: float, budget: int) -> tuple[int, int, float, Floats]:
    """See ``BayesGap._pair``; the last few are kept: what a step is chosen by is also what its B is kept by."""
    x, kappa = _of_rows(rows, len(seen.mean))
    mean = x @ seen.mean
    spread = np.sqrt(np.maximum(((x @ seen.covariance) * x).sum(axis=1), 0.0))
    wide = 3.0 * spread
    size = np.maximum((_highest_other(mean + wide) - mean + wide + epsilon) / 2.0, max(epsilon, _SMALL * seen.noise))
    effective = max(budget - len(x), 1) / seen.noise**2
    beta = math.sqrt((effective + kappa / prior**2) / (4.0 * float((size**-2).sum())))
    high, low = mean + beta * spread, mean - beta * spread
    behind = _highest_other(high) - low
    leader = int(behind.argmin())
    high[leader] = -math.inf
    return leader, int(high.argmax()), float(behind[leader]), spread


@lru_cache(maxsize=2)
def _of_rows(rows: bytes, columns: int) -> tuple[Floats, float]:
    """Return the rows, and the sum of 1 / ||x||^2."""
    x = np.frombuffer(rows).reshape(-1, columns)
    return x, float((1.0 / np.maximum((x * x).sum(axis=1), 1e-12)).sum())


def _highest_other(values: Floats) -> Floats:
    """Return for each position the largest of the others; -inf for a single one."""
    best = values.argmax()
    out = np.empty(len(values))
    out[:] = values[best]
    rest = values.copy()
    rest[best] = -math.inf
    out[best] = rest.max()
    return out


class Kgcb(BudgetRun):
    """Measures where the best mean is expected to rise most."""

    info: ClassVar[StrategyInfo] = StrategyInfo(
        name="kgcb",
        version=1,
        title="Knowledge gradient",
        goals=("best", "epsilon-best"),
        parameters=BUDGET_PARAMETERS,
        guarantee="the best compound is more likely found the larger the budget; no error probability is promised",
        source="Negoescu et al. (2011); Frazier et al. (2009)",
        baseline=True,
    )

    def choose(self, problem: Problem, x: Floats, targets: Ints, measurable: Ints, seen: Belief) -> int:
        """Return the largest knowledge gradient; where all are 0 to rounding, the compound known least."""
        mean = x[targets] @ seen.mean
        across = x @ seen.covariance
        own = np.maximum(np.einsum("ij,ij->i", across, x), 0.0)
        gains = np.empty(len(measurable))
        for place, row in enumerate(measurable):
            gains[place] = expected_gain(mean, across[targets] @ x[row] / math.sqrt(seen.noise**2 + own[row]))
        if gains.max() > 1e-300:
            return int(measurable[np.argmax(gains)])
        return int(measurable[np.argmax(own[measurable])])


def expected_gain(a: Floats, b: Floats) -> float:
    """E[max_i (a_i + b_i Z)] - max_i a_i for a standard normal Z: the upper envelope of lines, exactly."""
    order = np.lexsort((a, b))
    a, b = a[order], b[order]
    # Of parallel lines only the highest counts.
    last = np.append(b[1:] > b[:-1], True)
    a, b = a[last], b[last]
    # Lines that can be on top: those above the chord; a stack from the flattest fall to the steepest rise.
    top = [0]
    cuts = [-math.inf]
    rise, slope = a.tolist(), b.tolist()
    for line in range(1, len(rise)):
        while True:
            below = top[-1]
            cut = (rise[below] - rise[line]) / (slope[line] - slope[below])
            if len(top) > 1 and cut <= cuts[-1]:
                top.pop()
                cuts.pop()
                continue
            break
        top.append(line)
        cuts.append(cut)
    if len(top) < 2:
        return 0.0
    steps = np.diff(b[top])
    at = -np.abs(np.array(cuts[1:]))
    density = np.exp(-0.5 * at * at) / math.sqrt(2.0 * math.pi)
    return float(steps @ np.maximum(density + at * ndtr(at), 0.0))
