"""Designs in closed form: about as many candidates as effects, and sparse series.

**Even weights on as many candidates as there are effects.** On d independent candidates V^-1 = d B^-1 B^-T, with B of
their rows. Coordinates c of the others in terms of these give everything: leverages are d |c|^2 and the variances of
differences d |c_i - c_j|^2. LinFACT's later phases have no others at all.

**Sparse series: compounds that alone carry a substituent, and the core of all others.** Where one candidate i alone has
a feature, det V(w) = w_i det V(w without i): by that feature's row and column of V, of which the Schur complement is
what the others give. The D-optimal design is also G-optimal (Kiefer and Wolfowitz 1960). In it such a
candidate has the share 1/d whatever the others have. The others have a design of their own, with the remaining share.
Setting one aside may leave another alone; real series often dissolve to a small core this way. Of whole measurements
each candidate set aside has variance 1 / n_i, whatever the others get.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from scipy.linalg import lapack

from ..arrays import Floats, Ints
from ..domain.elimination import alone_and_core
from ..domain.features import ProjectedFeatures, SiteFeatures
from ..errors import AssayPilotError
from .criteria import Design, Shares, Weighted, dual_bound

_OTHERS = 2
"""Candidates, in multiples of the rank, up to which even weights on some of them are worth a try."""
_LARGEST = 200
"""The largest rank likewise: the work is cubic."""
_PIVOT = 1e-6
"""A pivot below this share of the largest shows nearly dependent candidates: no design is returned then."""
_WORTH = 48
"""Candidates set aside from which on it pays to design without them."""


class Even(NamedTuple):
    """Even weights on some candidates, what they reach and what is proven of the best."""

    support: Ints
    value: float
    lower: float

    @property
    def weights(self) -> Floats:
        """One share per position of the support."""
        return np.full(len(self.support), 1.0 / len(self.support))

    @property
    def gap(self) -> float:
        """How far the value may be above the best one, relative."""
        return max(self.value / self.lower - 1.0, 0.0)


def even_design(
    candidates: ProjectedFeatures, room: float, max_support: int | None, gap: float, *, pairs: bool
) -> Even | None:
    """Return even weights on d candidates where these are proven to be within the gap of the best; None elsewhere.

    For G, or for all ``pairs`` of the candidates. G: the optimum is d (Kiefer and Wolfowitz 1960), which d candidates
    without others have exactly. Pairs: with even shares on the pairs among the d, ``dual_bound`` has tr(M S) = 2 d and
    scores 2 d^2 / (d - 1) (|c|^2 - (sum of c)^2 / d). These are 2 d for the d themselves. So they, too, are optimal
    where there are no others.
    """
    n, d = candidates.n_rows, candidates.rank
    if room * d < 1.0 or not d <= n <= _OTHERS * d:
        return None
    if not 1 + pairs <= d <= _LARGEST or (max_support is not None and max_support < d):
        return None
    x = candidates.coordinates()
    if not np.isfinite(x).all():
        return None
    triangle, order, *_ = lapack.dgeqp3(x.T)
    pivots = np.abs(np.diagonal(triangle))
    if pivots[-1] <= _PIVOT * pivots[0]:
        return None
    support = np.sort(order[:d]).astype(np.intp) - 1
    value = lower = float(2 * d if pairs else d)
    if n > d:
        others = lapack.dtrtrs(triangle[:, :d], triangle[:, d:])[0]
        squares = np.einsum("ij,ij->j", others, others)
        if pairs:
            scores = squares - others.sum(axis=0) ** 2 / d
            lower = dual_bound(2.0 * d, max(2.0 * d, 2.0 * d**2 / (d - 1) * float(scores.max())))
            # To one of the d, 1 + |c|^2 - 2 c_i; between two others.
            between = squares[:, None] + squares - 2.0 * (others.T @ others)
            farthest = max(float((1.0 + squares - 2.0 * others.min(axis=0)).max()), float(between.max()))
            value = max(value, d * farthest)
        else:
            value = max(value, d * float(squares.max()))
    found = Even(support, value, lower)
    return found if found.gap <= gap else None


class Counted(NamedTuple):
    """Whole measurements of some candidates, their largest variance, and whether no single move lowers it."""

    counts: Ints
    variance: float
    finished: bool


class Separated(NamedTuple):
    """Positions among some candidates: of those that stand alone, and of the core, with the core as candidates."""

    alone: Ints
    core: Ints
    candidates: ProjectedFeatures

    @property
    def rank(self) -> int:
        """The number of effects of all together."""
        return len(self.alone) + self.candidates.rank

    def design(self, of_core: Callable[[ProjectedFeatures], Design]) -> Design:
        """Return the design of all, from one of the core to the same relative gap."""
        d, rank = self.rank, self.candidates.rank
        positions, shares = self.alone, np.full(len(self.alone), 1.0 / d)
        value, gap, converged, looks, seconds = float(d), 0.0, True, 0, 0.0
        if rank:
            core = of_core(self.candidates)
            positions = np.concatenate([positions, self.core[core.support]])
            shares = np.concatenate([shares, core.weights * (rank / d)])
            value = d * max(1.0, core.value / rank)
            gap, converged, looks, seconds = core.gap, core.converged, core.iterations, core.seconds
        order = np.argsort(positions)
        return Design("g", positions[order], shares[order], value, float(d), converged, looks, seconds, gap)

    def rounded(
        self, design: Weighted, n: int, most: int, of_core: Callable[[Weighted, int], Counted]
    ) -> Counted | None:
        """Return the better of the two even counts of those that stand alone, with what is left for the core.

        What the core cannot hold at ``most`` of each goes to some that stand alone. ``counts`` is by position among all
        candidates. None where the design leaves the core out, or where neither leaves enough for it.
        """
        inside = np.isin(design.support, self.core)
        if self.candidates.rank and not inside.any():
            return None
        places = np.searchsorted(self.core, np.asarray(design.support)[inside])
        weights = np.asarray(design.weights)[inside]
        found: Counted | None = None
        for each in (n // self.rank, n // self.rank + 1):
            left = n - each * len(self.alone)
            over = max(left - most * len(self.core), 0)
            left -= over
            full = over > len(self.alone) or each + bool(over) > most
            if each < 1 or left < self.candidates.rank or full:
                continue
            if not self.candidates.rank:
                core = Counted(np.zeros(0, dtype=np.intp), 0.0, True)
            else:
                try:
                    core = of_core(Shares(places, weights / weights.sum()), left)
                except AssayPilotError:
                    continue
            counts = np.zeros(len(self.alone) + len(self.core), dtype=np.intp)
            counts[self.alone] = each
            counts[self.alone[:over]] += 1
            counts[self.core] = core.counts
            own = 1.0 / (each + 1 if over == len(self.alone) else each)
            # One more measurement of one of several that are equally worst changes nothing.
            held = own >= core.variance and len(self.alone) - over > 1
            one = Counted(counts, max(own, core.variance), held)
            if found is None or one.variance < found.variance:
                found = one
        return found


def separated(candidates: ProjectedFeatures) -> Separated | None:
    """Separate the candidates; return None where few of them stand alone, or the table has no sites."""
    features = candidates.features
    if not (isinstance(features, SiteFeatures) and features.sizes) or candidates.rank < _WORTH:
        return None
    alone, core = alone_and_core(features.columns(candidates.rows), features.n_columns)
    if len(alone) < _WORTH:
        return None
    return Separated(alone, core, ProjectedFeatures(features, candidates.rows[core]))
