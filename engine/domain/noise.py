"""Assay noise as users state it, and usual values of it and of a difference that does not matter."""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ..errors import AssayPilotError

if TYPE_CHECKING:
    from .endpoint import Endpoint

UNKNOWN = "unknown"
"""The word for noise that is estimated on the way, from replicates."""


@dataclass(frozen=True, slots=True)
class StatedNoise:
    """An SD between measurements of one compound, model scale; or that it is not known, perhaps with a guess."""

    sd: float | None
    """The SD; where it is not known a guess for the first plan, or None."""
    estimated: bool = False
    """Whether it is not known."""

    @property
    def text(self) -> str:
        """As it is typed: ``0.2``, ``unknown``, ``unknown:0.2``."""
        own = "" if self.sd is None else f"{self.sd:g}"
        if self.estimated:
            own = f"{UNKNOWN}:{own}" if own else UNKNOWN
        return own


def parse_noise(text: str) -> StatedNoise:
    """Return the noise of ``0.2``, ``unknown`` or ``unknown:0.2``; AssayPilotError for any other text."""
    word, colon, guess = text.strip().partition(":")
    unknown = word.strip().casefold() == UNKNOWN
    number = guess if unknown else text
    if unknown and not colon:
        return StatedNoise(None, True)
    try:
        return StatedNoise(float(number.strip().replace(",", ".")), unknown)
    except ValueError:
        raise AssayPilotError(
            f"assay noise (SD) must be a number or {UNKNOWN}, got {text.strip()!r}",
            option="--sd",
            mend=f"For example 0.2; or {UNKNOWN}, or {UNKNOWN}:0.2 with a guess for the first plan.",
        ) from None


_LOG = (0.3, 0.5)
"""Twofold between independent determinations, threefold as a difference that matters: biochemical and cell assays."""
_PER_CENT = (5.0, 10.0)
_FEWEST = 4
_OF_SPREAD = (0.1, 0.2)
"""Of the range from the 5th to the 95th percentile, where nothing is known of the quantity."""


@dataclass(frozen=True, slots=True)
class Usual:
    """Usual numbers for an endpoint, on the model scale, and what they are usual for."""

    noise_sd: float
    epsilon: float
    what: str


def usual(endpoint: Endpoint, values: Sequence[float] = ()) -> Usual | None:
    """Return the usual noise and epsilon of an endpoint; None where neither its scale nor its values suggest any.

    ``values``: those that are known, on the model scale.
    """
    if endpoint.is_log:
        return Usual(*_LOG, "log values")
    if endpoint.unit == "%":
        return Usual(*_PER_CENT, "per cents")
    if len(values) < _FEWEST:
        return None
    low, *_, high = statistics.quantiles(map(float, values), n=20, method="inclusive")
    if not high > low:
        return None
    noise, epsilon = (float(f"{share * (high - low):.2g}") for share in _OF_SPREAD)
    return Usual(noise, epsilon, "a tenth and a fifth of the range of the values")
