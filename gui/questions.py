"""Which entered values of a round are far from what was expected of them."""

from __future__ import annotations

import math
from dataclasses import dataclass

from assaypilot.engine.campaign.plates.shifts import where
from assaypilot.engine.campaign.results.outlying import beside_others, spread_of
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

    Where nothing was expected of a compound yet, from the mean of its other values in the round. Beside plate effects
    that is of those on its plate, and what was expected has the shift of the plate in it, as its controls tell it.
    Values known only as a bound, excluded and withdrawn ones are not asked about.
    """
    lines = {item.compound: place for place, item in enumerate(shown.items)}
    found = []
    groups: dict[tuple[int, int], list[Measurement]] = {}
    for one in status.measurements:
        if one.round == shown.number and one.usable:
            groups.setdefault((one.endpoint, one.compound), []).append(one)
    for one in status.measurements:
        line = lines.get(one.compound)
        noise = spread_of(status.endpoints[one.endpoint], groups.get((one.endpoint, one.compound), ()))
        if one.round != shown.number or not one.usable or line is None or noise is None:
            continue
        told, stood = None, where(status.settings.blocks, status.shifts, one)
        if one.endpoint in shown.endpoints and stood.shift is not None:
            place = shown.endpoints.index(one.endpoint)
            told = shown.items[line].expected_of(place, objective=one.endpoint == status.objective)
        if told is None:
            # Before anything is expected of a compound its own values say what it is.
            group = groups[one.endpoint, one.compound]
            same = [m for m in group if where(status.settings.blocks, status.shifts, m).block == stood.block]
            beside = beside_others(one, same, noise)
            if beside is None:
                continue
            expected, spread = beside
        else:
            expected, low, high = told
            mean_sd = (high - low) / (2 * HALF_95)
            # Told only where controls say what the plate shifts.
            above, open_ = (0.0, 0.0) if stood.shift is None else (stood.shift.above, 1.0 / stood.shift.read)
            expected += above
            spread = math.sqrt(mean_sd**2 + noise**2 * (1.0 / one.n + open_))
        if abs(one.value - expected) > FAR * spread:
            found.append(Surprise(line, one, expected, spread))
    return found
