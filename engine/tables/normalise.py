"""What rows and columns of a table mean together, once it is read: marks of sites, sums, points of curves."""

from __future__ import annotations

from .curves import without_points
from .indicators import with_sites
from .raw import RawTable
from .summaries import without_summaries

__all__ = ["as_meant"]


def as_meant(raw: RawTable) -> RawTable:
    """Return the table with its sites in columns, and without rows and cells that are no values of their own.

    Said in it.
    """
    return without_points(without_summaries(with_sites(raw)))
