"""Whether a campaign file is whole, and whether its decisions follow from its facts."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from assaypilot.engine.campaign import limits, redecide
from assaypilot.engine.campaign.changing.decisions import verdicts
from assaypilot.engine.campaign.confirmation import same_predictions
from assaypilot.engine.campaign.file.chain import Event
from assaypilot.engine.campaign.file.store import Problem, Store, Verification
from assaypilot.engine.campaign.file.store import verify as verify_store
from assaypilot.engine.campaign.noise import scatter
from assaypilot.engine.campaign.replay import UNFIT, Ledger
from assaypilot.engine.progress import Report, silent
from assaypilot.engine.strategies.protocol import Decision

__all__ = ["verify"]


def verify(
    path: str | Path,
    *,
    recompute: bool = False,
    expected_head: str | None = None,
    expected_events: int | None = None,
    report: Report = silent,
) -> Verification:
    """What is wrong with a campaign file, if anything: its schema, every event and part, the head, and the replay.

    With ``recompute`` every decision is derived again from the facts before it and differences are reported.
    """
    found = verify_store(path, expected_head=expected_head, expected_events=expected_events)
    if not found.ok:
        return found
    problems: list[Problem] = []
    with Store.open(path, read_only=True) as store:
        ledger = Ledger(store.part)
        events = store.events()
        for position, event in enumerate(events):
            try:
                again = _again(ledger, event) if recompute else None
                if recompute and event.kind == "confirmation_issued" and not same_predictions(ledger, event.data):
                    problems.append(Problem(event.sequence, _PREDICTS.format(event.data["round"])))
                ledger.apply(event)
            except UNFIT as error:
                problems.append(Problem(event.sequence, f"{event.kind} does not follow from what came before: {error}"))
                break
            if recompute:
                problems += [Problem(event.sequence, text) for text in (*_anew(ledger, event), *_noise(ledger, event))]
            if again is not None:
                texts = (*_differences(ledger, event, again[0]), *_limits(ledger, event, again[1]))
                problems += [Problem(event.sequence, text) for text in texts]
            report(position / len(events), "checking the events")
    return replace(found, ok=not problems, problems=(*found.problems, *problems))


_PREDICTS = "confirmation round {}: the facts predict something else"


def _anew(ledger: Ledger, event: Event) -> list[str]:
    """What is wrong with decisions made anew, when the terms were changed or such decisions reached again."""
    anew = ledger.anew
    taken = event.kind in ("settings_changed", "compounds_added") and "undoes" not in event.data
    if anew is None or not anew.derived or not (taken or (event.kind == "phase_redecided" and "anew" in event.data)):
        return []
    said = [] if redecide.same(redecide.derived_again(ledger, anew), anew.decision) else [_ANEW.format("decision")]
    pairs = enumerate(verdicts(ledger, ledger.settled), start=1)
    if not all(limits.same(one, ledger.verdicts.get(phase)) for phase, one in pairs):
        said.append(_ANEW.format("verdict about the limits"))
    return said


def _noise(ledger: Ledger, event: Event) -> list[str]:
    """What is wrong with the noise that decisions noted, right after they were made."""
    if not event.kind.startswith("phase_"):
        return []
    told = [phase for phase in ledger.spreads if scatter.spreads(ledger, phase) != ledger.spreads[phase]]
    return [f"phase {phase}: the facts give another assay noise" for phase in told]


_ANEW = "the facts give another {} under the changed terms"

Verdicts = list[limits.Verdict | None]


def _again(ledger: Ledger, event: Event) -> tuple[list[Decision], Verdicts] | None:
    """What the facts before an event that decides say must be decided; None for any other event."""
    ledger = _with_bounds(ledger, event)
    match event.kind:
        case "phase_decided" | "phase_empty":
            decision = redecide.recompute(ledger)
            if decision is None:
                return [], []
            return [decision], [limits.decide(ledger, decision.phase, list(ledger.verdicts.values()))]
        case "phase_redecided":
            first = event.data["from"]
            if "anew" in event.data and ledger.anew is not None:
                ledger = redecide.behind_the_change(ledger, ledger.anew)[0]
            return redecide.recompute_from(ledger, first), redecide.verdicts_from(ledger, first)
    return None


def _with_bounds(ledger: Ledger, event: Event) -> Ledger:
    """The ledger, without values known only as bounds in those phases of which an event's decisions left them out."""
    told = event.data.get("decisions", [event.data] if event.kind == "phase_decided" else [])
    without = [
        data["phase"]
        for data in told
        if not data["numbers"].get("censored") and not any(one.get("censored") for one in data.get("limits", ()))
    ]
    if not without:
        return ledger
    other = ledger.fork({})
    other.without_bounds = frozenset(without)
    return other


def _limits(ledger: Ledger, event: Event, again: Verdicts) -> list[str]:
    if event.kind == "phase_empty":
        return []
    again_from = max(event.data["from"], ledger.settled + 1) if event.kind == "phase_redecided" else 0
    first = again_from or event.data["phase"]
    return [
        f"phase {phase}: the facts say something else about the limits"
        for phase, verdict in enumerate(again, start=first)
        if not limits.same(verdict, ledger.verdicts.get(phase))
    ]


def _differences(ledger: Ledger, event: Event, again: list[Decision]) -> list[str]:
    if event.kind == "phase_empty":
        return [f"phase {decision.phase}: the facts give a decision, and the log has none" for decision in again]
    if not again and event.kind == "phase_decided":
        return [f"phase {event.data['phase']}: the log has a decision, and the facts give none"]
    return [
        f"phase {decision.phase}: the facts give another decision"
        for decision in again
        if not redecide.same(decision, ledger.estimates[decision.phase])
    ]
