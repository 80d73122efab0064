"""The store on its own: what is written comes back, what must not be written is refused, copies are whole."""

import hashlib
import json
import os
import sqlite3
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assaypilot.engine.campaign.file import chain as writing
from assaypilot.engine.campaign.file import schema
from assaypilot.engine.campaign.file import store as store_module
from assaypilot.engine.campaign.file.store import (
    Draft,
    Store,
    as_parts,
    location_warnings,
    part_digest,
    verify,
)
from assaypilot.engine.errors import AssayPilotError

LIBRARY = b"id,R1,R2\nCPD-1,H,Me\n" * 50
CREATED = Draft("campaign_created", {"name": "tropanes", "seed": 7})
ADDED = Draft("library_added", {"parts": {"library": part_digest(LIBRARY)}}, version=2)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "a café #1?%41.assaypilot"


@pytest.fixture
def store(path: Path):
    with Store.create(path, [CREATED, ADDED], as_parts(LIBRARY), author="Marie Curie") as store:
        yield store


def refusal(action: Any, *args: Any, **options: Any) -> AssayPilotError:
    with pytest.raises(AssayPilotError) as caught:
        action(*args, **options)
    assert caught.value.mend, "a refusal says what to do"
    assert "\n" not in str(caught.value)
    return caught.value


def test_a_new_file_holds_its_events_and_parts(path: Path, store: Store) -> None:
    first, second = store.events()
    assert (first.sequence, first.kind, first.version, first.author) == (1, "campaign_created", 1, "Marie Curie")
    assert (second.sequence, second.kind, second.version) == (2, "library_added", 2)
    assert first.data == CREATED.data
    assert second.data == ADDED.data
    assert store.part(part_digest(LIBRARY)) == LIBRARY
    assert (store.n_events, store.head) == (2, second.digest)
    assert not store.read_only
    assert store.read_only_reason is None
    assert os.listdir(path.parent) == [path.name], "neither temporary files nor journals stay behind"


def test_digest_follows_its_description(store: Store) -> None:
    """An independent derivation of the chain, from the description in the chain module alone."""
    connection = sqlite3.connect(store.path)
    rows = connection.execute("SELECT * FROM event ORDER BY sequence").fetchall()
    connection.close()
    assert len(rows) == 2
    before = bytes(32)
    for sequence, time, author, kind, version, data, digest in rows:
        message = before
        for field in (str(sequence).encode(), time.encode(), author.encode(), kind.encode(), b"%d" % version, data):
            message += len(field).to_bytes(8, "big") + field
        before = hashlib.sha256(message).digest()
        assert digest == before.hex()


def test_appended_events_come_back(store: Store) -> None:
    written = store.append([Draft("a", {"x": 1}), Draft("b", {"y": (1, 2)})])
    assert [event.sequence for event in written] == [3, 4]
    assert written == store.events(after=2)
    assert written[1].data == {"y": [1, 2]}, "what append returns is what a reader will read"
    assert store.events(after=4) == ()
    assert store.head == written[-1].digest
    with Store.open(store.path, read_only=True) as reader:
        assert reader.events() == store.events()
        assert (reader.head, reader.n_events) == (store.head, 4)


JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-(10**39), 10**39) | st.floats(-1e150, 1e150)
    | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=20,
)  # fmt: skip
OBJECTS = st.dictionaries(st.text().filter(lambda key: key not in ("part", "parts")), JSON, max_size=5)


def test_any_json_survives(tmp_path: Path) -> None:
    with Store.create(tmp_path / "x.assaypilot", [CREATED]) as store:

        @given(st.lists(OBJECTS, min_size=1, max_size=3), st.text(max_size=300))
        def round_trip(objects: list[dict[str, Any]], author: str) -> None:
            store.author = writing.clean(author)
            written = store.append([Draft("fact", data) for data in objects])
            read = store.events(after=written[0].sequence - 1)
            assert read == written
            assert [repr(event.data) for event in read] == [repr(data) for data in objects]  # repr tells 1, 1.0, True

        round_trip()
        count, head = store.n_events, store.head
    with Store.open(store.path) as again:
        assert (again.n_events, again.head) == (count, head)
    assert verify(store.path).ok


@pytest.mark.parametrize(
    ("value", "words"),
    [
        (float("nan"), "not JSON compliant"),
        (float("inf"), "not JSON compliant"),
        ({1: 2}, "key 1 is not text"),
        ({"a"}, "set cannot be written"),
        (b"x", "bytes cannot be written"),
        (10**40, "int cannot be written"),
        (object(), "object cannot be written"),
    ],
)
def test_what_is_not_json_is_a_bug_of_ours(store: Store, value: Any, words: str) -> None:
    with pytest.raises(ValueError, match=words):
        store.append([Draft("fine", {}), Draft("fact", {"deep": [{"value": value}]})])
    assert store.n_events == len(store.events()) == 2


def test_parts_and_the_events_that_name_them_go_together(store: Store) -> None:
    blob = b"estimates"
    with pytest.raises(ValueError, match="not the bytes of that digest"):
        store.append([Draft("decided", {"part": part_digest(blob)})], {part_digest(blob): b"other"})
    with pytest.raises(ValueError, match="no event names the part"):
        store.append([Draft("decided", {})], as_parts(blob))
    with pytest.raises(ValueError, match="neither given nor in the file"):
        store.append([Draft("decided", {"part": part_digest(blob)})])
    with pytest.raises(ValueError, match="is not the digest of a part"):
        store.append([Draft("decided", {"parts": ["abc"]})])
    with pytest.raises(ValueError, match="neither a list nor an object"):
        store.append([Draft("decided", {"parts": "abc"})])
    assert store.n_events == len(store.events()) == 2
    store.append([Draft("decided", {"part": part_digest(blob)})], as_parts(blob))
    store.append([Draft("decided", {"parts": [part_digest(LIBRARY), part_digest(blob)]})], as_parts(LIBRARY))
    assert store.part(part_digest(blob)) == blob
    assert verify(store.path).ok
    assert "part ffffffffffff is missing" in str(refusal(store.part, "f" * 64))


def test_sizes_are_capped(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("assaypilot.engine.campaign.file.chain.MAX_EVENT_BYTES", 1000)
    assert "more than one step of a campaign can hold" in str(refusal(store.append, [Draft("x", {"a": "b" * 1000})]))
    blob = bytes(2000)
    monkeypatch.setattr(schema, "MAX_PART_BYTES", 1999)
    assert "larger than a campaign can hold" in str(
        refusal(store.append, [Draft("x", {"part": part_digest(blob)})], as_parts(blob))
    )
    monkeypatch.setattr(schema, "MAX_EVENTS", 3)
    store.append([Draft("x", {})])
    assert "history of this campaign is full" in str(refusal(store.append, [Draft("x", {})]))
    assert store.n_events == len(store.events()) == 3


def test_the_author_is_the_user_unless_given(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("getpass.getuser", lambda: "rosalind")
    with Store.create(path, [CREATED]) as store:
        assert store.events()[0].author == "rosalind"

    def nobody() -> str:
        raise KeyError("no such user")

    monkeypatch.setattr("getpass.getuser", nobody)
    with Store.open(path) as store:
        assert store.append([CREATED])[0].author == "unknown"


def test_what_is_no_campaign_is_refused(tmp_path: Path) -> None:
    other = sqlite3.connect(tmp_path / "other.db")
    other.execute("CREATE TABLE t (x)")
    other.close()
    (tmp_path / "table.csv").write_text("ID,R1\nA,H\n" * 100)
    (tmp_path / "empty.assaypilot").touch()
    cases = {
        "other.db": "not an AssayPilot campaign",
        "table.csv": "not an AssayPilot campaign",
        "empty.assaypilot": "is empty",
        "missing.assaypilot": "no such file",
        "table.csv/under.assaypilot": "no such file",
        ".": "is a folder",
    }
    if hasattr(os, "mkfifo"):
        os.mkfifo(tmp_path / "pipe")
        cases["pipe"] = "not an AssayPilot campaign"
    for name, words in cases.items():
        for action in (Store.open, verify):
            error = refusal(action, tmp_path / name)
            assert words in str(error)
            assert error.file == str(tmp_path / name)
    before = sorted(file.name for file in tmp_path.iterdir())
    assert before == sorted({name for name in cases if "/" not in name} - {".", "missing.assaypilot"})


@pytest.mark.parametrize(("version", "age"), [(schema.FORMAT + 1, "a newer"), (schema.FORMAT - 1, "an older")])
def test_file_of_another_version_is_refused_and_left_alone(store: Store, version: int, age: str) -> None:
    store.close()
    other = sqlite3.connect(store.path)
    other.execute(f"PRAGMA user_version = {version}")
    other.close()
    before = store.path.read_bytes()
    for action in (Store.open, verify):
        assert f"by {age} AssayPilot (file version {version}" in str(refusal(action, store.path))
    assert store.path.read_bytes() == before


def test_creating_never_overwrites(store: Store, tmp_path: Path) -> None:
    before = sorted(os.listdir(tmp_path))
    assert "already a file of this name" in str(refusal(Store.create, store.path, [CREATED]))
    assert "already a file of this name" in str(refusal(Store.create, tmp_path, [CREATED]))
    assert "no such folder" in str(refusal(Store.create, tmp_path / "no" / "x.assaypilot", [CREATED]))
    assert sorted(os.listdir(tmp_path)) == before
    assert store.n_events == len(store.events()) == 2


def test_the_remains_of_another_file_are_not_taken_for_ones_own(path: Path) -> None:
    """A journal left by a file deleted after a crash would be rolled back into the new file."""
    journal = path.with_name(path.name + "-journal")
    journal.write_bytes(b"remains")
    assert "remains of an interrupted save" in str(refusal(Store.create, path, [CREATED]))
    assert os.listdir(path.parent) == [journal.name]


def test_failure_in_the_middle_of_creating_leaves_nothing(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*args: Any) -> None:
        raise RuntimeError("bug")

    monkeypatch.setattr(store_module, "insert", broken)
    with pytest.raises(RuntimeError, match="bug"):
        Store.create(path, [CREATED])
    assert os.listdir(path.parent) == []


def test_a_file_that_moved_is_not_written(store: Store, tmp_path: Path) -> None:
    store.path.rename(tmp_path / "elsewhere")
    assert "moved, deleted or replaced" in str(refusal(store.append, [CREATED]))
    store.path.write_bytes(b"another file")
    assert "moved, deleted or replaced" in str(refusal(store.append, [CREATED]))
    store.path.unlink()
    (tmp_path / "elsewhere").rename(store.path)
    assert store.append([CREATED])[0].sequence == 3


def _shortened(path: Path) -> None:
    path.write_bytes(b"")


def _replaced(path: Path) -> None:
    other = path.with_name("other.assaypilot")
    with Store.create(other, [CREATED]):
        pass
    path.write_bytes(other.read_bytes())


def _older(path: Path) -> None:
    path.write_bytes(path.with_name("older.assaypilot").read_bytes())


def _noise(path: Path) -> None:
    path.write_bytes(bytes(range(256)) * (path.stat().st_size // 256))


@pytest.mark.parametrize("overwrite", [_shortened, _replaced, _older, _noise])
def test_file_overwritten_underneath_is_never_acknowledged(path: Path, overwrite: Any) -> None:
    with Store.create(path, [CREATED]) as store:
        store.save_copy(path.with_name("older.assaypilot"))
        store.append([CREATED])
        overwrite(path)
        there = path.read_bytes()
        error = refusal(store.append, [CREATED])
        assert "overwrote the file" in str(error)
        assert path.read_bytes() == there
        refusal(store.append, [CREATED])


def test_a_commit_that_took_hold_is_reported_as_done(store: Store) -> None:
    class Failing:
        """A connection that fails once, behind the commit or before it."""

        def __init__(self, connection: sqlite3.Connection, behind: bool) -> None:
            self._connection, self._behind, self._armed = connection, behind, True

        def __getattr__(self, name: str) -> Any:
            return getattr(self._connection, name)

        def execute(self, sql: str, *args: Any) -> sqlite3.Cursor:
            if sql != "COMMIT" or not self._armed:
                return self._connection.execute(sql, *args)
            self._armed = False
            if self._behind:
                self._connection.execute(sql)
            error = sqlite3.OperationalError("disk I/O error")
            error.sqlite_errorcode = sqlite3.SQLITE_IOERR
            raise error

    connection = store._connection
    store._connection = Failing(connection, behind=True)  # type: ignore[assignment]
    assert store.append([CREATED])[0].sequence == 3
    store._connection = Failing(connection, behind=False)  # type: ignore[assignment]
    assert "disk reported an error" in str(refusal(store.append, [CREATED]))
    assert store.append([CREATED])[0].sequence == 4
    assert [event.sequence for event in store.events()] == [1, 2, 3, 4]
    assert verify(store.path).ok


def test_a_copy_is_the_same_campaign(store: Store, tmp_path: Path) -> None:
    copy = tmp_path / "copy.assaypilot"
    store.save_copy(copy)
    assert sorted(os.listdir(tmp_path)) == sorted([store.path.name, copy.name])
    with Store.open(copy) as other:
        assert not other.read_only
        assert other.events() == store.events()
        assert other.part(part_digest(LIBRARY)) == LIBRARY
        other.append([CREATED])
    assert verify(copy, expected_head=store.head, expected_events=2).ok
    assert store.append([CREATED])[0].sequence == 3, "copying leaves the writer its lock"
    with Store.open(store.path) as second:
        assert second.read_only
        second.save_copy(tmp_path / "from_reader.assaypilot")
    assert verify(tmp_path / "from_reader.assaypilot").head == store.head


def test_copy_never_overwrites_a_file(store: Store, tmp_path: Path) -> None:
    copy = tmp_path / "copy.assaypilot"
    copy.write_bytes(b"precious")
    assert "already a file" in str(refusal(store.save_copy, copy))
    assert copy.read_bytes() == b"precious"
    assert "already a file" in str(refusal(store.save_copy, store.path))
    assert "no such folder" in str(refusal(store.save_copy, tmp_path / "no" / "x.assaypilot"))
    assert sorted(os.listdir(tmp_path)) == sorted([store.path.name, copy.name])


@pytest.mark.parametrize(
    ("folder", "service"),
    [
        ("OneDrive - Contoso Pharma", "OneDrive"),
        ("Dropbox (Personal)", "Dropbox"),
        ("CloudStorage/GoogleDrive-a@b.org/My Drive", "Google Drive"),
        ("Library/Mobile Documents/com~apple~CloudDocs", "iCloud"),
        ("dropbox_results", None),
        ("plain", None),
    ],
)
def test_synchronised_folders_are_warned_of(tmp_path: Path, folder: str, service: str | None) -> None:
    warnings = location_warnings(tmp_path / folder / "deep" / "x.assaypilot")
    assert len(warnings) == (service is not None)
    assert all(str(service) in warning for warning in warnings)
    if service:
        (tmp_path / folder).mkdir(parents=True)
        try:
            (tmp_path / "link").symlink_to(tmp_path / folder)
        except OSError:
            return  # Windows lets only some make links
        assert len(location_warnings(tmp_path / "link" / "x.assaypilot")) == 1


@pytest.mark.parametrize("name", ["x (Jane's conflicted copy 2026-11-20)", "x.sync-conflict-20261120", "x (conflict)"])
def test_conflicted_copies_are_warned_of(tmp_path: Path, name: str) -> None:
    assert "only one side" in location_warnings(tmp_path / f"{name}.assaypilot")[0]
    assert location_warnings(tmp_path / "conflicting_sites.assaypilot") == ()


def test_the_store_is_light_to_import() -> None:
    code = "import sys, assaypilot.engine.campaign.file.store; print([m for m in sys.modules if m in sys.argv])"
    heavy = ["numpy", "scipy", "pandas", "rdkit", "matplotlib", "PySide6", "asyncio", "multiprocessing"]
    done = subprocess.run(
        [sys.executable, "-c", code, *heavy],
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
        capture_output=True,
        text=True,
        check=True,
    )
    assert json.loads(done.stdout) == []
