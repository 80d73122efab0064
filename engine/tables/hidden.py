"""Rows and columns of a sheet that a filter or a user hides: they are read as all others, and that is said."""

from __future__ import annotations

import re
from collections.abc import Sequence

from .raw import rows_named
from .zipped import Archive, sheet_path

__all__ = ["say_hidden"]

_ROW = re.compile(rb"<(?:\w+:)?row\b([^>]*)>")
_COLUMN = re.compile(rb"<(?:\w+:)?col\b([^>]*)>")
_NUMBER = re.compile(rb"\s(r|min|max)\s*=\s*[\"'](\d{1,7})[\"']")
_HIDDEN = re.compile(rb"\shidden\s*=\s*[\"'](?:1|true)[\"']")
_FILTER = re.compile(rb"<(?:\w+:)?(?:filterColumn|autoFilter)\b")
_OF_SHEET = re.compile(rb"<table:table\b.*?</table:table>", re.S)
_OPEN_ROW = re.compile(rb"<table:table-row\b([^>]*)>")
_OPEN_COLUMN = re.compile(rb"<table:table-column\b([^>]*)>")
_UNSEEN = re.compile(rb"table:visibility=\"(filter|collapse)\"")
_TIMES = re.compile(rb"number-(?:rows|columns)-repeated=\"(\d{1,7})\"")
_MOST = 2_000_000
_NAMED = 5


def say_hidden(archive: Archive, place: int, rows: Sequence[int], columns: int, warnings: list[str]) -> None:
    """Say how many of the ``rows`` of the table, and which of its columns, the sheet at ``place`` hides.

    Of xlsx, xlsm and ods; the binary formats are read without a word about it.
    """
    path = sheet_path(archive.book, place)
    if path is not None and path.endswith(".xml"):
        hidden, apart, filtered = _in_sheet(archive.book.read(path))
    elif "content.xml" in archive.book.namelist():
        sheets = _OF_SHEET.findall(archive.book.read("content.xml"))
        hidden, apart, filtered = _in_document(sheets[place]) if place < len(sheets) else (set(), set(), False)
    else:
        return
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
        more = f" and {len(unseen) - _NAMED} more" if len(unseen) > _NAMED else ""
        many = len(unseen) > 1
        warnings.append(
            f"Column{'s' if many else ''} {', '.join(unseen[:_NAMED])}{more} of the sheet {'are' if many else 'is'} "
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


def _in_document(text: bytes) -> tuple[set[int], set[int], bool]:
    """Return same of a sheet of an open document, where rows that are alike stand once with how often they repeat."""
    found: list[set[int]] = []
    filtered = False
    for tags in (_OPEN_ROW, _OPEN_COLUMN):
        own: set[int] = set()
        last = 0
        for tag in tags.finditer(text):
            times = _TIMES.search(tag[1])
            count = 1 if times is None else int(times[1])
            unseen = _UNSEEN.search(tag[1])
            if unseen is not None:
                own.update(range(last + 1, min(last + count, _MOST) + 1))
                filtered = filtered or unseen[1] == b"filter"
            last += count
        found.append(own)
    return found[0], found[1], filtered


def _letters(column: int) -> str:
    """Return what a spreadsheet calls a column, A being 1."""
    text = ""
    while column:
        column, letter = divmod(column - 1, 26)
        text = chr(65 + letter) + text
    return text
