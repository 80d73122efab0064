"""m-LinGapE: the m best compounds by the pair of a leader and a challenger that is hardest to tell apart.

Source: Reda, Kaufmann and Delahaye-Duriez, "Top-m identification for linear bandits" (2021), the adaptation of LinGapE;
LinFACT section 7 compares itself with it.
"""

from __future__ import annotations

import math
from typing import ClassVar

import numpy as np

from ...arrays import Floats
from ...strategies.protocol import StrategyInfo
from .lingape_index import (
    GAP_PARAMETERS,
    PULL,
    GapIndex,
    M,
    Race,
    first_of_all,
    pairwise,
)

__all__ = ["MLinGapE", "leading_race"]


def leading_race(means: Floats, spread: Floats, width: float, m: int) -> Race:
    """Leaders: the m largest means. Weakest: whom an outsider may exceed most; challenger: that outsider."""
    order = np.argsort(-means, kind="stable")
    leaders, others = np.sort(order[:m]), np.sort(order[m:])
    if not len(others):
        return Race(leaders, int(order[0]), -1, -math.inf)
    index = pairwise(means, spread, width, others, leaders)
    c, b = divmod(int(np.argmax(index)), len(leaders))
    return Race(leaders, int(leaders[b]), int(others[c]), float(index[c, b]))


class MLinGapE(GapIndex):
    """The m best compounds, taken for those within epsilon of the best."""

    info: ClassVar[StrategyInfo] = StrategyInfo(
        name="m-lingape",
        version=1,
        title="m-LinGapE",
        goals=("epsilon-best", "best"),
        parameters=(*GAP_PARAMETERS, M, first_of_all("each"), PULL),
        guarantee="with the stated confidence no compound left out is better than one returned by more than slack",
        source="Reda et al. 2021, m-LinGapE",
        baseline=True,
    )
    pulls: ClassVar[tuple[str, ...]] = ("greedy", "optimised")

    def race(self, means: Floats, spread: Floats, width: float, m: int) -> Race:
        """The race of ``leading_race``."""
        return leading_race(means, spread, width, m)
