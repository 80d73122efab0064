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
        if np.isin(wanted, measurable):
            return wanted
        across = x[measurable] @ seen.covariance
        own = np.einsum("ij,ij->i", across, x[measurable])
        return int(measurable[np.argmax((across @ x[wanted]) ** 2 / (seen.noise**2 + own))])

    def _pair(self, problem: Problem, x: Floats, seen: Belief) -> tuple[int, int, float, Floats]:
        """Leader, rival, the leader's B, and the spread of every row."""
        given = self.parameters(problem)
        mean = x @ seen.mean
        spread = np.sqrt(np.maximum(np.einsum("ij,ij->i", x @ seen.covariance, x), 0.0))
        ahead = _highest_other(mean + 3.0 * spread)
        gaps = np.maximum(ahead - (mean - 3.0 * spread), 0.0)
        epsilon = float(given["epsilon"])
        size = np.maximum(np.maximum((gaps + epsilon) / 2.0, epsilon), _SMALL * seen.noise)
        hardness = float((size**-2).sum())
        kappa = float((1.0 / np.maximum(np.einsum("ij,ij->i", x, x), 1e-12)).sum())
        told = max((problem.budget or 0) - len(x), 1) / seen.noise**2
        beta = math.sqrt((told + kappa / float(given["prior"]) ** 2) / (4.0 * hardness))
        high, low = mean + beta * spread, mean - beta * spread
        behind = _highest_other(high) - low
        leader = int(np.argmin(behind))
        others = high.copy()
        others[leader] = -math.inf
        return leader, int(np.argmax(others)), float(behind[leader]), spread

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


def _highest_other(values: Floats) -> Floats:
    """For each position the largest of the others; -inf for a single one."""
    if len(values) < 2:
        return np.full(len(values), -math.inf)
    best = int(np.argmax(values))
    out = np.full(len(values), values[best])
    out[best] = np.delete(values, best).max()
    return out
