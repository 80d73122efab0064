"""How ``adaptive`` for the Pareto set shares out its error, also among compounds that came after results were seen.

Names as in ``pareto`` and ``cohorts``. Cohort g is what was added at one time, n_g compounds, chosen by all results
until then, in the worst case so that the answer becomes wrong; L(t) is the library at time t, and what is promised at
any time is about the library of that time. A walk of two compounds begins with the phase after the younger of them
came (``Evidence``), so that its steps are independent standard normal given all by which they were chosen.

- *Out.* A_i(t), that nobody in L(t) beats i, can only become false as compounds come. So as long as i must not be out,
  each j named for it has an endpoint in which it is not better, whichever cohort it is of, and its walk there begins
  after it was named: i is put out wrongly with at most its level, as in ``pareto``. Within a cohort Holm's procedure
  holds while no other comes. Then the level stays at 1 / N of the share with the N of that time: without an error
  before, N is at least the number M of true A_i at the cohort's coming, of which some may have become false since.
- *In.* Where B_i(t) is true somebody whom nobody in L(t) beats, beats i by more than the margins; call one such j the
  *rival* of i, and keep it as long as nobody beats it. When a cohort comes that beats it, take one of those that beat
  it and are beaten by nobody. That one is of the new cohort (an older one would have beaten it before), and beats i
  by more than the margins, too. When B_i only becomes true with a cohort, its rival is of that cohort for the same
  reason. So each i has one rival at most of its own time, and one more at most of each cohort after it. Putting i in
  wrongly takes a walk against its rival of the time (which is not out, or an error was made that is counted there).
  So with cohort g there begin at most n_g walks of its own compounds, and one for each older one: half of its share
  for either.
- At its coming A_i and B_i are not both true, so that one b is for either, as at the start; what becomes true of an
  older compound later is paid by the cohort that makes it true.
- *Means.* One walk for each compound and endpoint, with the share of its cohort.

In all, cohort g errs with probability at most its share: n_g b_g + 0.35 s_g delta for its own, b_g = 0.3 s_g delta /
n_g, 0.3 s_g delta for the older ones, and 0.05 s_g delta for means; together s_g delta, on top of delta of the first
(``cohorts.shared``).
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from assaypilot.engine.arrays import Floats, Ints
from assaypilot.engine.strategies.adaptive.cohorts import OPEN, Cohorts, Told, shares_of
from assaypilot.engine.strategies.adaptive.fronts import SHARES
from assaypilot.engine.strategies.protocol import Arrays, Problem

__all__ = ["FrontSharing", "in_level", "rounded"]

_OF_MEANS = 0.05
"""Share of delta for the bounds of single means."""
_OF_OUTS = 0.35
"""Share of delta that Holm's procedure hands on among those not out; what is left is the same for every compound."""


def in_level(problem: Problem, among: int) -> float:
    """Of one compound put in, all endpoints together, where so many were there at the start."""
    return (1.0 - _OF_MEANS - _OF_OUTS) * problem.delta / max(among, 1)


def rounded(level: float) -> float:
    """A level rounded down to a power of 0.8: limits are found by integration and remembered."""
    return float(0.8 ** math.ceil(math.log(level) / math.log(0.8) - 1e-9))


class FrontSharing:
    """The limits that walks have at so many looks, whichever cohorts their compounds are of."""

    def __init__(self, problem: Problem, memory: Arrays, limits: Callable[[float], Floats]) -> None:
        self.cohorts = Cohorts.remembered(memory, problem.wanted)
        self.problem, self._limits = problem, limits
        self._shares = shares_of(len(self.cohorts.sizes))
        sizes = np.maximum(self.cohorts.sizes, 1)
        first = in_level(problem, int(sizes[0]))
        later, total = self._shares[1:], first * int(sizes[0])
        self._own = [first, *(later * total / 2.0 / sizes[1:]).tolist()]
        """Of one of each cohort put in against its rival at its coming."""
        self._older = (later * total / 2.0 / np.maximum(np.cumsum(self.cohorts.sizes)[:-1], 1)).tolist()
        """Of one that is older than each cohort but the first, put in against a rival of it."""

    def outs(self, arms: Ints, left: Ints) -> list[Told]:
        """For each place of those named; ``left``: how many of each cohort are not out, ``(n_cohorts,)``."""
        among = left.copy()
        fixed = self.cohorts.kept != OPEN
        among[:-1][fixed] = self.cohorts.kept[fixed]
        of_outs = _OF_OUTS * self.problem.delta * self._shares / np.maximum(among, 1)
        levels = [own + more for own, more in zip(self._own, of_outs.tolist(), strict=True)]
        return [self._told([rounded(share * level) for level in levels], self.cohorts.of[arms]) for share in SHARES]

    def ins(self, arms: Ints, rivals: Ints) -> Told:
        """For an endpoint of each not being beaten by the rival in the same place; arrays that fit together."""
        n = self.problem.n_endpoints
        levels = [self._own[0] / n]
        for own, older in zip(self._own[1:], self._older, strict=True):
            levels += [own / n, older / n]
        mine, other = self.cohorts.of[arms], self.cohorts.of[rivals]
        younger = np.maximum(mine, other)
        return self._told(levels, np.where(younger > 0, 2 * younger - (mine == younger), 0))

    def means(self, arms: Ints) -> Told:
        """For either side of its mean in an endpoint."""
        sizes, n = np.maximum(self.cohorts.sizes, 1), self.problem.n_endpoints
        levels = self._shares * (_OF_MEANS * self.problem.delta) / (2 * sizes * n)
        return self._told(levels.tolist(), self.cohorts.of[arms])

    def _told(self, levels: list[float], of: Ints) -> Told:
        if len(levels) == 1:
            return self._limits(levels[0]), None
        return np.stack([self._limits(level) for level in levels]), of
