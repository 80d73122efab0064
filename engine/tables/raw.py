"""Tables as text before anything is made of them, what of them cannot be used, and the words chemists use in them."""

from __future__ import annotations

import itertools
import json
import re
from collections.abc import Container, Iterable, Sequence
from configparser import ConfigParser
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Literal

from ..errors import AssayPilotError
from ..system.limits import LONGEST_HEADER
from ..text.statements import listed

_FILE = ConfigParser(delimiters=(":",), comment_prefixes=(";",), interpolation=None)
_FILE.read_string(Path(__file__).with_name("vocabulary.ini").read_text(encoding="utf-8"))
HEADERS, ROLES, CELLS, SUBSTITUENTS = (
    {name: tuple(" ".join(word.split()) for word in words.split("|")) for name, words in _FILE[section].items()}
    for section in ("headers", "roles", "cells", "substituents")
)
"""What columns are called, those beside values by what they hold; what cells say; other names of substituents."""
PUBCHEM_UNITS = dict(_FILE["pubchem units"])
PATTERNS = {name: re.compile("".join(text.splitlines())) for name, text in _FILE["patterns"].items()}
"""What headers and words are about, where a list of them would not end."""

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
    """What there is to say of a table while it is imported."""

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
    points: str = ""
    """What to say of responses that were left out because they are points of curves; "" where there are none."""
    header: tuple[int, ...] = ()
    """The rows of a header of several that was found; empty for one row."""

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
        apart = f", separated by {DELIMITERS[self.delimiter]}s" if self.delimiter in DELIMITERS else ""
        return f"{'SMILES file, ' if self.kind == 'smi' else ''}{self.encoding}{apart}"

    def column(self, name: str) -> tuple[str, ...]:
        """Return the texts of a column by its exact name."""
        return self.cells[self.columns.index(name)]

    def called(self, names: Iterable[str], but: Container[str | None] = ()) -> str | None:
        """Return the first column with one of these folded names, the surest name first; None when there is none."""
        free = [column for column in self.columns if column not in but]
        return next((column for name in names for column in free if fold(column) == name), None)

    def find(self, name: str) -> str | None:
        """Return the column a user means: exactly, else without regard to case, spaces and underscores, if only one."""
        if name in self.columns:
            return name
        wanted = fold(name)
        near = [column for column in self.columns if fold(column) == wanted]
        return near[0] if len(near) == 1 else None

    def named(self, name: str, option: str) -> str:
        """Return the column that an option names, as ``find`` does; AssayPilotError when there is none."""
        found = self.find(name.strip())
        if found is None:
            said = f"there is no column {name!r}; the columns are {', '.join(self.columns)}"
            raise AssayPilotError(said, file=self.file, option=option, mend="Name one of them.")
        return found


def fold(header: str) -> str:
    """Return a header for comparison: lower case, with single spaces for spaces, underscores, dots and hyphens.

    Small digits are digits (``IC₅₀``, ``R¹``). What a modelling suite puts before its users' names (``r_user_pIC50``)
    is left away.
    """
    return re.sub(r"[\s_.\-]+", " ", _KIND.sub("", header).translate(_SMALL)).strip().casefold()


def free_name(name: str, taken: Container[str]) -> str:
    """Return a header that is not taken yet: the name, else with a number behind it."""
    return next(free for n in itertools.count(1) if (free := name if n == 1 else f"{name} ({n})") not in taken)


def visible(text: str) -> str:
    """Return a text without the signs that nobody sees, and with plain hyphens.

    What is pasted from pages and mails has both.

    Two ids or substituents that look alike are alike then.
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


def letters_of(column: int) -> str:
    """Return the name of a column by its number from 1: A, B, ..., AA."""
    name = ""
    while column:
        column, digit = divmod(column - 1, 26)
        name = chr(65 + digit) + name
    return name


def to_bytes(table: RawTable) -> bytes:
    """Return the table as JSON."""
    values = {one.name: getattr(table, one.name) for one in fields(RawTable)}
    values["problems"] = [[one.row, one.column, one.reason, one.severity] for one in table.problems]
    return json.dumps(values).encode()


def from_bytes(data: bytes) -> RawTable:
    """Return the table that ``to_bytes`` wrote."""
    values = json.loads(data)
    for name in ("columns", "rows", "warnings", "header"):
        values[name] = tuple(values[name])
    values["cells"] = tuple(map(tuple, values["cells"]))
    values["unmatched"] = tuple(map(tuple, values["unmatched"]))
    values["problems"] = tuple(Problem(*one) for one in values["problems"])
    return RawTable(**values)
