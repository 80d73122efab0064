"""A zipped workbook beside its cells: its true sizes, formulas that failed, and what its looks mean.

Cells may be struck through or shown as per cent, rows and columns hidden.
"""

from __future__ import annotations

import io
import posixpath
import re
import struct
import zipfile
import zlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any
from xml.etree import ElementTree

from ..errors import AssayPilotError
from ..system.limits import LARGEST_PART, LARGEST_UNPACKED, LONGEST_CELL, MOST_PARTS, MOST_SPANNED
from ..text.statements import listed
from .raw import letters_of, rows_named

_LARGEST_XML = 20_000_000
"""Bytes of a part that is read as a tree: styles and lists of sheets have less."""


def _within(columns: bytes, rows: bytes) -> re.Pattern[bytes]:
    """Return what finds a tag that is no plain one of a table whose cells end at these columns and rows."""
    return re.compile(
        rb"<[^/](?!(?<=v)>|(?<=c) r=\"%b%b\"|(?<=r)ow r=\"%b\"|(?<=[ft])[ >]|(?<=i)s>)" % (columns, rows, rows)
    )


_BOUNDS = (
    (26, 999_999, _within(rb"[A-Z]?", rb"\d{1,6}")),
    (78, 299_999, _within(rb"[AB]?[A-Z]", rb"[12]?\d{1,5}")),
    (702, 39_999, _within(rb"[A-Z]{1,2}", rb"[1-3]?\d{1,4}")),
)
"""Columns and rows within which no sheet has too many cells, and what finds anything beyond or out of the ordinary."""
_REFERENCE = re.compile(rb"\sr\s*=\s*[\"']([A-Za-z]+)(\d+)")
_ROW = re.compile(rb"<(?:\w+:)?row\b[^>]{0,200}?\sr\s*=\s*[\"'](\d+)")
_MOST_DIGITS = 7
_UNIQUE = re.compile(rb"uniqueCount\s*=\s*[\"'](\d+)")
_TEXT_END = re.compile(rb"</(?:\w+:)?si>")
_MOST_BYTES_A_SIGN = 8
"""Bytes of a sign in XML, ``&#x1F600;`` and runs of one format apart."""
_SHORTEST_TEXT = 5
"""Bytes of ``<si/>``, the least that one shared text takes."""
_REPEATED_CELL = re.compile(rb"<table:table-cell\b[^>]*number-columns-repeated\s*=\s*[\"']\s*(\d{3,})[^>]*>")
_REPEATED_ROW = re.compile(
    rb"<table:table-row\b[^>]*number-rows-repeated\s*=\s*[\"']\s*(\d{3,})[^>]*>(.*?)</table:table-row>", re.S
)
_CELL = re.compile(rb"<(?:\w+:)?c\b([^>]*)>(.*?)</(?:\w+:)?c>", re.S)
_VALUE = re.compile(rb"<(?:\w+:)?v[^>]*>([^<]*)<")


@dataclass(frozen=True, slots=True)
class Archive:
    """The parts of a workbook that may be opened."""

    book: zipfile.ZipFile
    failing: frozenset[str]
    """The sheets' parts in which a formula failed."""


Failed = dict[tuple[int, int], str]
"""What stands in cells whose formula failed (``#DIV/0!``), by row and column from 0."""


def inspect(data: bytes, name: str) -> Archive:
    """Return the archive, once it is known that it unpacks to what it says and no sheet reaches absurdly far.

    AssayPilotError for a damaged archive, one that is no workbook, and one that would fill the memory.
    """
    try:
        book = zipfile.ZipFile(io.BytesIO(data))
        parts = book.infolist()
    except (zipfile.BadZipFile, ValueError, OSError, NotImplementedError, struct.error):
        raise AssayPilotError(
            "the workbook is damaged: it cannot be unpacked", file=name, mend="Open it in a spreadsheet and save it."
        ) from None
    _refuse_sizes(parts, name)
    names = {part.filename.lower() for part in parts}
    if "xl/workbook.bin" in names:
        raise AssayPilotError("this is a binary workbook (xlsb), which is not read", file=name, mend="Save it as xlsx.")
    if "content.xml" not in names and not any("workbook" in part for part in names):
        raise AssayPilotError(
            "this is an archive or another kind of document, not a workbook",
            file=name,
            mend="Unpack it, or save the table as xlsx or csv.",
        )
    failing = set()
    for part in parts:
        if part.flag_bits & 1:
            raise AssayPilotError(
                "the workbook is protected by a password", file=name, mend="Save it without one and read that."
            )
        text = _unpacked(book, part, name)
        lowered = part.filename.lower()
        if "worksheets/" in lowered and lowered.endswith(".xml"):
            _refuse_far(text, name)
            if b't="e"' in text or b"t='e'" in text:
                failing.add(part.filename)
        elif lowered.endswith("sharedstrings.xml"):
            # The reader makes room for as many texts as the part says it has.
            if any(int(count) * _SHORTEST_TEXT > len(text) for count in _UNIQUE.findall(text)):
                raise _damaged(part.filename, name)
            # It also keeps a text as often as cells refer to it.
            if max(map(len, _TEXT_END.split(text))) > _MOST_BYTES_A_SIGN * LONGEST_CELL:
                raise AssayPilotError(
                    f"a cell has more than {LONGEST_CELL:,} characters",
                    file=name,
                    mend="Shorten it, or leave its column out.",
                )
        elif lowered == "content.xml":
            _refuse_repeated(text, name)
    return Archive(book, frozenset(failing))


def _refuse_sizes(parts: list[zipfile.ZipInfo], name: str) -> None:
    whole = sum(part.file_size for part in parts)
    largest = max((part.file_size for part in parts), default=0)
    if largest > LARGEST_PART or whole > LARGEST_UNPACKED or len(parts) > MOST_PARTS:
        raise AssayPilotError(
            f"the workbook would unpack to {whole / 1e9:.1f} GB in {len(parts):,} parts, too much to be a table",
            file=name,
            mend="Save only the sheet with the compounds.",
        )


def _unpacked(book: zipfile.ZipFile, part: zipfile.ZipInfo, name: str) -> bytes:
    """Return a part's bytes; what is larger than it says does not pass its checksum."""
    try:
        return book.read(part)
    except (zipfile.BadZipFile, zlib.error, EOFError, OSError, NotImplementedError, RuntimeError, ValueError):
        raise _damaged(part.filename, name) from None


def _damaged(part: str, name: str) -> AssayPilotError:
    return AssayPilotError(
        f"the workbook is damaged: its part {part[:80]} cannot be read",
        file=name,
        mend="Open it in a spreadsheet and save it again.",
    )


def _refuse_far(text: bytes, name: str) -> None:
    """Refuse a sheet whose corners span more cells than a table has."""
    # Nearly every sheet is written in one form, and lies within bounds that one look at it shows.
    region = text.find(b"<sheetData>") + 1, text.rfind(b"</sheetData>")
    if 0 < region[0] < region[1] and any(beyond.search(text, *region) is None for _, _, beyond in _BOUNDS):
        return
    references = _REFERENCE.findall(text)
    numbers = {row for _, row in references} | set(_ROW.findall(text))
    if any(len(number) > _MOST_DIGITS for number in numbers):
        raise _too_far(10**_MOST_DIGITS, 0, name)
    rows = max(map(int, numbers), default=0)
    columns = max(map(column_number, {column for column, _ in references}), default=0)
    if rows * columns > MOST_SPANNED:
        raise _too_far(rows, columns, name)


def _too_far(rows: int, columns: int, name: str) -> AssayPilotError:
    where = f"row {rows:,} and column {columns:,}" if columns else f"row {rows:,} or beyond"
    return AssayPilotError(
        f"a sheet has cells as far away as {where}",
        file=name,
        mend="Delete the stray cells far from the table, or copy the table to a new workbook.",
    )


def _refuse_repeated(text: bytes, name: str) -> None:
    """Refuse a document with filled cells that are said to repeat beyond any table."""
    wide = [int(cell[1]) for cell in _REPEATED_CELL.finditer(text) if b"value-type" in cell[0]]
    high = [int(row[1]) for row in _REPEATED_ROW.finditer(text) if b"value-type" in row[2]]
    if sum(wide, 1) * sum(high, 1) > MOST_SPANNED:
        raise AssayPilotError(
            "a sheet repeats its cells more often than any table does",
            file=name,
            mend="Copy the table to a new workbook.",
        )


def column_number(letters: bytes) -> int:
    """Return the number of a column, A being 1."""
    number = 0
    for letter in letters[:6].upper():
        number = number * 26 + letter - 64
    return number


def failed_cells(archive: Archive, place: int) -> Failed:
    """Return what stands in the cells of the sheet at ``place`` (from 0) whose formula failed, for xlsx and xlsm."""
    found: Failed = {}
    path = sheet_path(archive.book, place) if archive.failing else None
    if path is None or path not in archive.failing:
        return found
    for attributes, inside in _CELL.findall(archive.book.read(path)):
        if b't="e"' not in attributes and b"t='e'" not in attributes:
            continue
        at, value = _REFERENCE.search(attributes), _VALUE.search(inside)
        if at is not None and value is not None:
            found[int(at[2]) - 1, column_number(at[1]) - 1] = value[1].decode("utf-8", "replace")
    return found


def read_xml(book: zipfile.ZipFile, part: str) -> ElementTree.Element | None:
    """Return the root of a part; None when it is missing, too large, or no XML in an encoding that is known."""
    try:
        text = book.read(part)
        return ElementTree.fromstring(text) if len(text) <= _LARGEST_XML else None
    except (KeyError, ElementTree.ParseError, LookupError, ValueError):
        return None


def sheet_path(book: zipfile.ZipFile, place: int) -> str | None:
    """Return the part that holds a sheet, by the order of the sheets in the workbook.

    None when it is not to be found.
    """
    listed, related = read_xml(book, "xl/workbook.xml"), read_xml(book, "xl/_rels/workbook.xml.rels")
    if listed is None or related is None:
        return None
    sheets = [node for node in listed.iter() if node.tag.endswith("}sheet")]
    if place >= len(sheets):
        return None
    key = next((value for attribute, value in sheets[place].attrib.items() if attribute.endswith("}id")), None)
    target = next((node.get("Target") for node in related.iter() if node.get("Id") == key), None)
    if target is None:
        return None
    path = target.lstrip("/") if target.startswith("/") else posixpath.normpath(f"xl/{target}")
    return path if path in book.namelist() else None


_NAMED = 5


def styles_of(archive: Archive) -> ElementTree.Element | None:
    """Return the part of the workbook with its styles; None where it has none that can be read."""
    return read_xml(archive.book, "xl/styles.xml")


def cells_with(archive: Archive, place: int, styles: Sequence[int]) -> Iterator[tuple[str, int, int]]:
    """Yield the letters, row and column (from 0) of the cells of the sheet at ``place`` that have one of the styles."""
    path = sheet_path(archive.book, place) if styles else None
    if path is None:
        return
    numbers = b"|".join(str(style).encode() for style in styles)
    for attributes in re.findall(rb"<(?:\w+:)?c\b([^>]*\ss=[\"'](?:%b)[\"'][^>]*)>" % numbers, archive.book.read(path)):
        at = re.search(rb"\sr\s*=\s*[\"']([A-Za-z]+)(\d+)", attributes)
        if at is not None:
            yield at[1].decode(), int(at[2]) - 1, column_number(at[1]) - 1


def say_struck(
    archive: Archive, place: int, rows: Sequence[int], lines: Sequence[Sequence[Any]], warnings: list[str]
) -> None:
    """Say which cells of the table are struck through: labs do so for values that are not to be used.

    ``rows``: those of the table; ``lines``: the cells of the sheet, from its first row and column on.
    """
    root = styles_of(archive)
    struck = [] if root is None else _struck(root)
    inside = {row - 1 for row in rows}
    found = [
        f"{letters}{row + 1}"
        for letters, row, column in cells_with(archive, place, struck)
        if row in inside and column < len(lines[row]) and lines[row][column] != ""
    ]
    if found:
        many = len(found) > 1
        warnings.append(
            f"Cell{'s' if many else ''} {listed(found, _NAMED)} of the sheet {'are' if many else 'is'} struck"
            f" through and {'were' if many else 'was'} read like all others. Empty what is not to be used."
        )


def _struck(root: ElementTree.Element) -> list[int]:
    """Return the numbers of the styles of cells whose font is struck through."""
    fonts = next((node for node in root.iter() if node.tag.endswith("}fonts")), None)
    lines = [] if fonts is None else [next((n for n in font if n.tag.endswith("}strike")), None) for font in fonts]
    own = {str(place) for place, line in enumerate(lines) if line is not None and line.get("val") not in ("0", "false")}
    formats = next((node for node in root.iter() if node.tag.endswith("}cellXfs")), None)
    return [place for place, node in enumerate(() if formats is None else formats) if node.get("fontId") in own]


_BUILT_IN = frozenset(("9", "10"))
"""The formats 0% and 0.00% (ECMA-376, part 1, 18.8.30)."""
_NOT_SHOWN = re.compile(r'"[^"]*"|\\.|\[[^\]]*\]')


def as_shown(lines: list[list[Any]], archive: Archive, place: int, warnings: list[str]) -> None:
    """Multiply the numbers of the sheet at ``place`` that are shown as per cent by 100, and say so.

    Nobody who sees 25 % in a column of inhibitions means a quarter of one per cent. Of xlsx and xlsm; the older and
    the open formats are read as they are stored.
    """
    changed: dict[str, int] = {}
    for letters, row, column in cells_with(archive, place, _styles(archive)):
        if row >= len(lines) or column >= len(lines[row]) or type(lines[row][column]) not in (int, float):
            continue
        # As decimals, so that 0.07 becomes 7 and not 7.000000000000001.
        lines[row][column] = float(Decimal(repr(lines[row][column])) * 100)
        changed[letters] = changed.get(letters, 0) + 1
    if changed:
        columns, count = list(changed), sum(changed.values())
        warnings.append(
            f"Column{'s' if len(columns) > 1 else ''} {listed(columns, _NAMED)} of the sheet: "
            f"{count:,} {'numbers are' if count > 1 else 'number is'} shown as per cent and read as shown, 25 for 25%."
        )


def _styles(archive: Archive) -> list[int]:
    """Return the numbers of the styles of cells that show per cent."""
    root = styles_of(archive)
    if root is None:
        return []
    own = {
        node.get("numFmtId", "")
        for node in root.iter()
        if node.tag.endswith("}numFmt") and "%" in _NOT_SHOWN.sub("", node.get("formatCode", ""))
    }
    formats = next((node for node in root.iter() if node.tag.endswith("}cellXfs")), None)
    listed = [] if formats is None else list(formats)
    return [number for number, node in enumerate(listed) if node.get("numFmtId", "0") in _BUILT_IN | own]


_ROW_TAG = re.compile(rb"<(?:\w+:)?row\b([^>]*)>")
_COLUMN = re.compile(rb"<(?:\w+:)?col\b([^>]*)>")
_NUMBER = re.compile(rb"\s(r|min|max)\s*=\s*[\"'](\d{1,7})[\"']")
_HIDDEN = re.compile(rb"\shidden\s*=\s*[\"'](?:1|true)[\"']")
_FILTER = re.compile(rb"<(?:\w+:)?(?:filterColumn|autoFilter)\b")


def say_hidden(archive: Archive, place: int, rows: Sequence[int], columns: int, warnings: list[str]) -> None:
    """Say how many of the ``rows`` of the table, and which of its columns, the sheet at ``place`` hides.

    Of xlsx and xlsm; the older and the open formats are read without a word about it.
    """
    path = sheet_path(archive.book, place)
    if path is None:
        return
    hidden, apart, filtered = _in_sheet(archive.book.read(path))
    found = [row for row in rows if row in hidden]
    if found:
        many = len(found) > 1
        warnings.append(
            f"{len(found):,} of {len(rows):,} rows {'are' if many else 'is'} hidden in the sheet"
            f"{' by its filter' if filtered else ''} and {'were' if many else 'was'} read, too: "
            f"{rows_named(found).lower()}. If {'they do' if many else 'it does'} not belong to the table, copy what is "
            "shown to a new sheet."
        )
    unseen = [letters_of(column) for column in sorted(apart) if column <= columns]
    if unseen:
        many = len(unseen) > 1
        warnings.append(
            f"Column{'s' if many else ''} {listed(unseen, _NAMED)} of the sheet {'are' if many else 'is'} "
            f"hidden and {'were' if many else 'was'} read, too."
        )


def _in_sheet(text: bytes) -> tuple[set[int], set[int], bool]:
    """Return the hidden rows and columns of a sheet of xlsx, counted from 1, and whether it has a filter."""
    rows: set[int] = set()
    columns: set[int] = set()
    if _HIDDEN.search(text) is None:
        return rows, columns, False
    last = 0
    for tag in _ROW_TAG.finditer(text):
        numbers = dict(_NUMBER.findall(tag[1]))
        last = int(numbers.get(b"r", last + 1))
        if _HIDDEN.search(tag[1]) is not None:
            rows.add(last)
    for tag in _COLUMN.finditer(text, 0, max(text.find(b"<sheetData"), 0)):
        numbers = dict(_NUMBER.findall(tag[1]))
        if _HIDDEN.search(tag[1]) is not None and b"min" in numbers:
            first = int(numbers[b"min"])
            columns.update(range(first, min(int(numbers.get(b"max", first)), first + 1_000) + 1))
    return rows, columns, _FILTER.search(text) is not None
