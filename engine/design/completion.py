"""Whole measurements for a balanced design, chosen one after the other.

What was chosen is whole, what is to come, in shares. The plan begins as the design itself, n V(w), and every compound
chosen takes the place of one measurement of it. The chosen one lowers most the variances that matter, those that are
large under the present plan: so a choice makes good what those before it took away (the method of conditional
expectations; Raghavan, JCSS 37, 1988). Single measurements are moved in the end.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.linalg import LinAlgError

from ..arrays import Floats, Ints
from ..domain.features import ProjectedFeatures
from ..system.progress import Report, part_of, silent
from .criteria import Design
from .directions import Rows
from .exchange import exchange
from .moves import Bounds
from .subspace import worst_variance

_COMPLETION_LOOKS = 100
"""Looks at all candidates at most; more measurements than that are chosen several at a look."""
_ABREAST = 12
"""Candidates from which those are chosen, for each."""
_LEFT = 0.02
_TRACE = 1e-4
"""Measurements of the design that stay in the plan, so that it is never singular: while compounds are chosen, and in
the end, when next to nothing may rest on them."""
_SHARP = 5.0
"""Power of a variance, over the largest, by which a direction matters more than its share in the balance."""
_LEAST = 1e-6
"""The least share of a direction, in parts of the largest: any matters once its variance is the largest by far."""
_TAKERS = 300
"""Further candidates that measurements may move to in the end."""
_MOVES = 60
"""Looks at these moves."""


def completed(
    design: Design, candidates: ProjectedFeatures, directions: Rows, n: int, most: int, report: Report = silent
) -> tuple[Ints, float] | None:
    """Return counts of sum ``n``, at most ``most`` of a candidate, and their largest variance over the directions.

    None where they would leave a direction untold or do not fit.
    """
    if most * candidates.n_rows < n:
        return None
    try:
        counts = _Plan(design, candidates, directions, n, most).whole(report)
    except LinAlgError:
        return None
    support = np.flatnonzero(counts)
    value = worst_variance(candidates.coordinates(support), counts[support], directions)[0]
    return (counts, value) if math.isfinite(value) else None


class _Plan:
    """The counts chosen so far, among all candidates, and the design for the rest."""

    def __init__(self, design: Design, candidates: ProjectedFeatures, directions: Rows, n: int, most: int) -> None:
        self._candidates, self._directions, self._n, self._most = candidates, directions, n, most
        self._each = candidates.information(design.weights, design.support)
        self._counts = np.zeros(candidates.n_rows, dtype=np.intp)
        self._chosen = np.zeros_like(self._each)
        self._y = directions.vectors(np.arange(directions.n)[:, None])
        shares = np.ones(directions.n) if design.shares is None else design.shares
        self._shares = shares + _LEAST * shares.max()

    def whole(self, report: Report) -> Ints:
        """Return the counts; raises LinAlgError when the design leaves some effect inestimable."""
        at_once = max(1, round(self._n / _COMPLETION_LOOKS))
        for done in range(0, self._n, at_once):
            report(0.7 * done / self._n, "choosing compounds")
            many = min(at_once, self._n - done)
            self._choose(many, max(self._n - done - many, _LEFT))
        return self._moved(report)

    def _state(self, left: float) -> tuple[Floats, Floats]:
        """Return V^-1 of the plan, and the average of (V^-1 y)(V^-1 y)' over the directions by how they matter."""
        inverse = np.linalg.inv(self._chosen + left * self._each)
        inverse = (inverse + inverse.T) / 2.0
        seen = self._y @ inverse
        variances = np.einsum("ij,ij->i", seen, self._y)
        matter = self._shares * (variances / variances.max()) ** _SHARP
        return inverse, seen.T @ (seen * (matter / matter.sum())[:, None])

    def _gains(self, inverse: Floats, slope: Floats) -> Floats:
        """Return what one measurement more of each candidate takes off what matters; -1 for those that have enough."""
        basis, rows = self._candidates.basis, self._candidates.rows
        # By look-ups, of small tables too: that is a tenth of the products of their coordinates.
        pull, own = (self._candidates.features.quadratic(basis @ one @ basis.T, rows) for one in (slope, inverse))
        gains = pull / (1.0 + own)
        gains[self._counts >= self._most] = -1.0
        return gains

    def _choose(self, many: int, left: float) -> None:
        """Choose so many measurements; ``left`` of the design is added to them."""
        inverse, slope = self._state(left)
        gains = self._gains(inverse, slope)
        size = min(_ABREAST * many, len(gains))
        pool = np.argpartition(-gains, size - 1)[:size] if many > 1 else np.array([np.argmax(gains)])
        x = self._candidates.coordinates(pool)
        there = x @ inverse
        for _ in range(many):
            gain = np.einsum("ij,ij->i", x @ slope, x) / (1.0 + np.einsum("ij,ij->i", there, x))
            gain[self._counts[pool] >= self._most] = -1.0
            best = int(np.argmax(gain))
            if gain[best] < 0.0:  # these have enough: consider all others again
                self._choose(1, left)
                continue
            row = x[best]
            self._counts[pool[best]] += 1
            self._chosen += np.outer(row, row)
            # V^-1 and its products with one measurement more (Sherman and Morrison).
            step, grown = there[best].copy(), 1.0 + float(there[best] @ row)
            pull = slope @ row / grown
            slope = slope - np.outer(step, pull) - np.outer(pull, step)
            slope += np.outer(step, step) * float(row @ pull) / grown
            there -= np.outer(x @ step, step / grown)

    def _moved(self, report: Report) -> Ints:
        """Return the counts after moves of single measurements among those chosen and the most helpful others."""
        inverse, slope = self._state(_TRACE)
        gains = self._gains(inverse, slope)
        takers = min(_TAKERS, len(gains))
        pool = np.union1d(np.flatnonzero(self._counts), np.argpartition(-gains, takers - 1)[:takers])
        bounds = Bounds(np.zeros(len(pool), dtype=np.intp), np.full(len(pool), self._most, dtype=np.intp))

        found = exchange(
            self._candidates.coordinates(pool), self._counts[pool], self._directions, bounds,
            base=_TRACE * self._each, limit=_MOVES, report=part_of(report, 0.7, 1.0),
        )  # fmt: skip
        counts = np.zeros_like(self._counts)
        counts[pool] = found.counts
        return counts
