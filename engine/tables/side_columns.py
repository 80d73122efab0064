"""The columns beside one of values: the relation, unit, n and SD of what stands in it."""

from __future__ import annotations

from collections.abc import Sequence

from . import headers
from .column_roles import Claims
from .raw import fold
from .relation_columns import sign_columns, signs_beside

__all__ = ["SIDES", "Sides"]

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
