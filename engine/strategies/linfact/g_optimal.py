"""LinFACT with G-optimal designs: all compounds within epsilon of the best, with fixed confidence.

Source: "Identifying all epsilon-best arms in linear bandits", section 4.1 (Algorithms 1, 3 and 4, eq. 21), with the
noise, the slack, the first radius and the realised half-widths of our own statement.
"""

from __future__ import annotations

from typing import ClassVar

from ..protocol import Problem, StrategyInfo
from .linfact import DECIDE, FIRST_RADIUS, GAP, LinFact, union_log

__all__ = ["LinFactG", "union_log"]


class LinFactG(LinFact):
    """All epsilon-best compounds; every phase bounds every active mean by the same radius, which then halves."""

    info: ClassVar[StrategyInfo] = StrategyInfo(
        name="linfact-g",
        version=2,
        title="LinFACT-G",
        goals=("epsilon-best",),
        parameters=(DECIDE, FIRST_RADIUS, GAP),
        guarantee=(
            "with the stated confidence every compound within epsilon is returned "
            "and none worse than epsilon + slack, if the substituent effects add up"
        ),
        source="LinFACT, section 4",
        any_plan=True,
        noise_bound=True,
    )

    def spread_log(self, problem: Problem, phase: int) -> float:
        """log(2 K r (r + 1) / delta)."""
        return union_log(int(problem.wanted.sum()), phase, problem.delta)
