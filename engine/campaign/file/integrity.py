"""The full check of a campaign file: everything that could have been changed, named one by one."""

from __future__ import annotations

import hashlib
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path

from . import schema
from .chain import GENESIS, SELECT, decode, gap, part_names, scan
from .disk import plain_errors

_CHUNK = 2**20
_MIN_HEAD = 8
"""Hexadecimal digits of a head, as printed, that are enough to look for it."""


@dataclass(frozen=True, slots=True)
class Problem:
    """One thing that is not as it was written."""

    event: int | None
    """The event it concerns, or None when it concerns the file."""
    text: str


@dataclass(frozen=True, slots=True)
class Verification:
    """The findings of the check of one file."""

    ok: bool
    events: int
    """Sequence of the last event: how many there are when none is missing."""
    head: str
    """Digest of the last event as stored."""
    problems: tuple[Problem, ...]
    recomputed: bool = False
    """Whether every decision was made again and compared."""


def verify(path: Path | str, *, expected_head: str | None = None, expected_events: int | None = None) -> Verification:
    """Return what is wrong with the file: schema, pages, every event, every part, and the head; reads, never writes.

    ``expected_head`` and ``expected_events`` are those printed by an earlier status, verify or export: the file may
    have grown since, but must still contain that history. A head may be given by its first 8 digits or more.
    Raises AssayPilotError when there is no campaign to check (no file, another kind of file, a newer or older version).
    """
    path = Path(path)
    check = _Check()
    with closing(schema.connect(path)) as connection:
        schema.identify(connection, path)
        with plain_errors(path):
            connection.execute("BEGIN")
            connection.execute("SELECT 1 FROM sqlite_schema LIMIT 1").fetchone()  # the lock, or a plain refusal
        with check.pages("the list of tables"):
            check.problems += [Problem(None, text) for text in schema.schema_faults(connection)]
        with check.pages("the file"):
            for (text,) in connection.execute("PRAGMA integrity_check(20)"):
                if text != "ok":
                    check.problems.append(Problem(None, f"the pages of the file are damaged: {text}"))
        with check.pages("the history"):
            check.events(connection)
        with check.pages("the stored parts"):
            check.parts(connection)
    check.expectations(expected_head, expected_events)
    n_events, head = check.chain[-1] if check.chain else (0, GENESIS)
    return Verification(not check.problems, n_events, head, tuple(check.problems))


class _Check:
    """The problems found so far, and what the later steps need of the earlier ones."""

    def __init__(self) -> None:
        self.problems: list[Problem] = []
        self.chain: list[tuple[int, str]] = []
        """Sequence and stored digest of every event read."""
        self._named: dict[str, int] = {}
        """Part to the first event that names it."""

    @contextmanager
    def pages(self, what: str) -> Iterator[None]:
        """Yield a step that SQLite may be unable to finish on damaged pages; the next steps are still taken."""
        try:
            yield
        except (sqlite3.DatabaseError, UnicodeDecodeError) as error:  # the latter: damaged names in SQLite's message
            self.problems.append(Problem(None, f"{what} cannot be read to the end: {error}"))

    def events(self, connection: sqlite3.Connection) -> None:
        """Note every event that is missing, changed or unreadable, and the parts they name."""
        for row, faults in scan(connection.execute(SELECT, (-(2**63),))):
            self.problems += [Problem(row[0], text) for text in faults]
            if 0 < row[0] <= schema.MAX_EVENTS:
                self.chain.append((row[0], row[6] if isinstance(row[6], str) else GENESIS))
            if not isinstance(row[5], bytes):
                continue
            try:
                for name in part_names(decode(row[5])):
                    self._named.setdefault(name, row[0])
            except ValueError as error:
                self.problems.append(Problem(row[0], f"the data of event {row[0]} cannot be read: {error}"))
        last = self.chain[-1][0] if self.chain else 0
        # AUTOINCREMENT remembers the highest number used, whatever was deleted since.
        marks = connection.execute("SELECT seq FROM sqlite_sequence WHERE name = 'event'").fetchall()
        others = connection.execute("SELECT count(*) FROM sqlite_sequence WHERE name <> 'event'").fetchone()[0]
        if not self.chain:
            self.problems.append(Problem(1, "the history is empty: event 1 is missing"))
        if len(marks) == 1 and isinstance(marks[0][0], int) and marks[0][0] > last:
            self.problems.append(Problem(last + 1, f"{gap(last + 1, marks[0][0])}: deleted from the end"))
        elif marks != [(last,)] or others:
            self.problems.append(Problem(None, f"the mark of the highest event number was changed (it is not {last})"))

    def parts(self, connection: sqlite3.Connection) -> None:
        """Note every part that is missing, changed or named by no event."""
        found = set()
        rows = connection.execute("SELECT rowid, sha256, typeof(blob), length(blob) FROM library_part ORDER BY rowid")
        for rowid, name, kind, length in rows:
            found.add(name)
            event = self._named.get(name)
            part = f"part {str(name)[:12]}" + (f" (named by event {event})" if event else "")
            if event is None:
                self.problems.append(Problem(None, f"{part} is named by no event"))
            if kind != "blob" or length > schema.MAX_PART_BYTES:
                self.problems.append(Problem(event, f"{part} is not as AssayPilot writes it, or too large"))
            elif _blob_digest(connection, rowid) != name:
                self.problems.append(Problem(event, f"{part} was changed after it was written"))
        self.problems += [
            Problem(event, f"part {name[:12]} (named by event {event}) is missing")
            for name, event in self._named.items()
            if name not in found
        ]

    def expectations(self, head: str | None, n_events: int | None) -> None:
        """Note when the file no longer contains the history of the expected head."""
        last = self.chain[-1][0] if self.chain else 0
        if n_events is not None and last < n_events:
            self.problems.append(Problem(last + 1, f"{gap(last + 1, n_events)}: {n_events} were expected"))
        if head is None:
            return
        prefix = head.strip().lower()
        digests = [digest for number, digest in self.chain if n_events is None or number == n_events]
        if len(prefix) < _MIN_HEAD or not any(digest.startswith(prefix) for digest in digests):
            where = "" if n_events is None else f" at event {n_events}"
            self.problems.append(
                Problem(
                    None,
                    f"the history does not contain the expected head {prefix[:16]}{where}: its end was "
                    "deleted or rewritten, or the head belongs to another campaign",
                )
            )


def _blob_digest(connection: sqlite3.Connection, rowid: int) -> str:
    digest = hashlib.sha256()
    with connection.blobopen("library_part", "blob", rowid, readonly=True) as blob:
        while chunk := blob.read(_CHUNK):
            digest.update(chunk)
    return digest.hexdigest()
