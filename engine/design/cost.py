"""Designs for a budget: making and measuring compounds, as a small frontier of cost against value."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from ..arrays import Floats, Ints
from ..domain.features import ProjectedFeatures
from ..errors import AssayPilotError
from ..system.progress import Report, silent
from .apportionment import limits
from .budget_supports import Paths, Prices, Spread, cheapest_spanning
from .criteria import inverse_information
from .directions import Rows, Worst
from .rounding import Method, Rounded, round_design

__all__ = ["Priced", "Prices", "cheapest_spanning", "cost_frontier"]

_EPSILON = 1e-9
"""Money below this share of the budget is rounding."""
_ONCE_EACH = 0.8
"""Measurements per compound below which a support is not worth a look: rounding would leave too many out."""
_FREE = 2000
"""Compounds that are made already, considered in every purchase at most."""
_LOOKED_AT = 3
"""Supports that are rounded for each amount of money."""
_POINTS = 8
"""Amounts of money for which a purchase is looked for."""
_PROBED = 20
"""Directions, in multiples of the rank, that rank the supports: the largest under even weights."""
_FEW = 4
"""Up to so many measurements, in multiples of the rank, exchanges are tried in all of them; of more in the best."""
_AGAIN = 3
"""How often money that rounding leaves over is spent again."""


@dataclass(frozen=True, slots=True)
class Priced:
    """One point of a frontier: what is made and measured, its cost and its precision."""

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
    least: Ints | None = None,
    most: int | None = None,
    ratio: float = 0.0,
    report: Report = silent,
) -> tuple[Priced, ...]:
    """Return what at most ``budget`` buys, from the cheapest: each point costs more and is more precise than the last.

    ``measurements``: the most that are taken, needed when a measurement costs nothing. The variance is that of
    ``directions`` (XY), else of the candidates (G). ``least``, ``most`` and ``ratio`` as in
    ``round_design``. The points are the best found, not proven to be the best: supports from the cheapest up, by the
    gain of log det V for its price; then whole counts.

    AssayPilotError when the budget is below the cheapest counts that estimate every effect, and states their cost.
    """
    _check(candidates, prices, budget, measurements)
    room = math.inf if prices.measurement == 0 else budget / prices.measurement
    n = int(min(room * (1 + _EPSILON), math.inf if measurements is None else measurements))
    if most is not None:
        n = min(n, min(most, n) * candidates.n_rows)
    low, high = limits(candidates.n_rows, max(n, 1), least, most)
    first = _cheapest(candidates, prices, low)
    if first.cost > budget * (1 + _EPSILON) or int(first.counts.sum()) > n:
        short = "" if first.cost > budget * (1 + _EPSILON) else f" and {int(first.counts.sum()):,} measurements"
        raise AssayPilotError(
            f"{budget:g} is too little to estimate {candidates.rank} effects",
            mend=f"The cheapest way takes {first.cost:g}{short}.",
        )
    worst = directions if directions is not None else Rows(candidates)
    paths = Paths(candidates, prices, low, first.support)
    path = paths.supports(report)
    free = np.flatnonzero(prices.compounds == 0)[:_FREE].astype(np.intp)
    pool = np.union1d(paths.pool, free)
    even = inverse_information(candidates.coordinates(pool), np.ones(len(pool)))
    keys = worst.find(np.eye(candidates.rank) if even is None else even, _PROBED * candidates.rank)[0]
    probe = worst.vectors(keys)
    found = []
    lowest = max(first.cost, budget * _EPSILON)
    for step, level in enumerate(np.geomspace(lowest, budget, _POINTS) if budget > lowest else [budget]):
        report(0.3 + 0.7 * step / _POINTS, f"what {level:.4g} buys")
        bought = _Purchase(candidates, prices, float(level), n, worst, low, high, ratio, probe, free)
        options = bought.promising(path)
        if any(bought.affordable(one.price, one.support) > _FEW * candidates.rank for one in options):
            # With many measurements, rough rounding shows which one is worth the exchanges.
            options = sorted(options, key=bought.roughly)[:1]
        refined = [bought.counts(one) for one in options]
        points_here = [point for point in refined if point is not None]
        found += sorted(points_here, key=lambda one: (one.variance, one.cost))[:1]
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


def _cheapest(candidates: ProjectedFeatures, prices: Prices, low: Ints) -> Priced:
    """Return the required measurements and the cheapest others that make every effect estimable."""
    required = np.flatnonzero(low).astype(np.intp)
    more = cheapest_spanning(candidates, prices.compounds, required)
    support = np.concatenate([required, more])
    counts = np.concatenate([low[required], np.ones(len(more), dtype=np.intp)])
    return Priced(support, counts, prices.total(support, counts), math.inf, int((prices.compounds[support] > 0).sum()))


@dataclass(frozen=True, slots=True)
class _Purchase:
    """The design that one amount of money buys."""

    candidates: ProjectedFeatures
    prices: Prices
    money: float
    most_measurements: int
    worst: Worst
    low: Ints
    high: int
    ratio: float
    probe: Floats
    """Directions that are large under even weights, ``(m, d)``: they bound how good a support is."""
    free: Ints
    """Compounds that are made already, which any purchase may measure."""

    def affordable(self, price: float, support: Ints) -> int:
        """Return how many measurements the money left buys, within the limits."""
        left = self.money * (1 + _EPSILON) - price
        fit = self.high * len(support)
        if left < 0:
            return 0
        bought = self.most_measurements if self.prices.measurement == 0 else int(left / self.prices.measurement)
        return min(bought, self.most_measurements, fit)

    def promising(self, path: list[Spread]) -> list[Spread]:
        """Return the few supports of a path that promise the least variance for the money."""
        hopes = []
        for place, one in enumerate(path):
            n = self.affordable(one.price, one.support)
            if n < max(len(one.support) * _ONCE_EACH, self.candidates.rank, int(self.low.sum())):
                continue
            x = self.candidates.coordinates(one.support)
            inverse = inverse_information(x, n * one.weights, None, self.ratio)
            if inverse is not None:
                hopes.append((float(np.einsum("ij,ij->i", self.probe @ inverse, self.probe).max()), place))
        return [path[place] for _, place in sorted(hopes)[:_LOOKED_AT]]

    def roughly(self, one: Spread) -> float:
        """Return the variance of a support when its weights are rounded as they are; inf when that cannot be."""
        n = self.affordable(one.price, one.support)
        rounded = self.rounded(one, n, "apportion")
        return math.inf if rounded is None else rounded.value / n

    def rounded(self, one: Spread, n: int, method: Method) -> Rounded | None:
        """Return whole measurements of a support and what is made already; None when they cannot be."""
        try:
            return round_design(
                one,
                self.candidates,
                n,
                method=method,
                directions=self.worst,
                least=self.low,
                most=self.high,
                pool=np.union1d(one.support, self.free),
                ratio=self.ratio,
            )
        except AssayPilotError:
            return None

    def counts(self, one: Spread) -> Priced | None:
        """Return whole measurements on a support; what compounds they leave unused pays for more of them."""
        n, rounded = self.affordable(one.price, one.support), None
        for _ in range(_AGAIN):
            new = self.rounded(one, n, "exchange")
            if new is None:
                break
            rounded = new
            one = Spread(
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
        made = int((self.prices.compounds[rounded.support] > 0).sum())
        cost = self.prices.total(rounded.support, rounded.counts)
        return Priced(rounded.support, rounded.counts, cost, rounded.value / int(rounded.counts.sum()), made)


def _frontier(points: list[Priced]) -> tuple[Priced, ...]:
    """Return the points that no cheaper one beats, cheapest first."""
    kept: list[Priced] = []
    for point in sorted(points, key=lambda one: (one.cost, one.variance)):
        if not kept or point.variance < kept[-1].variance * (1 - _EPSILON):
            kept.append(point)
    return tuple(kept)
