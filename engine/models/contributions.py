"""Contribution of every substituent, with its interval and the measurements behind it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..arrays import Floats, Ints
from ..domain.features import OUTSIDE_TOLERANCE
from ..domain.library import Library
from .ols import Estimate

_NORMAL_95 = 1.959963984540054
"""The 97.5 % point of the normal distribution."""


@dataclass(frozen=True, slots=True)
class Contribution:
    """Contribution of one substituent, model scale; NaN where it is not known."""

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
    """Return the contributions of every site from the ``fit`` to the measured compounds at ``rows`` ``(m,)``.

    ``counts`` are the determinations behind each mean, ``noise_sd`` the SD of one, model scale. A contribution is a
    difference from the average at its site, each substituent weighted by its determinations: the intercept of a
    Free-Wilson model has no unique division among the sites, but differences within a site are unique. At a site
    whose substituents fall into groups that no measurement compares, the average is that of the group with the most
    determinations, and the others have no value.
    """
    found = []
    blocks = _blocks(library)
    for position, site in enumerate(library.sites):
        size = len(site.substituents)
        seen = np.zeros(size)
        np.add.at(seen, library.codes[rows, position], counts)
        columns, shares = _carried(library, site.name, position, blocks, rows, counts)
        inner = np.ix_(columns, columns)
        value, half = _differences(
            shares @ fit.theta[columns],
            shares @ fit.covariance[inner] @ shares.T,
            shares @ fit.outside[inner] @ shares.T,
            seen,
        )
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
    return tuple(found)


def _blocks(library: Library) -> dict[tuple[str, ...], tuple[int, Ints]]:
    """Return, of each site outside pairs and of each pair, its place among the modelled and its columns, by names."""
    sites, _ = library.modelled
    inside = {name for pair in library.interactions for name in pair}
    own = [(site.name,) for site in library.sites if site.name not in inside]
    found, first = {}, 1
    for place, (names, site) in enumerate(zip((*own, *library.interactions), sites, strict=True)):
        found[names] = place, np.arange(first, first + len(site.substituents))
        first += len(site.substituents)
    return found


def _carried(
    library: Library,
    name: str,
    position: int,
    blocks: dict[tuple[str, ...], tuple[int, Ints]],
    rows: Ints,
    counts: Floats,
) -> tuple[Ints, Floats]:
    """Return the columns of a site, and ``(size, n_columns)`` the share of each in a substituent's effect.

    A site outside pairs has its own columns. One in a pair has those of its combinations: a substituent's effect is
    that of the combinations it was measured in, each weighted by its determinations.
    """
    size = len(library.sites[position].substituents)
    if (name,) in blocks:
        return blocks[name,][1], np.eye(size)
    _, codes = library.modelled
    columns, shares = [], []
    for names, (place, own) in blocks.items():
        if name in names:
            share = np.zeros((size, len(own)))
            np.add.at(share, (library.codes[rows, position], codes[rows, place]), counts)
            columns.append(own)
            shares.append(share / np.maximum(share.sum(axis=1, keepdims=True), 1e-300))
    return np.concatenate(columns), np.hstack(shares)


def _differences(theta: Floats, covariance: Floats, outside: Floats, seen: Floats) -> tuple[Floats, Floats]:
    """Return each effect less the average, and its standard error at a noise SD of 1; NaN where not known.

    ``theta`` ``(size,)`` are the effects, with their covariance and with their part outside what was measured, and
    ``seen`` the determinations of each substituent.
    """
    size = len(seen)
    value, half = np.full(size, np.nan), np.full(size, np.nan)
    group = _largest_group(outside, seen)
    if group.size == 0:
        return value, half
    average = np.zeros(size)
    average[group] = seen[group] / seen[group].sum()
    value[group] = theta[group] - average @ theta
    # Of the indicator of each less the average: c'Cc.
    across = covariance @ average
    squares = np.diagonal(covariance) - 2.0 * across + average @ across
    half[group] = np.sqrt(np.maximum(squares[group], 0.0))
    return value, half


def _largest_group(outside: Floats, seen: Floats) -> Ints:
    """Return the largest group of measured substituents of a site that can be compared with each other.

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
