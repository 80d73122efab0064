"""How the set and the intervals moved from round to round."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from matplotlib.figure import Figure
from numpy.typing import NDArray

from ..arrays import Ints
from .canvas import SMALL, blank, cut_middle, note, say, style, whole_ticks
from .palette import IN, LIGHT, MARKERS, OUT, UNDECIDED, Palette


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
    """Return the figure: undecided as an area, in as a line, over rounds 0, 1, ...; each named beside its last point.

    One round may be ``marked``: the one that is looked back to.
    """
    figure = blank(size, dpi, palette, (0.48, 1.02, 0.40, 0.10))
    axes = figure.axes[0]
    if len(inside) < 2:
        return say(figure, palette, "Nothing has been decided yet.")
    rounds = np.arange(len(inside))
    axes.fill_between(rounds, 0, undecided, color=palette.status[UNDECIDED], alpha=0.16, linewidth=0)
    for code, values in ((UNDECIDED, undecided), (IN, inside)):
        colour = palette.status[code]
        axes.plot(rounds, values, color=colour, marker=MARKERS[code], markersize=4.2, linewidth=1.4, clip_on=False)
    if marked is not None and marked < len(rounds):
        axes.axvline(marked, color=palette.text, linewidth=1.0, linestyle=(0, (3, 2)), zorder=1)
    top = max(*inside, *undecided, 1)
    ends = [float(undecided[-1]), float(inside[-1])]
    # The two words must not lie on each other.
    gap = 0.16 * top
    if abs(ends[0] - ends[1]) < gap:
        middle = max((ends[0] + ends[1]) / 2, gap / 2)
        up = 1 if ends[0] > ends[1] else -1
        ends = [middle + up * gap / 2, middle - up * gap / 2]
    for code, level, value, word in (
        (UNDECIDED, ends[0], undecided[-1], "undecided"),
        (IN, ends[1], inside[-1], "in"),
    ):
        note(axes, f"{value:,} {word}", (rounds[-1], level), (7, 0), palette.status[code], va="center")
    axes.set_ylim(0, top * 1.05)
    axes.set_xlim(-0.05 * len(rounds), len(rounds) - 1)
    # A number and the room beside it take about a third of an inch.
    room = axes.get_position().width * figure.get_figwidth()
    axes.xaxis.set_major_locator(whole_ticks(max(2, min(8, int(room / 0.3)))))
    axes.yaxis.set_major_locator(whole_ticks(4))
    axes.set_xlabel("round", color=palette.muted, fontsize=SMALL)
    return figure


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
    """Return the figure: the first axes as ``set_by_round``, the second a bar of measurements for each round.

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
            note(second, f"{number:,}", (place, number), (0, 2), palette.muted, SMALL - 1, ha="center", va="bottom")
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
