"""What a campaign finds along its budget: the share of the members measured, and whether the best one was."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter

from ..text.percentages import percent
from .canvas import SMALL, blank, cut_middle, say, whole_ticks
from .palette import LIGHT, Palette

_LEFT, _RIGHT, _BOTTOM, _TOP = 0.5, 0.2, 0.46, 0.26
_LONGEST = 24


@dataclass(frozen=True, slots=True)
class Discovery:
    """One forecast: after so many measurements, the share of members found and the chance that the best one is."""

    name: str
    measurements: tuple[int, ...]
    found: tuple[float, ...]
    best_found: tuple[float, ...]
    budget: int | None = None


def discovery_plot(
    rows: Sequence[Discovery],
    *,
    palette: Palette = LIGHT,
    size: tuple[float, float] = (4.5, 1.6),
    dpi: float = 100.0,
) -> Figure:
    """Return the figure: members found as a line, the best one dotted; the first forecast is pale beside a second."""
    if not rows:
        return say(blank(size, dpi, palette, (0.2, 0.2, _BOTTOM, _TOP)), palette, "Nothing is expected yet.")
    figure = blank(size, dpi, palette, (_LEFT, _RIGHT, _BOTTOM, _TOP))
    axes = figure.axes[0]
    axes.grid(color=palette.grid, linewidth=0.6, zorder=0)
    axes.set_axisbelow(True)
    for place, row in enumerate(rows):
        last = place == len(rows) - 1
        colour = palette.accent if last else palette.muted
        marker = "o" if len(row.measurements) < 2 else None
        for shares, style, words in ((row.found, "-", "members found"), (row.best_found, ":", "best found")):
            # The pale lines of the first forecast need one name for both.
            label = words if last else cut_middle(row.name, _LONGEST) if style == "-" else "_"
            axes.plot(
                row.measurements, shares, color=colour, linewidth=1.6, linestyle=style, marker=marker, label=label
            )
        if row.budget is not None:
            axes.axvline(row.budget, color=palette.cutoff, linestyle=(0, (4, 2)), linewidth=1.4)
    axes.set_ylim(0.0, 1.04)
    axes.set_yticks([0.0, 0.5, 1.0])
    axes.yaxis.set_major_formatter(FuncFormatter(lambda value, _: percent(value)))
    axes.xaxis.set_major_locator(whole_ticks(6))
    axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,.0f}"))
    axes.set_xlabel("measurements in all", color=palette.muted, fontsize=SMALL)
    axes.legend(
        loc="lower left", bbox_to_anchor=(0.0, 1.0), ncols=len(rows) + 1, fontsize=SMALL, frameon=False,
        labelcolor=palette.muted, borderpad=0.0, borderaxespad=0.2, handlelength=1.6, columnspacing=1.0,
    )  # fmt: skip
    return figure
