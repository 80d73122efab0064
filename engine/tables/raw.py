"""Input: a file by its bytes, its table as text, problems of its cells, and the words of chemists."""

from __future__ import annotations

import enum
import errno
import itertools
import json
import os
import re
import stat
from collections.abc import Container, Iterable, Mapping, Sequence
from configparser import ConfigParser
from dataclasses import dataclass, field, fields, replace
from functools import lru_cache
from pathlib import Path
from typing import Any, Literal

from ..errors import AssayPilotError
from ..system.guarded import LARGEST_FILE, LARGEST_TEXT, LONGEST_HEADER
from ..system.places import where_else
from ..text import listed

_ADDRESS = re.compile(r"[A-Za-z][A-Za-z0-9+.-]+:/")
_OLD_OFFICE = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
_SAVE_AS_CSV = "Save it as csv and read that."
_LOCKED = (32, 33)
"""Windows errors for a file that another program has locked: sharing and lock violation."""
_AWAY = (errno.EINVAL, errno.EDEADLK)
"""Windows and macOS errors for a file in the cloud that its service does not download."""
_WORKBOOKS = (b"PK\x03\x04", b"PK\x05\x06", _OLD_OFFICE)
_OTHERS = (
    (b"%PDF", "a PDF document", _SAVE_AS_CSV),
    (b"\x1f\x8b", "a compressed file", "Unpack it first."),
    (b"BZh", "a compressed file", "Unpack it first."),
    (b"\xfd7zXZ", "a compressed file", "Unpack it first."),
    (b"7z\xbc\xaf", "an archive", "Unpack it first."),
    (b"Rar!", "an archive", "Unpack it first."),
    (b"\x89PNG", "a picture", "Give the table itself."),
    (b"\xff\xd8\xff", "a picture", "Give the table itself."),
    (b"SQLite format 3\x00", "a campaign file or another database", "Name the file with the compounds."),
    (b"{\\rtf", "a text document", _SAVE_AS_CSV),
    (b"CDXML", "a drawing", "Export the structures as an SD file."),
    (b"VjCD", "a drawing", "Export the structures as an SD file."),
)


class Kind(enum.Enum):
    """Kind of a file."""

    TEXT = "text"
    WORKBOOK = "workbook"
    SDF = "sdf"


@dataclass(frozen=True, slots=True)
class OpenedFile:
    """A file that was read into memory."""

    name: str
    suffix: str
    """Lower case, with its dot."""
    data: bytes
    kind: Kind


def open_file(path: str | Path) -> OpenedFile:
    """Return the contents of a file and what they are; AssayPilotError in one line when there is nothing to read."""
    if _ADDRESS.match(str(path)):
        raise AssayPilotError(
            "this is an address, and nothing is fetched from the network",
            file=str(path),
            mend="Save the file on this computer and name it there.",
        )
    if "\x00" in str(path):
        raise AssayPilotError("this is no name of a file", mend="Check the name.")
    path = Path(path)
    name = path.name or str(path)
    data = _contents(path, name)
    if not data.strip(b"\xef\xbb\xbf\xff\xfe\x00 \t\r\n"):
        raise AssayPilotError("the file is empty", file=name, mend="Export the table again, with its header row.")
    kind = _kind(name, path.suffix.lower(), data)
    if kind is Kind.TEXT and len(data) > LARGEST_TEXT:
        raise _too_large(len(data), LARGEST_TEXT, name)
    return OpenedFile(name, path.suffix.lower(), data, kind)


def is_workbook(path: str | Path) -> bool:
    """Whether a file begins as a workbook does; False for an unreadable one, which reading it will report."""
    try:
        if not Path(path).is_file():  # a pipe would be waited for
            return False
        with open(path, "rb") as file:
            return file.read(8).startswith(_WORKBOOKS)
    except (OSError, ValueError):
        return False


def _contents(path: Path, name: str) -> bytes:
    try:
        about = os.stat(path)
        if stat.S_ISDIR(about.st_mode):
            raise AssayPilotError("this is a folder, not a table", file=name, mend="Name the file in it.")
        if not stat.S_ISREG(about.st_mode):
            raise AssayPilotError("this is a device or a pipe, not a file", file=name, mend="Name a file.")
        if about.st_size > LARGEST_FILE:
            raise _too_large(about.st_size, LARGEST_FILE, name)
        if name.startswith("~$"):
            raise AssayPilotError(
                "this is only the mark that a spreadsheet is open",
                file=name,
                mend=f"Name {name.removeprefix('~$')} instead.",
            )
        return path.read_bytes()
    except FileNotFoundError:
        raise AssayPilotError("there is no such file", file=name, mend=where_else(path)) from None
    except (OSError, ValueError) as error:
        if getattr(error, "winerror", None) in _LOCKED:
            raise AssayPilotError(
                "the file is open in another program, which keeps it to itself",
                file=name,
                mend="Close it there and try again.",
            ) from None
        if getattr(error, "errno", None) in _AWAY and os.path.isfile(path):
            raise AssayPilotError(
                "the file is kept elsewhere (OneDrive, iCloud and the like) and could not be fetched",
                file=name,
                mend="Have it kept on this computer, or copy it into a folder of your own, and read it there.",
            ) from None
        why = getattr(error, "strerror", None) or type(error).__name__
        raise AssayPilotError(
            f"cannot be read ({why})", file=name, mend="Check its permissions, or whether another program has it open."
        ) from None
    except MemoryError:
        raise AssayPilotError("the file does not fit into memory", file=name, mend="Export fewer columns.") from None


def _too_large(size: int, most: int, name: str) -> AssayPilotError:
    return AssayPilotError(
        f"the file has {size / 1e6:,.0f} MB; files like this up to {most / 1e6:.0f} MB are read",
        file=name,
        mend="Export only the compounds and columns of this series.",
    )


def _kind(name: str, suffix: str, data: bytes) -> Kind:
    if data.startswith(_WORKBOOKS):
        return Kind.WORKBOOK
    for magic, what, mend in _OTHERS:
        if data.startswith(magic):
            raise AssayPilotError(f"this is {what}, not a table", file=name, mend=mend)
    head = data[:4096].lstrip(b"\xef\xbb\xbf \t\r\n").lower()
    if head.startswith((b"<!doctype", b"<html", b"<table", b"<?xml")):
        raise AssayPilotError(
            "this is a web page or an XML document, whatever its name says",
            file=name,
            mend="Open it in a spreadsheet and save it as xlsx or csv.",
        )
    if re.match(rb"\[\s*\{|\{\s*\"", head) is not None:
        raise AssayPilotError("this is JSON, not a table", file=name, mend=_SAVE_AS_CSV)
    counts = b"".join(data[:4096].split(b"\n")[3:4]).rstrip()  # the fourth line of a molblock
    if suffix in (".sdf", ".sd", ".mol", ".mdl") or b"\n$$$$" in data or counts.endswith((b"V2000", b"V3000")):
        return Kind.SDF
    return Kind.TEXT


_FILE = ConfigParser(delimiters=(":",), comment_prefixes=(";",), interpolation=None)
_FILE.read_string(Path(__file__).with_name("vocabulary.ini").read_text(encoding="utf-8"))
HEADERS, ROLES, CELLS, SUBSTITUENTS = (
    {name: tuple(" ".join(word.split()) for word in words.split("|")) for name, words in _FILE[section].items()}
    for section in ("headers", "roles", "cells", "substituents")
)
"""Names of columns by their roles, words of cells, and other names of substituents."""
PUBCHEM_UNITS = dict(_FILE["pubchem units"])
PATTERNS = {name: re.compile("".join(text.splitlines())) for name, text in _FILE["patterns"].items()}
"""Patterns of headers and words, where a list would be endless."""

for _role in ("date", "plate", "well", "batch", "comment"):
    ROLES[_role] += tuple(f"{of} {name}" for of in ("assay", "test") for name in ROLES[_role])


@dataclass(frozen=True, slots=True)
class Problem:
    """A row or a value of a table that was not used, and why."""

    row: int | None
    """As a spreadsheet counts, or the number of the record in an SD file; None when it is about the table."""
    column: str | None
    reason: str
    severity: Literal["error", "warning"] = "warning"
    """An error needs a decision of the user before the table can be trusted; a warning lost a row or a value."""

    def as_json(self) -> dict[str, int | str | None]:
        """Return the keys of the command line's list."""
        return {"row": self.row, "column": self.column, "reason": self.reason, "severity": self.severity}


@dataclass(frozen=True, slots=True)
class Said:
    """Problems, warnings and notes about a table while it is imported."""

    problems: list[Problem] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    empty: list[str] = field(default_factory=list)
    """The warnings about empty substituent cells; they are among ``warnings``, too."""


FORMULA = ("=", "+", "-", "@", "\t", "\r", "＝", "＋", "－", "＠")
"""Signs by which a spreadsheet takes a text for a formula, full-width ones too."""
DELIMITERS = {",": "comma", ";": "semicolon", "\t": "tab"}
"""The only delimiters that are looked for, and what to call them."""

_NAMED_ROWS = 5
_NAMED_COLUMNS = 12
_KIND = re.compile(r"^[birs]_(?:user|sd|m|csv)_(?=.)")
_UNSEEN = "\u200b\u200c\u200d\u2060\ufeff\u00ad"
_REMOVED = re.compile(rf"(?<![\d.,])[{_UNSEEN}]+|[{_UNSEEN}]+(?![\d.,])")
"""Between digits such a sign may stand for a mark that was lost, and what it was is not guessed."""
_HYPHENS = "\u2010\u2011"
_PLAIN = str.maketrans(_HYPHENS, "--")
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
    """The separator of cells: a comma, a semicolon or a tab; empty without one."""
    decimal: str
    """The decimal mark: a point or a comma."""
    file: str | None
    """The file's name without its folder; None for a pasted block."""
    digest: str
    """SHA-256 of the file's bytes, or of the pasted text in UTF-8."""
    warnings: tuple[str, ...] = ()
    """Assumptions and corrections while reading."""
    kind: str = "text"
    """text, workbook, sdf or smi."""
    sheet: str | None = None
    """The sheet of a workbook that was read."""
    problems: tuple[Problem, ...] = ()
    """Rows or cells that could not be read as they are, such as a broken structure."""
    unmatched: tuple[tuple[str, ...], tuple[str, ...]] = ((), ())
    """After a join: the ids of this table without a partner, and those of the other."""
    spelled: str | None = None
    """The column whose structures are already in our own spelling, because they came as drawings."""
    points: str = ""
    """The note on responses that were left out because they are points of curves; "" where there are none."""
    header: tuple[int, ...] = ()
    """The rows of a header of several that was found; empty for one row."""
    sites: tuple[str, ...] = ()
    """The columns that were made of sequences, one for each position in which these differ."""

    def __post_init__(self) -> None:
        """Refuse a header that is too long."""
        for place, name in enumerate(self.columns, start=1):
            if len(name) > LONGEST_HEADER:
                raise AssayPilotError(
                    f"the header of column {place} has {len(name):,} characters; at most {LONGEST_HEADER} are read",
                    file=self.file,
                    mend="Give the column a short name.",
                )

    def __len__(self) -> int:
        """Return the number of rows below the header."""
        return len(self.rows)

    @property
    def described(self) -> str:
        """How the table was read, in a few words: ``utf-8, separated by commas``; ``workbook, sheet Data``."""
        if self.kind == "workbook":
            return f"workbook, sheet {self.sheet}"
        if self.kind == "sdf":
            return f"SD file, {self.encoding}"
        separator = f", separated by {DELIMITERS[self.delimiter]}s" if self.delimiter in DELIMITERS else ""
        return f"{'SMILES file, ' if self.kind == 'smi' else ''}{self.encoding}{separator}"

    def column(self, name: str) -> tuple[str, ...]:
        """Return the texts of a column by its exact name."""
        return self.cells[self.columns.index(name)]

    def at(self, places: Sequence[int], **changed: Any) -> RawTable:
        """Return the table with these of its rows in this order; one may come several times."""
        cells = tuple(tuple(column[place] for place in places) for column in self.cells)
        return replace(self, cells=cells, rows=tuple(self.rows[place] for place in places), **changed)

    def with_columns(self, columns: Mapping[str, Sequence[str]]) -> RawTable:
        """Return the table with these columns: in place of those with the same name, else after the others."""
        known = {fold(name): name for name in columns}
        whole = {known.get(fold(name), name): cells for name, cells in zip(self.columns, self.cells, strict=True)}
        whole |= {name: tuple(texts) for name, texts in columns.items()}
        return replace(self, columns=tuple(whole), cells=tuple(whole.values()))

    def without(self, columns: Container[str]) -> RawTable:
        """Return the table without these columns."""
        left = {name: cells for name, cells in zip(self.columns, self.cells, strict=True) if name not in columns}
        return replace(self, columns=tuple(left), cells=tuple(left.values()))

    def called(self, names: Iterable[str], but: Container[str | None] = ()) -> str | None:
        """Return the first column with one of these folded names, the surest name first; None when there is none."""
        free = [column for column in self.columns if column not in but]
        return next((column for name in names for column in free if fold(column) == name), None)

    def find(self, name: str) -> str | None:
        """Return the column a user means: exactly, else without regard to case, spaces and underscores, if only one."""
        if name in self.columns:
            return name
        folded = fold(name)
        near = [column for column in self.columns if fold(column) == folded]
        return near[0] if len(near) == 1 else None

    def named(self, name: str, option: str) -> str:
        """Return the column that an option names, as ``find`` does; AssayPilotError when there is none."""
        found = self.find(name.strip())
        if found is None:
            problem = f"there is no column {name!r}; the columns are {', '.join(self.columns)}"
            raise AssayPilotError(problem, file=self.file, option=option, mend="Name one of them.")
        return found


@lru_cache(4096)
def fold(header: str) -> str:
    """Return a header for comparison: lower case, with single spaces for spaces and marks between words.

    Small digits are digits (``IC₅₀``, ``R¹``). What a modelling suite puts before its users' names (``r_user_pIC50``)
    is left away.
    """
    return re.sub(r"[\s_.;|\-]+", " ", _KIND.sub("", header).translate(_SMALL)).strip().casefold()


def free_name(name: str, taken: Container[str]) -> str:
    """Return a header that is not taken yet: the name, else with a number after it."""
    return next(free for n in itertools.count(1) if (free := name if n == 1 else f"{name} ({n})") not in taken)


def visible(text: str) -> str:
    """Return a text without invisible characters, and with plain hyphens.

    What is pasted from pages and mails has both.

    Two ids or substituents that look the same are equal then.
    """
    if text.isascii() or not any(sign in text for sign in _UNSEEN + _HYPHENS):
        return text
    return _REMOVED.sub("", text).translate(_PLAIN)


def unguard(text: str) -> str:
    """Return a cell without the ``'`` that our csv writer puts before text a spreadsheet would take for a formula."""
    if text[:1] == "'" and text.lstrip("'").startswith(FORMULA):
        return text[1:]
    return text


def columns_named(columns: Sequence[str]) -> str:
    """Return the columns, or the first few and how many more."""
    return listed(columns, _NAMED_COLUMNS)


def rows_named(places: Sequence[int]) -> str:
    """'Row 3', 'Rows 3, 5', or the first few and how many more."""
    if len(places) == 1:
        return f"Row {places[0]}"
    return f"Rows {listed([str(place) for place in places], _NAMED_ROWS)}"


def to_bytes(table: RawTable) -> bytes:
    """Return the table as JSON."""
    values = {one.name: getattr(table, one.name) for one in fields(RawTable)}
    values["problems"] = [[one.row, one.column, one.reason, one.severity] for one in table.problems]
    return json.dumps(values).encode()


def from_bytes(data: bytes) -> RawTable:
    """Return the table that ``to_bytes`` wrote."""
    values = json.loads(data)
    for name in ("columns", "rows", "warnings", "header", "sites"):
        values[name] = tuple(values[name])
    values["cells"] = tuple(map(tuple, values["cells"]))
    values["unmatched"] = tuple(map(tuple, values["unmatched"]))
    values["problems"] = tuple(Problem(*one) for one in values["problems"])
    return RawTable(**values)
