"""What is said: every sentence is plain English, singular and plural, and true."""

import json
import re
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from assaypilot.engine.campaign import cautions as history_text
from assaypilot.engine.campaign import codec
from assaypilot.engine.campaign.campaign import Campaign
from assaypilot.engine.campaign.changes import Change
from assaypilot.engine.campaign.events.fold import KINDS
from assaypilot.engine.campaign.issued_rounds import Source
from assaypilot.engine.domain.endpoint import Endpoint
from assaypilot.engine.domain.measurements import Result
from assaypilot.engine.domain.plates import PlateUse
from assaypilot.engine.domain.stock import TO_MAKE, StockLine
from tests import snapshots
from tests.engine.campaign.making import answers, finish, make, small_library

WIDE = {"per_round": 96, "max_replicates": 96}


def everything(path: Path) -> Campaign:
    """A campaign in which every kind of event happened."""
    history = [Result("R1=A|R2=A", 6.0, "pIC50"), Result("R1=B|R2=A", 7.0, "pIC50")]
    endpoints = [Endpoint("pIC50", noise_sd=0.2), Endpoint("logD")]
    campaign = make(path, history=history, endpoints=endpoints, epsilon=0.4, **WIDE)
    campaign.change(Change(epsilon=0.5), "asked by Ann")
    campaign.plan()
    campaign.undo()
    campaign.plan()
    campaign.lay_out(1, PlateUse(96))
    results = answers(campaign)
    campaign.record(results[:1])
    campaign.undo()
    campaign.redo()
    campaign.exclude(3, "bubble", judgement=False)
    campaign.include(3, "no bubble")
    campaign.correct(3, 6.5, reason="typing error")
    campaign.undo()
    campaign.mark_unavailable(["R1=A|R2=A"], "sold out")
    campaign.undo()
    campaign.record(results[1:])
    campaign.plan()
    campaign.close_round("failed")
    campaign.correct(3, results[0].value + 0.001, reason="checked")
    campaign.set_stock([StockLine(8, TO_MAKE, 120.0, 7.0)])
    return campaign


def told(campaign: Campaign) -> str:
    """Everything a campaign says of itself: its history, goal, state and guarantee.

    Large counts follow designs, whose last measurement is up to rounding.
    """
    now = campaign.status()
    history = [re.sub(r"(created with AssayPilot) \S+", r"\1 VERSION", entry.text) for entry in campaign.history()]
    guarantee = now.guarantee
    lines = [*history, "", now.goal_sentence, now.statement, guarantee.sentence, *guarantee.assumptions, *now.warnings]
    text = re.sub(r"\b(?:[2-9]\d|\d{3,}) (measurement|result)s", r"N \1s", "\n".join(lines) + "\n")
    return re.sub(r"\d+ of N", "N of N", text)


def corrected(path: Path) -> Campaign:
    """Two compounds, values corrected to bounds and back, one left out by judgement."""
    campaign = make(path, history=[Result("R1=A", 6.0)], library=small_library((2,)), **WIDE)
    campaign.plan()
    campaign.record([Result("R1=A", 6.0), Result("R1=B", 6.0)], source=Source("plate 1.csv", "a" * 64))
    campaign.correct(2, 6.5, reason="typing error")
    campaign.undo()
    campaign.redo()
    campaign.correct(2, 4.0, relation="<", reason="off the curve")
    campaign.undo()
    campaign.record([Result("R1=B", 6.1, relation="<")])
    campaign.exclude(4, "odd", judgement=True)
    return campaign


def closed_early(path: Path) -> Campaign:
    """Three rounds closed before all was there, each for another reason."""
    campaign = make(path, slack=0.0, **WIDE)
    for missing in ("return", "failed", "other"):
        campaign.plan()
        campaign.record(answers(campaign)[:1], close_when_complete=False)
        campaign.close_round(missing)
    campaign.record([Result(name, 6.0) for name in campaign.status().library.ids])
    return campaign


def at_the_end(path: Path) -> Campaign:
    """Decided."""
    campaign = make(path, slack=0.25, epsilon=0.9, **WIDE)
    finish(campaign)
    return campaign


def calibrated(path: Path) -> Campaign:
    """Rounds of the series model: one complete, one with nothing usable, one open."""
    campaign = make(path, slack=0.25, epsilon=0.9, strategy="gaussian-process", per_round=9)
    campaign.plan()
    campaign.record(answers(campaign))
    campaign.plan()
    campaign.close_round()
    campaign.plan()
    return campaign


@pytest.mark.usefixtures("planned_phases")
@pytest.mark.parametrize(
    "story", [everything, corrected, closed_early, at_the_end, calibrated], ids=lambda story: story.__name__
)
def test_history_and_state_are_worded_as_before(tmp_path: Path, story: Callable[[Path], Campaign]) -> None:
    with story(tmp_path / "x.assaypilot") as campaign:
        snapshots.expect(f"campaign-{story.__name__.replace('_', '-')}.txt", told(campaign))
        said = {entry.kind for entry in campaign.history()}
    # These have tests of their own.
    elsewhere = {"confirmation_issued", "audit_issued", "compounds_added", "combinations_listed", "round_withdrawn"}
    assert story is not everything or said == set(KINDS) - elsewhere


@pytest.mark.parametrize(
    ("delta", "odds"),
    [(0.05, "1 time in 20"), (0.1, "1 time in 10"), (0.01, "1 time in 100"), (0.03, "3 times in 100"),
     (0.5, "1 time in 2"), (0.07, "7 times in 100")],
)  # fmt: skip
def test_the_odds_of_being_wrong(tmp_path: Path, delta: float, odds: str) -> None:
    with make(tmp_path / "x.assaypilot", delta=delta) as campaign:
        sentence = campaign.status().guarantee.sentence
        assert f"wrong at most {odds}. " in sentence
        assert f"{history_text.number(100 - 100 * delta)} % sure" in campaign.status().goal_sentence


def test_no_number_that_json_cannot_say(tmp_path: Path) -> None:
    with everything(tmp_path / "x.assaypilot") as campaign:
        for event in campaign._store.events():
            json.dumps(event.data, allow_nan=False)
        decision = campaign._ledger.state.last
        assert decision is not None
        written = codec.decision_to_json(decision, np.arange(9))
        json.dumps(written, allow_nan=False)
