"""The compounds that fit an additive model worst: what was measured beside what the model says."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from ..models.report import Residual
from ..text.signed import signed
from .canvas import SMALL, blank, cut_middle, fitting, note, round_ticks, say, words_along
from .palette import LIGHT, Palette

_LETTERS = 22
"""Letters of an id beside its row."""
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
    """The figure: a row for each compound with the model's value (ring), the measured one (disc) and their difference.

    ``worst`` as the model report orders them, the largest first and on top; ``scale`` names the axis. With
    ``residual_sd`` a band of twice that stands around the model's value: what lies beyond it is unusual.
    """
    figure = blank(size, dpi, palette, (0.15, 0.75, 0.62, 0.12))
    axes = figure.axes[0]
    if not worst:
        return say(figure, palette, "No compound can be compared with others.")
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
    """What the x axis says, on as many lines as it takes: the scale, and what the marks are."""
    signs = "disc: measured, ring: model" + ("" if residual_sd is None else "; band: twice the residual SD")
    room = words_along(axes, "x")
    if len(scale) + len(signs) + 5 <= room:
        return f"{scale}   ({signs})"
    return "\n".join([fitting(axes, "x", scale), *textwrap.wrap(signs, max(room, 24))])
