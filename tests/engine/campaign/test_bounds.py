"""Results beyond the range of the assay in a campaign: decided by, replayed, corrected, and the terms changed after."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from assaypilot.engine.campaign import audit
from assaypilot.engine.campaign.campaign import Campaign
from assaypilot.engine.campaign.changing.terms import Change
from assaypilot.engine.campaign.results.bounds import what_they_would_do
from assaypilot.engine.cli.program import main
from assaypilot.engine.endpoint import Endpoint
from assaypilot.engine.measurements import Result
from assaypilot.engine.strategies.adaptive.goals import AdaptiveGoals
from tests.engine.campaign.making import answers, make, replays, truth
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


@pytest.mark.parametrize(("nanomolar", "strategy"), [(False, "adaptive"), (True, "auto"), (False, "linfact-g")])
def test_a_campaign_with_values_beyond_the_range_is_decided_with_its_guarantee(
    tmp_path: Path, nanomolar: bool, strategy: str
) -> None:
    endpoints = (NANOMOLAR,) if nanomolar else (Endpoint("pIC50", noise_sd=0.2),)
    path = tmp_path / "x.assaypilot"
    name = endpoints[0].name
    with make(path, **WIDE, endpoints=endpoints, objective=name, strategy=strategy) as campaign:
        assert run(campaign, 5.7, nanomolar=nanomolar) > 3
        now = replays(campaign)
        assert now.finished or strategy == "linfact-g"
        assert now.guarantee.holds
        assert now.takes_bounds
        assert len(now.bounds_taken) > 3
        assert any("known only as a bound" in text for text in now.guarantee.assumptions)
        behind = truth(now.library).max() - truth(now.library)
        assert (behind[now.candidates.status == IN] <= 1.0).all()
        assert (behind[now.candidates.status == OUT] > 0.5).all()
    assert audit.verify(path, recompute=True).ok


def test_a_bound_that_was_a_slip_is_corrected_and_the_phase_decided_again(tmp_path: Path) -> None:
    path = tmp_path / "x.assaypilot"
    with make(path, **WIDE) as campaign:
        campaign.plan()
        results = answers(campaign)
        results[0] = replace(results[0], relation="<")
        campaign.record(results, close=True)
        low = campaign.status().candidates.low.copy()
        # What the other compounds say leaves no bound open, and some lower.
        assert np.isfinite(low).all()
        campaign.correct(1, results[0].value, relation="=", reason="the fit gave a number")
        now = replays(campaign)
        assert now.guarantee.holds
        assert not now.bounds_taken
        assert np.isfinite(now.candidates.low).all()
        assert (now.candidates.low > low).any()
        campaign.correct(1, results[0].value, relation="<", reason="it did not")
        np.testing.assert_allclose(replays(campaign).candidates.low, low)
    assert audit.verify(path, recompute=True).ok


@pytest.mark.parametrize("strategy", ["adaptive", "linfact-g"])
def test_the_terms_are_changed_after_bounds_and_nothing_is_lost(tmp_path: Path, strategy: str) -> None:
    path = tmp_path / "x.assaypilot"
    with make(path, **WIDE, strategy=strategy) as campaign:
        for _ in range(2):
            campaign.plan()
            campaign.record(beyond(answers(campaign), 5.7), close=True)
        campaign.change(Change(epsilon=0.3))
        now = replays(campaign)
        assert now.guarantee.holds
        assert len(now.bounds_taken) > 1
        run(campaign, 5.7)
        assert replays(campaign).guarantee.holds
    assert audit.verify(path, recompute=True).ok


def test_a_decision_that_once_left_bounds_out_stays_as_it_is_and_is_said(tmp_path: Path, monkeypatch: Any) -> None:
    path = tmp_path / "x.assaypilot"
    with monkeypatch.context() as before:
        before.setattr(AdaptiveGoals, "info", replace(AdaptiveGoals.info, bounds=False))
        with make(path, **WIDE) as campaign:
            campaign.plan()
            campaign.record(beyond(answers(campaign), 5.7), close=True)
            assert not campaign.status().guarantee.holds
    with Campaign.open(path) as campaign:
        now = replays(campaign)
        assert not now.guarantee.holds
        assert "left out because of their size" in now.guarantee.sentence
        assert not now.bounds_taken
        run(campaign, 5.7)
        assert not replays(campaign).guarantee.holds
    assert audit.verify(path, recompute=True).ok


def test_trade_offs_and_limits_take_bounds_in(tmp_path: Path) -> None:
    for name, endpoints, more in (
        ("front", (POTENCY, HERG), {}),
        ("limit", (POTENCY, Endpoint("hERG", noise_sd=0.3, direction="min", limit=None)), {}),
    ):
        path = tmp_path / f"{name}.assaypilot"
        with trade(path, *endpoints, **more) as campaign:
            for _ in range(6):
                if campaign.plan() is None:
                    break
                told = [
                    replace(one, value=5.0, relation="<") if one.endpoint == "hERG" and one.value < 5.0 else one
                    for one in trading_answers(campaign)
                ]
                campaign.record(told, close=True)
            now = replays(campaign)
            assert now.guarantee.holds
            assert now.bounds_taken
            assert (now.candidates.status != 0).any()
        assert audit.verify(path, recompute=True).ok


def test_what_bounds_cost_is_said_and_json_has_no_infinity(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "x.assaypilot"
    # What others say of a value closes no bound of this strategy.
    with make(path, **WIDE, strategy="linfact-g") as campaign:
        campaign.plan()
        results = beyond(answers(campaign), 5.7)
    table = tmp_path / "r.csv"
    lines = [f"{one.compound},{one.value},{one.relation}" for one in results]
    table.write_text("ID,Value,Relation\n" + "\n".join(lines) + "\n")
    assert main(["record", str(path), str(table)]) == 0
    said = capsys.readouterr().out
    assert "decisions count it as the worst that could be beyond the bound, which takes more measurements" in said
    assert main(["status", str(path), "--json"]) == 0
    document = json.loads(capsys.readouterr().out, parse_constant=lambda text: pytest.fail(text))
    assert document["guarantee"]["holds"]
    assert any(one["low"] is None for one in document["compounds"])
    for ending in ("csv", "xlsx", "pdf"):
        assert main(["export", str(path), str(tmp_path / f"all.{ending}"), "--only", "all"]) == 0
    capsys.readouterr()
    assert not what_they_would_do(0, taken_in=True)
    assert what_they_would_do(2, taken_in=False).startswith("2 values are known only as bounds: estimates count")
