"""Plates: their wells by name, how a lab uses them, and what stands in each well of a round."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from itertools import groupby, pairwise
from types import MappingProxyType

from ..errors import AssayPilotError
from ..text import in_letters

_NAME = re.compile(r"([A-Za-z]{1,2})[ _-]?0*([1-9]\d{0,2})")


@dataclass(frozen=True, slots=True, order=True)
class Well:
    """One well by its place, both counted from 0; sorted, wells are in reading order."""

    row: int
    column: int

    def __str__(self) -> str:
        """Return the name people use: ``A1``, ``H12``, ``AF48``."""
        return f"{in_letters(self.row)}{self.column + 1}"


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


_LONGEST_NAME = 24
"""Letters of a control's name: what fits a legend."""
_COLUMNS = "--control-columns"


@dataclass(frozen=True, slots=True)
class Control:
    """A control and its columns, counted from 1 as on plates.

    Controls that share a column take turns down it, each column beginning with the next one, so that none
    is at one end of the plate only.
    """

    name: str
    columns: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Grid:
    """Places for measurements on a plate: all of one size, in rows and columns of their own."""

    tops: tuple[int, ...]
    """First row of each row of places."""
    lefts: tuple[int, ...]
    """First column of each column of places."""
    height: int
    """Rows a measurement takes."""
    width: int
    """Columns it takes."""
    wells: int
    """Wells it takes: at most height x width."""
    down: bool = False
    """Whether its wells follow each other down the columns, not along the rows."""

    def __len__(self) -> int:
        """Return the measurements one plate takes."""
        return len(self.tops) * len(self.lefts)

    def at(self, row: int, column: int) -> tuple[Well, ...]:
        """Return the wells of a place by its row and column among the places, in the order of the measurement."""
        top, left = self.tops[row], self.lefts[column]
        if self.down:
            return tuple(Well(top + k % self.height, left + k // self.height) for k in range(self.wells))
        return tuple(Well(top + k // self.width, left + k % self.width) for k in range(self.wells))


@dataclass(frozen=True, slots=True)
class PlateUse:
    """How a lab uses its plates. AssayPilotError when no such plate exists."""

    size: int = 96
    """Wells of a plate: one of FORMATS."""
    controls: tuple[Control, ...] = ()
    edge: bool = True
    """Whether measurements may be in the outermost rows and columns; controls are where they were put."""
    same_wells: bool = False
    """Whether all endpoints are read from the same wells; if not, each endpoint has its own plates."""

    def __post_init__(self) -> None:
        if self.size not in FORMATS:
            sizes = ", ".join(map(str, FORMATS))
            raise AssayPilotError(
                f"there is no plate of {self.size} wells here", option="--plate", mend=f"Choose one of: {sizes}."
            )
        seen: set[str] = set()
        for control in self.controls:
            self._check(control)
            if control.name.casefold() in seen:
                raise AssayPilotError(
                    f"the control {control.name} is named twice", option=_COLUMNS, mend="Give all its columns at once."
                )
            seen.add(control.name.casefold())
        if not self._free_rows or not self._free_columns:
            raise AssayPilotError(
                f"no free well is left on a {self.format}",
                option=_COLUMNS if self.controls else "--no-edge",
                mend="Leave more columns to the compounds, or choose a larger plate.",
            )

    def _check(self, control: Control) -> None:
        name = control.name
        if not (name.strip() and name.isprintable() and len(name) <= _LONGEST_NAME and ";" not in name):
            raise AssayPilotError(
                f"the name of a control must have 1 to {_LONGEST_NAME} letters and no semicolon, got {name!r}",
                option=_COLUMNS,
                mend="For example max=1,12.",
            )
        if not control.columns:
            raise AssayPilotError(f"the columns of the control {control.name} are missing", option=_COLUMNS)
        for column in control.columns:
            if not 1 <= column <= self.format.columns:
                raise AssayPilotError(
                    f"a {self.format} has no column {column}",
                    option=_COLUMNS,
                    mend=f"Its columns are 1 to {self.format.columns}.",
                )

    @property
    def format(self) -> Format:
        """The kind of plate."""
        return FORMATS[self.size]

    @property
    def _free_rows(self) -> range:
        return range(self.format.rows) if self.edge else range(1, self.format.rows - 1)

    @property
    def _free_columns(self) -> tuple[int, ...]:
        taken = {column - 1 for control in self.controls for column in control.columns}
        all_columns = range(self.format.columns) if self.edge else range(1, self.format.columns - 1)
        return tuple(column for column in all_columns if column not in taken)

    @property
    def free_wells(self) -> int:
        """Wells of a plate that measurements may use."""
        return len(self._free_rows) * len(self._free_columns)

    def control_wells(self) -> dict[Well, str]:
        """Return the control wells of one plate, in reading order, with the control's name."""
        columns = sorted({column for control in self.controls for column in control.columns})
        found = {}
        for row in range(self.format.rows):
            for turn, column in enumerate(columns):
                names = [control.name for control in self.controls if column in control.columns]
                found[Well(row, column - 1)] = names[(row + turn) % len(names)]
        return found

    def grid(self, wells: int, what: str = "a measurement") -> Grid:
        """Return the places for measurements of so many wells: along rows or down columns, whichever gives more.

        A measurement longer than any line is folded into as few adjacent lines as can be, such as two rows of ten for
        a curve of ten concentrations in duplicate. AssayPilotError when not one fits.
        """
        free = self.free_wells
        for lines in range(1, wells + 1 if wells <= free else 1):
            length = -(-wells // lines)
            along, down = self._tiled(lines, length, wells), self._tiled(length, lines, wells, down=True)
            best = down if len(down) > len(along) else along
            if len(best):
                return best
        left = f"{free:,} free well" if free == 1 else f"{free:,} free wells"
        raise AssayPilotError(
            f"{what} takes {wells:,} wells, but a {self.format} has {left}"
            + (" and not so many together" if wells <= free else ""),
            option="--plate",
            mend="Choose a larger plate, or leave it more columns.",
        )

    def _tiled(self, height: int, width: int, wells: int, *, down: bool = False) -> Grid:
        """Return the places of one shape, packed from the top left.

        Controls within the plate are not reached across.
        """
        rows = self._free_rows
        tops = tuple(range(rows.start, rows.stop - height + 1, height))
        lefts: list[int] = []
        for _, run in groupby(enumerate(self._free_columns), key=lambda pair: pair[1] - pair[0]):
            columns = [column for _, column in run]
            lefts += range(columns[0], columns[-1] - width + 2, width)
        return Grid(tops, tuple(lefts), height, width, wells, down)


@dataclass(frozen=True, slots=True)
class Placed:
    """One measurement of a compound, or one of each endpoint where they share wells, and its place."""

    compound: int
    """Position in the library."""
    endpoints: tuple[int, ...]
    """Positions among the campaign's endpoints."""
    replicate: int
    """From 1, as in the work list."""
    wells: tuple[Well, ...]
    """In the order of the measurement, along a row or down a column; the first one names it."""

    @property
    def well(self) -> str:
        """The first well: ``B2``."""
        return str(self.wells[0])

    @property
    def range(self) -> str:
        """All wells: ``B2-B11``."""
        return wells_text(self.wells)


@dataclass(frozen=True, slots=True)
class Plate:
    """One plate of a round."""

    name: str
    """``R3-P1``: round 3, plate 1; unique in the campaign."""
    endpoints: tuple[int, ...]
    """Its endpoints: positions among the campaign's endpoints."""
    placed: tuple[Placed, ...]
    """In reading order of their first wells."""

    def contents(self) -> dict[Well, tuple[Placed, int]]:
        """Return the measurement in each well that has one, and which of its wells that is, from 1."""
        return {well: (placed, k) for placed in self.placed for k, well in enumerate(placed.wells, start=1)}


@dataclass(frozen=True)
class Layout:
    """The plates of a round."""

    use: PlateUse
    round: int
    plates: tuple[Plate, ...]

    @cached_property
    def _index(self) -> Mapping[tuple[int, int, int], tuple[Plate, Placed]]:
        # A plain dictionary: layouts go to other processes.
        return {
            (placed.compound, placed.replicate, endpoint): (plate, placed)
            for plate in self.plates
            for placed in plate.placed
            for endpoint in placed.endpoints
        }

    def find(self, compound: int, replicate: int, endpoint: int) -> tuple[Plate, Placed]:
        """Return the place of a measurement; KeyError when this round does not request it."""
        return self._index[compound, replicate, endpoint]

    def of(self, compound: int) -> Iterator[tuple[Plate, Placed]]:
        """Return the places of a compound's measurements, plate by plate."""
        return ((plate, placed) for plate in self.plates for placed in plate.placed if placed.compound == compound)


def read_controls(texts: tuple[str, ...] | list[str]) -> tuple[Control, ...]:
    """Return the controls that texts like ``max=1,12`` name.

    ``1,12`` alone means ``max`` and ``min``, alternating.

    AssayPilotError for what is no list of columns.
    """
    controls: list[Control] = []
    for text in texts:
        name, equals, columns = (part.strip() for part in text.rpartition("="))
        parts = [part.strip() for part in columns.split(",") if part.strip()]
        if not parts or not all(part.isascii() and part.isdigit() and len(part) < 4 for part in parts):
            raise AssayPilotError(
                f"{text.strip()!r} names no columns", option=_COLUMNS, mend="For example 1,12 or max=1."
            )
        places = tuple(dict.fromkeys(int(part) for part in parts))
        controls += [Control(name, places)] if equals else [Control("max", places), Control("min", places)]
    return tuple(controls)


def controls_text(controls: tuple[Control, ...]) -> str:
    """Return controls as they are typed, with semicolons between them: ``1, 12`` or ``max=1; min=12``."""
    written = [", ".join(map(str, control.columns)) for control in controls]
    if [control.name for control in controls] == ["max", "min"] and written[0] == written[1]:
        return written[0]
    return "; ".join(f"{control.name}={columns}" for control, columns in zip(controls, written, strict=True))
