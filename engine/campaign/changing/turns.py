"""One change of mind as the state of a campaign keeps it, and what it decided anew."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from assaypilot.engine.arrays import Flags, Ints
from assaypilot.engine.goals import Goal
from assaypilot.engine.strategies.protocol import IN, OUT, UNDECIDED, Decision, State, Strategy

__all__ = ["Anew", "How", "Turn", "on_top"]

How = Literal["capacity", "free", "kept", "void"]
"""What a change does to the decisions.

``capacity``: nothing, they are as they were; ``free``: there were no results yet, all begins under the new terms;
``kept``: they were derived anew, and the guarantee holds; ``void``: they stand, and nothing is guaranteed any more.
"""


@dataclass(frozen=True, eq=False)
class Turn:
    """One change of mind."""

    how: How
    changes: tuple[Mapping[str, Any], ...]
    """What, of which endpoint if of one, before and after; as the log keeps it."""
    after: int
    """Phases decided before."""
    spent: int
    """Measurements that were in."""
    goal: Goal
    """The goal before."""
    was: Mapping[str, Any]
    """The state before, by the names of its parts."""
    seen: int = 0
    """Values that had been entered, those taken back included."""


@dataclass(frozen=True, eq=False)
class Anew:
    """What a change of mind decided anew of all phases before it."""

    decision: Decision
    derived: bool
    """Whether it follows from the measurements under the new terms; else it is what stood before."""
    decided_in: Ints
    """``(n_arms,)``: the phase that decided each arm; the one before, where it came to the same."""
    measurable: Flags
    """``(n_arms,)``: what could be had."""
    rules: int = 1
    """By which rules, as the log says. 2: phases are seen with the noise as it was when they were planned, and who
    could not be estimated then is known to have been compared with nobody. 1 in logs that do not say, for good."""

    @property
    def status(self) -> NDArray[np.int8]:
        """``(n_arms,)``, IN or OUT where it decides."""
        status = np.full(len(self.decided_in), UNDECIDED, dtype=np.int8)
        status[self.decision.ins], status[self.decision.outs] = IN, OUT
        return status


def on_top(strategy: Strategy, state: State, anew: Anew) -> State:
    """The state after a change of mind, from the one before any phase."""
    state = strategy.apply(state, anew.decision)
    if anew.rules > 1:
        state = strategy.adjust(state, measurable=anew.measurable, spent=anew.decision.spent)
    decided = anew.status != UNDECIDED
    return replace(state, decided_in_phase=np.where(decided, anew.decided_in, state.decided_in_phase))
