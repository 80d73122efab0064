"""Matched pairs of a series, its activity cliffs, and non-additivity: two changes whose joint effect is not their sum.

Compounds that differ at one site are a matched pair (Hussain and Rea 2010, J. Chem. Inf. Model. 50, 339-348); the pairs
with the largest differences are cliffs. Four compounds A, A+x, A+y and A+x+y close a double-transformation cycle, whose
double difference would be 0 if effects added up; noise alone scatters it by the root of the sum of four variances, 2 SD
of the assay for single values (Kramer 2019, J. Chem. Inf. Model. 59, 4034-4042).

Compounds are codes of substituents, so that a pair is two rows of one context: all other sites. Nothing compares
structures, and only what is listed is enumerated: of the cycles all are counted, by sums over the pairs of one change.
"""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..arrays import Floats, Ints

MOST_PAIRS = 2_000_000
"""Pairs of one site that are compared; where there are more, its most measured substituents are."""
MOST_CHANGES, MOST_CLIFFS, MOST_QUADRUPLES = 5_000, 500, 500
"""Rows of each list, the largest first."""
_SURE = 1.959963984540054
_FEWEST = 10
"""Degrees of freedom below which a site's spread is taken from all sites together."""


@dataclass(frozen=True, slots=True, eq=False)
class Changes:
    """Changes of a group, each from worse to better; those seen more than once first, by what they surely do."""

    site: Ints
    """``(c,)``."""
    before: Ints
    """``(c,)``, codes of the substituents."""
    after: Ints
    mean: Floats
    """``(c,)``, mean difference, model scale."""
    pairs: Ints
    spread: Floats
    """``(c,)``, SD of the differences; NaN of a single one."""
    least: Floats
    """``(c,)``, how far the mean surely (95 %) is from 0, by the spread of the site; below 0: not surely at all."""


@dataclass(frozen=True, slots=True, eq=False)
class Cliffs:
    """Matched pairs by their difference, each from worse to better; the largest first."""

    site: Ints
    """``(c,)``."""
    before: Ints
    """``(c,)``, compounds."""
    after: Ints
    difference: Floats
    """``(c,)``, model scale."""
    noise: Floats
    """``(c,)``, SD of the difference from assay noise alone."""
    elsewhere: Floats
    """``(c,)``, mean of the same change in all other pairs; NaN without any."""


@dataclass(frozen=True, slots=True, eq=False)
class Quadruples:
    """Double-transformation cycles by how far they are from additive, the farthest first."""

    sites: NDArray[np.integer]
    """``(q, 2)``."""
    compounds: NDArray[np.integer]
    """``(q, 4)``: A, A+x, A+y, A+x+y, of which the last is the best; x is of the first site."""
    values: Floats
    """``(q, 4)``, their means, model scale."""
    double_difference: Floats
    """``(q,)``, (A+x+y - A+y) - (A+x - A)."""
    noise: Floats
    """``(q,)``, its SD from assay noise alone."""
    count: int
    """All cycles, listed or not."""
    spread: float
    """Root mean square of their double differences; NaN without any."""
    spread_of_noise: float
    """Its expectation from assay noise alone."""


@dataclass(frozen=True, slots=True, eq=False)
class MatchedPairs:
    """Single and double changes among the measured compounds of one endpoint."""

    changes: Changes
    cliffs: Cliffs
    quadruples: Quadruples
    count: int
    """Matched pairs, all sites together."""
    left_out: Ints
    """``(sites,)``, substituents that are not compared since their site has too many pairs."""


@dataclass(frozen=True, slots=True, eq=False)
class _Pairs:
    """The pairs of one site, by place among the merged compounds, with the lower code first."""

    first: Ints
    second: Ints
    left_out: int


def matched_pairs(
    codes: NDArray[np.integer], rows: Ints, means: Floats, counts: Floats, noise_sd: float, sign: float = 1.0
) -> MatchedPairs:
    """Compare the measured compounds ``rows`` ``(m,)`` of a library of ``codes`` ``(n, sites)``.

    ``means`` and ``counts`` ``(m,)`` are theirs; compounds of the same codes count as one. ``sign`` is 1 where more is
    better, else -1; ``noise_sd`` of one value, NaN where it is not known.
    """
    own, at, means, counts = _merged(codes, rows, means, counts)
    variance = noise_sd**2 / counts
    n_sites = own.shape[1]
    sites = [_pairs(own, site) for site in range(n_sites)]
    every = [_Differences.of(own[:, site], means, variance, one) for site, one in enumerate(sites)]
    return MatchedPairs(
        changes=_changes(every, sign),
        cliffs=_cliffs(at, variance, sites, every, sign),
        quadruples=_quadruples(own, at, means, variance, sites, sign),
        count=sum(len(one.first) for one in sites),
        left_out=np.array([one.left_out for one in sites], dtype=np.intp),
    )


def pairs_of_change(codes: NDArray[np.integer], rows: Ints, site: int, before: int, after: int) -> Ints:
    """Return the compounds ``(2 p,)`` among ``rows`` that show a change: those before it, then those after."""
    own = codes[rows]
    context = _grouped(np.delete(own, site, axis=1))
    having = [own[:, site] == code for code in (before, after)]
    both = np.isin(context, context[having[0]]) & np.isin(context, context[having[1]])
    return np.concatenate([rows[one & both] for one in having])


def _grouped(codes: NDArray[np.integer]) -> Ints:
    """Return a number for each row; equal rows get equal numbers."""
    found = np.zeros(len(codes), dtype=np.intp)
    for column in codes.T:
        keys = found * (int(column.max(initial=0)) + 1) + column
        found = np.unique(keys, return_inverse=True)[1].astype(np.intp)
    return found


def _merged(
    codes: NDArray[np.integer], rows: Ints, means: Floats, counts: Floats
) -> tuple[NDArray[np.integer], Ints, Floats, Floats]:
    """Return the codes, the first compound, mean and count of each combination that was measured."""
    own = codes[rows]
    group = _grouped(own)
    size = int(group.max(initial=-1)) + 1
    total: Floats = np.bincount(group, counts, size).astype(np.float64)
    first = np.full(size, len(rows), dtype=np.intp)
    np.minimum.at(first, group, np.arange(len(rows)))
    return own[first].astype(np.intp), rows[first], np.bincount(group, counts * means, size) / total, total


def _pairs(own: NDArray[np.integer], site: int) -> _Pairs:
    """All pairs of one site; of too many those of the substituents that are measured most."""
    context = _grouped(np.delete(own, site, axis=1))
    often = np.bincount(own[:, site])
    rank = np.empty(len(often), dtype=np.intp)
    rank[np.argsort(-often, kind="stable")] = np.arange(len(often))
    order = np.lexsort((rank[own[:, site]], context))
    first = np.searchsorted(context[order], context[order])
    before = np.bincount(rank[own[order, site]], np.arange(len(order)) - first, len(often))  # partners, rank by rank
    kept = int(np.searchsorted(np.cumsum(before), MOST_PAIRS, side="right"))
    order = order[rank[own[order, site]] < kept]
    order = order[np.lexsort((own[order, site], context[order]))]
    left, right = _all_pairs(context[order])
    left_out = int((often > 0).sum() - (often[rank < kept] > 0).sum())
    return _Pairs(order[left], order[right], left_out)


def _all_pairs(keys: Ints) -> tuple[Ints, Ints]:
    """All pairs of places with equal keys, which are sorted."""
    places = np.arange(len(keys))
    partners = np.searchsorted(keys, keys, side="right") - places - 1
    left = np.repeat(places, partners)
    behind = np.arange(len(left)) - np.repeat(np.cumsum(partners) - partners, partners)
    return left, left + 1 + behind


@dataclass(frozen=True, slots=True, eq=False)
class _Differences:
    """The differences of one site's pairs, and their changes, from the lower code to the higher one."""

    difference: Floats
    """``(p,)``."""
    change: Ints
    """``(p,)``, the change that a pair shows."""
    low: Ints
    """``(c,)``, codes of a change."""
    high: Ints
    number: Ints
    mean: Floats
    squares: Floats
    """``(c,)``, of the differences around their mean."""
    noise: Floats
    """``(c,)``, variance of one difference from noise alone, their mean."""

    @classmethod
    def of(cls, codes: NDArray[np.integer], means: Floats, variance: Floats, pairs: _Pairs) -> _Differences:
        """Sum up the pairs of a site with these ``codes`` ``(m,)``."""
        size = int(codes.max(initial=0)) + 1
        keys = codes[pairs.first] * size + codes[pairs.second]
        found, change, number = np.unique(keys, return_inverse=True, return_counts=True)
        difference = means[pairs.second] - means[pairs.first]
        mean = np.bincount(change, difference, len(found)) / number
        squares = np.bincount(change, (difference - mean[change]) ** 2, len(found)).astype(np.float64)
        noise = np.bincount(change, variance[pairs.first] + variance[pairs.second], len(found)) / number
        return cls(difference, change, found // size, found % size, number, mean, squares, noise)


def _changes(sites: list[_Differences], sign: float) -> Changes:
    """Return the changes that surely do most."""
    low, high, number, mean, squares, noise = (
        np.concatenate([np.zeros(0, np.intp), *(getattr(one, name) for one in sites)])
        for name in ("low", "high", "number", "mean", "squares", "noise")
    )
    low, high, number = (values.astype(np.intp) for values in (low, high, number))
    site = np.repeat(np.arange(len(sites)), [len(one.low) for one in sites])
    least = np.abs(mean) - _SURE * _deviation(site, number, squares, noise) / np.sqrt(number)
    # Of a noise that is not known, and with no change seen twice, the size alone counts.
    order = np.lexsort((-np.abs(mean), -np.nan_to_num(least, nan=-math.inf), number == 1))[:MOST_CHANGES]
    up = sign * mean >= 0
    with np.errstate(invalid="ignore", divide="ignore"):
        spread = np.where(number > 1, np.sqrt(squares / (number - 1)), np.nan)
    return Changes(
        site=site[order],
        before=np.where(up, low, high)[order],
        after=np.where(up, high, low)[order],
        mean=np.where(up, mean, -mean)[order],
        pairs=number[order],
        spread=spread[order],
        least=least[order],
    )


def _deviation(site: Ints, number: Ints, squares: Floats, noise: Floats) -> Floats:
    """Return the SD ``(c,)`` of a pair around its change: the site's, else that of all, never below the noise."""
    freedom, total = np.bincount(site, number - 1), np.bincount(site, squares)
    with np.errstate(invalid="ignore", divide="ignore"):
        of_all = np.sqrt(total.sum() / freedom.sum())
        own = np.where(freedom >= _FEWEST, np.sqrt(total / freedom), of_all)
    return np.fmax(own[site], np.sqrt(noise))


def _cliffs(at: Ints, variance: Floats, sites: list[_Pairs], every: list[_Differences], sign: float) -> Cliffs:
    """Return the pairs of largest difference; ``at`` are the compounds."""
    parts = []
    for site, (pairs, one) in enumerate(zip(sites, every, strict=True)):
        top = np.argsort(-np.abs(one.difference), kind="stable")[:MOST_CLIFFS]
        own, number, mean = one.difference[top], one.number[one.change[top]], one.mean[one.change[top]]
        with np.errstate(invalid="ignore", divide="ignore"):
            elsewhere = np.where(number > 1, (number * mean - own) / (number - 1), np.nan)
        up = np.where(sign * own >= 0, 1, -1)
        first, second = pairs.first[top], pairs.second[top]
        before, after = np.where(up > 0, first, second), np.where(up > 0, second, first)
        parts.append((np.full(len(top), site), before, after, up * own, up * elsewhere))
    empty = (np.zeros(0, np.intp),) * 3 + (np.zeros(0),) * 2
    site_of, before, after, difference, elsewhere = (
        np.concatenate(column) for column in zip(empty, *parts, strict=True)
    )
    order = np.argsort(-np.abs(difference), kind="stable")[:MOST_CLIFFS]
    before, after = before[order], after[order]
    noise = np.sqrt(variance[before] + variance[after])
    return Cliffs(site_of[order], at[before], at[after], difference[order], noise, elsewhere[order])


def _quadruples(
    own: NDArray[np.integer], at: Ints, means: Floats, variance: Floats, sites: list[_Pairs], sign: float
) -> Quadruples:
    """Return the cycles farthest from additive: two pairs of one change whose contexts differ at one site."""
    parts, count, squares, noise = [], 0, 0.0, 0.0
    for k, other in itertools.combinations(range(own.shape[1]), 2):
        one, two = (k, other) if len(sites[k].first) <= len(sites[other].first) else (other, k)
        pairs, rest = sites[one], _grouped(np.delete(own, [one, two], axis=1))
        group = _grouped(np.stack([own[pairs.first, one], own[pairs.second, one], rest[pairs.first]], axis=1))
        difference = means[pairs.second] - means[pairs.first]
        order = np.lexsort((difference, group))
        group, difference = group[order], difference[order]
        spent = (variance[pairs.first] + variance[pairs.second])[order]
        size = np.bincount(group)
        # Over all pairs of m values: sum (d - d')^2 = m sum (d - mean)^2, and each variance comes m - 1 times.
        mean = np.bincount(group, difference) / size
        count += int((size * (size - 1) // 2).sum())
        squares += float((size[group] * (difference - mean[group]) ** 2).sum())
        noise += float(((size[group] - 1) * spent).sum())
        low, high = _farthest(difference, size)
        parts.append((np.full(len(low), one), np.full(len(low), two), pairs.first[order[low]], pairs.second[order[low]],
                      pairs.first[order[high]], pairs.second[order[high]]))  # fmt: skip
    one_of, two_of, a, ax, ay, axy = (
        np.concatenate(column) for column in zip((np.zeros(0, np.intp),) * 6, *parts, strict=True)
    )
    double = (means[axy] - means[ay]) - (means[ax] - means[a])
    order = np.argsort(-np.abs(double), kind="stable")[:MOST_QUADRUPLES]
    corners = np.stack([a, ax, ay, axy], axis=1)[order]
    # The best of the four comes last: the places of A, A+x, A+y, A+x+y turn with it.
    best = np.argmax(sign * means[corners], axis=1)
    turned = np.array([[3, 2, 1, 0], [2, 3, 0, 1], [1, 0, 3, 2], [0, 1, 2, 3]])[best]
    corners = np.take_along_axis(corners, turned, axis=1)
    values = means[corners]
    return Quadruples(
        sites=np.stack([one_of, two_of], axis=1)[order],
        compounds=at[corners],
        values=values,
        double_difference=values[:, 3] - values[:, 2] - values[:, 1] + values[:, 0],
        noise=np.sqrt(variance[corners].sum(axis=1)),
        count=count,
        spread=math.sqrt(squares / count) if count else math.nan,
        spread_of_noise=math.sqrt(noise / count) if count else math.nan,
    )


def _farthest(values: Floats, sizes: Ints) -> tuple[Ints, Ints]:
    """Return the pairs of places within groups of largest difference, as many as are listed.

    ``values`` stand group by group, ascending in each. Each group's two ends are a pair, so that no other group than
    those with the widest ends has one that is listed; and of a group the i-th from below with the j-th from above is
    behind i j - 1 others.
    """
    ends = np.cumsum(sizes)
    starts = ends - sizes
    widths = values[ends - 1] - values[starts] if len(sizes) else np.zeros(0)
    widest = np.argsort(-widths, kind="stable")[:MOST_QUADRUPLES]
    widest = widest[sizes[widest] > 1]
    below, above = _staircase(min(int(sizes[widest].max(initial=2)), MOST_QUADRUPLES))
    low = (starts[widest, None] + below).ravel()
    high = (ends[widest, None] - 1 - above).ravel()
    there = low < high
    low, high = low[there], high[there]
    top = np.argsort(-(values[high] - values[low]), kind="stable")[:MOST_QUADRUPLES]
    return low[top], high[top]


def _staircase(most: int) -> tuple[Ints, Ints]:
    """Return i and j from 0 with (i + 1) (j + 1) at most the length of the list, both below ``most``."""
    i = np.repeat(np.arange(most), [min(most, MOST_QUADRUPLES // (k + 1)) for k in range(most)])
    starts = np.searchsorted(i, i)
    return i, np.arange(len(i)) - starts
