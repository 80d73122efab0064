"""Finite sets of directions y whose variances y'V^-1 y a design keeps small: rows, differences, differences by gaps."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Protocol

import numpy as np
from numpy.typing import ArrayLike

from ..arrays import Floats, Ints
from ..domain.features import OUTSIDE_TOLERANCE, ProjectedFeatures, outside_span
from ..errors import AssayPilotError
from ..text import listed
from .criteria import square_root

_ROWS, _COLUMNS = 512, 8192
"""Rows compared at once."""
_AVERAGED = 600
"""Rows, or directions, that stand for all in an average."""
_NAMED = 3
"""How many offenders a refusal names."""


def refuse_outside(outside: Ints, names: Sequence[str] | None) -> None:
    """Raise when directions have a part that no candidate can estimate; ``names`` of all of them, else their number."""
    if len(outside):
        words = [f"row {place + 1}" if names is None else names[place] for place in outside]
        raise AssayPilotError(
            f"{listed(words, _NAMED)} cannot be estimated from the compounds that can be measured",
            mend="Leave them out, or allow compounds to be measured that share their substituents.",
        )


def refuse_incomparable(
    table: ProjectedFeatures, other: ProjectedFeatures | None, names: Sequence[str] | None = None
) -> None:
    """Raise when rows differ from the first (of ``other``) by something no candidate can estimate.

    A compound that cannot be estimated may still be compared with one that lacks the same.
    """
    features = table.features
    if table.rank == features.n_columns:
        return
    complement = np.eye(features.n_columns) - table.basis @ table.basis.T
    reference = (table if other is None else other).rows[:1]
    first = features.dense(reference)[0]
    lengths = features.quadratic(np.eye(features.n_columns), table.rows)
    rest = features.quadratic(complement, table.rows)
    rest += float(first @ complement @ first) - 2.0 * features.times(complement @ first, table.rows)
    scale = np.maximum(lengths, float(first @ first))
    refuse_outside(np.flatnonzero(rest > OUTSIDE_TOLERANCE**2 * np.maximum(scale, 1e-300)), names)


class Worst(Protocol):
    """A finite set of directions of which the least certain can be found."""

    def find(self, inverse: Floats, count: int = 1) -> tuple[Ints, Floats]:
        """Return keys ``(m, k)`` and values y' inverse y, largest first, m <= count; the first is the largest of all.

        ``inverse`` is symmetric positive semidefinite ``(d, d)``. The others are large and differ much, but are not
        all of the largest.
        """

    def some(self, inverse: Floats, count: int = 1) -> tuple[Ints, Floats]:
        """Return the same quickly: large ones, but a larger one may be missed."""

    def vectors(self, keys: Ints) -> Floats:
        """Return the directions of the keys, ``(m, d)``."""


class Directions(Worst, Protocol):
    """A finite set of directions in the coordinates of the candidates, never held as a whole when it is implied."""

    @property
    def n(self) -> int:
        """How many directions."""

    @property
    def dimension(self) -> int:
        """The number of coordinates d."""

    def average(self, inverse: Floats) -> Floats:
        """Return an average ``(d, d)`` of y y' over many directions, those of large variance among them."""


def _top(values: Floats, count: int) -> Ints:
    """Return positions of the largest values, largest first, ties to the earlier position."""
    if count < len(values) // 4:
        # One more than requested shows which ones only tie at the edge.
        few = np.sort(np.argpartition(-values, count)[:count])
        best = int(np.argmax(values))
        few = few if best in few else np.append(few[1:], best)
        return few[np.argsort(-values[few], kind="stable")].astype(np.intp)
    return np.argsort(-values, kind="stable")[:count].astype(np.intp)


def measured(directions: Directions, keys: Ints, inverse: Floats) -> tuple[Ints, Floats]:
    """Return the keys and their variances, largest first.

    From the differences themselves, which keep digits that sums of squares lose where V is next to singular.
    """
    seen = directions.vectors(keys) @ square_root(inverse)
    values = np.einsum("ij,ij->i", seen, seen)
    order = np.argsort(-values, kind="stable")
    return keys[order], values[order]


def _finite(rows: ArrayLike, what: str) -> Floats:
    given = np.ascontiguousarray(rows, dtype=float)
    if not np.isfinite(given).all():
        raise AssayPilotError(f"{what} must be finite numbers; some are missing or infinite")
    return given


def _positive_gaps(gaps: ArrayLike, n: int) -> Floats:
    given = _finite(gaps, "the gaps")
    if given.shape != (n,) or (given <= 0).any():
        raise AssayPilotError(
            "every gap must be above 0, one for each direction", mend="A difference of 0 can never be resolved."
        )
    return given


class _Listed(ABC):
    """Directions few enough to evaluate all of them at every search for the largest."""

    @abstractmethod
    def find(self, inverse: Floats, count: int = 1) -> tuple[Ints, Floats]:
        """Return the largest, exactly: keys and values."""

    @abstractmethod
    def vectors(self, keys: Ints) -> Floats:
        """Return the directions of the keys."""

    def some(self, inverse: Floats, count: int = 1) -> tuple[Ints, Floats]:
        """Return the same as ``find``."""
        return self.find(inverse, count)

    def average(self, inverse: Floats) -> Floats:
        """Return an average of y y' over the directions found."""
        rows = self.vectors(self.find(inverse, _AVERAGED)[0])
        return rows.T @ rows / len(rows)


class Rows(_Listed):
    """Given directions: rows of a table, or vectors in the candidates' coordinates."""

    def __init__(
        self,
        rows: ProjectedFeatures | ArrayLike,
        *,
        gaps: ArrayLike | None = None,
        names: Sequence[str] | None = None,
    ) -> None:
        self._table = rows if isinstance(rows, ProjectedFeatures) else None
        if isinstance(rows, ProjectedFeatures):
            self.n, self.dimension = rows.n_rows, rows.rank
            refuse_outside(np.flatnonzero(outside_span(rows.features, rows.basis, rows.rows)), names)
        else:
            self._given = _finite(rows, "the directions")
            if self._given.ndim != 2:
                raise ValueError("directions must be a (m, d) matrix")
            self.n, self.dimension = self._given.shape
        self._gaps = None if gaps is None else _positive_gaps(gaps, self.n)

    def find(self, inverse: Floats, count: int = 1) -> tuple[Ints, Floats]:
        """Return the largest, exactly: positions ``(m, 1)`` and values."""
        if self._table is not None:
            values = self._table.quadratic(inverse)
        else:
            values = np.einsum("ij,ij->i", self._given @ inverse, self._given)
        if self._gaps is not None:
            values = values / self._gaps**2
        few = _top(values, count)
        return few[:, None], values[few]

    def vectors(self, keys: Ints) -> Floats:
        """Return the directions at the positions."""
        positions = keys[:, 0]
        rows = self._given[positions] if self._table is None else self._table.coordinates(positions)
        return rows if self._gaps is None else rows / self._gaps[positions, None]

    @property
    def given(self) -> bool:
        """Whether they are vectors, not rows of a table."""
        return self._table is None

    def inside(self, axes: Floats) -> Rows:
        """Given vectors that lie in a subspace, in its coordinates: ``axes`` ``(d, r)``."""
        return Rows(self._given @ axes, gaps=self._gaps)


class Between(_Listed):
    """All differences of a row of ``left`` and a row of ``right``, each divided by its gap where gaps are given.

    ``gaps`` are two arrays a ``(n_left,)`` and b ``(n_right,)``: the gap of i and j is a_i - b_j. For all epsilon-best
    compounds, left = the members with a = mean + epsilon and right = everything with b = mean. A row is not compared
    with itself. Tables of one feature table and basis.
    """

    def __init__(
        self,
        left: ProjectedFeatures,
        right: ProjectedFeatures,
        *,
        gaps: tuple[ArrayLike, ArrayLike] | None = None,
    ) -> None:
        self.left, self.right = left, right
        self.dimension = left.rank
        place = {int(row): j for j, row in enumerate(right.rows)}
        self._own = np.array([place.get(int(row), -1) for row in left.rows], dtype=np.intp)
        self.n = left.n_rows * right.n_rows - int((self._own >= 0).sum())
        if self.n <= 0:
            raise AssayPilotError("there is nothing to compare", mend="Name at least two compounds.")
        refuse_incomparable(left, right)
        refuse_incomparable(right, left)
        self._gaps = None
        if gaps is not None:
            a, b = _finite(gaps[0], "the gaps"), _finite(gaps[1], "the gaps")
            if a.shape != (left.n_rows,) or b.shape != (right.n_rows,):
                raise ValueError("one level per row is needed on each side")
            self._gaps = a, b
            self._refuse_zero_gaps(a, b)

    def _refuse_zero_gaps(self, a: Floats, b: Floats) -> None:
        lowest = np.argsort(-b, kind="stable")[:2]
        for i, level in enumerate(a):
            j = int(lowest[-1] if lowest[0] == self._own[i] else lowest[0])
            if j != self._own[i] and level - b[j] <= 0:
                raise AssayPilotError(
                    f"row {i + 1} against row {j + 1}: the gap must be above 0",
                    mend="A difference of 0 can never be resolved.",
                )

    def find(self, inverse: Floats, count: int = 1) -> tuple[Ints, Floats]:
        """Return the largest, exactly, and the largest of other left and right rows: ``(m, 2)`` positions, values."""
        factor = square_root(inverse)
        n_left, n_right = self.left.n_rows, self.right.n_rows
        best_left = np.full(n_left, -np.inf)
        best_right = np.full(n_right, -np.inf)
        partner_left = np.zeros(n_left, dtype=np.intp)
        partner_right = np.zeros(n_right, dtype=np.intp)
        for first in range(0, n_left, _ROWS):
            rows = np.arange(first, min(first + _ROWS, n_left))
            x = self.left.coordinates(rows) @ factor
            for second in range(0, n_right, _COLUMNS):
                columns = np.arange(second, min(second + _COLUMNS, n_right))
                values = self._block(x, self.right.coordinates(columns) @ factor, rows, columns)
                place = np.argmax(values, axis=1)
                found = values[np.arange(len(rows)), place]
                better = found > best_left[rows]
                partner_left[rows[better]], best_left[rows[better]] = columns[place[better]], found[better]
                place = np.argmax(values, axis=0)
                found = values[place, np.arange(len(columns))]
                better = found > best_right[columns]
                partner_right[columns[better]], best_right[columns[better]] = rows[place[better]], found[better]
        keys = np.concatenate(
            [
                np.column_stack([np.arange(n_left), partner_left]),
                np.column_stack([partner_right, np.arange(n_right)]),
            ]
        )
        values = np.concatenate([best_left, best_right])
        few = _top(values, 2 * count)
        few = few[values[few] > -np.inf]
        _, once = np.unique(keys[few, 0] * n_right + keys[few, 1], return_index=True)
        few = few[np.sort(once)][:count]
        return measured(self, keys[few], inverse)

    def _block(self, x: Floats, z: Floats, rows: Ints, columns: Ints) -> Floats:
        values: Floats = np.einsum("ij,ij->i", x, x)[:, None] + np.einsum("ij,ij->i", z, z) - 2.0 * (x @ z.T)
        np.maximum(values, 0.0, out=values)
        if self._gaps is not None:
            with np.errstate(divide="ignore", invalid="ignore"):
                values /= (self._gaps[0][rows, None] - self._gaps[1][columns]) ** 2
        own = self._own[rows]
        inside = (own >= columns[0]) & (own <= columns[-1])
        values[np.flatnonzero(inside), own[inside] - columns[0]] = -np.inf
        return values

    def vectors(self, keys: Ints) -> Floats:
        """Return the differences, divided by their gaps."""
        rows = self.left.coordinates(keys[:, 0]) - self.right.coordinates(keys[:, 1])
        if self._gaps is not None:
            rows = rows / (self._gaps[0][keys[:, 0]] - self._gaps[1][keys[:, 1]])[:, None]
        return rows


def against(table: ProjectedFeatures, best: int, *, gaps: ArrayLike | None = None) -> Between:
    """Return the differences z* - z of one row and every other row of a table, divided by gaps ``(n,)`` where given."""
    if not 0 <= best < table.n_rows:
        raise ValueError(f"there is no row {best} in a table of {table.n_rows}")
    one = table.onto(table.rows[[best]])
    levels = None if gaps is None else (np.zeros(1), -np.asarray(gaps, dtype=float))
    return Between(one, table, gaps=levels)


class UnionDirections:
    """The union of sets of directions in the same coordinates; a key is the set and the key in it."""

    def __init__(self, parts: Sequence[Directions]) -> None:
        if not parts or len({part.dimension for part in parts}) != 1:
            raise ValueError("at least one set of directions is needed, all in the same coordinates")
        self.parts = tuple(parts)
        self.n = sum(part.n for part in parts)
        self.dimension = parts[0].dimension

    def find(self, inverse: Floats, count: int = 1) -> tuple[Ints, Floats]:
        """Return keys and values of the largest of all sets, largest first; ties go to the earlier set."""
        return self._largest([part.find(inverse, count) for part in self.parts], count)

    def some(self, inverse: Floats, count: int = 1) -> tuple[Ints, Floats]:
        """Return the same quickly: large ones, but a larger one may be missed."""
        return self._largest([part.some(inverse, count) for part in self.parts], count)

    def average(self, inverse: Floats) -> Floats:
        """Return an average of y y' over many directions of every set; each set counts equally."""
        parts = [part.average(inverse) for part in self.parts]
        total: Floats = np.sum(parts, axis=0) / len(parts)
        return total

    def _largest(self, found: Sequence[tuple[Ints, Floats]], count: int) -> tuple[Ints, Floats]:
        width = max(keys.shape[1] for keys, _ in found)
        keys = np.concatenate(
            [
                np.column_stack(
                    [np.full(len(own), place), own, np.full((len(own), width - own.shape[1]), -1)],
                )
                for place, (own, _) in enumerate(found)
            ]
        ).astype(np.intp)
        values = np.concatenate([own for _, own in found])
        order = np.argsort(-values, kind="stable")[:count]
        return keys[order], values[order]

    def vectors(self, keys: Ints) -> Floats:
        """Return the directions of the keys."""
        out = np.empty((len(keys), self.dimension))
        for place, part in enumerate(self.parts):
            own = keys[:, 0] == place
            if own.any():
                inner = keys[own, 1:]
                out[own] = part.vectors(inner[:, (inner >= 0).all(axis=0)])
        return out
