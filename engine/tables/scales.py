"""Values that look like those of another scale than their column says: logarithms, fractions of one."""

from __future__ import annotations

from collections.abc import Sequence

from ..domain.endpoint import Endpoint
from ..domain.measurements import Result
from ..text.percentages import percent
from . import headers

__all__ = ["another_scale"]

_FEWEST = 3
"""Compounds whose values must all look so."""
_P_RANGE = (3.0, 11.0)
"""Where nearly every pIC50 lies."""
_FRACTIONS = 1.2
"""Fractions of one end here: 120 % of an effect is measured now and then."""


def another_scale(endpoint: Endpoint, results: Sequence[Result]) -> str | None:
    """Return a question about values of one endpoint that all look like those of another scale; None where they do not.

    Three compounds and more that all lie between 3 and 11 nM, and at no effect above 1 %, are rare; 3 to 11 is where
    nearly every pIC50 lies, and 0 to 1 is how spreadsheets store per cents.
    """
    own = [r for r in results if r.endpoint == endpoint.name]
    if len({r.compound for r in own}) < _FEWEST or any(r.unit is not None for r in own):
        return None
    values = [r.value for r in own]
    low, high = min(values), max(values)
    lie = f"All {len(values)} values of {endpoint.name} lie between {low:g} and {high:g}: are they"
    inside = _P_RANGE[0] <= low and high <= _P_RANGE[1]
    if endpoint.transform == "log" and endpoint.unit == "nM" and inside:
        return f"{lie} {endpoint.scale_name} and not nM? They were taken as nM."
    if endpoint.transform == "log" and not endpoint.unit and inside and headers.looks_like_potency(endpoint.name):
        return (
            f"{lie} logarithms, p{endpoint.name}? They were taken as concentrations, of which the lowest is the most "
            f"potent. If they are logarithms, call the column p{endpoint.name}."
        )
    if endpoint.unit == "%" and low >= -_FRACTIONS and high <= _FRACTIONS and any(value % 1 for value in values):
        return f"{lie} fractions and not per cent? They were taken as per cent, at most {percent(high / 100.0, 4)}."
    return None
