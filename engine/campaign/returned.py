"""Compounds that can be had again, and who was put in while nothing could be said of them.

**What ``adaptive`` states then.** What is promised is about the best b(t) of those that could be estimated at the time.
With others back b(t) may be another one. Who is out stays out rightly, since the best only rises. But who is worse than
epsilon and slack had to pass against the old best to be in before, and has to pass against the new one to be in after:
two walks, and one more for whom is taken not to be the best. So each time, after somebody was put in, what is for these
is spent once more, and that is stated on top.
"""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from assaypilot.engine.campaign.words import many
from assaypilot.engine.features import outside_span
from assaypilot.engine.strategies.designs import table
from assaypilot.engine.strategies.protocol import IN, NOT_ESTIMABLE, OUT, State

if TYPE_CHECKING:
    from assaypilot.engine.campaign.decisions import Decisions
    from assaypilot.engine.campaign.replay import Ledger

__all__ = ["never_compared", "spent_again"]

Flags = NDArray[np.bool_]
Ints = NDArray[np.intp]

_AGAIN = {"epsilon-best": 0.55, "best": 0.475, "pareto": 0.6}
"""Of delta what ``adaptive`` has for who is in and for who is not the best, by goal."""


def spent_again(ledger: Decisions) -> float:
    """How many times delta ``adaptive`` may err on top, because compounds came back after others were put in."""
    if ledger.strategy.info.name != "adaptive":
        return 0.0
    could = [decided.measurable for decided in ledger.phases]
    any_in, times = False, 0
    for phase, (before, after) in enumerate(pairwise([*could, ledger.measurable()]), start=1):
        any_in = any_in or len(ledger.estimates[phase].ins) > 0
        # Compounds that were added since have a share of their own: see ``strategies.adaptive.cohorts``.
        times += any_in and len(_back(ledger, before, after & (ledger.since < phase))) > 0
    return times * _AGAIN.get(ledger.settings.goal, 1.0)


def _back(ledger: Decisions, before: Flags, after: Flags) -> Ints:
    """The arms that could not be estimated when only some could be measured, and can now."""
    new = np.flatnonzero(after & ~before)
    if not len(new):
        return new
    return new[outside_span(ledger.features, table(ledger.features, np.flatnonzero(before)).basis, new)]


def never_compared(ledger: Ledger) -> list[str]:
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


def _without(ledger: Ledger, state: State, phase: int) -> int:
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
