"""Three ways to plan a phase where compounds cost money: the cheapest, the most telling, and one between.

What a phase measures may be chosen in any way that does not look at its own results: decisions rest on the bounds of
what returned. So a plan is the strategy's own, made for fewer compounds. All plans span what could be measured, so
nothing becomes inestimable by a choice.

- cheapest: what is at hand, with the fewest others, by price, that restore the span (exact: a matroid).
- fastest: everything that is available, whatever it costs.
- balanced: what is at hand, and the compounds of a design that shares out money instead of measurements, where one
  measurement of a compound costs a power of its price below 1. Of the powers the one counts that gains most: of all
  that the fastest plan gains on the cheapest the share gained, less the share paid of all that it pays.

Where a cheaper plan is as good, within the loss by whole numbers of measurements, it replaces the expensive one.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ..arrays import Flags, Floats, Ints
from ..design import Pairs, Rows, g_optimal, round_design, xy_optimal
from ..design.budget_supports import cheapest_spanning
from ..design.criteria import Design
from ..design.directions import Directions
from ..design.multiplicative_xy import fast_xy
from ..design.rounding import Rounded
from ..design.subspace import worst_variance
from ..domain.features import DenseFeatures, ProjectedFeatures
from ..domain.stock import PLANS, PlanName
from ..system.progress import Report, silent
from .adaptive.planning import Way
from .adaptive.sequential_tests import ByWalks
from .designs import table
from .protocol import Allocation, State, Strategy
from .registry import part_for

_AS_GOOD = 1.03
"""A cheaper plan this close in value is as good: designs stop within a tenth, and counts are whole numbers."""
_GAP = 0.1
"""How far the designs that choose compounds may be from optimal."""
_POOL = 200
"""Compounds to be made that a balanced plan chooses among: the most informative for their price."""
_MOST = 20_000
"""Compounds to be made that are considered, the cheapest of them."""
_EXTRA = 100
"""Compounds at hand that may join a plan when it is made whole: the most informative."""
_WORST = 60
"""The least precise comparisons, by which compounds are ranked."""
_POWERS = (0.5, 0.25, 0.125)
"""Powers of the price that designs share out, from thrift to hardly any."""
_USUAL = 0.1
"""Cost of a measurement where none was given, as a share of the usual price of a compound."""


@dataclass(frozen=True, slots=True)
class Costs:
    """Costs of the arms."""

    ready: Flags
    """``(n_arms,)``: at hand."""
    price: Floats
    """``(n_arms,)`` of having one made; 0 at hand."""
    measurement: float
    """Of one measurement of an arm, in all its endpoints; 0 where none was given."""
    replicates: int
    """Measurements that a compound usually has once it is made."""


@dataclass(frozen=True, slots=True)
class Planned:
    """A phase planned in one of the ways, and its value."""

    name: PlanName
    allocation: Allocation
    value: float
    """The largest variance of what the phase is for, over sigma^2, times its measurements."""
    best: float
    """A proven lower bound of that over all phases that measure what is available."""

    @property
    def loss(self) -> float:
        """How many times the measurements of the best possible it takes for the same precision, at least 1."""
        return max(self.value / self.best, 1.0) if self.best > 0 else 1.0


class Plans:
    """The ways to plan the phase after a state; each is made on request."""

    def __init__(self, strategy: Strategy, state: State, costs: Costs, report: Report = silent) -> None:
        self._state, self._costs, self._report = state, costs, report
        self._seen: list[tuple[ProjectedFeatures, Rows, Design]] = []
        self._strategy = _thrifty(strategy, state, costs.ready, self._seen)
        self._measurable = state.problem.measurable
        self._made: dict[bytes, Allocation] = {}
        self._ready: dict[PlanName, tuple[Allocation, float]] = {}
        self._free = self._phase_for(self._measurable)
        self._purpose_known = bool(self._seen)
        """Whether the strategy has stated what its phase is for."""
        self._judge = self._judged_by()

    def named(self, name: PlanName) -> Planned:
        """Return the plan of that name."""
        allocation, value = self._plan(name)
        return Planned(name, allocation, value, self._judge[2])

    # ------------------------------------------------------------------ inside

    def _plan(self, name: PlanName) -> tuple[Allocation, float]:
        """Return the phase of that name, and its value; a cheaper one that is as good instead."""
        if name not in self._ready:
            allocation = self._free if name == "fastest" else self._phase_for(getattr(self, f"_{name}")())
            found = allocation, self._value(allocation)
            for cheaper in PLANS[: PLANS.index(name)][::-1]:
                other = self._plan(cheaper)
                if other[1] <= _AS_GOOD * found[1]:
                    found = other
            self._ready[name] = found
        return self._ready[name]

    def _phase_for(self, measurable: Flags) -> Allocation:
        """Return the strategy's phase when these can be measured; they span what can be."""
        key = measurable.tobytes()
        if key not in self._made:
            problem = replace(self._state.problem, measurable=measurable)
            self._made[key] = self._strategy.ask(replace(self._state, problem=problem), self._report)
        return self._made[key]

    def _judged_by(self) -> tuple[ProjectedFeatures, Directions, float]:
        """Return the rows that can be measured, what a phase is for, and the best possible worst variance of that."""
        if self._purpose_known:
            candidates, directions, design = self._seen[0]
            return candidates, directions, design.lower_bound
        problem = self._state.problem
        candidates = table(problem.features, np.flatnonzero(self._measurable))
        targets = table(problem.features, np.flatnonzero(self._state.active), candidates.rows)
        promised = self._free.certificate
        return candidates, Rows(targets) if promised.criterion == "g" else Pairs(targets), promised.lower_bound

    def _value(self, allocation: Allocation) -> float:
        candidates, directions, _ = self._judge
        at = np.searchsorted(candidates.rows, allocation.arms)
        return worst_variance(candidates.coordinates(at), allocation.counts / allocation.total, directions)[0]

    def _cheapest(self) -> Flags:
        """Return what is at hand, and the cheapest others without which some effect could not be estimated."""
        costs, candidates = self._costs, self._judge[0]
        here = np.flatnonzero(costs.ready[candidates.rows])
        more = cheapest_spanning(candidates, costs.price[candidates.rows], here)
        chosen = np.zeros(len(self._measurable), dtype=bool)
        chosen[candidates.rows[here]] = True
        chosen[candidates.rows[more]] = True
        return chosen

    def _balanced(self) -> Flags:
        """Return what the cheapest plan may measure, and what the best of the designs that share out money makes."""
        chosen = self._cheapest()
        candidates, directions, _ = self._judge
        price = self._costs.price[candidates.rows]
        expensive = np.flatnonzero(~chosen[candidates.rows] & np.isfinite(price))
        start, free = (np.searchsorted(candidates.rows, one.arms) for one in (self._phase_for(chosen), self._free))
        counts = self._phase_for(chosen).counts
        largest, inverse = worst_variance(candidates.coordinates(start), counts / counts.sum(), directions)
        least = worst_variance(candidates.coordinates(free), self._free.counts / self._free.total, directions)[0]
        most = float(price[free[~chosen[candidates.rows[free]]]].sum())
        if not len(expensive) or not most or least >= largest:
            return chosen
        measurement = self._costs.measurement or _USUAL * float(np.median(price[expensive])) or 1.0
        each = measurement + price / max(self._costs.replicates, 1)
        cheap = expensive[np.argsort(each[expensive], kind="stable")][:_MOST]
        pool = np.unique(np.concatenate([start, free, _ranked(candidates, directions, inverse, cheap, each, _POOL)]))
        # A phase for a few differences need not estimate every effect, but a design chooses from rows that do.
        pool = np.union1d(pool, cheapest_spanning(candidates, price, pool))
        x = candidates.coordinates(pool)
        best, gained = np.zeros(0, dtype=np.intp), 0.0
        for power in _POWERS:
            scale = 1.0 / np.sqrt(each[pool] ** power)
            scaled = ProjectedFeatures(DenseFeatures(x * scale[:, None]), None, np.eye(candidates.rank))
            design = xy_optimal(scaled, directions, gap=_GAP) if self._purpose_known else g_optimal(scaled, gap=_GAP)
            shares = design.weights * scale[design.support] ** 2
            value = worst_variance(x[design.support], shares / shares.sum(), directions)[0]
            new = pool[design.support]
            new = new[~chosen[candidates.rows[new]]]
            # The share of the possible gain, less the share of its cost.
            gain = (largest - value) / (largest - least) - float(price[new].sum()) / most
            if gain > gained:
                best, gained = new, gain
        chosen[candidates.rows[best]] = True
        return chosen


def _ranked(
    candidates: ProjectedFeatures, directions: Directions, inverse: Floats, rows: Ints, each: Floats, most: int
) -> Ints:
    """Return the rows that inform most about the least precise directions, for the cost of a measurement."""
    worst = directions.vectors(directions.find(inverse, _WORST)[0])
    squares = ((candidates.coordinates(rows) @ inverse) @ worst.T) ** 2
    return rows[np.argsort(-squares.max(axis=1, initial=0.0) / each[rows], kind="stable")[:most]]


def _thrifty(
    strategy: Strategy, state: State, ready: Flags, seen: list[tuple[ProjectedFeatures, Rows, Design]]
) -> Strategy:
    """Return the strategy as it plans a phase with a choice: adaptive on few compounds; its needs are ``seen``."""
    part = part_for(strategy, state.problem.goal.name)
    if not isinstance(part, ByWalks):
        return strategy

    def design(candidates: ProjectedFeatures, directions: Rows, *, gap: float, report: Report) -> Design:
        found = fast_xy(candidates, directions, gap=max(gap, _GAP), report=report)
        if not seen:
            seen.append((candidates, directions, found))
        return found

    def whole(
        design: Design, candidates: ProjectedFeatures, n: int, *, directions: Rows | None = None, **options: Any
    ) -> Rounded:
        if design.shares is not None:
            return round_design(design, candidates, n, directions=directions, **options)
        # Besides the design's own compounds only some at hand may join: each other one would have to be made.
        pool = design.support
        if directions is not None:
            inverse = worst_variance(candidates.coordinates(pool), design.weights, directions)[1]
            here = np.flatnonzero(ready[candidates.rows])
            more = _ranked(candidates, directions, inverse, here, np.ones(candidates.n_rows), _EXTRA)
            pool = np.union1d(pool, more)
        return round_design(design, candidates, n, directions=directions, pool=pool, **options)

    return part.planned_by(Way(design, whole))
