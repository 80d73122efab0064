"""All differences of the compounds of a table, however many there are, and the farthest of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ..arrays import Floats, Ints
from ..domain.features import ProjectedFeatures, SiteFeatures
from ..errors import AssayPilotError
from .criteria import square_root
from .directions import refuse_incomparable

_SMALL = 1500
"""Tables up to so many rows are compared as a whole, block by block."""
_QUICK = 200
"""Of tables of more rows a quick look compares a few rows with all."""
_BLOCK = 512
_ENTRIES = 4_000_000
"""Distances held at once."""
_CHUNK = 4096
"""Rows whose bounds are evaluated together."""
_GROUPS = 2000
"""Rows that share their first substituents form a group; at most about so many groups."""
_STARTS = 24
_CLIMBS = 3
"""The first guess: from so many rows to the farthest row, and from there again."""
_ROUNDING = 1e-12


@dataclass(slots=True)
class _Best:
    """The farthest partner of each row found so far, and its squared distance."""

    partner: Ints
    distance: Floats

    def take(self, rows: Ints, partners: Ints, distances: Floats) -> None:
        """Note partners that are farther than those known."""
        farther = distances > self.distance[rows]
        self.partner[rows[farther]] = partners[farther]
        self.distance[rows[farther]] = distances[farther]

    def keys(self, count: int) -> tuple[Ints, Floats]:
        """Return the largest pairs found, each once, with their squared distances."""
        order = np.argsort(-self.distance, kind="stable")[: 2 * count + 2]
        order = order[self.distance[order] > -np.inf]
        first, second = np.minimum(order, self.partner[order]), np.maximum(order, self.partner[order])
        _, places = np.unique(first * len(self.distance) + second, return_index=True)
        places = np.sort(places)[:count]
        return np.column_stack([first, second])[places].astype(np.intp), self.distance[order[places]]


class Farthest:
    """Rows of a table among which the farthest pairs are found."""

    def __init__(self, table: ProjectedFeatures) -> None:
        self._table = table
        self._groups = _Prefixes.of(table) if table.n_rows > _SMALL else None

    def find(self, inverse: Floats, count: int = 1) -> tuple[Ints, Floats]:
        """Return pairs ``(m, 2)`` of positions and their (z_i - z_j)' inverse (z_i - z_j), largest first.

        The first is the largest of all pairs; the others are the farthest found for other rows. O(n^2 d) work at worst
        in O(n d) memory; bounds leave out what cannot be the farthest.
        """
        n = self._table.n_rows
        best = _Best(np.full(n, -1, dtype=np.intp), np.full(n, -np.inf))
        if n < 2:
            return np.zeros((0, 2), dtype=np.intp), np.zeros(0)
        u = self._table.coordinates() @ square_root(inverse)
        u -= u.mean(axis=0)
        lengths = np.einsum("ij,ij->i", u, u)
        if n <= _SMALL:
            everything = np.arange(n)
            for start in range(0, n, _BLOCK):
                _compare(u, lengths, everything[start : start + _BLOCK], everything, best)
        else:
            _guess(u, lengths, best, _STARTS)
            if self._groups is not None:
                self._groups.search(u, lengths, inverse, best)
            else:
                _by_radius(u, lengths, best)
        return _measured(u, best.keys(count)[0])

    def some(self, inverse: Floats, count: int = 1) -> tuple[Ints, Floats]:
        """Return distant pairs like ``find``; in a large table by climbing from a few rows: one may be missed."""
        n = self._table.n_rows
        if n <= _QUICK:
            return self.find(inverse, count)
        best = _Best(np.full(n, -1, dtype=np.intp), np.full(n, -np.inf))
        u = self._table.coordinates() @ square_root(inverse)
        u -= u.mean(axis=0)
        _guess(u, np.einsum("ij,ij->i", u, u), best, 2 * count)
        return _measured(u, best.keys(count)[0])


def _guess(u: Floats, lengths: Floats, best: _Best, starts: int) -> None:
    """Record distant pairs: from some rows to the farthest row, and from there again."""
    n = len(u)
    far = np.argsort(-lengths, kind="stable")[: starts // 2]
    rows = np.union1d(far, np.linspace(0, n - 1, starts - starts // 2).astype(np.intp))
    everything = np.arange(n)
    for _ in range(_CLIMBS):
        _compare(u, lengths, rows, everything, best)
        rows = np.unique(best.partner[rows])


def _measured(u: Floats, keys: Ints) -> tuple[Ints, Floats]:
    """Return the pairs and their squared distances, largest first.

    Differences first, so that near-equal rows keep digits.
    """
    gaps = u[keys[:, 0]] - u[keys[:, 1]]
    values = np.einsum("ij,ij->i", gaps, gaps)
    order = np.argsort(-values, kind="stable")
    return keys[order], values[order]


def _compare(u: Floats, lengths: Floats, rows: Ints, others: Ints, best: _Best) -> None:
    """Take note of the farthest of ``others`` for each of ``rows``, both ways."""
    place = np.empty(len(rows), dtype=np.intp)
    found = np.empty(len(rows))
    step = max(1, _ENTRIES // len(others))
    columns = u[others].T
    for start in range(0, len(rows), step):
        part = slice(start, start + step)
        squares = u[rows[part]] @ columns
        squares *= -2.0
        squares += lengths[others]
        place[part] = np.argmax(squares, axis=1)
        found[part] = squares[np.arange(len(squares)), place[part]]
    found += lengths[rows]
    partners = others[place]
    # A row is no pair with itself; it is its own farthest only when all others equal it.
    real = partners != rows
    best.take(rows[real], partners[real], found[real])
    if not real.all():
        alone = rows[~real]
        substitute = np.where(others[0] != alone, others[0], others[-1])
        real = substitute != alone
        alone, substitute = alone[real], substitute[real]
        difference = u[alone] - u[substitute]
        best.take(alone, substitute, np.einsum("ij,ij->i", difference, difference))


def _by_radius(u: Floats, lengths: Floats, best: _Best) -> None:
    """Compare rows in order of their distance from the centre while two of them can still be distant enough."""
    order = np.argsort(-lengths, kind="stable")
    u, lengths = u[order], lengths[order]
    radii = np.sqrt(lengths)
    found = _Best(np.full(len(u), -1, dtype=np.intp), np.full(len(u), -np.inf))
    everything = np.arange(len(u))
    farthest = float(best.distance.max())
    for start in range(0, len(u), _BLOCK):
        needed = np.sqrt(max(farthest, 0.0)) * (1.0 - _ROUNDING) - radii[start]
        stop = int(np.searchsorted(-radii, -needed, side="right"))
        if stop <= start:
            break
        _compare(u, lengths, everything[start : min(start + _BLOCK, stop)], everything[start:stop], found)
        farthest = max(farthest, float(found.distance[start : start + _BLOCK].max()))
    known = np.flatnonzero(found.partner >= 0)
    best.take(order[known], order[found.partner[known]], found.distance[known])


class _Prefixes:
    """Rows grouped by the substituents of their first sites, with a bound on every row's distance to every group.

    For integer codes (z_i - z_j)' S (z_i - z_j) = q_i + q_j - 2 sum over sites of h_i[n, code_jn]; the sum over the
    sites of the group is known, that over the others is at least the sum of the least h_i of each.
    """

    def __init__(self, table: ProjectedFeatures, features: SiteFeatures, order: list[int], sites: int) -> None:
        self._table, self._features = table, features
        columns = features.columns(table.rows)
        self._prefix, self._suffix = columns[:, order[:sites]], order[sites:]
        self._heads, self._group = np.unique(self._prefix, axis=0, return_inverse=True)
        self._group = self._group.ravel()
        self._order = np.argsort(self._group, kind="stable")
        self._starts = np.searchsorted(self._group[self._order], np.arange(len(self._heads) + 1))
        sizes = features.sizes
        first = np.concatenate([[1], 1 + np.cumsum(sizes)]).astype(np.intp)
        self._spans = [slice(int(first[site]), int(first[site + 1])) for site in self._suffix]
        # Only substituents that occur can be the least.
        present = np.zeros(features.n_columns, dtype=bool)
        present[np.unique(columns)] = True
        self._present = [np.arange(s.start, s.stop)[present[s]] for s in self._spans]

    @classmethod
    def of(cls, table: ProjectedFeatures) -> _Prefixes | None:
        """Return groups by as many sites as give a moderate number of them; None for other features."""
        features = table.features
        if not isinstance(features, SiteFeatures) or len(features.sizes) < 2:
            return None
        order = [int(s) for s in np.argsort([-size for size in features.sizes], kind="stable")]
        sites, groups = 1, features.sizes[order[0]]
        while sites < len(order) - 1 and groups * features.sizes[order[sites]] <= min(_GROUPS, table.n_rows // 20):
            groups *= features.sizes[order[sites]]
            sites += 1
        return cls(table, features, order, sites)

    def search(self, u: Floats, lengths: Floats, inverse: Floats, best: _Best) -> None:
        """Compare every row with every group that may hold a row farther away than the farthest pair known."""
        table, features = self._table, self._features
        metric = table.basis @ inverse @ table.basis.T
        own = table.quadratic(inverse)
        tallest = np.maximum.reduceat(own[self._order], self._starts[:-1])
        farthest = float(best.distance.max())
        for start in range(0, len(self._order), _CHUNK):
            rows = self._order[start : start + _CHUNK]
            codes = features.columns(table.rows[rows])
            products = metric[0] + metric[codes].sum(axis=1)
            free = products[:, 0].copy()
            for present in self._present:
                free += products[:, present].min(axis=1)
            # Groups before the chunk's first have met these rows already.
            groups = np.arange(int(self._group[rows[0]]), len(self._heads))
            bound = own[rows, None] + tallest[groups] - 2.0 * free[:, None]
            for site in range(self._heads.shape[1]):
                bound -= 2.0 * products[:, self._heads[groups, site]]
            possible = bound >= farthest * (1.0 - _ROUNDING)
            for place in np.flatnonzero(possible.any(axis=0)):
                group = groups[place]
                chosen = np.flatnonzero(possible[:, place] & (bound[:, place] >= farthest * (1.0 - _ROUNDING)))
                if len(chosen):
                    members = self._order[self._starts[group] : self._starts[group + 1]]
                    _compare(u, lengths, rows[chosen], members, best)
                    farthest = max(farthest, float(best.distance[rows[chosen]].max()))


_AVERAGED = 600
"""Rows whose pairs represent all in an average."""


class Pairs:
    """All differences z_i - z_j of the rows of a table, i < j; implied, never held."""

    def __init__(self, table: ProjectedFeatures, *, names: Sequence[str] | None = None) -> None:
        self.table = table
        self.n = table.n_rows * (table.n_rows - 1) // 2
        self.dimension = table.rank
        if self.n == 0:
            raise AssayPilotError("there is nothing to compare", mend="Name at least two compounds.")
        refuse_incomparable(table, None, names)
        self._farthest = Farthest(table)

    def find(self, inverse: Floats, count: int = 1) -> tuple[Ints, Floats]:
        """Return the farthest pair, exactly, and the farthest partners of other rows: ``(m, 2)`` positions, values."""
        return self._farthest.find(inverse, count)

    def some(self, inverse: Floats, count: int = 1) -> tuple[Ints, Floats]:
        """Return distant pairs, found without evaluating all."""
        return self._farthest.some(inverse, count)

    def average(self, inverse: Floats) -> Floats:
        """Return an average of y y' over all pairs of a few hundred evenly chosen rows."""
        n = self.table.n_rows
        chosen = np.arange(n) if n <= _AVERAGED else np.linspace(0, n - 1, _AVERAGED).astype(np.intp)
        z = self.table.coordinates(chosen)
        z = z - z.mean(axis=0)
        average: Floats = 2.0 * (z.T @ z) / (len(z) - 1)
        return average

    def vectors(self, keys: Ints) -> Floats:
        """Return the differences of the pairs."""
        return self.table.coordinates(keys[:, 0]) - self.table.coordinates(keys[:, 1])
