"""What marks the decimals of a table, and its thousands: where a comma may mean either, nothing is guessed."""

from __future__ import annotations

import re
from collections.abc import Sequence

_UNIT = r"(?:\s*[A-Za-zµμ%]+)?"
_DECIMAL_COMMA = re.compile(rf"[<>=≤≥]*\s*[+-]?\d+,\d+(?:[eE][+-]?\d+)?{_UNIT}")
_THOUSANDS = re.compile(rf"[<>=≤≥]*\s*[1-9]\d{{0,2}},\d{{3}}{_UNIT}")
_SHORT = re.compile(rf"[<>=≤≥]*\s*\d{{1,3}}{_UNIT}")
_LONG = re.compile(rf"[<>=≤≥]*\s*\d{{4,}}{_UNIT}")
_DECIMAL_POINT = re.compile(rf"[<>=≤≥]*\s*[+-]?\d*\.\d+(?:[eE][+-]?\d+)?{_UNIT}")


def decimal_mark(cells: Sequence[Sequence[str]], delimiter: str, warnings: list[str]) -> str:
    """Whether the numbers of a table are written with a point or a comma."""
    commas = [cell for column in cells for cell in column if "," in cell and _DECIMAL_COMMA.fullmatch(cell)]
    if not commas:
        return "."
    pointed = [cell for column in cells for cell in column if "." in cell and _DECIMAL_POINT.fullmatch(cell)]
    points = len(pointed)
    # 1,234 in a comma-separated file is more likely a thousand than a decimal; in the others it is a decimal.
    surely = [cell for cell in commas if not re.search(r"(?<!\d)[1-9]\d{0,2},\d{3}(?!\d)", cell)]
    # 12,500 beside 830.5 is a thousand; beside 1.250 nobody knows.
    thousands = not surely and any(not re.search(r"(?<!\d)[1-9]\d{0,2}\.\d{3}(?!\d)", cell) for cell in pointed)
    unclear = not surely and not points and delimiter != "," and any(map(_thousands_beside_integers, cells))
    decimal = "." if points > len(commas) or (delimiter == "," and not surely) or thousands or unclear else ","
    if unclear:
        warnings.append(
            f"{_shown(commas)} may be thousands or decimals: taken as thousands where only zeros follow the comma, and "
            "left out otherwise. Say what marks the decimals: --decimal point or --decimal comma."
        )
    rounded = [cell for cell in commas if ",000" in cell]
    if points and not (thousands and len(rounded) == len(commas)):
        warnings.append(
            f"Some numbers have a decimal comma ({len(commas)}) and some a decimal point ({points}); "
            f"read with {'a point' if decimal == '.' else 'a comma'}, and unclear ones are left out."
        )
    return decimal


def _thousands_beside_integers(column: Sequence[str]) -> bool:
    """Whether a column holds what may be thousands (12,500) beside short integers (830) and no unmarked long one.

    That is how a spreadsheet shows thousands. Decimals that all happen to have three digits are rare beside integers.
    """
    marked = any(_THOUSANDS.fullmatch(cell) for cell in column if "," in cell)
    return marked and any(map(_SHORT.fullmatch, column)) and not any(map(_LONG.fullmatch, column))


def _shown(cells: Sequence[str]) -> str:
    """Return the first of some cells, and how many more."""
    return f"{cells[0]!r}" + (f" and {len(cells) - 1:,} more" if len(cells) > 1 else "")


def without_thousands(cells: Sequence[tuple[str, ...]], decimal: str) -> tuple[tuple[str, ...], ...]:
    """Return cells of a table without the thousands marks of its numbers, once it is known what marks the decimals."""
    mark = "," if decimal == "." else "."
    number = re.compile(rf"[<>=≤≥]*\s*[+-]?[1-9]\d{{0,2}}(?:{re.escape(mark)}\d{{3}})+{_UNIT}")
    return tuple(
        tuple(cell.replace(mark, "") if mark in cell and number.fullmatch(cell) else cell for cell in column)
        for column in cells
    )
