"""Tables as text: a csv, tsv or txt file, or a pasted block, with the row numbers a spreadsheet shows."""

from __future__ import annotations

import csv
import hashlib
import io
import itertools
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from assaypilot.engine.errors import AssayPilotError
from assaypilot.engine.progress import Report, silent

__all__ = ["DELIMITERS", "RawTable", "fold", "parse_text", "read_table", "unguard"]

DELIMITERS = {",": "comma", ";": "semicolon", "\t": "tab"}
"""The only delimiters that are looked for, and what to call them."""

_SNIFFED_RECORDS = 200
_NAMED_ROWS = 5

_OTHER_FORMATS = {
    ".xlsx": "an Excel workbook",
    ".xlsm": "an Excel workbook",
    ".xls": "an Excel workbook",
    ".ods": "a spreadsheet document",
    ".sdf": "an SD file",
    ".sd": "an SD file",
    ".mol": "a molfile",
    ".pdf": "a PDF document",
    ".zip": "an archive",
    ".gz": "an archive",
}
_MAGIC = (
    (b"PK\x03\x04", "an Excel workbook or an archive"),
    (b"\xd0\xcf\x11\xe0", "an Excel workbook of the old kind"),
    (b"%PDF", "a PDF document"),
    (b"\x1f\x8b", "a compressed file"),
)
_SAVE_AS_CSV = "Save it as csv and read that."
_DECIMAL_COMMA = re.compile(r"[<>=≤≥]*\s*[+-]?\d+,\d+(?:[eE][+-]?\d+)?(?:\s*[A-Za-zµμ%]+)?")
_DECIMAL_POINT = re.compile(r"[<>=≤≥]*\s*[+-]?\d*\.\d+(?:[eE][+-]?\d+)?(?:\s*[A-Za-zµμ%]+)?")


@dataclass(frozen=True, slots=True)
class RawTable:
    """A table as text, every cell trimmed, before anything is made of it."""

    columns: tuple[str, ...]
    """Header texts, unique; repeated ones carry a number."""
    cells: tuple[tuple[str, ...], ...]
    """One tuple per column, one text per row."""
    rows: tuple[int, ...]
    """The row each one has in a spreadsheet; a header in the first line is row 1."""
    encoding: str
    """utf-8, utf-8-sig, utf-16, cp1252, or text for a pasted block."""
    delimiter: str
    """What separates the cells: a comma, a semicolon or a tab."""
    decimal: str
    """What marks decimals: a point or a comma."""
    file: str | None
    """The file's name without its folder; None for a pasted block."""
    digest: str
    """SHA-256 of the file's bytes, or of the pasted text in UTF-8."""
    warnings: tuple[str, ...] = ()
    """What was assumed or mended while reading."""

    def __len__(self) -> int:
        """The number of rows below the header."""
        return len(self.rows)

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
    """A header for comparison: lower case, with single spaces for spaces, underscores, dots and hyphens."""
    return re.sub(r"[\s_.\-]+", " ", header).strip().casefold()


def unguard(text: str) -> str:
    """A cell without the ``'`` that our csv writer puts before text a spreadsheet would take for a formula."""
    if text[:1] == "'" and text.lstrip("'")[:1] in ("=", "+", "-", "@", "\t"):
        return text[1:]
    return text


def read_table(path: str | Path, report: Report = silent) -> RawTable:
    """The table in a csv, tsv or txt file; AssayPilotError says in one line what cannot be read and what to do."""
    path = Path(path)
    name = path.name
    try:
        if path.is_dir():
            raise AssayPilotError("this is a folder, not a table", file=name, mend="Name the csv file in it.")
        data = path.read_bytes()
    except FileNotFoundError:
        raise AssayPilotError("there is no such file", file=name, mend="Check the name and the folder.") from None
    except OSError as error:
        why = error.strerror or type(error).__name__
        raise AssayPilotError(f"cannot be read ({why})", file=name, mend="Check its permissions.") from None
    report(0.1, f"Reading {name}")
    _refuse_other_formats(name, path.suffix.lower(), data)
    text, encoding, notes = _decode(name, data)
    return _parse(text, name, encoding, hashlib.sha256(data).hexdigest(), notes, report)


def parse_text(text: str, report: Report = silent) -> RawTable:
    """The table in a pasted block, tab-separated as spreadsheets copy; its first line is the header."""
    digest = hashlib.sha256(text.encode("utf-8", "replace")).hexdigest()
    return _parse(text.removeprefix("\ufeff"), None, "text", digest, [], report)


def _refuse_other_formats(name: str, suffix: str, data: bytes) -> None:
    if not data.strip(b"\xef\xbb\xbf\xff\xfe\x00 \t\r\n"):
        raise AssayPilotError("the file is empty", file=name, mend="Export the table again, with its header row.")
    kind = next((kind for magic, kind in _MAGIC if data.startswith(magic)), None)
    if kind is None and (b"\n$$$$" in data or b"V2000\n" in data[:4096] or b"V2000\r" in data[:4096]):
        kind = "an SD file"
    kind = _OTHER_FORMATS.get(suffix, kind) if kind is not None or suffix in _OTHER_FORMATS else None
    if data.startswith(b"SQLite format 3\x00"):
        raise AssayPilotError(
            "this is a campaign file or another database, not a table",
            file=name,
            mend="Name the csv file with the compounds.",
        )
    if kind is not None:
        raise AssayPilotError(f"this is {kind}, which is not read yet by this version", file=name, mend=_SAVE_AS_CSV)


def _decode(name: str, data: bytes) -> tuple[str, str, list[str]]:
    """Text, encoding and what to say about it."""
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
        tries = ("utf-8", "cp1252")
    for encoding in tries:
        try:
            text = data.decode(encoding)
        except UnicodeDecodeError:
            continue
        if "\x00" in text:
            break
        said = "utf-16" if encoding.startswith("utf-16") else encoding
        notes = []
        if encoding == "cp1252":
            notes.append("The file is not UTF-8; it was read as Windows-1252. Check characters such as µ and °.")
        return text, said, notes
    raise AssayPilotError("this is not text but a binary file", file=name, mend=_SAVE_AS_CSV)


def _records(text: str, delimiter: str) -> Iterator[list[str]]:
    return csv.reader(io.StringIO(text, newline=""), delimiter=delimiter)


def _sniff(text: str, name: str | None) -> str:
    """The delimiter under which the first lines have the most even number of columns."""
    best, best_score = None, (0.0, 0)
    for delimiter in DELIMITERS:
        try:
            sample = [row for row in itertools.islice(_records(text, delimiter), _SNIFFED_RECORDS) if any(row)]
        except csv.Error:
            continue
        if not sample or len(sample[0]) < 2:
            continue
        width = len(sample[0])
        even = sum(len(row) == width for row in sample) / len(sample)
        if (even, width) > best_score:
            best, best_score = delimiter, (even, width)
    if best is None:
        raise AssayPilotError(
            "only one column was found (comma, semicolon and tab were tried as delimiters)",
            file=name,
            mend="Save the table as csv with one of these between the columns.",
        )
    return best


def _parse(text: str, name: str | None, encoding: str, digest: str, warnings: list[str], report: Report) -> RawTable:
    if not text.strip():
        raise AssayPilotError("the file is empty" if name else "nothing was pasted", file=name, mend="Give a table.")
    delimiter = _sniff(text, name)
    records = _all_records(text, delimiter, name)
    report(0.4, "Splitting the table into columns")
    header_at = next(place for place, record in enumerate(records) if any(cell.strip() for cell in record))
    header = [cell.strip() for cell in records[header_at]]
    numbered = [
        (place + 1, record)
        for place, record in enumerate(records[header_at + 1 :], start=header_at + 1)
        if record and any(record)
    ]
    columns, width = _name_columns(header, [record for _, record in numbered], warnings)
    rows = []
    lines = []
    short, long = [], []
    for row, record in numbered:
        if len(record) != width:
            if len(record) < width:
                short.append(row)
            elif any(cell.strip() for cell in record[width:]):
                long.append(row)
            record = (record + [""] * width)[:width]
        rows.append(row)
        lines.append(record)
    if not rows:
        raise AssayPilotError("there is a header but no row below it", file=name, mend="Add the compounds.")
    for places, said in (
        (short, "fewer cells than the header; the rest counts as empty"),
        (long, "more cells than the header; those beyond it were left out"),
    ):
        if places:
            warnings.append(f"{_rows(places)} {'has' if len(places) == 1 else 'have'} {said}.")
    if sum(map(_looks_numeric, header)) * 2 > width:
        warnings.append(f"Row {header_at + 1} was taken as the header although it holds numbers.")
    report(0.6, "Trimming cells")
    cells = tuple(tuple(map(str.strip, column)) for column in zip(*lines, strict=True))
    if "'" in text:
        cells = tuple(tuple(map(unguard, column)) for column in cells)
        columns = tuple(map(unguard, columns))
    report(0.8, "Looking at the numbers")
    decimal = _decimal(cells, delimiter, warnings)
    report(1.0, "Table read")
    return RawTable(columns, cells, tuple(rows), encoding, delimiter, decimal, name, digest, tuple(warnings))


def _all_records(text: str, delimiter: str, name: str | None) -> list[list[str]]:
    """Every record, blank lines as empty ones; refuses a quotation mark that is never closed."""
    try:
        records = list(_records(text, delimiter))
        unclosed = text.count('"') % 2 == 1 and _ends_inside_quotes(text, delimiter)
    except csv.Error:
        records, unclosed = [], True
    if unclosed:
        raise AssayPilotError(
            "a quotation mark is opened and never closed",
            file=name,
            row=_row_of_open_quote(text, delimiter),
            mend='Remove the stray " or close it.',
        )
    return records


def _ends_inside_quotes(text: str, delimiter: str) -> bool:
    try:
        for _ in csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True):
            pass
    except csv.Error as error:
        return "unexpected end of data" in str(error)
    return False


def _row_of_open_quote(text: str, delimiter: str) -> int | None:
    """The spreadsheet row of the last record that could be read whole, plus one."""
    row = 0
    try:
        for _ in csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True):
            row += 1
    except csv.Error:
        return row + 1
    return None


def _name_columns(header: list[str], records: Sequence[list[str]], warnings: list[str]) -> tuple[tuple[str, ...], int]:
    """Unique column names, and how many columns there are once empty ones at the right are left out."""
    width = len(header)
    while width > 1 and not header[width - 1] and not any(len(r) >= width and r[width - 1].strip() for r in records):
        width -= 1
    names: list[str] = []
    taken = set(header[:width])
    for place, text in enumerate(header[:width], start=1):
        name = text or f"column {place}"
        if name in names or (not text and name in taken):
            number = next(n for n in itertools.count(2) if f"{name} ({n})" not in taken)
            renamed = f"{name} ({number})"
            warnings.append(f"Column {place} repeats the header {name!r}; it is called {renamed!r} here.")
            name = renamed
        elif not text:
            warnings.append(f"Column {place} has no header; it is called {name!r} here.")
        names.append(name)
        taken.add(name)
    return tuple(names), width


def _decimal(cells: Sequence[Sequence[str]], delimiter: str, warnings: list[str]) -> str:
    """Whether the numbers of a table are written with a point or a comma."""
    commas = [cell for column in cells for cell in column if "," in cell and _DECIMAL_COMMA.fullmatch(cell)]
    if not commas:
        return "."
    points = sum(1 for column in cells for cell in column if "." in cell and _DECIMAL_POINT.fullmatch(cell))
    # 1,234 in a comma-separated file is more likely a thousand than a decimal; in the others it is a decimal.
    surely = [cell for cell in commas if not re.search(r"(?<!\d)[1-9]\d{0,2},\d{3}(?!\d)", cell)]
    decimal = "." if points > len(commas) or (delimiter == "," and not surely) else ","
    if points:
        warnings.append(
            f"Some numbers have a decimal comma ({len(commas)}) and some a decimal point ({points}); "
            f"read with {'a point' if decimal == '.' else 'a comma'}, and unclear ones are left out."
        )
    return decimal


def _looks_numeric(text: str) -> bool:
    return re.fullmatch(r"[+-]?\d+(?:[.,]\d+)?", text) is not None


def _rows(places: Sequence[int]) -> str:
    """'Row 3', 'Rows 3 and 5', or the first few and how many more."""
    if len(places) == 1:
        return f"Row {places[0]}"
    named = ", ".join(str(place) for place in places[:_NAMED_ROWS])
    more = len(places) - _NAMED_ROWS
    return f"Rows {named} and {more} more" if more > 0 else f"Rows {named}"
