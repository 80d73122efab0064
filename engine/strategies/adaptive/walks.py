"""What ``adaptive`` is for one endpoint and for several alike: walks, their limits, and how phases are planned."""

from __future__ import annotations

from abc import abstractmethod
from typing import ClassVar

import numpy as np
from scipy.special import ndtri

from ...arrays import Floats
from ...system.progress import Report, silent
from ..designs import table
from ..phased import Phased
from ..protocol import UNDECIDED, Allocation, Problem, State, StopReason
from .boundary import limits
from .planning import CAREFUL, Needs, Way, expected_looks, first_phase, next_phase
from .remaining import left_of, nothing_more, rest_of

__all__ = ["ByWalks"]


class ByWalks(Phased):
    """Decides by walks that pass limits which hold at every look."""

    way: ClassVar[Way] = CAREFUL
    """How its phases are planned."""
    unknown_end: ClassVar[int] = 6
    """The step at which walks are expected to end where nothing says when."""

    def assumes(self, problem: Problem) -> tuple[str, ...]:
        """Beside additivity, normal errors: the limits are exact for them."""
        return (*super().assumes(problem), "the assay noise is normally distributed")

    @abstractmethod
    def needs(self, state: State) -> tuple[State, Needs] | None:
        """The state to plan in, and the open comparisons; None before anybody can be compared with."""

    def ask(self, state: State, report: Report = silent) -> Allocation:
        """A phase: an even one first, then what brings the comparisons that are open nearest to their limits."""
        planned, left = self.needs(state), left_of(state)
        if planned is None:
            return first_phase(state, report)
        rest = None if left is None else rest_of(*planned, left, self.way, report).allocation
        return next_phase(*planned, report, self.way) if rest is None else rest

    def spent(self, state: State) -> tuple[StopReason, ...]:
        """The reason to stop when what the budget leaves is likely to decide nobody; empty while it may."""
        left = left_of(state)
        if left is None:
            return ()
        plan_in, needs = self.needs(state) or (state, None)
        rest = rest_of(plan_in, needs, left, self.way)
        open_arms = int(((state.status == UNDECIDED) & state.problem.wanted).sum())
        return () if rest.allocation is not None else (nothing_more(left, rest, open_arms),)

    @staticmethod
    def walk_limits(state: State, level: float, looks: int) -> Floats:
        """The limits of walks at so many looks, ``(looks,)``, passed wrongly with a probability of ``level``."""
        found = limits(level, int(state.memory["expected"][0]), max(looks, 1))
        # With an upper bound for the noise all walks are shorter: below 0 that would bring them nearer to a limit.
        return np.maximum(found, 0.0) if state.problem.estimated else found

    @staticmethod
    def guessed(problem: Problem) -> dict[str, Floats]:
        """To be remembered from the start: the noise as it was guessed, where it is not known; nothing where it is."""
        return {"guess": np.array(problem.noise)} if problem.estimated else {}

    @staticmethod
    def foreseen(state: State) -> tuple[float, ...]:
        """The noise by which rivals are named: nothing that the phase itself says."""
        own = state.memory.get("guess")
        return state.problem.noise if own is None else tuple(own.tolist())

    def end(self, problem: Problem, level: float, gap: float) -> int:
        """About the phase at which a comparison is decided that is ``gap`` noise SDs from its border, at a level."""
        if problem.capacity is None or gap <= 0:
            return self.unknown_end
        needed = 1.5 * (float(ndtri(level)) / gap) ** 2
        rank = table(problem.features, np.flatnonzero(problem.measurable)).rank
        return expected_looks(needed * rank, problem.capacity.per_round)
