"""The largest sum of what one choice per site is worth, alone and in pairs, with bounds that are proven.

Best first with tight bounds where pairs matter; depth first with quick ones near an optimal design.
"""

from __future__ import annotations

import heapq
import itertools
from dataclasses import dataclass, field

import numpy as np

from ..arrays import Floats

_PASSES = 12
"""Rounds of messages before the sites are branched on; few after, as the sites left begin where those before ended."""
_AFTER = 4
_ENTRIES = 6e8
"""Entries of tables looked at before the search ends with the bound that is proven so far: one or two seconds."""
_ROUNDING = 1e-12
_LEAVES = 20_000
"""Last pairs of sites looked at before the search ends with the bound that is proven so far."""
_LOOKED_UP = 4e9
"""Entries of their tables looked at, likewise."""
_STARTS = 8
"""First rows from which one site after the other is improved, to have something to prune with."""


@dataclass(frozen=True, slots=True)
class Pieces:
    """A function of one choice per site: the sum of own[a][i_a] and of pairs[a, b][i_a, i_b] for a < b."""

    own: list[Floats]
    pairs: dict[tuple[int, int], Floats]

    def at(self, codes: list[int]) -> float:
        """The function at some choices."""
        alone = sum(float(own[code]) for own, code in zip(self.own, codes, strict=True))
        return alone + sum(float(table[codes[a], codes[b]]) for (a, b), table in self.pairs.items())

    def bound(self) -> float:
        """What it nowhere exceeds."""
        return sum(float(own.max()) for own in self.own) + sum(float(table.max()) for table in self.pairs.values())

    def tightened(self, passes: int) -> Pieces:
        """The same function in pieces of a lower bound.

        Pair by pair, what both sites are worth goes into their table, and its largest of each row and column, half
        each, come out again (max-sum diffusion and MPLP: Globerson and Jaakkola 2007). The bound never rises.
        """
        own = [values.copy() for values in self.own]
        pairs = {key: table.copy() for key, table in self.pairs.items()}
        for _ in range(passes):
            for (a, b), table in pairs.items():
                table += own[a][:, None]
                table += own[b]
                own[a] = table.max(axis=1) / 2.0
                table -= own[a][:, None]
                own[b] = table.max(axis=0)
                table -= own[b]
        return Pieces(own, pairs)

    def rest(self, code: int) -> Pieces:
        """What is left to choose once the first site has the code; what that is worth alone is not counted."""
        own = [values + self.pairs[0, b][code] for b, values in enumerate(self.own) if b]
        pairs = {(a - 1, b - 1): table for (a, b), table in self.pairs.items() if a}
        return Pieces(own, pairs)

    @property
    def entries(self) -> int:
        """The size of all tables."""
        return sum(table.size for table in self.pairs.values())


@dataclass(frozen=True, slots=True)
class Found:
    """The best choices found, what they are worth, and what none exceeds: the same unless the search was cut short."""

    codes: tuple[int, ...]
    value: float
    bound: float


def largest_sum(pieces: Pieces, start: list[int]) -> Found:
    """The largest value over one choice per site, from choices to start with: branch and bound, best first."""
    best, value = list(start), pieces.at(start)
    root = pieces.tightened(_PASSES)
    looked = _PASSES * pieces.entries
    tie = itertools.count()
    scale = _ROUNDING * max(1.0, sum(float(np.abs(own).max()) for own in pieces.own))
    heap: list[tuple[float, int, list[int], float, Pieces]] = [(-root.bound(), next(tie), [], 0.0, root)]
    while heap:
        bound = -heap[0][0]
        if bound <= value + scale or looked >= _ENTRIES:
            return Found(tuple(best), value, max(value, bound + scale))
        _, _, codes, known, part = heapq.heappop(heap)
        # What each code of the first site left could lead to at most.
        hope = known + part.own[0]
        for b in range(1, len(part.own)):
            hope = hope + (part.pairs[0, b] + part.own[b]).max(axis=1)
        hope = hope + sum(float(table.max()) for (a, _), table in part.pairs.items() if a)
        looked += part.entries
        for code in np.argsort(-hope, kind="stable"):
            if hope[code] <= value + scale:
                break
            chosen, worth = [*codes, int(code)], known + float(part.own[0][code])
            left = part.rest(int(code))
            if len(left.own) == 0:
                if worth > value:
                    best, value = chosen, worth
                continue
            if left.pairs:
                left = left.tightened(_AFTER)
                looked += _AFTER * left.entries
            at_most = worth + left.bound()
            greedy = [*chosen, *(int(own.argmax()) for own in left.own)]
            reached = pieces.at(greedy)
            if reached > value:
                best, value = greedy, reached
            if at_most > value + scale:
                heapq.heappush(heap, (-at_most, next(tie), chosen, worth, left))
            if looked >= _ENTRIES:
                # The codes not looked at keep what they could lead to.
                rest = float(hope[hope < hope[code]].max(initial=-np.inf))
                top = max(rest, float(hope[code]), -heap[0][0] if heap else -np.inf)
                return Found(tuple(best), value, max(value, top + scale))
    return Found(tuple(best), value, value + scale)


def largest_quadratic(matrix: Floats, sizes: tuple[int, ...]) -> Found:
    """The largest x'Mx over one substituent per site, for a symmetric M over the intercept and all substituents.

    Branch and bound over the sites, the last two by their whole table. The bound of a part of the sites adds, over the
    sites left, the most each can be worth with its pairs to later sites; pairs are centred first, so that near an
    optimal design, where pairs matter little, it is tight. Exact unless it takes too long; then ``bound`` is still
    proven.
    """
    starts = 1 + np.concatenate([[0], np.cumsum(sizes)[:-1]]).astype(np.intp)
    blocks = [slice(int(a), int(a) + size) for a, size in zip(starts, sizes, strict=True)]
    order = sorted(range(len(sizes)), key=lambda site: (sizes[site], site))
    own = [np.diagonal(matrix)[blocks[site]] + 2.0 * matrix[0, blocks[site]] for site in order]
    pairs: dict[tuple[int, int], Floats] = {}
    constant = float(matrix[0, 0])
    for b in range(len(order)):
        for a in range(b):
            table = 2.0 * matrix[blocks[order[a]], blocks[order[b]]]
            row, column, mean = table.mean(axis=1), table.mean(axis=0), float(table.mean())
            # x'Mx stays as it is: what the table says of each substituent alone moves to that substituent.
            pairs[a, b] = table - row[:, None] - column[None, :] + mean
            own[a] = own[a] + row - mean / 2.0
            own[b] = own[b] + column - mean / 2.0
    search = _Depth(own, pairs)
    search.run()
    codes = [0] * len(sizes)
    for place, site in enumerate(order):
        codes[site] = search.best[place]
    value = constant + search.value
    return Found(tuple(codes), value, max(value, constant + search.bound))


@dataclass
class _Depth:
    """Branch and bound: what each substituent adds, alone and in pairs, and the best row so far."""

    own: list[Floats]
    pairs: dict[tuple[int, int], Floats]
    best: list[int] = field(default_factory=list)
    value: float = -np.inf
    bound: float = -np.inf
    leaves: int = 0
    entries: float = 0.0

    def run(self) -> None:
        """Find the best row; ``bound`` says what the parts left out could be worth, if any were."""
        sites = len(self.own)
        # The most a substituent can add with its pairs to later sites.
        self.later = [
            sum((self.pairs[a, b].max(axis=1) for b in range(a + 1, sites)), np.zeros(len(self.own[a])))
            for a in range(sites)
        ]
        for start in range(_STARTS):
            self._climb([int(start * len(u) // _STARTS) for u in self.own])
        self._branch([], list(self.own), 0.0)

    def _climb(self, codes: list[int]) -> None:
        """Improve a row one site after the other until no change of one site helps."""
        sites = range(len(codes))
        value = -np.inf
        while True:
            for a in sites:
                worth = self.own[a].copy()
                for b in sites:
                    if b != a:
                        worth += self.pairs[a, b][:, codes[b]] if a < b else self.pairs[b, a][codes[b]]
                codes[a] = int(np.argmax(worth))
            now = sum(float(self.own[a][codes[a]]) for a in sites)
            now += sum(float(table[codes[a], codes[b]]) for (a, b), table in self.pairs.items())
            if now <= value + 1e-12 * abs(value):
                break
            value = now
        if value > self.value:
            self.value, self.best = value, list(codes)

    def _branch(self, codes: list[int], own: list[Floats], value: float) -> None:
        """Look at every row that begins with the codes; ``own`` counts the pairs with them."""
        a = len(codes)
        left = len(own) - a
        if left <= 2:
            self._leaf(codes, own, value)
            return
        optimistic = value + own[a] + self.later[a]
        for b in range(a + 1, len(own)):
            alone = own[b] + self.later[b]
            optimistic += (self.pairs[a, b] + alone).max(axis=1) - self.pairs[a, b].max(axis=1)
        margin = 1e-13 * max(1.0, abs(self.value))
        for code in np.argsort(-optimistic, kind="stable"):
            if optimistic[code] <= self.value + margin:
                return
            if self.leaves >= _LEAVES or self.entries >= _LOOKED_UP:
                self.bound = max(self.bound, float(optimistic[code]))
                return
            following = list(own)
            for b in range(a + 1, len(own)):
                following[b] = own[b] + self.pairs[a, b][code]
            self._branch([*codes, int(code)], following, value + float(own[a][code]))

    def _leaf(self, codes: list[int], own: list[Floats], value: float) -> None:
        self.leaves += 1
        if len(own) == len(codes) + 1:
            last = int(np.argmax(own[-1]))
            found, row = value + float(own[-1][last]), [*codes, last]
        else:
            table = self.pairs[len(own) - 2, len(own) - 1]
            self.entries += table.size
            worth = table + own[-1]
            seconds = worth.argmax(axis=1)
            firsts = worth[np.arange(len(worth)), seconds] + own[-2]
            first = int(np.argmax(firsts))
            found, row = value + float(firsts[first]), [*codes, first, int(seconds[first])]
        if found > self.value or not self.best:
            self.value, self.best = found, row
