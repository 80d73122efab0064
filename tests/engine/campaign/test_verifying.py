"""A campaign file that was touched is named as such, down to the event; decisions are checked against the facts."""

from pathlib import Path
from typing import Any

import pytest

from assaypilot.engine.campaign import verifying
from assaypilot.engine.campaign.campaign import Campaign
from assaypilot.engine.campaign.file.chain import Draft, as_parts
from assaypilot.engine.campaign.file.store import Store
from assaypilot.engine.errors import AssayPilotError
from tests.engine.campaign.making import answers, decide_phase, make

WIDE = {"per_round": 96, "max_replicates": 96, "slack": 0.1}


@pytest.fixture
def path(tmp_path: Path) -> Path:
    path = tmp_path / "x.assaypilot"
    with make(path, **WIDE) as campaign:
        decide_phase(campaign)
        decide_phase(campaign)
    return path


def problems(path: Path, **options: Any) -> str:
    found = verifying.verify(path, **options)
    assert not found.ok
    assert found.problems
    return "; ".join(f"{problem.event}: {problem.text}" for problem in found.problems)


def test_a_whole_file_is_whole(path: Path) -> None:
    with Campaign.open(path) as campaign:
        head, events = campaign.head, campaign.events
    for recompute in (False, True):
        found = verifying.verify(path, recompute=recompute, expected_head=head, expected_events=events)
        assert found.ok
        assert not found.problems
        assert (found.head, found.events) == (head, events)


def appended(path: Path, kind: str, data: dict[str, Any], parts: dict[str, bytes] | None = None) -> int:
    with Store.open(path) as store:
        return store.append([Draft(kind, data)], parts or {})[-1].sequence


@pytest.mark.parametrize(
    ("kind", "data"),
    [
        ("undone", {}),
        ("redone", {"label": "x", "instead": {}}),
        ("measurement_included", {}),
        ("phase_decided", {"phase": 3}),
        ("round_issued", {"round": 3, "phase": 3, "items": [{"colour": "red"}]}),
        ("phase_planned", {"phase": 3, "compounds": [1, 2], "counts": [1], "order": []}),
        ("phase_planned", {"phase": 3, "compounds": [99999], "counts": [1], "order": []}),
        ("measurement_included", {"number": 999, "reason": "r"}),
        ("goal_set", {"settings": {"objective": "pIC50", "epsilon": 0.5}, "strategy": "soothsayer", "why": ""}),
    ],
)
def test_an_event_that_does_not_follow_is_named(path: Path, kind: str, data: dict[str, Any]) -> None:
    place = appended(path, kind, data)
    assert f"{place}: {kind} does not follow from what came before" in problems(path)
    with pytest.raises(AssayPilotError):
        Campaign.open(path)


def test_an_event_of_a_newer_program_is_refused_plainly(path: Path) -> None:
    appended(path, "synthesis_ordered", {})
    with pytest.raises(AssayPilotError, match=r"written by a newer AssayPilot\. Open the file with the version that"):
        Campaign.open(path)
    assert "newer AssayPilot" in problems(path)


def forged(path: Path, tmp_path: Path, kind: str, change: Any) -> tuple[Path, int]:
    """A copy of a campaign with one event rewritten before it was chained: whole, and untrue."""
    out = tmp_path / "forged.assaypilot"
    with Store.open(path, read_only=True) as store:
        events = store.events()
        blobs = [
            store.part(n) for e in events for n in ([e.data["part"]] if e.data.get("part") else e.data.get("parts", []))
        ]
    parts = as_parts(*blobs)
    drafts = []
    place = 0
    for event in events:
        data = dict(event.data)
        if event.kind == kind:
            place = event.sequence
            change(data, parts)
        drafts.append(Draft(event.kind, data, event.version))
    named = {name for draft in drafts for name in [draft.data.get("part"), *draft.data.get("parts", [])]}
    Store.create(out, drafts, {name: blob for name, blob in parts.items() if name in named}).close()
    return out, place


def test_a_decision_that_does_not_follow_from_the_facts_is_named(path: Path, tmp_path: Path) -> None:
    def add(data: dict[str, Any], parts: dict[str, bytes]) -> None:
        worst = 8
        data["in"] = [worst, *(one for one in data["in"] if one != worst)]
        data["out"] = [one for one in data["out"] if one != worst]

    out, _ = forged(path, tmp_path, "phase_decided", add)
    assert verifying.verify(out, recompute=False).ok
    assert "the facts give another decision" in problems(out, recompute=True)


def test_a_decision_without_any_facts_is_named(path: Path, tmp_path: Path) -> None:
    def nothing(data: dict[str, Any], parts: dict[str, bytes]) -> None:
        data["measurements"] = []

    out, _ = forged(path, tmp_path, "results_recorded", nothing)
    assert "the log has a decision, and the facts give none" in problems(out, recompute=True)


def test_an_empty_phase_that_had_results_is_named(path: Path, tmp_path: Path) -> None:
    with Campaign.open(path) as campaign:
        campaign.plan()
        campaign.record(answers(campaign)[:1], close_when_complete=False)
        number = campaign.status().rounds[-1].number
    appended(
        path, "round_closed", {"round": number, "asked": 9, "returned": 1, "missing": "none", "lost": [], "note": ""}
    )
    appended(path, "phase_empty", {"phase": 3, "round": number})
    assert verifying.verify(path, recompute=False).ok
    assert "the facts give a decision, and the log has none" in problems(path, recompute=True)
