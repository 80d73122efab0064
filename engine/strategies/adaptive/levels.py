"""How ``adaptive`` shares out its error probability among what it could say wrongly.

Names as in ``one`` and ``pareto``. The guarantee is about the compounds and the goal at the start; a change of either
after results voids it.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import NamedTuple

from ...arrays import Floats
from ...domain.goals import AllEpsilonBest, Best
from ..protocol import Problem
from .fronts import SHARES

__all__ = ["FrontLimits", "Levels", "SetLimits", "each_of", "in_level", "levels_of", "slack_of"]

_OF_MEANS = 0.05
"""Share of delta for the bounds of single means: they decide only against who cannot be measured any more."""
_OF_BEST = 0.1
"""Share of delta for who is not the best, where all epsilon-best are wanted."""
_OF_OUTS = 0.4
"""Share of delta for who is out there; what is left is for who is in."""
_OF_FRONT_OUTS = 0.35
"""For trade-offs: what Holm's procedure hands on among those not out; the rest is the same for every compound."""


class Levels(NamedTuple):
    """Error probabilities."""

    outs: float
    """Of all compounds put out together."""
    one_in: float
    """Of one compound put in."""
    best: float
    """Of the best compound being taken for another."""
    mean: float
    """Of one side of one mean."""


def slack_of(problem: Problem) -> float:
    """Return how soft the cutoff is; 0 without a soft zone."""
    return problem.goal.slack if isinstance(problem.goal, AllEpsilonBest | Best) else 0.0


def levels_of(problem: Problem) -> Levels:
    """Return the error probabilities among all wanted compounds."""
    n, delta = max(int(problem.wanted.sum()), 1), problem.delta
    mean = _OF_MEANS * delta / (2 * n)
    if isinstance(problem.goal, AllEpsilonBest):
        outs, best = _OF_OUTS * delta, _OF_BEST * delta
        return Levels(outs, ((1.0 - _OF_MEANS) * delta - outs - best) / n, best, mean)
    left = (1.0 - _OF_MEANS) * delta
    # Without slack nobody is within it of another, but by being the best.
    best = left * (0.5 if slack_of(problem) > 0 else 0.999)
    return Levels(best, (left - best) / n, best, mean)


def in_level(problem: Problem) -> float:
    """Return the error probability of one compound put in, all endpoints together (trade-offs)."""
    return (1.0 - _OF_MEANS - _OF_FRONT_OUTS) * problem.delta / max(int(problem.wanted.sum()), 1)


def each_of(level: float, among: int) -> float:
    """Return the level of one of so many, rounded down to a power of 0.8: limits are integrated and remembered."""
    return _rounded(level / max(among, 1))


def _rounded(level: float) -> float:
    return float(0.8 ** math.ceil(math.log(level) / math.log(0.8) - 1e-9))


class SetLimits:
    """The limits ``(looks,)`` of walks about one endpoint."""

    def __init__(self, problem: Problem, limits: Callable[[float], Floats]) -> None:
        self._limits = limits
        self._levels = levels_of(problem)

    def outs(self, left: int) -> Floats:
        """For being put out by its leaders, while so many are not out; what being in would have had is added."""
        return self._limits(_rounded(self._levels.outs / max(left, 1) + self._levels.one_in))

    def ins(self) -> Floats:
        """For being near a rival."""
        return self._limits(self._levels.one_in)

    def best(self) -> Floats:
        """For not being the best."""
        return self._limits(self._levels.best)

    def means(self) -> Floats:
        """For either side of its mean."""
        return self._limits(self._levels.mean)


class FrontLimits:
    """The limits ``(looks,)`` of walks about several endpoints."""

    def __init__(self, problem: Problem, limits: Callable[[float], Floats]) -> None:
        self.problem, self._limits = problem, limits
        self._in = in_level(problem)

    def outs(self, left: int) -> list[Floats]:
        """For each place of those named, while so many are not out."""
        level = self._in + _OF_FRONT_OUTS * self.problem.delta / max(left, 1)
        return [self._limits(_rounded(share * level)) for share in SHARES]

    def ins(self) -> Floats:
        """For an endpoint in which a rival does not beat a compound."""
        return self._limits(self._in / self.problem.n_endpoints)

    def means(self) -> Floats:
        """For either side of a mean in an endpoint."""
        n = max(int(self.problem.wanted.sum()), 1)
        return self._limits(_OF_MEANS * self.problem.delta / (2 * n * self.problem.n_endpoints))
