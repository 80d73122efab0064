"""Events as they are stored: JSON bytes, the chain of digests over them, and the parts they name.

The digest of an event is SHA-256 over, in this order: the digest of the event before (32 bytes; zeros before the
first), sequence, time, author, kind, version, and the stored JSON bytes. Each field is preceded by its length in
eight bytes, big-endian, numbers are decimal ASCII, texts UTF-8; so no two different events give the same bytes.

An event names parts at the top of its data, and nowhere else: ``data["part"]`` is one digest (or null), and
``data["parts"]`` a list of digests, or an object of name to digest.
"""

from __future__ import annotations

import getpass
import hashlib
import json
import os
import re
import sqlite3
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from ...errors import AssayPilotError
from . import schema
from .schema import MAX_EVENT_BYTES, MAX_EVENTS

GENESIS = "0" * 64
"""The digest before the first event, and the head of an empty log."""

Row = tuple[Any, ...]
"""One row of SELECT: sequence, time, author, kind, version, JSON bytes, digest; of any type in a damaged file."""

SELECT = (
    f"SELECT sequence, time, author, kind, version, CASE WHEN length(data) <= {MAX_EVENT_BYTES} THEN data END, digest "
    "FROM event WHERE sequence >= ? ORDER BY sequence"
)

_TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z", re.ASCII)
_KIND = re.compile(r"[a-z][a-z0-9_]{0,63}")
_DIGEST = re.compile(r"[0-9a-f]{64}")
_MAX_DIGITS = 40  # enough for a 128-bit seed; longer integers break float() later
_MORE_DIGITS = 10**_MAX_DIGITS
_LARGEST = 1e150  # the square of anything larger is no number in floating point
_DIGITS = bytes(ord("0") if chr(byte).isdigit() and byte < 128 else 32 for byte in range(256))
"""Takes every digit to 0 and everything else to a blank."""


@dataclass(frozen=True, slots=True)
class Draft:
    """An event that is not written."""

    kind: str
    """What happened, e.g. "round_issued": small letters, digits and underscores."""
    data: Mapping[str, Any]
    """JSON values only; tuples are written as lists."""
    version: int = 1
    """Of the kind: which shape of data this is."""


@dataclass(frozen=True, slots=True)
class Event:
    """An event as stored."""

    sequence: int
    """From 1, without gaps."""
    time: str
    """UTC, ISO 8601 with milliseconds, "2026-11-20T12:00:00.123Z"."""
    author: str
    kind: str
    version: int
    data: Mapping[str, Any]
    digest: str
    """64 hexadecimal digits over everything above and the digest before."""


def encode(draft: Draft) -> bytes:
    """Return the JSON bytes of a draft's data, ASCII, keys in the order given.

    Raises ValueError for what is not JSON (NaN and infinities, keys that are not text, arrays, dates) and for a kind
    or version no reader would take; AssayPilotError when there is more than one event may have.
    """
    if not _KIND.fullmatch(draft.kind):
        raise ValueError(f"not a kind of event: {draft.kind!r}")
    if type(draft.version) is not int or not 1 <= draft.version < 2**31:
        raise ValueError(f"not a version of an event: {draft.version!r}")
    if not isinstance(draft.data, Mapping):
        raise ValueError(f"the data of {draft.kind} must be a mapping")
    try:
        raw = json.dumps(_plain(draft.data, draft.kind), allow_nan=False, separators=(",", ":")).encode("ascii")
    except RecursionError:
        raise ValueError(f"the data of {draft.kind} is nested too deeply") from None
    if len(raw) > MAX_EVENT_BYTES:
        raise AssayPilotError(
            f"This is more than one step of a campaign can hold ({len(raw) / 2**20:.0f} MB; at most "
            f"{MAX_EVENT_BYTES // 2**20} MB)",
            mend="Do it in several smaller steps.",
        )
    return raw


def decode(raw: bytes) -> dict[str, Any]:
    """Return the data in stored JSON bytes; raises ValueError when they are not one JSON object of finite values."""
    try:
        # The check of each whole number is slow, and no long one is there where no long run of digits is.
        parse_int = _bounded if b"0" * (_MAX_DIGITS + 1) in raw.translate(_DIGITS) else None
        data = json.loads(raw.decode("utf-8"), parse_float=_finite, parse_int=parse_int, parse_constant=_finite)
    except RecursionError:
        raise ValueError("nested too deeply") from None
    if not isinstance(data, dict):
        raise ValueError("not a JSON object")
    return data


def part_digest(blob: bytes) -> str:
    """Return the name of a part: SHA-256 of its bytes, 64 hexadecimal digits."""
    return hashlib.sha256(blob).hexdigest()


def as_parts(*blobs: bytes) -> dict[str, bytes]:
    """Return each blob under its digest, as ``create`` and ``append`` take them."""
    return {part_digest(blob): blob for blob in blobs}


def part_names(data: Mapping[str, Any]) -> tuple[str, ...]:
    """Return the digests of the parts an event's data names; raises ValueError when one of them is no digest."""
    one, many = data.get("part"), data.get("parts", ())
    if isinstance(many, Mapping):
        many = tuple(many.values())
    if not isinstance(many, (list, tuple)):
        raise ValueError("'parts' is neither a list nor an object")
    names = (*(() if one is None else (one,)), *many)
    for name in names:
        if not isinstance(name, str) or not _DIGEST.fullmatch(name):
            raise ValueError(f"{str(name)[:80]!r} is not the digest of a part")
    return names


def row_digest(previous: str, row: Row) -> str:
    """Return the digest a row (its columns of the right types) must carry after an event of digest ``previous``."""
    sequence, time, author, kind, version, raw = row[:6]
    framed = [bytes.fromhex(previous)]
    for field in (str(sequence), time, author, kind, str(version)):
        text = field.encode("utf-8", "surrogateescape")
        framed += [len(text).to_bytes(8, "big"), text]
    framed += [len(raw).to_bytes(8, "big"), raw]
    return hashlib.sha256(b"".join(framed)).hexdigest()


def scan(rows: Iterable[Row], after: int = 0, previous: str = GENESIS) -> Iterator[tuple[Row, tuple[str, ...]]]:
    """Yield each row, in order, with what is wrong with it in plain words; reading continues after a fault.

    ``after`` and ``previous`` are the sequence and digest of the event before the first row. One changed column is
    blamed on its own event only: the next is believed when it continues either the digest stored before it or the
    one that should have been stored.
    """
    number = after
    believed = [previous]
    for row in rows:
        if not number < row[0] <= MAX_EVENTS:
            yield row, (f"event {row[0]} has a number no AssayPilot gives it",)
            continue
        faults = [] if row[0] == number + 1 else [gap(number + 1, row[0] - 1)]
        wrong = _column_fault(row)
        if wrong:
            yield row, (*faults, f"event {row[0]}: {wrong}")
            number, believed = row[0], []
            continue
        digests = [row_digest(digest, row) for digest in believed]
        # After a gap or an unreadable event there is nothing to compare the digest with.
        if digests and not faults and row[6] not in digests:
            faults.append(f"event {row[0]} ({row[3]}) was changed after it was written: its digest does not match")
            believed = list({row[6], digests[0]})
        else:
            believed = [row[6]]
        number = row[0]
        yield row, tuple(faults)


def gap(first: int, last: int) -> str:
    """Return the words for events that are not there, from ``first`` to ``last``."""
    return f"event {first} is missing" if first == last else f"events {first} to {last} are missing"


def _column_fault(row: Row) -> str | None:
    _, time, author, kind, version, raw, digest = row
    if not isinstance(raw, bytes):
        return "its data is not as AssayPilot writes it, or too large"
    if not isinstance(time, str) or not _is_time(time):
        return "its time cannot be read"
    if not isinstance(author, str) or not author.isprintable() or not 0 < len(author) <= 200:
        return "its author cannot be read"
    if not isinstance(kind, str) or not _KIND.fullmatch(kind):
        return "its kind cannot be read"
    if type(version) is not int or version < 1:
        return "its version cannot be read"
    if not isinstance(digest, str) or not _DIGEST.fullmatch(digest):
        return "its digest cannot be read"
    return None


def _is_time(text: str) -> bool:
    try:
        datetime.fromisoformat(text)
    except ValueError:
        return False
    return _TIME.fullmatch(text) is not None


def _plain(value: Any, where: str) -> Any:
    if value is None or isinstance(value, (str, bool, float)):  # most of what there is
        return value
    if isinstance(value, int) and abs(value) < _MORE_DIGITS:
        return value
    if isinstance(value, (list, tuple)):
        return [_plain(item, where) for item in value]
    if isinstance(value, Mapping):
        for key in value:
            if not isinstance(key, str):
                raise ValueError(f"{where}: the key {key!r} is not text")
        return {key: _plain(item, where) for key, item in value.items()}
    raise ValueError(f"{where}: {type(value).__name__} cannot be written as JSON")


def _finite(text: str) -> float:
    value = float(text)
    if not abs(value) <= _LARGEST:
        raise ValueError("a number larger than any that is written")
    return value


def _bounded(text: str) -> int:
    if len(text) > _MAX_DIGITS + 1:
        raise ValueError("a number with too many digits")
    return int(text)


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
    """Return the user's name: that in ASSAYPILOT_AUTHOR, else the system's."""
    name = os.environ.get("ASSAYPILOT_AUTHOR", "")
    if name.strip():
        return name
    try:
        return getpass.getuser()
    except (ImportError, KeyError, OSError):  # no name in the environment and none known to the system
        return "unknown"


def clean(author: str) -> str:
    """Return the name on one line of printable text, at most 200 characters."""
    line = " ".join("".join(sign if sign.isprintable() else " " for sign in author).split())
    return line[:200] or "unknown"
