"""What a change of the terms leaves in the state of a campaign: the new terms, and all phases decided under them.

Taken from the log, never worked out again: ``terms`` and ``library`` make the changes.
"""

from __future__ import annotations

import copy
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from ...domain.endpoint import Endpoint
from ...domain.library import Library
from ...errors import AssayPilotError
from ...strategies.registry import get
from ...text.percentages import percent
from ..bookkeeping import Turn, UnderWay
from ..decisions import Decisions
from ..file import codec
from ..phrases import joined, many, number
from .endpoints import added_in_words

__all__ = [
    "CAPACITY",
    "changes_in_words",
    "take",
    "take_back",
    "take_compounds",
]

CAPACITY = ("per_round", "max_replicates", "budget")
"""What may change without touching the goal, the assay or the confidence."""

_KEPT = ("settings", "endpoints", "goal_endpoints", "limited", "measured", "modelled", "state", "origin", "under_way",
         "void", "estimates", "verdicts", "spreads", "strategy", "why")  # fmt: skip
"""What a change replaces, and undo puts back."""
_LIBRARY = ("library", "first", "arm_of", "features", "phases")
"""What more compounds replace beside."""


def take(ledger: Decisions, data: Mapping[str, Any]) -> None:
    """Go on under the terms of a change."""
    _remember(ledger, data, _KEPT)
    ledger.settings = codec.settings_from_json(data["settings"])
    ledger.endpoints = tuple(Endpoint.from_json(one) for one in data["endpoints"])
    if data["how"] == "capacity":
        ledger.state = replace(ledger.state, problem=replace(ledger.state.problem, capacity=ledger.capacity()))
        return
    for change in data["changes"]:
        if change["what"] == "strategy":
            ledger.strategy, ledger.why = get(change["after"]), f"{change['after']}, as chosen later"
    ledger.aim()
    _decide_again(ledger, data, data["parts"])


def take_compounds(ledger: Decisions, data: Mapping[str, Any]) -> None:
    """Go on with more compounds; the library, the first of the parts, holds them at its end."""
    _remember(ledger, data, (*_KEPT, *_LIBRARY))
    before, old, n = ledger.library, ledger.first, ledger.n_arms
    ledger.hold(Library.decode(ledger.part(data["parts"][0])))
    if ledger.library.ids[: len(before)] != before.ids or not np.array_equal(ledger.first[:n], old):
        raise AssayPilotError("the log adds compounds in front of those there are")
    more = np.zeros(ledger.n_arms - n, dtype=bool)
    ledger.phases = [replace(one, measurable=np.concatenate([one.measurable, more])) for one in ledger.phases]
    _decide_again(ledger, data, data["parts"][1:])


def _decide_again(ledger: Decisions, data: Mapping[str, Any], digests: Sequence[str]) -> None:
    """Begin under the new terms, and take in what the phases so far decide under them."""
    if data["drops_plan"]:
        ledger.under_way = None
    ledger.verdicts, ledger.spreads = {}, {}
    ledger.begin()
    ledger.take_again(data["decisions"], digests)
    if data["how"] == "void" and not ledger.strategy.void(ledger.origin) and not ledger.calibrated:
        words = changes_in_words(data["changes"], ledger.settings.goal)
        ledger.void.append(
            f"{words} was changed after {many(ledger.spent(), 'measurement')}, and {ledger.strategy.info.title} "
            "promises only what was fixed before the first result"
        )


def _remember(ledger: Decisions, data: Mapping[str, Any], names: Sequence[str]) -> None:
    was = {name: _own(getattr(ledger, name)) for name in names}
    ledger.turns.append(Turn(data["how"], tuple(data["changes"]), was, len(ledger.measurements)))


def take_back(ledger: Decisions) -> None:
    """Return to the terms before the last change; AssayPilotError when there was none."""
    if not ledger.turns:
        raise AssayPilotError("the log takes back a change that never was")
    for name, value in ledger.turns.pop().was.items():
        setattr(ledger, name, value)


def _own(value: Any) -> Any:
    """Return a copy of what is changed in place."""
    if isinstance(value, list | dict):
        return copy.copy(value)
    return replace(value, lost=dict(value.lost)) if isinstance(value, UnderWay) else value


_NAMES = {
    "epsilon": "the distance from the best",
    "slack": "the softness of the cutoff",
    "per_round": "measurements per round",
    "max_replicates": "measurements of one compound in a round",
    "budget": "the budget",
}


def change_in_words(change: Mapping[str, Any], goal: str) -> str:
    """One change in a few words: ``the distance from the best from 0.5 to 0.3``."""
    what, endpoint, before, after = change["what"], change["endpoint"], change["before"], change["after"]
    name = _NAMES.get(what, what)
    if what == "endpoint":
        return added_in_words(change)
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
        case "compounds":
            name = "the library"
            after = f"{after:,} compounds"
        case "epsilon" if goal == "pareto":
            name = "the difference that does not matter"
    return f"{name} from {_value(before)} to {_value(after)}"


def _controls(controls: Sequence[Mapping[str, Any]]) -> str:
    """Return controls as the log keeps them: ``REF-1 (7.1) and REF-2``; ``none``."""
    told = []
    for one in controls:
        values = ", ".join(number(value) for value in one["values"].values())
        told.append(f"{one['name']} ({values})" if values else one["name"])
    return joined(told) if told else "none"


def _value(value: Any) -> str:
    if value is None:
        return "none"
    return value if isinstance(value, str) else f"{value:,}" if isinstance(value, int) else number(value)


def changes_in_words(changes: tuple[Mapping[str, Any], ...] | list[Mapping[str, Any]], goal: str) -> str:
    """All of them."""
    return joined([change_in_words(one, goal) for one in changes])
