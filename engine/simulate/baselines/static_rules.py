"""What a fixed design's pooled estimate proves, for each goal: members and non-members that bounds at one level leave.

The weights are fixed before the first value and only the number of measurements grows, so the pooled least-squares
estimate at look t is Gaussian around the truth; the errors of the looks, delta / (t (t + 1)), sum to delta.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from ...arrays import Flags, Floats, Ints
from ...domain.goals import AllEpsilonBest, Best, ParetoSet
from ...strategies.fixed_pool import Fit
from ...strategies.protocol import Problem

__all__ = ["Proven", "best_by_pairs", "by_means", "by_pairs", "comparisons", "look_log", "pareto_by_means"]


_BLOCK = 256


class Proven(NamedTuple):
    """Flags over the rows."""

    ins: Flags
    outs: Flags


def look_log(comparisons: int, look: int, delta: float) -> float:
    """log(M t (t + 1) / delta) for M one-sided comparisons at look t."""
    return math.log(max(comparisons, 1) * look * (look + 1) / delta)


def by_means(goal: AllEpsilonBest, mean: Floats, half: Floats) -> Proven:
    """All epsilon-best from intervals of single means (LinFACT Algorithm 3 without phases)."""
    low, high = mean - half, mean + half
    outs = high < low.max() - goal.epsilon
    upper = high.max() - goal.epsilon
    ins = ~outs & (low >= upper - goal.slack if goal.slack > 0 else low > upper)
    return Proven(ins, outs)


def by_pairs(goal: AllEpsilonBest, fit: Fit, rows: Ints, spread: float) -> Proven:
    """All epsilon-best from bounds of differences, ``spread`` times their standard error at a noise SD of 1.

    Out: some j is better by more than epsilon. In: every j is surely better by at most epsilon + slack.
    """
    mean = fit.means(rows)
    ins, outs = np.ones(len(rows), dtype=bool), np.zeros(len(rows), dtype=bool)
    for start in range(0, len(rows), _BLOCK):
        part = slice(start, start + _BLOCK)
        ahead = mean - mean[part, None]
        width = spread * _apart(fit, rows[part], rows)
        outs[part] = (ahead - width > goal.epsilon).any(axis=1)
        ins[part] = (ahead + width <= goal.epsilon + goal.slack).all(axis=1)
    return Proven(ins & ~outs, outs)


def _apart(fit: Fit, rows: Ints, others: Ints) -> Floats:
    """||x_i - x_j||_{V^-1} of every row and every other ``(len(rows), len(others))``; infinite where not estimable."""
    known = np.isfinite(fit.half_norms(rows)), np.isfinite(fit.half_norms(others))
    u, v = fit.points(rows), fit.points(others)
    squares = (u**2).sum(axis=1)[:, None] + (v**2).sum(axis=1) - 2.0 * (u @ v.T)
    found: Floats = np.sqrt(np.maximum(squares, 0.0))
    found[rows[:, None] == others] = 0.0
    # The difference of two rows can be estimable where neither is.
    for place in np.flatnonzero(~known[0]):
        found[place] = fit.apart(others, int(rows[place]))
    found[np.ix_(known[0], ~known[1])] = math.inf
    return found


def best_by_pairs(goal: Best, fit: Fit, rows: Ints, spread: float) -> Proven:
    """The best, where the leader is surely no worse than any other (by more than slack); else nothing."""
    mean = fit.means(rows)
    leader = int(np.argmax(mean))
    width = spread * fit.apart(rows, int(rows[leader]))
    # Equal rows differ by nothing and are no rivals.
    sure = bool(np.all(np.delete(mean[leader] - mean - width + goal.slack >= 0, leader)))
    ins = np.zeros(len(rows), dtype=bool)
    ins[leader] = sure
    return Proven(ins, ~ins & sure)


def pareto_by_means(goal: ParetoSet, mean: Floats, half: Floats) -> Proven:
    """The Pareto set from intervals of single means ``(n_endpoints, m)``.

    Out: some j is surely better in every endpoint. In: no j can be better by more than the margin in every endpoint.
    """
    low, high = mean - half, mean + half
    m = mean.shape[1]
    ins, outs = np.ones(m, dtype=bool), np.zeros(m, dtype=bool)
    margins = np.asarray(goal.margins)[:, None, None]
    for start in range(0, m, _BLOCK):
        part = slice(start, min(start + _BLOCK, m))
        surely = (low[:, None, :] > high[:, part, None]).all(axis=0)
        outs[part] = np.any(surely, axis=1)
        rival = (high[:, None, :] > low[:, part, None] + margins).all(axis=0)
        own = np.arange(part.start, part.stop)
        rival[own - part.start, own] = False
        ins[part] = ~rival.any(axis=1)
    return Proven(ins & ~outs, outs)


def comparisons(problem: Problem, *, pairs: bool) -> int:
    """How many one-sided statements the rules above make of all wanted compounds at once."""
    n = int(problem.wanted.sum())
    return n * (n - 1) if pairs else 2 * n * problem.n_endpoints
