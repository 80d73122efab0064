"""Tables as text, before anything is made of them, and the one door through which every kind of file comes in."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from assaypilot.engine.errors import AssayPilotError
from assaypilot.engine.progress import Report, silent
from assaypilot.engine.tables.problems import Problem

if TYPE_CHECKING:
    from assaypilot.engine.tables.files import OpenedFile

__all__ = ["DELIMITERS", "PATTERNS", "RawTable", "fold", "parse_text", "read_table", "rows_named", "unguard"]

DELIMITERS = {",": "comma", ";": "semicolon", "\t": "tab"}
"""The only delimiters that are looked for, and what to call them."""

PATTERNS = ("*.csv", "*.tsv", "*.txt", "*.xlsx", "*.xlsm", "*.xls", "*.xlsb", "*.ods", "*.sdf", "*.sd", "*.smi")
"""What files with tables are called, for a file dialog. Their contents decide how they are read, not their names."""

_NAMED_ROWS = 5
_SMALL = str.maketrans("₀₁₂₃₄₅₆₇₈₉⁰¹²³⁴⁵⁶⁷⁸⁹ᵢ", "01234567890123456789i")


@dataclass(frozen=True, slots=True)
class RawTable:
    """A table as text, every cell trimmed, before anything is made of it."""

    columns: tuple[str, ...]
    """Header texts, unique; repeated ones carry a number."""
    cells: tuple[tuple[str, ...], ...]
    """One tuple per column, one text per row."""
    rows: tuple[int, ...]
    """The row each one has in a spreadsheet (a header in the first line is row 1), or its record in an SD file."""
    encoding: str
    """utf-8, utf-8-sig, utf-16, cp1252, latin-1; text for a pasted block; empty for a workbook."""
    delimiter: str
    """What separates the cells: a comma, a semicolon or a tab; empty where nothing does."""
    decimal: str
    """What marks decimals: a point or a comma."""
    file: str | None
    """The file's name without its folder; None for a pasted block."""
    digest: str
    """SHA-256 of the file's bytes, or of the pasted text in UTF-8."""
    warnings: tuple[str, ...] = ()
    """What was assumed or mended while reading."""
    kind: str = "text"
    """text, workbook, sdf or smi."""
    sheet: str | None = None
    """The sheet of a workbook that was read."""
    problems: tuple[Problem, ...] = ()
    """Rows or cells that could not be read as they are, such as a broken structure."""
    unmatched: tuple[tuple[str, ...], tuple[str, ...]] = ((), ())
    """After a join: the ids of this table without a partner, and those of the other."""
    spelled: str | None = None
    """The column whose structures are in our own spelling already, because they came as drawings."""

    def __len__(self) -> int:
        """The number of rows below the header."""
        return len(self.rows)

    @property
    def described(self) -> str:
        """How the table was read, in a few words: ``utf-8, separated by commas``; ``workbook, sheet Data``."""
        if self.kind == "workbook":
            return f"workbook, sheet {self.sheet}"
        if self.kind == "sdf":
            return f"SD file, {self.encoding}"
        apart = f", separated by {DELIMITERS[self.delimiter]}s" if self.delimiter in DELIMITERS else ""
        return f"{'SMILES file, ' if self.kind == 'smi' else ''}{self.encoding}{apart}"

    def column(self, name: str) -> tuple[str, ...]:
        """The texts of a column by its exact name."""
        return self.cells[self.columns.index(name)]

    def find(self, name: str) -> str | None:
        """The column a user means: exactly, else without regard to case, spaces and underscores, if only one."""
        if name in self.columns:
            return name
        wanted = fold(name)
        near = [column for column in self.columns if fold(column) == wanted]
        return near[0] if len(near) == 1 else None


def fold(header: str) -> str:
    """A header for comparison: lower case, with single spaces for spaces, underscores, dots and hyphens.

    Small digits are digits (``IC₅₀``, ``R¹``).
    """
    return re.sub(r"[\s_.\-]+", " ", header.translate(_SMALL)).strip().casefold()


def unguard(text: str) -> str:
    """A cell without the ``'`` that our csv writer puts before text a spreadsheet would take for a formula."""
    if text[:1] == "'" and text.lstrip("'")[:1] in ("=", "+", "-", "@", "\t"):
        return text[1:]
    return text


def rows_named(places: Sequence[int]) -> str:
    """'Row 3', 'Rows 3, 5', or the first few and how many more."""
    if len(places) == 1:
        return f"Row {places[0]}"
    named = ", ".join(str(place) for place in places[:_NAMED_ROWS])
    more = len(places) - _NAMED_ROWS
    return f"Rows {named} and {more} more" if more > 0 else f"Rows {named}"


def read_table(path: str | Path, report: Report = silent, *, sheet: str | None = None) -> RawTable:
    """The table in a text file, a workbook, an SD file or a file of SMILES, whatever the file is called.

    ``sheet`` names the sheet of a workbook; without it the first visible one that holds a table is read, and that is
    said when there are others. AssayPilotError says in one line what cannot be read and what to do.
    """
    # Imported here: each kind of file needs another reader, and they all need this module.
    from assaypilot.engine.tables.files import open_file
    from assaypilot.engine.tables.pauses import without_collecting

    found = open_file(path)
    report(0.05, f"Reading {found.name}")
    with without_collecting():
        return _read(found, sheet, report)


def _read(found: OpenedFile, sheet: str | None, report: Report) -> RawTable:
    from assaypilot.engine.tables.files import Kind

    if found.kind is Kind.WORKBOOK:
        from assaypilot.engine.tables.workbook import read_workbook

        return read_workbook(found, sheet, report)
    if sheet is not None:
        raise AssayPilotError(
            "only workbooks have sheets, and this is none", file=found.name, option="--sheet", mend="Leave it out."
        )
    if found.kind is Kind.SDF:
        from assaypilot.engine.tables.sdf import read_sdf

        return read_sdf(found, report)
    from assaypilot.engine.tables.text import decode, parse

    text, encoding, notes = decode(found.name, found.data)
    digest = hashlib.sha256(found.data).hexdigest()
    if found.suffix in (".smi", ".ism", ".smiles", ".cxsmiles"):
        from assaypilot.engine.tables.smi import is_plain_smi, read_smi

        if is_plain_smi(text):
            return read_smi(text, found.name, encoding, digest, notes, report)
    return parse(text, found.name, encoding, digest, notes, report)


def parse_text(text: str, report: Report = silent) -> RawTable:
    """The table in a pasted block, tab-separated as spreadsheets copy; its first line is the header."""
    from assaypilot.engine.tables.text import parse

    digest = hashlib.sha256(text.encode("utf-8", "replace")).hexdigest()
    return parse(text.removeprefix("\ufeff"), None, "text", digest, [], report)
