"""XY designs and whole measurements for listed directions, of large tables as quickly as a plan is waited for."""

from __future__ import annotations

from ..domain.features import ProjectedFeatures
from ..system.progress import Report, silent
from .balance import Balanced, balanced
from .completion import completed
from .criteria import Design
from .directions import Rows
from .rounding import Rounded, round_design
from .xy import xy_optimal

__all__ = ["prompt_design", "prompt_whole"]

_LARGE = 20_000
"""Compounds times effects from which on the thorough ways take long: 960 compounds of 28 effects take a second, 10,000
of 63 half a minute. The plans of the quick ones are better there: they are made whole with all compounds in view."""


def prompt_design(candidates: ProjectedFeatures, directions: Rows, *, gap: float, report: Report = silent) -> Design:
    """A design as ``xy_optimal`` finds it, of a large table sooner; its gap is proven either way."""
    if candidates.n_rows * candidates.rank >= _LARGE:
        found = balanced(candidates, directions, gap=gap, report=report)
        if found is not None:
            return found
    return xy_optimal(candidates, directions, gap=gap, report=report)


def prompt_whole(
    design: Design,
    candidates: ProjectedFeatures,
    n: int,
    *,
    directions: Rows | None = None,
    most: int | None = None,
    report: Report = silent,
) -> Rounded:
    """Whole measurements as ``round_design`` finds them, of a design found quickly as quickly."""
    if isinstance(design, Balanced) and directions is not None:
        found = completed(design, candidates, directions, n, most, report)
        if found is not None:
            return found
    return round_design(design, candidates, n, directions=directions, most=most, report=report)
