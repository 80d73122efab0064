"""Which entered values of a round are far from what was expected of them."""

from __future__ import annotations

import math
from dataclasses import dataclass

from assaypilot.engine.campaign.results.outlying import beside_others, spread_of
from assaypilot.engine.campaign.state import Round, Status
from assaypilot.engine.domain.measurements import Measurement

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

    Where nothing was expected of a compound yet, from the mean of its other values in the round.
    Values known only as a bound, excluded and withdrawn ones are not asked about.
    """
    lines = {item.compound: place for place, item in enumerate(shown.items)}
    found = []
    groups: dict[tuple[int, int], list[Measurement]] = {}
    for one in status.measurements:
        if one.round == shown.number and one.usable and one.compound in lines:
            groups.setdefault((one.endpoint, one.compound), []).append(one)
    for (endpoint, compound), group in groups.items():
        line, noise = lines[compound], spread_of(status.endpoints[endpoint], group)
        if noise is None:
            continue
        known = None
        if endpoint in shown.endpoints:
            place = shown.endpoints.index(endpoint)
            known = shown.items[line].expected_of(place, objective=endpoint == status.objective)
        for one, others in zip(group, beside_others(group, noise), strict=True):
            if known is None:
                # Before anything is expected of a compound its own values say what it is.
                if others is None:
                    continue
                expected, spread = others
            else:
                expected, low, high = known
                spread = math.hypot((high - low) / (2 * HALF_95), noise / math.sqrt(one.n))
            if abs(one.value - expected) > FAR * spread:
                found.append(Surprise(line, one, expected, spread))
    return sorted(found, key=lambda surprise: surprise.measurement.number)
