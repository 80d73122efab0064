"""``adaptive`` for every goal: of one endpoint as in ``epsilon_best``, of several as in ``pareto``."""

from __future__ import annotations

from dataclasses import replace
from typing import ClassVar

from ...arrays import Flags
from ...domain.goals import ParetoSet
from ...system.progress import Report, silent
from ..phased import Phased
from ..protocol import (
    Allocation,
    Arrays,
    Decision,
    Outcome,
    Problem,
    State,
    StopReason,
    StrategyInfo,
)
from .epsilon_best import Adaptive
from .pareto import AdaptivePareto

_ONE, _SEVERAL = Adaptive(), AdaptivePareto()


def _of(problem: Problem) -> Adaptive | AdaptivePareto:
    return _SEVERAL if isinstance(problem.goal, ParetoSet) else _ONE


class AdaptiveGoals(Phased):
    """All epsilon-best compounds, the best one, or the Pareto set, by all measurements of all phases."""

    info: ClassVar[StrategyInfo] = replace(
        Adaptive.info,
        goals=(*Adaptive.info.goals, *AdaptivePareto.info.goals),
        endpoints=(1, None),
        guarantee=(
            "with the stated confidence every compound within epsilon is returned and none worse than epsilon + slack "
            "(best: the one returned is within the slack of the best; Pareto: every compound that no other beats in "
            "all endpoints, and none that another beats by more than the given differences), if the substituent "
            "effects add up and the noise is normal with the stated SD"
        ),
    )

    def for_goal(self, goal: str) -> Adaptive | AdaptivePareto:
        """Return the part of it that answers a goal."""
        return _SEVERAL if goal in AdaptivePareto.info.goals else _ONE

    def start(self, problem: Problem) -> State:
        """Return the state before the first phase; arms outside the span of what can be measured are set aside."""
        return _of(problem).start(problem)

    def assumes(self, problem: Problem) -> tuple[str, ...]:
        """Return normal errors in addition to additivity: the limits are exact for them."""
        return _of(problem).assumes(problem)

    def memory(self, problem: Problem) -> Arrays:
        """Return what is carried from phase to phase, before the first one."""
        return _of(problem).memory(problem)

    def adjust(self, state: State, *, measurable: Flags, spent: int) -> State:
        """Return the state when only these arms can be measured."""
        return _of(state.problem).adjust(state, measurable=measurable, spent=spent)

    def ask(self, state: State, report: Report = silent) -> Allocation:
        """Return the measurements of the next phase."""
        return _of(state.problem).ask(state, report)

    def decide(self, state: State, outcome: Outcome) -> Decision | None:
        """Return what the phase decides; None when nothing usable returned."""
        return _of(state.problem).decide(state, outcome)

    def stop(self, state: State) -> tuple[StopReason, ...]:
        """Return the reasons to stop; empty while there is something to measure."""
        return _of(state.problem).stop(state)
