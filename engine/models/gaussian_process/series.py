"""The series model of one endpoint: from measurements to joint draws of every compound's value.

    value = mean + sum over sites of a_s + sum over pairs of sites of b_st + shared deviation + own deviation

with a variance of its own for each part, on the scale that fits the values. Compounds share a deviation as far
as their substituents are similar. Variances and scale are integrated over, since plug-in estimates are overconfident. A
measurement adds noise and the shifts of its plate, day or source.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import block_diag

from ...arrays import Floats, Ints
from ...domain.endpoint import Kind
from ...errors import AssayPilotError
from . import likelihoods
from .components import Components
from .measured import Measured, Merged, merge
from .posterior import Compounds, Posterior
from .scales import IDENTITY, Scale, candidate_scales
from .variances import Around, Rows, Variances, fit_variances, fitted_values

_DRAWS = 8
"""Draws of the variances that are integrated over, where few rows are solved."""
_SCALE_ROWS = 200
"""Rows by which scales are compared."""
_FEWEST_ROWS = 12
"""Rows below which the values' own scale is taken."""
_SMALLEST_WEIGHT = 0.05
_MANY_ROWS = (800, 2000)
"""Above the first, half the draws of the variances; above the second, two."""
_BOUND_ROUNDS = 2
_FLAT_OF_BOUNDS = 4.0
"""Variance of the prior on the mean where only bounds are known: they limit it to one side only."""
_KIND_ROUNDS = 4
"""Rounds in which answers and counts are matched by normal measurements, and variances learned from these."""
_SCALES: dict[Kind, Scale] = {"value": IDENTITY, "yes-no": Scale(0.0, 1.0), "count": Scale(0.0)}
_NOISE_ROUNDS = 3
"""Rounds in which the noise is taken to a scale that is not that of the values (Laplace's approximation)."""
_MOST_ROWS = 2000
"""Results that effects are learned from; each further one informs about its own compound alone."""


class SeriesPosterior:
    """The series model given its measurements: a mixture over scales, each with draws of the variances."""

    def __init__(
        self,
        parts: Sequence[tuple[Scale, Posterior, float]],
        arms: Ints,
        noise_sd: float,
        codes: NDArray[np.integer],
        unit: _Unit,
        rest: Rows | None,
        kind: Kind = "value",
        others: Sequence[Floats] = (),
    ) -> None:
        self._parts = tuple(parts)
        self._kind = kind
        self.arms = arms
        """``(n,)`` the compound of each row that effects are learned from."""
        self.noise_sd = noise_sd * unit.size
        """SD of one measurement, as stated or estimated, on the scale values are measured on."""
        self._codes, self._unit, self._rest, self._others = codes, unit, rest, tuple(others)

    @property
    def _likeliest(self) -> tuple[Scale, Posterior]:
        return max(self._parts, key=lambda part: part[2])[:2]

    @property
    def scale(self) -> Scale:
        """The likeliest scale, of values in units of their SD around their middle."""
        return self._likeliest[0]

    @property
    def own_sd(self) -> float:
        """SD of own deviations at the middle of the measured values, on the scale they are measured on."""
        scale, posterior = self._likeliest
        middle = scale.inverse(np.array([float(np.median(posterior.rows.values))]))
        return posterior.own_sd / float(scale.slope(middle)[0]) * self._unit.size

    def draw(self, arms: Ints, n_draws: int, rng: np.random.Generator, deviations: Sequence[Floats] = ()) -> Floats:
        """Draw the values of compounds jointly, ``(n_draws, len(arms))``.

        ``deviations``: the same shape per other endpoint, a draw of it less its expectation, in its SDs.
        """
        compounds = self._compounds(arms)
        drawn = np.empty((n_draws, len(arms)))
        stops = np.rint(n_draws * np.cumsum([weight for _, _, weight in self._parts])).astype(np.intp)
        for (scale, posterior, _), start, stop in zip(self._parts, (0, *stops), stops, strict=False):
            more = len(compounds.codes) - len(arms)
            far = [np.pad(one[start:stop], ((0, 0), (0, more))) for one in deviations]
            values = posterior.draw(compounds, int(stop - start), rng, far)[:, : len(arms)]
            if len(values):
                self._by_own_values(values, arms, scale, values.var(axis=0), rng)
            drawn[start:stop] = scale.inverse(values)
        return self._unit.back(drawn)

    def _compounds(self, arms: Ints) -> Compounds:
        """Return compounds, and behind them those measured that are not among them."""
        every = arms if np.isin(self.arms, arms).all() else np.concatenate([arms, np.setdiff1d(self.arms, arms)])
        return Compounds(self._codes[every], _places(every, self.arms), tuple(one[every] for one in self._others))

    def effects(self, n_draws: int, rng: np.random.Generator) -> list[dict[tuple[int, ...], Floats]]:
        """Draw the tables of effects jointly, on the scale of each draw: by sites ``(size,)`` and by pairs of them."""
        counts = rng.multinomial(n_draws, [weight for _, _, weight in self._parts])
        drawn = [posterior.effects(n, rng) for (_, posterior, _), n in zip(self._parts, counts, strict=True)]
        return [one for part in drawn for one in part]

    def middle(self, arms: Ints) -> Floats:
        """Return the posterior median of compounds at the likeliest scale, ``(len(arms),)``."""
        scale, posterior = self._likeliest
        values = posterior.mean(self._compounds(arms))[None, : len(arms)]
        self._by_own_values(values, arms, scale, np.full(len(arms), posterior.own_sd**2), None)
        return self._unit.back(scale.inverse(values[0]))

    def given(self, measured: Measured, others: Sequence[Floats] = ()) -> SeriesPosterior:
        """Return the model after other measurements of the series, its scale and variances taken as known.

        ``others``: what is expected of other endpoints now, as in ``fit_series``.

        For playing a campaign forward: bounds count as values inside of them. Where there are more results than
        effects are learned from, each of the others informs about its own compound.
        """
        scale, posterior = self._likeliest
        stated = None if posterior.noise_sd is not None else self.noise_sd / self._unit.size
        others = _padded(others, len(self._codes))
        merged = merge(self._codes, others, self._unit.standard(measured), stated, sure=True, kind=self._kind)
        rest = None
        if len(merged.rows) > _MOST_ROWS:
            merged, rest = merged.split(_MOST_ROWS, np.random.default_rng(len(merged.rows)))
        rows, _, _ = _on_scale(merged.rows, scale, merged.typical(scale))
        variances = replace(posterior.variances, draws=posterior.variances.mode[None])
        if self._kind != "value":
            for places, tilted in merged.tilted(scale, rows, 1.0):
                rows = likelihoods.match(posterior.components, rows, variances, places, tilted)
        after = Posterior(posterior.components, rows, variances, tails=not scale.is_open)
        sd = self.noise_sd / self._unit.size
        return SeriesPosterior([(scale, after, 1.0)], rows.arms, sd, self._codes, self._unit, rest, self._kind, others)

    def _by_own_values(
        self, values: Floats, arms: Ints, scale: Scale, variance: Floats, rng: np.random.Generator | None
    ) -> None:
        """Condition draws ``(m, n)`` on the results that effects were not learned from, each on its own."""
        if self._rest is None:
            return
        rows = self._rest
        at = np.searchsorted(arms, rows.arms, sorter=(order := np.argsort(arms)))
        place = order[np.minimum(at, len(arms) - 1)]
        known = arms[place] == rows.arms
        place, target = place[known], scale.forward(rows.values[known])
        noise = rows.noise[known] * scale.slope(rows.values[known]) ** 2
        noise *= (self.noise_sd / self._unit.size) ** 2 if rows.unknown_noise else 1.0
        gain = variance[place] / np.maximum(variance[place] + noise, 1e-300)
        missing = target - values[:, place]
        if rng is not None:
            missing -= np.sqrt(noise) * rng.standard_normal(missing.shape)
        values[:, place] += gain * missing


@dataclass(frozen=True, slots=True)
class _Unit:
    """Unit of values inside the model, so that its numbers are around one."""

    middle: float
    size: float

    def standard(self, measured: Measured) -> Measured:
        """Return measurements in these units."""
        return replace(
            measured,
            values=(measured.values - self.middle) / self.size,
            low=(measured.low - self.middle) / self.size,
            high=(measured.high - self.middle) / self.size,
        )

    def limits(self, ends: tuple[float, float]) -> tuple[float, float]:
        """Return ends in these units."""
        return (ends[0] - self.middle) / self.size, (ends[1] - self.middle) / self.size

    def back(self, values: Floats) -> Floats:
        """Return values as they are measured."""
        return self.middle + self.size * values


def _unit(measured: Measured, noise_sd: float | None, doubt: float) -> _Unit:
    """Return the middle and the SD of what is known; the latter at least the noise and a difference that matters."""
    known = np.concatenate([measured.values, measured.low, measured.high])
    known = known[np.isfinite(known)]
    if not len(known):
        return _Unit(0.0, max(noise_sd or 0.0, doubt) or 1.0)
    middle = float(np.median(known))
    size = max(float(np.std(known)), noise_sd or 0.0, doubt)
    return _Unit(middle, size if size > 1e-300 else 1.0)


def fit_series(
    codes: NDArray[np.integer],
    sizes: Sequence[int],
    measured: Measured,
    *,
    noise_sd: float | None,
    usual_noise: float | None = None,
    seed: int | np.random.SeedSequence,
    similarity: Sequence[Floats | None] | None = None,
    ends: tuple[float, float] | None = None,
    scales: bool = True,
    doubt: float = 0.0,
    kind: Kind = "value",
    others: Sequence[Floats] = (),
) -> SeriesPosterior:
    """Fit the series model to what was measured.

    ``codes``: ``(n_compounds, n_sites)`` of all compounds; ``noise_sd``: of one measurement, None when unknown (it is
    learned, too, where replicates contradict it), ``usual_noise`` what it usually is then; ``similarity``: of
    substituents per site (see ``Components``); ``ends``: what no value can go far beyond; ``scales``: whether other
    scales than that of the values are compared; ``doubt``: a difference that matters, which the prior takes for
    possible however equal the values are; ``kind``: yes and no (shares of 1) are modelled by their log odds, counts by
    the logarithm of their mean, each by its own likelihood; ``others``: ``(n_compounds,)`` per other endpoint that may
    inform this one, what is expected of it, as SDs from its mean. AssayPilotError without any measurement.

    Beyond some thousands of results a random part informs about effects, each of the others about its own compound.
    """
    if not len(measured):
        raise AssayPilotError(
            "the series model needs at least one value of every endpoint", mend="Record or import one first."
        )
    rng = np.random.default_rng(seed)
    codes, sizes, similarity = _with_controls(codes, sizes, similarity, int(measured.arms.max()) + 1 - len(codes))
    others = _padded(others, len(codes))
    components = Components(sizes, similarity)
    unit = _unit(measured, noise_sd, doubt) if kind == "value" else _Unit(0.0, 1.0)
    stated = None if noise_sd is None else noise_sd / unit.size
    merged = merge(codes, others, unit.standard(measured), stated, kind=kind)
    if merged.rows.unknown_noise and not np.isfinite(merged.rows.values).all():
        merged = merge(codes, others, unit.standard(measured), _noise_of_exact(components, merged, rng), sure=True)
    if usual_noise is not None and merged.rows.unknown_noise:
        merged = replace(merged, rows=replace(merged.rows, usual_noise=(usual_noise / unit.size) ** 2))
    ends = None if ends is None else unit.limits(ends)
    rest = None
    if len(merged.rows) > _MOST_ROWS:
        merged, rest = merged.split(_MOST_ROWS, rng)
    offered: tuple[Scale, ...] = (_SCALES[kind],)
    if kind == "value" and not np.isfinite(merged.rows.values).any():
        around = Around(float(np.median(merged.typical(IDENTITY))), 1.0, _FLAT_OF_BOUNDS)
        merged = replace(merged, rows=replace(merged.rows, around=around))
    elif kind == "value" and scales and len(merged.rows) >= _FEWEST_ROWS:
        known = np.concatenate([merged.rows.values, merged.low, merged.high])
        ends = None if ends is None else merged.reached(ends)
        bounds = np.isnan(merged.rows.values)
        below, above = (bool((bounds & np.isinf(side)).any()) for side in (merged.low, merged.high))
        offered = candidate_scales(known[np.isfinite(known)], merged.noise_sd, ends, (below, above))
    some = merged.some(_SCALE_ROWS, rng)
    fitted: list[_Fitted] = []
    for scale in offered:
        start = fitted[-1].variances if fitted else None
        fitted.append(_fitted(components, some, scale, rng, n_draws=1, start=start))
    if kind == "value":
        # A soft end is tried where a hard one is likely: values hardly determine it, but probabilities depend on it.
        likely = [(one, first) for one, first, weight in zip(offered, fitted, _weights(fitted), strict=True) if weight]
        soft = [(one.softened(), first) for one, first in likely if one.softened() != one]
        offered = (*offered, *(one for one, _ in soft))
        fitted += [_fitted(components, some, one, rng, n_draws=1, start=first.variances) for one, first in soft]
    weights = _weights(fitted)
    n = len(merged.rows)
    draws = _DRAWS if n <= _MANY_ROWS[0] else _DRAWS // 2 if n <= _MANY_ROWS[1] else 2
    parts = []
    sd = merged.noise_sd if kind == "value" else noise_sd or merged.noise_sd
    for scale, first, weight in zip(offered, fitted, weights, strict=True):
        if weight > 0:
            n_draws = max(2, round(draws * weight))
            found = _fitted(components, merged, scale, rng, n_draws=n_draws, start=first.variances)
            posterior = Posterior(components, found.rows, found.variances, tails=not scale.is_open)
            parts.append((scale, posterior, float(weight)))
            if posterior.noise_sd is not None and weight == weights.max():
                sd = posterior.noise_sd / found.slope
    return SeriesPosterior(parts, merged.rows.arms, sd, codes, unit, rest, kind, others)


def _weights(fitted: Sequence[_Fitted]) -> Floats:
    """Return the posterior weight of each scale, ``(n_scales,)``; zero where it is small."""
    logs = np.array([one.evidence for one in fitted])
    weights: Floats = np.exp(logs - logs.max())
    weights[weights < _SMALLEST_WEIGHT * weights.max()] = 0.0
    weights /= weights.sum()
    return weights


def _padded(others: Sequence[Floats], n: int) -> tuple[Floats, ...]:
    """Return what is expected of other endpoints for compounds and controls, ``(n,)`` each: of controls the mean."""
    return tuple(np.pad(one, (0, n - len(one))) for one in others)


def _with_controls(
    codes: NDArray[np.integer], sizes: Sequence[int], similarity: Sequence[Floats | None] | None, n: int
) -> tuple[NDArray[np.integer], Sequence[int], Sequence[Floats | None] | None]:
    """Return the series with ``n`` more compounds whose substituents nothing else has, as controls are."""
    if n < 1:
        return codes, sizes, similarity
    varied = np.array([size > 1 for size in sizes])
    own = np.where(varied, np.array(sizes) + np.arange(n)[:, None], 0)
    if similarity is not None:
        similarity = [
            block_diag(one, np.eye(n)) if one is not None and more else one
            for one, more in zip(similarity, varied, strict=True)
        ]
    return np.vstack([codes, own.astype(codes.dtype)]), [size + n * int(size > 1) for size in sizes], similarity


class _Fitted(NamedTuple):
    """Variances on one scale."""

    rows: Rows
    """On that scale."""
    variances: Variances
    evidence: float
    """Log marginal likelihood of the values on their own scale, and the log prior of the scale."""
    slope: float
    """Of the scale, where an unknown noise is the same on both."""


def _fitted(
    components: Components,
    merged: Merged,
    scale: Scale,
    rng: np.random.Generator,
    *,
    n_draws: int,
    start: Variances | None = None,
) -> _Fitted:
    """Fit the variances on a scale."""
    rows = merged.rows
    exact = np.isfinite(rows.values)
    means = merged.typical(scale)
    linear = scale.is_identity or merged.kind != "value"
    for last in range(0 if linear else _NOISE_ROUNDS, -1, -1):
        scaled, slopes, unit = _on_scale(rows, scale, means)
        if merged.kind != "value" or not exact.all():
            scaled, start = _with_likelihoods(components, scaled, merged, scale, rng, start)
        if not last:
            break
        # The information of a measurement depends on how steep the scale is at the true value, not at the measured one.
        start = fit_variances(components, scaled, n_draws=1, rng=rng, start=start, least=_least(scale), steps=1)
        means = scale.inverse(fitted_values(components, scaled, start))
    variances = fit_variances(components, scaled, n_draws=n_draws, rng=rng, start=start, least=_least(scale))
    # The densities of means and of replicates around them, taken back to the values' own scale.
    jacobian = float(np.log(slopes[exact]).sum()) + 0.5 * scaled.freedom * math.log(unit)
    return _Fitted(scaled, variances, variances.evidence + jacobian + scale.log_prior, math.sqrt(unit))


def _on_scale(rows: Rows, scale: Scale, means: Floats) -> tuple[Rows, Floats, float]:
    """Return rows on a scale that is straight around ``means``, its slopes there, and the unit of an unknown noise."""
    slopes = scale.slope(means)
    # A noise that is not known is one on the scale of the model: in units of a typical slope there.
    unit = float(np.median(slopes)) ** 2 if rows.unknown_noise else 1.0
    values = scale.forward(means) + np.where(np.isfinite(rows.values), rows.values - means, 0.0) * slopes
    usual = None if rows.usual_noise is None else rows.usual_noise * unit
    noise = rows.noise * slopes**2 / unit
    scaled = replace(rows, values=values, noise=noise, squares=rows.squares * unit, usual_noise=usual)
    return scaled, slopes, unit


def _noise_of_exact(components: Components, merged: Merged, rng: np.random.Generator) -> float:
    """Return the SD of one measurement from exact values; bounds would pass for values that agree."""
    exact = np.flatnonzero(np.isfinite(merged.rows.values))
    if not len(exact):
        return merged.noise_sd
    return math.exp(0.5 * _fitted(components, merged.take(exact), IDENTITY, rng, n_draws=1).variances.mode[-1])


def _least(scale: Scale) -> float:
    """Return the variance that values may have at least, however equal they are: that of their units."""
    return 1.0 if scale.is_identity else 0.0


def _with_likelihoods(
    components: Components,
    rows: Rows,
    merged: Merged,
    scale: Scale,
    rng: np.random.Generator,
    start: Variances | None,
) -> tuple[Rows, Variances]:
    """Return rows with normal measurements in place of bounds, shares and counts, and the variances they go with."""
    bounded = ~np.isfinite(merged.rows.values)
    wide = rows.noise.copy()
    wide[bounded] += max(float(np.var(rows.values)), 1e-12)
    current = replace(rows, noise=wide)
    least = _least(scale)
    variances = fit_variances(components, current, n_draws=1, rng=rng, start=start, least=least)
    for _ in range(_BOUND_ROUNDS if merged.kind == "value" else _KIND_ROUNDS):
        of_one = math.exp(variances.mode[-1]) if rows.unknown_noise else 1.0
        for places, tilted in merged.tilted(scale, rows, of_one):
            current = likelihoods.match(components, current, variances, places, tilted)
        variances = fit_variances(components, current, n_draws=1, rng=rng, start=variances, least=least)
    return current, variances


def _places(arms: Ints, rows: Ints) -> Ints:
    """Return the position among ``arms`` of the compound of each row."""
    order = np.argsort(arms, kind="stable")
    found = np.searchsorted(arms, rows, sorter=order)
    places: Ints = order[np.minimum(found, len(arms) - 1)]
    if not np.array_equal(arms[places], rows):
        raise ValueError("a measured compound is missing")
    return places
