"""The events that decide a phase, and those that set or change the terms under which all is decided.

What a change leaves in the state is taken from the log, never worked out again: ``changes`` and ``added_compounds``
make the changes.
"""

from __future__ import annotations

import copy
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from ...domain.derived import in_words
from ...domain.endpoint import Endpoint
from ...domain.library import Library
from ...errors import AssayPilotError
from ...strategies.protocol import IN, OUT
from ...text import joined, many, number, percent
from ...text import listed as names
from .. import codec
from ..bookkeeping import Turn, UnderWay
from ..promises import goal_sentence
from ..replay import Ledger
from .entered import take_values
from .kind import Kind, Revert, note_in_words


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
    """The endpoints."""

    name = "endpoints_defined"

    def apply(self, ledger: Ledger) -> None:
        """Take the endpoints."""
        ledger.endpoints = tuple(Endpoint.from_json(data) for data in self.data["endpoints"])

    def sentence(self, ledger: Ledger) -> str:
        """Return the endpoints with their limits."""
        sentences = [
            endpoint.name
            + (f" = {in_words(ledger.endpoints, place)}" if endpoint.of else "")
            + (f" (limit {endpoint.limit_text})" if endpoint.limit else "")
            for place, endpoint in enumerate(ledger.endpoints)
        ]
        return f"Endpoint{'' if len(sentences) == 1 else 's'}: {', '.join(sentences)}"


class GoalSet(Kind):
    """The goal, and the strategy that decides it."""

    name = "goal_set"

    def apply(self, ledger: Ledger) -> None:
        """Begin the strategy."""
        ledger.settings = codec.settings_from_json(self.data["settings"])
        ledger.decide_by(self.data["strategy"], self.data["why"])
        ledger.find_endpoints()
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
        ledger.history_changed()

    def sentence(self, ledger: Ledger) -> str:
        """Return how many values."""
        return f"{many(len(self.data['measurements']), 'earlier value')} taken over as history"


class PhaseDecided(Kind):
    """The decision of a phase."""

    name = "phase_decided"
    ends_undo = True

    def apply(self, ledger: Ledger) -> None:
        """Take in the stored decision."""
        ledger.take_decision(self.data, self.event.sequence)

    def sentence(self, ledger: Ledger) -> str:
        """Return how many compounds it decided; under the series model, the present status of each."""
        data = self.data
        if ledger.calibrated:
            status = ledger.state.status[ledger.arm_of]
            return f"Estimates updated: {int((status == IN).sum()):,} in, {int((status == OUT).sum()):,} out"
        return f"Phase {data['phase']} decided: {len(data['in']):,} more in, {len(data['out']):,} more out"


class EstimatesUpdated(PhaseDecided):
    """The estimates of the series model after a change of the terms."""

    name = "estimates_updated"
    ends_undo = False

    def apply(self, ledger: Ledger) -> None:
        """Take in the stored estimates."""
        ledger.take_estimates(self.data)


class PhaseEmpty(Kind):
    """A phase that ended without a usable result."""

    name = "phase_empty"
    ends_undo = True

    def apply(self, ledger: Ledger) -> None:
        """Drop the plan; what returned for this attempt must not fill the next, which has the same number."""
        phase = self.data["phase"]
        ledger.measurements = [replace(m, phase=0) if m.phase == phase else m for m in ledger.measurements]
        ledger.under_way = None

    def sentence(self, ledger: Ledger) -> str:
        """Return the phase, or the round under the series model."""
        what = f"Round {self.data['round']}" if ledger.calibrated else f"Phase {self.data['phase']}"
        return f"{what} ended without a usable result; it will be planned again if it is still needed"


class SettingsChanged(Kind):
    """Other terms."""

    name = "settings_changed"

    label = "Change the terms"

    def apply(self, ledger: Ledger) -> Revert:
        """Go on under the new terms."""
        return take(ledger, self.data)

    def sentence(self, ledger: Ledger) -> str:
        """Return the changes."""
        words = changes_in_words(self.data["changes"], ledger.settings.goal)
        return f"Changed {words}{note_in_words(self.data['note'])}"


class CompoundsAdded(Kind):
    """More compounds."""

    name = "compounds_added"

    label = "Add compounds"

    def apply(self, ledger: Ledger) -> Revert:
        """Go on with the larger library."""
        return take_compounds(ledger, self.data)

    def sentence(self, ledger: Ledger) -> str:
        """Return the compounds."""
        data = self.data
        source = f" from {data['source']['name']}" if data["source"] else ""
        added = names(list(ledger.library.ids[-data["compounds"] :]))
        return f"{many(data['compounds'], 'compound')} added{source}: {added}{note_in_words(data['note'])}"


class CombinationsListed(CompoundsAdded):
    """More of a library's combinations, of which there are too many to list all."""

    name = "combinations_listed"
    ends_undo = True

    def sentence(self, ledger: Ledger) -> str:
        """Return how many."""
        n, of = len(ledger.library), ledger.library.n_combinations
        return f"{many(self.data['compounds'], 'combination')} listed that may be the best, {n:,} of {of:,} by now"


CAPACITY = ("per_round", "max_replicates", "budget")
"""Terms whose change leaves the goal, the assay and the confidence."""

_KEPT = ("settings", "endpoints", "goal_endpoints", "limited", "measured", "modelled", "state", "under_way", "void",
         "estimates", "spreads", "strategy", "calibrated", "why")  # fmt: skip
"""Attributes that a change replaces, and undo restores."""
_LIBRARY = ("library", "first", "arm_of", "features", "stock")
"""Attributes that more compounds replace in addition."""


def take(ledger: Ledger, data: Mapping[str, Any]) -> Revert:
    """Go on under the terms of a change."""
    revert = _turned(ledger, data, _KEPT)
    ledger.settings = codec.settings_from_json(data["settings"])
    ledger.endpoints = tuple(Endpoint.from_json(one) for one in data["endpoints"])
    if data["how"] == "capacity":
        ledger.state = replace(ledger.state, problem=replace(ledger.state.problem, capacity=ledger.capacity()))
        return revert
    for change in data["changes"]:
        if change["what"] == "strategy":
            ledger.decide_by(change["after"], f"{change['after']}, as chosen later")
    ledger.find_endpoints()
    _begin_again(ledger, data)
    return revert


def take_compounds(ledger: Ledger, data: Mapping[str, Any]) -> Revert:
    """Continue with the larger library, which has the new compounds at its end."""
    revert = _turned(ledger, data, (*_KEPT, *_LIBRARY))
    before, old, n = ledger.library, ledger.first, ledger.n_arms
    ledger.set_library(Library.decode(ledger.part(data["part"])))
    if ledger.library.ids[: len(before)] != before.ids or not np.array_equal(ledger.first[:n], old):
        raise AssayPilotError("the log adds compounds in front of those there are")
    _begin_again(ledger, data)
    return revert


def _begin_again(ledger: Ledger, data: Mapping[str, Any]) -> None:
    """Begin under the new terms; all that was measured counts for the series model, which decides next."""
    if data["drops_plan"]:
        ledger.under_way = None
    ledger.begin()


def _turned(ledger: Ledger, data: Mapping[str, Any], names: Sequence[str]) -> Revert:
    """Note a change of the terms; return what restores these attributes."""
    was = {name: _own(getattr(ledger, name)) for name in names}
    ledger.turns.append(Turn(data["how"], len(ledger.measurements)))

    def revert(ledger: Ledger) -> None:
        ledger.turns.pop()
        for name, value in was.items():
            setattr(ledger, name, _own(value))

    return revert


def _own(value: Any) -> Any:
    """Return a copy of what is changed in place."""
    if isinstance(value, list | dict):
        return copy.copy(value)
    return replace(value, lost=dict(value.lost)) if isinstance(value, UnderWay) else value


_NAMES = {
    "goal": "the goal",
    "epsilon": "the distance from the best",
    "slack": "the softness of the cutoff",
    "per_round": "measurements per round",
    "max_replicates": "measurements of one compound in a round",
    "budget": "the budget",
}


def change_in_words(change: Mapping[str, Any], goal: str, *, decides: bool = False) -> str:
    """Return one change in a few words: ``the distance from the best from 0.5 to 0.3``.

    ``decides``: whether an endpoint that comes with it is an objective.
    """
    what, endpoint, before, after = change["what"], change["endpoint"], change["before"], change["after"]
    name = _NAMES.get(what, what)
    if what == "endpoint":
        return _added_in_words(change, decides=decides)
    match what:
        case "controls":
            name, before, after = "the controls", _controls(before), _controls(after)
        case "strategy":
            return f"the strategy from {before} to {after}"
        case "delta":
            name = "the confidence"
            before, after = (percent(1 - value, 10) for value in (before, after))
        case "noise":
            name = f"the assay noise (SD) of {endpoint}"
            before, after = (
                f"unknown (about {number(one['about'])})" if isinstance(one, dict) else one for one in (before, after)
            )
        case "margin":
            name = f"the difference in {endpoint} that does not matter"
        case "limit":
            name = f"the limit of {endpoint}"
            before, after = (
                None if one is None else f"{one['relation']} {number(one['value'])}" for one in (before, after)
            )
        case "profile":
            name, before, after = "the profile", ", ".join(before), ", ".join(after)
        case "compounds":
            name = "the library"
            after = f"{after:,} compounds"
        case "epsilon" if goal == "pareto":
            name = "the difference that does not matter"
    return f"{name} from {_value(before)} to {_value(after)}"


def _controls(controls: Sequence[Mapping[str, Any]]) -> str:
    """Return controls as the log keeps them: ``REF-1 (7.1) and REF-2``; ``none``."""
    listed = []
    for one in controls:
        values = ", ".join(number(value) for value in one["values"].values())
        listed.append(f"{one['name']} ({values})" if values else one["name"])
    return joined(listed) if listed else "none"


def _value(value: Any) -> str:
    if value is None:
        return "none"
    return value if isinstance(value, str) else f"{value:,}" if isinstance(value, int) else number(value)


def changes_in_words(changes: tuple[Mapping[str, Any], ...] | list[Mapping[str, Any]], goal: str) -> str:
    """All of them."""
    decides = any(one["what"] == "goal" for one in changes)
    return joined([change_in_words(one, goal, decides=decides) for one in changes])


def _added_in_words(change: Mapping[str, Any], *, decides: bool) -> str:
    """Return such a change in a few words: ``the endpoints, by Solubility (recorded only)``."""
    new = Endpoint.from_json(change["after"])
    what = new.limit_text or ("an objective" if decides else "recorded only")
    return f"the endpoints, by {new.name} ({what})"
