"""What a change of mind leaves in the state of a campaign: the new terms, and what was decided anew under them.

Taken from the log, never worked out again: see ``changing`` for how a change is made and what it does to the guarantee.
"""

from __future__ import annotations

import copy
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal

from assaypilot.engine.campaign import codec
from assaypilot.engine.campaign.counting import UnderWay
from assaypilot.engine.campaign.words import joined, number
from assaypilot.engine.endpoint import Endpoint
from assaypilot.engine.errors import AssayPilotError

if TYPE_CHECKING:
    from assaypilot.engine.campaign.replay import Ledger

__all__ = ["CAPACITY", "How", "Turn", "changes_in_words", "take", "take_back"]

How = Literal["capacity", "free", "kept", "void"]
"""What a change does to the decisions.

``capacity``: nothing, they are as they were; ``free``: there were no results yet, all begins under the new terms;
``kept``: they were derived anew, and the guarantee holds; ``void``: they stand, and nothing is guaranteed any more.
"""

CAPACITY = ("per_round", "max_replicates", "budget")
"""What may change without touching the goal, the assay or the confidence."""

_KEPT = ("settings", "endpoints", "goal_endpoints", "limited", "measured", "state", "origin", "under_way", "void")
"""What a change replaces, and undo puts back."""


@dataclass(frozen=True, eq=False)
class Turn:
    """One change of mind."""

    how: How
    changes: tuple[Mapping[str, Any], ...]
    """What, of which endpoint if of one, before and after; as the log keeps it."""
    after: int
    """Phases decided before."""
    spent: int
    """Measurements that were in."""
    was: Mapping[str, Any]
    """The state before, by the names of its parts."""


def take(ledger: Ledger, data: Mapping[str, Any]) -> None:
    """Nothing; the ledger goes on under the terms of a change."""
    was = {name: _own(getattr(ledger, name)) for name in _KEPT}
    how: How = data["how"]
    ledger.turns.append(Turn(how, tuple(data["changes"]), len(ledger.phases), ledger.spent(), was))
    ledger.settings = codec.settings_from_json(data["settings"])
    ledger.endpoints = tuple(Endpoint.from_json(one) for one in data["endpoints"])
    if data["drops_plan"]:
        ledger.under_way = None
    if how == "capacity":
        ledger.state = replace(ledger.state, problem=replace(ledger.state.problem, capacity=ledger.capacity()))
        return
    ledger.aim()
    if how == "free":
        ledger.begin()


def take_back(ledger: Ledger) -> None:
    """Nothing; the terms are again those before the last change. AssayPilotError when there was none."""
    if not ledger.turns:
        raise AssayPilotError("the log takes back a change that never was")
    for name, value in ledger.turns.pop().was.items():
        setattr(ledger, name, value)


def _own(value: Any) -> Any:
    """A copy of what is changed in place."""
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
    match what:
        case "delta":
            name = "the confidence"
            before, after = (f"{number(100 * (1 - value))} %" for value in (before, after))
        case "noise":
            name = f"the assay noise (SD) of {endpoint}"
        case "margin":
            name = f"the difference in {endpoint} that does not matter"
        case "limit":
            name = f"the limit of {endpoint}"
            before, after = (
                None if one is None else f"{one['relation']} {number(one['value'])}" for one in (before, after)
            )
        case "epsilon" if goal == "pareto":
            name = "the difference that does not matter"
    return f"{name} from {_value(before)} to {_value(after)}"


def _value(value: Any) -> str:
    if value is None:
        return "none"
    return value if isinstance(value, str) else f"{value:,}" if isinstance(value, int) else number(value)


def changes_in_words(changes: tuple[Mapping[str, Any], ...] | list[Mapping[str, Any]], goal: str) -> str:
    """All of them."""
    return joined([change_in_words(one, goal) for one in changes])
