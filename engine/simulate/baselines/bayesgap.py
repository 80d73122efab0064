"""BayesGap with a linear belief: the best within a fixed budget, by the smallest gap a belief allows.

Source: Hoffman, Shahriari and de Freitas (2014), "On correlation and budget constraints in model-based bandit
optimization", Algorithm 1 and Theorem 1: bounds U, L = mean +- beta s; B(k) = max over i != k of U(i) - L(k);
J = argmin B, j = argmax U among the others; the one of the two with the larger s is measured; the answer is the J of
the step with the smallest B(J). beta^2 = ((T - K) / sigma^2 + kappa / eta^2) / (4 H), kappa = sum of 1 / ||x||^2,
H = sum of max((gap + epsilon) / 2, epsilon)^-2, the gaps estimated by mean +- 3 s as in section 5 there. For all
epsilon-best (LinFACT section 7) those within epsilon of the best by the means at the end.
Ours: with T <= K the first term of beta counts one measurement; in place of a compound that cannot be measured the one
that tells most about it is; in a batch the means stay as they were.
"""

from __future__ import annotations

import math
from functools import lru_cache
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from ...arrays import Floats, Ints
from ...domain.goals import Best
from ...strategies.phased import number
from ...strategies.protocol import Arrays, Parameter, Problem, State, StrategyInfo
from .bayesgap_belief import Belief
from .bayesgap_run import BUDGET_PARAMETERS, BudgetRun

__all__ = ["BayesGap"]


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
        """The parameters; AssayPilotError for one out of range."""
        given = super().check(problem)
        if given["epsilon"] != 0:
            number("epsilon", given["epsilon"])
        return given

    def memory(self, problem: Problem) -> Arrays:
        """Nothing measured; no leader yet."""
        return {**super().memory(problem), "leader": np.array([-1.0]), "smallest": np.array([math.inf])}

    def choose(self, problem: Problem, x: Floats, aims: Ints, measurable: Ints, seen: Belief) -> int:
        """The less known of the leader and its rival, or what tells most about it where it cannot be measured."""
        leader, rival, _, spread = self._pair(problem, x[aims], seen)
        wanted = int(aims[leader if spread[leader] >= spread[rival] else rival])
        if (measurable == wanted).any():
            return wanted
        across = x[measurable] @ seen.covariance
        own = np.einsum("ij,ij->i", across, x[measurable])
        return int(measurable[np.argmax((across @ x[wanted]) ** 2 / (seen.noise**2 + own))])

    def _pair(self, problem: Problem, x: Floats, seen: Belief) -> tuple[int, int, float, Floats]:
        """Leader, rival, the leader's B, and the spread of every row."""
        given = self.parameters(problem)
        return _paired(x.tobytes(), seen, float(given["epsilon"]), float(given["prior"]), problem.budget or 0)

    def kept(self, state: State, memory: dict[str, NDArray[Any]]) -> dict[str, NDArray[Any]]:
        """The leader of the step with the smallest B so far: the one this step was chosen by."""
        problem = state.problem
        rows = np.flatnonzero(state.active)
        if len(rows) > 1:
            leader, _, behind, _ = self._pair(problem, problem.features.dense(rows), self.believed(state))
            if behind < float(memory["smallest"][0]):
                memory |= {"leader": np.array([float(rows[leader])]), "smallest": np.array([behind])}
        return memory

    def final(self, problem: Problem, rows: Ints, seen: Belief, memory: dict[str, NDArray[Any]]) -> Floats:
        """The means; for the best the leader of the smallest B before all."""
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
    told = max(budget - len(x), 1) / seen.noise**2
    beta = math.sqrt((told + kappa / prior**2) / (4.0 * float((size**-2).sum())))
    high, low = mean + beta * spread, mean - beta * spread
    behind = _highest_other(high) - low
    leader = int(behind.argmin())
    high[leader] = -math.inf
    return leader, int(high.argmax()), float(behind[leader]), spread


@lru_cache(maxsize=2)
def _of_rows(rows: bytes, columns: int) -> tuple[Floats, float]:
    """The rows, and the sum of 1 / ||x||^2."""
    x = np.frombuffer(rows).reshape(-1, columns)
    return x, float((1.0 / np.maximum((x * x).sum(axis=1), 1e-12)).sum())


def _highest_other(values: Floats) -> Floats:
    """For each position the largest of the others; -inf for a single one."""
    best = values.argmax()
    out = np.empty(len(values))
    out[:] = values[best]
    rest = values.copy()
    rest[best] = -math.inf
    out[best] = rest.max()
    return out
