"""Results taken into a campaign: what of them is new, and what they end."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from ...domain.controls import Reading, find_control
from ...domain.measurements import Result
from ...errors import AlreadyEntered, AssayPilotError
from .. import codec
from ..events.entered import CompoundsUnavailable, ResultsRecorded
from ..events.fold import Work
from ..preconditions import check_value, check_values
from ..replay import Ledger
from ..rounds import closed_round, to_end
from ..state import Missing, RecordReport, Source
from . import amending
from .intake import Intake, due_now, left_out, on_model, prepare, to_mark


def recorded(
    work: Work,
    results: Sequence[Result],
    *,
    close: bool,
    missing: Missing,
    unavailable: tuple[Sequence[str], str] | None,
    again: bool,
    close_when_complete: bool,
    source: Source | None,
) -> RecordReport:
    """Return what became of results, which are in the transaction now; see ``Campaign.record``."""
    ledger = work.ledger
    if close:
        to_end(ledger, "close")
    if source is not None and source.digest and source.digest in ledger.sources and not again:
        raise AlreadyEntered("these results are in the campaign already", source.name)
    gone = () if unavailable is None else to_mark(ledger, unavailable[0])
    results, of_controls = apart(ledger, results)
    taken = _taken(ledger, results, again=again, typed=source is None or not source.digest)
    controls = readings_of(ledger, of_controls, again=again)
    if of_controls:
        taken = replace(
            taken,
            duplicates=taken.duplicates + controls.duplicates,
            rejected=(*taken.rejected, *controls.rejected),
            warnings=(*taken.warnings, *controls.warnings),
        )
    anything = bool(taken.measurements or controls.readings)
    if not anything:
        _refuse_nothing(taken, source, needless=close or bool(gone))
    issued = ledger.open_round
    number = ledger.last_round
    if anything:
        data: dict[str, Any] = {
            "round": number,
            "measurements": [codec.measurement_to_json(m) for m in taken.measurements],
            "source": codec.source_to_json(source),
        }
        if controls.readings:
            data["controls"] = [codec.reading_to_json(r) for r in controls.readings]
        work.add(ResultsRecorded.draft(data))
    if unavailable is not None and gone:
        work.add(CompoundsUnavailable.draft({"compounds": list(gone), "reason": amending.reason_of(unavailable[1])}))
    complete = close_when_complete and issued is not None and anything and not work.ledger.pending(issued)
    closes = close or bool(complete)
    if closes and issued is not None:
        work.add(closed_round(work.ledger, issued, missing))
    return RecordReport(
        accepted=len(taken.measurements),
        unplanned=sum(
            m.endpoint in ledger.measured and not m.counted and m.excluded is None for m in taken.measurements
        ),
        duplicates=taken.duplicates,
        censored=sum(m.relation != "=" for m in taken.measurements),
        rejected=taken.rejected,
        round=number,
        round_closed=closes,
        warnings=taken.warnings,
        controls=len(controls.readings),
    )


def _taken(ledger: Ledger, results: Sequence[Result], *, again: bool, typed: bool) -> Intake:
    taken = prepare(
        ledger.library,
        ledger.endpoints,
        results,
        first_number=len(ledger.measurements) + 1,
        due=due_now(ledger),
        phase=ledger.under_way.allocation.phase if ledger.under_way else 0,
        round_number=ledger.last_round,
        earlier=() if again else ledger.measurements,
        typed=typed,
        check=partial(check_value, ledger),
        coarse=ledger.coarse,
    )
    check_values(ledger, taken.measurements)
    return taken


def _refuse_nothing(taken: Intake, source: Source | None, *, needless: bool) -> None:
    """Nothing where results are ``needless``, there being something else to do; an error says why none is new."""
    name = source.name if source else None
    if taken.duplicates and not taken.rejected:
        many = f"all {taken.duplicates} results are" if taken.duplicates > 1 else "this result is"
        raise AlreadyEntered(f"{many} in the campaign already", name)
    if taken.rejected:
        row, reason = taken.rejected[0]
        more = f" (none of {len(taken.rejected)} results could be used)" if len(taken.rejected) > 1 else ""
        raise AssayPilotError(f"{reason}{more}", file=name, row=row)
    if not needless:
        raise AssayPilotError("there is no result to record", file=name, mend="Give at least one value.")


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
    place, value = on_model(ledger.endpoints, result)
    if result.relation != "=":
        raise AssayPilotError(
            f"the control {ledger.settings.controls[control].name} reads {result.relation}{result.value:g} in "
            f"{ledger.endpoints[place].name}: a number is needed"
        )
    return Reading(
        number=0,
        control=control,
        endpoint=place,
        value=value,
        n=result.n,
        entered=result,
        round=result.round or ledger.last_round,
        excluded=left_out(result),
    )
