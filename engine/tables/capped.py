"""Values that stand at the end of an assay's range and may be bounds: 100000 nM again and again."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence

from ..domain.endpoint import Endpoint
from ..domain.measurements import Result
from ..domain.p_scale import is_p_scale

__all__ = ["may_be_bounds"]

_FEWEST = 3
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
    if len(exact) < 2 * _FEWEST:
        return None
    counts = Counter(result.value for result in exact)
    last = min(counts) if log else max(counts)
    times = counts.pop(last)
    often = max([_FEWEST, _SHARE * len(exact), *(_TIMES * n for n in counts.values() if n > 1)])
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
