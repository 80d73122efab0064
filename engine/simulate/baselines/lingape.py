"""LinGapE, LinGIFA and m-LinGapE: they measure what separates the present answer from its rivals.

What gap-index algorithms share: leaders, the weakest of them, its challenger, and what separates the two.

Source: Reda, Kaufmann and Delahaye-Duriez, "Top-m identification for linear bandits" (2021), Algorithm 1 (GIFA), with
the index B_ij = mean_i - mean_j + width(i, j) that bounds how much better i can be than j. LinFACT compares itself with
them by giving them m, the number of compounds within epsilon.

LinGapE: the best compound by the pair that is hardest to separate.

Source: Xu, Honda and Sugiyama, "A fully adaptive algorithm for pure exploration in linear bandits" (2018), Algorithm 1,
which is m-LinGapE with one compound to be found; its epsilon is the goal's slack.

LinGIFA: the m best compounds by gap indices alone; leaders are those that the fewest can exceed.

Source: Reda, Kaufmann and Delahaye-Duriez, "Top-m identification for linear bandits" (2021), LinGIFA; LinFACT section
7 compares itself with it.

m-LinGapE: the m best compounds by the pair of a leader and a challenger that is hardest to separate.

Source: Reda, Kaufmann and Delahaye-Duriez, "Top-m identification for linear bandits" (2021), the adaptation of LinGapE;
LinFACT section 7 compares itself with it.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from functools import lru_cache
from typing import Any, ClassVar, NamedTuple

import numpy as np

from ...arrays import Floats, Ints
from ...domain.goals import AllEpsilonBest, Best
from ...models.ols import lower_factor
from ...strategies.lingame.pool import POOL_PARAMETERS, Pool, Rules, Table, pooled, table_of
from ...strategies.lingame.questions import squared_distances
from ...strategies.lingame.sequential import FIRST, Sequential, compared, shuffled
from ...strategies.phased import one_of, whole
from ...strategies.protocol import UNDECIDED, Parameter, Problem, State, StrategyInfo

M = Parameter(
    "m", None, "compounds to be returned; none: as many as are within epsilon by the estimate, anew at every look"
)

PULL = Parameter(
    "pull",
    "greedy",
    "what is measured; greedy: the compound that narrows the pair's difference most; variance: the less known of "
    "the two",
)


def first_of_all(default: str) -> Parameter:
    """Return what comes first, with the default of a strategy's paper."""
    return replace(FIRST, default=default)


class Race(NamedTuple):
    """The leaders, and the pair that is hardest to separate."""

    leaders: Ints
    weakest: int
    """The leader that may be exceeded most."""
    challenger: int
    """The challenger that may exceed it most; -1 when all arms lead."""
    excess: float
    """How much better a challenger may be at most; the leaders are right once it is within the slack."""


def pairwise(means: Floats, spread: Floats, width: float, rows: Ints, against: Ints) -> Floats:
    """Return B_ij for i in ``rows`` and j in ``against``: how much better i can be than j."""
    lengths = squared_distances(spread[rows], spread[against])
    return means[rows, None] - means[against] + width * np.sqrt(lengths)


def leading_race(means: Floats, spread: Floats, width: float, m: int) -> Race:
    """Leaders: the m largest means. Weakest: the one that an outsider may exceed most; challenger: that outsider."""
    order = np.argsort(-means, kind="stable")
    leaders, others = np.sort(order[:m]), np.sort(order[m:])
    if not len(others):
        return Race(leaders, int(order[0]), -1, -math.inf)
    index = pairwise(means, spread, width, others, leaders)
    c, b = divmod(int(np.argmax(index)), len(leaders))
    return Race(leaders, int(leaders[b]), int(others[c]), float(index[c, b]))


class GapIndex(Sequential):
    """Returns all leaders at once when no challenger can be better by more than the slack.

    With a bound on the effects widths are those of the papers, |y| in (V + eta I)^-1 (Theorem 3 of LinGame); without
    one those of the least-squares estimate.
    """

    def check(self, problem: Problem) -> dict[str, Any]:
        """Return the parameters with their defaults; AssayPilotError for one out of range."""
        parameters = super().check(problem)
        one_of("pull", parameters["pull"], ("greedy", "variance"))
        if parameters.get("m") is not None:
            whole("m", parameters["m"])
        return parameters

    def void(self, problem: Problem) -> tuple[str, ...]:
        """Return why no error probability is promised with these parameters."""
        reasons = super().void(problem)
        if isinstance(problem.goal, Best):
            return reasons
        m = self.parameters(problem)["m"]
        if m is None:
            why = (
                "the number of compounds within epsilon is taken from the estimate: the confidence covers only that "
                "the compounds returned are the best ones, up to the slack"
            )
        else:
            why = (
                f"it returns the {m} best compounds up to the slack; those are the ones within epsilon only when "
                f"there are {m} of them and the slack is 0"
            )
        return (*reasons, why)

    race = staticmethod(leading_race)

    def verdict(self, state: State, pool: Pool, spread: Floats, reach: float) -> tuple[Ints, Ints, bool]:
        """Decide all leaders in and the others out once no challenger can be better by more than the slack."""
        nothing = np.zeros(0, dtype=np.intp)
        rivals = compared(state)
        if (rivals & ~pool.known).any() or not rivals.any():
            return nothing, nothing, False
        arms = np.flatnonzero(rivals)
        goal = state.problem.goal
        assert isinstance(goal, AllEpsilonBest | Best)
        m = self.size(state, pool.means[arms])
        race = _raced(self.race, pool, arms.tobytes(), self.rules(state.problem).ridge, reach, m)
        if race.excess > goal.slack:
            return nothing, nothing, False
        chosen = np.zeros(len(rivals), dtype=bool)
        chosen[arms[race.leaders]] = True
        open_arms = (state.status == UNDECIDED) & state.active
        return np.flatnonzero(open_arms & chosen), np.flatnonzero(open_arms & ~chosen), False

    def size(self, state: State, means: Floats) -> int:
        """Return how many compounds to return of those with these means."""
        goal = state.problem.goal
        if not isinstance(goal, AllEpsilonBest):
            return 1
        m = self.parameters(state.problem)["m"]
        if m is not None:
            return min(int(m), len(means))
        return int((means >= means.max() - goal.epsilon - goal.slack / 2.0).sum())

    def batch(self, state: State, rules: Rules, first: Ints, n: int, most: int) -> Ints:
        """Plan one measurement after the other, as if the values of those before were as expected."""
        problem = state.problem
        taken = np.bincount(first, minlength=problem.n_arms)
        measurable = shuffled(problem, problem.measurable)
        counts = state.memory["counts"]
        if len(first) or not counts.any():
            even = np.arange(n - len(first)) % max(len(measurable), 1)
            return taken + np.bincount(measurable[even], minlength=problem.n_arms)
        table = table_of(problem.features, problem.measurable | (counts > 0))
        pool = pooled(table, rules, counts, state.memory["sums"])
        arms = np.flatnonzero(compared(state) & pool.known)
        x = table.x
        reach = rules.reach(pool.total)
        m = self.size(state, pool.means[arms])
        covariance, inverse = pool.covariance, pool.inverse
        for done in range(n):
            room = measurable[taken[measurable] < most]
            if not len(room):
                break
            # The pair must be the one that keeps it from stopping, so both use the same widths.
            if done == 0:
                race = _raced(self.race, pool, arms.tobytes(), rules.ridge, reach, m)
            else:
                metric = covariance if rules.ridge else inverse + rules.eta * (inverse @ inverse)
                race = self.race(pool.means[arms], x[arms] @ _lower(metric), math.sqrt(reach), m)
            pair = (int(arms[race.weakest]), int(arms[race.challenger]))
            arm = self.pull(rules, table, covariance, pair, room)
            taken[arm] += 1
            if done + 1 < n:
                covariance, inverse = _once_more(covariance, x[arm]), _once_more(inverse, x[arm])
        return taken

    def pull(self, rules: Rules, table: Table, covariance: Floats, pair: tuple[int, int], room: Ints) -> int:
        """Return the arm to measure for a pair, among those there is room for."""
        rule = rules.parameters["pull"]
        if rule == "variance":
            there = [arm for arm in pair if arm in room]
            if there:
                return max(there, key=lambda arm: float(table.x[arm] @ covariance @ table.x[arm]))
        y = table.x[pair[0]] - table.x[pair[1]]
        rows = table.x[room]
        narrowed = (rows @ (covariance @ y)) ** 2 / (1.0 + ((rows @ covariance) * rows).sum(axis=1))
        return int(room[narrowed.argmax()])


@lru_cache(maxsize=4)
def _raced(race: Callable[..., Race], pool: Pool, rows: bytes, ridge: bool, reach: float, m: int) -> Race:
    """Return the race of these arms by a pool.

    Kept, because what decides is also what the next measurement is chosen by.
    """
    arms = np.frombuffer(rows, dtype=np.intp)
    spread = pool.table.x[arms] @ (_lower(pool.covariance) if ridge else pool.factor)
    return race(pool.means[arms], spread, math.sqrt(reach), m)


def _once_more(inverse: Floats, x: Floats) -> Floats:
    """Return the inverse of a matrix with x x' added."""
    step = inverse @ x
    return inverse - step[:, None] * (step / (1.0 + float(x @ step)))


def _lower(metric: Floats) -> Floats:
    return lower_factor((metric + metric.T) / 2.0)


_ROWS = 256
"""Compounds whose indices against all others are looked at together."""


def index_race(means: Floats, spread: Floats, width: float, m: int) -> Race:
    """Leaders: the m smallest of max^m_{i != j} B_ij, the m-th largest index against j. Weakest: the largest of them.

    No other arm is in doubt once the weakest leader's index is within the slack: at most m - 1 others can then be
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


class LinGapE(GapIndex):
    """The best compound; measures what separates the leader from its most ambiguous challenger."""

    info: ClassVar[StrategyInfo] = StrategyInfo(
        name="lingape",
        version=1,
        title="LinGapE",
        goals=("best",),
        parameters=(*POOL_PARAMETERS, first_of_all("each"), PULL),
        guarantee="with the stated confidence the compound returned is the best, or within slack of it",
        source="Xu et al. 2018, Algorithm 1",
        baseline=True,
    )


class LinGIFA(GapIndex):
    """The m best compounds, taken for those within epsilon of the best."""

    info: ClassVar[StrategyInfo] = StrategyInfo(
        name="lingifa",
        version=1,
        title="LinGIFA",
        goals=("epsilon-best", "best"),
        parameters=(*POOL_PARAMETERS, M, first_of_all("spanning"), replace(PULL, default="variance")),
        guarantee="with the stated confidence no compound left out is better than one returned by more than slack",
        source="Reda et al. 2021, LinGIFA",
        baseline=True,
    )
    race = staticmethod(index_race)


class MLinGapE(GapIndex):
    """The m best compounds, taken for those within epsilon of the best."""

    info: ClassVar[StrategyInfo] = StrategyInfo(
        name="m-lingape",
        version=1,
        title="m-LinGapE",
        goals=("epsilon-best", "best"),
        parameters=(*POOL_PARAMETERS, M, first_of_all("each"), PULL),
        guarantee="with the stated confidence no compound left out is better than one returned by more than slack",
        source="Reda et al. 2021, m-LinGapE",
        baseline=True,
    )
