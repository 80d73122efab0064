"""Amendments of recorded values: left out, used again, or corrected. The log keeps everything.

Before a phase is decided, that a value is left out for a technical cause or was entered wrongly is assumed to have
nothing to do with what it is. Afterwards it was seen with what it decides. A proof does not cover that: as with
changed terms (``changes``) the same transaction hands the campaign over to the series model first, and ``consequences``
announces it before it is done.

**Replicates of the table** are of no phase, and a noise that is not known rests on them in every one.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from ...domain.endpoint import Relation
from ...domain.measurements import Measurement
from ...errors import AssayPilotError
from ...strategies.registry import SERIES
from ...text import number as number_text
from .. import noise as assay_noise
from ..change_effects import ENDS, SAME, of_decisions
from ..changes import Change, add_change
from ..events.entered import MeasurementCorrected, MeasurementExcluded, MeasurementIncluded
from ..events.fold import Work
from ..file.chain import Draft
from ..preconditions import check_value
from ..promises import WAY_ON, broken
from ..replay import Ledger
from ..rounds import decide_due
from .intake import refuse_bound


def reason_of(text: str) -> str:
    """Return a reason on one line; AssayPilotError when there is none."""
    reason = " ".join(text.split())
    if not reason:
        raise AssayPilotError("a reason is needed", mend="Say in a few words why.")
    return reason


def excluded(ledger: Ledger, number: int, reason: str, *, judgement: bool, control: bool = False) -> Draft:
    """Return the event that leaves a value out, of a compound or of a ``control``.

    ``judgement``: because of the value itself, not for a technical cause; controls decide nothing, so theirs is none.
    """
    reason, measurement = reason_of(reason), ledger.measurement(number, control=control)
    if measurement.excluded is not None or measurement.withdrawn:
        raise AssayPilotError(f"{_which(number, control=control)} is left out already")
    return MeasurementExcluded.draft(_data(number, control, reason=reason, judgement=judgement and not control))


def included(ledger: Ledger, number: int, reason: str, *, control: bool = False) -> Draft:
    """Return the event that has an excluded value used again."""
    reason, measurement = reason_of(reason), ledger.measurement(number, control=control)
    if measurement.excluded is None or measurement.withdrawn:
        raise AssayPilotError(f"{_which(number, control=control)} is not excluded")
    return MeasurementIncluded.draft(_data(number, control, reason=reason))


def corrected(
    ledger: Ledger,
    number: int,
    value: float,
    relation: Relation,
    unit: str | None,
    reason: str,
    *,
    control: bool = False,
) -> Draft:
    """Return the event that replaces a wrong value, given in ``unit`` (None: the one it was entered in)."""
    reason, measurement = reason_of(reason), ledger.measurement(number, control=control)
    unit, what = unit or measurement.entered.unit, _which(number, control=control)
    if measurement.withdrawn:
        raise AssayPilotError(f"the entry of {what} was undone, so it cannot be corrected")
    endpoint = ledger.endpoints[measurement.endpoint]
    on_model, on_relation = endpoint.to_model(value, unit), endpoint.relation_on_model(relation)
    if control:
        refuse_bound(measurement.entered.compound, replace(measurement.entered, value=value, relation=relation))
    else:
        check_value(ledger, measurement.endpoint, on_model)
    # Logarithms of the same number may differ in their last digit.
    same = math.isclose(on_model, measurement.value, rel_tol=1e-12, abs_tol=1e-12)
    if same and on_relation == measurement.relation:
        stated = f"{'' if relation == '=' else relation}{number_text(value)} {unit or ''}".rstrip()
        raise AssayPilotError(f"{what} is {stated} already, so nothing was corrected", mend="Give the right value.")
    now = {"value": on_model, "relation": on_relation, "entered": value, "unit": unit, "reason": reason}
    return MeasurementCorrected.draft(_data(number, control, **now))


def _which(number: int, *, control: bool) -> str:
    return f"{'control ' if control else ''}value {number}"


def _data(number: int, control: bool, **more: Any) -> dict[str, Any]:
    return {"number": number, **({"control": True} if control else {}), **more}


def amend(work: Work, draft: Draft) -> None:
    """Add the event of a change of one value.

    Where a proof has decided by the value, the series model takes over before it changes.
    """
    ledger = work.ledger
    of_compound = not draft.data.get("control")
    if of_compound and not ledger.calibrated and _decided_by(ledger, ledger.measurement(draft.data["number"])):
        add_change(work, Change(strategy=SERIES), draft.data["reason"])
    work.add(draft)


def _decided_by(ledger: Ledger, m: Measurement) -> bool:
    """Return whether a phase has decided by a value, or by the noise that it informs."""
    decided = len(ledger.phases)
    return decided > 0 and (assay_noise.informs_noise(ledger, m) or (m.counted > 0 and 0 < m.phase <= decided))


def consequences(before: Ledger, draft: Draft) -> tuple[str, ...]:
    """Return what a change of one value would do to the guarantee and the decisions, in sentences; nothing is done."""
    if draft.data.get("control") and not before.calibrated:
        return ("Controls are shown and decide nothing.",)
    work = Work(before)
    amend(work, draft)
    due = decide_due(work)
    calibrated = work.ledger.calibrated
    sentences = [ENDS] if calibrated and not before.calibrated else _of_the_guarantee(before, work.ledger)
    return (*sentences, *(of_decisions(before, work.ledger) if calibrated or due else ()))


def harmless(sentences: Sequence[str]) -> bool:
    """Return whether no sentence of ``consequences`` changes a decision or the guarantee."""
    return all(sentence == SAME for sentence in sentences)


def _of_the_guarantee(before: Ledger, after: Ledger) -> list[str]:
    now, then = broken(before), broken(after)
    if then and not now:
        return [f"Nothing would be guaranteed any more: {'; '.join(then)}. {WAY_ON}"]
    if now and not then:
        return ["The guarantee would hold again."]
    return []
