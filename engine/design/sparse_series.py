"""G-optimal designs of sparse series: compounds that alone carry a substituent, and the core of all others.

Where one candidate i alone has a feature, det V(w) = w_i det V(w without i): by that feature's row and column of V, of
which the Schur complement is what the others give. So in the D-optimal design, which is G-optimal (Kiefer and
Wolfowitz 1960), such a candidate has the share 1/d whatever the others have, and the others are designed among
themselves, with the share that is left. Setting one aside may leave another alone; real series often dissolve to a
small core this way. Of whole measurements each candidate set aside has variance 1 / n_i, whatever the others get.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from ..arrays import Ints
from ..domain.elimination import alone_and_core
from ..domain.features import ProjectedFeatures, SiteFeatures
from ..errors import AssayPilotError
from .criteria import Design, Shares, Weighted

__all__ = ["Apart", "apart"]


_WORTH = 48
"""Candidates set aside from which on it pays to design without them."""


class Counted(NamedTuple):
    """Whole measurements of some candidates, their largest variance, and whether no single move lowers it."""

    counts: Ints
    variance: float
    finished: bool


class Apart(NamedTuple):
    """Positions among some candidates: of those that stand alone, and of the core, with the core as candidates."""

    alone: Ints
    core: Ints
    candidates: ProjectedFeatures

    @property
    def rank(self) -> int:
        """The number of effects of all together."""
        return len(self.alone) + self.candidates.rank

    def design(self, of_core: Callable[[ProjectedFeatures], Design]) -> Design:
        """The design of all, from one of the core to the same relative gap."""
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
        """The better of the two even counts of those that stand alone, with what is left for the core.

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


def apart(candidates: ProjectedFeatures) -> Apart | None:
    """The candidates taken apart; None where few of them stand alone, or the table is not one of sites."""
    features = candidates.features
    if not (isinstance(features, SiteFeatures) and features.sizes) or candidates.rank < _WORTH:
        return None
    alone, core = alone_and_core(features.columns(candidates.rows), features.n_columns)
    if len(alone) < _WORTH:
        return None
    return Apart(alone, core, ProjectedFeatures(features, candidates.rows[core]))
