"""How measurements are spread over plates, so that what disturbs one replicate of a compound does not disturb the next.

Everything here is about places in a grid of rows and columns (see Grid) and knows neither wells nor compounds.

The places of a region of R rows and C columns are taken along its diagonals: the t-th one stands in row t mod R and in
column (t + t div lcm(R, C)) mod C, where C is the longer side (otherwise the two change roles). Each place comes once:
within a run of lcm(R, C) steps by the Chinese remainder theorem, and each run has another difference of column and row
modulo gcd(R, C). The replicates of a compound take consecutive t, so that k of them share neither a row nor a column
if k is at most the shorter side and less than the longer one: rows repeat after R steps, columns after C, or after
C - 1 where a run ends. Both stay true when rows and columns are renamed, t -> a t + const modulo R (a prime to R) and
likewise for columns: by that consecutive places, which would touch at their corners, come to lie far apart.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import lru_cache

import numpy as np

from ...arrays import Ints

Place = tuple[int, int, int]
"""Plate, row, column."""
Position = tuple[int, int]
"""Row, column."""
Measured = tuple[int, int, int]
"""Item, row, column."""

_TURNS = 16
"""Turns of a plate that are compared, so that replicates on several plates stand in different places."""
_DRAWS = 12
"""Draws of a plate while replicates lie together; on the usual plates the first is good."""
_LOOKS = 100_000
"""Pairs of replicates that are looked at on one plate to part the few that the diagonals leave together: 0.1 s."""
_LINE = 10_000
"""How much worse it is to share a row or a column than to touch: no number of neighbours makes up for it."""
_LOTS = 5_318_008
"""Where the lots of plates begin, apart from those of designs."""


def spread(replicates: Sequence[int], rows: int, columns: int, entropy: Sequence[int]) -> list[list[Place]]:
    """For each item the (plate, row, column) of each of its replicates; the same again for the same ``entropy``.

    As few plates as hold them all, as evenly filled as can be; the replicates of an item are dealt to all of them
    in turn. On a plate no two of them share a row or a column, if there are at most as many of them as the shorter side
    of the part that is used and fewer than the longer; in any case they lie as far apart as the diagonals allow. On
    different plates they stand in different places, and in different rows and columns, as far as turning the plates
    achieves it. Items follow each other by lot. A plate that is not full is filled from the left.
    """
    total = sum(replicates)
    n_plates = -(-total // (rows * columns))
    lots = _Lots(entropy)
    order = lots.order(len(replicates))
    counts = np.asarray(replicates, dtype=np.intp)
    items = np.repeat(order, counts[order]) if total else np.zeros(0, dtype=np.intp)
    found: list[list[Place]] = [[] for _ in replicates]
    for plate in range(n_plates):
        for item, row, column in _filled(items[plate::n_plates], rows, columns, found, lots):
            found[item].append((plate, row, column))
    return found


class _Lots:
    """Lots that come out the same in every version of numpy: only its raw numbers are promised to stay as they are."""

    def __init__(self, entropy: Sequence[int]) -> None:
        self._source = np.random.PCG64(np.random.SeedSequence((_LOTS, *entropy)))

    def order(self, n: int) -> Ints:
        """``(n,)``, the numbers below n in an order drawn by lot."""
        drawn = [self._source.random_raw() for _ in range(n)]
        return np.array(sorted(range(n), key=lambda k: drawn[k]), dtype=np.intp)

    def below(self, n: int) -> int:
        """Return a number below n."""
        return int(self._source.random_raw() % n)


def _filled(items: Ints, rows: int, columns: int, before: Sequence[Sequence[Place]], lots: _Lots) -> list[Measured]:
    """(item, row, column) of each measurement of one plate; ``before``: what stands on the plates before it.

    Drawn again, on more columns if there are, while replicates lie together; the best draw is kept.
    """
    n, most = len(items), int(np.unique(items, return_counts=True)[1].max())
    needed = -(-n // rows)
    wide = min(columns, max(needed, most + (1 < most == rows)))
    best: tuple[tuple[int, int], list[Measured]] | None = None
    looked = 0
    for draw in range(1, _DRAWS + 1):
        plate = _Plate(_drawn(items, rows, wide, before, lots), before, _LOOKS - looked)
        if wide == needed:
            _tidy(plate, rows)
        _settle(plate, rows, wide)
        looked += plate.looked
        gaps = max(column * rows + row + 1 for row, column in plate.places) - n
        cost = (plate.total(), gaps)
        if best is None or cost < best[0]:
            best = (cost, plate.measured)
        if looked >= _LOOKS or (best[0][0] == 0 and (gaps == 0 or wide > needed)):
            break
        wide = min(columns, wide + (best[0][0] > 0 and draw % 2 == 0))
    assert best is not None
    return best[1]


def _drawn(items: Ints, rows: int, wide: int, before: Sequence[Sequence[Place]], lots: _Lots) -> list[Measured]:
    """Return the measurements along the diagonals, turned so that they repeat the places of other plates least."""
    n, most = len(items), int(np.unique(items, return_counts=True)[1].max())
    row_of, column_of = _diagonals(rows, wide)
    strides = _strides(rows, wide, most)
    others = np.array(
        [(k, *place[1:]) for k, item in enumerate(items.tolist()) for place in before[item]], dtype=np.intp
    )
    best: tuple[float, Ints, Ints] | None = None
    for _ in range(_TURNS if len(others) else 1):
        down, right = strides[lots.below(len(strides))]
        placed_rows = (row_of[:n] * down + lots.below(rows)) % rows
        placed_columns = (column_of[:n] * right + lots.below(wide)) % wide
        cost = _coincidences(placed_rows, placed_columns, others)
        if best is None or cost < best[0]:
            best = (cost, placed_rows, placed_columns)
        if cost == 0:
            break
    assert best is not None
    return [(int(item), int(row), int(column)) for item, row, column in zip(items, *best[1:], strict=True)]


def _coincidences(rows: Ints, columns: Ints, others: Ints) -> float:
    """How much places repeat those of other plates: one for the same place, a little for the same row or column."""
    if not len(others):
        return 0.0
    same_row = rows[others[:, 0]] == others[:, 1]
    same_column = columns[others[:, 0]] == others[:, 2]
    return float((same_row & same_column).sum() + 0.01 * (same_row | same_column).sum())


def _diagonals(rows: int, columns: int) -> tuple[Ints, Ints]:
    """Row and column of every place of a region, along its diagonals."""
    step = np.arange(rows * columns, dtype=np.intp)
    run = step // math.lcm(rows, columns)
    if columns >= rows:
        return step % rows, (step + run) % columns
    return (step + run) % rows, step % columns


@lru_cache(maxsize=256)
def _strides(rows: int, columns: int, most: int) -> tuple[tuple[int, int], ...]:
    """How rows and columns can be renamed so that ``most`` consecutive places lie as far apart as can be.

    Distances are around the plate, which is never more than across it; where a run of the diagonals ends the longer
    side goes one step further.
    """
    apart = np.arange(1, max(2, most))
    later = apart + 1
    of_rows = {stride: (_around(apart, stride, rows), _around(later, stride, rows)) for stride in _prime_to(rows)}
    of_columns = {
        stride: (_around(apart, stride, columns), _around(later, stride, columns)) for stride in _prime_to(columns)
    }
    scores: dict[tuple[int, int], int] = {}
    for down, (row, row_later) in of_rows.items():
        for right, (column, column_later) in of_columns.items():
            at_end = np.maximum(row, column_later) if columns >= rows else np.maximum(row_later, column)
            scores[down, right] = int(min(np.maximum(row, column).min(), at_end.min()))
    best = max(scores.values())
    return tuple(pair for pair, score in scores.items() if score == best)


def _prime_to(side: int) -> list[int]:
    return [stride for stride in range(1, max(2, side)) if math.gcd(stride, side) == 1]


def _around(steps: Ints, stride: int, side: int) -> Ints:
    """How far apart places are that are so many steps apart, the shorter way around."""
    distance = steps * stride % side
    return np.minimum(distance, side - distance)


def _tidy(plate: _Plate, rows: int) -> None:
    """Move the empty places to the end of the last column, as far as no replicates come together by it."""
    last = max(column for _, column in plate.places)
    taken = set(plate.places)
    every = [(row, column) for column in range(last + 1) for row in range(rows)]
    at_end = set(every[len(taken) :])
    holes = [place for place in every if place not in taken and place not in at_end]
    for k, place in enumerate(plate.places):
        if place in at_end:
            hole = next((hole for hole in holes if _fills(plate, k, hole)), None)
            if hole is not None:
                holes.remove(hole)


def _fills(plate: _Plate, k: int, hole: Position) -> bool:
    """Whether a measurement could be moved into an empty place, or into that of another one which moves there."""
    if plate.cost(k, hole) == 0:
        plate.places[k] = hole
        return True
    for other, place in enumerate(plate.places):
        if plate.tired:
            break
        different = plate.items[other] != plate.items[k]
        if different and place[1] < plate.places[k][1] and plate.cost(k, place) == 0 == plate.cost(other, hole):
            plate.places[k], plate.places[other] = place, hole
            return True
    return False


def _settle(plate: _Plate, rows: int, wide: int) -> None:
    """Part replicates that lie together by exchanges with others, else by moves to empty places."""
    taken = set(plate.places)
    empty = [(row, column) for column in range(wide) for row in range(rows) if (row, column) not in taken]
    for k in range(len(plate.places)):
        bad = plate.cost(k, plate.places[k])
        for other in range(len(plate.places)):
            if not bad or plate.tired:
                break
            if plate.items[other] == plate.items[k]:
                continue
            here, there = plate.places[k], plate.places[other]
            now = bad + plate.cost(other, there)
            if plate.cost(k, there) + plate.cost(other, here) < now:
                plate.places[k], plate.places[other] = there, here
                bad = plate.cost(k, there)
        if bad and empty and not plate.tired:
            best = min(empty, key=lambda place: plate.cost(k, place))
            if plate.cost(k, best) < bad:
                empty[empty.index(best)] = plate.places[k]
                plate.places[k] = best


class _Plate:
    """The measurements of one plate while they are moved about."""

    def __init__(self, placed: Sequence[Measured], before: Sequence[Sequence[Place]], most: int) -> None:
        self.looked, self._most = 0, most
        self.items = [item for item, _, _ in placed]
        self.places = [(row, column) for _, row, column in placed]
        self._own: dict[int, list[int]] = {}
        for k, item in enumerate(self.items):
            self._own.setdefault(item, []).append(k)
        self._elsewhere = {item: {place[1:] for place in before[item]} for item in self._own}

    @property
    def tired(self) -> bool:
        """Whether so many pairs of replicates were looked at that it is time to leave it."""
        return self.looked >= self._most

    def cost(self, k: int, place: Position) -> int:
        """How badly a measurement would stand at a place, beside the other replicates of its item; 0 is well."""
        item = self.items[k]
        self.looked += len(self._own[item])
        bad = int(place in self._elsewhere[item])
        for other in self._own[item]:
            if other != k:
                down, right = (abs(a - b) for a, b in zip(place, self.places[other], strict=True))
                bad += _LINE * ((down == 0) + (right == 0)) + (max(down, right) < 2)
        return bad

    def total(self) -> int:
        """How badly all of them stand."""
        return sum(self.cost(k, place) for k, place in enumerate(self.places))

    @property
    def measured(self) -> list[Measured]:
        """The measurements where they stand now, in the order they came in."""
        return [(item, *place) for item, place in zip(self.items, self.places, strict=True)]
