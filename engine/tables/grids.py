"""Plates as readers write them, rows A to H under columns 1 to 12, as a list with a row for each well."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from ..domain.plates.wells import FORMATS, Well, row_letters
from .values import is_missing

__all__ = ["PLATE", "VALUE", "WELL", "listed"]

PLATE, WELL, VALUE = "Plate", "Well", "Value"
_WHOLE = re.compile(r"0*([1-9]\d?)(?:\.0+)?")
_SIZES = sorted({(shape.rows, shape.columns) for shape in FORMATS.values()}, reverse=True)
_TITLE = re.compile(
    r"(?:assay[ _-]?)?plate(?![ _-]?(?:read|type|format|size|layout|map))(?:[ _-]?(?:name|id|barcode|no|number))?"
    r"\s*[:=#]?\s*(?P<name>.*)",
    re.I,
)
_FEWEST_COLUMNS = 6
_LOOKED_AT = 40
_MOST = 4_000
_ABOVE = 12
"""Lines above a plate in which its name is looked for."""


@dataclass(frozen=True, slots=True)
class _Grid:
    """One plate in the lines of a sheet."""

    first: int
    """The line with the numbers of its columns."""
    left: int
    """The cell with the letters of its rows."""
    rows: int
    columns: int


def listed(
    lines: Sequence[Sequence[Any]], numbers: Sequence[int], show: Callable[[Any], str]
) -> tuple[list[list[str]], list[int], str] | None:
    """Return wells of every plate drawn in the lines, one line each under Plate, Well, Value, the row each stands in.

    With what is said about it. None where no plate is drawn, or the lines hold a table as well.
    """
    # Most tables tell by their first cells that nothing is drawn in them, long before all is looked at.
    if not any(_WHOLE.fullmatch(show(cell)) for line in lines[:_LOOKED_AT] for cell in line[:4]):
        return None
    texts = [[show(cell).strip() for cell in line] for line in lines[:_MOST]]
    grids = _grids(texts)
    inside = sum(grid.rows + 1 for grid in grids)
    if not grids or len(lines) > _MOST or len(texts) > 2 * inside + _LOOKED_AT:
        return None
    out: list[list[str]] = [[PLATE, WELL, VALUE]]
    rows = [numbers[grids[0].first]]
    for grid in grids:
        name = _title(texts, grid)
        for row in range(grid.rows):
            line = texts[grid.first + 1 + row]
            for column in range(grid.columns):
                place = grid.left + 1 + column
                text = line[place] if place < len(line) else ""
                if not is_missing(text):
                    out.append([name, str(Well(row, column)), text])
                    rows.append(numbers[grid.first + 1 + row])
    drawn = "A plate is drawn" if len(grids) == 1 else f"{len(grids)} plates are drawn"
    last = Well(grids[0].rows - 1, grids[0].columns - 1)
    said = f"{drawn} (A1 to {last}); {len(out) - 1} wells hold something, and each is a row."
    return (out, rows, said) if len(out) > 1 else None


def _grids(texts: Sequence[Sequence[str]]) -> list[_Grid]:
    """Return the plates in the lines, from the top on; of two sizes that fit the larger one counts."""
    found: list[_Grid] = []
    at = 0
    while at < len(texts):
        grid = _grid_at(texts, at)
        if grid is None:
            at += 1
        else:
            found.append(grid)
            at = grid.first + grid.rows + 1
    return found


def _grid_at(texts: Sequence[Sequence[str]], at: int) -> _Grid | None:
    """Return the plate whose columns are numbered in a line."""
    line = texts[at]
    starts = [place for place, text in enumerate(line) if _number(text) == 1]
    for start in starts:
        if start == 0:
            continue
        count = 0
        while start + count < len(line) and _number(line[start + count]) == count + 1:
            count += 1
        for rows, columns in _SIZES:
            if columns == count and columns >= _FEWEST_COLUMNS and _lettered(texts, at, start - 1, rows):
                return _Grid(at, start - 1, rows, columns)
    return None


def _lettered(texts: Sequence[Sequence[str]], at: int, left: int, rows: int) -> bool:
    below = texts[at + 1 : at + 1 + rows]
    return len(below) == rows and all(
        left < len(line) and line[left].upper() == row_letters(row) for row, line in enumerate(below)
    )


def _number(text: str) -> int:
    match = _WHOLE.fullmatch(text)
    return int(match[1]) if match else 0


def _title(texts: Sequence[Sequence[str]], grid: _Grid) -> str:
    """Return the plate's name: behind the word plate in the lines above it, or in the corner of its numbers.

    "" where none.
    """
    for line in reversed(texts[max(0, grid.first - _ABOVE) : grid.first]):
        filled = [text for text in line if text]
        if filled and _is_row_of_another(filled):
            break
        match = _TITLE.fullmatch(filled[0]) if filled else None
        name = match["name"].strip() or (filled[1] if len(filled) > 1 else "") if match is not None else ""
        if name:
            return name
    corner = texts[grid.first][grid.left]
    return "" if re.fullmatch(r"(?:row|well)?[<>/\\\s]*", corner, re.I) else corner


def _is_row_of_another(filled: Sequence[str]) -> bool:
    """Whether a line belongs to the plate above: a letter with values behind it."""
    return len(filled) > 2 and len(filled[0]) <= 2 and filled[0].isalpha() and filled[0].isupper()
