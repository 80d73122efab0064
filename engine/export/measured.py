"""Measured means of each compound, their numbers of values, and values known only as bounds."""

from __future__ import annotations

from dataclasses import dataclass
from math import fsum, isfinite, sqrt
from weakref import WeakKeyDictionary

import numpy as np

from ..campaign.state import Status
from ..chemistry.calculated import properties_of
from ..domain.derived import profile_of
from ..tables.entries import Shown, shown


@dataclass(frozen=True, slots=True)
class MeasuredMean:
    """The measured values of one compound and endpoint, on the model scale."""

    values: tuple[Shown, ...]
    """One relation and mean; two where there is a bound on each side alone."""
    n: int
    """Determinations behind it."""
    sd: float | None = None
    """SD of the single values; None of fewer than two numbers."""

    @property
    def mean(self) -> float | None:
        """The mean where it is a number; None where only a bound is known."""
        return self.values[0][1] if len(self.values) == 1 and self.values[0][0] == "=" else None

    def text(self, digits: int = 2) -> str:
        """``6.75``, ``<5.00``: the mean without its count."""
        return " ".join(f"{relation.strip('=')}{value:.{digits}f}" for relation, value in self.values)


Means = list[tuple[str, dict[int, MeasuredMean]]]
"""Measured means by compound, with the name of their scale."""


_KNOWN: WeakKeyDictionary[Status, dict[int, dict[int, MeasuredMean]]] = WeakKeyDictionary()
"""Means computed so far, by status; a status never changes."""


def measured_means(status: Status, endpoint: int) -> dict[int, MeasuredMean]:
    """Return the measured mean of every compound that has one, by its position; earlier values count too.

    Of a difference of two endpoints it is the difference of their means, with the smaller count; of a profile the score
    of the means.
    """
    known = _KNOWN.setdefault(status, {})
    if endpoint not in known:
        known[endpoint] = _measured_means(status, endpoint)
    return known[endpoint]


def _measured_means(status: Status, endpoint: int) -> dict[int, MeasuredMean]:
    parts = status.endpoints[endpoint].of
    if status.endpoints[endpoint].curves:
        return _scores(status, endpoint)
    if parts is not None:
        places = [next(k for k, one in enumerate(status.endpoints) if one.name == name) for name in parts]
        first, second = (measured_means(status, place) for place in places)
        return {
            compound: MeasuredMean((("=", own.mean - other.mean),), min(own.n, other.n))
            for compound, own in first.items()
            if own.mean is not None and (other := second.get(compound)) is not None and other.mean is not None
        }
    entries: dict[int, list[tuple[Shown, int]]] = {}
    for one in status.measurements:
        if one.endpoint == endpoint and one.excluded is None and not one.withdrawn:
            entries.setdefault(one.compound, []).append(((one.relation, one.value), one.n))
    return {
        compound: MeasuredMean(
            shown([value for value, _ in own], [n for _, n in own]), sum(n for _, n in own), _sd([v for v, _ in own])
        )
        for compound, own in entries.items()
    }


def _scores(status: Status, endpoint: int) -> dict[int, MeasuredMean]:
    """Return the scores of compounds of which every part of a profile has a measured mean."""
    profile = profile_of(status.endpoints, endpoint, properties_of(status.library))
    signs = np.array([status.endpoints[part].sign for part in profile.parts])
    of_parts = [
        {compound: one for compound, one in measured_means(status, part).items() if one.mean is not None}
        for part in profile.parts
    ]
    compounds = sorted(set.intersection(*map(set, of_parts)))
    values = np.array([[means[compound].mean for compound in compounds] for means in of_parts], dtype=np.float64)
    scores = profile.among(np.array(compounds, dtype=np.intp)).score(signs[:, None] * values)
    return {
        compound: MeasuredMean((("=", score),), min(means[compound].n for means in of_parts))
        for compound, score in zip(compounds, scores.tolist(), strict=True)
    }


def _sd(values: list[Shown]) -> float | None:
    numbers = [value for relation, value in values if relation == "="]
    if len(numbers) < 2:
        return None
    mean = fsum(numbers) / len(numbers)  # statistics.stdev counts in fractions, which is felt with many compounds
    return sqrt(fsum((value - mean) ** 2 for value in numbers) / (len(numbers) - 1))


def means_of(status: Status) -> Means:
    """Return the measured means of each endpoint of the goal or with a limit, by the name of its scale."""
    return [(status.endpoints[place].scale_name, measured_means(status, place)) for place in status.requested_endpoints]


def means_words(means: Means, compound: int, digits: int) -> str:
    """Return ``measured 6.75 (n = 3)``, by name where there are several endpoints; empty when nothing was measured."""
    found = [(name, own[compound]) for name, own in means if compound in own]
    words = [
        f"{f'{name} ' if len(means) > 1 else ''}{one.text(digits)} (n = {one.n})" for name, one in found if one.values
    ]
    return f"measured {', '.join(words)}" if words else ""


def bound_text(status: Status, endpoint: str, compound: int) -> str:
    """``<5.0``, ``>4.0 <5.0``: bounds on a compound's endpoint, model scale; empty without one."""
    known = status.candidates
    found = []
    for sign, limits in ((">", known.over), ("<", known.under)):
        limit = float(limits[endpoint][compound]) if endpoint in limits else np.nan
        if np.isfinite(limit):
            found.append(f"{sign}{_short(limit)}")
    return " ".join(found)


def only_bounds(status: Status, compound: int) -> str:
    """Return the same of the endpoints of the goal, where a compound has bounds and no value of one of them.

    Else empty.
    """
    known = status.candidates
    several = len(status.goal_endpoints) > 1
    found = []
    for place in status.goal_endpoints:
        endpoint = status.endpoints[place]
        text = "" if known.measured_of[endpoint.name][compound] else bound_text(status, endpoint.name, compound)
        if text:
            found.append(f"{endpoint.scale_name} {text}" if several else text)
    return ", ".join(found)


def estimate_text(status: Status, endpoint: str, compound: int, digits: int = 2) -> str:
    """``5.83``; empty before any."""
    estimate = float(status.candidates.estimates[endpoint][compound])
    return f"{estimate:.{digits}f}" if isfinite(estimate) else ""


def bounds_note(status: Status) -> str:
    """Return the note on how estimates treat bounds; empty where there are none."""
    if not (status.candidates.under or status.candidates.over):
        return ""
    if status.guarantee.calibrated:
        return "A value known only as a bound counts as what it leaves open."
    return "Estimates leave out values known only as a bound; decisions count the limit."


def _short(value: float) -> str:
    """Return a limit with one decimal, two where it has them: ``5.0``, ``5.25``."""
    return f"{value:.1f}" if abs(value - round(value, 1)) < 5e-3 else f"{value:.2f}"
