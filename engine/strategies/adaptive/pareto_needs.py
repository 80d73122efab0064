"""Whom ``adaptive`` compares for the Pareto set, and what its open comparisons still need, by the estimate so far."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...arrays import Floats, Ints
from ...domain.pareto import beaten
from ..protocol import Arrays
from .evidence import NOBODY, Steps, at_look
from .fronts import SHARES, Front, Walks, since
from .levels import FrontLimits
from .planning import Needs

__all__ = ["Known", "beaters", "needs_of_front"]


_HARDEST = 300
"""Open compounds that plans are made for: those that need the most."""
_AGAINST = 8
"""Rivals of one compound that a plan is made against."""
_LEAST_STEP = 0.2
"""A comparison that is at its limit already is given this far to go; it may fall back."""
_BETTER = 0.7
"""Another compound is named when it should take less than this share of the precision that those named still take."""
_BORDER = 0.25
"""Share of a margin: no difference is planned to be told apart from its border by less; the other side is farther."""


class Known(NamedTuple):
    """What a phase is planned by."""

    front: Front
    rivals: Ints
    """Arms that others may be beaten by."""
    limits: FrontLimits
    left: int
    """How many are not out."""
    margins: Floats
    """``(n_endpoints,)``, in units of the noise."""

    def least(self, first: Ints, second: Ints) -> Floats:
        """Differences from a border below which an estimate says nothing of the side, ``(n_endpoints, m)``."""
        apart = self.front.features.dense(first) - self.front.features.dense(second)
        half = [np.einsum("ij,ij->i", apart @ one.pooled.covariance, apart) for one in self.front.endpoints]
        errors = 0.5 * np.sqrt(np.maximum(half, 0.0))
        least: Floats = np.maximum(np.maximum(errors, _BORDER * self.margins[:, None]), 1e-9)
        return least


def _needed(steps: Steps, offset: float, limits: Floats, gap: Floats) -> Floats:
    """The precision of one more phase that brings walks of difference + offset to their next limits."""
    looks = steps.looks + 1
    height = at_look(limits, looks) * np.sqrt(looks)
    needed: Floats = np.maximum(height - steps.walk(offset), _LEAST_STEP) / gap
    return needed


def _to_out(known: Known, who: Ints, arms: Ints, begun: Ints, place: int) -> Floats:
    """The precision that shows each of ``who``, in that place of those named, to beat its arm; or infinite."""
    if not len(arms):
        return np.zeros(0)
    means = known.front.means
    leads = means[:, who] - means[:, arms]
    gaps = np.maximum(leads, known.least(who, arms))
    steps = since(known.front.between(who, arms), begun)
    limits = known.limits.outs(known.left)[place]
    needed = np.array([_needed(one, 0.0, limits, gap) for one, gap in zip(steps, gaps, strict=True)]).max(axis=0)
    return np.where((leads > 0).all(axis=0), needed, np.inf)


def beaters(known: Known, memory: Arrays, arms: Ints) -> dict[str, NDArray[np.int32]]:
    """Whom each arm may be shown to be beaten by from the next phase on: those named before, and maybe one more.

    The new one leads the arm most in its least endpoint, by all phases so far.
    """
    slots, begun = memory["beaters"].copy(), memory["since"].copy()
    means = known.front.means[:, known.rivals]
    who, leads = known.front.strongest(arms, known.rivals[~beaten(means, means)], 1)
    ahead = (leads > 0).any(axis=1)
    arms, who = arms[ahead], who[ahead].max(axis=1, initial=NOBODY)
    best, there = _by_those_named(known, slots, begun, arms)[0], (slots[:, arms] == who).any(axis=0)
    place = (slots[:, arms] != NOBODY).sum(axis=0)
    for s in range(len(SHARES)):
        at = np.flatnonzero((place == s) & ~there)
        now = np.full(len(at), known.front.n_phases)
        fresh = _to_out(known, who[at], arms[at], now, s)
        at = at[np.isfinite(fresh) & (fresh < _BETTER * best[at])]
        slots[s, arms[at]], begun[s, arms[at]] = who[at], known.front.n_phases
    return {"beaters": slots, "since": begun}


def _by_those_named(
    known: Known, slots: NDArray[np.int32], begun: NDArray[np.int32], arms: Ints
) -> tuple[Floats, Ints]:
    """The least precision that shows one of those named to beat an arm, infinite without one, and which it is."""
    best, by = np.full(len(arms), np.inf), np.full(len(arms), NOBODY, dtype=np.intp)
    for place, (who, when) in enumerate(zip(slots[:, arms], begun[:, arms], strict=True)):
        at = np.flatnonzero(who != NOBODY)
        needed = _to_out(known, who[at].astype(np.intp), arms[at], when[at].astype(np.intp), place)
        better = needed < best[at]
        best[at[better]], by[at[better]] = needed[better], who[at[better]]
    return best, by


def needs_of_front(known: Known, named: Arrays, arms: Ints) -> Needs:
    """For every open compound the cheaper of being out and being in, the hardest ones only."""
    front, margins = known.front, known.margins
    to_out, by = _by_those_named(known, named["beaters"], named["since"], arms)
    rivals, _ = front.strongest(arms, known.rivals, _AGAINST)
    own, other = np.repeat(arms, rivals.shape[1]), rivals.ravel()
    gaps = np.maximum(front.means[:, own] - front.means[:, other] + margins[:, None], known.least(own, other))
    steps = front.between(own, other)
    limits = known.limits.ins()
    told = zip(steps, margins, gaps, strict=True)
    each = np.array([_needed(one, margin, limits, gap) for one, margin, gap in told]).min(axis=0)
    each[Walks(steps, margins).passed_in_one(limits) | (own == other)] = 0.0
    each = each.reshape(rivals.shape)
    to_in = each.max(axis=1, initial=0.0)
    hardest = np.argsort(-np.minimum(to_out, to_in), kind="stable")[:_HARDEST]
    out, into = hardest[to_out[hardest] <= to_in[hardest]], hardest[to_out[hardest] > to_in[hardest]]
    row, column = np.nonzero((each[into] > 0.5 * to_in[into][:, None]) & (each[into] > 0))
    return Needs(
        np.concatenate([by[out], arms[into][row]]),
        np.concatenate([arms[out], rivals[into][row, column]]),
        # Designs count in the noise of the first endpoint.
        np.concatenate([to_out[out], each[into][row, column]]) / front.noise[0, 0],
    )
