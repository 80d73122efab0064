"""Probabilities of a goal by joint draws: which compounds belong to the answer, and what an answer would cost."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ...arrays import Flags, Floats
from ...domain.goals import AllEpsilonBest, Best, Goal, ParetoSet, Threshold, Top


@dataclass(frozen=True, slots=True)
class Beliefs:
    """Draw by draw which compounds belong to the answer, and which an answer may hold; ``(n_draws, K)`` each."""

    member: Flags
    acceptable: Flags
    margin: Floats
    """``(n_draws, K)`` how far each compound is above the border of the answer, in the objective's units."""

    @property
    def p_member(self) -> Floats:
        """Probability of belonging to the answer, ``(K,)``."""
        share: Floats = self.member.mean(axis=0)
        return share

    @property
    def p_acceptable(self) -> Floats:
        """Probability that an answer may hold it, ``(K,)``."""
        share: Floats = self.acceptable.mean(axis=0)
        return share

    def best_answer(self, goal: Goal) -> Flags:
        """Return the answer with the least expected number of wrong decisions, ``(K,)``."""
        if isinstance(goal, Best):
            chosen = np.zeros(self.member.shape[1], dtype=bool)
            chosen[int(np.argmax(self.p_acceptable + 1e-6 * self.p_member))] = True
            return chosen
        if isinstance(goal, Top):
            order = np.argsort(-(self.p_acceptable + 1e-6 * self.p_member), kind="stable")
            chosen = np.zeros(self.member.shape[1], dtype=bool)
            chosen[order[: goal.count]] = True
            return chosen
        better: Flags = self.p_member + self.p_acceptable > 1.0
        return better

    def p_wrong(self, goal: Goal, answer: Flags) -> float:
        """Return the probability that an answer is not right: a member left out, or anything not acceptable in."""
        wrong = (~self.acceptable & answer).any(axis=1)
        if not isinstance(goal, Best | Top):
            wrong = wrong | (self.member & ~answer).any(axis=1)
        return float(wrong.mean())


def believe(goal: Goal, draws: Floats, kept: Flags | None = None) -> Beliefs:
    """Return the beliefs from joint draws ``(n_endpoints, n_draws, K)`` of the goal's endpoints.

    ``kept``: ``(n_draws, K)`` whether a compound keeps every limit: the best are the best of those that do.
    """
    values = draws[0]
    # Lower than any other, where a compound fails a limit.
    eligible = values if kept is None else np.where(kept, values, values.min() - np.ptp(values))
    if isinstance(goal, ParetoSet):
        beliefs = _pareto(goal, draws, kept)
    elif isinstance(goal, AllEpsilonBest):
        behind = values - eligible.max(axis=1, keepdims=True)
        beliefs = Beliefs(
            behind >= -goal.epsilon, behind >= -goal.epsilon - goal.slack, behind + goal.epsilon + 0.5 * goal.slack
        )
    elif isinstance(goal, Best):
        behind = values - eligible.max(axis=1, keepdims=True)
        beliefs = Beliefs(behind >= 0.0, behind >= -goal.slack, behind + 0.5 * goal.slack)
    elif isinstance(goal, Top):
        ahead = values - goal.border(eligible)[:, None]
        margin = np.where(np.isfinite(ahead), ahead, 0.0) + 0.5 * goal.slack
        beliefs = Beliefs(ahead >= 0.0, ahead >= -goal.slack, margin)
    else:
        assert isinstance(goal, Threshold)
        above = values - goal.threshold
        beliefs = Beliefs(above > goal.slack, above > -goal.slack, above)
    if kept is None:
        return beliefs
    return Beliefs(beliefs.member & kept, beliefs.acceptable & kept, beliefs.margin)


def _pareto(goal: ParetoSet, draws: Floats, kept: Flags | None) -> Beliefs:
    n_draws = draws.shape[1]
    member = np.empty(draws.shape[1:], dtype=bool)
    acceptable = np.empty_like(member)
    margin = np.empty(draws.shape[1:])
    spread = np.maximum(draws.std(axis=(1, 2)), 1e-12)[:, None]
    for draw in range(n_draws):
        means = draws[:, draw]
        eligible = means if kept is None or not kept[draw].any() else np.where(kept[draw], means, np.nan)
        member[draw], acceptable[draw] = goal.members(eligible), goal.acceptable(eligible)
        front = means[:, member[draw]] / spread
        # By how much the nearest member of the front is better in its least endpoint, in SDs of the endpoints.
        lead = (front[:, :, None] - (means / spread)[:, None, :]).min(axis=0)
        margin[draw] = -lead.max(axis=0)
    return Beliefs(member, acceptable, margin)
