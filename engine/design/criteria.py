"""What a design is worth: the value reached, and what is proven about the best one."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import ArrayLike

from ..arrays import Floats, Ints
from ..domain.features import ProjectedFeatures
from .allowed import Allowed
from .boxes import greatest_average

__all__ = ["Design", "Weighted", "achieved", "minimax_bound"]


_SINGULAR = 1e-11
"""Eigenvalues of the information matrix with unit diagonal below this share of the largest count as zero."""
_NEAR_WORST = 0.01
"""Targets whose variance is within this share of the largest count as nearly as bad."""
_ROUNDING = 1e-11
"""What is taken off a proven bound for the rounding of its own arithmetic."""


class Weighted(Protocol):
    """Anything with weights on some positions: a design, or what is left of one."""

    @property
    def support(self) -> Ints:
        """Positions."""

    @property
    def weights(self) -> Floats:
        """One weight per position."""


@dataclass(frozen=True, slots=True)
class Design:
    """Shares of the measurements on a few candidates, with what is proven about them."""

    criterion: str
    """``"g"``: the largest variance of an estimated mean, in units of sigma^2 / measurements."""
    support: Ints
    """Positions among the candidates with weight above 0, ascending."""
    weights: Floats
    """One share per position of ``support``; they sum to 1."""
    value: float
    """g(w): the largest ||z||^2 in V(w)^-1 over the targets."""
    lower_bound: float
    """No allowed weights have a smaller g than this. The rank d (then the optimum itself) for candidates as their own
    targets and no upper bound; a dual bound, which may be loose, for other targets or bounded weights."""
    converged: bool
    """Whether ``gap`` is at most what was asked for."""
    iterations: int
    """How often every candidate was looked at."""
    seconds: float
    """Wall-clock time."""
    gap: float = math.inf
    """The certificate of D-optimality: no allowed weights have an average leverage above d (1 + gap). Without an upper
    bound this is the largest leverage / d - 1; log det V(w) is at most d * gap below its maximum."""


def information_inverse(x: Floats, weights: Floats) -> Floats | None:
    """The inverse of the sum of w x x' over the rows of ``x``; None when it is singular."""
    information = (x * weights[:, None]).T @ x
    scale = np.sqrt(np.diagonal(information))
    if not len(x) or scale.min() <= 0:
        return None
    values, vectors = np.linalg.eigh(information / scale / scale[:, None])
    if values[0] <= _SINGULAR * values[-1]:
        return None
    half = vectors / np.sqrt(values) / scale[:, None]
    inverse: Floats = half @ half.T
    return inverse


def achieved(
    candidates: ProjectedFeatures, support: Ints, counts: ArrayLike, targets: ProjectedFeatures | None = None
) -> float:
    """The largest ||z||^2 in V(counts)^-1 over the targets (the candidates when None); inf when V is singular.

    ``counts`` are measurements (or shares) per position of ``support``. Times sigma^2 it is the largest variance.
    """
    given = np.asarray(counts, dtype=float)
    used = given > 0
    inverse = information_inverse(candidates.coordinates(np.asarray(support, dtype=np.intp)[used]), given[used])
    if inverse is None:
        return math.inf
    return float((candidates if targets is None else targets).quadratic(inverse).max())


def minimax_bound(
    candidates: ProjectedFeatures, targets: ProjectedFeatures, inverse: Floats, limits: float | Allowed
) -> float:
    """A value that no allowed weights can get the largest ||z||^2 over the targets below.

    For any p over the targets, with A = sum p z z', max_z ||z||^2 >= tr(A V^-1), which is convex in V. Its tangent at
    t V_0, at the best t, gives tr(A V_0^-1)^2 / max_w tr(V_0^-1 A V_0^-1 V(w)); the maximum is a linear programme over
    the candidates. ``inverse`` is V_0^-1; p is tried on the worst target and evenly on all that are nearly as bad.
    ``limits``: what weights are allowed, or the largest of any.
    """
    room = limits.room if isinstance(limits, Allowed) else limits
    free = limits.free if isinstance(limits, Allowed) else 1.0
    base = limits.base if isinstance(limits, Allowed) else None
    variances = targets.quadratic(inverse)
    worst = int(np.argmax(variances))
    near = np.flatnonzero(variances >= (1.0 - _NEAR_WORST) * variances[worst])
    best = 0.0
    for chosen in (np.array([worst]), near):
        spread = targets.information(np.full(len(chosen), 1.0 / len(chosen)), chosen)
        slope = inverse @ spread @ inverse
        slope = (slope + slope.T) / 2.0
        reachable = greatest_average(candidates.quadratic(slope), room)
        if base is not None:
            reachable += float(np.vdot(slope, base))
        reachable *= free
        if reachable > 0:
            best = max(best, float(np.vdot(spread, inverse)) ** 2 / reachable)
    return best * (1.0 - _ROUNDING)
