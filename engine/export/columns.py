"""How wide the columns of a table are when it must fit a page or a slide."""

from __future__ import annotations

from collections.abc import Sequence

__all__ = ["shared_out"]

_HALVINGS = 40
"""Enough to find a width to far below a point."""


def shared_out(natural: Sequence[float], least: Sequence[float], width: float) -> list[float]:
    """Return the columns' widths, at most ``width`` together.

    ``natural`` are what the texts need on one line, ``least`` what their longest words need, never more. When all fit
    they get what they need. Else none gets more than a common limit, unless its longest word needs it, so that a
    column of long texts takes nothing from short ones; when the longest words do not fit, the same holds for those.
    """
    if sum(natural) <= width:
        return list(natural)
    if sum(least) >= width:
        natural, least = least, [0.0] * len(least)
    low, high = 0.0, max(natural)
    for _ in range(_HALVINGS):
        limit = (low + high) / 2.0
        low, high = (low, limit) if sum(_limited(natural, least, limit)) > width else (limit, high)
    return _limited(natural, least, low)


def _limited(natural: Sequence[float], least: Sequence[float], limit: float) -> list[float]:
    return [max(word, min(text, limit)) for word, text in zip(least, natural, strict=True)]
