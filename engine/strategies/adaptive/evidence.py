"""Joint evidence of a campaign's phases on differences of compounds, whatever was chosen after seeing some.

Phase r gives its own least-squares estimate theta_r. For a direction y that is fixed before the phase, its error
y'(theta_r - theta) / s_r with s_r = sigma ||y||_{V_r^-1} is standard normal, whatever happened before. So the sum of
these over the phases in which y could be estimated is a walk with independent standard normal steps, also when designs,
sizes and even the directions depend on earlier phases; ``sequential_tests`` limits it at all looks together.
"""

from __future__ import annotations

from functools import cached_property
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...arrays import Flags, Floats, Ints
from ...domain.features import OUTSIDE_TOLERANCE, Features
from ...models.ols import Estimate
from ..designs import fit
from ..protocol import Arrays

NO_ARM = -1
"""In place of an arm."""
SILENT = -2
"""In place of a leader: the phase is no step of any walk of differences."""
EARLIER = -3
"""In place of a leader: the values are older than the campaign, and only plans are made by them."""
_EQUAL = 1e-12
"""Rows whose squared distance is below this share of their squared lengths are equal."""


def nothing_measured() -> dict[str, NDArray[Any]]:
    """Return the record of no phase: for each mean its phase (from 0), arm, count and value.

    For each phase its leader.
    """
    none = np.zeros(0, dtype=np.intp)
    return {"at": none, "arms": none, "counts": np.zeros(0), "means": np.zeros(0), "leaders": none}


def appended(memory: Arrays, counts: Floats, means: Floats, leader: int) -> dict[str, NDArray[Any]]:
    """Return the record with one more phase, and its leader (NO_ARM for none, SILENT: no step)."""
    phase = len(memory["leaders"])
    arms = np.flatnonzero(counts > 0)
    more = {
        "at": np.full(len(arms), phase, dtype=np.intp),
        "arms": arms,
        "counts": counts[arms],
        "means": means[arms],
        "leaders": np.array([leader], dtype=np.intp),
    }
    return {**memory, **{name: np.concatenate([memory[name], added]) for name, added in more.items()}}


HARDEST = 300
"""Open compounds that plans are made for: those that need the most."""
AGAINST = 8
"""Rivals of one compound that a plan is made against."""
_LEAST_STEP = 0.2
"""A comparison that is at its limit already is given this far to go; it may fall back."""


class Steps(NamedTuple):
    """The steps of walks, phase by phase, ``(n_phases, ...)`` each."""

    difference: Floats
    """The difference that a phase estimates; 0 where it cannot."""
    precision: Floats
    """One over its standard error; 0 where there is none."""
    equal: Flags
    """``(...)``: whether the two are equal rows, whose difference is 0 without any measurement."""

    def _sizes(self, offset: float) -> Floats:
        """Return the steps of difference + offset in standard errors; infinite where a damaged file has such values."""
        with np.errstate(over="ignore"):
            return (self.difference + offset) * self.precision

    @property
    def looks(self) -> Ints:
        """``(...)``, the number of steps."""
        return np.asarray((self.precision > 0).sum(axis=0), dtype=np.intp)

    def walk(self, offset: float) -> Floats:
        """Return ``(...)``, where the walks of difference + offset are after all phases."""
        return np.asarray(self._sizes(offset).sum(axis=0), dtype=np.float64)

    def passed(self, offset: float, limits: Floats) -> Flags:
        """Return ``(...)``, whether the walk of difference + offset was above limits[k - 1] sqrt(k) after some step k.

        Equal rows pass when the offset is not negative.
        """
        heights = (limits.T * np.sqrt(np.arange(1.0, len(limits) + 1.0))).T
        value, looks = np.zeros(self.equal.shape), np.zeros(self.equal.shape, dtype=np.intp)
        passed = self.equal & (offset >= 0)
        for size, precision in zip(self._sizes(offset), self.precision, strict=True):
            stepped = precision > 0
            value += size
            looks += stepped
            passed |= stepped & (value > at_look(heights, looks))
        return passed

    def needed(self, offset: float, limits: Floats, gap: Floats) -> Floats:
        """Return ``(...)``, the precision of one phase that moves the walks of difference + offset to their limits.

        ``gap``: how far each is expected to go by then, in units of the difference.
        """
        looks = self.looks + 1
        left = at_look(limits, looks) * np.sqrt(looks) - self.walk(offset)
        return np.asarray(np.maximum(left, _LEAST_STEP) / gap, dtype=np.float64)


def at_look(limits: Floats, looks: Ints) -> Floats:
    """Return ``(...)``: the limit of walks with so many steps, the last one known at most.

    ``limits``: ``(looks,)`` for all walks, or ``(looks, ...)`` with what broadcasts to the shape of the walks.
    """
    last = np.clip(looks, 1, len(limits)) - 1
    if limits.ndim == 1:
        return np.asarray(limits[last], dtype=np.float64)
    own = np.broadcast_to(limits, (len(limits), *last.shape))
    return np.asarray(np.take_along_axis(own, last[None], axis=0)[0], dtype=np.float64)


class Evidence:
    """All phases of a record."""

    def __init__(self, features: Features, memory: Arrays, sigma: float) -> None:
        self.features = features
        self.sigma = sigma
        self.leaders: Ints = memory["leaders"]
        self._memory = memory

    @property
    def n_phases(self) -> int:
        """How many phases were measured."""
        return len(self.leaders)

    @cached_property
    def phases(self) -> list[Estimate]:
        """The estimate of every phase by its own measurements."""
        edges = pairwise(np.searchsorted(self._memory["at"], np.arange(self.n_phases + 1)).tolist())
        return [
            fit(self.features, *(self._memory[name][a:b] for name in ("arms", "counts", "means"))) for a, b in edges
        ]

    @cached_property
    def pooled(self) -> Estimate:
        """The estimate from all phases at once: to plan by, not to decide by."""
        memory, n = self._memory, self.features.n_rows
        counts = np.bincount(memory["arms"], memory["counts"], minlength=n).astype(np.float64)
        sums = np.bincount(memory["arms"], memory["counts"] * memory["means"], minlength=n)
        measured = np.flatnonzero(counts > 0)
        return fit(self.features, measured, counts[measured], sums[measured] / counts[measured])

    def bounded(self, rows: Ints, limits: Floats) -> tuple[Floats, Floats, Floats]:
        """Return the mean of every row by its walk, NaN without one, and its bounds at such limits, infinite then."""
        own = [found for found, leader in zip(self.phases, self.leaders, strict=True) if leader != EARLIER]
        steps = _steps(
            [(found.means(rows), self.sigma * found.half_norms(rows)) for found in own],
            np.zeros(len(rows), dtype=bool),
        )
        looks, precision = steps.looks, steps.precision.sum(axis=0)
        known = looks > 0
        mean = np.full(len(rows), np.nan)
        mean[known] = steps.walk(0.0)[known] / precision[known]
        height = at_look(limits, looks) * np.sqrt(looks)
        half = np.full(len(rows), np.inf)
        half[known] = height[known] / precision[known]
        centre = np.where(known, mean, 0.0)
        return mean, centre - half, centre + half

    def behind(self, rows: Ints, arm: int | None = None) -> Steps:
        """Return the mean of each phase's leader (or of one arm throughout) minus the mean of every row."""
        differences: list[_Differences] = []
        for found, leader in zip(self.phases, self.leaders, strict=True):
            compared = int(leader) if arm is None else arm
            if compared < 0:
                differences.append((np.zeros(len(rows)), np.full(len(rows), np.inf)))
                continue
            own = found.means(np.array([compared], dtype=np.intp))[0]
            differences.append((own - found.means(rows), self.sigma * found.difference_norm(compared, rows)))
        return self._without_silent(
            _steps(differences, np.zeros(len(rows), dtype=bool) if arm is None else rows == arm)
        )

    def _without_silent(self, steps: Steps) -> Steps:
        """Return the same without those of silent phases."""
        silent = self.leaders <= SILENT
        steps.difference[silent], steps.precision[silent] = 0.0, 0.0
        return steps

    def between(self, first: Ints, second: Ints) -> Steps:
        """Return the mean of each of the first minus that of the second in the same place, ``(n_phases, m)``."""
        x, other = self.features.dense(first), self.features.dense(second)
        scale = np.einsum("ij,ij->i", x, x) + np.einsum("ij,ij->i", other, other)
        difference = x - other
        equal = np.einsum("ij,ij->i", difference, difference) <= _EQUAL * scale
        differences: list[_Differences] = []
        for found in self.phases:
            error = self.sigma * np.sqrt(
                np.maximum(np.einsum("ij,ij->i", difference @ found.covariance, difference), 0.0)
            )
            if found.rank < self.features.n_columns:
                rest = np.einsum("ij,ij->i", difference @ found.outside, difference)
                error[rest > OUTSIDE_TOLERANCE**2 * scale] = np.inf
            differences.append((difference @ found.theta, np.where(equal, np.inf, error)))
        return self._without_silent(_steps(differences, equal))

    def pairs(self, i: Ints, j: Ints) -> Steps:
        """Return the mean of every i minus that of every j, ``(n_phases, len(i), len(j))``, if it fits into memory."""
        both, n = np.concatenate([i, j]), len(i)
        x = self.features.dense(both)
        scale = np.einsum("ij,ij->i", x, x)
        sizes = scale[:n, None] + scale[n:]
        equal = _distances(x, n) <= _EQUAL * sizes
        differences: list[_Differences] = []
        for found in self.phases:
            inside = x @ found.basis
            half = inside @ np.linalg.cholesky(found.inverse) if found.rank else np.zeros((len(x), 0))
            error = self.sigma * np.sqrt(_distances(half, n))
            if found.rank < self.features.n_columns:
                error[_distances(x - inside @ found.basis.T, n) > OUTSIDE_TOLERANCE**2 * sizes] = np.inf
            means = x @ found.theta
            differences.append((means[:n, None] - means[n:], np.where(equal, np.inf, error)))
        return self._without_silent(_steps(differences, equal))


_Differences = tuple[Floats, Floats]
"""Differences, and their standard errors."""


def _steps(differences: list[_Differences], equal: Flags) -> Steps:
    """Return steps; a standard error is infinite (or 0, for equal rows) where a phase has no estimate."""
    shape = (len(differences), *equal.shape)
    difference, precision = np.zeros(shape), np.zeros(shape)
    for phase, (value, error) in enumerate(differences):
        known = np.isfinite(error) & (error > 0)
        precision[phase][known] = 1.0 / error[known]
        difference[phase][known] = value[known]
    return Steps(difference, precision, equal)


def _distances(x: Floats, n: int) -> Floats:
    """Return squared distances of the first n rows from the others."""
    squares = np.einsum("ij,ij->i", x, x)
    distances: Floats = np.maximum(squares[:n, None] + squares[n:] - 2.0 * (x[:n] @ x[n:].T), 0.0)
    return distances
