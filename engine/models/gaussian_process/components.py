"""The parts of the series model: effects of sites and of pairs of them, and deviations that similar compounds share.

Effects are tables with one entry per substituent of a site, or per pair of substituents of two sites: a compound's
value is a sum of look-ups. The covariance of shared deviations is a product of look-ups. So nothing here has one row
per pair of compounds.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from ...arrays import Floats, Ints

_MOST_PAIRS = 10
"""Pairs of sites with a variance of their own; with more of them, all share one."""
_JITTER = 1e-8
_PRODUCTS = 16
"""Products of site tables that a draw of shared deviations is the sum of: enough for nearly normal tails."""
_ENTRIES = 4_000_000
"""Covariances of shared deviations at a time."""


@dataclass(frozen=True, slots=True)
class Component:
    """One table of effects: of a site, or of a pair of sites."""

    sites: tuple[int, ...]
    similar: bool
    """Whether similar substituents of a site have similar effects; else, as for pairs, all effects are independent."""
    variance: int
    """Position of its variance among the variances."""


class Components:
    """The tables of effects of a series and their covariances.

    ``sizes``: substituents per site. ``similarity``: per site a positive semidefinite ``(l, l)`` matrix with ones on
    the diagonal, or None where structures are unknown.
    """

    def __init__(self, sizes: Sequence[int], similarity: Sequence[Floats | None] | None = None) -> None:
        self.sizes = tuple(int(size) for size in sizes)
        self._similarity = tuple(similarity) if similarity is not None else (None,) * len(self.sizes)
        active = [site for site, size in enumerate(self.sizes) if size > 1]
        found: list[tuple[tuple[int, ...], bool]] = []
        for site in active:
            found.append(((site,), False))
            if self._similarity[site] is not None:
                found.append(((site,), True))
        # With two sites, a pair is a compound: its own deviation.
        pairs = list(combinations(active, 2)) if len(active) > 2 else []
        found += [(pair, False) for pair in pairs]
        shared = len(pairs) > _MOST_PAIRS
        position: dict[tuple[object, bool], int] = {}
        components = []
        for sites, similar in found:
            key = ("pairs" if shared and len(sites) == 2 else sites, similar)
            components.append(Component(sites, similar, position.setdefault(key, len(position))))
        self.components = tuple(components)
        self.shared: int | None = None
        """Position of the variance of deviations that compounds with similar substituents at all sites share."""
        if len(active) > 1 and any(self._similarity[site] is not None for site in active):
            self.shared = len(position)
        self._active = active
        self.n_variances = len(position) + (self.shared is not None)
        self._roots: dict[int, Floats] = {}

    def orders(self) -> Ints:
        """Return 1 for each variance of a site, 2 for each of a pair, 0 for shared deviations, ``(n_variances,)``."""
        orders = np.zeros(self.n_variances, dtype=np.intp)
        for component in self.components:
            orders[component.variance] = len(component.sites)
        return orders

    def covariances(self, codes: NDArray[np.integer]) -> list[Floats]:
        """Return the covariance between rows ``(n, n)`` for unit variance, one per variance."""
        same = [codes[:, site][:, None] == codes[:, site] for site in range(len(self.sizes))]
        like = [
            None if matrix is None else matrix[np.ix_(codes[:, site], codes[:, site])]
            for site, matrix in enumerate(self._similarity)
        ]
        out: list[Floats | None] = [None] * self.n_variances
        for component in self.components:
            first, *others = component.sites
            if component.similar:
                matrix: Floats = np.asarray(like[first])
            else:
                equal = same[first]
                for site in others:
                    equal = equal & same[site]
                matrix = equal.astype(np.float64)
            before = out[component.variance]
            out[component.variance] = matrix if before is None else before + matrix
        if self.shared is not None:
            out[self.shared] = self._similarities(codes, codes)
        return [matrix for matrix in out if matrix is not None]

    def entries(self, component: Component, codes: NDArray[np.integer]) -> Ints:
        """Return each row's entry in the table of a component, ``(n,)``."""
        entry: Ints = codes[:, component.sites[0]].astype(np.intp)
        for site in component.sites[1:]:
            entry = entry * self.sizes[site] + codes[:, site]
        return entry

    def n_entries(self, component: Component) -> int:
        """Return how many entries the table of a component has."""
        return int(np.prod([self.sizes[site] for site in component.sites]))

    def draw(self, component: Component, n_draws: int, rng: np.random.Generator) -> Floats:
        """Draw tables of a component at unit variance, ``(n_entries, n_draws)``."""
        table = rng.standard_normal((self.n_entries(component), n_draws))
        return self._along(component, table, root=True) if component.similar else table

    def spread(self, component: Component, entries: Ints, weights: Floats) -> Floats:
        """Return the covariance of a table at unit variance with weighted rows, ``(n_entries, m)``.

        ``entries``: those of the rows ``(n,)``; ``weights``: ``(n, m)``.
        """
        size = self.n_entries(component)
        table = np.empty((size, weights.shape[1]))
        for column in range(weights.shape[1]):
            table[:, column] = np.bincount(entries, weights[:, column], size)
        return self._along(component, table, root=False) if component.similar else table

    def draw_shared(self, codes: NDArray[np.integer], n_draws: int, rng: np.random.Generator) -> Floats:
        """Draw shared deviations of compounds at unit variance, ``(K, n_draws)``.

        A product of independent normal tables, one per site, has the product of their covariances; the sum of some
        such products is nearly normal.
        """
        total: Floats = np.zeros((len(codes), n_draws))
        for _ in range(_PRODUCTS):
            product: Floats = np.ones((len(codes), n_draws))
            for site in self._active:
                table = rng.standard_normal((self.sizes[site], n_draws))
                if self._similarity[site] is not None:
                    table = self._root(site) @ table
                product *= table[codes[:, site]]
            total += product
        return np.asarray(total / np.sqrt(_PRODUCTS))

    def spread_shared(self, codes: NDArray[np.integer], of: NDArray[np.integer], weights: Floats) -> Floats:
        """Return the covariance of shared deviations of compounds with weighted rows, ``(K, m)``.

        ``codes``: ``(K, n_sites)``; ``of``: those of the rows ``(n, n_sites)``; ``weights``: ``(n, m)``.
        """
        step = max(1, _ENTRIES // max(len(of), 1))
        parts = [self._similarities(codes[start : start + step], of) @ weights for start in range(0, len(codes), step)]
        return np.concatenate(parts) if parts else np.zeros((0, weights.shape[1]))

    def _similarities(self, codes: NDArray[np.integer], others: NDArray[np.integer]) -> Floats:
        """Return the similarity of compounds: the product over sites of that of their substituents."""
        product: Floats = np.ones((len(codes), len(others)))
        for site in self._active:
            matrix = self._similarity[site]
            if matrix is None:
                product *= codes[:, site][:, None] == others[:, site]
            else:
                product *= matrix[:, others[:, site]][codes[:, site]]
        return product

    def _along(self, component: Component, table: Floats, *, root: bool) -> Floats:
        """Multiply the table of a site by the similarity of its substituents, or by its root."""
        (site,) = component.sites
        return (self._root(site) if root else np.asarray(self._similarity[site])) @ table

    def _root(self, site: int) -> Floats:
        if site not in self._roots:
            matrix = np.asarray(self._similarity[site])
            values, vectors = np.linalg.eigh(matrix)
            self._roots[site] = vectors * np.sqrt(np.maximum(values, _JITTER))
        return self._roots[site]
