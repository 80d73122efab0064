"""Whether compounds deviate from the sum of their substituents' effects, by how much, and which of them most.

A compound's mean is x'theta + Delta. Means y of n measurements each have weights w = 1 / (tau^2 + sigma^2 / n). Least
squares leaves Q(tau) = sum w (y - x'theta)^2. This is chi square with (rows - rank) degrees of freedom when Delta is
normal with SD tau, independent between compounds. So

- at tau = 0 it is the test of lack of fit against a stated noise (Draper and Smith 1998, section 2.1);
- the tau at which Q is a quantile of chi square is an exact bound of tau (Q profile; Viechtbauer 2007, Statistics in
  Medicine 26, 37-52), and that at which it is its mean an estimate (Paule and Mandel 1982). Q is convex in tau^2, with
  the derivative - sum w^2 (y - x'theta)^2, so that Newton's steps from the left never pass the root.
- deviations that are not random but at most L have a noncentrality of at most sum n L^2 / sigma^2: a bound of the
  largest deviation from below that assumes nothing of how they are distributed.

Where effects do not add up, ``interactions`` tests pair by pair what the model would gain by taking two sites as one.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..arrays import Flags, Floats, Ints
from ..domain.elimination import Eliminated, Solver
from ..domain.features import SiteFeatures
from ..domain.library import Library
from .diagnostics import LEVERAGE_ONE, figures_of

BOUND = 0.05
"""One minus the confidence of each one-sided bound."""
LISTED = 10
"""How many of the compounds that deviate most are named."""
_STEPS = 60
_EXACT = 1e-10
"""Newton's steps end when one changes tau^2 by less than this share."""


@dataclass(frozen=True, slots=True)
class Cliff:
    """A compound's mean against the model's prediction from all others."""

    place: int
    """Its place among the rows that were judged."""
    measured: float
    off: float
    """Its mean less what the others predict."""
    p: float
    """That noise alone takes the worst so far from its prediction, over all compounds together (Holm)."""


@dataclass(frozen=True, slots=True)
class Additivity:
    """Test and size of one endpoint's deviations from the sum of effects, against a stated noise; model scale."""

    compounds: int
    """Compounds with a value."""
    compared: int
    """Those that others predict."""
    freedom: int
    """Degrees of freedom for lack of fit; 0: nothing can be judged."""
    p: float | None
    """Of the test of lack of fit; None without a degree of freedom."""
    tau: float
    """SD of the compounds' own deviations, estimated."""
    tau_low: float
    """Its one-sided lower bound, of confidence 1 - BOUND."""
    tau_high: float
    """Its one-sided upper bound; infinite while nothing can be judged."""
    seen: float
    """The largest distance of a measured mean from the fitted sum of effects, noise included."""
    error_low: float
    """The largest deviation of a compound is at least this, however deviations are distributed (1 - BOUND)."""
    error_sure: float
    """The same at the confidence 1 - ``sure``: what a stated largest deviation must not be below."""
    cliffs: tuple[Cliff, ...]
    """The compounds that deviate most, in SDs, first."""


def additivity(
    features: SiteFeatures, rows: Ints, means: Floats, counts: Floats, noise_sd: float, *, sure: float = 1e-3
) -> Additivity:
    """Return the additivity of ``means`` ``(m,)`` of the measured ``rows``; ``counts`` are the measurements of each.

    A row may occur several times: compounds with equal substituents have deviations of their own.
    """
    nothing = Additivity(len(rows), 0, 0, None, 0.0, 0.0, math.inf, 0.0, 0.0, 0.0, ())
    if len(rows) < 2 or not noise_sd > 0.0:
        return nothing
    table = Eliminated(features.columns(rows), features.n_columns)
    freedom = len(rows) - table.rank
    if freedom < 1:
        return nothing
    from scipy.special import chdtrc, chdtri

    profile = _Profile(table, means, noise_sd**2 / counts)
    residuals, leverage = profile.residuals(0.0)
    compared = leverage < 1.0 - LEVERAGE_ONE
    statistic = float(np.sum(residuals[compared] ** 2 * counts[compared])) / noise_sd**2
    # From the left: each root is where the next search begins.
    low = profile.root(float(chdtri(freedom, BOUND)), 0.0)
    middle = profile.root(float(freedom), low)
    high = profile.root(float(chdtri(freedom, 1.0 - BOUND)), middle)
    total = float(counts[compared].sum())
    return Additivity(
        compounds=len(rows),
        compared=int(compared.sum()),
        freedom=freedom,
        p=float(chdtrc(freedom, statistic)),
        tau=math.sqrt(middle),
        tau_low=math.sqrt(low),
        tau_high=math.sqrt(high),
        seen=float(np.abs(residuals[compared]).max()),
        error_low=noise_sd * math.sqrt(_noncentrality(statistic, freedom, BOUND) / total),
        error_sure=noise_sd * math.sqrt(_noncentrality(statistic, freedom, sure) / total),
        cliffs=_cliffs(residuals, leverage, means, counts, noise_sd, compared),
    )


class _Profile:
    """Q as a function of tau^2, for rows of known variances ``(m,)`` of their means."""

    def __init__(self, table: Eliminated, means: Floats, variances: Floats) -> None:
        self._table, self._means, self._variances = table, means, variances
        self._even = bool(np.ptp(variances) <= 1e-12 * float(variances.max()))

    def residuals(self, square: float) -> tuple[Floats, Floats]:
        """Return residuals and leverages ``(m,)`` of the fit at tau^2 = ``square``; rows that fit exactly have none."""
        solver = Solver(self._table, 1.0 / (square + self._variances))
        residuals = self._means - solver.fitted(self._means)
        residuals[solver.leverage > 1.0 - LEVERAGE_ONE] = 0.0
        return residuals, solver.leverage

    def root(self, level: float, start: float) -> float:
        """Return the tau^2 >= ``start`` at which Q is ``level``; ``start`` where it is below already."""
        square = start
        for _ in range(_STEPS):
            solver = Solver(self._table, 1.0 / (square + self._variances))
            squares = (self._means - solver.fitted(self._means)) ** 2
            if self._even:
                # One fit serves all: Q is the sum of squares over tau^2 + sigma^2 / n.
                return max(start, float(squares.sum()) / level - float(self._variances[0]))
            weights = 1.0 / (square + self._variances)
            gap = float(weights @ squares) - level
            if gap <= 0.0:
                return square
            step = gap / float(weights**2 @ squares)
            square += step
            if step <= _EXACT * square:
                return square
        return square


def _noncentrality(statistic: float, freedom: int, level: float) -> float:
    """Return the least noncentrality for which chi square reaches the statistic with a probability of ``level``."""
    from scipy.special import chdtrc, chndtr

    if chdtrc(freedom, statistic) >= level:
        return 0.0
    low, high = 0.0, max(statistic, 1.0)  # there it is reached more often than not
    for _ in range(_STEPS):
        middle = (low + high) / 2.0
        low, high = (low, middle) if 1.0 - float(chndtr(statistic, freedom, middle)) >= level else (middle, high)
    return high


def _cliffs(
    residuals: Floats, leverage: Floats, means: Floats, counts: Floats, noise_sd: float, compared: Flags
) -> tuple[Cliff, ...]:
    """Return the compounds with the largest standardised residuals, each normal(0, 1) when effects add up."""
    from scipy.special import ndtr

    room = np.where(compared, 1.0 - leverage, 1.0)
    standard = np.where(compared, np.abs(residuals) * np.sqrt(counts / room) / noise_sd, 0.0)
    # Two compounds that only predict each other are equally far off: rounding is not to choose between them.
    order = np.argsort(-np.round(standard, 9), kind="stable")[: min(LISTED, int(compared.sum()))]
    chances = holm(2.0 * ndtr(-standard[order]), int(compared.sum()))
    return tuple(
        Cliff(int(k), float(means[k]), float(residuals[k] / room[k]), chance)
        for k, chance in zip(order, chances, strict=True)
        if residuals[k] != 0.0
    )


def holm(chances: Floats | Sequence[float], family: int) -> list[float]:
    """Return the p of the smallest of ``family`` tests, ascending, adjusted for all of them (Holm 1979)."""
    adjusted, worst = [], 0.0
    for rank, p in enumerate(chances):
        worst = max(worst, min(1.0, (family - rank) * float(p)))
        adjusted.append(worst)
    return adjusted


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
