"""XY-Adaptive: phases on the differences of those still in, each until the worst variance is a tenth of the last one's.

Source: Soare, Lazaric and Munos, "Best-arm identification in linear bandits" (2014), section 5, with alpha = 0.1 and
compounds discarded for good at the end of a phase, as in the experiments there and in RAGE (appendix F). The first
phase is compared with a variance of 1 / (d (d + 1) + 1). Every phase forgets the ones before.
Ours: the optimal design, rounded as RAGE's is, in place of the greedy choice that approaches it, and bounds whose
errors sum to delta over the phases.
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any, ClassVar

import numpy as np

from ...domain.goals import Best
from ...strategies.designs import table
from ...strategies.phased import number
from ...strategies.protocol import Parameter, Problem, State, StrategyInfo
from ...strategies.rage.rage import Rage


class XYAdaptive(Rage):
    """RAGE whose phases end by their variance instead of their half-width."""

    info: ClassVar[StrategyInfo] = replace(
        Rage.info,
        name="xy-adaptive",
        title="XY-Adaptive",
        parameters=(*Rage.info.parameters, Parameter("alpha", 0.1, "worst variance of a phase over that of the last")),
        source="Soare et al. (2014), section 5",
        baseline=True,
    )

    def check(self, problem: Problem) -> dict[str, Any]:
        """The parameters; AssayPilotError for one out of range."""
        given = super().check(problem)
        number("alpha", given["alpha"], below=1.0)
        return given

    def first_radius(self, problem: Problem) -> float:
        """The half-width of every difference after the first phase."""
        return self._half_width(problem, 1)

    def radius(self, state: State, phase: int) -> float:
        """The half-width of a phase's variance; with slack not below what ends the search."""
        goal, own = state.problem.goal, self._half_width(state.problem, phase)
        assert isinstance(goal, Best)
        return max(own, super().radius(state, phase)) if goal.slack > 0 else own

    def _half_width(self, problem: Problem, phase: int) -> float:
        d = table(problem.features, np.flatnonzero(problem.measurable)).rank
        variance = float(self.parameters(problem)["alpha"]) ** phase / (d * (d + 1) + 1)
        return problem.noise[0] * math.sqrt(2.0 * self._log(problem, phase) * variance)
