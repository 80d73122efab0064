"""The candidates of a design in well-scaled coordinates, with a first few of them that span all.

Rows are prepared for many sums and quadratic forms; those of site tables by few look-ups over groups of sites.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import lapack

from ..arrays import Floats, Ints
from ..domain.features import ProjectedFeatures, SiteFeatures
from ..errors import AssayPilotError

_LARGEST_TABLE = 1 << 18
"""Entries of a table of pairs: what a processor's cache holds, so that a look-up stays one."""
_RANK = 1e-12
"""Eigenvalues of the Gram matrix with unit diagonal below this share of the largest mean that rows do not span."""
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


def grouped(sizes: tuple[int, ...], limit: int) -> list[list[int]]:
    """Sites in groups, smallest sites merged first, while no table over two groups has more than ``limit`` entries."""
    groups = [[site] for site in range(len(sizes))]

    def levels(group: list[int]) -> int:
        return int(np.prod([sizes[site] for site in group], dtype=np.int64))

    while len(groups) > 2:
        groups.sort(key=lambda group: (levels(group), group))
        merged = [groups[0] + groups[1], *groups[2:]]
        largest = sorted(levels(group) for group in merged)[-2:]
        if largest[0] * largest[1] > limit:
            break
        groups = merged
    return sorted(sorted(group) for group in groups)


class SummedRows(Protocol):
    """Some rows x, prepared for many sums and quadratic forms."""

    def information(self, weights: Floats) -> Floats:
        """Return the sum of w x x', ``(d, d)``."""

    def quadratic(self, matrix: Floats) -> Floats:
        """Return the x'Mx of each row for a symmetric M, ``(m,)``."""


@dataclass(frozen=True, slots=True)
class DenseRows:
    """Rows held as a matrix ``(m, d)``."""

    x: Floats

    def information(self, weights: Floats) -> Floats:
        """Return the sum of w x x'."""
        return (self.x * weights[:, None]).T @ self.x

    def quadratic(self, matrix: Floats) -> Floats:
        """Return the x'Mx of each row."""
        out: Floats = np.einsum("ij,ij->i", self.x @ matrix, self.x)
        return out


class Lookups:
    """Some rows of a site table prepared for many quadratic forms x'Mx: one look-up per pair of groups of sites."""

    def __init__(self, features: SiteFeatures, rows: Ints) -> None:
        sizes = features.sizes
        starts = features.n_columns - np.cumsum(sizes[::-1])[::-1]
        groups = grouped(sizes, min(_LARGEST_TABLE, max(len(rows), 1)))
        everyone = len(rows) == features.n_rows and bool(np.array_equal(rows, np.arange(len(rows))))
        codes = features.codes if everyone else features.codes[rows]
        self._indicators: list[Floats] = []
        merged: list[NDArray[np.int32]] = []
        for number, group in enumerate(groups):
            shape = tuple(sizes[site] for site in group)
            levels = int(np.prod(shape, dtype=np.int64))
            indicator = np.zeros((levels, features.n_columns))
            of_level = np.unravel_index(np.arange(levels), shape)
            place = np.zeros(len(codes), dtype=np.int32)
            for site, level in zip(group, of_level, strict=True):
                indicator[np.arange(levels), starts[site] + level] = 1.0
                place *= np.int32(sizes[site])
                place += codes[:, site]
            indicator[:, 0] = 1.0 if number == 0 else 0.0
            self._indicators.append(indicator)
            merged.append(place)
        self.n = len(codes)
        self._pairs = [(a, b) for a in range(len(groups)) for b in range(a)] or [(0, 0)]
        self._places = [
            merged[a] if a == b else merged[a] * np.int32(len(self._indicators[b])) + merged[b] for a, b in self._pairs
        ]

    def quadratic(self, matrix: Floats) -> Floats:
        """Return X'Mx of each row for a symmetric matrix over all columns, ``(n,)``."""
        ahead = [z @ matrix for z in self._indicators]
        own = [np.einsum("ij,ij->i", image, z) for image, z in zip(ahead, self._indicators, strict=True)]
        total = np.empty(self.n)
        part = np.empty(self.n)
        done = [False] * len(own)
        for (a, b), place in zip(self._pairs, self._places, strict=True):
            if a == b:
                table = own[a]
            else:
                table = 2.0 * (ahead[a] @ self._indicators[b].T)
                # What a group is worth on its own is looked up with its first pair.
                if not done[a]:
                    table += own[a][:, None]
                if not done[b]:
                    table += own[b][None, :]
                done[a] = done[b] = True
            into = total if place is self._places[0] else part
            np.take(table.ravel(), place, out=into, mode="clip")
            if into is part:
                total += part
        return total

    def information(self, weights: Floats | None = None) -> Floats:
        """Return the sum of w x x' over the rows, over all columns; their average without weights."""
        columns = self._indicators[0].shape[1]
        out = np.zeros((columns, columns))
        done = [False] * len(self._indicators)
        for (a, b), place in zip(self._pairs, self._places, strict=True):
            left, right = self._indicators[a], self._indicators[b]
            if a == b:
                sums = np.bincount(place, weights, minlength=len(left)).astype(float)
                out += (left * sums[:, None]).T @ left
                continue
            table = np.bincount(place, weights, minlength=len(left) * len(right)).astype(float)
            table = table.reshape(len(left), len(right))
            across = left.T @ table @ right
            out += across + across.T
            for group, z, margin in ((a, left, table.sum(axis=1)), (b, right, table.sum(axis=0))):
                if not done[group]:
                    out += (z * margin[:, None]).T @ z
                    done[group] = True
        if weights is None:
            out /= self.n
        return out


@dataclass(frozen=True, slots=True)
class LookedUp:
    """Rows of a site table in coordinates of their own: x = ``to_here``' X."""

    lookups: Lookups
    to_here: Floats
    """``(n_columns, d)``."""

    def information(self, weights: Floats) -> Floats:
        """Return the sum of w x x', ``(d, d)``."""
        return self.to_here.T @ (self.lookups.information(weights) @ self.to_here)

    def quadratic(self, matrix: Floats) -> Floats:
        """Return the x'Mx of each row for a symmetric M, ``(n,)``."""
        around = self.to_here @ (matrix @ self.to_here.T)
        return self.lookups.quadratic((around + around.T) / 2.0)


def refuse_nothing(candidates: ProjectedFeatures) -> None:
    """Raise AssayPilotError where there are no candidates, or they have no effects to estimate."""
    if candidates.n_rows == 0:
        raise AssayPilotError("there is no compound to choose from", mend="A design needs at least one candidate.")
    if candidates.rank == 0:
        raise AssayPilotError(
            "every candidate's features are 0, so there is nothing to estimate",
            mend="A design needs at least one candidate with features other than 0.",
        )


def moments(candidates: ProjectedFeatures) -> int:
    """Return the dimension of the space of all x x', at most: no design needs more candidates."""
    d, features = candidates.rank, candidates.features
    most = d * (d + 1) // 2
    if isinstance(features, SiteFeatures):
        own = np.array(features.sizes, dtype=np.int64) - 1
        most = min(most, int(1 + own.sum() + (own.sum() ** 2 - (own**2).sum()) // 2))
    return most


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
        self.to_here: Floats = vectors / np.sqrt(values) / scale[:, None]
        self._features_to_here: Floats = candidates.basis @ self.to_here
        self._all: Floats | None = None
        if self._lookups is None and candidates.n_rows * self.d <= _KEPT:
            self._all = candidates.coordinates() @ self.to_here

    def rows(self, positions: Ints) -> Floats:
        """Return coordinates ``(m, d)`` of the candidates at the positions."""
        if self._all is not None:
            return self._all[positions]
        candidates = self.candidates
        return candidates.features.dense(candidates.rows[positions]) @ self._features_to_here

    def part(self, positions: Ints, x: Floats | None = None) -> SummedRows:
        """Return the candidates at the positions in the form that is fastest to sum up.

        ``x``: their coordinates, if known.
        """
        features = self.candidates.features
        if isinstance(features, SiteFeatures) and features.sizes:
            return LookedUp(Lookups(features, self.candidates.rows[positions]), self._features_to_here)
        return DenseRows(self.rows(positions) if x is None else x)

    def leverages(self, inverse: Floats) -> Floats:
        """Return x'V^-1x of every candidate, ``(n,)``, for the inverse of V in the coordinates here."""
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

    def outside(self, inverse: Floats) -> Floats:
        """Return an inverse of V in the candidates' own coordinates."""
        there = self.to_here @ inverse @ self.to_here.T
        return (there + there.T) / 2.0

    def spanning(self) -> Ints:
        """Return positions of candidates that span all, far from each other: QR with pivoting."""
        chosen = self._some()
        x = self.rows(chosen)
        triangle, order, *_ = lapack.dgeqp3(x.T, lwork=_BLOCKED * (len(x) + 1))
        pivots = np.abs(np.diagonal(triangle))
        found = int((pivots > _PIVOT * pivots[0]).sum()) if pivots[0] > 0 else 0
        positions = list(chosen[order[:found] - 1])
        while len(positions) < self.d:
            basis, _ = np.linalg.qr(self.rows(np.array(positions, dtype=np.intp)).T)
            outside = self.leverages(np.eye(self.d) - basis @ basis.T)
            positions.append(np.intp(np.argmax(outside)))
        return np.array(positions, dtype=np.intp)

    def _some(self) -> Ints:
        """Return candidates to pivot among: all of a small table, else the rarest features and an even choice."""
        most = max(4 * self.d, min(_MOST_PIVOTED, _MOST_ENTRIES // self.d))
        if self.n <= most:
            return np.arange(self.n)
        norms = self.leverages(np.eye(self.d))
        rare = np.argsort(-norms, kind="stable")[: most // 2]
        even = np.linspace(0, self.n - 1, most // 2).astype(np.intp)
        return np.union1d(rare, even).astype(np.intp)
