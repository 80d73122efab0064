"""Where an estimate of the series model comes from: what each substituent adds, and what they do together."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ...arrays import Floats

_SWEEPS = 20
"""Turns through the sites; in a table with every combination one is enough."""
_ENOUGH = 1e-4
"""A change of every effect below which nothing moves: two digits are shown."""


@dataclass(frozen=True, slots=True)
class Origin:
    """The estimates of one endpoint as a sum: the mean, an effect of each substituent, and a rest."""

    mean: float
    """Of all estimates, model scale."""
    effects: tuple[Floats, ...]
    """Per site ``(n_substituents,)``: what each adds on average; 0 where none has it."""
    rest: Floats
    """``(n,)`` what is left of each estimate: interactions, and what its own measurements add."""


def origin_of(estimates: Floats, codes: NDArray[np.integer]) -> Origin:
    """Return the least-squares sum of site effects nearest to the estimates ``(n,)``; NaN where these are.

    ``codes``: ``(n, n_sites)``. By backfitting (Buja, Hastie and Tibshirani 1989), so no site is preferred.
    """
    known = np.isfinite(estimates)
    rows = codes[known]
    mean = float(estimates[known].mean()) if known.any() else np.nan
    rest = estimates[known] - mean
    counts = [np.maximum(np.bincount(column), 1) for column in rows.T]
    effects = [np.zeros(len(count)) for count in counts]
    for _ in range(_SWEEPS):
        moved = 0.0
        for column, count, effect in zip(rows.T, counts, effects, strict=True):
            step = np.bincount(column, rest, len(count)) / count
            effect += step
            rest -= step[column]
            moved = max(moved, float(np.abs(step).max(initial=0.0)))
        if moved < _ENOUGH:
            break
    whole = np.full(len(estimates), np.nan)
    whole[known] = rest
    return Origin(mean, tuple(effects), whole)
