"""LinGapE: the best compound by the pair that is hardest to tell apart.

Source: Xu, Honda and Sugiyama, "A fully adaptive algorithm for pure exploration in linear bandits" (2018), Algorithm 1,
which is m-LinGapE with one compound to be found; its epsilon is the goal's slack.
"""

from __future__ import annotations

from typing import ClassVar

from ...arrays import Floats
from ...strategies.protocol import StrategyInfo
from .lingape_index import GAP_PARAMETERS, PULL, GapIndex, Race, first_of_all
from .m_lingape import leading_race

__all__ = ["LinGapE"]


class LinGapE(GapIndex):
    """The best compound; measures what tells the leader from its most ambiguous challenger."""

    info: ClassVar[StrategyInfo] = StrategyInfo(
        name="lingape",
        version=1,
        title="LinGapE",
        goals=("best",),
        parameters=(*GAP_PARAMETERS, first_of_all("each"), PULL),
        guarantee="with the stated confidence the compound returned is the best, or within slack of it",
        source="Xu et al. 2018, Algorithm 1",
        baseline=True,
    )
    pulls: ClassVar[tuple[str, ...]] = ("greedy", "optimised")

    def race(self, means: Floats, spread: Floats, width: float, m: int) -> Race:
        """The leader by the estimate, and who may exceed it most."""
        return leading_race(means, spread, width, m)
