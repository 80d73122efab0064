"""What a change of mind leaves in the state of a campaign: the new terms, and what was decided anew under them.

Taken from the log, never worked out again: see ``changing`` for how a change is made and what it does to the guarantee.
"""

from __future__ import annotations

import copy
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from assaypilot.engine.arrays import Flags, Ints
from assaypilot.engine.campaign import limits
from assaypilot.engine.campaign.changing.blocks import controls_in_words, kind_in_words
from assaypilot.engine.campaign.changing.endpoints import added_in_words
from assaypilot.engine.campaign.changing.turns import Anew, How, Turn, on_top
from assaypilot.engine.campaign.counting import UnderWay
from assaypilot.engine.campaign.decisions import Decisions
from assaypilot.engine.campaign.file import codec
from assaypilot.engine.campaign.file.parts import from_bytes
from assaypilot.engine.campaign.noise.classes import with_more
from assaypilot.engine.campaign.words import joined, many, number
from assaypilot.engine.endpoint import Endpoint
from assaypilot.engine.errors import AssayPilotError
from assaypilot.engine.goals import Goal
from assaypilot.engine.library import Library
from assaypilot.engine.percentages import percent

__all__ = [
    "CAPACITY",
    "changes_in_words",
    "decide_again",
    "take",
    "take_back",
    "take_compounds",
]

CAPACITY = ("per_round", "max_replicates", "budget")
"""What may change without touching the goal, the assay or the confidence."""

_KEPT = ("settings", "endpoints", "goal_endpoints", "limited", "measured", "state", "origin", "under_way", "void",
         "anew", "verdicts", "spreads", "blocks_from")  # fmt: skip
"""What a change replaces, and undo puts back."""


def decide_anew(
    ledger: Decisions, data: Mapping[str, Any], digests: Sequence[str], *, derived: bool, before: Decided
) -> None:
    """Nothing; takes in what the log keeps of decisions made anew. ``before``: status and phase of each arm."""
    arm_of = ledger.arms_named(data["decision"])
    numbers = from_bytes(ledger.part(digests[0]))
    decision = codec.decision_from_json(data["decision"], numbers, arm_of)
    ledger.keep(data["decision"])
    shape = (len(ledger.goal_endpoints), ledger.n_arms)
    if any(array.shape != shape for array in (decision.estimate, decision.low, decision.high)):
        raise AssayPilotError("the log keeps the estimates of another library")
    phases = np.full(ledger.n_arms, decision.phase, dtype=np.intp)
    own = Anew(decision, derived, phases, before.measurable, data.get("rules", 1))
    same = (own.status == before.status) & (before.phase > 0)
    ledger.anew = replace(own, decided_in=np.where(same, before.phase, own.decided_in))
    ledger.verdicts = {phase: one for phase, one in ledger.verdicts.items() if phase > decision.phase}
    for phase, (entry, digest) in enumerate(zip(data["limits"], digests[1:], strict=True), start=1):
        names = ledger.arms_of(name for limit in entry for name in limit["out"])
        ledger.verdicts[phase] = limits.from_json(ledger, entry, from_bytes(ledger.part(digest)).limits, names)


def decide_again(ledger: Decisions, data: Mapping[str, Any], digests: Sequence[str]) -> None:
    """Nothing; the same once more, after a correction of what it rests on."""
    anew = ledger.anew
    if anew is None or not anew.derived:
        raise AssayPilotError("the log decides again what no change of the terms had decided anew")
    before = Decided(anew.status, anew.decided_in, anew.measurable)
    decide_anew(ledger, data, digests, derived=True, before=before)


class Decided(NamedTuple):
    """How things stood when they were decided anew."""

    status: NDArray[np.int8]
    phase: Ints
    """The phase that decided each arm, 0 for none."""
    measurable: Flags
    """What could be had."""


def take(ledger: Decisions, data: Mapping[str, Any]) -> None:
    """Nothing; the ledger goes on under the terms of a change."""
    was = {name: _own(getattr(ledger, name)) for name in _KEPT}
    how: How = data["how"]
    goal = ledger.settings.goal_of(ledger.margins)
    ledger.turns.append(_turn(ledger, how, data, goal, was))
    blocks = ledger.settings.blocks
    ledger.settings = codec.settings_from_json(data["settings"])
    if ledger.settings.blocks != blocks:
        taken = max((issued.number for issued in ledger.rounds), default=0)
        ledger.blocks_from = 0 if ledger.settings.blocks == "none" else taken
    ledger.endpoints = tuple(Endpoint.from_json(one) for one in data["endpoints"])
    if data["drops_plan"]:
        ledger.under_way = None
    if how == "capacity":
        ledger.state = replace(ledger.state, problem=replace(ledger.state.problem, capacity=ledger.capacity()))
        return
    now = ledger.current()
    before = Decided(now.status, now.decided_in_phase, now.problem.measurable)
    ledger.aim()
    ledger.anew = None
    ledger.spreads = {}
    ledger.begin()
    if data["anew"] is not None:
        derived = how == "kept"
        decide_anew(ledger, data["anew"], data["parts"], derived=derived, before=before)
        assert ledger.anew is not None
        ledger.state = on_top(ledger.strategy, ledger.fresh(), ledger.anew)
    if how == "void" and not ledger.strategy.void(ledger.origin):
        words = changes_in_words(data["changes"], ledger.settings.goal)
        ledger.void.append(
            f"{words} was changed after {many(ledger.spent(), 'measurement')}, "
            f"and what {ledger.strategy.info.title} promises is about one goal"
        )


_LIBRARY = ("library", "first", "arm_of", "features", "since", "phases", "estimates")
"""What more compounds replace beside."""


def take_compounds(ledger: Decisions, data: Mapping[str, Any]) -> None:
    """Nothing; the ledger goes on with more compounds; the library, the first of the parts, holds them at its end."""
    was = {name: _own(getattr(ledger, name)) for name in (*_KEPT, *_LIBRARY)}
    goal, how = ledger.settings.goal_of(ledger.margins), data["how"]
    now, n = ledger.current(), ledger.n_arms
    ledger.turns.append(_turn(ledger, how, data, goal, was))
    if data["drops_plan"]:
        ledger.under_way = None
    before, old = ledger.library, ledger.first
    ledger.hold(Library.decode(ledger.part(data["parts"][0])))
    ledger.endpoints = with_more(ledger.endpoints, data.get("classes", {}))
    if ledger.library.ids[: len(before)] != before.ids or not np.array_equal(ledger.first[:n], old):
        raise AssayPilotError("the log adds compounds in front of those there are")
    more = ledger.n_arms - n
    ledger.since = np.concatenate([ledger.since, np.full(more, len(ledger.phases), dtype=np.intp)])
    ledger.phases = [
        replace(one, active=_more(one.active, more), lost=_more(one.lost, more), measurable=_more(one.measurable, more))
        for one in ledger.phases
    ]
    ledger.estimates = {
        phase: replace(one, estimate=_wider(one.estimate, more), low=_wider(one.low, more), high=_wider(one.high, more))
        for phase, one in ledger.estimates.items()
    }
    stood = Decided(_more(now.status, more), _more(now.decided_in_phase, more), ledger.measurable())
    ledger.anew = None
    # What phases before it used is not kept up to date any more.
    ledger.spreads = {}
    ledger.begin()
    if data["anew"] is not None:
        decide_anew(ledger, data["anew"], data["parts"][1:], derived=True, before=stood)
        assert ledger.anew is not None
        ledger.state = on_top(ledger.strategy, ledger.fresh(), ledger.anew)


def _turn(ledger: Decisions, how: How, data: Mapping[str, Any], goal: Goal, was: Mapping[str, Any]) -> Turn:
    done = len(ledger.phases), ledger.spent()
    return Turn(how, tuple(data["changes"]), *done, goal, was, len(ledger.measurements))


def _more(values: NDArray[Any], more: int) -> NDArray[Any]:
    return np.concatenate([values, np.zeros(more, dtype=values.dtype)])


def _wider(values: NDArray[Any], more: int) -> NDArray[Any]:
    return np.hstack([values, np.full((len(values), more), np.nan)])


def take_back(ledger: Decisions) -> None:
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
    if what == "endpoint":
        return added_in_words(change)
    match what:
        case "blocks":
            name, before, after = "what is taken out", kind_in_words(before), kind_in_words(after)
        case "controls":
            name, before, after = "the controls", controls_in_words(before), controls_in_words(after)
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


def _value(value: Any) -> str:
    if value is None:
        return "none"
    return value if isinstance(value, str) else f"{value:,}" if isinstance(value, int) else number(value)


def changes_in_words(changes: tuple[Mapping[str, Any], ...] | list[Mapping[str, Any]], goal: str) -> str:
    """All of them."""
    return joined([change_in_words(one, goal) for one in changes])
