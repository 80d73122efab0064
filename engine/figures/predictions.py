"""Measured against predicted: each measured compound with its prediction from the others."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Patch
from matplotlib.transforms import Bbox
from numpy.typing import NDArray

from ..arrays import Floats
from .canvas import (
    SMALL,
    blank,
    cut_middle,
    legend,
    mark_all,
    note,
    ring,
    round_ticks,
    with_message,
)
from .palette import LIGHT, Palette


def agreement_plot(
    predicted: Floats,
    measured: Floats,
    status: NDArray[np.int8],
    *,
    named: Sequence[tuple[int, str]] = (),
    selected: int | None = None,
    quantity: str = "value",
    noise_sd: float | None = None,
    palette: Palette = LIGHT,
    size: tuple[float, float] = (3.4, 3.4),
    dpi: float = 100.0,
) -> Figure:
    """Return the figure: measured means against predictions, the line where they agree, and the noise about it.

    ``(m,)`` arrays on the model scale; compounds without a prediction (NaN) are left out, and counted on the axis.
    The band is 1.96 ``noise_sd`` to either side: where one measurement of a well predicted compound falls 19 times
    in 20. ``named`` are places in the arrays with their names, ``selected`` the one that is ringed.
    """
    figure = blank(size, dpi, palette, (0.58, 0.12, 0.62, 0.46))
    axes = figure.axes[0]
    known = np.isfinite(predicted) & np.isfinite(measured)
    if not known.any():
        return with_message(figure, palette, "No compound can be predicted\nfrom the others yet.")
    every = np.concatenate([predicted[known], measured[known]])
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
    legend(figure, [*mark_all(axes, predicted[known], measured[known], status[known], palette), *handles], palette)
    if selected is not None and known[selected]:
        ring(axes, float(predicted[selected]), float(measured[selected]), palette)
    _name(axes, [(float(predicted[k]), float(measured[k]), name) for k, name in named if known[k]], palette)
    missing = int(known.size - known.sum())
    words = f"{quantity} predicted from the others"
    words += f"\n(not shown: {missing:,} that the others cannot predict)" if missing else ""
    letters = max(map(len, words.split("\n")))
    fits = min(SMALL, 72.0 * (size[0] - 0.5) / (0.6 * letters))
    axes.set_xlabel(words, color=palette.text, fontsize=max(fits, 5.0), parse_math=False)
    axes.set_ylabel(f"{quantity} measured", color=palette.text, fontsize=SMALL, parse_math=False)
    axes.xaxis.set_major_locator(round_ticks(6))
    axes.yaxis.set_major_locator(round_ticks(6))
    return figure


def _name(axes: Axes, points: list[tuple[float, float, str]], palette: Palette) -> None:
    """Write names next to points, towards the middle; a name that would overlap another is left out."""
    middle, written = sum(axes.get_xlim()) / 2, list[Bbox]()
    for x, y, name in points:
        side = 1 if x < middle else -1
        label = note(
            axes, cut_middle(name, 22), (x, y), (7 * side, 0), palette.text, SMALL - 1, va="center", zorder=6,
            ha="left" if side > 0 else "right",
        )  # fmt: skip
        box = label.get_window_extent()
        if any(map(box.overlaps, written)):
            label.remove()
        else:
            written.append(box)
