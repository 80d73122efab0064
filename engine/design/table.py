"""The candidates of a design in well-scaled coordinates, with a first few of them that span all."""

from __future__ import annotations

import numpy as np
from scipy.linalg import lapack

from ..arrays import Floats, Ints
from ..domain.features import ProjectedFeatures, SiteFeatures
from ..errors import AssayPilotError
from .lookups import DenseRows, LookedUp, Lookups, SummedRows

__all__ = ["Table", "refuse_nothing"]


_RANK = 1e-12
"""Eigenvalues of the Gram matrix with unit diagonal below this share of the largest mean that rows do not span."""
_OUTSIDE = 1e-10
"""A squared distance from a span below this is rounding, in coordinates in which rows have length about sqrt(d)."""
_PIVOT = 1e-4
"""A row whose part outside the span of the rows before it is shorter than this share of the longest waits."""
_KEPT = 4_000_000
"""Entries of the coordinates of all candidates up to which they are held."""
_LOOKED_UP = 400_000
"""Entries of the coordinates above which leverages of a site table come from look-ups instead."""
_BLOCKED = 66
"""Work space of a QR decomposition, per column, with which LAPACK takes columns in blocks."""
_PIECE = 2048
_MOST_PIVOTED = 4096
_MOST_ENTRIES = 400_000
"""SummedRows, and entries of them, among which the first candidates are picked by pivoting."""


def refuse_nothing(candidates: ProjectedFeatures) -> None:
    """Raise AssayPilotError where there are no candidates, or they have no effects to estimate."""
    if candidates.n_rows == 0:
        raise AssayPilotError("there is no compound to choose from", mend="A design needs at least one candidate.")
    if candidates.rank == 0:
        raise AssayPilotError(
            "every candidate's features are 0, so there is nothing to estimate",
            mend="A design needs at least one candidate with features other than 0.",
        )


class Table:
    """Candidates in coordinates in which the evenly weighted information of all of them is the identity.

    Leverages x'V^-1x do not depend on coordinates; in these V is well conditioned however the columns are scaled.
    """

    def __init__(self, candidates: ProjectedFeatures) -> None:
        self.candidates = candidates
        self.n = candidates.n_rows
        self.d = candidates.rank
        refuse_nothing(candidates)
        features = candidates.features
        self._lookups: Lookups | None = None
        if isinstance(features, SiteFeatures) and features.sizes and self.n * self.d > _LOOKED_UP:
            self._lookups = Lookups(features, candidates.rows)
            gram = candidates.basis.T @ self._lookups.information() @ candidates.basis
        else:
            gram = candidates.information(np.full(self.n, 1.0 / self.n))
        if not np.isfinite(gram).all():
            raise AssayPilotError("the candidates' features are not finite numbers", mend="Remove the rows with NaN.")
        scale = np.sqrt(np.diagonal(gram))
        if scale.min() > 0:
            values, vectors = np.linalg.eigh(gram / scale / scale[:, None])
        if scale.min() <= 0 or values[0] <= _RANK * values[-1]:
            raise ValueError("the candidates must have full column rank in their coordinates")
        self._to_here: Floats = vectors / np.sqrt(values) / scale[:, None]
        self._features_to_here: Floats = candidates.basis @ self._to_here
        self._all: Floats | None = None
        if self._lookups is None and candidates.n_rows * self.d <= _KEPT:
            self._all = candidates.coordinates() @ self._to_here

    def rows(self, positions: Ints) -> Floats:
        """Coordinates ``(m, d)`` of the candidates at the positions."""
        if self._all is not None:
            return self._all[positions]
        candidates = self.candidates
        return candidates.features.dense(candidates.rows[positions]) @ self._features_to_here

    def part(self, positions: Ints, x: Floats | None = None) -> SummedRows:
        """The candidates at the positions in the form that is fastest to sum up; ``x``: their coordinates, if known."""
        features = self.candidates.features
        if isinstance(features, SiteFeatures) and features.sizes:
            return LookedUp(Lookups(features, self.candidates.rows[positions]), self._features_to_here)
        return DenseRows(self.rows(positions) if x is None else x)

    def leverages(self, inverse: Floats) -> Floats:
        """x'V^-1x of every candidate, ``(n,)``, for the inverse of V in the coordinates here."""
        if self._all is not None:
            quadratic: Floats = np.einsum("ij,ij->i", self._all @ inverse, self._all)
            return quadratic
        if self._lookups is not None:
            around = self._features_to_here @ inverse @ self._features_to_here.T
            return self._lookups.quadratic((around + around.T) / 2.0)
        features, rows = self.candidates.features, self.candidates.rows
        around = self._features_to_here @ inverse @ self._features_to_here.T
        out = np.empty(self.n)
        # In pieces that stay in a processor's cache.
        for begin in range(0, self.n, _PIECE):
            x = features.dense(rows[begin : begin + _PIECE])
            out[begin : begin + _PIECE] = np.einsum("ij,ij->i", x @ around, x)
        return out

    @property
    def moments(self) -> int:
        """The dimension of the space of all x x', at most: no design needs more candidates."""
        most = self.d * (self.d + 1) // 2
        features = self.candidates.features
        if isinstance(features, SiteFeatures):
            own = np.array([size - 1 for size in features.sizes], dtype=np.int64)
            most = min(most, int(1 + own.sum() + (own.sum() ** 2 - (own**2).sum()) // 2))
        return most

    def outside(self, inverse: Floats) -> Floats:
        """An inverse of V in the candidates' own coordinates."""
        there = self._to_here @ inverse @ self._to_here.T
        symmetric: Floats = (there + there.T) / 2.0
        return symmetric

    def inside(self, information: Floats) -> Floats:
        """An information matrix of the candidates' own coordinates in the coordinates here."""
        here = self._to_here.T @ information @ self._to_here
        symmetric: Floats = (here + here.T) / 2.0
        return symmetric

    def spanning(self, among: Ints | None = None) -> Ints:
        """Positions of candidates that span all those ``among``, far apart: QR with pivoting on a few thousand."""
        chosen = (
            self._some()
            if among is None
            else among[np.linspace(0, len(among) - 1, min(len(among), 4096)).astype(np.intp)]
        )
        x = self.rows(chosen)
        triangle, order, *_ = lapack.dgeqp3(x.T, lwork=_BLOCKED * (len(x) + 1))
        pivots = np.abs(np.diagonal(triangle))
        found = int((pivots > _PIVOT * pivots[0]).sum()) if pivots[0] > 0 else 0
        positions = list(chosen[order[:found] - 1])
        while len(positions) < self.d:
            basis, _ = np.linalg.qr(self.rows(np.array(positions, dtype=np.intp)).T)
            outside = self.leverages(np.eye(self.d) - basis @ basis.T)
            if among is not None:
                outside = np.where(np.isin(np.arange(self.n), among), outside, 0.0)
            best = int(np.argmax(outside))
            if among is not None and outside[best] <= _OUTSIDE:
                break
            positions.append(np.intp(best))
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
