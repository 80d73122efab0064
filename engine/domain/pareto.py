"""The Pareto set of many compounds and how far each is from joining or leaving it; larger is better in every endpoint.

All of it rests on one question, answered exactly and without a matrix of compounds: by how much can a point be led in
its least favourable endpoint? Points in ``(n_endpoints, n)`` matrices throughout.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from ..arrays import Flags, Floats, Ints

_AT_ONCE = 1 << 15
"""Pairs looked at together, whatever the number of compounds: what fits a processor's cache."""

_LEAF = 128
"""Points of a box; pairs of boxes that cannot matter are left out as a whole."""

_SOONER = 1 << 13
"""Number of pairs up to which comparing all is faster than finding the strongest points."""

_STRONGEST = 32
"""Points that all others are compared with first; then twice as many, and so on."""

_AT_MOST = 1 << 23
"""Pairs whose comparisons are in memory together."""

_FAR = 1e300
"""Replaces an infinite value in a sum."""

_FEW = 1_000
"""Points or queries up to which boxes of the others cost more than they save."""


class Gaps(NamedTuple):
    """The Pareto set of some compounds and their gaps."""

    pareto: Flags
    """``(n,)``: no other is better in every endpoint."""
    values: Floats
    """``(n,)``, at least 0: how far a mean must move before the compound joins or leaves the set, or sends another
    compound across; infinite when there is nothing to compare with."""


def lead(points: Floats, queries: Floats, own: Ints | None = None) -> Floats:
    """Return the max over points p of min over endpoints of p - q, for each query q, ``(n_queries,)``.

    -inf without points.

    ``own``: the point that each query is itself, which does not count; -1 for none. Exact: the same differences as in a
    loop over all pairs, without boxes of points that cannot contain the largest. So time grows far slower than the
    number of pairs when there are few endpoints. Entries must be finite or -inf in
    ``points``, finite in ``queries``.
    """
    n, m = points.shape[1], queries.shape[1]
    mine = np.full(m, -1, dtype=np.intp) if own is None else np.asarray(own, dtype=np.intp)
    if min(n, m) <= _FEW:
        return _all_pairs(points, queries, np.arange(n), mine)
    best = np.full(m, -math.inf)
    boxes = _boxes(points)
    tops = np.stack([points[:, box].max(axis=1) for box in boxes], axis=1)
    for group in _boxes(queries):
        queried, owned = queries[:, group], mine[group]
        most = np.full(len(boxes), math.inf)
        for row, lowest in zip(tops, queried.min(axis=1), strict=True):
            np.minimum(most, row - lowest, out=most)
        found = np.full(len(group), -math.inf)
        for at in np.argsort(-most, kind="stable"):
            if most[at] <= found.min():
                break
            box = boxes[at]
            np.maximum(found, _all_pairs(points[:, box], queried, box, owned), out=found)
        best[group] = found
    return best


def _all_pairs(points: Floats, queries: Floats, numbers: Ints, own: Ints) -> Floats:
    """``lead`` by looking at every pair, a bounded number of them at a time."""
    n, m = points.shape[1], queries.shape[1]
    best = np.full(m, -math.inf)
    if not n:
        return best
    position = np.full(m, -1, dtype=np.intp)
    if (own >= 0).any():
        order = np.argsort(numbers, kind="stable")
        at = np.minimum(np.searchsorted(numbers, own, sorter=order), n - 1)
        position = np.where(numbers[order[at]] == own, order[at], -1)
    step = max(_AT_ONCE // n, 1)
    room = np.empty((2, min(step, m), n))
    for start in range(0, m, step):
        part = slice(start, min(start + step, m))
        least, other = room[:, : part.stop - start]
        np.subtract(points[0], queries[0, part, None], out=least)
        for row, queried in zip(points[1:], queries[1:, part], strict=True):
            np.subtract(row, queried[:, None], out=other)
            np.minimum(least, other, out=least)
        itself = np.flatnonzero(position[part] >= 0)
        least[itself, position[part][itself]] = -math.inf
        best[part] = least.max(axis=1)
    return best


def _boxes(points: Floats) -> list[Ints]:
    """Numbers of the points in boxes of at most ``_LEAF``, halved along the endpoint in which they differ most."""
    boxes: list[Ints] = []
    waiting = [np.arange(points.shape[1])]
    while waiting:
        members = waiting.pop()
        if len(members) <= _LEAF:
            boxes.append(members)
            continue
        inside = points[:, members]
        spread = inside.max(axis=1) - np.where(np.isfinite(inside), inside, math.inf).min(axis=1)
        along = inside[int(np.argmax(np.where(np.isnan(spread), -math.inf, spread)))]
        middle = len(members) // 2
        order = np.argpartition(along, middle)
        waiting += [members[order[:middle]], members[order[middle:]]]
    return boxes


def beaten(points: Floats, queries: Floats, own: Ints | None = None) -> Flags:
    """Return whether some point is above each query in every endpoint, ``(n_queries,)``.

    The papers' strict dominance: equal in one endpoint is not beaten. Points that are NaN or -inf in an endpoint beat
    nothing, queries that are NaN or -inf are beaten where the rest of them is, queries of +inf are not.
    ``own``: the point that each query is itself, which does not count; -1 for none. All values are finite then.
    """
    if own is not None:
        return _any_above(points, queries, own)
    able = np.all(points > -math.inf, axis=0)
    queried = np.where(np.isnan(queries), -math.inf, queries)
    if not able.any() or not queried.size:
        return np.zeros(queried.shape[1], dtype=bool)
    if len(points) == 2:
        return _beaten_of_two(points[:, able], queried)
    return _any_above(points[:, able], queried)


def _beaten_of_two(points: Floats, queries: Floats) -> Flags:
    """``beaten`` for two endpoints: the best second value among all points with a better first one."""
    order = np.argsort(-points[0], kind="stable")
    first, second = -points[0, order], np.maximum.accumulate(points[1, order])
    better = np.searchsorted(first, -queries[0], side="left")
    return np.asarray((better > 0) & (second[np.maximum(better, 1) - 1] > queries[1]))


def _any_above(points: Floats, queries: Floats, own: Ints | None = None) -> Flags:
    """``beaten`` by looking at pairs, the strongest points first, until no query is left that may still be beaten.

    ``own``: the point that each query is itself, which does not count; -1 for none.
    """
    out = np.zeros(queries.shape[1], dtype=bool)
    if not points.size or not queries.size:
        return out
    left = np.flatnonzero(np.all(points.max(axis=1)[:, None] > queries, axis=0))
    if points.shape[1] * len(left) <= _SOONER:
        out[left] = _above(points, queries[:, left], np.arange(points.shape[1]), None if own is None else own[left])
        return out
    strength, needed = _sums(points), _sums(queries)
    order = np.argsort(-strength, kind="stable")
    begin, size = 0, _STRONGEST
    while len(left) and begin < len(order):
        block = order[begin : begin + size]
        # A point above in every endpoint has no smaller sum: the remaining points are weaker still.
        left = left[needed[left] <= strength[block[0]]]
        hit = _above(points[:, block], queries[:, left], block, None if own is None else own[left])
        out[left[hit]] = True
        left = left[~hit]
        begin, size = begin + size, 2 * size
    return out


def _above(points: Floats, queries: Floats, numbers: Ints, own: Ints | None) -> Flags:
    """Return the same by looking at every pair; ``numbers`` are those of the points."""
    if points.shape[1] * queries.shape[1] > _AT_MOST:
        half = points.shape[1] // 2
        parts = (slice(half), slice(half, None))
        first, second = (_above(points[:, part], queries, numbers[part], own) for part in parts)
        return first | second
    above = points[0] > queries[0, :, None]
    other = np.empty_like(above)
    for row, queried in zip(points[1:], queries[1:], strict=True):
        np.greater(row, queried[:, None], out=other)
        above &= other
    if own is not None:
        above &= numbers != own[:, None]
    return np.asarray(above.any(axis=1))


def _sums(values: Floats) -> Floats:
    """Return the sum over the endpoints, in their order, of values that may be infinite.

    Never smaller for larger values.
    """
    total = np.zeros(values.shape[1])
    for row in values:
        total += np.minimum(np.maximum(row, -_FAR), _FAR)
    return total


def gaps(means: Floats) -> Gaps:
    """Return the Pareto set and the gap of every compound (GEGE eq. 1, with the gap of j where eq. 5 prints i).

    ``means`` are finite, in one unit for all endpoints. With m(i, j) = min over endpoints of mean_j - mean_i: a beaten
    compound's gap is max_j m(i, j), by how much it must rise to be beaten no more. One of the Pareto set has the least
    over j of -m(i, j), its distance to being beaten, and of (-m(j, i))+ + (gap of j, 0 in the set), the distance to
    beating j, or to letting go of a j that is beaten. Among beaten j the first of the two is never the smaller.
    """
    n = means.shape[1]
    pareto = ~beaten(means, means)
    inside = np.flatnonzero(pareto)
    front = means[:, inside]
    values = np.zeros(n)
    values[~pareto] = np.maximum(lead(front, means[:, ~pareto]), 0.0)
    if len(inside):
        distance = -lead(front, front, np.arange(len(inside)))
        # (-m(j, i))+ + gap_j is the largest of gap_j + mean_j - mean_i over the endpoints, and of gap_j alone: with
        # signs turned round, a lead with one endpoint more.
        shifted = np.vstack([-(means + values), -values])
        queried = np.vstack([-front, np.zeros(len(inside))])
        around = -lead(shifted, queried, inside)
        values[inside] = np.maximum(np.minimum(distance, around), 0.0)
    return Gaps(pareto, values)
