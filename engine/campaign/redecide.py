"""Deciding phases again after a correction, and checking that stored decisions follow from the stored facts."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence

import numpy as np

from assaypilot.engine.campaign import codec
from assaypilot.engine.campaign.chain import Draft, as_parts
from assaypilot.engine.campaign.replay import Ledger
from assaypilot.engine.strategies.protocol import Decision

__all__ = ["arm_names", "drafts", "recompute", "recompute_from", "same"]


def arm_names(ledger: Ledger) -> Sequence[str]:
    """The id of each arm's first compound."""
    return [ledger.library.ids[compound] for compound in ledger.first]


def drafts(ledger: Ledger, first: int, reason: str) -> tuple[Draft, dict[str, bytes]]:
    """The event that decides phase ``first`` and all later ones again, from the measurements as they are now.

    Allocations stay as they were issued; old and new sets are both in the event.
    """
    names = arm_names(ledger)
    new, blobs, old = [], [], []
    for decision in recompute_from(ledger, first):
        before = ledger.estimates[decision.phase]
        blobs.append(codec.estimates_to_bytes(decision))
        new.append(codec.decision_to_json(decision, names))
        old.append(
            {"phase": before.phase, "in": [names[a] for a in before.ins], "out": [names[a] for a in before.outs]}
        )
    parts = as_parts(*blobs)
    digests = [hashlib.sha256(blob).hexdigest() for blob in blobs]
    data = {"from": first, "decisions": new, "old": old, "reason": reason, "parts": digests}
    return Draft("phase_redecided", data), parts


def recompute_from(ledger: Ledger, first: int) -> list[Decision]:
    """What the decided phases from ``first`` on decide from the measurements as they are now.

    Each is decided in the world it was decided in: the decisions before it, and what could be had then.
    """
    state = ledger.before(first)
    decisions = []
    for phase in range(first, len(ledger.phases) + 1):
        decided, before = ledger.phases[phase - 1], ledger.estimates[phase]
        state = ledger.strategy.adjust(state, measurable=decided.measurable, spent=before.spent)
        decision = ledger.strategy.decide(state, ledger.outcome(phase, decided.allocation, before.spent))
        if decision is None:
            # Everything the phase rested on is gone: it decides nothing, and its number stays used.
            decision = _nothing(before)
        state = ledger.strategy.apply(state, decision)
        decisions.append(decision)
    return decisions


def _nothing(before: Decision) -> Decision:
    none = np.zeros(0, dtype=np.intp)
    unknown = np.full(before.estimate.shape, np.nan)
    return Decision(before.phase, before.radius, none, none, none, unknown, unknown, unknown, none, before.spent)


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
    return sets and bounds and one.spent == other.spent


def recompute(ledger: Ledger) -> Decision | None:
    """What the phase under way decides from the facts so far; None when nothing usable came back."""
    if ledger.under_way is None:
        return None
    allocation = ledger.under_way.allocation
    outcome = ledger.outcome(allocation.phase, allocation, ledger.spent())
    return ledger.strategy.decide(ledger.deciding(), outcome)
