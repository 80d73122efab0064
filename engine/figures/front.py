"""Compounds between two endpoints: the estimated front, and the region that contains the true one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from matplotlib.axes import Axes
from matplotlib.collections import PolyCollection
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Patch
from numpy.typing import NDArray

from ..arrays import Flags, Floats, Ints
from .canvas import SMALL, blank, fitting, legend, mark_all, note, ring, round_ticks, value_ends, with_message
from .palette import IN, LIGHT, UNDECIDED, Palette

MOST_BOXES = 40
"""Most compounds whose bounds are drawn as boxes; more would overlap."""


@dataclass(frozen=True, slots=True)
class Axis:
    """One endpoint as an axis."""

    name: str
    sign: float = 1.0
    """+1 when larger is better, -1 when smaller is."""
    limit: float | None = None
    """Model scale; None without one."""
    limit_text: str = ""
    fails_above: bool = True
    """Whether values above the limit fail it."""

    @property
    def better(self) -> str:
        """The label of the better direction, for an axis that grows to the right or upwards."""
        return "better →" if self.sign > 0 else "← better"


@dataclass(frozen=True, eq=False)
class Spread:
    """Contents of a front plot: the compounds drawn, and the ends of the axes."""

    estimates: Floats
    """``(2, n)`` in library order, model scale, as ``low`` and ``high``, NaN where nothing was decided."""
    low: Floats
    high: Floats
    status: NDArray[np.int8]
    compounds: Ints
    """Positions in the library of those with both estimates."""
    ends: tuple[float, float, float, float]
    """Left, right, bottom, top."""

    @property
    def at(self) -> Floats:
        """Positions of the drawn compounds, ``(2, m)``."""
        return self.estimates[:, self.compounds]

    @property
    def bounded(self) -> Flags:
        """The compounds with all bounds, as flags."""
        return complete(self.low) & complete(self.high)

    def near(self, x: float, y: float, reach: tuple[float, float]) -> int | None:
        """Return the compound drawn nearest to a place, measured in ``reach``; None when none is within twice that."""
        if not self.compounds.size:
            return None
        far = np.hypot((self.at[0] - x) / reach[0], (self.at[1] - y) / reach[1])
        nearest = int(np.argmin(far))
        return int(self.compounds[nearest]) if far[nearest] <= 2.0 else None

    def place(self, compound: int, x: float) -> tuple[float, float] | None:
        """Return the place of a compound; None when it is not drawn."""
        found = np.flatnonzero(self.compounds == compound)
        return (float(self.at[0, found[0]]), float(self.at[1, found[0]])) if found.size else None

    @property
    def along(self) -> Ints:
        """The compounds drawn, from left to right."""
        return self.compounds[np.argsort(self.at[0], kind="stable")]


def spread(
    estimates: Floats, low: Floats, high: Floats, status: NDArray[np.int8], *, marks: Sequence[float | None] = ()
) -> Spread:
    """Return the compounds with both estimates, and ends of axes that cover them and bounds and limits near them.

    ``estimates``, ``low``, ``high`` ``(2, n)``; bounds of those undecided and in, ``marks`` the limits (x, y).
    """
    known = np.flatnonzero(complete(estimates))
    ends: list[float] = []
    alive = known[status[known] <= IN]
    for row in (0, 1):
        bounds = np.concatenate([low[row, alive], high[row, alive]])
        own = [mark for mark in marks[row : row + 1] if mark is not None]
        ends += value_ends(estimates[row, known], bounds, 0.35, 0.05, own) if known.size else (0.0, 1.0)
    return Spread(estimates, low, high, status, known, (ends[0], ends[1], ends[2], ends[3]))


def staircase(points: Floats, signs: tuple[float, float], ends: tuple[float, float, float, float]) -> Floats:
    """Return the corners ``(k, 2)`` of the line below which (seen from the better side) some point reaches, end to end.

    ``points`` ``(2, m)``; columns that are not finite do not count. Empty without points.
    """
    flip = np.array(signs)[:, None]
    toward = flip * points[:, complete(points)]
    if not toward.shape[1]:
        return np.zeros((0, 2))
    order = np.lexsort((-toward[1], -toward[0]))
    best, corners = -np.inf, []
    for x, y in toward[:, order].T:
        if y > best:
            corners.append((x, y))
            best = y
    # From the worst x (nothing there is higher than the highest) to the worst y.
    left = min(signs[0] * ends[0], signs[0] * ends[1])
    bottom = min(signs[1] * ends[2], signs[1] * ends[3])
    path = [(min(left, corners[-1][0]), corners[-1][1])]
    for place in range(len(corners) - 1, -1, -1):
        x, y = corners[place]
        path.append((x, y))
        path.append((x, corners[place - 1][1] if place else min(bottom, y)))
    corners_of: Floats = np.array(path) * np.array(signs)
    return corners_of


def complete(points: Floats) -> Flags:
    """Return flags of the columns with a number in every row, ``(n,)``."""
    known: Flags = np.logical_and.reduce(np.isfinite(points), axis=0)
    return known


def front_plot(
    view: Spread,
    axes: tuple[Axis, Axis],
    *,
    band_text: str | None = "the true front lies in here",
    selected: int | None = None,
    palette: Palette = LIGHT,
    size: tuple[float, float] = (8.0, 3.0),
    dpi: float = 100.0,
) -> Figure:
    """Return the figure: every compound of ``view`` at its estimates, the front and the band of the true one.

    Some compound certainly reaches the worse side of the band (its lower bounds do); none reaches the better side.
    ``band_text`` names it; None draws neither, where more endpoints count than these two.
    """
    figure = blank(size, dpi, palette, (0.62, 0.14, 0.47, 0.32))
    plot = figure.axes[0]
    if not view.compounds.size:
        return with_message(figure, palette, "No estimates yet. They appear here with the first results.")
    left, right, bottom, top = view.ends
    plot.set_xlim(left, right)
    plot.set_ylim(bottom, top)
    _limits(plot, axes, palette)
    signs = (axes[0].sign, axes[1].sign)
    handles: list[Line2D | Patch] = []
    if band_text is not None:
        line = staircase(view.at, signs, view.ends)
        plot.plot(line[:, 0], line[:, 1], color=palette.accent, linewidth=1.2, zorder=3)
        handles.append(Line2D([], [], color=palette.accent, linewidth=1.2, label="estimated front"))
        if _band(plot, view, signs, palette):
            handles.append(Patch(facecolor=palette.band, edgecolor="none", label=band_text))
    _boxes(plot, view, selected, palette)
    handles += mark_all(plot, view.at[0], view.at[1], view.status[view.compounds], palette)
    place = None if selected is None else view.place(selected, 0.0)
    if place is not None:
        ring(plot, *place, palette, size=12, level=7)
    legend(figure, handles, palette)
    plot.xaxis.set_major_locator(round_ticks(8))
    plot.yaxis.set_major_locator(round_ticks(6))
    total = view.estimates.shape[1]
    missing = total - view.compounds.size
    more = f"   ({missing:,} of {total:,} compounds have no estimate)" if missing else ""
    across = fitting(plot, "x", axes[0].name, f"   {axes[0].better}{more}")
    plot.set_xlabel(across, color=palette.text, fontsize=SMALL, parse_math=False)
    up = fitting(plot, "y", axes[1].name, f"   {axes[1].better}")
    plot.set_ylabel(up, color=palette.text, fontsize=SMALL, parse_math=False)
    return figure


def _limits(plot: Axes, axes: tuple[Axis, Axis], palette: Palette) -> None:
    """Draw each limit as a line, what fails it behind a grey ground."""
    for along, axis in enumerate(axes):
        if axis.limit is None:
            continue
        ends = plot.get_xlim() if along == 0 else plot.get_ylim()
        side = ends[1] if axis.fails_above else ends[0]
        if not min(ends) < axis.limit < max(ends):
            continue
        span, line = (plot.axvspan, plot.axvline) if along == 0 else (plot.axhspan, plot.axhline)
        span(min(axis.limit, side), max(axis.limit, side), color=palette.grid, alpha=0.55, linewidth=0, zorder=0)
        line(axis.limit, color=palette.muted, linewidth=1.0, linestyle=(0, (4, 3)), zorder=2)
        beyond = axis.fails_above
        # At the worse end of the other axis, where the front is not.
        worse = axes[1 - along].sign > 0
        edge = 0.015 if worse else 0.985
        note(
            plot, axis.limit_text, (axis.limit, edge) if along == 0 else (0.006 if worse else 0.994, axis.limit),
            ((-4 if beyond else 4), 0) if along == 0 else (0, -3 if beyond else 3), palette.muted,
            coords=plot.get_xaxis_transform() if along == 0 else plot.get_yaxis_transform(),
            ha=("right" if beyond else "left") if along == 0 else ("left" if worse else "right"),
            va=("bottom" if worse else "top") if along == 0 else ("top" if beyond else "bottom"), zorder=6,
            bbox={"boxstyle": "square,pad=0.1", "facecolor": palette.background, "edgecolor": "none", "alpha": 0.8},
        )  # fmt: skip


def _band(plot: Axes, view: Spread, signs: tuple[float, float], palette: Palette) -> bool:
    """Draw the band between certainly reached and certainly unreached values; return whether there are bounds."""
    flip, ends = np.array(signs)[:, None], view.ends
    here = view.bounded
    if not here.any():
        return False
    worse = np.where(flip > 0, view.low, view.high)[:, here]
    better = np.where(flip > 0, view.high, view.low)[:, here]
    # The band reaches as far as the axes, also where the outermost bounds are beyond them.
    wide = (
        min(ends[0], float(worse[0].min()), float(better[0].min())),
        max(ends[1], float(worse[0].max()), float(better[0].max())),
        min(ends[2], float(worse[1].min()), float(better[1].min())),
        max(ends[3], float(worse[1].max()), float(better[1].max())),
    )
    inner, outer = staircase(worse, signs, wide), staircase(better, signs, wide)
    ring = np.vstack([inner, outer[::-1]])
    plot.add_collection(
        PolyCollection([ring], facecolors=palette.band, edgecolors=palette.cutoff, linewidths=0.5, zorder=1),
        autolim=False,
    )
    return True


def _boxes(plot: Axes, view: Spread, selected: int | None, palette: Palette) -> None:
    """Draw the bounds of the undecided and in as boxes when they are few, those of the selected always."""
    low, high, bounded = view.low, view.high, view.bounded
    alive = view.compounds[(view.status[view.compounds] <= IN) & bounded[view.compounds]]
    groups = [(alive[view.status[alive] == code], palette.status[code], 0.6) for code in (UNDECIDED, IN)]
    if alive.size > MOST_BOXES:
        groups = []
    if selected is not None and bounded[selected]:
        groups.append((np.array([selected]), palette.accent, 1.4))
    for members, colour, width in groups:
        corners = [
            [(low[0, c], low[1, c]), (high[0, c], low[1, c]), (high[0, c], high[1, c]), (low[0, c], high[1, c])]
            for c in members
        ]
        if corners:
            plot.add_collection(
                PolyCollection(corners, facecolors="none", edgecolors=colour, linewidths=width, alpha=0.75, zorder=4),
                autolim=False,
            )
