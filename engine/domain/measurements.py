"""Measured values: as in a table, as a campaign keeps them, and pooled for estimates."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from ..arrays import Floats
from .endpoint import Relation

FEW_REPEATED = 3
"""Compounds measured more than once below which their scatter hardly informs the assay noise."""

_SURELY, _FEWEST = 0.01, 6
"""p from which SDs of means indicate single runs, and the degrees of freedom below which they are not tested."""


@dataclass(frozen=True, slots=True)
class Result:
    """One value of a table, a paste or a typed cell, in the entry unit."""

    compound: str
    """The compound's id."""
    value: float
    endpoint: str | None = None
    """The endpoint's name; None means the only one."""
    relation: Relation = "="
    unit: str | None = None
    """The row's own unit; None means the endpoint's."""
    n: int = 1
    """Independent determinations behind the value (a mean when above 1)."""
    sd: float | None = None
    """SD of those determinations as the lab gives it."""
    round: int | None = None
    """The round it belongs to according to the table or work list; None when none is given."""
    replicate: str = ""
    date: str = ""
    plate: str = ""
    well: str = ""
    batch: str = ""
    comment: str = ""
    excluded: bool = False
    """The table itself marks the value as not to be used (its reason is the comment)."""
    row: int | None = None
    """The row of the file it came from, as a spreadsheet counts."""


@dataclass(frozen=True, slots=True)
class Measurement:
    """One value in a campaign, on the model scale."""

    number: int
    """Unique in the campaign, from 1, in order of entry."""
    compound: int
    """Position in the library."""
    endpoint: int
    """Position among the campaign's endpoints."""
    value: float
    relation: Relation
    n: int
    entered: Result
    """As it was entered; never changed."""
    round: int
    """The round it returned in; 0 for history."""
    phase: int
    """The phase it counts for in decisions; 0 when it counts for none (history, unplanned, late)."""
    counted: int = 0
    """How many planned measurements of that phase it fills (at most n)."""
    excluded: str | None = None
    """Why it is not used; None when it is."""
    withdrawn: bool = False
    """Taken back by undo: as if never entered, but still in the history."""
    corrected: str | None = None
    """Why its value was replaced; None when it is as entered."""

    @property
    def usable(self) -> bool:
        """Whether it enters estimates: exact, not excluded, not withdrawn."""
        return self.relation == "=" and self.excluded is None and not self.withdrawn


@dataclass(frozen=True, slots=True)
class Pooled:
    """Sufficient statistics of many measurements of one endpoint, one entry per arm."""

    counts: Floats
    """``(n_arms,)``, determinations."""
    means: Floats
    """``(n_arms,)``, model scale; 0 where nothing was measured."""


def pool(arms: Iterable[int], values: Iterable[float], n: Iterable[float], n_arms: int) -> Pooled:
    """Return counts and means per arm of values with n determinations each."""
    places = np.fromiter(arms, dtype=np.intp)
    weights = np.fromiter(n, dtype=float)
    levels = np.fromiter(values, dtype=float)
    counts = np.bincount(places, weights, n_arms).astype(float)
    totals = np.bincount(places, weights * levels, n_arms)
    return Pooled(counts, np.divide(totals, counts, out=np.zeros(n_arms), where=counts > 0))


def replicate_noise(
    arms: Iterable[int], values: Iterable[float], n: Iterable[int], sds: Iterable[float | None]
) -> tuple[float | None, int]:
    """Return SD between independent measurements of one compound, pooled over compounds, and the compounds behind it.

    None when no compound was measured twice; see ``pure_error``.
    """
    total, freedom, used = pure_error(arms, values, n, sds)
    return (float(np.sqrt(total / freedom)), used) if freedom else (None, 0)


def determinations(n: Sequence[int], sds: Sequence[float | None], stated: float | None) -> list[int]:
    """Return the independent determinations behind each value: its n, and 1 where SDs show that an n counts one run.

    What differs from run to run is in the noise of a value and not in the SD within its run. Where the SDs that came
    with means of n are surely below the stated noise (chi square, p < 0.01), n more wells were no more runs.
    """
    means = [(count - 1, sd) for count, sd in zip(n, sds, strict=True) if count > 1 and sd is not None and sd >= 0]
    freedom = sum(count for count, _ in means)
    if not stated or freedom < _FEWEST:
        return list(n)
    from scipy.special import chdtr

    if chdtr(freedom, sum(count * sd * sd for count, sd in means) / stated**2) >= _SURELY:
        return list(n)
    return [1 if sd is not None and sd >= 0 else count for count, sd in zip(n, sds, strict=True)]


def pure_error(
    arms: Iterable[int], values: Iterable[float], n: Iterable[int], sds: Iterable[float | None]
) -> tuple[float, int, int]:
    """Sum of squares between measurements of one compound, its degrees of freedom, and the compounds behind it.

    A mean of n determinations with an SD adds its n - 1 degrees of freedom; two or more single values (or means) of
    one compound add theirs, each weighted by its n.
    """
    groups: dict[int, list[tuple[float, int, float | None]]] = {}
    for arm, value, count, sd in zip(arms, values, n, sds, strict=True):
        groups.setdefault(arm, []).append((value, count, sd))
    total, freedom, used = 0.0, 0, 0
    for entries in groups.values():
        before = freedom
        for _, count, sd in entries:
            if count > 1 and sd is not None and sd >= 0:
                total += (count - 1) * sd * sd
                freedom += count - 1
        if len(entries) > 1:
            weight = np.array([count for _, count, _ in entries], dtype=float)
            level = np.array([value for value, _, _ in entries])
            total += float(weight @ (level - np.average(level, weights=weight)) ** 2)
            freedom += len(entries) - 1
        used += freedom > before
    return total, freedom, used
