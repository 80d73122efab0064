"""Positive definite matrices: their factors and inverses, by LAPACK itself.

On some twenty rows the checks that numpy and scipy put around it take longer than the work.
"""

from __future__ import annotations

from numpy.linalg import LinAlgError
from scipy.linalg import lapack

from ..arrays import Floats


def lower_factor(matrix: Floats) -> Floats:
    """Return the lower Cholesky factor; raises LinAlgError for a matrix that is not positive definite."""
    factor, failed = lapack.dpotrf(matrix, lower=1)
    if failed:
        raise LinAlgError("not positive definite")
    found: Floats = factor
    return found


def lower_inverse(factor: Floats) -> Floats:
    """Return the inverse of a lower triangular matrix; raises LinAlgError for a singular one."""
    inverse, failed = lapack.dtrtri(factor, lower=1)
    if failed:
        raise LinAlgError("singular")
    found: Floats = inverse
    return found


def positive_inverse(matrix: Floats) -> Floats:
    """Return the inverse of a positive definite matrix, symmetric; raises LinAlgError when it is not."""
    half = lower_inverse(lower_factor(matrix))
    inverse: Floats = half.T @ half
    return inverse
