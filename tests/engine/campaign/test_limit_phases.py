"""A limit that comes when the goal is decided: phases for it alone, what they tell, and when they end."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from assaypilot.engine.campaign import limit_phases, limits
from assaypilot.engine.campaign.audit import verify
from assaypilot.engine.campaign.campaign import Campaign
from assaypilot.engine.campaign.changing.terms import Change
from assaypilot.engine.campaign.state import Status
from assaypilot.engine.endpoint import Endpoint, Limit
from assaypilot.engine.measurements import Result
from assaypilot.engine.simulate.forecast import forecast_campaign
from tests.engine.campaign import trading
from tests.engine.campaign.making import answers, finish, make, replays, truth

WIDE = {"per_round": 36, "max_replicates": 6, "epsilon": 1.0, "slack": 0.5}
LOGD = Endpoint("logD", noise_sd=0.2, direction="min", limit=Limit("<", 3.0))


def logd(now: Status, close: float = 0.5) -> np.ndarray:
    """By the first site alone: below the limit, beyond it, and so close to it."""
    return np.array([2.0, 4.0, 3.0 - close])[now.library.codes[:, 0]]


def go_on(campaign: Campaign, most: int = 40, close: float = 0.5) -> Status:
    for number in range(most):
        if campaign.plan() is None:
            return campaign.status()
        now, rng = campaign.status(), np.random.default_rng((8, number))
        assert now.open_round is not None
        own = answers(campaign)
        means = logd(now, close)
        for item in now.open_round.items if len(now.open_round.endpoints) > 1 else ():
            values = means[item.compound] + 0.2 * rng.standard_normal(item.replicates)
            own += [Result(now.library.ids[item.compound], float(value), "logD") for value in values]
        campaign.record(own, close=True)
    raise AssertionError("no end in sight")


def sides(campaign: Campaign, now: Status) -> tuple[set[int], set[int], set[int]]:
    """Compounds that fail the limit, that are in and keep to it, and that are in and may do either."""
    ledger = campaign._ledger
    keeping = limits.keeping(ledger, ledger.verdicts)[0][ledger.arm_of]
    inside = now.candidates.status == 1
    failed = np.flatnonzero(now.candidates.failed_limit >= 0)
    return set(failed), set(np.flatnonzero(inside & keeping)), set(np.flatnonzero(inside & ~keeping))


@pytest.mark.parametrize("strategy", ["adaptive", "linfact-g", "linfact-xy"])
def test_a_limit_that_comes_last_is_decided_for_all_that_are_in(strategy: str, tmp_path: Path) -> None:
    with make(tmp_path / "x.assaypilot", strategy=strategy, **WIDE) as campaign:
        before = finish(campaign)
        ins = set(np.flatnonzero(before.candidates.status == 1))
        assert len(ins) > 2
        told = " ".join(campaign.consequences(Change(endpoint=LOGD)))
        assert "further rounds ask of those that are in whether they keep to the limit" in told
        assert "confirmation round" not in told
        now = campaign.change(Change(endpoint=LOGD))
        assert not now.finished
        now = go_on(campaign)
        assert now.finished
        assert now.guarantee.holds
        failed, keep, either = sides(campaign, now)
        means, apart = logd(now), truth(now.library)
        assert not either, "none is close to it"
        assert failed == {c for c in failed if means[c] >= 3.0}, "what fails truly fails"
        assert all(means[c] < 3.0 for c in keep)
        near = {c for c in ins if apart[c] >= apart.max() - 1.0}
        assert near <= failed | keep
        assert "may still fail" not in now.statement
        assert verify(campaign.path, recompute=True).ok
        replays(campaign)


def test_one_that_is_too_close_to_it_ends_nothing_but_is_said(tmp_path: Path) -> None:
    with make(tmp_path / "x.assaypilot", strategy="adaptive", **WIDE) as campaign:
        finish(campaign)
        campaign.change(Change(endpoint=LOGD))
        now = go_on(campaign, close=0.001)
        failed, keep, either = sides(campaign, now)
        assert either
        assert all(now.library.codes[c, 0] == 2 for c in either)
        assert failed | keep, "the others were told all the same"
        assert f"{len(either)} of those in may still fail logD < 3" in now.statement


def test_a_budget_ends_it_and_the_forecast_counts_it(tmp_path: Path) -> None:
    def middle() -> int:
        return forecast_campaign(campaign.path, runs=9).measurements.middle

    with make(tmp_path / "x.assaypilot", strategy="linfact-g", **WIDE) as campaign:
        used = finish(campaign).measurements_used
        assert middle() == used
        now = campaign.change(Change(endpoint=LOGD))
        assert now.counts["undecided"] == 0
        assert not now.finished
        assert middle() == used + 36, "a round, while nothing is known of it"
        assert "may still fail logD < 3" in now.statement
        campaign.change(Change(budget=used + 8))
        now = go_on(campaign)
        assert now.measurements_used == used + 8
        assert now.finished


def test_a_limit_there_from_the_start_ends_with_the_goal_as_ever(tmp_path: Path) -> None:
    endpoints = (Endpoint("pIC50", noise_sd=0.2), LOGD)
    with make(tmp_path / "x.assaypilot", endpoints=endpoints, strategy="adaptive", **WIDE) as campaign:
        assert limit_phases.came_late(campaign._ledger) == ()
        now = go_on(campaign)
        assert limit_phases.open_now(campaign._ledger, campaign._ledger.current()) is None
        assert now.finished
        # Moved after results it is asked again, of those it is now open for.
        now = campaign.change(Change(limits={"logD": Limit("<", 2.7)}))
        assert limit_phases.came_late(campaign._ledger) == (1,)
        go_on(campaign)
        campaign.change(Change(limits={"logD": None}))
        assert limit_phases.came_late(campaign._ledger) == ()


def test_where_a_strategy_has_nobody_left_to_bound_the_limit_is_decided_all_the_same(tmp_path: Path) -> None:
    with trading.trade(tmp_path / "x.assaypilot", strategy="gege", per_round=96) as campaign:
        before = trading.finish(campaign)
        campaign.change(Change(endpoint=LOGD))
        issued = campaign.plan()
        assert issued is not None
        now, rng = campaign.status(), np.random.default_rng(4)
        own = trading.answers(campaign, only=("pIC50", "hERG"))
        means = logd(now)
        for item in issued.items:
            values = means[item.compound] + 0.2 * rng.standard_normal(item.replicates)
            own += [Result(now.library.ids[item.compound], float(value), "logD") for value in values]
        campaign.record(own, close=True)
        now = campaign.status()
        assert now.phases_decided == before.phases_decided + 1
        assert now.finished
        failed, keep, either = sides(campaign, now)
        assert failed == {3, 4, 5}, "all with the substituent that is beyond it"
        assert keep
        assert not either
        assert verify(campaign.path, recompute=True).ok
        replays(campaign)
