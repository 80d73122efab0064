"""Whether replicates of some compounds scatter more than those of others, where one noise is taken for all.

A cell holds the contrasts between values of one compound in one round. Given its size their sum of squares is, over
sigma^2, chi-square if errors are normal, and independent of the mean of the cell; so cells may be sorted by what the
compound carries, and by their own means. Two groups are compared by the ratio of their mean squares (F).

**Shapes.** Errors with heavy tails make that ratio vary more than F says. As proposed by Box and Andersen (JRSS B 17,
1955) both degrees of freedom are multiplied by 2 f over the variance of the squares of cells of f degrees of freedom,
estimated within the groups compared, and at most 1. And a group must be the louder one by its ranks, too (Wilcoxon,
p below 0.01), which a few gross errors in it do not make it.

**Looks.** It is asked after every result. So that false alarms stay rare over a whole campaign only the first cells of
12, 18, 27, .. degrees of freedom in all are asked, the k-th of these at 6 / (pi k)^2 of the level, and within each all
comparisons by Holm's procedure (Scandinavian Journal of Statistics 6, 1979). What is said is what the last of them say.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from assaypilot.engine.arrays import Flags, Floats, Ints

__all__ = ["LEVEL", "Louder", "louder"]


LEVEL = 0.01
"""How often something is said over a whole campaign though all scatter alike."""
_FIRST, _GROWTH = 12, 1.5
_FEWEST = 4
"""Degrees of freedom on either side below which nothing is compared."""
_BY_RANKS = 0.01
_FAR = 1.4
"""Times as much scatter that is worth a word."""


class Louder(NamedTuple):
    """A group of cells that scatters more than all others."""

    group: int
    """Its place among those asked about."""
    sd: float
    freedom: int
    other_sd: float
    other_freedom: int
    p: float
    """Of this comparison alone."""

    @property
    def times(self) -> float:
        """How many times as much it scatters."""
        return self.sd / self.other_sd


def louder(squares: Floats, freedom: Ints, groups: Sequence[Flags], level: float = LEVEL) -> list[Louder]:
    """The groups that surely scatter more than the others, the surest first; empty where none does.

    ``squares`` and ``freedom`` ``(m,)`` are those of cells in the order they came, ``groups`` ``(m,)`` each say which
    cells belong to one. Right but for a probability of ``level``, over all looks at cells that come one by one.
    """
    total = np.cumsum(freedom)
    look, upto = 0, 0
    size = float(_FIRST)
    while len(total) and total[-1] >= size:
        look += 1
        upto = int(np.searchsorted(total, size, side="left")) + 1
        size *= _GROWTH
    if not look:
        return []
    share = level * 6.0 / (math.pi * look) ** 2
    found = [_compared(k, squares[:upto], freedom[:upto], group[:upto]) for k, group in enumerate(groups)]
    told = sorted((one for one in found if one is not None), key=lambda one: one.p)
    sure: list[Louder] = []
    for place, one in enumerate(told):
        if one.p >= share / (len(told) - place):
            break
        sure.append(one)
    return [one for one in sure if one.times >= _FAR]


def _compared(place: int, squares: Floats, freedom: Ints, group: Flags) -> Louder | None:
    """A group against the others; None where either has too little."""
    from scipy.special import fdtrc

    nu, other = int(freedom[group].sum()), int(freedom[~group].sum())
    if min(nu, other) < _FEWEST or not squares[group].any() or not squares[~group].any():
        return None
    mean, other_mean = float(squares[group].sum()) / nu, float(squares[~group].sum()) / other
    scaled = squares / np.where(group, mean, other_mean)
    spread = float(((scaled - freedom) ** 2).sum() / (2.0 * freedom.sum()))
    shape = min(1.0, 1.0 / max(spread, 1e-9))
    p = float(fdtrc(shape * nu, shape * other, mean / other_mean))
    if p < LEVEL and _by_ranks(squares, freedom, group) >= _BY_RANKS:
        p = 1.0
    return Louder(place, math.sqrt(mean), nu, math.sqrt(other_mean), other, p)


def _by_ranks(squares: Floats, freedom: Ints, group: Flags) -> float:
    """The p of a group's cells being no louder than the others by their ranks (Wilcoxon, normal approximation)."""
    from scipy.special import chdtr, ndtr

    # On one scale for cells of any size.
    loudness = chdtr(freedom, squares / (squares.sum() / freedom.sum()))
    m, n = int(group.sum()), int((~group).sum())
    above = float(_ranks(loudness)[group].sum()) - m * (m + 1) / 2.0
    return float(ndtr(-(above - m * n / 2.0) / math.sqrt(m * n * (m + n + 1) / 12.0)))


def _ranks(values: Floats) -> Floats:
    """``(n,)``, the rank of each value from 1, equal ones sharing theirs."""
    _, place, counts = np.unique(values, return_inverse=True, return_counts=True)
    shared: Floats = np.cumsum(counts) - (counts - 1) / 2.0
    return shared[place]
