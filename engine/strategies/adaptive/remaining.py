"""What ``adaptive`` does with the rest of a budget that is smaller than a phase about everything.

A phase of few comparisons takes fewer measurements than there are effects (``Draft.fewest``). So where the budget
leaves less than one for every effect, the comparisons nearest to their limits are planned for alone, as many as are
likely to be told by what is left; where that is none, the campaign ends and says what the nearest would take. What a
phase tells of is chosen by the phases before it, as always, so nothing of the guarantee changes.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from ...system.progress import Report, silent
from ..designs import table
from ..protocol import Allocation, State, StopReason
from .planning import ROOM, SHORT, Needs, Way, drafted

__all__ = ["Rest", "left_of", "nothing_more", "rest_of"]


_LEAST = 2
"""Measurements of a comparison: one of either."""


class Rest(NamedTuple):
    """What can be done with the rest of a budget."""

    allocation: Allocation | None
    """A phase of no more than is left; None where that tells of no comparison."""
    needed: int
    """Measurements that the next decision takes."""
    roughly: bool
    """Whether that is what it is likely to take; else it takes at least so many."""


def left_of(state: State) -> int | None:
    """What the budget leaves, where that is less than one measurement for every effect; None where it is more."""
    budget = state.problem.budget
    if budget is None:
        return None
    left = budget - state.spent
    return left if left < rank_of(state) else None


def rank_of(state: State) -> int:
    """How many effects can be told."""
    return table(state.problem.features, np.flatnonzero(state.problem.measurable)).rank


def rest_of(state: State, needs: Needs | None, left: int, way: Way, report: Report = silent) -> Rest:
    """The phase that the rest of the budget is for; ``needs``: the open comparisons, None before they are known."""
    rank = rank_of(state)
    if needs is None or not len(needs.first) or left < _LEAST:
        return Rest(None, _LEAST if state.phase else rank, roughly=False)
    nearest = np.argsort(needs.precision, kind="stable")
    n, needed = len(nearest), rank
    while n:
        few = nearest[:n]
        draft = drafted(state, Needs(needs.first[few], needs.second[few], needs.precision[few]), report, way)
        if draft is None:
            return Rest(None, rank, roughly=False)
        size = max(math.ceil(min(draft.design.value, 1e15)), 1)
        if size <= left:
            size = draft.fewest(size)
        needed = size
        if size <= left:
            wanted = min(math.ceil(ROOM * draft.design.value), left)
            return Rest(draft.issued("xy", *draft.telling(max(size, wanted), left, SHORT / ROOM)), size, roughly=True)
        n //= 2
    return Rest(None, needed, roughly=True)


def nothing_more(left: int, rest: Rest, open_arms: int) -> StopReason:
    """The reason to stop: the budget is spent, or what is left of it brings no decision."""
    numbers = {"left": left, "needed": rest.needed, "undecided": open_arms, "roughly": float(rest.roughly)}
    words = "about" if rest.roughly else "at least"
    text = f"the budget leaves {max(left, 0)} measurements, and one more decision needs {words} {rest.needed}"
    return StopReason("budget", text, numbers)
