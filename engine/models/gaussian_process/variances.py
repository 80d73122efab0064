"""Variance components by restricted likelihood with weak priors, and draws that carry their uncertainty.

The restricted likelihood is that of a Gaussian process with a nearly flat prior on the mean. Its mode is found by
Newton steps with the average information (Gilmour, Thompson and Cullis 1995), which needs one factorisation a step.
Draws come from a t distribution around the mode, reweighted by the exact posterior density.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import LinAlgError, cho_solve, cholesky, solve_triangular
from scipy.linalg.lapack import dpotri

from ...arrays import Floats, Ints
from .components import Components

FLAT = 100.0
"""Variance of the prior on the mean, in units of the variance of the values: nearly flat."""
_ROUNDING = 1e-12
"""Of the prior variance of the mean: what keeps sums of covariances positive definite when they are rounded."""
_SHARE_SITES, _SHARE_PAIRS, _SHARE_SHARED, _SHARE_OWN = 0.6, 0.2, 0.1, 0.1
_SHARE_SHIFT, _SHARE_OTHER, _SHARE_NOISE = 0.02, 0.1, 0.05
"""Prior median of the variance of the values, for all sites or pairs together."""
_WIDTH = 1.5
"""SD of the prior of a log variance: factors of 20 either way are still plausible (two SDs)."""
_COMMON = 1.5
"""SD of what the log variances of pairs and of deviations have in common: a series is additive, or it is not."""
_WIDTH_NOISE, _WIDTH_USUAL = 2.0, 0.7
"""The same of a noise that nothing is known of, and of one that is usual on its scale: a factor of two in its SD."""
_ENOUGH = 8
"""Replicates beyond the first of each compound that tell noise from own deviations."""
_MOST_ROWS = 600
"""Rows that variances are learned from; more of them change little and cost the cube."""
_STEPS, _GAIN = 40, 1e-3
_SLICE, _WIDEST_SLICE, _SLICES, _SLICE_STEPS = 1.2, 1.0, 6, 12
"""Of an unknown noise: the width of a slice in SDs of its log variance, and at most; slices to either side of the mode;
steps to the mode of a slice."""
_NEGLIGIBLE = 5.0
"""Logarithm of how much less likely a slice is that ends them."""
_FREEDOM = 5
"""Degrees of freedom of the proposal: heavier tails than any posterior seen."""
_PROPOSALS = 4
"""Proposals for each draw that is kept."""


class Around(NamedTuple):
    """Reference values of the priors."""

    center: float
    """Mean of the prior on the mean."""
    scale: float
    """Variance that the compounds' values are expected to have."""
    flat: float
    """Variance of the prior on the mean, in units of ``scale``."""


@dataclass(frozen=True, slots=True)
class Rows:
    """Measured values: one row per compound and source, replicates averaged."""

    codes: NDArray[np.integer]
    """``(n, n_sites)`` substituents."""
    arms: Ints
    """``(n,)`` which compound each row is of; any numbering."""
    values: Floats
    """``(n,)`` means, on the scale of the model."""
    noise: Floats
    """``(n,)`` noise variance of each mean; with unknown noise in units of that of one measurement (1 / n)."""
    shifts: tuple[Ints, ...] = ()
    """``(n,)`` per kind of shift (plate, day, source): the group of each row; -1 for none."""
    unknown_noise: bool = False
    squares: float = 0.0
    """Sum of squares of replicates around their means; estimates an unknown noise."""
    freedom: int = 0
    """Degrees of freedom of ``squares``."""
    around: Around | None = None
    """Reference values of the priors; the values themselves where None."""
    usual_noise: float | None = None
    """Variance that an unknown noise usually has; the prior's own where None."""
    others: tuple[Floats, ...] = ()
    """``(n,)`` per other endpoint: what is expected of it, as far from its mean as in SDs."""
    centred: int = 0
    """How many kinds of shift, the first ones, are differences from the mean of all rows that have a group."""

    def __len__(self) -> int:
        return len(self.values)

    def take(self, chosen: Ints) -> Rows:
        """Return some of the rows."""
        return replace(
            self,
            codes=self.codes[chosen],
            arms=self.arms[chosen],
            values=self.values[chosen],
            noise=self.noise[chosen],
            shifts=tuple(shift[chosen] for shift in self.shifts),
            others=tuple(other[chosen] for other in self.others),
        )


@dataclass(frozen=True, slots=True)
class Variances:
    """Variance components, as logarithms: components, own deviation, shifts, other endpoints, noise if unknown."""

    mode: Floats
    """``(d,)`` the most likely ones."""
    draws: Floats
    """``(n_draws, d)`` from their posterior."""
    evidence: float
    """Laplace approximation of the log marginal likelihood of the values."""
    center: float
    scale: float
    """Mean and variance of the values that the priors refer to."""
    share: float = FLAT

    @property
    def flat(self) -> float:
        """Variance of the prior on the mean."""
        return self.share * self.scale


def prior_of(components: Components, rows: Rows, scale: float) -> tuple[Floats, Floats]:
    """Return mean ``(d,)`` and covariance ``(d, d)`` of the normal prior of the log variances."""
    orders = components.orders()
    counts = np.maximum(np.bincount(orders, minlength=3), 1)
    shares = np.array([_SHARE_SHARED, _SHARE_SITES, _SHARE_PAIRS])[orders] / counts[orders]
    medians = [*shares, _SHARE_OWN, *(_SHARE_SHIFT,) * len(rows.shifts), *(_SHARE_OTHER,) * len(rows.others)]
    widths = [_WIDTH] * len(medians)
    if rows.unknown_noise:
        usual = rows.usual_noise
        medians.append(_SHARE_NOISE if usual is None else usual / scale)
        widths.append(_WIDTH_NOISE if usual is None else _WIDTH_USUAL)
    spread = np.diag(np.square(widths))
    # Where replicates do not tell own deviations from noise, a lack of interactions must not either.
    not_additive = np.flatnonzero(np.append(orders != 1, not rows.unknown_noise or rows.freedom >= _ENOUGH))
    spread[np.ix_(not_additive, not_additive)] += _COMMON**2
    return np.log(np.array(medians) * scale), spread


def parts_of(components: Components, rows: Rows) -> list[Floats]:
    """Return the covariance of the rows ``(n, n)`` for each variance at one."""
    parts = components.covariances(rows.codes)
    parts.append((rows.arms[:, None] == rows.arms).astype(np.float64))
    for place, shift in enumerate(rows.shifts):
        if place < rows.centred:
            loading = centred_loading(shift)
            parts.append(loading @ loading.T)
        else:
            parts.append(((shift[:, None] == shift) & (shift >= 0)[:, None]).astype(np.float64))
    parts += [np.outer(other, other) for other in rows.others]
    if rows.unknown_noise:
        parts.append(np.diag(rows.noise))
    return parts


def centred_loading(shift: Ints) -> Floats:
    """Return how the shift of each group moves each row ``(n, n_groups)``, as differences from the mean of all.

    Else any level would do as long as all shifts made up for it, and one value without a group would choose it.
    """
    known = shift >= 0
    loading = np.zeros((len(shift), int(shift.max(initial=-1)) + 1))
    loading[known, shift[known]] = 1.0
    loading[known] -= loading.sum(axis=0) / max(int(known.sum()), 1)
    return loading


def covariance(parts: list[Floats], rows: Rows, variances: Floats, flat: float) -> Floats:
    """Return the covariance of the measured rows ``(n, n)``; ``variances`` are no logarithms."""
    total = np.full((len(rows), len(rows)), flat)
    for part, variance in zip(parts, variances, strict=True):
        total += variance * part
    _add_noise(total, rows, flat)
    return total


def _add_noise(total: Floats, rows: Rows, flat: float) -> None:
    """Add the stated noise to a covariance of the rows, and so little more that rounding leaves it one."""
    total[np.diag_indices_from(total)] += (0.0 if rows.unknown_noise else rows.noise) + _ROUNDING * flat


class Density:
    """The log posterior density of the log variances, with its gradient and average information."""

    def __init__(self, components: Components, rows: Rows, around: Around) -> None:
        center, scale, share = around
        self.rows = rows
        self.parts = np.stack(parts_of(components, rows)).reshape(-1, len(rows) ** 2)
        """``(d, n n)``: sums over them are one pass through memory."""
        self.residual = rows.values - center
        self.flat = share * scale
        self.mean, spread = prior_of(components, rows, scale)
        self.width = np.sqrt(np.diagonal(spread))
        self.precision = np.linalg.inv(spread).astype(np.float64)
        """Of the prior, ``(d, d)``."""

    def at(self, logs: Floats) -> tuple[float, Floats] | None:
        """Return the density without its constant, and the factor of the covariance; None outside of its domain."""
        n = len(self.rows)
        total = (np.exp(logs) @ self.parts).reshape(n, n)
        total += self.flat
        _add_noise(total, self.rows, self.flat)
        try:
            # Symmetric: transposed it has the order that LAPACK needs, and is not copied.
            factor: Floats = cholesky(total.T, lower=True, overwrite_a=True, check_finite=False)
        except LinAlgError:
            return None
        return self._density(logs, factor), factor

    def _density(self, logs: Floats, factor: Floats) -> float:
        white = solve_triangular(factor, self.residual, lower=True, check_finite=False)
        total = -0.5 * float(white @ white) - float(np.log(np.diagonal(factor)).sum())
        total -= 0.5 * float((logs - self.mean) @ self.precision @ (logs - self.mean))
        if self.rows.unknown_noise:
            total -= 0.5 * (self.rows.freedom * logs[-1] + self.rows.squares * math.exp(-logs[-1]))
        return total

    def derivatives(self, logs: Floats, factor: Floats) -> tuple[Floats, Floats]:
        """Return the gradient ``(d,)`` and the information ``(d, d)`` where the covariance has that factor."""
        variances = np.exp(logs)
        inverse, n = inverse_of(factor), len(self.rows)
        solved = inverse @ self.residual
        seen = (self.parts.reshape(-1, n) @ solved).reshape(-1, n).T * variances
        traces = (self.parts @ inverse.ravel()) * variances
        gradient = 0.5 * (solved @ seen - traces) - self.precision @ (logs - self.mean)
        information = 0.5 * seen.T @ (inverse @ seen) + self.precision
        if self.rows.unknown_noise:
            within = self.rows.squares / variances[-1]
            gradient[-1] += 0.5 * (within - self.rows.freedom)
            information[-1, -1] += 0.5 * max(within, self.rows.freedom) / 2.0
        return gradient, information


def fit_variances(
    components: Components,
    rows: Rows,
    *,
    n_draws: int,
    rng: np.random.Generator,
    start: Variances | None = None,
    least: float = 0.0,
    steps: int = _STEPS,
) -> Variances:
    """Fit the variance components and draw ``n_draws`` from their posterior.

    ``start``: variances to begin with, such as those on another scale of the same values; ``least``: a variance that
    the prior takes for possible, however equal the values are; ``steps``: at most so many, for a mode that is only
    a start. Of many hundreds of rows a random part is used.
    """
    if len(rows) > _MOST_ROWS:
        rows = rows.take(np.sort(rng.choice(len(rows), _MOST_ROWS, replace=False)))
    noise = float(np.median(rows.noise)) if not rows.unknown_noise else rows.squares / max(rows.freedom, 1)
    around = rows.around or Around(
        float(rows.values.mean()), max(float(np.var(rows.values)), noise, least, 1e-12), FLAT
    )
    center, scale, share = around
    density = Density(components, rows, around)
    logs = density.mean.copy()
    if start is not None and len(start.mode) == len(logs):
        logs = start.mode + math.log(scale / start.scale)
    top = _climb(density, logs, steps) or _climb(density, density.mean, steps)
    assert top is not None  # the prior's own medians give a covariance far from singular
    spread = np.linalg.inv(top.information).astype(np.float64)
    evidence = top.value + 0.5 * float(np.linalg.slogdet(spread)[1])
    evidence += 0.5 * float(np.linalg.slogdet(density.precision)[1])
    logs = top.logs
    if n_draws == 1:
        draws = logs[None]
    elif rows.unknown_noise and rows.freedom < _ENOUGH:
        logs, draws = _draws_along_noise(density, top, spread, n_draws, rng)
    else:
        draws = _draws(density, logs, spread, n_draws, rng)
    return Variances(logs, draws, evidence, center, scale, share)


class _Top(NamedTuple):
    """The most likely log variances, all of them or at one noise."""

    logs: Floats
    value: float
    """Log density there."""
    information: Floats
    """``(d, d)`` of the last step but one: by then nothing changes any more."""


def _climb(density: Density, logs: Floats, steps: int, *, held: bool = False) -> _Top | None:
    """Return the mode that Newton steps lead to, None from outside of the density's domain.

    ``held``: the last variance, that of the noise, stays as it is.
    """
    now = density.at(logs)
    if now is None:
        return None
    value, factor = now
    gradient, information = density.derivatives(logs, factor)
    damping, gain = 1e-2, 0.0
    for _ in range(steps):
        if gain >= _GAIN:
            gradient, information = density.derivatives(logs, factor)
        damped = information + damping * np.diag(np.diagonal(information))
        if held:
            gradient[-1], damped[-1], damped[:, -1] = 0.0, 0.0, 0.0
            damped[-1, -1] = 1.0
        step = np.clip(np.linalg.solve(damped, gradient), -2.0, 2.0)
        new = density.at(logs + step)
        gain = 0.0
        if new is None or new[0] < value - 1e-9:
            damping = max(damping, 1e-3) * 8.0
            if damping > 1e8:
                break
            continue
        logs, gain, damping = logs + step, new[0] - value, damping / 4.0
        value, factor = new
        if gain < _GAIN:
            break
    return _Top(logs, value, information)


def _draws_along_noise(
    density: Density, top: _Top, spread: Floats, n_draws: int, rng: np.random.Generator
) -> tuple[Floats, Floats]:
    """Return the log variances at the middle of what the noise may be ``(d,)``, and draws ``(n_draws, d)``.

    Without replicates noise and own deviations hardly differ for the likelihood: their posterior is a long ridge, of
    which its mode is one end as often as its middle. So the noise is gone through in steps, all others maximised at
    each (a Laplace approximation of each slice), and draws are taken by the weights of the slices.
    """
    width = min(_WIDEST_SLICE, _SLICE * math.sqrt(float(spread[-1, -1])))
    along = np.clip(spread[:, -1] / spread[-1, -1], -1.0, 1.0)
    slices: list[tuple[_Top, float]] = [(top, _evidence(top))]
    for direction in (-1.0, 1.0):
        start = top.logs
        for _ in range(_SLICES):
            place = _climb(density, start + direction * width * along, _SLICE_STEPS, held=True)
            if place is None:
                break
            start = place.logs
            slices.append((place, _evidence(place)))
            if slices[-1][1] < slices[0][1] - _NEGLIGIBLE:
                break
    slices.sort(key=lambda one: float(one[0].logs[-1]))
    weights = np.exp(np.array([evidence for _, evidence in slices]) - max(evidence for _, evidence in slices))
    share = np.cumsum(weights) / weights.sum()
    chosen = np.minimum(np.searchsorted(share, (rng.random() + np.arange(n_draws)) / n_draws), len(slices) - 1)
    draws = []
    for number, count in zip(*np.unique(chosen, return_counts=True), strict=True):
        here = slices[int(number)][0]
        inverse = np.zeros_like(spread)
        inverse[:-1, :-1] = np.linalg.inv(here.information[:-1, :-1])
        inverse[-1, -1] = (0.3 * width) ** 2  # about as wide as the slice
        draws.append(_draws(density, here.logs, inverse, int(count), rng))
    middle = slices[int(np.minimum(np.searchsorted(share, 0.5), len(slices) - 1))][0].logs
    return middle, np.concatenate(draws)


def _evidence(slice_: _Top) -> float:
    """Return the log of what the density integrates to over all variances but that of the noise, but for a constant."""
    return slice_.value - 0.5 * float(np.linalg.slogdet(slice_.information[:-1, :-1])[1])


def inverse_of(factor: Floats) -> Floats:
    """Return the inverse ``(n, n)`` of a matrix from its Cholesky factor, zeros above the diagonal."""
    lower, _ = dpotri(factor, lower=1)  # what is above the diagonal stays as it is in the factor: zeros
    inverse: Floats = lower + lower.T
    inverse[np.diag_indices_from(inverse)] *= 0.5
    return inverse


def fitted_values(components: Components, rows: Rows, variances: Variances) -> Floats:
    """Return the posterior means of the rows at the most likely variances, without noise and shifts ``(n,)``."""
    each = np.exp(variances.mode)
    total = covariance(parts_of(components, rows), rows, each, variances.flat)
    solved = cho_solve((cholesky(total, lower=True, check_finite=False), True), rows.values - variances.center)
    noise = rows.noise * (each[-1] if rows.unknown_noise else 1.0)
    fitted = rows.values - noise * solved
    for place, (shift, variance) in enumerate(zip(rows.shifts, each[components.n_variances + 1 :], strict=False)):
        if place < rows.centred:
            loading = centred_loading(shift)
            fitted -= variance * (loading @ (solved @ loading))
        else:
            groups = np.bincount(shift + 1, solved)
            groups[0] = 0.0
            fitted -= variance * groups[shift + 1]
    return np.asarray(fitted)


def _draws(density: Density, mode: Floats, spread: Floats, n_draws: int, rng: np.random.Generator) -> Floats:
    """Draw log variances by importance resampling of a t distribution around the mode, ``(n_draws, d)``."""
    d, n = len(mode), n_draws * _PROPOSALS
    root = np.linalg.cholesky(spread)
    normal = rng.standard_normal((n, d))
    heavy = np.sqrt(_FREEDOM / rng.chisquare(_FREEDOM, n))
    proposals = mode + (normal * heavy[:, None]) @ root.T
    proposals = np.clip(proposals, density.mean - 5.0 * density.width, density.mean + 5.0 * density.width)
    lengths = ((normal * heavy[:, None]) ** 2).sum(axis=1)
    proposed = -0.5 * (_FREEDOM + d) * np.log1p(lengths / _FREEDOM)
    found = [density.at(one) for one in proposals]
    ratio = np.array([-math.inf if one is None else one[0] for one in found]) - proposed
    weights = np.exp(ratio - ratio.max())
    # A single large weight is more often a poor proposal than the truth: truncated (Ionides 2008).
    weights = np.minimum(weights, weights.mean() * math.sqrt(n))
    steps = (rng.random() + np.arange(n_draws)) / n_draws
    chosen = np.searchsorted(np.cumsum(weights) / weights.sum(), steps)
    return np.asarray(proposals[np.minimum(chosen, n - 1)])
