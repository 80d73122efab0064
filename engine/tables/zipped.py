"""A zipped workbook before it is opened: its true sizes, how far its cells reach, and the formulas that failed."""

from __future__ import annotations

import io
import posixpath
import re
import struct
import zipfile
import zlib
from dataclasses import dataclass
from xml.etree import ElementTree

from assaypilot.engine.errors import AssayPilotError

__all__ = ["LARGEST_PART", "MOST_CELLS", "Archive", "Failed", "failed_cells", "inspect"]

LARGEST_PART = 1 << 29
"""Bytes of the largest part of a workbook once unpacked; a sheet of 100,000 x 20 has 80 MB."""
_LARGEST_WHOLE = 1 << 30
_MOST_PARTS = 20_000
MOST_CELLS = 30_000_000
"""Cells between the first and the last of a sheet: the reader keeps them all, empty or not."""

_PLAIN_ROW = re.compile(rb'<row r="(\d+)"')
_ROW = re.compile(rb"<(?:\w+:)?row\b[^>]{0,200}?\br=[\"'](\d+)")
_FAR = re.compile(rb" r=[\"']([A-Z]{3,})\d")
_FARTHER = re.compile(rb" r=[\"'][A-Z][A-Z]\d")
_REPEATED = re.compile(rb"number-(?:rows|columns)-repeated=\"(\d{4,})\"")
_CELL = re.compile(rb"<(?:\w+:)?c\b([^>]*)>(.*?)</(?:\w+:)?c>", re.S)
_REFERENCE = re.compile(rb"\br=[\"']([A-Z]+)(\d+)[\"']")
_VALUE = re.compile(rb"<(?:\w+:)?v[^>]*>([^<]*)<")
_ONE_LETTER, _TWO_LETTERS = 26, 702
"""Columns whose names have one letter, or up to two."""


@dataclass(frozen=True, slots=True)
class Archive:
    """The parts of a workbook that may be opened."""

    book: zipfile.ZipFile
    failing: frozenset[str]
    """The sheets' parts in which a formula failed."""


Failed = dict[tuple[int, int], str]
"""What stands in cells whose formula failed (``#DIV/0!``), by row and column from 0."""


def inspect(data: bytes, name: str) -> Archive:
    """The archive, once it is known that it unpacks to what it says and no sheet reaches absurdly far.

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
    if not names & {"xl/workbook.xml", "xl/workbook.bin", "content.xml"} and not any(
        "workbook" in part for part in names
    ):
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
        elif lowered == "content.xml":
            _refuse_repeated(text, name)
    return Archive(book, frozenset(failing))


def _refuse_sizes(parts: list[zipfile.ZipInfo], name: str) -> None:
    whole = sum(part.file_size for part in parts)
    largest = max((part.file_size for part in parts), default=0)
    if largest > LARGEST_PART or whole > _LARGEST_WHOLE or len(parts) > _MOST_PARTS:
        raise AssayPilotError(
            f"the workbook would unpack to {whole / 1e9:.1f} GB in {len(parts):,} parts, too much to be a table",
            file=name,
            mend="Save only the sheet with the compounds.",
        )


def _unpacked(book: zipfile.ZipFile, part: zipfile.ZipInfo, name: str) -> bytes:
    """A part's bytes; what is larger than it says does not pass its checksum."""
    try:
        return book.read(part)
    except (zipfile.BadZipFile, zlib.error, EOFError, OSError, NotImplementedError, RuntimeError, ValueError):
        raise AssayPilotError(
            f"the workbook is damaged: its part {part.filename[:80]} cannot be unpacked",
            file=name,
            mend="Open it in a spreadsheet and save it again.",
        ) from None


def _refuse_far(text: bytes, name: str) -> None:
    """Nothing; refuses a sheet whose corners span more cells than a table has."""
    found = _PLAIN_ROW.findall(text)
    if len(found) != text.count(b"<row") or b":row" in text:
        found = _ROW.findall(text)
    rows = max(map(int, found), default=0)
    letters = _FAR.findall(text)
    if letters:
        columns = max(map(_column, letters))
    elif rows * _ONE_LETTER > MOST_CELLS or _FARTHER.search(text) is not None:
        columns = _TWO_LETTERS
    else:
        columns = _ONE_LETTER
    if rows * columns <= MOST_CELLS:
        return
    if not letters:
        columns = max(map(_column, {column for column, _ in _REFERENCE.findall(text)}), default=0)
    if rows * columns > MOST_CELLS:
        raise AssayPilotError(
            f"a sheet has cells as far away as row {rows:,} and column {columns:,}",
            file=name,
            mend="Delete the stray cells far from the table, or copy the table to a new workbook.",
        )


def _refuse_repeated(text: bytes, name: str) -> None:
    """Nothing; refuses a document whose filled cells are said to repeat beyond any table."""
    size = 1
    for number in sorted(map(int, _REPEATED.findall(text)), reverse=True)[:2]:
        size *= number
    if size > 1 << 40:
        raise AssayPilotError(
            "a sheet repeats its cells more often than any table does",
            file=name,
            mend="Copy the table to a new workbook.",
        )


def _column(letters: bytes) -> int:
    """The number of a column, A being 1."""
    number = 0
    for letter in letters[:6]:
        number = number * 26 + letter - 64
    return number


def failed_cells(archive: Archive, place: int) -> Failed:
    """What stands in the cells of the sheet at ``place`` (from 0) whose formula failed, for xlsx and xlsm."""
    found: Failed = {}
    path = _sheet_path(archive.book, place) if archive.failing else None
    if path is None or path not in archive.failing:
        return found
    for attributes, inside in _CELL.findall(archive.book.read(path)):
        if b't="e"' not in attributes and b"t='e'" not in attributes:
            continue
        at, value = _REFERENCE.search(attributes), _VALUE.search(inside)
        if at is not None and value is not None:
            found[int(at[2]) - 1, _column(at[1]) - 1] = value[1].decode("utf-8", "replace")
    return found


def _sheet_path(book: zipfile.ZipFile, place: int) -> str | None:
    """The part that holds a sheet, by the order of the sheets in the workbook; None when it is not to be found."""
    try:
        listed = ElementTree.fromstring(book.read("xl/workbook.xml"))
        related = ElementTree.fromstring(book.read("xl/_rels/workbook.xml.rels"))
    except (KeyError, ElementTree.ParseError):
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
