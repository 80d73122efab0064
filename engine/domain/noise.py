"""What is usual of an endpoint: its noise, a difference that does not matter, and values on a p scale (pIC50, pKi).

The one rule for tables, results, corrections and what is typed in the window; with the noise as users state it.
"""

from __future__ import annotations

import math
import re
import statistics
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ..errors import AssayPilotError

if TYPE_CHECKING:
    from .endpoint import Endpoint

LOWEST, HIGHEST = 1.0, 13.0
"""Between 0.1 mol/L and 0.1 pmol/L; a value beyond is more likely a concentration, or a sign that was lost."""
USUAL = (3.0, 11.0)
"""Range of nearly every pIC50."""
_P_SCALE = re.compile(
    r"(?:.*[\s_(\[;|-])?p(?:(?:ic|ec|ac|gi|xc|cc|dc|ed|lc|tc|sc)[ _]?\d\d|ki|kd|a2|kb|chembl|activity|potency|affinity)"
    r"(?:[\s_()\]-].*)?",
    re.I,
)


def is_p_scale(endpoint: Endpoint) -> bool:
    """Return whether values are entered as negative logarithms of a concentration (pIC50, pKi)."""
    return endpoint.transform == "none" and not endpoint.unit and _P_SCALE.fullmatch(endpoint.name) is not None


def is_unusual(endpoint: Endpoint, value: float) -> bool:
    """Whether a number without a unit is hardly one of a p scale (35 in a pIC50 cell); False for other endpoints."""
    return is_p_scale(endpoint) and not LOWEST <= value <= HIGHEST


def unusual(endpoint: Endpoint, value: float) -> str | None:
    """Return the question about such a number; None where there is none."""
    if not is_unusual(endpoint, value):
        return None
    # No concentration is 0 or less.
    perhaps = f': "{value:g} nM"?' if value > 0 else "; is it right?"
    return f"{value:g} is unusual for {endpoint.name}{perhaps}"


_FEWEST_BEFORE = 6
"""Number of values from which the usual range of an endpoint is known."""
_UNIT_STEP = 3.0
"""Neighbouring units (nM and µM, µg and mg) differ by a factor of 1,000."""


def about_unit(endpoint: Endpoint, values: Sequence[float], before: Sequence[float]) -> str | None:
    """Return a remark on values that are all about a factor of 1,000 beyond those measured ``before``.

    None where they do not. Both in the entry unit; only of quantities that are compared by factors.
    """
    if endpoint.transform != "log" or not values or len(before) < _FEWEST_BEFORE:
        return None
    low, high, last = min(values), max(values), sorted(before)
    middle, usual = sorted(values)[len(values) // 2], last[len(last) // 2]
    steps = math.log10(middle / usual) / _UNIT_STEP
    if not (high < last[0] or low > last[-1]) or not 2 / 3 <= abs(steps) <= 4 / 3:
        return None
    these = f"The value {middle:.4g}" if len(values) == 1 else f"The {len(values)} values from {low:.4g} to {high:.4g}"
    have, lie = ("has", "lies") if len(values) == 1 else ("have", "lie")
    taken = f": taken as {endpoint.unit}, " if endpoint.unit else ": "
    they = "it" if len(values) == 1 else "they"
    return (
        f"{these} of {endpoint.name} {have} no unit{taken}{they} {lie} about a factor of 1,000 from the {len(before)} "
        f"before ({last[0]:.4g} to {last[-1]:.4g})."
    )


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
