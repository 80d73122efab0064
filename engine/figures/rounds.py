"""How the set moved from round to round, and what a campaign may still take and find."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter

from ..text import percent
from .canvas import SMALL, blank, cut_middle, legend, whole_ticks, with_message
from .palette import IN, LIGHT, MARKERS, UNDECIDED, WORDS, Palette


def set_by_round(
    sets: Sequence[tuple[int, int]],
    *,
    marked: int | None = None,
    palette: Palette = LIGHT,
    size: tuple[float, float] = (2.8, 1.6),
    dpi: float = 100.0,
) -> Figure:
    """Return the figure of ``Status.sets``: undecided as an area, in as a line, by round; the legend has the last.

    One round may be ``marked``: the one that is displayed.
    """
    figure = blank(size, dpi, palette, (0.48, 0.12, 0.40, 0.30))
    axes = figure.axes[0]
    inside, undecided = zip(*sets, strict=True)
    if len(inside) < 2:
        return with_message(figure, palette, "Nothing has been decided yet.")
    rounds = np.arange(len(inside))
    axes.fill_between(rounds, 0, undecided, color=palette.status[UNDECIDED], alpha=0.16, linewidth=0)
    for code, values in ((UNDECIDED, undecided), (IN, inside)):
        colour = palette.status[code]
        axes.plot(
            rounds, values, color=colour, marker=MARKERS[code], markersize=4.2, linewidth=1.4, clip_on=False,
            label=f"{values[-1]:,} {WORDS[code]}",
        )  # fmt: skip
    legend(figure, axes.get_lines(), palette)
    if marked is not None and marked < len(rounds):
        axes.axvline(marked, color=palette.text, linewidth=1.0, linestyle=(0, (3, 2)), zorder=1)
    axes.set_ylim(0, max(*inside, *undecided, 1) * 1.05)
    axes.set_xlim(-0.05 * len(rounds), len(rounds) - 1)
    axes.xaxis.set_major_locator(whole_ticks("auto"))
    axes.yaxis.set_major_locator(whole_ticks("auto"))
    axes.set_xlabel("round", color=palette.muted, fontsize=SMALL)
    return figure


_TOP, _BOTTOM, _RIGHT = 0.26, 0.46, 0.2
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
        return with_message(blank(size, dpi, palette, (0.2, 0.2, _BOTTOM, _TOP)), palette, "Nothing is expected yet.")
    figure = blank(size, dpi, palette, (0.5, _RIGHT, _BOTTOM, _TOP))
    axes = figure.axes[0]
    axes.grid(color=palette.grid, linewidth=0.6, zorder=0)
    axes.set_axisbelow(True)
    for place, row in enumerate(rows):
        last = place == len(rows) - 1
        colour = palette.accent if last else palette.muted
        marker = "o" if len(row.measurements) < 2 else None
        for shares, dashes, words in ((row.found, "-", "members found"), (row.best_found, ":", "best found")):
            # The pale lines of the first forecast need one name for both.
            label = words if last else cut_middle(row.name, _LONGEST) if dashes == "-" else "_"
            axes.plot(
                row.measurements, shares, color=colour, linewidth=1.6, linestyle=dashes, marker=marker, label=label,
                clip_on=False,
            )  # fmt: skip
        if row.budget is not None:
            axes.axvline(row.budget, color=palette.cutoff, linestyle=(0, (4, 2)), linewidth=1.4)
    axes.set_ylim(0.0, 1.04)
    axes.set_yticks([0.0, 0.5, 1.0])
    axes.yaxis.set_major_formatter(FuncFormatter(lambda value, _: percent(value)))
    axes.xaxis.set_major_locator(whole_ticks("auto"))
    axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,.0f}"))
    axes.set_xlabel("measurements in all", color=palette.muted, fontsize=SMALL)
    legend(figure, [line for line in axes.get_lines() if not str(line.get_label()).startswith("_")], palette)
    return figure
