"""Files of structures as tables: SD files, one record a row, and files of SMILES, one line a row."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator
from dataclasses import dataclass, replace

from ..chemistry.structures import Unreadable, smiles_of
from ..errors import AssayPilotError
from ..system.guarded import CHILD_SECONDS, MOST_RECORDS, guarded
from ..system.progress import Report, part_of
from ..text import listed
from . import headers
from .raw import Kind, OpenedFile, Problem, RawTable, fold, free_name, from_bytes, rows_named, to_bytes, visible
from .text import decode, tabulated
from .values import decimal_mark, plain_number

_RECORD_END = re.compile(r"^\$\$\$\$.*\n?", re.M)
_END = re.compile(r"^M {1,2}END", re.M)
_TAG = re.compile(r"^>(?!.*<>)(?:[^<\n]*<(?P<name>.*)>|[ \t]+(?P<field>DT\d+))[^>\n]*$", re.M)
_BLANK_LINES = re.compile(r"\n[ \t]*\n(?=>)|\n(?=> +<[^<>\n]+>(?: +\(\d+\))? *\n)")
"""The separator of properties: a blank line, or none before a header in the form that programs write."""
_REPORT_EVERY = 250
_BYTES_A_SECOND = 500_000
"""At least so much of an SD file is read in a second, unless its structures have no end."""
_MOST_COLUMNS = 2_000


@dataclass(slots=True)
class Record:
    """One record of an SD file."""

    title: str
    block: str
    """The molblock up to M  END; empty when there is none."""
    properties: dict[str, str]
    problem: str = ""
    """The fault in the record's form."""


def read_sdf(file: OpenedFile, report: Report) -> RawTable:
    """Return the table in an SD file or a molfile: Name (when titles are given), SMILES, a column for each property.

    Rows are numbered as records from 1. A record whose structure cannot be read keeps its properties, and the reason
    is in ``problems``. A process of its own reads it, within limits of time and memory. AssayPilotError when there
    is no record.
    """
    seconds = CHILD_SECONDS + len(file.data) / _BYTES_A_SECOND
    found = guarded(
        _table_in, file.data, file.name, report=part_of(report, 0.05, 0.95), file=file.name, seconds=seconds
    )
    report(0.95, "Taking the table")
    return replace(from_bytes(found), digest=hashlib.sha256(file.data).hexdigest())


def _table_in(data: bytes, name: str, report: Report) -> bytes:
    """Return the table as bytes; in a process of its own."""
    return to_bytes(_read(OpenedFile(name, "", data, Kind.SDF), report))


def _read(file: OpenedFile, report: Report) -> RawTable:
    text, encoding, warnings = decode(file.name, file.data)
    if (count := text.count("$$$$")) > MOST_RECORDS:
        raise AssayPilotError(
            f"the file has {count:,} records; at most {MOST_RECORDS:,} are read",
            file=file.name,
            mend="Export only the compounds of the series.",
        )
    rows: list[Record] = []
    smiles: list[str] = []
    problems: list[Problem] = []
    drawn: dict[bytes, str] = {}
    filled = False
    for number, record in enumerate(records(text), start=1):
        if number % _REPORT_EVERY == 1:
            report(0.05 + 0.85 * number / (count + 1), f"Reading structures: {number:,}")
        found = ""
        reason = record.problem
        if not reason:
            try:
                # One compound often has several records, one for each batch or measurement.
                key = hashlib.blake2b(record.block.partition("\n")[2].encode(), digest_size=16).digest()
                known = drawn.get(key)
                found = drawn[key] = smiles_of(record.block) if known is None else known
                reason = "" if found else "the record has no structure"
            except Unreadable as error:
                reason = str(error)
        if reason:
            problems.append(Problem(number, "SMILES", reason))
        filled = filled or bool(record.block or record.properties)
        record.block = ""  # tens of thousands of them would only take memory
        rows.append(record)
        smiles.append(found)
    if not filled:
        raise AssayPilotError("there is no record in this SD file", file=file.name, mend="Export it again.")
    names = _columns(rows, file.name)
    columns: dict[str, tuple[str, ...]] = {}
    if any(record.title for record in rows):
        columns["Name"] = tuple(record.title for record in rows)
    columns["SMILES"] = tuple(smiles)
    for name in names:
        called = free_name(name, columns)
        if called != name:
            warnings.append(f"The property {name!r} is called {called!r} here.")
        columns[called] = tuple(record.properties.get(name, "") for record in rows)
    _warn_of_missing(names, rows, warnings)
    report(0.95, "Looking at the numbers")
    decimal = decimal_mark(tuple(columns[name] for name in columns if name != "SMILES"), "", warnings)
    report(1.0, "Table read")
    return RawTable(
        tuple(columns),
        tuple(columns.values()),
        tuple(range(1, len(rows) + 1)),
        encoding=encoding,
        delimiter="",
        decimal=decimal,
        file=file.name,
        digest="",
        warnings=tuple(warnings),
        kind="sdf",
        problems=tuple(problems),
        spelled="SMILES",
    )


def records(text: str) -> Iterator[Record]:
    """Yield the records of an SD file one after another; text behind the last ``$$$$`` is one."""
    *whole, last = _RECORD_END.split(text.replace("\r\n", "\n").replace("\r", "\n"))
    for piece in (*whole, last) if last.strip() else whole:
        yield _record(piece)


def _record(piece: str) -> Record:
    """Return a record by its lines: title, molblock, properties."""
    first_line = piece.partition("\n")[0]
    title = first_line.strip() if not first_line.startswith(">") else ""
    ended = _END.search(piece)
    if ended is not None:
        return Record(title, piece[: ended.end()] + "\n", _properties(piece[ended.end() :]))
    # No M  END: the properties begin at the first header of one, and the text before it is incomplete.
    begun = _TAG.search(piece)
    above, rest = (piece, "") if begun is None else (piece[: begun.start()], piece[begun.start() :])
    cut = "the structure is cut off: it has no line M  END" if above.partition("\n")[2].strip() else ""
    return Record(title, "", _properties(rest), cut)


def _properties(text: str) -> dict[str, str]:
    """Return the texts under the headers of properties; a value may begin with >, as in >10000."""
    found: dict[str, str] = {}
    name = ""
    for part in _BLANK_LINES.split(text.strip("\n")):
        tag = _TAG.match(part)
        value = part if tag is None else part.partition("\n")[2].strip()
        if tag is not None:
            name = " ".join((tag["name"] or tag["field"]).split()) or "property"
        if name:
            known = found.get(name)
            found[name] = value if not known or known == value else f"{known}; {value}"
    return found


def _columns(rows: list[Record], file: str) -> list[str]:
    """Return the properties' names in the order of their first record.

    Those that differ in case alone are one column.
    """
    names: dict[str, str] = {}
    for record in rows:
        for name in list(record.properties):
            first = names.setdefault(fold(name), name)
            if first != name:
                value = record.properties.pop(name)
                record.properties[first] = record.properties.get(first) or value
    if len(names) > _MOST_COLUMNS:
        raise AssayPilotError(
            f"the records have {len(names):,} different properties, too many to be a table",
            file=file,
            mend="Export only the properties that matter.",
        )
    return list(names.values())


def _warn_of_missing(names: list[str], rows: list[Record], warnings: list[str]) -> None:
    """Warn of properties that some records lack."""
    lacking = {name: sum(name not in record.properties for record in rows) for name in names}
    some = [f"{name} ({count:,})" for name, count in lacking.items() if count]
    if some:
        warnings.append(f"Properties that some records lack, which count as empty there: {listed(some)}.")


_EXTENDED = re.compile(r"(?P<smiles>\S+)[ \t]+(?P<extension>\|[^|\r\n]*\|)(?:[ \t]+(?P<rest>.*))?")
_HEADER_BREAK = re.compile(r"[\s,;]+")


def is_plain_smi(text: str) -> bool:
    """Whether each line of a text is a SMILES and a name, and the text is no delimited table with headers."""
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
    lines = text.splitlines()
    remarks = [row for row, line in enumerate(lines, start=1) if line.startswith("#")]
    if remarks:
        warnings.append(f"What begins with # holds no structure: {rows_named(remarks).lower()}.")
    lines = ["" if line.startswith("#") else line for line in lines]
    first = next((place for place, line in enumerate(lines) if line.strip()), None)
    if first is None:
        raise AssayPilotError("there is no structure in this file", file=name, mend="Export it again.")
    headed = _header(lines[first])
    mark = _mark(lines[first + (headed is not None) :])
    rows = [_split(line, mark) if line.strip() else [] for line in lines]
    split = [line.split() for line in lines]
    if headed is not None:
        # Under more than two names the cells are separated like the names, unless a name has blanks in it.
        if len(headed) > 2 and all(len(row) in (0, len(headed)) for row in split[first + 1 :]):
            rows = split
        rows[first] = headed
    rows = [list(map(visible, row)) for row in rows]
    header = None if headed else (0, 0)
    raw = tabulated(rows, name, encoding, digest, warnings, report, delimiter="", header=header)
    columns = raw.columns if headed else (*("SMILES", "Name")[: len(raw.columns)], *raw.columns[2:])
    return replace(raw, columns=columns, kind="smi")


def _header(line: str) -> list[str] | None:
    """Return the names of the columns when the first line has them; None when it is a structure."""
    cells = [cell.strip() for cell in line.split("\t")] if "\t" in line else _HEADER_BREAK.split(line.strip())
    return cells if any(fold(cell) in headers.STRUCTURES for cell in cells) else None


def _mark(lines: list[str]) -> str | None:
    """Return the comma or semicolon that separates fields in every line; None where blanks or tabs do."""
    filled = [line for line in lines if line.strip()]
    return next((mark for mark in ",;" if filled and all(_has_fields(line, mark) for line in filled)), None)


def _has_fields(line: str, mark: str) -> bool:
    """Whether a mark is right after a SMILES, or between its name and a number: a name may have commas in it."""
    first, *more = line.strip().split(mark)
    smiles, *name = first.split()
    fits = not name or plain_number(more[-1]) is not None if more else False
    return fits and headers.SMILES_SHAPE.fullmatch(smiles) is not None


def _split(line: str, mark: str | None) -> list[str]:
    """SMILES with its extension, then the name, then what tabs (or ``mark``) separate."""
    if mark is not None:
        first, *more = line.strip().split(mark)
        return [*first.split(None, 1), *map(str.strip, more)]
    extended = _EXTENDED.fullmatch(line.strip())
    if extended is not None:
        rest = (extended["rest"] or "").split("\t")
        return [f"{extended['smiles']} {extended['extension']}", *rest]
    if "\t" in line:
        return line.strip("\r\n").split("\t")
    return line.split(None, 1)
