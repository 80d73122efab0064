"""Value of a design: the value reached, a proven bound of the best one, and the inverses both are computed from."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import NamedTuple, Protocol

import numpy as np
from numpy.linalg import LinAlgError
from numpy.typing import ArrayLike

from ..arrays import Floats, Ints
from ..domain.features import ProjectedFeatures
from ..models.ols import lower_factor, lower_inverse
from .allowed import greatest_average

_SOUND = 1e-7
"""Squared pivots, and reciprocal condition numbers, above which a matrix is far from singular."""
_SINGULAR = 1e-11
"""Eigenvalues of the information matrix with unit diagonal below this share of the largest count as zero."""
_ROOTED = 1e-15
"""The same for the root of a matrix that may be singular."""
_RIDGE = 1e-14
"""The share of an even information that is added to a singular one."""


def _sound_factor(matrix: Floats) -> Floats | None:
    """Return L with L L' = matrix, for a symmetric one of unit diagonal; None where it is close to singular.

    A small part of the time of its eigenvectors.
    """
    try:
        factor = lower_factor(matrix)
    except LinAlgError:
        return None
    return factor if float(np.diagonal(factor).min()) ** 2 > _SOUND else None


def _sound_inverse(matrix: Floats) -> Floats | None:
    """Return the inverse of a symmetric matrix of unit diagonal; None where it is close to singular."""
    factor = _sound_factor(matrix)
    if factor is None:
        return None
    half = lower_inverse(factor)
    inverse: Floats = half.T @ half
    condition = float(np.abs(matrix).sum(axis=0).max()) * float(np.abs(inverse).sum(axis=0).max())
    return inverse if condition * _SOUND < 1.0 else None


def worth_of(counts: Floats | Ints, ratio: float) -> Floats:
    """Return the information in n measurements of one compound, in single measurements: n / (1 + n ratio).

    ``ratio`` is tau^2 / sigma^2, the variance of a compound's own deviation over that of a measurement: with it no
    number of replicates is worth more than 1 / ratio measurements.
    """
    n = np.asarray(counts, dtype=float)
    return n / (1.0 + n * ratio)


def inverse_information(
    x: Floats, counts: Floats | Ints, base: Floats | None = None, ratio: float = 0.0
) -> Floats | None:
    """Return the inverse of base + the worth of the counts times x x' over rows ``x`` ``(m, d)``.

    None when it is singular.
    """
    information = (x * worth_of(counts, ratio)[:, None]).T @ x
    if base is not None:
        information = information + base
    scale = np.sqrt(np.maximum(np.diagonal(information), 0.0))
    if not len(scale) or scale.min() <= 0:
        return None
    scaled = information / scale / scale[:, None]
    sound = _sound_inverse(scaled)
    if sound is not None:
        return sound / scale / scale[:, None]
    values, vectors = np.linalg.eigh(scaled)
    if values[0] <= _SINGULAR * values[-1]:
        return None
    half = vectors / np.sqrt(values) / scale[:, None]
    inverse: Floats = half @ half.T
    return inverse


def nearly_inverse(x: Floats, weights: Floats) -> Floats:
    """Return the inverse of the sum of w x x'; of a singular one with a little of every row of ``x`` added.

    Directions that the weights do not estimate then have a variance beyond all others instead of none.
    """
    inverse = inverse_information(x, weights)
    if inverse is not None:
        return inverse
    information = (x * weights[:, None]).T @ x
    size = max(float(np.trace(information)) / len(information), 1e-300)
    return np.asarray(np.linalg.inv(information + _RIDGE * size * np.eye(len(information))), dtype=np.float64)


def square_root(matrix: Floats) -> Floats:
    """Return a factor F with F F' = matrix for a symmetric positive semidefinite matrix, ``(d, rank)``."""
    # With a unit diagonal, so that columns of unlike size keep their digits.
    scale = np.sqrt(np.maximum(np.diagonal(matrix), 0.0))
    inverse_scale = np.divide(1.0, scale, out=np.zeros_like(scale), where=scale > 0.0)
    scaled = matrix * inverse_scale * inverse_scale[:, None]
    lower = _sound_factor(scaled)
    if lower is not None:
        return scale[:, None] * lower
    values, vectors = np.linalg.eigh(scaled)
    kept = values > _ROOTED * max(float(values[-1]), 0.0)
    if not kept.any():
        return np.zeros((len(matrix), 1))
    factor: Floats = scale[:, None] * vectors[:, kept] * np.sqrt(values[kept])
    return factor


_NEAR_WORST = 0.01
"""Targets whose variance is within this share of the largest count as nearly as bad."""
_ROUNDING = 1e-12
"""Share subtracted from a proven bound for the rounding of its own arithmetic."""


class Weighted(Protocol):
    """Anything with weights on some positions: a design, or what is left of one."""

    @property
    def support(self) -> Ints:
        """Positions."""

    @property
    def weights(self) -> Floats:
        """One weight per position."""


class Shares(NamedTuple):
    """Weights on some positions."""

    support: Ints
    weights: Floats


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
    """Whether ``gap`` is at most the requested one."""
    iterations: int
    """How often every candidate was evaluated."""
    seconds: float
    """Wall-clock time."""
    gap: float = math.inf
    """The certificate of D-optimality: no allowed weights have an average leverage above d (1 + gap). Without an upper
    bound this is the largest leverage / d - 1; log det V(w) is at most d * gap below its maximum."""
    shares: Floats | None = None
    """The share of each listed direction in the average that about proves the bound; None where a design is not from
    ``multiplicative_xy``."""


def achieved(
    candidates: ProjectedFeatures, support: Ints, counts: ArrayLike, targets: ProjectedFeatures | None = None
) -> float:
    """Return the largest ||z||^2 in V(counts)^-1 over the targets (the candidates when None); inf when V is singular.

    ``counts`` are measurements (or shares) per position of ``support``. Times sigma^2 it is the largest variance.
    """
    given = np.asarray(counts, dtype=float)
    used = given > 0
    inverse = inverse_information(candidates.coordinates(np.asarray(support, dtype=np.intp)[used]), given[used])
    if inverse is None:
        return math.inf
    return float((candidates if targets is None else targets).quadratic(inverse).max())


def dual_bound(trace: float, reachable: float) -> float:
    """Return a lower bound of the worst variance of allowed weights, given tr(M S) and the maximum of tr(S M S V(w)).

    For directions y_j with shares lambda_j (sum 1), M = sum lambda_j y_j y_j', any symmetric S and any u > 0, put
    h_j = u S y_j. For V positive semidefinite, y'V^-1 y >= 2 h'y - h'V h for every h (the difference is
    |V^(-1/2) y - V^(1/2) h|^2; a y outside the range of V has infinite variance). Summed with lambda,

        max_j y_j'V(w)^-1 y_j >= sum_j lambda_j y_j'V(w)^-1 y_j >= 2 u tr(M S) - u^2 tr(S M S V(w)).

    With R >= tr(S M S V(w)) for every allowed w (a linear programme over the scores x'S M S x, plus tr(S M S base)),
    the best u = tr(M S) / R gives tr(M S)^2 / R. At the optimum it is tight: S = V(w*)^-1 and the optimal lambda
    have R = tr(S M S V(w*)) = tr(M S) = the optimum. For G, Y = X and lambda = w give M = V, tr(M S) = d and
    R = the largest leverage, hence d^2 / max leverage, which is the optimum d of Kiefer and Wolfowitz (1960) at
    the D-optimal weights.
    """
    return trace * trace / reachable * (1.0 - _ROUNDING) if reachable > 0.0 else 0.0


def minimax_bound(candidates: ProjectedFeatures, targets: ProjectedFeatures, inverse: Floats, room: float) -> float:
    """Return a lower bound of the largest ||z||^2 over the targets, weights at most ``room``: see ``dual_bound``.

    ``inverse`` is S; the targets' shares are tried on the worst target and evenly on all that are nearly as bad.
    """
    variances = targets.quadratic(inverse)
    worst = int(np.argmax(variances))
    near = np.flatnonzero(variances >= (1.0 - _NEAR_WORST) * variances[worst])
    best = 0.0
    for chosen in (np.array([worst]), near):
        spread = targets.information(np.full(len(chosen), 1.0 / len(chosen)), chosen)
        slope = inverse @ spread @ inverse
        reachable = greatest_average(candidates.quadratic((slope + slope.T) / 2.0), room)
        best = max(best, dual_bound(float(np.vdot(spread, inverse)), reachable))
    return best
