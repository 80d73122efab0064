"""Parts of ``adaptive`` for any number of endpoints: walks, their limits, levels, and plans of phases.

**Limits.** How far a sum of standardised errors may go, at every look of a campaign together. A walk is W_k = Z_1 + ..
+ Z_k with independent standard normal steps. Its limit at look k is c_k sqrt(k), and the c_k are such that the chance
that W ever passes its limit, at any k, is alpha. The share of alpha that each look may spend is fixed before the first
measurement (Lan and DeMets, Biometrika 70, 1983), as a power of k up to the look at which the campaign is expected to
end, with a quarter kept for later; the c_k follow by numerical integration of the density of the walks that have not
passed yet (Armitage, McPherson and Rowe, JRSS A 132, 1969).

At alpha = 0.05 / 960 and an end at look 3 the last c is 4.06, where one look alone has 3.88: 9 % more measurements.
A union over looks by alpha / (k (k + 1)) has 4.45 there, 31 % more.

**Levels.** How the error probability is divided among the possible errors; names as in ``epsilon_best`` and
``pareto``. The guarantee is about the compounds and the goal at the start; a change of either after results voids it.
"""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Callable
from functools import lru_cache
from typing import Any, ClassVar, NamedTuple, cast

import numpy as np
from scipy.special import log_ndtr, ndtri, ndtri_exp

from ...arrays import Flags, Floats, Ints
from ...domain.goals import AllEpsilonBest, Best
from ...system.progress import Report, silent
from ..designs import table
from ..phased import Phased
from ..protocol import Allocation, Problem, State, StopReason, Strategy
from .fronts import SHARES
from .planning import CAREFUL, Needs, Way, expected_looks, first_phase, left_of, next_phase, nothing_more, rest_of

LOOKS = 32
"""Looks that are integrated exactly; those after them share what is left by a union bound."""

_KEPT = 0.25
"""Share of alpha for the looks after the expected one."""
_POWER = 2.0
"""Before the expected look the spending grows with this power of k: little at first, when little is known."""
_NODES = 1.5
"""Nodes of integration per standard deviation of one step, in addition to the least number."""
_FLOOR = 6.5
"""Walks this many of their standard deviations below zero count as gone (a share of 4e-11 of all)."""
_OF_MEANS = 0.05
"""Share of delta for the bounds of single means: they decide only against arms that cannot be measured any more."""
_OF_BEST = 0.1
"""Share of delta for arms that are not the best, where all epsilon-best are wanted."""
_OF_OUTS = 0.4
"""Share of delta for arms that are out there; the rest is for arms that are in."""
_OF_NEAR = 0.9
"""Share of the errors about single compounds for those near a border at the first step; the others have the rest."""
_FAR = 0.1
"""Weight in Holm's procedure of a compound far from the borders; one near them counts 1."""
_OF_FRONT_OUTS = 0.35
"""For trade-offs: the share that Holm's procedure divides among those not out; the rest is equal for all."""


def spent(look: float, expected: int) -> float:
    """Return the share of alpha spent up to a look; 1 in the limit."""
    if look <= expected:
        return float((1.0 - _KEPT) * (look / expected) ** _POWER)
    return 1.0 - _KEPT * expected / look


def limits(alpha: float, expected: int, looks: int) -> Floats:
    """Return c_1 .. c_looks, ``(looks,)``: P(some k has W_k > c_k sqrt(k)) <= alpha over any number of looks.

    ``expected``: the look at which the campaign is expected to end, at most ``LOOKS``; it changes how tight which limit
    is, never that they hold. The first limits do not depend on how many are requested.
    """
    if not 0.0 < alpha < 1.0 or expected < 1:
        raise ValueError("alpha must lie between 0 and 1, and expected be at least 1")
    expected = min(expected, LOOKS)
    exact = _exact(alpha, expected)
    if looks <= LOOKS:
        return exact[:looks]
    later = np.arange(LOOKS + 1, looks + 1)
    # Beyond, each look has its own share: log(spent(k) - spent(k - 1)) without loss of digits.
    shares = math.log(alpha) + np.log(_KEPT * expected) - np.log(later * (later - 1.0))
    return np.concatenate([exact, -ndtri_exp(shares)])


@lru_cache(maxsize=1024)
def _exact(alpha: float, expected: int) -> Floats:
    """Return the first limits, each by one step of the density and one search for the limit."""
    found = np.empty(LOOKS)
    places, mass = np.zeros(1), np.ones(1)
    for look in range(1, LOOKS + 1):
        share = math.log(alpha) + math.log(spent(look, expected) - spent(look - 1, expected))
        limit = _passed_by(places, mass, share)
        found[look - 1] = limit / math.sqrt(look)
        low = -_FLOOR * math.sqrt(look)
        nodes, weights = _gauss(16 + math.ceil(_NODES * (limit - low)))
        nodes = low + (limit - low) * (nodes + 1.0) / 2.0
        steps = nodes[:, None] - places
        density = np.exp(-0.5 * steps * steps) @ mass / math.sqrt(2.0 * math.pi)
        places, mass = nodes, density * weights * (limit - low) / 2.0
    found.flags.writeable = False
    return found


def _passed_by(places: Floats, mass: Floats, log_share: float) -> float:
    """Return the limit that a step takes this share of the mass beyond: Newton on the logarithm, which is concave."""
    limit = float(places.max()) + 1.0
    for _ in range(100):
        beyond = log_ndtr(places - limit)
        top = float(beyond.max())
        sizes = mass * np.exp(beyond - top)
        value = top + math.log(float(sizes.sum())) - log_share
        steps = places - limit
        # The derivative of log P: minus the hazard, averaged.
        hazard = np.exp(-0.5 * steps * steps - 0.5 * math.log(2.0 * math.pi) - beyond)
        slope = -float(sizes @ hazard / sizes.sum())
        change = value / slope
        limit -= change
        if abs(change) < 1e-12 * max(1.0, abs(limit)):
            break
    return limit


@lru_cache(maxsize=64)
def _gauss(count: int) -> tuple[Floats, Floats]:
    nodes, weights = np.polynomial.legendre.leggauss(count)
    return nodes, weights


class Levels(NamedTuple):
    """Error probabilities."""

    outs: float
    """Of all compounds put out together."""
    one_in: float
    """Of one compound put in, in the mean of all."""
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
    # Without slack only the best itself is within it.
    best = left * (0.5 if slack_of(problem) > 0 else 0.999)
    return Levels(best, (left - best) / n, best, mean)


def in_level(problem: Problem) -> float:
    """Return the error probability of one compound put in, all endpoints together (trade-offs)."""
    return (1.0 - _OF_MEANS - _OF_FRONT_OUTS) * problem.delta / max(int(problem.wanted.sum()), 1)


def rounded_level(level: float) -> float:
    """Return a level rounded down to a power of 0.8: limits are integrated and remembered."""
    return float(0.8 ** math.ceil(math.log(level) / math.log(0.8) - 1e-9))


class SetLimits:
    """The limits ``(looks,)`` of walks about one endpoint, or those of several compounds ``(looks, arms)``.

    ``near``: compounds close to a border by what was measured before the first step. Of delta they have most.
    """

    def __init__(self, problem: Problem, near: Flags, limits: Callable[[float], Floats]) -> None:
        self._limits = limits
        self._levels = levels_of(problem)
        self._weights = np.where(near, 1.0, _FAR)
        among, close = int(problem.wanted.sum()), int((problem.wanted & near).sum())
        self._shares = np.ones(problem.n_arms)
        if 0 < close < among:
            far = (1.0 - _OF_NEAR) * among / (among - close)
            self._shares = np.where(near, _OF_NEAR * among / close, far)

    def _each(self, levels: Floats) -> Floats:
        different, which = np.unique(levels, return_inverse=True)
        return np.stack([self._limits(float(level)) for level in different], axis=1)[:, which]

    def outs(self, arms: Ints, left: Flags) -> Floats:
        """Return those for arms put out by leaders, while those ``left`` are not out; with the level of in."""
        holm = self._weights[arms] / self._weights[left].sum()
        levels = self._levels.outs * np.minimum(holm, 1.0) + self._levels.one_in * self._shares[arms]
        return self._each(np.array([rounded_level(level) for level in levels.tolist()]))

    def ins(self, arms: Ints) -> Floats:
        """Return those for arms shown to be near a rival."""
        return self._each(self._levels.one_in * self._shares[arms])

    def best(self) -> Floats:
        """Return those for not being the best."""
        return self._limits(self._levels.best)

    def means(self) -> Floats:
        """Return those for either side of a mean."""
        return self._limits(self._levels.mean)


class FrontLimits:
    """The limits ``(looks,)`` of walks about several endpoints."""

    def __init__(self, problem: Problem, limits: Callable[[float], Floats]) -> None:
        self.problem, self._limits = problem, limits
        self._in = in_level(problem)

    def outs(self, left: int) -> list[Floats]:
        """Return those for each place of named rivals, while so many are not out."""
        level = self._in + _OF_FRONT_OUTS * self.problem.delta / max(left, 1)
        return [self._limits(rounded_level(share * level)) for share in SHARES]

    def ins(self) -> Floats:
        """Return those for an endpoint in which a rival does not beat a compound."""
        return self._limits(self._in / self.problem.n_endpoints)

    def means(self) -> Floats:
        """Return those for either side of a mean in an endpoint."""
        n = max(int(self.problem.wanted.sum()), 1)
        return self._limits(_OF_MEANS * self.problem.delta / (2 * n * self.problem.n_endpoints))


class ByWalks(Phased):
    """Decides by walks that pass limits which hold at every look."""

    way: ClassVar[Way] = CAREFUL
    """How its phases are planned."""
    unknown_end: ClassVar[int] = 6
    """The step at which walks are expected to end where it cannot be estimated."""

    def planned_by(self, way: Way, **own: Any) -> Strategy:
        """Return the strategy with its phases planned in another way, and other attributes of its ``own``."""
        kind = type(self)
        return cast(Strategy, type(kind.__name__, (kind,), {"way": way, **own})())

    def assumes(self, problem: Problem) -> tuple[str, ...]:
        """Return normal errors in addition to additivity: the limits are exact for them."""
        return (*super().assumes(problem), "the assay noise is normally distributed")

    def whole_round(self, problem: Problem) -> bool:
        """Return whether the first phase fills a round of the lab; else it takes two measurements for every effect."""
        return True

    @abstractmethod
    def needs(self, state: State) -> tuple[State, Needs] | None:
        """Return the state to plan in, and the open comparisons; None before there is an arm to compare with."""

    def ask(self, state: State, report: Report = silent) -> Allocation:
        """Return a phase: an even one first, then one that moves the open comparisons nearest to their limits."""
        planned, left = self.needs(state), left_of(state)
        if planned is None:
            return first_phase(state, report, whole_round=self.whole_round(state.problem))
        rest = None if left is None else rest_of(*planned, left, self.way, report).allocation
        return next_phase(*planned, report, self.way) if rest is None else rest

    def spent(self, state: State) -> tuple[StopReason, ...]:
        """Return the reason to stop when what the budget leaves is likely to decide no arm; empty while it may."""
        left = left_of(state)
        if left is None:
            return ()
        plan_in, needs = self.needs(state) or (state, None)
        rest = rest_of(plan_in, needs, left, self.way)
        open_arms = int(state.open.sum())
        return () if rest.allocation is not None else (nothing_more(left, rest, open_arms),)

    @staticmethod
    def walk_limits(state: State, level: float, looks: int) -> Floats:
        """Return the limits of walks at so many looks, ``(looks,)``, passed wrongly with a probability of ``level``."""
        found = limits(level, int(state.memory["expected"][0]), max(looks, 1))
        # With an upper bound for the noise all walks are shorter: below 0 that would move them nearer to a limit.
        return np.maximum(found, 0.0) if state.problem.estimated else found

    @staticmethod
    def guessed(problem: Problem) -> dict[str, Floats]:
        """Return the guessed noise, for the memory, where the noise is not known; nothing where it is."""
        return {"guess": np.array(problem.noise)} if problem.estimated else {}

    @staticmethod
    def foreseen(state: State) -> tuple[float, ...]:
        """Return the noise by which rivals are named; it does not depend on the phase itself."""
        own = state.memory.get("guess")
        return state.problem.noise if own is None else tuple(own.tolist())

    def end(self, problem: Problem, level: float, gap: float) -> int:
        """Return about the phase that decides a comparison ``gap`` noise SDs from its border, at a level."""
        if problem.capacity is None or gap <= 0:
            return self.unknown_end
        needed = 1.5 * (float(ndtri(level)) / gap) ** 2
        rank = table(problem.features, np.flatnonzero(problem.measurable)).rank
        return expected_looks(needed * rank, problem.capacity.per_round)
