"""``gaussian-process``: rounds and answers by the series model, calibrated rather than proven."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from ...arrays import Flags, Floats, Ints
from ...domain.endpoint import Kind
from ...domain.features import SiteFeatures
from ...domain.goals import AllEpsilonBest, ParetoSet, Top
from ...errors import AssayPilotError
from ...models.gaussian_process.combinations import best_combinations
from ...models.gaussian_process.endpoints import Endpoints, fit_endpoints
from ...models.gaussian_process.measured import Measured
from ...models.gaussian_process.series import SeriesPosterior, fit_series
from ...system.progress import Report, silent
from ...text.statements import roughly
from ..informed import Informed, fingerprint, rows_of
from ..phased import one_of
from ..protocol import (
    IN,
    OUT,
    UNDECIDED,
    Allocation,
    Arrays,
    Certificate,
    Knowledge,
    Parameter,
    Problem,
    State,
    StopReason,
    StrategyInfo,
)
from .batch import find, settle, spread
from .beliefs import Beliefs, believe

_FEW = 8
"""Measured compounds below which a round is spread over substituents."""
_NUMBERS, _LEAST_DRAWS, _MOST_DRAWS = 1_500_000, 256, 1024
"""Values drawn in all; draws at least and at most."""
_CONTENDERS = 20_000
"""Compounds up to which all are drawn jointly; of more, the best by their means."""
_KEPT = 10_000


@dataclass(frozen=True, slots=True)
class Calculated:
    """What the series model says of every arm, from everything measured so far."""

    arms: Ints
    """``(K,)`` contenders: the arms that were drawn jointly."""
    draws: Floats
    """``(n_rows, n_draws, K)`` values of the contenders: of the goal's endpoints, then of further ones."""
    score: Floats
    """``(n_draws, K)`` what the goal wants most of, lowered where a limit is not kept."""
    beliefs: Beliefs
    estimate: Floats
    """``(n_rows, n_arms)`` posterior means."""
    low: Floats
    """``(n_rows, n_arms)`` 2.5 % points."""
    high: Floats
    """97.5 % points."""
    p_member: Floats
    """``(n_arms,)`` probability of belonging to the answer."""
    p_acceptable: Floats
    """``(n_arms,)`` probability that an answer may hold it."""
    p_kept: Floats
    """``(n_limits, n_arms)`` probability of keeping to each limit; last of meeting the profile, where there is one."""
    answer: Flags
    """``(n_arms,)`` the answer with the fewest expected wrong decisions."""
    p_wrong: float
    """Probability that this answer is not right."""
    noise: Floats
    """``(n_endpoints,)`` SD of one measurement, stated or estimated."""
    own: Floats
    """``(n_endpoints,)`` SD of own deviations from site and pair effects."""

    def status(self, delta: float, measured: Flags) -> NDArray[np.int8]:
        """Return the status of every arm; one measured near the top is never out, whatever the model says."""
        if self.p_wrong <= delta:
            return np.where(self.answer, IN, OUT).astype(np.int8)
        status = np.full(len(self.answer), UNDECIDED, dtype=np.int8)
        status[self.answer & (1.0 - self.p_acceptable <= delta)] = IN
        # Out are those that hold few members not one by one only, but together: a set without members would else be
        # believed out where every single compound of many is unlikely.
        order = np.argsort(self.p_member, kind="stable")
        together = np.cumsum(self.p_member[order]) <= delta * self.p_member.sum()
        status[order[together & ~(self.answer | measured)[order]]] = OUT
        return status


class GaussianProcess(Informed):
    """Rounds that find and settle, and an answer with its expected errors; every round is a phase."""

    info: ClassVar[StrategyInfo] = StrategyInfo(
        name="gaussian-process",
        version=1,
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

        For products that are too large to list; what endpoints with limits ask for counts among the aims.
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
        problem = state.problem
        assert isinstance(problem.features, SiteFeatures)
        counts = np.zeros(problem.n_arms, dtype=np.intp)
        free = problem.measurable & (problem.wanted | ~problem.wanted.any())
        # Of a profile, only a compound of which every part was measured has a score.
        rows = problem.asked_rows if problem.profile is None else (problem.profile.row,)
        known = self.measured(state)
        measured = np.unique(np.concatenate([known[row].compounds(problem.n_arms) for row in rows]))
        seed = int(np.random.SeedSequence([problem.seed, state.phase, 1]).generate_state(1)[0])
        new = np.zeros(problem.n_arms, dtype=bool)
        new[measured] = True
        if len(measured) < _FEW or not self.has_values(state):
            unmeasured = np.flatnonzero(free & ~new)
            counts[spread(problem.features.codes, problem.features.sizes, measured, unmeasured, size, seed)] = 1
            return self._filled(counts, free, problem, size)
        now = self._said(state)
        fresh = free[now.arms] & ~new[now.arms]
        # As long as the best may be compounds that nobody measured, these are looked for; then the set is settled.
        wanted = min(problem.goal.count, now.score.shape[1]) if isinstance(problem.goal, Top) else 1
        best = np.argpartition(now.score, -wanted, axis=1)[:, -wanted:]
        share = {"both": float(fresh[best].mean()), "find": 1.0, "settle": 0.0}[str(self.parameters(problem)["aim"])]
        found = find(now.score, fresh, round(share * size))
        room = np.where(free[now.arms], _replicates(problem), 0)
        room[found] -= 1
        asked = list(problem.asked_rows)
        noise = np.stack([scatter(problem, row, now.estimate[row, now.arms], now.noise[row]) for row in asked])
        planned = settle(now.draws[asked], now.beliefs, noise, room, size - len(found), found)
        planned[found] += 1
        counts[now.arms] = planned
        return self._filled(counts, free, problem, size)

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
        """Return what the measurements of a state say."""
        problem, now = state.problem, self._said(state)
        status = now.status(problem.delta, _near_the_top(self.measured(state), now, problem))
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
            noise=float(now.noise[0]),
            own=float(now.own[0]),
        )

    def truths(self, state: State, n: int, rng: np.random.Generator) -> list[Floats]:
        """Return ``n`` joint draws of all arms' means; of those that cannot matter the posterior means."""
        said = calculate(state.problem, state.memory)
        found = []
        for draw in rng.choice(said.draws.shape[1], n, replace=False):
            truth = said.estimate.copy()
            truth[:, said.arms] = said.draws[:, draw]
            found.append(truth)
        return found

    def as_learned(self, state: State) -> GaussianProcess:
        """Return the strategy with scales and variances taken as known."""
        return GaussianProcess(fit(state.problem, self.measured(state)))

    def _still(self, state: State) -> bool:
        """Return whether a decided answer holds by what came since: late or unplanned values, or an audit."""
        known = self.knowledge(state)
        return known is not None and known.p_wrong <= state.problem.delta

    def _said(self, state: State) -> Calculated:
        """Return what the model says of a state."""
        if self._learned is None:
            return calculate(state.problem, state.memory)
        key = fingerprint(state.memory).tobytes()
        if self._last is None or self._last[0] != key:
            measured = self.measured(state)
            known = self._learned.given(_somewhere(state.problem, measured))
            self._last = key, _calculate(state.problem, measured, known, _LEAST_DRAWS)
        return self._last[1]

    def stop(self, state: State) -> tuple[StopReason, ...]:
        """Return a reason when the expected errors are below what was asked, or nothing is left to measure."""
        problem = state.problem
        if not problem.measurable.any():
            return (StopReason("nothing measurable", "no compound can be measured any more"),)
        if state.last is not None and state.last.numbers["p_wrong"] <= problem.delta and self._still(state):
            numbers = state.last.numbers
            text = (
                f"{roughly(numbers['expected_missed'])} members are expected to be missing, "
                f"{roughly(numbers['expected_wrong'])} to be wrong"
            )
            return (StopReason("decided", text, dict(numbers)),)
        if _round_size(state) < 1:
            return (StopReason("budget", "the budget is used up", {"left": 0, "needed": 1}),)
        return ()


def calculate(problem: Problem, memory: Arrays) -> Calculated:
    """Return what the series model says given a strategy's memory; kept for the last few memories."""
    digest = hashlib.sha256(fingerprint(memory).tobytes())
    assert isinstance(problem.features, SiteFeatures)
    for array in (problem.features.codes, problem.wanted, *(one for one in problem.similarity if one is not None)):
        digest.update(np.ascontiguousarray(array).tobytes())
    digest.update(
        repr(
            (
                problem.goal,
                problem.noise,
                problem.kinds,
                problem.estimated,
                problem.seed,
                dict(problem.parameters),
                problem.limits,
                problem.beside,
                problem.profile,
            )
        ).encode()
    )
    key = digest.hexdigest()
    held = _HELD.get(key)
    if held is None:
        measured = rows_of(memory)
        held = _calculate(problem, measured, fit(problem, measured), _MOST_DRAWS)
        _HELD[key] = held
        while len(_HELD) > _HOLD:
            _HELD.pop(next(iter(_HELD)))
    return held


_HELD: dict[str, Calculated] = {}
_HOLD = 4


def fit(problem: Problem, measured: Sequence[Measured]) -> Endpoints:
    """Fit the series model of every measured endpoint; one that has no value yet may be anywhere around its limit."""
    features = problem.features
    assert isinstance(features, SiteFeatures)
    sds = (*problem.noise, *problem.beside)
    scales = {p.name: p.default for p in GaussianProcess.info.parameters} | dict(problem.parameters)
    rows, known = _fitted(problem), _somewhere(problem, measured)

    def fit_one(place: int, others: Sequence[Floats]) -> SeriesPosterior:
        row, values = rows[place], known[place]
        return fit_series(
            features.codes,
            features.sizes,
            values,
            noise_sd=None if problem.estimated or not sds[row] > 0 else sds[row],
            seed=np.random.SeedSequence([problem.seed, row, len(values)]),
            similarity=problem.similarity or None,
            ends=problem.ends[row] if row < len(problem.ends) else None,
            kind=_kind(problem, row),
            scales=scales["scales"] == "auto",
            doubt=_doubt(problem, row),
            others=others,
        )

    return fit_endpoints(fit_one, known, problem.n_arms)


def _fitted(problem: Problem) -> list[int]:
    """Return the rows that the series model is fitted to: all endpoints but the score of a profile."""
    rows = range(len(problem.noise) + len(problem.beside))
    return [row for row in rows if problem.profile is None or row != problem.profile.row]


def _kind(problem: Problem, place: int) -> Kind:
    """Return what values of an endpoint are."""
    return problem.kinds[place] if place < len(problem.kinds) else "value"


def scatter(problem: Problem, place: int, means: Floats, sd: float) -> Floats:
    """Return the variance of one measurement of an endpoint at some means: of answers and counts by these."""
    kind = _kind(problem, place)
    if kind == "value":
        return np.full_like(means, sd**2)
    inside = np.clip(means, 0.0, 1.0) if kind == "yes-no" else np.maximum(means, 0.0)
    return inside * (1.0 - inside) if kind == "yes-no" else inside


def _somewhere(problem: Problem, measured: Sequence[Measured]) -> list[Measured]:
    """Return the measurements of the endpoints that are fitted; one without any has a control at its border.

    The border is its limit, or the middle of its curve. So its compounds may be anywhere, and half of what may be is on
    the better side. An endpoint that is recorded only has none, and informs no other before it has values.
    """
    known = list(measured)
    borders = dict.fromkeys(range(problem.n_endpoints, len(known)), 0.0)
    borders |= {place: low if math.isfinite(low) else high for place, low, high in problem.limits}
    if problem.profile is not None:
        borders |= {place: problem.profile.middle(place) for place in problem.profile.parts}
    for place, border in borders.items():
        if not len(known[place]):
            known[place] = Measured.exact(np.array([problem.n_arms]), np.array([border]), np.ones(1))
    return [known[row] for row in _fitted(problem)]


def _doubt(problem: Problem, place: int) -> float:
    """Return a difference of an endpoint that matters to the goal; 0 where it names none."""
    goal, profile = problem.goal, problem.profile
    if profile is not None and place in profile.parts:
        return 0.5 * profile.width(place)
    if isinstance(goal, ParetoSet):
        return goal.margins[place] if place < len(goal.margins) else 0.0
    return goal.epsilon + 0.5 * goal.slack if isinstance(goal, AllEpsilonBest) else goal.slack


def _calculate(problem: Problem, measured: Sequence[Measured], model: Endpoints, most_draws: int) -> Calculated:
    n = problem.n_arms
    asked = np.flatnonzero(problem.wanted)
    seen = np.unique(np.concatenate([one.compounds(n) for one in measured]))
    arms = _contenders(problem, model, asked, seen) if n > _CONTENDERS else np.union1d(asked, seen)
    size = int(np.clip(_NUMBERS // len(arms), _LEAST_DRAWS, most_draws))
    rng = np.random.default_rng(np.random.SeedSequence([problem.seed, len(seen), 7]))
    draws = _with_score(problem, model.draw(arms, size, rng))
    inside = problem.wanted[arms]
    arms, draws = arms[inside], draws[:, :, inside]
    goal_draws = draws[: problem.n_endpoints]
    keeps = [(draws[row] >= low) & (draws[row] <= high) for row, low, high in problem.limits]
    kept = np.all(keeps, axis=0) if keeps else None
    beliefs = believe(problem.goal, goal_draws, kept)
    score = goal_draws[0] if len(goal_draws) == 1 else beliefs.margin
    if kept is not None:
        score = np.where(kept, score, score - np.ptp(score))
    answer = np.zeros(n, dtype=bool)
    chosen = beliefs.best_answer(problem.goal)
    answer[arms[chosen]] = True
    if problem.profile is not None:
        keeps.append(problem.profile.met(draws[list(problem.profile.parts)]))
    p_member, p_acceptable, p_kept = np.zeros(n), np.zeros(n), np.full((len(keeps), n), np.nan)
    for row, keep in enumerate(keeps):
        p_kept[row, arms] = keep.mean(axis=0)
    p_member[arms], p_acceptable[arms] = beliefs.p_member, beliefs.p_acceptable
    estimate, low, high = (np.empty((len(draws), n)) for _ in range(3))
    rest = np.setdiff1d(np.arange(n), arms)
    if len(rest):
        all_rest = np.union1d(rest, seen)
        places = np.searchsorted(all_rest, rest)
        middles = _with_score(problem, model.middle(all_rest)[:, places])
    for place, values in enumerate(draws):
        estimate[place, arms] = values.mean(axis=0)
        low[place, arms], high[place, arms] = np.quantile(values, (0.025, 0.975), axis=0)
        if len(rest):
            middle = middles[place]
            half = float(np.median(high[place, arms] - low[place, arms])) / 2.0
            estimate[place, rest], low[place, rest], high[place, rest] = middle, middle - half, middle + half
    return Calculated(
        arms,
        draws,
        score,
        beliefs,
        estimate,
        low,
        high,
        p_member,
        p_acceptable,
        p_kept,
        answer,
        beliefs.p_wrong(problem.goal, chosen),
        _of_every_row(problem, [one.noise_sd for one in model.models]),
        _of_every_row(problem, [one.own_sd for one in model.models]),
    )


def _with_score(problem: Problem, rows: Floats) -> Floats:
    """Return values of the fitted endpoints ``(n, ...)`` with those of the score, where there is a profile."""
    return rows if problem.profile is None else problem.profile.filled(rows)


def _of_every_row(problem: Problem, sds: Sequence[float]) -> Floats:
    """Return SDs of the fitted endpoints, and of the score what they come to half way up every ramp."""
    profile = problem.profile
    if profile is None:
        return np.array(sds)
    of_row = dict(zip(_fitted(problem), sds, strict=True))
    of_row[profile.row] = profile.noise([of_row[part] for part in profile.parts])
    return np.array([of_row[row] for row in sorted(of_row)])


def _contenders(problem: Problem, model: Endpoints, asked: Ints, seen: Ints) -> Ints:
    """Return the arms that can matter in a large table: the best by their means, and everything measured."""
    everything = np.union1d(asked, seen)
    means = _with_score(problem, model.middle(everything))
    spread_of = np.maximum(means.std(axis=1, keepdims=True), 1e-12)
    level = means / spread_of
    orders = [*level, level.mean(axis=0)] if len(level) > 1 else list(level)
    each = _KEPT // len(orders)
    best = [everything[np.argpartition(-order, min(each, len(order) - 1))[:each]] for order in orders]
    return np.unique(np.concatenate([*best, seen]))


def _near_the_top(measured: Sequence[Measured], now: Calculated, problem: Problem) -> Flags:
    """Return which arms' own measured means are within the answer: these are never decided out."""
    n = problem.n_arms
    near = np.zeros(n, dtype=bool)
    if problem.n_endpoints > 1 or problem.limits or _kind(problem, 0) != "value":
        return near
    one = measured[0]
    known = np.isfinite(one.values) & (one.arms < n)
    counts = np.bincount(one.arms[known], one.counts[known], n)
    sums = np.bincount(one.arms[known], one.counts[known] * one.values[known], n)
    has = counts > 0
    border = float((now.draws[0] - now.beliefs.margin).mean())
    near[has] = sums[has] / counts[has] >= border
    return near


def _round_size(state: State) -> int:
    problem = state.problem
    size = _capacity(problem)
    if problem.budget is not None:
        size = min(size, problem.budget - state.spent)
    return size


def _capacity(problem: Problem) -> int:
    if problem.capacity is not None and problem.capacity.per_round < (problem.budget or math.inf):
        return problem.capacity.per_round
    return max(1, round(0.04 * problem.n_arms))


def _replicates(problem: Problem) -> int:
    return problem.capacity.max_replicates if problem.capacity is not None else 4


def _number(state: State, name: str) -> float:
    return float(state.last.numbers[name]) if state.last is not None else float(state.problem.n_arms)
