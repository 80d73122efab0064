"""Which pairs of sites act together: what the model would gain by taking two sites as one, tested pair by pair."""

from __future__ import annotations

from dataclasses import asdict, dataclass, replace
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..arrays import Floats, Ints
from ..domain.elimination import Eliminated, Solver
from ..domain.features import SiteFeatures
from ..domain.library import Library
from .additivity import holm
from .diagnostics import figures_of

WORTH = 0.01
"""A pair is proposed when its gain would come by chance less often than this, over all pairs together."""
_LARGEST_RANK = 600
"""Unknowns beyond which no pairs are tried: each takes the cube of them."""
_MOST_PAIRS = 60
"""Pairs that are tried; more than eleven sites have more."""


@dataclass(frozen=True, slots=True)
class Interaction:
    """One pair of sites taken as one, against the sum of their effects; model scale."""

    sites: tuple[str, str]
    rank_before: int
    rank_after: int
    freedom_after: int
    """Degrees of freedom for lack of fit that are left with the pair as one site."""
    explained: float
    """Share of what the model leaves of the values that the pair takes up."""
    p: float
    """Of the F test of that share against what is then left, over all pairs together (Holm)."""
    q2_before: float | None
    q2_after: float | None
    lack_before: float | None
    """p of the lack of fit against the noise; None without a noise, or a degree of freedom."""
    lack_after: float | None

    @property
    def worth(self) -> bool:
        """Whether it should be proposed."""
        return self.p < WORTH

    def as_json(self) -> dict[str, Any]:
        """Return the JSON of the command line."""
        return {**asdict(self), "sites": list(self.sites), "worth_trying": self.worth}


def interactions(
    library: Library, rows: Ints, means: Floats, counts: Floats, noise_sd: float | None
) -> tuple[Interaction, ...]:
    """Return every pair of sites that is not taken as one yet and can be tested, the most telling first.

    ``means`` ``(m,)`` of the measured compounds at ``rows``, ``counts`` the measurements behind each. The test is that
    of nested linear models: F = (gain / its degrees of freedom) / (what is left / its own). What is left holds the
    noise and whatever else is not additive, so a pair is not proposed for a lack of fit that it does not explain.
    """
    features = SiteFeatures.of(library)
    if len(rows) < 2:
        return ()
    before = _Fit(features.codes[rows], features.sizes, means, counts, noise_sd)
    if before.freedom < 2 or before.rank > _LARGEST_RANK:
        return ()
    found = []
    names = [site.name for site in library.sites]
    sizes = [len(site.substituents) for site in library.sites]
    open_pairs = [
        (a, b)
        for a, b in combinations(range(len(names)), 2)
        if (names[a], names[b]) not in library.interactions and min(sizes[a], sizes[b]) > 1
    ]
    from scipy.special import fdtrc

    for a, b in open_pairs[:_MOST_PAIRS]:
        both = library.codes[rows, a].astype(np.intp) * sizes[b] + library.codes[rows, b]
        occurring, column = np.unique(both, return_inverse=True)
        if len(occurring) >= len(rows):
            continue  # every compound would stand for itself
        after = _Fit(
            np.column_stack([features.codes[rows], column]), (*features.sizes, len(occurring)), means, counts, noise_sd
        )
        gained = after.rank - before.rank
        if gained < 1 or after.freedom < 1:
            continue
        gain = max(0.0, before.squares - after.squares)
        rest = after.squares / after.freedom
        p = float(fdtrc(gained, after.freedom, gain / gained / rest)) if rest > 0.0 else float(gain <= 0.0)
        found.append(
            Interaction(
                sites=(names[a], names[b]),
                rank_before=before.rank,
                rank_after=after.rank,
                freedom_after=after.freedom,
                explained=gain / before.squares if before.squares > 0.0 else 0.0,
                p=p,
                q2_before=before.q2,
                q2_after=after.q2,
                lack_before=before.lack,
                lack_after=after.lack,
            )
        )
    found.sort(key=lambda one: (one.p, -one.explained))
    chances = holm([one.p for one in found], len(found))
    return tuple(replace(one, p=p) for one, p in zip(found, chances, strict=True))


class _Fit:
    """A fit's rank, what it leaves, and how it would predict."""

    def __init__(
        self, codes: NDArray[np.integer], sizes: tuple[int, ...], means: Floats, counts: Floats, noise_sd: float | None
    ) -> None:
        features = SiteFeatures(codes, sizes)
        table = Eliminated(features.columns(), features.n_columns)
        once = Solver(table, np.ones(len(means)))
        weighted = once if bool((counts == 1.0).all()) else Solver(table, counts)
        self.rank = table.rank
        self.freedom = len(means) - table.rank
        self.squares = float(counts @ (means - weighted.fitted(means)) ** 2)
        self.q2 = figures_of(once, means).q2
        self.lack: float | None = None
        if noise_sd is not None and noise_sd > 0.0 and self.freedom > 0:
            from scipy.special import chdtrc

            self.lack = float(chdtrc(self.freedom, self.squares / noise_sd**2))
