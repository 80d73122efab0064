"""From shares to whole measurements."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np

from ..arrays import Flags, Floats, Ints
from ..domain.features import ProjectedFeatures
from ..errors import AssayPilotError
from ..system.progress import Report, silent
from .apportionment import Counts, apportion_within, limits, swap_rounded
from .closed_forms import Counted, separated
from .completion import completed
from .criteria import Design, Shares, Weighted, inverse_information
from .directions import Rows, Worst
from .exchange import exchange
from .moves import Bounds
from .subspace import estimated_span, within

Method = Literal["best", "apportion", "swap", "exchange"]
_NEGLIGIBLE = 0.01
"""A weight below this share of one measurement counts as none."""
_POOL = 1200
"""Compounds among which measurements move; of a larger table those whose leverages under the design are largest."""
_MUCH = 200_000
"""Entries of the rows' coordinates from which on only one start is moved: each of its looks takes long."""


@dataclass(frozen=True, slots=True)
class Rounded:
    """Whole measurements for a design, and what they reach."""

    support: Ints
    """Positions among the candidates with at least one measurement, ascending."""
    counts: Counts
    """One count per position of ``support``; they sum to the requested number."""
    value: float
    """Value of the counts times the number of measurements: on the scale of a design's ``value``."""
    method: str
    """Method that made the counts: ``apportion``, ``swap`` or ``exchange``; ``completion`` (``completed``)."""
    finished: bool
    """Whether no single measurement moved elsewhere would lower the value; False where that was not checked."""

    @property
    def total(self) -> int:
        """Measurements in all."""
        return int(self.counts.sum())


def round_design(
    design: Weighted,
    candidates: ProjectedFeatures,
    n: int,
    *,
    method: Method = "best",
    directions: Worst | None = None,
    targets: ProjectedFeatures | None = None,
    least: Ints | None = None,
    most: int | None = None,
    pool: Ints | None = None,
    ratio: float = 0.0,
    looks: int = 1000,
    report: Report = silent,
) -> Rounded:
    """Return whole measurements that sum to ``n``, with the value they reach; a bound of the papers is never reported.

    ``method``: ``apportion`` (Pukelsheim; within 1 + 2 p / n of the design for n >= 2 p, p its support), ``swap``
    (Allen-Zhu et al. 2017; within 1 + 6 kappa for n >= 5 d / kappa^2, GEGE appendix H), ``exchange`` (Fedorov: single
    measurements move for det V, then for the value; from the apportioned ones where those are better), or ``best``: the
    best of all three, in each of which single measurements move until none gains; of a design by ``multiplicative_xy``
    compounds are chosen one after the other instead (``completed``).

    The value is the largest y' V^-1 y over ``directions`` (XY), else over ``targets`` (G), else over the candidates.
    ``least``: the measurements of each candidate that are required; ``most``: those that any may have.
    ``pool``: compounds that may be used besides the design's and the required ones, by ``exchange`` and ``best``; None:
    all of a small table, of a large one the most informative ones. ``ratio``: tau^2 / sigma^2, see ``worth_of``.
    ``looks``: how often at most all moves of single measurements are looked at, from one start.

    AssayPilotError when ``n`` is too small to estimate every effect, or when the bounds cannot be met.
    """
    if method not in get_args(Method):
        raise ValueError(f"method must be one of {', '.join(get_args(Method))}, got {method!r}")
    low, high = limits(candidates.n_rows, n, least, most)
    plain = method == "best" and ratio == 0 and all(o is None for o in (targets, least, pool))
    if plain and isinstance(directions, Rows) and isinstance(design, Design) and design.shares is not None:
        made = completed(design, candidates, directions, n, high, report)
        if made is not None:
            used = np.flatnonzero(made[0])
            return Rounded(used, made[0][used], made[1] * n, "completion", False)
    if plain and directions is None and (parts := separated(candidates)) is not None:

        def of_core(shares: Weighted, left: int) -> Counted:
            found = round_design(shares, parts.candidates, left, most=most, report=report)
            counts = np.zeros(parts.candidates.n_rows, dtype=np.intp)
            counts[found.support] = found.counts
            return Counted(counts, found.value / left, found.finished)

        whole = parts.rounded(design, n, high, of_core)
        if whole is not None:
            used = np.flatnonzero(whole.counts)
            return Rounded(used, whole.counts[used], whole.variance * n, "exchange", whole.finished)
    given, design = design, without_traces(design, n)
    worst: Worst = directions if directions is not None else Rows(candidates if targets is None else targets)
    span = estimated_span(design, candidates, worst)
    _refuse_too_few(n, candidates.rank if span is None else span.rank)
    alone = method in ("apportion", "swap")
    # Where an effect rests on traces alone, the row that estimates it is among the places by its leverage.
    leverages = given if span is None else design
    places = _places(design, candidates, low, np.zeros(0, dtype=np.intp) if alone else pool, leverages)
    if span is not None and high * int(span.contains(candidates, places).sum()) < n:
        # The rows that estimate only these directions cannot be measured so often: then everything is estimated.
        span = None
        _refuse_too_few(n, candidates.rank)
    if (room := high * len(places)) < n:
        raise AssayPilotError(
            f"{n:,} measurements do not fit on the compounds of the design, which take at most {room:,}",
            mend="Allow more of each compound, or let single measurements move (exchange).",
        )
    weights = np.zeros(len(places))
    known = np.isin(places, design.support)
    order = np.argsort(design.support, kind="stable")
    weights[known] = np.asarray(design.weights)[order][np.isin(np.asarray(design.support)[order], places)]
    x = candidates.coordinates(places)
    if span is not None:
        worst = within(worst, span.axes)
        places, weights, x = span.rows(places, weights, x, low)
    run = _Rounding(x, weights, _bounds(low, high, places), worst, ratio, looks, report)
    tried = run.best(n) if method == "best" else [run.one(method, n)]
    name, counts, value, finished = min(tried, key=lambda one: one[2])
    if not math.isfinite(value) and not alone:
        raise AssayPilotError(
            f"{n:,} measurements within these limits cannot estimate every effect",
            mend="Allow more measurements, or require and forbid fewer compounds.",
        )
    used = np.flatnonzero(counts)
    return Rounded(places[used], counts[used], value * n, name, finished)


def without_traces(design: Weighted, n: int) -> Weighted:
    """Return the design without what a solver's last step left: weights far below one of n measurements."""
    weights = np.asarray(design.weights, dtype=float)
    kept = weights >= _NEGLIGIBLE / n
    if kept.all() or not kept.any():
        return design
    return Shares(np.asarray(design.support)[kept], weights[kept] / weights[kept].sum())


_Tried = tuple[str, Counts, float, bool]
"""Method, counts, value and whether no single move gains."""


@dataclass(frozen=True, slots=True)
class _Rounding:
    """The rows that may be used, with the limits of their counts."""

    x: Floats
    weights: Floats
    bounds: Bounds
    worst: Worst
    ratio: float
    looks: int
    report: Report

    def best(self, n: int) -> list[_Tried]:
        """Return the counts of every method, single moves included; of a large table only the exchanged."""
        tried = []
        own = self.weights > 0
        for name in ("apportion", "swap"):
            plain = self.one(name, n)
            small = len(self.x) < _POOL and self.x.size < _MUCH
            tried.append((name, *self.moved(plain[1], own | (plain[1] > 0))) if small else plain)
        return [*tried, self.one("exchange", n)]

    def one(self, method: str, n: int) -> _Tried:
        """Return one method's counts unchanged."""
        weights = self.weights if self.weights.sum() > 0 else np.ones(len(self.weights))
        counts = apportion_within(weights, n, self.bounds.low, self.bounds.high)
        if method == "exchange":
            by_determinant = exchange(
                self.x, counts, None, self.bounds, ratio=self.ratio, limit=self.looks, report=self.report
            )
            # Where there are many measurements for the weights, they may already be closer than det V leads.
            start = min(by_determinant.counts, counts, key=self.value_of)
            return method, *self.moved(start, np.ones(len(counts), dtype=bool))
        if method == "swap":
            swapped = swap_rounded(self.x, weights, n, counts, self.bounds.low, self.bounds.high)
            counts = counts if swapped is None else swapped
        return method, counts, self.value_of(counts), False

    def value_of(self, counts: Counts) -> float:
        """Return the largest variance over the directions; infinite when it is singular."""
        inverse = inverse_information(self.x, counts, ratio=self.ratio)
        return math.inf if inverse is None else float(self.worst.find(inverse)[1][0])

    def moved(self, counts: Counts, among: Flags) -> tuple[Counts, float, bool]:
        """Return counts after moves of single measurements, their value, and whether no move gains any more."""
        kept = np.flatnonzero(among)
        found = exchange(
            self.x[kept],
            counts[kept],
            self.worst,
            Bounds(self.bounds.low[kept], self.bounds.high[kept]),
            ratio=self.ratio,
            limit=self.looks,
            report=self.report,
        )
        after = np.zeros_like(counts)
        after[kept] = found.counts
        return after, found.value, found.finished


def _bounds(low: Ints, high: int, places: Ints) -> Bounds:
    return Bounds(low[places], np.full(len(places), high, dtype=np.intp))


def _refuse_too_few(n: int, effects: int) -> None:
    """Refuse measurements that cannot reach the rank."""
    if n < effects:
        raise AssayPilotError(
            f"{n:,} {'measurement is' if n == 1 else 'measurements are'} too few to estimate {effects} effects",
            mend=f"Plan at least {effects:,} measurements.",
        )


def _places(
    design: Weighted,
    candidates: ProjectedFeatures,
    low: Ints,
    pool: Ints | None,
    leverages: Weighted | None = None,
) -> Ints:
    """Return positions that may be used: the design's, the required, and those of the pool.

    ``leverages``: the design whose leverages choose the pool of a large table, instead of this one.
    """
    own = np.union1d(np.asarray(design.support, dtype=np.intp), np.flatnonzero(low))
    if pool is None:
        pool = np.arange(candidates.n_rows)
        if candidates.n_rows > _POOL:
            by = design if leverages is None else leverages
            x = candidates.coordinates(np.asarray(by.support, dtype=np.intp))
            inverse = np.linalg.pinv((x * np.asarray(by.weights)[:, None]).T @ x, hermitian=True)
            levers = candidates.quadratic((inverse + inverse.T) / 2.0)
            pool = np.argpartition(-levers, _POOL - 1)[:_POOL]
    return np.union1d(own, np.asarray(pool, dtype=np.intp))
