"""Noise that a simulated campaign does not know: what its replicates say of it, phase by phase."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import ArrayLike

from assaypilot.engine.arrays import Flags
from assaypilot.engine.models.sd_bound import LAST, TARGET, planning_sd, upper_sd
from assaypilot.engine.models.sd_classes import scale, weighing, worth
from assaypilot.engine.simulate.instances.instance import Drawn
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
    arms: Flags | None = None
    """``(n_arms,)``, those of a class of its own; None: all."""
    weight: float = 0.0
    """About the SD of the class, as measurements are weighed; 0 until the first phase says."""

    @property
    def weighed(self) -> float:
        """The same; its guess before the first phase."""
        return self.weight or weighing(self.guess, 0.0, 0, self.alpha)


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
        told: list[Unknown] = []
        for row, sd in enumerate(drawn.noise):
            if drawn.sds is None or drawn.classes is None:
                told.append(Unknown(row, sd, sd, each))
                continue
            for one in (own := np.unique(drawn.classes[row])):
                arms = drawn.classes[row] == one
                true = float(drawn.sds[row, arms][0])
                told.append(Unknown(row, true, true, each / len(own), arms=arms))
        return cls(told, rng)

    def copy(self, rng: np.random.Generator) -> Replicates:
        """The same for a run of its own."""
        return Replicates([replace(one) for one in self.unknown], rng)

    def to_plan(self, state: State) -> State:
        """The state with the noise that plans use."""
        if not self.unknown:
            return state
        told = [planning_sd(one.guess, one.squares, one.freedom, one.alpha) for one in self.unknown]
        lacking: dict[int, int] = {}
        for one in self.unknown:
            lacking[one.row] = lacking.get(one.row, 0) + max(TARGET - one.freedom, 0)
        own = tuple(one.arms for one in self.unknown if one.arms is not None and one.freedom < TARGET)
        after = self._with(state, told, max(lacking.values()))
        return replace(after, problem=replace(after.problem, lacking=own))

    def to_decide(self, state: State, counts: ArrayLike) -> State:
        """The state with the bounds that the next phase is decided by, which brings so many measurements of each."""
        if not self.unknown:
            return state
        more = np.maximum(np.floor(np.asarray(counts, dtype=float)) - 1.0, 0.0)
        for one in self.unknown:
            degrees = min(int(more.sum() if one.arms is None else more[one.arms].sum()), LAST - one.freedom)
            one.squares += one.sd**2 * float(self.rng.chisquare(degrees)) if degrees > 0 else 0.0
            one.freedom += max(degrees, 0)
            one.weight = one.weight or weighing(one.guess, one.squares, one.freedom, one.alpha)
        told = [upper_sd(one.squares, one.freedom, one.alpha) for one in self.unknown]
        return self._with(state, told, state.problem.repeats)

    def _with(self, state: State, told: list[float], repeats: int) -> State:
        """The state with an SD of each that is unknown; by class with the scale of all, and the weights."""
        noise, precision = list(state.problem.noise), state.problem.precision
        for row in {one.row for one in self.unknown}:
            each = [(one, sd) for one, sd in zip(self.unknown, told, strict=True) if one.row == row]
            weights = [one.weighed for one, _ in each]
            apart = each[0][0].arms is not None
            noise[row] = min(scale([sd for _, sd in each], weights) if apart else each[0][1], BOUNDLESS)
            if apart and precision is not None:
                precision = precision.copy()
                for (one, _), own in zip(each, worth(weights), strict=True):
                    precision[row, one.arms] = own
        problem = replace(state.problem, noise=tuple(noise), repeats=repeats, precision=precision)
        return replace(state, problem=problem)
