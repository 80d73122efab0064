"""Noise that differs by class of compounds, for ``adaptive``: what each measurement counts, and where to measure.

Let sigma_c be the SD of class c, sigma the largest of all, and w_c = (sigma / sigma_c)^2. A value of a compound of
class c, times sigma / sigma_c, has the SD sigma, and so has its row of features beside it: least squares over rows that
are scaled so is the weighted least squares with weights 1 / sigma_c^2 (Aitken, Proceedings of the Royal Society of
Edinburgh 55, 1935), and in it one measurement of class c is w_c measurements of SD sigma. So a phase in which N(a)
measurements of compound a came is recorded as one of w_a N(a), and V = sum of w_a N(a) a a'. Its estimate has the
covariance sigma^2 V^-1 exactly, by SDs that were stated before any measurement and a design fixed before the phase.
That is all that ``one`` and ``pareto`` use: steps of walks are independent standard normal as before, and what
is proven there holds. A class of a larger SD than stated makes steps that are more than standard normal: each SD is
assumed, like the one SD otherwise.

**Beside blocks** whose effects are taken out (``blocks``) rows of compounds carry the column of their block, and a
control is a row with nothing else. Scaled by sigma / sigma_c all of them have the SD sigma as well, the block's column
being scaled with the row: weighted least squares of compounds and blocks together. Eliminating the blocks leaves
V = sum w n a a' - sum_p t_p t_p' / s_p with t_p = sum w n a over block p and s_p the weights there, controls with
theirs: what ``models.blocks`` makes of counts that are w n. Its estimate has the covariance sigma^2 V^-1 exactly, so
that steps are standard normal here, too. A control has no substituents; it is taken to scatter like the compounds of no
class, as the guarantee says.

Where nobody knows the SDs w_c comes of a guess and of the first phase's replicates, and sigma is such a bound that no
measurement scatters more than its weight says: ``models.sd_classes``.

Designs take the rows scaled. An even first phase then makes every mean as certain as it can be beside its own noise.
Where several endpoints weigh compounds differently a design takes each at its least; any design is as valid.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from assaypilot.engine.arrays import Floats, Ints
from assaypilot.engine.features import DenseFeatures, Features
from assaypilot.engine.strategies.protocol import Outcome, Problem

__all__ = ["Scaled", "designed_by", "weighed"]


_SMALL = 4_000_000
"""Entries of a table up to which its scaled rows are held."""


def weighed(problem: Problem, outcome: Outcome) -> Outcome:
    """What came back, each measurement counted as those of the largest SD that it is worth."""
    if problem.precision is None:
        return outcome
    counts = outcome.counts * problem.precision
    cells = outcome.cells
    if cells is not None:
        of_controls = np.array(problem.of_controls or (1.0,) * problem.n_endpoints)[:, None]
        cells = replace(
            cells,
            counts=cells.counts * problem.precision[:, cells.arms],
            control_counts=cells.control_counts * of_controls,
        )
    return replace(outcome, counts=counts, cells=cells)


def designed_by(problem: Problem) -> Features:
    """The rows that phases are designed with: the problem's own, or scaled by how precisely each can be measured."""
    if problem.precision is None:
        return problem.features
    worth = problem.precision.min(axis=0)
    if np.ptp(worth) == 0.0:
        return problem.features
    features, scale = problem.features, np.sqrt(worth)
    if features.n_rows * features.n_columns > _SMALL:
        return Scaled(features, scale)
    return DenseFeatures(features.dense(np.arange(features.n_rows)) * scale[:, None])


class Scaled:
    """Rows of a table, each times a number of its own."""

    def __init__(self, features: Features, scale: Floats) -> None:
        """``scale``: ``(n_rows,)``, above 0."""
        self._features, self._scale = features, scale

    @property
    def n_rows(self) -> int:
        """How many rows."""
        return self._features.n_rows

    @property
    def n_columns(self) -> int:
        """How many columns, dependent ones included."""
        return self._features.n_columns

    def _of(self, rows: Ints | None) -> Floats:
        return self._scale if rows is None else self._scale[rows]

    def dense(self, rows: Ints) -> Floats:
        """The given rows ``(m, n_columns)``."""
        return self._features.dense(rows) * self._of(rows)[:, None]

    def times(self, vector: Floats, rows: Ints | None = None) -> Floats:
        """X'v of each row."""
        return _by_row(self._features.times(vector, rows), self._of(rows))

    def quadratic(self, matrix: Floats, rows: Ints | None = None) -> Floats:
        """X'Mx of each row."""
        values: Floats = self._features.quadratic(matrix, rows) * self._of(rows) ** 2
        return values

    def gram(self, weights: Floats, rows: Ints | None = None) -> Floats:
        """Sum of w x x' over the rows."""
        return self._features.gram(weights * self._of(rows) ** 2, rows)

    def moment(self, weights: Floats, rows: Ints | None = None) -> Floats:
        """Sum of w x over the rows."""
        return self._features.moment(_by_row(weights, self._of(rows)), rows)


def _by_row(values: NDArray[Any], scale: Floats) -> Floats:
    """Values by row, ``(m,)`` or ``(m, k)``, times the number of each row."""
    product: Floats = values * (scale if values.ndim == 1 else scale[:, None])
    return product
