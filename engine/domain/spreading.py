"""How measurements are spread over plates, so that what disturbs one replicate of a compound does not disturb the next.

Everything here is about places in a grid of rows and columns (see Grid) and knows neither wells nor compounds.

The places of a region of R rows and C columns are taken along its diagonals: the t-th one is in row t mod R and in
column (t + t div lcm(R, C)) mod C, where C is the longer side (otherwise the two change roles). Each place comes once:
within a run of lcm(R, C) steps by the Chinese remainder theorem, and each run has another difference of column and row
modulo gcd(R, C). The replicates of a compound take consecutive t, so that k of them share neither a row nor a column
if k is at most the shorter side and less than the longer one: rows repeat after R steps, columns after C, or after
C - 1 where a run ends. Both stay true when rows and columns are renamed, t -> a t + const modulo R (a prime to R) and
likewise for columns: this separates consecutive places, which would otherwise touch at their corners.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from itertools import combinations

import numpy as np

from ..arrays import Ints

Place = tuple[int, int, int]
"""Plate, row, column."""
Position = tuple[int, int]
"""Row, column."""
_TURNS = 32
"""Turns of a plate that are compared, to separate replicates, and on several plates to change their places."""
_LOTS = 5_318_008
"""Start of the random streams of plates, separate from those of designs."""


def spread(replicates: Sequence[int], rows: int, columns: int, entropy: Sequence[int]) -> list[list[Place]]:
    """For each item the (plate, row, column) of each of its replicates; the same again for the same ``entropy``.

    As few plates as hold them all, as evenly filled as can be; the replicates of an item are dealt to all of them
    in turn. On a plate no two of them share a row or a column, if there are at most as many of them as the shorter side
    of the part that is used and fewer than the longer. Nor do they touch, or have equal places on different plates, as
    far as turning the plates achieves it. Items follow each other by lot. A plate that is not full is filled from the
    left.
    """
    n_plates = -(-sum(replicates) // (rows * columns))
    lots = _Lots(entropy)
    order = lots.order(len(replicates))
    items = np.repeat(order, np.asarray(replicates, dtype=np.intp)[order])
    found: list[list[Place]] = [[] for _ in replicates]
    for plate in range(n_plates):
        own = items[plate::n_plates].tolist()
        for item, (row, column) in zip(own, _filled(own, rows, columns, found, lots), strict=True):
            found[item].append((plate, row, column))
    return found


class _Lots:
    """Lots that come out the same in every version of numpy: only its raw numbers are promised to stay as they are."""

    def __init__(self, entropy: Sequence[int]) -> None:
        self._source = np.random.PCG64(np.random.SeedSequence((_LOTS, *entropy)))

    def order(self, n: int) -> Ints:
        """Return ``(n,)``, the numbers below n in an order drawn by lot."""
        drawn = [self._source.random_raw() for _ in range(n)]
        return np.array(sorted(range(n), key=lambda k: drawn[k]), dtype=np.intp)

    def below(self, n: int) -> int:
        """Return a number below n."""
        return int(self._source.random_raw() % n)

    def prime_to(self, side: int) -> int:
        """Return a number below ``side`` that is prime to it: by so many steps at a time every row is reached."""
        steps = [step for step in range(1, max(2, side)) if math.gcd(step, side) == 1]
        return steps[self.below(len(steps))]


def _filled(
    items: Sequence[int], rows: int, columns: int, before: Sequence[Sequence[Place]], lots: _Lots
) -> list[Position]:
    """Return the (row, column) of each measurement of one plate; ``before``: the places on the plates before it.

    Along the diagonals, turned by lot until no replicate is next to another or at a replicate's place on another plate.
    """
    n, most = len(items), max(Counter(items).values())
    wide = min(columns, max(-(-n // rows), most + (1 < most == rows)))
    best: tuple[int, list[Position]] | None = None
    for turn in range(_TURNS):
        wide = min(columns, wide + (turn > 0 and turn % 4 == 0))  # more room helps, if it leaves gaps
        row_of, column_of = _diagonals(rows, wide)
        placed_rows = (row_of * lots.prime_to(rows) + lots.below(rows)) % rows
        placed_columns = (column_of * lots.prime_to(wide) + lots.below(wide)) % wide
        places = list(zip(placed_rows.tolist(), placed_columns.tolist(), strict=True))
        places = _without_gaps(items, places[:n], sorted(places[n:], key=lambda place: place[::-1]))
        cost = _cost(items, places, before)
        if best is None or cost < best[0]:
            best = cost, places
        if cost == 0:
            break
    assert best is not None
    return best[1]


def _without_gaps(items: Sequence[int], places: list[Position], gaps: list[Position]) -> list[Position]:
    """Move measurements from the last columns into gaps before them, where replicates stay apart."""
    places, own = list(places), _by_item(items, places)
    for k in sorted(range(len(places)), key=lambda k: places[k][::-1], reverse=True):
        others = [place for place in own[items[k]] if place != places[k]]
        for gap in gaps:
            if gap[::-1] < places[k][::-1] and not any(_together(gap, other) for other in others):
                gaps[gaps.index(gap)], places[k] = places[k], gap
                own[items[k]] = [*others, gap]
                break
    return places


def _cost(items: Sequence[int], places: Sequence[Position], before: Sequence[Sequence[Place]]) -> int:
    """Return how many replicates are next to each other, or at a place of their item on another plate."""
    cost = 0
    for item, own in _by_item(items, places).items():
        cost += sum(_together(one, other) for one, other in combinations(own, 2))
        cost += len({place[1:] for place in before[item]} & set(own))
    return cost


def _by_item(items: Sequence[int], places: Sequence[Position]) -> dict[int, list[Position]]:
    own: dict[int, list[Position]] = {}
    for item, place in zip(items, places, strict=True):
        own.setdefault(item, []).append(place)
    return own


def _together(one: Position, other: Position) -> bool:
    """Return whether two places share a row or a column, or touch at their corners."""
    down, right = abs(one[0] - other[0]), abs(one[1] - other[1])
    return not (down and right) or max(down, right) < 2


def _diagonals(rows: int, columns: int) -> tuple[Ints, Ints]:
    """Return the row and column of every place of a region, along its diagonals."""
    step = np.arange(rows * columns, dtype=np.intp)
    run = step // math.lcm(rows, columns)
    if columns >= rows:
        return step % rows, (step + run) % columns
    return (step + run) % rows, step % columns
