"""The campaign file: an append-only chain of events, and the immutable parts they name.

One file, one writer. The writer keeps a ``BEGIN IMMEDIATE`` transaction open between appends: that is SQLite's
RESERVED lock, held by the operating system, so it ends with the process and leaves no file behind; readers get in
meanwhile. A second store on the same file is read-only and has a reason. An append is one transaction with
``synchronous=EXTRA`` and a rollback journal: when it returns, the events are on the disk; when it raises, none is.

The format is in ``schema``, the digests in ``chain``, the full check in ``integrity``. This module imports neither
numpy nor anything else that is slow to load.
"""

from __future__ import annotations

import os
import sqlite3
from collections import deque
from collections.abc import Generator, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from types import MappingProxyType, TracebackType

from ...errors import AssayPilotError
from . import schema
from .chain import (
    GENESIS,
    SELECT,
    Draft,
    Event,
    Row,
    as_parts,
    clean,
    decode,
    event_of,
    insert,
    part_digest,
    part_names,
    prepare,
    scan,
    user,
)
from .disk import damaged, identity, location_warnings, new_file, plain_errors, stamp
from .integrity import Problem, Verification, verify
from .schema import copy

__all__ = [
    "Draft",
    "Event",
    "Problem",
    "Store",
    "Verification",
    "as_parts",
    "location_warnings",
    "part_digest",
    "part_names",
    "verify",
]

NO_PARTS: Mapping[str, bytes] = MappingProxyType({})

REQUESTED = "opened for reading only"
ELSEWHERE = "open in another window or program"
PROTECTED = "the file or its folder is read-only"
CHANGED = "another program took over the file"
LOST = "the file could not be locked again after an error"
_MENDS = {
    REQUESTED: "Open it for writing first.",
    ELSEWHERE: "Close it there, then open it here again.",
    PROTECTED: "Make both writable and open it again, or save a copy in a folder of your own.",
    CHANGED: "Close it and open it again.",
    LOST: "Close it and open it again.",
}

_LOWEST = -(2**63)

# Time enough for another opener to roll back an interrupted save, too short to be noticed.
_LOCK_MS = 100


class Store:
    """One campaign file, open for reading or for writing; a context manager.

    For one thread at a time. ``read_only_reason`` is None for the one writer.
    """

    def __init__(self, path: Path, connection: sqlite3.Connection, reason: str | None, author: str | None) -> None:
        self.path = path
        self.read_only_reason = reason
        self.author = clean(author if author is not None else user())
        self._connection = connection
        self._identity = identity(path)
        self._stamp = stamp(path)
        self._n_events, self._head = 0, GENESIS

    @classmethod
    def create(
        cls,
        path: Path | str,
        drafts: Sequence[Draft],
        parts: Mapping[str, bytes] = NO_PARTS,
        *,
        author: str | None = None,
    ) -> Store:
        """Return the store of a new file with ``drafts`` and ``parts``, open for writing.

        Complete or absent: raises AssayPilotError, with nothing left behind, when there is already a file of that
        name, the folder cannot be written or the disk is full; ValueError as ``append`` does.
        """
        path = Path(path)
        if not drafts:
            raise ValueError("a campaign begins with an event")
        encoded = prepare(drafts, parts)
        with (
            new_file(path) as temporary,
            plain_errors(path),
            closing(schema.connect(temporary, existing=False)) as connection,
        ):
            # The temporary file is thrown away on failure, so it needs no journal.
            connection.execute("PRAGMA journal_mode = OFF")
            connection.execute("BEGIN IMMEDIATE")
            schema.mark(connection)
            insert(connection, drafts, encoded, parts, 0, GENESIS, clean(author if author is not None else user()))
            connection.execute("COMMIT")
        return cls.open(path, author=author)

    @classmethod
    def open(cls, path: Path | str, *, read_only: bool = False, author: str | None = None) -> Store:
        """Return the store of an existing file; every event's digest has been checked, parts are when they are read.

        Without ``read_only`` it is the writer, unless another program is or the file cannot be written:
        then ``read_only_reason`` is the reason. ``read_only`` never takes the writer's lock. Raises AssayPilotError for
        what is no campaign, is of another version, or is damaged.
        """
        path = Path(path)
        connection = schema.connect(path)
        try:
            with plain_errors(path):
                schema.identify(connection, path)
                reason = REQUESTED if read_only else _take_lock(connection, path)
                store = cls(path, connection, reason, author)
                with store._reading():
                    faults = schema.schema_faults(connection)
                    if faults:
                        raise damaged(path, faults[0])
                    deque(store._rows(0), maxlen=0)
        except BaseException:
            connection.close()
            raise
        return store

    @property
    def read_only(self) -> bool:
        """Whether nothing can be appended."""
        return self.read_only_reason is not None

    @property
    def n_events(self) -> int:
        """Number of events at the last look (open, ``events``, ``append``)."""
        return self._n_events

    @property
    def head(self) -> str:
        """Digest of the last event at the last look; it identifies the whole history."""
        return self._head

    def events(self, after: int = 0) -> tuple[Event, ...]:
        """Return the events of a sequence above ``after``, in order, those another program appended included.

        Raises AssayPilotError when an event is damaged or one seen before is gone.
        """
        events = []
        with plain_errors(self.path), self._reading(), closing(self._rows(after)) as rows:
            for row in rows:
                if row[0] > after:
                    try:
                        events.append(event_of(row, decode(row[5])))
                    except ValueError:
                        raise damaged(self.path, f"the data of event {row[0]} cannot be read") from None
        return tuple(events)

    def part(self, digest: str) -> bytes:
        """Return the part of that name, checked against it; raises AssayPilotError when it is missing or changed."""
        if not isinstance(digest, str):  # an event may name anything
            raise damaged(self.path, "an event names a part by something that is no digest")
        query = f"SELECT CASE WHEN length(blob) <= {schema.MAX_PART_BYTES} THEN blob END FROM library_part "
        with plain_errors(self.path):
            row = self._connection.execute(query + "WHERE sha256 = ?", (digest,)).fetchone()
        if row is None:
            raise damaged(self.path, f"the part {digest[:12]} is missing")
        blob = row[0]
        if not isinstance(blob, bytes) or part_digest(blob) != digest:
            raise damaged(self.path, f"the part {digest[:12]} was changed after it was written")
        return blob

    def append(self, drafts: Sequence[Draft], parts: Mapping[str, bytes] = NO_PARTS) -> tuple[Event, ...]:
        """Return the events as written, in one transaction that is on the disk when this returns.

        ``parts`` maps digests to blobs; each must be named by one of the drafts (see ``chain``), and each part a
        draft names must be given or already in the file. Raises ValueError when not, or when data are not JSON;
        AssayPilotError, with nothing written, when the store is read-only, the disk full, the file gone.
        """
        if self.read_only_reason is not None:
            raise AssayPilotError(
                f"The campaign cannot be changed here: {self.read_only_reason}",
                file=str(self.path),
                mend=_MENDS[self.read_only_reason],
            )
        if not drafts:
            raise ValueError("nothing to append")
        with plain_errors(self.path):
            encoded = prepare(drafts, parts, self._connection)
        self._refuse_moved()
        self._refuse_overwritten((self._n_events, self._head), most=1)
        events: tuple[Event, ...] = ()
        try:
            with plain_errors(self.path):
                events = insert(self._connection, drafts, encoded, parts, self._n_events, self._head, self.author)
                self._connection.execute("COMMIT")
        except BaseException:
            # An error at the very end of a commit may come after it took effect; the file's contents decide.
            if not self._lock_again(events):
                raise
        else:
            self._lock_again(events)
        self._refuse_overwritten((events[-1].sequence, events[-1].digest), most=2)
        self._n_events, self._head = events[-1].sequence, events[-1].digest
        return events

    def save_copy(self, path: Path | str) -> None:
        """Write a complete copy of the file as it is now to ``path``, at once or not at all.

        Raises AssayPilotError when there is already a file, or when the copy cannot be written.
        """
        path = Path(path)
        self._refuse_moved()
        with plain_errors(path):
            copy(self.path, path, event=(self._n_events, self._head))

    def close(self) -> None:
        """Give the lock back. Closing twice is no error."""
        with suppress(sqlite3.Error):
            if self._connection.in_transaction:
                self._connection.execute("ROLLBACK")
        self._connection.close()

    def __enter__(self) -> Store:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    @contextmanager
    def _reading(self) -> Iterator[None]:
        """Yield a block in which everything is read from one moment of the file.

        The writer is in a transaction anyway.
        """
        if not self.read_only:
            yield
            return
        self._connection.execute("BEGIN")
        try:
            yield
        finally:
            # SQLite ended it itself where the disk or the network failed, which is the error to report.
            if self._connection.in_transaction:
                self._connection.execute("ROLLBACK")

    def _rows(self, after: int) -> Generator[Row, None, None]:
        """Yield the checked rows above ``after`` or above the last one seen, whichever is lower.

        Then the head is moved.
        """
        start = min(after, self._n_events)
        number, head = 0, GENESIS
        # An unfinished cursor would keep the locks of a connection that is closed, as long as an error refers to it.
        with closing(self._connection.execute(SELECT, (start or _LOWEST,))) as rows:
            if start:
                first: Row | None = rows.fetchone()
                if first is None or first[0] != start:
                    raise damaged(self.path, f"event {start} is missing")
                number, head = start, first[6]
                self._refuse_rewritten(first)
            for row, faults in scan(rows, number, head):
                if faults:
                    raise damaged(self.path, faults[0])
                self._refuse_rewritten(row)
                number, head = row[0], row[6]
                yield row
        highest = self._connection.execute("SELECT max(seq) FROM sqlite_sequence WHERE name = 'event'").fetchone()[0]
        if number < max(self._n_events, 1) or (isinstance(highest, int) and highest > number):
            raise damaged(self.path, f"event {number + 1} is missing")
        if highest != number:
            raise damaged(self.path, "the mark of the highest event number was changed")
        self._n_events, self._head = number, head

    def _refuse_rewritten(self, row: Row) -> None:
        if row[0] == self._n_events and row[6] != self._head:
            raise damaged(self.path, f"event {row[0]} is not the one that was read before")

    def _refuse_moved(self) -> None:
        """Raise when the name leads elsewhere now: a crash during a save there could not be undone."""
        if identity(self.path) != self._identity:
            raise AssayPilotError(
                "The file was moved, deleted or replaced since it was opened; nothing was written",
                file=str(self.path),
                mend="Put it back, or close it here and open it where it is now.",
            )

    def _refuse_overwritten(self, last: tuple[int, str], *, most: int) -> None:
        """Refuse a file into which another program wrote past the lock, so that ``last`` is no longer in it.

        It must be among the last ``most`` events. Looked for through a connection of its own, for this store's own
        answers from memory.
        """
        now = stamp(self.path)
        if now == self._stamp:
            return
        query = f"SELECT sequence, digest FROM event ORDER BY sequence DESC LIMIT {most}"
        try:
            with closing(schema.connect(self.path)) as reader:
                pages, size = (reader.execute(f"PRAGMA {name}").fetchone()[0] for name in ("page_count", "page_size"))
                there = now is not None and pages * size == now[2] and last in reader.execute(query).fetchall()
        except (AssayPilotError, sqlite3.DatabaseError):
            there = False
        if not there:
            self.read_only_reason = CHANGED
            raise AssayPilotError(
                "Another program overwrote the file while it was open here; what was entered now is not in it",
                file=str(self.path),
                mend="Close it, put a copy from before in its place, and enter it again.",
            )
        self._stamp = now

    def _lock_again(self, events: tuple[Event, ...]) -> bool:
        """Return whether ``events`` are in the file; takes the writer's lock again, or makes the store read-only."""
        query = "SELECT sequence, digest FROM event ORDER BY sequence DESC LIMIT 1"
        written = False
        try:
            if self._connection.in_transaction:
                self._connection.execute("ROLLBACK")
            self._connection.execute("BEGIN IMMEDIATE")
            last = self._connection.execute(query).fetchone()
            written = bool(events) and last == (events[-1].sequence, events[-1].digest)
            if not written and last != (self._n_events, self._head):
                self.read_only_reason = CHANGED
                self._connection.execute("ROLLBACK")
        except sqlite3.Error as error:
            self.read_only_reason = CHANGED if error.sqlite_errorcode & 0xFF == sqlite3.SQLITE_BUSY else LOST
        return written


def _take_lock(connection: sqlite3.Connection, path: Path) -> str | None:
    """None when the connection is the one writer now, otherwise the reason why it is not."""
    if not (os.access(path, os.W_OK) and os.access(path.absolute().parent, os.W_OK)):
        return PROTECTED
    busy = connection.execute("PRAGMA busy_timeout").fetchone()[0]
    connection.execute(f"PRAGMA busy_timeout = {_LOCK_MS}")
    try:
        # The mark of another mode is in the file itself, where another program may have put it.
        if connection.execute("PRAGMA journal_mode = DELETE").fetchone()[0] != "delete":
            return ELSEWHERE
        connection.execute("BEGIN IMMEDIATE")
    except sqlite3.OperationalError as error:
        code = error.sqlite_errorcode & 0xFF
        if code == sqlite3.SQLITE_BUSY:
            return ELSEWHERE
        if code == sqlite3.SQLITE_READONLY:
            return PROTECTED
        raise
    finally:
        connection.execute(f"PRAGMA busy_timeout = {busy}")
    return None
