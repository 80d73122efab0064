"""How wide the columns of a table are when it must fit a page or a slide."""

from __future__ import annotations

from collections.abc import Sequence

__all__ = ["shared_out"]


def shared_out(natural: Sequence[float], least: Sequence[float], width: float) -> list[float]:
    """The columns' widths, at most ``width`` together.

    ``natural`` are what the texts need on one line, ``least`` what their longest words need, never more. When all fit
    they get what they need; else each its least and a part of the rest; else, when even that is too much, less.
    """
    total, lowest = sum(natural), sum(least)
    if total <= width:
        return list(natural)
    if lowest >= width:
        return [one * width / lowest for one in least]
    share = (width - lowest) / (total - lowest)
    return [low + share * (high - low) for low, high in zip(least, natural, strict=True)]
