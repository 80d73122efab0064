"""Recorded values of compounds and controls: their numbers, their documents, and how plates and rounds shift."""

from __future__ import annotations

from typing import Any

from ..campaign.state import Status
from ..domain import kinds
from ..domain.controls import Reading
from ..domain.measurements import Measurement
from ..errors import AssayPilotError
from ..text.documents import pick
from .program import table


def control_number(reading: Reading) -> str:
    """How a value of a control is named: ``C3``."""
    return f"C{reading.number}"


def control_value(number: int, now: Status, file: str) -> Reading:
    """Return the value of a control with a number; AssayPilotError when there is none."""
    found = next((one for one in now.readings if one.number == number and not one.withdrawn), None)
    if found is None:
        raise AssayPilotError(
            f"there is no value of a control with the number C{number}",
            file=file,
            mend="assaypilot log FILE --values lists them.",
        )
    return found


def value_told(now: Status, one: Measurement | Reading) -> dict[str, Any]:
    """Return a value for ``--json``, in its entry unit."""
    endpoint, entered = now.endpoints[one.endpoint], one.entered
    value, relation, unit = entered.value, entered.relation, entered.unit or endpoint.unit
    if one.corrected is not None:
        # By way of the logarithm: without its last digits, which nobody typed.
        value, unit = float(f"{endpoint.from_model(one.value):.12g}"), endpoint.unit
    told: dict[str, Any]
    if isinstance(one, Reading):
        told = {"number": control_number(one), "control": True, "id": now.settings.controls[one.control].name}
    else:
        told = {"number": one.number, "control": False, "id": now.library.ids[one.compound]}
        if one.corrected is not None:
            relation = endpoint.relation_on_model(one.relation)  # its own inverse
    told |= {"endpoint": endpoint.name, "value": value}
    if isinstance(one, Measurement):
        told["word"] = kinds.word_of(endpoint, value)
    return told | {
        "relation": relation,
        "unit": unit or None,
        **pick(one, "n round excluded corrected"),
        "plate": entered.plate or None,
        "well": entered.well or None,
        "entered": entered.value,
    }


_LAST = 12
"""Plates shown in the terminal, the last ones."""


def controls_document(now: Status) -> dict[str, Any]:
    """Return the keys of ``status --json`` about controls; none in campaigns without controls."""
    settings, told = now.settings, now.quality
    if not settings.controls:
        return {}
    return {
        "controls": {
            "compounds": [control.as_json() for control in settings.controls],
            "values": sum(r.usable for r in now.readings),
            "readings": [value_told(now, r) for r in now.readings if not r.withdrawn],
            "plates": [
                {
                    **pick(line, "round name sd wide values=n above_nominal=mean"),
                    "endpoint": now.endpoints[line.endpoint].name,
                }
                for line in told.plates
            ],
            "drift": told.drift,
        },
    }


def plate_lines(now: Status) -> list[str]:
    """Return the same in lines for people; none in campaigns without controls."""
    told = now.quality
    if not now.settings.controls:
        return []
    names = ", ".join(control.name for control in now.settings.controls)
    if not told.plates:
        return [f"Controls ({names}): no value yet"]
    several = len({line.endpoint for line in told.plates}) > 1
    rows = [
        (
            line.round,
            line.name,
            *((now.endpoints[line.endpoint].name,) if several else ()),
            line.n,
            f"{line.mean:+.2f}",
            "-" if line.sd is None else f"{line.sd:.2f}",
            "scatter more than the assay noise" if line.wide else "",
        )
        for line in told.plates[-_LAST:]
    ]
    header = ["Round", "Plate", *(["Endpoint"] if several else []), "Values", "Above nominal", "SD", ""]
    more = len(told.plates) - _LAST
    lines = ["", f"Controls ({names}):", *table(header, rows)]
    lines += [f"... and {more} before (--json lists them all)"] if more > 0 else []
    return [*lines, ""]
