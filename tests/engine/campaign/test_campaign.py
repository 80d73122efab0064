"""The commands of a campaign: the whole journey, one transaction each, refusals that change nothing."""

import itertools
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from assaypilot.engine.campaign import verifying
from assaypilot.engine.campaign.campaign import Campaign
from assaypilot.engine.campaign.issued_rounds import Source
from assaypilot.engine.campaign.state import STATUSES
from assaypilot.engine.domain.endpoint import Endpoint
from assaypilot.engine.domain.goals import AllEpsilonBest
from assaypilot.engine.domain.library import Library
from assaypilot.engine.domain.measurements import Result
from assaypilot.engine.errors import AssayPilotError
from assaypilot.engine.strategies.linfact.linfact import LinFactG
from tests.engine.campaign.making import (
    SETTINGS,
    answers,
    differences,
    finish,
    make,
    replays,
    small_library,
    truth,
)

IN, OUT = STATUSES.index("in"), STATUSES.index("out")


def refused(campaign: Campaign, action: Any, *args: Any, says: str, **options: Any) -> None:
    """A refusal in plain words, after which file and status are what they were."""
    before, content = campaign.status(), campaign.path.read_bytes()
    labels = campaign.undo_label, campaign.redo_label
    with pytest.raises(AssayPilotError, match=says):
        action(*args, **options)
    assert campaign.path.read_bytes() == content
    assert differences(before, campaign.status()) == []
    assert (campaign.undo_label, campaign.redo_label) == labels
    assert differences(before, replays(campaign)) == []


def test_the_whole_journey_replays_at_every_step(path: Path) -> None:
    with make(path, per_round=40, max_replicates=8) as campaign:
        replays(campaign)
        for _ in itertools.takewhile(lambda _: campaign.plan() is not None, itertools.count()):
            now = replays(campaign)
            assert now.open_round is not None
            results = answers(campaign)
            report = campaign.record(results[:1])
            assert (report.accepted, report.round_closed) == (1, len(results) == 1)
            replays(campaign)
            if len(results) > 1:
                assert campaign.record(results[1:]).round_closed
            replays(campaign)
        now = replays(campaign)
        assert now.finished
        assert now.open_round is None
        goal = AllEpsilonBest(SETTINGS.epsilon, SETTINGS.softness)
        assert goal.is_right(now.candidates.status == IN, truth(now.library))
        assert set(np.unique(now.candidates.status)) <= {IN, OUT}
        assert sum(now.counts.values()) == len(now.library)
        assert all((now.candidates.decided_in_round > 0).tolist())
        assert now.measurements_used == sum(issued.measurements for issued in now.rounds)
        log = campaign.history()
        assert [entry.sequence for entry in log] == list(range(1, now.events + 1))
        assert all(entry.text and "\n" not in entry.text for entry in log)
    assert verifying.verify(path, recompute=True, expected_head=now.head, expected_events=now.events).ok


@pytest.mark.usefixtures("planned_phases")
def test_a_strategy_that_would_decide_otherwise_is_reported_and_changes_nothing(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with make(path) as campaign:
        before = finish(campaign)
    decide = LinFactG.decide

    def timid(self: LinFactG, state: Any, outcome: Any) -> Any:
        decision = decide(self, state, outcome)
        return None if decision is None else type(decision)(
            **{name: getattr(decision, name) for name in decision.__slots__} | {"ins": decision.ins[:0]}
        )  # fmt: skip

    monkeypatch.setattr(LinFactG, "decide", timid)
    with Campaign.open(path) as campaign:
        assert differences(before, campaign.status()) == []
    assert verifying.verify(path, recompute=False).ok
    found = verifying.verify(path, recompute=True)
    assert not found.ok
    assert all("the facts give another decision" in problem.text for problem in found.problems)


def test_refusals(path: Path) -> None:
    with make(path) as campaign:
        refused(campaign, campaign.undo, says="nothing to undo")
        refused(campaign, campaign.redo, says="nothing to redo")
        refused(campaign, campaign.close_round, says="no open round to close")
        refused(campaign, campaign.withdraw_round, says="no open round to withdraw")
        refused(campaign, campaign.record, [], says="no result to record")
        refused(campaign, campaign.record, [Result("R1=A|R2=A", 6.0)], close=True, says="no open round")
        refused(campaign, campaign.round, 1, says="there is no round 1")
        campaign.plan()
        refused(campaign, campaign.record, [Result("nobody", 6.0, row=7)], says="row 7: 'nobody' is not in the library")
        refused(campaign, campaign.record, [Result("R1=A|R2=A", math.nan)], says="not a finite number")
        refused(campaign, campaign.record, [Result("R1=A|R2=A", 6.0, "logD")], says="no endpoint 'logD'")
        refused(
            campaign, campaign.record, [Result("X", 6.0), Result("Y", 6.0)], says=r"none of 2 results could be used"
        )
        results = answers(campaign)
        campaign.record(results[:2], source=Source("plate.csv", "a" * 64))
        refused(
            campaign, campaign.record, results[:2], source=Source("plate.csv", "a" * 64),
            says="plate.csv: these results are in the campaign already",
        )  # fmt: skip
        refused(
            campaign, campaign.record, results[:2], source=Source("copy.csv", "b" * 64),
            says="all 2 results are in the campaign already",
        )  # fmt: skip
        refused(campaign, campaign.withdraw_round, says="round 1 has results, so it cannot be withdrawn. Close it")
        refused(campaign, campaign.exclude, 99, "bubble", judgement=False, says="no measurement number 99")
        refused(campaign, campaign.exclude, 1, "  ", judgement=False, says="a reason is needed")
        refused(campaign, campaign.include, 1, "fine", says="is not excluded")
        refused(campaign, campaign.correct, 1, math.inf, reason="typing error", says="not a finite number")
        refused(campaign, campaign.correct, 1, 5.0, unit="g/mol", reason="unit", says="cannot be converted")
        refused(campaign, campaign.mark_unavailable, ["nobody"], "gone", says="'nobody' is not in the library")
        refused(campaign, campaign.mark_unavailable, ["R1=A|R2=A"], "", says="a reason is needed")
        campaign.undo()
        refused(campaign, campaign.exclude, 1, "bubble", judgement=False, says="left out already")
        refused(campaign, campaign.correct, 1, 5.0, reason="typing error", says="was undone")
        campaign.redo()
        campaign.mark_unavailable(["R1=A|R2=A"], "sold out")
        refused(campaign, campaign.mark_unavailable, ["R1=A|R2=A"], "gone", says="marked as unavailable already")
        campaign.close_round("failed")
        refused(campaign, campaign.close_round, says="round 1 is closed already. Plan the next round first")
        refused(campaign, campaign.undo, says="nothing to undo")


def test_a_second_window_reads_and_does_not_write(path: Path, tmp_path: Path) -> None:
    with make(path) as campaign, Campaign.open(path) as second:
        assert not campaign.read_only
        assert second.read_only
        assert second.read_only_reason is not None
        refused(second, second.plan, says="cannot be changed here: open in another window")
        campaign.plan()
        second.refresh()
        assert differences(campaign.status(), second.status()) == []
        second.save_copy(tmp_path / "copy.assaypilot")
        with Campaign.open(tmp_path / "copy.assaypilot") as copy:
            assert not copy.read_only
            assert differences(campaign.status(), copy.status()) == []
    with pytest.raises(AssayPilotError):
        Campaign.open(path).save_copy(path)


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        ({"endpoints": [Endpoint("pIC50")]}, "the assay noise .SD. of pIC50 is not known"),
        ({"strategy": "linfact"}, "no strategy 'linfact'. Did you mean linfact-g"),
        ({"library": Library.listed(["R1"], [["H"]])}, "at least two compounds, got 1"),
        ({"library": small_library(measurable=[False] * 9)}, "no compound can be measured"),
        ({"history": [Result("nobody", 6.0, row=3)]}, "row 3: 'nobody' is not in the library"),
    ],
)
def test_what_cannot_be_a_campaign_leaves_no_file(path: Path, changes: dict[str, Any], says: str) -> None:
    with pytest.raises(AssayPilotError, match=says):
        make(path, **changes)
    assert list(path.parent.iterdir()) == []


def test_a_round_is_withdrawn_only_without_results_and_its_number_is_spent(path: Path) -> None:
    with make(path) as campaign:
        first = campaign.plan()
        campaign.withdraw_round("the robot is broken")
        assert campaign.status().open_round is None
        assert [issued.state for issued in campaign.status().rounds] == ["withdrawn"]
        second = campaign.plan()
        assert (second.number, second.phase) == (2, 1)
        assert second.items == first.items, "the order of a phase is fixed when it starts"
        assert "(the robot is broken)" in campaign.history()[-2].text
        replays(campaign)


def test_undo_and_redo_walk_through_everything(path: Path) -> None:
    with make(path) as campaign:
        campaign.plan()
        results = answers(campaign)
        campaign.record(results[:3])
        campaign.record([Result("R1=C|R2=C", 4.4)])
        campaign.exclude(1, "bubble", judgement=True)
        campaign.include(1, "it was none")
        campaign.correct(2, 5.5, reason="typing error")
        campaign.correct(2, 5.6, relation="<", reason="and again")
        campaign.mark_unavailable(["R1=C|R2=C"], "sold out")
        states = [campaign.status()]
        labels = []
        while campaign.undo_label and campaign.undo_label != "Plan round 1":
            labels.append(campaign.undo())
            states.append(replays(campaign))
        assert labels == [
            "Mark as unavailable", "Correct a value", "Correct a value", "Include a value", "Exclude a value",
            "Enter 1 result", "Enter 3 results",
        ]  # fmt: skip
        assert not [m for m in campaign.status().measurements if not m.withdrawn]
        for expected in reversed(states[:-1]):
            assert campaign.redo() == labels.pop()
            assert same_but_for_the_log(expected, replays(campaign))
        assert campaign.redo_label is None


def same_but_for_the_log(one: Any, other: Any) -> bool:
    found = [text for text in differences(one, other) if not text.startswith((".head", ".events"))]
    assert found == []
    return True


@pytest.mark.usefixtures("planned_phases")
def test_recording_what_completes_a_phase_between_rounds_decides_it(path: Path) -> None:
    with make(path, per_round=96, max_replicates=9) as campaign:
        campaign.plan()
        results = answers(campaign)
        campaign.record(results[:-1], close=True)
        assert campaign.status().phases_decided == 0
        report = campaign.record(results[-1:])
        assert (report.unplanned, report.round_closed) == (0, False)
        now = replays(campaign)
        assert now.phases_decided == 1
        assert now.rounds[0].missing == 0


def test_what_comes_for_a_withdrawn_round_is_not_its_own(path: Path) -> None:
    with make(path) as campaign:
        campaign.plan()
        results = answers(campaign)
        campaign.withdraw_round()
        assert campaign.record(results[:3]).unplanned == 0, "the phase still wants them"
        now = replays(campaign)
        assert sum(now.rounds[0].returned) == 0
        campaign.plan()
        campaign.record(answers(campaign)[:1])
        campaign.close_round("return")
        campaign.plan()
        campaign.withdraw_round()
        assert campaign.record(answers(campaign, now.rounds[0])[-1:]).round == 2
        replays(campaign)


def test_noise_from_replicates_is_used_and_reported(tmp_path: Path) -> None:
    history = [Result("R1=A|R2=A", value, "pIC50") for value in (6.0, 6.4)] + [Result("R1=B|R2=A", 7.0, "pIC50")]
    with make(tmp_path / "series.assaypilot", endpoints=(Endpoint("pIC50"),), history=history) as campaign:
        now = campaign.status()
        assert now.endpoints[0].noise_sd == pytest.approx(0.4 / math.sqrt(2))
        said = next(text for text in now.warnings if "0.283, is estimated from the replicates of 1 compound." in text)
        assert said.endswith("the SD may be several times larger. Give your assay's own SD if you can.")
