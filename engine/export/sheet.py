"""A table ready to be written: headers, rows, and how many decimals each column shows."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from numbers import Integral

Cell = str | int | float | bool | None
"""What a cell may hold; None, NaN and infinities become an empty cell."""


@dataclass(frozen=True, slots=True)
class Column:
    """One column."""

    name: str
    cells: Sequence[Cell]
    digits: int | None = None
    """Decimals that its numbers show; below 0 significant digits instead; None: as many as they have."""


@dataclass(frozen=True, slots=True)
class Sheet:
    """A table ready to be written."""

    header: tuple[str, ...]
    """Unique, without regard to case."""
    rows: tuple[tuple[Cell, ...], ...]
    digits: tuple[int | None, ...] = ()
    """Decimals that each column's numbers show, as in ``Column``; empty: None for all."""

    def column(self, name: str) -> tuple[Cell, ...]:
        """Return the cells under a header; KeyError when there is none of that name."""
        if name not in self.header:
            raise KeyError(name)
        place = self.header.index(name)
        return tuple(row[place] for row in self.rows)

    def texts(self, empty: str = "") -> list[list[str]]:
        """Return the cells of every row as people read them; ``empty`` where there is nothing."""
        digits = self.digits or (None,) * len(self.header)
        return [[_text(cell, n, empty) for cell, n in zip(row, digits, strict=True)] for row in self.rows]

    def only(self, names: Sequence[str]) -> Sheet:
        """Return the table with these columns, in this order; KeyError for one it does not have."""
        unknown = [name for name in names if name not in self.header]
        if unknown:
            raise KeyError(unknown[0])
        places = [self.header.index(name) for name in names]
        rows = tuple(tuple(row[place] for place in places) for row in self.rows)
        return Sheet(tuple(names), rows, tuple(self.digits[place] for place in places) if self.digits else ())

    def beside(self, columns: Sequence[Column]) -> Sheet:
        """Return the table with further columns behind its own, a number behind headers that are taken."""
        if not columns:
            return self
        header = unique([*self.header, *(column.name for column in columns)])
        more = zip(*(column.cells for column in columns), strict=True)
        rows = tuple((*row, *cells) for row, cells in zip(self.rows, more, strict=True))
        own = self.digits or (None,) * len(self.header)
        return Sheet(header, rows, (*own, *(column.digits for column in columns)))


def _text(cell: Cell, digits: int | None, empty: str) -> str:
    """Return a cell as text; ``digits`` as in ``Column``."""
    if isinstance(cell, bool):
        return "yes" if cell else "no"
    if isinstance(cell, Integral):
        return f"{int(cell):,}"
    if not isinstance(cell, float):
        return str(cell or empty)
    if not math.isfinite(cell):
        return empty
    return f"{cell:.10g}" if digits is None else f"{cell:.{digits}f}" if digits >= 0 else f"{cell:.{-digits}g}"


def sheet_of(columns: Sequence[Column]) -> Sheet:
    """Return the table of columns of equal length, a number behind headers that repeat another one."""
    rows = tuple(zip(*(column.cells for column in columns), strict=True))
    return Sheet(unique([column.name for column in columns]), rows, tuple(column.digits for column in columns))


def rounded(values: Iterable[float | None], digits: int) -> list[float | None]:
    """Numbers to so many decimals; None where there is none."""
    return [None if value is None or not math.isfinite(value) else round(float(value), digits) for value in values]


def unique(names: Sequence[str]) -> tuple[str, ...]:
    """Return the names, a number behind those that repeat another one but for case."""
    made: list[str] = []
    taken: set[str] = set()
    for name in names:
        number, free = 2, name
        while free.casefold() in taken:
            free = f"{name} ({number})"
            number += 1
        made.append(free)
        taken.add(free.casefold())
    return tuple(made)
