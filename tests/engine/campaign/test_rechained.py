"""An event that was changed and chained again is refused in plain words, or taken; it never ends in a traceback."""

import contextlib
import json
import struct
import zlib

import pytest

from assaypilot.engine.campaign import verifying
from assaypilot.engine.campaign.campaign import Campaign
from assaypilot.engine.campaign.verifying import verify
from assaypilot.engine.domain.library import Library, Site
from assaypilot.engine.errors import AssayPilotError
from tests.engine.campaign.making import answers, decide_phase, make
from tests.engine.campaign.rechained import GONE, changed, rewrite, rows_of, some


@pytest.fixture(scope="module")
def written(tmp_path_factory):
    path = tmp_path_factory.mktemp("rechained") / "a.assaypilot"
    with make(path) as campaign:
        decide_phase(campaign)
        campaign.plan()
        campaign.record(answers(campaign)[:3])
    return path, rows_of(path)


def shown(path):
    with Campaign.open(path, read_only=True) as campaign:
        return campaign.status(), campaign.history()


@pytest.mark.parametrize(
    ("kind", "where", "value"),
    [
        ("round_closed", ("asked",), "x"),
        ("round_closed", ("missing",), GONE),
        ("library_added", ("sites", 0), {"a": 1}),
        ("library_added", ("compounds",), {}),
        ("library_added", ("source",), "９"),
        ("phase_planned", ("counts", 0), 10**30),
        ("phase_decided", ("numbers",), []),
    ],
)
def test_impossible_event_is_refused_and_named_by_verify(tmp_path, written, kind, where, value):
    source, rows = written
    place = next(place for place, row in enumerate(rows) if row[3] == kind)
    path = tmp_path / "b.assaypilot"
    rewrite(source, path, changed(rows, place, where, value))
    with pytest.raises(AssayPilotError, match="do not fit together"):
        shown(path)
    assert not verify(path).ok


def test_deep_part_is_no_library():
    text = b'{"sites":' + b"[" * 200_000
    raw = struct.pack("<Q", len(text)) + text
    magic = Library.product([Site("R1", ("A", "B"))]).encode().partition(b"\n")[0] + b"\n"
    with pytest.raises(ValueError, match="nested too deeply"):
        Library.decode(magic + zlib.compress(raw))


@pytest.mark.full
@pytest.mark.parametrize("block", range(40))
def test_any_changed_event_is_refused_or_taken(tmp_path, written, block):
    source, rows = written
    for seed in range(50 * block, 50 * block + 50):
        path = tmp_path / f"{seed}.assaypilot"
        rewrite(source, path, changed(rows, *some(rows, seed)))
        with contextlib.suppress(AssayPilotError):
            shown(path)
        verify(path, recompute=True)


def test_rewriting_nothing_leaves_a_whole_file(tmp_path, written):
    source, rows = written
    path = tmp_path / "b.assaypilot"
    rewrite(source, path, rows)
    assert rows_of(path) == rows
    assert verify(path).ok
    assert json.loads(rows[0][5])["name"] == "a"


def first(rows, kind):
    return next(place for place, row in enumerate(rows) if row[3] == kind)


@pytest.mark.parametrize(
    ("kind", "where", "value"),
    [("results_recorded", ("measurements", 0, "value"), 9.9), ("phase_decided", ("radius",), 0.25)],
)
def test_changed_value_or_radius_with_fitting_digests_is_found(tmp_path, written, kind, where, value):
    source, rows = written
    path = tmp_path / "b.assaypilot"
    rewrite(source, path, changed(rows, first(rows, kind), where, value))
    assert "the facts give another decision" in "; ".join(problem.text for problem in verify(path).problems)
    assert verify(path, recompute=False).ok


def test_changed_author_is_found_by_a_noted_head_only(tmp_path, written):
    source, rows = written
    path = tmp_path / "b.assaypilot"
    rewrite(source, path, [(*row[:2], "Somebody Else", *row[3:]) for row in rows])
    assert verify(path).ok
    assert not verify(path, expected_head=rows[-1][6]).ok


def test_decisions_are_made_again_only_while_that_takes_seconds(monkeypatch, written):
    path, _ = written
    assert verify(path).recomputed
    monkeypatch.setattr(verifying, "_SECONDS", -1.0)
    assert not verify(path).recomputed
    assert verify(path, recompute=True).recomputed
