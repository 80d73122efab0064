"""Ticks where people expect them: at steps of 1, 2, 2.5 and 5, not of 3, 6 or 8."""

from __future__ import annotations

from matplotlib.ticker import MaxNLocator

__all__ = ["round_ticks", "whole_ticks"]


def round_ticks(most: int) -> MaxNLocator:
    """Where the ticks of a scale of values are: at most so many steps."""
    return MaxNLocator(nbins=most, steps=[1, 2, 2.5, 5, 10])


def whole_ticks(most: int) -> MaxNLocator:
    """Where the ticks of a scale of counts are: at most so many steps, at whole numbers only."""
    return MaxNLocator(nbins=most, steps=[1, 2, 5, 10], integer=True, min_n_ticks=1)
