"""LinGIFA: the m best compounds by gap indices alone; leaders are those that the fewest can exceed.

Source: Reda, Kaufmann and Delahaye-Duriez, "Top-m identification for linear bandits" (2021), LinGIFA; LinFACT section
7 compares itself with it.
"""

from __future__ import annotations

import math
from dataclasses import replace
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

__all__ = ["LinGIFA", "index_race"]


_ROWS = 256
"""Compounds whose indices against all others are looked at together."""


def index_race(means: Floats, spread: Floats, width: float, m: int) -> Race:
    """Leaders: the m smallest of max^m_{i != j} B_ij, the m-th largest index against j. Weakest: the largest of them.

    Nobody else is in doubt once the weakest leader's index is within the slack: at most m - 1 others can then be
    better than a leader by more.
    """
    k = len(means)
    if m >= k:
        return Race(np.arange(k), int(np.argmax(means)), -1, -math.inf)
    everybody = np.arange(k)
    indices = np.empty(k)
    for start in range(0, k, _ROWS):
        columns = everybody[start : start + _ROWS]
        table = pairwise(means, spread, width, everybody, columns)
        table[columns, np.arange(len(columns))] = -math.inf
        indices[columns] = np.partition(table, k - m, axis=0)[k - m]
    order = np.argsort(indices, kind="stable")
    leaders, others = np.sort(order[:m]), np.sort(order[m:])
    weakest = int(leaders[np.argmax(indices[leaders])])
    against = pairwise(means, spread, width, others, np.array([weakest]))[:, 0]
    return Race(leaders, weakest, int(others[np.argmax(against)]), float(indices[weakest]))


class LinGIFA(GapIndex):
    """The m best compounds, taken for those within epsilon of the best."""

    info: ClassVar[StrategyInfo] = StrategyInfo(
        name="lingifa",
        version=1,
        title="LinGIFA",
        goals=("epsilon-best", "best"),
        parameters=(*GAP_PARAMETERS, M, first_of_all("spanning"), replace(PULL, default="variance")),
        guarantee="with the stated confidence no compound left out is better than one returned by more than slack",
        source="Reda et al. 2021, LinGIFA",
        baseline=True,
    )
    pulls: ClassVar[tuple[str, ...]] = ("variance", "greedy")

    def race(self, means: Floats, spread: Floats, width: float, m: int) -> Race:
        """The race of ``index_race``."""
        return index_race(means, spread, width, m)
