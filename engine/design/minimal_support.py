"""Even weights on as many candidates as there are effects: at once the best design where few others are to be had.

On d independent candidates V^-1 = d B^-1 B^-T, with B of their rows, so everything is known from the coordinates c of
the others in terms of these: leverages are d |c|^2 and the variances of differences d |c_i - c_j|^2. LinFACT's later
phases have no others at all.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.linalg import lapack

from ..arrays import Floats, Ints
from ..domain.features import ProjectedFeatures
from .allowed import Allowed
from .criteria import dual_bound

__all__ = ["Even", "even_design"]


_OTHERS = 2
"""Candidates, in multiples of the rank, up to which even weights on some of them are worth a try."""
_LARGEST = 200
"""The largest rank likewise: the work is cubic."""
_PIVOT = 1e-6
"""A pivot below this share of the largest says that the candidates are close to dependent: nothing is said then."""


class Even(NamedTuple):
    """Even weights on some candidates, what they reach and what is proven of the best."""

    support: Ints
    value: float
    lower: float

    @property
    def weights(self) -> Floats:
        """One share per position of the support."""
        return np.full(len(self.support), 1.0 / len(self.support))

    @property
    def gap(self) -> float:
        """How far the value may be above the best one, relative."""
        return max(self.value / self.lower - 1.0, 0.0)


def even_design(
    candidates: ProjectedFeatures, limits: Allowed, max_support: int | None, gap: float, *, pairs: bool
) -> Even | None:
    """Even weights on d candidates where these are proven to be within the gap of the best; None elsewhere.

    For G, or for all ``pairs`` of the candidates. G: the optimum is d (Kiefer and Wolfowitz 1960), which d candidates
    without others have exactly. Pairs: with even shares on the pairs among the d, ``dual_bound`` has
    tr(M S) = 2 d and scores 2 d^2 / (d - 1) (|c|^2 - (sum of c)^2 / d), which are 2 d for the d themselves, so that
    they, too, are optimal where there are no others.
    """
    n, d = candidates.n_rows, candidates.rank
    bounded = isinstance(limits.room, np.ndarray) or limits.room * d < 1.0
    if bounded or limits.base is not None or limits.required is not None:
        return None
    if not d <= n <= _OTHERS * d or not 1 + pairs <= d <= _LARGEST or (max_support is not None and max_support < d):
        return None
    x = candidates.coordinates()
    if not np.isfinite(x).all():
        return None
    triangle, order, *_ = lapack.dgeqp3(x.T)
    pivots = np.abs(np.diagonal(triangle))
    if pivots[-1] <= _PIVOT * pivots[0]:
        return None
    support = np.sort(order[:d]).astype(np.intp) - 1
    value = lower = float(2 * d if pairs else d)
    if n > d:
        others = lapack.dtrtrs(triangle[:, :d], triangle[:, d:])[0]
        squares = np.einsum("ij,ij->j", others, others)
        if pairs:
            scores = squares - others.sum(axis=0) ** 2 / d
            lower = dual_bound(2.0 * d, max(2.0 * d, 2.0 * d**2 / (d - 1) * float(scores.max())))
            # To one of the d, 1 + |c|^2 - 2 c_i; between two others.
            between = squares[:, None] + squares - 2.0 * (others.T @ others)
            farthest = max(float((1.0 + squares - 2.0 * others.min(axis=0)).max()), float(between.max()))
            value = max(value, d * farthest)
        else:
            value = max(value, d * float(squares.max()))
    found = Even(support, value, lower)
    return found if found.gap <= gap else None
