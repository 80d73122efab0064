"""Undo and redo as events: the opposite of a step, and the step once more. Nothing is erased."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from ..errors import AssayPilotError
from .auditing import audit_round
from .changing.library import added_again, refuse_used
from .changing.terms import redone
from .confirmation import confirmation_round
from .file.chain import Draft
from .plates import plating
from .replay import Ledger
from .rounds import planned_round, refuse_results
from .state import Status
from .steps import Step
from .stock import stocked

__all__ = ["done_again", "opposite", "refuse_late"]

_KINDS = {
    "record": "results_restored",
    "exclude": "measurement_excluded",
    "include": "measurement_included",
    "correct": "measurement_corrected",
    "unavailable": "compounds_unavailable",
    "stock": "stock_stated",
    "control": "control_amended",
}


def refuse_late(ledger: Ledger, step: Step) -> None:
    """Raise AssayPilotError when something came after a step that keeps it from being taken back."""
    if step.kind in ("plan", "confirm", "audit"):
        refuse_results(ledger)
    if step.kind == "add":
        refuse_used(ledger, step.data["compounds"])
    if step.kind in ("change", "add"):
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
    """The event that takes a step back; ``sequence`` is the last event before it."""
    data, mark = step.data, {"undoes": sequence}
    match step.kind:
        case "plan" | "confirm" | "audit":
            return Draft("round_withdrawn", {"round": data["round"], "note": "", "undone": True} | mark)
        case "record":
            told = {name: data[name] for name in ("numbers", "source", "controls") if name in data}
            return Draft("results_withdrawn", told | mark)
        case "control":
            return Draft("control_amended", {**data, "now": data["before"], "before": data["now"]} | mark)
        case "exclude":
            return Draft("measurement_included", {"number": data["number"], "reason": "undo"} | mark)
        case "include":
            return Draft("measurement_excluded", {"number": data["number"], **data["before"]} | mark)
        case "correct":
            before = data["before"]
            return Draft("measurement_corrected", {"number": data["number"], **before, "before": None} | mark)
        case "unavailable":
            return Draft("compounds_available", {"compounds": data["compounds"]} | mark)
        case "change":
            return Draft("settings_changed", {"changes": data["changes"]} | mark)
        case "stock":
            return Draft("stock_stated", stocked.opposite(data) | mark)
        case "plates":
            told = {"round": data["round"], "layout": data["before"], "before": data["layout"]}
            return Draft("plates_laid_out", told | mark)
        case "add":
            return Draft("compounds_added", {"changes": data["changes"]} | mark)


def done_again(ledger: Ledger, step: Step, status: Callable[[], Status]) -> tuple[list[Draft], Mapping[str, bytes]]:
    """The events, and their parts, that do an undone step again: a plan or a change is made anew, by what is known."""
    now = ledger.sequence
    match step.kind:
        case "plan":
            return planned_round(ledger, redoes=now), {}
        case "confirm":
            return confirmation_round(ledger, status().candidates, redoes=now), {}
        case "audit":
            return [audit_round(ledger, status().candidates, step.data["size"], redoes=now)], {}
        case "plates":
            return [plating.once_more(ledger.view(ledger.issued(step.data["round"])), status(), step.data, now)], {}
        case "change":
            return redone(ledger, step.data, now)
        case "add":
            return added_again(ledger, step.data, now)
    data = dict(step.data) | {"redoes": now}
    if step.kind == "record":
        data["round"] = ledger.last_round
    return [Draft(_KINDS[step.kind], data)], {}
