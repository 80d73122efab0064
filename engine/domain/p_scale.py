"""Negative logarithms of concentrations (pIC50, pKi): which endpoints are entered so, and which numbers hardly are one.

The one rule for tables, results, corrections and what is typed in the window.
"""

from __future__ import annotations

import re

from .endpoint import Endpoint

LOWEST, HIGHEST = 1.0, 13.0
"""Between 0.1 mol/L and 0.1 pmol/L; what lies beyond is more likely a concentration, or a sign that was lost."""
_P_SCALE = re.compile(
    r"(?:.*[\s_-])?p(?:(?:ic|ec|ac|gi|xc|cc|dc|ed|lc|tc|sc)[ _]?\d\d|ki|kd|a2|kb|chembl|activity|potency|affinity)"
    r"(?:[\s_(-].*)?",
    re.I,
)


def is_p_scale(endpoint: Endpoint) -> bool:
    """Whether values are entered as negative logarithms of a concentration (pIC50, pKi)."""
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
