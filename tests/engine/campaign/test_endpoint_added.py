"""An endpoint that comes in the middle of a campaign: recorded only, with a limit, or as a second objective."""

from pathlib import Path

import numpy as np
import pytest

from assaypilot.engine.campaign.campaign import Campaign
from assaypilot.engine.campaign.change_effects import ENDS
from assaypilot.engine.campaign.changes import Change
from assaypilot.engine.campaign.state import Status
from assaypilot.engine.campaign.verifying import verify
from assaypilot.engine.domain.endpoint import Endpoint, Limit
from assaypilot.engine.domain.measurements import Result
from assaypilot.engine.errors import AssayPilotError
from tests.engine.campaign.making import answers, decide_phase, make, replays, truth

WIDE = {"per_round": 36, "max_replicates": 4}
LOGD = Endpoint("logD", noise_sd=0.2, direction="min", limit=Limit("<", 6.2))
RECORDED = Endpoint("Solubility", unit="uM", transform="log")


def both(campaign: Campaign) -> None:
    """A round of pIC50 and a logD as large, planned, measured and closed."""
    if campaign.plan() is None:
        return
    now = campaign.status()
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
def test_a_limit_comes_with_an_endpoint_no_one_measured(strategy: str, tmp_path: Path) -> None:
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
        with pytest.raises(AssayPilotError, match="decisions rest on it"):
            campaign.change(Change(endpoint=Endpoint("hERG", limit=Limit("<", 5.0))))
        with pytest.raises(AssayPilotError, match="Name the endpoint"):
            campaign.change(Change(trade_off=True))
        with pytest.raises(AssayPilotError, match="which is no endpoint"):
            campaign.change(Change(endpoint=Endpoint("Selectivity", of=("pIC50", "hERG"))))
        campaign.plan()
        campaign.record(answers(campaign), close=True)
        assert campaign.status().phases_decided == 0
        with pytest.raises(AssayPilotError, match="phase 1 has results"):
            campaign.change(Change(endpoint=LOGD))
        assert campaign.change(Change(endpoint=RECORDED)).endpoints[1].name == "Solubility"


@pytest.mark.parametrize("strategy", ["adaptive", "linfact-g", "gaussian-process"])
@pytest.mark.parametrize("rounds", [0, 2])
def test_second_objective_asks_for_trade_offs_from_the_next_round_on(
    strategy: str, rounds: int, tmp_path: Path
) -> None:
    second = Change(endpoint=Endpoint("logD", noise_sd=0.2, direction="min"), trade_off=True)
    assert not second.of_capacity_alone
    with make(tmp_path / "x.assaypilot", epsilon=0.3, slack=0.2, strategy=strategy, **WIDE) as campaign:
        for _ in range(rounds):
            decide_phase(campaign)
        before = campaign.status()
        told = " ".join(campaign.consequences(second))
        assert "the endpoints, by logD (an objective). The goal is then: The best trade-offs between" in told
        assert (ENDS in told) is (strategy == "linfact-g" or (rounds > 0 and strategy == "adaptive"))
        now = campaign.change(second)
        assert now.settings.objectives == ("pIC50", "logD")
        assert now.measured_endpoints == (0, 1)
        assert now.counts["undecided"] == len(now.library)
        assert now.phases_decided == before.phases_decided
        assert (now.claim.kind == "proven") is (not rounds and strategy == "adaptive")
        sound(campaign)
        campaign.undo()
        assert sound(campaign).goal_sentence == before.goal_sentence
        campaign.redo()
        for _ in range(2):
            both(campaign)
        now = sound(campaign)
        assert len(now.measurements) > len(before.measurements)
        assert now.phases_decided > before.phases_decided or now.phase is not None
