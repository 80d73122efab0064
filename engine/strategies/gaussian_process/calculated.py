"""Predictions of the series model for a campaign: joint draws of every compound, and what follows from them."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ...arrays import Flags, Floats, Ints
from ...domain.endpoint import Kind
from ...domain.features import SiteFeatures
from ...domain.goals import AllEpsilonBest, ParetoSet
from ...models.gaussian_process.endpoints import Endpoints, fit_endpoints
from ...models.gaussian_process.measured import Measured
from ...models.gaussian_process.series import SeriesPosterior, fit_series
from ..informed import fingerprint, rows_of
from ..protocol import IN, OUT, UNDECIDED, Arrays, Problem
from .batch import Beliefs, believe

_NUMBERS, LEAST_DRAWS, _MOST_DRAWS = 1_500_000, 256, 1024
"""Values drawn in all; draws at least and at most."""
_CONTENDERS = 20_000
"""Compounds up to which all are drawn jointly; of more, the best by their means."""
_KEPT = 10_000


@dataclass(frozen=True, slots=True)
class Calculated:
    """Predictions of the series model for every arm, from everything measured so far."""

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
        """Return the status of every arm; one measured near the top is never out, whatever the model predicts."""
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


def calculate(problem: Problem, memory: Arrays) -> Calculated:
    """Return the series model's predictions given a strategy's memory; kept for the last few memories."""
    digest = hashlib.sha256(fingerprint(memory).tobytes())
    assert isinstance(problem.features, SiteFeatures)
    calculated = None if problem.profile is None else problem.profile.calculated
    for array in (problem.features.codes, problem.wanted, *problem.similarity, calculated):
        if array is not None:
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
                problem.other_noise,
                problem.usual_noise,
                problem.profile,
            )
        ).encode()
    )
    key = digest.hexdigest()
    held = _HELD.get(key)
    if held is None:
        measured = rows_of(memory)
        held = calculate_given(problem, measured, fit(problem, measured), _MOST_DRAWS)
        _HELD[key] = held
        while len(_HELD) > _MOST_KEPT:
            _HELD.pop(next(iter(_HELD)))
    return held


_HELD: dict[str, Calculated] = {}
_MOST_KEPT = 4


def fit(problem: Problem, measured: Sequence[Measured]) -> Endpoints:
    """Fit the series model of every measured endpoint; one that has no value yet may be anywhere around its limit."""
    features = problem.features
    assert isinstance(features, SiteFeatures)
    sds = (*problem.noise, *problem.other_noise)
    usual = problem.usual_noise or sds
    rows, known = _fitted(problem), somewhere(problem, measured)

    def fit_one(place: int, others: Sequence[Floats]) -> SeriesPosterior:
        row, values = rows[place], known[place]
        return fit_series(
            features.codes,
            features.sizes,
            values,
            noise_sd=None if problem.estimated or not sds[row] > 0 else sds[row],
            usual_noise=usual[row] if problem.estimated and usual[row] > 0 else None,
            seed=np.random.SeedSequence([problem.seed, row, len(values)]),
            similarity=problem.similarity or None,
            ends=problem.ends[row] if row < len(problem.ends) else None,
            kind=_kind(problem, row),
            scales=problem.parameters.get("scales", "auto") == "auto",
            doubt=_doubt(problem, row),
            others=others,
        )

    return fit_endpoints(fit_one, known, problem.n_arms)


def _fitted(problem: Problem) -> list[int]:
    """Return the rows that the series model is fitted to: all endpoints but the score of a profile."""
    rows = range(len(problem.noise) + len(problem.other_noise))
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


def somewhere(problem: Problem, measured: Sequence[Measured]) -> list[Measured]:
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


def calculate_given(problem: Problem, measured: Sequence[Measured], model: Endpoints, most_draws: int) -> Calculated:
    """Return a fitted model's predictions for every arm, by at most so many joint draws."""
    n = problem.n_arms
    wanted = np.flatnonzero(problem.wanted)
    seen = np.unique(np.concatenate([one.compounds(n) for one in measured]))
    arms = _contenders(problem, model, wanted, seen) if n > _CONTENDERS else _any_of(n, wanted, seen)
    size = int(np.clip(_NUMBERS // len(arms), LEAST_DRAWS, most_draws))
    rng = np.random.default_rng(np.random.SeedSequence([problem.seed, len(seen), 7]))
    draws = _with_score(problem, model.draw(arms, size, rng), arms)
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
        keeps.append(problem.profile.among(arms).met(draws[list(problem.profile.parts)]))
    p_member, p_acceptable, p_kept = np.zeros(n), np.zeros(n), np.full((len(keeps), n), np.nan)
    for row, keep in enumerate(keeps):
        p_kept[row, arms] = keep.mean(axis=0)
    p_member[arms], p_acceptable[arms] = beliefs.p_member, beliefs.p_acceptable
    estimate, low, high = (np.empty((len(draws), n)) for _ in range(3))
    others = np.ones(n, dtype=bool)
    others[arms] = False
    rest = np.flatnonzero(others)
    if len(rest):
        all_rest = _any_of(n, rest, seen)
        places = np.searchsorted(all_rest, rest)
        middles = _with_score(problem, model.middle(all_rest)[:, places], rest)
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


def _any_of(n: int, *groups: Ints) -> Ints:
    """Return which of ``n`` arms are in any of some groups, in order."""
    chosen = np.zeros(n, dtype=bool)
    for group in groups:
        chosen[group] = True
    return np.flatnonzero(chosen)


def _with_score(problem: Problem, rows: Floats, arms: Ints) -> Floats:
    """Return values of the fitted endpoints ``(n, ..., n_arms)`` with those of the score, where there is a profile."""
    return rows if problem.profile is None else problem.profile.among(arms).filled(rows)


def _of_every_row(problem: Problem, sds: Sequence[float]) -> Floats:
    """Return SDs of the fitted endpoints, and of the score what they come to half way up every ramp."""
    profile = problem.profile
    if profile is None:
        return np.array(sds)
    of_row = dict(zip(_fitted(problem), sds, strict=True))
    of_row[profile.row] = profile.noise([of_row[part] for part in profile.parts])
    return np.array([of_row[row] for row in sorted(of_row)])


def _contenders(problem: Problem, model: Endpoints, wanted: Ints, seen: Ints) -> Ints:
    """Return the arms that can matter in a large table: the best by their means, and everything measured."""
    everything = _any_of(problem.n_arms, wanted, seen)
    means = _with_score(problem, model.middle(everything), everything)
    spread_of = np.maximum(means.std(axis=1, keepdims=True), 1e-12)
    level = means / spread_of
    orders = [*level, level.mean(axis=0)] if len(level) > 1 else list(level)
    each = _KEPT // len(orders)
    best = [everything[np.argpartition(-order, min(each, len(order) - 1))[:each]] for order in orders]
    return np.unique(np.concatenate([*best, seen]))


def near_the_top(measured: Sequence[Measured], now: Calculated, problem: Problem) -> Flags:
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
