"""What the phases of a campaign say together about differences of compounds, whatever was chosen after seeing some.

Phase r gives its own least-squares estimate theta_r. For a direction y that is fixed before the phase, its error
y'(theta_r - theta) / s_r with s_r = sigma ||y||_{V_r^-1} is standard normal, whatever happened before. So the sum of
these over the phases in which y could be estimated is a walk with independent standard normal steps, also when designs,
sizes and even the directions depend on earlier phases; ``boundary`` limits it at all looks together.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property, partial
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from assaypilot.engine.arrays import Flags, Floats, Ints
from assaypilot.engine.features import OUTSIDE_TOLERANCE, Features
from assaypilot.engine.models.ols import Estimate
from assaypilot.engine.strategies.adaptive.blocks import (
    blocked,
    doubted_in_blocks,
    in_blocks,
    phase_in_blocks,
    pooled_in_blocks,
)
from assaypilot.engine.strategies.censored import (
    LEAST_STEP,
    Doubt,
    doubted,
    fit_imputed,
    in_steps,
    shy_cells,
    shyness,
    weights_of,
)
from assaypilot.engine.strategies.closing import closed
from assaypilot.engine.strategies.designs import fit
from assaypilot.engine.strategies.protocol import Arrays, Outcome

__all__ = ["Evidence", "Steps", "appended", "at_look", "ends", "least_mean", "nothing_measured"]


_EQUAL = 1e-12
"""Rows whose squared distance is below this share of their squared lengths are equal."""


def nothing_measured() -> dict[str, NDArray[Any]]:
    """The record of no phase: for each mean its phase (from 0), arm, count and value; for each phase its leader."""
    nobody = np.zeros(0, dtype=np.intp)
    return {"at": nobody, "arms": nobody, "counts": np.zeros(0), "means": np.zeros(0), "leaders": nobody}


def appended(
    memory: Arrays, outcome: Outcome, leader: int | None, before: Sequence[Evidence] = ()
) -> dict[str, NDArray[Any]]:
    """The record with one more phase, and with whom it was to compare.

    Once a cell was known only as a bound there are ``low`` and ``high``, too: where the mean of each may lie; and
    ``shy``: how likely that was, by the evidence ``before`` the phase.
    """
    phase = len(memory["leaders"])
    if blocked(memory, outcome):
        more = {
            **in_blocks(memory, outcome, phase, before),
            "leaders": np.concatenate([memory["leaders"], _leader(leader)]),
        }
        return {**memory, **more}
    arms = np.flatnonzero(outcome.counts[0] > 0)
    more = {
        "at": np.full(len(arms), phase, dtype=np.intp),
        "arms": arms,
        "counts": outcome.counts[0, arms],
        "means": outcome.means[0, arms],
        "leaders": _leader(leader),
    }
    joined = {name: np.concatenate([memory[name], added]) for name, added in more.items()}
    return {**memory, **joined, **ends(memory, outcome, arms, before)}


def ends(memory: Arrays, outcome: Outcome, arms: Ints, before: Sequence[Evidence]) -> dict[str, NDArray[Any]]:
    """Of bounds in a record with one more phase: ``low``, ``high`` and ``shy`` of each cell; empty without bounds."""
    if outcome.low is None or outcome.high is None:
        if "low" not in memory:
            return {}
        low = high = outcome.means[:, arms]
    else:
        low, high = outcome.low[:, arms], outcome.high[:, arms]
    expected = np.zeros(low.shape, dtype=np.int8)
    for row, evidence in enumerate(before):
        expected[row] = evidence.shy_cells(arms, outcome.counts[row, arms])
    known = memory["means"]
    if known.ndim == 1:
        low, high, expected = low[0], high[0], expected[0]
    was = memory.get("shy", np.zeros(known.shape, dtype=np.int8))
    return {
        "low": np.concatenate([memory.get("low", known), low], axis=-1),
        "high": np.concatenate([memory.get("high", known), high], axis=-1),
        "shy": np.concatenate([was, expected], axis=-1),
    }


def _leader(leader: int | None) -> Ints:
    return np.array([-1 if leader is None else leader], dtype=np.intp)


class Steps(NamedTuple):
    """The steps of walks, phase by phase, ``(n_phases, ...)`` each."""

    difference: Floats
    """The difference that a phase estimates; 0 where it says nothing."""
    precision: Floats
    """One over its standard error; 0 where it says nothing."""
    equal: Flags
    """``(...)``: whether the two are equal rows, whose difference is 0 without any measurement."""
    doubt: Floats | None = None
    """How much less the difference may be, as values were known only as bounds; None where all were exact."""

    def _sizes(self, offset: float) -> Floats:
        """The steps of difference + offset in standard errors; with doubts their least, or what any step counts."""
        sizes = (self.difference + offset) * self.precision
        if self.doubt is not None:
            open_ = self.doubt > 0
            sizes[open_] -= self.doubt[open_] * self.precision[open_]
            sizes[open_] = np.maximum(sizes[open_], LEAST_STEP)
        return sizes

    @property
    def looks(self) -> Ints:
        """``(...)``, the number of steps."""
        return np.asarray((self.precision > 0).sum(axis=0), dtype=np.intp)

    def walk(self, offset: float) -> Floats:
        """``(...)``, where the walks of difference + offset are after all phases."""
        return np.asarray(self._sizes(offset).sum(axis=0), dtype=np.float64)

    def passed(self, offset: float, limits: Floats, level: Ints | None = None) -> Flags:
        """``(...)``, whether the walk of difference + offset was above limits[k - 1] sqrt(k) after some step k.

        Equal rows pass when the offset is not negative. ``level``: of several rows of limits the one of each walk.
        """
        heights = limits * np.sqrt(np.arange(1.0, limits.shape[-1] + 1.0))
        value, looks = np.zeros(self.equal.shape), np.zeros(self.equal.shape, dtype=np.intp)
        passed = self.equal & (offset >= 0)
        for size, precision in zip(self._sizes(offset), self.precision, strict=True):
            told = precision > 0
            value += size
            looks += told
            passed |= told & (value > at_look(heights, looks, level))
        return passed


def at_look(limits: Floats, looks: Ints, level: Ints | None = None) -> Floats:
    """``(...)``: the limit of walks with so many steps, the last one known at most; of each one's ``level`` if many."""
    place = np.clip(looks, 1, limits.shape[-1]) - 1
    return np.asarray(limits[place] if level is None else limits[level, place], dtype=np.float64)


class Evidence:
    """All phases of a record; a phase says nothing of compounds that came after it (``came``)."""

    def __init__(self, features: Features, memory: Arrays, sigma: float, closing: float = 0.0) -> None:
        """``closing``: how often what other cells say of values known only as bounds may be wrong; 0: nothing is."""
        self.features = features
        self.sigma = sigma
        self._closing = closing
        self.leaders: Ints = memory["leaders"]
        self._memory = memory
        self._came: Ints | None = memory.get("came")

    @property
    def n_phases(self) -> int:
        """How many phases were measured."""
        return len(self.leaders)

    @cached_property
    def phases(self) -> list[Estimate]:
        """The estimate of every phase by its own measurements."""
        return [found for found, _ in self._told]

    @cached_property
    def doubts(self) -> list[Doubt | None]:
        """What every phase leaves open where values were known only as bounds; None where all were exact."""
        return [doubt for _, doubt in self._told]

    @cached_property
    def _told(self) -> list[tuple[Estimate, Doubt | None]]:
        if "block" in self._memory:
            if "low" not in self._memory:
                return [(phase_in_blocks(self.features, self._memory, phase), None) for phase in range(self.n_phases)]
            shares = [self._closing / ((phase + 1) * (phase + 2)) for phase in range(self.n_phases)]
            return [
                doubted_in_blocks(self.features, self._memory, phase, self.sigma, share)
                for phase, share in enumerate(shares)
            ]
        edges = list(pairwise(np.searchsorted(self._memory["at"], np.arange(self.n_phases + 1)).tolist()))
        names = ("arms", "counts", "means")
        if "low" not in self._memory:
            return [(fit(self.features, *(self._memory[name][a:b] for name in names)), None) for a, b in edges]
        told = []
        for phase, (a, b) in enumerate(edges, start=1):
            arms, counts, means, low, high, expected = (
                self._memory[name][a:b] for name in (*names, "low", "high", "shy")
            )
            whole = found = fit(self.features, arms, counts, means)
            if expected.any():
                found, weights = in_steps(self.features, (arms, counts, means), expected)
            else:
                weights = weights_of(found, len(arms))
            ball = partial(
                closed,
                self.features,
                (arms, counts, means),
                whole=whole,
                sigma=self.sigma,
                level=self._closing / (phase * (phase + 1)),
            )
            told.append((found, doubted(weights, means, low, high, ball)))
        return told

    @property
    def limits_met(self) -> tuple[float, float]:
        """Values below the first, and above the second, were known only as bounds so far; infinite where none was."""
        if "low" not in self._memory:
            return -np.inf, np.inf
        means, low, high = (self._memory[name] for name in ("means", "low", "high"))
        return float(high[low < means].max(initial=-np.inf)), float(low[high > means].min(initial=np.inf))

    @cached_property
    def shy(self) -> NDArray[np.int8]:
        """``(n_arms,)``, how likely the values of each are to be known only as bounds; see ``shyness``."""
        met = self.limits_met
        if not np.isfinite(met).any():
            return np.zeros(self.features.n_rows, dtype=np.int8)
        return shyness(self.pooled, met, self.sigma)

    def shy_cells(self, arms: Ints, counts: Floats) -> NDArray[np.int8]:
        """The same of the cells of a phase to come, of these counts."""
        met = self.limits_met
        if not np.isfinite(met).any():
            return np.zeros(len(arms), dtype=np.int8)
        return shy_cells(self.pooled, met, self.sigma, (arms, counts))

    @cached_property
    def pooled(self) -> Estimate:
        """The estimate from all phases at once: to plan by, not to decide by."""
        memory, n = self._memory, self.features.n_rows
        if "block" in memory:
            return pooled_in_blocks(self.features, memory, self.sigma)
        if "low" in memory:
            cells = (memory["arms"], memory["counts"], memory["means"])
            return fit_imputed(self.features, cells, memory["low"], memory["high"], self.sigma)
        counts = np.bincount(memory["arms"], memory["counts"], minlength=n).astype(np.float64)
        sums = np.bincount(memory["arms"], memory["counts"] * memory["means"], minlength=n)
        measured = np.flatnonzero(counts > 0)
        return fit(self.features, measured, counts[measured], sums[measured] / counts[measured])

    def bounded(self, rows: Ints, limits: Floats, level: Ints | None = None) -> tuple[Floats, Floats, Floats]:
        """The mean of every row by its walk, NaN without one, and its bounds at such limits, infinite then."""
        steps = _steps(
            [(found.means(rows), self.sigma * found.half_norms(rows), 0.0) for found in self.phases],
            np.zeros(len(rows), dtype=bool),
            None if self._came is None else self._came[rows],
        )
        looks, precision = steps.looks, steps.precision.sum(axis=0)
        known = looks > 0
        mean = np.full(len(rows), np.nan)
        mean[known] = steps.walk(0.0)[known] / precision[known]
        height = at_look(limits, looks, level) * np.sqrt(looks)
        if not any(self.doubts):
            half = np.full(len(rows), np.inf)
            half[known] = height[known] / precision[known]
            centre = np.where(known, mean, 0.0)
            return mean, centre - half, centre + half
        below = np.zeros((2, *steps.difference.shape))
        for phase, doubt in enumerate(self.doubts):
            if doubt is not None:
                shares = doubt.of_rows(self.features, rows)
                below[0, phase], below[1, phase] = doubt.least(shares), doubt.turned.least(shares)
        low = least_mean(steps, below[0], height)
        high = -least_mean(steps._replace(difference=-steps.difference), below[1], height)
        return np.clip(mean, low, high), low, high

    def behind(self, rows: Ints, arm: int | None = None) -> Steps:
        """Mean of each phase's leader (or of one arm throughout) minus the mean of every row."""
        told: list[_Told] = []
        for found, leader, doubt in zip(self.phases, self.leaders, self.doubts, strict=True):
            who = int(leader) if arm is None else arm
            if who < 0:
                told.append((np.zeros(len(rows)), np.full(len(rows), np.inf), 0.0))
                continue
            at = np.array([who], dtype=np.intp)
            least: Floats | float = 0.0
            if doubt is not None:
                own_shares = doubt.of_rows(self.features, at)
                least = doubt.least(
                    [a - b for a, b in zip(own_shares, doubt.of_rows(self.features, rows), strict=True)]
                )
            own = found.means(at)[0]
            told.append((own - found.means(rows), self.sigma * found.difference_norm(who, rows), least))
        # A leader was there before its phase.
        came = None if self._came is None else np.maximum(self._came[rows], 0 if arm is None else self._came[arm])
        return _steps(told, np.zeros(len(rows), dtype=bool) if arm is None else rows == arm, came)

    def between(self, first: Ints, second: Ints) -> Steps:
        """Mean of each of the first minus mean of the one of the second in the same place, ``(n_phases, m)``."""
        x, other = self.features.dense(first), self.features.dense(second)
        scale = np.einsum("ij,ij->i", x, x) + np.einsum("ij,ij->i", other, other)
        apart = x - other
        equal = np.einsum("ij,ij->i", apart, apart) <= _EQUAL * scale
        told: list[_Told] = []
        for found, doubt in zip(self.phases, self.doubts, strict=True):
            error = self.sigma * np.sqrt(np.maximum(np.einsum("ij,ij->i", apart @ found.covariance, apart), 0.0))
            if found.rank < self.features.n_columns:
                rest = np.einsum("ij,ij->i", apart @ found.outside, apart)
                error[rest > OUTSIDE_TOLERANCE**2 * scale] = np.inf
            least = 0.0 if doubt is None else doubt.least(list((apart @ doubt.theta).T))
            told.append((apart @ found.theta, np.where(equal, np.inf, error), least))
        return _steps(told, equal, None if self._came is None else np.maximum(self._came[first], self._came[second]))

    def pairs(self, i: Ints, j: Ints) -> Steps:
        """Mean of every i minus mean of every j, ``(n_phases, len(i), len(j))``; for what fits into memory."""
        both, n = np.concatenate([i, j]), len(i)
        x = self.features.dense(both)
        scale = np.einsum("ij,ij->i", x, x)
        sizes = scale[:n, None] + scale[n:]
        equal = _distances(x, n) <= _EQUAL * sizes
        told: list[_Told] = []
        for found, doubt in zip(self.phases, self.doubts, strict=True):
            inside = x @ found.basis
            half = inside @ np.linalg.cholesky(found.inverse) if found.rank else np.zeros((len(x), 0))
            error = self.sigma * np.sqrt(_distances(half, n))
            if found.rank < self.features.n_columns:
                error[_distances(x - inside @ found.basis.T, n) > OUTSIDE_TOLERANCE**2 * sizes] = np.inf
            means = x @ found.theta
            least: Floats | float = 0.0
            if doubt is not None:
                least = doubt.least([share[:n, None] - share[n:] for share in (x @ doubt.theta).T])
            told.append((means[:n, None] - means[n:], np.where(equal, np.inf, error), least))
        return _steps(told, equal, None if self._came is None else np.maximum.outer(self._came[i], self._came[j]))


_Told = tuple[Floats, Floats, Floats | float]
"""Differences, their standard errors, and how much less they may be."""


def _steps(told: list[_Told], equal: Flags, came: Ints | None = None) -> Steps:
    """Steps from differences and their standard errors, which are infinite (or 0, for equal rows) without a word.

    ``came``: the first phase that may say something of each; None: all may.
    """
    shape = (len(told), *equal.shape)
    difference, precision = np.zeros(shape), np.zeros(shape)
    doubt = np.zeros(shape) if any(isinstance(least, np.ndarray) for *_, least in told) else None
    for phase, (value, error, least) in enumerate(told):
        known = np.isfinite(error) & (error > 0)
        if came is not None:
            known &= came <= phase
        precision[phase][known] = 1.0 / error[known]
        difference[phase][known] = value[known]
        if doubt is not None and isinstance(least, np.ndarray):
            doubt[phase][known] = least[known]
    return Steps(difference, precision, equal, doubt)


def least_mean(steps: Steps, below: Floats, height: Floats) -> Floats:
    """A lower bound of means by walks that would pass such heights: of two ways of counting doubts the better one.

    Each step with a doubt counts as its least, where it has one, or as the least of any; both are valid.
    """
    found = np.full(len(height), -np.inf)
    for open_ in (below > 0, np.isinf(below)):
        whole = np.where(open_, 0.0, steps.precision)
        sums = ((steps.difference - np.where(open_, 0.0, below)) * whole).sum(axis=0)
        told = whole.sum(axis=0)
        lost = LEAST_STEP * (open_ & (steps.precision > 0)).sum(axis=0)
        least = np.divide(sums + lost - height, told, out=np.full(len(height), -np.inf), where=told > 0)
        found = np.maximum(found, least)
    return found


def _distances(x: Floats, n: int) -> Floats:
    """Squared distances of the first n rows from the others."""
    squares = np.einsum("ij,ij->i", x, x)
    distances: Floats = np.maximum(squares[:n, None] + squares[n:] - 2.0 * (x[:n] @ x[n:].T), 0.0)
    return distances
