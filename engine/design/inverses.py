"""Inverses and roots of information matrices, with numpy alone.

Numpy and scipy each have their own threads for linear algebra, and those of the one, waiting for more work, keep those
of the other from theirs; a loop that calls both in turn was a hundred times slower.
"""

from __future__ import annotations

import numpy as np
from numpy.linalg import LinAlgError

from ..arrays import Floats, Ints

_LARGE = 100
"""Rank from which on a factor is worth it: below, eigenvectors take less than a millisecond and say more."""
_SOUND = 1e-7
"""Squared pivots, and reciprocal condition numbers, above which a matrix is far from singular."""
_SINGULAR = 1e-11
"""Eigenvalues of the information matrix with unit diagonal below this share of the largest count as zero."""
_ROUNDING = 1e-15
"""The same for the root of a matrix that may be singular."""
_RIDGE = 1e-14
"""The share of an even information that is added to a singular one."""
_LEAF = 48
"""Triangular matrices up to so many rows are inverted as they are."""


def lower_inverse(factor: Floats) -> Floats:
    """The inverse of a lower triangular matrix, by halves."""
    n = len(factor)
    if n <= _LEAF:
        return np.asarray(np.linalg.inv(factor), dtype=float)
    half = n // 2
    inverse = np.zeros((n, n))
    first, second = lower_inverse(factor[:half, :half]), lower_inverse(factor[half:, half:])
    inverse[:half, :half], inverse[half:, half:] = first, second
    inverse[half:, :half] = -(second @ (factor[half:, :half] @ first))
    return inverse


def _sound_factor(matrix: Floats) -> Floats | None:
    """L with L L' = matrix, for a symmetric one of unit diagonal; None where it is small or close to singular.

    A tenth of the time of its eigenvectors.
    """
    if len(matrix) < _LARGE:
        return None
    try:
        factor: Floats = np.asarray(np.linalg.cholesky(matrix), dtype=float)
    except LinAlgError:
        return None
    return factor if float(np.diagonal(factor).min()) ** 2 > _SOUND else None


def _sound_inverse(matrix: Floats) -> Floats | None:
    """The inverse of a symmetric matrix of unit diagonal; None where it is small or close to singular."""
    factor = _sound_factor(matrix)
    if factor is None:
        return None
    half = lower_inverse(factor)
    inverse: Floats = half.T @ half
    condition = float(np.abs(matrix).sum(axis=0).max()) * float(np.abs(inverse).sum(axis=0).max())
    return inverse if condition * _SOUND < 1.0 else None


def positive_inverse(matrix: Floats) -> Floats:
    """Return the inverse of a positive definite matrix; LinAlgError when it is not."""
    half = lower_inverse(np.asarray(np.linalg.cholesky(matrix), dtype=float))
    inverse: Floats = half.T @ half
    return inverse


def worth_of(counts: Floats | Ints, ratio: float) -> Floats:
    """The information in n measurements of one compound, in single measurements: n / (1 + n ratio).

    ``ratio`` is tau^2 / sigma^2, the variance of a compound's own deviation over that of a measurement: with it no
    number of replicates is worth more than 1 / ratio measurements.
    """
    n = np.asarray(counts, dtype=float)
    return n / (1.0 + n * ratio)


def inverse_information(
    x: Floats, counts: Floats | Ints, base: Floats | None = None, ratio: float = 0.0
) -> Floats | None:
    """The inverse of base + the worth of the counts times x x' over rows ``x`` ``(m, d)``; None when it is singular."""
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
    """The inverse of the sum of w x x'; of a singular one with a little of every row of ``x`` added.

    Directions that the weights tell nothing about then have a variance beyond all others instead of none.
    """
    inverse = inverse_information(x, weights)
    if inverse is not None:
        return inverse
    information = (x * weights[:, None]).T @ x
    size = max(float(np.trace(information)) / len(information), 1e-300)
    return np.asarray(np.linalg.inv(information + _RIDGE * size * np.eye(len(information))), dtype=np.float64)


def square_root(matrix: Floats) -> Floats:
    """A factor F with F F' = matrix for a symmetric positive semidefinite matrix, ``(d, rank)``."""
    # With a unit diagonal, so that columns of unlike size keep their digits.
    scale = np.sqrt(np.maximum(np.diagonal(matrix), 0.0))
    inverse_scale = np.divide(1.0, scale, out=np.zeros_like(scale), where=scale > 0.0)
    scaled = matrix * inverse_scale * inverse_scale[:, None]
    lower = _sound_factor(scaled)
    if lower is not None:
        return scale[:, None] * lower
    values, vectors = np.linalg.eigh(scaled)
    kept = values > _ROUNDING * max(float(values[-1]), 0.0)
    if not kept.any():
        return np.zeros((len(matrix), 1))
    factor: Floats = scale[:, None] * vectors[:, kept] * np.sqrt(values[kept])
    return factor
