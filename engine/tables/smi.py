"""Files of SMILES: a structure, then its name, line by line, with or without a header."""

from __future__ import annotations

import re

from ..errors import AssayPilotError
from ..system.progress import Report
from . import headers
from .layout import lay_out
from .raw import RawTable, fold, rows_named
from .values import decimal_mark

_EXTENDED = re.compile(r"(?P<smiles>\S+)[ \t]+(?P<extension>\|[^|\r\n]*\|)(?:[ \t]+(?P<rest>.*))?")
_HEADER_BREAK = re.compile(r"[\s,;]+")


def is_plain_smi(text: str) -> bool:
    """Whether a text holds a SMILES and a name on each line, not a delimited table with headers."""
    lines = [line for line in text.splitlines() if line.strip()]
    if not lines:
        return False
    for delimiter in (",", ";"):
        first = [fold(cell.strip('"')) for cell in lines[0].split(delimiter)]
        if len(first) > 1 and any(cell in headers.STRUCTURES for cell in first):
            return False
    return True


def is_list_of_smiles(text: str) -> bool:
    """Whether every line of a text is a SMILES with a name behind it, and some can be nothing else; no header."""
    lines = [line for line in text.splitlines() if line.strip() and not line.startswith("#")]
    if len(lines) < 2 or any(mark in text for mark in ",;|"):
        return False
    first = [line.split() for line in lines]
    shaped = all(len(cells) > 1 and headers.SMILES_SHAPE.fullmatch(cells[0]) is not None for cells in first)
    return shaped and 2 * sum(re.search(r"[()=#\[\d]", cells[0]) is not None for cells in first) > len(first)


def read_smi(text: str, name: str, encoding: str, digest: str, warnings: list[str], report: Report) -> RawTable:
    """Return the table in a file of SMILES: the columns SMILES and Name, and further ones where a tab separates them.

    CXSMILES stay whole (``C[C@H](N)O |&1:1|`` is one structure). Rows are numbered as lines. Lines that begin with #
    are remarks. AssayPilotError when there is no structure.
    """
    numbered = [(row, line) for row, line in enumerate(text.splitlines(), start=1) if line.strip()]
    remarks = [row for row, line in numbered if line.startswith("#")]
    if remarks:
        warnings.append(
            f"{rows_named(remarks)} {'begin' if len(remarks) > 1 else 'begins'} with # and hold no structure."
        )
    numbered = [(row, line) for row, line in numbered if not line.startswith("#")]
    if not numbered:
        raise AssayPilotError("there is no structure in this file", file=name, mend="Export it again.")
    headed = _header(numbered[0][1])
    rows = [_split(line) for _, line in (numbered[1:] if headed else numbered)]
    if headed is not None and len(headed) > 2:
        # Under more names than two the cells are set apart as the names are, unless a name has blanks in it.
        apart = [line.split() for _, line in numbered[1:]]
        if all(len(row) == len(headed) for row in apart):
            rows = apart
    report(0.5, "Splitting lines into structures and names")
    width = max([len(headed or ()), *map(len, rows)], default=0)
    given = list(headed or ("SMILES", "Name")[:width])
    given += [f"column {place}" for place in range(len(given) + 1, width + 1)]
    table = lay_out(
        [given, *([*row, *[""] * (width - len(row))] for row in rows)],
        [0 if headed is None else numbered[0][0], *(row for row, _ in (numbered[1:] if headed else numbered))],
        str.strip,
        file=name,
        warnings=warnings,
    )
    cells = tuple(tuple(map(str.strip, column)) for column in table.cells)
    decimal = decimal_mark(cells[1:], "", warnings)
    report(1.0, "Table read")
    return RawTable(table.columns, cells, table.rows, encoding, "", decimal, name, digest, tuple(warnings), kind="smi")


def _header(line: str) -> list[str] | None:
    """Return the names of the columns when the first line says them; None when it is a structure."""
    cells = [cell.strip() for cell in line.split("\t")] if "\t" in line else _HEADER_BREAK.split(line.strip())
    return cells if any(fold(cell) in headers.STRUCTURES for cell in cells) else None


def _split(line: str) -> list[str]:
    """SMILES with its extension, then the name, then what tabs separate."""
    extended = _EXTENDED.fullmatch(line.strip())
    if extended is not None:
        rest = (extended["rest"] or "").split("\t")
        return [f"{extended['smiles']} {extended['extension']}", *rest]
    if "\t" in line:
        return line.strip("\r\n").split("\t")
    return line.split(None, 1)
