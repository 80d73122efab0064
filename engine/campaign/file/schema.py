"""The structure of a campaign file: its marks, tables and limits, and how it is opened.

A campaign is one SQLite file. ``application_id`` is 0x41504C54 ("APLT" in ASCII), ``user_version`` the version of
the format. Two tables: ``event``, which only grows, and ``library_part``, immutable blobs named by their SHA-256.
A file may come from anyone, so nothing in it is trusted: its schema must be the text below to the letter (no
foreign table, view, index or trigger), and sizes are checked before anything is read into memory.

Operating-system locks belong to the whole process on Linux and macOS: closing *any* descriptor of the file drops
them. So never read a campaign file with ``open()``, ``shutil`` or the like while a store holds it; ask the store.

A change of what events hold raises ``FORMAT``; files of other versions are refused.
"""

from __future__ import annotations

import os
import sqlite3
import stat
from contextlib import closing
from pathlib import Path
from urllib.parse import quote

from ...errors import AssayPilotError
from ...system.places import where_else
from .disk import NOT_A_CAMPAIGN, RESTORE, damaged, new_file, plain_errors

APPLICATION_ID = 0x41504C54
FORMAT = 2
"""The version of the tables and of what events hold."""

MAX_EVENT_BYTES = 64 * 2**20
"""JSON of one event; 100,000 results of 150 bytes are 15 MB."""
MAX_EVENTS = 1_000_000
MAX_PART_BYTES = 256 * 2**20
"""One part; a library of a million listed compounds is about 200 MB."""

BUSY_MS = 10_000
"""How long a reader waits for a commit, and a commit for a reader, in milliseconds."""

_TABLES = {
    "event": """CREATE TABLE event (
    sequence INTEGER PRIMARY KEY AUTOINCREMENT,
    time TEXT NOT NULL,
    author TEXT NOT NULL,
    kind TEXT NOT NULL,
    version INTEGER NOT NULL,
    data BLOB NOT NULL,
    digest TEXT NOT NULL
)""",
    "library_part": """CREATE TABLE library_part (
    sha256 TEXT PRIMARY KEY NOT NULL,
    blob BLOB NOT NULL
)""",
}
_REASON = {"event": "the history is never changed", "library_part": "stored parts are never changed"}

# (type, name, table) -> text, exactly as sqlite_schema must show it. AUTOINCREMENT brings sqlite_sequence, which
# remembers the highest sequence number ever used: a deleted last event shows there. REPLACE would delete rows
# without firing a DELETE trigger (recursive_triggers is off by default), hence the third trigger.
SCHEMA: dict[tuple[str, str, str], str | None] = {
    ("table", "event", "event"): _TABLES["event"],
    ("table", "library_part", "library_part"): _TABLES["library_part"],
    ("table", "sqlite_sequence", "sqlite_sequence"): "CREATE TABLE sqlite_sequence(name,seq)",
    ("index", "sqlite_autoindex_library_part_1", "library_part"): None,
}
for _table, _key in (("event", "sequence"), ("library_part", "sha256")):
    for _action in ("UPDATE", "DELETE"):
        SCHEMA["trigger", f"{_table}_no_{_action.lower()}", _table] = (
            f"CREATE TRIGGER {_table}_no_{_action.lower()} BEFORE {_action} ON {_table} "
            f"BEGIN SELECT RAISE(ABORT, '{_REASON[_table]}'); END"
        )
    SCHEMA["trigger", f"{_table}_no_replace", _table] = (
        f"CREATE TRIGGER {_table}_no_replace BEFORE INSERT ON {_table} "
        f"WHEN EXISTS (SELECT 1 FROM {_table} WHERE {_key} = NEW.{_key}) "
        f"BEGIN SELECT RAISE(ABORT, '{_REASON[_table]}'); END"
    )


def connect(path: Path, *, existing: bool = True) -> sqlite3.Connection:
    """Return a guarded connection in which nothing begins or ends a transaction unasked.

    Opened for writing where possible even by readers: only so can an interrupted save be rolled back. With
    ``existing`` false the file is made; its name must be new. Raises AssayPilotError when there is no such file.
    """
    if existing:
        _refuse_what_is_no_file(path)
    with plain_errors(path):
        connection = sqlite3.connect(
            _uri(path, "rw" if existing else "rwc"), uri=True, isolation_level=None, check_same_thread=False
        )
    # Bytes that are not UTF-8 must neither raise nor pass: they come back as surrogates and differ from blobs.
    connection.text_factory = _text
    connection.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, MAX_PART_BYTES + 2**20)
    try:
        with plain_errors(path):
            connection.execute(f"PRAGMA busy_timeout = {BUSY_MS}")
            connection.execute("PRAGMA fullfsync = ON")  # on a Mac, where a plain fsync does not reach the disk
            connection.execute("PRAGMA trusted_schema = OFF")
            connection.execute("PRAGMA cell_size_check = ON")
            # A damaged page read through a memory map would end the process instead of raising.
            connection.execute("PRAGMA mmap_size = 0")
            try:
                # EXTRA: the folder is synchronised when the journal is gone, or a power cut could bring it back and
                # undo what was acknowledged. This is the first that has to look into the file.
                connection.execute("PRAGMA synchronous = EXTRA")
            except sqlite3.OperationalError as error:
                if error.sqlite_errorcode == sqlite3.SQLITE_ERROR:  # e.g. "unsupported file format"
                    raise damaged(path, f"SQLite cannot read it ({error})") from error
                raise
    except BaseException:
        connection.close()
        raise
    return connection


def mark(connection: sqlite3.Connection) -> None:
    """Write the marks and the empty tables into a new file, inside the caller's transaction."""
    connection.execute(f"PRAGMA application_id = {APPLICATION_ID}")
    connection.execute(f"PRAGMA user_version = {FORMAT}")
    for (_, name, _), text in SCHEMA.items():
        if text is not None and not name.startswith("sqlite_"):
            connection.execute(text)


def identify(connection: sqlite3.Connection, path: Path) -> None:
    """Raise AssayPilotError for what is no campaign, or one in another version of the format."""
    with plain_errors(path):
        application = connection.execute("PRAGMA application_id").fetchone()[0]
        version = int(connection.execute("PRAGMA user_version").fetchone()[0])
    if application != APPLICATION_ID:
        raise AssayPilotError(NOT_A_CAMPAIGN, file=str(path), mend="Choose a file that ends in .assaypilot.")
    if version < 1:
        raise AssayPilotError("The campaign is damaged: its version mark is missing", file=str(path), mend=RESTORE)
    if version != FORMAT:
        age, mend = (
            ("a newer", "Install the newer AssayPilot to open it.") if version > FORMAT else ("an older", _START)
        )
        raise AssayPilotError(
            f"The campaign was written by {age} AssayPilot (file version {version}; this one reads {FORMAT})",
            file=str(path),
            mend=mend,
        )


_START = "Open it with the AssayPilot that wrote it, export its results, and start a new campaign with them."


def schema_faults(connection: sqlite3.Connection) -> tuple[str, ...]:
    """Return what in the file's schema is not as AssayPilot writes it, in plain words; empty when all is."""
    found = {
        (kind, name, table): text
        for kind, name, table, text in connection.execute("SELECT type, name, tbl_name, sql FROM sqlite_schema")
    }
    faults = [
        f"foreign {kind} {name!r} in the file"
        if key not in SCHEMA
        else f"the {kind} {name!r} is not as AssayPilot writes it"
        for key, text in found.items()
        for kind, name, _ in [key]
        if key not in SCHEMA or text != SCHEMA[key]
    ]
    faults += [f"the {kind} {name!r} is missing" for kind, name, table in SCHEMA if (kind, name, table) not in found]
    return tuple(faults)


def _text(raw: bytes) -> str:
    return raw.decode("utf-8", "surrogateescape")


def _uri(path: Path, mode: str) -> str:
    # Path.as_uri() puts a Windows server name where SQLite allows none; with an empty authority it is a path.
    name = path.absolute().as_posix()
    return f"file://{'' if name.startswith('/') else '/'}{quote(name, errors='surrogateescape')}?mode={mode}"


def _refuse_what_is_no_file(path: Path) -> None:
    try:
        found = os.stat(path)
    except (FileNotFoundError, NotADirectoryError):
        raise AssayPilotError("There is no such file", file=str(path), mend=where_else(path)) from None
    except OSError as error:
        raise AssayPilotError(
            f"The file cannot be reached: {error.strerror}", file=str(path), mend="Check the folder's permissions."
        ) from error
    if stat.S_ISDIR(found.st_mode):
        raise AssayPilotError("This is a folder, not a campaign", file=str(path), mend="Choose a file inside it.")
    if not stat.S_ISREG(found.st_mode):
        raise AssayPilotError(NOT_A_CAMPAIGN, file=str(path), mend="Choose a file that ends in .assaypilot.")
    if found.st_size == 0:
        raise AssayPilotError(
            "The file is empty; there is no campaign in it",
            file=str(path),
            mend="Restore a copy, or delete it and make a new campaign.",
        )


def copy(source: Path, path: Path, *, event: tuple[int, str] | None = None) -> None:
    """Copy through a connection of its own: SQLite copies no file through the one with the lock.

    ``event`` is the sequence and digest of one the copy must have, which identifies this file.
    """
    with (
        new_file(path) as temporary,
        closing(connect(source)) as reader,
        closing(connect(temporary, existing=False)) as writer,
    ):
        writer.execute("PRAGMA journal_mode = OFF")
        reader.backup(writer)
        if event and writer.execute("SELECT digest FROM event WHERE sequence = ?", event[:1]).fetchone() != event[1:]:
            raise damaged(source, f"event {event[0]} is not the one that was read before")
