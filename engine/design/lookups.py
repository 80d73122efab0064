"""Rows prepared for many sums and quadratic forms; those of site tables by few look-ups over groups of sites."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from ..arrays import Floats, Ints
from ..domain.features import SiteFeatures

__all__ = ["DenseRows", "LookedUp", "Lookups", "SummedRows", "grouped"]


_LARGEST_TABLE = 1 << 18
"""Entries of a table of pairs: what a processor's cache holds, so that a look-up stays one."""


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
        """The sum of w x x', ``(d, d)``."""

    def quadratic(self, matrix: Floats) -> Floats:
        """The x'Mx of each row for a symmetric M, ``(m,)``."""


@dataclass(frozen=True, slots=True)
class DenseRows:
    """Rows held as a matrix ``(m, d)``."""

    x: Floats

    def information(self, weights: Floats) -> Floats:
        """The sum of w x x'."""
        total: Floats = (self.x * weights[:, None]).T @ self.x
        return total

    def quadratic(self, matrix: Floats) -> Floats:
        """The x'Mx of each row."""
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
        """X'Mx of each row for a symmetric matrix over all columns, ``(n,)``."""
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
        """The sum of w x x' over the rows, over all columns; their average without weights."""
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
        """The sum of w x x', ``(d, d)``."""
        total: Floats = self.to_here.T @ (self.lookups.information(weights) @ self.to_here)
        return total

    def quadratic(self, matrix: Floats) -> Floats:
        """The x'Mx of each row for a symmetric M, ``(n,)``."""
        around = self.to_here @ (matrix @ self.to_here.T)
        return self.lookups.quadratic((around + around.T) / 2.0)
