"""Results taken into a campaign: what of them is new, and what they end."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from functools import partial
from typing import Any

from ...domain.controls import Reading, find_control
from ...domain.measurements import Measurement, Result
from ...errors import AlreadyEntered, AssayPilotError
from .. import codec
from ..events.entered import CompoundsUnavailable, ResultsRecorded
from ..events.fold import Work
from ..issued_rounds import Missing, Source
from ..preconditions import check_value, check_values
from ..replay import Ledger
from ..rounds import closed_round, to_end
from ..state import RecordReport
from . import amending
from .duplicates import place_of, without_duplicates
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
            "measurements": [codec.value_to_json(m) for m in taken.measurements],
            "source": codec.source_to_json(source),
        }
        if controls.readings:
            data["controls"] = [codec.value_to_json(r) for r in controls.readings]
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
    """Return the values of controls that results stand for; those that say where they stand are kept once."""
    kept: list[Measurement] = []
    rejected: list[tuple[int | None, str]] = []
    for result in results:
        try:
            kept.append(_as_measurement(_reading(ledger, result)))
        except AssayPilotError as error:
            rejected.append((result.row, str(error)))
    earlier = [] if again else list(map(_as_measurement, ledger.readings))
    fresh = without_duplicates(kept, earlier, ledger.endpoints, typed=True)
    there = {(m.compound, m.endpoint, place_of(m)) for m in earlier if not m.withdrawn}
    warnings = [
        f"The control {m.entered.compound} has another value at {m.entered.plate} {m.entered.well}: both are kept."
        for m in fresh
        if m.entered.plate and m.entered.well and (m.compound, m.endpoint, place_of(m)) in there
    ]
    first = len(ledger.readings) + 1
    readings = tuple(
        Reading(first + k, m.compound, m.endpoint, m.value, m.n, m.entered, m.round, m.excluded)
        for k, m in enumerate(fresh)
    )
    return ControlIntake(readings, len(kept) - len(fresh), tuple(rejected), tuple(dict.fromkeys(warnings)))


def _as_measurement(reading: Reading) -> Measurement:
    """Return a value of a control as if the control were a compound."""
    own = {one.name: getattr(reading, one.name) for one in fields(reading) if one.name != "control"}
    return Measurement(**own, compound=reading.control, relation="=", phase=0)


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
