"""Why a compound stands where it stands: the numbers said are those that decided, for every strategy and state."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from assaypilot.engine.campaign.campaign import Campaign
from assaypilot.engine.campaign.reasons import Reasoning
from assaypilot.engine.campaign.state import Status
from assaypilot.engine.domain.measurements import Result
from assaypilot.engine.strategies.protocol import IN, NOT_ESTIMABLE, OUT
from tests.engine.campaign.making import answers, decide_phase, finish, make, small_library
from tests.engine.campaign.trading import answers as several_answers
from tests.engine.campaign.trading import trade

LARGE: dict[str, Any] = {"per_round": 40, "max_replicates": 20}


def said(campaign: Campaign, compound: int) -> Reasoning:
    return campaign.reasons().of(compound)


def of_status(now: Status, code: int) -> list[int]:
    found: list[int] = np.flatnonzero(now.candidates.status == code).tolist()
    return found


@pytest.mark.parametrize("strategy", ["linfact-g", "adaptive"])
def test_decided_compounds_name_their_round_and_distance(strategy: str, path: Path) -> None:
    with make(path, strategy=strategy, epsilon=0.5, slack=0.5, per_round=60, max_replicates=20) as campaign:
        finish(campaign)
        now = campaign.status()
        for code, better in (
            (OUT, "another compound is better"),
            (IN, "no other compound is better"),
        ):
            for compound in of_status(now, code):
                when = now.candidates.decided_in_round[compound]
                assert said(campaign, compound).why.startswith(f"Decided after round {when}: {better} by more than ")
            assert of_status(now, code)


def test_before_anything_is_measured(path: Path) -> None:
    with make(path) as campaign:
        reasoning = said(campaign, 0)
        assert (reasoning.heading, reasoning.open) == ("Why undecided", True)
        assert reasoning.why == "No measurement informs it yet."
        assert reasoning.picked == "No round has been planned yet."
        assert reasoning.values == ()


def test_its_own_measurements_with_what_was_left_out(path: Path) -> None:
    history = [Result("A|A", 6.1, "pIC50"), Result("A|B", 5.0, "pIC50", relation="<")]
    library = replace(small_library(), ids=tuple(f"{a}|{b}" for a in "ABC" for b in "ABC"))
    with make(path, library=library, history=history, **LARGE) as campaign:
        campaign.plan()
        campaign.record([Result("A|A", 6.3, "pIC50"), Result("A|A", 9.9, "pIC50", n=2)])
        campaign.exclude(4, "bubble in the well", judgement=False)
        campaign.correct(3, 6.2, reason="typed twice")
        values = said(campaign, 0).values
        assert [(v.value, v.n, v.when, v.note, v.used, v.left_out) for v in values] == [
            ("6.10", 1, "earlier", "", True, False),
            ("6.20 (entered 6.3)", 1, "round 1", "corrected: typed twice", True, False),
            ("9.90", 2, "round 1", "left out: bubble in the well", False, True),
        ]
        (bound,) = said(campaign, 1).values
        assert (bound.value, bound.note, bound.used, bound.left_out) == (
            "< 5.00",
            "a bound",
            False,
            False,
        )


@pytest.mark.usefixtures("planned_phases")
def test_why_it_was_picked_or_not(path: Path) -> None:
    with make(path, **LARGE) as campaign:
        issued = campaign.plan()
        item = issued.items[0]
        text = said(campaign, item.compound).picked
        assert text == f"Round 1 asks for {item.replicates} measurements: {item.reason}; 0 back so far."
        campaign.record(answers(campaign), close=True)
        assert said(campaign, item.compound).picked.endswith(f"; {item.replicates} returned.")
        campaign.mark_unavailable([campaign.status().library.ids[8]], "sold out")
        while campaign.status().phases_decided < 2 and campaign.plan() is not None:
            campaign.record(answers(campaign), close=True)
        now = campaign.status()
        last = now.rounds[-1]
        asked = {one.compound for one in last.items}
        aside = {compound: said(campaign, compound).picked for compound in range(9) if compound not in asked}
        assert aside[8] == f"Not in round {last.number}: it is unavailable (sold out)."
        gone = [n for n in of_status(now, OUT) if n in aside and 0 < now.candidates.decided_in_round[n] < last.number]
        for compound in set(gone) - {8}:
            when = now.candidates.decided_in_round[compound]
            assert aside[compound] == f"Not in round {last.number}: it was out after round {when}."
        assert gone
        others = [n for n in aside if n not in gone and n != 8]
        assert all(text.startswith(f"Not in round {last.number}: ") for text in aside.values())
        assert all("R1 = " in aside[n] or "round" in aside[n].split(":")[1] for n in others)


def test_not_estimable_names_the_substituents_without_information(path: Path) -> None:
    measurable = [name != "C" for name in "AAABBBCCC"]
    with make(path, library=small_library(measurable=measurable), **LARGE) as campaign:
        decide_phase(campaign)
        (first, *_) = of_status(campaign.status(), NOT_ESTIMABLE)
        reasoning = said(campaign, first)
        assert reasoning.heading == "Not estimable"
        assert reasoning.why.startswith("R1 = C occurs in no compound that can be measured")
        assert reasoning.picked.endswith("it is not among those that can be measured.")


def test_trade_offs_are_out_where_another_is_better_in_every_endpoint(path: Path) -> None:
    with trade(path, per_round=400, max_replicates=100) as campaign:
        while campaign.plan() is not None:
            campaign.record(several_answers(campaign), close=True)
        now = campaign.status()
        for code, better in ((OUT, "another"), (IN, "no other")):
            words = f": {better} compound is better in every endpoint"
            assert all(words in said(campaign, compound).why for compound in of_status(now, code))
            assert of_status(now, code)


def test_the_past_gives_the_reasons_of_then(path: Path) -> None:
    with make(path, per_round=16, max_replicates=4, slack=0.1) as campaign:
        seen = {0: [said(campaign, n) for n in range(9)]}
        for number in (1, 2, 3):
            assert campaign.plan() is not None
            campaign.record(answers(campaign), close=True)
            seen[number] = [said(campaign, n) for n in range(9)]
        finish(campaign)
        for number, then in seen.items():
            reasons = campaign.reasons(number)
            assert [reasons.of(n) for n in range(9)] == then
