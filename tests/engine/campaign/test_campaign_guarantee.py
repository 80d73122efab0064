"""What a campaign promises must be true: what voids it, what it assumes, and what decisions rest on."""

import dataclasses
import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from assaypilot.engine.campaign import promises, verifying
from assaypilot.engine.campaign.campaign import Campaign
from assaypilot.engine.campaign.change_effects import ENDS
from assaypilot.engine.campaign.changes import Change
from assaypilot.engine.campaign.state import Status
from assaypilot.engine.domain.endpoint import Endpoint
from assaypilot.engine.domain.goals import AllEpsilonBest
from assaypilot.engine.domain.library import Library
from assaypilot.engine.domain.measurements import Result
from assaypilot.engine.domain.stock import CANNOT, IN_STOCK, StockLine
from assaypilot.engine.errors import AssayPilotError
from assaypilot.engine.strategies.registry import SERIES
from tests.engine.campaign.making import (
    SETTINGS,
    answers,
    decide_phase,
    differences,
    finish,
    make,
    replays,
    small_library,
    truth,
)

UNDECIDED, IN, OUT, LOST = range(4)
WIDE = {"per_round": 96, "max_replicates": 96}
"""A lab that does a phase in one round."""


UNRELATED = "measurements that are missing, left out or corrected are so for reasons unrelated to the values"


def without_one_substituent() -> Library:
    """The small library, of which nothing with R1=C can be had."""
    return small_library(measurable=[True] * 6 + [False] * 3)


def decisions(campaign: Campaign) -> list[Any]:
    return list(campaign._ledger.estimates.values())


def test_a_failed_rest_keeps_the_guarantee_and_reports_it(path: Path) -> None:
    with make(path, **WIDE) as campaign:
        campaign.plan()
        results = answers(campaign)
        campaign.record(results[:-2])
        now = campaign.close_round("failed", "the  plate\nfell")
        assert now.phases_decided == 1
        assert now.guarantee.holds
        assert UNRELATED in now.guarantee.assumptions
        assert UNRELATED in now.guarantee.sentence
        assert campaign.history()[-2].text == (
            f"Round 1 closed with {len(results) - 2} of {len(results)} measurements; "
            "what is missing was lost for lab reasons (the plate fell)"
        )
        counts = campaign._ledger.outcome(1, campaign._ledger.phases[0].allocation, 0).counts
        assert counts.sum() == len(results) - 2
        replays(campaign)
        assert finish(campaign).guarantee.holds


@pytest.mark.usefixtures("planned_phases")
def test_exclusion_by_judgement_ends_the_guarantee_only_where_a_decision_may_rest_on_the_value(path: Path) -> None:
    history = [Result("R1=A|R2=A", 6.1, "pIC50")]
    endpoints = [Endpoint("pIC50", noise_sd=0.2), Endpoint("logD", noise_sd=0.1)]
    with make(path, history=history, endpoints=endpoints, **WIDE) as campaign:
        campaign.plan()
        results = answers(campaign)
        unplanned = [Result("R1=A|R2=A", 1.0, "logD"), Result("R1=C|R2=C", 9.0, "pIC50", n=5)]
        campaign.record([*results, *unplanned], close_when_complete=False)
        places = {m.entered.endpoint: m.number for m in campaign.status().measurements}
        campaign.exclude(1, "old", judgement=True)
        campaign.exclude(places["logD"], "odd", judgement=True)
        late = campaign.status().measurements[-1].number
        campaign.exclude(late, "odd", judgement=True)
        assert replays(campaign).guarantee.holds, "none of them ever counted for a decision"
        campaign.exclude(2, "looks odd", judgement=True)
        campaign.exclude(3, "looks odd", judgement=True)
        (void,) = replays(campaign).guarantee.void
        assert void.startswith("2 values excluded by judgement (")
        campaign.include(3, "it was fine")
        assert replays(campaign).guarantee.void[0].startswith("1 value excluded by judgement (")
        campaign.include(2, "as well")
        assert replays(campaign).guarantee.holds


@pytest.mark.parametrize("how", ["exclude", "correct"])
def test_value_changed_before_its_phase_is_decided_is_an_assumption_and_after_it_hands_over(
    path: Path, how: str
) -> None:
    def change(campaign: Campaign, number: int) -> None:
        if how == "exclude":
            campaign.exclude(number, "bubble in the well", judgement=False)
        else:
            campaign.correct(number, 6.1, reason="typing error")

    with make(path, **WIDE) as campaign:
        campaign.plan()
        campaign.record(answers(campaign), close_when_complete=False)
        change(campaign, 1)
        assert replays(campaign).guarantee.holds
        assert UNRELATED in campaign.status().guarantee.assumptions
        campaign.close_round("failed")
        before = campaign.status()
        assert before.phases_decided == 1
        assert ENDS in campaign.exclude(2, "?", judgement=False, dry=True)
        change(campaign, 2)
        now = replays(campaign)
        assert now.claim.kind == "calibrated"
        assert now.strategy == SERIES
        for _ in range(2):
            campaign.undo()
        back = replays(campaign)
        assert back.guarantee.holds
        assert differences(back.candidates, before.candidates) == []
        for _ in range(2):
            campaign.redo()
        assert differences(replays(campaign).candidates, now.candidates) == []
        finish(campaign)
    assert verifying.verify(path, recompute=True).ok


def close_early(campaign: Campaign, results: list[Result]) -> None:
    campaign.record(results[:-1])
    campaign.close_round("other")


def enter_a_bound(campaign: Campaign, results: list[Result]) -> None:
    report = campaign.record([*results[:-1], Result(results[-1].compound, 5.0, relation="<")])
    assert report.censored == 1
    assert report.round_closed, "it returned; it is not measured again"


def leave_out_by_table(campaign: Campaign, results: list[Result]) -> None:
    campaign.record([dataclasses.replace(results[0], excluded=True, comment="outlier"), *results])


def leave_out_by_judgement(campaign: Campaign, results: list[Result]) -> None:
    campaign.record(results[:-1])
    campaign.exclude(1, "looks odd", judgement=True)
    campaign.record(results[-1:])


def enter_a_mean_of_more(campaign: Campaign, results: list[Result]) -> None:
    name = results[0].compound
    others = [one for one in results if one.compound != name]
    campaign.record([*others, Result(name, 6.0, n=len(results) - len(others) + 3)])


@pytest.mark.parametrize(
    ("happens", "void"),
    [
        (close_early, "round 1 was closed early for a reason that may depend on its results"),
        (enter_a_bound, "1 value known only as a bound ("),
        (leave_out_by_table, "1 value left out by the table of results ("),
        (leave_out_by_judgement, "1 value excluded by judgement ("),
        (enter_a_mean_of_more, "1 value made of more determinations than planned ("),
    ],
)
def test_what_no_proof_covers_ends_the_guarantee_and_is_named(
    path: Path, happens: Callable[[Campaign, list[Result]], None], void: str
) -> None:
    with make(path, **WIDE) as campaign:
        campaign.plan()
        happens(campaign, answers(campaign))
        now = replays(campaign)
        assert now.phases_decided <= 1
        assert not now.guarantee.holds
        assert now.guarantee.void[0].startswith(void)
        assert now.guarantee.sentence.startswith("No guarantee any more: ")
        assert now.guarantee.sentence.endswith(promises.WAY_ON)
        now = finish(campaign)
        assert not now.guarantee.holds
        assert "Every compound within" not in now.statement, "a statement never promises what the guarantee does not"
    assert verifying.verify(path, recompute=True).ok


def test_late_and_unplanned_results_enter_estimates_never_decisions(path: Path, tmp_path: Path) -> None:
    with make(path, **WIDE) as campaign:
        decide_phase(campaign)
        campaign.save_copy(tmp_path / "copy.assaypilot")
        before, decided = campaign.status(), decisions(campaign)
        status, bounds = before.candidates.status.copy(), (before.candidates.low.copy(), before.candidates.high.copy())
        wild = [Result(name, 12.0) for name in before.library.ids]
        report = campaign.record(wild)
        assert (report.accepted, report.unplanned) == (9, 9)
        now = replays(campaign)
        assert differences(decided, decisions(campaign)) == []
        assert np.array_equal(now.candidates.status, status)
        assert np.array_equal(now.candidates.low, bounds[0])
        assert np.array_equal(now.candidates.high, bounds[1])
        assert not np.allclose(now.candidates.estimate, before.candidates.estimate)
        assert {m.phase for m in now.measurements[-9:]} == {0}
        # The next phase is planned and decided as if they had never come.
        decide_phase(campaign)
        with Campaign.open(tmp_path / "copy.assaypilot") as plain:
            decide_phase(plain)
            for one, other in zip(decisions(campaign), decisions(plain), strict=True):
                assert np.array_equal(one.ins, other.ins)
                assert np.array_equal(one.low, other.low, equal_nan=True)
                assert np.array_equal(one.high, other.high, equal_nan=True)


@pytest.mark.parametrize("as_means", [False, True], ids=["replicates", "means"])
def test_determinations_beyond_the_plan_do_not_count(path: Path, as_means: bool) -> None:
    with make(path, **WIDE) as campaign:
        issued = campaign.plan()
        results = answers(campaign, extra=2)
        if as_means:
            ids = campaign.status().library.ids
            results = [Result(ids[item.compound], 6.0, n=item.replicates + 2) for item in issued.items]
        report = campaign.record(results)
        taken = issued.measurements + 2 * len(issued.items)
        assert report.unplanned == (0 if as_means else taken - issued.measurements)
        now = replays(campaign)
        assert (now.phases_decided, now.measurements_used) == (1, taken)
        ledger = campaign._ledger
        allocation = ledger.phases[0].allocation
        assert np.array_equal(ledger.outcome(1, allocation, 0).counts[0][allocation.arms], allocation.counts)


def test_history_estimates_and_does_not_decide(path: Path, tmp_path: Path) -> None:
    library = small_library()
    history = [Result(name, value) for name, value in zip(library.ids, truth(library) + 3.0, strict=True)]
    lab = {"strategy": "linfact-g", **WIDE}
    with make(path, history=history, **lab) as campaign, make(tmp_path / "plain.assaypilot", **lab) as plain:
        now = campaign.status()
        assert now.measurements_used == 0
        assert now.counts["undecided"] == 9
        assert np.allclose(now.candidates.estimate, truth(library) + 3.0)
        assert (now.candidates.probability_within_epsilon >= 0).all()
        assert now.candidates.made.all()
        for one in (campaign, plain):
            decide_phase(one)
        for one, other in zip(decisions(campaign), decisions(plain), strict=True):
            assert np.array_equal(one.ins, other.ins)
            assert np.array_equal(one.low, other.low, equal_nan=True)
        assert np.array_equal(campaign.status().candidates.status, plain.status().candidates.status)
        assert not np.allclose(campaign.status().candidates.estimate, plain.status().candidates.estimate)


def no_number(now: Status, place: int) -> bool:
    shown = now.candidates
    arrays = (shown.estimate, shown.low, shown.high, shown.posterior_low, shown.posterior_high,
              shown.probability_within_epsilon, shown.probability_within_slack, *shown.estimates.values())  # fmt: skip
    return all(math.isnan(array[place]) for array in arrays)


def test_what_cannot_be_estimated_has_no_number_and_no_probability(path: Path) -> None:
    library = without_one_substituent()
    history = [Result("R1=C|R2=A", 5.6)]
    with make(path, library=library, history=history, **WIDE) as campaign:
        for _ in range(2):
            now = replays(campaign)
            assert now.counts["not_estimable"] == 3
            assert all(no_number(now, place) for place in (6, 7, 8))
            assert "the best means the best of the compounds that can be estimated" in now.guarantee.assumptions
            assert "3 cannot be estimated" in now.statement
            decide_phase(campaign)
        now = finish(campaign)
        assert all(no_number(now, place) for place in (6, 7, 8))
        assert all(now.library.codes[item.compound, 0] != 2 for issued in now.rounds for item in issued.items)
        right = AllEpsilonBest(SETTINGS.epsilon, SETTINGS.softness)
        assert right.is_right(now.candidates.status[:6] == IN, truth(library)[:6])


def test_compounds_lost_on_the_way_keep_what_was_decided_and_lose_their_numbers(path: Path) -> None:
    with make(path, epsilon=0.9, slack=0.4, **WIDE) as campaign:
        decide_phase(campaign)
        before = campaign.status()
        gone = [name for name in before.library.ids if "R1=A" in name]
        campaign.mark_unavailable(gone, "the last batch is used up")
        now = replays(campaign)
        assert now.unavailable == frozenset(before.library.find(name) for name in gone)
        for name in gone:
            place = before.library.find(name)
            if before.candidates.status[place] == UNDECIDED:
                assert now.candidates.status[place] == LOST
                assert no_number(now, place)
            else:
                assert now.candidates.status[place] == before.candidates.status[place]
        assert (now.candidates.status == LOST).any(), "or this test shows nothing"
        decide_phase(campaign)
        now = replays(campaign)
        assert all(no_number(now, p) for p in np.flatnonzero(now.candidates.status == LOST))
    assert verifying.verify(path, recompute=True).ok


def test_nothing_is_claimed_where_no_compound_is_available(path: Path) -> None:
    with make(path, **WIDE) as campaign:
        campaign.mark_unavailable(campaign.status().library.ids, "the freezer broke")
        now = replays(campaign)
        assert now.finished
        assert campaign.plan() is None
        assert "Decided" not in now.statement
        assert now.finish_reason == "no remaining compound is available"
        assert now.counts["not_estimable"] == 9


def test_phase_that_loses_all_its_values_decides_nothing_any_more(path: Path) -> None:
    with make(path, **WIDE) as campaign:
        decide_phase(campaign)
        assert (campaign.status().candidates.status != UNDECIDED).any()
        for m in campaign.status().measurements:
            campaign.exclude(m.number, "the plate was mixed up", judgement=False)
        now = replays(campaign)
        assert (now.candidates.status == UNDECIDED).all()
        assert now.phases_decided == 1
        campaign.plan()
        assert campaign.status().open_round is not None
        assert finish(campaign).finished
    assert verifying.verify(path, recompute=True).ok


def test_the_budget_cuts_the_last_phase_and_leaves_good_and_undecided_apart(path: Path) -> None:
    with make(path, budget=40, epsilon=0.45, **WIDE) as campaign:
        now = finish(campaign)
        assert now.measurements_used <= 40
        assert now.finished
        assert now.finish_reason is not None
        assert "budget" in now.finish_reason
        assert now.counts["undecided"] > 0
        assert "Stopped after" in now.statement
        assert "is in or undecided" in now.guarantee.sentence
        assert any("cut to what the budget leaves" in entry.text for entry in campaign.history())
        wanted = AllEpsilonBest(0.45, SETTINGS.softness)
        status = now.candidates.status
        assert not ((status == OUT) & wanted.members(truth(now.library))).any()
        assert not ((status == IN) & ~wanted.acceptable(truth(now.library))).any()
        replays(campaign)
    assert verifying.verify(path, recompute=True).ok


def test_what_is_decided_against_a_compound_lost_on_the_way_stays_true(path: Path) -> None:
    """The best is decided in and lost; the next best, too far below it, must not come in after it."""
    library = Library.listed(["R1"], [["X"], ["J"], ["K"], ["Z"]])
    means = dict(zip(library.ids, (8.0, 7.4, 7.3, 5.0), strict=True))
    lab = {"per_round": 4000, "max_replicates": 4000}
    with make(path, library=library, epsilon=0.5, slack=0.2, delta=0.05, budget=20_000, **lab) as campaign:
        for _ in range(8):
            issued = campaign.plan()
            if issued is None:
                break
            results = [
                Result(library.ids[item.compound], means[library.ids[item.compound]], "pIC50", n=item.replicates)
                for item in issued.items
            ]
            campaign.record(results)
            now = campaign.status()
            if now.candidates.status[0] == IN and not now.unavailable:
                campaign.mark_unavailable(["R1=X"], "none left")
        now = campaign.status()
        inside = {library.ids[i] for i in np.flatnonzero(now.candidates.status == IN)}
        assert "R1=X" in inside
        assert now.unavailable
        assert "R1=K" not in inside
        assert now.guarantee.holds


@pytest.mark.parametrize(
    ("strategy", "parameters", "said"),
    [
        ("linfact-xy", {}, ["the effects of the substituents add up"]),
        (
            "linfact-mis",
            {"model_error": 0.02},
            ["no compound deviates from the sum of its substituents' effects by more than 0.02"],
        ),
        (
            "linfact-glm",
            {"link": "logit", "bound": 3.0},
            [
                "the effects of the substituents add up on the logit scale",
                "no compound's value there is larger than 3 in size",
                "what the paper's proof leaves open holds (errors were only measured by simulation)",
            ],
        ),
    ],
)
def test_what_a_strategy_takes_for_granted_is_reported(
    path: Path, strategy: str, parameters: dict[str, Any], said: list[str]
) -> None:
    with make(path, strategy=strategy, parameters=parameters, **WIDE) as campaign:
        now = replays(campaign)
        assert list(now.guarantee.assumptions[: len(said)]) == said
        assert "Assumes " + "; ".join(said) in now.guarantee.sentence
        additive = "the effects of the substituents add up"
        assert (additive in now.guarantee.assumptions) == (said == [additive])


@pytest.mark.parametrize("strategy", ["lingame", "adaptive"])
def test_terms_are_not_taken_back_by_whoever_has_seen_results_under_them(path: Path, strategy: str) -> None:
    """Nothing was seen when they were changed; what is seen since chooses between both, if it may be taken back."""
    with make(path, **WIDE, strategy=strategy) as campaign:
        campaign.change(Change(epsilon=0.3))
        campaign.plan()
        campaign.record(answers(campaign)[:-1], close_when_complete=False)
        campaign.undo()
        campaign.undo()
        assert campaign.undo_label == "Change the terms"
        before = campaign.head
        with pytest.raises(AssayPilotError, match="results were seen since the last change, so it stays"):
            campaign.undo()
        assert campaign.head == before
        # Nothing was seen since this one.
        campaign.change(Change(per_round=48))
        campaign.undo()
        replays(campaign)


def test_compound_lost_in_its_phase_is_an_assumption_and_its_return_ends_the_proof(path: Path) -> None:
    with make(path, **WIDE) as campaign:
        issued = campaign.plan()
        gone = issued.items[0]
        name = campaign.status().library.ids[gone.compound]
        campaign.record([one for one in answers(campaign) if one.compound != name], close_when_complete=False)
        campaign.set_stock([StockLine(gone.compound, CANNOT)])
        campaign.close_round()
        assert campaign.status().phases_decided == 1
        assert campaign.status().guarantee.holds
        campaign.set_stock([StockLine(gone.compound, IN_STOCK)])
        assert campaign.status().claim.kind == "calibrated"
