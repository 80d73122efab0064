"""The one door through which every kind of table comes in, whatever the file is called."""

from __future__ import annotations

import hashlib
from pathlib import Path

from ..errors import AssayPilotError
from ..system.collecting import without_collecting
from ..system.progress import Report, silent
from .files import Kind, OpenedFile, open_file
from .normalise import as_meant
from .raw import RawTable

__all__ = ["PATTERNS", "bare", "parse_text", "read_table"]

_SMILES_FILES = (".smi", ".ism", ".smiles", ".cxsmiles")
PATTERNS = (
    *("*.csv", "*.tsv", "*.txt", "*.md", "*.dwar"),
    *("*.xlsx", "*.xlsm", "*.xls", "*.xlsb", "*.ods", "*.sdf", "*.sd", "*.smi"),
)
"""What files with tables are called, for a file dialog. Their contents decide how they are read, not their names."""


def read_table(
    path: str | Path, report: Report = silent, *, sheet: str | None = None, points: bool = False
) -> RawTable:
    """Return the table in a text file, a workbook, an SD file or a file of SMILES, whatever the file is called.

    ``sheet`` names the sheet of a workbook; without it the first visible one that holds a table is read, and that is
    said when there are others. ``points`` keeps the points of dose-response curves, which are no values of a compound.
    AssayPilotError says in one line what cannot be read and what to do.
    """
    found = open_file(path)
    report(0.05, f"Reading {found.name}")
    with without_collecting():
        raw = _read(found, sheet, report)
        return raw if points else as_meant(raw)


def _read(found: OpenedFile, sheet: str | None, report: Report) -> RawTable:
    # Imported where it is needed: each kind of file has a reader of its own, some with a library behind it.
    if found.kind is Kind.WORKBOOK:
        from .workbook import read_workbook

        return read_workbook(found, sheet, report)
    if sheet is not None:
        raise AssayPilotError(
            "only workbooks have sheets, and this is none", file=found.name, option="--sheet", mend="Leave it out."
        )
    if found.kind is Kind.SDF:
        from .sdf import read_sdf

        return read_sdf(found, report)
    from .text import decode, parse

    text, encoding, notes = decode(found.name, found.data)
    digest = hashlib.sha256(found.data).hexdigest()
    from .smi import is_list_of_smiles, is_plain_smi, read_smi

    if (found.suffix in _SMILES_FILES and is_plain_smi(text)) or is_list_of_smiles(text):
        return read_smi(text, found.name, encoding, digest, notes, report)
    return parse(text, found.name, encoding, digest, notes, report)


def bare(text: str) -> str:
    """Return a pasted block without what clipboards put around it: a byte-order mark, and on Windows a closing zero."""
    return text.removeprefix("\ufeff").rstrip("\0")


def parse_text(text: str, report: Report = silent) -> RawTable:
    """Return the table in a pasted block, tab-separated as spreadsheets copy; its first line is the header."""
    from .text import parse

    digest = hashlib.sha256(text.encode("utf-8", "replace")).hexdigest()
    return as_meant(parse(bare(text), None, "text", digest, [], report))
