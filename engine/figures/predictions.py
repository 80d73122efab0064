"""Measured against predicted: each measured compound with its prediction from the others, and the worst of a fit."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Patch
from matplotlib.transforms import Bbox
from numpy.typing import NDArray

from ..arrays import Floats
from ..models.report import Residual
from ..text import signed
from .canvas import (
    SMALL,
    blank,
    cut_middle,
    fitting,
    legend,
    mark_all,
    note,
    ring,
    round_ticks,
    with_message,
    words_along,
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
    words = f"{quantity} predicted from the other compounds"
    if missing:
        words += f"\n({missing:,} measured compounds that the others cannot predict are not shown)"
    axes.set_xlabel(words, color=palette.text, fontsize=SMALL - (0.5 if missing else 0.0), parse_math=False)
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


_LETTERS = 22
"""Letters of an id next to its row."""
_MOST = 0.42
"""The share of the picture's width that ids take at most."""
_LINE, _TICKS = 0.15, 0.34
"""Inches of a line below the axes, and of the numbers above it."""


def worst_residuals(
    worst: Sequence[Residual],
    scale: str,
    *,
    residual_sd: float | None = None,
    palette: Palette = LIGHT,
    size: tuple[float, float] = (4.6, 2.4),
    dpi: float = 100.0,
) -> Figure:
    """Return the figure: a row per compound with the model's value (ring), the measured one (disc) and the difference.

    ``worst`` as the model report orders them, the largest first and on top; ``scale`` names the axis. With
    ``residual_sd`` a band of twice that is around the model's value: values beyond it are unusual.
    """
    figure = blank(size, dpi, palette, (0.15, 0.75, 0.62, 0.12))
    axes = figure.axes[0]
    if not worst:
        return with_message(figure, palette, "No compound can be compared with others.")
    width = size[0] * 96.0
    letters = min(_LETTERS, max(12, int((_MOST * width - 18.0) / 7.0)))
    names = [cut_middle(one.id, letters) for one in worst]
    # Ids stand left of the axes; their room follows from the longest.
    left = min(_MOST, (7.0 * max(map(len, names)) + 18.0) / width)
    box = axes.get_position()
    axes.set_position((left, box.y0, max(0.25, box.x1 - left), box.height))
    for row, one in enumerate(worst):
        if residual_sd is not None:
            axes.barh(
                row, 4 * residual_sd, left=one.fitted - 2 * residual_sd, height=0.62, color=palette.grid, zorder=1
            )
        axes.plot([one.fitted, one.measured], [row, row], color=palette.muted, linewidth=1.4, zorder=2)
        axes.plot(
            [one.fitted], [row], "o", markersize=6.5, markerfacecolor=palette.background,
            markeredgecolor=palette.muted, markeredgewidth=1.4, zorder=3,
        )  # fmt: skip
        axes.plot([one.measured], [row], "o", markersize=6.5, color=palette.accent, zorder=4)
        note(
            axes, signed(one.residual), (1.0, row), (8, 0), palette.text, coords=("axes fraction", "data"), va="center",
        )  # fmt: skip
        note(
            axes, names[row], (0.0, row), (-8, 0), palette.text, coords=("axes fraction", "data"), va="center",
            ha="right",
        )  # fmt: skip
    axes.set_yticks([])
    axes.spines["left"].set_visible(False)
    axes.set_ylim(len(worst) - 0.4, -0.6)
    axes.margins(x=0.06)
    axes.xaxis.set_major_locator(round_ticks(6))
    words = _below(axes, scale, residual_sd)
    box = axes.get_position()
    bottom = min((_TICKS + _LINE * (words.count("\n") + 1)) / figure.get_figheight(), 0.5)
    if bottom > box.y0:
        axes.set_position((box.x0, bottom, box.width, box.y1 - bottom))
    axes.set_xlabel(words, color=palette.muted, fontsize=SMALL, parse_math=False)
    return figure


def _below(axes: Axes, scale: str, residual_sd: float | None) -> str:
    """Return the label of the x axis, on as many lines as it needs: the scale and the marks."""
    signs = "disc: measured, ring: model" + ("" if residual_sd is None else "; band: twice the residual SD")
    room = words_along(axes, "x")
    if len(scale) + len(signs) + 5 <= room:
        return f"{scale}   ({signs})"
    return "\n".join([fitting(axes, "x", scale), *textwrap.wrap(signs, max(room, 24))])
