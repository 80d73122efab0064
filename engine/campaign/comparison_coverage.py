"""Whether who is in was compared with all that can be had now."""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from ..domain.features import outside_span
from ..strategies.designs import table
from ..strategies.protocol import IN, NOT_ESTIMABLE, OUT, State
from .decisions import Decisions
from .phrases import many

__all__ = ["never_compared"]


def never_compared(ledger: Decisions) -> list[str]:
    """Why what is in is not what is promised, since others can be had again; empty where it is.

    A first decision was about those that could be estimated then. ``adaptive`` compares who is in with the others once
    more, which its error probability has no part for.
    """
    state = ledger.current()
    if ledger.strategy.info.name == "adaptive" and _came_back(ledger):
        return ["compounds became available again after others were put in without them"]
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


def _came_back(ledger: Decisions) -> bool:
    """Whether arms that could not be estimated while others were put in can be estimated since."""
    if any(turn.how == "void" for turn in ledger.turns):
        return False  # the guarantee has ended, and compounds that were added could not be measured before
    could = [*(decided.measurable for decided in ledger.phases), ledger.measurable()]
    any_in = False
    for phase, (before, after) in enumerate(pairwise(could), start=1):
        any_in = any_in or len(ledger.estimates[phase].ins) > 0
        new = np.flatnonzero(after & ~before)
        if any_in and len(new):
            basis = table(ledger.features, np.flatnonzero(before)).basis
            if outside_span(ledger.features, basis, new).any():
                return True
    return False
