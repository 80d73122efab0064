"""What can be undone and redone: two stacks of user actions, kept along with the log."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from .file.chain import Event

__all__ = ["Step", "laid_out_since", "remember"]


@dataclass(frozen=True, slots=True)
class Step:
    """One user action that can be undone, and what its opposite is."""

    label: str
    kind: Literal[
        "plan", "confirm", "audit", "record", "exclude", "include", "correct", "unavailable", "change", "add", "stock",
        "control", "plates",
    ]  # fmt: skip
    data: Mapping[str, Any]


def remember(event: Event, undo: list[Step], redo: list[Step]) -> None:
    """Keep the stacks after an event. A closed round or a decision ends them."""
    kind, data = event.kind, event.data
    if kind in ("round_closed", "phase_decided", "phase_empty", "phase_redecided"):
        undo.clear()
        redo.clear()
    elif "undoes" in data:
        redo.append(undo.pop())
    elif kind in _ROUNDS and data.get("redoes") is not None:
        redo.pop()
        undo.append(_plan_step(kind, data))
    elif kind == "plates_laid_out" and "redoes" in data:
        # Perhaps of a round that was planned anew.
        redo.pop()
        undo.append(_plates_step(data))
    elif "redoes" in data:
        undo.append(redo.pop())
    elif kind == "round_withdrawn":
        # Withdrawn outright, not through undo: nothing before it can be undone in order any more.
        undo.clear()
        redo.clear()
    else:
        step = _step(kind, data)
        if step is not None:
            undo.append(step)
            redo.clear()


_ROUNDS = ("round_issued", "confirmation_issued", "audit_issued")


def _plan_step(kind: str, data: Mapping[str, Any]) -> Step:
    number = data["round"]
    if kind == "audit_issued":
        return Step(f"Plan audit round {number}", "audit", {"round": number, "size": len(data["items"])})
    if kind == "confirmation_issued":
        return Step(f"Plan confirmation round {number}", "confirm", {"round": number})
    return Step(f"Plan round {number}", "plan", {"round": number})


def laid_out_since(undo: Sequence[Step]) -> bool:
    """Whether nothing but its plates, and those, were said since a round was planned."""
    plan = next((step for step in reversed(undo) if step.kind != "plates"), None)
    return plan is not None and plan.kind in ("plan", "confirm", "audit") and undo[-1] is not plan


def _plates_step(data: Mapping[str, Any]) -> Step:
    return Step("Take the plates away" if data["layout"] is None else "Lay out on plates", "plates", data)


def _step(kind: str, data: Mapping[str, Any]) -> Step | None:
    match kind:
        case "round_issued" | "confirmation_issued" | "audit_issued":
            return _plan_step(kind, data)
        case "results_recorded":
            numbers = [m["number"] for m in data["measurements"]]
            source = data.get("source") or {"digest": "", "name": ""}
            controls = [r["number"] for r in data.get("controls", ())]
            n = len(numbers) + len(controls)
            told = {"numbers": numbers, "source": source["digest"], "round": data["round"]}
            return Step(
                f"Enter {n} result{'s' if n != 1 else ''}",
                "record",
                told | ({"controls": controls} if controls else {}),
            )
        case "control_amended":
            return Step("Amend a control", "control", data)
        case "measurement_excluded":
            return Step("Exclude a value", "exclude", data)
        case "measurement_included":
            return Step("Include a value", "include", data)
        case "measurement_corrected":
            return Step("Correct a value", "correct", data)
        case "compounds_unavailable":
            return Step("Mark as not to be had", "unavailable", data)
        case "settings_changed":
            return Step("Change the terms", "change", data)
        case "stock_stated":
            return Step("Arrivals" if data["note"] == "arrived" else "Change the stock", "stock", data)
        case "plates_laid_out":
            return _plates_step(data)
        case "compounds_added":
            return Step("Add compounds", "add", data)
    return None
