"""Who ``adaptive`` for one endpoint shows to be out, in, or the best, by the walks of all phases: see ``one``."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ...arrays import Flags, Ints
from ...domain.goals import AllEpsilonBest, Best
from ..protocol import IN, OUT, UNDECIDED, State
from .evidence import Evidence, Steps
from .levels import SetLimits, slack_of
from .lost import Bounds

__all__ = ["Asked", "shown_out"]


_MOST_PAIRS = 20_000_000
"""Differences in phases looked at for one decision; what is left waits for the next one."""
_STEPS_DOWN = 20
"""Rounds of Holm's procedure at one look; what would follow waits for the next."""
_ASKED = 40
"""Compounds, the best by the estimate, of which one may be named the best."""


def shown_out(state: State, behind: Steps, epsilon: float, known: SetLimits) -> Flags:
    """Which active arms are shown to be farther than epsilon behind the best, by Holm's procedure."""
    undecided = state.status[state.active] == UNDECIDED
    left = int((state.problem.wanted & (state.status != OUT)).sum())
    out = np.zeros(len(undecided), dtype=bool)
    for _ in range(_STEPS_DOWN):
        gone = int((out & undecided).sum())
        out = behind.passed(-epsilon, known.outs(left - gone))
        if int((out & undecided).sum()) == gone:
            break
    return out


@dataclass(frozen=True, slots=True)
class Asked:
    """What is known after a phase, for questions about it."""

    state: State
    evidence: Evidence
    bounds: Bounds
    known: SetLimits

    def near(self, arms: Ints, rivals: Ints, distance: float) -> Ints:
        """The arms shown to be at most so far below every rival; the likeliest rivals are asked about first."""
        evidence = self.evidence
        rivals = rivals[np.argsort(-evidence.pooled.means(rivals), kind="stable")]
        start, size, most = 0, 1, _MOST_PAIRS
        while start < len(rivals) and len(arms):
            block = rivals[start : start + size]
            each = len(block) * evidence.n_phases
            arms = arms[: max(most // each, 0)]
            most -= each * len(arms)
            passed = evidence.pairs(arms, block).passed(distance, self.known.ins())
            passed |= (arms[:, None] == block) | self.bounds.near(arms, block, distance)
            arms = arms[passed.all(axis=1)]
            start, size = start + size, min(4 * size, 256)
        return arms

    def held(self, rivals: Flags, left: Ints) -> bool:
        """Whether those left open would be decided, but for who is away, and no measurement can tell them apart."""
        state, bounds = self.state, self.bounds
        if not len(left) or not (bounds.away & rivals).any() or not bounds.as_good_as_known(left):
            return False
        if isinstance(state.problem.goal, Best) and ((state.status == IN) & ~bounds.away).any():
            # All that is open is to be compared with the one that is named.
            return False
        goal, others = state.problem.goal, np.flatnonzero(rivals & ~bounds.away)
        if isinstance(goal, AllEpsilonBest):
            return len(self.near(left, others, goal.epsilon + goal.slack)) == len(left)
        return bool(len(self.near(left[rivals[left]], others, slack_of(state.problem))))

    def best(self, rivals: Flags, undecided: Ints) -> tuple[Ints, Ints]:
        """The best compound and the others, when there is one to be named; else those that are not it."""
        slack, nobody = slack_of(self.state.problem), np.zeros(0, dtype=np.intp)
        ahead = undecided[rivals[undecided]]
        outs = np.setdiff1d(undecided, ahead)
        named = np.flatnonzero(self.state.status == IN)
        if len(named):
            # These came to be had after it was named: each has to be compared with it.
            near = self.evidence.pairs(named, ahead).passed(slack, self.known.ins())
            near |= self.bounds.low[named][:, None] + slack >= self.bounds.high[ahead]
            return nobody, np.union1d(outs, ahead[near.any(axis=0)])
        if not len(ahead):
            return nobody, outs
        first = ahead[np.argsort(-self.evidence.pooled.means(ahead), kind="stable")][:_ASKED]
        won = self.near(first, np.flatnonzero(rivals), slack)[:1]
        return won, np.setdiff1d(undecided, won) if len(won) else outs
