"""Recording results in a campaign: the new ones, and what they end."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

from ...domain.controls import find_control
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
from .intake import Intake, due_now, measurement, prepare, reading, to_mark


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
    results, of_controls = split_controls(ledger, results)
    typed = source is None or not source.digest
    taken, controls = _taken(ledger, results, again=again, typed=typed), _read(ledger, of_controls, again=again)
    found = taken.joined(controls)
    anything = bool(taken.measurements or controls.measurements)
    if not anything:
        _refuse_nothing(found, source, needless=close or bool(gone))
    issued = ledger.open_round
    number = ledger.last_round
    if anything:
        data: dict[str, Any] = {
            "round": number,
            "measurements": [codec.value_to_json(m) for m in taken.measurements],
            "source": codec.source_to_json(source),
        }
        if controls.measurements:
            data["controls"] = [codec.value_to_json(r) for r in controls.measurements]
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
        duplicates=found.duplicates,
        censored=sum(m.relation != "=" for m in taken.measurements),
        rejected=found.rejected,
        round=number,
        round_closed=closes,
        warnings=found.warnings,
        controls=len(controls.measurements),
    )


def _taken(ledger: Ledger, results: Sequence[Result], *, again: bool, typed: bool) -> Intake:
    now = ledger.under_way.allocation.phase if ledger.under_way else 0

    def make(result: Result) -> Measurement:
        found = measurement(ledger.library, ledger.endpoints, result)
        check_value(ledger, found.endpoint, found.value)
        return found

    taken = prepare(
        make,
        ledger.endpoints,
        results,
        first_number=len(ledger.measurements) + 1,
        due=due_now(ledger),
        phase=now,
        round_number=ledger.last_round,
        other_rounds={one.number for one in ledger.rounds if one.phase != now},
        earlier=() if again else ledger.measurements,
        typed=typed,
        coarse=ledger.coarse,
    )
    check_values(ledger, taken.measurements)
    return taken


def _read(ledger: Ledger, results: Sequence[Result], *, again: bool) -> Intake:
    """Return the values of controls from results; those with a place are kept once."""
    return prepare(
        partial(reading, ledger.settings.controls, ledger.endpoints),
        ledger.endpoints,
        results,
        first_number=len(ledger.readings) + 1,
        round_number=ledger.last_round,
        earlier=() if again else ledger.readings,
        typed=True,
    )


def _refuse_nothing(taken: Intake, source: Source | None, *, needless: bool) -> None:
    """Raise AssayPilotError that explains why no result is new; return where results are ``needless``."""
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


def split_controls(ledger: Ledger, results: Sequence[Result]) -> tuple[list[Result], list[Result]]:
    """Return the results of compounds, and those of controls; a name that is both is a compound's."""
    controls = ledger.settings.controls
    mine: tuple[list[Result], list[Result]] = [], []
    for result in results:
        known = bool(controls) and find_control(controls, result.compound) is not None
        mine[known and ledger.library.find(result.compound) is None].append(result)
    return mine
