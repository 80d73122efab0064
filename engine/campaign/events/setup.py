"""The events that a campaign begins with: its name, library, endpoints and goal, and earlier values."""

from __future__ import annotations

from ...domain.difference import in_words
from ...domain.endpoint import Endpoint
from ...strategies.registry import get
from ..file import codec
from ..phrases import many
from ..promises import goal_sentence
from ..replay import Ledger
from .entered import take_values
from .kind import Kind

__all__ = ["CampaignCreated", "EndpointsDefined", "GoalSet", "HistoryAdded", "LibraryAdded"]


class CampaignCreated(Kind):
    """The file begins."""

    name = "campaign_created"

    def apply(self, ledger: Ledger) -> None:
        """Keep the name, and what there was to beware of."""
        ledger.name = self.data["name"]
        ledger.warnings = tuple(self.data["warnings"])

    def sentence(self, ledger: Ledger) -> str:
        """Return the name and the program."""
        return f"Campaign {self.data['name']} created with AssayPilot {self.data['program']}"


class LibraryAdded(Kind):
    """The compounds."""

    name = "library_added"

    def apply(self, ledger: Ledger) -> None:
        """Read the library from its part."""
        ledger.read_library(self.data["part"])

    def sentence(self, ledger: Ledger) -> str:
        """Return how many compounds and sites."""
        data = self.data
        source = f" from {data['source']['name']}" if data["source"] else ""
        sites = ", ".join(f"{name} ({n})" for name, n in data["sites"])
        return f"Library of {many(data['compounds'], 'compound')} added{source}; sites {sites}"


class EndpointsDefined(Kind):
    """What is measured."""

    name = "endpoints_defined"

    def apply(self, ledger: Ledger) -> None:
        """Take the endpoints."""
        ledger.endpoints = tuple(Endpoint.from_json(data) for data in self.data["endpoints"])

    def sentence(self, ledger: Ledger) -> str:
        """Return the endpoints with their limits."""
        said = [
            endpoint.name
            + (f" = {in_words(ledger.endpoints, place)}" if endpoint.of else "")
            + (f" (limit {endpoint.limit_text})" if endpoint.limit else "")
            for place, endpoint in enumerate(ledger.endpoints)
        ]
        return f"Endpoint{'' if len(said) == 1 else 's'}: {', '.join(said)}"


class GoalSet(Kind):
    """What is wanted, and the strategy that decides it."""

    name = "goal_set"

    def apply(self, ledger: Ledger) -> None:
        """Begin the strategy."""
        ledger.settings = codec.settings_from_json(self.data["settings"])
        ledger.strategy = get(self.data["strategy"])
        ledger.why = self.data["why"]
        ledger.aim()
        ledger.begin()

    def sentence(self, ledger: Ledger) -> str:
        """Return the goal and the strategy."""
        return f"Goal: {goal_sentence(ledger)} (strategy {self.data['strategy']})"


class HistoryAdded(Kind):
    """Values from before the campaign."""

    name = "history_added"

    def apply(self, ledger: Ledger) -> None:
        """Take the values."""
        take_values(ledger, self.data)

    def sentence(self, ledger: Ledger) -> str:
        """Return how many values."""
        return f"{many(len(self.data['measurements']), 'earlier value')} taken over as history"
