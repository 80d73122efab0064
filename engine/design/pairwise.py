"""The largest sum of what one choice per site is worth, alone and in pairs: best first, with bounds that are proven."""

from __future__ import annotations

import heapq
import itertools
from dataclasses import dataclass

import numpy as np

from ..arrays import Floats

__all__ = ["Found", "Pieces", "largest_sum"]


_PASSES = 12
"""Rounds of messages before the sites are branched on; few after, as the sites left begin where those before ended."""
_AFTER = 4
_ENTRIES = 6e8
"""Entries of tables looked at before the search ends with the bound that is proven so far: one or two seconds."""
_ROUNDING = 1e-12


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
