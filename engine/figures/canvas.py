"""An empty figure in the house style and its ticks: what every figure function starts from."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Patch
from matplotlib.text import Annotation
from matplotlib.ticker import MaxNLocator
from numpy.typing import NDArray

from ..arrays import Floats
from .palette import IN, MARKERS, OUT, UNDECIDED, WORDS, Palette

SMALL = 8.5
"""Point size of all text; the window draws figures at its own resolution."""
_POINTS = 72.0
"""Points of an inch."""
_LETTER = 0.63
"""Width of a letter in the mean, of its point size."""
_NOT_ESTIMABLE = 3
_MANY = 300
"""Compounds above which their marks are drawn smaller."""
_SHORTEST = 10
"""Letters that are left of a name in any case."""


def blank(
    size: tuple[float, float], dpi: float, palette: Palette, margins: tuple[float, float, float, float]
) -> Figure:
    """Return a figure of ``size`` inches with one pair of axes, ``margins`` (left, right, bottom, top) in inches."""
    width, height = max(size[0], 1.0), max(size[1], 0.8)
    left, right, bottom, top = margins
    figure = Figure(figsize=(width, height), dpi=dpi, facecolor=palette.background)
    # A quarter of the figure is kept for the axes however small it is drawn.
    inner_width = max(width - left - right, width / 4)
    inner_height = max(height - bottom - top, height / 4)
    axes = figure.add_axes(
        (left / width, min(bottom / height, 0.5), inner_width / width * 0.999, inner_height / height * 0.999)
    )
    style(axes, palette)
    return figure


def style(axes: Axes, palette: Palette) -> None:
    """Give the axes quiet lines and the palette's colours."""
    axes.set_facecolor(palette.background)
    for side in ("top", "right"):
        axes.spines[side].set_visible(False)
    for side in ("left", "bottom"):
        axes.spines[side].set_color(palette.muted)
        axes.spines[side].set_linewidth(0.8)
    axes.tick_params(colors=palette.muted, labelsize=SMALL, width=0.8, length=3.5)


def cut_middle(text: str, longest: int = 20) -> str:
    """Return a text that fits next to a plot: a longer one loses its middle, since its ends identify it."""
    if len(text) <= longest:
        return text
    return f"{text[: longest - 9]}…{text[-8:]}"


def inches_of(text: str) -> float:
    """Return the width of a text of the usual size, about: capitals are wider."""
    return 0.067 * sum(1.25 if letter.isupper() else 1.0 for letter in text)


def fitting(axes: Axes, way: Literal["x", "y"], name: str, rest: str = "", points: float = SMALL) -> str:
    """Return a name and what follows it as label of an axis: a name too long for the picture loses its middle."""
    figure, box = axes.get_figure(root=True), axes.get_position()
    if figure is None:
        return f"{name}{rest}"
    ends, size = ((box.x0, box.x1), figure.get_figwidth()) if way == "x" else ((box.y0, box.y1), figure.get_figheight())
    middle = sum(ends) / 2
    letters = int(2 * min(middle, 1 - middle) * size * _POINTS / (_LETTER * points))
    return f"{cut_middle(name, max(letters - len(rest), _SHORTEST))}{rest}"


def with_message(figure: Figure, palette: Palette, text: str) -> Figure:
    """Return the figure with nothing but a sentence in its middle: an empty state."""
    axes = figure.axes[0]
    axes.set_axis_off()
    axes.text(
        0.5, 0.5, text, transform=axes.transAxes, ha="center", va="center", color=palette.muted, fontsize=9.5,
        parse_math=False, wrap=True,
    )  # fmt: skip
    return figure


def note(
    axes: Axes, text: str, at: tuple[float, float], away: tuple[float, float], colour: str, size: float = SMALL, *,
    coords: Any = "data", **how: Any,
) -> Annotation:  # fmt: skip
    """Write a text so many points away from a place, literally and never cut off; ``how`` as annotate takes it."""
    return axes.annotate(
        text, at, xycoords=coords, xytext=away, textcoords="offset points", color=colour, fontsize=size,
        parse_math=False, annotation_clip=False, **how,
    )  # fmt: skip


def legend(figure: Figure, handles: Sequence[Line2D | Patch], palette: Palette) -> None:
    """Write the legend in one line above the plot, in smaller letters where it is narrow."""
    left = figure.axes[0].get_position().x0
    room = (1.0 - left) * figure.get_figwidth() * 72.0
    letters = sum(len(str(handle.get_label())) for handle in handles)
    needs = SMALL * (0.6 * letters + 3.0 * len(handles))
    size = max(SMALL * min(1.0, room / max(needs, 1.0)), 5.0)
    made = figure.legend(
        handles=list(handles), loc="upper left", ncols=max(len(handles), 1), frameon=False, fontsize=size,
        labelcolor=palette.text, borderaxespad=0.2, handletextpad=0.4, columnspacing=1.5, handlelength=1.4,
        bbox_to_anchor=(figure.axes[0].get_position().x0 - 0.006, 1.0),
    )  # fmt: skip
    made.set_zorder(8)


def value_ends(
    points: Floats, bounds: Floats, share: float, pad: float, marks: Sequence[float] = ()
) -> tuple[float, float]:
    """Return the ends of an axis that covers all points, and the bounds and marks near them.

    One bound of a hardly known compound must not squeeze all points together: an interval may leave the picture by a
    ``share`` of their range. ``pad`` is the share that stays free beyond all.
    """
    least, most = float(points.min()), float(points.max())
    room = max(most - least, 0.1)
    bounds = bounds[np.isfinite(bounds)]
    if bounds.size:
        least, most = (
            max(min(least, float(bounds.min())), least - share * room),
            min(max(most, float(bounds.max())), most + share * room),
        )
    for mark in marks:
        if least - 0.5 * room < mark < most + 0.5 * room:
            least, most = min(least, mark), max(most, mark)
    free = pad * max(most - least, 0.1)
    return least - free, most + free


def mark_status(
    axes: Axes, x: Floats, y: Floats, code: int, palette: Palette, *, size: float, level: float, edge: float = 1.0
) -> Line2D:
    """Draw compounds of a status in its colour and shape, those that are out hollow; return it for a legend."""
    colour = palette.status[code]
    face = palette.background if code == OUT else colour
    look: dict[str, Any] = {"linestyle": "none", "marker": MARKERS[code], "color": colour, "markerfacecolor": face}
    axes.plot(x, y, markersize=size, markeredgewidth=edge, zorder=level, **look)
    return Line2D([], [], markersize=5.0, **look)


def mark_all(axes: Axes, x: Floats, y: Floats, status: NDArray[np.int8], palette: Palette) -> list[Line2D]:
    """Draw compounds by their status, those that are in on top; return a handle for each status, with its number."""
    handles = []
    many = status.size > _MANY
    small = 3.0 if many else 4.5
    for code in (_NOT_ESTIMABLE, OUT, UNDECIDED, IN):
        here = status == code
        if here.any():
            size, level, edge = (small, 2, 0.7 if many else 1.0) if code >= OUT else (small + 1.1, 5 + code, 1.0)
            handles.append(mark_status(axes, x[here], y[here], code, palette, size=size, level=level, edge=edge))
            handles[-1].set_label(f"{int(here.sum()):,} {WORDS[code]}")
    return handles[::-1]


def ring(axes: Axes, x: float, y: float, palette: Palette, *, size: float = 11.0, level: float = 5) -> None:
    """Draw a ring around the place of the selected compound."""
    axes.plot(
        [x], [y], linestyle="none", marker="o", markersize=size, markerfacecolor="none",
        markeredgecolor=palette.accent, markeredgewidth=2.0, zorder=level,
    )  # fmt: skip


def round_ticks(most: int | Literal["auto"]) -> MaxNLocator:
    """Return a locator of ticks for values, with at most so many steps; ``auto``: as many as have room."""
    return MaxNLocator(nbins=most, steps=[1, 2, 2.5, 5, 10])


def whole_ticks(most: int | Literal["auto"]) -> MaxNLocator:
    """Return a locator of ticks for counts, at whole numbers; ``most`` as above."""
    return MaxNLocator(nbins=most, steps=[1, 2, 5, 10], integer=True, min_n_ticks=1)
