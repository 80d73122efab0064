"""How wide columns are on pages and slides; how much room cells of a workbook have, and what they cannot hold."""

from __future__ import annotations

import re
from collections.abc import Sequence
from textwrap import wrap

from .sheet import Cell

LONGEST = 32_767
"""Characters of a cell, as ``units_of`` counts them."""
UNHELD = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f\ud800-\udfff\ufffe\uffff]")
"""Characters that no cell can hold."""
_READ = 1_000
"""Characters of a text by which its lines are counted."""


def number_format(digits: int) -> str:
    """Return the number format with so many decimals."""
    return f"0.{'0' * digits}" if digits else "0"


def length_of(cell: Cell, shown: str) -> int:
    """Characters that a cell shows, the longest line of it."""
    if cell is None:
        return 0
    if isinstance(cell, bool):
        return 3
    if isinstance(cell, (int, float)):
        if shown:
            return len(f"{cell:.{max(0, len(shown) - 2)}f}")
        return len(f"{cell:.10g}")
    return max(map(len, cell.splitlines()), default=0)


def lines_of(text: str, width: float) -> int:
    """Lines that a text takes in a column of so many characters, broken between words."""
    return sum(len(wrap(line, max(int(width), 1))) or 1 for line in text.splitlines() or [""])


def most_lines(row: Sequence[Cell], wrapped: Sequence[tuple[int, float]]) -> int:
    """Lines that a row takes for its columns that break their texts, each by its place and width."""
    lines = 1
    for place, width in wrapped:
        cell = row[place]
        if isinstance(cell, str) and (len(cell) > width - 2 or "\n" in cell):
            lines = max(lines, lines_of(cell[:_READ], width - 2))
    return lines


def units_of(text: str) -> int:
    """Characters as a workbook counts them: those beyond the basic plane are two."""
    return len(text) + sum(letter > "\uffff" for letter in text) if not text.isascii() else len(text)


def shortened(text: str) -> str:
    """Return the beginning of a text with a word at its end that says that it was cut."""
    end = f" ... (cut, {len(text):,} characters)"
    kept = text[: LONGEST - len(end)]
    while units_of(kept) + len(end) > LONGEST:
        kept = kept[: -max(1, (units_of(kept) + len(end) - LONGEST) // 2)]
    return kept + end


def in_header(text: str) -> str:
    """Return a text for the head of a printed page, where & begins a code.

    Short enough for what a page's head may hold.
    """
    line = " ".join(text.split())
    return (line if len(line) <= 70 else f"{line[:69]}…").replace("&", "&&")


_HALVINGS = 40
"""Enough to find a width to far below a point."""


def shared_out(natural: Sequence[float], least: Sequence[float], width: float) -> list[float]:
    """Return the columns' widths, at most ``width`` together.

    ``natural`` are what the texts need on one line, ``least`` what their longest words need, never more. When all fit
    they get what they need. Else none gets more than a common limit, unless its longest word needs it, so that a
    column of long texts takes nothing from short ones; when the longest words do not fit, the same holds for those.
    """
    if sum(natural) <= width:
        return list(natural)
    if sum(least) >= width:
        natural, least = least, [0.0] * len(least)
    low, high = 0.0, max(natural)
    for _ in range(_HALVINGS):
        limit = (low + high) / 2.0
        low, high = (low, limit) if sum(_limited(natural, least, limit)) > width else (limit, high)
    return _limited(natural, least, low)


def _limited(natural: Sequence[float], least: Sequence[float], limit: float) -> list[float]:
    return [max(word, min(text, limit)) for word, text in zip(least, natural, strict=True)]
