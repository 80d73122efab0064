"""Compounds across three or more endpoints: one line each, better upwards on every axis."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from matplotlib.axes import Axes
from matplotlib.collections import LineCollection
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from numpy.typing import NDArray

from ..arrays import Floats, Ints
from .canvas import SMALL, blank, legend, note, round_ticks, with_message
from .front import Axis, complete
from .palette import LIGHT, MARKERS, UNDECIDED, WORDS, Palette

MOST_LINES = 80
"""Compounds in and undecided drawn in colour; the eye follows no more lines than that."""
MOST_FAINT = 400
"""Other compounds drawn behind them, evenly taken from all of them."""


@dataclass(frozen=True, eq=False)
class Bundle:
    """The compounds of a parallel plot and their lines."""

    compounds: Ints
    """Positions in the library, faint ones first, those in last."""
    heights: Floats
    """``(m, n_endpoints)`` from 0 (worst drawn) to 1 (best)."""
    ends: tuple[tuple[float, float], ...]
    """Per endpoint the values at heights 0 and 1."""
    shown: tuple[int, int, int, int]
    """Drawn compounds by status code."""
    total: tuple[int, int, int, int]
    """All compounds with every estimate, by status code."""

    def near(self, x: float, y: float, reach: tuple[float, float]) -> int | None:
        """Return the compound whose line passes nearest to a place; None when none is near."""
        if not self.compounds.size:
            return None
        place = float(np.clip(x, 0.0, self.heights.shape[1] - 1.0))
        left = min(int(place), self.heights.shape[1] - 2)
        share = place - left
        far = np.abs((1.0 - share) * self.heights[:, left] + share * self.heights[:, left + 1] - y)
        # Of lines that pass equally near, the one on top.
        nearest = int(far.size - 1 - np.argmin(far[::-1]))
        return int(self.compounds[nearest]) if far[nearest] < 0.06 else None

    def place(self, compound: int, x: float) -> tuple[float, float] | None:
        """Return where a compound's line crosses the axis nearest to ``x``; None when it is not drawn."""
        found = np.flatnonzero(self.compounds == compound)
        if not found.size:
            return None
        axis = min(max(round(x), 0), self.heights.shape[1] - 1)
        return float(axis), float(self.heights[found[0], axis])

    @property
    def along(self) -> Ints:
        """The compounds drawn."""
        return self.compounds


def bundle(
    estimates: Floats,
    status: NDArray[np.int8],
    chance: Floats,
    axes: Sequence[Axis],
    *,
    selected: int | None = None,
) -> Bundle:
    """Return the lines to draw of compounds with all estimates ``(n_endpoints, n)``.

    At most ``MOST_LINES`` of those in and undecided, the most probable (``chance``) first, and always the ``selected``
    one. At most ``MOST_FAINT`` of the others, spread evenly over the library.
    """
    known = complete(estimates)
    groups: dict[int, Ints] = {code: np.flatnonzero(known & (status == code)) for code in range(4)}
    total = tuple(int(groups[code].size) for code in range(4))
    kept = dict(groups)
    room = MOST_LINES
    for code in (1, 0):
        likely = groups[code][np.argsort(-np.nan_to_num(chance[groups[code]]), kind="stable")]
        kept[code] = np.sort(likely[: max(room, 0)])
        room -= kept[code].size
    others = np.concatenate([groups[3], groups[2]])
    step = -(-others.size // MOST_FAINT) if others.size else 1
    kept[2] = groups[2][::step]
    kept[3] = groups[3][::step]
    if selected is not None and known[selected]:
        code = int(status[selected])
        kept[code] = np.union1d(kept[code], [selected])
    drawn = np.concatenate([kept[3], kept[2], kept[0], kept[1]]).astype(np.intp)
    ends, rows = [], []
    for axis, values in zip(axes, estimates, strict=True):
        all_of = values[known]
        least, most = (float(all_of.min()), float(all_of.max())) if all_of.size else (0.0, 1.0)
        pad = 0.03 * max(most - least, 0.1)
        worst, best = (least - pad, most + pad) if axis.sign > 0 else (most + pad, least - pad)
        ends.append((worst, best))
        rows.append((values[drawn] - worst) / (best - worst))
    return Bundle(
        drawn,
        np.array(rows).T.reshape(drawn.size, len(axes)),
        tuple(ends),
        (kept[0].size, kept[1].size, kept[2].size, kept[3].size),
        (total[0], total[1], total[2], total[3]),
    )


def parallel_plot(
    view: Bundle,
    low: Floats,
    high: Floats,
    status: NDArray[np.int8],
    axes: Sequence[Axis],
    *,
    selected: int | None = None,
    palette: Palette = LIGHT,
    size: tuple[float, float] = (8.0, 3.0),
    dpi: float = 100.0,
) -> Figure:
    """Return the figure: endpoints as upright axes, better at the top of each.

    ``low`` and ``high`` ``(n_endpoints, n)`` are drawn for the selected compound.
    """
    words = _names(axes, size[0])
    lines = max((text.count("\n") + 1 for text in words), default=1)
    figure = blank(size, dpi, palette, (0.55, 0.45, 0.18 + 0.16 * lines, 0.42))
    plot = figure.axes[0]
    if not view.compounds.size:
        return with_message(figure, palette, "No estimates yet. They appear here with the first results.")
    count = len(axes)
    plot.set_xlim(-0.02 * count, count - 1 + 0.02 * count)
    plot.set_ylim(0.0, 1.0)
    plot.set_yticks([])
    plot.spines["left"].set_visible(False)
    plot.spines["bottom"].set_visible(False)
    plot.tick_params(axis="x", length=0)
    handles = _lines(plot, view, status, palette)
    for place, axis in enumerate(axes):
        _upright(plot, place, axis, view.ends[place], palette)
    _highlight(plot, view, low, high, selected, palette)
    plot.set_xticks(range(count), [""] * count)
    for place, text in enumerate(words):
        side = "left" if place == 0 else "right" if place == count - 1 else "center"
        note(plot, text, (place, 0.0), (0, -8), palette.text, ha=side, va="top")
    legend(figure, handles, palette)
    return figure


def _names(axes: Sequence[Axis], width: float) -> list[str]:
    """Return the names below the axes of a figure of ``width`` inches: on two lines if need be, then cut (…)."""
    better = [f"({'higher' if axis.sign > 0 else 'lower'} is better ↑)" for axis in axes]
    room = width * 72.0 / (len(axes) * 0.62 * SMALL)
    whole = [f"{axis.name} {text}" for axis, text in zip(axes, better, strict=True)]
    if max(map(len, whole), default=0) <= room:
        return whole
    most = max(int(room), 6)
    names = [axis.name if len(axis.name) <= most else f"{axis.name[: most - 1]}…" for axis in axes]
    return [f"{name}\n{text}" for name, text in zip(names, better, strict=True)]


def _lines(plot: Axes, view: Bundle, status: NDArray[np.int8], palette: Palette) -> list[Line2D]:
    """Draw the lines, those that are out first and those that are in on top; return the legend's handles."""
    handles: list[Line2D] = []
    state = status[view.compounds]
    at = np.arange(view.heights.shape[1], dtype=float)
    bright = int((state <= 1).sum())
    for code in (3, 2, UNDECIDED, 1):
        here = np.flatnonzero(state == code)
        if not here.size:
            continue
        faint = code >= 2
        colour = palette.muted if faint else palette.status[code]
        alpha = 0.16 if faint else float(np.clip((60.0 if code == 1 else 25.0) / bright, 0.3, 0.95))
        paths = [np.column_stack([at, view.heights[row]]) for row in here]
        dashes: Literal["dashed", "solid"] = "dashed" if code == UNDECIDED and here.size <= 60 else "solid"
        plot.add_collection(
            LineCollection(
                paths, colors=colour, linewidths=0.7 if faint else 1.2, alpha=alpha, linestyles=dashes, zorder=1 + code
                if faint else 5 + code,
            ),
            autolim=False,
        )  # fmt: skip
        if not faint:
            across = np.tile(at, here.size)
            plot.plot(
                across, view.heights[here].ravel(), linestyle="none", marker=MARKERS[code], color=colour,
                markersize=3.2, alpha=min(1.0, alpha + 0.2), zorder=9 + code, clip_on=False,
            )  # fmt: skip
        drawn, all_of = view.shown[code], view.total[code]
        words = f"{all_of:,} {WORDS[code]}" + (f" ({drawn:,} drawn)" if drawn < all_of else "")
        handles.append(
            Line2D(
                [], [], color=colour, linewidth=1.4, alpha=0.5 if faint else 1.0, linestyle=dashes, label=words,
                marker=None if faint else MARKERS[code], markersize=4.5,
            )
        )  # fmt: skip
    return handles[::-1]


def _upright(plot: Axes, place: int, axis: Axis, ends: tuple[float, float], palette: Palette) -> None:
    """Draw one endpoint's axis with its numbers, and its limit."""
    worst, best = ends
    plot.axvline(place, color=palette.muted, linewidth=0.8, zorder=8)
    for value in round_ticks(4).tick_values(min(ends), max(ends)):
        height = (value - worst) / (best - worst)
        if -0.001 <= height <= 1.001:
            note(
                plot, f"{value:g}", (place, height), (-4, 0), palette.muted, SMALL - 0.5, ha="right", va="center",
                zorder=9, bbox=_ground(palette, 0.7),
            )  # fmt: skip
    if axis.limit is None:
        return
    height = (axis.limit - worst) / (best - worst)
    if 0.0 < height < 1.0:
        plot.plot([place - 0.06, place + 0.06], [height, height], color=palette.cutoff, linewidth=2.0, zorder=9)
        note(
            plot, axis.limit_text, (place, height), (7, 3), palette.cutoff, SMALL - 0.5, ha="left", va="bottom",
            zorder=9, bbox=_ground(palette, 0.8),
        )  # fmt: skip


def _ground(palette: Palette, alpha: float) -> dict[str, object]:
    """Return the background of words on lines."""
    return {"boxstyle": "square,pad=0.05", "facecolor": palette.background, "edgecolor": "none", "alpha": alpha}


def _highlight(plot: Axes, view: Bundle, low: Floats, high: Floats, selected: int | None, palette: Palette) -> None:
    """Draw the selected compound's line and its bounds at every axis."""
    found = np.flatnonzero(view.compounds == selected) if selected is not None else np.zeros(0, dtype=np.intp)
    if selected is None or not found.size:
        return
    heights = view.heights[found[0]]
    at = np.arange(len(heights))
    plot.plot(at, heights, color=palette.accent, linewidth=2.4, marker="o", markersize=5.5, zorder=12)
    for place, (worst, best) in enumerate(view.ends):
        ends = np.array([low[place, selected], high[place, selected]])
        if np.isfinite(ends).all():
            # A bound outside the picture must not leave its axis.
            a, b = np.clip((ends - worst) / (best - worst), 0.0, 1.0)
            plot.vlines(place, a, b, color=palette.accent, linewidth=4.5, alpha=0.45, zorder=9)
