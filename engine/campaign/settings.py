"""The goal of a campaign and the capacity of the lab, as settings."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from numbers import Real
from typing import Any

import numpy as np

from ..arrays import Floats
from ..domain.controls import Control, check_names
from ..domain.goals import GOALS, AllEpsilonBest, Best, Goal, ParetoSet, Top
from ..errors import AssayPilotError
from ..strategies.protocol import check_delta

_LAB = "Give what the lab can do."
_WHOLE = (
    ("--per-round", "measurements per round", "per_round", 1, _LAB),
    ("--max-replicates", "measurements of one compound in a round", "max_replicates", 1, _LAB),
    ("--budget", "the budget", "budget", 1, "Leave it out for no limit."),
    ("--seed", "the seed", "seed", 0, "Leave it out."),
    ("--top", "the number of best compounds", "top", 1, "For example 10."),
)
"""Whole numbers: option, name, field, least value, and what to do about another one."""


def _whole(value: object) -> int | None:
    """Return the whole number that a value is, 12 for 12.0; None for anything else."""
    if not isinstance(value, Real) or isinstance(value, bool):
        return None
    number = float(value)
    return int(number) if number.is_integer() else None


@dataclass(frozen=True, slots=True)
class Settings:
    """The goal, and what the lab can do."""

    objective: str = ""
    """Name of the endpoint the goal is about; for trade-offs the first of ``objectives``."""
    epsilon: float | None = None
    """Distance from the best that still counts, for trade-offs the difference that does not matter, model scale.

    Needed for ``epsilon-best``; None elsewhere when it was not given.
    """
    slack: float | None = None
    """Softness of the cutoff, model scale; None means half of epsilon. Trade-offs have none."""
    delta: float = 0.05
    """1 - confidence."""
    goal: str = "epsilon-best"
    strategy: str = "proven"
    """By name; ``proven``: the proven strategy that fits; ``auto``: what the program would take."""
    parameters: Mapping[str, Any] = field(default_factory=dict)
    per_round: int = 96
    """Measurements the lab takes in one round, of all endpoints together."""
    max_replicates: int = 4
    """Measurements of one endpoint of one compound in one round."""
    budget: int | None = None
    """Measurements in all, of all endpoints together; None without a limit."""
    seed: int = 0
    objectives: tuple[str, ...] = ()
    """Names of the endpoints the goal is about; for ``pareto`` two or more, empty until a campaign fills in its own."""
    controls: tuple[Control, ...] = ()
    """Controls, measured besides the library to compare plates and rounds."""
    top: int | None = None
    """For the goal ``top``, the number of best compounds sought."""

    def __post_init__(self) -> None:
        if self.goal not in GOALS:
            raise AssayPilotError(
                f"there is no goal {self.goal!r}", option="--goal", mend=f"Choose one of: {', '.join(GOALS)}."
            )
        names = tuple(self.objectives)
        if self.goal != "pareto":
            names = (self.objective,) if self.objective else ()
        elif not names and self.objective:
            names = (self.objective,)
        object.__setattr__(self, "objectives", names)
        object.__setattr__(self, "objective", names[0] if names else "")
        self._check_numbers()
        if self.slack is None or self.goal == "pareto":
            object.__setattr__(self, "slack", 0.0 if self.goal == "pareto" else self.distance / 2.0)
        self._check_goal()
        check_names(self.controls)
        check_delta(self.delta)

    def _check_numbers(self) -> None:
        """Make whole numbers of equal floats; AssayPilotError for what is no number, or too small."""
        for option, name, field_name, least, mend in _WHOLE:
            value = getattr(self, field_name)
            if value is None and field_name in ("budget", "top"):
                continue
            whole = _whole(value)
            if whole is None or whole < least:
                wanted = "a whole number" if whole is None else f"{least} or more"
                raise AssayPilotError(f"{name} must be {wanted}, got {value!r}", option=option, mend=mend)
            object.__setattr__(self, field_name, whole)
        for field_name in ("epsilon", "slack", "delta"):
            value = getattr(self, field_name)
            if not (isinstance(value, Real) or (value is None and field_name != "delta")):
                raise AssayPilotError(
                    f"{field_name} must be a number, got {value!r}", option=f"--{field_name}", mend="For example 0.5."
                )

    def _check_goal(self) -> None:
        if self.goal == "epsilon-best" and self.epsilon is None:
            raise AssayPilotError(
                "the distance from the best (epsilon) is missing",
                option="--epsilon",
                mend="For example 0.5: in log units, within 3-fold of the best.",
            )
        if (self.top is None) == (self.goal == "top"):
            raise AssayPilotError(
                "the number of best compounds is missing"
                if self.top is None
                else f"a number of best compounds goes with the goal top, and the goal is {self.goal}",
                option="--top",
                mend="For example 10." if self.top is None else "Ask for the goal top, or leave the number out.",
            )
        if self.epsilon is not None and self.goal in ("best", "top"):
            AllEpsilonBest(self.epsilon, self.softness)
        if self.goal == "pareto":
            twice = [name for name in self.objectives if self.objectives.count(name) > 1]
            if twice:
                raise AssayPilotError(f"endpoint {twice[0]} is named twice", option="--objective", mend="Name it once.")
            if self.epsilon is not None and not (math.isfinite(self.epsilon) and self.epsilon >= 0):
                raise AssayPilotError(
                    f"epsilon must be a number >= 0, got {self.epsilon}",
                    option="--epsilon",
                    mend="It is the difference that does not matter; 0 when every one does.",
                )
            if len(self.objectives) == 1:
                ParetoSet((0.0,))
        else:
            self.goal_of((0.0,))

    @property
    def softness(self) -> float:
        """The slack as a number."""
        return self.distance / 2.0 if self.slack is None else self.slack

    @property
    def distance(self) -> float:
        """Epsilon as a number, 0 where none was given."""
        return 0.0 if self.epsilon is None else self.epsilon

    def goal_of(self, margins: tuple[float, ...]) -> Goal:
        """Return the goal as strategies know it; ``margins`` are those of a Pareto goal, one per objective."""
        if self.goal == "pareto":
            return ParetoSet(margins)
        if self.top is not None:
            return Top(self.top, self.softness)
        return Best(self.softness) if self.goal == "best" else AllEpsilonBest(self.distance, self.softness)

    def border(self, means: Floats) -> float:
        """Return where the answer of a goal about one endpoint ends among means, larger being better ``(n,)``."""
        if self.top is not None:
            return float(Top(self.top).border(means))
        return float(np.nanmax(means)) - (self.distance if self.goal == "epsilon-best" else 0.0)
