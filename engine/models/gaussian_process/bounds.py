"""Values known only as bounds, as Gaussian measurements that say the same: expectation propagation.

Each bound is replaced by the normal measurement under which the posterior of its row has the same mean and variance
as under the bound itself (Minka 2001). What follows then needs no special case.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from scipy.linalg import LinAlgError, cho_solve, cholesky
from scipy.special import log_ndtr

from ...arrays import Floats, Ints
from .components import Components
from .variances import FLAT, Rows, Variances, parts_of

__all__ = ["match_bounds"]

_SWEEPS, _CLOSE, _DAMP = 20, 3e-3, 0.8
_FAR = 1e5
_ROOT = np.sqrt(2.0 * np.pi)


def match_bounds(
    components: Components, rows: Rows, variances: Variances, bounded: Ints, low: Floats, high: Floats, noise: Floats
) -> Rows:
    """Return the rows with pseudo-measurements for those known only as bounds.

    ``bounded``: positions of those rows; ``low``, ``high``, ``noise``: their limits (infinite where open) and noise
    variances, ``(m,)``. The other rows stay as they are. A bound that says nothing gets a huge variance.
    """
    logs = variances.mode
    parts = parts_of(components, rows)
    each = np.exp(logs)
    prior = np.full((len(rows), len(rows)), FLAT * variances.scale)
    kept = len(parts) - 1 if rows.unknown_noise else len(parts)
    for part, variance in zip(parts[:kept], each, strict=False):
        prior += variance * part
    unit = each[-1] if rows.unknown_noise else 1.0
    values, spread = rows.values.copy(), rows.noise * unit
    for _ in range(_SWEEPS):
        try:
            factor = cholesky(prior + np.diag(spread), lower=True, check_finite=False)
        except LinAlgError:
            break
        columns = prior[:, bounded]
        solved = cho_solve((factor, True), columns, check_finite=False)
        variance = np.maximum(prior[bounded, bounded] - np.einsum("ij,ij->j", columns, solved), 1e-12)
        mean = variances.center + solved.T @ (values - variances.center)
        precision = 1.0 / variance - 1.0 / spread[bounded]
        # Where nothing is left without a row's own bound, that one stays as it is until others have moved.
        sound = precision > 1e-6 / variance
        precision = np.where(sound, precision, 1.0 / variance)
        cavity = 1.0 / precision
        center = cavity * (mean / variance - values[bounded] / spread[bounded])
        new_mean, new_variance = _within(center, cavity, low, high, noise)
        told = np.maximum(1.0 / new_variance - precision, 1e-8 / variances.scale)
        aim = (new_mean / new_variance - center * precision) / told
        old = 1.0 / spread[bounded]
        told, aim = np.where(sound, told, old), np.where(sound, aim, values[bounded])
        mixed = _DAMP * told + (1.0 - _DAMP) * old
        moved = (_DAMP * told * aim + (1.0 - _DAMP) * old * values[bounded]) / mixed
        # By how much the mean and the precision of these rows still move, as shares of their SD and precision.
        shift = np.abs(moved * mixed - values[bounded] * old) * np.sqrt(variance)
        change = float(max(shift.max(), (np.abs(mixed - old) * variance).max()))
        values[bounded], spread[bounded] = moved, 1.0 / mixed
        if change < _CLOSE:
            break
    return replace(rows, values=values, noise=spread / unit)


def _within(center: Floats, variance: Floats, low: Floats, high: Floats, noise: Floats) -> tuple[Floats, Floats]:
    """Return mean and variance of normal variables whose noisy measurement lies between two limits."""
    total = np.sqrt(variance + noise)
    # Beyond so many SDs the logarithms cancel to noise; nothing there is told apart.
    a, b = (np.where(np.isfinite(side), np.clip((side - center) / total, -_FAR, _FAR), side) for side in (low, high))
    # log(Phi(b) - Phi(a)), on the side where both are small.
    turned = a > 0
    first, second = np.where(turned, -b, a), np.where(turned, -a, b)
    upper, lower = log_ndtr(second), log_ndtr(first)
    mass = upper + np.log1p(-np.exp(np.minimum(lower - upper, -1e-12)))
    finite_a, finite_b = np.where(np.isfinite(a), a, 0.0), np.where(np.isfinite(b), b, 0.0)
    phi_a = np.exp(np.where(np.isfinite(a), -0.5 * finite_a**2 - mass, -np.inf)) / _ROOT
    phi_b = np.exp(np.where(np.isfinite(b), -0.5 * finite_b**2 - mass, -np.inf)) / _ROOT
    ratio = phi_a - phi_b
    slopes = finite_a * phi_a - finite_b * phi_b
    mean = center + variance / total * ratio
    shrunk = variance - (variance / total) ** 2 * (ratio**2 - slopes)
    return mean, np.clip(shrunk, 1e-6 * variance, variance)
