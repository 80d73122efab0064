"""Contributions of substituents, one block of rows for each site."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from ..arrays import Floats, Ints
from ..text import signed
from .canvas import SMALL, blank, cut_middle, inches_of, note, round_ticks, value_ends, with_message
from .palette import LIGHT, Palette

_ROW, _TALLEST = 0.215, 0.32
"""Inches of a row, and where there is room for more."""
_TOP, _BOTTOM = 0.52, 0.32
_LEAST = 0.6
"""Inches of the names at least."""
_LONGEST = 24
_GAP = 0.7
"""Rows left free above the heading of a further block."""


@dataclass(frozen=True, slots=True)
class Block:
    """A site and those of its substituents that are drawn, from the top."""

    title: str
    names: tuple[str, ...]
    left_out: int = 0
    """Substituents that are not drawn."""


def row_places(blocks: Sequence[Block]) -> list[Floats]:
    """Return the heights of each block's rows, downwards from 0; its heading is one above its first."""
    found, at = [], 0.0
    for block in blocks:
        at += 1.0  # the heading
        found.append(at + np.arange(len(block.names), dtype=np.float64))
        at += len(block.names) + _GAP
    return found


def _end(blocks: Sequence[Block]) -> float:
    return sum(len(block.names) + 1.0 + _GAP for block in blocks)


def blocks_height(blocks: Sequence[Block], *, largest: bool = False) -> float:
    """Inches that the figure of these blocks takes; ``largest``: those it fills at most."""
    return _TOP + _BOTTOM + (_TALLEST if largest else _ROW) * max(_end(blocks), 4.0)


def row_at(blocks: Sequence[Block], y: float) -> tuple[int, int] | None:
    """Return block and row at a height; None outside all rows."""
    for number, places in enumerate(row_places(blocks)):
        if places.size and places[0] - 0.5 <= y < places[-1] + 0.5:
            return number, min(int(y - places[0] + 0.5), len(places) - 1)
    return None


def blocks_figure(
    blocks: Sequence[Block], right: float, *, palette: Palette, width: float, dpi: float, height: float = 0.0,
    selected: Sequence[int] = (),
) -> tuple[Figure, Axes]:  # fmt: skip
    """Return the figure with its names and headings, and its axes, whose scale is on top.

    ``right`` inches stay free there.

    ``height``: inches there are, which the rows share as far as that looks well; ``selected``: for each block the row
    that is marked, -1 for none.
    """
    longest = max((inches_of(cut_middle(name, _LONGEST)) for block in blocks for name in block.names), default=0.0)
    left = max(_LEAST, 0.22 + longest)
    high = max(blocks_height(blocks), min(height, blocks_height(blocks, largest=True)))
    figure = blank((width, high), dpi, palette, (left, right, _BOTTOM, _TOP))
    axes = figure.axes[0]
    axes.set_ylim(max(_end(blocks), 4.0) - _GAP, -0.55)
    axes.xaxis.tick_top()
    axes.xaxis.set_label_position("top")
    axes.spines["bottom"].set_visible(False)
    axes.spines["left"].set_visible(False)
    axes.spines["top"].set_visible(True)
    axes.spines["top"].set_color(palette.muted)
    axes.set_yticks([])
    across = axes.get_yaxis_transform()
    for number, (block, places) in enumerate(zip(blocks, row_places(blocks), strict=True)):
        marked = selected[number] if number < len(selected) else -1
        if 0 <= marked < len(places):
            axes.axhspan(places[marked] - 0.48, places[marked] + 0.48, color=palette.grid, zorder=0, linewidth=0)
        top = float(places[0]) - 1.0 if places.size else 0.0
        more = f"   {block.left_out:,} in the middle not shown" if block.left_out else ""
        note(
            axes, f"{cut_middle(block.title, 40)}{more}", (0.0, top), (-6 - 72 * (left - 0.16), 0), palette.text,
            SMALL + 0.5, coords=across, ha="left", va="center", fontweight="bold",
        )  # fmt: skip
        for place, name in zip(places, block.names, strict=True):
            note(
                axes, cut_middle(name, _LONGEST), (0.0, place), (-6, 0), palette.text, SMALL - 0.3, coords=across,
                ha="right", va="center",
            )  # fmt: skip
    return figure, axes


def write_right(axes: Axes, y: float, text: str, palette: Palette, inches: float) -> None:
    """Write a number right of the axes, its end so many inches from them."""
    note(
        axes, text, (1.0, y), (72 * inches, 0), palette.muted, SMALL - 0.3, coords=axes.get_yaxis_transform(),
        ha="right", va="center",
    )  # fmt: skip


_RIGHT = 1.2
"""Inches for the value and the number of measurements."""


def contribution_ends(value: Floats, low: Floats, high: Floats) -> tuple[float, float]:
    """Return ends of an axis for all contributions of an endpoint, so that its sites can be compared; 0 is included.

    An interval much wider than all differences runs out of the picture rather than squeeze them flat.
    """
    known = value[np.isfinite(value)]
    if not known.size:
        return -1.0, 1.0
    return value_ends(np.append(known, 0.0), np.concatenate([low, high]), 0.4, 0.04)


def forest_plot(
    blocks: Sequence[Block],
    values: Sequence[tuple[Floats, Floats, Floats, Ints]],
    *,
    ends: tuple[float, float] | None = None,
    quantity: str = "contribution",
    sign: float = 1.0,
    selected: Sequence[int] = (),
    palette: Palette = LIGHT,
    width: float = 7.0,
    height: float = 0.0,
    dpi: float = 100.0,
) -> Figure:
    """Return the figure: for each block its rows' (value, low, high, measurements), model scale, NaN where not known.

    Its height follows from the rows, and from the ``height`` there is (``blocks_figure``). A filled point is one whose
    interval leaves out 0, the average of its site; a hollow one may be the average. ``selected``: the row marked in
    each block, -1 for none. ``ends``: of the axis, instead of those that suit these values. ``sign`` -1 when smaller is
    better.
    """
    if not any(block.names for block in blocks):
        return with_message(blank((width, 2.0), dpi, palette, (0.1, 0.1, 0.1, 0.1)), palette, "No site has a choice.")
    figure, axes = blocks_figure(
        blocks, _RIGHT, palette=palette, width=width, height=height, dpi=dpi, selected=selected
    )
    joined = [np.concatenate([part[k] for part in values]) for k in range(3)]
    axes.set_xlim(*(ends or contribution_ends(joined[0], joined[1], joined[2])))
    axes.axvline(0.0, color=palette.muted, linewidth=0.8, zorder=1)
    axes.grid(axis="x", color=palette.grid, linewidth=0.6, zorder=0)
    axes.set_axisbelow(True)
    for places, (value, low, high, counts) in zip(row_places(blocks), values, strict=True):
        known = np.isfinite(value)
        bounded = known & np.isfinite(low) & np.isfinite(high)
        nonzero = bounded & ((low > 0) | (high < 0))
        axes.hlines(places[bounded], low[bounded], high[bounded], color=palette.accent, linewidth=1.6, zorder=2)
        for here, face in ((nonzero, palette.accent), (known & ~nonzero, palette.background)):
            axes.plot(
                value[here], places[here], linestyle="none", marker="o", markersize=5.4, color=palette.accent,
                markerfacecolor=face, markeredgewidth=1.3, zorder=3,
            )  # fmt: skip
        for row in range(len(places)):
            if known[row]:
                write_right(axes, places[row], signed(value[row]), palette, 0.55)
            else:
                text = "never measured" if counts[row] == 0 else "cannot be distinguished from another site"
                note(
                    axes, text, (0.0, places[row]), (4, 0), palette.muted, SMALL - 1, coords=axes.get_yaxis_transform(),
                    ha="left", va="center", style="italic", zorder=4,
                    bbox={"boxstyle": "square,pad=0.1", "facecolor": palette.background, "edgecolor": "none"},
                )  # fmt: skip
            write_right(axes, places[row], f"{int(counts[row]):,}", palette, 1.1)
    write_right(axes, -0.15, "n", palette, 1.1)
    axes.xaxis.set_major_locator(round_ticks(8))
    figure.text(
        axes.get_position().x0, 0.08 / figure.get_figheight(), "lines: 95 % intervals; hollow: the interval holds 0",
        ha="left", va="bottom", fontsize=SMALL - 1, color=palette.muted,
    )  # fmt: skip
    better = "better →" if sign > 0 else "← better"
    axes.set_xlabel(
        f"adds to {cut_middle(quantity, 32)}, from the mean measurement at its site   {better}", color=palette.muted,
        fontsize=SMALL, parse_math=False,
    )  # fmt: skip
    return figure
