"""Tables in text: encoding, delimiter, quotation marks, and what PubChem and DataWarrior write around theirs."""

from __future__ import annotations

import csv
import io
import itertools
import re
from collections.abc import Iterator

from ..errors import AssayPilotError
from ..system.guarded import LONGEST_CELL, MOST_CELLS
from ..system.progress import Report
from . import headers
from .arrangements import barred, is_framed, spaced, table_of
from .raw import DELIMITERS, PUBCHEM_UNITS, RawTable, fold, rows_named, unguard, visible
from .values import decimal_mark, thousands_read, without_thousands

_SNIFFED_RECORDS = 200
_SAVE_AS_CSV = "Save it as csv and read that."
_CONTROLS = re.compile(r"[\x00-\x08\x0e-\x1f\x7f-\x9f]")
_ODD = 0.02
"""More control characters than this, and a file is no text."""


def decode(name: str, data: bytes) -> tuple[str, str, list[str]]:
    """Return text, encoding and notes about them; AssayPilotError when it is no text."""
    if data.startswith(b"\xef\xbb\xbf"):
        tries: tuple[str, ...] = ("utf-8-sig",)
    elif data.startswith((b"\xff\xfe", b"\xfe\xff")):
        tries = ("utf-16",)
    elif b"\x00" in data[:4096]:
        # UTF-16 without a mark: every other byte of plain text is zero.
        head = data[:4096]
        odd, even = head[1::2].count(0), head[::2].count(0)
        tries = ("utf-16-le",) if odd > 4 * even else ("utf-16-be",) if even > 4 * odd else ()
    else:
        tries = ("utf-8", "cp1252", "latin-1")
    for encoding in tries:
        try:
            text = data.decode(encoding)
        except UnicodeDecodeError:
            continue
        sample = text[:20_000]
        if "\x00" in text or len(_CONTROLS.findall(sample)) > max(3, _ODD * len(sample)):
            break
        _refuse_many(text.count("\n") + text.count("\r"), "lines", name)
        name_of = "utf-16" if encoding.startswith("utf-16") else encoding
        notes = []
        if encoding in ("cp1252", "latin-1"):
            called = "Windows-1252" if encoding == "cp1252" else "Latin-1"
            notes.append(f"The file is not UTF-8; it was read as {called}. Check characters such as µ and °.")
        return text, name_of, notes
    raise AssayPilotError("this is not text but a binary file", file=name, mend=_SAVE_AS_CSV)


def parse(
    text: str, name: str | None, encoding: str, digest: str, warnings: list[str], report: Report, *,
    delimiter: str | None = None, decimal: str | None = None, header: tuple[int, int] | None = None,
) -> RawTable:  # fmt: skip
    """Return the table in a text; AssayPilotError when there is none.

    ``delimiter``, ``decimal`` and ``header`` (as ``lay_out`` takes it) are found where they are None.
    """
    if not text.strip():
        raise AssayPilotError("the file is empty" if name else "nothing was pasted", file=name, mend="Give a table.")
    _refuse_many(max(map(text.count, DELIMITERS)) + text.count("\n"), "cells", name)
    if is_datawarrior(text):
        text, delimiter = datawarrior_table(text, name, warnings), "\t"
    if delimiter is None:
        records, delimiter = _divided(text, name, warnings)
    else:
        records = _all_records(text, delimiter, name)
    if visible(text) is not text:
        records = [list(map(visible, record)) for record in records]
    return tabulated(
        records, name, encoding, digest, warnings, report, delimiter=delimiter, decimal=decimal, header=header
    )


def tabulated(
    records: list[list[str]], name: str | None, encoding: str, digest: str, warnings: list[str], report: Report, *,
    delimiter: str, decimal: str | None = None, header: tuple[int, int] | None = None,
) -> RawTable:  # fmt: skip
    """Return the table in the records of a text, blank lines as empty ones; ``delimiter``: what was between cells."""
    report(0.4, "Splitting the table into columns")
    numbered = [(row, record) for row, record in enumerate(records, start=1) if any(record)]
    numbered = pubchem_rows(numbered, warnings)
    rows, lines = [row for row, _ in numbered], [record for _, record in numbered]
    table, _ = table_of(lines, rows, str.strip, file=name, warnings=warnings, header=header)
    report(0.6, "Trimming cells")
    cells = tuple(tuple(map(str.strip, column)) for column in table.cells)
    columns = table.columns
    if any("'" in cell for record in lines for cell in record):
        cells = tuple(tuple(map(unguard, column)) for column in cells)
        columns = tuple(map(unguard, columns))
    report(0.8, "Looking at the numbers")
    if decimal is None:
        cells = thousands_read(columns, cells, delimiter, warnings)
        decimal = decimal_mark(cells, delimiter, warnings)
    else:
        cells = without_thousands(cells, decimal)
    report(1.0, "Table read")
    return RawTable(
        columns, cells, table.rows, encoding, delimiter, decimal, name, digest, tuple(warnings), header=table.header
    )


def _refuse_many(count: int, what: str, name: str | None) -> None:
    if count > MOST_CELLS:
        raise AssayPilotError(
            f"there are {count:,} {what}; at most {MOST_CELLS:,} are read",
            file=name,
            mend="Export only the compounds and columns of the series.",
        )


def _records(text: str, delimiter: str, *, strict: bool = False) -> Iterator[list[str]]:
    return csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=strict)


def _divided(text: str, name: str | None, warnings: list[str]) -> tuple[list[list[str]], str]:
    """Return every record of a text, and the separator of its cells, "" in a drawn table.

    AssayPilotError when nothing does.
    """
    found = _sniff(text)
    drawn = None if found is not None and found[1] and not is_framed(text) else barred(text)
    if drawn is None and found is None:
        whole = _unwrapped(text)
        if whole is not None and (inside := _sniff(whole)) is not None:
            text, found = whole, inside
        elif fold(text.strip().splitlines()[0].strip('"')) in headers.STRUCTURES:
            found = ",", True  # nothing but structures
        else:
            drawn = spaced(text)
    if drawn is not None:
        warnings.append(drawn[1])
        return drawn[0], ""
    records = _all_records(text, "," if found is None else found[0], name)  # a cell may be too long to see any
    if found is None:
        raise AssayPilotError(
            "only one column was found (comma, semicolon, tab, bars and blanks were tried between columns)",
            file=name,
            mend="Save the table as csv with a comma or semicolon between the columns.",
        )
    return records, found[0]


def _sniff(text: str) -> tuple[str, bool] | None:
    """Return the delimiter under which the first lines have the most even number of columns.

    And whether the first line has.

    Between equals a tab: names have commas in them, and hardly ever a tab. None where nothing separates columns.
    """
    best, best_score = None, (0.0, False, 0)
    for delimiter in DELIMITERS:
        try:
            sample = [row for row in itertools.islice(_records(text, delimiter), _SNIFFED_RECORDS) if any(row)]
        except csv.Error:
            continue
        # Title rows above the table are narrow, so the commonest width counts, not the first.
        widths = [len(row) for row in sample]
        width = max(set(widths), key=lambda n: (widths.count(n) * (n > 1), n), default=0)
        if width < 2:
            continue
        even = widths.count(width) / len(sample)
        score = (even, delimiter == "\t", width)
        if score > best_score:
            best, best_score = (delimiter, widths[0] == width), score
    return best


def _unwrapped(text: str) -> str | None:
    """Return the lines of a text, each wholly in quotation marks, without these.

    None for any other.
    """
    lines = text.splitlines()
    filled = [line.strip() for line in lines if line.strip()]
    if not all(len(line) > 1 and line[0] == line[-1] == '"' for line in filled):
        return None
    return "\n".join(line.strip()[1:-1].replace('""', '"') for line in lines)


def _all_records(text: str, delimiter: str, name: str | None) -> list[list[str]]:
    """Return every record, blank lines as empty ones; refuse an unclosed quotation mark, and a long cell."""
    records: list[list[str]] = []
    odd = text.count('"') % 2 == 1
    try:
        records.extend(_records(text, delimiter))
        row = _row_of_open_quote(text, delimiter) if odd else None
    except csv.Error:
        row = len(records) + 1
        if not odd:
            raise AssayPilotError(
                f"a cell has more than {LONGEST_CELL:,} characters",
                file=name,
                row=row,
                mend="Shorten it, or leave its column out.",
            ) from None
    if row is not None:
        raise AssayPilotError(
            "a quotation mark is opened and never closed", file=name, row=row, mend='Remove the stray " or close it.'
        )
    return records


def _row_of_open_quote(text: str, delimiter: str) -> int | None:
    """Return the row in which a quotation mark is opened and never closed; None where none is."""
    row = 0
    try:
        for _ in _records(text, delimiter, strict=True):
            row += 1
    except csv.Error as error:
        return row + 1 if "unexpected end of data" in str(error) else None
    return None


_TAG = "PUBCHEM_RESULT_TAG"
_ABOUT = re.compile(r"RESULT_[A-Z_]+")

_START = "<datawarrior-fileinfo>"
_ABOVE = re.compile(r"(?:<([a-z -]+)>\n(?:.*\n)*?</\1>\n)+")
"""The parts of settings before the table, each with its end."""
_BEHIND = re.compile(r"^<(?:datawarrior properties|hitlist data|detail data|datawarrior explanation|data)\b", re.M)
_PROPERTIES = re.compile(r'<columnName="(.*)">\n((?:<columnProperty=.*\n)*)')
_CODED = re.compile(r'"specialType\t(?:idcode|idcoordinates|FragFp|atomColorInfo|reaction|rxncode)')
"""Columns of structures, or what belongs to them, in a code of the program's own."""


def pubchem_rows(numbered: list[tuple[int, list[str]]], warnings: list[str]) -> list[tuple[int, list[str]]]:
    """Return the rows of a table with its header.

    In a bioassay of PubChem without those that only describe its columns.

    The units they give are joined to the headers. Any other table stays as it is.
    """
    if not numbered or not numbered[0][1] or numbered[0][1][0].strip() != _TAG:
        return numbered
    row, header = numbered[0]
    about = {}
    for at, record in numbered[1:]:
        if not _ABOUT.fullmatch(record[0].strip()):
            break
        about[record[0].strip()] = (at, record)
    if not about:
        return numbered
    units = about.get("RESULT_UNIT", (0, []))[1]
    names = [
        f"{name} ({PUBCHEM_UNITS[unit]})" if (unit := text.strip().lower()) in PUBCHEM_UNITS else name
        for name, text in zip(header, [*units, *[""] * len(header)], strict=False)
    ]
    places = [at for at, _ in about.values()]
    rows = rows_named(places).lower()
    warnings.append(f"The columns are described in {rows}, as PubChem does; their units were joined to the headers.")
    return [(row, names), *((at, record) for at, record in numbered[1:] if at not in places)]


def is_datawarrior(text: str) -> bool:
    """Whether a text is a file of DataWarrior."""
    return text.startswith(_START)


def datawarrior_table(text: str, name: str | None, warnings: list[str]) -> str:
    """Return the table in a file of DataWarrior, tab-separated, each line where it stood; lines of settings are blank.

    Structures in DataWarrior's own code are left out, with a note. AssayPilotError when they are all there is to
    make sites of, or no row follows the settings.
    """
    text = text.replace("\r\n", "\n").replace("\r", "\n")
    above = _ABOVE.match(text)
    settings = above[0] if above else ""
    coded = {column for column, about in _PROPERTIES.findall(settings) if _CODED.search(about)}
    table = [line.split("\t") for line in _BEHIND.split(text[len(settings) :], maxsplit=1)[0].rstrip("\n").split("\n")]
    if len(table) < 2:
        raise AssayPilotError("there is no table in this file of DataWarrior", file=name, mend=_SAVE)
    kept = [place for place, column in enumerate(table[0]) if column not in coded]
    lost = [column for column in table[0] if column in coded]
    rest = [fold(table[0][place]) for place in kept]
    if lost:
        if not any(column in headers.STRUCTURES or headers.SITE.fullmatch(column) for column in rest):
            raise AssayPilotError(
                "the structures in this file are in DataWarrior's own code, which is not read", file=name, mend=_SAVE
            )
        warnings.append(f"In DataWarrior's own code, which is not read: {', '.join(lost)}.")
    rows = ["\t".join(line[place] for place in kept if place < len(line)) for line in table]
    return "\n" * settings.count("\n") + "\n".join(rows).replace("<NL>", "; ")


_SAVE = "In DataWarrior: File, Save Special, SD-File (or Textfile with SMILES); read that."
