"""Rows in blocks, one block for each site with a row for each substituent: what forest and bar figures stand on."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from ..arrays import Floats
from .canvas import SMALL, blank, cut_middle
from .palette import Palette

__all__ = ["Block", "beside", "blocks_figure", "blocks_height", "row_at", "row_places"]


_ROW, _TALLEST = 0.215, 0.32
"""Inches of a row, and where there is room for more."""
_TOP, _BOTTOM = 0.52, 0.32
_LEAST, _LETTER, _CAPITAL = 0.6, 0.068, 0.083
"""Inches of the names at least, and of a letter: capitals are wider."""
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
    """For each block the heights of its rows, downwards from 0; its heading stands one above its first."""
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
    """Block and row at a height; None beside all rows."""
    for number, places in enumerate(row_places(blocks)):
        if places.size and places[0] - 0.5 <= y < places[-1] + 0.5:
            return number, min(int(y - places[0] + 0.5), len(places) - 1)
    return None


def _length(name: str) -> float:
    return sum(_CAPITAL if letter.isupper() else _LETTER for letter in name)


def blocks_figure(
    blocks: Sequence[Block], right: float, *, palette: Palette, width: float, dpi: float, height: float = 0.0,
    selected: Sequence[int] = (),
) -> tuple[Figure, Axes]:  # fmt: skip
    """The figure with its names and headings, and its axes, whose scale is on top; ``right`` inches stay free there.

    ``height``: inches there are, which the rows share as far as that looks well; ``selected``: for each block the row
    that is marked, -1 for none.
    """
    longest = max((_length(cut_middle(name, _LONGEST)) for block in blocks for name in block.names), default=0.0)
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
        axes.annotate(
            f"{cut_middle(block.title, 40)}{more}", (0.0, top), xycoords=across, xytext=(-6 - 72 * (left - 0.16), 0),
            textcoords="offset points", ha="left", va="center", fontsize=SMALL + 0.5, fontweight="bold",
            color=palette.text, parse_math=False, annotation_clip=False,
        )  # fmt: skip
        for place, name in zip(places, block.names, strict=True):
            axes.annotate(
                cut_middle(name, _LONGEST), (0.0, place), xycoords=across, xytext=(-6, 0), textcoords="offset points",
                ha="right", va="center", fontsize=SMALL - 0.3, color=palette.text, parse_math=False,
                annotation_clip=False,
            )  # fmt: skip
    return figure, axes


def beside(axes: Axes, y: float, text: str, palette: Palette, inches: float) -> None:
    """Write a number right of the axes, its end so many inches from them."""
    axes.annotate(
        text, (1.0, y), xycoords=axes.get_yaxis_transform(), xytext=(72 * inches, 0), textcoords="offset points",
        ha="right", va="center", fontsize=SMALL - 0.3, color=palette.muted, parse_math=False, annotation_clip=False,
    )  # fmt: skip
