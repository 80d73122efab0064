"""Whether a campaign file is whole, and whether its decisions follow from its facts."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from assaypilot.engine.campaign import redecide
from assaypilot.engine.campaign.replay import Ledger
from assaypilot.engine.campaign.store import Problem, Store, Verification
from assaypilot.engine.campaign.store import verify as verify_store
from assaypilot.engine.errors import AssayPilotError
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
            decision: Decision | None = None
            if recompute and event.kind == "phase_decided":
                decision = redecide.recompute(ledger)
            try:
                ledger.apply(event)
            except (AssayPilotError, ValueError, KeyError, TypeError, IndexError, AttributeError) as error:
                problems.append(Problem(event.sequence, f"{event.kind} does not follow from what came before: {error}"))
                break
            if decision is not None and not redecide.same(decision, ledger.estimates[decision.phase]):
                problems.append(Problem(event.sequence, f"phase {decision.phase}: the facts give another decision"))
            report(position / len(events), "checking the events")
    return replace(found, ok=not problems, problems=(*found.problems, *problems))
