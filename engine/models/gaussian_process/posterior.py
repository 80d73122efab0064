"""Joint draws of compounds' values given what was measured, by pathwise conditioning.

A draw of the prior is corrected by what was measured (Matheron's rule; Wilson et al. 2021): one solve of the size of
what was measured, and look-ups in tables of effects for every compound. No matrix has a row per compound.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import cho_factor, cho_solve

from ...arrays import Floats, Ints
from .components import Component, Components
from .variances import Rows, Variances, centred_loading, covariance, inverse_of, parts_of

_ENTRIES = 4_000_000
"""Numbers in the table of a component at a time."""
_PRIOR_ROWS = 20.0
"""Rows that the stated errors count as, against the evidence of left-out rows."""
_MOST_CHECKED = 1500
"""Rows up to which each is predicted from the others."""
_PAIRS_TAIL = 3.0
"""Degrees of freedom of effects of unmeasured pairs: few pairs of a series act together, and these much."""
_TAIL = 5.0
"""Degrees of freedom of what is added where errors are larger than stated."""


def _heavy(freedom: float, shape: tuple[int, int], rng: np.random.Generator) -> Floats:
    """Draw factors that turn normal numbers into ones of a t distribution with the same variance.

    Each is one of 65,536 that stand for all: seven times as fast as new ones.
    """
    factors = _factors(freedom)
    return np.asarray(factors[rng.integers(0, len(factors), shape, dtype=np.uint16)])


@cache
def _factors(freedom: float) -> Floats:
    squares = 1.0 / np.random.default_rng(0).chisquare(freedom, 2**16)
    return np.asarray(np.sqrt(squares / squares.mean()))


@dataclass(frozen=True, slots=True)
class Compounds:
    """The requested compounds; every measured one has to be among them."""

    codes: NDArray[np.integer]
    """``(K, n_sites)`` substituents."""
    places: Ints
    """``(n,)`` the position among them of the compound of each measured row."""
    others: tuple[Floats, ...] = ()
    """``(K,)`` per other endpoint: what is expected of it (see ``Rows``)."""


class Posterior:
    """The series model given its measurements, for each draw of the variances.

    ``tails``: whether effects of unmeasured pairs have heavy tails; not where values are their exponentials,
    which would have no mean.
    """

    def __init__(self, components: Components, rows: Rows, variances: Variances, *, tails: bool = True) -> None:
        self.components, self.rows, self.variances, self._tails = components, rows, variances, tails
        self._excess: tuple[Floats, Floats] | None = None
        self._flat = variances.flat
        self._entries = [components.entries(component, rows.codes) for component in components.components]
        parts = parts_of(components, rows)
        logs, repeats = np.unique(variances.draws, axis=0, return_counts=True)
        self._each = np.exp(logs)
        self._shares = repeats / repeats.sum()
        self._factors = [
            cho_factor(covariance(parts, rows, one, self._flat).T, lower=True, overwrite_a=True, check_finite=False)
            for one in self._each
        ]

    @property
    def own_sd(self) -> float:
        """The SD of own deviations at the most likely variances, on the scale of the model."""
        return float(np.exp(0.5 * self.variances.mode[self.components.n_variances]))

    @property
    def noise_sd(self) -> float | None:
        """The most likely SD of one measurement where it is not known; else None."""
        return float(np.exp(0.5 * self.variances.mode[-1])) if self.rows.unknown_noise else None

    def check(self) -> tuple[Floats, Floats]:
        """Return each row's prediction from the others and its standardised error there, ``(n,)`` each."""
        first = self._factors[0]
        inverse = inverse_of(np.tril(first[0]))
        residual = self.rows.values - self.variances.center
        variance = 1.0 / np.diagonal(inverse)
        error = (inverse @ residual) * variance
        return self.rows.values - error, error / np.sqrt(variance)

    def mean(self, compounds: Compounds) -> Floats:
        """Return the posterior means of compounds, ``(K,)``."""
        total: Floats = np.zeros(len(compounds.codes))
        components, shared = self.components, np.zeros((len(self.rows), 1))
        for one, share, factor in zip(self._each, self._shares, self._factors, strict=True):
            solved = share * cho_solve(factor, self.rows.values - self.variances.center, check_finite=False)[:, None]
            total += self._correction(one, solved, compounds)[:, 0]
            if components.shared is not None:
                shared += one[components.shared] * solved
        if components.shared is not None:
            total += components.spread_shared(compounds.codes, self.rows.codes, shared)[:, 0]
        total += self.variances.center
        return total

    def draw(
        self, compounds: Compounds, n_draws: int, rng: np.random.Generator, deviations: Sequence[Floats] = ()
    ) -> Floats:
        """Draw the values of compounds jointly, ``(n_draws, K)``.

        ``deviations``: ``(n_draws, K)`` per other endpoint, a draw of it less its expectation.
        """
        out = np.empty((n_draws, len(compounds.codes)))
        stops = np.rint(n_draws * np.cumsum(self._shares)).astype(np.intp)
        for one, factor, start, stop in zip(self._each, self._factors, (0, *stops), stops, strict=False):
            if stop > start:
                values = self._draw(
                    one, factor, compounds, int(stop - start), rng, [other[start:stop].T for other in deviations]
                )
                out[start:stop] = values.T
        return out

    def _draw(
        self,
        variances: Floats,
        factor: tuple[Floats, bool],
        compounds: Compounds,
        size: int,
        rng: np.random.Generator,
        deviations: Sequence[Floats],
    ) -> Floats:
        rows, components, places = self.rows, self.components, compounds.places
        values: Floats = np.sqrt(self._flat) * rng.standard_normal(size) + np.zeros((len(compounds.codes), 1))
        for component in components.components:
            self._add(component, variances, values, compounds.codes, rng)
        if components.shared is not None:
            values += np.sqrt(variances[components.shared]) * components.draw_shared(compounds.codes, size, rng)
        own = components.n_variances
        values += np.sqrt(variances[own]) * rng.standard_normal(values.shape)
        slopes = self._slopes(variances, size, rng)
        for other, slope in zip(compounds.others, slopes, strict=True):
            values += np.outer(other, slope)
        noise = rows.noise * (variances[-1] if rows.unknown_noise else 1.0)
        seen = values[places] + np.sqrt(noise)[:, None] * rng.standard_normal((len(rows), size))
        seen += self._shifts(variances, size, rng)
        solved = cho_solve(factor, (rows.values - self.variances.center)[:, None] - seen, check_finite=False)
        values += self._correction(variances, solved, compounds)
        if components.shared is not None:
            values += components.spread_shared(compounds.codes, rows.codes, variances[components.shared] * solved)
        values += self.variances.center + self._level_errors(variances, size, rng)
        self._widen(values, places, rng)
        slopes += self._slope_corrections(variances, solved)
        for slope, far in zip(slopes, deviations, strict=False):
            # Where this endpoint was measured, its own values already hold what the other one could add.
            far[places] = 0.0
            values += slope * far
        return values

    def effects(self, n_draws: int, rng: np.random.Generator) -> list[dict[tuple[int, ...], Floats]]:
        """Draw the tables of effects jointly, ``n_draws`` of them: by sites ``(size,)``, by pairs ``(size, size)``."""
        rows, components = self.rows, self.components
        out = []
        for _ in range(n_draws):
            place = rng.choice(len(self._shares), p=self._shares)
            variances, own = self._each[place], components.n_variances
            tables = [
                np.sqrt(variances[component.variance]) * components.draw(component, 1, rng)
                for component in components.components
            ]
            seen = np.sqrt(self._flat) * rng.standard_normal() + np.zeros((len(rows), 1))
            for entries, table in zip(self._entries, tables, strict=True):
                seen += table[entries]
            if components.shared is not None:
                seen += np.sqrt(variances[components.shared]) * components.draw_shared(rows.codes, 1, rng)
            _, compound = np.unique(rows.arms, return_inverse=True)
            seen += np.sqrt(variances[own]) * rng.standard_normal((int(compound.max()) + 1, 1))[compound.ravel()]
            for other, slope in zip(rows.others, self._slopes(variances, 1, rng), strict=True):
                seen += np.outer(other, slope)
            noise = rows.noise * (variances[-1] if rows.unknown_noise else 1.0)
            seen += np.sqrt(noise)[:, None] * rng.standard_normal((len(rows), 1))
            seen += self._shifts(variances, 1, rng)
            residual = (rows.values - self.variances.center)[:, None] - seen
            solved = cho_solve(self._factors[place], residual, check_finite=False)
            found: dict[tuple[int, ...], Floats] = {}
            for component, entries, table in zip(components.components, self._entries, tables, strict=True):
                table += variances[component.variance] * components.spread(component, entries, solved)
                shape = [components.sizes[site] for site in component.sites]
                found[component.sites] = found.get(component.sites, 0.0) + table.reshape(shape)
            out.append(found)
        return out

    def _shifts(self, variances: Floats, size: int, rng: np.random.Generator) -> Floats:
        """Draw the shifts of every row, ``(n, size)``."""
        total: Floats = np.zeros((len(self.rows), size))
        own = variances[self.components.n_variances + 1 :]
        for place, (shift, variance) in enumerate(zip(self.rows.shifts, own, strict=False)):
            # Groups may be numbered by compound, of which few were measured.
            used, group = np.unique(shift[shift >= 0], return_inverse=True)
            groups = np.sqrt(variance) * rng.standard_normal((len(used) + 1, size))
            if place < self.rows.centred:
                total += centred_loading(shift) @ groups[:-1]
            else:
                total[shift >= 0] += groups[group]
        return total

    def _level_errors(self, variances: Floats, size: int, rng: np.random.Generator) -> Floats:
        """Draw how far the mean of all shifts that are centred is from none ``(size,)``: the same for all compounds."""
        rows, total = self.rows, np.zeros(size)
        own = variances[self.components.n_variances + 1 :]
        for shift, variance in zip(rows.shifts[: rows.centred], own, strict=False):
            counts = np.bincount(shift[shift >= 0])
            error = math.sqrt(variance * float((counts**2).sum()) / max(float(counts.sum()) ** 2, 1.0))
            total += error * rng.standard_normal(size)
        return total

    def _of_others(self, variances: Floats) -> Floats:
        """Return the variances of the slopes on other endpoints, ``(c,)``."""
        first = self.components.n_variances + 1 + len(self.rows.shifts)
        return variances[first : first + len(self.rows.others)]

    def _slopes(self, variances: Floats, size: int, rng: np.random.Generator) -> Floats:
        """Draw the slopes on other endpoints from their prior, ``(c, size)``."""
        of_others = self._of_others(variances)
        return np.sqrt(of_others)[:, None] * rng.standard_normal((len(of_others), size))

    def _slope_corrections(self, variances: Floats, solved: Floats) -> Floats:
        """Return the covariance of the slopes on other endpoints with the rows times ``solved``, ``(c, m)``."""
        others = np.array(self.rows.others).reshape(-1, len(self.rows))
        return np.asarray(self._of_others(variances)[:, None] * (others @ solved))

    def _widen(self, values: Floats, places: Ints, rng: np.random.Generator) -> None:
        """Let errors of unmeasured compounds grow to those of left-out rows with predictions like theirs."""
        if self.rows.around is not None:
            return  # the approximation of shares and counts there comes from the same model
        if self._excess is None:
            if not 2 * _PRIOR_ROWS <= len(self.rows) <= _MOST_CHECKED:
                return
            predicted, errors = self.check()
            order = np.argsort(predicted)
            width = max(len(order) // 4, 1)
            squares = np.minimum(errors[order] ** 2, 16.0)
            total = np.concatenate([[0.0], np.cumsum(squares)])
            starts = np.clip(np.arange(len(order)) - width // 2, 0, len(order) - width)
            inflation = (_PRIOR_ROWS + total[starts + width] - total[starts]) / (_PRIOR_ROWS + width)
            self._excess = predicted[order], np.maximum(inflation - 1.0, 0.0)
        mean, variance = values.mean(axis=1), values.var(axis=1)
        extra = np.interp(mean, *self._excess) * variance
        extra[places] = 0.0
        widened = np.flatnonzero(extra > 0)
        if len(widened):
            heavy = _heavy(_TAIL, (len(widened), values.shape[1]), rng)
            heavy *= rng.standard_normal(heavy.shape)
            values[widened] += np.sqrt(extra[widened])[:, None] * heavy

    def _add(
        self,
        component: Component,
        variances: Floats,
        values: Floats,
        codes: NDArray[np.integer],
        rng: np.random.Generator,
    ) -> None:
        entries = self.components.entries(component, codes)
        step = max(1, _ENTRIES // self.components.n_entries(component))
        scale = np.sqrt(variances[component.variance])
        unseen = self._unseen(component)
        for start in range(0, values.shape[1], step):
            stop = min(start + step, values.shape[1])
            table = self.components.draw(component, stop - start, rng)
            table[unseen] *= _heavy(_PAIRS_TAIL, (len(unseen), stop - start), rng)
            values[:, start:stop] += scale * table[entries]

    def _unseen(self, component: Component) -> Ints:
        """Return the pairs of substituents that no row has, whose effects may be exceptions; none of single sites."""
        if len(component.sites) < 2 or not self._tails:
            return np.zeros(0, dtype=np.intp)
        seen = np.zeros(self.components.n_entries(component), dtype=bool)
        seen[self.components.entries(component, self.rows.codes)] = True
        return np.flatnonzero(~seen)

    def _correction(self, variances: Floats, solved: Floats, compounds: Compounds) -> Floats:
        """Return the covariance of compounds with the rows, without shared deviations, times ``solved``: ``(K, m)``."""
        total = np.zeros((len(compounds.codes), solved.shape[1])) + self._flat * solved.sum(axis=0)
        for component, entries in zip(self.components.components, self._entries, strict=True):
            table = variances[component.variance] * self.components.spread(component, entries, solved)
            total += table[self.components.entries(component, compounds.codes)]
        for other, slope in zip(compounds.others, self._slope_corrections(variances, solved), strict=True):
            total += np.outer(other, slope)
        np.add.at(total, compounds.places, variances[self.components.n_variances] * solved)
        return np.asarray(total)
