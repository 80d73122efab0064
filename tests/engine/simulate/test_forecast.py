"""Forecasts: what they say is what the campaign's own strategy does, for every goal, before and after results."""

import pickle
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from assaypilot.engine.campaign.campaign import Campaign
from assaypilot.engine.campaign.creation import creation
from assaypilot.engine.campaign.replay import Ledger
from assaypilot.engine.campaign.settings import Settings
from assaypilot.engine.domain.endpoint import Endpoint
from assaypilot.engine.domain.library import Library
from assaypilot.engine.domain.measurements import Result
from assaypilot.engine.errors import AssayPilotError
from assaypilot.engine.simulate.forecast import Forecast, forecast_campaign, forecast_draft
from assaypilot.engine.simulate.forecast_truth import draw, sources
from assaypilot.engine.system.progress import Cancelled

SITES = ("R1", "R2")
ROWS = [[f"a{i}", f"b{j}"] for i in range(5) for j in range(4)]
LIBRARY = Library.listed(SITES, ROWS)
ONE = [Endpoint("pIC50", noise_sd=0.2)]
TWO = [Endpoint("pIC50", noise_sd=0.2), Endpoint("hERG pIC50", noise_sd=0.2, direction="min")]
GOAL = Settings(objective="pIC50", epsilon=0.5, slack=0.5, per_round=12, strategy="linfact-g")
GOALS = {
    "linfact-g": (ONE, GOAL),
    "adaptive": (ONE, replace(GOAL, strategy="adaptive")),
    "epsilon-best-fixed-budget": (ONE, replace(GOAL, strategy="epsilon-best-fixed-budget", budget=48)),
    "gege": (TWO, Settings(epsilon=0.3, goal="pareto", strategy="gege", per_round=24)),
    "gege-fixed-budget": (TWO, Settings(goal="pareto", strategy="gege-fixed-budget", per_round=24, budget=240)),
    "rage": (ONE, replace(GOAL, goal="best", epsilon=None, strategy="rage")),
    "lingame-c": (ONE, replace(GOAL, goal="best", epsilon=None, strategy="lingame-c")),
    "gse": (ONE, replace(GOAL, goal="best", epsilon=None, strategy="gse", budget=60)),
    "linfact-glm": (
        [Endpoint("active", noise_sd=0.5)],
        replace(GOAL, objective="active", strategy="linfact-glm", parameters={"link": "logit", "bound": 2.0}),
    ),
}
TRUTH = np.array([6.0 + 0.5 * int(a[1]) - 0.3 * int(b[1]) for a, b in ROWS])


def measure(campaign: Campaign, rng: np.random.Generator, share: float = 1.0) -> int:
    """Measurements of one round that returned: of each endpoint the same truth."""
    issued = campaign.plan()
    names = [campaign.status().endpoints[k].name for k in issued.endpoints]
    kept = issued.items[: max(1, round(share * len(issued.items)))]
    results = [
        Result(LIBRARY.ids[item.compound], TRUTH[item.compound] + 0.2 * rng.standard_normal(), endpoint=name)
        for item in kept
        for name in names
        for _ in range(item.replicates)
    ]
    campaign.record(results)
    return len(results)


def spread_of(made: Forecast) -> tuple[int, int, int]:
    return made.measurements.low, made.measurements.middle, made.measurements.high


@pytest.mark.parametrize("name", GOALS)
def test_every_goal_and_strategy_is_forecast_before_the_first_measurement(name: str) -> None:
    endpoints, settings = GOALS[name]
    made = forecast_draft(LIBRARY, endpoints, settings, runs=9)
    low, middle, high = spread_of(made)
    assert 0 < low <= middle <= high
    assert 1 <= made.rounds.low <= made.rounds.high
    assert made.runs == 9
    following = made.next_round
    assert following is not None
    assert 0 < following.measurements <= high
    assert 0 <= following.decided <= len(LIBRARY)
    assert (made.budget is None) == (settings.budget is None)
    if settings.budget is not None:
        assert high <= settings.budget
    assert made.assumed.startswith("Simulated with contributions")
    assert made == pickle.loads(pickle.dumps(made))
    assert made == forecast_draft(LIBRARY, endpoints, settings, runs=9), "the same seed gives the same forecast"
    assert made != forecast_draft(LIBRARY, endpoints, settings, runs=9, seed=1)


def test_a_forecast_is_what_the_strategy_then_does(tmp_path: Path) -> None:
    """With all but the last phase decided there is little left to guess: the campaign ends where the forecast says."""
    rng = np.random.default_rng(1)
    path = tmp_path / "c.assaypilot"
    with Campaign.create(path, library=LIBRARY, endpoints=ONE, settings=GOAL) as campaign:
        used, made = 0, []
        while not campaign.status().finished:
            made.append((used, forecast_campaign(path, runs=9)))
            used += measure(campaign, rng)
        last = forecast_campaign(path)
    before, forecast = made[-1]
    assert spread_of(forecast) == (used, used, used)
    assert (forecast.rounds.low, forecast.rounds.high) == (len(made), len(made))
    assert forecast.next_round is not None
    assert forecast.next_round.measurements == used - before
    assert forecast.next_round.ends == 1.0
    assert "all results so far" in forecast.assumed
    assert spread_of(last) == (used, used, used)
    assert last.next_round is None
    assert last.decided == 1.0


def test_forecast_of_the_series_model_counts_what_a_round_asks_for(tmp_path: Path) -> None:
    wide = replace(GOAL, slack=0.25, strategy="gaussian-process", per_round=96, max_replicates=3)
    made = forecast_draft(LIBRARY, ONE, wide)
    with Campaign.create(tmp_path / "wide.assaypilot", library=LIBRARY, endpoints=ONE, settings=wide) as campaign:
        issued = campaign.plan()
    assert made.curve[0].measurements == issued.measurements < 96


def test_results_of_an_open_round_count_and_the_rest_is_still_to_come(tmp_path: Path) -> None:
    rng = np.random.default_rng(2)
    path = tmp_path / "c.assaypilot"
    with Campaign.create(path, library=LIBRARY, endpoints=TWO, settings=GOALS["gege"][1]) as campaign:
        campaign.plan()
        whole = forecast_campaign(path, runs=9)
        came = measure(campaign, rng, share=0.5)
        part = forecast_campaign(path, runs=9)
        phase = campaign.status().phase
    assert whole.next_round is not None
    assert part.next_round is not None
    assert phase is not None
    assert part.next_round.measurements == phase.outstanding
    assert whole.next_round.measurements == part.next_round.measurements + came
    assert part.next_round.rounds == whole.next_round.rounds, "the open round is still the next one"


def test_budget_that_decides_nothing_is_reported() -> None:
    poor = forecast_draft(LIBRARY, [Endpoint("pIC50", noise_sd=3.0)], replace(GOAL, budget=10), runs=9)
    assert poor.budget is not None
    assert poor.budget.decides_nothing
    assert poor.budget.undecided == len(LIBRARY)
    assert poor.decided == 0.0
    some = forecast_draft(LIBRARY, ONE, replace(GOAL, budget=30), runs=9)
    assert some.budget is not None
    assert not some.budget.decides_nothing
    assert some.budget.in_ + some.budget.out + some.budget.undecided == pytest.approx(len(LIBRARY))
    rich = forecast_draft(LIBRARY, ONE, replace(GOAL, budget=100_000), runs=9)
    assert rich.budget is not None
    assert rich.budget.decided == 1.0


def test_campaign_that_may_never_end_has_an_open_forecast() -> None:
    tied = Library.listed(("R1",), [["a"], ["b"]])
    endless = Settings(objective="pIC50", epsilon=0.5, slack=0.0, strategy="linfact-g", per_round=2)
    made = forecast_draft(tied, [Endpoint("pIC50", noise_sd=3.0)], endless, runs=19)
    assert made.open_ended
    assert made.decided < 1.0


def ledger_of(history: list[Result]) -> Ledger:
    return creation("new", LIBRARY, ONE, GOAL, history, None, None, ()).ledger


def test_truths_are_drawn_around_what_is_known() -> None:
    """Well measured compounds hardly move; what shares no substituent with any moves as the others differ."""
    known = [Result(LIBRARY.ids[k], float(TRUTH[k]), n=50) for k, row in enumerate(ROWS) if row[0] != "a4"]
    ledger = ledger_of(known)
    means = draw(ledger, sources(ledger, [0])[0], 400, np.random.default_rng(0))
    unknown = np.array([row[0] == "a4" for row in ROWS])
    assert np.abs(means.mean(axis=0) - TRUTH)[~unknown].max() < 0.02
    assert means.std(axis=0)[~unknown].max() < 0.05
    assert 0.3 < means.std(axis=0)[unknown].min() < means.std(axis=0)[unknown].max() < 1.5
    # Nothing known: two compounds that differ in one site differ by about the root of two contributions' SDs.
    ledger = ledger_of([])
    means = draw(ledger, sources(ledger, [0])[0], 4000, np.random.default_rng(0))
    assert np.median(np.abs(means[:, 0] - means[:, 1])) == pytest.approx(0.45 * np.sqrt(2.0) * 0.6, rel=0.15)


def test_a_forecast_can_be_cancelled_and_refuses_a_strange_number_of_runs() -> None:
    def cancel(fraction: float, message: str) -> None:
        if message.startswith("forecast: 3"):
            raise Cancelled

    with pytest.raises(Cancelled):
        forecast_draft(LIBRARY, ONE, GOAL, report=cancel, runs=9)
    with pytest.raises(AssayPilotError, match="9, 19, 29"):
        forecast_draft(LIBRARY, ONE, GOAL, runs=10)
