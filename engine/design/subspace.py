"""Subspaces: the one in which a search continues, and the one that a design estimates."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from ..arrays import Flags, Floats, Ints
from ..domain.features import ProjectedFeatures
from .criteria import Weighted
from .directions import Directions, Rows, Worst
from .table import Table

_SPANNED = 1e-9
"""Of an average of y y': eigenvalues below this share of the largest are of effects that no direction involves."""
_CONSTANT = 1e-3
"""Candidates whose part is below this share of the largest may have none."""


def may_be_singular(table: Table, directions: Directions) -> bool:
    """Return whether an optimal design may leave an effect inestimable, because no direction involves it.

    Where directions span all it cannot, nor where they lack one effect in which every candidate has a part: then
    directions and any candidate span all.
    """
    average = directions.average(table.outside(np.eye(table.d)))
    values, vectors = np.linalg.eigh(table.to_here.T @ average @ table.to_here)
    lacking = vectors[:, values <= _SPANNED * float(values[-1])]
    if lacking.shape[1] != 1:
        return bool(lacking.shape[1] > 1)
    parts = np.abs(table.candidates.times(table.to_here @ lacking[:, 0]))
    return bool(parts.min() <= _CONSTANT * parts.max())


def unseen_lengths(directions: Directions, blind: Floats, count: int) -> tuple[Ints, Floats]:
    """Return keys of directions with the largest parts along the columns of ``blind``, and the lengths of these parts.

    From the directions themselves: squares in a singular metric carry rounding of the size of 1e-8 of a length.
    """
    keys, _ = directions.find(blind @ blind.T, count)
    lengths: Floats = np.linalg.norm(directions.vectors(keys) @ blind, axis=1)
    order = np.argsort(-lengths, kind="stable")
    return keys[order], lengths[order]


_SINGULAR = 1e-10
"""Eigenvalues of scaled information below this share of the largest count as zero."""
_NOTHING = 1e-9
"""Shares of information, or of a squared length, below this count as none."""


def worst_variance(x: Floats, weights: Floats | Ints, worst: Worst) -> tuple[float, Floats]:
    """Return the largest y'V^-1 y of V = sum of w x x', and a generalised V^-1; inf where V misses a direction."""
    information = (x * np.asarray(weights)[:, None]).T @ x
    scale = np.sqrt(np.maximum(np.diagonal(information), 1e-300))
    values, vectors = np.linalg.eigh(information / scale / scale[:, None])
    seen = values > _SINGULAR * values[-1]
    half = vectors[:, seen] / np.sqrt(values[seen]) / scale[:, None]
    inverse: Floats = half @ half.T
    if not seen.all():
        blind = vectors[:, ~seen] / scale[:, None]
        longest = float(worst.find(np.diag(1.0 / scale**2))[1][0])
        if float(worst.find(blind @ blind.T)[1][0]) > _NOTHING * longest:
            return math.inf, inverse
    return float(worst.find(inverse)[1][0]), inverse


def within(worst: Worst, axes: Floats) -> Worst:
    """Return directions in a subspace, in its coordinates: ``axes`` ``(d, r)``."""
    return worst.inside(axes) if isinstance(worst, Rows) and worst.given else _Within(worst, axes)


class _Within:
    """Directions in the coordinates of a subspace that holds them all."""

    def __init__(self, whole: Worst, span: Floats) -> None:
        self.whole = whole
        self.span = span

    def find(self, inverse: Floats, count: int = 1) -> tuple[Ints, Floats]:
        """Return the same keys and values as those of the whole space."""
        return self.whole.find(self.span @ inverse @ self.span.T, count)

    def some(self, inverse: Floats, count: int = 1) -> tuple[Ints, Floats]:
        """Return the same quickly, where the whole space has a quick way."""
        return self.whole.some(self.span @ inverse @ self.span.T, count)

    def vectors(self, keys: Ints) -> Floats:
        """Return the directions, in the coordinates of the subspace."""
        return self.whole.vectors(keys) @ self.span


class Span(NamedTuple):
    """The subspace that a design estimates."""

    axes: Floats
    """``(d, r)``: coordinates of it."""
    blind: Floats
    """``(d, d - r)``: what is left, in columns of equal scale."""
    scale: Floats

    @property
    def rank(self) -> int:
        """Its dimension."""
        return int(self.axes.shape[1])

    def rows(self, places: Ints, weights: Floats, x: Floats, low: Ints) -> tuple[Ints, Floats, Floats]:
        """Return the candidates in it, and those required, with their weights and coordinates in it.

        A value of any other candidate involves effects that nothing else estimates, so it is no use here: its part
        within must not count as if it were known by itself.
        """
        inside = self._inside(x)
        kept = inside | (low[places] > 0)
        return places[kept], weights[kept], np.where(inside[kept, None], x[kept] @ self.axes, 0.0)

    def contains(self, candidates: ProjectedFeatures, places: Ints) -> Flags:
        """Return which candidates are in it."""
        return self._inside(candidates.coordinates(places))

    def _inside(self, x: Floats) -> Flags:
        lengths = np.einsum("ij,ij->i", x / self.scale, x / self.scale)
        rest = x @ self.blind
        inside: Flags = np.einsum("ij,ij->i", rest, rest) <= _NOTHING * np.maximum(lengths, 1e-300)
        return inside


def estimated_span(design: Weighted, candidates: ProjectedFeatures, worst: Worst) -> Span | None:
    """Return the subspace that a design estimates, when it lacks some effects but all directions are in it.

    An XY design may leave effects alone that are in none of its directions; whole counts need not estimate them
    either. None where everything has to be estimated.
    """
    # In coordinates in which every column has equal weight, however it is scaled.
    scale = np.sqrt(np.diagonal(candidates.information(np.ones(candidates.n_rows))))
    rows = candidates.coordinates(np.asarray(design.support, dtype=np.intp)) / scale
    information = (rows * np.asarray(design.weights)[:, None]).T @ rows
    values, vectors = np.linalg.eigh(information)
    seen = values > _NOTHING * max(float(values[-1]), 1e-300)
    if seen.all():
        return None
    blind, axes = vectors[:, ~seen] / scale[:, None], vectors[:, seen] / scale[:, None]
    longest = float(worst.find(np.diag(1.0 / scale**2))[1][0])
    unseen = float(worst.find(blind @ blind.T)[1][0])
    return Span(np.asarray(axes, dtype=np.float64), blind, scale) if unseen <= _NOTHING * longest else None
