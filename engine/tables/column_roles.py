"""The columns of a table while it is found out which is what: which are taken, and what their cells show."""

from __future__ import annotations

import re
from collections.abc import Sequence

from ..system.limits import LONGEST_BLOCK
from . import headers
from .headers import SMILES_SHAPE
from .raw import RawTable
from .values import is_missing, parse_value, plain_number

SAMPLED = 2000
"""Cells by which a column is judged."""


class Claims:
    """Which columns are taken, and what there is to say about them."""

    def __init__(self, raw: RawTable) -> None:
        self.raw = raw
        self.taken: set[str] = set()
        self.reported: set[str] = set()
        """Columns that are not taken, and that a note or warning names."""
        self.notes: list[str] = []
        self.warnings: list[str] = []

    def free(self) -> list[str]:
        """Return the columns that nothing has taken."""
        return [column for column in self.raw.columns if column not in self.taken]

    def named(self, name: str | None, option: str) -> str | None:
        """Return the column that a user names, which is taken.

        None without a name, AssayPilotError when there is none.
        """
        if name is None:
            return None
        column = self.raw.named(name, option)
        self.taken.add(column)
        return column

    def first(self, names: tuple[str, ...]) -> str | None:
        """Return the first free column with one of the names, the surest name first; it is taken."""
        column = self.raw.called(names, self.taken)
        if column is not None:
            self.taken.add(column)
        return column

    def role(self, role: str) -> str | None:
        """Return the first free column with a name of a role; it is taken."""
        return self.first(headers.ROLES[role])

    def any_of(self, names: tuple[str, ...]) -> str | None:
        """Return the first free column with one of the names, which stays free."""
        return self.raw.called(names, self.taken)

    def numbers(self, column: str) -> list[str]:
        """Return the texts of a column that are numbers, when at least half of its filled cells are."""
        texts = [text for text in self.raw.column(column)[:SAMPLED] if not is_missing(text)]
        numbers = [text for text in texts if self.is_number(text)]
        if not texts and len(self.raw) > SAMPLED:
            rest = self.raw.column(column)[SAMPLED:]
            numbers = [text for text in rest if not is_missing(text) and self.is_number(text)][:SAMPLED]
            texts = numbers
        return numbers if numbers and 2 * len(numbers) >= len(texts) else []

    def values(self, texts: Sequence[str]) -> list[float]:
        """Return the exact numbers among the first cells of a column."""
        found = []
        for text in texts[:SAMPLED]:
            number = plain_number(text)
            if number is None and not is_missing(text):
                try:
                    read = parse_value(text, self.raw.decimal)
                except ValueError:
                    continue
                number = read.value if read.relation == "=" else None
            if number is not None:
                found.append(number)
        return found

    def is_number(self, text: str) -> bool:
        """Whether a text is a measured number."""
        try:
            unit = parse_value(text, self.raw.decimal).unit
        except ValueError:
            return False
        # "3 Me" is a label; a column of numbers has a unit of concentration or none, or per cent.
        return unit is None or unit.startswith("%") or headers.looks_like_concentration(unit)


_SAMPLED = 2000
_PARSED = 60
"""Structures of a column that are read to see whether they are some."""
_FEWEST_ATOMS = 4
"""Heavy atoms below which a text that parses (C, NO, COC) is more likely a label than a compound."""
_DATE = re.compile(
    r"(?:19|20)\d{2}[-/.](?:0?[1-9]|1[0-2])[-/.]\d{1,2}(?:[ T]\d{1,2}:\d{2}.*)?|\d{1,2}[-/.]\d{1,2}[-/.](?:19|20)?\d{2}"
    r"|"
    r"\d{1,2}[-. ](?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]*[-. ,]+(?:19|20)?\d{2}|"
    r"(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]* \d{1,2},? (?:19|20)\d{2}",
    re.I,
)
_ID = re.compile(r"(?=\S*\d)[A-Za-z0-9]+(?:[-_:./#|][A-Za-z0-9]+)*|(?:[A-Za-z]+) ?[-#]?\d+[a-zA-Z]?")
"""One word with a digit in it: AX-1023, CHEMBL25, 12a, Z987-01; or a word and a number."""
_FRAGMENT = re.compile(r"\[\*:\d+\]|\[\d+\*\]|\[R\d*\]|(?<![\[(])\*|\[\*\]")


def filled(texts: Sequence[str], most: int = _SAMPLED) -> list[str]:
    """Return the first cells of a column that hold something."""
    return [text for text in texts[:most] if not is_missing(text)]


def spread(items: Sequence[str], most: int) -> Sequence[str]:
    """At most so many of the items, evenly over all of them."""
    return items[:: max(1, -(-len(items) // most))]


def share_of_structures(texts: Sequence[str], fewest: int = _FEWEST_ATOMS) -> float:
    """Return the share of the different texts of a column that are structures of compounds: SMILES or molblocks.

    Names, codes and residues that happen to be SMILES (CO, N, NCCN) are too small to count: of ``fewest`` heavy atoms.
    """
    different = list(dict.fromkeys(filled(texts)))
    if not different:
        return 0.0
    sample = list(spread(different, _PARSED))
    shaped = [text for text in sample if "M  END" in text or SMILES_SHAPE.match(text) is not None]
    if 2 * len(shaped) < len(sample):
        return 0.0
    from ..chemistry.structures import heavy_atoms

    return sum(len(text) <= LONGEST_BLOCK and heavy_atoms(text) >= fewest for text in shaped) / len(sample)


def share_of_fragments(texts: Sequence[str]) -> float:
    """Return the share of the different texts of a column that have an attachment point, as substituents do."""
    different = list(dict.fromkeys(filled(texts)))
    fragments = [t for t in different if _FRAGMENT.search(t) is not None and SMILES_SHAPE.match(t) is not None]
    return len(fragments) / len(different) if different else 0.0


def share_of_dates(texts: Sequence[str]) -> float:
    """Return the share of the cells that are dates."""
    cells = filled(texts, 200)
    return sum(_DATE.fullmatch(text) is not None for text in cells) / len(cells) if cells else 0.0


def looks_like_ids(texts: Sequence[str]) -> bool:
    """Whether most cells are single words with a digit, and not plain numbers."""
    cells = filled(texts, 200)
    words = sum(_ID.fullmatch(text) is not None and not _is_number(text) for text in cells)
    return bool(cells) and 4 * words >= 3 * len(cells)


def _is_number(text: str) -> bool:
    return re.fullmatch(r"[-+]?\d*[.,]?\d+(?:e[-+]?\d+)?", text, re.I) is not None
