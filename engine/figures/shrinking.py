"""The set round by round, over the measurements that each round took."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from matplotlib.figure import Figure

from .canvas import SMALL, cut_middle, style
from .palette import LIGHT, Palette
from .rounds import set_by_round
from .ticks import whole_ticks

__all__ = ["shrinking_plot"]


def shrinking_plot(
    inside: Sequence[int],
    undecided: Sequence[int],
    measurements: Sequence[int],
    *,
    words: str = "measurements",
    palette: Palette = LIGHT,
    size: tuple[float, float] = (7.0, 4.5),
    dpi: float = 100.0,
) -> Figure:
    """The figure: the first axes as ``set_by_round``, the second a bar of measurements for each of rounds 0, 1, ...

    All three have one entry per round; that of round 0 is what was there before. ``words`` name the bars.
    """
    figure = set_by_round(inside, undecided, palette=palette, size=size, dpi=dpi)
    if len(inside) < 2:
        return figure
    width, height = figure.get_figwidth(), figure.get_figheight()
    first = figure.axes[0]
    left, right, gap, bottom, top = 0.72 / width, 1.15 / width, 0.42 / height, 0.48 / height, 0.14 / height
    room = 1.0 - bottom - top - gap
    first.set_position((left, bottom + 0.34 * room + gap, 1.0 - left - right, 0.66 * room))
    second = figure.add_axes((left, bottom, 1.0 - left - right, 0.34 * room))
    style(second, palette)
    rounds = np.arange(len(measurements))
    second.bar(rounds, measurements, width=0.55, color=palette.accent, zorder=2)
    for place, number in enumerate(measurements):
        if number and len(measurements) <= 24:
            second.annotate(
                f"{number:,}", (place, number), xytext=(0, 2), textcoords="offset points", ha="center", va="bottom",
                fontsize=SMALL - 1, color=palette.muted, annotation_clip=False,
            )  # fmt: skip
    second.set_ylim(0, 1.22 * max(*measurements, 1))
    ends = (-0.4, len(inside) - 0.6)
    for axes in (first, second):
        axes.set_xlim(*ends)
        axes.xaxis.set_major_locator(whole_ticks(16))
    first.spines["bottom"].set_bounds(ends[0], len(inside) - 1)  # the words stand beside it
    first.set_xlabel("")
    first.set_ylabel("compounds", color=palette.muted, fontsize=SMALL)
    second.set_ylabel(cut_middle(words, 24), color=palette.muted, fontsize=SMALL, parse_math=False)
    second.yaxis.set_major_locator(whole_ticks(3))
    second.set_xlabel("round (0: before the first)", color=palette.muted, fontsize=SMALL)
    return figure
