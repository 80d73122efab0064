"""Sets of compounds worth their money, from the cheapest up."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from ..arrays import Floats, Ints
from ..domain.features import DenseFeatures, ProjectedFeatures, span_basis
from ..errors import AssayPilotError
from ..models.ols import positive_inverse
from ..system.progress import Report
from .g import g_optimal
from .log_det import maximise_log_det

_GAP = 1e-2
"""How close to optimal the designs are from which compounds come."""
_TOLERANCE = 1e-3
_INDEPENDENT = 1e-8
"""A row whose squared length outside the span of the others is below this share of it is in their span."""
_BLOCK = 4096
"""Rows processed together while the cheapest are chosen."""
_DENSE = 4_000_000
"""Entries of rows up to which a design per money spent is looked for, too."""
_ALL = 150
"""Compounds up to which all are considered; of more, those of several optimal designs."""
_REPLICATES = (1.0, 4.0, 16.0)
_CHEAP = 1e-3
"""A measurement counts as costing at least this share of the dearest, lest free ones take everything."""
_AT_ONCE = 40
"""One of so many compounds goes or comes at a time."""


@dataclass(frozen=True, slots=True)
class Prices:
    """Prices of compounds and measurements, all in one unit of money."""

    compounds: Floats
    """``(n,)`` of making each candidate; 0 for one that is already made."""
    measurement: float = 0.0
    """Of one measurement of any compound."""

    def total(self, support: Ints, counts: Ints) -> float:
        """Return the cost of some measurements, with the making of their compounds."""
        return float(self.compounds[support].sum()) + self.measurement * float(counts.sum())


def cheapest_spanning(candidates: ProjectedFeatures, price: Floats, given: Ints | None = None) -> Ints:
    """Return candidates of the least total price that together with ``given`` span all, ascending; exact (a matroid).

    Greedy in the order of price, which is optimal for bases of a vector space. An infinite price forbids.
    AssayPilotError when what is allowed does not span.
    """
    d = candidates.rank
    basis = np.zeros((d, 0))
    if given is not None and len(given):
        left, sizes, _ = np.linalg.svd(candidates.coordinates(given).T, full_matrices=False)
        basis = left[:, sizes > math.sqrt(_INDEPENDENT) * sizes[0]]
    order = np.argsort(price, kind="stable")
    order = order[np.isfinite(price[order])]
    chosen: list[int] = []
    for start in range(0, len(order), _BLOCK):
        block = order[start : start + _BLOCK]
        x = candidates.coordinates(block)
        whole = np.einsum("ij,ij->i", x, x)
        rest = x - (x @ basis) @ basis.T
        while basis.shape[1] < d:
            outside = np.flatnonzero(np.einsum("ij,ij->i", rest, rest) > _INDEPENDENT * whole)
            if not len(outside):
                break
            new = rest[outside[0]] - basis @ (basis.T @ rest[outside[0]])
            new /= np.linalg.norm(new)
            basis = np.column_stack([basis, new])
            rest = rest - np.outer(rest @ new, new)
            rest[: outside[0] + 1] = 0.0
            chosen.append(int(block[outside[0]]))
        if basis.shape[1] == d:
            return np.sort(np.array(chosen, dtype=np.intp))
    raise AssayPilotError(
        f"the allowed compounds determine {basis.shape[1]} of {d} effects", mend="Allow more compounds."
    )


def independent(candidates: ProjectedFeatures, order: Ints) -> Ints:
    """Return the first of the positions, in their order, that span all: as many as the rank."""
    price = np.full(candidates.n_rows, math.inf)
    price[order] = np.arange(len(order))
    found = cheapest_spanning(candidates, price)
    return found[np.argsort(price[found])]


@dataclass(frozen=True, slots=True)
class Spread:
    """Compounds with weights, and what making them costs."""

    support: Ints
    weights: Floats
    price: float


class Paths:
    """Supports worth a look: from the cheapest up, a few compounds at a time."""

    def __init__(self, candidates: ProjectedFeatures, prices: Prices, low: Ints, cheapest: Ints) -> None:
        self.candidates = candidates
        self.prices = prices
        self.low = low
        self.cheapest = cheapest

    def supports(self, report: Report) -> list[Spread]:
        """Return those of the path, fewest compounds first."""
        report(0.0, "choosing compounds")
        pool = self.pool
        x = self.candidates.coordinates(pool)
        report(0.1, "adding compounds to the cheapest")
        found = [self.spread(self.cheapest, np.full(len(self.cheapest), 1.0 / len(self.cheapest)))]
        return sorted(found + self.up(pool, x), key=lambda one: (len(one.support), one.price))

    @cached_property
    def pool(self) -> Ints:
        """The compounds of optimal designs: of all, of those that are made, and per money spent."""
        allowed = np.arange(self.candidates.n_rows)
        if len(allowed) <= _ALL:
            return allowed
        parts = [self.cheapest, self.optimal(allowed, None)]
        cost = self.prices.compounds[allowed]
        free = allowed[cost == 0]
        if 0 < len(free) < len(allowed) and self.spans(free):
            parts.append(self.optimal(free, None))
        if cost.max() > cost.min() and len(allowed) * self.candidates.rank <= _DENSE:
            # Weights that share money instead of measurements: rows over the root of what one measurement of them
            # costs when the compound is measured once, or some times.
            for times in _REPLICATES:
                each = cost / times + self.prices.measurement
                parts.append(self.optimal(allowed, 1.0 / np.sqrt(np.maximum(each, _CHEAP * float(each.max())))))
        return np.unique(np.concatenate(parts))

    def spans(self, rows: Ints) -> bool:
        """Return whether these candidates estimate every effect."""
        features = self.candidates.features
        return bool(span_basis(features, self.candidates.rows[rows]).shape[1] == self.candidates.rank)

    def optimal(self, rows: Ints, scale: Floats | None) -> Ints:
        """Return the candidates of an optimal design of some of them, their rows scaled where that is wanted."""
        if scale is None:
            part = self.candidates.onto(self.candidates.rows[rows])
        else:
            x = self.candidates.coordinates(rows) * scale[:, None]
            part = ProjectedFeatures(DenseFeatures(x), None, np.eye(self.candidates.rank))
        return rows[g_optimal(part, gap=_GAP).support]

    def spread(self, places: Ints, w: Floats) -> Spread:
        """Return compounds with their weights and their price."""
        return Spread(places, w, float(self.prices.compounds[places].sum()))

    def up(self, pool: Ints, x: Floats) -> list[Spread]:
        """From the cheapest that span, most gain for its price first."""
        price = self.prices.compounds[pool]
        kept = np.flatnonzero(np.isin(pool, self.cheapest) | (price == 0))
        w = np.full(len(kept), 1.0 / len(kept))
        found = []
        while True:
            w, _ = maximise_log_det(x[kept], w, tolerance=_TOLERANCE)
            used = (w > 0) | (self.low[pool[kept]] > 0)
            found.append(self.spread(pool[kept[used]], w[used]))
            others = np.setdiff1d(np.arange(len(pool)), kept)
            if not len(others):
                return found
            inverse = positive_inverse((x[kept] * w[:, None]).T @ x[kept])
            gain = np.log(np.einsum("ij,ij->i", x[others] @ inverse, x[others]) / x.shape[1])
            if gain.max() <= _TOLERANCE:
                return found
            best = np.argsort(-gain / price[others], kind="stable")[: max(1, len(kept) // _AT_ONCE)]
            best = best[gain[best] > 0]
            kept = np.concatenate([kept, others[best]])
            w = np.concatenate([w, np.full(len(best), 1.0 / len(kept))])
            w /= w.sum()
            order = np.argsort(kept)
            kept, w = kept[order], w[order]
