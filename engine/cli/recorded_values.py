"""Recorded values, of compounds and of controls: how they are numbered, and what documents tell of one."""

from __future__ import annotations

from typing import Any

from ..campaign.state import Status
from ..domain import kinds
from ..domain.controls import Reading
from ..domain.measurements import Measurement
from ..errors import AssayPilotError

__all__ = ["control_number", "control_value", "value_told"]


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
        "n": one.n,
        "round": one.round,
        "plate": entered.plate or None,
        "well": entered.well or None,
        "excluded": one.excluded,
        "corrected": one.corrected,
        "entered": entered.value,
    }
