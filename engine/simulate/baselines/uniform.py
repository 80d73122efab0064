"""Uniform allocation: every compound equally often, for comparison."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from ...arrays import Ints
from ...strategies.designs import fit_norms, table
from ...strategies.protocol import Certificate, Problem, StrategyInfo
from ...system.progress import Report
from .static_run import Shares, StaticRun, run_parameters

__all__ = ["Uniform"]


class Uniform(StaticRun):
    """Every compound that can be measured, in turn and in an order drawn once; the additive model estimates."""

    info: ClassVar[StrategyInfo] = StrategyInfo(
        name="uniform",
        version=1,
        title="Uniform",
        goals=("epsilon-best", "pareto", "best"),
        parameters=run_parameters(1.35),
        guarantee="with the stated confidence what is decided before the budget ends is right",
        source="the usual comparison; stopping as in RAGE, appendix F",
        baseline=True,
        endpoints=(1, None),
    )

    def shares(self, problem: Problem, measurable: Ints, aims: Ints, report: Report) -> Shares:
        """Equal weights."""
        n = len(measurable)
        weights = np.full(n, 1.0 / n)
        norms = fit_norms(problem.features, measurable, weights, aims)
        rank = float(table(problem.features, measurable).rank)
        return Shares(measurable, weights, Certificate("g", float((norms**2).max(initial=rank)), rank))
