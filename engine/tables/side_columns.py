"""Columns that qualify one of values: its relation, unit, n and SD."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any

from . import headers
from .column_roles import SAMPLED, Claims
from .options import SIDES, EndpointColumn
from .raw import RawTable, fold
from .values import is_missing, parse_relation

_SAMPLED = 20_000


def sign_columns(raw: RawTable) -> tuple[str, ...]:
    """Return the columns in which every filled cell is a relation, and one of them more than ``=``.

    Whatever they are called.

    A value that is known only as a bound must not be read as exact because the lab calls its column of signs ``mod``.
    """
    return tuple(column for column in raw.columns if _has_signs(raw.column(column)))


def _has_signs(texts: Sequence[str]) -> bool:
    # Few texts repeat over many rows, so each is looked at once.
    filled = {text for text in dict.fromkeys(texts[:_SAMPLED]) if not is_missing(text)}
    if not filled or not all(len(text) <= 4 for text in filled):
        return False
    try:
        return any(parse_relation(text) != "=" for text in filled)
    except ValueError:
        return False


def names_people(raw: RawTable, column: str) -> bool:
    """Whether a column named like relations has few of them: Operator may be the person who measured."""
    texts = {text for text in raw.column(column)[:_SAMPLED] if not is_missing(text)}
    return headers.role_of(column) == "relation" and 2 * sum(map(_is_relation, texts)) < len(texts)


def _is_relation(text: str) -> bool:
    try:
        return bool(parse_relation(text))
    except ValueError:
        return False


def nearest(columns: Sequence[str], value: str, values: Collection[str], signs: Collection[str]) -> str | None:
    """Return the column of ``signs`` that belongs to one of ``values`` by its place; None without one.

    They precede their values, or all follow them where none precedes the first and one follows the last;
    only columns that belong to values are between.
    """
    place = {column: number for number, column in enumerate(columns)}
    places = [place[one] for one in values]
    after = [place[one] for one in signs if place[one] > max(places)]
    behind = bool(after) and all(place[one] > min(places) for one in signs)
    others = columns[place[value] + 1 :] if behind else columns[: place[value]][::-1]
    for other in others:
        if other in signs:
            return other
        if other in values or headers.role_of(other) is None:
            return None
    return None


def signs_column(columns: Sequence[str], value: str, values: Sequence[str], signs: Sequence[str]) -> str | None:
    """Return the column of ``signs`` that belongs to a column of values: by its name, else as its neighbour.

    ``values``: all columns of values.
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
    return nearest(columns, value, values, free) if free else None


def _begins(text: str, base: str) -> bool:
    """Whether a folded header is a name with more behind or before it: ``btk ic50 mod`` of ``btk ic50``."""
    return bool(base) and (text.startswith((f"{base} ", f"{base}(")) or text.endswith(f" {base}"))


def _names_better(column: str, other: str, value: str) -> bool:
    """Whether a column of signs is named after a longer name of another column of values."""
    longest = max((len(base) for base in headers.bases(value) if _begins(fold(column), base)), default=0)
    return other != value and any(len(base) > longest and _begins(fold(column), base) for base in headers.bases(other))


def side_role(column: str, value: str) -> str | None:
    """Return the role of a side column of values by its header: ``IC50 SD`` is the sd of ``Mean IC50 (nM)``.

    So is ``SD pIC50``, in logarithms.
    """
    found = headers.role_within(column)
    if found is None:
        return None
    name, role = found
    bases = headers.bases(value)
    return role if name in bases or (role == "sd" and name.removeprefix("p").strip() in bases) else None


def _has_units(texts: Sequence[str]) -> bool:
    filled = {text for text in texts[:SAMPLED] if not is_missing(text)}
    return bool(filled) and all(map(headers.is_unit, filled))


class Sides:
    """Finds the side columns of one of values, and takes them."""

    def __init__(self, claims: Claims) -> None:
        self._claims = claims
        self.raw, self.taken = claims.raw, claims.taken
        self.signs = sign_columns(claims.raw)
        """Columns of relations, by their cells."""
        self.people = frozenset(column for column in claims.raw.columns if names_people(claims.raw, column))
        """Columns named like relations without any."""
        self.values: Sequence[str] = ()
        """Columns of values, once they are known."""

    def of(self, value: str, role: str, *, several: bool) -> str | None:
        """Return the side column of an endpoint.

        By its name, else the table's own for one endpoint, else a neighbour.
        """
        for column in self.raw.columns:
            if column != value and (side_role(column, value) == role or self._shares_group(column, value, role)):
                self.taken.add(column)
                return column
        shared = [c for c in self._claims.free() if headers.role_of(c) == role and c not in self.people]
        if not several and shared:
            return shared[0]
        if role == "relation":
            # Sign columns of other values, already taken, show on which side all are.
            called = [c for c in self.raw.columns if headers.role_of(c) == role and c not in self.people]
            sign_column = signs_column(self.raw.columns, value, self.values, [*dict.fromkeys((*self.signs, *called))])
            if sign_column in self._claims.free():
                self.taken.add(sign_column)
                return sign_column
        if not several or role == "relation":
            return None
        behind = self.raw.columns[self.raw.columns.index(value) + 1 :]
        near = next((c for c in behind if c in shared or headers.role_of(c) is None), None)
        if near not in shared:
            return None
        self.taken.add(near)
        return near

    def all_of(self, value: str, *, several: bool) -> dict[str, Any]:
        """Return all side columns of an endpoint, by their roles."""
        return {role: self.of(value, role, several=several) for role in SIDES}

    def of_run(self, value: str, *, several: bool) -> dict[str, Any]:
        """Return the side columns of one run of an endpoint: n, SD and relation next to runs belong to their mean."""
        return {role: self.of(value, role, several=several) if role == "unit" else None for role in SIDES}

    def of_rows(self) -> dict[str, Any]:
        """Return the side columns of a table with one row per measurement, which are taken.

        By their headers, the relation and the unit also by the cells.
        """
        found: dict[str, Any] = {role: self._claims.role(role) for role in SIDES}
        if found["relation"] is None or found["relation"] in self.people:
            found["relation"] = next((c for c in self._claims.free() if c in self.signs), None)
        if found["unit"] is None:
            found["unit"] = next((c for c in self._claims.free() if _has_units(self.raw.column(c))), None)
        self.taken.update(filter(None, found.values()))
        return found

    def unused(self, columns: Sequence[EndpointColumn]) -> list[str]:
        """Return warnings of free columns that seem to qualify values, and are of none of ``columns``."""
        used = {side for column in columns for side in column.sides.values()}
        free = [column for column in self._claims.free() if column not in used]
        errors = [c for c in free if "sem" in (headers.role_of(c), *(headers.role_within(c) or ()))]
        errors = [c for c in errors if not headers.is_of_fit(c)]
        lost = [c for c in free if headers.role_of(c) in SIDES or c in self.signs]
        lost = [c for c in lost if c not in self.people]
        self._claims.reported.update(errors, lost)
        warnings = []
        if errors:
            warnings.append(
                f"Not used, because a standard error is no SD: {', '.join(errors)}. The SD is the standard error times "
                "the square root of N; give that. A column that holds SDs is called so."
            )
        if lost:
            warnings.append(
                f"Not used, because it is not clear to which endpoint they belong: {', '.join(lost)}. "
                'Name them like the endpoint, for example "IC50 SD".'
            )
        return warnings

    def belongs_to_another(self, column: str) -> bool:
        """Whether a header is another column's with a side role behind it."""
        return any(other != column and side_role(column, other) is not None for other in self.raw.columns)

    def _shares_group(self, column: str, value: str, role: str) -> bool:
        """Whether ``EGFR SD`` follows ``EGFR IC50 (nM)``, before the next column of values."""
        found = headers.role_within(column)
        if found is None or found[1] != role or not fold(value).startswith(f"{found[0]} "):
            return False
        first, last = sorted(map(self.raw.columns.index, (value, column)))
        between = self.raw.columns[first + 1 : last]
        return all(headers.role_of(other) is not None or headers.role_within(other) is not None for other in between)
