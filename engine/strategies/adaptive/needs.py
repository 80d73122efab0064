"""What the open comparisons of ``adaptive`` still need, by the estimate so far: what its next plate is made for."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ...arrays import Floats, Ints
from .evidence import Evidence, Steps, at_look
from .planning import Needs

__all__ = ["Sides", "needs_of_best", "needs_of_sides"]


_RIVALS = 40
"""Compounds that may be the best, by the estimate, that plans are made against."""
_HARDEST = 300
"""Open compounds that plans are made for: those that need the most."""
_AGAINST = 8
"""Rivals of one compound that a plan is made against."""
_LEAST_STEP = 0.2
"""A comparison that is at its limit already is given this far to go; it may fall back."""


@dataclass(frozen=True, slots=True)
class Sides:
    """What it takes to decide a compound, as differences and limits of walks."""

    out_beyond: float
    """Out (or not the best): farther than this behind the best."""
    in_within: float
    """In: no farther than this behind anyone who may be the best."""
    outs: Floats
    """Limits ``(looks,)`` of walks of arms against their leaders."""
    ins: Floats
    """The same of arms against rivals."""
    least_gap: float
    """No difference is planned to be told apart from its border by less than this: one of its two sides is farther."""


def _needed(steps: Steps, offset: float, limits: Floats, gap: Floats, least: Floats) -> Floats:
    """The precision of one more phase that brings walks of difference + offset to their next limits."""
    looks = steps.looks + 1
    height = at_look(limits, looks) * np.sqrt(looks)
    needed: Floats = np.maximum(height - steps.walk(offset), _LEAST_STEP) / np.maximum(gap, least)
    return needed


def needs_of_sides(evidence: Evidence, sides: Sides, leader: int, open_arms: Ints, possible: Ints) -> Needs:
    """For every open compound the cheaper of being out and being in, the hardest ones only."""
    pooled = evidence.pooled
    means = pooled.means()
    gap = means[leader] - means[open_arms]
    least = _least_gaps(evidence, leader, open_arms, sides)
    to_out = _needed(evidence.behind(open_arms), -sides.out_beyond, sides.outs, gap - sides.out_beyond, least)
    to_out[gap < sides.out_beyond] = np.inf
    own = np.array([leader], dtype=np.intp)
    alone = evidence.pairs(open_arms, own)
    to_in = _needed(alone, sides.in_within, sides.ins, sides.in_within - gap[:, None], least[:, None])[:, 0]
    hardest = np.argsort(-np.minimum(to_out, to_in), kind="stable")[:_HARDEST]
    arms, least = open_arms[hardest], least[hardest]
    out = to_out[hardest] <= to_in[hardest]
    first, second, precision = [np.full(int(out.sum()), leader)], [arms[out]], [to_out[hardest][out]]
    arms, least = arms[~out], least[~out]
    if len(arms):
        high = means[possible] + 2.0 * evidence.sigma * pooled.half_norms(possible)
        rivals = possible[np.argsort(-high, kind="stable")[:_RIVALS]]
        steps = evidence.pairs(arms, rivals)
        gaps = sides.in_within - (means[rivals] - means[arms][:, None])
        each = _needed(steps, sides.in_within, sides.ins, gaps, least[:, None])
        each[steps.passed(sides.in_within, sides.ins) | (arms[:, None] == rivals)] = 0.0
        worst = np.argsort(-each, axis=1, kind="stable")[:, :_AGAINST]
        i, j = np.repeat(np.arange(len(arms)), worst.shape[1]), worst.ravel()
        kept = (each[i, j] > 0.5 * each.max(axis=1)[i]) & (each[i, j] > 0)
        first.append(arms[i[kept]])
        second.append(rivals[j[kept]])
        precision.append(each[i[kept], j[kept]])
    return Needs(np.concatenate(first), np.concatenate(second), np.concatenate(precision))


def needs_of_best(evidence: Evidence, sides: Sides, leader: int, open_arms: Ints) -> Needs:
    """For every other compound the cheaper of not being the best and of the leader being within the slack of it."""
    others = open_arms[open_arms != leader]
    means = evidence.pooled.means()
    gap = means[leader] - means[others]
    least = _least_gaps(evidence, leader, others, sides)
    to_out = _needed(evidence.behind(others), 0.0, sides.outs, gap, least)
    near = evidence.behind(others, leader)
    to_in = _needed(near, sides.in_within, sides.ins, gap + sides.in_within, least)
    to_in[near.passed(sides.in_within, sides.ins)] = 0.0
    need = np.minimum(to_out, to_in)
    hardest = np.argsort(-need, kind="stable")[:_HARDEST]
    return Needs(np.full(len(hardest), leader), others[hardest], need[hardest])


def _least_gaps(evidence: Evidence, leader: int, arms: Ints, sides: Sides) -> Floats:
    """Differences from a border below which an estimate says nothing of the side: half of their standard errors."""
    error = evidence.sigma * evidence.pooled.difference_norm(leader, arms)
    half: Floats = np.where(np.isfinite(error), error, 0.0) / 2.0
    return np.maximum(np.maximum(half, sides.least_gap), 1e-9)
