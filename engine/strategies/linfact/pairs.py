"""How far behind the best each compound is, by bounds on differences; the matrix of all pairs is never held.

The difference of i and j is known to within D_ij = s ||a_i - a_j||_{V^-1}. What decides about i are two numbers: the
largest mu_j - mu_i - D_ij (so far behind it is at least) and the largest mu_j - mu_i + D_ij (at most).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from ...arrays import Floats, Ints
from ...domain.features import OUTSIDE_TOLERANCE
from ...models.ols import Estimate

__all__ = ["Behind", "Differences", "behind"]


_ALL = 4096
"""Up to so many arms all pairs are compared; above, all arms with those that can matter most."""
_STRONGEST = 1024
_ENTRIES = 2_000_000
"""Pairs held at once."""
_DIRECT = 20_000
"""Differences of rows, in entries, up to which they are taken one by one, which keeps all digits."""


@dataclass(frozen=True, slots=True)
class Differences:
    """What a phase says of the differences of some arms."""

    mean: Floats
    """``(n,)``, of what was measured; the difference of two is known when they are of one group."""
    seen: Floats
    """``(n, rank)``: ||seen_i - seen_j|| is the standard error of a difference at a noise SD of 1."""
    group: Ints
    """``(n,)``: 0 for arms in the span of what was measured; others share a number when they differ within it."""
    spread: float
    """Half-width over standard error at a noise SD of 1."""
    promised: float = 0.0
    """Half-widths below this are taken to be this."""
    own: float = 0.0
    """The half-width of an arm's difference to itself: 0, but for the rule as printed."""

    @classmethod
    def of(cls, fit: Estimate, arms: Ints, spread: float, promised: float = 0.0, own: float = 0.0) -> Differences:
        """The differences of arms by a fit."""
        factor = fit.basis @ np.linalg.cholesky(fit.inverse) if fit.rank else fit.basis
        seen = np.empty((len(arms), fit.rank))
        for start in range(0, len(arms), 65_536):
            rows = arms[start : start + 65_536]
            seen[start : start + 65_536] = fit.features.dense(rows) @ factor
        return cls(fit.means(arms), seen, _groups(fit, arms), spread, promised, own)

    @classmethod
    def apart(
        cls, means: Floats, counts: Floats, spread: float, promised: float = 0.0, own: float = 0.0
    ) -> Differences:
        """The differences of measured arms that are as many as the effects: all independent."""
        return cls(means, np.diag(1.0 / np.sqrt(counts)), np.zeros(len(means), dtype=np.intp), spread, promised, own)

    def half(self, first: Ints, second: Ints) -> Floats:
        """D of every pair of one list and another, ``(len(first), len(second))``."""
        a, b = self.seen[first], self.seen[second]
        if a.shape[0] * b.size <= _DIRECT:
            apart = a[:, None, :] - b[None, :, :]
            squares = np.einsum("ijk,ijk->ij", apart, apart)
        else:
            centre = b.mean(axis=0)
            a, b = a - centre, b - centre
            squares = np.einsum("ij,ij->i", a, a)[:, None] + np.einsum("ij,ij->i", b, b) - 2.0 * (a @ b.T)
            np.maximum(squares, 0.0, out=squares)
        half: Floats = np.sqrt(squares, out=squares)
        half *= self.spread
        if self.promised > 0.0:
            half[half <= self.promised * (1.0 + 1e-9)] = self.promised
        if self.group.any():
            half[self.group[first][:, None] != self.group[second]] = np.inf
        half[first[:, None] == second] = self.own
        return half


class Behind(NamedTuple):
    """How far each arm is behind the best of some arms, in the model's scale."""

    least: Floats
    """``(n,)``, at least 0: surely so far behind."""
    most: Floats
    """``(n,)``: surely no farther behind; infinite when it cannot be compared with some arm."""
    most_known: Floats
    """``(n,)``: the same against arms of its own group only."""


def behind(differences: Differences) -> Behind:
    """The bounds of every arm against all others; with very many arms ``most`` may be larger and ``least`` smaller.

    They hold all the same: above ``_ALL`` arms, only the strongest are compared one by one, and the rest is bounded by
    D_ij <= s ||a_i|| + s ||a_j|| together.
    """
    n = len(differences.mean)
    mean, group = differences.mean, differences.group
    rivals = np.arange(n)
    rest = np.zeros(0, dtype=np.intp)
    reach = np.zeros(0)
    if n > _ALL:
        reach = differences.spread * np.linalg.norm(differences.seen, axis=1)
        strong = np.zeros(n, dtype=bool)
        strong[np.argsort(-mean, kind="stable")[:_STRONGEST]] = True
        strong[np.argsort(-(mean + reach), kind="stable")[:_STRONGEST]] = True
        rivals, rest = np.flatnonzero(strong), np.flatnonzero(~strong)
    least, most, known = np.zeros(n), np.zeros(n), np.zeros(n)
    step = max(1, _ENTRIES // max(len(rivals), 1))
    for start in range(0, n, step):
        rows = np.arange(start, min(start + step, n))
        half = differences.half(rows, rivals)
        ahead = mean[rivals] - mean[rows, None]
        least[rows] = np.maximum((ahead - half).max(axis=1), 0.0)
        ahead += half
        most[rows] = ahead.max(axis=1)
        if group.any():
            ahead[np.isinf(half)] = -np.inf
        known[rows] = ahead.max(axis=1)
    if len(rest):
        shared = group[rest] == 0
        farthest = float((mean[rest] + reach[rest])[shared].max(initial=-np.inf))
        highest = float(mean[rest][shared].max(initial=-np.inf))
        bound = np.maximum(farthest - mean + reach, highest - mean + differences.promised)
        known = np.maximum(known, bound)
        most = np.maximum(most, bound if shared.all() else np.inf)
    # An arm is not behind itself; rounding alone can say so.
    return Behind(least, np.maximum(most, differences.own), np.maximum(known, differences.own))


def _groups(fit: Estimate, arms: Ints) -> Ints:
    """0 for estimable arms; one number for arms whose parts outside of what was measured are equal."""
    outside = np.flatnonzero(~fit.estimable(arms))
    group = np.zeros(len(arms), dtype=np.intp)
    if len(outside):
        parts = fit.features.dense(arms[outside]) @ fit.outside
        scale = OUTSIDE_TOLERANCE * max(float(np.abs(parts).max()), 1e-300)
        group[outside] = 1 + np.unique(np.round(parts / scale), axis=0, return_inverse=True)[1].ravel()
    return group
