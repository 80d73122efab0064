"""Which entered values of a round are far from what was expected of them."""

from __future__ import annotations

import math
from dataclasses import dataclass

from assaypilot.engine.campaign.state import Round, Status
from assaypilot.engine.measurements import Measurement

__all__ = ["Surprise", "surprises"]

FAR = 3.0
"""Predictive standard deviations beyond which a value is asked about (1 in 370 of good ones)."""
HALF_95 = 1.96
"""Standard deviations from the middle to the end of a 95 % interval."""


@dataclass(frozen=True, slots=True)
class Surprise:
    """A value that hardly fits what was expected when the round was issued."""

    line: int
    measurement: Measurement
    expected: float
    spread: float
    """SD of the prediction: of the compound's mean and of the measurement."""

    @property
    def off(self) -> float:
        """How far it lies from the expected value."""
        return self.measurement.value - self.expected


def surprises(status: Status, shown: Round) -> list[Surprise]:
    """The values of a round beyond ``FAR`` predictive standard deviations, in order of entry.

    Values known only as a bound, excluded and withdrawn ones are not asked about.
    """
    noise = status.endpoints[status.objective].noise_sd
    if noise is None:
        return []
    lines = {item.compound: place for place, item in enumerate(shown.items)}
    found = []
    for one in status.measurements:
        line = lines.get(one.compound)
        if one.round != shown.number or one.endpoint != status.objective or not one.usable or line is None:
            continue
        item = shown.items[line]
        if item.expected is None or item.low is None or item.high is None:
            continue
        mean_sd = (item.high - item.low) / (2 * HALF_95)
        spread = math.sqrt(mean_sd**2 + noise**2 / one.n)
        if abs(one.value - item.expected) > FAR * spread:
            found.append(Surprise(line, one, item.expected, spread))
    return found
