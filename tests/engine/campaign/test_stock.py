"""Stock and synthesis in a campaign: what can be had, plans with a choice, rounds that wait, all of it in the log."""

import datetime
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from assaypilot.engine.campaign.campaign import Campaign
from assaypilot.engine.campaign.verifying import verify
from assaypilot.engine.domain.measurements import Result
from assaypilot.engine.domain.stock import CANNOT, IN_STOCK, TO_MAKE, StockLine, StockTerms
from assaypilot.engine.errors import AssayPilotError
from assaypilot.engine.export.work_list import order_list
from assaypilot.engine.strategies.protocol import Allocation
from assaypilot.engine.strategies.registry import named_by
from tests.engine.campaign import trading
from tests.engine.campaign.making import answers, make, replays, small_library

HERE = (0, 1, 3, 4)
"""In stock of the nine: A and B at both sites; C at either has to be made."""
LINES = [
    StockLine(c, IN_STOCK) if c in HERE else StockLine(c, TO_MAKE, 100.0 * (c + 1), 7.0 * (1 + c % 3)) for c in range(9)
]
PRICES = StockTerms(currency="EUR")


def stocked(path: Path, **changes: Any) -> Campaign:
    made = make(path, **{"per_round": 24, "max_replicates": 4, **changes})
    assert made.set_stock(LINES, PRICES)
    return made


def arrive(campaign: Campaign) -> None:
    stock = campaign.status().stock
    campaign.arrived([campaign.status().library.ids[order.compound] for order in stock.orders])


def ids(campaign: Campaign, *compounds: int) -> list[str]:
    return [campaign.status().library.ids[c] for c in compounds]


def priced(path: Path, rng: np.random.Generator, **changes: Any) -> tuple[Campaign, np.ndarray, np.ndarray]:
    """A campaign of the series model on 48 compounds, which of them are in stock, and which are cheap to make."""
    here, cheap = np.arange(48) % 3 == 0, rng.random(48) < 0.5
    made = make(path, library=small_library((8, 6)), strategy="gaussian-process", per_round=8, **changes)
    made.set_stock(
        [StockLine(c, IN_STOCK) if here[c] else StockLine(c, TO_MAKE, 100.0 if cheap[c] else 2000.0) for c in range(48)]
    )
    return made, here, cheap


def values(campaign: Campaign, rng: np.random.Generator) -> list[Result]:
    """What an assay finds of an additive series."""
    library, effects = campaign.status().library, np.random.default_rng(5).normal(0.0, 0.6, (2, 8))
    means = 6.0 + effects[0, library.codes[:, 0]] + effects[1, library.codes[:, 1]]
    return [
        Result(library.ids[item.compound], float(means[item.compound] + 0.2 * rng.standard_normal()))
        for item in campaign.status().open_round.items
        for _ in range(item.replicates)
    ]


def test_series_model_orders_no_more_than_the_budget_can_measure(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # What is cut off a plan afterwards goes by position: nothing may be left to cut.
    monkeypatch.setattr(Allocation, "within_budget", lambda self, state: self)
    rng = np.random.default_rng(6)
    campaign, _, _ = priced(tmp_path / "x.assaypilot", rng, budget=18)
    with campaign:
        while campaign.plan() is not None:
            now = campaign.status()
            assert now.measurements_used + now.open_round.measurements + len(now.stock.orders) <= 18
            campaign.record(values(campaign, rng))


ANY = [
    pytest.param(name, marks=pytest.mark.slow if name in ("gege", "linfact-mis") else ())
    for name in named_by("any_plan").split(", ")
]


@pytest.mark.parametrize("strategy", ANY)
def test_every_strategy_reaches_the_end_with_few_compounds_to_make(strategy: str, tmp_path: Path) -> None:
    path = tmp_path / "x.assaypilot"
    more: dict[str, Any] = {"parameters": {"model_error": 0.01}} if strategy == "linfact-mis" else {}
    if strategy == "rage":
        more = {"goal": "best", "slack": 0.2}
    pareto = strategy == "gege"
    if pareto:
        campaign = trading.trade(path, strategy=strategy, per_round=400, max_replicates=100)
        n = len(campaign.status().library)
        campaign.set_stock([StockLine(c, IN_STOCK if c % 2 else TO_MAKE, 50.0, 7.0) for c in range(n)])
    else:
        campaign = stocked(path, strategy=strategy, epsilon=0.8, per_round=200, max_replicates=40, **more)
    with campaign:
        for _ in range(60):
            if campaign.status().finished:
                break
            if campaign.plan() is None and not campaign.status().finished:
                arrive(campaign)
            if campaign.status().open_round is not None:
                campaign.record(trading.answers(campaign) if pareto else answers(campaign), close=True)
        now = replays(campaign)
        assert now.finished
        assert now.counts["undecided"] == now.counts["not_estimable"] == 0
        assert now.guarantee.holds
        if not pareto:
            assert "R1=B|R2=B" in {now.library.ids[c] for c in np.flatnonzero(now.candidates.status == 1)}
    assert verify(path, recompute=True).ok


def test_a_proof_has_only_the_cheapest_made_that_it_needs(tmp_path: Path) -> None:
    with stocked(tmp_path / "x.assaypilot", strategy="adaptive") as campaign:
        issued = campaign.plan()
        assert {item.compound for item in issued.items} <= set(HERE)
        # C at each site has to be estimated: R1=C|R2=C with another, or one compound each. (2, 6) is cheapest.
        orders = campaign.status().stock.orders
        assert sorted(order.compound for order in orders) == [2, 6]


def test_what_is_at_hand_goes_first_and_the_rest_comes_when_it_is_there(tmp_path: Path) -> None:
    with stocked(tmp_path / "x.assaypilot", strategy="adaptive") as campaign:
        first = campaign.plan()
        assert first is not None
        order = campaign.status().stock.orders[0]  # type: ignore[union-attr]
        today = datetime.datetime.now(tz=datetime.UTC).date()
        assert order.expected == (today + datetime.timedelta(days=21)).isoformat()
        campaign.record(answers(campaign), close=True)
        now = replays(campaign)
        assert (now.phase is not None, now.phases_decided) == (True, 0)  # nothing is decided before all is in
        assert campaign.plan() is None
        assert not now.finished
        sheet = order_list(now)
        assert len(sheet.rows) == 2
        assert sheet.rows[0][sheet.header.index("Stock")] == "to be made"
        campaign.arrived(ids(campaign, 2))
        assert campaign.undo_label == "Arrivals"
        second = campaign.plan()
        assert {item.compound for item in second.items} == {2}
        campaign.record(answers(campaign), close=True)
        # The other one cannot be made after all: the phase is decided without it, as ever.
        campaign.set_stock([StockLine(6, CANNOT)])
        now = replays(campaign)
        assert now.phases_decided == 1
        assert 6 in now.unavailable
        assert now.guarantee.holds
    assert verify(tmp_path / "x.assaypilot", recompute=True).ok


def test_series_model_fills_rounds_from_stock_and_orders_what_is_worth_its_price(tmp_path: Path) -> None:
    rng, path = np.random.default_rng(5), tmp_path / "x.assaypilot"
    campaign, here, cheap = priced(path, rng, max_replicates=2)
    with campaign:
        ordered: list[int] = []
        for number in range(4):
            issued = campaign.plan()
            assert {item.compound for item in issued.items} <= set(np.flatnonzero(here))
            # Only while that tells something are places filled: what is in doubt may wait for what is on order.
            assert (issued.measurements == 8) if number == 0 else (1 <= issued.measurements <= 8)
            orders = [order.compound for order in campaign.status().stock.orders]
            assert set(ordered) <= set(orders)  # synthesis takes longer than a round: what is ordered stays ordered
            assert bool(orders) == (number > 0)
            assert len(orders) <= 8
            ordered = orders
            campaign.record(values(campaign, rng))
            assert {order.compound for order in replays(campaign).stock.orders} == set(orders)
        assert cheap[ordered].mean() > 0.8 > cheap[~here].mean()
        arrive(campaign)
        assert set(ordered) & {item.compound for item in campaign.plan().items}
    assert verify(path, recompute=True).ok


def test_stock_is_undone_and_done_again(tmp_path: Path) -> None:
    with make(tmp_path / "x.assaypilot") as campaign:
        assert campaign.status().stock is None
        assert campaign.set_stock([*LINES[:8], StockLine(8, CANNOT)], PRICES)
        before = replays(campaign)
        assert before.unavailable == {8}
        assert not campaign.set_stock(LINES[:3])  # nothing new, nothing written
        assert campaign.set_stock([StockLine(8, TO_MAKE, 5.0), StockLine(0, TO_MAKE)], StockTerms(currency="CHF"))
        after = replays(campaign)
        assert after.unavailable == frozenset()
        assert (after.stock.currency, after.stock.word(0), after.stock.cost_of(8)) == ("CHF", "to be made", 5.0)
        campaign.undo()
        again = replays(campaign)
        assert again.unavailable == {8}
        assert (again.stock.currency, again.stock.word(0)) == ("EUR", "in stock")
        campaign.redo()
        assert replays(campaign).stock.currency == "CHF"  # type: ignore[union-attr]
        campaign.undo()
        campaign.undo()
        assert replays(campaign).stock is None
    assert verify(tmp_path / "x.assaypilot", recompute=True).ok


def test_where_nothing_is_in_stock_there_is_first_an_order(tmp_path: Path) -> None:
    with make(tmp_path / "x.assaypilot", strategy="adaptive", per_round=24, max_replicates=4) as campaign:
        campaign.set_stock([StockLine(c, TO_MAKE, 10.0) for c in range(9)])
        assert campaign.plan() is None
        now = replays(campaign)
        assert now.stock.orders
        assert now.stock.orders[0].expected is None  # no lead time was said
        arrive(campaign)
        assert campaign.plan() is not None


def test_refusals_leave_everything_as_it_was(tmp_path: Path) -> None:
    library = small_library(measurable=[True] * 8 + [False])
    with make(tmp_path / "x.assaypilot", library=library) as campaign:
        events = campaign.events
        with pytest.raises(AssayPilotError, match="cannot be measured, and stays so"):
            campaign.set_stock([StockLine(8, IN_STOCK)])
        with pytest.raises(AssayPilotError, match="no compound would be left"):
            campaign.set_stock([StockLine(c, CANNOT) for c in range(9)])
        with pytest.raises(AssayPilotError, match="'nobody' is not in the library"):
            campaign.arrived([campaign.status().library.ids[0], "nobody"])
        assert campaign.events == events
    for wrong in ({"round_days": 0.0},):
        with pytest.raises(AssayPilotError):
            StockTerms(**wrong)  # type: ignore[arg-type]
