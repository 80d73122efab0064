"""Results taken into a campaign: what of them is new, and what they end."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import Any

from ...domain.measurements import Result
from ...errors import AssayPilotError
from ..events.entered import CompoundsUnavailable, ResultsRecorded
from ..events.fold import Work
from ..file import codec
from ..preconditions import check_value, check_values
from ..replay import Ledger
from ..rounds import closed_round, to_end
from ..state import Missing, RecordReport, Source
from . import amending
from .control_intake import apart, readings_of
from .intake import Intake, due_now, prepare, to_mark

__all__ = ["recorded"]


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
        raise AssayPilotError(
            "these results are in the campaign already",
            file=source.name,
            mend="Use --again to count them a second time.",
        )
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
        mend = "Use --again to count them a second time."
        raise AssayPilotError(f"{many} in the campaign already", file=name, mend=mend)
    if taken.rejected:
        row, reason = taken.rejected[0]
        more = f" (none of {len(taken.rejected)} results could be used)" if len(taken.rejected) > 1 else ""
        raise AssayPilotError(f"{reason}{more}", file=name, row=row)
    if not needless:
        raise AssayPilotError("there is no result to record", file=name, mend="Give at least one value.")
