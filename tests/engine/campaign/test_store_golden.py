"""The stored file of the current version of the format is read and written to the byte.

``python tests/engine/campaign/test_store_golden.py FILE`` writes that file, once for each version.
"""

import shutil
import sys
from pathlib import Path
from unittest import mock

import pytest

from assaypilot.engine.campaign.file import chain as writing
from assaypilot.engine.campaign.file.store import Draft, Store, as_parts, part_digest, verify

GOLDEN = Path(__file__).resolve().parents[2] / "golden" / "campaign_v2.assaypilot"
HEAD = "5c44a0ed0ad69c685c62e49a3bef22f4e0746a54cf382a3bb65cea24c86ea533"
LIBRARY = b"id,R1,R2\nCPD-1,H,Me\nCPD-2,F,Me\nCPD-3,H,Et\n"
ESTIMATES = b'{"mean":[5.1,6.25,4.75]}'
EVENTS = (
    ("2026-11-20T12:00:00.123Z", "campaign_created", 1, {"name": "Grüße, 化合物", "epsilon": 0.5, "seed": 2**100}),
    ("2026-11-20T12:00:00.123Z", "library_added", 2, {"parts": {"library": part_digest(LIBRARY)}, "n": 3}),
    ("2026-11-21T08:30:00.000Z", "round_issued", 1, {"round": 1, "rows": [["CPD-1", 2], ["CPD-2", 1]], "note": None}),
    ("2026-11-24T16:05:59.999Z", "phase_decided", 1, {"part": part_digest(ESTIMATES), "in": ["CPD-2"], "open": False}),
)


def write(path: Path) -> None:
    drafts = [Draft(kind, data, version) for _, kind, version, data in EVENTS]
    with mock.patch.object(writing, "now") as now:
        now.return_value = EVENTS[0][0]
        campaign = Store.create(path, drafts[:2], as_parts(LIBRARY), author="Ada Lovelace")
        now.return_value = EVENTS[2][0]
        campaign.append(drafts[2:3])
        now.return_value = EVENTS[3][0]
        campaign.append(drafts[3:], as_parts(ESTIMATES))
        campaign.close()


@pytest.fixture
def golden(tmp_path: Path) -> Path:
    return Path(shutil.copy(GOLDEN, tmp_path / "x.assaypilot"))


def test_stored_file_is_read(golden: Path) -> None:
    with Store.open(golden) as campaign:
        events = campaign.events()
        assert tuple((event.time, event.kind, event.version, event.data) for event in events) == EVENTS
        assert {event.author for event in events} == {"Ada Lovelace"}
        assert campaign.head == HEAD
        assert campaign.part(part_digest(LIBRARY)) == LIBRARY
        assert campaign.part(part_digest(ESTIMATES)) == ESTIMATES
        assert campaign.append([Draft("note", {})])[0].sequence == 5
    assert verify(golden, expected_head=HEAD, expected_events=4).ok


def test_reading_changes_nothing(golden: Path) -> None:
    with Store.open(golden, read_only=True) as reader:
        assert reader.n_events == 4
    Store.open(golden).close()
    assert golden.read_bytes() == GOLDEN.read_bytes()


def test_same_events_give_the_stored_digests(tmp_path: Path) -> None:
    write(tmp_path / "x.assaypilot")
    assert verify(tmp_path / "x.assaypilot").head == HEAD


if __name__ == "__main__":
    write(Path(sys.argv[1]))
    print(verify(sys.argv[1]))
