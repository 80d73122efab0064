"""What every substituent of every site adds, on one scale: a point, an interval and the measurements behind it."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from matplotlib.figure import Figure

from ..arrays import Floats, Ints
from ..text.signed import signed
from .blocks import Block, beside, blocks_figure, row_places
from .canvas import SMALL, blank, cut_middle, say
from .contributions import contribution_ends
from .palette import LIGHT, Palette
from .ticks import round_ticks

__all__ = ["forest_plot"]


_RIGHT = 1.2
"""Inches for the value and the number of measurements."""


def forest_plot(
    blocks: Sequence[Block],
    values: Sequence[tuple[Floats, Floats, Floats, Ints]],
    *,
    quantity: str = "contribution",
    sign: float = 1.0,
    selected: Sequence[int] = (),
    palette: Palette = LIGHT,
    width: float = 7.0,
    height: float = 0.0,
    dpi: float = 100.0,
) -> Figure:
    """The figure: for each block its rows' (value, low, high, measurements), model scale, NaN where not known.

    Its height follows from the rows, and from the ``height`` there is (``blocks_figure``). A filled point is one whose
    interval leaves out 0, the average of its site; a hollow one may be the average. ``selected``: the row marked in
    each block, -1 for none. ``sign`` -1 when smaller is better.
    """
    if not any(block.names for block in blocks):
        return say(blank((width, 2.0), dpi, palette, (0.1, 0.1, 0.1, 0.1)), palette, "No site has a choice.")
    figure, axes = blocks_figure(
        blocks, _RIGHT, palette=palette, width=width, height=height, dpi=dpi, selected=selected
    )
    joined = [np.concatenate([part[k] for part in values]) for k in range(3)]
    axes.set_xlim(*contribution_ends(joined[0], joined[1], joined[2]))
    axes.axvline(0.0, color=palette.muted, linewidth=0.8, zorder=1)
    axes.grid(axis="x", color=palette.grid, linewidth=0.6, zorder=0)
    axes.set_axisbelow(True)
    for places, (value, low, high, counts) in zip(row_places(blocks), values, strict=True):
        known = np.isfinite(value)
        bounded = known & np.isfinite(low) & np.isfinite(high)
        apart = bounded & ((low > 0) | (high < 0))
        axes.hlines(places[bounded], low[bounded], high[bounded], color=palette.accent, linewidth=1.6, zorder=2)
        for here, face in ((apart, palette.accent), (known & ~apart, palette.background)):
            axes.plot(
                value[here], places[here], linestyle="none", marker="o", markersize=5.4, color=palette.accent,
                markerfacecolor=face, markeredgewidth=1.3, zorder=3,
            )  # fmt: skip
        for row in range(len(places)):
            if known[row]:
                beside(axes, places[row], signed(value[row]), palette, 0.55)
            else:
                said = "never measured" if counts[row] == 0 else "cannot be told from another site"
                axes.annotate(
                    said, (0.0, places[row]), xycoords=axes.get_yaxis_transform(), xytext=(4, 0),
                    textcoords="offset points", ha="left", va="center", fontsize=SMALL - 1, style="italic",
                    color=palette.muted, zorder=4, bbox={"boxstyle": "square,pad=0.1", "facecolor": palette.background,
                                                         "edgecolor": "none"},
                )  # fmt: skip
            beside(axes, places[row], f"{int(counts[row]):,}", palette, 1.1)
    beside(axes, -0.15, "n", palette, 1.1)
    axes.xaxis.set_major_locator(round_ticks(8))
    figure.text(
        axes.get_position().x0, 0.08 / figure.get_figheight(), "lines: 95 % intervals; hollow: the interval holds 0",
        ha="left", va="bottom", fontsize=SMALL - 1, color=palette.muted,
    )  # fmt: skip
    better = "better →" if sign > 0 else "← better"
    axes.set_xlabel(
        f"adds to {cut_middle(quantity, 32)}, against the average of its site   {better}", color=palette.muted,
        fontsize=SMALL, parse_math=False,
    )  # fmt: skip
    return figure
