"""What a budget will find under the series model: the campaign played forward against truths that may be.

Each truth is a joint draw from what is known; before the first value, from a prior that the report names. The
campaign's own strategy plans every round, so replicates, limits and capacity count as they will.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from scipy.special import expit

from ..arrays import Floats
from ..campaign.events.fold import fold
from ..campaign.file.store import Store
from ..campaign.replay import Ledger
from ..domain.endpoint import Kind
from ..domain.features import SiteFeatures
from ..errors import AssayPilotError
from ..models.gaussian_process.measured import Measured
from ..strategies.protocol import IN, Calibrated, Problem, State
from ..system.progress import Report, silent

_RUNS = 6
_ROUNDS = 6
"""Rounds that are played at most where no budget ends a campaign before."""
_MOST_ARMS = 100_000
_SPREAD = 3.0
"""SD of the values before the first measurement, in units of the goal's precision: epsilon, or five noise SDs."""
_OWN = 0.3
"""Share of it that no sum of site effects explains."""
_SPREAD_ON_SCALE = 1.5
"""The same SD of log odds, and of logarithms of mean counts."""
_BACK: dict[Kind, Callable[[Floats], Floats]] = {
    "value": lambda values: values,
    "yes-no": lambda odds: np.asarray(expit(odds - 1.0)),
    "count": lambda logs: np.exp(logs + 1.0),
}
"""Means of what is made up on the scale of its kind, around a usual one of 1 in 4, or of 3."""


@dataclass(frozen=True, slots=True)
class ForecastPoint:
    """What is expected at the end of a round; means over the runs."""

    measurements: int
    """In the whole campaign, of all endpoints."""
    found: float
    """Share of the members measured at least once."""
    best_found: float
    """Probability that a best compound was measured."""
    missed: float
    """Members that are not in."""
    wrong: float
    """Compounds in that no right answer contains."""
    finished: float
    """Share of the runs that were decided by then."""


@dataclass(frozen=True, slots=True)
class SeriesForecast:
    """The curve of a forecast, and what it rests on."""

    curve: tuple[ForecastPoint, ...]
    ends: tuple[tuple[int, int, bool], ...]
    """Of every run: measurements and rounds at its end, and whether it was decided then."""
    runs: int
    members: float
    """Members expected in all."""
    assumed: str


def ledger_of(path: str | Path) -> Ledger:
    """Return the campaign in a file, which is only read."""
    store = Store.open(path, read_only=True)
    try:
        return fold(Ledger(store.part), store.events())
    finally:
        store.close()


def forecast_ledger(
    ledger: Ledger, report: Report = silent, *, runs: int | None = None, seed: int = 0
) -> SeriesForecast:
    """Return the forecast of a campaign from its present state, by so many simulated campaigns (default: 6).

    AssayPilotError for one under a proof.
    """
    strategy = ledger.strategy
    if not isinstance(strategy, Calibrated):
        raise AssayPilotError(f"{strategy.info.name} has a forecast of its own")
    if ledger.n_arms > _MOST_ARMS:
        raise AssayPilotError(
            f"a forecast takes up to {_MOST_ARMS:,} different compounds, and there are {ledger.n_arms:,}",
            mend="Go on without it; each round states what is expected to be missing.",
        )
    now = ledger.current()
    state = replace(now, problem=replace(now.problem, parameters={**now.problem.parameters, "scales": "as-measured"}))
    rng = np.random.default_rng(seed)
    known = strategy.has_values(state)
    lacking = "Not every endpoint of the goal" if any(map(len, strategy.measured(state))) else "Nothing"
    if not known:
        # Values of one endpoint alone are not what is made up for both.
        state = strategy.inform(state, tuple(Measured.nothing() for _ in strategy.measured(state)))
    truths = strategy.truths(state, runs or _RUNS, rng) if known else _prior_truths(state, runs or _RUNS, rng)
    curves, members = [], []
    for number, truth in enumerate(truths):
        report(number / len(truths), f"forecast: {number} of {len(truths)} simulated campaigns")
        curve, size = _play(strategy, state, truth, rng)
        curves.append(curve)
        members.append(size)
    report(1.0, "forecast made")
    longest = max((len(curve) for curve in curves), default=0)
    each = ledger.per_sample
    points = []
    for place in range(longest):
        rows = np.array([curve[min(place, len(curve) - 1)] for curve in curves if curve])
        spent = ledger.spent() + round(float(rows[:, 0].mean()) - state.spent) * each
        if ledger.settings.budget is not None:
            spent = min(spent, ledger.settings.budget)
        points.append(ForecastPoint(spent, *rows[:, 1:].mean(axis=0).tolist()))
    ends = [(points[len(one) - 1].measurements, len(one), bool(one[-1][5])) for one in curves if one]
    assumed = (
        "Simulated from what the series model knows now."
        if known
        else f"{lacking} is measured yet: one answer in four is taken to be yes, or a usual count to be 3."
        if any(kind != "value" for kind in state.problem.kinds)
        else f"{lacking} is measured yet: values are taken to spread over the curves of the profile."
        if state.problem.profile is not None
        else f"{lacking} is measured yet: values are taken to spread {_SPREAD:g} times as far as what counts as equal."
    )
    expected = float(np.mean(members)) if members else math.nan
    return SeriesForecast(tuple(points), tuple(ends), len(truths), expected, assumed)


def _prior_truths(state: State, runs: int, rng: np.random.Generator) -> list[Floats]:
    """Return values that may be before anything is measured, ``(n_rows, n_arms)`` each."""
    problem = state.problem
    features = problem.features
    assert isinstance(features, SiteFeatures)
    goal = problem.goal
    border = float(
        getattr(goal, "epsilon", 0.0) or getattr(goal, "slack", 0.0) or max(getattr(goal, "margins", (0.0,)))
    )
    profile = problem.profile
    truths = []
    for _ in range(runs):
        rows = []
        for place, sd in enumerate((*problem.noise, *problem.other_noise)):
            if profile is not None and place == profile.row:
                continue
            kind = problem.kinds[place] if problem.kinds else "value"
            size = _SPREAD * (border if border > 0 else 5.0 * sd) if kind == "value" else _SPREAD_ON_SCALE
            middle = 0.0
            if profile is not None and place in profile.parts:
                middle, size = profile.middle(place), profile.width(place)
            total = _OWN * size * rng.standard_normal(features.n_rows)
            for site, levels in enumerate(features.sizes):
                effects = rng.standard_normal(levels) * size / math.sqrt(len(features.sizes))
                total += effects[features.codes[:, site]]
            rows.append(_BACK[kind](total) + middle)
        truths.append(np.array(rows) if profile is None else profile.filled(np.array(rows)))
    return truths


def _play(
    strategy: Calibrated, state: State, truth: Floats, rng: np.random.Generator
) -> tuple[list[tuple[float, ...]], int]:
    """Return a point per round, and how many members the truth has."""
    problem = state.problem
    of_goal = truth[: problem.n_endpoints]
    kept = _kept(problem, truth)
    means = np.where(kept, of_goal, np.nan) if problem.goal.name == "pareto" else np.where(kept, of_goal[0], np.nan)
    members = problem.goal.members(means) if kept.any() else np.zeros(problem.n_arms, dtype=bool)
    acceptable = problem.goal.acceptable(means) if kept.any() else members
    best = members & (of_goal[0] >= of_goal[0][members].max()) if members.any() else members
    measured = np.zeros(problem.n_arms, dtype=bool)
    for row in strategy.measured(state)[: problem.n_endpoints]:
        measured[row.compounds(problem.n_arms)] = True
    noise = np.array((*problem.noise, *problem.other_noise))
    came = {*problem.planned_rows, *(() if problem.profile is None else (problem.profile.row,))}
    points: list[tuple[float, ...]] = []
    if strategy.has_values(state):
        strategy = strategy.as_learned(state)
    while len(points) < _ROUNDS and not strategy.stop(state):
        allocation = strategy.ask(state)
        if not allocation.total:
            break
        arms, counts = allocation.arms, allocation.counts.astype(np.float64)
        rows = [
            old.joined(Measured.exact(arms, _came(problem, place, value[arms], sd, counts, rng), counts))
            if place in came
            else old
            for place, (old, value, sd) in enumerate(zip(strategy.measured(state), truth, noise, strict=True))
        ]
        measured[arms] = True
        informed = strategy.inform(state, tuple(rows))
        if not points and not strategy.has_values(state):
            strategy = strategy.as_learned(informed)
        spent = state.spent + allocation.total
        decided = strategy.apply(informed, strategy.decision(informed, spent))
        state = strategy.inform(decided, tuple(rows))
        inside = state.status == IN
        points.append(
            (
                float(spent),
                float((members & measured).sum() / max(members.sum(), 1)),
                float((best & measured).any()),
                float((members & ~inside).sum()),
                float((inside & ~acceptable).sum()),
                float(any(reason.name != "budget" for reason in strategy.stop(state))),
            )
        )
    return points, int(members.sum())


def _came(problem: Problem, place: int, means: Floats, sd: float, counts: Floats, rng: np.random.Generator) -> Floats:
    """Return the average results of so many measurements of compounds with these means."""
    kind = problem.kinds[place] if problem.kinds else "value"
    if kind == "yes-no":
        return np.asarray(rng.binomial(counts.astype(np.int64), np.clip(means, 0.0, 1.0)) / counts)
    if kind == "count":
        return np.asarray(rng.poisson(np.maximum(means, 0.0) * counts) / counts)
    return np.asarray(means + sd / np.sqrt(counts) * rng.standard_normal(len(means)))


def _kept(problem: Problem, truth: Floats) -> np.ndarray[tuple[int, ...], np.dtype[np.bool_]]:
    kept = np.ones(truth.shape[1], dtype=bool)
    for row, low, high in problem.limits:
        kept &= (truth[row] >= low) & (truth[row] <= high)
    return kept
