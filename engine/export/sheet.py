"""Tables as rows and columns, and how they are written as csv that spreadsheets open as it is meant."""

from __future__ import annotations

import csv
import io
import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from numbers import Integral, Real
from pathlib import Path
from typing import TYPE_CHECKING, SupportsFloat

from ..system.progress import Report, silent
from ..system.resources import without_collecting
from ..tables.raw import FORMULA
from .formats import whole_file, write_whole

if TYPE_CHECKING:
    from .contents import Contents


Cell = str | int | float | bool | None
"""Types of a cell; None, NaN and infinities become an empty cell."""


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
        """Return the cells under a header."""
        place = self.header.index(name)
        return tuple(row[place] for row in self.rows)

    def texts(self, empty: str = "") -> list[list[str]]:
        """Return the cells of every row as people read them; ``empty`` where there is nothing."""
        digits = self.digits or (None,) * len(self.header)
        return [[_text(cell, n, empty) for cell, n in zip(row, digits, strict=True)] for row in self.rows]

    def only(self, names: Sequence[str]) -> Sheet:
        """Return the table with these columns, in this order."""
        places = [self.header.index(name) for name in names]
        rows = tuple(tuple(row[place] for place in places) for row in self.rows)
        return Sheet(tuple(names), rows, tuple(self.digits[place] for place in places) if self.digits else ())

    def with_columns(self, columns: Sequence[Column]) -> Sheet:
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


_REPORT_EVERY = 1_000
_SIGNS = ("'", *FORMULA)
"""First characters of texts that need a check."""


def write(path: Path, contents: Contents, report: Report = silent) -> int:
    """Return the number of compounds written: the shortlist, with where it comes from in every row.

    ``report`` may raise Cancelled; then there is no file, or the one that was there.
    """
    report(0.0, "Collecting the shortlist")
    with without_collecting():
        sheet = contents.shortlist_with_provenance
        return write_csv(path, sheet.header, sheet.rows, report=report)


def write_csv(
    path: str | Path,
    header: Sequence[str],
    rows: Iterable[Sequence[Cell]],
    *,
    report: Report = silent,
) -> int:
    """Return the number of rows written below the header.

    UTF-8 with a byte-order mark, commas, CRLF. Text that a spreadsheet would run as a formula gets a leading ``'``,
    which our reader removes; numbers are written so that reading them back gives the same number. The file appears
    only when it is complete, by way of a temporary file. AssayPilotError when that fails.
    """
    path = Path(path)
    count = 0
    with whole_file(path) as temporary, temporary.open("w", encoding="utf-8-sig", newline="") as file:
        writer = csv.writer(file, lineterminator="\r\n")
        writer.writerow([_guarded(cell) for cell in header])
        for row in rows:
            if len(row) != len(header):
                raise ValueError("every row must have one cell per header")
            writer.writerow([_guarded(cell) for cell in row])
            count += 1
            if count % _REPORT_EVERY == 0:
                report(0.5, f"Writing rows: {count:,}")
        report(0.95, "Writing the file")
    return count


def write_plain_csv(path: str | Path, header: Sequence[str], rows: Iterable[Sequence[Cell]]) -> None:
    """Write a csv for another program than a spreadsheet: no byte-order mark, no sign before formulas."""
    buffer = io.StringIO(newline="")
    writer = csv.writer(buffer, lineterminator="\r\n")
    writer.writerow(header)
    writer.writerows([plain(cell) for cell in row] for row in rows)
    write_whole(Path(path), buffer.getvalue().encode("utf-8"))


def _guarded(cell: Cell) -> str:
    if type(cell) is str:
        # A text that already starts with ' before such a sign gets one more, so that reading back is exact.
        return f"'{cell}" if cell[:1] in _SIGNS and cell.lstrip("'").startswith(FORMULA) else cell
    return plain(cell)


def plain(cell: Cell) -> str:
    """Return a cell as text.

    Numbers so that reading them back gives the same, nothing for None and what is not finite.
    """
    if cell is None:
        return ""
    if isinstance(cell, str):
        return cell
    if type(cell) is float:
        return repr(cell) if math.isfinite(cell) else ""
    if isinstance(cell, bool):
        return "yes" if cell else "no"
    if isinstance(cell, Integral):
        return str(int(cell))
    if isinstance(cell, (Real, SupportsFloat)):
        number = float(cell)
        return repr(number) if math.isfinite(number) else ""
    raise TypeError(f"a cell cannot hold {type(cell).__name__}")
