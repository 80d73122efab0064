"""Constraints on weights: forbidden and bounded candidates; weights in a box."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from ..arrays import Flags, Floats, Ints
from ..domain.features import ProjectedFeatures
from ..errors import AssayPilotError

_SLACK = 1e-12
"""Shares this close to a bound meet it."""


@dataclass(frozen=True, slots=True)
class Allowed:
    """Weights that sum to 1, each between 0 and its ``room``."""

    n: int
    room: float | Floats
    """The largest weight of every candidate, or of each ``(n,)``: at most 1."""

    @property
    def open(self) -> Flags | None:
        """Which candidates may get weight; None for all."""
        return None if not isinstance(self.room, np.ndarray) else self.room > 0

    def room_of(self, positions: Ints) -> float | Floats:
        """Return the largest weight of the candidates at the positions."""
        return self.room[positions] if isinstance(self.room, np.ndarray) else self.room

    def most(self, count: int) -> float:
        """Return the largest weight that ``count`` candidates can have."""
        if not isinstance(self.room, np.ndarray):
            return self.room * min(count, self.n)
        return float(np.sort(self.room)[::-1][:count].sum())

    def fewest(self) -> int:
        """Return the fewest candidates that can hold all the weight."""
        if not isinstance(self.room, np.ndarray):
            return int(np.ceil(1.0 / self.room - 1e-9))
        held = np.cumsum(np.sort(self.room)[::-1])
        return int(np.searchsorted(held, 1.0 - 1e-9)) + 1

    def nearest(self, w: Floats, positions: Ints) -> Floats:
        """Return the nearest allowed weights on the positions, which must be able to hold them all."""
        room = self.room_of(positions)
        if not isinstance(room, np.ndarray) and room >= 1.0:
            even: Floats = w / w.sum()
            return even
        return box_projection(w, room, 1.0)


def allowed(candidates: ProjectedFeatures, upper: ArrayLike | None = None) -> Allowed:
    """Return what the weights of the candidates may be; raises AssayPilotError for bounds that no weights meet.

    ``upper``: the largest share of each candidate, one number or ``(n,)``, 0 for a forbidden one.
    """
    n = candidates.n_rows
    if upper is None or np.ndim(upper) == 0:
        most = 1.0 if upper is None else min(float(np.asarray(upper, dtype=float)), 1.0)
        if not most * n >= 1.0 - _SLACK:
            raise AssayPilotError(
                f"a share of at most {most:g} of the measurements per compound is too little for {n:,} compounds",
                mend=f"The smallest share that can be met is 1/{n} = {1.0 / n:.4g}.",
            )
        return Allowed(n, max(most, 1.0 / n))
    room = np.minimum(_shares(upper, n), 1.0)
    if not room.any():
        raise AssayPilotError(
            f"all {n:,} compounds are forbidden", mend="Allow at least enough of them to estimate every effect."
        )
    if room.sum() < 1.0 - _SLACK:
        raise AssayPilotError(
            f"the largest shares allowed add up to {room.sum():.4g} of the measurements, so not all can be spent",
            mend="Raise them until they add up to at least 1, or plan fewer measurements.",
        )
    return Allowed(n, room * max(1.0, 1.0 / room.sum()))


def _shares(given: ArrayLike, n: int) -> Floats:
    shares = np.array(given, dtype=float)
    if shares.shape != (n,):
        raise AssayPilotError(
            f"there are {n:,} compounds but {shares.size:,} largest shares", mend="Give one share per compound."
        )
    if np.isnan(shares).any() or shares.min() < 0:
        first = int(np.flatnonzero(~(shares >= 0))[0])
        raise AssayPilotError(
            f"the largest share of the compound at position {first} is {shares[first]:g}",
            mend="Shares are numbers from 0 to 1.",
        )
    return shares


def greatest_average(leverages: Floats, upper: float | Floats) -> float:
    """Return the largest sum of w * leverage over weights that sum to 1, each between 0 and its ``upper``.

    A linear programme solved by filling the largest leverages to their bounds.
    """
    if isinstance(upper, np.ndarray):
        if upper.min() >= 1.0:
            return float(leverages.max())
        order = np.argsort(-leverages, kind="stable")
        filled = np.minimum(np.cumsum(upper[order]), 1.0)
        return float(np.diff(filled, prepend=0.0) @ leverages[order]) + (1.0 - float(filled[-1])) * float(
            leverages[order[0]]
        )
    if upper >= 1.0:
        return float(leverages.max())
    full = min(int(1.0 / upper * (1 + 1e-12)), len(leverages))
    if full == len(leverages):
        return upper * float(leverages.sum()) + max(0.0, 1.0 - upper * full) * float(leverages.max())
    largest = np.partition(leverages, len(leverages) - full - 1)[len(leverages) - full - 1 :]
    return upper * float(largest[1:].sum()) + max(0.0, 1.0 - upper * full) * float(largest[0])


def box_projection(point: Floats, upper: float | Floats, total: float) -> Floats:
    """Return the nearest vector with entries between 0 and ``upper`` of sum ``total`` (0 <= total <= sum of upper)."""
    # The sum of clip(point - shift, 0, upper) falls with the shift, linearly between the sorted breakpoints.
    breaks = np.sort(np.concatenate([point, point - upper]))
    low, high = 0, len(breaks) - 1
    while high - low > 1:
        middle = (low + high) // 2
        if np.clip(point - breaks[middle], 0.0, upper).sum() >= total:
            low = middle
        else:
            high = middle
    at_low = float(np.clip(point - breaks[low], 0.0, upper).sum())
    at_high = float(np.clip(point - breaks[high], 0.0, upper).sum())
    share = (at_low - total) / (at_low - at_high) if at_low > at_high else 0.0
    shift = breaks[low] + share * (breaks[high] - breaks[low])
    nearest: Floats = np.clip(point - shift, 0.0, upper)
    return nearest
