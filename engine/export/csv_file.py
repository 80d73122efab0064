"""Writes a table as csv that spreadsheets open as it is meant, whole or not at all."""

from __future__ import annotations

import csv
import io
import math
from collections.abc import Iterable, Sequence
from numbers import Integral, Real
from pathlib import Path
from typing import TYPE_CHECKING, SupportsFloat

from ..system.memory import without_collecting
from ..system.progress import Report, silent
from ..tables.raw import FORMULA
from .sheet import Cell
from .whole import whole_file, write_whole

if TYPE_CHECKING:
    from .contents import Contents

_REPORT_EVERY = 1_000
_SIGNS = ("'", *FORMULA)
"""What a text begins with that has to be looked at."""


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
    only when it is complete, written beside its place and then moved. AssayPilotError when that fails.
    """
    path = Path(path)
    count = 0
    with whole_file(path) as beside, beside.open("w", encoding="utf-8-sig", newline="") as file:
        writer = csv.writer(file, lineterminator="\r\n")
        writer.writerow([_text(cell) for cell in header])
        for row in rows:
            if len(row) != len(header):
                raise ValueError("every row must have one cell per header")
            writer.writerow([_text(cell) for cell in row])
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


def _text(cell: Cell) -> str:
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
