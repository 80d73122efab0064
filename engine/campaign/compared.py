"""Whether who is in was compared with all that can be had now."""

from __future__ import annotations

import numpy as np

from assaypilot.engine.campaign.decisions import Decisions
from assaypilot.engine.campaign.words import many
from assaypilot.engine.features import outside_span
from assaypilot.engine.strategies.designs import table
from assaypilot.engine.strategies.protocol import IN, NOT_ESTIMABLE, OUT, State

__all__ = ["never_compared"]


def never_compared(ledger: Decisions) -> list[str]:
    """Why what is in is not what is promised, since others can be had again; empty where it is.

    ``adaptive`` compares who is in with them once more, and only where one best compound was named it stays named. With
    other strategies a first decision stands: it was about those that could be estimated then.
    """
    state = ledger.current()
    best = ledger.settings.goal == "best"
    last = state.last
    if best and last is not None and (state.status[last.contradicted] == IN).any():
        return ["a compound that can be had again is better than the one found best"]
    if best or ledger.strategy.info.name == "adaptive":
        return []
    alone = sum(_without(ledger, state, phase) for phase in range(1, len(ledger.phases) + 1))
    are = "was put in" if alone == 1 else "were put in"
    return [f"{many(alone, 'compound')} {are} before others could be had again"] if alone else []


def _without(ledger: Decisions, state: State, phase: int) -> int:
    """How many were put in by a phase of which others that may be the best could not be estimated."""
    measurable = ledger.phases[phase - 1].measurable
    ins = int(((state.status == IN) & (state.decided_in_phase == phase)).sum())
    there = np.flatnonzero(~measurable & (state.status != OUT) & (state.status != NOT_ESTIMABLE))
    if not ins or not len(there):
        return 0
    basis = table(ledger.features, np.flatnonzero(measurable)).basis
    there = there[outside_span(ledger.features, basis, there)]
    bounded = np.zeros(ledger.n_arms, dtype=bool)
    for earlier in range(1, phase + 1):
        bounded |= np.isfinite(ledger.estimates[earlier].high).all(axis=0)
    return ins if (~bounded[there]).any() else 0
