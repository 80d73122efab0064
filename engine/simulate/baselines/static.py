"""Static designs: the G-optimal or the XY-optimal weights for the whole run, for comparison with adaptive ones.

Sources: Soare et al. (2014) G- and XY-allocation; RAGE, appendix F (growing phases, union-bound test at every look).
The greedy allocation of Soare's experiments is replaced by the optimal design it approaches.
"""

from __future__ import annotations

from typing import ClassVar

from ...arrays import Ints
from ...strategies.designs import g_design, xy_design
from ...strategies.protocol import Certificate, Problem, StrategyInfo
from ...strategies.rage.elimination import first_of_equals
from ...system.progress import Report
from .static_run import Shares, StaticRun, run_parameters

__all__ = ["StaticG", "StaticXY"]


_GAP = 1e-2


class StaticG(StaticRun):
    """One G-optimal design for the whole run."""

    info: ClassVar[StrategyInfo] = StrategyInfo(
        name="static-g",
        version=1,
        title="Static G design",
        goals=("epsilon-best", "pareto", "best"),
        parameters=run_parameters(1.35),
        guarantee="with the stated confidence what is decided before the budget ends is right",
        source="Soare et al. (2014); RAGE, appendix F",
        baseline=True,
        endpoints=(1, None),
    )

    def shares(self, problem: Problem, measurable: Ints, aims: Ints, report: Report) -> Shares:
        """D-optimal weights over what can be measured, which are G-optimal for it."""
        made = g_design(problem.features, measurable, gap=_GAP, report=report)
        design = made.design
        return Shares(measurable[design.support], design.weights, Certificate("g", design.value, design.lower_bound))


class StaticXY(StaticRun):
    """One XY-optimal design for the differences of everything wanted, for the whole run."""

    pairs = True
    info: ClassVar[StrategyInfo] = StrategyInfo(
        name="static-xy",
        version=1,
        title="Static XY design",
        goals=("epsilon-best", "best"),
        parameters=run_parameters(1.35),
        guarantee="with the stated confidence what is decided before the budget ends is right",
        source="Soare et al. (2014); RAGE, appendix F",
        baseline=True,
    )

    def shares(self, problem: Problem, measurable: Ints, aims: Ints, report: Report) -> Shares:
        """XY-optimal weights for all differences; of equal or single compounds those of a G design."""
        features = problem.features
        if len(first_of_equals(features, aims)[0]) < 2:
            made = g_design(features, measurable, gap=_GAP, report=report)
        else:
            made = xy_design(features, measurable, aims, gap=_GAP, report=report)
        design = made.design
        return Shares(
            measurable[design.support], design.weights, Certificate(design.criterion, design.value, design.lower_bound)
        )
