"""What a command says, and where: one JSON document or lines of text on stdout, progress on stderr."""

from __future__ import annotations

import json
import math
import os
import sys
import time
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

from ..text.percentages import percent

_SHOW_EVERY = 0.1
"""Seconds between two updates of the progress line."""


@dataclass(frozen=True, slots=True)
class Reply:
    """What a command answers, in both forms."""

    document: Any
    """What ``--json`` prints."""
    lines: Sequence[str] = field(default=())
    """What is printed without it."""
    exit_code: int = 0


def plain(value: Any) -> Any:
    """Return the value as JSON knows it: no NaN or infinity (null), no array, no numpy number, no path."""
    if value is None or isinstance(value, (str, bool, int)):
        return value
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, Mapping):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(item) for item in value]
    if hasattr(value, "tolist"):  # a numpy array or number, without loading numpy to find out
        return plain(value.tolist())
    if isinstance(value, os.PathLike):
        return os.fspath(value)
    if isinstance(value, (set, frozenset)):
        return sorted(plain(item) for item in value)
    raise TypeError(f"{type(value).__name__} has no place in JSON")


def as_json(document: Any) -> str:
    """One JSON document, ids verbatim."""
    return json.dumps(plain(document), ensure_ascii=False, allow_nan=False, indent=2)


def escaped(text: str) -> str:
    """Return a text from a table on one line, without anything a terminal would obey."""
    return "".join(
        character if character.isprintable() else " " if character.isspace() else "\N{REPLACEMENT CHARACTER}"
        for character in text
    )


def _width(text: str) -> int:
    """Columns a text takes in a terminal: two for wide characters, none for combining ones."""
    if text.isascii():
        return len(text)
    return sum(
        0 if unicodedata.combining(character) else 2 if unicodedata.east_asian_width(character) in "WF" else 1
        for character in text
    )


def table(header: Sequence[str], rows: Iterable[Sequence[object]], indent: str = "") -> list[str]:
    """Lines of an aligned table; columns of numbers to the right, None as an empty cell."""
    cells = [["" if cell is None else escaped(str(cell)) for cell in row] for row in rows]
    right = [bool(cells) and all(_is_number(row[column]) for row in cells) for column in range(len(header))]
    lines = [[escaped(text) for text in header], *cells]
    widths = [max(_width(line[column]) for line in lines) for column in range(len(header))]
    return [
        (
            indent
            + "  ".join(
                " " * (width - _width(cell)) + cell if to_right else cell + " " * (width - _width(cell))
                for cell, width, to_right in zip(line, widths, right, strict=True)
            )
        ).rstrip()
        for line in lines
    ]


def _is_number(text: str) -> bool:
    if not text or text == "-":
        return True
    try:
        float(text.lstrip("<> ").rstrip(" %").replace(",", ""))
    except ValueError:
        return False
    return True


def count(number: int, limit: int, what: str = "more") -> list[str]:
    """Return a line that says how many of a list are not shown; none when all are."""
    return [f"... and {number - limit:,} {what}"] if number > limit else []


class Console:
    """Where one command speaks; at most one JSON document, or text as it comes."""

    def __init__(self, *, json: bool) -> None:
        self.json = json
        self._started = time.monotonic()
        self._shown = 0.0
        self._dirty = False

    def say(self, *lines: str) -> None:
        """Print lines at once, unless a JSON document is wanted."""
        if self.json:
            return
        self.clear()
        for line in lines:
            print(escaped(line))

    def answer(self, reply: Reply) -> None:
        """Print what the command answers."""
        self.clear()
        if self.json:
            print(as_json(reply.document))
        else:
            self.say(*reply.lines)
        sys.stdout.flush()

    def report(self, fraction: float, message: str) -> None:
        """Show how far the work is, on stderr and only on a terminal."""
        now = time.monotonic()
        # Work that is done within half a second needs no progress line.
        if now - self._started < 0.5 or now - self._shown < _SHOW_EVERY or not _is_terminal():
            return
        self._shown = now
        self._dirty = True
        sys.stderr.write(f"\r{percent(fraction):>5}  {escaped(message)[:60]:<60}")
        sys.stderr.flush()

    def clear(self) -> None:
        """Take the progress line away."""
        if self._dirty:
            sys.stderr.write("\r" + " " * 67 + "\r")
            sys.stderr.flush()
            self._dirty = False


def _is_terminal() -> bool:
    with suppress(AttributeError, ValueError):
        return sys.stderr.isatty()
    return False
