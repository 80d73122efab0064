"""What a campaign will still take: its own strategy, simulated from its present state against possible truths.

Every run draws a truth from what is known (``forecast_truth``) and lets the campaign's strategy go on to its end with
simulated results (``forecast_runs``). Of n runs take the k-th smallest and the k-th largest number of measurements,
with k = (n + 1) / 10. One more number of the same kind is between them in 80 % of cases, whatever its distribution.
"""

from __future__ import annotations

import math
import statistics
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from ..campaign.outlook import draft
from ..campaign.replay import Ledger
from ..campaign.settings import Settings
from ..domain.endpoint import Endpoint
from ..domain.library import Library
from ..domain.measurements import Result
from ..errors import AssayPilotError
from ..strategies.registry import part_for
from ..system.progress import Report, silent
from .forecast_runs import Ended, begin, play_on
from .forecast_truth import draw, sources, words
from .series_forecast import ForecastPoint, SeriesForecast, forecast_ledger, ledger_of


@dataclass(frozen=True, slots=True)
class Spread:
    """An 80 % interval and its middle."""

    low: int
    middle: int
    high: int

    def left(self, done: int) -> dict[str, int]:
        """Return low, median and high of what is still to come."""
        return {"low": self.low - done, "median": self.middle - done, "high": self.high - done}


@dataclass(frozen=True, slots=True)
class BudgetForecast:
    """What a budget decides."""

    decided: float
    """Share of the simulated campaigns that were decided within it."""
    in_: float
    """Compounds in when it is spent or all is decided, on average."""
    out: float
    undecided: float

    @property
    def decides_nothing(self) -> bool:
        """Whether it cannot decide a single compound in any of the simulated campaigns."""
        return self.in_ + self.out <= 0.0


@dataclass(frozen=True, slots=True)
class RoundForecast:
    """What the next round is worth, the open one if there is one, up to the decision that it is part of."""

    measurements: int
    """Measurements it takes, on average."""
    decided: float
    """Compounds it decides, on average; when it is the first of several rounds, what all of them decide together."""
    ends: float
    """The chance that this ends the campaign."""
    rounds: int
    """Rounds up to that decision: 1 when the round itself decides."""


@dataclass(frozen=True, slots=True)
class Forecast:
    """What a campaign will have taken when it ends; numbers of the whole campaign, what was measured included."""

    measurements: Spread
    """Of all endpoints together."""
    rounds: Spread
    decided: float
    """Share of the simulated campaigns that ended with every compound decided."""
    open_ended: bool
    """At least a tenth did not end: ``high`` then means "more than"."""
    budget: BudgetForecast | None
    """None without a budget."""
    next_round: RoundForecast | None
    """None when nothing more is requested."""
    assumed: str
    """One sentence: what the simulated truths were drawn from."""
    runs: int
    seed: int
    curve: tuple[ForecastPoint, ...] = ()
    """What is found round by round; empty where a proof is required."""


_RUNS = 19
_FEW = 9
"""Runs where one takes long."""
_LOOKS = 10
"""Phases of ``adaptive`` from which one run takes long."""
_LARGE = 30_000
"""Compounds times substituents from which it does."""
_MOST_TELLING = (
    "Phases are taken to be the most informative ones of whatever is in stock or can be made; with few to make they "
    "take more measurements."
)
_NO_WAITING = "Compounds to be made are taken to be there in the round that plans them."
_PATIENCE = 300.0
"""Seconds of processor time that are too long for a forecast."""


def forecast_draft(
    library: Library,
    endpoints: Sequence[Endpoint],
    settings: Settings,
    history: Sequence[Result] = (),
    report: Report = silent,
    *,
    runs: int | None = None,
    seed: int = 0,
) -> Forecast:
    """Return the forecast of the campaign these would make; AssayPilotError as the campaign itself would be refused.

    ``runs``: for a proof 9, 19, 29, ..; None: as many as a second or two allow.
    """
    return _forecast(draft(library, endpoints, settings, history).ledger, report, runs, seed)


def forecast_campaign(path: str | Path, report: Report = silent, *, runs: int | None = None, seed: int = 0) -> Forecast:
    """Return the forecast of the campaign in a file, which is only read; AssayPilotError when it cannot be."""
    return _forecast(ledger_of(path), report, runs, seed)


def _forecast(ledger: Ledger, report: Report, runs: int | None, seed: int) -> Forecast:
    if ledger.calibrated:
        return _of_series(ledger, forecast_ledger(ledger, report, seed=seed, runs=runs), seed)
    n_runs = _runs(ledger) if runs is None else runs
    if n_runs < 9 or n_runs % 10 != 9:
        raise AssayPilotError(
            f"a forecast takes 9, 19, 29, .. runs, got {n_runs}",
            option="--runs",
            mend="Of so many, whole tenths lie beyond either end of the range.",
        )
    start = begin(ledger)
    positions = ledger.goal_endpoints
    known = sources(ledger, positions)
    if start.stops:
        n_runs = 1
    streams = np.random.SeedSequence(seed).spawn(len(positions) + n_runs)
    drawn = {
        position: draw(ledger, source, n_runs, np.random.default_rng(stream))
        for position, source, stream in zip(positions, known, streams, strict=False)
    }
    ended: list[Ended] = []
    pulse = _pulse(report, ended, n_runs)
    begun = time.process_time()
    for number in range(n_runs):
        truth = np.array([drawn[k][number] for k in positions])
        rng = np.random.default_rng(streams[len(positions) + number])
        ended.append(play_on(ledger, start, truth, rng, pulse))
        if number == 0:
            _refuse_slow(ledger, time.process_time() - begun, n_runs)
    report(1.0, "forecast made")
    assumed = words(ledger, known, positions)
    if ledger.stock is not None and not start.stops:
        assumed = f"{assumed} {_MOST_TELLING}"
    return _summary(ledger, ended, assumed, bool(start.stops), seed)


def _of_series(ledger: Ledger, made: SeriesForecast, seed: int) -> Forecast:
    """Return what the campaign played forward comes to, with what it finds on the way."""
    before = sum(one.state != "withdrawn" and not one.confirmation for one in ledger.rounds)
    spent = sorted(end[0] for end in made.ends) or [ledger.spent()]
    rounds = sorted(before + end[1] for end in made.ends) or [before]
    finished = sum(end[2] for end in made.ends) / max(len(made.ends), 1)
    following = None
    if made.curve:
        following = RoundForecast(made.curve[0].measurements - ledger.spent(), 0.0, made.curve[0].finished, 1)
    assumed = made.assumed if ledger.stock is None else f"{made.assumed} {_NO_WAITING}"
    return Forecast(
        Spread(spent[0], spent[len(spent) // 2], spent[-1]),
        Spread(rounds[0], rounds[len(rounds) // 2], rounds[-1]),
        finished,
        finished <= 0.9,
        None,
        following,
        f"The simulated campaigns have {made.members:.0f} members on average. {assumed}" if made.curve else assumed,
        made.runs,
        seed,
        made.curve,
    )


def _runs(ledger: Ledger) -> int:
    """Return how many runs take a few seconds: by the size of the campaign alone, so that they are equal everywhere."""
    looks = int(np.max(ledger.state.memory.get("expected", 0)))
    large = ledger.n_arms * ledger.features.n_columns > _LARGE
    slow = part_for(ledger.strategy, ledger.settings.goal).info.slow
    return _FEW if large or slow or looks > _LOOKS else _RUNS


def _refuse_slow(ledger: Ledger, seconds: float, runs: int) -> None:
    """Raise AssayPilotError when, judged by the first run, all of them take too long."""
    if seconds * runs > _PATIENCE:
        raise AssayPilotError(
            f"a forecast of {ledger.strategy.info.name} on {ledger.n_arms:,} compounds would take about "
            f"{math.ceil(seconds * runs / 60.0):,} minutes",
            mend="Look at a smaller library, or let assaypilot simulate run it.",
        )


def _pulse(report: Report, ended: Sequence[Ended], runs: int) -> Callable[[], None]:
    return lambda: report(len(ended) / runs, f"forecast: {len(ended)} of {runs} simulated campaigns")


def _summary(ledger: Ledger, ended: Sequence[Ended], assumed: str, over: bool, seed: int) -> Forecast:
    n = len(ended)
    decided = sum(run.reason == "decided" for run in ended) / n
    endless = sum(run.reason == "" for run in ended) / n
    budget = None
    if ledger.settings.budget is not None:
        budget = BudgetForecast(
            decided,
            statistics.fmean(run.in_ for run in ended),
            statistics.fmean(run.out for run in ended),
            statistics.fmean(run.undecided for run in ended),
        )
    following = None
    if not over:
        following = RoundForecast(
            round(statistics.fmean(run.next_measurements for run in ended)),
            statistics.fmean(run.next_decided for run in ended),
            sum(run.next_ends for run in ended) / n,
            round(statistics.fmean(run.next_rounds for run in ended)),
        )
    return Forecast(
        measurements=_spread([run.measurements for run in ended]),
        rounds=_spread([run.rounds for run in ended]),
        decided=decided,
        open_ended=endless >= 0.1,
        budget=budget,
        next_round=following,
        assumed=assumed,
        runs=n,
        seed=seed,
    )


def _spread(values: Sequence[int]) -> Spread:
    """Return the interval that contains one more of the same kind in 80 % of cases, and the middle."""
    ordered = sorted(values)
    k = max((len(ordered) + 1) // 10, 1)
    return Spread(ordered[k - 1], ordered[(len(ordered) - 1) // 2], ordered[-k])
