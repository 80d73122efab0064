"""Measurements of an endpoint, and the rows that the series model is fitted to."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray
from scipy.special import chdtrc

from ...arrays import Floats, Ints
from ...domain.endpoint import Kind
from . import likelihoods
from .scales import Scale
from .variances import FLAT, Around, Rows

_SURELY = 2.5
"""Standard errors by which values are beyond an end that is then dropped: the largest of a hundred errors."""
_CONTRADICTED = 1e-3
"""Probability of so large a scatter of replicates below which a stated noise is not believed."""
_SPREAD_OF_ODDS = 2.0
"""Variance that log odds are expected to have, and that of the prior on their mean."""


@dataclass(frozen=True, slots=True)
class Measured:
    """Measurements of one endpoint, larger values being better; one entry per result, in any order."""

    arms: Ints
    """``(n,)`` which compound; from their number on controls, which nothing is known of but that they stay the same."""
    values: Floats
    """``(n,)`` exact values; NaN for bounds."""
    counts: Floats
    """``(n,)`` how many determinations each is the mean of."""
    low: Floats
    """``(n,)`` the lower limit of a bound; -inf where open. Anything for exact values."""
    high: Floats
    """``(n,)`` the upper limit of a bound; inf where open."""
    shifts: tuple[Ints, ...] = ()
    """``(n,)`` per kind of shift (plate, day, source): the group; -1 for none."""
    centred: int = 0
    """How many kinds of shift, the first ones, are differences from the mean of all values that have a group."""

    def __len__(self) -> int:
        return len(self.arms)

    def compounds(self, n: int) -> Ints:
        """Return which of the first ``n`` compounds were measured, each once."""
        return np.unique(self.arms[self.arms < n])

    def take(self, chosen: Ints) -> Measured:
        """Return some of the results."""
        names = ("arms", "values", "counts", "low", "high")
        fields = {name: getattr(self, name)[chosen] for name in names}
        shifts = tuple(shift[chosen] for shift in self.shifts)
        return Measured(**fields, shifts=shifts, centred=self.centred)

    def joined(self, new: Measured) -> Measured:
        """Return these results and some new ones without shifts."""
        names = ("arms", "values", "counts", "low", "high")
        fields = {name: np.concatenate([getattr(self, name), getattr(new, name)]) for name in names}
        none = np.full(len(new), -1, dtype=np.intp)
        shifts = tuple(np.concatenate([shift, none]) for shift in self.shifts)
        return Measured(**fields, shifts=shifts, centred=self.centred)

    @classmethod
    def nothing(cls) -> Measured:
        """Return no result."""
        return cls.exact(np.zeros(0, dtype=np.intp), np.zeros(0), np.zeros(0))

    @classmethod
    def exact(cls, arms: Ints, values: Floats, counts: Floats) -> Measured:
        """Return exact values without shifts."""
        n = len(arms)
        return cls(arms, values, counts, np.full(n, -np.inf), np.full(n, np.inf))


@dataclass(frozen=True, slots=True)
class Merged:
    """Results by compound and shift, on the scale they are measured on; bounds one by one."""

    rows: Rows
    """Values are NaN where only a bound is known."""
    low: Floats
    """``(n,)`` limits of the bounds; infinite where open, and for exact values."""
    high: Floats
    noise_sd: float
    """Of one measurement: as stated, else a first guess."""
    kind: Kind
    trials: Floats
    """``(n,)`` determinations of each row."""

    def take(self, chosen: Ints) -> Merged:
        """Return some of the rows."""
        return replace(
            self,
            rows=self.rows.take(chosen),
            low=self.low[chosen],
            high=self.high[chosen],
            trials=self.trials[chosen],
        )

    def split(self, most: int, rng: np.random.Generator) -> tuple[Merged, Rows]:
        """Return so many rows, drawn at random, and the exact ones of the others, one per compound."""
        chosen = np.zeros(len(self.rows), dtype=bool)
        chosen[rng.choice(len(self.rows), most, replace=False)] = True
        others = self.rows.take(np.flatnonzero(~chosen & np.isfinite(self.rows.values)))
        _, first, group = np.unique(others.arms, return_index=True, return_inverse=True)
        weight = np.bincount(group, 1.0 / others.noise)
        values = np.bincount(group, others.values / others.noise) / weight
        kept = replace(others.take(first), values=values, noise=1.0 / weight)
        return self.take(np.flatnonzero(chosen)), kept

    def some(self, most: int, rng: np.random.Generator) -> Merged:
        """Return at most so many rows, drawn at random."""
        if len(self.rows) <= most:
            return self
        return self.take(np.sort(rng.choice(len(self.rows), most, replace=False)))

    def reached(self, ends: tuple[float, float]) -> tuple[float, float]:
        """Return the known ends, moved out as far as some compound's values are surely beyond them."""
        exact = np.isfinite(self.rows.values)
        values, error = self.rows.values[exact], _SURELY * self.noise_sd / np.sqrt(self.trials[exact])
        return float((values + error).min(initial=ends[0])), float((values - error).max(initial=ends[1]))

    def typical(self, scale: Scale) -> Floats:
        """Return the values, and for a bound one half an SD of the values inside it, ``(n,)``; all inside the scale."""
        exact = np.isfinite(self.rows.values)
        half = 0.5 * float(np.std(self.rows.values[exact])) if exact.sum() > 1 else 0.5
        inside = np.where(np.isfinite(self.low), self.low + half, self.high - half)
        both = np.isfinite(self.low) & np.isfinite(self.high)
        inside[both] = 0.5 * (self.low[both] + self.high[both])
        values = np.where(exact, self.rows.values, inside)
        return scale.inside(values, self.noise_sd) if self.kind == "value" else np.maximum(values, 1e-9)

    def tilted(self, scale: Scale, rows: Rows, of_one: float) -> list[tuple[Ints, likelihoods.Tilted]]:
        """Return the rows that are no plain values, with what was measured of them on a scale.

        ``rows``: on that scale; ``of_one``: the noise variance of one measurement there, in units of the rows'.
        """
        exact = np.isfinite(self.rows.values)
        bounded, found = np.flatnonzero(~exact), []
        if self.kind != "value":
            trials = self.trials[exact]
            smooth = 1.0 if self.kind == "yes-no" else 0.0
            totals = np.maximum(self.rows.values[exact] * (trials + smooth) - 0.5, 0.0)
            likelihood = likelihoods.yes_or_no if self.kind == "yes-no" else likelihoods.counts
            found.append((np.flatnonzero(exact), likelihood(totals, trials)))
        if len(bounded):
            low, high = (
                np.where(np.isfinite(side), scale.forward(np.where(np.isfinite(side), side, 0.0)), side)
                for side in (self.low[bounded], self.high[bounded])
            )
            found.append((bounded, likelihoods.between(low, high, rows.noise[bounded] * of_one)))
        return found


def _contradicted(squares: float, freedom: int, noise_sd: float) -> bool:
    """Return whether replicates scatter so much more than stated that the noise has to be learned.

    Less than stated is no reason: values that were copied or rounded scatter little, too.
    """
    return freedom > 0 and noise_sd > 0 and bool(chdtrc(freedom, squares / noise_sd**2) < _CONTRADICTED)


def merge(
    codes: NDArray[np.integer],
    others: Sequence[Floats],
    measured: Measured,
    noise_sd: float | None,
    *,
    sure: bool = False,
    kind: Kind = "value",
) -> Merged:
    """Return the results by compound and shift; replicates may speak against a stated noise, unless it is ``sure``.

    Where replicates estimate the noise, equal values of a compound count as one: copied rows would suggest no noise.
    Shares and counts are moved inside of their scale as if half an answer or count more of each kind had come.
    """
    if kind != "value":
        noise_sd, sure = 1.0, True
    exact = np.flatnonzero(np.isfinite(measured.values))
    bounds = np.flatnonzero(~np.isfinite(measured.values))
    keys = np.column_stack([measured.arms[exact], *(shift[exact] for shift in measured.shifts)])
    _, first, group = np.unique(keys, axis=0, return_index=True, return_inverse=True)
    group = group.ravel()
    weights, values = measured.counts[exact], measured.values[exact]
    counts = np.bincount(group, weights, len(first))
    means = np.bincount(group, weights * values, len(first)) / np.maximum(counts, 1e-300)
    squares = float((weights * (values - means[group]) ** 2).sum())
    freedom = len(exact) - len(first)
    if noise_sd is not None and not sure and _contradicted(squares, freedom, noise_sd):
        noise_sd = None
    if noise_sd is None:
        once = np.unique(np.column_stack([keys, values]), axis=0, return_index=True)[1]
        if len(once) < len(exact):
            kept = np.sort(np.concatenate([exact[once], bounds]))
            return merge(codes, others, measured.take(kept), None, sure=sure, kind=kind)
    spread = float(np.std(means)) if len(means) > 1 else 1.0
    guess = math.sqrt(squares / freedom) if freedom and squares > 0 else 0.2 * spread
    shown = np.concatenate([exact[first], bounds])
    each = np.concatenate([1.0 / np.maximum(counts, 1.0), np.ones(len(bounds))])
    rows = Rows(
        codes[measured.arms[shown]],
        measured.arms[shown],
        np.concatenate([means, np.full(len(bounds), np.nan)]),
        each if noise_sd is None else each * noise_sd**2,
        tuple(shift[shown] for shift in measured.shifts),
        noise_sd is None,
        squares,
        freedom,
        others=tuple(one[measured.arms[shown]] for one in others),
        centred=measured.centred,
    )
    none = np.full(len(first), np.inf)
    low, high = np.concatenate([-none, measured.low[bounds]]), np.concatenate([none, measured.high[bounds]])
    sd = max(guess if noise_sd is None else noise_sd, 1e-12)
    trials = np.concatenate([np.maximum(counts, 1.0), np.ones(len(bounds))])
    if kind != "value":
        rows, sd = _of_kind(kind, rows, trials)
    return Merged(rows, low, high, sd, kind, trials)


def _of_kind(kind: Kind, rows: Rows, trials: Floats) -> tuple[Rows, float]:
    """Return shares or counts inside of their scale, with their noise there and the SD of a usual one."""
    exact = np.isfinite(rows.values)
    totals = rows.values * trials
    total, n = float(totals[exact].sum()), float(trials[exact].sum())
    if kind == "yes-no":
        values = (totals + 0.5) / (trials + 1.0)
        noise = values * (1.0 - values) / trials
        share = (total + 1.0) / (n + 2.0)
        around = Around(math.log(share / (1.0 - share)), _SPREAD_OF_ODDS, 1.0)
        sd = math.sqrt(share * (1.0 - share))
    else:
        values = (totals + 0.5) / trials
        noise = values / trials
        logs, errors = np.log(values[exact]), 1.0 / np.maximum(totals[exact], 0.5)
        spread = max(float(np.var(logs) - errors.mean()), 0.25) if exact.any() else 1.0
        mean = (total + 0.5) / max(n, 1.0)
        around, sd = Around(math.log(mean), spread, FLAT), math.sqrt(mean)
    noise = np.where(exact, noise, sd**2)
    return replace(rows, values=values, noise=noise, around=around), sd
