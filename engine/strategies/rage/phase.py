"""One phase of RAGE: what may be measured and compared, its design, and whole measurements that keep a promise.

Elimination looks at pairs without a matrix of all pairs, and takes equal rows as one. When compounds cannot be measured
any more, their last bounds still count: the bounds of all phases hold together, so a compound that is away still shows
where the best may be. Only means compare it with the others, so while one is away a phase bounds every mean.
"""

from __future__ import annotations

import math
from contextlib import suppress
from dataclasses import replace
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...arrays import Flags, Floats, Ints
from ...design import Design, Pairs, Weighted, ceilings, round_design
from ...design.criteria import square_root
from ...design.rounding import Rounded
from ...domain.features import Features, ProjectedFeatures, SiteFeatures, merge_equal_rows
from ...errors import AssayPilotError
from ...models.ols import Estimate
from ...system.progress import Report
from ..designs import g_design, table
from ..phased import fewest, lost_reason, wider
from ..protocol import IN, NOT_ESTIMABLE, Arrays, Problem, State, StopReason

_LEADERS = 16
"""So many of the best are compared with everything first; they remove nearly all that can be removed."""
_ENTRIES = 2_000_000
"""Distances held at once."""
_PAIRS = 100_000_000
"""Up to so many pairs are compared beyond those with the leaders: a second or two."""
_ENOUGH = 0.5
"""Half-widths this small against those of lost arms: more measurements would hardly separate them better."""
_PRINTED_ROOM = 0.1
"""e of the paper's experiments: what rounding may cost."""
_LOOKS = 40
"""Looks at all moves of single measurements."""
_TRIES = 4
_TRIES_MANY = 2
"""Numbers of measurements that are tried before weights are rounded up."""
_PLENTY = 4
"""With so many measurements per compound apportionment is as good as moving single ones about."""
_UP = 0.05
"""Of many wanted compounds weights are rounded up where that costs no more than this share of the measurements."""
_MANY = 3000
"""Of so many wanted compounds on, looking for the farthest pair takes seconds, so it is done less often."""
_FEW = 0.25
"""Above this share of compounds among a phase's measurements, a design on fewer compounds is tried."""
_AS_GOOD = 1.05
"""A design on fewer compounds that costs no more is taken at once: it loses less when it becomes whole measurements."""
GAPS = (1e-2, 0.2)
"""How far the design may be from optimal, for few and for many wanted compounds."""


class Beaten(NamedTuple):
    """The rows that are beaten, and whether every pair was compared."""

    rows: Flags
    exact: bool
    """False: only the leaders were compared with everything, so some that are beaten may still be in."""


class Compared(NamedTuple):
    """The rows that are out, and the leader."""

    out: Flags
    leader: int
    """The row with the highest estimate among those whose differences are estimable."""
    exact: bool
    known: Flags
    """Whether the difference to the leader was estimated."""


def beaten(scores: Floats, points: Floats, spread: float, least: float = 0.0) -> Beaten:
    """Return which rows i some row j beats: scores_j - scores_i > max(spread ||points_j - points_i||, least).

    ``scores`` ``(m,)``, ``points`` ``(m, k)``. The best few are compared with every row; what they leave is compared
    with everything, in blocks. Where that would be more than a hundred million pairs it is left out: then a row that
    only some lesser row beats stays, which removes less than the rule allows and so keeps whatever the rule promises.
    """
    m = len(scores)
    out = np.zeros(m, dtype=bool)
    if m < 2:
        return Beaten(out, True)
    order = np.argsort(-scores, kind="stable")
    for leader in order[:_LEADERS]:
        away = points - points[leader]
        width = spread * np.sqrt(np.einsum("ij,ij->i", away, away))
        out |= scores[leader] - scores > np.maximum(width, least)
    # No row is beaten that is not behind the best by more than the least difference.
    left = order[~out[order] & (scores[order[0]] - scores[order] > least)]
    ranked, behind = points[order], -scores[order]
    # Only better ones can beat a row.
    if float(np.searchsorted(behind, -scores[left], side="left").sum()) > _PAIRS:
        return Beaten(out, False)
    lengths = np.einsum("ij,ij->i", ranked, ranked)
    step = max(1, _ENTRIES // m)
    for start in range(0, len(left), step):
        rows = left[start : start + step]
        stop = int(np.searchsorted(behind, -scores[rows].min(), side="left"))
        if stop <= _LEADERS:
            continue
        own = points[rows]
        squares = np.einsum("ij,ij->i", own, own)[:, None] + lengths[:stop] - 2.0 * (own @ ranked[:stop].T)
        # A rounding error must not make a pair look closer than it is.
        squares = np.maximum(squares, 0.0) + 1e-13 * lengths[:stop]
        ahead = -behind[:stop] - scores[rows, None]
        out[rows] = (ahead > np.maximum(spread * np.sqrt(squares), least)).any(axis=1)
    return Beaten(out, True)


def compared(fit: Estimate, rows: Ints, spread: float, least: float) -> Compared:
    """Return which rows are beaten, among those whose difference to the leader this phase can estimate.

    A difference can be estimated where neither mean can: both may share what was not measured.
    """
    scores = fit.means(rows)
    leader = int(np.argmax(scores))
    known = np.isfinite(fit.difference_norm(int(rows[leader]), rows))
    out = np.zeros(len(rows), dtype=bool)
    few = np.flatnonzero(known)
    points = ProjectedFeatures(fit.features, rows[few], fit.basis).coordinates() @ square_root(fit.inverse)
    found = beaten(scores[few], points - points[np.searchsorted(few, leader)], spread, least)
    out[few] = found.rows
    return Compared(out, int(rows[leader]), found.exact, known)


def first_of_equals(features: Features, rows: Ints) -> tuple[Ints, Ints]:
    """Merge equal feature rows: return positions in ``rows`` of the first of each kind, and the kind of every row."""
    if isinstance(features, SiteFeatures):
        return merge_equal_rows(features.codes[rows])
    _, kinds = np.unique(features.dense(rows), axis=0, return_inverse=True)
    return merge_equal_rows(kinds.reshape(-1, 1))


class Away(NamedTuple):
    """The last bounds of what cannot be bounded any more."""

    low: float
    """An arm below it is not the best."""
    high: float
    """An arm that reaches it (with slack: less the slack) is as good as all that are away."""
    half: float
    """The half-width behind ``high``."""


def away(state: State, factor: float) -> Away | None:
    """Return the last bounds of all lost arms; None without any.

    ``factor``: how many times the half-widths of last bounds count.
    """
    lost = np.flatnonzero(state.lost)
    if not len(lost):
        return None
    low, high = wider(state.low[0, lost], state.high[0, lost], factor)
    top = int(np.argmax(high))
    return Away(float(low.max()), float(high[top]), float(high[top] - low[top]) / 2.0)


def nothing_compared(problem: Problem) -> Arrays:
    """Return what ``compared_now`` remembers, before the first phase."""
    return {"compared": np.zeros(problem.n_arms, dtype=bool)}


def compared_now(state: State, arms: Ints) -> Arrays:
    """Return the memory after a phase: arms whose difference to the leader some phase has estimated, ``(n_arms,)``."""
    known = _compared(state).copy()
    known[arms] = True
    return {"compared": known}


def _compared(state: State) -> Flags:
    """Return the arms remembered so far; none in a state without that memory."""
    return state.memory.get("compared", np.zeros(state.problem.n_arms, dtype=bool))


def with_compared(state: State) -> State:
    """Return the state in which one that was compared is lost when it cannot be estimated any more.

    Others may have lost against it though no phase estimated its own mean, so that no bound is left of it.
    """
    gone = _compared(state) & state.problem.wanted & (state.status == NOT_ESTIMABLE)
    return replace(state, lost=state.lost | gone)


def unanswerable(state: State, slack: float, factor: float) -> tuple[StopReason, ...]:
    """Return the reason to stop when measuring can change nothing against those that are away; empty while it can."""
    gone, last = away(state, factor), state.last
    if gone is None or last is None or (state.status == IN).any():
        return ()
    open_arms, lost = np.flatnonzero(state.open), int(state.lost.sum())
    numbers = {"lost": lost, "undecided": len(open_arms)}
    if not len(open_arms):
        compounds = "1 compound that may be the best" if lost == 1 else f"{lost} compounds that may be the best"
        return (StopReason("lost", f"{compounds} cannot be measured any more; all others are out", numbers),)
    low, high = wider(state.low[0, open_arms], state.high[0, open_arms], factor)
    half = (high - low) / 2.0
    behind = bool((high + slack < gone.high).all())
    held = bool(last.numbers.get("only_lost")) and bool((half <= _ENOUGH * gone.half).all())
    if np.isfinite(gone.half) and not behind and not held:
        return ()
    return (lost_reason(state),)


class Field(NamedTuple):
    """Rows that may be measured, and rows that are to be compared, in the same coordinates."""

    candidates: ProjectedFeatures
    targets: ProjectedFeatures

    @property
    def pairs(self) -> Pairs:
        """All differences of the rows that are to be compared."""
        return Pairs(self.targets)

    @property
    def many(self) -> bool:
        """Whether pairs are too many to search for the farthest repeatedly."""
        return self.targets.n_rows > _MANY

    def on_few(self, design: Design, report: Report) -> Design:
        """Return a G-optimal design on few compounds, with what it achieves for the differences."""
        x, most = self.candidates, 4 * self.candidates.rank
        found = g_design(x.features, x.rows, gap=GAPS[0], max_support=most, report=report).design
        value = _value(self, found, found.weights)
        return replace(found, criterion="xy", value=value, lower_bound=design.lower_bound)


def field_of(state: State) -> Field:
    """Return all that can be measured, and one of each kind of compounds still in."""
    problem = state.problem
    rows = np.flatnonzero(problem.measurable)
    active = np.flatnonzero(state.active)
    first, _ = first_of_equals(problem.features, active)
    return Field(table(problem.features, rows), table(problem.features, active[first], rows))


def _whole(field: Field, design: Weighted, n: int, report: Report) -> Rounded:
    """Return N whole measurements, moved about where the support is no small part of them; or AssayPilotError."""
    few = not field.many and n < _PLENTY * len(design.support)
    method: Literal["exchange", "apportion"] = "exchange" if few else "apportion"
    x = field.candidates
    made = round_design(design, x, n, method=method, directions=field.pairs, looks=_LOOKS, report=report)
    if not math.isfinite(made.value):
        raise AssayPilotError(f"{n:,} measurements are too few for every comparison")
    return made


def _up(design: Design, n: int) -> Rounded:
    """Return every weight of N measurements rounded up, so that nothing the design estimates is lost.

    What they achieve is not looked for: it is at most what the design promises, and that is the value returned.
    """
    counts = ceilings(design.weights, float(n)).astype(np.intp)
    return Rounded(design.support, counts, design.value * float(counts.sum()) / n, "apportion", False)


def _value(field: Field, design: Weighted, counts: NDArray[Any]) -> float:
    """Return the largest variance, at a noise SD of 1, of differences that the design's compounds span."""
    x = field.candidates.coordinates(design.support)
    basis = np.linalg.svd(x, full_matrices=False)
    span = basis[2][basis[1] > 1e-9 * basis[1][0]].T
    inside = x @ span
    inverse = span @ np.linalg.inv((inside * counts[:, None]).T @ inside) @ span.T
    return float(field.pairs.find((inverse + inverse.T) / 2.0)[1][0])


def least(field: Field, design: Design, wells: float, report: Report) -> Rounded:
    """Return the fewest measurements found whose achieved value keeps the promise."""
    n = max(math.ceil(wells * design.value * (1.0 - 1e-12)), 1)
    up = _up(design, n)
    if field.many and up.total <= (1.0 + _UP) * n:
        return up
    tries = _TRIES_MANY if field.many else _TRIES
    found = fewest(lambda n: _whole(field, design, n, report), n, up.total, wells, tries)
    return up if found is None else found


def whole(field: Field, design: Design, wells: float, report: Report) -> tuple[Design, Rounded]:
    """Return the fewest measurements found, of the design or of one on fewer compounds.

    And the design they come from.
    """
    planned = wells * design.value
    fewer = field.on_few(design, report) if len(design.support) > _FEW * planned else None
    if fewer is not None and fewer.value <= _AS_GOOD * design.value:
        return fewer, least(field, fewer, wells, report)
    if fewer is not None and field.many:
        # Rounding up takes half a measurement of each compound; to try both would take seconds.
        chosen = min(design, fewer, key=lambda one: wells * one.value + 0.5 * len(one.support))
        return chosen, least(field, chosen, wells, report)
    made = least(field, design, wells, report)
    if fewer is not None and wells * fewer.value < made.total:
        other = least(field, fewer, wells, report)
        if other.total < made.total:
            return fewer, other
    return design, made


def printed(field: Field, design: Design, wells: float, report: Report) -> Rounded:
    """Return the paper's N_t and apportionment (appendix B)."""
    requested = math.ceil((1.0 + _PRINTED_ROOM) * wells * design.value)
    n = max(requested, math.ceil(2.0 * len(design.support) / _PRINTED_ROOM))
    with suppress(AssayPilotError):
        return _whole(field, design, n, report)
    return _up(design, n)


def cut(field: Field, design: Design, n: int, report: Report) -> Rounded:
    """Return what the budget leaves, for as many differences as it can estimate."""
    with suppress(AssayPilotError):
        return _whole(field, design, n, report)
    # Too few to estimate everything: the heaviest of the design, one each in turn.
    most = np.argsort(-design.weights, kind="stable")[:n]
    return Rounded(
        design.support[most], np.bincount(np.arange(n) % len(most)).astype(np.intp), math.inf, "apportion", False
    )


def effects(targets: ProjectedFeatures) -> int:
    """Return how many effects separate the targets: the rank of their differences; at least 1."""
    n = targets.n_rows
    mean = targets.moment(np.full(n, 1.0 / n))
    spread = targets.information(np.full(n, 1.0 / n)) - np.outer(mean, mean)
    values = np.linalg.eigvalsh(spread)
    return max(int((values > 1e-12 * max(float(values[-1]), float(mean @ mean))).sum()), 1)
