"""What each substituent of a site adds: a point, an interval and the number of measurements behind it."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from matplotlib.figure import Figure

from ..arrays import Floats, Ints
from .canvas import SMALL, blank, cut_middle, note, round_ticks, say
from .palette import LIGHT, Palette

_ROW = 0.185
"""Inches of one substituent."""
_TOP, _BOTTOM = 0.34, 0.50
_LEAST, _LETTER = 0.55, 0.07
"""Inches of the labels' margin, and of a letter in it, about."""
_NUMBERS = 0.42


def contribution_height(count: int) -> float:
    """Inches that so many substituents take."""
    return _TOP + _BOTTOM + _ROW * max(count, 2)


def contribution_ends(value: Floats, low: Floats, high: Floats) -> tuple[float, float]:
    """Ends of an axis for all contributions of an endpoint, so that its sites can be compared; 0 lies between.

    An interval much wider than all differences runs out of the picture rather than squeeze them flat.
    """
    known = value[np.isfinite(value)]
    if not known.size:
        return -1.0, 1.0
    least, most = min(float(known.min()), 0.0), max(float(known.max()), 0.0)
    room = max(most - least, 0.1)
    bounds = np.concatenate([low, high])
    bounds = bounds[np.isfinite(bounds)]
    if bounds.size:
        least = max(min(least, float(bounds.min())), least - 0.4 * room)
        most = min(max(most, float(bounds.max())), most + 0.4 * room)
    pad = 0.04 * (most - least)
    return least - pad, most + pad


def contribution_plot(
    site: str,
    substituents: Sequence[str],
    value: Floats,
    low: Floats,
    high: Floats,
    counts: Ints,
    *,
    ends: tuple[float, float],
    quantity: str = "contribution",
    sign: float = 1.0,
    palette: Palette = LIGHT,
    width: float = 3.4,
    dpi: float = 100.0,
) -> Figure:
    """The figure: one row per substituent in the order given, the first on top; its height follows their number.

    ``value`` with its interval on the model scale, NaN where it is not known, which is said; ``counts`` are
    measurements. ``sign`` -1 when smaller is better.
    """
    n = len(substituents)
    longest = max((len(cut_middle(name)) for name in (site, *substituents)), default=0)
    margin = max(_LEAST, 0.12 + _LETTER * longest)
    figure = blank((width, contribution_height(n)), dpi, palette, (margin, _NUMBERS, _BOTTOM, _TOP))
    axes = figure.axes[0]
    if not n:
        return say(figure, palette, "No substituents.")
    rows = np.arange(n)
    axes.set_xlim(*ends)
    axes.set_ylim(n - 0.4, -0.6)
    axes.axvline(0.0, color=palette.muted, linewidth=0.8, zorder=1)
    axes.grid(axis="x", color=palette.grid, linewidth=0.6, zorder=0)
    axes.set_axisbelow(True)
    known = np.isfinite(value)
    axes.hlines(rows[known], low[known], high[known], color=palette.accent, linewidth=1.6, zorder=2)
    axes.plot(value[known], rows[known], linestyle="none", marker="o", markersize=4.6, color=palette.accent, zorder=3)
    for row in np.flatnonzero(~known).tolist():
        said = "never measured" if counts[row] == 0 else "cannot be distinguished from another site"
        note(
            axes, said, (0.0, row), (4, 0), palette.muted, SMALL - 1.5, coords=axes.get_yaxis_transform(), ha="left",
            va="center", style="italic", zorder=4,
            bbox={"boxstyle": "square,pad=0.1", "facecolor": palette.background, "edgecolor": "none"},
        )  # fmt: skip
    axes.set_yticks(rows, [""] * n)
    axes.tick_params(axis="y", length=0)
    for row, name in enumerate(substituents):
        note(
            axes, cut_middle(name), (0.0, row), (-5, 0), palette.text, SMALL - 0.5, coords=axes.get_yaxis_transform(),
            ha="right", va="center",
        )  # fmt: skip
        note(
            axes, f"{int(counts[row]):,}", (1.0, row), (26, 0), palette.muted, SMALL - 0.5,
            coords=axes.get_yaxis_transform(), ha="right", va="center",
        )  # fmt: skip
    note(
        axes, cut_middle(site), (0.0, 1.0), (-5, 8), palette.text, SMALL + 1.0, coords="axes fraction", ha="right",
        va="bottom", fontweight="bold",
    )  # fmt: skip
    note(axes, "n", (1.0, 1.0), (26, 8), palette.muted, coords="axes fraction", ha="right", va="bottom", style="italic")
    # A number and the room beside it take about half an inch.
    axes.xaxis.set_major_locator(round_ticks(max(2, int((width - margin - _NUMBERS) / 0.48))))
    better = "better →" if sign > 0 else "← better"
    axes.set_xlabel(f"{quantity}   {better}", color=palette.muted, fontsize=SMALL, parse_math=False)
    return figure
