"""How ``adaptive`` for one endpoint shares out its error, also among compounds that came after results were seen.

Names as in ``one``. Compounds come in cohorts: the first is the library at the start, cohort g what was added at one
time, with n_g compounds; somebody chose them by all results until then, in the worst case so that the answer becomes
wrong. Let b(t) be the best of the library at time t; what is promised at any time is about the library of that time.

**From when.** Given all that came before a cohort, steps of phases that begin afterwards are independent standard
normal for every direction, whoever chose it. So a walk begins with the phase after the younger of its two compounds
came, and that is its first look. A leader was there before its phase. No earlier phase says anything of a new compound.

- *Out.* Who is within epsilon of b(t) was within epsilon of every earlier best: more compounds only raise it. So as
  long as m must not be out all its steps (y'theta_r - epsilon) / s_r have means of at most 0, whoever led, and an error
  needs one walk to pass, which began when m came. Within a cohort Holm's procedure holds while no other comes: of N not
  yet out M are within epsilon, N >= M. More compounds make M smaller, and whoever adds them chooses when; so from then
  on the level stays at 1 / N of the share with the N of that time. Since N >= M then, all who may not be out pass at
  1 / M at most, before or after it: the share of the cohort holds for good.
- *In.* m is put in wrongly only if its walk against b(t) passes. A best of the cohort of m or of an earlier one is the
  same at all times at which it is the best: one walk for each m, n_g in all. One that came later, with cohort g, makes
  one more for every older compound. So with cohort g there begin at most n_g walks of its own and one for each older
  compound: half of its share for either.
- *The best.* A b(t) of cohort g is the best from its coming on: one walk at one level for each cohort, without a union.
- *Means.* One walk for each compound, with the share of its cohort.

Given what came before it, cohort g errs with probability ``shares_of`` delta at most, the first with delta: delta
times ``shared`` in all, however many are added, whichever, and whenever. That is what is stated.

Why on top of delta? Whoever waits until a campaign is about to end, and adds only where no error was made, has let
all of delta be spent before the new ones have their chance: no part of it is left to share out. And a part that is set
aside from the beginning would be paid, in measurements, by all those who never add any.

Goals chosen by results (``anew``): what is said there is said of one walk for each compound, so it holds for every
cohort with its own share.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from assaypilot.engine.arrays import Flags, Floats, Ints
from assaypilot.engine.goals import AllEpsilonBest, Best
from assaypilot.engine.strategies.protocol import Arrays, Problem

__all__ = [
    "OF_OUTS",
    "OPEN",
    "WIDER",
    "Cohorts",
    "Levels",
    "Sharing",
    "Told",
    "came_with",
    "closing_of",
    "each_of",
    "levels_of",
    "shared",
    "shares_of",
    "slack_of",
]

Told = tuple[Floats, Ints | None]
"""Limits of walks, and which of them each walk has: c_1, c_2, .. ``(looks,)`` and None, or a row for each level."""

_OF_MEANS = 0.05
"""Share of delta for the bounds of single means: they decide only against who cannot be measured any more."""
_OF_BEST = 0.1
"""Share of delta for who is not the best, where all epsilon-best are wanted."""
OF_OUTS = 0.4
"""Share of delta for who is out there; what is left is for who is in."""
WIDER = 0.125
"""Share of what is for who is out that is spent on a larger epsilon than the first: see ``anew``."""
OPEN = -1
"""Of a cohort while no other came after it."""
_FIRST_MORE = 0.1
"""How many times delta the first cohort that is added may err; each later one has half of the one before."""


class Levels(NamedTuple):
    """Error probabilities of the first cohort; of others their shares of these."""

    outs: float
    """Of all compounds put out together."""
    one_in: float
    """Of one compound put in."""
    best: float
    """Of the best compound being taken for another."""
    mean: float
    """Of one side of one mean."""


def slack_of(problem: Problem) -> float:
    """How soft the limit is; 0 without a soft zone."""
    return problem.goal.slack if isinstance(problem.goal, AllEpsilonBest | Best) else 0.0


def levels_of(problem: Problem, among: int | None = None) -> Levels:
    """The error probabilities for so many compounds; None: all that are wanted."""
    n, delta = max(int(problem.wanted.sum()) if among is None else among, 1), problem.delta
    mean = _OF_MEANS * delta / (2 * n)
    if isinstance(problem.goal, AllEpsilonBest):
        outs, best = OF_OUTS * delta, _OF_BEST * delta
        return Levels(outs, ((1.0 - _OF_MEANS) * delta - outs - best) / n, best, mean)
    left = (1.0 - _OF_MEANS) * delta
    # Without slack nobody is within it of another, but by being the best.
    best = left * (0.5 if slack_of(problem) > 0 else 0.999)
    return Levels(best, (left - best) / n, best, mean)


def closing_of(problem: Problem) -> float:
    """How often what others say of values known only as bounds may be wrong: see ``strategies.closing``."""
    return levels_of(problem).one_in / 2.0


def each_of(level: float, among: int) -> float:
    """The level of one of so many, rounded down to a power of 0.8: limits are found by integration and remembered."""
    return float(0.8 ** math.ceil(math.log(level / max(among, 1)) / math.log(0.8) - 1e-9))


def shared(cohorts: int) -> float:
    """How many times delta all cohorts together may err, the first one included."""
    return float(shares_of(cohorts).sum())


def shares_of(cohorts: int) -> Floats:
    """``(cohorts,)``, how many times delta each may err."""
    shares = _FIRST_MORE * 0.5 ** (np.arange(cohorts) - 1.0)
    shares[0] = 1.0
    return np.asarray(shares, dtype=np.float64)


def came_with(came: Ints, kept: Ints) -> dict[str, NDArray[Any]]:
    """What is remembered of cohorts: the phase (from 0) each arm came before, and what Holm counts on in each."""
    return {"came": came, "kept": kept}


@dataclass(frozen=True, slots=True)
class Cohorts:
    """Who came when."""

    of: Ints
    """``(n_arms,)``, the cohort of each arm, 0 for those that were there at the start."""
    sizes: Ints
    kept: Ints
    """``(n_cohorts - 1,)``, of every one but the last: how many were not out when the next one came, or ``OPEN``."""

    @classmethod
    def remembered(cls, memory: Arrays, wanted: Flags) -> Cohorts:
        """Those of a state's memory; of the start alone where it knows of no others."""
        came = memory.get("came")
        if came is None:
            return cls(np.zeros(len(wanted), dtype=np.intp), np.array([int(wanted.sum())]), np.zeros(0, dtype=np.intp))
        of = np.asarray(np.unique(came, return_inverse=True)[1], dtype=np.intp)
        return cls(of, np.bincount(of[wanted], minlength=int(of.max()) + 1), memory["kept"])

    def counted(self, arms: Ints | Flags) -> Ints:
        """``(n_cohorts,)``, how many of each these are."""
        return np.bincount(self.of[arms], minlength=len(self.sizes))


class Sharing:
    """The limits that walks have at so many looks, whichever cohorts their compounds are of."""

    def __init__(self, problem: Problem, memory: Arrays, limits: Callable[[float], Floats]) -> None:
        self.cohorts = Cohorts.remembered(memory, problem.wanted)
        self._problem, self._limits = problem, limits
        self._first = levels_of(problem, int(self.cohorts.sizes[0]))
        self._shares = shares_of(len(self.cohorts.sizes))

    def outs(self, arms: Ints, left: Ints) -> Told:
        """For being put out by its leaders; ``left``: how many of each cohort are not out, ``(n_cohorts,)``."""
        among = left.copy()
        fixed = self.cohorts.kept != OPEN
        among[:-1][fixed] = self.cohorts.kept[fixed]
        goal, first, level = self._problem.goal, self._problem.began, self._first.outs
        if isinstance(goal, AllEpsilonBest) and isinstance(first, AllEpsilonBest) and goal.epsilon != first.epsilon:
            # Under another epsilon than at first: of one of all.
            among, level = self.cohorts.sizes, level if goal.epsilon < first.epsilon else WIDER * level
        levels = [each_of(share * level, int(n)) for share, n in zip(self._shares, among, strict=True)]
        return self._told(levels, self.cohorts.of[arms])

    def ins(self, arms: Ints, rivals: Ints) -> Told:
        """For each being near each of the rivals, ``(len(arms), len(rivals))``."""
        sizes, total = self.cohorts.sizes, self._first.one_in * self.cohorts.sizes[0]
        levels = [self._first.one_in]
        for share, size, older in zip(self._shares[1:], sizes[1:], np.cumsum(sizes)[:-1], strict=True):
            levels += [share * total / 2.0 / max(size, 1), share * total / 2.0 / max(older, 1)]
        if len(levels) == 1:
            return self._told(levels, arms)
        own, other = self.cohorts.of[arms][:, None], self.cohorts.of[rivals]
        younger = np.maximum(own, other)
        return self._told(levels, np.where(younger > 0, 2 * younger - (own == younger), 0))

    def best(self, arms: Ints) -> Told:
        """For not being the best."""
        return self._told((self._shares * self._first.best).tolist(), self.cohorts.of[arms])

    def means(self, arms: Ints) -> Told:
        """For either side of its mean."""
        sizes = np.maximum(self.cohorts.sizes, 1)
        levels = self._shares * self._first.mean * sizes[0] / sizes
        return self._told(levels.tolist(), self.cohorts.of[arms])

    def _told(self, levels: list[float], of: Ints) -> Told:
        if len(levels) == 1:
            return self._limits(levels[0]), None
        return np.stack([self._limits(level) for level in levels]), of
