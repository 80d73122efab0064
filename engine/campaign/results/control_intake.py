"""Values of controls as they come in: told from those of compounds, put on the model scale, each kept once."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

from ...domain.controls import Reading, find_control
from ...domain.measurements import Result
from ...errors import AssayPilotError
from ..replay import Ledger

__all__ = ["ControlIntake", "apart", "readings_of"]

_Key = tuple[object, ...]


@dataclass(frozen=True, slots=True)
class ControlIntake:
    """What a batch of values of controls comes to."""

    readings: tuple[Reading, ...]
    duplicates: int
    rejected: tuple[tuple[int | None, str], ...]
    """(row, reason)."""
    warnings: tuple[str, ...]


def apart(ledger: Ledger, results: Sequence[Result]) -> tuple[list[Result], list[Result]]:
    """Return the results of compounds, and those of controls; a name that is both is a compound's."""
    controls = ledger.settings.controls
    mine: tuple[list[Result], list[Result]] = [], []
    for result in results:
        known = bool(controls) and find_control(controls, result.compound) is not None
        mine[known and ledger.library.find(result.compound) is None].append(result)
    return mine


def readings_of(ledger: Ledger, results: Sequence[Result], *, again: bool) -> ControlIntake:
    """Return the values of controls that results stand for; those that say round, plate, well or date are kept once."""
    kept: list[Reading] = []
    rejected: list[tuple[int | None, str]] = []
    warnings: dict[str, None] = {}
    seen = {} if again else {_key(r): r.value for r in ledger.readings if not r.withdrawn and _placed(r.entered)}
    duplicates = 0
    for result in results:
        try:
            reading = _reading(ledger, result)
        except AssayPilotError as error:
            rejected.append((result.row, str(error)))
            continue
        key = _key(reading)
        if _placed(result) and key in seen:
            if math.isclose(seen[key], reading.value, rel_tol=1e-9):
                duplicates += 1
                continue
            warnings[f"Another value of the control {result.compound} stands at {_where(result)}: both are kept."] = (
                None
            )
        if _placed(result):
            seen[key] = reading.value
        kept.append(reading)
    first = len(ledger.readings) + 1
    numbered = tuple(replace(reading, number=first + k) for k, reading in enumerate(kept))
    return ControlIntake(numbered, duplicates, tuple(rejected), tuple(warnings))


def _placed(result: Result) -> bool:
    """Whether a value says where or when it is from, so that the same words mean the same value."""
    return bool(result.replicate or result.plate or result.well or result.date)


def _where(result: Result) -> str:
    return " ".join(filter(None, (result.plate, result.well, result.date, result.replicate)))


def _key(reading: Reading) -> _Key:
    entered = reading.entered
    place = (entered.replicate, entered.plate, entered.well, entered.date, entered.batch)
    return reading.control, reading.endpoint, reading.round, *(text.strip().casefold() for text in place)


def _reading(ledger: Ledger, result: Result) -> Reading:
    control = find_control(ledger.settings.controls, result.compound)
    assert control is not None
    name = ledger.settings.controls[control].name
    entered = [k for k, endpoint in enumerate(ledger.endpoints) if endpoint.of is None]
    if result.endpoint is None:
        if len(entered) != 1:
            raise AssayPilotError(f"the value of the control {name} does not say which endpoint")
        place = entered[0]
    else:
        wanted = result.endpoint.strip().casefold()
        found = [k for k in entered if ledger.endpoints[k].name.casefold() == wanted]
        if not found:
            raise AssayPilotError(f"there is no endpoint {result.endpoint!r}")
        place = found[0]
    if result.relation != "=":
        raise AssayPilotError(
            f"the control {name} reads {result.relation}{result.value:g} in {ledger.endpoints[place].name}: "
            "a number is needed"
        )
    if result.n < 1:
        raise AssayPilotError(f"N must be 1 or more, got {result.n}")
    value = ledger.endpoints[place].to_model(result.value, result.unit)
    number = result.round or ledger.last_round
    return Reading(
        number=0,
        control=control,
        endpoint=place,
        value=value,
        n=result.n,
        entered=result,
        round=number,
        excluded=(result.comment or "excluded in the table") if result.excluded else None,
    )
