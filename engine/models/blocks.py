"""Least squares with an unknown effect of every block (a plate, a batch, a day), told from the controls on it.

A measurement of compound a in block b is x_a'theta + beta_b + error, a control there its nominal value + beta_b +
error. All errors have one SD. The block effects are eliminated: with Z the blocks of all rows, controls included, what
is left to know theta by is V = X'X - X'Z (Z'Z)^-1 Z'X (a Schur complement; Searle, Linear Models, 1971, section 7.1).
A block without controls tells only differences between its own compounds, and nothing when it holds one compound.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from assaypilot.engine.arrays import Floats, Ints
from assaypilot.engine.features import Features, orthonormal_complement, span_basis
from assaypilot.engine.models.ols import Estimate, estimate_of

__all__ = ["NO_BLOCK", "Cells", "Effects", "blocked_least_squares"]


NO_BLOCK = -1
"""The block of measurements that have no effect of their own."""
_TOLD = 1e-10
"""Directions with less than this share of the largest information are confounded with blocks; rounding leaves 1e-15."""


@dataclass(frozen=True, eq=False)
class Cells:
    """What came back of a phase by compound and block; larger is better."""

    arms: Ints
    """``(m,)``, each together with its block once."""
    blocks: Ints
    """``(m,)``, from 0."""
    counts: Floats
    """``(n_endpoints, m)``, determinations."""
    means: Floats
    """``(n_endpoints, m)``, anything where the count is 0."""
    control_counts: Floats
    """``(n_endpoints, n_blocks)``, determinations of controls."""
    control_means: Floats
    """``(n_endpoints, n_blocks)``, how far they read above their nominal values."""
    low: Floats | None = None
    """``(n_endpoints, m)``, what each mean is at least, where values are known only as bounds; None: all exact."""
    high: Floats | None = None
    """The same: at most."""

    def of(self, endpoint: int) -> Cells:
        """Those of one endpoint that hold anything."""
        kept = self.counts[endpoint] > 0
        return replace(
            self,
            arms=self.arms[kept],
            blocks=self.blocks[kept],
            counts=self.counts[endpoint : endpoint + 1, kept],
            means=self.means[endpoint : endpoint + 1, kept],
            control_counts=self.control_counts[endpoint : endpoint + 1],
            low=None if self.low is None else self.low[endpoint : endpoint + 1, kept],
            high=None if self.high is None else self.high[endpoint : endpoint + 1, kept],
            control_means=self.control_means[endpoint : endpoint + 1],
        )


class Effects:
    """The blocks of some measured rows and their controls: sums over them, and themselves taken out."""

    def __init__(self, features: Features, arms: Ints, blocks: Ints, counts: Floats, control_counts: Floats) -> None:
        """``arms``, ``blocks`` and ``counts`` ``(m,)``, ``control_counts`` ``(n_blocks,)``."""
        self._features, self._arms, self._blocks, self._counts = features, arms, blocks, counts
        self._in = blocks != NO_BLOCK
        self._control_counts = control_counts
        self.sizes: Floats = self._sums(counts) + control_counts
        """``(n_blocks,)``, determinations in each, controls included."""

    def _sums(self, values: Floats) -> Floats:
        n = len(self._control_counts)
        return np.bincount(self._blocks[self._in], values[self._in], n).astype(np.float64)

    def information(self) -> Floats:
        """``(n_columns, n_columns)``, V: what the measurements tell beside the blocks."""
        whole = self._features.gram(self._counts, self._arms)
        for block in np.flatnonzero(self._sums(self._counts) > 0):
            here = self._blocks == block
            total = self._features.moment(self._counts[here], self._arms[here])
            whole -= np.outer(total, total) / self.sizes[block]
        return whole

    def levels(self, values: Floats, control_means: Floats) -> Floats:
        """``(n_blocks,)``, the effects of the blocks when values ``(m,)`` are all that is left beside them."""
        total = self._sums(self._counts * values) + self._control_counts * control_means
        return np.divide(total, self.sizes, out=np.zeros(len(total)), where=self.sizes > 0)

    def moment(self, values: Floats, control_means: Floats) -> Floats:
        """``(n_columns,)``, X' of what the blocks leave of values ``(m,)``."""
        left = values.copy()
        left[self._in] -= self.levels(values, control_means)[self._blocks[self._in]]
        return self._features.moment(self._counts * left, self._arms)


def blocked_least_squares(
    features: Features,
    arms: Ints,
    blocks: Ints,
    counts: Floats,
    means: Floats,
    control_counts: Floats,
    control_means: Floats,
) -> Estimate:
    """The estimate of the compounds beside the blocks, with V as its information; the noise SD is not part of it.

    ``arms``, ``blocks`` (NO_BLOCK: none), ``counts`` and ``means`` ``(m,)``; those of the controls ``(n_blocks,)``,
    their means being above the nominal values. What is confounded with blocks counts as not estimable.
    """
    kept = counts > 0
    arms, blocks, counts, means = arms[kept], blocks[kept], counts[kept], means[kept]
    effects = Effects(features, arms, blocks, counts, control_counts)
    basis = span_basis(features, arms)
    inside = basis.T @ effects.information() @ basis
    # In units of what is known without blocks, so that a substituent seen once counts like one seen often.
    scale = np.sqrt(np.diagonal(basis.T @ features.gram(counts, arms) @ basis))
    values, vectors = np.linalg.eigh(inside / scale / scale[:, None]) if len(arms) else (np.zeros(0), basis)
    told = values > _TOLD * values.max(initial=0.0)

    def moment(theta: Floats) -> Floats:
        """X' of what an estimate and the blocks leave, the blocks as they are best beside it."""
        return effects.moment(means - features.times(theta, arms), control_means)

    if told.all():
        return estimate_of(features, basis, inside, moment)
    # What no measurement tells of is the null space of V; what is estimable is orthogonal to it.
    span = basis @ orthonormal_complement(np.linalg.qr(vectors[:, ~told] / scale[:, None])[0])
    return estimate_of(features, span, span.T @ effects.information() @ span, moment)
