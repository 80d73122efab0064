"""The entry point for every kind of table, under any file name."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from ..errors import AssayPilotError
from ..system.progress import Report, silent
from ..system.resources import without_collecting
from .normalise import as_meant
from .raw import Kind, OpenedFile, RawTable, open_file

if TYPE_CHECKING:
    from .workbook import SheetName


_SMILES_FILES = (".smi", ".ism", ".smiles", ".cxsmiles")
PATTERNS = (
    *("*.csv", "*.tsv", "*.txt", "*.md", "*.dwar"),
    *("*.xlsx", "*.xlsm", "*.xls", "*.ods", "*.sdf", "*.sd", "*.smi"),
)
"""Name patterns of files with tables, for a file dialog. Contents decide how they are read, not names."""
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


def read_table(
    path: str | Path, report: Report = silent, *, sheet: str | None = None, points: bool = False, how: ReadAs = ReadAs()
) -> RawTable:
    """Return the table in a text file, a workbook, an SD file or a file of SMILES, whatever the file is called.

    ``sheet`` names the sheet of a workbook; without it the first visible one with a table is read, with a
    warning when there are others. ``points`` keeps the points of dose-response curves, which are not values. ``how``:
    what else is not to be found. AssayPilotError has one line with the fault and the remedy.
    """
    raw = _read(open_file(path), replace(how, sheet=sheet), report)
    return raw if points else as_meant(raw)


def read_as(path: str | Path, how: ReadAs, report: Report = silent) -> Reading:
    """Return the table in a file, read as given. AssayPilotError in one line when that is not possible."""
    found = open_file(path)
    if found.kind is not Kind.WORKBOOK:
        return Reading(as_meant(_read(found, replace(how, sheet=None), report)))
    from .workbook import sheet_names

    return Reading(as_meant(_read(found, how, report)), sheet_names(found))


def _read(found: OpenedFile, how: ReadAs, report: Report) -> RawTable:
    # Imported where it is needed: each kind of file has a reader of its own, some with a library behind it.
    report(0.05, f"Reading {found.name}")
    with without_collecting():
        if found.kind is Kind.WORKBOOK:
            from .workbook import read_workbook

            return read_workbook(found, how.sheet, report, header=how.header)
        if how.sheet is not None:
            raise AssayPilotError(
                "only workbooks have sheets, and this is none", file=found.name, option="--sheet", mend="Leave it out."
            )
        if found.kind is Kind.SDF:
            from .sdf import read_sdf

            return read_sdf(found, report)
        from .sdf import is_list_of_smiles, is_plain_smi, read_smi

        text, encoding, notes = _decoded(found, how.encoding)
        digest = hashlib.sha256(found.data).hexdigest()
        if how.plain and ((found.suffix in _SMILES_FILES and is_plain_smi(text)) or is_list_of_smiles(text)):
            return read_smi(text, found.name, encoding, digest, notes, report)
        return _parsed(text, found.name, encoding, digest, notes, how, report)


def _parsed(
    text: str, name: str | None, encoding: str, digest: str, notes: list[str], how: ReadAs, report: Report
) -> RawTable:
    from .text import parse

    given = {"delimiter": how.delimiter, "decimal": how.decimal}
    return parse(text, name, encoding, digest, notes, report, **given, header=how.header)


def _decoded(found: OpenedFile, encoding: str | None) -> tuple[str, str, list[str]]:
    """Return text, encoding and notes about them."""
    from .text import decode

    if encoding is None:
        return decode(found.name, found.data)
    row = None
    try:
        text = found.data.decode(encoding)
    except UnicodeError as error:
        text, row = "\x00", found.data[: getattr(error, "start", 0)].count(b"\n") + 1
    if "\x00" in text:
        problem = f"the file is not {ENCODINGS.get(encoding, encoding)}"
        raise AssayPilotError(problem, file=found.name, row=row, mend="Choose another encoding.")
    return text.removeprefix("\ufeff"), encoding, []


def _bare(text: str) -> str:
    """Return a pasted block without what clipboards put around it: a byte-order mark, and on Windows a closing zero."""
    return text.removeprefix("\ufeff").rstrip("\0")


def parse_text(text: str, report: Report = silent) -> RawTable:
    """Return the table in a pasted block, tab-separated as spreadsheets copy; its first line is the header."""
    return read_text_as(text, ReadAs(), report).raw


def read_text_as(text: str, how: ReadAs, report: Report = silent) -> Reading:
    """Return the table in a pasted block, read as given."""
    digest = hashlib.sha256(text.encode("utf-8", "replace")).hexdigest()
    return Reading(as_meant(_parsed(_bare(text), None, "text", digest, [], how, report)))
