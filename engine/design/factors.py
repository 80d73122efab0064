"""Cholesky factors and their inverses, with numpy alone.

Numpy and scipy each have their own threads for linear algebra, and those of the one, waiting for more work, keep those
of the other from theirs; a loop that calls both in turn was a hundred times slower.
"""

from __future__ import annotations

import numpy as np
from numpy.linalg import LinAlgError

from ..arrays import Floats

__all__ = ["lower_inverse", "sound_factor", "sound_inverse"]


_LARGE = 100
"""Rank from which on a factor is worth it: below, eigenvectors take less than a millisecond and say more."""
_SOUND = 1e-7
"""Squared pivots, and reciprocal condition numbers, above which a matrix is far from singular."""
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


def sound_factor(matrix: Floats) -> Floats | None:
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


def sound_inverse(matrix: Floats) -> Floats | None:
    """The inverse of a symmetric matrix of unit diagonal; None where it is small or close to singular."""
    factor = sound_factor(matrix)
    if factor is None:
        return None
    half = lower_inverse(factor)
    inverse: Floats = half.T @ half
    condition = float(np.abs(matrix).sum(axis=0).max()) * float(np.abs(inverse).sum(axis=0).max())
    return inverse if condition * _SOUND < 1.0 else None
