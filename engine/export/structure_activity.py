"""What pictures of structure and activity need of one endpoint, worked out once per state of the campaign."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..arrays import Floats, Ints
from ..campaign.state import Status
from ..domain.endpoint import Endpoint
from ..models.contributions import SiteContributions, contributions
from ..models.leave_one_out import leave_one_out
from ..models.matched_pairs import MatchedPairs, matched_pairs, pairs_of_change
from ..system.progress import Report, silent
from .pictures import Measured, means_of, measured


@dataclass(frozen=True, eq=False)
class Look:
    """Numbers of one endpoint, model scale."""

    status: Status
    place: int
    """The endpoint's position."""
    estimate: Floats
    """``(n,)``, per compound; NaN where unknown."""
    determinations: Ints
    """``(n,)``, usable ones."""
    bounded: Ints
    """``(n,)``, those of which only a bound is known."""
    best_with: tuple[Ints, ...]
    """For each site ``(size,)`` the compound that shows a substituent: the best one that carries it; -1 for none."""
    contributions: tuple[SiteContributions, ...]
    rows: Ints
    """``(m,)``, the measured compounds."""
    means: Floats
    counts: Floats
    predicted: Floats
    """``(m,)``, from the other compounds; NaN where they say nothing."""
    surprise: Floats
    """``(m,)``, measured less predicted in SDs of that difference; NaN as above."""
    used: tuple[tuple[Ints, Ints], ...]
    """For each site and substituent: earlier values, and measurements of the campaign, exact ones and bounds."""
    by_round: Ints
    """Measurements of round 0 (before the first), 1, ..."""

    @property
    def endpoint(self) -> Endpoint:
        """The endpoint."""
        return self.status.endpoints[self.place]

    @property
    def empty(self) -> bool:
        """Whether nothing is known yet."""
        return not bool(np.isfinite(self.estimate).any())


def look(status: Status, place: int, report: Report = silent) -> Look:
    """Everything of one endpoint; tens of milliseconds for a table, seconds for a million compounds."""
    report(0.0, "Fitting")
    library, endpoint = status.library, status.endpoints[place]
    data = measured(status, place)
    report(0.4, "Contributions")
    noise = np.nan if endpoint.noise_sd is None else endpoint.noise_sd
    found = contributions(library, data.fit, data.rows, data.counts, noise)
    predicted = leave_one_out(data.fit, data.rows, data.means, data.counts)
    report(0.6, "Where the measurements went")
    sizes = tuple(len(site.substituents) for site in library.sites)
    own = {place} if endpoint.of is None else {k for k, one in enumerate(status.endpoints) if one.name in endpoint.of}
    used = [m for m in status.measurements if m.endpoint in own and not m.withdrawn and m.excluded is None]
    compounds = np.array([m.compound for m in used], dtype=np.intp)
    numbers = np.array([m.n for m in used], dtype=np.intp)
    rounds = np.array([m.round for m in used], dtype=np.intp)
    before = rounds == 0
    parts = [_used_by_substituent(library.codes, sizes, compounds[here], numbers[here]) for here in (before, ~before)]
    last = max((one.number for one in status.rounds), default=0)
    report(0.8, "The best with each substituent")
    known, n = status.candidates, len(library)
    estimate = known.estimates[endpoint.name]
    return Look(
        status=status,
        place=place,
        estimate=estimate,
        determinations=known.measured_of[endpoint.name],
        bounded=np.bincount([m.compound for m in used if m.relation != "="], minlength=n).astype(np.intp),
        best_with=_best_with(library.codes, sizes, np.where(np.isfinite(estimate), endpoint.sign * estimate, -np.inf)),
        contributions=found,
        rows=data.rows,
        means=data.means,
        counts=data.counts,
        predicted=predicted,
        surprise=_surprise(data, predicted, noise if noise > 0 else 1.0),
        used=tuple(zip(*parts, strict=True)),
        by_round=np.rint(np.bincount(rounds, numbers, last + 1)).astype(np.intp),
    )


@dataclass(frozen=True, eq=False)
class Compared:
    """The matched pairs, cliffs and quadruples of one endpoint."""

    status: Status
    place: int
    """The endpoint's position."""
    rows: Ints
    """``(m,)``, the compounds with a value."""
    means: Floats
    """``(m,)``, model scale."""
    found: MatchedPairs

    def of_change(self, row: int) -> Ints:
        """Return the compounds that show a change of the list, those before it first."""
        one = self.found.changes
        return pairs_of_change(
            self.status.library.codes, self.rows, int(one.site[row]), int(one.before[row]), int(one.after[row])
        )


def compared(status: Status, place: int) -> Compared:
    """Compare the compounds with a value of one endpoint; a second for 10,000 of them."""
    endpoint, known = status.endpoints[place], means_of(status, place)
    rows = np.flatnonzero(known.counts > 0)
    means = known.means[rows]
    noise = np.nan if endpoint.noise_sd is None else endpoint.noise_sd
    found = matched_pairs(status.library.codes, rows, means, known.counts[rows], noise, endpoint.sign)
    return Compared(status, place, rows, means, found)


def _surprise(data: Measured, predicted: Floats, noise: float) -> Floats:
    """Each compound's difference from its prediction over the SD of that difference, sigma / sqrt(n (1 - h)).

    It is the externally estimated residual with the noise given (Cook and Weisberg 1982, section 2.2).
    """
    leverage = np.minimum(data.fit.features.quadratic(data.fit.covariance, data.rows) * data.counts, 1.0)
    found: Floats = (data.means - predicted) * np.sqrt(data.counts * (1.0 - leverage)) / noise
    return found


def _used_by_substituent(
    codes: NDArray[np.integer], sizes: tuple[int, ...], compounds: Ints, weights: Ints
) -> tuple[Ints, ...]:
    """For each site ``(size,)`` determinations of compounds that carry each substituent.

    ``compounds`` ``(m,)`` are those measured (one may come several times), ``weights`` ``(m,)`` determinations.
    """
    at = codes[compounds]
    return tuple(np.rint(np.bincount(at[:, site], weights, size)).astype(np.intp) for site, size in enumerate(sizes))


def _best_with(codes: NDArray[np.integer], sizes: tuple[int, ...], values: Floats) -> tuple[Ints, ...]:
    """For each site and substituent the compound with the largest value that carries it; -1 where none does."""
    order = np.argsort(values, kind="stable")  # of several assignments the last one stays
    found = []
    for site, size in enumerate(sizes):
        best = np.full(size, -1, dtype=np.intp)
        best[codes[order, site]] = order
        found.append(best)
    return tuple(found)
