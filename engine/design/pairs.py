"""All differences of the compounds of a table, however many there are."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ..arrays import Floats, Ints
from ..domain.features import ProjectedFeatures
from ..errors import AssayPilotError
from .directions import Named, refuse_apart
from .farthest import Farthest
from .inverses import square_root

_AVERAGED = 600
"""Rows whose pairs stand for all in an average."""


class Pairs:
    """All differences z_i - z_j of the rows of a table, i < j; implied, never held."""

    def __init__(self, table: ProjectedFeatures, *, names: Sequence[str] | None = None) -> None:
        self.table = table
        self.n = table.n_rows * (table.n_rows - 1) // 2
        self.dimension = table.rank
        self._name = Named(names, table.n_rows)
        if self.n == 0:
            raise AssayPilotError("there is nothing to compare", mend="Name at least two compounds.")
        refuse_apart(table, None, self._name)
        self._farthest = Farthest(table)

    def find(self, inverse: Floats, count: int = 1) -> tuple[Ints, Floats]:
        """The farthest pair, exactly, and the farthest partners of other rows: ``(m, 2)`` positions, values."""
        return self._farthest.find(inverse, count)

    def some(self, inverse: Floats, count: int = 1) -> tuple[Ints, Floats]:
        """Pairs far apart, found without looking at all."""
        return self._farthest.some(inverse, count)

    def average(self, inverse: Floats, sharpness: float) -> Floats:
        """An average of y y' over all pairs of a few hundred evenly chosen rows, the larger ones weighted up."""
        n = self.table.n_rows
        chosen = np.arange(n) if n <= _AVERAGED else np.linspace(0, n - 1, _AVERAGED).astype(np.intp)
        z = self.table.coordinates(chosen)
        u = z @ square_root(inverse)
        lengths = np.einsum("ij,ij->i", u, u)
        weights = lengths[:, None] + lengths - 2.0 * (u @ u.T)
        largest = float(weights.max())
        if largest <= 0.0:
            return np.zeros_like(inverse)
        weights *= sharpness / largest
        weights -= sharpness
        np.exp(weights, out=weights)
        np.fill_diagonal(weights, 0.0)
        # The sum over pairs of weight times (z_i - z_j)(z_i - z_j)'.
        total = 2.0 * (z.T @ (z * weights.sum(axis=1)[:, None]) - z.T @ weights @ z)
        average: Floats = (total + total.T) / (2.0 * float(weights.sum()))
        return average

    def vectors(self, keys: Ints) -> Floats:
        """The differences of the pairs."""
        return self.table.coordinates(keys[:, 0]) - self.table.coordinates(keys[:, 1])

    def name(self, key: Ints) -> str:
        """The pair."""
        return f"{self._name(int(key[0]))} against {self._name(int(key[1]))}"
