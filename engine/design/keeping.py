"""What plates leave of the comparisons that are to be told, and plates that leave as much of each as can be found."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from assaypilot.engine.arrays import Floats, Ints
from assaypilot.engine.design.dealing import dealt

__all__ = ["dealt_for", "left_of"]

_NOTHING = 1e-9
"""Directions with less than this share of the largest information are told nothing of."""
_OUTSIDE = 1e-6
"""Comparisons with more than this share of their length in such a direction cannot be told."""
_LITTLE = 0.75
"""Share left of a comparison below which it is worth another look at how plates are filled."""


def dealt_for(
    x: Floats,
    counts: Ints,
    sizes: tuple[int, int],
    *,
    together: int = 1,
    directions: Floats | None = None,
    controls: float = 0.0,
) -> Ints:
    """``(n_plates, n)``, as ``dealt``; ``sizes``: how many plates, and what one holds; ``controls``: on each.

    Where plates that are dealt for ``directions`` and filled evenly would leave little of one of these, or nothing,
    they are dealt for all alike or filled otherwise, if that leaves more of the one of which least is left.
    """
    n_plates, holds = sizes
    best = dealt(x, counts, n_plates, together=together, directions=directions)
    if directions is None or n_plates < 2:
        return best
    on_each = np.full(n_plates, controls)

    def least(shares: Ints) -> float:
        kept = left_of(x, shares, on_each, directions)
        return float(np.nanmin(kept)) if np.isfinite(kept).any() else 1.0

    left = least(best)
    if left >= _LITTLE:
        return best
    for room in _rooms(int(counts.sum()), n_plates, holds):
        for aims in (directions, None):
            shares = dealt(x, counts, n_plates, together=together, directions=aims, room=room)
            if (now := least(shares)) > left:
                best, left = shares, now
    return best


def _rooms(total: int, n_plates: int, holds: int) -> Iterator[Ints]:
    """Ways to fill plates: evenly, full ones and a rest, or one or two more on the first that the last has less."""
    even = total // n_plates + (np.arange(n_plates) < total % n_plates).astype(np.intp)
    yield even
    yield np.minimum(np.maximum(total - holds * np.arange(n_plates), 0), holds)
    for more in (1, 2):
        room = even.copy()
        room[0] += more
        room[-1] -= more
        if room[0] <= holds and room[-1] > 0:
            yield room


def left_of(x: Floats, shares: Ints, controls: Floats, directions: Floats) -> Floats:
    """``(m,)``, what blocks leave of the information on each of ``directions`` ``(m, d)``: 0 nothing, 1 all of it.

    NaN where the measurements tell nothing of it without blocks either. ``shares`` as ``dealt`` gives them;
    ``controls`` ``(n_blocks,)``, measurements of controls in each.
    """
    if not len(directions):
        return np.zeros(0)
    whole = (x * shares.sum(axis=0)[:, None]).T @ x
    totals = shares @ x
    weights = 1.0 / np.maximum(shares.sum(axis=1) + controls, 1.0)
    without = _variances(whole, directions)
    beside = _variances(whole - (totals * weights[:, None]).T @ totals, directions)
    told = np.isfinite(without) & (without > 0.0)
    kept: Floats = np.divide(without, beside, out=np.full(len(directions), np.nan), where=told)
    return kept


def _variances(information: Floats, directions: Floats) -> Floats:
    """``(m,)``, infinite where the information says nothing."""
    values, vectors = np.linalg.eigh(information)
    told = values > _NOTHING * max(float(values[-1]), _NOTHING)
    found: Floats = (directions @ vectors[:, told]) ** 2 @ (1.0 / values[told])
    rest = directions @ vectors[:, ~told]
    lengths = np.sqrt(np.einsum("ij,ij->i", directions, directions))
    found[np.sqrt(np.einsum("ij,ij->i", rest, rest)) > _OUTSIDE * lengths] = np.inf
    return found
