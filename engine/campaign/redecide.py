"""Deciding phases again after a correction, and checking that stored decisions follow from the stored facts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from ..strategies.protocol import Arrays, Calibrated, Decision, State
from . import codec, limits, series
from . import noise as assay_noise
from .events.terms import PhaseRedecided
from .file.chain import Draft, as_parts, part_digest
from .replay import Ledger


def reaches(ledger: Ledger, phase: int) -> bool:
    """Whether a change of what a phase rests on can change a decision."""
    # The series model takes a change in at once: its answer always rests on the measurements as they are.
    return 0 < phase <= len(ledger.phases) and not ledger.calibrated


def arm_names(ledger: Ledger) -> Sequence[str]:
    """Return the id of each arm's first compound."""
    return [ledger.library.ids[compound] for compound in ledger.first]


def stored(ledger: Ledger, decision: Decision, verdict: limits.Verdict | None) -> tuple[dict[str, Any], bytes]:
    """Return a decision, with what its phase said about the limits, as JSON and as the bytes of its part."""
    names = arm_names(ledger)
    data = codec.decision_to_json(decision, names)
    if verdict is not None:
        data["limits"] = limits.to_json(ledger, verdict, names)
    noise = assay_noise.spreads(ledger, decision.phase)
    if noise:
        data["noise"] = assay_noise.to_json(ledger, noise)
    return data, codec.to_bytes(codec.Numbers.of(decision, {} if verdict is None else verdict.arrays))


def drafts(ledger: Ledger, first: int, reason: str) -> tuple[Draft, dict[str, bytes]]:
    """Return the event that decides phase ``first`` and all later ones again, from the measurements as they are now.

    Allocations stay as they were issued; old and new sets are both in the event.
    """
    names = arm_names(ledger)
    old = []
    for phase in range(first, len(ledger.phases) + 1):
        before, said = ledger.estimates[phase], ledger.verdicts.get(phase)
        entry: dict[str, Any] = {
            "phase": before.phase,
            "in": [names[a] for a in before.ins],
            "out": [names[a] for a in before.outs],
        }
        if said is not None:
            entry["limits"] = limits.to_json(ledger, said, names)
        old.append(entry)
    new, blobs = decided_again(ledger, first)
    told = {
        "from": first,
        "decisions": new,
        "old": old,
        "reason": reason,
        "parts": [part_digest(blob) for blob in blobs],
    }
    return PhaseRedecided.draft(told), as_parts(*blobs)


def decided_again(ledger: Ledger, first: int = 1) -> tuple[list[dict[str, Any]], list[bytes]]:
    """Return what phase ``first`` and all later ones decide now, as JSON and as the bytes of their parts."""
    pairs = zip(recompute_from(ledger, first), verdicts_from(ledger, first), strict=True)
    found = [stored(ledger, decision, verdict) for decision, verdict in pairs]
    return [data for data, _ in found], [blob for _, blob in found]


def recompute_from(ledger: Ledger, first: int) -> list[Decision]:
    """Return what the decided phases from ``first`` on decide from the measurements as they are now.

    Each is decided in the world it was decided in: the decisions before it, and what could be had then.
    """
    if isinstance(ledger.strategy, Calibrated):
        return _present_answer(ledger, ledger.strategy, first)
    state = ledger.before(first)
    decisions = []
    for phase in range(first, len(ledger.phases) + 1):
        decided, before = ledger.phases[phase - 1], ledger.estimates[phase]
        state = ledger.strategy.adjust(state, measurable=decided.measurable, spent=before.spent)
        state = assay_noise.to_decide(ledger, state, phase)
        outcome = ledger.outcome(phase, decided.allocation, before.spent)
        decision = assay_noise.decided(state, ledger.strategy.decide(state, outcome))
        if decision is None:
            # Everything the phase rested on is gone: it decides nothing, and its number stays used.
            decision = _nothing(before, state)
        state = ledger.strategy.apply(state, decision)
        decisions.append(decision)
    return decisions


def _present_answer(ledger: Ledger, strategy: Calibrated, first: int) -> list[Decision]:
    """Return the answer from everything measured by now as that of every phase from ``first`` on."""
    fresh = strategy.adjust(ledger.fresh(), measurable=ledger.measurable(), spent=ledger.samples())
    state = series.informed(ledger, fresh)
    if not strategy.has_values(state):
        return []
    answer = strategy.decision(state, ledger.samples())
    return [
        replace(answer, phase=phase, spent=ledger.estimates[phase].spent)
        for phase in range(first, len(ledger.phases) + 1)
    ]


def verdicts_from(ledger: Ledger, first: int) -> list[limits.Verdict | None]:
    """Return what the decided phases from ``first`` on say about the limits, from the measurements as they are now."""
    before = [ledger.verdicts[phase] for phase in range(1, first) if phase in ledger.verdicts]
    said: list[limits.Verdict | None] = []
    for phase in range(first, len(ledger.phases) + 1):
        verdict = limits.decide(ledger, phase, before)
        said.append(verdict)
        if verdict is not None:
            before.append(verdict)
    return said


def _nothing(before: Decision, state: State) -> Decision:
    none = np.zeros(0, dtype=np.intp)
    unknown = np.full(state.low.shape, np.nan)
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
        memory=state.memory,
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
    # Two radii that are not numbers are alike, too; infinity equals itself.
    radii = np.isclose(one.radius, other.radius, rtol=1e-7, atol=1e-9, equal_nan=True)
    return sets and bounds and bool(radii) and one.spent == other.spent and _same_arrays(one.memory, other.memory)


def _same_arrays(one: Arrays, other: Arrays) -> bool:
    """Whether two memories hold the same arrays, up to their last digits."""
    return set(one) == set(other) and all(
        np.shape(array) == np.shape(other[name])
        and np.allclose(array, other[name], rtol=1e-7, atol=1e-9, equal_nan=True)
        for name, array in one.items()
    )


def recompute(ledger: Ledger) -> Decision | None:
    """Return what the phase under way decides from the facts so far; None when nothing usable returned."""
    if ledger.under_way is None:
        return None
    allocation = ledger.under_way.allocation
    if isinstance(ledger.strategy, Calibrated):
        state = ledger.current()
        if not ledger.strategy.has_values(state):
            return None
        return ledger.strategy.decision(state, ledger.samples())
    outcome = ledger.outcome(allocation.phase, allocation, ledger.samples())
    state = assay_noise.to_decide(ledger, ledger.deciding(), allocation.phase)
    return assay_noise.decided(state, ledger.strategy.decide(state, outcome))
