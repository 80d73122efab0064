"""The questions of LinGame: the answer of an estimate, what makes it certain, and the nearest truth against it.

Source: LinGame, appendix D (best, transductive best, threshold: Lemmas 5, 7, 9). All within epsilon of the best is
ours: a member is lost when one compound comes to exceed it by more than epsilon; a compound outside comes in when it
gets within epsilon of *every* compound, which is the intersection of half-spaces.

Distances are squared lengths |estimate - alternative|^2 in the metric of the estimate. The distance to a half-space
y'lambda >= g is (g - y'estimate)^2 / |R'y|^2 (Lemma 5), with R'x of every arm given as ``spread``.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from ...arrays import Flags, Floats
from ...domain.goals import AllEpsilonBest, Best, Goal, Threshold
from ...models.ols import lower_factor

_ROWS = 256
"""Arms compared with all others at once."""

_ROUNDING = 1e-13
"""Squared lengths of differences are at least this share of the squared lengths they come from."""

_TINY = 1e-100
"""Substitute for a squared length of 0, so that nothing is divided by 0."""


@dataclass(frozen=True, slots=True)
class Sides:
    """How far the nearest truths are under which an arm may not be in, and under which it may not be out."""

    inside: Floats
    """``(n_arms,)`` squared distance at which "in" becomes wrong; 0 where it is wrong already or not in question."""
    outside: Floats
    """``(n_arms,)`` the same for "out"."""


class Question(Protocol):
    """One goal; every method takes means ``(n_arms,)`` and flags of the arms that are still open and compared."""

    def answer(self, means: Floats, open_arms: Flags, rivals: Flags) -> Flags:
        """Return the answer of an estimate, ``(n_arms,)``; only of open arms."""

    def sides(self, means: Floats, spread: Floats, open_arms: Flags, rivals: Flags) -> Sides:
        """Return how certain each open arm is, in or out."""

    def nearest(
        self, x: Floats, means: Floats, inverse: Floats, answer: Flags, open_arms: Flags, rivals: Flags
    ) -> Floats:
        """Alternative - estimate ``(d,)`` for the nearest truth in V under which the answer is wrong."""


def question_of(goal: Goal) -> Question:
    """Return the question of a goal."""
    if isinstance(goal, AllEpsilonBest):
        return EpsilonQuestion(goal.epsilon, goal.slack)
    if isinstance(goal, Threshold):
        return ThresholdQuestion(goal.threshold, goal.slack)
    assert isinstance(goal, Best)
    return BestQuestion(goal.slack)


def squared_distances(rows: Floats, others: Floats) -> Floats:
    """Return squared lengths of differences of all rows with all others, never below rounding and never 0."""
    own = np.einsum("ij,ij->i", rows, rows)[:, None]
    their = np.einsum("ij,ij->i", others, others)
    sums = own + their
    lengths: Floats = np.maximum(sums - 2.0 * (rows @ others.T), _ROUNDING * sums + _TINY)
    return lengths


def _far(gaps: Floats, lengths: Floats) -> Floats:
    """Return (gap+)^2 / length: 0 where the half-space holds the estimate; lengths are above 0."""
    open_gaps = np.maximum(gaps, 0.0)
    return open_gaps * open_gaps / lengths


def _shift(inverse: Floats, y: Floats, gap: float) -> Floats:
    """Return the step from the estimate to the nearest point that raises y'lambda by the gap (Lemma 5)."""
    towards = inverse @ y
    length = float(y @ towards)
    if length <= 0.0 or gap <= 0.0:
        return np.zeros(len(y))
    return towards * (gap / length)


@dataclass(frozen=True, slots=True)
class BestQuestion:
    """The best of the arms that are still open; with slack any arm that near the best is right."""

    slack: float

    def answer(self, means: Floats, open_arms: Flags, rivals: Flags) -> Flags:
        """Return the open arm with the largest mean."""
        answer = np.zeros(len(means), dtype=bool)
        answer[_top(means, open_arms)] = True
        return answer

    def sides(self, means: Floats, spread: Floats, open_arms: Flags, rivals: Flags) -> Sides:
        """In: the leader against every rival by the slack (LinGame eq. 3). Out: those the leader surely beats.

        Slack does not help an arm out: an arm within slack of one that is later within slack of another would be out
        for an answer twice as far from the best.
        """
        best = _top(means, open_arms)
        ahead = means[best] - means
        lengths = squared_distances(spread[best : best + 1], spread)[0]
        others = rivals.copy()
        others[best] = False
        inside = np.zeros(len(means))
        inside[best] = _far(ahead + self.slack, lengths)[others].min(initial=math.inf)
        outside = np.where(open_arms, _far(ahead, lengths), 0.0)
        outside[best] = 0.0
        return Sides(inside, outside)

    def nearest(
        self, x: Floats, means: Floats, inverse: Floats, answer: Flags, open_arms: Flags, rivals: Flags
    ) -> Floats:
        """Towards the rival that overtakes the answer by the slack most easily (Lemma 7)."""
        best = int(np.argmax(answer))
        others = rivals.copy()
        others[best] = False
        against = others.nonzero()[0]
        if not len(against):
            return np.zeros(x.shape[1])
        y = x[against] - x[best]
        gaps = means[best] - means[against] + self.slack
        lengths = np.maximum(np.einsum("ij,ij->i", y @ inverse, y), _TINY)
        closest = int(np.argmin(_far(gaps, lengths)))
        return _shift(inverse, y[closest], float(gaps[closest]))


@dataclass(frozen=True, slots=True)
class ThresholdQuestion:
    """Everything above a level; within slack of it both answers are right."""

    level: float
    slack: float

    def answer(self, means: Floats, open_arms: Flags, rivals: Flags) -> Flags:
        """Return open arms above the level."""
        return open_arms & (means > self.level)

    def sides(self, means: Floats, spread: Floats, open_arms: Flags, rivals: Flags) -> Sides:
        """Return how far each mean is above the level - slack, and below the level + slack (Lemma 9)."""
        lengths = np.maximum(np.einsum("ij,ij->i", spread, spread), _TINY)
        above = means - self.level + self.slack
        below = self.level + self.slack - means
        return Sides(np.where(open_arms, _far(above, lengths), 0.0), np.where(open_arms, _far(below, lengths), 0.0))

    def nearest(
        self, x: Floats, means: Floats, inverse: Floats, answer: Flags, open_arms: Flags, rivals: Flags
    ) -> Floats:
        """Towards the arm whose mean crosses the level most easily."""
        arms = open_arms.nonzero()[0]
        if not len(arms):
            return np.zeros(x.shape[1])
        sign = np.where(answer[arms], -1.0, 1.0)
        gaps = sign * (self.level - means[arms]) + self.slack
        lengths = np.maximum(np.einsum("ij,ij->i", x[arms] @ inverse, x[arms]), _TINY)
        closest = int(np.argmin(_far(gaps, lengths)))
        return _shift(inverse, sign[closest] * x[arms[closest]], float(gaps[closest]))


@dataclass(frozen=True, slots=True)
class EpsilonQuestion:
    """All within epsilon of the best; between epsilon and epsilon + slack both answers are right."""

    epsilon: float
    slack: float

    def answer(self, means: Floats, open_arms: Flags, rivals: Flags) -> Flags:
        """Return open arms within epsilon of the best rival; with slack the line is amid the soft zone."""
        top = float(means[rivals].max(initial=-math.inf))
        return open_arms & (means >= top - self.epsilon - self.slack / 2.0)

    def sides(self, means: Floats, spread: Floats, open_arms: Flags, rivals: Flags) -> Sides:
        """In: no rival exceeds the arm by epsilon + slack. Out: some one rival exceeds it by more than epsilon.

        For out the distance to the intersection over all rivals is bounded from below by the largest over single
        rivals, so that "out" is never decided too early.
        """
        inside, outside = np.zeros(len(means)), np.zeros(len(means))
        others = rivals.nonzero()[0]
        if not len(others):
            return Sides(inside, outside)
        top = float(means[others].max())
        arms = open_arms.nonzero()[0]
        for start in range(0, len(arms), _ROWS):
            rows = arms[start : start + _ROWS]
            lengths = squared_distances(spread[rows], spread[others])
            ahead = means[others] - means[rows, None]
            may_be_in = means[rows] > top - self.epsilon - self.slack
            if may_be_in.any():
                far = _far(self.epsilon + self.slack - ahead[may_be_in], lengths[may_be_in])
                inside[rows[may_be_in]] = far.min(axis=1)
            may_be_out = means[rows] < top - self.epsilon
            if may_be_out.any():
                far = _far(ahead[may_be_out] - self.epsilon, lengths[may_be_out])
                outside[rows[may_be_out]] = far.max(axis=1)
        return Sides(inside, outside)

    def nearest(
        self, x: Floats, means: Floats, inverse: Floats, answer: Flags, open_arms: Flags, rivals: Flags
    ) -> Floats:
        """Towards the easier of: a member exceeded by epsilon + slack, an outsider within epsilon of every rival.

        The intersection is first bounded by single half-spaces; only for outsiders that could be the nearest the
        quadratic programme is solved, and not where the nearest point of one half-space lies in all others.
        """
        others = rivals.nonzero()[0]
        if not len(others):
            return np.zeros(x.shape[1])
        factor = lower_factor((inverse + inverse.T) / 2.0)
        spread = x @ factor
        best, shift = math.inf, np.zeros(x.shape[1])
        members = (open_arms & answer).nonzero()[0]
        for start in range(0, len(members), _ROWS):
            rows = members[start : start + _ROWS]
            gaps = self.epsilon + self.slack - (means[others] - means[rows, None])
            far = _far(gaps, squared_distances(spread[rows], spread[others]))
            place = int(np.argmin(far))
            i, j = divmod(place, len(others))
            if far[i, j] < best:
                best = float(far[i, j])
                shift = _shift(inverse, x[others[j]] - x[rows[i]], float(gaps[i, j]))
        outsiders = (open_arms & ~answer & rivals).nonzero()[0]
        if not len(outsiders):
            return shift
        # Any rivals give a lower bound; the leading ones are those that matter.
        leaders = others[means[others] >= float(means[others].max()) - self.epsilon]
        bounds, which = np.empty(len(outsiders)), np.empty(len(outsiders), dtype=np.intp)
        for start in range(0, len(outsiders), _ROWS):
            rows = outsiders[start : start + _ROWS]
            gaps = means[leaders] - means[rows, None] - self.epsilon
            far = _far(gaps, squared_distances(spread[rows], spread[leaders]))
            which[start : start + len(rows)] = leaders[np.argmax(far, axis=1)]
            bounds[start : start + len(rows)] = far.max(axis=1)
        for place in np.argsort(bounds, kind="stable"):
            if bounds[place] >= best:
                break
            m, j = int(outsiders[place]), int(which[place])
            step = _shift(inverse, x[m] - x[j], float(means[j] - means[m] - self.epsilon))
            moved = means[others] + x[others] @ step
            reached = float(means[m] + x[m] @ step)
            squared = float(bounds[place])
            if moved.max() - reached > self.epsilon + 1e-9 * max(self.epsilon, float(np.abs(moved).max())):
                step, squared = _within(
                    x[others], means[others], inverse, int(np.searchsorted(others, m)), self.epsilon
                )
            if squared < best:
                best, shift = squared, step
        return shift


def _within(x: Floats, means: Floats, inverse: Floats, m: int, epsilon: float) -> tuple[Floats, float]:
    """Return the step to the nearest truth under which m is within epsilon of every arm, and its squared length."""
    # scipy's optimisers take a while to load and few steps need them.
    from ...design.alternatives import nearest_within

    with np.errstate(over="ignore"):
        found = nearest_within(x, means, inverse, m, epsilon)
    if found is None:
        return np.zeros(x.shape[1]), math.inf
    return found.shift, found.squared


def _top(means: Floats, among: Flags) -> int:
    return int(np.argmax(np.where(among, means, -np.inf)))
