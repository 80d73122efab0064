"""A compound that returns after a proof has decided without it hands the campaign to the series model."""

from pathlib import Path
from typing import Any

import pytest

from assaypilot.engine.campaign.campaign import Campaign
from assaypilot.engine.campaign.verifying import verify
from assaypilot.engine.domain.stock import CANNOT, IN_STOCK, StockLine
from tests.engine.campaign.making import finish, make, replays


def lines(campaign: Campaign, state: int) -> list[StockLine]:
    """Of the compounds with the best substituent at the first site (B); the best of the others is 0.9 behind."""
    codes = campaign.status().library.codes
    return [StockLine(int(c), state if codes[c, 0] == 1 else IN_STOCK) for c in range(len(codes))]


GOALS: dict[str, dict[str, Any]] = {
    "linfact-g": {"epsilon": 0.3, "slack": 0.3, "budget": 400},
    "rage": {"goal": "best", "slack": 0.2, "epsilon": None, "budget": 400},
}


@pytest.mark.parametrize("strategy", GOALS)
def test_returning_compound_ends_a_proof_that_decided_without_it(tmp_path: Path, strategy: str) -> None:
    path = tmp_path / "x.assaypilot"
    with make(path, strategy=strategy, max_replicates=4, per_round=24, **GOALS[strategy]) as campaign:
        campaign.set_stock(lines(campaign, CANNOT))
        done = finish(campaign)
        assert done.guarantee.holds
        assert done.counts["not_estimable"] == 3
        campaign.set_stock(lines(campaign, IN_STOCK))
        now = replays(campaign)
        assert (now.strategy, now.claim.kind) == ("gaussian-process", "calibrated")
        assert "a compound is available again" in campaign.history()[-3].text
        end = finish(campaign)
        assert end.candidates.status[end.library.find("R1=B|R2=B")] == 1
        replays(campaign)
    assert verify(path, recompute=True).ok


def test_compound_may_return_before_the_first_decision(tmp_path: Path) -> None:
    with make(tmp_path / "x.assaypilot", per_round=24) as campaign:
        campaign.set_stock(lines(campaign, CANNOT))
        campaign.set_stock(lines(campaign, IN_STOCK))
        assert finish(campaign).guarantee.holds
