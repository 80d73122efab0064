"""What every substituent adds, with its interval and the measurements behind it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from assaypilot.engine.features import OUTSIDE_TOLERANCE
from assaypilot.engine.library import Library
from assaypilot.engine.models.ols import Estimate

__all__ = ["Contribution", "SiteContributions", "contributions"]

Floats = NDArray[np.float64]
Ints = NDArray[np.intp]

_NORMAL_95 = 1.959963984540054
"""The 97.5 % point of the normal distribution."""


@dataclass(frozen=True, slots=True)
class Contribution:
    """What one substituent adds, model scale; NaN where it is not known."""

    substituent: str
    value: float
    """Against the average of the measurements at this site, of those it can be compared with."""
    low: float
    """Lower end of the 95 % interval."""
    high: float
    measurements: int
    """Determinations of compounds that carry it."""


@dataclass(frozen=True, slots=True)
class SiteContributions:
    """The contributions at one site, in the library's order of substituents."""

    site: str
    substituents: tuple[Contribution, ...]


def contributions(
    library: Library, fit: Estimate, rows: Ints, counts: Floats, noise_sd: float
) -> tuple[SiteContributions, ...]:
    """The contributions of every site from the least-squares ``fit`` to the measured compounds at ``rows`` ``(m,)``.

    ``counts`` are the determinations behind each mean, ``noise_sd`` the SD of one, model scale. A contribution is a
    difference from the average at its site, each substituent weighted by its determinations: the intercept of a
    Free-Wilson model is shared out among the sites in no unique way, differences within a site are unique. At a site
    whose substituents fall into groups that no measurement compares, the average is that of the group with the most
    determinations, and the others have no value.
    """
    first, found = 1, []
    for position, site in enumerate(library.sites):
        size = len(site.substituents)
        seen = np.zeros(size)
        np.add.at(seen, library.codes[rows, position], counts)
        value, half = _differences(fit, first, seen)
        found.append(
            SiteContributions(
                site.name,
                tuple(
                    Contribution(
                        name,
                        float(value[k]),
                        float(value[k] - _NORMAL_95 * noise_sd * half[k]),
                        float(value[k] + _NORMAL_95 * noise_sd * half[k]),
                        round(float(seen[k])),
                    )
                    for k, name in enumerate(site.substituents)
                ),
            )
        )
        first += size
    return tuple(found)


def _differences(fit: Estimate, first: int, seen: Floats) -> tuple[Floats, Floats]:
    """Each substituent's effect less the average, and its standard error at a noise SD of 1; NaN where not known.

    ``first`` is the site's first column, ``seen`` ``(size,)`` the determinations of each substituent.
    """
    size = len(seen)
    value, half = np.full(size, np.nan), np.full(size, np.nan)
    columns = slice(first, first + size)
    group = _largest_group(fit.outside[columns, columns], seen)
    if group.size == 0:
        return value, half
    average = np.zeros(size)
    average[group] = seen[group] / seen[group].sum()
    theta, covariance = fit.theta[columns], fit.covariance[columns, columns]
    value[group] = theta[group] - average @ theta
    # Of the indicator of each less the average: c'Cc.
    across = covariance @ average
    squares = np.diagonal(covariance) - 2.0 * across + average @ across
    half[group] = np.sqrt(np.maximum(squares[group], 0.0))
    return value, half


def _largest_group(outside: Floats, seen: Floats) -> Ints:
    """The measured substituents of a site that can be compared with each other, of several such groups the largest.

    To be comparable is an equivalence: where a - b and b - c are estimable, so is a - c.
    """
    left = np.flatnonzero(seen > 0)
    best, most = left[:0], 0.0
    while left.size:
        one = int(left[0])
        squares = outside[one, one] + outside[left, left] - 2.0 * outside[one, left]
        here = squares <= 2.0 * OUTSIDE_TOLERANCE**2
        here[0] = True
        group = left[here]
        if seen[group].sum() > most:
            best, most = group, float(seen[group].sum())
        left = left[~here]
    return best
