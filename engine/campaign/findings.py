"""Findings of a campaign's checks, as values to read: confirmations by measurement, and deviations from additivity.

A compound that is in without a measurement rests on the model alone. A confirmation round measures it
once; before that, what the value should be is noted with an interval. The intervals of all compounds hold together at
the stated level (Bonferroni), so that a value outside is a surprise and not the one in twenty to be expected.

A light module: a reader of a campaign, such as the process of an export, loads neither designs nor
strategies for it.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from ..models.additivity import Additivity, Cliff
from ..text import pick

LEVEL = 0.95
"""Probability that all values of a confirmation are inside their intervals, if the model is right."""


@dataclass(frozen=True, slots=True)
class Prediction:
    """The prediction of a measurement, from everything known before it; model scale."""

    compound: int
    """Position in the library."""
    endpoint: int
    """Position among the campaign's endpoints."""
    mean: float
    sd: float
    """Of the estimate of the compound's mean."""
    noise: float
    """SD of one measurement around that mean."""
    width: float
    """Half-width of the interval, in SDs."""

    def half(self, n: int = 1) -> float:
        """Return the half-width of the interval of the mean of ``n`` measurements."""
        return self.width * math.sqrt(self.sd**2 + self.noise**2 / max(n, 1))

    @property
    def low(self) -> float:
        """Lower end of the interval of one measurement."""
        return self.mean - self.half()

    @property
    def high(self) -> float:
        """Upper end of it."""
        return self.mean + self.half()


@dataclass(frozen=True, slots=True)
class Check:
    """A prediction, and what was measured."""

    prediction: Prediction
    value: float | None
    """Mean of the usable measurements, model scale; of a value known only as a bound, that bound. None before any."""
    n: int
    """Determinations behind it; 0 for a bound."""
    inside: bool | None
    """Whether it is inside its predicted interval; None while that is not known, as of a bound that could be either."""

    @property
    def off(self) -> float | None:
        """Distance of the value from the prediction; negative below."""
        return None if self.value is None else self.value - self.prediction.mean

    @property
    def half(self) -> float:
        """Half-width of the interval of as many measurements as there are."""
        return self.prediction.half(self.n)


@dataclass(frozen=True, slots=True)
class Confirmation:
    """How far the compounds that are in are confirmed by a measurement of their own."""

    rounds: tuple[int, ...] = ()
    """Numbers of the confirmation rounds, withdrawn ones left out."""
    checks: tuple[Check, ...] = ()
    """One for each compound and endpoint of those rounds, in their order; of what was requested again, the last."""
    due: tuple[int, ...] = ()
    """Available compounds that are in and lack a measurement: those of the next confirmation round.

    Empty until the campaign has ended, and while a round is open. The best first.
    """
    gone: tuple[int, ...] = ()
    """Unavailable compounds that are in and lack a measurement."""
    measurements: int = 0
    """Determinations that came in for confirmation rounds; they do not count against the budget."""
    level: float = LEVEL
    """Of all the intervals together."""
    sentence: str = ""
    """How many are confirmed, and what is outside; empty without a confirmation round."""
    states: Mapping[int, bool | None] = field(default_factory=dict)
    """By compound of those rounds: confirmed, not confirmed, not measured (None)."""

    @property
    def confirmed(self) -> tuple[int, ...]:
        """Compounds measured where they were predicted to be."""
        return tuple(compound for compound, state in self.states.items() if state)

    @property
    def not_confirmed(self) -> tuple[int, ...]:
        """Compounds measured outside of it."""
        return tuple(compound for compound, state in self.states.items() if state is False)

    @property
    def not_measured(self) -> tuple[int, ...]:
        """Compounds of confirmation rounds without a usable value."""
        return tuple(compound for compound, state in self.states.items() if state is None)

    def of(self, compound: int) -> tuple[Check, ...]:
        """Return the checks of a compound, one for each endpoint it was to be confirmed in; empty for all others."""
        return tuple(check for check in self.checks if check.prediction.compound == compound)

    def outside(self, compound: int) -> tuple[Check, ...]:
        """Return those of them whose value is outside its interval."""
        return tuple(check for check in self.of(compound) if check.inside is False)


_SURE_CLIFF = 0.01
"""The p of a compound below which it is named as deviating."""

Verdict = Literal["contradicted", "not contradicted", "not judged"]


@dataclass(frozen=True, slots=True)
class Deviations:
    """How far the compounds of a campaign deviate from the sum of effects, in one measured endpoint."""

    endpoint: str
    """Its name on the scale that is modelled."""
    verdict: Verdict
    found: Additivity
    compounds: tuple[int, ...]
    """The compounds with a value, by position in the library; ``found`` counts in them."""
    noise_sd: float
    model_error: float | None
    """The strategy's largest deviation, where it assumes one."""
    sentence: str
    """All of it in a sentence."""

    @property
    def contradicted(self) -> bool:
        """Whether what the strategy assumes of additivity cannot be true."""
        return self.verdict == "contradicted"

    @property
    def sure_cliffs(self) -> tuple[Cliff, ...]:
        """Those that noise alone hardly takes so far off, the surest first."""
        return tuple(cliff for cliff in self.found.cliffs if cliff.p < _SURE_CLIFF)

    @property
    def cliffs(self) -> tuple[int, ...]:
        """The same as positions in the library."""
        return tuple(self.compounds[cliff.place] for cliff in self.sure_cliffs)

    def as_json(self, ids: tuple[str, ...]) -> dict[str, Any]:
        """For the command line."""
        found = self.found
        return {
            **pick(self, "endpoint verdict sentence noise_sd model_error"),
            **pick(found, "compounds compared freedom p"),
            **pick(found if found.freedom else None, "tau tau_low tau_high largest_seen=seen"),
            **pick(found if found.freedom else None, "largest_at_least=error_low"),
            "cliffs": [
                {"id": ids[self.compounds[one.place]], "measured": one.measured, "off": one.off, "p": one.p}
                for one in found.cliffs
            ],
        }
