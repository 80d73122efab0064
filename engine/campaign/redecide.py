"""Deciding phases again after a correction, and checking that stored decisions follow from the stored facts."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from assaypilot.engine.campaign import limits
from assaypilot.engine.campaign.changing.changed import decide_again
from assaypilot.engine.campaign.changing.decisions import derive, kept, verdicts
from assaypilot.engine.campaign.changing.turns import Anew
from assaypilot.engine.campaign.file import codec, parts
from assaypilot.engine.campaign.file.chain import Draft, as_parts, part_digest
from assaypilot.engine.campaign.noise import scatter
from assaypilot.engine.campaign.replay import Ledger
from assaypilot.engine.errors import AssayPilotError
from assaypilot.engine.strategies.protocol import Arrays, Decision

__all__ = [
    "arm_names",
    "behind_the_change",
    "derived_again",
    "drafts",
    "reaches",
    "recompute",
    "recompute_from",
    "same",
    "stored",
    "verdicts_from",
]


def reaches(ledger: Ledger, phase: int) -> bool:
    """Whether a change of what a phase rests on can change a decision."""
    if not 0 < phase <= len(ledger.phases):
        return False
    return ledger.anew is None or ledger.anew.derived or ledger.settled < len(ledger.phases)


def arm_names(ledger: Ledger) -> Sequence[str]:
    """The id of each arm's first compound."""
    return [ledger.library.ids[compound] for compound in ledger.first]


def stored(ledger: Ledger, decision: Decision, verdict: limits.Verdict | None) -> tuple[dict[str, Any], bytes]:
    """A decision, with what its phase said about the limits, as JSON and as the bytes of its part."""
    names = arm_names(ledger)
    data = codec.decision_to_json(decision, names)
    if verdict is not None:
        data["limits"] = limits.to_json(ledger, verdict, names)
    noise = scatter.spreads(ledger, decision.phase)
    if noise:
        data["noise"] = scatter.to_json(ledger, noise)
    return data, parts.to_bytes(parts.Numbers.of(decision, {} if verdict is None else verdict.arrays))


def drafts(ledger: Ledger, first: int, reason: str) -> tuple[Draft, dict[str, bytes]]:
    """The event that decides phase ``first`` and all later ones again, from the measurements as they are now.

    Allocations stay as they were issued; old and new sets are both in the event.
    """
    names = arm_names(ledger)
    new, blobs, old = [], [], []
    own: dict[str, Any] = {}
    behind: list[bytes] = []
    anew = ledger.anew
    if anew is not None and anew.derived and first <= ledger.settled:
        ledger, own["anew"], behind = behind_the_change(ledger, anew)
    for decision, verdict in zip(recompute_from(ledger, first), verdicts_from(ledger, first), strict=True):
        data, blob = stored(ledger, decision, verdict)
        blobs.append(blob)
        new.append(data)
        before, said = ledger.estimates[decision.phase], ledger.verdicts.get(decision.phase)
        entry: dict[str, Any] = {
            "phase": before.phase,
            "in": [names[a] for a in before.ins],
            "out": [names[a] for a in before.outs],
        }
        if said is not None:
            entry["limits"] = limits.to_json(ledger, said, names)
        old.append(entry)
    digests = [part_digest(blob) for blob in (*blobs, *behind)]
    if own and anew is not None:
        own["was"] = {"in": [names[a] for a in anew.decision.ins], "out": [names[a] for a in anew.decision.outs]}
    told = {"from": first, "decisions": new, "old": old, "reason": reason, "parts": digests, **own}
    version = 4 if scatter.estimated(ledger) else 3 if anew is not None else parts.version(*blobs)
    return Draft("phase_redecided", told, version), as_parts(*blobs, *behind)


def behind_the_change(ledger: Ledger, anew: Anew) -> tuple[Ledger, dict[str, Any], list[bytes]]:
    """What a change of the terms had decided anew, decided once more: a ledger with it, its JSON and its parts."""
    decision = derived_again(ledger, anew)
    data, blobs = kept(ledger, decision, verdicts(ledger, decision.phase), anew.rules)
    other = ledger.fork(as_parts(*blobs))
    decide_again(other, data, [part_digest(blob) for blob in blobs])
    return other, data, blobs


def derived_again(ledger: Ledger, anew: Anew) -> Decision:
    """What a change of the terms decides anew, from the measurements as they are now."""
    decision = derive(ledger, anew.decision.phase, anew.measurable, anew.decision.spent, anew.rules)
    if decision is None:
        raise AssayPilotError("what a change of the terms decided anew cannot be derived again")
    return decision


def recompute_from(ledger: Ledger, first: int) -> list[Decision]:
    """What the decided phases from ``first`` on decide from the measurements as they are now.

    Those before a change of the terms have no decision of their own any more: see ``derived_again``. Each is decided
    in the world it was decided in: the decisions before it, and what could be had then.
    """
    first = max(first, ledger.settled + 1)
    state = ledger.before(first)
    decisions = []
    for phase in range(first, len(ledger.phases) + 1):
        decided, before = ledger.phases[phase - 1], ledger.estimates[phase]
        state = ledger.strategy.adjust(state, measurable=decided.measurable, spent=before.spent)
        state = scatter.to_decide(ledger, state, phase)
        outcome = ledger.outcome(phase, decided.allocation, before.spent)
        decision = scatter.decided(state, ledger.strategy.decide(state, outcome))
        if decision is None:
            # Everything the phase rested on is gone: it decides nothing, and its number stays used.
            decision = _nothing(before, state.memory)
        state = ledger.strategy.apply(state, decision)
        decisions.append(decision)
    return decisions


def verdicts_from(ledger: Ledger, first: int) -> list[limits.Verdict | None]:
    """What the decided phases from ``first`` on say about the limits, from the measurements as they are now."""
    first = max(first, ledger.settled + 1)
    before = [ledger.verdicts[phase] for phase in range(1, first) if phase in ledger.verdicts]
    said: list[limits.Verdict | None] = []
    for phase in range(first, len(ledger.phases) + 1):
        verdict = limits.decide(ledger, phase, before)
        said.append(verdict)
        if verdict is not None:
            before.append(verdict)
    return said


def _nothing(before: Decision, memory: Arrays) -> Decision:
    none = np.zeros(0, dtype=np.intp)
    unknown = np.full(before.estimate.shape, np.nan)
    return Decision(
        before.phase,
        before.radius,
        none,
        none,
        none,
        unknown,
        unknown,
        unknown,
        none,
        before.spent,
        memory=memory,
    )


def same(one: Decision, other: Decision) -> bool:
    """Whether two decisions decide alike, up to the last digits of their bounds."""
    sets = all(
        np.array_equal(np.sort(a), np.sort(b))
        for a, b in (
            (one.ins, other.ins),
            (one.outs, other.outs),
            (one.left, other.left),
            (one.contradicted, other.contradicted),
        )
    )
    bounds = all(
        np.allclose(a, b, rtol=1e-7, atol=1e-9, equal_nan=True)
        for a, b in ((one.estimate, other.estimate), (one.low, other.low), (one.high, other.high))
    )
    return sets and bounds and one.spent == other.spent and _same_arrays(one.memory, other.memory)


def _same_arrays(one: Arrays, other: Arrays) -> bool:
    """Whether two memories hold the same arrays, up to their last digits."""
    return set(one) == set(other) and all(
        np.shape(array) == np.shape(other[name])
        and np.allclose(array, other[name], rtol=1e-7, atol=1e-9, equal_nan=True)
        for name, array in one.items()
    )


def recompute(ledger: Ledger) -> Decision | None:
    """What the phase under way decides from the facts so far; None when nothing usable came back."""
    if ledger.under_way is None:
        return None
    allocation = ledger.under_way.allocation
    outcome = ledger.outcome(allocation.phase, allocation, ledger.samples())
    state = scatter.to_decide(ledger, ledger.deciding(), allocation.phase)
    decision = scatter.decided(state, ledger.strategy.decide(state, outcome))
    if decision is None and _for_limits_alone(ledger, allocation.phase):
        shape = state.low.shape
        unknown, none = np.full(shape, np.nan), np.zeros(0, dtype=np.intp)
        own = (none, none, none, unknown, unknown, unknown, none)
        decision = Decision(allocation.phase, allocation.radius, *own, outcome.spent, memory=state.memory)
    return decision


def _for_limits_alone(ledger: Ledger, phase: int) -> bool:
    """Whether the goal asked nothing more when a phase was planned, and values came that tell of the limits."""
    if not ledger.limited or not ledger.goal_stop(ledger.current()):
        return False
    told = ledger.behind(ledger.limited)
    return any(m.endpoint in told for m, _ in ledger.counting(phase))
