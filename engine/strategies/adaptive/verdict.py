"""Which compounds ``adaptive`` for one endpoint shows to be out, in, or the best, by the walks of all phases.

See ``epsilon_best`` for the proof. No later phase estimates a difference to a compound that cannot be measured
any more. The bounds of single means hold at all looks together, for all compounds, but for their own share of delta; so
they may decide what the walks did not.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from ...arrays import Flags, Floats, Ints
from ...domain.goals import AllEpsilonBest, Best
from ..phased import lost_reason
from ..protocol import IN, OUT, UNDECIDED, State, StopReason
from .evidence import Evidence, Steps
from .sequential_tests import SetLimits, slack_of

_ENOUGH = 0.5
"""Half-widths this small against those of lost arms: more measurements would hardly separate them better."""
_MOST_PAIRS = 20_000_000
"""Differences in phases evaluated for one decision; the rest waits for the next one."""
_STEPS_DOWN = 20
"""Rounds of Holm's procedure at one look; what would follow waits for the next."""
_CHECKED = 40
"""Compounds, the best by the estimate, of which one may be named the best."""


class Bounds(NamedTuple):
    """Of every mean, ``(n_arms,)`` each; infinite where nothing is known."""

    low: Floats
    high: Floats
    away: Flags
    """Arms that cannot be measured any more and were not out before: others may have been compared with them."""

    def behind(self, distance: float) -> Flags:
        """Return ``(n_arms,)``, whether an arm is farther than this behind one that is away."""
        return np.asarray(self.high + distance < self.low[self.away].max(initial=-np.inf), dtype=bool)

    def surely_behind(self, distance: float) -> Flags:
        """Return ``(n_arms,)``, whether an arm is farther than this behind any other."""
        return np.asarray(self.high + distance < self.low.max(), dtype=bool)

    def below(self) -> Flags:
        """Return ``(n_arms,)``, whether an arm is away and not the best."""
        return np.asarray(self.away & (self.high < self.low.max()), dtype=bool)

    def near(self, arms: Ints, rivals: Ints, distance: float) -> Flags:
        """Return ``(len(arms), len(rivals))``, whether the rival is away and the arm at most so far below it."""
        reached = self.low[arms][:, None] + distance >= self.high[rivals]
        return np.asarray(reached & self.away[rivals], dtype=bool)

    def as_good_as_known(self, arms: Ints) -> bool:
        """Return whether these are bounded so well that more of it would change little against those that are away."""
        half = (self.high - self.low) / 2.0
        known = half[self.away]
        known = known[np.isfinite(known)]
        return bool((half[arms] <= _ENOUGH * known.min(initial=np.inf)).all())


def away(state: State) -> Flags:
    """Return arms that cannot be measured any more, of those that may be the best."""
    flags: Flags = state.lost & state.problem.wanted & (state.status != OUT)
    return flags


def bounded(state: State, shown: Floats) -> Bounds:
    """Return the bounds after a phase: those ``shown`` ``(3, 1, n_arms)`` of active arms, the last ones of others."""
    _, low, high = shown[:, 0]
    now = state.active
    return Bounds(np.where(now, low, state.low[0]), np.where(now, high, state.high[0]), away(state))


def unanswerable(state: State) -> tuple[StopReason, ...]:
    """Return the reason to stop when measuring changes nothing against those that are away; empty while it may."""
    last, gone = state.last, away(state)
    open_arms = int(state.open.sum())
    if last is None or not gone.any():
        return ()
    if not open_arms:
        gone &= ~state.memory["not_best"]
        lost = int(gone.sum())
        if not isinstance(state.problem.goal, Best) or not lost or (state.status == IN).any():
            return ()
        compounds = "1 compound that may be the best" if lost == 1 else f"{lost} compounds that may be the best"
        text = f"{compounds} cannot be measured any more; all others are out"
        return (StopReason("lost", text, {"lost": lost, "undecided": 0}),)
    if not last.numbers.get("only_lost"):
        return ()
    return (lost_reason(state),)


def shown_out(state: State, behind: Steps, epsilon: float, known: SetLimits) -> Flags:
    """Return which active arms are shown to be farther than epsilon behind the best, by Holm's procedure."""
    undecided = state.status[state.active] == UNDECIDED
    active = np.flatnonzero(state.active)
    left = state.problem.wanted & (state.status != OUT)
    out = np.zeros(len(undecided), dtype=bool)
    for _ in range(_STEPS_DOWN):
        gone = int((out & undecided).sum())
        left[active[out & undecided]] = False
        if not left.any():
            break
        out = behind.passed(-epsilon, known.outs(active, left))
        if int((out & undecided).sum()) == gone:
            break
    return out


@dataclass(frozen=True, slots=True)
class Findings:
    """Evidence after a phase, and the questions that it answers."""

    state: State
    evidence: Evidence
    bounds: Bounds
    known: SetLimits

    def near(self, arms: Ints, rivals: Ints, distance: float) -> Ints:
        """Return the arms shown to be at most so far below every rival; the likeliest rivals are tested first."""
        evidence = self.evidence
        rivals = rivals[np.argsort(-evidence.pooled.means(rivals), kind="stable")]
        start, size, most = 0, 1, _MOST_PAIRS
        while start < len(rivals) and len(arms):
            block = rivals[start : start + size]
            each = len(block) * evidence.n_phases
            arms = arms[: max(most // each, 0)]
            most -= each * len(arms)
            passed = evidence.pairs(arms, block).passed(distance, self.known.ins(arms)[:, :, None])
            passed |= (arms[:, None] == block) | self.bounds.near(arms, block, distance)
            arms = arms[passed.all(axis=1)]
            start, size = start + size, min(4 * size, 256)
        return arms

    def held(self, rivals: Flags, left: Ints) -> bool:
        """Return whether those left open wait only for arms away, from which no measurement can separate them."""
        state, bounds = self.state, self.bounds
        if not len(left) or not (bounds.away & rivals).any() or not bounds.as_good_as_known(left):
            return False
        goal, others = state.problem.goal, np.flatnonzero(rivals & ~bounds.away)
        if isinstance(goal, AllEpsilonBest):
            return len(self.near(left, others, goal.epsilon + goal.slack)) == len(left)
        return bool(len(self.near(left[rivals[left]], others, slack_of(state.problem))))

    def best(self, rivals: Flags, undecided: Ints) -> tuple[Ints, Ints]:
        """Return the best compound and the others, when there is one to be named; else those that are not it."""
        slack, none = slack_of(self.state.problem), np.zeros(0, dtype=np.intp)
        ahead = undecided[rivals[undecided]]
        outs = np.setdiff1d(undecided, ahead)
        if not len(ahead):
            return none, outs
        first = ahead[np.argsort(-self.evidence.pooled.means(ahead), kind="stable")][:_CHECKED]
        won = self.near(first, np.flatnonzero(rivals), slack)[:1]
        return won, np.setdiff1d(undecided, won) if len(won) else outs
