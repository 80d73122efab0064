"""Columns that hold nothing but the relations of the values beside them: <, > and =."""

from __future__ import annotations

from collections.abc import Sequence

from . import headers
from .raw import RawTable, fold
from .values import is_missing, parse_relation

__all__ = ["sign_columns", "signs_beside"]

_SAMPLED = 20_000


def sign_columns(raw: RawTable) -> tuple[str, ...]:
    """Return the columns in which every filled cell is a relation, and one of them more than ``=``.

    Whatever they are called.

    A value that is known only as a bound must not be read as exact because the lab calls its column of signs ``mod``.
    """
    return tuple(column for column in raw.columns if _holds_signs(raw.column(column)))


def _holds_signs(texts: Sequence[str]) -> bool:
    # Few texts repeat over many rows, so each is looked at once.
    filled = {text for text in dict.fromkeys(texts[:_SAMPLED]) if not is_missing(text)}
    if not filled or not all(len(text) <= 4 for text in filled):
        return False
    try:
        return any(parse_relation(text) != "=" for text in filled)
    except ValueError:
        return False


def signs_beside(columns: Sequence[str], value: str, values: Sequence[str], signs: Sequence[str]) -> str | None:
    """Return the column of ``signs`` that belongs to a column of values: by its name, else as its neighbour.

    ``values``: all columns of values. A neighbour counts when no other column of values lies as near, a column of
    signs standing before its values as a rule.
    """
    named = [column for column in signs if any(_begins(fold(column), base) for base in headers.bases(value))]
    own = [c for c in named if not any(_names_better(c, other, value) for other in values)]
    if len(own) == 1:
        return own[0]
    if named:
        return None
    of_others = {c for c in signs for other in values if any(_begins(fold(c), base) for base in headers.bases(other))}
    free = [column for column in signs if column not in of_others]
    if len(values) == 1 and len(free) == 1:
        return free[0]
    place = {column: number for number, column in enumerate(columns)}
    before = columns[place[value] - 1] if place[value] > 0 else None
    if before in free:
        return before
    behind = columns[place[value] + 1] if place[value] + 1 < len(columns) else None
    after = columns[place[value] + 2] if place[value] + 2 < len(columns) else None
    return behind if behind in free and after not in values else None


def _begins(text: str, base: str) -> bool:
    """Whether a folded header is a name with more behind or before it: ``btk ic50 mod`` of ``btk ic50``."""
    return bool(base) and (text.startswith((f"{base} ", f"{base}(")) or text.endswith(f" {base}"))


def _names_better(column: str, other: str, value: str) -> bool:
    """Whether a column of signs is named after a longer name of another column of values."""
    longest = max((len(base) for base in headers.bases(value) if _begins(fold(column), base)), default=0)
    return other != value and any(len(base) > longest and _begins(fold(column), base) for base in headers.bases(other))
