"""How the set moved from round to round, and what a campaign may still take and find."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Patch
from matplotlib.ticker import FuncFormatter
from numpy.typing import NDArray

from ..arrays import Ints
from ..text import percent
from .canvas import SMALL, blank, cut_middle, legend, note, whole_ticks, with_message
from .palette import IN, LIGHT, MARKERS, OUT, UNDECIDED, WORDS, Palette


def counts_by_round(status: NDArray[np.int8], decided_in_round: Ints, last: int) -> tuple[list[int], list[int]]:
    """Compounds in, and compounds undecided, after round 0 (before any), 1, ... ``last``."""
    settled = (status == IN) | (status == OUT)
    inside = np.bincount(decided_in_round[status == IN].clip(0, last), minlength=last + 1).cumsum()
    gone = np.bincount(decided_in_round[settled].clip(0, last), minlength=last + 1).cumsum()
    estimable = int((status <= OUT).sum())
    return [int(n) for n in inside], [estimable - int(n) for n in gone]


def set_by_round(
    inside: Sequence[int],
    undecided: Sequence[int],
    *,
    marked: int | None = None,
    palette: Palette = LIGHT,
    size: tuple[float, float] = (2.8, 1.6),
    dpi: float = 100.0,
) -> Figure:
    """Return the figure: undecided as an area, in as a line, over rounds 0, 1, ...; the legend has their last numbers.

    One round may be ``marked``: the one that is displayed.
    """
    figure = blank(size, dpi, palette, (0.48, 0.12, 0.40, 0.30))
    axes = figure.axes[0]
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
_LETTER = 0.072
"""Most inches of a letter next to the rows."""
_LONGEST = 24


@dataclass(frozen=True, slots=True)
class Reach:
    """One row: the 80 % range of a count, and its median."""

    name: str
    low: int
    middle: int
    high: int
    more: bool = False
    """Whether the upper end is only as far as was looked."""
    budget: int | None = None

    @property
    def words(self) -> str:
        """``384 to 672``, ``384 to 9,600 or more``, ``96``."""
        more = " or more" if self.more else ""
        return f"{self.low:,}{more}" if self.low >= self.high else f"{self.low:,} to {self.high:,}{more}"


def reach_plot(
    rows: Sequence[Reach],
    *,
    used: int = 0,
    palette: Palette = LIGHT,
    size: tuple[float, float] = (4.5, 1.5),
    dpi: float = 100.0,
) -> Figure:
    """Return the figure: a bar from low to high for each row, its middle a point, its budget a dashed line.

    The first row is hollow (what is), the others are filled (what could be). ``used`` is shaded from 0 on: no row can
    end before it. A bar whose upper end is open ends in an arrow.
    """
    if not rows:
        return with_message(blank(size, dpi, palette, (0.2, 0.2, _BOTTOM, _TOP)), palette, "Nothing is expected yet.")
    longest = max(max(len(cut_middle(row.name, _LONGEST)), len(row.words)) for row in rows)
    figure = blank(size, dpi, palette, (0.16 + _LETTER * longest, _RIGHT, _BOTTOM, _TOP))
    axes = figure.axes[0]
    budgets = sorted({row.budget for row in rows if row.budget is not None})
    end = 1.06 * max(used, *budgets, *(row.high for row in rows), 1)
    axes.set_xlim(0.0, end)
    axes.set_ylim(len(rows) - 0.45, -0.55)
    axes.set_yticks([])
    axes.spines["left"].set_visible(False)
    axes.grid(axis="x", color=palette.grid, linewidth=0.6, zorder=0)
    axes.set_axisbelow(True)
    if used > 0:
        axes.axvspan(0.0, used, color=palette.grid, zorder=0.5, linewidth=0)
    for place, row in enumerate(rows):
        _bar(axes, place, row, end, palette, filled=place > 0 or len(rows) == 1)
        _name(axes, place, row, palette)
    handles: list[Line2D | Patch] = []
    if used > 0:
        handles.append(Patch(facecolor=palette.grid, label=f"{used:,} used"))
    if budgets:
        words = f"budget {' and '.join(f'{budget:,}' for budget in budgets)}"
        handles.append(Line2D([], [], color=palette.cutoff, linestyle=(0, (4, 2)), linewidth=1.4, label=words))
    legend(figure, handles, palette)
    axes.xaxis.set_major_locator(whole_ticks("auto"))
    axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,.0f}"))
    axes.set_xlabel("measurements in all", color=palette.muted, fontsize=SMALL)
    return figure


def _bar(axes: Axes, place: int, row: Reach, end: float, palette: Palette, *, filled: bool) -> None:
    """Draw one interval, its middle and its budget."""
    colour = palette.accent if filled else palette.muted
    high = max(row.high, row.low + 0.008 * end)
    axes.barh(
        place, high - row.low, left=row.low, height=0.40, color=colour if filled else palette.background,
        edgecolor=colour, linewidth=1.3, zorder=2,
    )  # fmt: skip
    middle = palette.background if filled else colour
    axes.plot([row.middle], [place], marker="o", markersize=5.0, color=middle, markeredgecolor=middle, zorder=3)
    if row.more:
        axes.plot([high], [place], marker=">", markersize=9, color=colour, zorder=3, clip_on=False)
    if row.budget is not None:
        axes.plot(
            [row.budget, row.budget], [place - 0.5, place + 0.5], color=palette.cutoff, linestyle=(0, (4, 2)),
            linewidth=1.4, zorder=4,
        )  # fmt: skip


def _name(axes: Axes, place: int, row: Reach, palette: Palette) -> None:
    """Write left of a row what it is, and its numbers below that."""
    for text, shift, colour, weight in (
        (cut_middle(row.name, _LONGEST), 6.5, palette.muted, "normal"),
        (row.words, -6.0, palette.text, "bold"),
    ):
        note(
            axes, text, (0.0, place), (-8, shift), colour, coords=axes.get_yaxis_transform(), ha="right", va="center",
            fontweight=weight,
        )  # fmt: skip


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
