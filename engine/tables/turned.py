"""Tables on their side, with a compound in each column, turned upright."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from . import headers
from .raw import fold
from .runs import run_number

__all__ = ["turned"]

_FEWEST = 2
_MOST_NAMES = 60
_KNOWN = 0.6
"""The share of the texts on the left that are headers chemists use."""


def turned(
    lines: Sequence[Sequence[Any]], numbers: Sequence[int], show: Callable[[Any], str]
) -> tuple[list[list[str]], list[int], str] | None:
    """Return the lines with the first cells of all as their header, the column of the sheet each came from.

    And what is said.

    None unless it is clear: the cells on the left are different headers, one of them that of values or structures, and
    those of the first line, from which the ids are taken, are none.
    """
    if not _FEWEST <= len(lines) <= _MOST_NAMES or len(lines[0]) < _FEWEST + 1:
        return None
    texts = [[show(cell).strip() for cell in line] for line in lines]
    left = [line[0] if line else "" for line in texts]
    ids = texts[0][1:]
    if not all(left[1:]) or len(set(left)) < len(left) or len({text for text in ids if text}) < _FEWEST:
        return None
    corner = fold(left[0])
    if corner and corner not in headers.IDS and not headers.is_known(left[0]):
        return None
    known = sum(map(_names_a_column, left[1:]))
    telling = any(_holds_values(text) for text in left[1:])
    if not telling or known < _KNOWN * (len(left) - 1) or any(map(_names_a_column, filter(None, ids))):
        return None
    width = max(map(len, texts))
    upright = [["" if place >= len(line) else line[place] for line in texts] for place in range(width)]
    if not left[0] or corner not in headers.IDS:
        upright[0][0] = "ID"
    kept = [place for place in range(width) if place == 0 or any(upright[place])]
    said = (
        f"A compound stands in each column and {', '.join(left[1:4])}{', …' if len(left) > 4 else ''} in the rows, so "
        "the table was turned: row 2 here is column 2 (B) of the file."
    )
    return [upright[place] for place in kept], [place + 1 for place in kept], said


def _names_a_column(text: str) -> bool:
    run = run_number(text)
    return headers.is_known(text) or (run is not None and headers.is_known(run[0]))


def _holds_values(text: str) -> bool:
    """Whether a header is one of values or structures: sites alone may be the names of compounds (R-1, R-2)."""
    run = run_number(text)
    bare = fold(headers.split_unit(text)[0])
    return (
        headers.looks_like_activity(text if run is None else run[0])
        or bare in headers.STRUCTURES
        or bare in headers.VALUE
    )
