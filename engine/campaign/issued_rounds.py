"""Rounds as they were issued, what came back of them, and the phases that they are cut from."""

from __future__ import annotations

import math
from dataclasses import KW_ONLY, dataclass
from typing import Literal

from ..domain.plates import Layout
from .findings import Prediction

_WIDTH_95 = 3.92
"""Standard deviations between the ends of a 95 % interval."""
Missing = Literal["return", "failed", "other"]
"""How to treat measurements that are missing when a round is closed; see ``Campaign.close_round``."""


@dataclass(frozen=True, slots=True)
class Source:
    """Where a table came from; kept so that the same file is noticed when it comes again."""

    name: str
    """File name without its folder, or ``typed`` or ``pasted``."""
    digest: str = ""
    """SHA-256 of the content; empty when typed."""


@dataclass(frozen=True, slots=True)
class RoundItem:
    """One line of an issued round; it never changes."""

    compound: int
    """Position in the library."""
    replicates: int
    """Measurements of each endpoint of the round."""
    reason: str
    """Why it was picked, in a few words."""
    expected: float | None
    """Posterior mean of the objective when the round was issued, model scale; None before any measurement."""
    low: float | None
    """2.5 % point of the posterior of its mean."""
    high: float | None
    """97.5 % point."""
    asked: tuple[int, ...] = ()
    """Measurements of each endpoint of the round where they differ, because some are in already; else empty."""
    each: tuple[tuple[float, float, float] | None, ...] = ()
    """The prediction of each endpoint of the round, with both points, where that is not the objective alone."""

    def expected_of(self, place: int) -> tuple[float, float, float] | None:
        """Return what was expected of an endpoint of the round, by its place among them, and its 2.5 and 97.5 % points.

        None before any measurement.
        """
        if self.each:
            return self.each[place]
        if self.expected is None or self.low is None or self.high is None:
            return None
        return self.expected, self.low, self.high

    def of(self, place: int) -> int:
        """Return the measurements requested of an endpoint of the round, by its place among them."""
        return self.asked[place] if self.asked else self.replicates


@dataclass(frozen=True, slots=True)
class Issued:
    """A fixed, ranked list for the lab, as the log knows it."""

    number: int
    """From 1; the number of a withdrawn round is not used again."""
    phase: int
    items: tuple[RoundItem, ...]
    state: Literal["open", "closed", "withdrawn"]
    issued: str
    """UTC time."""
    closed: str | None = None
    _: KW_ONLY
    before: int = 0
    """Measurements in the campaign when it was issued."""
    endpoints: tuple[int, ...] = (0,)
    """Positions, among the campaign's endpoints, of those that are measured of every item."""
    confirmation: bool = False
    """Whether it confirms what was decided; it belongs to no phase then, and its phase is 0."""
    noise: tuple[float, ...] = ()
    """Of a confirmation round the SD of one measurement of each endpoint, when it was issued; empty for all others."""
    width: float = 0.0
    """Of a confirmation round the half-width of its intervals, in SDs."""
    population: int = 0
    """Compounds that an audit round was drawn from; 0 for all others."""

    @property
    def predicted(self) -> tuple[Prediction, ...]:
        """The predictions of a confirmation round, noted when it was issued; empty for all others."""
        return tuple(
            Prediction(item.compound, endpoint, mean, (high - low) / _WIDTH_95, noise, self.width)
            for place, (endpoint, noise) in enumerate(zip(self.endpoints, self.noise, strict=False))
            for item in self.items
            if item.of(place)
            for mean, low, high in [item.expected_of(place) or (math.nan,) * 3]
        )

    @property
    def title(self) -> str:
        """Its kind and its number."""
        kind = "Audit round" if self.population else "Confirmation round" if self.confirmation else "Round"
        return f"{kind} {self.number}"

    @property
    def measurements(self) -> int:
        """Measurements requested, of all endpoints together."""
        return sum(item.of(place) for item in self.items for place in range(len(self.endpoints)))


@dataclass(frozen=True, slots=True)
class Round(Issued):
    """The measurements of one round in the lab, and their results."""

    back: tuple[tuple[int, ...], ...] = ()
    """Results that have come back for each item, one number per endpoint of the round, at most what was requested."""
    layout: Layout | None = None
    """Its plates; None while there is no layout."""

    @property
    def returned(self) -> tuple[int, ...]:
        """Replicates of each item of which every endpoint is back (results above the request are unplanned)."""
        missing = (
            max(item.of(k) - n for k, n in enumerate(row)) for item, row in zip(self.items, self.back, strict=True)
        )
        return tuple(item.replicates - left for item, left in zip(self.items, missing, strict=True))

    @property
    def came(self) -> int:
        """Measurements requested that have come back."""
        return sum(map(sum, self.back))

    @property
    def missing(self) -> int:
        """Measurements still to come."""
        return self.measurements - self.came

    @property
    def missing_of(self) -> tuple[int, ...]:
        """Measurements still to come, one number per endpoint of the round."""
        return tuple(
            sum(item.of(place) - came[place] for item, came in zip(self.items, self.back, strict=True))
            for place in range(len(self.endpoints))
        )


@dataclass(frozen=True, slots=True)
class PhasePlan:
    """The strategy's step that rounds are cut from."""

    phase: int
    total: int
    """Measurements the phase requests, of all endpoints together."""
    outstanding: int
    """Measurements of it that are missing, issued or not."""
    radius: float
    """Half-width that the bounds should reach, on the strategy's own scale; infinite where there is none.

    Model scale, but for GEGE: there in the differences that do not matter, or in assay noise (SD) where none are given.
    """
    criterion: str
    value: float
    lower_bound: float
