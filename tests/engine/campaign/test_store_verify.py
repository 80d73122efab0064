"""Nothing in a campaign file can be changed without ``verify`` naming it, and no damaged file is opened."""

import random
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing, suppress
from pathlib import Path
from typing import Any

import pytest

from assaypilot.engine.campaign.file.store import Draft, Store, Verification, as_parts, part_digest, verify
from assaypilot.engine.errors import AssayPilotError
from tests.engine.campaign.rechained import without_triggers

BLOBS = (b"the library " * 400, b"estimates of phase 1", b"")
COLUMNS = ("time", "author", "kind", "version", "data", "digest")
N_EVENTS = 6


@pytest.fixture
def path(tmp_path: Path) -> Path:
    path = tmp_path / "x.assaypilot"
    with Store.create(path, [Draft("campaign_created", {"name": "µ"})], author="Ada") as store:
        store.append([Draft("library_added", {"parts": {"library": part_digest(BLOBS[0])}})], as_parts(BLOBS[0]))
        store.append([Draft("round_issued", {"round": 1, "rows": [["CPD-1", 2]] * 300}), Draft("note", {"text": "x"})])
        store.append([Draft("phase_decided", {"part": part_digest(BLOBS[1])}, version=2)], as_parts(BLOBS[1]))
        store.append([Draft("note", {"part": part_digest(BLOBS[2])})], as_parts(BLOBS[2]))
    assert verify(path).ok
    return path


@pytest.fixture
def head(path: Path) -> str:
    return verify(path).head


def tamper(path: Path, *statements: str | tuple[str, tuple[Any, ...]]) -> None:
    """Changes single rows."""
    with without_triggers(path) as connection:
        for statement in statements:
            sql, values = (statement, ()) if isinstance(statement, str) else statement
            assert connection.execute(sql, values).rowcount == 1


def restored(path: Path) -> Callable[[], None]:
    before = path.read_bytes()

    def restore() -> None:
        path.write_bytes(before)

    return restore


def texts(result: Verification) -> str:
    return "; ".join(problem.text for problem in result.problems)


def refused(path: Path) -> str:
    with pytest.raises(AssayPilotError) as caught:
        Store.open(path).close()
    with closing(sqlite3.connect(path, isolation_level=None, timeout=0)) as connection:
        connection.execute("BEGIN EXCLUSIVE")  # a refusal keeps no lock, even while its traceback lives
    assert "damaged" in caught.value.message
    assert "assaypilot verify" in str(caught.value)
    return str(caught.value)


@pytest.mark.parametrize("table", ["event", "library_part"])
def test_the_file_itself_refuses_changes(path: Path, table: str) -> None:
    key = {"event": "sequence", "library_part": "sha256"}[table]
    before = path.read_bytes()
    with closing(sqlite3.connect(path)) as connection:
        columns = [row[1] for row in connection.execute(f"PRAGMA table_info({table})")]
        values = connection.execute(f"SELECT * FROM {table} LIMIT 1").fetchone()
        for sql, bound in [
            *((f"UPDATE {table} SET {column} = {column}", ()) for column in columns),
            (f"DELETE FROM {table}", ()),
            (f"DELETE FROM {table} WHERE {key} = (SELECT max({key}) FROM {table})", ()),
            (f"INSERT OR REPLACE INTO {table} VALUES ({','.join('?' * len(values))})", values),
            (f"INSERT INTO {table} SELECT * FROM {table} WHERE true ON CONFLICT DO UPDATE SET {key} = {key}", ()),
        ]:
            with pytest.raises(sqlite3.IntegrityError, match="never changed"):
                connection.execute(sql, bound)
            connection.rollback()
    assert path.read_bytes() == before


def flipped(value: Any) -> Iterator[Any]:
    """Every value one byte away that is worth a try, of the same type."""
    if isinstance(value, int):
        yield value + 1
        return
    raw = value.encode() if isinstance(value, str) else value
    for place in {0, len(raw) // 2, len(raw) - 1} if raw else ():
        changed = raw[:place] + bytes([raw[place] ^ 1]) + raw[place + 1 :]
        yield changed.decode() if isinstance(value, str) else changed
    if isinstance(value, str):
        yield raw + b"\xff"  # not UTF-8, stored as a blob here
        yield raw  # the same bytes as another type
    else:
        yield raw + b" "  # the same JSON in other bytes
        yield raw.decode()


@pytest.mark.parametrize(
    "number",
    [pytest.param(n, marks=() if n in (1, 3, N_EVENTS) else pytest.mark.slow) for n in range(1, N_EVENTS + 1)],
)
@pytest.mark.parametrize("column", COLUMNS)
def test_a_change_in_any_event_is_named(path: Path, number: int, column: str) -> None:
    restore = restored(path)
    with closing(sqlite3.connect(path)) as connection:
        value = connection.execute(f"SELECT {column} FROM event WHERE sequence = ?", (number,)).fetchone()[0]
    tried = 0
    for changed in flipped(value):
        tamper(path, (f"UPDATE event SET {column} = ? WHERE sequence = ?", (changed, number)))
        result = verify(path)
        assert not result.ok
        blamed = {problem.event for problem in result.problems if f"event {number}" in problem.text}
        assert number in blamed, (changed, texts(result))
        accused = {problem.event for problem in result.problems if "digest does not match" in problem.text}
        assert accused <= {number}, f"only the changed event is blamed: {texts(result)}"
        assert f"event {number}" in refused(path)
        restore()
        tried += 1
    assert tried >= (1 if column == "version" else 3)


@pytest.mark.parametrize("number", range(1, N_EVENTS + 1))
def test_a_moved_or_deleted_event_is_named(path: Path, number: int, head: str) -> None:
    restore = restored(path)
    tamper(path, f"DELETE FROM event WHERE sequence = {number}")
    result = verify(path)
    assert f"event {number} is missing" in texts(result)
    assert "digest does not match" not in texts(result)
    assert f"event {number} is missing" in refused(path)
    for other in (99, -5, 2**62):
        restore()
        tamper(path, f"UPDATE event SET sequence = {other} WHERE sequence = {number}")
        assert f"event {number} is missing" in texts(verify(path)) or f"events {number} to" in texts(verify(path))
        refused(path)
    restore()
    assert verify(path, expected_head=head).ok


def test_events_put_in_or_exchanged_are_named(path: Path) -> None:
    restore = restored(path)
    with closing(sqlite3.connect(path)) as connection:
        rows = connection.execute("SELECT * FROM event ORDER BY sequence").fetchall()
    tamper(path, ("INSERT INTO event VALUES (?,?,?,?,?,?,?)", (N_EVENTS + 1, *rows[-1][1:])))
    assert f"event {N_EVENTS + 1} (note) was changed" in texts(verify(path))
    refused(path)
    restore()
    for number, row in ((3, rows[3]), (4, rows[2])):
        tamper(path, f"DELETE FROM event WHERE sequence = {number}")
        tamper(path, ("INSERT INTO event VALUES (?,?,?,?,?,?,?)", (number, *row[1:])))
    assert {problem.event for problem in verify(path).problems} == {3, 4, 5}
    refused(path)


@pytest.mark.parametrize("blob", BLOBS)
def test_a_change_in_any_part_is_named(path: Path, blob: bytes) -> None:
    restore = restored(path)
    digest, event = part_digest(blob), {0: 2, 1: 5, 2: 6}[BLOBS.index(blob)]
    for changed in (*flipped(blob), blob + b"\0"):
        if changed == "":
            continue
        tamper(path, ("UPDATE library_part SET blob = ? WHERE sha256 = ?", (changed, digest)))
        result = verify(path)
        assert [problem.event for problem in result.problems] == [event], texts(result)
        assert digest[:12] in texts(result)
        with Store.open(path) as store, pytest.raises(AssayPilotError, match="was changed after it was written"):
            store.part(digest)
        restore()
    for changed in flipped(digest):
        tamper(path, ("UPDATE library_part SET sha256 = ? WHERE sha256 = ?", (changed, digest)))
        assert f"part {digest[:12]} (named by event {event}) is missing" in texts(verify(path))
        restore()
    tamper(path, ("DELETE FROM library_part WHERE sha256 = ?", (digest,)))
    assert f"part {digest[:12]} (named by event {event}) is missing" in texts(verify(path))
    with Store.open(path) as store, pytest.raises(AssayPilotError, match="is missing"):
        store.part(digest)


def test_a_part_no_one_names_is_named(path: Path) -> None:
    tamper(path, ("INSERT INTO library_part VALUES (?, ?)", (part_digest(b"stowaway"), b"stowaway")))
    assert texts(verify(path)) == f"part {part_digest(b'stowaway')[:12]} is named by no event"


def test_the_last_event_deleted_is_noticed(path: Path, head: str) -> None:
    tamper(path, f"DELETE FROM event WHERE sequence = {N_EVENTS}")
    assert f"event {N_EVENTS} is missing: deleted from the end" in texts(verify(path)), "the file itself remembers"
    assert f"event {N_EVENTS} is missing" in refused(path)
    # Somebody who knows the format resets the memory and removes the part: then only the head tells.
    tamper(path, f"UPDATE sqlite_sequence SET seq = {N_EVENTS - 1}", "DELETE FROM library_part WHERE blob = x''")
    assert verify(path).ok
    assert "expected head" in texts(verify(path, expected_head=head))
    assert f"event {N_EVENTS} is missing: {N_EVENTS} were expected" in texts(verify(path, expected_events=N_EVENTS))
    both = verify(path, expected_head=head, expected_events=N_EVENTS)
    assert f"expected head {head[:16]} at event {N_EVENTS}" in texts(both)
    with Store.open(path) as store:  # and something else takes its number
        store.append([Draft("note", {})])
    assert "expected head" in texts(verify(path, expected_head=head, expected_events=N_EVENTS))


def test_a_file_that_grew_still_has_its_old_head(path: Path, head: str) -> None:
    with Store.open(path) as store:
        store.append([Draft("note", {})])
    for wanted in (head, head[:12], f" {head.upper()} "):
        assert verify(path, expected_head=wanted, expected_events=N_EVENTS).ok
        assert verify(path, expected_head=wanted).ok
    assert not verify(path, expected_head=head, expected_events=N_EVENTS + 1).ok
    assert not verify(path, expected_head=head[:7]).ok
    assert not verify(path, expected_head="").ok


def test_an_emptied_history_is_named(path: Path) -> None:
    with without_triggers(path) as connection:
        connection.execute("DELETE FROM event")
        connection.execute("DELETE FROM library_part")
        connection.execute("UPDATE sqlite_sequence SET seq = 0")
    assert "the history is empty" in texts(verify(path))
    assert "event 1 is missing" in refused(path)


@pytest.mark.parametrize("mark", ["seq = 99", "seq = 2", "seq = 'x'", "seq = NULL", "name = 'y'"])
def test_the_memory_of_the_highest_number_is_checked(path: Path, mark: str) -> None:
    tamper(path, f"UPDATE sqlite_sequence SET {mark}")
    assert not verify(path).ok
    refused(path)


@pytest.mark.parametrize(
    ("sql", "words"),
    [
        ("CREATE TRIGGER spy AFTER INSERT ON event BEGIN SELECT 1; END", "foreign trigger 'spy'"),
        ("CREATE TABLE extra (x)", "foreign table 'extra'"),
        ("CREATE VIEW look AS SELECT 1", "foreign view 'look'"),
        ("CREATE INDEX fast ON event (time)", "foreign index 'fast'"),
        ("CREATE VIRTUAL TABLE words USING fts5(x)", "foreign table 'words'"),
        ("DROP TRIGGER event_no_delete", "trigger 'event_no_delete' is missing"),
        ("ALTER TABLE event ADD COLUMN extra", "table 'event' is not as AssayPilot writes it"),
        ("ANALYZE", "foreign table 'sqlite_stat1'"),
    ],
)
def test_a_foreign_schema_is_named_and_refused(path: Path, sql: str, words: str) -> None:
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        try:
            connection.execute(sql)
        except sqlite3.OperationalError as error:  # pragma: no cover
            if "no such module" in str(error):
                pytest.skip("this SQLite has no full-text search")
            raise
    assert words in texts(verify(path))
    assert words in refused(path) or "foreign table" in refused(path)


def test_data_that_are_digested_but_no_json_are_named(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Somebody writes a file with the right digests but data no AssayPilot writes."""
    restore = restored(path)
    for raw, words in {
        b'{"a":NaN}': "larger than any",
        b'{"a":-Infinity}': "larger than any",
        b'{"a":1e999}': "larger than any",
        b'{"a":1e151}': "larger than any",
        b'{"a":' + b"9" * 60 + b"}": "too many digits",
        b"[" * 200_000: "nested too deeply",
        b"[1]": "not a JSON object",
        b"{": "cannot be read",
        b'{"a":"\xff"}': "cannot be read",
        b'{"part":"x"}': "is not the digest of a part",
        b'{"parts":7}': "neither a list nor an object",
    }.items():
        with monkeypatch.context() as patch:
            patch.setattr("assaypilot.engine.campaign.file.chain.encode", lambda draft, raw=raw: raw)
            patch.setattr("assaypilot.engine.campaign.file.chain.decode", lambda raw: {})
            with Store.open(path) as store:
                store.append([Draft("note", {})])
        result = verify(path)
        assert [problem.event for problem in result.problems] == [N_EVENTS + 1]
        assert words in texts(result)
        with Store.open(path) as store:
            if "part" in words or "neither" in words:
                assert store.events()[-1].sequence == N_EVENTS + 1
            else:
                with pytest.raises(AssayPilotError, match=f"the data of event {N_EVENTS + 1} cannot be read"):
                    store.events()
        restore()


def test_a_file_put_in_its_place_while_open_is_noticed(path: Path, tmp_path: Path) -> None:
    with Store.open(path, read_only=True) as reader:
        tamper(
            path,
            f"DELETE FROM event WHERE sequence = {N_EVENTS}",
            f"UPDATE sqlite_sequence SET seq = {N_EVENTS - 1}",
        )
        for after in (0, N_EVENTS - 1, N_EVENTS):
            with pytest.raises(AssayPilotError, match=f"event {N_EVENTS} is missing"):
                reader.events(after)
        with Store.open(path) as store:
            store.append([Draft("note", {"another": "history"})])
        for after in (0, N_EVENTS - 1, N_EVENTS):
            with pytest.raises(AssayPilotError, match=f"event {N_EVENTS} is not the one that was read before"):
                reader.events(after)


def contents(path: Path) -> tuple[Any, ...]:
    with Store.open(path, read_only=True) as store:
        return store.events(), [store.part(part_digest(blob)) for blob in BLOBS]


def test_any_byte_of_the_file(path: Path) -> None:
    """One byte anywhere: the file is refused or verify is not content, or nothing that was written has changed."""
    raw, intact = path.read_bytes(), contents(path)
    draw = random.Random(1120)
    noticed = 0
    header = range(16, 100)  # SQLite complains of these in ways of its own
    places = [*header, *draw.sample(range(100, len(raw)), 400)]
    for place in places:
        damaged = bytearray(raw)
        damaged[place] ^= 1 << draw.randrange(8)
        path.write_bytes(damaged)
        try:
            result = verify(path)
        except AssayPilotError:
            noticed += 1
            continue
        if not result.ok:
            noticed += 1
            with suppress(AssayPilotError):
                Store.open(path).close()
        else:
            assert contents(path) == intact, place
    assert noticed > len(places) * sum(map(len, BLOBS)) / len(raw) / 2
