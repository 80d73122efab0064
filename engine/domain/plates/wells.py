"""The wells of plates: what plates there are, how a well is called, and how a name of one is read."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from itertools import pairwise
from types import MappingProxyType

from ...errors import AssayPilotError

_NAME = re.compile(r"([A-Za-z]{1,2})[ _-]?0*([1-9]\d{0,2})")


@dataclass(frozen=True, slots=True, order=True)
class Well:
    """One well by its place, both counted from 0; sorted, wells are in reading order."""

    row: int
    column: int

    def __str__(self) -> str:
        """Return the name people use: ``A1``, ``H12``, ``AF48``."""
        return f"{row_letters(self.row)}{self.column + 1}"


@dataclass(frozen=True, slots=True)
class Format:
    """A kind of plate."""

    rows: int
    columns: int

    @property
    def wells(self) -> int:
        """How many wells it has."""
        return self.rows * self.columns

    def __str__(self) -> str:
        """Return ``96-well plate``."""
        return f"{self.wells:,}-well plate"


FORMATS: Mapping[int, Format] = MappingProxyType(
    {shape.wells: shape for shape in (Format(4, 6), Format(6, 8), Format(8, 12), Format(16, 24), Format(32, 48))}
)
"""The usual plates by their number of wells: 24, 48, 96 (A1 to H12), 384 (A1 to P24), 1536 (A1 to AF48)."""


def row_letters(row: int) -> str:
    """Return the letters of a row counted from 0: A to Z, then AA to AF."""
    return chr(ord("A") + row) if row < 26 else row_letters(row // 26 - 1) + chr(ord("A") + row % 26)


def read_well(text: str, on: Format) -> Well:
    """Return the well that ``A1``, ``a01``, ``A 1`` or ``A-1`` names.

    AssayPilotError for what is no well of that plate.
    """
    match = _NAME.fullmatch(text.strip())
    if match is not None:
        row = 0
        for letter in match[1].upper():
            row = 26 * row + ord(letter) - ord("A") + 1
        if row <= on.rows and int(match[2]) <= on.columns:
            return Well(row - 1, int(match[2]) - 1)
    last = Well(on.rows - 1, on.columns - 1)
    raise AssayPilotError(f"{text.strip()!r} is no well of a {on}", mend=f"Its wells are A1 to {last}.")


def wells_text(wells: Iterable[Well]) -> str:
    """Return the wells of a measurement in its order, as ranges along rows or columns.

    ``B2``, ``B2-B11, C2-C11``, ``A3-H3``.

    A range never turns a corner, so that it can be read in one way only.
    """
    lines: list[list[Well]] = []
    for well in wells:
        line = lines[-1] if lines else []
        if line and _goes_on([*line, well]):
            line.append(well)
        else:
            lines.append([well])
    return ", ".join(str(line[0]) if len(line) == 1 else f"{line[0]}-{line[-1]}" for line in lines)


def _goes_on(line: list[Well]) -> bool:
    """Return whether all steps along a line are one well to the right, or all are one down."""
    steps = {(after.row - before.row, after.column - before.column) for before, after in pairwise(line)}
    return steps in ({(0, 1)}, {(1, 0)})
