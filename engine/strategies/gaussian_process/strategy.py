"""``gaussian-process``: rounds and answers by the series model, calibrated rather than proven."""

from __future__ import annotations

import math
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from ...arrays import Flags, Floats, Ints
from ...domain.features import SiteFeatures
from ...domain.goals import Best, Top
from ...errors import AssayPilotError
from ...models.gaussian_process.endpoints import Endpoints, best_combinations
from ...system.progress import Report, silent
from ...text import roughly
from ..informed import Informed, fingerprint
from ..phased import exhausted, one_of
from ..protocol import (
    IN,
    UNDECIDED,
    Allocation,
    Certificate,
    Knowledge,
    Parameter,
    Problem,
    State,
    StopReason,
    StrategyInfo,
)
from .batch import find, settle, spread
from .calculated import LEAST_DRAWS, Calculated, calculate, calculate_given, fit, near_the_top, scatter, somewhere

_FEW = 8
"""Measured compounds below which a round is spread over substituents."""


class GaussianProcess(Informed):
    """Rounds that find and settle, and an answer with its expected errors; every round is a phase."""

    info: ClassVar[StrategyInfo] = StrategyInfo(
        name="gaussian-process",
        version=5,
        title="Series model (Gaussian process)",
        goals=("epsilon-best", "best", "top", "pareto"),
        parameters=(
            Parameter("aim", "both", "find: the best soon; settle: the whole set; both"),
            Parameter("history", "data", "data: the table's values count; shown: they are only shown"),
            Parameter("scales", "auto", "auto: the scale of the values is chosen by likelihood; as-measured"),
        ),
        guarantee="calibrated on real series: expected missed and wrong members are stated at all times",
        source="ours: REPORT-series in tests/published",
        endpoints=(1, None),
    )

    def __init__(self, learned: Endpoints | None = None) -> None:
        """Learn from every result, or, for playing a campaign forward, take the variances ``learned`` as known."""
        self._learned = learned
        self._last: tuple[bytes, Calculated] | None = None

    def check(self, problem: Problem) -> dict[str, Any]:
        """Return the parameters; AssayPilotError for wrong ones, or for features without sites."""
        given = self.parameters(problem)
        one_of("aim", given["aim"], ("both", "find", "settle"))
        one_of("history", given["history"], ("data", "shown"))
        one_of("scales", given["scales"], ("auto", "as-measured"))
        if not isinstance(problem.features, SiteFeatures):
            raise AssayPilotError(
                f"{self.info.name} needs compounds described by substituents at sites",
                option="--strategy",
                mend="Choose another strategy for numeric features.",
            )
        return given

    def assumes(self, problem: Problem) -> tuple[str, ...]:
        """Return what the calibration rests on."""
        return ("similar combinations of substituents behave alike, as they did in the series it was calibrated on",)

    def search(self, state: State) -> NDArray[np.int32]:
        """Return the combinations of substituents that may be the best, listed among the arms or not, ``(n, n_sites)``.

        For products that are too large to list; the limits of endpoints count among the targets.
        """
        problem = state.problem
        assert isinstance(problem.features, SiteFeatures)
        models = fit(problem, self.measured(state)).models
        rng = np.random.default_rng(np.random.SeedSequence([problem.seed, state.phase, 2]))
        return best_combinations(models, problem.features.sizes, rng)

    def ask(self, state: State, report: Report = silent) -> Allocation:
        """Return the next round."""
        problem = state.problem
        size = _round_size(state)
        counts = self._plan(state, size)
        arms = np.flatnonzero(counts)
        return Allocation(
            phase=state.phase + 1,
            arms=arms,
            counts=counts[arms],
            radius=math.inf,
            certificate=Certificate("expected errors", _number(state, "expected_missed"), 0.0),
            cut_to_budget=problem.budget is not None and size < _capacity(problem),
        )

    def _plan(self, state: State, size: int) -> Ints:
        """Return how often to measure each arm in a round of that size, and once what is to be made for later ones."""
        problem, supply = state.problem, state.problem.supply
        free = problem.measurable & (problem.wanted | ~problem.wanted.any())
        telling = free & ~self._beyond_range(state)
        free = telling if telling.any() else free
        if supply is None:
            return self._filled(self._picked(state, free, size, np.zeros_like(free)), free, problem, size)
        ordered = free & supply.ordered
        rest = problem.budget - state.spent if problem.budget is not None else 2 * size + int(ordered.sum())
        picked = self._picked(state, free & ~ordered, min(size, max(rest - int(ordered.sum()), 0)), ordered)
        # As much is on order as a round holds, at most, the cheapest first.
        to_make = np.flatnonzero((picked > 0) & ~supply.ready)
        to_make = to_make[np.argsort(supply.price[to_make], kind="stable")]
        picked[to_make] = 1
        picked[to_make[max(size - int(ordered.sum()), 0) :]] = 0
        picked[ordered] = 1
        later = (picked > 0) & ~supply.ready
        left = min(size - int(picked[supply.ready].sum()), max(rest - int(picked.sum()), 0))
        fresh = free & supply.ready & (picked == 0)
        return picked + self._picked(state, fresh, left, later)

    def _beyond_range(self, state: State) -> Flags:
        """Return which arms gave bounds alone, of everything that a round measures: to repeat them gives the same."""
        problem, known = state.problem, self.measured(state)
        only = np.ones(problem.n_arms, dtype=bool)
        for row in problem.planned_rows:
            one = known[row]
            numbers = one.arms[np.isfinite(one.values)]
            seen = np.zeros(problem.n_arms, dtype=bool)
            seen[one.compounds(problem.n_arms)] = True
            seen[numbers[numbers < problem.n_arms]] = False
            only &= seen
        return only

    def _picked(self, state: State, free: Flags, size: int, taken: Flags) -> Ints:
        """Return how often to measure each arm that is ``free``, ``(n_arms,)``; those ``taken`` will be measured."""
        problem = state.problem
        assert isinstance(problem.features, SiteFeatures)
        counts = np.zeros(problem.n_arms, dtype=np.intp)
        # Of a profile, only a compound of which every part was measured has a score.
        rows = problem.planned_rows if problem.profile is None else (problem.profile.row,)
        known = self.measured(state)
        new = np.ones(problem.n_arms, dtype=bool)
        new[np.concatenate([known[row].compounds(problem.n_arms) for row in rows])] = False
        seed = int(np.random.SeedSequence([problem.seed, state.phase, 1]).generate_state(1)[0])
        if (~new).sum() < _FEW or not self.has_values(state):
            at_hand = free if problem.supply is None else free & problem.supply.ready
            seen = np.flatnonzero(~new | taken)
            for group in (at_hand, free & ~at_hand):
                chosen = spread(
                    problem.features.codes,
                    problem.features.sizes,
                    np.concatenate([seen, np.flatnonzero(counts)]),
                    np.flatnonzero(group & new),
                    size - int(counts.sum()),
                    seed,
                )
                counts[chosen] = 1
            return counts
        now = self._calculated(state)
        price = None if problem.supply is None else problem.supply.price[now.arms]
        fresh = (free & new)[now.arms]
        # As long as the best may be unmeasured compounds, these are searched for; then the set is settled.
        wanted = min(problem.goal.count, now.score.shape[1]) if isinstance(problem.goal, Top) else 1
        best = np.argpartition(now.score, -wanted, axis=1)[:, -wanted:]
        share = {"both": float(fresh[best].mean()), "find": 1.0, "settle": 0.0}[str(self.parameters(problem)["aim"])]
        found = find(now.score, fresh, round(share * size), price)
        room = np.where(free[now.arms], _replicates(problem), 0)
        room[found] -= 1
        endpoints = list(problem.planned_rows)
        noise = np.stack([scatter(problem, row, now.estimate[row, now.arms], now.noise[row]) for row in endpoints])
        before = np.concatenate([np.flatnonzero(taken[now.arms]), found])
        planned = settle(now.draws[endpoints], now.beliefs, noise, room, size - len(found), before, price)
        planned[found] += 1
        counts[now.arms] = planned
        return counts

    def _filled(self, counts: Ints, free: Flags, problem: Problem, size: int) -> Ints:
        """Fill a round that has room left with replicates, evenly, as far as the lab allows."""
        while counts.sum() < size:
            able = np.flatnonzero(free & (counts < _replicates(problem)) & (counts > 0))
            if not len(able):
                able = np.flatnonzero(free & (counts < _replicates(problem)))
            if not len(able):
                break
            able = able[np.argsort(counts[able], kind="stable")][: int(size - counts.sum())]
            counts[able] += 1
        return counts

    def learn(self, state: State) -> Knowledge:
        """Return the predictions from the measurements of a state."""
        problem, now = state.problem, self._calculated(state)
        status = now.status(problem.delta, near_the_top(self.measured(state), now, problem))
        status[~problem.wanted] = UNDECIDED
        inside = status == IN
        return Knowledge(
            status,
            now.estimate,
            now.low,
            now.high,
            now.p_member,
            now.p_acceptable,
            now.p_kept,
            expected_missed=float(now.p_member[problem.wanted & ~inside].sum()),
            expected_wrong=float((1.0 - now.p_acceptable)[inside].sum()),
            p_wrong=now.p_wrong,
            noise=np.array(now.noise),
            own=float(now.own[0]),
        )

    def truths(self, state: State, n: int, rng: np.random.Generator) -> list[Floats]:
        """Return ``n`` joint draws of all arms' means; of those that cannot matter the posterior means."""
        now = calculate(state.problem, state.memory)
        found = []
        for draw in rng.choice(now.draws.shape[1], n, replace=False):
            truth = now.estimate.copy()
            truth[:, now.arms] = now.draws[:, draw]
            found.append(truth)
        return found

    def as_learned(self, state: State) -> GaussianProcess:
        """Return the strategy with scales and variances taken as known."""
        return GaussianProcess(fit(state.problem, self.measured(state)))

    def _still(self, state: State) -> bool:
        """Return whether a decided answer holds after later values: late or unplanned ones, or an audit."""
        known = self.knowledge(state)
        return known is not None and known.p_wrong <= state.problem.delta

    def _calculated(self, state: State) -> Calculated:
        """Return the model's predictions for a state."""
        if self._learned is None:
            return calculate(state.problem, state.memory)
        key = fingerprint(state.memory).tobytes()
        if self._last is None or self._last[0] != key:
            measured = self.measured(state)
            known = self._learned.given(somewhere(state.problem, measured))
            self._last = key, calculate_given(state.problem, measured, known, LEAST_DRAWS)
        return self._last[1]

    def stop(self, state: State) -> tuple[StopReason, ...]:
        """Return a reason when the expected errors are below the requested ones, or nothing is left to measure."""
        if state.last is not None and state.last.numbers["p_wrong"] <= state.problem.delta and self._still(state):
            numbers = state.last.numbers
            missing, wrong = (roughly(numbers[name]) for name in ("expected_missed", "expected_wrong"))
            text = f"{missing} members are expected to be missing, {wrong} to be wrong"
            if isinstance(state.problem.goal, Best | Top):
                text = f"{wrong} are expected to be wrong"
            return (StopReason("decided", text, dict(numbers)),)
        return exhausted(state)


def _round_size(state: State) -> int:
    problem = state.problem
    size = _capacity(problem)
    if problem.budget is not None:
        size = min(size, problem.budget - state.spent)
    return size


def _capacity(problem: Problem) -> int:
    if problem.capacity is not None and not problem.capacity.only_end:
        return problem.capacity.per_round
    return max(1, round(0.04 * problem.n_arms))


def _replicates(problem: Problem) -> int:
    return problem.capacity.max_replicates if problem.capacity is not None else 4


def _number(state: State, name: str) -> float:
    return float(state.last.numbers[name]) if state.last is not None else float(state.problem.n_arms)
