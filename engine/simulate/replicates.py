"""Noise that a simulated campaign does not know: what its replicates say of it, phase by phase."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import ArrayLike

from assaypilot.engine.models.sd_bound import LAST, TARGET, planning_sd, upper_sd
from assaypilot.engine.strategies.protocol import BOUNDLESS, State

__all__ = ["Replicates", "Unknown"]

_NOBODY = np.random.default_rng(0)


@dataclass(slots=True)
class Unknown:
    """One endpoint whose noise is estimated."""

    row: int
    """Among those of the goal."""
    sd: float
    """What it truly is."""
    guess: float
    alpha: float
    """How often its bound may be too small."""
    squares: float = 0.0
    freedom: int = 0


@dataclass(slots=True)
class Replicates:
    """What the replicates of one run say; squares of contrasts are drawn, as sums do for means (chi-square)."""

    unknown: list[Unknown]
    rng: np.random.Generator = field(default=_NOBODY)

    @classmethod
    def of_known(cls) -> Replicates:
        """Nothing is unknown."""
        return cls([])

    @classmethod
    def of(cls, noise: tuple[float, ...], alpha: float, rng: np.random.Generator) -> Replicates:
        """The noise of all endpoints, known to nobody; the first guess is right. ``alpha`` is for all together."""
        return cls([Unknown(row, sd, sd, alpha / len(noise)) for row, sd in enumerate(noise)], rng)

    def copy(self, rng: np.random.Generator) -> Replicates:
        """The same for a run of its own."""
        return Replicates([replace(one) for one in self.unknown], rng)

    def to_plan(self, state: State) -> State:
        """The state with the noise that plans use."""
        if not self.unknown:
            return state
        told = {one.row: planning_sd(one.guess, one.squares, one.freedom, one.alpha) for one in self.unknown}
        lacking = max(TARGET - one.freedom for one in self.unknown)
        return _with(state, told, max(lacking, 0))

    def to_decide(self, state: State, counts: ArrayLike) -> State:
        """The state with the bounds that the next phase is decided by, which brings so many measurements of each."""
        if not self.unknown:
            return state
        more = int(np.maximum(np.floor(np.asarray(counts, dtype=float)) - 1.0, 0.0).sum())
        for one in self.unknown:
            degrees = min(more, LAST - one.freedom)
            one.squares += one.sd**2 * float(self.rng.chisquare(degrees)) if degrees > 0 else 0.0
            one.freedom += max(degrees, 0)
        told = {one.row: min(upper_sd(one.squares, one.freedom, one.alpha), BOUNDLESS) for one in self.unknown}
        return _with(state, told, state.problem.repeats)


def _with(state: State, told: dict[int, float], repeats: int) -> State:
    noise = tuple(told.get(row, sd) for row, sd in enumerate(state.problem.noise))
    return replace(state, problem=replace(state.problem, noise=noise, repeats=repeats))
