"""What the field takes for the noise of an assay and for a difference that does not matter, where nobody says it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from .endpoint import Endpoint

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


def usual(endpoint: Endpoint, values: Sequence[float]) -> Usual | None:
    """Return the usual noise and epsilon of an endpoint; None where neither its scale nor its values tell any.

    ``values``: those that are known, on the model scale.
    """
    if endpoint.is_log:
        return Usual(*_LOG, "log values")
    if endpoint.unit == "%":
        return Usual(*_PER_CENT, "per cents")
    if len(values) < _FEWEST:
        return None
    low, high = np.quantile(np.asarray(values, dtype=np.float64), [0.05, 0.95])
    if not high > low:
        return None
    noise, epsilon = (float(f"{share * (high - low):.2g}") for share in _OF_SPREAD)
    return Usual(noise, epsilon, "a tenth and a fifth of the range of the values")
