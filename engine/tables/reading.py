"""A table read as its user says, where what the program found by itself is wrong: encoding, sheet, header and so on."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from pathlib import Path

from ..errors import AssayPilotError
from ..system.collecting import without_collecting
from ..system.progress import Report, silent
from .files import Kind, OpenedFile, open_file
from .normalise import as_meant
from .opening import bare, parse_text, read_table
from .raw import RawTable
from .text import parse
from .workbook import SheetName, read_workbook, sheet_names

__all__ = ["ENCODINGS", "ReadAs", "Reading", "read_as", "read_text_as"]

ENCODINGS = {
    "utf-8": "UTF-8",
    "utf-8-sig": "UTF-8 with a mark",
    "utf-16": "UTF-16",
    "cp1252": "Windows-1252",
    "latin-1": "Latin-1",
}
"""The encodings a table may be read in, and what they are called."""


@dataclass(frozen=True, slots=True)
class ReadAs:
    """How a table is to be read; None where it is found."""

    sheet: str | None = None
    encoding: str | None = None
    delimiter: str | None = None
    """A comma, a semicolon or a tab."""
    decimal: str | None = None
    """A point or a comma."""
    header: tuple[int, int] | None = None
    """The row of the header as a spreadsheet counts, and how many rows it has (1 or 2); (0, 0): there is none."""

    @property
    def plain(self) -> bool:
        """Whether everything but the sheet is found."""
        return self.encoding is None and self.delimiter is None and self.decimal is None and self.header is None


@dataclass(frozen=True, slots=True)
class Reading:
    """A table and the sheets there were to choose from."""

    raw: RawTable
    sheets: tuple[SheetName, ...] = ()
    """Empty where the file is no workbook."""


def read_as(path: str | Path, how: ReadAs, report: Report = silent) -> Reading:
    """Return the table in a file, read as said. AssayPilotError in one line when that is not possible."""
    found = open_file(path)
    if found.kind is Kind.WORKBOOK:
        report(0.05, f"Reading {found.name}")
        with without_collecting():
            raw = read_workbook(found, how.sheet, report, header=how.header)
            return Reading(as_meant(raw), sheet_names(found))
    if how.plain or found.kind is not Kind.TEXT:
        return Reading(read_table(path, report))
    digest = hashlib.sha256(found.data).hexdigest()
    text, encoding, notes = _decoded(found, how.encoding)
    with without_collecting():
        raw = parse(
            text,
            found.name,
            encoding,
            digest,
            notes,
            report,
            delimiter=how.delimiter,
            decimal=how.decimal,
            header=how.header,
        )
        return Reading(as_meant(raw))


def read_text_as(text: str, how: ReadAs, report: Report = silent) -> Reading:
    """Return the table in a pasted block, read as said."""
    if how.plain:
        return Reading(parse_text(text, report))
    digest = hashlib.sha256(text.encode("utf-8", "replace")).hexdigest()
    raw = parse(
        bare(text),
        None,
        "text",
        digest,
        [],
        report,
        delimiter=how.delimiter,
        decimal=how.decimal,
        header=how.header,
    )
    return Reading(as_meant(raw))


def _decoded(found: OpenedFile, encoding: str | None) -> tuple[str, str, list[str]]:
    """Text, encoding and what to say about it."""
    from .text import decode

    if encoding is None:
        return decode(found.name, found.data)
    try:
        text = found.data.decode(encoding)
    except UnicodeError as error:
        at = getattr(error, "start", 0)
        row = found.data[:at].count(b"\n") + 1
        raise AssayPilotError(
            f"the file is not {ENCODINGS.get(encoding, encoding)}",
            file=found.name,
            row=row,
            mend="Choose another encoding.",
        ) from None
    if "\x00" in text:
        raise AssayPilotError(
            f"the file is not {ENCODINGS.get(encoding, encoding)}", file=found.name, mend="Choose another encoding."
        )
    return text.removeprefix("\ufeff"), encoding, []
