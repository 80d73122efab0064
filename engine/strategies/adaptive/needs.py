"""Needs of the open comparisons of one endpoint, by the estimate so far: the hardest ones, to plan by."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from ...arrays import Floats, Ints
from .evidence import AGAINST, HARDEST, Evidence
from .planning import Needs

_RIVALS = 40
"""Compounds that may be the best, by the estimate, that plans are made against."""


@dataclass(frozen=True, slots=True)
class Sides:
    """Conditions for deciding a compound, as differences and limits of walks."""

    out_beyond: float
    """Out (or not the best): farther than this behind the best."""
    in_within: float
    """In: no farther than this behind any arm that may be the best."""
    outs: Callable[[Ints], Floats]
    """Limits of walks of arms against their leaders, ``(looks, arms)``."""
    ins: Callable[[Ints], Floats]
    """The same of arms against rivals."""
    least_gap: float
    """Least distance from a border that is planned for: one of its two sides is farther."""


def needs_of_sides(evidence: Evidence, sides: Sides, leader: int, open_arms: Ints, possible: Ints) -> Needs:
    """Return for every open compound the cheaper of being out and being in, the hardest ones only."""
    pooled = evidence.pooled
    means = pooled.means()
    gap = means[leader] - means[open_arms]
    least = _least_gaps(evidence, leader, open_arms, sides)
    beyond = np.maximum(gap - sides.out_beyond, least)
    to_out = evidence.behind(open_arms).needed(-sides.out_beyond, sides.outs(open_arms), beyond)
    to_out[gap < sides.out_beyond] = np.inf
    own = np.array([leader], dtype=np.intp)
    alone = evidence.pairs(open_arms, own)
    within = np.maximum(sides.in_within - gap, least)[:, None]
    to_in = alone.needed(sides.in_within, sides.ins(open_arms)[:, :, None], within)[:, 0]
    hardest = np.argsort(-np.minimum(to_out, to_in), kind="stable")[:HARDEST]
    arms, least = open_arms[hardest], least[hardest]
    out = to_out[hardest] <= to_in[hardest]
    first, second, precision = [np.full(int(out.sum()), leader)], [arms[out]], [to_out[hardest][out]]
    arms, least = arms[~out], least[~out]
    if len(arms):
        high = means[possible] + 2.0 * evidence.sigma * pooled.half_norms(possible)
        rivals = possible[np.argsort(-high, kind="stable")[:_RIVALS]]
        steps = evidence.pairs(arms, rivals)
        gaps = sides.in_within - (means[rivals] - means[arms][:, None])
        ins = sides.ins(arms)[:, :, None]
        each = steps.needed(sides.in_within, ins, np.maximum(gaps, least[:, None]))
        each[steps.passed(sides.in_within, ins) | (arms[:, None] == rivals)] = 0.0
        worst = np.argsort(-each, axis=1, kind="stable")[:, :AGAINST]
        i, j = np.repeat(np.arange(len(arms)), worst.shape[1]), worst.ravel()
        kept = (each[i, j] > 0.5 * each.max(axis=1)[i]) & (each[i, j] > 0)
        first.append(arms[i[kept]])
        second.append(rivals[j[kept]])
        precision.append(each[i[kept], j[kept]])
    return Needs(np.concatenate(first), np.concatenate(second), np.concatenate(precision))


def needs_of_best(evidence: Evidence, sides: Sides, leader: int, open_arms: Ints) -> Needs:
    """Return for every other compound the cheaper of not being the best and of the leader within its slack."""
    others = open_arms[open_arms != leader]
    means = evidence.pooled.means()
    gap = means[leader] - means[others]
    least = _least_gaps(evidence, leader, others, sides)
    to_out = evidence.behind(others).needed(0.0, sides.outs(others), np.maximum(gap, least))
    near = evidence.behind(others, leader)
    ins = sides.ins(np.array([leader]))
    to_in = near.needed(sides.in_within, ins, np.maximum(gap + sides.in_within, least))
    to_in[near.passed(sides.in_within, ins)] = 0.0
    need = np.minimum(to_out, to_in)
    hardest = np.argsort(-need, kind="stable")[:HARDEST]
    return Needs(np.full(len(hardest), leader), others[hardest], need[hardest])


def _least_gaps(evidence: Evidence, leader: int, arms: Ints, sides: Sides) -> Floats:
    """Return differences from a border below which an estimate cannot tell the side: half of their standard errors."""
    error = evidence.sigma * evidence.pooled.difference_norm(leader, arms)
    half: Floats = np.where(np.isfinite(error), error, 0.0) / 2.0
    return np.maximum(np.maximum(half, sides.least_gap), 1e-9)
