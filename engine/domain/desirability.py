"""Profiles: desirability curves of endpoints and properties, and the score of how well a compound meets all.

Derringer and Suich's desirability: straight ramps turn each endpoint into 0 (no use) to 1 (as desired). The score is
their weighted geometric mean, so one useless endpoint makes a compound useless.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise

import numpy as np

from ..arrays import Flags, Floats, Ints
from ..errors import AssayPilotError

MET = 0.5
"""A profile is met by a compound whose every desirability is at least this: half way up every ramp."""
_EXAMPLE = "For example pIC50:6..8 (of no use at 6, as wanted at 8), or MW:300..350..450..500 with a plateau."
_SPEC = re.compile(r"\s*(?P<name>.*\S)\s*:(?P<values>[^:;]*)(?:;\s*weight\s*=(?P<weight>[^;]*))?\s*")


@dataclass(frozen=True, slots=True)
class Curve:
    """How desirable values are: of one endpoint, in its entry unit, or of a property calculated from structures."""

    endpoint: str
    """The endpoint or the property."""
    values: tuple[float, ...]
    """Two: of no use, as desired; or four: of no use, as desired, as desired, of no use."""
    weight: float = 1.0

    def __post_init__(self) -> None:
        steps = [after - before for before, after in pairwise(self.values)]
        ramps = steps[::2]
        if len(self.values) not in (2, 4) or not all(map(math.isfinite, self.values)):
            raise AssayPilotError(
                f"the curve of {self.endpoint} needs two or four numbers", option="--profile", mend=_EXAMPLE
            )
        if not all(ramps):
            raise AssayPilotError(
                f"both ends of a ramp of {self.endpoint} are {self.values[steps.index(0.0)]:g}",
                option="--profile",
                mend="Give two different values. A sharp border is a limit instead.",
            )
        if any(step * ramps[0] < 0 for step in steps):
            raise AssayPilotError(
                f"the four values of {self.endpoint} must rise or fall all the way", option="--profile", mend=_EXAMPLE
            )
        if not (math.isfinite(self.weight) and self.weight > 0):
            raise AssayPilotError(
                f"the weight of {self.endpoint} must be a number > 0, got {self.weight:g}", option="--profile"
            )

    @property
    def text(self) -> str:
        """``pIC50:6..8``, as ``parse_curve`` reads it."""
        weight = "" if self.weight == 1.0 else f";weight={self.weight:g}"
        return f"{self.endpoint}:{'..'.join(f'{value:.10g}' for value in self.values)}{weight}"


def parse_curve(text: str) -> Curve:
    """Return the curve of a text like ``pIC50:6..8`` or ``MW:550..450;weight=0.5``."""
    match = _SPEC.fullmatch(text)
    try:
        if match is None:
            raise ValueError
        values = tuple(_number(value) for value in match["values"].split(".."))
        return Curve(match["name"], values, 1.0 if match["weight"] is None else _number(match["weight"]))
    except ValueError:
        raise AssayPilotError(f"{text.strip()!r} is no curve", option="--profile", mend=_EXAMPLE) from None


def _number(text: str) -> float:
    return float(text.strip().replace(",", "."))


@dataclass(frozen=True, slots=True)
class Profile:
    """Curves as the models use them: on the model scale of each endpoint, turned so that larger is better."""

    row: int
    """Row of the score among the values."""
    parts: tuple[int, ...]
    """Row of the endpoint of each curve."""
    corners: tuple[tuple[float, ...], ...]
    """Of each curve two values (desirability 0, 1) or four (0, 1, 1, 0)."""
    weights: tuple[float, ...]
    """Of the endpoints, then of the calculated properties; they sum to 1."""
    calculated: Floats | None = field(default=None, repr=False, compare=False)
    """``(n_properties, n)`` desirabilities of calculated properties, known of every compound; None without any."""

    def among(self, compounds: Ints) -> Profile:
        """Return the profile of some of the compounds, in the order of the last axis of values."""
        return self if self.calculated is None else replace(self, calculated=self.calculated[:, compounds])

    def desirabilities(self, values: Floats) -> Floats:
        """Return the desirability of each endpoint, ``(n_parts, ..., n)``, from values of the same shape."""
        found = np.empty_like(values, dtype=np.float64)
        for place, corners in enumerate(self.corners):
            found[place] = desirability(values[place], corners)
        return found

    def score(self, values: Floats) -> Floats:
        """Return the weighted geometric mean of the desirabilities, 0 to 1, ``(..., n)``; NaN where a value is."""
        weights = np.array(self.weights[: len(self.parts)]).reshape(-1, *[1] * (values.ndim - 1))
        product: Floats = np.prod(self.desirabilities(values) ** weights, axis=0)
        if self.calculated is not None:
            own = np.array(self.weights[len(self.parts) :])
            product = product * np.prod(self.calculated ** own[:, None], axis=0)
        return product

    def met(self, values: Floats) -> Flags:
        """Return whether every desirability is at least ``MET``, ``(..., n)``."""
        met = np.all(self.desirabilities(values) >= MET, axis=0)
        if self.calculated is not None:
            met = met & np.all(self.calculated >= MET, axis=0)
        return np.asarray(met)

    def filled(self, rows: Floats) -> Floats:
        """Return rows of values ``(n, ...)`` of all endpoints but the score with that of the score put in."""
        whole = np.insert(rows, self.row, 0.0, axis=0)
        whole[self.row] = self.score(whole[list(self.parts)])
        return whole

    def middle(self, place: int) -> float:
        """Return the value half way up the first ramp of the endpoint in that row."""
        return float(np.mean(self.corners[self.parts.index(place)][:2]))

    def width(self, place: int) -> float:
        """Return the width of the first ramp of the endpoint in that row."""
        return abs(float(np.diff(self.corners[self.parts.index(place)][:2])[0]))

    def at(self, places: Sequence[int]) -> Profile:
        """Return the profile for rows that are the endpoints at these places."""
        return replace(self, row=places.index(self.row), parts=tuple(places.index(part) for part in self.parts))

    def noise(self, sds: Sequence[float]) -> float:
        """Return the SD of the score of one measurement of each endpoint, half way up every ramp.

        By the first-order rule, from the ``sds`` of the endpoints.
        """
        own = self.weights[: len(self.parts)]
        slopes = (w / self.width(part) for w, part in zip(own, self.parts, strict=True))
        return min(math.hypot(*(slope * sd for slope, sd in zip(slopes, sds, strict=True))), 0.5)


def desirability(values: Floats, corners: Sequence[float]) -> Floats:
    """Return how desirable values are by a curve of two or four values, 0 to 1; NaN where a value is."""
    ramps = [_ramp(values, *corners[:2])]
    if len(corners) == 4:
        ramps.append(_ramp(values, *corners[:1:-1]))
    found: Floats = np.minimum.reduce(ramps)
    return found


def _ramp(values: Floats, zero: float, one: float) -> Floats:
    return np.clip((values - zero) / (one - zero), 0.0, 1.0)
