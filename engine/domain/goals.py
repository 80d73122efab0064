"""Goals: what is sought in a library, and which compounds meet it when the truth is known.

Larger is better here: callers turn an endpoint that should be small around first. An answer is a set of compounds;
every goal defines which sets are right, so that all strategies are scored in the same way.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from ..arrays import Flags, Floats
from ..errors import AssayPilotError
from .pareto import beaten


def _at_least_zero(name: str, value: float, option: str | None) -> None:
    if not (math.isfinite(value) and value >= 0):
        raise AssayPilotError(
            f"{name} must be a number >= 0 on the model scale, got {value}",
            option=option,
            mend="Give 0 for none.",
        )


@dataclass(frozen=True, slots=True)
class AllEpsilonBest:
    """All compounds within epsilon of the best, the cutoff soft by slack.

    A right answer contains every compound within epsilon and none worse than epsilon + slack.
    """

    name: ClassVar[str] = "epsilon-best"

    epsilon: float
    """Distance from the best that still counts, in the endpoint's model scale."""
    slack: float = 0.0
    """Compounds between epsilon and epsilon + slack may be in or out."""

    def __post_init__(self) -> None:
        if not (math.isfinite(self.epsilon) and self.epsilon > 0):
            raise AssayPilotError(
                f"epsilon must be a number > 0 on the model scale, got {self.epsilon}",
                option="--epsilon",
                mend="0.5 log units means within 3-fold of the best.",
            )
        _at_least_zero("slack", self.slack, "--slack")

    def members(self, means: Floats) -> Flags:
        """Return which compounds are within epsilon of the best, ``(n,)``; a mean that is NaN is never a member."""
        return means >= np.nanmax(means) - self.epsilon

    def acceptable(self, means: Floats) -> Flags:
        """Return which compounds a right answer may contain: within epsilon + slack."""
        return means >= np.nanmax(means) - (self.epsilon + self.slack)

    def is_right(self, answer: Flags, means: Floats) -> bool:
        """Return whether an answer contains every member and nothing that is not acceptable."""
        return bool(np.all(answer[self.members(means)]) and not np.any(answer & ~self.acceptable(means)))


@dataclass(frozen=True, slots=True)
class Best:
    """One best compound; with slack, any compound at most that far from the best is right."""

    name: ClassVar[str] = "best"

    slack: float = 0.0
    """Distance from the best at which a compound is as good as the best, model scale."""

    def __post_init__(self) -> None:
        _at_least_zero("slack", self.slack, "--slack")

    def members(self, means: Floats) -> Flags:
        """Return which compounds are the best, ``(n,)``; several when they tie."""
        return means >= np.nanmax(means)

    def acceptable(self, means: Floats) -> Flags:
        """Return which compounds a right answer may name: within slack of the best."""
        return means >= np.nanmax(means) - self.slack

    def is_right(self, answer: Flags, means: Floats) -> bool:
        """Return whether an answer names exactly one compound, and that one is acceptable."""
        return int(answer.sum()) == 1 and bool(self.acceptable(means)[answer].all())


@dataclass(frozen=True, slots=True)
class Top:
    """So many of the best compounds; with slack, any compound at most that far behind the last of them is right."""

    name: ClassVar[str] = "top"

    count: int
    """How many compounds."""
    slack: float = 0.0
    """Distance from the last of them at which a compound is as good, model scale."""

    def __post_init__(self) -> None:
        if self.count < 1:
            raise AssayPilotError(f"the number of best compounds must be 1 or more, got {self.count}", option="--top")
        _at_least_zero("slack", self.slack, "--slack")

    def border(self, means: Floats) -> Floats:
        """Return the mean of the last of the best along the last axis; -inf where there are no more compounds."""
        known = np.where(np.isnan(means), -np.inf, means)
        if self.count >= known.shape[-1]:
            return np.asarray(np.full(known.shape[:-1], -np.inf))
        return np.asarray(np.partition(known, -self.count, axis=-1)[..., -self.count])

    def members(self, means: Floats) -> Flags:
        """Return which compounds are among the best, ``(n,)``: more when they tie, none whose mean is NaN."""
        return means >= self.border(means)

    def acceptable(self, means: Floats) -> Flags:
        """Return which compounds a right answer may name: within slack of the last of the best."""
        return means >= self.border(means) - self.slack

    def is_right(self, answer: Flags, means: Floats) -> bool:
        """Return whether an answer names so many compounds, all of them acceptable."""
        size = min(self.count, int((~np.isnan(means)).sum()))
        return int(answer.sum()) == size and bool(self.acceptable(means)[answer].all())


@dataclass(frozen=True, slots=True)
class Threshold:
    """All compounds whose mean is above a threshold; within slack of it either answer is right."""

    name: ClassVar[str] = "threshold"

    threshold: float
    """Model scale, larger is better."""
    slack: float = 0.0

    def __post_init__(self) -> None:
        if not math.isfinite(self.threshold):
            raise AssayPilotError(f"the threshold must be a number, got {self.threshold}")
        _at_least_zero("slack", self.slack, "--slack")

    def members(self, means: Floats) -> Flags:
        """Return which compounds are above the threshold, ``(n,)``."""
        return means > self.threshold

    def acceptable(self, means: Floats) -> Flags:
        """Return which compounds a right answer may contain: above the threshold, or below it by at most the slack."""
        return means > self.threshold - self.slack

    def is_right(self, answer: Flags, means: Floats) -> bool:
        """Return whether an answer contains all above threshold + slack, and only acceptable ones."""
        sure = means > self.threshold + self.slack
        return bool(np.all(answer[sure]) and not np.any(answer & ~self.acceptable(means)))


@dataclass(frozen=True, slots=True)
class ParetoSet:
    """The compounds no other compound beats in every endpoint; with margins, members up to them may be in too.

    Means are ``(n_endpoints, n)``. With margins 0 a right answer is exactly the Pareto set; with margins it has the
    Pareto set and nothing that some compound beats by more than its margin in every endpoint at once.
    """

    name: ClassVar[str] = "pareto"

    margins: tuple[float, ...]
    """One per endpoint, model scale: the difference that does not matter."""

    def __post_init__(self) -> None:
        if len(self.margins) < 2:
            raise AssayPilotError(
                f"the Pareto set needs at least two endpoints, got {len(self.margins)}",
                option="--goal",
                mend="Name another endpoint, or ask for epsilon-best.",
            )
        for margin in self.margins:
            _at_least_zero("the difference that does not matter", margin, "--epsilon")
        if any(self.margins) and not all(self.margins):
            raise AssayPilotError(
                "give every endpoint of a Pareto goal a difference that does not matter, or none: "
                f"they are {', '.join(f'{margin:g}' for margin in self.margins)}",
                option="--epsilon",
                mend="Epsilon is that of every endpoint that names none of its own.",
            )

    def members(self, means: Floats) -> Flags:
        """Return which compounds no other beats in every endpoint, ``(n,)``; NaN is never a member."""
        return ~dominated(means) & ~np.isnan(means).any(axis=0)

    def acceptable(self, means: Floats) -> Flags:
        """Return which compounds a right answer may contain: none beats them by over the margin in every endpoint."""
        known = ~np.isnan(means).any(axis=0)
        return ~dominated(means, self.margins) & known

    def is_right(self, answer: Flags, means: Floats) -> bool:
        """Return whether an answer contains every member and nothing that is not acceptable."""
        return bool(np.all(answer[self.members(means)]) and not np.any(answer & ~self.acceptable(means)))


def dominated(means: Floats, margins: tuple[float, ...] | None = None) -> Flags:
    """Return which columns of ``(n_endpoints, n)`` some other beats by more than the margins in every row, ``(n,)``.

    Strictly better in every endpoint (the papers' dominance): equal compounds do not beat each other. NaN beats nothing
    and is beaten where the rest is.
    """
    shift = np.zeros(len(means)) if margins is None else np.asarray(margins, dtype=float)
    return beaten(means, means + shift[:, None])


Goal = AllEpsilonBest | Best | ParetoSet | Threshold | Top
"""The goals a strategy can have."""

GOALS = ("epsilon-best", "pareto", "best", "top")
"""The goals a campaign can have."""
