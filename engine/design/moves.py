"""Effect of moving one measurement from one compound to another on det V and on some variances."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from ..arrays import Floats, Ints
from .criteria import worth_of

_SINGULAR = 1e-9
"""det V after a move below this share of det V before is singular."""
_FIRST = 4
"""Directions for which every move is evaluated; only moves that lower these are followed through all others."""
_TOGETHER = 1000
"""Moves followed at once, the most promising first."""


@dataclass(frozen=True, slots=True)
class Bounds:
    """The limits of the counts."""

    low: Ints
    """``(m,)`` the fewest measurements of each row."""
    high: Ints
    """``(m,)`` the most; 0 is forbidden."""


@dataclass(frozen=True, slots=True)
class Moves:
    """All single moves from some counts: rows that can give one measurement, rows that can take one."""

    givers: Ints
    takers: Ints
    u: Floats
    """Givers times the root of the information a measurement less takes away."""
    v: Floats
    """Takers times the root of the information one more adds."""
    half: Floats
    """u V^-1."""
    h: Floats
    """u V^-1 u' of each giver."""
    g: Floats
    """v V^-1 v' of each taker."""

    def among(self, rows: Ints | slice, columns: Ints | slice) -> tuple[Floats, Floats]:
        """For some givers and takers u V^-1 v' ``(rows, columns)``, and det V after each move over det V before.

        The latter is 0 for a row to itself.
        """
        across = self.half[rows] @ self.v[columns].T
        growth = (1.0 - self.h[rows])[:, None] * (1.0 + self.g[columns]) + across**2
        growth[self.givers[rows][:, None] == self.takers[columns]] = 0.0
        return across, growth

    def growth(self) -> Floats:
        """Return ratios of det V after every move to det V before, ``(givers, takers)``; 0 for a row to itself."""
        return self.among(slice(None), slice(None))[1]


def moves_of(x: Floats, counts: Ints, bounds: Bounds, ratio: float, inverse: Floats) -> Moves:
    """Return the moves within the bounds; ``inverse`` is V^-1 of the counts."""
    givers = np.flatnonzero(counts > bounds.low)
    takers = np.flatnonzero(counts < bounds.high)
    now = counts.astype(float)
    less = worth_of(now[givers], ratio) - worth_of(now[givers] - 1.0, ratio)
    more = worth_of(now[takers] + 1.0, ratio) - worth_of(now[takers], ratio)
    u = x[givers] * np.sqrt(less)[:, None]
    v = x[takers] * np.sqrt(more)[:, None]
    half = u @ inverse
    return Moves(givers, takers, u, v, half, np.einsum("ij,ij->i", half, u), np.einsum("ij,ij->i", v @ inverse, v))


class Changes:
    """Effect of moves on some directions y: y' V^-1 y after them."""

    def __init__(self, moves: Moves, inverse: Floats, y: Floats) -> None:
        half = y @ inverse
        now = np.einsum("ij,ij->i", half, y)
        order = np.argsort(-now, kind="stable")
        self.moves = moves
        self.now = now[order]
        """``(directions,)``, largest first."""
        self.given = half[order] @ moves.u.T
        """y V^-1 u', ``(directions, givers)``."""
        self.taken = half[order] @ moves.v.T
        """y V^-1 v', ``(directions, takers)``."""

    def best(self, rows: Ints, columns: Ints, below: float, count: int) -> list[tuple[float, int, int]]:
        """Return moves after which all directions are below a value: ``(after, giver, taker)``, lowest first.

        ``rows`` and ``columns`` are places among givers and takers. About ``count``, each of another giver: most moves
        do not even lower the largest few directions, the others are evaluated from the most promising on.
        """
        across, growth = self.moves.among(rows, columns)
        less, more = 1.0 - self.moves.h[rows, None], 1.0 + self.moves.g[columns]
        given, taken = self.given[:, rows], self.taken[:, columns]
        least = np.full(growth.shape, -math.inf)
        for now, a, b in zip(self.now[:_FIRST], given, taken, strict=False):
            np.maximum(least, now + _changed(a[:, None], b, across, less, more, growth), out=least)
        left = np.flatnonzero((least < below) & (growth > _SINGULAR))
        left = left[np.argsort(least.ravel()[left], kind="stable")]
        best: dict[int, tuple[float, int]] = {}
        start, step = 0, _TOGETHER
        while start < len(left) and len(best) < count:
            part = left[start : start + step]
            giver, taker = np.unravel_index(part, growth.shape)
            after = np.full(len(part), -math.inf)
            places, first, many = np.arange(len(part)), 0, _FIRST
            while first < len(self.now) and len(places):
                some = slice(first, first + many)
                i, j = giver[places], taker[places]
                a, b = given[some][:, i], taken[some][:, j]
                change = _changed(a, b, across[i, j], less[i, 0], more[j], growth[i, j])
                after[places] = np.maximum(after[places], (self.now[some, None] + change).max(axis=0))
                places = places[after[places] < below]
                first, many = first + many, 2 * many
            found = zip(after[places].tolist(), giver[places].tolist(), taker[places].tolist(), strict=True)
            for value, i, j in found:
                best[i] = min(best.get(i, (math.inf, 0)), (value, j))
            start, step = start + step, 2 * step
        named = [
            (value, int(self.moves.givers[rows[i]]), int(self.moves.takers[columns[j]]))
            for i, (value, j) in best.items()
        ]
        return sorted(named)[:count]


def _changed(given: Floats, taken: Floats, across: Floats, less: Floats, more: Floats, growth: Floats) -> Floats:
    """Return what a move adds to y' V^-1 y: Woodbury for V - u u' + v v', written out."""
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        change: Floats = (given**2 * more - 2.0 * given * taken * across - taken**2 * less) / growth
    return change
