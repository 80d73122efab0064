"""Where the measurements went: how many each substituent got, before the campaign and in it."""

from __future__ import annotations

from collections.abc import Sequence

from matplotlib.figure import Figure
from matplotlib.patches import Patch

from ..arrays import Ints
from .blocks import Block, beside, blocks_figure, row_places
from .canvas import SMALL, blank, say
from .palette import LIGHT, Palette
from .ticks import whole_ticks

__all__ = ["usage_plot"]


def usage_plot(
    blocks: Sequence[Block],
    used: Sequence[tuple[Ints, Ints]],
    *,
    selected: Sequence[int] = (),
    palette: Palette = LIGHT,
    width: float = 7.0,
    height: float = 0.0,
    dpi: float = 100.0,
) -> Figure:
    """The figure: for each block its rows' (earlier values, measurements of the campaign), as bars with their numbers.

    Earlier values are hatched. Its height follows from the rows, and from the ``height`` there is (``blocks_figure``).
    """
    if not any(block.names for block in blocks):
        return say(blank((width, 2.0), dpi, palette, (0.1, 0.1, 0.1, 0.1)), palette, "No site has a choice.")
    figure, axes = blocks_figure(blocks, 0.75, palette=palette, width=width, height=height, dpi=dpi, selected=selected)
    most = max(int((earlier + here).max(initial=0)) for earlier, here in used)
    axes.set_xlim(0, 1.02 * max(most, 1))
    axes.grid(axis="x", color=palette.grid, linewidth=0.6, zorder=0)
    axes.set_axisbelow(True)
    some = any(earlier.any() for earlier, _ in used)
    for places, (earlier, here) in zip(row_places(blocks), used, strict=True):
        axes.barh(places, here, height=0.62, color=palette.accent, zorder=2)
        axes.barh(
            places, earlier, left=here, height=0.62, facecolor=palette.background, edgecolor=palette.muted,
            hatch="////", linewidth=0.6, zorder=2,
        )  # fmt: skip
        for place, number in zip(places, earlier + here, strict=True):
            beside(axes, place, f"{int(number):,}" if number else "none", palette, 0.62)
    if some:
        handles = [
            Patch(facecolor=palette.accent, label="this campaign"),
            Patch(facecolor=palette.background, edgecolor=palette.muted, hatch="////", label="earlier values"),
        ]
        figure.legend(  # below the rows, where no bar ends
            handles=handles, loc="lower left", bbox_to_anchor=(axes.get_position().x0, 0.0), ncols=2, frameon=False,
            fontsize=SMALL - 0.5, labelcolor=palette.text, borderaxespad=0.2,
        )  # fmt: skip
    axes.xaxis.set_major_locator(whole_ticks(8))
    axes.set_xlabel("measurements of compounds that carry it", color=palette.muted, fontsize=SMALL)
    return figure
