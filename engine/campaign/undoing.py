"""Undo and redo as events: the opposite of a step, and the step once more. Nothing is erased."""

from __future__ import annotations

from assaypilot.engine.campaign.file.chain import Draft
from assaypilot.engine.campaign.steps import Step
from assaypilot.engine.campaign.stock import stocked

__all__ = ["once_more", "opposite"]

_KINDS = {
    "record": "results_restored",
    "exclude": "measurement_excluded",
    "include": "measurement_included",
    "correct": "measurement_corrected",
    "unavailable": "compounds_unavailable",
    "stock": "stock_stated",
    "control": "control_amended",
}


def opposite(step: Step, sequence: int) -> Draft:
    """The event that takes a step back; ``sequence`` is the last event before it."""
    data, mark = step.data, {"undoes": sequence}
    match step.kind:
        case "plan" | "confirm":
            return Draft("round_withdrawn", {"round": data["round"], "note": ""} | mark)
        case "record":
            told = {name: data[name] for name in ("numbers", "source", "controls") if name in data}
            return Draft("results_withdrawn", told | mark, 2 if "controls" in data else 1)
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


def once_more(step: Step, sequence: int, last_round: int) -> Draft:
    """The event that does an undone step again (a plan or a change is made anew instead)."""
    data = dict(step.data) | {"redoes": sequence}
    if step.kind == "record":
        data["round"] = last_round
    return Draft(_KINDS[step.kind], data, 2 if step.kind == "record" and "controls" in data else 1)
