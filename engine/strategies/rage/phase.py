"""One phase of RAGE: what may be measured and told apart, its design, and whole measurements that keep a promise."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...arrays import Ints
from ...design import Design, Pairs, Weighted, ceilings, round_design
from ...design.rounding import fewest
from ...domain.features import ProjectedFeatures
from ...errors import AssayPilotError
from ...system.progress import Report
from ..designs import g_design, table, xy_design
from ..protocol import State
from .elimination import first_of_equals

__all__ = ["GAPS", "Field", "Made", "cut", "effects", "field_of", "least", "printed", "whole"]


_PRINTED_ROOM = 0.1
"""e of the paper's experiments: what rounding may cost."""
_TRIES = 12
_TRIES_MANY = 2
_PLENTY = 4
"""With so many measurements per compound apportionment is as good as moving single ones about."""
_UP = 0.05
"""Of many wanted compounds weights are rounded up where that costs no more than this share of the measurements."""
_STEP = 0.002
"""The least step up from measurements that do not keep the promise, as a share of them."""
_MANY = 3000
"""Of so many wanted compounds on, looking for the farthest pair takes seconds, so it is done less often."""
_FEW = 0.25
"""Above this share of compounds among a phase's measurements, a design on fewer compounds is tried."""
_ALIKE = 1.05
"""A design on fewer compounds that costs no more is taken at once: it loses less when it becomes whole measurements."""
GAPS = (1e-2, 0.2)
"""How far the design may be from optimal, for few and for many wanted compounds."""


class Field(NamedTuple):
    """What may be measured, and what is to be told apart, in the same coordinates."""

    candidates: ProjectedFeatures
    targets: ProjectedFeatures

    @property
    def pairs(self) -> Pairs:
        """All differences of what is to be told apart."""
        return Pairs(self.targets)

    @property
    def many(self) -> bool:
        """Whether pairs are too many to look for the farthest again and again."""
        return self.targets.n_rows > _MANY

    def on_few(self, design: Design, report: Report) -> Design:
        """A G-optimal design on few compounds, with what it achieves for the differences."""
        x, most = self.candidates, 4 * self.candidates.rank
        found = g_design(x.features, x.rows, gap=GAPS[0], max_support=most, report=report).design
        value = _value(self, found, found.weights)
        return replace(found, criterion="xy", value=value, lower_bound=design.lower_bound)

    def design(self, gap: float, upper: float | None, report: Report) -> Design:
        """The XY-optimal design; no share above ``upper``."""
        rows = self.candidates.rows
        features = self.candidates.features
        return xy_design(features, rows, self.targets.rows, gap=gap, upper=upper, report=report).design


def field_of(state: State) -> Field:
    """Everything that can be measured, and one of each kind of compounds still in."""
    problem = state.problem
    rows = np.flatnonzero(problem.measurable)
    active = np.flatnonzero(state.active)
    first, _ = first_of_equals(problem.features, active)
    return Field(table(problem.features, rows), table(problem.features, active[first], rows))


class Made(NamedTuple):
    """Whole measurements and what they achieve: ``value / total`` is the largest variance of a difference."""

    support: Ints
    counts: Ints
    value: float

    @property
    def total(self) -> int:
        """Measurements in all."""
        return int(self.counts.sum())


def _whole(field: Field, design: Weighted, n: int, report: Report) -> Made | None:
    """N whole measurements, moved about where the support is no small part of them; None where N is too few."""
    x, pairs = field.candidates, field.pairs
    try:
        if field.many or n >= _PLENTY * len(design.support):
            made = round_design(design, x, n, method="apportion", directions=pairs, report=report)
        else:
            made = fewest(design, x, n, 0.0, n, pairs, report)
    except AssayPilotError:
        return None
    return Made(made.support, made.counts, made.value) if math.isfinite(made.value) else None


def _up(design: Design, n: int) -> Made:
    """Every weight of N measurements rounded up, so that nothing the design tells is lost.

    What they achieve is not looked for: it is at most what the design promises, and that is the value returned.
    """
    counts = ceilings(design.weights, float(n)).astype(np.intp)
    return Made(design.support, counts, design.value * float(counts.sum()) / n)


def _value(field: Field, design: Weighted, counts: NDArray[Any]) -> float:
    """The largest variance of a difference at a noise SD of 1, of differences that the design's compounds span."""
    x = field.candidates.coordinates(design.support)
    basis = np.linalg.svd(x, full_matrices=False)
    span = basis[2][basis[1] > 1e-9 * basis[1][0]].T
    inside = x @ span
    inverse = span @ np.linalg.inv((inside * counts[:, None]).T @ inside) @ span.T
    return float(field.pairs.find((inverse + inverse.T) / 2.0)[1][0])


def least(field: Field, design: Design, wells: float, report: Report) -> Made:
    """The fewest measurements found whose achieved value keeps the promise."""
    n = max(math.ceil(wells * design.value * (1.0 - 1e-12)), 1)
    up = _up(design, n)
    if field.many and up.total <= (1.0 + _UP) * n:
        return up
    if not field.many and n < _PLENTY * len(design.support):
        try:
            found = fewest(design, field.candidates, n, 1.0 / wells, up.total, field.pairs, report)
        except AssayPilotError:
            return up
        kept = found.value * wells <= found.counts.sum() * (1.0 + 1e-9)
        return Made(found.support, found.counts, found.value) if kept else up
    for _ in range(_TRIES_MANY if field.many else _TRIES):
        if n >= up.total:
            break
        made = _whole(field, design, n, report)
        missing = math.inf if made is None else wells * made.value * (1.0 - 1e-9) - n
        if made is not None and missing <= 0:
            return made
        n += max(math.ceil(missing), math.ceil(_STEP * n)) if math.isfinite(missing) else max(n // 4, 1)
    return up


def whole(field: Field, design: Design, wells: float, report: Report) -> tuple[Design, Made]:
    """The fewest measurements found, of the design or of one on fewer compounds; and the design they come from."""
    planned = wells * design.value
    fewer = field.on_few(design, report) if len(design.support) > _FEW * planned else None
    if fewer is not None and fewer.value <= _ALIKE * design.value:
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


def printed(field: Field, design: Design, wells: float, report: Report) -> Made:
    """The paper's N_t and apportionment (appendix B)."""
    asked = math.ceil((1.0 + _PRINTED_ROOM) * wells * design.value)
    n = max(asked, math.ceil(2.0 * len(design.support) / _PRINTED_ROOM))
    return _whole(field, design, n, report) or _up(design, n)


def cut(field: Field, design: Design, n: int, report: Report) -> Made:
    """What the budget leaves, for as many differences as it can tell."""
    made = _whole(field, design, n, report)
    if made is not None:
        return made
    # Too few to estimate everything: the heaviest of the design, one each in turn.
    most = np.argsort(-design.weights, kind="stable")[:n]
    return Made(design.support[most], np.bincount(np.arange(n) % len(most)).astype(np.intp), math.inf)


def effects(targets: ProjectedFeatures) -> int:
    """How many effects tell the targets apart: the rank of their differences; at least 1."""
    n = targets.n_rows
    mean = targets.moment(np.full(n, 1.0 / n))
    spread = targets.information(np.full(n, 1.0 / n)) - np.outer(mean, mean)
    values = np.linalg.eigvalsh(spread)
    return max(int((values > 1e-12 * max(float(values[-1]), float(mean @ mean))).sum()), 1)
