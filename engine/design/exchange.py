"""Whole counts made better by moving one measurement at a time from one compound to another.

What every such move does to det V, and to some variances, is known before it is made.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from ..arrays import Floats, Ints
from ..system.progress import Report, silent
from .criteria import inverse_information, worth_of
from .directions import Worst

_SINGULAR = 1e-9
"""det V after a move below this share of det V before is singular."""
_FIRST = 4
"""Directions for which every move is looked at; only moves that lower these are followed through all others."""
_TOGETHER = 1000
"""Moves followed at once, the most promising first."""
_NEAR = 0.03
"""Directions this close to the largest say which rows may help."""
_GAIN = 1e-9
"""A smaller relative gain is rounding."""
_RIDGE = 1e-7
"""The share of the measurements spread evenly over all rows while the counts do not span yet."""
_KEPT = 4
"""Directions looked at from the start, per dimension; those that become the worst come in later."""
_ENTRIES = 3_000_000
"""Numbers computed for one look at the moves; what would be more is cut down to the moves of largest log det."""
_HALF = 0.5
"""Measurements added at once, as a share of what seems to be missing; moves that follow do the rest."""
_GIVERS, _TAKERS = 64, 128
"""Rows that may give and take in a first look at the moves."""
_TRIES = 5
"""Moves of one look whose value over all directions is computed before more directions are looked at."""


@dataclass(frozen=True, slots=True)
class Bounds:
    """What the counts must keep to."""

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
        """Ratios of det V after every move to det V before, ``(givers, takers)``; 0 for a row to itself."""
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
    """What moves do to some directions y: y' V^-1 y after them."""

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

    def helpful(self, givers: int, takers: int) -> tuple[Ints, Ints]:
        """Places of the givers that the largest directions lose least by, and of the takers they win most by."""
        large = self.now >= (1.0 - _NEAR) * self.now[0]
        lost = (self.given[large] ** 2).sum(axis=0) / np.maximum(1.0 - self.moves.h, _SINGULAR)
        won = (self.taken[large] ** 2).sum(axis=0) / (1.0 + self.moves.g)
        return least_of(lost, givers), least_of(-won, takers)

    def best(self, rows: Ints, columns: Ints, below: float, count: int) -> list[tuple[float, int, int]]:
        """Return moves after which all directions are below a value: ``(after, giver, taker)``, lowest first.

        ``rows`` and ``columns`` are places among givers and takers. About ``count``, each of another giver: most moves
        do not even lower the largest few directions, the others are looked at from the most promising on.
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

    def best_added(self) -> int:
        """Return the row whose one measurement more leaves the largest direction lowest."""
        after = (self.now[:, None] - self.taken**2 / (1.0 + self.moves.g)).max(axis=0)
        return int(self.moves.takers[int(np.argmin(after))])


def _changed(given: Floats, taken: Floats, across: Floats, less: Floats, more: Floats, growth: Floats) -> Floats:
    """Return what a move adds to y' V^-1 y: Woodbury for V - u u' + v v', written out."""
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        change: Floats = (given**2 * more - 2.0 * given * taken * across - taken**2 * less) / growth
    return change


def least_of(values: Floats, count: int) -> Ints:
    """Places of the smallest values, ascending."""
    if count >= len(values):
        return np.arange(len(values))
    return np.sort(np.argpartition(values, count - 1)[:count]).astype(np.intp)


@dataclass(frozen=True, slots=True)
class Exchanged:
    """Counts from which no single move gains, unless the limit came first."""

    counts: Ints
    value: float
    """The largest y' V^-1 y over the directions; -log det V without directions; inf when V is singular."""
    moves: int
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


def grow(
    x: Floats,
    counts: Ints,
    directions: Worst,
    bounds: Bounds,
    enough: float,
    most: int,
    *,
    base: Floats | None = None,
    limit: int,
    report: Report = silent,
) -> Exchanged:
    """Few measurements whose largest y' V^-1 y is at most ``enough``: those given, moved, and more where moves end.

    At most ``most`` measurements in all; then the value returned may be larger. After ``limit`` looks at the moves
    measurements are only added. Rows and bounds as in ``exchange``; the counts found are not proven to be the fewest.
    """
    walk = _Walk(x, np.asarray(counts, dtype=np.intp).copy(), bounds, base, 0.0, limit, report)
    if walk.inverse() is None:
        walk.towards_rank()
    return walk.by_growing(directions, enough, most)


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
        self.moves = 0

    def inverse(self) -> Floats | None:
        return inverse_information(self.x, self.counts, self.base, self.ratio)

    def possible(self, inverse: Floats) -> Moves:
        """Return the moves within the bounds."""
        return moves_of(self.x, self.counts, self.bounds, self.ratio, inverse)

    def move(self, giver: int, taker: int) -> None:
        self.counts[giver] -= 1
        self.counts[taker] += 1
        self.moves += 1

    def towards_rank(self) -> None:
        """Move until the counts span or no move helps.

        A little of every row is added to V, so that each move that raises the rank gains by orders of magnitude.
        """
        even = self.x.T @ self.x / len(self.x)
        base = np.zeros_like(even) if self.base is None else self.base
        little = _RIDGE * max(1, int(self.counts.sum()))
        for _ in range(2 * self.x.shape[1]):
            inverse = inverse_information(self.x, self.counts, base + little * even, self.ratio)
            # Rows that are almost alike need more of it before V can be told from a singular one.
            while inverse is None and little < 1.0:
                little *= 10.0
                inverse = inverse_information(self.x, self.counts, base + little * even, self.ratio)
            if inverse is None:
                return
            if not self.step(inverse):
                return

    def step(self, inverse: Floats) -> bool:
        """Whether a move made det V larger; the one that does most is made."""
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
            return Exchanged(self.counts, math.inf, self.moves, False)
        finished = False
        for look in range(self.limit):
            self.report(look / self.limit, "moving single measurements")
            if not self.step(inverse):
                finished = True
                break
            after = self.inverse()
            if after is None:  # det V grew, so only rounding can say so
                break
            inverse = after
        return Exchanged(self.counts, float(np.linalg.slogdet(inverse)[1]), self.moves, finished)

    def by_worst(self, directions: Worst) -> Exchanged:
        """Return moves that lower the largest y' V^-1 y until none does."""
        inverse = self.inverse()
        if inverse is None:
            return Exchanged(self.counts, math.inf, self.moves, False)
        many = _KEPT * self.x.shape[1]
        keys, values = directions.find(inverse, many)
        kept, value = directions.vectors(keys), float(values[0])
        best, least, finished = self.counts.copy(), value, False
        for look in range(self.limit):
            self.report(look / self.limit, "moving single measurements")
            after, seen = self.lower(inverse, kept, value, directions)
            if after is not None:
                inverse, value = after, seen[1]
                # What is worst now is looked at from here on; the others it replaced mostly stay small.
                kept = _distinct(kept[-many:], seen[0])
                continue
            before = len(kept)
            kept = _distinct(kept, seen[0])
            if len(kept) > before:
                continue
            # Nothing gains by what was seen; all directions say whether that was the whole truth.
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
        return Exchanged(best, least, self.moves, finished)

    def by_growing(self, directions: Worst, enough: float, most: int) -> Exchanged:
        """Return moves that lower the largest y' V^-1 y, and more measurements where none does, until it is enough."""
        inverse = self.inverse()
        if inverse is None:
            return Exchanged(self.counts, math.inf, self.moves, False)
        many = _KEPT * self.x.shape[1]
        keys, values = directions.some(inverse, many)
        kept, value, look = directions.vectors(keys), float(values[0]), 0
        while True:
            if value <= enough:
                # Only all directions can say so.
                keys, values = directions.find(inverse, many)
                value = float(values[0])
                if value <= enough:
                    break
                kept = _distinct(kept, directions.vectors(keys))
            if look < self.limit:
                self.report(look / self.limit, "moving single measurements")
                look += 1
                after, seen = self.lower(inverse, kept, value, directions, every=False)
                if after is not None:
                    inverse, value, kept = after, seen[1], _distinct(kept[-many:], seen[0])
                    continue
                before = len(kept)
                kept = _distinct(kept, seen[0])
                if len(kept) > before:
                    continue
            added = self.add(inverse, kept, value / enough - 1.0 if enough > 0 else math.inf, most)
            if added is None:
                break
            inverse = added
            keys, values = directions.some(inverse, many)
            kept, value = _distinct(kept[-many:], directions.vectors(keys)), float(values[0])
        return Exchanged(self.counts, value, self.moves, False)

    def add(self, inverse: Floats, kept: Floats, missing: float, most: int) -> Floats | None:
        """Return the inverse after half the measurements that a share of variance seems to take, at least 1.

        None: no room.
        """
        total = int(self.counts.sum())
        wanted = max(1, math.ceil(min(_HALF * missing * total, most - total)))
        wanted = min(wanted, most - total)
        for _ in range(wanted):
            found = self.possible(inverse)
            if not len(found.takers):
                return None
            self.counts[Changes(found, inverse, kept).best_added()] += 1
            after = self.inverse()
            assert after is not None  # there is more information than before
            inverse = after
        return inverse if wanted > 0 else None

    def lower(
        self, inverse: Floats, kept: Floats, value: float, directions: Worst, every: bool = True
    ) -> tuple[Floats | None, tuple[Floats, float]]:
        """Return the inverse after a move that lowers the value, the directions that are large then, and the new value.

        None when no promising move does; then with the directions that stood in the way. All by a quick look.
        """
        in_the_way = [kept[:0]]
        for predicted, giver, taker in self.promising(inverse, kept, value, every):
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
            self.moves -= 2  # tried and taken back
        return None, (np.concatenate(in_the_way), value)

    def promising(self, inverse: Floats, y: Floats, value: float, every: bool) -> Iterator[tuple[float, int, int]]:
        """Yield moves after which the given directions are all below ``value``, and how far; the best first, a few.

        First those of the rows that do most about the largest directions; with ``every``, when asked for more, those
        of all rows.
        """
        found = self.possible(inverse)
        if not len(found.givers) or not len(found.takers):
            return
        changes, below = Changes(found, inverse, y), value * (1.0 - _GAIN)
        rows, columns = changes.helpful(_GIVERS, _TAKERS)
        first = changes.best(rows, columns, below, _TRIES)
        yield from first
        if every:
            rows, columns = _cut(found.growth(), max(1, _ENTRIES // len(y)))
            yield from (move for move in changes.best(rows, columns, below, _TRIES) if move not in first)


def _cut(growth: Floats, most: int) -> tuple[Ints, Ints]:
    """Rows and columns of at most about ``most`` entries in all, those whose best entry is largest."""
    n_rows, n_columns = growth.shape
    if n_rows * n_columns <= most:
        return np.arange(n_rows), np.arange(n_columns)
    rows = max(1, min(n_rows, int(math.sqrt(most))))
    columns = max(1, min(n_columns, most // rows))
    top = np.sort(np.argsort(-growth.max(axis=1), kind="stable")[:rows])
    left = np.sort(np.argsort(-growth.max(axis=0), kind="stable")[:columns])
    return top.astype(np.intp), left.astype(np.intp)


def _distinct(first: Floats, second: Floats) -> Floats:
    """Both sets of rows, later repetitions left out."""
    both = np.concatenate([first, second])
    _, places = np.unique(np.round(both, 12), axis=0, return_index=True)
    unique: Floats = both[np.sort(places)]
    return unique
