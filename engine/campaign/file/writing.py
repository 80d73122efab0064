"""New events and parts made ready and put into an open transaction."""

from __future__ import annotations

import getpass
import os
import sqlite3
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime

from ...errors import AssayPilotError
from . import schema
from .chain import Draft, Event, Row, decode, encode, part_digest, part_names, row_digest

__all__ = ["clean", "event_of", "insert", "prepare", "user"]


def prepare(
    drafts: Sequence[Draft], parts: Mapping[str, bytes], connection: sqlite3.Connection | None = None
) -> list[bytes]:
    """Return the JSON bytes of each draft; raises before anything is written when something cannot be."""
    encoded = [encode(draft) for draft in drafts]
    named = {name for draft in drafts for name in part_names(draft.data)}
    for digest, blob in parts.items():
        if part_digest(blob) != digest:
            raise ValueError(f"the part {digest} is not the bytes of that digest")
        if len(blob) > schema.MAX_PART_BYTES:
            raise AssayPilotError(
                f"The library is larger than a campaign can hold ({len(blob) / 2**20:.0f} MB; at most "
                f"{schema.MAX_PART_BYTES // 2**20} MB)",
                mend="Leave out columns or compounds that are not needed.",
            )
    if set(parts) - named:
        raise ValueError(f"no event names the part {min(set(parts) - named)}")
    for digest in named - set(parts):
        query = "SELECT 1 FROM library_part WHERE sha256 = ?"
        if connection is None or connection.execute(query, (digest,)).fetchone() is None:
            raise ValueError(f"the part {digest} is neither given nor in the file")
    return encoded


def insert(
    connection: sqlite3.Connection,
    drafts: Sequence[Draft],
    encoded: Sequence[bytes],
    parts: Mapping[str, bytes],
    number: int,
    head: str,
    author: str,
) -> tuple[Event, ...]:
    """Return the events after number ``number`` of digest ``head``, put into the open transaction with their parts."""
    if number + len(drafts) > schema.MAX_EVENTS:
        raise AssayPilotError("The history of this campaign is full", mend="Go on in a new campaign.")
    for digest, blob in parts.items():
        if connection.execute("SELECT 1 FROM library_part WHERE sha256 = ?", (digest,)).fetchone() is None:
            connection.execute("INSERT INTO library_part VALUES (?, ?)", (digest, blob))
    time = now()
    events = []
    for draft, raw in zip(drafts, encoded, strict=True):
        number += 1
        row: Row = (number, time, author, draft.kind, draft.version, raw)
        head = row_digest(head, row)
        connection.execute("INSERT INTO event VALUES (?, ?, ?, ?, ?, ?, ?)", (*row, head))
        events.append(event_of((*row, head), decode(raw)))
    return tuple(events)


def event_of(row: Row, data: Mapping[str, object]) -> Event:
    """Return the event a stored row and its decoded data make."""
    return Event(row[0], row[1], row[2], row[3], row[4], data, row[6])


def now() -> str:
    """Return the time of an event: UTC, ISO 8601 with milliseconds."""
    return datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def user() -> str:
    """Who is at the computer: the name in ASSAYPILOT_AUTHOR, else as the system knows them."""
    said = os.environ.get("ASSAYPILOT_AUTHOR", "")
    if said.strip():
        return said
    try:
        return getpass.getuser()
    except (ImportError, KeyError, OSError):  # no name in the environment and none known to the system
        return "unknown"


def clean(author: str) -> str:
    """Return the name on one line of printable text, at most 200 characters."""
    line = " ".join("".join(sign if sign.isprintable() else " " for sign in author).split())
    return line[:200] or "unknown"
