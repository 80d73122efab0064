"""Results beyond the range of the assay: counted as the bound, and the end of the guarantee."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from assaypilot.engine.campaign import verifying
from assaypilot.engine.campaign.campaign import Campaign
from assaypilot.engine.campaign.cautions import what_they_would_do
from assaypilot.engine.cli.program import main
from assaypilot.engine.domain.endpoint import Endpoint
from assaypilot.engine.domain.measurements import Result
from tests.engine.campaign.making import answers, make, replays
from tests.engine.campaign.trading import HERG, POTENCY, trade
from tests.engine.campaign.trading import answers as trading_answers

IN, OUT = 1, 2
WIDE = {"per_round": 24, "max_replicates": 6}
NANOMOLAR = Endpoint("IC50 (nM)", unit="nM", transform="log", noise_sd=0.2)


def beyond(results: list[Result], limit: float, *, nanomolar: bool = False) -> list[Result]:
    """Results of an assay that does not tell pIC50 below a limit."""
    found = []
    for one in results:
        if nanomolar:
            most = 10.0 ** (9.0 - limit)
            found.append(replace(one, value=most, relation=">") if one.value > most else one)
        else:
            found.append(replace(one, value=limit, relation="<") if one.value < limit else one)
    return found


def run(campaign: Campaign, limit: float, *, nanomolar: bool = False) -> int:
    """How many bounds came until nothing more was asked."""
    count = 0
    for _ in range(12):
        if campaign.plan() is None:
            break
        told = beyond(answers(campaign), limit, nanomolar=nanomolar)
        count += sum(one.relation != "=" for one in told)
        campaign.record(told, close=True)
    return count


@pytest.mark.parametrize(("nanomolar", "strategy"), [(False, "adaptive"), (True, "adaptive"), (False, "linfact-g")])
def test_a_bound_counts_as_the_bound_itself_and_ends_the_guarantee(
    tmp_path: Path, nanomolar: bool, strategy: str
) -> None:
    endpoints = (NANOMOLAR,) if nanomolar else (Endpoint("pIC50", noise_sd=0.2),)
    path = tmp_path / "x.assaypilot"
    name = endpoints[0].name
    with make(path, **WIDE, endpoints=endpoints, objective=name, strategy=strategy) as campaign:
        assert run(campaign, 5.7, nanomolar=nanomolar) > 3
        now = replays(campaign)
        assert len(now.bounds_taken) > 3
        assert not now.guarantee.holds
        assert any("known only as a bound" in text for text in now.guarantee.void)
        assert (now.candidates.status == OUT).any(), "the campaign goes on"
    assert verifying.verify(path, recompute=True).ok


def test_a_bound_that_was_a_slip_is_corrected_and_the_guarantee_holds_again(tmp_path: Path) -> None:
    path = tmp_path / "x.assaypilot"
    with make(path, **WIDE, strategy="adaptive") as campaign:
        campaign.plan()
        results = answers(campaign)
        results[0] = replace(results[0], relation="<")
        campaign.record(results, close=True)
        assert not campaign.status().guarantee.holds
        campaign.correct(1, results[0].value, relation="=", reason="the fit gave a number")
        now = replays(campaign)
        assert now.guarantee.holds
        assert not now.bounds_taken
    assert verifying.verify(path, recompute=True).ok


def test_a_bound_of_a_limit_or_a_trade_off_ends_the_guarantee(tmp_path: Path) -> None:
    with trade(tmp_path / "x.assaypilot", POTENCY, HERG) as campaign:
        campaign.plan()
        told = trading_answers(campaign)
        hidden = next(place for place, one in enumerate(told) if one.endpoint == "hERG")
        told[hidden] = replace(told[hidden], relation="<")
        campaign.record(told, close=True)
        assert not replays(campaign).guarantee.holds


def test_what_a_bound_does_is_shown_and_json_has_no_infinity(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "x.assaypilot"
    with make(path, **WIDE, strategy="linfact-g") as campaign:
        campaign.plan()
        results = beyond(answers(campaign), 5.7)
    table = tmp_path / "r.csv"
    lines = [f"{one.compound},{one.value},{one.relation}" for one in results]
    table.write_text("ID,Value,Relation\n" + "\n".join(lines) + "\n")
    assert main(["record", str(path), str(table)]) == 0
    assert "decisions count the bound itself, and because of them nothing is guaranteed" in capsys.readouterr().out
    assert main(["status", str(path), "--json"]) == 0
    document = json.loads(capsys.readouterr().out, parse_constant=lambda text: pytest.fail(text))
    assert not document["guarantee"]["holds"]
    for ending in ("csv", "xlsx", "pdf"):
        assert main(["export", str(path), str(tmp_path / f"all.{ending}"), "--only", "all"]) == 0
    capsys.readouterr()
    assert not what_they_would_do(0)
    assert what_they_would_do(2).startswith("2 values are known only as bounds: estimates count")
