"""What is said: every sentence is plain English, singular and plural, and true."""

from __future__ import annotations

import json
import math
import re
from pathlib import Path
from typing import Any

import pytest

from assaypilot.engine.campaign import cautions as history_text
from assaypilot.engine.campaign import codec
from assaypilot.engine.campaign.campaign import Campaign
from assaypilot.engine.campaign.changes import Change
from assaypilot.engine.campaign.events.fold import KINDS
from assaypilot.engine.campaign.state import Source
from assaypilot.engine.domain.endpoint import Endpoint
from assaypilot.engine.domain.measurements import Result
from assaypilot.engine.domain.plates.layout import PlateUse
from assaypilot.engine.domain.stock import TO_MAKE, StockLine
from assaypilot.engine.simulate.practice import create_practice, practice_results
from tests.engine.campaign.making import answers, decide_phase, finish, make, small_library

WIDE = {"per_round": 96, "max_replicates": 96}


def last(campaign: Campaign, back: int = 1) -> str:
    return campaign.history()[-back].text


@pytest.mark.parametrize(
    ("value", "text"),
    [(0.5, "0.5"), (0.1 + 0.2, "0.3"), (10000.0, "10000"), (2.0, "2"), (0.25, "0.25"), (1e-7, "1e-07")],
)
def test_numbers_as_people_write_them(value: float, text: str) -> None:
    assert history_text.number(value) == text


def test_counts_with_their_nouns() -> None:
    assert [history_text.many(n, "result") for n in (0, 1, 2, 1234)] == [
        "0 results",
        "1 result",
        "2 results",
        "1,234 results",
    ]


def everything(tmp_path: Path) -> Campaign:
    """A campaign in which every kind of event happened."""
    history = [Result("R1=A|R2=A", 6.0, "pIC50"), Result("R1=B|R2=A", 7.0, "pIC50")]
    endpoints = [Endpoint("pIC50", noise_sd=0.2), Endpoint("logD")]
    campaign = make(tmp_path / "x.assaypilot", history=history, endpoints=endpoints, epsilon=0.4, **WIDE)
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
    campaign.correct(3, results[0].value + 0.001, reason="checked")
    campaign.plan()
    campaign.close_round("failed")
    campaign.set_stock([StockLine(8, TO_MAKE, 120.0, 7.0)])
    return campaign


@pytest.mark.usefixtures("planned_phases")
def test_the_words_for_every_kind_of_event(tmp_path: Path) -> None:
    with everything(tmp_path) as campaign:
        said = {}
        for entry in campaign.history():
            said.setdefault(entry.kind, entry.text)
    # They need an end with something left to confirm, more compounds, or controls: their own tests say what is said.
    elsewhere = {"confirmation_issued", "audit_issued", "compounds_added", "combinations_listed", "control_amended"}
    assert set(said) == set(KINDS) - elsewhere, "a kind of event without a test of its words"
    name = re.escape(said["results_recorded"].split(": ")[1])
    expected = {
        "campaign_created": r"Campaign x created with AssayPilot \S+",
        "library_added": r"Library of 9 compounds added; sites R1 \(3\), R2 \(3\)",
        "endpoints_defined": r"Endpoints: pIC50, logD",
        "settings_changed": r"Changed the distance from the best from 0.4 to 0.5 \(asked by Ann\)",
        "goal_set": r"Goal: All compounds within 0.4 of the best pIC50, cutoff soft by 0.5, 95 % sure "
        r"\(strategy linfact-g\)",
        "history_added": r"2 earlier values taken over as history",
        "phase_planned": r"Phase 1 planned: \d+ measurements of \d+ compounds",
        "round_issued": r"Round 1 issued: \d+ measurements of \d+ compounds",
        "round_withdrawn": r"Round 1 withdrawn",
        "results_recorded": rf"1 result entered: {name}",
        "results_withdrawn": r"Entry of 1 result undone",
        "results_restored": r"Entry of 1 result redone",
        "measurement_excluded": rf"Value \S+ of {name} excluded for a technical cause: bubble",
        "measurement_included": rf"Value \S+ of {name} used again: no bubble",
        "measurement_corrected": rf"Value \S+ of {name} corrected to 6.5: typing error",
        "compounds_unavailable": r"Not to be had: R1=A\|R2=A \(sold out\)",
        "compounds_available": r"To be had again: R1=A\|R2=A",
        "round_closed": r"Round 1 closed with (\d+) of \1 measurements",
        "phase_decided": r"Phase 1 decided: \d more in, \d more out",
        "phase_redecided": r"Phase 1 decided again: the same compounds are in and out \(checked\)",
        "phase_empty": r"Phase 2 ended without a usable result; it will be planned anew if it is still needed",
        "plates_laid_out": r"Round 1 laid out on 1 plate of 96 wells",
        "stock_stated": r"Stock of 1 compound stated: 1 to be made",
    }
    for kind, pattern in expected.items():
        assert re.fullmatch(pattern, said[kind]), (kind, said[kind])


def test_the_words_of_undo(tmp_path: Path) -> None:
    with make(tmp_path / "x.assaypilot", **WIDE) as campaign:
        campaign.plan()
        campaign.record(answers(campaign)[:2])
        first = answers(campaign)[0]
        campaign.correct(1, 6.5, reason="typing error")
        campaign.undo()
        shown = history_text.number(first.value)
        assert last(campaign) == f"Correction of the value {shown} of {first.compound} undone"
        campaign.redo()
        assert last(campaign).endswith("corrected to 6.5: typing error")
        campaign.correct(1, 4.0, relation="<", reason="off the curve")
        assert last(campaign).endswith("corrected to <4: off the curve")
        campaign.undo()
        assert last(campaign).endswith("undone")
        assert "None" not in last(campaign)


def test_singular_and_plural(tmp_path: Path) -> None:
    history = [Result("R1=A", 6.0)]
    with make(tmp_path / "x.assaypilot", history=history, library=small_library((2,)), **WIDE) as campaign:
        texts = [entry.text for entry in campaign.history()]
        assert texts[1] == "Library of 2 compounds added; sites R1 (2)"
        assert texts[2] == "Endpoint: pIC50"
        assert texts[4] == "1 earlier value taken over as history"
        results = [Result("R1=A", 6.0), Result("R1=B", 6.0)]
        campaign.record(results, source=Source("plate 1.csv", "a" * 64))
        assert last(campaign) == "2 results entered from plate 1.csv: R1=A, R1=B"
        campaign.record([Result("R1=B", 6.1, relation="<")])
        campaign.exclude(4, "odd", judgement=True)
        assert last(campaign) == "Value <6.1 of R1=B excluded by judgement: odd"


def test_long_lists_are_cut_with_their_count(tmp_path: Path) -> None:
    with make(tmp_path / "x.assaypilot") as campaign:
        ids = campaign.status().library.ids
        campaign.record([Result(name, 6.0) for name in ids])
        assert last(campaign) == f"9 results entered: {', '.join(ids[:5])} and 4 more"


@pytest.mark.parametrize(
    ("missing", "words"),
    [
        ("return", "; what is missing comes again"),
        ("failed", "; what is missing was lost for lab reasons"),
        ("other", "; what is missing was lost for another reason, which voids the guarantee"),
    ],
)
def test_the_words_for_closing_early(tmp_path: Path, missing: Any, words: str) -> None:
    with make(tmp_path / "x.assaypilot", **WIDE) as campaign:
        campaign.plan()
        results = answers(campaign)
        campaign.record(results[:1])
        campaign.close_round(missing)
        text = next(entry.text for entry in campaign.history() if entry.kind == "round_closed")
        assert text == f"Round 1 closed with 1 of {len(results)} measurements{words}"


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


@pytest.mark.usefixtures("planned_phases")
def test_what_is_promised_changes_with_what_is_known(tmp_path: Path) -> None:
    with make(tmp_path / "x.assaypilot", slack=0.25, epsilon=0.5, **WIDE) as campaign:
        assert campaign.status().guarantee.sentence == (
            "Every compound truly within 0.5 of the best pIC50 is in or undecided; none that is worse by more than "
            "0.75 is in; wrong at most 1 time in 20. Assumes the effects of the substituents add up; measurements of "
            "one compound scatter independently and normally, SD at most 0.2."
        )
        decide_phase(campaign)
        assert re.match(r"After \d+ measurements: \d in, \d undecided, \d out\.$", campaign.status().statement)
        now = finish(campaign)
        assert "of the best pIC50 is in; none that is worse by more than 0.75 is in" in now.guarantee.sentence


def test_a_single_compound_is_in(tmp_path: Path) -> None:
    with make(tmp_path / "x.assaypilot", epsilon=0.1, slack=0.6, **WIDE) as campaign:
        now = finish(campaign)
        if now.counts["in"] == 1:
            assert "1 of 9 compounds is in." in now.statement
        assert now.finish_reason == "every compound is decided"


def test_a_hard_cutoff_says_nothing_of_softness(tmp_path: Path) -> None:
    with make(tmp_path / "x.assaypilot", slack=0.0) as campaign:
        now = campaign.status()
        assert now.goal_sentence == "All compounds within 0.5 of the best pIC50, 95 % sure"


def test_a_later_phase_that_contradicts_is_told(tmp_path: Path) -> None:
    """A value so wrong that the phases disagree: the first decision stands, and it is said."""
    with make(tmp_path / "x.assaypilot", epsilon=0.9, slack=0.3, **WIDE) as campaign:
        decide_phase(campaign)
        now = campaign.status()
        inside = [name for name, code in zip(now.library.ids, now.candidates.status, strict=True) if code == 1]
        if not inside:
            pytest.skip("nothing is in after the first phase")
        campaign.plan()
        campaign.record([Result(r.compound, r.value - 4 * (r.compound in inside)) for r in answers(campaign)])
        now = campaign.status()
        against = [text for text in now.warnings if "speaks against" in text or "shown since" in text]
        codes = {name: now.candidates.status[now.library.find(name)] for name in inside}
        assert set(codes.values()) == {1}
        assert bool(against) == any(len(d.contradicted) for d in campaign._ledger.estimates.values())


def test_the_soft_zone_is_no_contradiction(tmp_path: Path) -> None:
    """Who is in, and shown later to be beyond the distance, is a right answer as long as the soft zone may hold it."""
    with create_practice(tmp_path / "practice.assaypilot", seed=3) as campaign:
        while (issued := campaign.plan()) is not None:
            campaign.record(practice_results(campaign, issued))
        said = " ".join(campaign.status().warnings)
        assert "speaks against" not in said
        assert "In, though shown since to be more than 0.5 behind the best (up to 1 is a right answer, too)" in said


def test_no_number_that_json_cannot_say(tmp_path: Path) -> None:
    with everything(tmp_path) as campaign:
        for event in campaign._store.events():
            json.dumps(event.data, allow_nan=False)
        decide_phase(campaign)
        decision = campaign._ledger.estimates[1]
        written = codec.decision_to_json(decision, [str(k) for k in range(9)])
        json.dumps(written, allow_nan=False)


def test_what_is_infinite_is_written_as_nothing_and_read_back() -> None:
    assert codec.finite(math.inf) is None
    assert codec.finite(math.nan) is None
    assert codec.finite(0.5) == 0.5
