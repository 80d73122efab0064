"""An endpoint that comes in the middle of a campaign: recorded only, with a limit, or as a second objective."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from assaypilot.engine.campaign.campaign import Campaign
from assaypilot.engine.campaign.changes import ENDS, Change
from assaypilot.engine.campaign.restarting import Restart, begin_anew, consequences_of_restart
from assaypilot.engine.campaign.state import Status
from assaypilot.engine.campaign.verifying import verify
from assaypilot.engine.domain.endpoint import Endpoint, Limit
from assaypilot.engine.domain.measurements import Result
from assaypilot.engine.domain.stock import IN_STOCK, TO_MAKE, StockLine, StockTerms
from assaypilot.engine.errors import AssayPilotError
from tests.engine.campaign.making import answers, finish, make, replays, truth

WIDE = {"per_round": 36, "max_replicates": 4}
LOGD = Endpoint("logD", noise_sd=0.2, direction="min", limit=Limit("<", 6.2))
RECORDED = Endpoint("Solubility", unit="uM", transform="log")


def both(campaign: Campaign) -> None:
    """A round of pIC50 and a logD as large, planned, measured and closed."""
    if campaign.plan() is None:
        return
    now = campaign.status()
    assert now.open_round is not None
    means, rng = truth(now.library), np.random.default_rng(now.open_round.number)
    own = answers(campaign)
    if len(now.open_round.endpoints) > 1:
        own += [
            Result(now.library.ids[item.compound], float(means[item.compound] + 0.2 * rng.standard_normal()), "logD")
            for item in now.open_round.items
            for _ in range(item.replicates)
        ]
    campaign.record(own, close=True)


def sound(campaign: Campaign) -> Status:
    found = verify(campaign.path, recompute=True)
    assert found.ok, found.problems
    return replays(campaign)


def test_one_that_is_recorded_only_touches_nothing(tmp_path: Path) -> None:
    with make(tmp_path / "x.assaypilot", strategy="adaptive", epsilon=0.2, slack=0.2, **WIDE) as campaign:
        both(campaign)
        campaign.plan()
        before = campaign.status()
        assert before.open_round is not None, "also while a round is open"
        change = Change(endpoint=RECORDED)
        assert change.of_capacity_alone
        told = campaign.consequences(change)
        assert told == (
            "Changes the endpoints, by Solubility (recorded only).",
            "It is recorded and shown, and decides nothing: the guarantee is not touched.",
            "The same compounds are in and out.",
        )
        now = campaign.change(change, "asked for by the team")
        assert [one.name for one in now.endpoints] == ["pIC50", "Solubility"]
        assert now.measured_endpoints == (0,)
        assert now.guarantee.delta == before.guarantee.delta
        assert np.array_equal(now.candidates.status, before.candidates.status)
        name = now.library.ids[3]
        campaign.record([Result(name, 40.0, "Solubility")])
        assert campaign.status().measurements_used == before.measurements_used, "it counts against no budget"
        campaign.record(answers(campaign), close=True)
        sound(campaign)
        with pytest.raises(AssayPilotError, match="an endpoint Solubility already"):
            campaign.change(Change(endpoint=Endpoint("solubility")))
        assert "the endpoints, by Solubility (recorded only)" in " ".join(e.text for e in campaign.history())


@pytest.mark.parametrize("strategy", ["adaptive", "gaussian-process"])
def test_a_limit_comes_with_an_endpoint_nobody_measured(strategy: str, tmp_path: Path) -> None:
    terms = {"epsilon": 0.5, "slack": 0.3, "budget": 300, **WIDE}
    with make(tmp_path / "x.assaypilot", strategy=strategy, **terms) as campaign:
        both(campaign)
        first = campaign.status()
        told = " ".join(campaign.consequences(Change(endpoint=LOGD)))
        assert "the endpoints, by logD (logD < 6.2). The goal is then:" in told
        assert (ENDS in told) is (strategy == "adaptive")
        assert "every planned compound is measured for logD, too: a round of 36 measurements then holds 18" in told
        now = campaign.change(Change(endpoint=LOGD))
        assert now.claim.kind == "calibrated"
        assert now.measured_endpoints == (0, 1)
        assert now.measurements_used == first.measurements_used
        assert now.rounds[0].endpoints == (0,), "what was measured stays what it was"
        sound(campaign)
        campaign.undo()
        assert sound(campaign).measured_endpoints == (0,)
        campaign.redo()
        issued = campaign.plan()
        assert issued is not None
        assert issued.endpoints == (0, 1)
        assert sum(item.replicates for item in issued.items) <= 18
        with pytest.raises(AssayPilotError, match="is open"):
            campaign.change(Change(limits={"logD": None}))
        campaign.undo()
        for _ in range(2):
            both(campaign)
        assert campaign.history()[-1].kind == "phase_decided"
        now = campaign.status()
        assert now.measurements_used <= 300
        campaign.correct(1, 6.0, reason="typo")
        sound(campaign)


def test_what_cannot_come_in_is_one_plain_line(tmp_path: Path) -> None:
    with make(tmp_path / "x.assaypilot", strategy="linfact-g", epsilon=0.2, slack=0.2) as campaign:
        with pytest.raises(AssayPilotError, match="a limit is decided by it"):
            campaign.change(Change(endpoint=Endpoint("hERG", limit=Limit("<", 5.0))))
        with pytest.raises(AssayPilotError, match="which is no endpoint"):
            campaign.change(Change(endpoint=Endpoint("Selectivity", of=("pIC50", "hERG"))))
        campaign.plan()
        campaign.record(answers(campaign), close=True)
        assert campaign.status().phases_decided == 0
        with pytest.raises(AssayPilotError, match="phase 1 has results"):
            campaign.change(Change(endpoint=LOGD))
        assert campaign.change(Change(endpoint=RECORDED)).endpoints[1].name == "Solubility"


def test_a_second_objective_begins_anew_with_all_that_is_known(tmp_path: Path) -> None:
    second = Endpoint("logD", noise_sd=0.2, direction="min")
    with make(tmp_path / "x.assaypilot", epsilon=0.3, slack=0.2, **WIDE) as campaign:
        n = len(campaign.status().library)
        lines = [StockLine(c, TO_MAKE if c % 2 else IN_STOCK, 100.0 + c, 14.0) for c in range(n)]
        campaign.set_stock(lines, StockTerms("CHF", 30.0, "cheapest", 10.0))
        finish(campaign)
        now = campaign.status()
    wanted = Restart(endpoint=second, trade_off=True)
    told = " ".join(consequences_of_restart(now, wanted))
    assert "Its goal is the best trade-offs between pIC50 and logD." in told
    assert "Stock, costs and lead times go with it as they are now." in told
    with begin_anew(now, tmp_path / "y.assaypilot", wanted) as made:
        then = made.status()
        assert then.settings.goal == "pareto"
        assert then.settings.objectives == ("pIC50", "logD")
        assert then.measurements_used == 0
        assert then.guarantee.holds
        assert then.guarantee.delta == 0.05
        assert len(then.measurements) == len([m for m in now.measurements if not m.withdrawn])
        assert now.stock is not None
        assert then.stock is not None
        assert then.stock.terms == now.stock.terms
        assert np.array_equal(then.stock.cost, now.stock.cost)
        assert np.array_equal(then.stock.state, now.stock.state)
        both(made)
        sound(made)
    assert finish_is_same(now, tmp_path)


def finish_is_same(now: Status, tmp_path: Path) -> bool:
    with Campaign.open(tmp_path / "x.assaypilot") as campaign:
        return campaign.status().head == now.head


def test_values_that_did_not_say_of_which_endpoint_go_along(tmp_path: Path) -> None:
    with make(tmp_path / "x.assaypilot") as campaign:
        issued = campaign.plan()
        assert issued is not None
        names = [campaign.status().library.ids[item.compound] for item in issued.items]
        campaign.record([Result(name, 6.5) for name in names])
        wanted = Restart(endpoint=Endpoint("hERG", noise_sd=0.3, limit=Limit("<", 5.0)))
        with begin_anew(campaign.status(), tmp_path / "y.assaypilot", wanted) as other:
            assert [(m.endpoint, m.value) for m in other.status().measurements] == [(0, 6.5)] * len(names)
