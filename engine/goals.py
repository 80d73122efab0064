"""What is wanted of a library, and which compounds that is when the truth is known."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from assaypilot.engine.errors import AssayPilotError

__all__ = ["GOALS", "AllEpsilonBest"]

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class AllEpsilonBest:
    """All compounds within epsilon of the best, the cutoff soft by slack.

    A right answer holds every compound within epsilon and none worse than epsilon + slack. Larger is better here:
    callers turn an endpoint that should be small around first.
    """

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
        if not (math.isfinite(self.slack) and self.slack >= 0):
            raise AssayPilotError(f"slack must be a number >= 0 on the model scale, got {self.slack}", option="--slack")

    def members(self, means: Floats) -> NDArray[np.bool_]:
        """Which compounds are within epsilon of the best, ``(n,)``; a mean that is NaN is never a member."""
        return means >= np.nanmax(means) - self.epsilon

    def acceptable(self, means: Floats) -> NDArray[np.bool_]:
        """Which compounds a right answer may hold: within epsilon + slack."""
        return means >= np.nanmax(means) - (self.epsilon + self.slack)

    def is_right(self, answer: NDArray[np.bool_], means: Floats) -> bool:
        """Whether an answer holds every member and nothing that is not acceptable."""
        return bool(np.all(answer[self.members(means)]) and not np.any(answer & ~self.acceptable(means)))


GOALS = ("epsilon-best",)
"""The goals a campaign can have."""
