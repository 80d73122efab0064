"""Tables in workbooks: which sheet, which cells, and what a spreadsheet's numbers and dates are as text."""

from __future__ import annotations

import datetime
import functools
import hashlib
import io
import json
import posixpath
import re
import struct
import zipfile
import zlib
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from decimal import Decimal
from typing import TYPE_CHECKING, Any
from xml.etree import ElementTree

from ..errors import AssayPilotError
from ..system.guarded import guarded
from ..system.limits import LARGEST_UNPACKED, LONGEST_CELL, MOST_PARTS, MOST_SPANNED
from ..system.memory import without_collecting
from ..system.progress import Report, part_of, silent
from ..text.statements import listed
from . import headers
from .arrangements import table_of
from .files import Kind, OpenedFile
from .raw import RawTable, fold, from_bytes, letters_of, rows_named, to_bytes, visible

if TYPE_CHECKING:
    from python_calamine import CalamineSheet, CalamineWorkbook


_LOOKED_AT = 60
"""Rows by which a sheet is told to hold a table."""
_PASSWORD = b"E\0n\0c\0r\0y\0p\0t\0e\0d\0P\0a\0c\0k\0a\0g\0e\0"
_WHOLE = 1e15
"""Below this every whole number of a spreadsheet is exact."""
_REFERENCE = re.compile(rb"\sr\s*=\s*[\"']([A-Za-z]*)(\d+)")
"""Where a cell or a row of a sheet stands."""
_CELL = re.compile(rb"<(?:\w+:)?c\b([^>]*)>(.*?)</(?:\w+:)?c>", re.S)
_VALUE = re.compile(rb"<(?:\w+:)?v[^>]*>([^<]*)<")
_HIDDEN = re.compile(rb"<(?:\w+:)?(?:row|col)\b([^>]*\shidden\s*=\s*[\"'](?:1|true)[\"'][^>]*)>")
_NUMBER = re.compile(rb"\s(r|min|max)\s*=\s*[\"'](\d{1,7})[\"']")
_NOT_SHOWN = re.compile(r'"[^"]*"|\\.|\[[^\]]*\]')
"""Parts of a number format that are no sign of it."""
_OFF = ("0", "false")


@dataclass(frozen=True, slots=True)
class SheetName:
    """A sheet of a workbook, as it is offered."""

    name: str
    hidden: bool


def sheet_names(file: OpenedFile, report: Report = silent) -> tuple[SheetName, ...]:
    """Return the sheets of a workbook that hold cells, in its order, hidden ones too."""
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
    come from anyone, and its reader keeps everything it says.

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
    looks = _looks(parts, place)
    _apply_looks(lines, looks, warnings)
    _fill_merged(lines, merged, warnings)
    numbers = [row for row, line in enumerate(lines, start=1) if line.count("") < len(line)]
    filled = [lines[row - 1] for row in numbers] if len(numbers) < len(lines) else lines
    table, drawn = table_of(filled, numbers, _text, file=file.name, warnings=warnings, header=header)
    if not drawn:
        _say_looks(lines, looks, table.rows, warnings)
    report(0.7, "Making text of numbers and dates")
    cells = tuple(map(_texts, table.cells))
    _say_dates(table.columns, table.cells, table.rows, warnings)
    report(1.0, "Table read")
    return RawTable(
        table.columns,
        cells,
        table.rows,
        encoding="",
        delimiter="",
        decimal=".",  # of numbers; a text with a decimal comma is read as such where it is unambiguous
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
        raise _locked(file.name)
    parts = _unpacked(file.data, file.name) if zipped else {}
    with _refusing_damage(file.name):
        try:
            return load_workbook(io.BytesIO(file.data)), parts
        except PasswordError:
            raise _locked(file.name) from None


def _locked(name: str) -> AssayPilotError:
    return AssayPilotError(
        "the workbook is protected by a password", file=name, mend="Save it without one and read that."
    )


def _damaged(name: str) -> AssayPilotError:
    return AssayPilotError(
        "this is no workbook, or a damaged one",
        file=name,
        mend="Open it in a spreadsheet and save it as xlsx or csv.",
    )


@contextmanager
def _refusing_damage(name: str) -> Iterator[None]:
    """Raise AssayPilotError for what the library raises of a damaged workbook."""
    from python_calamine import CalamineError

    try:
        yield
    except BaseException as error:
        # What the library's own language calls a panic is no Exception in Python's.
        if isinstance(error, (CalamineError, OSError, ValueError)) or type(error).__name__ == "PanicException":
            raise _damaged(name) from None
        raise


def _chosen(
    book: CalamineWorkbook, wanted: str | None, name: str, warnings: list[str]
) -> tuple[int, list[list[Any]], Sequence[tuple[tuple[int, int], tuple[int, int]]]]:
    """Return the place of the sheet to read, its cells row by row from the first on, and its merged ranges."""
    from python_calamine import SheetTypeEnum, SheetVisibleEnum

    about = book.sheets_metadata
    hidden = {one.name for one in about if one.visible is not SheetVisibleEnum.Visible}
    names = [one.name for one in about if one.typ is SheetTypeEnum.WorkSheet] or list(book.sheet_names)
    if wanted is not None:
        found = wanted if wanted in names else next((n for n in names if fold(n) == fold(wanted)), None)
        if found is None:
            raise AssayPilotError(
                f"there is no sheet {wanted!r}; the sheets are {', '.join(names)}",
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
            # A header merged downwards stands above two rows of headers; it is enough once.
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
    """Return the texts of a column; most hold nothing but texts or nothing but numbers, which go fast."""
    kinds = set(map(type, column))
    if kinds == {str}:
        return tuple(visible(text).strip() for text in column)
    if kinds == {float} and max(map(abs, column)) < _WHOLE:
        # Whole numbers are written without a point; nothing but them ends in .0.
        return tuple((repr(list(column))[1:-1] + ", ").replace(".0, ", ", ").split(", ")[:-1])
    return tuple(map(_text, column))


def _say_dates(
    columns: Sequence[str], cells: Sequence[Sequence[Any]], rows: Sequence[int], warnings: list[str]
) -> None:
    """Say where dates stand among other things: spreadsheets make dates of entries such as 5-1."""
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


# ---------------------------------------------------------------------- the zipped file beside its cells


@dataclass(frozen=True, slots=True)
class Looks:
    """What a sheet of xlsx says of its cells beside their values; places are rows and columns from 0."""

    failed: dict[tuple[int, int], str] = field(default_factory=dict)
    """What stands in cells whose formula failed (``#DIV/0!``), which the reader leaves empty."""
    percent: tuple[tuple[int, int], ...] = ()
    """Cells shown as per cent, which store a hundredth of what they show."""
    struck: tuple[tuple[int, int], ...] = ()
    """Cells that are struck through: labs do so for values that are not to be used."""
    hidden_rows: frozenset[int] = frozenset()
    hidden_columns: frozenset[int] = frozenset()
    filtered: bool = False


def _unpacked(data: bytes, name: str) -> dict[str, bytes]:
    """Return the parts of a zipped workbook, once it is known how large they are.

    AssayPilotError for a damaged archive, one that is no workbook, and one that reaches absurdly far.
    """
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as book:
            parts = book.infolist()
            whole = sum(part.file_size for part in parts)
            if whole > LARGEST_UNPACKED or len(parts) > MOST_PARTS:
                raise AssayPilotError(
                    f"the workbook would unpack to {whole / 1e9:.1f} GB in {len(parts):,} parts, which no table does",
                    file=name,
                    mend="Save only the sheet with the compounds.",
                )
            if any(part.flag_bits & 1 for part in parts):
                raise _locked(name)
            names = book.namelist()
            found = {part: book.read(part) for part in names if part.endswith((".xml", ".rels"))}
    except (zipfile.BadZipFile, zlib.error, struct.error, EOFError, OSError, NotImplementedError, ValueError):
        raise _damaged(name) from None
    if "xl/workbook.bin" in names:
        raise AssayPilotError("this is a binary workbook (xlsb), which is not read", file=name, mend="Save it as xlsx.")
    if "content.xml" not in names and not any("workbook" in part.lower() for part in names):
        raise AssayPilotError(
            "this is an archive or another kind of document, not a workbook",
            file=name,
            mend="Unpack it, or save the table as xlsx or csv.",
        )
    for part, text in found.items():
        if "worksheets/" in part.lower():
            _refuse_far(text, name)
    return found


def _refuse_far(text: bytes, name: str) -> None:
    """Refuse a sheet whose corners span more cells than a table has: the reader makes room for all of them."""
    letters, numbers = set(), set()
    for at in _REFERENCE.finditer(text):
        letters.add(at[1][:6])
        numbers.add(at[2][:12])
    rows, columns = max(map(int, numbers), default=0), max(map(_column_number, letters), default=0)
    if rows * max(columns, 1) > MOST_SPANNED:
        raise AssayPilotError(
            f"a sheet has cells as far away as row {rows:,} and column {columns:,}",
            file=name,
            mend="Delete the stray cells far from the table, or copy the table to a new workbook.",
        )


def _column_number(letters: bytes) -> int:
    """Return the number of a column, A being 1."""
    return functools.reduce(lambda number, letter: number * 26 + letter - 64, letters.upper(), 0)


def _looks(parts: Mapping[str, bytes], place: int) -> Looks:
    """Return what the sheet at ``place`` (from 0) says beside its values; nothing of it for ods."""
    path = _sheet_path(parts, place)
    if path is None:
        return Looks()
    text = parts[path]
    failed = {}
    if b't="e"' in text:
        for tag, inside in _CELL.findall(text):
            at, value = _REFERENCE.search(tag), _VALUE.search(inside)
            if b't="e"' in tag and at is not None and value is not None:
                failed[_place(at)] = value[1].decode("utf-8", "replace")
    percent, struck = (_styled(text, numbers) for numbers in _styles(parts))
    rows: set[int] = set()
    columns: set[int] = set()
    for tag in _HIDDEN.findall(text):
        numbers = {name: int(number) for name, number in _NUMBER.findall(tag)}
        if b"r" in numbers:
            rows.add(numbers[b"r"])
        elif b"min" in numbers:
            columns.update(range(numbers[b"min"], min(numbers.get(b"max", 0), numbers[b"min"] + 1_000) + 1))
    filtered = b"<autoFilter" in text or b"<filterColumn" in text
    return Looks(failed, percent, struck, frozenset(rows), frozenset(columns), filtered)


def _place(at: re.Match[bytes]) -> tuple[int, int]:
    return int(at[2]) - 1, _column_number(at[1]) - 1


def _styled(text: bytes, styles: Sequence[int]) -> tuple[tuple[int, int], ...]:
    """Return the places of the cells that have one of the styles, by their numbers."""
    if not styles:
        return ()
    numbers = b"|".join(str(style).encode() for style in styles)
    tags = re.findall(rb"<(?:\w+:)?c\b([^>]*\ss=[\"'](?:%b)[\"'][^>]*)>" % numbers, text)
    return tuple(_place(at) for at in map(_REFERENCE.search, tags) if at is not None)


def _styles(parts: Mapping[str, bytes]) -> tuple[list[int], list[int]]:
    """Return the numbers of the styles that show per cent, and of those that strike through."""
    root = _xml(parts, "xl/styles.xml")
    if root is None:
        return [], []
    formats = {"9", "10"}  # 0% and 0.00% (ECMA-376, part 1, 18.8.30)
    fonts: set[str] = set()
    styles: Sequence[ElementTree.Element] = ()
    for node in root.iter():
        kind = node.tag.rpartition("}")[2]
        if kind == "numFmt" and "%" in _NOT_SHOWN.sub("", node.get("formatCode", "")):
            formats.add(node.get("numFmtId", ""))
        elif kind == "fonts":
            lines = [next((n for n in font if n.tag.endswith("}strike")), None) for font in node]
            fonts |= {str(n) for n, line in enumerate(lines) if line is not None and line.get("val") not in _OFF}
        elif kind == "cellXfs":
            styles = list(node)
    percent = [number for number, node in enumerate(styles) if node.get("numFmtId") in formats]
    return percent, [number for number, node in enumerate(styles) if node.get("fontId") in fonts]


def _sheet_path(parts: Mapping[str, bytes], place: int) -> str | None:
    """Return the part that holds a sheet, by the order of the sheets in the workbook; None when there is none."""
    book, related = _xml(parts, "xl/workbook.xml"), _xml(parts, "xl/_rels/workbook.xml.rels")
    sheets = [] if book is None else [node for node in book.iter() if node.tag.endswith("}sheet")]
    if related is None or place >= len(sheets):
        return None
    key = next((value for name, value in sheets[place].attrib.items() if name.endswith("}id")), None)
    target = next((node.get("Target", "") for node in related.iter() if node.get("Id") == key), "")
    path = target.lstrip("/") if target.startswith("/") else posixpath.normpath(f"xl/{target}")
    return path if path in parts else None


def _xml(parts: Mapping[str, bytes], part: str) -> ElementTree.Element | None:
    """Return the root of a part; None when it is missing, or no XML in an encoding that is known."""
    try:
        return ElementTree.fromstring(parts[part])
    except (KeyError, ElementTree.ParseError, LookupError, ValueError):
        return None


def _apply_looks(lines: list[list[Any]], looks: Looks, warnings: list[str]) -> None:
    """Write what failed formulas show into their cells, and multiply what is shown as per cent by 100, which is said.

    Nobody who sees 25 % in a column of inhibitions means a quarter of one per cent.
    """
    for (row, column), text in looks.failed.items():
        if row < len(lines) and column < len(lines[row]):
            lines[row][column] = text
    changed: Counter[str] = Counter()
    for row, column in looks.percent:
        if row < len(lines) and column < len(lines[row]) and type(lines[row][column]) in (int, float):
            # As decimals, so that 0.07 becomes 7 and not 7.000000000000001.
            lines[row][column] = float(Decimal(repr(lines[row][column])) * 100)
            changed[letters_of(column + 1)] += 1
    if changed:
        warnings.append(
            f"Shown as per cent in the sheet and read as shown, 25 for 25%: numbers of column {listed(list(changed))} "
            f"({changed.total():,})."
        )


def _say_looks(lines: Sequence[Sequence[Any]], looks: Looks, rows: Sequence[int], warnings: list[str]) -> None:
    """Say which cells of the table are struck through, and which of its rows and columns are hidden.

    ``lines``: the cells of the sheet, from its first row and column on; ``rows``: those of the table, from 1.
    """
    inside, width = set(rows), max(map(len, lines), default=0)
    struck = [
        f"{letters_of(column + 1)}{row + 1}"
        for row, column in looks.struck
        if row + 1 in inside and column < len(lines[row]) and lines[row][column] != ""
    ]
    if struck:
        warnings.append(
            f"Struck through in the sheet and read like all others: {listed(struck)}. Empty what is not to be used."
        )
    hidden = [row for row in rows if row in looks.hidden_rows]
    if hidden:
        warnings.append(
            f"Hidden in the sheet{' by its filter' if looks.filtered else ''} and read, too: {len(hidden):,} of "
            f"{len(rows):,} rows ({rows_named(hidden).lower()}). If they do not belong to the table, copy what is "
            "shown to a new sheet."
        )
    unseen = [letters_of(column) for column in sorted(looks.hidden_columns) if column <= width]
    if unseen:
        warnings.append(f"Hidden in the sheet and read, too: column {listed(unseen)}.")
