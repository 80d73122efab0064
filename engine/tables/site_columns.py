"""Which columns of a table hold substituents, or the steps of a condition: by their headers, else by their cells."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

from assaypilot.engine.errors import AssayPilotError
from assaypilot.engine.tables import headers
from assaypilot.engine.tables.classes import classes_of
from assaypilot.engine.tables.raw import RawTable, fold
from assaypilot.engine.tables.values import is_missing

__all__ = ["NoSites", "could_be_site", "likely_sites", "numbered_sites"]

_SAMPLED = 2000
_MOST = 8
"""Columns that are proposed."""
_MOST_STEPS = 12
_FEWEST_ROWS = 8


class NoSites(AssayPilotError):
    """No column of a table is called as a site is; ``candidates`` may be some."""

    candidates: tuple[str, ...] = ()


Numbers = Callable[[str], list[str]]
"""The texts of a column that are numbers, when at least half of its filled cells are."""


def numbered_sites(raw: RawTable, free: Sequence[str]) -> tuple[str, ...]:
    """The columns that are called as sites are (R1, R2', R-group 3), in the order of their numbers."""
    found: dict[tuple[int, str], str] = {}
    for column in sorted(free, key=len):  # R1 before R1 SMILES
        match = headers.SITE.fullmatch(fold(column))
        if match is not None and not (int(match["number"]) == 2 and _is_r_squared(raw.column(column))):
            found.setdefault((int(match["number"]), match["more"] or ""), column)
    return tuple(found[key] for key in sorted(found))


def _is_r_squared(cells: Sequence[str]) -> bool:
    """Whether a column called R2 holds the R2 of curve fits: numbers from 0 to 1, not all of them whole."""
    texts = [text.replace(",", ".") for text in cells[:_SAMPLED] if not is_missing(text)]
    inside = [re.fullmatch(r"(?:0?\.\d+|[01](?:\.\d*)?)", text) is not None for text in texts]
    return bool(texts) and all(inside) and any("." in text for text in texts)


def likely_sites(raw: RawTable, free: Sequence[str], numbers: Numbers) -> tuple[str, ...]:
    """The first columns that may be sites where none is called so: names that repeat, and steps of a condition."""
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
