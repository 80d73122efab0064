"""The posterior view: what is likely, for people to read. It informs; it never decides.

theta ~ N(theta_hat, sigma^2 V^-1) under a weak prior, so that every compound has a probability at any moment: of
being within a distance of the best, or of belonging to the Pareto set of several endpoints.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy.linalg import LinAlgError, cho_solve, cholesky

from ..arrays import Floats, Ints
from ..domain.features import Features, SiteFeatures
from ..domain.pareto import beaten

_PRIOR_SPREAD = 3.0
_LEAST_RIDGE = 1e-10
"""The prior's weight on a measured column, as a share of the measurements of that column, is never below this."""
_LEAST_RATIO = 1e-12
"""Assay noise over prior SD is never below this."""

_DRAWS = 1024
_FEWEST_DRAWS = 256
_WORK = 400_000_000
_REACH = 6.0
_ENTRIES = 16_000_000
_CHUNK = 2048
_STRIP = 64
_COMBINATIONS = 4096
_SINGLE = 1e4
_BITS = np.array([bin(byte).count("1") for byte in range(256)], dtype=np.uint8)
"""How many bits of a byte are set."""


@dataclass(frozen=True, eq=False)
class Posterior:
    """A normal posterior of the feature effects, in raw columns."""

    features: Features
    mean: Floats
    """``(n_columns,)``."""
    factor: Floats
    """``(n_columns, n_columns)``, lower Cholesky factor of the precision times sigma^2 (so in measurements)."""
    sigma: float
    """The assay noise (SD) of one measurement."""

    @cached_property
    def covariance(self) -> Floats:
        """The covariance of the effects over sigma^2, ``(n_columns, n_columns)``."""
        return cho_solve((self.factor, True), np.eye(len(self.mean)))

    def means(self, rows: Ints | None = None) -> Floats:
        """Return the posterior mean of each row, model scale."""
        return self.features.times(self.mean, rows)

    def sds(self, rows: Ints | None = None) -> Floats:
        """Return the posterior SD of each row's mean (without assay noise)."""
        sds: Floats = self.sigma * np.sqrt(self.features.quadratic(self.covariance, rows).clip(0.0))
        return sds

    def draws(self, n: int, seed: int) -> Floats:
        """Return seeded deviations of the effects from their mean, ``(n_columns, n)``."""
        noise = np.random.default_rng(seed).standard_normal((len(self.mean), n))
        # covariance @ factor is the transposed inverse of the factor: one small solve for however many draws.
        half = self.sigma * (self.covariance @ self.factor)
        # In strips, which stay below the size at which threads are started and waited for.
        strips = range(0, n, _STRIP)
        return np.concatenate([half @ noise[:, start : start + _STRIP] for start in strips], axis=1)


def _weak_prior(counts: Floats, means: Floats, sigma: float) -> tuple[float, float]:
    """Return the prior for some data: an SD of three times their spread, never below ten times the assay noise.

    The intercept is around their mean.
    """
    shares = counts / counts.sum()
    centre = float(shares @ means)
    left = means - centre
    # Squares of the deviations themselves could overflow.
    largest = float(np.abs(left).max()) or 1.0
    left = left / largest
    return centre, max(_PRIOR_SPREAD * largest * float(np.sqrt(shares @ left**2)), 10.0 * sigma)


def posterior(features: Features, measured: Ints, counts: Floats, means: Floats, sigma: float) -> Posterior:
    """Return the posterior after ``counts`` measurements with these means of the rows ``measured``, all ``(m,)``.

    The prior is weak: see ``_weak_prior``. Where that is too weak to differ from
    nothing in floating point (values or noise of absurd size), it is as weak as it can be.
    """
    if len(measured) == 0:
        raise ValueError("a posterior needs at least one measurement")
    centre, prior_sd = _weak_prior(counts, means, sigma)
    # In units of the largest deviation, so that no sum of them overflows.
    left = means - centre
    largest = float(np.abs(left).max(initial=0.0)) or 1.0
    left = left / largest
    factor = _factor(features.gram(counts, measured), max(sigma / prior_sd, _LEAST_RATIO) ** 2)
    mean = largest * cho_solve((factor, True), features.moment(counts * left, measured))
    mean[0] += centre
    return Posterior(features, mean, factor, sigma)


def _factor(gram: Floats, ridge: float) -> Floats:
    """Return the lower Cholesky factor of ``gram`` and a ridge: at least the given one, and enough for it to exist."""
    diagonal = np.diagonal(gram)
    # By column: one compound measured very often leaves the prior of the others as it is.
    ridges = np.maximum(ridge, _LEAST_RIDGE * diagonal)
    scale = np.sqrt(diagonal + ridges)
    scaled = gram / scale / scale[:, None]
    scaled[np.diag_indices_from(scaled)] = 1.0
    for more in (0.0, 1e-9, 1e-7, 1e-5, 1e-3):
        try:
            lower: Floats = cholesky(scaled + more * np.eye(len(scaled)), lower=True)
        except LinAlgError:
            continue
        return scale[:, None] * lower
    # Not reached by a Gram matrix of any table: its scaled form has no eigenvalue below -1e-3. Columns on their own.
    return np.diag(scale)


def probability_within(
    view: Posterior, rows: Ints, margins: tuple[float, ...], sign: float, seed: int
) -> tuple[Floats, ...]:
    """Return P(mean within margin of the best row), one ``(m,)`` per margin, by seeded draws from the posterior.

    ``sign`` -1 when smaller is better. Rows whose probability is below 1e-9 (6 SDs of their difference to a leading
    row) are given 0 without drawing. The standard error of a probability is at most 0.016 while no more than 390,000
    rows are drawn, 0.032 beyond.
    """
    near, leader = _contenders(view, rows, max(margins), sign)
    chosen = rows[near]
    n = len(near)
    draws = int(np.clip(_WORK // n // 128 * 128, _FEWEST_DRAWS, _DRAWS))
    # Only differences to the leader matter: they are free of the intercept, which the data may not determine.
    theta = sign * (view.mean[:, None] + view.draws(draws, seed))
    tables, places = look_ups(view.features, chosen, leader, theta)
    # A scale on which single precision neither overflows nor blurs the margins.
    unit = max(max((float(np.abs(table).max()) for table in tables), default=0.0), max(margins)) or 1.0
    least = min((margin for margin in margins if margin > 0.0), default=unit)
    kind = np.dtype(np.float32 if unit <= _SINGLE * least else np.float64)
    tables = [(table / unit).astype(kind) for table in tables]
    width = next(w for w in (128, 64, 32, 16, 8) if n * w <= _ENTRIES or w == 8)
    hits = np.zeros((len(margins), n))
    values = np.empty((n, width), dtype=kind)
    part = np.empty((min(n, _CHUNK), width), dtype=kind)
    chunks = [slice(start, min(start + _CHUNK, n)) for start in range(0, n, _CHUNK)]
    for start in range(0, draws, width):
        some = [np.ascontiguousarray(table[:, start : start + width]) for table in tables]
        best = np.full(width, -np.inf, dtype=kind)
        for chunk in chunks:
            here, added = values[chunk], part[: chunk.stop - chunk.start]
            np.take(some[0], places[0][chunk], axis=0, out=here, mode="clip")
            for table, place in zip(some[1:], places[1:], strict=True):
                np.take(table, place[chunk], axis=0, out=added, mode="clip")
                here += added
            np.maximum(best, here.max(axis=0), out=best)
        for k, margin in enumerate(margins):
            enough = best - np.asarray(margin / unit, dtype=kind)
            for chunk in chunks:
                within = np.packbits(values[chunk] >= enough, axis=1)
                hits[k, chunk] += _BITS[within].sum(axis=1, dtype=np.uint8)
    out = np.zeros((len(margins), len(rows)))
    out[:, near] = hits / draws
    return tuple(out)


def _contenders(view: Posterior, rows: Ints, margin: float, sign: float) -> tuple[Ints, int]:
    """Return positions of the rows that may be within the margin of the best, and the number of a leading row.

    A row is within only if it is within of the leader, and their difference is normal.
    """
    mean = sign * view.means(rows)
    covariance = view.covariance
    square = view.features.quadratic(covariance, rows)
    first = int((mean - view.sigma * np.sqrt(square.clip(0.0))).argmax())
    leader = int(rows[first])
    x = view.features.dense(rows[first : first + 1])[0]
    cross = view.features.times(covariance @ x, rows)
    # What rounding may have taken from the difference of large squares is given back.
    squares = (square + square[first] - 2.0 * cross).clip(0.0) + 1e-12 * (square + square[first])
    near = np.flatnonzero(mean + _REACH * view.sigma * np.sqrt(squares) >= mean[first] - margin)
    return near, leader


def look_ups(features: Features, rows: Ints, leader: int, theta: Floats) -> tuple[list[Floats], list[Ints]]:
    """Return tables ``(n_entries, n_draws)`` and each row's place in them; they sum to its value above the leader's.

    Sites are put together while their combinations stay few, so that two or three look-ups make a value.
    """
    if not isinstance(features, SiteFeatures):
        return [(features.dense(rows) - features.dense(np.array([leader]))) @ theta], [np.arange(len(rows))]
    columns, own = features.columns(rows), features.columns(np.array([leader]))[0]
    most = min(_COMBINATIONS, max(1, len(rows) // 8))
    tables: list[Floats] = []
    places: list[Ints] = []
    for site in np.argsort(features.sizes, kind="stable"):
        used, place = np.unique(columns[:, site], return_inverse=True)
        table = theta[used] - theta[own[site]]
        if tables and len(tables[-1]) * len(used) <= most:
            tables[-1] = (tables[-1][:, None] + table).reshape(-1, theta.shape[1])
            places[-1] = places[-1] * len(used) + place
        else:
            tables.append(table)
            places.append(place)
    if not tables:
        return [np.zeros((1, theta.shape[1]))], [np.zeros(len(rows), dtype=np.intp)]
    return tables, places


_MOST_FRONTS, _FEWEST_FRONTS = 512, 32
"""Draws of Pareto sets, between these."""
_MOST_OF_MANY = 128
"""The most draws for three endpoints and more, whose fronts are large."""
_FRONT_WORK = 1_000_000
"""Values drawn (rows times endpoints times draws), as far as that leaves the fewest draws."""
_FRONT_REACH = 5.0
_FRONT_STRIP = 2_000_000
"""Values of one endpoint held at a time."""
_GUARDS = 64
"""Rows of the front of the posterior means that every draw is thinned by first."""


def probability_pareto(
    views: Sequence[Posterior], rows: Ints, signs: Sequence[float], margins: Sequence[float], seed: int
) -> tuple[Floats, Floats]:
    """Return P(no other row is better in every endpoint), and the same by more than the margins, ``(m,)`` each.

    One posterior per endpoint, ``signs`` -1 where smaller is better; errors of endpoints are taken as independent.
    Seeded draws: the standard error of a probability is at most 0.022 for 1,000 rows and two endpoints, 0.045 for
    three, and at most 0.09 from 16,000 rows that may be in the set. Rows that another one beats for certain (5 SDs of
    both) are given 0 without drawing.
    """
    mean = np.array([sign * view.means(rows) for sign, view in zip(signs, views, strict=True)])
    reach = _FRONT_REACH * np.array([view.sds(rows) for view in views])
    shift = np.asarray(margins, dtype=np.float64)[:, None]
    near = np.flatnonzero(~beaten(mean - reach, mean + reach + shift))
    inside, acceptable = np.zeros(len(rows)), np.zeros(len(rows))
    guards = np.flatnonzero(~beaten(mean[:, near], mean[:, near]))
    guards = guards[:: -(-len(guards) // _GUARDS)]
    soft = any(margins)
    count = 0
    for points in _front_draws(views, rows[near], signs, seed):
        open_ = np.flatnonzero(~beaten(points[:, guards], points))
        members = open_[~beaten(points[:, open_], points[:, open_])]
        inside[near[members]] += 1.0
        if soft:
            acceptable[near] += ~beaten(points[:, members], points + shift)
        count += 1
    return inside / count, (acceptable if soft else inside) / count


def _front_draws(views: Sequence[Posterior], rows: Ints, signs: Sequence[float], seed: int) -> Iterator[Floats]:
    """Return draws of the rows' means ``(n_endpoints, m)``, larger is better, each up to a constant per endpoint."""
    m = len(rows)
    n = int(
        np.clip(_FRONT_WORK // (m * len(views)), _FEWEST_FRONTS, _MOST_FRONTS if len(views) == 2 else _MOST_OF_MANY)
    )
    width = max(1, min(n, _FRONT_STRIP // m))
    tables = []
    for place, (view, sign) in enumerate(zip(views, signs, strict=True)):
        theta = sign * (view.mean[:, None] + view.draws(n, seed + 1_000_003 * place))
        tables.append(look_ups(view.features, rows, int(rows[0]), theta))
    for start in range(0, n, width):
        strip = []
        for parts, places in tables:
            values = np.zeros((m, min(width, n - start)))
            for table, entries in zip(parts, places, strict=True):
                values += table[:, start : start + width][entries]
            strip.append(np.ascontiguousarray(values.T))
        for draw in range(len(strip[0])):
            yield np.array([values[draw] for values in strip])
