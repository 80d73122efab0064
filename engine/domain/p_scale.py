"""Negative logarithms of concentrations (pIC50, pKi): which endpoints are entered so, and which numbers hardly are one.

The one rule for tables, results, corrections and what is typed in the window.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence

from .endpoint import Endpoint

LOWEST, HIGHEST = 1.0, 13.0
"""Between 0.1 mol/L and 0.1 pmol/L; a value beyond is more likely a concentration, or a sign that was lost."""
USUAL = (3.0, 11.0)
"""Range of nearly every pIC50."""
_P_SCALE = re.compile(
    r"(?:.*[\s_(\[-])?p(?:(?:ic|ec|ac|gi|xc|cc|dc|ed|lc|tc|sc)[ _]?\d\d|ki|kd|a2|kb|chembl|activity|potency|affinity)"
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
