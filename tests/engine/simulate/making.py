"""Strategies that do something simple, so that what the runner does with them can be counted."""

from typing import ClassVar

import numpy as np

from assaypilot.engine.simulate.instances import Drawn, Instance
from assaypilot.engine.strategies.phased import Phased, settled
from assaypilot.engine.strategies.protocol import (
    Allocation,
    Certificate,
    Decision,
    Parameter,
    StopReason,
    StrategyInfo,
)


class Plain(Phased):
    """Measures every arm ``each`` times a phase; after ``phases`` phases the highest mean is in, the others are out."""

    info: ClassVar[StrategyInfo] = StrategyInfo(
        name="plain",
        version=1,
        title="Plain",
        goals=("best", "epsilon-best", "pareto"),
        parameters=(
            Parameter("each", 4, "measurements of every compound in a phase"),
            Parameter("phases", 2, "phases"),
            Parameter("batch", None, "not used"),
        ),
        guarantee="none",
        source="tests",
        endpoints=(1, None),
    )

    def ask(self, state, report=lambda *_: None):
        arms = np.flatnonzero(state.problem.measurable)
        counts = np.full(len(arms), self.parameters(state.problem)["each"], dtype=np.intp)
        return Allocation(state.phase + 1, arms, counts, np.inf, Certificate("g", 1.0, 1.0))

    def last(self, state):
        return state.phase + 1 >= self.parameters(state.problem)["phases"]

    def decide(self, state, outcome):
        last = self.last(state)
        order = np.argsort(-np.where(state.problem.wanted, outcome.means[0], -np.inf), kind="stable")
        wanted = order[: int(state.problem.wanted.sum())]
        none = np.zeros(0, dtype=np.intp)
        nothing = np.full(outcome.means.shape, np.nan)
        return Decision(
            phase=state.phase + 1,
            radius=np.inf,
            ins=wanted[:1] if last else none,
            outs=wanted[1:] if last else none,
            left=none,
            estimate=nothing,
            low=nothing,
            high=nothing,
            contradicted=none,
            spent=outcome.spent,
        )

    def stop(self, state):
        return settled(state)


class Endless(Plain):
    """Never decides anything, and never stops."""

    info = StrategyInfo("endless", 1, "Endless", ("best",), (), "none", "tests")

    def ask(self, state, report=lambda *_: None):
        return Allocation(state.phase + 1, np.array([0]), np.array([3]), np.inf, Certificate("g", 1.0, 1.0))

    def last(self, state):
        return False

    def stop(self, state):
        return ()


class Empty(Endless):
    """Asks, and finds nothing usable in what comes back."""

    info = StrategyInfo("empty", 1, "Empty", ("best",), (), "none", "tests")

    def decide(self, state, outcome):
        return None


class Nothing(Endless):
    """Asks for no measurement at all."""

    info = StrategyInfo("nothing", 1, "Nothing", ("best",), (), "none", "tests")

    def ask(self, state, report=lambda *_: None):
        none = np.zeros(0, dtype=np.intp)
        return Allocation(state.phase + 1, none, none, np.inf, Certificate("g", 1.0, 1.0))


class Poor(Plain):
    """Stops at once because of its budget."""

    info = StrategyInfo("poor", 1, "Poor", ("best",), (), "none", "tests")

    def stop(self, state):
        return (StopReason("budget", "nothing is left"),)


class Told(Plain):
    """A baseline that keeps what it was told, and is done."""

    info = StrategyInfo(
        "told",
        1,
        "Told",
        ("best", "epsilon-best"),
        (
            Parameter("truth", None, "the truth"),
            Parameter("m", None, "how many"),
            Parameter("threshold", "proven", "which rule"),
            Parameter("batch", None, "per phase"),
        ),
        "none",
        "tests",
        baseline=True,
    )


def instance_of(drawn: Drawn, **more) -> Instance:
    """An instance that is always this draw."""
    fields = {"name": "made", "paper": "tests", "title": "made", "random": False, "draw": Always(drawn)}
    return Instance(**(fields | more))


class Always:
    """A draw that is always the same; a class of a module, so that it can be sent to other processes."""

    def __init__(self, drawn: Drawn) -> None:
        self.drawn = drawn

    def __call__(self, _) -> Drawn:
        return self.drawn
