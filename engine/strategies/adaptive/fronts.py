"""Evidence of a campaign's phases on several endpoints at once, in units of each endpoint's noise."""

from __future__ import annotations

from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...arrays import Flags, Floats, Ints
from ...domain.features import Features
from ...domain.pareto import beaten
from ..protocol import Arrays, Outcome
from .evidence import NO_ARM, Evidence, Steps

SHARES = (0.65, 0.2, 0.1, 0.05)
"""Of the level of a compound put out, for the first that may be shown to beat it, the second, and so on."""
_AT_ONCE = 1 << 20
"""Differences processed together."""
_ENOUGH = 0.5
"""Half-widths this small against those of lost arms: more measurements would hardly separate them better."""


def nothing_measured(n_arms: int, n_endpoints: int) -> dict[str, NDArray[Any]]:
    """Return the record of no phase: per compound its phase (from 0), arm, counts and values by endpoint.

    And the arms that may be shown to beat each arm, ``(len(SHARES), n_arms)``, and the phase their walks count from.
    """
    no_arms = np.zeros(0, dtype=np.intp)
    none = np.zeros((n_endpoints, 0))
    slots = np.full((len(SHARES), n_arms), NO_ARM, dtype=np.int32)
    return {
        "at": no_arms,
        "arms": no_arms,
        "counts": none,
        "means": none,
        "phases": np.zeros(1, dtype=np.intp),
        "beaters": slots,
        "since": np.zeros_like(slots),
    }


def appended(memory: Arrays, outcome: Outcome) -> dict[str, NDArray[Any]]:
    """Return the record with one more phase."""
    phase = int(memory["phases"][0])
    arms = np.flatnonzero((outcome.counts > 0).any(axis=0))
    more = {
        "at": np.full(len(arms), phase, dtype=np.intp),
        "arms": arms,
        "counts": outcome.counts[:, arms],
        "means": np.where(outcome.counts[:, arms] > 0, outcome.means[:, arms], 0.0),
    }
    joined = {name: np.concatenate([memory[name], added], axis=-1) for name, added in more.items()}
    return {**memory, **joined, "phases": np.array([phase + 1], dtype=np.intp)}


class Front:
    """All phases of a record; means are over the noise of their endpoint, so its SD is 1 everywhere."""

    def __init__(self, features: Features, memory: Arrays, noise: tuple[float, ...]) -> None:
        self.features = features
        self.n_phases = int(memory["phases"][0])
        self.noise = np.array(noise)[:, None]
        self._memory = memory

    @cached_property
    def endpoints(self) -> list[Evidence]:
        """The evidence of each endpoint by itself."""
        found = []
        for counts, means, sd in zip(self._memory["counts"], self._memory["means"], self.noise[:, 0], strict=True):
            kept = counts > 0
            record = {
                "at": self._memory["at"][kept],
                "arms": self._memory["arms"][kept],
                "counts": counts[kept],
                "means": means[kept] / sd,
                "leaders": np.full(self.n_phases, NO_ARM),
            }
            found.append(Evidence(self.features, record, 1.0))
        return found

    @cached_property
    def means(self) -> Floats:
        """``(n_endpoints, n_arms)``, by all measurements so far: to plan by."""
        return np.stack([one.pooled.means() for one in self.endpoints])

    @cached_property
    def estimable(self) -> Flags:
        """``(n_arms,)``, whether all measurements so far estimate every endpoint's mean."""
        return np.asarray(np.logical_and.reduce([one.pooled.estimable() for one in self.endpoints]))

    def between(self, first: Ints, second: Ints) -> list[Steps]:
        """Return the steps of mean(first) - mean(second) in every endpoint, each ``(n_phases, m)``."""
        return [one.between(first, second) for one in self.endpoints]

    def pairs(self, i: Ints, j: Ints) -> list[Steps]:
        """Return the same of every i and every j, each ``(n_phases, len(i), len(j))``."""
        return [one.pairs(i, j) for one in self.endpoints]

    def strongest(self, arms: Ints, rivals: Ints, most: int) -> tuple[Ints, Floats]:
        """Return the rivals that lead most in their least endpoint, and those leads, ``(len(arms), most)``.

        An arm does not lead itself: it has -inf there.
        """
        most = min(most, len(rivals))
        best, leads = np.empty((len(arms), most), dtype=np.intp), np.empty((len(arms), most))
        ahead = self.means[:, rivals]
        step = max(_AT_ONCE // max(len(rivals), 1), 1)
        for start in range(0, len(arms), step):
            part = arms[start : start + step]
            lead = np.full((len(part), len(rivals)), np.inf)
            for row, own in zip(ahead, self.means[:, part], strict=True):
                np.minimum(lead, row - own[:, None], out=lead)
            lead[part[:, None] == rivals] = -np.inf
            if most < len(rivals):
                order = np.argpartition(-lead, most - 1, axis=1)[:, :most]
            else:
                order = np.tile(np.arange(len(rivals)), (len(part), 1))
            found = np.take_along_axis(lead, order, axis=1)
            sort = np.argsort(-found, axis=1, kind="stable")
            leads[start : start + step] = np.take_along_axis(found, sort, axis=1)
            best[start : start + step] = rivals[np.take_along_axis(order, sort, axis=1)]
        return best, leads


class Boxes(NamedTuple):
    """Bounds of every mean, ``(n_endpoints, n_arms)``; infinite where nothing is known."""

    low: Floats
    high: Floats
    away: Flags
    """``(n_arms,)``, arms that cannot be measured any more and may beat others."""

    def beaten(self, arms: Ints) -> Flags:
        """Return which arms are surely beaten by one that is away."""
        return beaten(self.low[:, self.away], self.high[:, arms])

    def near(self, arms: Ints, rivals: Ints, margins: Floats) -> Flags:
        """Return ``(len(arms), len(rivals))``, whether a rival is away and does not beat the arm by more."""
        out = np.zeros((len(arms), len(rivals)), dtype=bool)
        index = np.flatnonzero(self.away[rivals])
        for low, high, margin in zip(self.low, self.high, margins, strict=True):
            out[:, index] |= low[arms][:, None] + margin >= high[rivals[index]]
        return out

    def as_good_as_known(self, arms: Ints) -> bool:
        """Return whether these are bounded so well that more of it would change little against those that are away."""
        half = (self.high - self.low) / 2.0
        known = np.where(np.isfinite(half), half, np.inf)[:, self.away]
        return bool(len(arms) and self.away.any() and (half[:, arms] <= _ENOUGH * known.min(axis=1)[:, None]).all())


class Walks(NamedTuple):
    """Walks in every endpoint of differences in units of noise, and what is added to them."""

    steps: list[Steps]
    offsets: Floats
    """``(n_endpoints,)``."""

    def passed_in_all(self, limits: Floats) -> Flags:
        """Return whether the walks of all endpoints passed, each at any look of its own."""
        each = [one.passed(offset, limits) for one, offset in zip(self.steps, self.offsets, strict=True)]
        return np.asarray(np.logical_and.reduce(each))

    def passed_in_one(self, limits: Floats) -> Flags:
        """Return whether the walk of some endpoint passed."""
        each = [one.passed(offset, limits) for one, offset in zip(self.steps, self.offsets, strict=True)]
        return np.asarray(np.logical_or.reduce(each))


def since(steps: list[Steps], phases: Ints) -> list[Steps]:
    """Return the same without what was before a phase of each, ``(m,)``; equal rows do not beat each other."""
    late = np.arange(len(steps[0].difference))[:, None] >= phases
    return [
        Steps(
            s.difference * late,
            s.precision * late,
            np.zeros_like(s.equal),
        )
        for s in steps
    ]
