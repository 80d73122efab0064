"""Facts in a zipped workbook besides the values of cells: failed formulas, per cents, struck and hidden cells."""

from __future__ import annotations

import functools
import io
import posixpath
import re
import struct
import zipfile
import zlib
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any
from xml.etree import ElementTree

from ..errors import AssayPilotError
from ..system.guarded import LARGEST_UNPACKED, MOST_PARTS, MOST_SPANNED
from ..text import in_letters, listed
from .raw import rows_named

_REFERENCE = re.compile(rb"\sr\s*=\s*[\"']([A-Za-z]*)(\d+)")
"""The position of a cell or a row of a sheet."""
_CELL = re.compile(rb"<(?:\w+:)?c\b([^>]*)>(.*?)</(?:\w+:)?c>", re.S)
_FORMULA = re.compile(rb"<(?:\w+:)?f[ >/]")
NEVER_CALCULATED = "#CALC!"
"""In place of a formula whose value was not stored, as programs other than spreadsheets leave it."""
_VALUE = re.compile(rb"<(?:\w+:)?v[^>]*>([^<]*)<")
_HIDDEN = re.compile(rb"<(?:\w+:)?(?:row|col)\b([^>]*\shidden\s*=\s*[\"'](?:1|true)[\"'][^>]*)>")
_NUMBER = re.compile(rb"\s(r|min|max)\s*=\s*[\"'](\d{1,7})[\"']")
_NOT_SHOWN = re.compile(r'"[^"]*"|\\.|\[[^\]]*\]')
"""Parts of a number format that are no sign of it."""
_OFF = ("0", "false")


def locked(name: str) -> AssayPilotError:
    """Return the refusal of a workbook with a password."""
    return AssayPilotError(
        "the workbook is protected by a password", file=name, mend="Save it without one and read that."
    )


def damaged(name: str) -> AssayPilotError:
    """Return the refusal of what is no whole workbook."""
    return AssayPilotError(
        "this is no workbook, or a damaged one",
        file=name,
        mend="Open it in a spreadsheet and save it as xlsx or csv.",
    )


@dataclass(frozen=True, slots=True)
class Looks:
    """Facts about the cells of an xlsx sheet besides their values; places are rows and columns from 0."""

    failed: dict[tuple[int, int], str] = field(default_factory=dict)
    """The texts of cells whose formula failed (``#DIV/0!``), which the reader leaves empty."""
    percent: tuple[tuple[int, int], ...] = ()
    """Cells shown as per cent, which store a hundredth of what they show."""
    struck: tuple[tuple[int, int], ...] = ()
    """Cells that are struck through: labs do so for values that are not to be used."""
    hidden_rows: frozenset[int] = frozenset()
    hidden_columns: frozenset[int] = frozenset()
    filtered: bool = False


def unpacked(data: bytes, name: str) -> dict[str, bytes]:
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
                raise locked(name)
            names = book.namelist()
            found = {part: book.read(part) for part in names if part.endswith((".xml", ".rels"))}
    # NotImplementedError: packed in a way that zipfile does not know.
    except (zipfile.BadZipFile, zlib.error, struct.error, EOFError, OSError, NotImplementedError, ValueError):
        raise damaged(name) from None
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


def looks_of(parts: Mapping[str, bytes], place: int) -> Looks:
    """Return the looks of the sheet at ``place`` (from 0); none for ods."""
    path = _sheet_path(parts, place)
    if path is None:
        return Looks()
    text = parts[path]
    failed = {}
    if b't="e"' in text or _FORMULA.search(text):
        for tag, inside in _CELL.findall(text):
            at, value = _REFERENCE.search(tag), _VALUE.search(inside)
            if b't="e"' in tag and at is not None and value is not None:
                failed[_place(at)] = value[1].decode("utf-8", "replace")
            elif at is not None and not (value and value[1]) and b't="str"' not in tag and _FORMULA.search(inside):
                failed[_place(at)] = NEVER_CALCULATED
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
    """Return the part of a sheet, by the order of the sheets in the workbook; None when there is none."""
    book, related = _xml(parts, "xl/workbook.xml"), _xml(parts, "xl/_rels/workbook.xml.rels")
    sheets = [] if book is None else [node for node in book.iter() if node.tag.endswith("}sheet")]
    if related is None or place >= len(sheets):
        return None
    key = next((value for name, value in sheets[place].attrib.items() if name.endswith("}id")), None)
    target = next((node.get("Target", "") for node in related.iter() if node.get("Id") == key), "")
    path = target.lstrip("/") if target.startswith("/") else posixpath.normpath(f"xl/{target}")
    return path if path in parts else None


def _xml(parts: Mapping[str, bytes], part: str) -> ElementTree.Element | None:
    """Return the root of a part; None when it is missing, or no XML in a known encoding."""
    try:
        return ElementTree.fromstring(parts[part])
    except (KeyError, ElementTree.ParseError, LookupError, ValueError):
        return None


def apply_looks(lines: list[list[Any]], looks: Looks, warnings: list[str]) -> None:
    """Write the errors of failed formulas into their cells, and multiply per cents by 100, with warnings.

    25 % in a column of inhibitions does not mean a quarter of one per cent.
    """
    for (row, column), text in looks.failed.items():
        if row < len(lines) and column < len(lines[row]):
            lines[row][column] = text
    changed: Counter[str] = Counter()
    for row, column in looks.percent:
        if row < len(lines) and column < len(lines[row]) and type(lines[row][column]) in (int, float):
            # As decimals, so that 0.07 becomes 7 and not 7.000000000000001.
            lines[row][column] = float(Decimal(repr(lines[row][column])) * 100)
            changed[in_letters(column)] += 1
    if changed:
        warnings.append(
            f"Shown as per cent in the sheet and read as shown, 25 for 25%: numbers of column {listed(list(changed))} "
            f"({changed.total():,})."
        )


def warn_of_looks(lines: Sequence[Sequence[Any]], looks: Looks, rows: Sequence[int], warnings: list[str]) -> None:
    """Warn of cells of the table that are struck through, and of hidden rows and columns.

    ``lines``: the cells of the sheet, from its first row and column on; ``rows``: those of the table, from 1.
    """
    inside, width = set(rows), max(map(len, lines), default=0)
    struck = [
        f"{in_letters(column)}{row + 1}"
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
    unseen = [in_letters(column - 1) for column in sorted(looks.hidden_columns) if column <= width]
    if unseen:
        warnings.append(f"Hidden in the sheet and read, too: column {listed(unseen)}.")
