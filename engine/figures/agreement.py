"""Measured against predicted: each measured compound, with what the model says of it from the others."""

from __future__ import annotations

import numpy as np
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Patch
from numpy.typing import NDArray

from ..arrays import Floats
from .canvas import SMALL, blank, round_ticks, say
from .front import WORDS, legend
from .palette import LIGHT, MARKERS, Palette

_MANY = 300
"""Compounds above which their marks are drawn smaller."""


def agreement_plot(
    predicted: Floats,
    measured: Floats,
    status: NDArray[np.int8],
    *,
    quantity: str = "value",
    noise_sd: float | None = None,
    palette: Palette = LIGHT,
    size: tuple[float, float] = (3.4, 3.4),
    dpi: float = 100.0,
) -> Figure:
    """The figure: measured means against predictions, the line where they agree, and the noise about it.

    ``(m,)`` arrays on the model scale; compounds without a prediction (NaN) are left out, and counted on the axis.
    The band is 1.96 ``noise_sd`` to either side: where one measurement of a well predicted compound falls 19 times
    in 20.
    """
    figure = blank(size, dpi, palette, (0.58, 0.12, 0.62, 0.46))
    axes = figure.axes[0]
    known = np.isfinite(predicted) & np.isfinite(measured)
    if not known.any():
        return say(figure, palette, "No compound can be predicted\nfrom the others yet.")
    x, y, state = predicted[known], measured[known], status[known]
    every = np.concatenate([x, y])
    least, most = float(every.min()), float(every.max())
    pad = 0.06 * max(most - least, 0.1)
    ends = np.array([least - pad, most + pad])
    axes.set_xlim(*ends)
    axes.set_ylim(*ends)
    handles: list[Line2D | Patch] = []
    if noise_sd is not None:
        reach = 1.96 * noise_sd
        axes.fill_between(ends, ends - reach, ends + reach, color=palette.grid, linewidth=0, zorder=0)
        handles.append(Patch(facecolor=palette.grid, edgecolor="none", label="assay noise"))
    axes.plot(ends, ends, color=palette.muted, linewidth=0.9, zorder=1)
    size_of = 2.6 if x.size > _MANY else 4.4
    for code in (3, 2, 0, 1):
        here = state == code
        if not here.any():
            continue
        colour, hollow = palette.status[code], code == 2
        face = palette.background if hollow else colour
        axes.plot(
            x[here], y[here], linestyle="none", marker=MARKERS[code], color=colour, markersize=size_of,
            markerfacecolor=face, markeredgewidth=1.0, zorder=2 if code >= 2 else 4,
        )  # fmt: skip
        handles.append(
            Line2D([], [], linestyle="none", marker=MARKERS[code], color=colour, markerfacecolor=face, markersize=5.0,
                   label=WORDS[code])
        )  # fmt: skip
    legend(figure, handles[::-1], palette)
    missing = int(known.size - known.sum())
    words = f"{quantity} predicted from the other compounds"
    if missing:
        words += f"\n({missing:,} measured compounds that the others say nothing of are not shown)"
    axes.set_xlabel(words, color=palette.text, fontsize=SMALL - (0.5 if missing else 0.0), parse_math=False)
    axes.set_ylabel(f"{quantity} measured", color=palette.text, fontsize=SMALL, parse_math=False)
    axes.xaxis.set_major_locator(round_ticks(6))
    axes.yaxis.set_major_locator(round_ticks(6))
    return figure
