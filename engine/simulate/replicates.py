"""Noise that a simulated campaign does not know: what its replicates say of it, phase by phase."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import ArrayLike

from ..models.sd_bound import LAST, TARGET, planning_sd, upper_sd
from ..strategies.protocol import BOUNDLESS, State
from .instances.instance import Drawn

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
    def of(cls, drawn: Drawn, alpha: float, rng: np.random.Generator) -> Replicates:
        """The noise of all endpoints, known to nobody; the first guess is right. ``alpha`` is for all together."""
        each = alpha / len(drawn.noise)
        return cls([Unknown(row, sd, sd, each) for row, sd in enumerate(drawn.noise)], rng)

    def copy(self, rng: np.random.Generator) -> Replicates:
        """The same for a run of its own."""
        return Replicates([replace(one) for one in self.unknown], rng)

    def to_plan(self, state: State) -> State:
        """The state with the noise that plans use."""
        if not self.unknown:
            return state
        told = [planning_sd(one.guess, one.squares, one.freedom, one.alpha) for one in self.unknown]
        return self._with(state, told, max(max(TARGET - one.freedom, 0) for one in self.unknown))

    def to_decide(self, state: State, counts: ArrayLike) -> State:
        """The state with the bounds that the next phase is decided by, which brings so many measurements of each."""
        if not self.unknown:
            return state
        more = np.maximum(np.floor(np.asarray(counts, dtype=float)) - 1.0, 0.0)
        for one in self.unknown:
            degrees = min(int(more.sum()), LAST - one.freedom)
            one.squares += one.sd**2 * float(self.rng.chisquare(degrees)) if degrees > 0 else 0.0
            one.freedom += max(degrees, 0)
        told = [upper_sd(one.squares, one.freedom, one.alpha) for one in self.unknown]
        return self._with(state, told, state.problem.repeats)

    def _with(self, state: State, told: list[float], repeats: int) -> State:
        """The state with an SD of each that is unknown."""
        noise = list(state.problem.noise)
        for one, sd in zip(self.unknown, told, strict=True):
            noise[one.row] = min(sd, BOUNDLESS)
        return replace(state, problem=replace(state.problem, noise=tuple(noise), repeats=repeats))
