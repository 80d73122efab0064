"""Why a compound stands where it stands: the numbers said are those that decided, for every strategy and state."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from assaypilot.engine.campaign.campaign import Campaign
from assaypilot.engine.campaign.reasons.reasons import Reasoning
from assaypilot.engine.campaign.reasons.sentences import more_measurements
from assaypilot.engine.campaign.reasons.single_endpoint import Gaps, _lower
from assaypilot.engine.campaign.state import Status
from assaypilot.engine.domain.endpoint import Endpoint
from assaypilot.engine.domain.measurements import Result
from assaypilot.engine.simulate.practice import create_practice, practice_results
from assaypilot.engine.strategies.adaptive.evidence import Steps
from assaypilot.engine.strategies.protocol import IN, NOT_ESTIMABLE, OUT, UNDECIDED
from assaypilot.engine.strategies.registry import strategies
from tests.engine.campaign.making import answers, decide_phase, finish, make, small_library
from tests.engine.campaign.trading import answers as several_answers
from tests.engine.campaign.trading import trade

LARGE: dict[str, Any] = {"per_round": 40, "max_replicates": 20}


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "series.assaypilot"


def said(campaign: Campaign, compound: int) -> Reasoning:
    return campaign.reasons().of(compound)


def of_status(now: Status, code: int) -> list[int]:
    found: list[int] = np.flatnonzero(now.candidates.status == code).tolist()
    return found


@pytest.mark.parametrize("strategy", ["linfact-g", "linfact-xy", "adaptive"])
@pytest.mark.parametrize("sign", ["max", "min"])
def test_the_bounds_that_are_told_are_those_that_decided(strategy: str, sign: str, path: Path) -> None:
    """Told of a compound that is out is a gap surely beyond epsilon; of one that is in, one surely within the rest."""
    endpoint = Endpoint("pIC50", noise_sd=0.2, direction=sign)  # type: ignore[arg-type]  # one of two words
    seen = {IN: 0, OUT: 0, UNDECIDED: 0}
    with make(
        path, strategy=strategy, endpoints=(endpoint,), epsilon=0.5, slack=0.5, per_round=60, max_replicates=20
    ) as campaign:
        for _ in range(60):
            if campaign.plan() is None:
                break
            campaign.record(answers(campaign), close=True)
            now, ledger = campaign.status(), campaign._ledger
            gaps = Gaps(ledger, ledger.current())
            for compound in range(len(now.library)):
                arm, code = int(ledger.arm_of[compound]), int(now.candidates.status[compound])
                phase = int(ledger.current().decided_in_phase[arm])
                gap = gaps.then(arm, phase) if phase else gaps.now(arm)
                if gap is None:
                    continue
                seen[code] += 1
                if code == OUT:
                    assert gap.least > 0.5 - 1e-9
                elif code == IN:
                    assert gap.most <= 1.0 + 1e-9
                else:
                    assert gap.least <= 0.5 + 1e-9
                    assert gap.most > 1.0 - 1e-9
                assert gap.least <= gap.behind + 1e-9
                assert gap.behind <= gap.most + 1e-9
    assert min(seen[IN], seen[OUT]) > 0


@pytest.mark.usefixtures("planned_phases")
def test_out_by_distance_names_the_bounds_and_the_round(path: Path) -> None:
    with make(path, **LARGE) as campaign:
        decide_phase(campaign)
        now, ledger = campaign.status(), campaign._ledger
        out = of_status(now, OUT)[0]
        reasoning = said(campaign, out)
        assert reasoning.heading == "Why out"
        decision = ledger.estimates[1]
        best = int(np.nanargmax(decision.low[0]))
        below = now.candidates.cutoff - now.candidates.estimate[out]
        assert reasoning.why == (
            f"By estimate it lies {below:.2f} outside the cutoff at {now.candidates.cutoff:.2f}. "
            f"After round {now.candidates.decided_in_round[out]} even its upper bound, "
            f"{decision.high[0, ledger.arm_of[out]]:.2f}, lay below {decision.low[0, best] - 0.5:.2f}: the lower bound "
            f"of {now.library.ids[int(ledger.first[best])]}, {decision.low[0, best]:.2f}, less 0.5."
        )
        assert reasoning.decide == ""
        assert not reasoning.open


@pytest.mark.usefixtures("planned_phases")
def test_what_would_decide_it_is_about_what_it_takes(tmp_path: Path) -> None:
    """On the practice table the counts told after the first decision are near to those that it took."""
    with create_practice(tmp_path / "practice.assaypilot", seed=4) as campaign:
        told: dict[int, int] = {}
        used: dict[int, int] = {}
        first = 0
        while (issued := campaign.plan()) is not None:
            campaign.record(practice_results(campaign, issued), close=True)
            now, reasons = campaign.status(), campaign.reasons()
            for compound in [n for n in told if n not in used and now.candidates.status[n] != UNDECIDED]:
                used[compound] = now.measurements_used - first
            if now.phases_decided == 1 and not first:
                first = now.measurements_used
                for compound in of_status(now, UNDECIDED):
                    decide = reasons.of(compound).decide
                    found = re.search(r"to ± ([\d.]+) now; ± ([\d.]+) is needed: about ([\d,]+) more", decide)
                    if found is None:
                        assert "the next decision may settle it" in decide
                        continue
                    assert float(found[1]) >= float(found[2])  # alike when rounded, perhaps
                    told[compound] = int(found[3].replace(",", ""))
    assert len(told) > 20
    ratios = np.array([told[n] / used[n] for n in told])
    assert 0.4 < np.median(ratios) < 2.5
    # Who is told to need more does need more.
    assert np.corrcoef([told[n] for n in told], [used[n] for n in told])[0, 1] > 0.5


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
        assert issued is not None
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
        assert aside[8] == f"Not in round {last.number}: it cannot be had (sold out)."
        gone = [n for n in of_status(now, OUT) if n in aside and 0 < now.candidates.decided_in_round[n] < last.number]
        for compound in set(gone) - {8}:
            when = now.candidates.decided_in_round[compound]
            assert aside[compound] == f"Not in round {last.number}: it was out after round {when}."
        assert gone
        others = [n for n in aside if n not in gone and n != 8]
        assert all(text.startswith(f"Not in round {last.number}: ") for text in aside.values())
        assert all("R1 = " in aside[n] or "round" in aside[n].split(":")[1] for n in others)


def test_not_estimable_names_what_nothing_tells_about(path: Path) -> None:
    measurable = [name != "C" for name in "AAABBBCCC"]
    with make(path, library=small_library(measurable=measurable), **LARGE) as campaign:
        decide_phase(campaign)
        (first, *_) = of_status(campaign.status(), NOT_ESTIMABLE)
        reasoning = said(campaign, first)
        assert reasoning.heading == "Not estimable"
        assert reasoning.why.startswith("R1 = C occurs in no compound that can be measured")
        assert reasoning.picked.endswith("it is not among those that can be measured.")


def test_trade_offs_name_who_beats_them_and_by_how_much(path: Path) -> None:
    with trade(path, per_round=400, max_replicates=100) as campaign:
        while campaign.plan() is not None:
            campaign.record(several_answers(campaign), close=True)
        now, ledger = campaign.status(), campaign._ledger
        for compound in of_status(now, OUT):
            why = said(campaign, compound).why
            found = re.match(r"After round (\d+) (\S+) was certainly better in both, by at least ([\d.]+) in pIC50 and "
                             r"([\d.]+) in hERG", why)  # fmt: skip
            assert found is not None
            winner = now.library.ids.index(found[2])
            arm, other = int(ledger.arm_of[compound]), int(ledger.arm_of[winner])
            decision = ledger.estimates[int(ledger.current().decided_in_phase[arm])]
            least = decision.low[:, other] - decision.high[:, arm]
            assert (float(found[3]), float(found[4])) == pytest.approx(tuple(least), abs=0.006)
            assert (least > 0).all()
        assert of_status(now, OUT)
        for compound in of_status(now, IN):
            assert said(campaign, compound).why.startswith("No other compound can be better in both by more than 0.5.")


@pytest.mark.parametrize("kind", strategies(), ids=lambda kind: kind.info.name)
def test_every_strategy_says_something_of_every_compound(kind: Any, path: Path) -> None:
    name, goals = kind.info.name, kind.info.goals
    wide: dict[str, Any] = {"epsilon": 0.8, "slack": 0.6, "per_round": 30, "max_replicates": 40}
    own = {
        "linfact-mis": {"parameters": {"model_error": 0.01}},
        "gse": {"budget": 60},
        "epsilon-best-fixed-budget": {"budget": 100},
    }.get(name, {})
    pareto = "pareto" in goals and "best" not in goals
    if pareto:
        budget = {"budget": 400} if name == "gege-fixed-budget" else {}
        campaign = trade(path, strategy=name, per_round=400, max_replicates=100, **budget)
    else:
        campaign = make(path, strategy=name, goal=goals[0], **wide, **own)
    with campaign:
        for _ in range(4):
            if campaign.plan() is None:
                break
            campaign.record(several_answers(campaign) if pareto else answers(campaign), close=True)
            reasons = campaign.reasons()
            for compound in range(9):
                reasoning = reasons.of(compound)
                assert reasoning.heading
                assert reasoning.why.endswith(".")
                assert "nan" not in f"{reasoning.why} {reasoning.decide}"
                assert "inf " not in f"{reasoning.why} {reasoning.decide}"
                assert bool(reasoning.open) == (reasoning.heading == "Why undecided")


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


def test_a_bound_that_a_walk_had_once_stays() -> None:
    """Passing a limit at any look decides, so the bound told is the best one of all looks."""
    steps = Steps(np.array([[3.0], [0.0]]), np.array([[1.0], [1.0]]), np.array([False]))
    assert _lower(steps, np.array([2.0, 2.0])) == pytest.approx([1.0])  # after the second it would be 1.5 - sqrt(2)
    silent = Steps(np.array([[0.0], [4.0]]), np.array([[0.0], [2.0]]), np.array([False]))
    assert _lower(silent, np.array([2.0, 9.0])) == pytest.approx([3.0])  # a phase that says nothing is no look


def test_how_many_more_follows_from_the_half_widths() -> None:
    between: Any = SimpleNamespace(phase=None)
    assert more_measurements(between, 0.4, 0.2, 100.0, pooled=True) == 300
    assert more_measurements(between, 0.4, 0.2, 100.0, pooled=False) == 400
    assert more_measurements(between, 0.4, 0.1, 100.0, pooled=False) == 400 + 1600
    under_way: Any = SimpleNamespace(phase=SimpleNamespace(outstanding=90, total=400))
    assert more_measurements(under_way, 0.4, 0.2, 100.0, pooled=False) == 90
    assert more_measurements(under_way, 0.4, 0.1, 100.0, pooled=False) == 90 + 1600
