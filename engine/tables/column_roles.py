"""The columns of a table while it is found out which is what: sites, and what is still free."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Callable, Hashable, Sequence

from ..domain.library import is_hydrogen
from ..errors import AssayPilotError
from ..system.guarded import LONGEST_BLOCK
from . import headers
from .classes import classes_of, words_of
from .endpoint_kinds import kind_of
from .headers import SMILES_SHAPE
from .raw import PATTERNS, RawTable, fold
from .values import is_missing, parse_value, plain_number

SAMPLED = 2000
"""Cells by which a column is judged."""


class Claims:
    """The columns taken so far, with notes and warnings about them."""

    def __init__(self, raw: RawTable) -> None:
        self.raw = raw
        self.taken: set[str] = set()
        self.sites: tuple[str, ...] = ()
        """The columns of sites, once they are known."""
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

    def is_of_substituents(self, column: str) -> bool:
        """Whether a column says something about the substituents of one site: a length of linkers, a sigma."""
        texts = self.raw.column(column)
        if len(set(texts)) < _FEWEST_VALUES or kind_of(*headers.split_unit(column), column).better:
            return False
        levels = [self.raw.column(site) for site in self.sites]
        different = len(set(zip(*levels, strict=True)))
        return any(2 * len(set(of)) <= different and determines(of, texts) for of in levels)

    def is_number(self, text: str) -> bool:
        """Whether a text is a measured number."""
        try:
            unit = parse_value(text, self.raw.decimal).unit
        except ValueError:
            return False
        # "3 Me" is a label; a column of numbers has a unit of concentration or none, or per cent.
        return unit is None or unit.startswith("%") or headers.looks_like_concentration(unit)


_FEWEST_VALUES = 3
"""Values from which those that are the same for each substituent are no chance."""
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


def filled(texts: Sequence[str], most: int = SAMPLED) -> list[str]:
    """Return the first filled cells of a column."""
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


_MOST = 8
"""Columns that are proposed."""
_MOST_FACTORS = 40
_IDENTIFIED = 0.6
"""The share of the compounds that the levels of the factors must distinguish."""
_DETERMINED = 0.98
_ABOUT = PATTERNS["known about a compound or a measurement"]
"""Headers of what is known about a compound or a measurement, which is no part of it."""
_CONDITION = PATTERNS["set by an experimenter"]
"""Headers of what an experimenter sets."""
_NAME = re.compile(r"smiles|cas|inchi|number|nr|no|id|index|code|\bmw\b")
_DRAWING = re.compile(r"\b(?:canonical|isomeric|smiles|smi|structures?|mol(?:ecule|block|file)?)\b|[()]")
"""Words that a header adds to a site's name where its cells are structures: base_smiles, Structure of R1."""
_FEWEST_ROWS = 8
_MOST_LEVELS = 24
_DRAWN = 0.9
"""Share of the texts of a column that must be structures."""
_UNEVEN = 20


class NoSites(AssayPilotError):
    """No column of a table is called as a site is; ``candidates`` may be some."""

    candidates: tuple[str, ...] = ()


Numbers = Callable[[str], list[str]]
"""The texts of a column that are numbers, when at least half of its filled cells are."""


def numbered_sites(raw: RawTable, free: Sequence[str]) -> tuple[str, ...]:
    """Return the columns that are called as sites are (R1, R2', R-group 3), in the order of their numbers."""
    found: dict[tuple[int, str], str] = {}
    for column in sorted(free, key=len):  # R1 before R1 SMILES
        match = headers.SITE.fullmatch(fold(column))
        if match is not None and not (int(match["number"]) == 2 and _is_r_squared(raw.column(column))):
            found.setdefault((int(match["number"]), match["more"] or ""), column)
    return tuple(found[key] for key in sorted(found))


def structure_columns(raw: RawTable, sites: Sequence[str], free: Sequence[str]) -> tuple[tuple[str, str], ...]:
    """Return each site that another column gives the structures of, with that column: base and base_smiles."""
    named: dict[str, str] = {}
    for column in free:
        bare, words = _DRAWING.subn(" ", fold(column))
        texts = [text for text in raw.column(column) if words and not is_hydrogen(text)]
        if texts and share_of_structures(texts, fewest=1) > _DRAWN:
            named.setdefault(" ".join(bare.split()).removeprefix("of "), column)
    return tuple((site, named[fold(site)]) for site in sites if fold(site) in named)


def _is_r_squared(cells: Sequence[str]) -> bool:
    """Whether a column called R2 is the R2 of curve fits: numbers from 0 to 1, not all of them whole."""
    texts = [text.replace(",", ".") for text in cells[:SAMPLED] if not is_missing(text)]
    inside = [re.fullmatch(r"(?:0?\.\d+|[01](?:\.\d*)?)", text) is not None for text in texts]
    return bool(texts) and all(inside) and any("." in text for text in texts)


def likely_sites(raw: RawTable, free: Sequence[str], numbers: Numbers) -> tuple[str, ...]:
    """Return the first columns that may be sites where none is called so.

    Names that repeat, and steps of a condition.
    """
    return tuple(
        column for column in free if could_be_site(raw, column, numbers) or _could_be_step(raw, column, numbers)
    )[:_MOST]


def could_be_site(raw: RawTable, column: str, numbers: Numbers) -> bool:
    """Whether a column has a few texts that repeat, and no other role by its header."""
    if fold(column) in (*headers.IDS, *headers.ENDPOINT_NAME) or headers.role_of(column) is not None:
        return False  # ids repeat as well, where each row is one measurement
    if _ABOUT.search(fold(column)) is not None or classes_of(column, raw.column(column)[:SAMPLED]):
        return False
    texts = [text for text in raw.column(column)[:SAMPLED] if not is_missing(text)]
    return 1 < len(set(texts)) <= max(2, len(texts) // 2) and not numbers(column)


# ---------------------------------------------------------------------- without headers that name sites


def drawn_sites(raw: RawTable, free: Sequence[str]) -> tuple[str, ...]:
    """Return the columns whose cells have attachment points, whatever they are called."""
    return tuple(
        column for column in free if headers.role_of(column) is None and share_of_fragments(raw.column(column)) > 0.8
    )


def core_column(raw: RawTable, free: Sequence[str], sites: Sequence[str]) -> str | None:
    """Return the column of cores where these are drawn with their sites, or tell compounds apart that these do not."""
    for column in free if sites else ():
        texts = raw.column(column)
        if headers.CORE.fullmatch(fold(column)) is None or any(map(is_missing, texts)) or len(set(texts)) < 2:
            continue
        others = list(zip(*map(raw.column, sites), strict=True))
        if share_of_fragments(texts) > _DRAWN or not determines(others, texts):
            return column
    return None


def factors(
    raw: RawTable, free: Sequence[str], numbers: Numbers, keys: Sequence[Hashable] | None
) -> tuple[tuple[str, ...], dict[str, str]]:
    """Return the factors of a factorial: columns of few levels that together identify a row's compound; () without.

    With the columns that only repeat one of them (a CAS number and a name), each with that one. ``keys`` identify each
    row's compound, by structure or id; None where each row is one. A column whose level differs among the
    rows of a compound is no part of it.
    """
    parts = [column for column in free if _is_part(raw, column)]
    names = [column for column in parts if could_be_site(raw, column, numbers)]
    steps = [column for column in parts if column not in names and _could_be_step(raw, column, numbers)]
    rows: Sequence[Hashable] = list(range(len(raw))) if keys is None else keys
    names = [column for column in names if determines(rows, raw.column(column))]
    steps = [column for column in steps if determines(rows, raw.column(column))]
    repeated: dict[str, str] = {}
    names = _independent(raw, names, repeated)
    set_by_hand = [column for column in steps if is_condition(column)]
    chosen = _independent(raw, [*names, *set_by_hand], repeated)
    steps = [column for column in steps if _is_balanced(raw.column(column))]
    if _identified(raw, chosen, rows) < _DETERMINED:
        # Numbers under any name may be levels, too, where the certain ones do not distinguish the rows.
        more = _independent(raw, [*chosen, *(column for column in steps if column not in chosen)], repeated)
        if _identified(raw, more, rows) > _identified(raw, chosen, rows):
            chosen = more
    found = tuple(column for column in raw.columns if column in chosen)
    if not 1 < len(found) <= _MOST_FACTORS:
        return (), {}
    designed = set(found) <= set(steps) and _is_crossed(raw, found)
    if not designed and _identified(raw, found, rows) < _IDENTIFIED:
        return (), {}
    return found, repeated


def _could_be_step(raw: RawTable, column: str, numbers: Numbers) -> bool:
    """Whether a column of numbers may be the levels of a factor: few, and no result by its header."""
    bare, unit = headers.split_unit(column)
    chain = fold(column) == "n"  # the length of a chain, if it tells compounds apart
    if (headers.role_of(column) is not None and not chain) or headers.is_property(column):
        return False
    if headers.is_about_rows(column) or headers.looks_like_activity(column):
        return False
    if kind_of(bare, unit, column).better and not is_condition(column):
        return False
    texts = [text for text in raw.column(column)[:SAMPLED] if not is_missing(text)]
    levels = len(set(texts))
    return 1 < levels <= _MOST_LEVELS and len(texts) >= max(_FEWEST_ROWS, 3 * levels) and bool(numbers(column))


def is_condition(column: str) -> bool:
    """Whether a column is called as what an experimenter sets: a temperature, an amount, a time."""
    return _CONDITION.search(fold(headers.split_unit(column)[0])) is not None


def _is_balanced(texts: Sequence[str]) -> bool:
    """Whether the levels are about equally often, as in a design; rounded results are not."""
    counts = Counter(text for text in texts if not is_missing(text)).values()
    return min(counts) >= max(2, max(counts) / _UNEVEN)


def _is_part(raw: RawTable, column: str) -> bool:
    """Whether a column may be of what a compound is made of: by its header no fact about it, filled, no dates."""
    folded = fold(headers.split_unit(column)[0])
    texts = raw.column(column)
    if _ABOUT.search(folded) is not None or words_of(texts[:SAMPLED]) is not None or share_of_dates(texts) > 0.5:
        return False
    return sum(is_missing(text) for text in texts) <= 0.1 * len(texts)


def determines(keys: Sequence[Hashable], texts: Sequence[str]) -> bool:
    """Whether equal keys nearly always have equal texts."""
    first: dict[Hashable, str] = {}
    same = sum(first.setdefault(key, text) == text for key, text in zip(keys, texts, strict=True))
    return same >= _DETERMINED * len(keys)


def _independent(raw: RawTable, columns: Sequence[str], repeated: dict[str, str]) -> list[str]:
    """Return the columns without those that another one of them determines.

    Of two equivalent ones the plainer name is kept.
    """
    order = sorted(
        columns, key=lambda c: (-len(set(raw.column(c))), is_condition(c), _NAME.search(fold(c)) is not None)
    )
    kept: list[str] = []
    for column in order:
        determining = next((other for other in kept if determines(raw.column(other), raw.column(column))), None)
        if determining is None:
            kept.append(column)
        else:
            repeated[column] = determining
    return kept


def _is_crossed(raw: RawTable, columns: Sequence[str]) -> bool:
    """Whether most combinations of the levels occur, as in a designed experiment, perhaps with replicates."""
    combinations = len(set(zip(*map(raw.column, columns), strict=True)))
    return combinations >= 4 and 2 * combinations >= math.prod(len(set(raw.column(column))) for column in columns)


def _identified(raw: RawTable, columns: Sequence[str], keys: Sequence[Hashable]) -> float:
    """Return the share of the compounds that have their own combination of levels."""
    if not columns:
        return 0.0
    combinations = set(zip(*map(raw.column, columns), strict=True))
    return min(1.0, len(combinations) / max(1, len(set(keys))))
