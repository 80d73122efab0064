"""The candidates of a design in well-scaled coordinates, with a first few of them that span all."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import qr

from assaypilot.engine.features import ProjectedFeatures

__all__ = ["Table"]

Floats = NDArray[np.float64]
Ints = NDArray[np.intp]

_RANK = 1e-12
"""Eigenvalues of the Gram matrix with unit diagonal below this share of the largest mean that rows do not span."""
_PIVOT = 1e-4
"""A row whose part outside the span of the rows before it is shorter than this share of the longest waits."""
_MOST_PIVOTED = 4096
_MOST_ENTRIES = 1_000_000
"""Rows, and entries of them, among which the first candidates are picked by pivoting."""


class Table:
    """Candidates in coordinates in which the evenly weighted information of all of them is the identity.

    Leverages x'V^-1x do not depend on coordinates; in these V is well conditioned however the columns are scaled.
    """

    def __init__(self, candidates: ProjectedFeatures) -> None:
        self.candidates = candidates
        self.n = candidates.n_rows
        self.d = candidates.rank
        if self.n == 0 or self.d == 0:
            raise ValueError("a design needs at least one candidate with features other than 0")
        gram = candidates.information(np.full(self.n, 1.0 / self.n))
        scale = np.sqrt(np.diagonal(gram))
        if scale.min() > 0:
            values, vectors = np.linalg.eigh(gram / scale / scale[:, None])
        if scale.min() <= 0 or values[0] <= _RANK * values[-1]:
            raise ValueError("the candidates must have full column rank in their coordinates")
        self._to_here: Floats = vectors / np.sqrt(values) / scale[:, None]

    def rows(self, positions: Ints) -> Floats:
        """Coordinates ``(m, d)`` of the candidates at the positions."""
        return self.candidates.coordinates(positions) @ self._to_here

    def leverages(self, inverse: Floats) -> Floats:
        """x'V^-1x of every candidate, ``(n,)``, for the inverse of V in the coordinates here."""
        return self.candidates.quadratic(self.outside(inverse))

    def outside(self, inverse: Floats) -> Floats:
        """An inverse of V in the candidates' own coordinates."""
        there = self._to_here @ inverse @ self._to_here.T
        symmetric: Floats = (there + there.T) / 2.0
        return symmetric

    def spanning(self) -> Ints:
        """Positions of d candidates that span all, far apart: QR with pivoting on at most a few thousand of them."""
        chosen = self._some()
        x = self.rows(chosen)
        _, triangle, order = qr(x.T, mode="economic", pivoting=True, check_finite=False)
        pivots = np.abs(np.diagonal(triangle))
        found = int((pivots > _PIVOT * pivots[0]).sum())
        positions = list(chosen[order[:found]])
        while len(positions) < self.d:
            basis, _ = np.linalg.qr(self.rows(np.array(positions, dtype=np.intp)).T)
            positions.append(np.intp(np.argmax(self.leverages(np.eye(self.d) - basis @ basis.T))))
        return np.array(positions, dtype=np.intp)

    def _some(self) -> Ints:
        """Candidates to pivot among: all of a small table; of a large one the rarest features and an even choice."""
        most = max(4 * self.d, min(_MOST_PIVOTED, _MOST_ENTRIES // self.d))
        if self.n <= most:
            return np.arange(self.n)
        norms = self.leverages(np.eye(self.d))
        rare = np.argsort(-norms, kind="stable")[: most // 2]
        even = np.linspace(0, self.n - 1, most // 2).astype(np.intp)
        return np.union1d(rare, even).astype(np.intp)
