"""Compounds ranked by estimate, each with its interval, the cutoff and its soft zone."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Patch
from numpy.typing import NDArray

from ..arrays import Flags, Floats, Ints
from .canvas import SMALL, blank, fitting, legend, mark_status, ring, round_ticks, value_ends, whole_ticks, with_message
from .palette import IN, LIGHT, UNDECIDED, Palette

Ends = tuple[float, float, float, float]
"""Between which the axes run: left, right, bottom, top."""
MOST_DRAWN = 110
"""Most compounds drawn at once: more would overlap in a window 1280 pixels wide."""


@dataclass(frozen=True, eq=False)
class Ranking:
    """The compounds of a ranked plot."""

    compounds: Ints
    """Positions in the library, best first."""
    estimate: Floats
    """The estimate of each of them."""
    first: int
    """Rank of the first of them, from 1."""
    total: int
    """Compounds that have an estimate."""

    def place(self, compound: int | None, x: float = 0.0) -> tuple[float, float] | None:
        """Return the place of a compound: rank and estimate; None when it is not drawn."""
        found = np.flatnonzero(self.compounds == compound)
        return (float(found[0] + self.first), float(self.estimate[found[0]])) if found.size else None

    def near(self, x: float, y: float, reach: tuple[float, float]) -> int | None:
        """Return the compound of the rank nearest to ``x``, however high the place; None where there is none."""
        rank = int(np.floor(x - self.first + 0.5))
        return int(self.compounds[rank]) if 0 <= rank < self.compounds.size else None

    @property
    def along(self) -> Ints:
        """The compounds drawn, from left to right."""
        return self.compounds


@dataclass(frozen=True, eq=False)
class Spans:
    """Estimates, bounds and statuses of all compounds of a library, ``(n,)`` each, model scale."""

    estimate: Floats
    low: Floats
    """The deciding bounds; NaN where there are none yet."""
    high: Floats
    status: NDArray[np.int8]
    posterior: tuple[Floats, Floats] | None = None
    """The ends of the posterior's intervals."""
    bounds: tuple[Floats, Floats] | None = None
    """Upper and lower limits of values known only as bounds, else NaN."""
    measured: Floats | None = None
    """Measured means; NaN for compounds that were never measured."""


@dataclass(frozen=True, slots=True)
class Cutoff:
    """The line that compounds are held against, and the end of its soft zone; NaN without them."""

    level: float = float("nan")
    soft: float = float("nan")
    words: str = "cutoff"
    zone: str = "soft zone"


def rank_compounds(
    estimate: Floats,
    status: NDArray[np.int8],
    *,
    sign: float = 1.0,
    selected: int | None = None,
    window: tuple[int, int] | None = None,
) -> Ranking:
    """Return the compounds to draw: the best ones, or, when the selected one is not among them, those around it.

    ``window``: the first and last rank to draw, where they do not follow from the data.

    It reaches some way past the last compound that is in or undecided, so that the cutoff has both its sides.
    """
    known = np.flatnonzero(np.isfinite(estimate))
    order = known[np.argsort(-sign * estimate[known], kind="stable")]
    total = int(order.size)
    if total == 0:
        return Ranking(order, estimate[order], 1, 0)
    if window is not None:
        start = min(max(window[0] - 1, 0), total - 1)
        shown = order[start : max(window[1], start + 1)]
        return Ranking(shown, estimate[shown], start + 1, total)
    alive = np.flatnonzero((status[order] == UNDECIDED) | (status[order] == IN))
    reach = int(alive[-1]) + 1 if alive.size else 0
    length = min(total, MOST_DRAWN, max(reach + 15, 40))
    start = 0
    if selected is not None:
        place = np.flatnonzero(order == selected)
        if place.size and int(place[0]) >= length:
            length = min(total, MOST_DRAWN)
            start = min(max(int(place[0]) - length // 2, 0), total - length)
    shown = order[start : start + length]
    return Ranking(shown, estimate[shown], start + 1, total)


def ranked_intervals(
    ranking: Ranking,
    spans: Spans,
    cutoff: Cutoff | None = None,
    *,
    quantity: str = "estimate",
    selected: int | None = None,
    ends: Ends | None = None,
    palette: Palette = LIGHT,
    size: tuple[float, float] = (8.0, 2.6),
    dpi: float = 100.0,
) -> Figure:
    """Return the figure: one point and interval per compound of ``ranking``.

    Intervals are the deciding bounds; where there are none yet the posterior's are drawn thin. A dash marks a measured
    mean, a triangle points towards values that are known only as bounds. The x axis is the rank, from
    ``ranking.first``; ``ends``: of the axes, instead of those that suit these compounds (see ``ranked_ends``).
    """
    figure = blank(size, dpi, palette, (0.62, 0.12, 0.46, 0.32))
    axes = figure.axes[0]
    chosen = ranking.compounds
    if not chosen.size:
        return with_message(figure, palette, "No estimates yet. They appear here with the first results.")
    line = Cutoff() if cutoff is None else cutoff
    if np.isfinite(line.soft) and np.isfinite(line.level):
        axes.axhspan(min(line.level, line.soft), max(line.level, line.soft), color=palette.band, linewidth=0, zorder=0)
        axes.axhline(line.level, color=palette.cutoff, linewidth=1.1, zorder=1)
    left, right, lowest, highest = ends or ranked_ends(ranking, spans, line)
    axes.set_xlim(left, right)
    axes.set_ylim(lowest, highest)
    crowded = size[0] / (chosen.size if ends is None else right - left) < 0.11
    bottom, top = _intervals(ranking, spans)
    decided = np.isfinite(spans.low[chosen]) & np.isfinite(spans.high[chosen])
    thin = ~decided & np.isfinite(bottom) & np.isfinite(top)
    limits = [] if spans.bounds is None else [limit[chosen] for limit in spans.bounds]
    _draw(axes, palette, ranking, spans, _Bars(bottom, top, decided, thin, limits), crowded=crowded)
    dashed = spans.measured is not None and bool(np.isfinite(spans.measured[chosen]).any())
    if spans.measured is not None and dashed:
        axes.plot(
            np.arange(ranking.first, ranking.first + chosen.size), spans.measured[chosen], linestyle="none",
            marker="_", color=palette.text, markersize=4.5 if crowded else 7.0, markeredgewidth=1.2, zorder=3.5,
        )  # fmt: skip
    place = ranking.place(selected)
    if place is not None:
        ring(axes, *place, palette, level=4)
    axes.xaxis.set_major_locator(whole_ticks(10))
    axes.yaxis.set_major_locator(round_ticks("auto"))
    axes.set_ylabel(
        fitting(axes, "y", quantity, "", SMALL + 0.5), color=palette.text, fontsize=SMALL + 0.5, parse_math=False
    )
    axes.set_xlabel(_axis_words(ranking), color=palette.muted, fontsize=SMALL, parse_math=False)
    limited = any(np.isfinite(limit).any() for limit in limits)
    found = _handles(palette, line, dashed=dashed, limited=limited, thin=bool(thin.any()), decided=bool(decided.any()))
    legend(figure, found, palette)
    return figure


def _handles(
    palette: Palette, line: Cutoff, *, dashed: bool, limited: bool, thin: bool, decided: bool
) -> list[Line2D | Patch]:
    """Return the handles of a legend for all that is drawn besides estimates and their deciding intervals."""
    handles: list[Line2D | Patch] = []
    if np.isfinite(line.level):
        handles.append(Line2D([], [], color=palette.cutoff, linewidth=1.1, label=line.words))
        if np.isfinite(line.soft) and line.soft != line.level:
            handles.append(Patch(facecolor=palette.band, edgecolor="none", label=line.zone))
    mark: dict[str, Any] = {"linestyle": "none", "markerfacecolor": "none"}
    if dashed:
        handles.append(Line2D([], [], color=palette.text, marker="_", label="measured", **mark))
    if limited:
        words = "known only to lie below (above)"
        handles.append(Line2D([], [], color=palette.muted, marker="v", markersize=5.5, label=words, **mark))
    if thin:
        where = " where nothing is decided" if decided else ", nothing decided yet"
        handles.append(
            Line2D([], [], color=palette.muted, linewidth=0.8, label=f"thin: 95 % posterior interval{where}")
        )
    return handles


@dataclass(frozen=True, eq=False)
class _Bars:
    """The drawn values of a ranking's compounds, ``(n_drawn,)`` each."""

    bottom: Floats
    top: Floats
    decided: Flags
    """Whether the interval is the deciding one."""
    thin: Flags
    limits: Sequence[Floats]
    """Upper and lower limits of values known only as bounds."""


def _draw(axes: Axes, palette: Palette, ranking: Ranking, spans: Spans, bars: _Bars, *, crowded: bool) -> None:
    """Draw intervals, triangles and point, in the colour and shape of each status."""
    chosen = ranking.compounds
    ranks = np.arange(ranking.first, ranking.first + chosen.size)
    middle, state = spans.estimate[chosen], spans.status[chosen]
    for code, colour in enumerate(palette.status):
        for part, width, alpha in ((bars.decided, 1.0 if crowded else 1.5, 1.0), (bars.thin, 0.8, 0.55)):
            here = part & (state == code)
            if here.any():
                axes.vlines(
                    ranks[here], bars.bottom[here], bars.top[here], color=colour, linewidth=width, alpha=alpha, zorder=2
                )
        for limit, pointing in zip(bars.limits, ("v", "^"), strict=False):
            here = (state == code) & np.isfinite(limit)
            axes.plot(
                ranks[here], limit[here], linestyle="none", marker=pointing, color=colour, zorder=3,
                markersize=3.5 if crowded else 5.5, markerfacecolor="none", markeredgewidth=0.9,
            )  # fmt: skip
        here = state == code
        if here.any():
            mark_status(axes, ranks[here], middle[here], code, palette, size=3.0 if crowded else 5.0, level=3)


def ranked_ends(ranking: Ranking, spans: Spans, cutoff: Cutoff) -> Ends:
    """Return the ends of the axes at which all points, the cutoff and most of each interval are seen."""
    middle = spans.estimate[ranking.compounds]
    if not middle.size:
        return (0.0, 1.0, 0.0, 1.0)
    bottom, top = _intervals(ranking, spans)
    lines = np.array([mark for mark in (cutoff.level, cutoff.soft) if np.isfinite(mark)])
    lowest, highest = value_ends(np.concatenate([middle, lines]), np.concatenate([bottom, top]), 0.6, 0.04)
    half = max(0.8, 0.012 * middle.size)
    return (
        ranking.first - min(half, 0.9),
        ranking.first + middle.size - 1 + half,
        lowest,
        highest,
    )


def _intervals(ranking: Ranking, spans: Spans) -> tuple[Floats, Floats]:
    """Both ends of the interval of each compound drawn: its bounds, else what is expected of it; NaN without either."""
    bottom, top = spans.low[ranking.compounds], spans.high[ranking.compounds]
    if spans.posterior is None:
        return bottom, top
    under, over = spans.posterior[0][ranking.compounds], spans.posterior[1][ranking.compounds]
    thin = ~(np.isfinite(bottom) & np.isfinite(top)) & np.isfinite(under) & np.isfinite(over)
    return np.where(thin, under, bottom), np.where(thin, over, top)


def _axis_words(ranking: Ranking) -> str:
    """Return the label of the x axis: how many compounds are drawn."""
    shown = int(ranking.compounds.size)
    if shown == ranking.total:
        return f"{shown:,} compounds, ranked by estimate"
    if ranking.first == 1:
        return f"the {shown:,} best of {ranking.total:,} compounds, ranked by estimate"
    return f"compounds {ranking.first:,} to {ranking.first + shown - 1:,} of {ranking.total:,}, ranked by estimate"
