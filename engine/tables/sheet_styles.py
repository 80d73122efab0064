"""What the look of a workbook means: cells that are struck through or shown as per cent, hidden rows and columns."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from decimal import Decimal
from typing import Any
from xml.etree import ElementTree

from ..text.statements import listed
from .raw import rows_named
from .zipped import Archive, column_number, read_xml, sheet_path

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


_ROW = re.compile(rb"<(?:\w+:)?row\b([^>]*)>")
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
    unseen = [_letters(column) for column in sorted(apart) if column <= columns]
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
    for tag in _ROW.finditer(text):
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


def _letters(column: int) -> str:
    """Return what a spreadsheet calls a column, A being 1."""
    text = ""
    while column:
        column, letter = divmod(column - 1, 26)
        text = chr(65 + letter) + text
    return text
