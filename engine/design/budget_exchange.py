"""Counts within a budget made better: a measurement or a whole compound exchanged for another that is affordable."""

from __future__ import annotations

import math

import numpy as np

from ..arrays import Floats, Ints
from .directions import Worst
from .exchange import Bounds
from .inverses import inverse_information, worth_of

__all__ = ["bargained"]


_GAIN = 1e-9
_KEPT = 4
"""Directions that are looked at first, in multiples of the rank."""
_TRIED = 24
"""Exchanges of each kind whose value is computed, those of largest log det."""


def bargained(
    x: Floats,
    counts: Ints,
    price: Floats,
    each: float,
    money: float,
    most: int,
    directions: Worst,
    bounds: Bounds,
    *,
    ratio: float = 0.0,
    limit: int = 30,
) -> tuple[Ints, float]:
    """Counts that cost at most ``money``, no worse than those given, and their largest y'V^-1 y; inf when singular.

    ``price`` ``(m,)`` is paid once for a row that is measured at all, ``each`` per measurement, of which there are at
    most ``most``. Three kinds of exchange are tried while one of them gains: one measurement goes to another row, all
    measurements of a row go to another, one measurement more is taken. The most telling by log det are computed.
    """
    counts = counts.copy()
    inverse = inverse_information(x, counts, None, ratio)
    if inverse is None:
        return counts, math.inf
    keys, values = directions.find(inverse, _KEPT * x.shape[1])
    kept, value = directions.vectors(keys), float(values[0])
    for _ in range(limit):
        best = None
        for new in _affordable(x, counts, price, each, money, most, bounds, ratio, inverse):
            after = inverse_information(x, new, None, ratio)
            # Directions that were large before mostly rule an exchange out, without a look at all of them.
            if after is None or np.einsum("ij,ij->i", kept @ after, kept).max() >= value * (1.0 - _GAIN):
                continue
            keys, values = directions.find(after)
            if values[0] < value * (1.0 - _GAIN):
                best, value, inverse = new, float(values[0]), after
            else:
                kept = np.concatenate([kept, directions.vectors(keys[:1])])
        if best is None:
            break
        counts = best
    return counts, value


def _affordable(
    x: Floats,
    counts: Ints,
    price: Floats,
    each: float,
    money: float,
    most: int,
    bounds: Bounds,
    ratio: float,
    inverse: Floats,
) -> list[Ints]:
    """The counts after the most telling exchanges that keep to the money and the bounds."""
    used = np.flatnonzero(counts)
    spent = float(price[used].sum()) + each * int(counts.sum())
    left = money - spent
    joins = np.where(counts == 0, price, 0.0)
    out: list[Ints] = []
    for whole in (False, True):
        moved = counts[used] if whole else np.ones(len(used), dtype=np.intp)
        refund = np.where(moved == counts[used], price[used], 0.0)
        allowed = (
            (joins[None, :] - refund[:, None] <= left)
            & (counts[used] - moved >= bounds.low[used])[:, None]
            & (counts[None, :] + moved[:, None] <= bounds.high)
            & (used[:, None] != np.arange(len(x)))
        )
        less = worth_of(counts[used], ratio) - worth_of(counts[used] - moved, ratio)
        more = worth_of(counts[None, :] + moved[:, None], ratio) - worth_of(counts, ratio)
        half = x[used] @ inverse
        across = (half @ x.T) ** 2 * less[:, None] * more
        own = less * np.einsum("ij,ij->i", half, x[used])
        theirs = more * np.einsum("ij,ij->i", x @ inverse, x)
        growth = np.where(allowed, (1.0 - own)[:, None] * (1.0 + theirs) + across, -math.inf)
        for flat in np.argsort(-growth, axis=None, kind="stable")[:_TRIED]:
            giver, taker = divmod(int(flat), len(x))
            if growth[giver, taker] <= 0.0:
                break
            new = counts.copy()
            new[used[giver]] -= moved[giver]
            new[taker] += moved[giver]
            out.append(new)
    if counts.sum() < most:
        gain = (worth_of(counts + 1, ratio) - worth_of(counts, ratio)) * np.einsum("ij,ij->i", x @ inverse, x)
        gain = np.where((joins + each <= left) & (counts < bounds.high), gain, -math.inf)
        for taker in np.argsort(-gain, kind="stable")[:_TRIED]:
            if gain[taker] <= 0.0:
                break
            new = counts.copy()
            new[taker] += 1
            out.append(new)
    return out
