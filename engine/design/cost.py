"""What a budget buys: making compounds and measuring them, as a small frontier of cost against value.

Counts within a budget are made better: a measurement or a whole compound exchanged for another that is affordable.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from ..arrays import Floats, Ints
from ..domain.features import ProjectedFeatures
from ..errors import AssayPilotError
from ..system.progress import Report, silent
from .apportionment import limits
from .budget_supports import Paths, Prices, Spread, cheapest_spanning
from .criteria import inverse_information, worth_of
from .directions import Rows, Worst
from .exchange import Bounds
from .rounding import Method, Rounded, round_design

__all__ = ["Priced", "Prices", "bargained", "cheapest_spanning", "cost_frontier"]


_GAIN = 1e-9
_KEPT = 4
"""Directions that are looked at first, in multiples of the rank."""
_TRIED = 24
"""Exchanges of each kind whose value is computed, those of largest log det."""
_EPSILON = 1e-9
"""Money below this share of the budget is rounding."""
_ONCE_EACH = 0.8
"""Measurements per compound below which a support is not worth a look: rounding would leave too many out."""
_FREE = 2000
"""Compounds that are made already, considered in every purchase at most."""
_LOOKED_AT = 3
"""Supports that are rounded for each amount of money."""
_EXCHANGES = 30
_POINTS = 8
"""Amounts of money for which a purchase is looked for."""
_HOPEFUL = 8
"""Supports of most promise for which all directions are looked at."""
_PROBED = 20
"""Directions, in multiples of the rank, that tell which supports those are: the largest under even weights."""
_FEW = 4
"""Up to so many measurements, in multiples of the rank, exchanges are tried in all of them; of more in the best."""
_AGAIN = 3
"""How often money that rounding leaves over is spent again."""


def bargained(
    x: Floats,
    counts: Ints,
    price: Floats,
    each: float,
    money: float,
    most: int,
    directions: Worst,
    bounds: Bounds,
    *,
    ratio: float = 0.0,
) -> tuple[Ints, float]:
    """Counts that cost at most ``money``, no worse than those given, and their largest y'V^-1 y; inf when singular.

    ``price`` ``(m,)`` is paid once for a row that is measured at all, ``each`` per measurement, of which there are at
    most ``most``. Three kinds of exchange are tried while one of them gains: one measurement goes to another row, all
    measurements of a row go to another, one measurement more is taken. The most telling by log det are computed.
    """
    counts = counts.copy()
    inverse = inverse_information(x, counts, None, ratio)
    if inverse is None:
        return counts, math.inf
    keys, values = directions.find(inverse, _KEPT * x.shape[1])
    kept, value = directions.vectors(keys), float(values[0])
    for _ in range(_EXCHANGES):
        best = None
        for new in _affordable(x, counts, price, each, money, most, bounds, ratio, inverse):
            after = inverse_information(x, new, None, ratio)
            # Directions that were large before mostly rule an exchange out, without a look at all of them.
            if after is None or np.einsum("ij,ij->i", kept @ after, kept).max() >= value * (1.0 - _GAIN):
                continue
            keys, values = directions.find(after)
            if values[0] < value * (1.0 - _GAIN):
                best, value, inverse = new, float(values[0]), after
            else:
                kept = np.concatenate([kept, directions.vectors(keys[:1])])
        if best is None:
            break
        counts = best
    return counts, value


def _affordable(
    x: Floats,
    counts: Ints,
    price: Floats,
    each: float,
    money: float,
    most: int,
    bounds: Bounds,
    ratio: float,
    inverse: Floats,
) -> list[Ints]:
    """The counts after the most telling exchanges that keep to the money and the bounds."""
    used = np.flatnonzero(counts)
    spent = float(price[used].sum()) + each * int(counts.sum())
    left = money - spent
    joins = np.where(counts == 0, price, 0.0)
    out: list[Ints] = []
    for whole in (False, True):
        moved = counts[used] if whole else np.ones(len(used), dtype=np.intp)
        refund = np.where(moved == counts[used], price[used], 0.0)
        allowed = (
            (joins[None, :] - refund[:, None] <= left)
            & (counts[used] - moved >= bounds.low[used])[:, None]
            & (counts[None, :] + moved[:, None] <= bounds.high)
            & (used[:, None] != np.arange(len(x)))
        )
        less = worth_of(counts[used], ratio) - worth_of(counts[used] - moved, ratio)
        more = worth_of(counts[None, :] + moved[:, None], ratio) - worth_of(counts, ratio)
        half = x[used] @ inverse
        across = (half @ x.T) ** 2 * less[:, None] * more
        own = less * np.einsum("ij,ij->i", half, x[used])
        theirs = more * np.einsum("ij,ij->i", x @ inverse, x)
        growth = np.where(allowed, (1.0 - own)[:, None] * (1.0 + theirs) + across, -math.inf)
        for flat in np.argsort(-growth, axis=None, kind="stable")[:_TRIED]:
            giver, taker = divmod(int(flat), len(x))
            if growth[giver, taker] <= 0.0:
                break
            new = counts.copy()
            new[used[giver]] -= moved[giver]
            new[taker] += moved[giver]
            out.append(new)
    if counts.sum() < most:
        gain = (worth_of(counts + 1, ratio) - worth_of(counts, ratio)) * np.einsum("ij,ij->i", x @ inverse, x)
        gain = np.where((joins + each <= left) & (counts < bounds.high), gain, -math.inf)
        for taker in np.argsort(-gain, kind="stable")[:_TRIED]:
            if gain[taker] <= 0.0:
                break
            new = counts.copy()
            new[taker] += 1
            out.append(new)
    return out


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
    least: ArrayLike | None = None,
    most: ArrayLike | None = None,
    ratio: float = 0.0,
    report: Report = silent,
) -> tuple[Priced, ...]:
    """What can be had for at most ``budget``, from the cheapest: each point costs more than the one before, tells more.

    ``measurements``: the most that are taken, needed when a measurement costs nothing. The variance is that of
    ``directions`` (XY), else of the candidates (G). ``least``, ``most`` and ``ratio`` as in
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
    worst = directions if directions is not None else Rows(candidates)
    paths = Paths(candidates, prices, low, high, first.support)
    path = paths.supports(report)
    free = np.flatnonzero((prices.compounds == 0) & (high > 0))[:_FREE].astype(np.intp)
    pool = np.union1d(paths.pool, free)
    even = inverse_information(candidates.coordinates(pool), np.ones(len(pool)))
    keys = worst.find(np.eye(candidates.rank) if even is None else even, _PROBED * candidates.rank)[0]
    probe = worst.vectors(keys)
    found = []
    lowest = max(first.cost, budget * _EPSILON)
    for step, level in enumerate(np.geomspace(lowest, budget, _POINTS) if budget > lowest else [budget]):
        report(0.3 + 0.7 * step / _POINTS, f"what {level:.4g} buys")
        bought = _Purchase(candidates, prices, float(level), n, worst, low, high, ratio, probe, free, pool)
        options = bought.promising(path)
        if any(bought.affordable(one.price, one.support) > _FEW * candidates.rank for one in options):
            # Of many measurements, rough rounding tells which one is worth the exchanges.
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


def _cheapest(candidates: ProjectedFeatures, prices: Prices, low: Ints, high: Ints) -> Priced:
    """The required measurements and the cheapest others that make every effect estimable."""
    required = np.flatnonzero(low).astype(np.intp)
    more = cheapest_spanning(candidates, np.where(high > 0, prices.compounds, math.inf), required)
    support = np.concatenate([required, more])
    counts = np.concatenate([low[required], np.ones(len(more), dtype=np.intp)])
    return Priced(support, counts, prices.total(support, counts), math.inf, int((prices.compounds[support] > 0).sum()))


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
    probe: Floats
    """Directions that are large under even weights, ``(m, d)``: a support is no better than they say."""
    free: Ints
    """Compounds that are made already, which any purchase may measure."""
    pool: Ints
    """Compounds that others may be exchanged for."""

    def affordable(self, price: float, support: Ints) -> int:
        """How many measurements the money left buys, within the limits."""
        left = self.money * (1 + _EPSILON) - price
        fit = int(self.high[support].sum())
        if left < 0:
            return 0
        bought = self.most_measurements if self.prices.measurement == 0 else int(left / self.prices.measurement)
        return min(bought, self.most_measurements, fit)

    def promising(self, path: list[Spread]) -> list[Spread]:
        """The few supports of a path that promise the least variance for the money."""
        hopes = []
        for place, one in enumerate(path):
            n = self.affordable(one.price, one.support)
            if n < max(len(one.support) * _ONCE_EACH, self.candidates.rank, int(self.low.sum())):
                continue
            x = self.candidates.coordinates(one.support)
            inverse = inverse_information(x, n * one.weights, None, self.ratio)
            if inverse is not None:
                hopes.append((float(np.einsum("ij,ij->i", self.probe @ inverse, self.probe).max()), place, inverse))
        hopes.sort(key=lambda hope: hope[:2])
        sure = sorted((float(self.worst.find(inverse)[1][0]), place) for _, place, inverse in hopes[:_HOPEFUL])
        return [path[place] for _, place in sure[:_LOOKED_AT]]

    def roughly(self, one: Spread) -> float:
        """The variance of a support when its weights are rounded as they are; inf when that cannot be."""
        n = self.affordable(one.price, one.support)
        rounded = self.rounded(one, n, "apportion")
        return math.inf if rounded is None else rounded.value / n

    def rounded(self, one: Spread, n: int, method: Method) -> Rounded | None:
        """Whole measurements of a support and what is made already; None when they cannot be."""
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
        """Whole measurements on a support; what compounds they leave unused pays for more of them."""
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
        return None if rounded is None else self.bargained(rounded)

    def bargained(self, rounded: Rounded) -> Priced:
        """The purchase after affordable exchanges of compounds."""
        places = np.union1d(self.pool, rounded.support)
        counts = np.zeros(len(places), dtype=np.intp)
        counts[np.searchsorted(places, rounded.support)] = rounded.counts
        better, value = bargained(
            self.candidates.coordinates(places),
            counts,
            self.prices.compounds[places],
            self.prices.measurement,
            self.money * (1 + _EPSILON),
            self.most_measurements,
            self.worst,
            Bounds(self.low[places], self.high[places]),
            ratio=self.ratio,
        )
        used = np.flatnonzero(better)
        support, counts = places[used], better[used]
        made = int((self.prices.compounds[support] > 0).sum())
        return Priced(support, counts, self.prices.total(support, counts), value, made)


def _frontier(points: list[Priced]) -> tuple[Priced, ...]:
    """The points that no cheaper one beats, cheapest first."""
    kept: list[Priced] = []
    for point in sorted(points, key=lambda one: (one.cost, one.variance)):
        if not kept or point.variance < kept[-1].variance * (1 - _EPSILON):
            kept.append(point)
    return tuple(kept)
