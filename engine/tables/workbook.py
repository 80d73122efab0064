"""Tables in workbooks: which sheet, which cells, and what a spreadsheet's numbers and dates are as text."""

from __future__ import annotations

import datetime
import hashlib
import io
import json
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from ..errors import AssayPilotError
from ..system.guarded import LONGEST_CELL, guarded
from ..system.progress import Report, part_of, silent
from ..system.resources import without_collecting
from . import headers
from .arrangements import table_of
from .raw import Kind, OpenedFile, RawTable, fold, from_bytes, rows_named, to_bytes, visible
from .values import decimal_mark, thousands_read, with_decimal
from .zipped_sheets import apply_looks, damaged, locked, looks_of, unpacked, warn_of_looks

if TYPE_CHECKING:
    from python_calamine import CalamineSheet, CalamineWorkbook


_LOOKED_AT = 60
"""Rows that decide whether a sheet has a table."""
_PASSWORD = b"E\0n\0c\0r\0y\0p\0t\0e\0d\0P\0a\0c\0k\0a\0g\0e\0"
_WHOLE = 1e15
"""Below this every whole number of a spreadsheet is exact."""


@dataclass(frozen=True, slots=True)
class SheetName:
    """A sheet of a workbook, as it is offered."""

    name: str
    hidden: bool


def sheet_names(file: OpenedFile, report: Report = silent) -> tuple[SheetName, ...]:
    """Return the sheets of a workbook with cells, in its order, also hidden ones."""
    found = guarded(_sheets_there, file.data, file.name, report=report, file=file.name)
    return tuple(SheetName(name, hidden) for name, hidden in json.loads(found))


def _sheets_there(data: bytes, name: str, report: Report) -> bytes:
    """Return the sheets as JSON; in a process of its own."""
    report(0.0, f"Reading {name}")
    book, _ = _opened(OpenedFile(name, "", data, Kind.WORKBOOK))
    return json.dumps([[one.name, one.hidden] for one in _sheets_of(book)]).encode()


def _sheets_of(book: CalamineWorkbook) -> tuple[SheetName, ...]:
    from python_calamine import SheetTypeEnum, SheetVisibleEnum

    return tuple(
        SheetName(one.name, one.visible is not SheetVisibleEnum.Visible)
        for one in book.sheets_metadata
        if one.typ is SheetTypeEnum.WorkSheet
    )


def read_workbook(
    file: OpenedFile, sheet: str | None, report: Report, *, header: tuple[int, int] | None = None
) -> RawTable:
    """Return the table in a sheet of an xlsx, xlsm, xls or ods workbook; formulas have their saved values.

    ``header`` as ``lay_out`` takes it. A process of its own reads it, within limits of time and memory: the file may
    come from anyone, and its reader keeps all of its contents.

    AssayPilotError when there is no such sheet, no sheet with a table, or the workbook cannot be opened.
    """
    found = guarded(_table_in, file.data, file.name, sheet, header, report=part_of(report, 0.05, 0.95), file=file.name)
    report(0.95, "Taking the table")
    return replace(from_bytes(found), digest=hashlib.sha256(file.data).hexdigest())


def _table_in(data: bytes, name: str, sheet: str | None, header: list[int] | None, report: Report) -> bytes:
    """Return the table as bytes; in a process of its own."""
    file = OpenedFile(name, "", data, Kind.WORKBOOK)
    with without_collecting():
        return to_bytes(_read(file, sheet, report, None if header is None else (header[0], header[1])))


def _read(file: OpenedFile, sheet: str | None, report: Report, header: tuple[int, int] | None) -> RawTable:
    book, parts = _opened(file)
    report(0.15, f"Reading {file.name}")
    warnings: list[str] = []
    place, lines, merged = _chosen(book, sheet, file.name, warnings)
    report(0.55, "Reading cells")
    looks = looks_of(parts, place)
    apply_looks(lines, looks, warnings)
    _fill_merged(lines, merged, warnings)
    numbers = [row for row, line in enumerate(lines, start=1) if line.count("") < len(line)]
    filled = [lines[row - 1] for row in numbers] if len(numbers) < len(lines) else lines
    table, drawn = table_of(filled, numbers, _text, file=file.name, warnings=warnings, header=header)
    if not drawn:
        warn_of_looks(lines, looks, table.rows, warnings)
    report(0.7, "Making text of numbers and dates")
    # What is entered as text has marks of its own, column by column; numbers have none but a point.
    cells = thousands_read(table.columns, tuple(map(_texts, table.cells)), ",", warnings)
    cells = tuple(tuple(with_decimal(column, decimal_mark([column], ",", []), ".")) for column in cells)
    _warn_of_dates(table.columns, table.cells, table.rows, warnings)
    report(1.0, "Table read")
    return RawTable(
        table.columns,
        cells,
        table.rows,
        encoding="",
        delimiter="",
        decimal=".",
        file=file.name,
        digest="",
        warnings=tuple(warnings),
        kind="workbook",
        sheet=book.sheet_names[place],
        header=table.header,
    )


# ---------------------------------------------------------------------- the workbook and its sheet


def _opened(file: OpenedFile) -> tuple[CalamineWorkbook, dict[str, bytes]]:
    """Return the workbook, and its parts where it is a zipped one."""
    from python_calamine import PasswordError, load_workbook

    zipped = file.data.startswith(b"PK")
    if not zipped and _PASSWORD in file.data:
        raise locked(file.name)
    parts = unpacked(file.data, file.name) if zipped else {}
    with _refusing_damage(file.name):
        try:
            return load_workbook(io.BytesIO(file.data)), parts
        except PasswordError:
            raise locked(file.name) from None


@contextmanager
def _refusing_damage(name: str) -> Iterator[None]:
    """Raise AssayPilotError for what the library raises of a damaged workbook."""
    from python_calamine import CalamineError

    try:
        yield
    except BaseException as error:
        # What the library's own language calls a panic is no Exception in Python's.
        if isinstance(error, (CalamineError, OSError, ValueError)) or type(error).__name__ == "PanicException":
            raise damaged(name) from None
        raise


def _chosen(
    book: CalamineWorkbook, requested: str | None, name: str, warnings: list[str]
) -> tuple[int, list[list[Any]], Sequence[tuple[tuple[int, int], tuple[int, int]]]]:
    """Return the place of the sheet to read, its cells row by row from the first on, and its merged ranges."""
    from python_calamine import SheetTypeEnum, SheetVisibleEnum

    about = book.sheets_metadata
    hidden = {one.name for one in about if one.visible is not SheetVisibleEnum.Visible}
    names = [one.name for one in about if one.typ is SheetTypeEnum.WorkSheet] or list(book.sheet_names)
    if requested is not None:
        found = requested if requested in names else next((n for n in names if fold(n) == fold(requested)), None)
        if found is None:
            raise AssayPilotError(
                f"there is no sheet {requested!r}; the sheets are {', '.join(names)}",
                file=name,
                option="--sheet",
                mend="Name one of them.",
            )
        lines, merged = _cells(book, found, name)
        if found in hidden:
            warnings.append(f"The sheet {found} is hidden in the workbook.")
        if not lines:
            raise AssayPilotError(f"the sheet {found} is empty", file=name, option="--sheet", mend="Name another one.")
        return book.sheet_names.index(found), lines, merged
    candidates = [one for one in names if one not in hidden] or names
    best: tuple[int, str, list[list[Any]], Any] | None = None
    for one in candidates:
        lines, merged = _cells(book, one, name)
        score = _likeness(lines)
        if score and (best is None or score > best[0]):
            best = score, one, lines, merged
        if best is not None and best[0] == 2:
            break
    if best is None:
        also = f" (hidden: {', '.join(sorted(hidden))})" if hidden else ""
        raise AssayPilotError(f"no sheet of the workbook holds a table{also}", file=name, mend="Name the sheet.")
    _, chosen, lines, merged = best
    others = [one for one in names if one != chosen and one not in hidden]
    if others or hidden:
        parts = [f"Others: {', '.join(others)}"] if others else []
        parts += [f"Hidden: {', '.join(one for one in names if one in hidden)}"] if hidden else []
        warnings.append(f"The sheet {chosen} was read. {'. '.join(parts)}.")
    return book.sheet_names.index(chosen), lines, merged


def _likeness(lines: Sequence[Sequence[Any]]) -> int:
    """How like a table a sheet looks: 0 not at all, 1 with two columns and rows, 2 with headers chemists use."""
    rows = [[text for text in map(_text, line) if text] for line in lines[:_LOOKED_AT]]
    if sum(len(row) > 1 for row in rows) < 2:
        return 0
    return 2 if any(sum(map(headers.is_known, row)) > 1 or headers.is_export(row) for row in rows) else 1


def _cells(
    book: CalamineWorkbook, sheet: str, name: str
) -> tuple[list[list[Any]], Sequence[tuple[tuple[int, int], tuple[int, int]]]]:
    with _refusing_damage(name):
        found: CalamineSheet = book.get_sheet_by_name(sheet)
        if found.end is None:
            return [], ()
        lines, merged = found.to_python(skip_empty_area=False), found.merged_cell_ranges or ()
    for row, line in enumerate(lines, start=1):
        if any(type(value) is str and len(value) > LONGEST_CELL for value in line):
            raise AssayPilotError(
                f"a cell has more than {LONGEST_CELL:,} characters",
                file=name,
                row=row,
                mend="Shorten it, or leave its column out.",
            )
    return lines, merged


# ---------------------------------------------------------------------- cells


def _fill_merged(
    lines: list[list[Any]], merged: Sequence[tuple[tuple[int, int], tuple[int, int]]], warnings: list[str]
) -> None:
    """Repeat a cell merged over several rows in each of them; below a header that is noted."""
    filled = []
    for (top, left), (bottom, right) in merged:
        if top == bottom or left != right or bottom >= len(lines) or left >= len(lines[top]):
            continue
        value = lines[top][left]
        for row in range(top + 1, bottom + 1):
            # A header merged downwards spans two rows of headers; once is enough.
            if value != "" and lines[row][left] == "" and not (isinstance(value, str) and headers.is_known(value)):
                lines[row][left] = value
                filled.append(row + 1)
    if filled:
        warnings.append(f"{rows_named(sorted(set(filled)))}: the value of a merged cell is repeated.")


def _text(value: Any) -> str:
    """Return a cell as text, trimmed: whole numbers without a point, dates as 2024-05-31."""
    kind = value.__class__
    if kind is str:
        return visible(value).strip()
    if kind is float:
        return str(int(value)) if value.is_integer() and abs(value) < _WHOLE else repr(value)
    if kind is bool:
        return "TRUE" if value else "FALSE"
    if isinstance(value, datetime.datetime):
        midnight = value.time() == datetime.time()
        return value.date().isoformat() if midnight else value.isoformat(" ", "seconds")
    return value.isoformat() if isinstance(value, datetime.date | datetime.time) else str(value)


def _texts(column: tuple[Any, ...]) -> tuple[str, ...]:
    """Return the texts of a column; columns of only texts or only numbers, the usual ones, are fast."""
    kinds = set(map(type, column))
    if kinds == {str}:
        return tuple(visible(text).strip() for text in column)
    if kinds == {float} and max(map(abs, column)) < _WHOLE:
        # Whole numbers are written without a point; nothing but them ends in .0.
        return tuple((repr(list(column))[1:-1] + ", ").replace(".0, ", ", ").split(", ")[:-1])
    return tuple(map(_text, column))


def _warn_of_dates(
    columns: Sequence[str], cells: Sequence[Sequence[Any]], rows: Sequence[int], warnings: list[str]
) -> None:
    """Warn of dates among other entries: spreadsheets make dates of entries such as 5-1."""
    for name, column in zip(columns, cells, strict=True):
        kinds = set(map(type, column))
        dated = kinds & {datetime.date, datetime.datetime}
        if not dated or headers.role_of(name) == "date" or _filled(column) <= dated:
            continue
        places = [row for row, value in zip(rows, column, strict=True) if type(value) in dated]
        warnings.append(
            f"Column {name} has dates among other entries ({rows_named(places).lower()}); a spreadsheet makes dates of "
            "texts such as 5-1."
        )


def _filled(column: Sequence[Any]) -> set[type]:
    """Return the types of the cells that are not empty."""
    return {type(value) for value in column if value != ""}
