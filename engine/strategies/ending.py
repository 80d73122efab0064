"""Ends that strategies share: what no lab could tell apart any more, and whether anybody is there to be asked about."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..arrays import Flags, Floats
from .protocol import IN, NOT_ESTIMABLE, UNDECIDED, Problem, State, StopReason

__all__ = ["SOFTER", "doubted", "inseparable", "late", "newcomers", "nobody_late", "reopened", "wider"]


_ABSURD = 1e12
"""Measurements in one phase that no lab will make: what is still open then is as good as tied."""

SOFTER = "with a soft zone (slack), or a wider one, the search ends"
"""What helps where one limit divides what is in from what is out."""


def inseparable(state: State, needed: float, mend: str) -> tuple[StopReason, ...]:
    """The reason to stop when the next phase takes more measurements than any lab makes; empty while it does not.

    ``needed``: about what the next phase takes; what the last one took counts too, since phases grow. A budget below
    that cuts the phase instead.
    """
    last, budget = state.last, state.problem.budget
    if last is not None:
        needed = max(needed, last.numbers.get("measurements", 0.0))
    if needed <= _ABSURD or (budget is not None and budget - state.spent <= _ABSURD):
        return ()
    open_arms = int(((state.status == UNDECIDED) & state.problem.wanted).sum())
    who = "1 compound is" if open_arms == 1 else f"{open_arms:,} compounds are"
    text = f"{who} too close to tell apart: the next phase would take more than 10^12 measurements; {mend}"
    return (StopReason("undecidable", text, {"undecided": open_arms, "needed": needed}),)


def nobody_late(problem: Problem) -> dict[str, NDArray[Any]]:
    """What ``late`` remembers, before the first phase."""
    return {"late": np.zeros(problem.n_arms, dtype=bool)}


def late(state: State) -> dict[str, NDArray[Any]]:
    """To be remembered after a phase: whom it compared with the one found best for the first time, ``(n_arms,)``."""
    later = _late(state).copy()
    if (state.status == IN).any():
        later |= state.active & (state.status == UNDECIDED)
    return {"late": later}


def _late(state: State) -> Flags:
    """What was remembered so far; nobody in campaigns that were begun before anything was."""
    known: Flags = state.memory.get("late", np.zeros(state.problem.n_arms, dtype=bool))
    return known


def wider(low: Floats, high: Floats, factor: float) -> tuple[Floats, Floats]:
    """The bounds with so many times their half-widths; infinite ones stay."""
    more, known = np.zeros(len(low)), np.isfinite(high)
    more[known] = (high[known] - low[known]) * (factor - 1.0) / 2.0
    return low - more, high + more


def doubted(state: State, slack: float, factor: float = 1.0) -> tuple[StopReason, ...]:
    """The reason to stop, all else decided, when one that is lost may be better than the one found best before it.

    ``factor``: how many times the half-widths of last bounds count.
    """
    found = state.status == IN
    if not found.any():
        return ()
    gone = state.lost & (state.status == NOT_ESTIMABLE) & _late(state)
    low, high = wider(state.low[0], state.high[0], factor)
    gone &= high > low[found].max() + slack
    n = int(gone.sum())
    if not n:
        return ()
    who = "1 compound" if n == 1 else f"{n} compounds"
    text = f"{who} that may be better than the one found best cannot be measured any more; all others are out"
    return (StopReason("lost", text, {"lost": n, "undecided": 0}),)


def reopened(before: State, after: State) -> State:
    """The state ``after`` others could be had again that had no bounds ``before``: who is in was compared without them.

    So who is in is undecided again, which is never wrong; what walks showed before goes on counting. Who is out stays
    out: the best can only be better now.
    """
    back = (before.status == NOT_ESTIMABLE) & (after.status == UNDECIDED) & ~np.isfinite(before.high).all(axis=0)
    again = after.status == IN
    if not back.any() or not again.any():
        return after
    there = again & (after.active | after.left)
    status = np.where(there, UNDECIDED, np.where(again, NOT_ESTIMABLE, after.status)).astype(np.int8)
    phases = np.where(again, 0, after.decided_in_phase)
    return replace(after, status=status, decided_in_phase=phases, active=after.active | there, left=after.left & ~there)


def newcomers(state: State) -> bool:
    """Whether somebody undecided can be asked about now who could not in the last phase, or no phase came yet."""
    if state.last is None:
        return True
    return bool((state.active & (state.status == UNDECIDED) & np.isnan(state.last.high).all(axis=0)).any())
