"""Optimal designs by themselves: which compounds to measure how often, with a certificate."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
import pandas as pd

from ..design import Pairs, g_optimal, round_design, xy_optimal
from ..design.directions import Directions, Rows
from ..domain.features import DenseFeatures, Features, ProjectedFeatures, SiteFeatures, outside_span
from ..errors import AssayPilotError
from .frames import Coding, text_of
from .terms import with_keywords


@dataclass(frozen=True, eq=False, repr=False)
class OptimalDesign:
    """A design and how good it is. Values are largest variances times measurements, in units of the noise variance."""

    table: pd.DataFrame
    """Columns ``weight`` (share of the measurements) and ``measurements``; the index is that of the candidates."""
    criterion: str
    """``g``: the worst variance of a mean; ``xy``: that of a difference of two means."""
    value: float
    """Of the weights."""
    lower_bound: float
    """Proven: no weights reach less."""
    measurements: int
    allocation_value: float | None
    """Of the whole measurements; None without any."""

    @property
    def efficiency(self) -> float:
        """Proven lower bound over the value of the weights; 1 is the best possible."""
        return self.lower_bound / self.value

    @property
    def largest_sd(self) -> float | None:
        """Largest SD of what the criterion is about after these measurements, in units of the assay noise (SD)."""
        return None if self.allocation_value is None else math.sqrt(self.allocation_value / self.measurements)

    def __repr__(self) -> str:
        n = int((self.table["weight"] > 0).sum())
        more = (
            "" if self.largest_sd is None else f"; {self.measurements} measurements, largest SD {self.largest_sd:.3g}"
        )
        return (
            f"OptimalDesign({self.criterion}, {n} of {len(self.table)} candidates, value {self.value:.4g}, "
            f"at least {self.lower_bound:.4g} for any{more})"
        )


@with_keywords()
def optimal_design(
    candidates: pd.DataFrame,
    measurements: int | None = None,
    *,
    criterion: Literal["g", "xy"] = "xy",
    targets: pd.DataFrame | None = None,
    sites: Sequence[str] | None = None,
    max_per_candidate: int | None = None,
    max_candidates: int | None = None,
    gap: float = 1e-3,
) -> OptimalDesign:
    """Return the design for a linear model of the candidates that makes the worst variance as small as can be.

    ``candidates``: one row each. Columns of texts are sites with a substituent each (an additive model with an
    intercept); columns that are all numbers are the features as they are, ``(n, d)``. ``sites``: which columns count
    (default: all). ``targets``: rows that must be known well (default: the candidates). ``measurements``: whole
    numbers of them beside the weights. ``max_per_candidate``, ``max_candidates``: limits. ``gap``: to which relative
    gap between value and lower bound is searched.

    AssayPilotError for too few measurements, limits that cannot be met, and targets that nothing tells about.
    """
    if criterion not in ("g", "xy"):
        raise AssayPilotError(f"there is no criterion {criterion!r}", mend="Choose g or xy.")
    columns = list(candidates.columns) if sites is None else list(sites)
    features = features_of([candidates] if targets is None else [candidates, targets], columns)
    n = len(candidates)
    table = ProjectedFeatures(features, np.arange(n))
    wanted = np.arange(n) if targets is None else np.arange(n, features.n_rows)
    outside = outside_span(features, table.basis, wanted)
    if outside.any():
        raise AssayPilotError(
            f"{int(outside.sum()):,} targets cannot be estimated from the candidates",
            row=int(np.flatnonzero(outside)[0]),
            mend="Add candidates with their substituents, or leave these targets out.",
        )
    about = table.onto(wanted)
    worst: Directions = Pairs(about) if criterion == "xy" else Rows(about)
    upper = None
    if max_per_candidate is not None:
        if measurements is None:
            raise AssayPilotError("a limit for each candidate needs measurements", mend="Say how many there are.")
        upper = min(1.0, max_per_candidate / measurements)
    if criterion == "g" and targets is None and upper is None:
        found = g_optimal(table, gap=gap, max_support=max_candidates)
    else:
        found = xy_optimal(table, worst, gap=gap, upper=upper, max_support=max_candidates)
    weights, counts, value = np.zeros(n), np.zeros(n, dtype=np.intp), None
    weights[found.support] = found.weights
    if measurements is not None:
        pool = None if max_candidates is None else found.support
        whole = round_design(found, table, measurements, directions=worst, most=max_per_candidate, pool=pool)
        counts[whole.support], value = whole.counts, whole.value
    shown = pd.DataFrame({"weight": weights, "measurements": counts}, index=candidates.index)
    return OptimalDesign(shown, criterion, found.value, found.lower_bound, measurements or 0, value)


def features_of(tables: Sequence[pd.DataFrame], columns: Sequence[str]) -> Features:
    """Return the features of the rows of tables below each other: sites where any column holds texts, else numbers.

    AssayPilotError for a column that is absent, a missing cell, and numbers that are not finite.
    """
    for table in tables:
        absent = [str(name) for name in columns if name not in table.columns]
        if absent or not columns or not len(table):
            raise AssayPilotError(
                f"the table has no column {', '.join(absent)}" if absent else "the table is empty",
                mend="Name the columns of sites or features.",
            )
    both = pd.concat([table[list(columns)] for table in tables], ignore_index=True)
    if all(pd.api.types.is_numeric_dtype(kind) for kind in both.dtypes):
        matrix = both.to_numpy(dtype=np.float64)
        rows, places = np.nonzero(~np.isfinite(matrix))
        if len(rows):
            raise AssayPilotError(
                "a feature is no finite number",
                row=int(rows[0]),
                column=str(columns[places[0]]),
                mend="Leave the row out.",
            )
        return DenseFeatures(matrix)
    texts = [[text_of(cell) for cell in both[name]] for name in columns]
    for name, column in zip(columns, texts, strict=True):
        if "" in column:
            raise AssayPilotError(
                "a substituent is missing", row=column.index(""), column=str(name), mend="Leave the row out."
            )
    coding = Coding()
    return SiteFeatures(coding.codes(texts).astype(np.int32), tuple(coding.sizes))
