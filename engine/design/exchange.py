"""Whole counts made better by moving one measurement at a time from one compound to another."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from ..arrays import Floats, Ints
from ..system.progress import Report, silent
from .criteria import inverse_information
from .directions import Worst
from .moves import Bounds, Changes, Moves, moves_of

_GAIN = 1e-9
"""A smaller relative gain is rounding."""
_RIDGE = 1e-7
"""The share of the measurements spread evenly over all rows while the counts do not span yet."""
_KEPT = 4
"""Directions considered from the start, per dimension; those that become the worst are added later."""
_ENTRIES = 3_000_000
"""Numbers computed for one look at the moves; what would be more is cut down to the moves of largest log det."""
_TRIES = 5
"""Moves of one pass whose value over all directions is computed before more directions are considered."""


@dataclass(frozen=True, slots=True)
class Exchanged:
    """Counts from which no single move gains, unless the limit came first."""

    counts: Ints
    value: float
    """The largest y' V^-1 y over the directions; -log det V without directions; inf when V is singular."""
    finished: bool
    """Whether no single move gains any more."""


def exchange(
    x: Floats,
    counts: Ints,
    directions: Worst | None,
    bounds: Bounds,
    *,
    base: Floats | None = None,
    ratio: float = 0.0,
    limit: int = 1000,
    report: Report = silent,
) -> Exchanged:
    """Return counts of the same sum, no worse than those given, from which no single move gains (Fedorov's exchange).

    ``x`` ``(m, d)`` are the rows that may be measured, ``counts`` ``(m,)`` within ``bounds``. With ``directions`` the
    largest y' V^-1 y over them falls; without, log det V rises. ``base`` is information already there, in
    measurements. Counts that do not span are first given a rank, which moves alone may not reach within the bounds.
    Every move is valued by rank-two updates; after at most ``limit`` looks at the moves the best so far is returned.
    """
    walk = _Walk(x, np.asarray(counts, dtype=np.intp).copy(), bounds, base, ratio, limit, report)
    if inverse_information(x, walk.counts, base, ratio) is None:
        walk.towards_rank()
    if directions is None:
        return walk.by_determinant()
    return walk.by_worst(directions)


class _Walk:
    """Counts on their way, one measurement at a time."""

    def __init__(
        self, x: Floats, counts: Ints, bounds: Bounds, base: Floats | None, ratio: float, limit: int, report: Report
    ) -> None:
        self.x = x
        self.counts = counts
        self.bounds = bounds
        self.base = base
        self.ratio = ratio
        self.limit = limit
        self.report = report

    def inverse(self) -> Floats | None:
        return inverse_information(self.x, self.counts, self.base, self.ratio)

    def possible(self, inverse: Floats) -> Moves:
        """Return the moves within the bounds."""
        return moves_of(self.x, self.counts, self.bounds, self.ratio, inverse)

    def move(self, giver: int, taker: int) -> None:
        self.counts[giver] -= 1
        self.counts[taker] += 1

    def towards_rank(self) -> None:
        """Move until the counts span or no move helps.

        A little of every row is added to V, so that each move that raises the rank gains by orders of magnitude.
        """
        even = self.x.T @ self.x / len(self.x)
        base = np.zeros_like(even) if self.base is None else self.base
        little = _RIDGE * max(1, int(self.counts.sum()))
        for _ in range(2 * self.x.shape[1]):
            inverse = inverse_information(self.x, self.counts, base + little * even, self.ratio)
            # Nearly equal rows need more of it before V differs numerically from a singular one.
            while inverse is None and little < 1.0:
                little *= 10.0
                inverse = inverse_information(self.x, self.counts, base + little * even, self.ratio)
            if inverse is None:
                return
            if not self.step(inverse):
                return

    def step(self, inverse: Floats) -> bool:
        """Return whether a move made det V larger; the one that does most is made."""
        found = self.possible(inverse)
        growth = found.growth()
        if not growth.size:
            return False
        giver, taker = divmod(int(np.argmax(growth)), len(found.takers))
        if growth[giver, taker] <= 1.0 + _GAIN:
            return False
        self.move(int(found.givers[giver]), int(found.takers[taker]))
        return True

    def by_determinant(self) -> Exchanged:
        """Return moves of largest det V until none gains."""
        inverse = self.inverse()
        if inverse is None:
            return Exchanged(self.counts, math.inf, False)
        finished = False
        for look in range(self.limit):
            self.report(look / self.limit, "moving single measurements")
            if not self.step(inverse):
                finished = True
                break
            after = self.inverse()
            if after is None:  # det V grew, so this is rounding
                break
            inverse = after
        return Exchanged(self.counts, float(np.linalg.slogdet(inverse)[1]), finished)

    def by_worst(self, directions: Worst) -> Exchanged:
        """Return moves that lower the largest y' V^-1 y until none does."""
        inverse = self.inverse()
        if inverse is None:
            return Exchanged(self.counts, math.inf, False)
        many = _KEPT * self.x.shape[1]
        keys, values = directions.find(inverse, many)
        kept, value = directions.vectors(keys), float(values[0])
        best, least, finished = self.counts.copy(), value, False
        for look in range(self.limit):
            self.report(look / self.limit, "moving single measurements")
            after, seen = self.lower(inverse, kept, value, directions)
            if after is not None:
                inverse, value = after, seen[1]
                # The worst directions are considered from here on; those they replace mostly stay small.
                kept = _distinct(kept[-many:], seen[0])
                continue
            before = len(kept)
            kept = _distinct(kept, seen[0])
            if len(kept) > before:
                continue
            # No move gains on the directions seen so far; now check all directions.
            keys, values = directions.find(inverse, many)
            if values[0] < least * (1.0 - _GAIN):
                best, least = self.counts.copy(), float(values[0])
            if values[0] <= value * (1.0 + _GAIN):
                finished = True
                break
            kept, value = _distinct(kept, directions.vectors(keys)), float(values[0])
        if not finished:
            value = float(directions.find(inverse)[1][0])
            if value < least:
                best, least = self.counts.copy(), value
        return Exchanged(best, least, finished)

    def lower(
        self, inverse: Floats, kept: Floats, value: float, directions: Worst
    ) -> tuple[Floats | None, tuple[Floats, float]]:
        """Return the inverse after a move that lowers the value, the directions that are large then, and the new value.

        None when no promising move does; then with the directions that stood in the way. All by a quick look.
        """
        in_the_way = [kept[:0]]
        for predicted, giver, taker in self.promising(inverse, kept, value):
            self.move(giver, taker)
            after = self.inverse()
            if after is not None:
                keys, variances = directions.some(after, self.x.shape[1])
                vectors = directions.vectors(keys)
                reached = max(float(variances[0]), predicted)
                if reached < value * (1.0 - _GAIN):
                    return after, (vectors, reached)
                in_the_way.append(vectors[variances >= value * (1.0 - _GAIN)])
            self.move(taker, giver)
        return None, (np.concatenate(in_the_way), value)

    def promising(self, inverse: Floats, y: Floats, value: float) -> list[tuple[float, int, int]]:
        """Return moves after which the given directions are all below ``value``, and how far; the best first, a few."""
        found = self.possible(inverse)
        if not len(found.givers) or not len(found.takers):
            return []
        rows, columns = _cut(found.growth(), max(1, _ENTRIES // len(y)))
        return Changes(found, inverse, y).best(rows, columns, value * (1.0 - _GAIN), _TRIES)


def _cut(growth: Floats, most: int) -> tuple[Ints, Ints]:
    """Return rows and columns of at most about ``most`` entries in all, those whose best entry is largest."""
    n_rows, n_columns = growth.shape
    if n_rows * n_columns <= most:
        return np.arange(n_rows), np.arange(n_columns)
    rows = max(1, min(n_rows, int(math.sqrt(most))))
    columns = max(1, min(n_columns, most // rows))
    top = np.sort(np.argsort(-growth.max(axis=1), kind="stable")[:rows])
    left = np.sort(np.argsort(-growth.max(axis=0), kind="stable")[:columns])
    return top.astype(np.intp), left.astype(np.intp)


def _distinct(first: Floats, second: Floats) -> Floats:
    """Return both sets of rows, later repetitions left out."""
    both = np.concatenate([first, second])
    _, places = np.unique(np.round(both, 12), axis=0, return_index=True)
    return both[np.sort(places)]
