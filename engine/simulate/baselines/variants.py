"""XY-Adaptive and DKM: strategies of campaigns with one part exchanged.

XY-Adaptive: phases on the differences of those still in, each until the worst variance is a tenth of the last one's.
Source: Soare, Lazaric and Munos, "Best-arm identification in linear bandits" (2014), section 5, with alpha = 0.1 and
compounds discarded for good at the end of a phase, as in the experiments there and in RAGE (appendix F). The first
phase is compared with a variance of 1 / (d (d + 1) + 1). Every phase forgets the ones before.
Ours: the optimal design, rounded as RAGE's is, in place of the greedy choice that approaches it, and bounds whose
errors sum to delta over the phases.

DKM: the game of LinGame without what linearity implies for an arm measured less often than others.
Source: Degenne, Koolen and Menard, "Non-asymptotic pure exploration by solving games" (2019), Algorithm 1 with AdaHedge
as the learner and nature's best response. Its confidence is one interval per arm, from that arm's own measurements, so
optimism makes it measure every arm again and again (LinGame, section 5 and Table 1). Nature, the estimate and the end
are those of the linear model, as in LinGame's comparison.
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any, ClassVar

import numpy as np

from ...arrays import Floats
from ...domain.goals import Best
from ...strategies.designs import table
from ...strategies.lingame.lingame import LinGame, Round
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
        """Return the parameters; AssayPilotError for one out of range."""
        given = super().check(problem)
        number("alpha", given["alpha"], below=1.0)
        return given

    def first_radius(self, problem: Problem) -> float:
        """Return the half-width of every difference after the first phase."""
        return self._half_width(problem, 1)

    def radius(self, state: State, phase: int) -> float:
        """Return the half-width of a phase's variance; with slack not below what ends the search."""
        goal, own = state.problem.goal, self._half_width(state.problem, phase)
        assert isinstance(goal, Best)
        return max(own, super().radius(state, phase)) if goal.slack > 0 else own

    def _half_width(self, problem: Problem, phase: int) -> float:
        d = table(problem.features, np.flatnonzero(problem.measurable)).rank
        variance = float(self.parameters(problem)["alpha"]) ** phase / (d * (d + 1) + 1)
        return problem.noise[0] * math.sqrt(2.0 * self._log(problem, phase) * variance)


class _ArmByArm(Round):
    """A round in which every arm is as unsure as its own measurements leave it."""

    def variances(self, counts: Floats) -> Floats:
        """One over the measurements; those of an arm that has none count as one."""
        found: Floats = 1.0 / np.maximum(counts, 1.0)
        return found


class Dkm(LinGame):
    """LinGame with an interval for each arm instead of the ellipsoid."""

    round = _ArmByArm
    info: ClassVar[StrategyInfo] = replace(
        LinGame.info, name="dkm", title="DKM", source="Degenne et al. (2019), Algorithm 1", baseline=True
    )
