"""What is wrong with a recorded value: left out, used again, or corrected. Nothing of it is ever lost.

Before a phase is decided, that a value is left out for a technical cause or was entered wrongly is assumed to have
nothing to do with what it is. Afterwards it has been seen beside what it decides. A proof does not cover that: as with
changed terms (``changes``) the same transaction hands the campaign over to the series model first, and ``consequences``
says so before it is done.

**Replicates of the table** are of no phase, and a noise that is not known rests on them in every one.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from ...domain.endpoint import Relation
from ...domain.measurements import Measurement
from ...errors import AssayPilotError
from ...strategies.registry import SERIES
from .. import noise as assay_noise
from .. import phrases
from ..change_effects import ENDS, SAME, of_decisions
from ..changes import Change, add_change
from ..events.entered import ControlAmended, MeasurementCorrected, MeasurementExcluded, MeasurementIncluded
from ..events.fold import Work
from ..file.chain import Draft
from ..preconditions import check_value
from ..promises import WAY_ON, broken
from ..replay import Ledger
from ..rounds import decide_due


def reason_of(text: str) -> str:
    """Return a reason on one line; AssayPilotError when there is none."""
    reason = " ".join(text.split())
    if not reason:
        raise AssayPilotError("a reason is needed", mend="Say in a few words why.")
    return reason


def excluded(ledger: Ledger, number: int, reason: str, *, judgement: bool) -> Draft:
    """Return the event that leaves a value out.

    ``judgement``: because of the value itself, not for a technical cause.
    """
    reason = reason_of(reason)
    measurement = ledger.measurement(number)
    if measurement.excluded is not None or measurement.withdrawn:
        raise AssayPilotError(f"measurement {number} is left out already")
    return MeasurementExcluded.draft({"number": number, "reason": reason, "judgement": judgement})


def included(ledger: Ledger, number: int, reason: str) -> Draft:
    """Return the event that has an excluded value used again."""
    reason = reason_of(reason)
    measurement = ledger.measurement(number)
    if measurement.excluded is None or measurement.withdrawn:
        raise AssayPilotError(f"measurement {number} is not excluded")
    before = {"reason": measurement.excluded, "judgement": number in ledger.judged}
    return MeasurementIncluded.draft({"number": number, "reason": reason, "before": before})


def corrected(ledger: Ledger, number: int, value: float, relation: Relation, unit: str | None, reason: str) -> Draft:
    """Return the event that replaces a wrong value, given in ``unit`` (None: the one it was entered in)."""
    reason = reason_of(reason)
    measurement = ledger.measurement(number)
    unit = unit or measurement.entered.unit
    if measurement.withdrawn:
        raise AssayPilotError(f"the entry of measurement {number} was undone, so it cannot be corrected")
    endpoint = ledger.endpoints[measurement.endpoint]
    on_model = endpoint.to_model(value, unit)
    check_value(ledger, measurement.endpoint, on_model)
    on_relation = endpoint.relation_on_model(relation)
    if same_value(on_model, measurement.value) and on_relation == measurement.relation:
        raise _unchanged(f"value {number}", value, relation, unit)
    before = {"value": measurement.value, "relation": measurement.relation, "reason": measurement.corrected}
    data = {
        "number": number,
        "value": on_model,
        "relation": on_relation,
        "entered": value,
        "unit": unit,
        "reason": reason,
        "before": before,
    }
    return MeasurementCorrected.draft(data)


def same_value(one: float, other: float) -> bool:
    """Whether two values on the model scale are one; logarithms of the same number may differ in their last digit."""
    return math.isclose(one, other, rel_tol=1e-12, abs_tol=1e-12)


def _unchanged(what: str, value: float, relation: Relation, unit: str | None) -> AssayPilotError:
    said = f"{'' if relation == '=' else relation}{phrases.number(value)} {unit or ''}".rstrip()
    return AssayPilotError(f"{what} is {said} already, so nothing was corrected", mend="Give the right value.")


def control_amended(
    ledger: Ledger,
    number: int,
    reason: str,
    *,
    value: float | None = None,
    unit: str | None = None,
    excluded: bool | None = None,
) -> Draft:
    """Return the event that replaces the value of a control, leaves it out, or has it used again."""
    reason = reason_of(reason)
    reading = ledger.reading(number)
    if reading.withdrawn:
        raise AssayPilotError(f"the entry of control value {number} was undone, so it cannot be changed")
    now: dict[str, float | str | bool | None] = {}
    if value is not None:
        endpoint = ledger.endpoints[reading.endpoint]
        on_model = endpoint.to_model(value, unit or reading.entered.unit)
        if same_value(on_model, reading.value):
            raise _unchanged(f"control value {number}", value, "=", unit or reading.entered.unit)
        now |= {"value": on_model, "corrected": reason}
    if excluded is not None:
        if excluded == (reading.excluded is not None):
            state = "left out already" if excluded else "not left out"
            raise AssayPilotError(f"control value {number} is {state}")
        now["excluded"] = reason if excluded else None
    if not now:
        raise AssayPilotError("no change was given", mend="Give a value, or say whether it counts.")
    before = {name: getattr(reading, name) for name in now}
    return ControlAmended.draft({"number": number, "now": now, "before": before, "reason": reason})


def amend(work: Work, draft: Draft) -> None:
    """Add the event of a change of one value.

    Where a proof has decided by the value, the series model takes over before it changes.
    """
    ledger = work.ledger
    if not ledger.calibrated and _decided_by(ledger, ledger.measurement(draft.data["number"])):
        add_change(work, Change(strategy=SERIES), draft.data["reason"])
    work.add(draft)


def _decided_by(ledger: Ledger, m: Measurement) -> bool:
    """Whether a phase has decided by a value, or by the noise that it tells of."""
    decided = len(ledger.phases)
    return decided > 0 and (assay_noise.tells(ledger, m) or (m.counted > 0 and 0 < m.phase <= decided))


def consequences(before: Ledger, draft: Draft) -> tuple[str, ...]:
    """Return what a change of one value would do to the guarantee and the decisions, in sentences; nothing is done."""
    work = Work(before)
    amend(work, draft)
    due = decide_due(work)
    calibrated = work.ledger.calibrated
    told = [ENDS] if calibrated and not before.calibrated else _of_the_guarantee(before, work.ledger)
    return (*told, *(of_decisions(before, work.ledger) if calibrated or due else ()))


def harmless(told: Sequence[str]) -> bool:
    """Whether nothing of what ``consequences`` says changes a decision or what is guaranteed."""
    return all(sentence == SAME for sentence in told)


def _of_the_guarantee(before: Ledger, after: Ledger) -> list[str]:
    now, then = broken(before), broken(after)
    if then and not now:
        return [f"Nothing would be guaranteed any more: {'; '.join(then)}. {WAY_ON}"]
    if now and not then:
        return ["The guarantee would hold again."]
    return []
