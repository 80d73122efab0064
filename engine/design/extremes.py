"""The largest x'Mx over a whole product of sites, found over the sites, never over the rows."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from ..arrays import Floats

__all__ = ["Largest", "largest_quadratic"]


_LEAVES = 20_000
"""Last pairs of sites looked at before the search ends with the bound that is proven so far."""
_ENTRIES = 4e9
"""Entries of their tables looked at, likewise."""
_STARTS = 8
"""First rows from which one site after the other is improved, to have something to prune with."""


@dataclass(frozen=True, slots=True)
class Largest:
    """The row found, its x'Mx, and what no row exceeds: the same number unless the search was cut short."""

    codes: tuple[int, ...]
    value: float
    bound: float


def largest_quadratic(matrix: Floats, sizes: tuple[int, ...]) -> Largest:
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
    search = _Search(own, pairs)
    search.run()
    codes = [0] * len(sizes)
    for place, site in enumerate(order):
        codes[site] = search.best[place]
    value = constant + search.value
    return Largest(tuple(codes), value, max(value, constant + search.bound))


@dataclass
class _Search:
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
            if self.leaves >= _LEAVES or self.entries >= _ENTRIES:
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
