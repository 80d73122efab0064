"""What was found of compounds that deviate from the sum of effects; ``additivity`` finds it.

A module of its own, and a light one: whoever reads what a campaign is, such as the process of an export, loads neither
designs nor strategies for it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

from ..models.additivity import Additivity, Cliff
from ..models.beyond_model import Beyond
from ..models.interactions import Interaction

__all__ = ["Deviations"]

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
    before: int
    """How many of them have values from before the campaign only."""
    noise_sd: float
    replicates: tuple[float, int] | None
    """SD of replicates and its degrees of freedom, where they speak against the stated noise."""
    model_error: float | None
    """What the strategy takes as the largest deviation, where it takes one."""
    largest: float
    """What no compound of the library deviates by more than (95 %), if deviations scatter normally."""
    pairs: tuple[Interaction, ...]
    """Pairs of sites that explain some of it, the most telling first; only where additivity is contradicted."""
    sentence: str
    """All of it in a sentence or two."""
    offers: tuple[str, ...] = ()
    """What can be done, where additivity is contradicted."""
    beyond: tuple[Beyond, ...] = ()
    """Bounds that the sum of effects cannot explain, the surest first; ``row`` is a compound of the library."""
    spread: str = ""
    """That no more than so many measurements of one compound are planned, as a sentence; empty without such a cap."""

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
        own = None if self.replicates is None else dict(zip(("sd", "freedom"), self.replicates, strict=True))
        return {
            "endpoint": self.endpoint,
            "verdict": self.verdict,
            "sentence": self.sentence,
            "offers": list(self.offers),
            "spread": self.spread or None,
            "compounds": found.compounds,
            "before_the_campaign": self.before,
            "compared": found.compared,
            "freedom": found.freedom,
            "noise_sd": self.noise_sd,
            "p": found.p,
            "tau": found.tau if found.freedom else None,
            "tau_low": found.tau_low if found.freedom else None,
            "tau_high": found.tau_high if found.freedom else None,
            "largest_seen": found.seen if found.freedom else None,
            "largest_at_least": found.error_low if found.freedom else None,
            "largest_at_most": self.largest if found.freedom else None,
            "model_error": self.model_error,
            "cliffs": [
                {"id": ids[self.compounds[one.place]], "measured": one.measured, "off": one.off, "p": one.p}
                for one in found.cliffs
            ],
            "interactions": [one.as_json() for one in self.pairs],
            "replicates": own,
            "beyond": [
                {
                    "id": ids[one.row],
                    "limit": one.limit,
                    "relation": "<" if one.sign > 0 else ">",
                    "predicted": one.predicted,
                    "off_at_least": one.least,
                    "p": one.p,
                }
                for one in self.beyond
            ],
        }
