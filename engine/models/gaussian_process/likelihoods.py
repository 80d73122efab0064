"""Normal approximations of measurements that are no plain values: bounds, yes and no, counts.

Each row is replaced by the normal measurement under which its posterior has the same mean and variance as under its
own likelihood: expectation propagation (Minka 2001). What follows then needs no special case.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
from scipy.linalg import LinAlgError, cho_solve, cholesky
from scipy.special import expit, log_expit, log_ndtr

from ...arrays import Floats, Ints
from .components import Components
from .variances import Rows, Variances, parts_of

Tilted = Callable[[Floats, Floats], tuple[Floats, Floats]]
"""From mean and variance of normal variables, ``(m,)`` each, to those given what was measured of them."""

_SWEEPS, _CLOSE, _DAMP = 20, 3e-3, 0.8
_FAR = 1e5
_ROOT = np.sqrt(2.0 * np.pi)
_NEWTON, _LONGEST = 60, 3.0
"""Newton steps to the top of a likelihood times a normal density, and the longest of them."""
_HIGHEST = 300.0
"""Logarithms of counts are cut to this size before they become powers of e."""
_NODES, _WEIGHTS = np.polynomial.hermite.hermgauss(32)


def match(components: Components, rows: Rows, variances: Variances, places: Ints, tilted: Tilted) -> Rows:
    """Return the rows with normal measurements at some ``places`` ``(m,)``; the other rows stay as they are.

    ``tilted``: what was measured at these places. An uninformative measurement gets a huge variance.
    """
    logs = variances.mode
    parts = parts_of(components, rows)
    each = np.exp(logs)
    prior = np.full((len(rows), len(rows)), variances.flat)
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
        columns = prior[:, places]
        solved = cho_solve((factor, True), columns, check_finite=False)
        variance = np.maximum(prior[places, places] - np.einsum("ij,ij->j", columns, solved), 1e-12)
        mean = variances.center + solved.T @ (values - variances.center)
        precision = 1.0 / variance - 1.0 / spread[places]
        # Where nothing is left without a row's own measurement, that one stays as it is until others have moved.
        sound = precision > 1e-6 / variance
        precision = np.where(sound, precision, 1.0 / variance)
        cavity = 1.0 / precision
        center = cavity * (mean / variance - values[places] / spread[places])
        new_mean, new_variance = tilted(center, cavity)
        updated = np.maximum(1.0 / new_variance - precision, 1e-8 / variances.scale)
        target = (new_mean / new_variance - center * precision) / updated
        old = 1.0 / spread[places]
        updated, target = np.where(sound, updated, old), np.where(sound, target, values[places])
        mixed = _DAMP * updated + (1.0 - _DAMP) * old
        moved = (_DAMP * updated * target + (1.0 - _DAMP) * old * values[places]) / mixed
        # By how much the mean and the precision of these rows still move, as shares of their SD and precision.
        shift = np.abs(moved * mixed - values[places] * old) * np.sqrt(variance)
        change = float(max(shift.max(), (np.abs(mixed - old) * variance).max()))
        values[places], spread[places] = moved, 1.0 / mixed
        if change < _CLOSE:
            break
    return replace(rows, values=values, noise=spread / unit)


def between(low: Floats, high: Floats, noise: Floats) -> Tilted:
    """Return the likelihood of measurements of some noise variance between limits, infinite where open."""

    def tilted(center: Floats, variance: Floats) -> tuple[Floats, Floats]:
        total = np.sqrt(variance + noise)
        # Beyond so many SDs the logarithms cancel to noise, so the values there are taken as equal.
        a, b = (
            np.where(np.isfinite(side), np.clip((side - center) / total, -_FAR, _FAR), side) for side in (low, high)
        )
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

    return tilted


def yes_or_no(yes: Floats, trials: Floats) -> Tilted:
    """Return the likelihood of log odds given ``yes`` of ``trials`` answers, ``(m,)`` each."""

    def slope(at: Floats) -> tuple[Floats, Floats]:
        chance = expit(at)
        return yes - trials * chance, trials * chance * (1.0 - chance)

    def log_density(at: Floats) -> Floats:
        return np.asarray(yes * log_expit(at) + (trials - yes) * log_expit(-at))

    return _by_quadrature(log_density, slope)


def counts(totals: Floats, samples: Floats) -> Tilted:
    """Return the likelihood of the logarithm of a sample's mean count, given ``totals`` counted in ``samples``."""

    def slope(at: Floats) -> tuple[Floats, Floats]:
        expected = samples * np.exp(np.minimum(at, _HIGHEST))
        return totals - expected, expected

    def log_density(at: Floats) -> Floats:
        return np.asarray(totals * at - samples * np.exp(np.minimum(at, _HIGHEST)))

    return _by_quadrature(log_density, slope)


def _by_quadrature(log_density: Callable[[Floats], Floats], slope: Callable[[Floats], tuple[Floats, Floats]]) -> Tilted:
    """Return the moments of normal variables times a log-concave likelihood.

    ``slope``: the first derivative of its logarithm, and the second one with its sign turned.
    """

    def tilted(center: Floats, variance: Floats) -> tuple[Floats, Floats]:
        top = center.copy()
        curved = np.ones_like(center)
        for _ in range(_NEWTON):
            rise, bend = slope(top)
            curved = bend + 1.0 / variance
            step = np.clip((rise - (top - center) / variance) / curved, -_LONGEST, _LONGEST)
            top = top + step
            if np.abs(step * np.sqrt(curved)).max() < 1e-6:
                break
        at = top + np.sqrt(2.0 / curved) * _NODES[:, None]
        logs = log_density(at) - 0.5 * (at - center) ** 2 / variance + _NODES[:, None] ** 2
        weights = _WEIGHTS[:, None] * np.exp(logs - logs.max(axis=0))
        weights /= weights.sum(axis=0)
        mean = (weights * at).sum(axis=0)
        shrunk = (weights * (at - mean) ** 2).sum(axis=0)
        return mean, np.clip(shrunk, 1e-6 * variance, variance)

    return tilted
