"""What a budget buys: making compounds and measuring them, as a small frontier of cost against value."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from assaypilot.engine.design.exchange import Means, Worst, inverse_information
from assaypilot.engine.design.newton import maximise_log_det
from assaypilot.engine.design.rounding import limits, round_design
from assaypilot.engine.design.solver import g_optimal
from assaypilot.engine.errors import AssayPilotError
from assaypilot.engine.features import DenseFeatures, ProjectedFeatures, span_basis
from assaypilot.engine.progress import Report, silent

__all__ = ["Priced", "Prices", "cheapest_spanning", "cost_frontier"]

Floats = NDArray[np.float64]
Ints = NDArray[np.intp]

_GAP = 1e-2
"""How close to optimal the designs are from which compounds are left out."""
_TOLERANCE = 1e-3
_INDEPENDENT = 1e-8
"""A row whose squared length outside the span of the others is below this share of it is in their span."""
_EPSILON = 1e-9
"""Money below this share of the budget is rounding."""
_BLOCK = 4096
"""Rows looked at together while the cheapest are chosen."""
_DENSE = 4_000_000
"""Entries of rows up to which a design per money spent is looked for, too."""
_ALL = 150
"""Compounds up to which all are looked at; of more, those of several optimal designs."""
_REPLICATES = (1.0, 4.0, 16.0)
_CHEAP = 1e-3
"""A measurement counts as costing at least this share of the dearest, lest free ones take everything."""
_AT_ONCE = 40
"""One of so many compounds goes or comes at a time."""
_ONCE_EACH = 0.8
"""Measurements per compound below which a support is not worth a look: rounding would leave too many out."""
_LOOKED_AT = 2
"""Supports that are rounded for each amount of money."""
_AGAIN = 3
"""How often money that rounding leaves over is spent again."""


@dataclass(frozen=True, slots=True)
class Prices:
    """What compounds and measurements cost, all in one unit of money."""

    compounds: Floats
    """``(n,)`` of making each candidate; 0 for one that is already made."""
    measurement: float = 0.0
    """Of one measurement of any compound."""

    def total(self, support: Ints, counts: Ints) -> float:
        """The cost of some measurements, with the making of their compounds."""
        return float(self.compounds[support].sum()) + self.measurement * float(counts.sum())


@dataclass(frozen=True, slots=True)
class Priced:
    """One point of a frontier: what is made and measured, what it costs, and what it tells."""

    support: Ints
    counts: Ints
    cost: float
    variance: float
    """The largest variance over what is wanted, in units of sigma^2 (a design's value over its measurements)."""
    made: int
    """How many compounds have to be made for it: those with a price."""

    @property
    def measurements(self) -> int:
        """How many measurements."""
        return int(self.counts.sum())


def cost_frontier(
    candidates: ProjectedFeatures,
    prices: Prices,
    budget: float,
    *,
    measurements: int | None = None,
    directions: Worst | None = None,
    targets: ProjectedFeatures | None = None,
    least: ArrayLike | None = None,
    most: ArrayLike | None = None,
    ratio: float = 0.0,
    points: int = 8,
    report: Report = silent,
) -> tuple[Priced, ...]:
    """What can be had for at most ``budget``, from the cheapest: each point costs more than the one before, tells more.

    ``measurements``: the most that are taken, needed when a measurement costs nothing. The variance is that of
    ``directions`` (XY), else of the ``targets``, else of the candidates (G). ``least``, ``most`` and ``ratio`` as in
    ``round_design``. The points are the best found, not proven to be the best: supports from an optimal design down,
    compound by compound with the least loss of log det V for its price, and from the cheapest up; then whole counts.

    AssayPilotError when the budget is below the cheapest counts that estimate every effect, and says what those cost.
    """
    _check(candidates, prices, budget, measurements)
    room = math.inf if prices.measurement == 0 else budget / prices.measurement
    n = int(min(room * (1 + _EPSILON), math.inf if measurements is None else measurements))
    if most is not None:
        n = min(n, int(np.minimum(np.broadcast_to(np.asarray(most), candidates.n_rows), n).sum()))
    low, high = limits(candidates.n_rows, max(n, 1), least, most)
    first = _cheapest(candidates, prices, low, high)
    if first.cost > budget * (1 + _EPSILON) or int(first.counts.sum()) > n:
        short = "" if first.cost > budget * (1 + _EPSILON) else f" and {int(first.counts.sum()):,} measurements"
        raise AssayPilotError(
            f"{budget:g} is too little to estimate {candidates.rank} effects",
            mend=f"The cheapest way takes {first.cost:g}{short}.",
        )
    worst = directions if directions is not None else Means(candidates if targets is None else targets)
    path = _Paths(candidates, prices, low, high, first.support).supports(report)
    free = np.flatnonzero((prices.compounds == 0) & (high > 0))[:_BLOCK].astype(np.intp)
    found = []
    lowest = max(first.cost, budget * _EPSILON)
    for step, level in enumerate(np.geomspace(lowest, budget, points) if budget > lowest else [budget]):
        report(0.3 + 0.7 * step / points, f"what {level:.4g} buys")
        bought = _Purchase(candidates, prices, float(level), n, worst, low, high, ratio, free)
        options = [point for point in map(bought.counts, bought.promising(path)) if point is not None]
        found += sorted(options, key=lambda one: (one.variance, one.cost))[:1]
    report(1.0, "frontier ready")
    if not found:
        raise AssayPilotError(
            f"no way was found to spend {budget:g} within these limits", mend="Allow more per compound, or more money."
        )
    return _frontier(found)


def _check(candidates: ProjectedFeatures, prices: Prices, budget: float, measurements: int | None) -> None:
    cost = prices.compounds
    if cost.shape != (candidates.n_rows,) or not np.isfinite(cost).all() or (cost < 0).any():
        raise AssayPilotError(
            "every compound needs a price that is a number of 0 or more", mend="Write 0 for compounds that are made."
        )
    if not (math.isfinite(prices.measurement) and prices.measurement >= 0):
        raise AssayPilotError("the price of a measurement must be a number of 0 or more", mend="For example 1.")
    if not (math.isfinite(budget) and budget >= 0):
        raise AssayPilotError(f"the budget must be a number of 0 or more, got {budget:g}", mend="For example 5000.")
    if prices.measurement == 0 and measurements is None:
        raise AssayPilotError(
            "measurements cost nothing here, so the budget does not limit them", mend="Say how many are planned."
        )


def _cheapest(candidates: ProjectedFeatures, prices: Prices, low: Ints, high: Ints) -> Priced:
    """The required measurements and the cheapest others that make every effect estimable."""
    required = np.flatnonzero(low).astype(np.intp)
    more = cheapest_spanning(candidates, np.where(high > 0, prices.compounds, math.inf), required)
    support = np.concatenate([required, more])
    counts = np.concatenate([low[required], np.ones(len(more), dtype=np.intp)])
    return Priced(support, counts, prices.total(support, counts), math.inf, int((prices.compounds[support] > 0).sum()))


def cheapest_spanning(candidates: ProjectedFeatures, price: Floats, given: Ints | None = None) -> Ints:
    """Candidates of the least total price that together with ``given`` span all, ascending; exact (a matroid).

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
        f"the compounds that are not forbidden tell {basis.shape[1]} of {d} effects", mend="Allow more compounds."
    )


@dataclass(frozen=True, slots=True)
class _Spread:
    """Compounds with weights, and what making them costs."""

    support: Ints
    weights: Floats
    price: float


class _Paths:
    """Supports worth a look: from an optimal design down, and from the cheapest up, one compound at a time."""

    def __init__(self, candidates: ProjectedFeatures, prices: Prices, low: Ints, high: Ints, cheapest: Ints) -> None:
        self.candidates = candidates
        self.prices = prices
        self.low = low
        self.high = high
        self.cheapest = cheapest

    def supports(self, report: Report) -> list[_Spread]:
        """All of both paths, fewest compounds first."""
        report(0.0, "choosing compounds")
        pool = self.pool()
        x = self.candidates.coordinates(pool)
        report(0.1, "leaving compounds out")
        found = self.down(pool, x)
        report(0.2, "adding compounds to the cheapest")
        found += self.up(pool, x)
        found.append(self.spread(self.cheapest, np.full(len(self.cheapest), 1.0 / len(self.cheapest))))
        return sorted(found, key=lambda one: (len(one.support), one.price))

    def pool(self) -> Ints:
        """The compounds of optimal designs: of all, of those that are made, and per money spent."""
        allowed = np.flatnonzero(self.high > 0).astype(np.intp)
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
        features = self.candidates.features
        return bool(span_basis(features, self.candidates.rows[rows]).shape[1] == self.candidates.rank)

    def optimal(self, rows: Ints, scale: Floats | None) -> Ints:
        if scale is None:
            part = self.candidates.onto(self.candidates.rows[rows])
        else:
            x = self.candidates.coordinates(rows) * scale[:, None]
            part = ProjectedFeatures(DenseFeatures(x), None, np.eye(self.candidates.rank))
        return rows[g_optimal(part, gap=_GAP).support]

    def spread(self, places: Ints, w: Floats) -> _Spread:
        return _Spread(places, w, float(self.prices.compounds[places].sum()))

    def down(self, pool: Ints, x: Floats) -> list[_Spread]:
        """From all of the pool, least loss for its price first."""
        price = self.prices.compounds[pool]
        kept = np.arange(len(pool))
        w, _ = maximise_log_det(x, np.full(len(pool), 1.0 / len(pool)), tolerance=_TOLERANCE)
        found = []
        while True:
            used = (w > 0) | (self.low[pool[kept]] > 0)
            kept, w = kept[used], w[used]
            found.append(self.spread(pool[kept], w))
            inverse = np.linalg.inv((x[kept] * w[:, None]).T @ x[kept])
            share = w * np.einsum("ij,ij->i", x[kept] @ inverse, x[kept])
            may_go = (price[kept] > 0) & (self.low[pool[kept]] == 0) & (share < 1.0 - _TOLERANCE)
            if not may_go.any():
                return found
            loss = np.where(
                may_go, -np.log1p(-np.minimum(share, 1.0 - 1e-12)) / np.maximum(price[kept], 1e-300), math.inf
            )
            gone = np.argsort(loss, kind="stable")[: max(1, len(kept) // _AT_ONCE)]
            left = np.setdiff1d(np.arange(len(kept)), gone[may_go[gone]])
            try:
                w, _ = maximise_log_det(x[kept[left]], w[left] / w[left].sum(), tolerance=_TOLERANCE)
            except np.linalg.LinAlgError:
                return found
            kept = kept[left]

    def up(self, pool: Ints, x: Floats) -> list[_Spread]:
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
            inverse = np.linalg.inv((x[kept] * w[:, None]).T @ x[kept])
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


@dataclass(frozen=True, slots=True)
class _Purchase:
    """What one amount of money buys."""

    candidates: ProjectedFeatures
    prices: Prices
    money: float
    most_measurements: int
    worst: Worst
    low: Ints
    high: Ints
    ratio: float
    free: Ints
    """Compounds that are made already, which any purchase may measure."""

    def affordable(self, price: float, support: Ints) -> int:
        """How many measurements the money left buys, within the limits."""
        left = self.money * (1 + _EPSILON) - price
        fit = int(self.high[support].sum())
        if left < 0:
            return 0
        bought = self.most_measurements if self.prices.measurement == 0 else int(left / self.prices.measurement)
        return min(bought, self.most_measurements, fit)

    def promising(self, path: list[_Spread]) -> list[_Spread]:
        """The few supports of a path that promise the least variance for the money."""
        hopes = []
        for place, one in enumerate(path):
            n = self.affordable(one.price, one.support)
            if n < max(len(one.support) * _ONCE_EACH, self.candidates.rank, int(self.low.sum())):
                continue
            x = self.candidates.coordinates(one.support)
            inverse = inverse_information(x, n * one.weights, None, self.ratio)
            if inverse is not None:
                hopes.append((float(self.worst.find(inverse)[1][0]), place))
        return [path[place] for _, place in sorted(hopes)[:_LOOKED_AT]]

    def counts(self, one: _Spread) -> Priced | None:
        """Whole measurements on a support; what compounds they leave unused pays for more of them."""
        n, rounded = self.affordable(one.price, one.support), None
        for _ in range(_AGAIN):
            try:
                new = round_design(
                    one,
                    self.candidates,
                    n,
                    method="exchange",
                    directions=self.worst,
                    least=self.low,
                    most=self.high,
                    pool=np.union1d(one.support, self.free),
                    ratio=self.ratio,
                )
            except AssayPilotError:
                break
            rounded = new
            one = _Spread(
                rounded.support,
                rounded.counts / rounded.counts.sum(),
                float(self.prices.compounds[rounded.support].sum()),
            )
            more = self.affordable(one.price, one.support)
            if more <= n:
                break
            n = more
        if rounded is None:
            return None
        return Priced(
            rounded.support,
            rounded.counts,
            self.prices.total(rounded.support, rounded.counts),
            float(rounded.value) / int(rounded.counts.sum()),
            int((self.prices.compounds[rounded.support] > 0).sum()),
        )


def _frontier(points: list[Priced]) -> tuple[Priced, ...]:
    """The points that no cheaper one beats, cheapest first."""
    kept: list[Priced] = []
    for point in sorted(points, key=lambda one: (one.cost, one.variance)):
        if not kept or point.variance < kept[-1].variance * (1 - _EPSILON):
            kept.append(point)
    return tuple(kept)
