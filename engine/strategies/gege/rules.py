"""What one phase of GEGE decides: by the gaps as in the paper, or by the bounds that really hold."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ...arrays import Flags, Floats
from ...domain.pareto import beaten, gaps

__all__ = ["Boxes", "Verdict", "by_bounds", "by_gaps"]


_FAR = 1e150
"""Stands for an infinite bound where differences are taken."""


class Verdict(NamedTuple):
    """What is decided of the active arms, ``(m,)`` each."""

    ins: Flags
    outs: Flags
    leaves: Flags
    """Need not be measured any more; only arms that are in."""


class Boxes(NamedTuple):
    """Bounds in the endpoints' common units, ``(n_endpoints, m)``; infinite where nothing is known."""

    low: Floats
    high: Floats


def by_gaps(means: Floats, epsilon: float, finest: bool) -> Verdict:
    """Algorithm 3: means within epsilon / 4 of the truth; accept at a gap of epsilon, reject at half of it.

    ``means`` ``(n_endpoints, m)`` of all arms that are active, in common units; a single one left is accepted. With
    ``finest`` everything not rejected is accepted: nobody beats it by more than epsilon (appendix E.5 asks for
    smaller gaps than that needs: an arm that stays has a gap below epsilon / 2, hence below epsilon in truth).

    An empirical Pareto arm has to stand out by four half-widths here and by two in ``by_bounds``, which is what bounds
    of that width prove: the paper spends the other two on keeping an arm's only rival. With phases four times the last
    one, planned runs take about four times the measurements of realised ones, more where a phase comes on top.
    """
    found = gaps(means)
    ins = found.pareto & (found.values >= epsilon)
    outs = ~found.pareto & (found.values >= epsilon / 2.0)
    open_ = ~ins & ~outs
    if finest or open_.sum() == 1:
        ins = ~outs
    return Verdict(ins, outs, ins)


def by_bounds(active: Boxes, others: Boxes, before: Flags, margin: float) -> Verdict:
    """What simultaneous bounds prove, whatever their widths.

    Out: somebody's lower bounds are above one's upper bounds in every endpoint. In: nobody who is not out may beat it
    by more than the margin in every endpoint. That decides at least what Algorithm 3 does from the same bounds: a gap
    of 4 C in the empirical Pareto set makes every max over endpoints of mean_i - mean_j at least 4 C, and 2 C suffice;
    and rejecting there takes a lead of 2 C too. An arm that is in stays active while it may still beat an open one, so
    that nobody's only rival is given up (GEGE section 4).

    ``active`` are the arms bounded now, ``others`` those that are in and no longer measured or cannot be: their last
    bounds hold too. ``before``: active arms that are in already.
    """
    low, high = _finite(active.low), _finite(active.high)
    outs = np.zeros(len(before), dtype=bool)
    outs[~before] = beaten(np.hstack([low, _finite(others.low)]), high[:, ~before])
    kept = np.flatnonzero(~outs)
    rivals = np.hstack([high[:, kept], _finite(others.high)])
    ins = np.zeros(len(outs), dtype=bool)
    ins[kept] = ~beaten(rivals, low[:, kept] + margin, np.arange(len(kept)))
    ins &= ~before
    open_ = ~outs & ~ins & ~before
    leaves = ins | before
    leaves[leaves] = ~beaten(-low[:, open_], -high[:, leaves])
    return Verdict(ins, outs, leaves)


def _finite(bounds: Floats) -> Floats:
    return np.clip(bounds, -_FAR, _FAR)
