"""A strategy of another package, as an example: all that it needs beside an entry point."""

import numpy as np

from assaypilot.engine import Phased, StrategyInfo
from assaypilot.engine.strategies.phased import exhausted, settled
from assaypilot.engine.strategies.protocol import Allocation, Certificate, Decision, Parameter
from assaypilot.engine.system.progress import silent


class Halving(Phased):
    """Measure all that is left a few times, keep the better half, until one is left."""

    info = StrategyInfo(
        name="halving",
        version=1,
        title="Sequential halving",
        goals=("best",),
        parameters=(Parameter("each", 3, "measurements of each compound in a phase"),),
        guarantee="none",
        source="Karnin, Koren and Somekh, ICML 2013",
    )

    def void(self, problem):
        return ("it promises no error probability",)

    def ask(self, state, report=silent):
        arms = np.flatnonzero(state.active & state.problem.measurable)
        counts = np.full(len(arms), self.parameters(state.problem)["each"])
        return Allocation(state.phase + 1, arms, counts, np.inf, Certificate("none", 1.0, 1.0)).within_budget(state)

    def decide(self, state, outcome):
        arms = np.flatnonzero(state.active & (outcome.counts[0] > 0))  # what came back, whatever was asked for
        if not len(arms):
            return None
        order = arms[np.argsort(-outcome.means[0, arms], kind="stable")]
        keep = max(1, len(order) // 2)
        none, unknown = np.zeros(0, dtype=np.intp), np.full(state.low.shape, np.nan)
        ins = order[:1] if keep == 1 else none
        shared = (unknown, unknown, unknown, none, outcome.spent)
        return Decision(state.phase + 1, np.inf, ins, order[keep:], none, *shared)

    def stop(self, state):
        return settled(state) or exhausted(state)
