"""Shares and probabilities as people write them: one place for the window, the command line and the exports."""

from __future__ import annotations


def percent(share: float, digits: int | None = None) -> str:
    """``58 %`` for 0.583: whole per cent; with `digits` that many significant ones, without trailing zeros."""
    return f"{100.0 * share:.0f} %" if digits is None else f"{100.0 * share:.{digits}g} %"


def probability(value: float) -> str:
    """``0.41`` for the probability of a compound; never a bare 0 or 1, because it is none."""
    return "> 0.99" if value > 0.995 else "< 0.01" if value < 0.005 else f"{value:.2f}"
