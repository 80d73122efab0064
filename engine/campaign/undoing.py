"""Undo and redo as events: the opposite of a step, and the step once more. Nothing is erased."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace

from ..errors import AssayPilotError
from .auditing import audit_round
from .changing.library import added_again, refuse_used
from .changing.terms import redone
from .confirmation import confirmation_round
from .events.decided import CompoundsAdded, SettingsChanged
from .events.entered import ResultsRecorded
from .events.issued import AuditIssued, ConfirmationIssued, PlatesLaidOut, RoundIssued
from .events.kind import Step
from .file.chain import Draft
from .plates import plating
from .replay import Ledger
from .rounds import planned_round, refuse_results
from .state import Status

__all__ = ["done_again", "opposite", "refuse_late"]


def refuse_late(ledger: Ledger, step: Step) -> None:
    """Raise AssayPilotError when something came after a step that keeps it from being taken back."""
    if step.kind.issues:
        refuse_results(ledger)
    if step.kind is CompoundsAdded:
        refuse_used(ledger, step.data["compounds"])
    if step.kind in (SettingsChanged, CompoundsAdded):
        _refuse_seen(ledger)


def _refuse_seen(ledger: Ledger) -> None:
    """Raise AssayPilotError where results were seen under the terms as they are, if only to be taken back.

    Who takes the change back then has chosen the old terms by results, which has its price like any other change.
    """
    turn = ledger.turns[-1]
    if turn.how != "capacity" and len(ledger.measurements) > turn.seen:
        raise AssayPilotError(
            "results were seen since the last change, so it stays",
            mend="Change it again instead: what that does to the guarantee is said first.",
        )


def opposite(step: Step, sequence: int) -> Draft:
    """Return the event that takes a step back; ``sequence`` is the last event before it."""
    draft = step.kind.inverse(step.data)
    return replace(draft, data={**draft.data, "undoes": sequence})


def done_again(ledger: Ledger, step: Step, status: Callable[[], Status]) -> tuple[list[Draft], Mapping[str, bytes]]:
    """Return the events, and their parts, that do an undone step again: plans and changes by what is known now."""
    now, data = ledger.sequence, dict(step.data)
    if step.kind is RoundIssued:
        return planned_round(ledger, redoes=now), {}
    if step.kind is ConfirmationIssued:
        return confirmation_round(ledger, status().candidates, redoes=now), {}
    if step.kind is AuditIssued:
        return [audit_round(ledger, status().candidates, data["size"], redoes=now)], {}
    if step.kind is PlatesLaidOut:
        return [plating.once_more(ledger.view(ledger.issued(data["round"])), status(), data, now)], {}
    if step.kind is SettingsChanged:
        return redone(ledger, data, now)
    if step.kind is CompoundsAdded:
        return added_again(ledger, data, now)
    data["redoes"] = now
    if step.kind is ResultsRecorded:
        data["round"] = ledger.last_round
    return [step.kind.again(data)], {}
