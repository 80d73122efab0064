"""Confounded effects of a table: substituents that occur once, and sites that change only together."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from ..domain.library import Site

Codes = NDArray[np.integer]


@dataclass(frozen=True, slots=True)
class Confounded:
    """Two sites whose contributions are not all separable."""

    first: str
    second: str
    groups: int
    """Groups of substituents that never occur with those of another group; their contributions are not comparable."""

    def as_json(self) -> dict[str, str | int]:
        """For the command line."""
        return {"first": self.first, "second": self.second, "groups": self.groups}


def confounded_sites(sites: Sequence[Site], codes: Codes) -> tuple[Confounded, ...]:
    """Return pairs of sites that fall into groups; ``codes`` is ``(n_compounds, n_sites)``.

    Substituents are the nodes of a graph, each compound joins those it carries at the two sites; in a connected graph
    all differences can be estimated, each further component costs one rank (Weeks and Williams 1964).
    """
    found = []
    for a, b in combinations(range(len(sites)), 2):
        groups = _components(codes[:, a], codes[:, b])
        if groups > 1:
            found.append(Confounded(sites[a].name, sites[b].name, groups))
    return tuple(found)


def seen_once(sites: Sequence[Site], codes: Codes) -> dict[str, tuple[str, ...]]:
    """Return the substituents that exactly one of the compounds carries, by site; sites without any are left out."""
    out = {}
    for position, site in enumerate(sites):
        counts = np.bincount(codes[:, position], minlength=len(site.substituents))
        labels = tuple(label for label, count in zip(site.substituents, counts, strict=True) if count == 1)
        if labels:
            out[site.name] = labels
    return out


def _components(left: Codes, right: Codes) -> int:
    """Return how many components the graph of two columns has."""
    if not len(left):
        return 0
    # Only this needs it, and a new campaign should not wait for it.
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    _, a = np.unique(left, return_inverse=True)
    _, b = np.unique(right, return_inverse=True)
    size = int(a.max()) + int(b.max()) + 2
    graph = coo_array((np.ones(len(a)), (a, b + int(a.max()) + 1)), shape=(size, size))
    return int(connected_components(graph, directed=False)[0])
