"""Values that may not be what they seem: bounds at the end of a range, another scale, marks that exclude them."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence

from ..domain.endpoint import Endpoint
from ..domain.measurements import Result
from ..domain.p_scale import is_p_scale
from ..text.percentages import percent
from . import headers
from .raw import RawTable, fold
from .values import YES
from .vocabulary import CELLS, HEADERS

_FEWEST_BOUNDS = 3
_SHARE = 0.05
_TIMES = 3
"""How many times as often as the next most frequent value the last one must occur."""
_ROUND = (1.0, 2.0, 2.5, 3.0, 5.0)
_P_ROUND = 0.05
"""How far the logarithm of a round concentration may be rounded: 4.7 for 20 uM."""


def may_be_bounds(endpoint: Endpoint, results: Sequence[Result]) -> str | None:
    """Return a question about a round concentration that is the least potent value, and is there strikingly often.

    Or None.

    Potencies alone: many labs write the highest concentration tested for what did nothing there. As an exact value it
    makes the inactive compounds look alike, and as potent as that.
    """
    log = is_p_scale(endpoint)
    if not (log or endpoint.is_potency) or endpoint.kind != "value":
        return None
    exact = [r for r in results if r.relation == "=" and r.unit is None and not r.excluded]
    if len(exact) < 2 * _FEWEST_BOUNDS:
        return None
    counts = Counter(result.value for result in exact)
    last = min(counts) if log else max(counts)
    times = counts.pop(last)
    often = max([_FEWEST_BOUNDS, _SHARE * len(exact), *(_TIMES * n for n in counts.values() if n > 1)])
    if times < often or not _is_round(10 ** (9 - last) if log else last, _P_ROUND if log else 1e-9):
        return None
    text = f"{last:g}" if log or last < 1e6 else f"{last:.0f}"
    unit = f" {endpoint.unit}" if endpoint.unit else ""
    sign = "<" if log else ">"
    return (
        f"{times} values of {endpoint.name} are exactly {text}{unit}, and none is less potent. If that is the end of "
        f"the assay's range, write {sign}{text}: as exact values they say that these compounds are alike."
    )


def _is_round(concentration: float, within: float) -> bool:
    """Whether a concentration is one that people choose for the top of a curve: 1, 2, 3 or 5 times a power of ten."""
    if concentration <= 0 or not math.isfinite(concentration):
        return False
    log = math.log10(concentration)
    return any(abs(log - round(log - math.log10(step)) - math.log10(step)) <= within for step in _ROUND)


_FEWEST_COMPOUNDS = 3
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
    if len({r.compound for r in own}) < _FEWEST_COMPOUNDS or any(r.unit is not None for r in own):
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


_FAILED = frozenset(CELLS["failed"])
_PASSED = frozenset(
    {"", "-", "pass", "passed", "ok", "valid", "good", "accept", "accepted", "approved", "gültig", "validated"}
)
_CALLED = HEADERS["quality"]
"""What columns of such a check are called, folded, the surest name first."""


def is_marked(text: str) -> bool:
    """Whether a cell says that the value beside it is not to be used."""
    word = text.strip().casefold()
    return word in YES or word in _FAILED


def quality_column(raw: RawTable, columns: Sequence[str]) -> str | None:
    """Return column of ``columns`` that says pass and fail of the rows and nothing else, where one at least failed."""
    for name in _CALLED:
        for column in columns:
            if fold(column) == name:
                words = {text.strip().casefold() for text in raw.column(column)}
                if words <= _PASSED | _FAILED and not words.isdisjoint(_FAILED):
                    return column
    return None
