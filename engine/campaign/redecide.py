"""Deciding phases again after a correction, and checking that stored decisions follow from the stored facts."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence

import numpy as np

from assaypilot.engine.campaign import codec
from assaypilot.engine.campaign.chain import Draft, as_parts
from assaypilot.engine.campaign.replay import Ledger
from assaypilot.engine.strategies.protocol import Decision

__all__ = ["arm_names", "drafts", "recompute", "same"]


def arm_names(ledger: Ledger) -> Sequence[str]:
    """The id of each arm's first compound."""
    return [ledger.library.ids[compound] for compound in ledger.first]


def drafts(ledger: Ledger, first: int, reason: str) -> tuple[Draft, dict[str, bytes]]:
    """The event that decides phase ``first`` and all later ones again, from the measurements as they are now.

    Allocations stay as they were issued; old and new sets are both in the event.
    """
    state = ledger.strategy.start(ledger.state.problem)
    for phase in range(1, first):
        state = ledger.strategy.apply(state, ledger.estimates[phase])
    names = arm_names(ledger)
    new, blobs, old = [], [], []
    for phase in range(first, len(ledger.phases) + 1):
        allocation, _, _, _ = ledger.phases[phase - 1]
        before = ledger.estimates[phase]
        outcome = ledger.outcome(phase, allocation, before.spent)
        decision = ledger.strategy.decide(state, outcome)
        if decision is None:
            # Everything the phase rested on is gone: it decides nothing, and its number stays used.
            decision = _nothing(before)
        state = ledger.strategy.apply(state, decision)
        blobs.append(codec.estimates_to_bytes(decision))
        new.append(codec.decision_to_json(decision, names))
        old.append({"phase": phase, "in": [names[a] for a in before.ins], "out": [names[a] for a in before.outs]})
    parts = as_parts(*blobs)
    digests = [hashlib.sha256(blob).hexdigest() for blob in blobs]
    data = {"from": first, "decisions": new, "old": old, "reason": reason, "parts": digests}
    return Draft("phase_redecided", data), parts


def _nothing(before: Decision) -> Decision:
    none = np.zeros(0, dtype=np.intp)
    unknown = np.full(len(before.estimate), np.nan)
    return Decision(before.phase, before.radius, none, none, none, unknown, unknown, unknown, none, before.spent)


def same(one: Decision, other: Decision) -> bool:
    """Whether two decisions decide alike, up to the last digits of their bounds."""
    sets = all(
        np.array_equal(np.sort(a), np.sort(b))
        for a, b in ((one.ins, other.ins), (one.outs, other.outs), (one.left, other.left))
    )
    bounds = all(
        np.allclose(a, b, rtol=1e-7, atol=1e-9, equal_nan=True)
        for a, b in ((one.estimate, other.estimate), (one.low, other.low), (one.high, other.high))
    )
    return sets and bounds


def recompute(ledger: Ledger) -> Decision | None:
    """What the phase under way decides from the facts so far; None when nothing usable came back."""
    if ledger.under_way is None:
        return None
    allocation = ledger.under_way.allocation
    outcome = ledger.outcome(allocation.phase, allocation, ledger.spent())
    return ledger.strategy.decide(ledger.current(), outcome)
