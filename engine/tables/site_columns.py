"""Which columns of a table hold substituents, or the steps of a condition: by their headers, else by their cells."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Callable, Hashable, Sequence

from ..errors import AssayPilotError
from . import headers
from .classes import classes_of, words_of
from .column_roles import share_of_dates, share_of_fragments, share_of_structures
from .endpoint_kinds import kind_of
from .raw import RawTable, fold
from .values import is_missing

_SAMPLED = 2000
_MOST = 8
"""Columns that are proposed."""
_MOST_FACTORS = 40
_IDENTIFIED = 0.6
"""The share of the compounds that the levels of the factors must tell apart."""
_DETERMINED = 0.98
_ABOUT = re.compile(
    r"\b(?:assay|target|organism|species|cell(?: line)?|document|doc|source|project|program(?:me)?|scientist|chemist|"
    r"operator|user|owner|submitter|author|rationale|synonyms?|description|url|link|format|protocol|experiment|status|"
    r"outcome|category|class|type|flag|tag|quality|qc|review|vendor|supplier|salt|lot|batch|plate|well|row|col|column|"
    r"site|lab|laborator(?:y|ies)|cro|series|scaffold|cluster|core|phenotype|journal|year|round|label|bao|standard|"
    r"measurement|parameter|readout|result|endpoint|unit|units|relation|modifier|qualifier|operator|location|country|"
    r"priority|set|split|fold|available|stock|lieferbar|xray|pdb|x ray|crystal)\b"
)
"""Headers of what is known about a compound or a measurement, which is no part of it."""
_CONDITION = re.compile(
    r"\b(?:temp(?:erature|eratur)?|conc(?:entration|n)?|ph|equiv(?:alents?)?|eq|loading|time|pressure|druck|ratio|stoich\w*|"
    r"molarity|dilution|volume|speed|rpm|flow|power|dose|level|factor|x ?\d+)\b|^\$?[a-z]$"
)
"""Headers of what an experimenter sets."""
_NAME = re.compile(r"smiles|cas|inchi|number|nr|no|id|index|code|\bmw\b")
_DRAWING = re.compile(r"\b(?:canonical|isomeric|smiles|smi|structures?|mol(?:ecule|block|file)?)\b|[()]")
"""What a header says beside the name of a site where its cells are structures: base_smiles, Structure of R1."""
_MOST_STEPS = 12
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
        if words and share_of_structures(raw.column(column), fewest=1) > _DRAWN:
            named.setdefault(" ".join(bare.split()).removeprefix("of "), column)
    return tuple((site, named[fold(site)]) for site in sites if fold(site) in named)


def _is_r_squared(cells: Sequence[str]) -> bool:
    """Whether a column called R2 holds the R2 of curve fits: numbers from 0 to 1, not all of them whole."""
    texts = [text.replace(",", ".") for text in cells[:_SAMPLED] if not is_missing(text)]
    inside = [re.fullmatch(r"(?:0?\.\d+|[01](?:\.\d*)?)", text) is not None for text in texts]
    return bool(texts) and all(inside) and any("." in text for text in texts)


def likely_sites(raw: RawTable, free: Sequence[str], numbers: Numbers) -> tuple[str, ...]:
    """Return the first columns that may be sites where none is called so.

    Names that repeat, and steps of a condition.
    """
    return tuple(
        column for column in free if could_be_site(raw, column, numbers) or _could_be_condition(raw, column, numbers)
    )[:_MOST]


def could_be_site(raw: RawTable, column: str, numbers: Numbers) -> bool:
    """Whether a column holds a few texts that repeat, and is nothing else by its header."""
    if fold(column) in (*headers.IDS, *headers.ENDPOINT_NAME) or headers.role_of(column) is not None:
        return False  # ids repeat as well, where each row is one measurement
    if classes_of(column, raw.column(column)[:_SAMPLED]):
        return False
    texts = [text for text in raw.column(column)[:_SAMPLED] if not is_missing(text)]
    return 1 < len(set(texts)) <= max(2, len(texts) // 2) and not numbers(column)


def _could_be_condition(raw: RawTable, column: str, numbers: Numbers) -> bool:
    """Whether a column of numbers looks like steps of a condition (temperature, equivalents), not like results.

    Few numbers, each in several rows; a mark of 0 and 1 is none, nor is what is computed or paid.
    """
    if headers.role_of(column) is not None or headers.is_property(column) or headers.is_kept_beside(column):
        return False
    texts = [text for text in raw.column(column)[:_SAMPLED] if not is_missing(text)]
    steps = set(texts)
    few = 1 < len(steps) <= _MOST_STEPS and len(texts) >= max(_FEWEST_ROWS, 3 * len(steps))
    return few and not steps <= {"0", "1"} and not headers.looks_like_activity(column) and bool(numbers(column))


# ---------------------------------------------------------------------- without headers that say sites


def drawn_sites(raw: RawTable, free: Sequence[str]) -> tuple[str, ...]:
    """Return the columns whose cells have attachment points, whatever they are called."""
    return tuple(
        column for column in free if headers.role_of(column) is None and share_of_fragments(raw.column(column)) > 0.8
    )


def factors(
    raw: RawTable, free: Sequence[str], numbers: Numbers, keys: Sequence[Hashable] | None
) -> tuple[tuple[str, ...], dict[str, str]]:
    """Return the factors of a factorial: columns of few levels that together say which compound a row is; () without.

    With the columns that only repeat one of them (a CAS number beside a name), each with that one. ``keys``: what each
    row's compound is known by, its structure or id; None where each row is one. A column whose level differs among the
    rows of a compound is no part of it.
    """
    parts = [column for column in free if _is_part(raw, column)]
    names = [column for column in parts if could_be_site(raw, column, numbers)]
    steps = [column for column in parts if column not in names and _could_be_step(raw, column, numbers)]
    rows: Sequence[Hashable] = list(range(len(raw))) if keys is None else keys
    names = [column for column in names if _determines(rows, raw.column(column))]
    steps = [column for column in steps if _determines(rows, raw.column(column))]
    beside: dict[str, str] = {}
    names = _independent(raw, names, beside)
    set_by_hand = [column for column in steps if _is_condition(column)]
    chosen = _independent(raw, [*names, *set_by_hand], beside)
    steps = [column for column in steps if _is_balanced(raw.column(column))]
    if _identified(raw, chosen, rows) < _DETERMINED:
        # Numbers under any name may be levels, too, where what is certain does not tell the rows apart.
        more = _independent(raw, [*chosen, *(column for column in steps if column not in chosen)], beside)
        if _identified(raw, more, rows) > _identified(raw, chosen, rows):
            chosen = more
    found = tuple(column for column in raw.columns if column in chosen)
    if not 1 < len(found) <= _MOST_FACTORS:
        return (), {}
    designed = set(found) <= set(steps) and _is_crossed(raw, found)
    if not designed and _identified(raw, found, rows) < _IDENTIFIED:
        return (), {}
    return found, beside


def _could_be_step(raw: RawTable, column: str, numbers: Numbers) -> bool:
    """Whether a column of numbers may hold the levels of a factor: few, and no result by its header."""
    bare, unit = headers.split_unit(column)
    if headers.role_of(column) is not None or headers.is_property(column) or headers.is_kept_beside(column):
        return False
    if headers.looks_like_activity(column) or (kind_of(bare, unit, column).better and not _is_condition(column)):
        return False
    texts = [text for text in raw.column(column)[:_SAMPLED] if not is_missing(text)]
    levels = len(set(texts))
    return 1 < levels <= _MOST_LEVELS and len(texts) >= max(_FEWEST_ROWS, 3 * levels) and bool(numbers(column))


def _is_condition(column: str) -> bool:
    return _CONDITION.search(fold(headers.split_unit(column)[0])) is not None


def _is_balanced(texts: Sequence[str]) -> bool:
    """Whether the levels are about equally often, as in a design; rounded results are not."""
    counts = Counter(text for text in texts if not is_missing(text)).values()
    return min(counts) >= max(2, max(counts) / _UNEVEN)


def _is_part(raw: RawTable, column: str) -> bool:
    """Whether a column may be of what a compound is made of: by its header no fact about it, filled, no dates."""
    folded = fold(headers.split_unit(column)[0])
    texts = raw.column(column)
    if _ABOUT.search(folded) is not None or words_of(texts[:_SAMPLED]) is not None or share_of_dates(texts) > 0.5:
        return False
    return sum(is_missing(text) for text in texts) <= 0.1 * len(texts)


def _determines(keys: Sequence[Hashable], texts: Sequence[str]) -> bool:
    """Whether equal keys nearly always have equal texts."""
    first: dict[Hashable, str] = {}
    same = sum(first.setdefault(key, text) == text for key, text in zip(keys, texts, strict=True))
    return same >= _DETERMINED * len(keys)


def _independent(raw: RawTable, columns: Sequence[str], beside: dict[str, str]) -> list[str]:
    """Return the columns without those that another one of them says already.

    Of two that say the same the plainer name.
    """
    order = sorted(columns, key=lambda c: (-len(set(raw.column(c))), _NAME.search(fold(c)) is not None))
    kept: list[str] = []
    for column in order:
        says = next((other for other in kept if _determines(raw.column(other), raw.column(column))), None)
        if says is None:
            kept.append(column)
        else:
            beside[column] = says
    return kept


def _is_crossed(raw: RawTable, columns: Sequence[str]) -> bool:
    """Whether most combinations of the levels occur, as in a designed experiment, which may hold replicates."""
    combinations = len(set(zip(*map(raw.column, columns), strict=True)))
    return combinations >= 4 and 2 * combinations >= math.prod(len(set(raw.column(column))) for column in columns)


def _identified(raw: RawTable, columns: Sequence[str], keys: Sequence[Hashable]) -> float:
    """Return the share of the compounds that have their own combination of levels."""
    if not columns:
        return 0.0
    combinations = set(zip(*map(raw.column, columns), strict=True))
    return min(1.0, len(combinations) / max(1, len(set(keys))))
