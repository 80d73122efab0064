"""Whether a campaign file is whole, and whether its decisions follow from its facts."""

from __future__ import annotations

import math
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from ..errors import NotInstalled
from ..strategies.protocol import Decision
from ..system.progress import Report, silent
from . import noise as assay_noise
from .auditing import same_sample
from .candidates import build_candidates
from .confirmation import same_predictions
from .events.fold import UNFIT, describe, kind_of, take
from .events.issued import AuditIssued, ConfirmationIssued, PhasePlanned
from .events.terms import EstimatesUpdated, PhaseDecided, PhaseEmpty
from .file.chain import Event
from .file.store import Problem, Store, Verification
from .file.store import verify as verify_store
from .replay import Ledger
from .rounds import recompute as recompute_decision
from .rounds import same
from .view import build_status

_SECONDS = 5.0
"""For which decisions are made again unasked."""


def verify(
    path: str | Path,
    *,
    recompute: bool | None = None,
    expected_head: str | None = None,
    expected_events: int | None = None,
    report: Report = silent,
) -> Verification:
    """Return what is wrong with a campaign file, if anything.

    Its schema, every event and part, the head, and the replay.

    With ``recompute`` every decision is derived again from the facts before it and differences are reported; None: for
    as long as that takes a few seconds, and ``recomputed`` is whether all were.

    A file that passes is consistent. Whether its whole history was rewritten, with digests that fit, or the author
    and time were changed, only a head noted elsewhere can show (``expected_head``).
    """
    found = verify_store(path, expected_head=expected_head, expected_events=expected_events)
    if not found.ok:
        return found
    problems: list[Problem] = []
    end = time.monotonic() + _SECONDS if recompute is None else math.inf
    recompute = recompute is not False
    with Store.open(path, read_only=True) as store:
        ledger = Ledger(store.part)
        events = store.events()
        for position, event in enumerate(events):
            recompute = recompute and time.monotonic() < end
            try:
                kind = kind_of(event)
                decides = recompute and kind in (PhaseDecided, EstimatesUpdated, PhaseEmpty)
                again = recompute_decision(ledger, update=kind is EstimatesUpdated) if decides else None
                if recompute and kind is ConfirmationIssued and not same_predictions(ledger, event.data):
                    problems.append(Problem(event.sequence, _PREDICTS.format(event.data["round"])))
                if recompute and kind is AuditIssued and not _drawn(ledger, event):
                    problems.append(Problem(event.sequence, _DRAWS.format(event.data["round"])))
                take(ledger, event)
                describe(event, ledger)
                texts: tuple[str, ...] = ()
                if recompute:
                    texts = tuple(_noise(ledger, event))
                if decides:
                    texts = (*texts, *_differences(ledger, event, again))
            except NotInstalled as error:
                error.file = str(path)
                raise
            except UNFIT as error:
                problems.append(Problem(event.sequence, f"{event.kind} does not follow from what came before: {error}"))
                break
            problems += [Problem(event.sequence, text) for text in texts]
            report(position / len(events), "checking the events")
        if not problems:
            try:
                build_status(ledger, ())
            except UNFIT as error:
                problems.append(Problem(None, f"the events do not add up to a campaign that can be shown: {error}"))
    return replace(found, ok=not problems, problems=(*found.problems, *problems), recomputed=recompute)


_DRAWS = "audit round {}: the seed draws other compounds"
_PREDICTS = "confirmation round {}: the facts predict something else"


def _noise(ledger: Ledger, event: Event) -> list[str]:
    """Return what is wrong with the noise that decisions noted, right after they were made."""
    if kind_of(event) not in (PhasePlanned, PhaseDecided, PhaseEmpty):
        return []
    differing = [phase for phase in ledger.spreads if assay_noise.spreads(ledger, phase) != ledger.spreads[phase]]
    return [f"phase {phase}: the facts give another assay noise" for phase in differing]


def _drawn(ledger: Ledger, event: Event) -> bool:
    """Return whether the compounds of an audit round are those that the seed of the campaign draws."""
    return same_sample(ledger, build_candidates(ledger, ledger.current()), event.data)


def _differences(ledger: Ledger, event: Event, decision: Decision | None) -> Iterator[str]:
    """Yield where a stored decision is another than the ``decision`` that the facts before it give."""
    phase = event.data["phase"]
    if kind_of(event) is PhaseEmpty:
        if decision is not None:
            yield f"phase {phase}: the facts give a decision, and the log has none"
    elif decision is None:
        yield f"phase {phase}: the log has a decision, and the facts give none"
    elif not same(decision, ledger.estimates[phase]):
        was, info = event.data.get("strategy_version"), ledger.strategy.info
        made = "" if was == info.version else f" by {info.name} {info.version}, and it was made by version {was}"
        yield f"phase {phase}: the facts give another decision{made}"
