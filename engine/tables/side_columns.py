"""The columns beside one of values: the relation, unit, n and SD of what stands in it."""

from __future__ import annotations

from collections.abc import Sequence

from . import headers
from .column_roles import Claims
from .raw import RawTable, fold
from .values import is_missing, parse_relation

__all__ = ["SIDES", "Sides", "sign_columns", "signs_beside"]

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


SIDES = ("relation", "unit", "n", "sd")


class Sides:
    """Finds the columns beside one of values, and takes them."""

    def __init__(self, claims: Claims) -> None:
        self._claims = claims
        self.raw, self.taken = claims.raw, claims.taken
        self.signs = sign_columns(claims.raw)
        """Columns of relations, by what stands in them."""
        self.values: Sequence[str] = ()
        """Columns of values, once they are known."""

    def of(self, value: str, role: str, *, several: bool) -> str | None:
        """Return the side column of an endpoint.

        By its name, else the table's own for one endpoint, else a neighbour.
        """
        for column in self.raw.columns:
            if column != value and (self._side_role(column, value) == role or self._shares_group(column, value, role)):
                self.taken.add(column)
                return column
        shared = [column for column in self._claims.free() if headers.role_of(column) == role]
        if not several and shared:
            return shared[0]
        if role == "relation":
            free = self._claims.free()
            signs = [column for column in self.signs if column in free]
            beside = signs_beside(self.raw.columns, value, self.values, signs)
            if beside is not None:
                self.taken.add(beside)
                return beside
        if not several:
            return None
        place = self.raw.columns.index(value)
        # A relation stands before its value as often as behind it; the others stand behind, up to four of them.
        places = (place - 1, place + 1) if role == "relation" else range(place + 1, place + 5)
        for near in places:
            if not 0 <= near < len(self.raw.columns) or headers.role_of(self.raw.columns[near]) is None:
                break
            if self.raw.columns[near] in shared:
                self.taken.add(self.raw.columns[near])
                return self.raw.columns[near]
        return None

    def belongs_to_another(self, column: str) -> bool:
        """Whether a header is another column's with a side role behind it."""
        return any(other != column and self._side_role(column, other) is not None for other in self.raw.columns)

    def _side_role(self, column: str, value: str) -> str | None:
        """Return the role a header gives a column beside that of values.

        ``IC50 SD`` is the sd of ``Mean IC50 (nM)``.
        """
        found = headers.role_within(column)
        return found[1] if found is not None and found[0] in headers.bases(value) else None

    def _shares_group(self, column: str, value: str, role: str) -> bool:
        """Whether ``EGFR SD`` stands behind ``EGFR IC50 (nM)``, before the next column of values."""
        found = headers.role_within(column)
        if found is None or found[1] != role or not fold(value).startswith(f"{found[0]} "):
            return False
        first, last = sorted(map(self.raw.columns.index, (value, column)))
        between = self.raw.columns[first + 1 : last]
        return all(headers.role_of(other) is not None or headers.role_within(other) is not None for other in between)
