"""Compounds ranked by estimate, each with its interval, the cutoff and its soft zone."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from numpy.typing import NDArray

from ..arrays import Flags, Floats, Ints
from .canvas import SMALL, blank, fitting, mark_status, note, ring, round_ticks, value_ends, whole_ticks, with_message
from .palette import IN, LIGHT, UNDECIDED, Palette

Ends = tuple[float, float, float, float]
"""Between which the axes run: left, right, bottom, top."""
MOST_DRAWN = 110
"""Most compounds drawn at once: more would overlap in a window 1280 pixels wide."""

_POINTS = 72.0
"""Points of an inch."""
_SMALLEST = 6.5
"""Smallest legible point size."""
_LETTER = 0.55
"""Width of a letter in the mean, of its point size."""
_TICK = 17.0
"""Points that a number on the axis takes."""
_ROOM = 55.0
"""Points of a picture too low for both words at its lines."""
_WORD = 15.0
"""Points that a word at a line takes."""
_OVER = 9.0
"""Points of the picture above the axes."""


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
    most: int = MOST_DRAWN,
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
    length = min(total, most, max(reach + 15, 40))
    start = 0
    if selected is not None:
        place = np.flatnonzero(order == selected)
        if place.size and int(place[0]) >= length:
            length = min(total, most)
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
    figure = blank(size, dpi, palette, (0.62, 0.12, 0.46, 0.12))
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
    side = _free_side(axes, bottom, top, line.soft, up=line.soft > line.level)
    _zone_words(axes, palette, line, side)
    axes.xaxis.set_major_locator(whole_ticks(10))
    axes.yaxis.set_major_locator(round_ticks(int(np.clip(_points_high(axes) / _TICK, 2, 6))))
    axes.set_ylabel(
        fitting(axes, "y", quantity, "", SMALL + 0.5), color=palette.text, fontsize=SMALL + 0.5, parse_math=False
    )
    pointed = "triangles: values known only to lie below (above)" if any(np.isfinite(x).any() for x in limits) else ""
    parts = _axis_words(ranking, bool(thin.any()), bool(decided.any())).split("; ")
    parts += [text for text in ("dashes: measured" if dashed else "", pointed) if text]
    # Centred below the axes, a longer line would leave the picture at its right.
    room = axes.get_position().width * figure.get_figwidth() * _POINTS / _LETTER
    while len(parts) > 1 and room / len("; ".join(parts)) < _SMALLEST:
        parts.pop()
    words = "; ".join(parts)
    fits = room / max(1, len(words))
    points = max(_SMALLEST, min(SMALL, fits))
    axes.set_xlabel(words, color=palette.muted, fontsize=points, parse_math=False)
    return figure


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


def _free_side(axes: Axes, bottom: Floats, top: Floats, level: float, *, up: bool) -> float:
    """Return where across a word beyond ``level`` hides fewer intervals: 0.008 at the left, or 0.995 at the right."""
    ends = axes.get_ylim()
    reach = 0.09 * (ends[1] - ends[0])
    low, high = (level, level + reach) if up else (level - reach, level)
    hidden = (np.nan_to_num(bottom, nan=np.inf) < high) & (np.nan_to_num(top, nan=-np.inf) > low)
    part = max(1, round(0.2 * hidden.size))
    return 0.995 if hidden[-part:].sum() < hidden[:part].sum() else 0.008


def _zone_words(axes: Axes, palette: Palette, line: Cutoff, side: float) -> None:
    """Name the cutoff and its soft zone, this one at ``side``, where no bars are."""
    if not np.isfinite(line.level):
        return
    up = line.soft > line.level  # smaller is better: the zone is above the line
    # Outside the zone, where a ranking leaves room: on the cutoff's side at the right, beyond the zone at a free end.
    named = [(line.level, line.words, not up, 0.995)]
    if np.isfinite(line.soft) and line.soft != line.level and _points_high(axes) > _ROOM:
        named.append((line.soft, line.zone, up, side))
    bottom, top = axes.get_ylim()
    height = _points_high(axes)
    for level, word, beyond, across in named:
        room = (top - level if beyond else level - bottom) / (top - bottom) * height
        # Where the axis ends too soon it would overlap its numbers; above them a part of it has room.
        above = beyond if room > (_WORD - _OVER if beyond else _WORD) else not beyond
        note(
            axes, word, (across, level), (0, 3 if above else -3), palette.cutoff, coords=axes.get_yaxis_transform(),
            ha="right" if across > 0.5 else "left", va="bottom" if above else "top", zorder=5,
            bbox={"boxstyle": "square,pad=0.15", "facecolor": palette.background, "edgecolor": "none", "alpha": 0.85},
        )  # fmt: skip


def _points_high(axes: Axes) -> float:
    """Points from the bottom of the axes to their top."""
    figure = axes.get_figure(root=True)
    return axes.get_position().height * (72.0 * figure.get_figheight() if figure is not None else 0.0)


def _axis_words(ranking: Ranking, thin: bool, bounded: bool) -> str:
    """Return the label of the x axis: how many compounds are drawn, and which intervals."""
    shown = int(ranking.compounds.size)
    if shown == ranking.total:
        text = f"{shown:,} compounds, ranked by estimate"
    elif ranking.first == 1:
        text = f"the {shown:,} best of {ranking.total:,} compounds, ranked by estimate"
    else:
        text = f"compounds {ranking.first:,} to {ranking.first + shown - 1:,} of {ranking.total:,}, ranked by estimate"
    if thin:
        text += "; thin: 95 % posterior interval" + (
            " where nothing is decided" if bounded else ", nothing decided yet"
        )
    return text
