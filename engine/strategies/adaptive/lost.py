"""``adaptive`` when compounds cannot be measured any more: what their last bounds leave to those that can.

No later phase says anything of a difference to such a compound. The bounds of single means hold at all looks together,
for all compounds, but for their own share of delta; so they may decide what the walks did not.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ...arrays import Flags, Floats, Ints
from ...domain.goals import Best
from ..ending import doubted
from ..protocol import IN, OUT, UNDECIDED, State, StopReason

__all__ = ["Bounds", "away", "bounded", "unanswerable"]


_ENOUGH = 0.5
"""Half-widths this small beside those of who is away: measuring without end would hardly tell them apart better."""


class Bounds(NamedTuple):
    """Of every mean, ``(n_arms,)`` each; infinite where nothing is known."""

    low: Floats
    high: Floats
    away: Flags
    """Who cannot be measured any more and was not out before: others may have been compared with it."""

    def behind(self, distance: float) -> Flags:
        """``(n_arms,)``, who is farther than this behind one that is away."""
        return np.asarray(self.high + distance < self.low[self.away].max(initial=-np.inf), dtype=bool)

    def surely_behind(self, distance: float) -> Flags:
        """``(n_arms,)``, who is farther than this behind anyone."""
        return np.asarray(self.high + distance < self.low.max(), dtype=bool)

    def below(self) -> Flags:
        """``(n_arms,)``, who is away and not the best."""
        return np.asarray(self.away & (self.high < self.low.max()), dtype=bool)

    def near(self, arms: Ints, rivals: Ints, distance: float) -> Flags:
        """``(len(arms), len(rivals))``, who is at most so far below one that is away."""
        reached = self.low[arms][:, None] + distance >= self.high[rivals]
        return np.asarray(reached & self.away[rivals], dtype=bool)

    def as_good_as_known(self, arms: Ints) -> bool:
        """Whether these are bounded so well that more of it would change little against those that are away."""
        half = (self.high - self.low) / 2.0
        known = half[self.away]
        known = known[np.isfinite(known)]
        return bool((half[arms] <= _ENOUGH * known.min(initial=np.inf)).all())


def away(state: State) -> Flags:
    """Arms that cannot be measured any more, of those that may be the best."""
    flags: Flags = state.lost & state.problem.wanted & (state.status != OUT)
    return flags


def bounded(state: State, shown: Floats) -> Bounds:
    """The bounds after a phase: those ``shown`` ``(3, 1, n_arms)`` of active arms, the last ones of others."""
    _, low, high = shown[:, 0]
    now = state.active
    return Bounds(np.where(now, low, state.low[0]), np.where(now, high, state.high[0]), away(state))


def unanswerable(state: State) -> tuple[StopReason, ...]:
    """The reason to stop when measuring changes nothing against those that are away; empty while it may."""
    last, gone = state.last, away(state)
    open_arms = int(((state.status == UNDECIDED) & state.problem.wanted).sum())
    found = (state.status == IN).any() and isinstance(state.problem.goal, Best)
    if found and last is not None and len(last.contradicted) and open_arms:
        text = "a compound that can be had again is better than the one found best; the first decision stands"
        return (StopReason("undecidable", text, {"undecided": open_arms}),)
    if last is None or not gone.any():
        return ()
    lost = int(gone.sum())
    numbers = {"lost": lost, "undecided": open_arms}
    if not open_arms:
        gone &= ~state.memory["not_best"]
        if not isinstance(state.problem.goal, Best) or not gone.any():
            return ()
        if found:
            return doubted(state, state.problem.goal.slack)
        who = "1 compound that may be the best" if gone.sum() == 1 else f"{gone.sum()} compounds that may be the best"
        return (StopReason("lost", f"{who} cannot be measured any more; all others are out", numbers),)
    came = state.active & np.isnan(last.high[0])
    if not last.numbers.get("only_lost") or came.any():
        return ()
    whom, them = f"{lost} of the best", "it" if lost == 1 else "them"
    if found:
        whom, them = "the compound found best", "it"
    text = f"{whom} cannot be measured any more; against what is known of {them} {open_arms} stay open"
    return (StopReason("lost", text, numbers),)
