"""The map of two sites: each pair of substituents a cell with its mean estimate, gaps left blank."""

from __future__ import annotations

import textwrap
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from matplotlib.axes import Axes
from matplotlib.cm import ScalarMappable
from matplotlib.colors import LinearSegmentedColormap, Normalize, to_rgb
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle
from numpy.typing import NDArray

from ..arrays import Flags, Floats, Ints
from .canvas import SMALL, blank, cut_middle, inches_of, note, round_ticks, with_message
from .palette import LIGHT, Palette

MOST = 120
"""Substituents of one site that a map shows; of more the best are shown."""


@dataclass(frozen=True, slots=True, eq=False)
class PairMap:
    """One cell for each pair; rows and columns in the order they are shown."""

    rows: Ints
    """``(r,)``, codes of the substituents of the site that goes down."""
    columns: Ints
    """``(c,)``, codes of the site that goes across."""
    mean: Floats
    """``(r, c)``, the mean estimate of the pair's compounds; NaN where none can be estimated."""
    compounds: Ints
    """``(r, c)``, how many compounds carry the pair; 0 is a gap."""
    measured: Ints
    """``(r, c)``, how many of them were measured, those known only as bounds included."""
    best: Ints
    """``(r, c)``, the compound with the best estimate, without one the first; -1 in a gap."""
    left_out: tuple[int, int]
    """Substituents of either site that carry a compound and are not shown."""
    bounded: Ints
    """``(r, c)``, how many of those measured are known only as bounds."""

    @property
    def gaps(self) -> int:
        """Pairs that no compound carries."""
        return int((self.compounds == 0).sum())

    def cell_of(self, down: int, across: int) -> tuple[int, int] | None:
        """Row and column of a pair of codes; None when it is not shown."""
        row, column = np.flatnonzero(self.rows == down), np.flatnonzero(self.columns == across)
        return (int(row[0]), int(column[0])) if row.size and column.size else None


def pair_map(
    codes: NDArray[np.integer],
    sizes: tuple[int, ...],
    sites: tuple[int, int],
    estimate: Floats,
    measured: NDArray[np.integer],
    *,
    sign: float = 1.0,
    fixed: Mapping[int, int] | None = None,
    by_effect: bool = True,
    bounded: NDArray[np.integer] | None = None,
) -> PairMap:
    """Return the map of two sites (down, across) of a library: ``codes`` ``(n, n_sites)`` of ``sizes`` substituents.

    ``estimate`` ``(n,)`` with NaN where unknown, ``measured`` ``(n,)`` determinations. Only compounds that carry what
    ``fixed`` selects (code by site) are counted; all other sites are averaged. ``sign`` -1 when smaller is better.
    ``by_effect``: the best substituents first, what is not known last; else in the library's order. Substituents that
    no counted compound carries are left out, and so is what goes beyond ``MOST``. ``bounded`` ``(n,)``: determinations
    of which only a bound is known.
    """
    down, across = sites
    if down == across:
        raise ValueError("a map needs two different sites")
    shape = (sizes[down], sizes[across])
    cells = codes[:, down].astype(np.intp) * shape[1] + codes[:, across]
    here: Flags | None = None
    for site, code in (fixed or {}).items():
        if site not in sites:
            same = codes[:, site] == code
            here = same if here is None else here & same
    places = np.arange(len(cells)) if here is None else np.flatnonzero(here)
    cells, values = cells[places], estimate[places]
    n = shape[0] * shape[1]
    compounds = np.bincount(cells, minlength=n)
    only = np.zeros(len(places), dtype=bool) if bounded is None else (bounded[places] > 0) & (measured[places] == 0)
    seen = np.bincount(cells[(measured[places] > 0) | only], minlength=n)
    bound = np.bincount(cells[only], minlength=n)
    known = np.isfinite(values)
    with_value = np.bincount(cells[known], minlength=n)
    total = np.bincount(cells[known], values[known], n)
    mean = np.full(n, np.nan)
    np.divide(total, with_value, out=mean, where=with_value > 0)
    best = _best(cells, places, np.where(known, sign * values, -np.inf), n)
    table = mean.reshape(shape)
    number, counted, first, cut = (part.reshape(shape) for part in (compounds, seen, best, bound))
    rows, columns = np.flatnonzero(number.any(axis=1)), np.flatnonzero(number.any(axis=0))
    if by_effect:
        effects = _effects(sign * table[np.ix_(rows, columns)])
        rows, columns = (
            part[np.argsort(-effect, kind="stable")] for part, effect in zip((rows, columns), effects, strict=True)
        )
    left_out = (max(len(rows) - MOST, 0), max(len(columns) - MOST, 0))
    rows, columns = rows[:MOST], columns[:MOST]
    chosen = np.ix_(rows, columns)
    return PairMap(rows, columns, table[chosen], number[chosen], counted[chosen], first[chosen], left_out, cut[chosen])


def _best(cells: Ints, places: Ints, values: Floats, n: int) -> Ints:
    """Of each cell the place of the largest value, the first of equal ones; -1 for empty cells."""
    top = np.full(n, -np.inf)
    np.maximum.at(top, cells, values)
    first = np.full(n, -1, dtype=np.intp)
    is_top = np.flatnonzero(values == top[cells])[::-1]
    first[cells[is_top]] = places[is_top]  # backwards, so that the first one stays
    return first


def _effects(mean: Floats) -> tuple[Floats, Floats]:
    """Return the mean excess of each row, and each column, over the average; -inf where nothing is known.

    Cells are compared within their column (row), so that a row is not called good because its columns are.
    """
    known = np.isfinite(mean)
    filled = np.where(known, mean, 0.0)

    def over(axis: int) -> Floats:
        number = known.sum(axis=1 - axis, keepdims=True)
        middle = filled.sum(axis=1 - axis, keepdims=True) / np.maximum(number, 1)
        own = known.sum(axis=axis)
        lead = np.where(known, filled - middle, 0.0).sum(axis=axis)
        return np.where(own > 0, lead / np.maximum(own, 1), -np.inf)

    return over(1), over(0)


Shape = tuple[float, float]

_WIDE, _HIGH = 0.52, 0.34
"""Inches of a cell with its value in it."""
_TINY = 0.125
"""Inches of a cell without."""
_WIDEST, _HIGHEST = 2.1, 1.0
_WITH_VALUES = 1_200
"""Cells above which values stand on hover alone."""
_KEY = 4.6
"""Inches that the words below need."""
_RIGHT, _BOTTOM = 0.82, 0.72
_LONGEST, _UPRIGHT = 20, 15
"""Characters of a label at the left, and on top, where it may stand upright."""


def _margins(rows: Sequence[str], columns: Sequence[str], sites: tuple[str, str], cell: float) -> tuple[float, float]:
    """Inches at the left and at the top; labels across stand upright where they are wider than a cell."""
    longest = max(map(inches_of, (*(cut_middle(text, _LONGEST) for text in rows), "n" * 5)))
    title = 0.09 * len(cut_middle(sites[0], _LONGEST)) + 0.13
    left = 0.12 + max(longest, title)
    across = max((inches_of(cut_middle(text, _UPRIGHT)) for text in columns), default=0.067)
    top = 0.36 + (0.2 if across + 0.06 <= cell else across + 0.08)
    return left, top


def heat_size(rows: Sequence[str], columns: Sequence[str], sites: tuple[str, str], *, largest: bool = False) -> Shape:
    """Return the least inches that a map with these labels needs to be read; ``largest``: those it fills at most."""
    values = len(rows) * len(columns) <= _WITH_VALUES
    wide, high = (_WIDEST, _HIGHEST) if largest else (_WIDE, _HIGH) if values else (_TINY, _TINY)
    left, top = _margins(rows, columns, sites, wide)
    return max(left + _RIGHT + wide * max(len(columns), 2), _KEY), top + _BOTTOM + high * max(len(rows), 2)


def heat_map(
    view: PairMap,
    rows: Sequence[str],
    columns: Sequence[str],
    *,
    sites: tuple[str, str],
    quantity: str = "value",
    sign: float = 1.0,
    rest: str = "",
    selected: tuple[int, int] | None = None,
    palette: Palette = LIGHT,
    size: Shape = (6.0, 4.5),
    dpi: float = 100.0,
) -> Figure:
    """Return the figure: ``rows`` and ``columns`` label ``view``'s substituents, ``sites`` are those down and across.

    The better a cell the stronger its colour; it shows its number. A disc marks pairs with a measured compound,
    a ring those measured only as bounds, a question mark those that cannot be estimated; a mean with ``<`` is
    only known to be below its number. Pairs without a compound are blank. ``rest`` describes the
    other sites. ``selected``: row and column of a cell that is ringed. ``sign`` -1 when smaller is better.
    """
    n, m = view.mean.shape
    if not n or not m:
        return with_message(
            blank(size, dpi, palette, (0.1, 0.1, 0.1, 0.1)), palette, "No compound carries this combination."
        )
    guess = min((size[0] - 1.5 - _RIGHT) / m, _WIDEST)
    left, top = _margins(rows, columns, sites, guess)
    wide = min(max(size[0] - left - _RIGHT, 0.5), _WIDEST * m)
    high = min(max(size[1] - top - _BOTTOM, 0.4), _HIGHEST * n)
    figure = blank(size, dpi, palette, (left, _RIGHT, _BOTTOM, top))
    whole = figure.get_size_inches()
    figure.axes[0].set_position((left / whole[0], 1.0 - (top + high) / whole[1], wide / whole[0], high / whole[1]))
    axes = figure.axes[0]
    for side in ("left", "bottom"):
        axes.spines[side].set_visible(False)
    axes.set_xlim(-0.5, m - 0.5)
    axes.set_ylim(n - 0.5, -0.5)
    colours = _colours(palette, sign)
    known = view.mean[np.isfinite(view.mean)]
    ends = (float(known.min()), float(known.max())) if known.size else (0.0, 1.0)
    if ends[1] - ends[0] < 1e-9:
        ends = (ends[0] - 0.5, ends[1] + 0.5)
    scale = Normalize(*ends)
    axes.pcolormesh(
        np.arange(m + 1) - 0.5, np.arange(n + 1) - 0.5, np.ma.masked_invalid(view.mean), cmap=colours, norm=scale,
        edgecolors=palette.background, linewidth=0.8 if n * m <= _WITH_VALUES else 0.2, zorder=1,
    )  # fmt: skip
    roomy = wide / m >= 0.34 and high / n >= 0.19 and n * m <= _WITH_VALUES
    _write_cells(axes, view, colours, scale, palette, roomy=roomy)
    if selected is not None:
        axes.add_patch(
            Rectangle((selected[1] - 0.5, selected[0] - 0.5), 1, 1, fill=False, edgecolor=palette.text, linewidth=2.2,
                      zorder=6, clip_on=False)
        )  # fmt: skip
    _label(axes, rows, columns, sites, palette, (wide / m, high / n))
    _bar(figure, colours, scale, quantity, sign, palette, min(high, 2.2))
    _key(figure, view, rest, palette, (axes.get_position().x0, axes.get_position().y0))
    return figure


def _colours(palette: Palette, sign: float) -> LinearSegmentedColormap:
    """One hue from nearly the ground to strong, so that it reads in grey and for every eye; the better the stronger."""
    dark = sum(to_rgb(palette.background)) < 1.5
    steps = ["#2a3a50", "#33649f", "#9cc6ff"] if dark else ["#edf3fb", "#86b0e4", "#174a94"]
    return LinearSegmentedColormap.from_list("estimates", steps if sign > 0 else steps[::-1])


def _write_cells(
    axes: Axes, view: PairMap, colours: LinearSegmentedColormap, scale: Normalize, palette: Palette, *, roomy: bool
) -> None:
    """Write the value of each cell, marks those with measurements, and those that nothing is known of."""
    known = np.isfinite(view.mean)
    unknown = (view.compounds > 0) & ~known
    for row, column in zip(*np.nonzero(unknown), strict=True):
        axes.add_patch(
            Rectangle((column - 0.46, row - 0.46), 0.92, 0.92, fill=False, edgecolor=palette.muted, linewidth=0.6,
                      linestyle=":", zorder=2)
        )  # fmt: skip
        if roomy:
            axes.text(column, row, "?", ha="center", va="center", fontsize=SMALL, color=palette.muted, zorder=4)
    low = 0.0 if scale.vmin is None else scale.vmin
    fill = colours(scale(np.where(known, view.mean, low)))
    linear = np.where(fill[..., :3] <= 0.04045, fill[..., :3] / 12.92, ((fill[..., :3] + 0.055) / 1.055) ** 2.4)
    # Above this relative luminance (WCAG 2.2) the dark ink has the better contrast, below it the white one.
    light = linear @ np.array([0.2126, 0.7152, 0.0722]) > 0.18
    ink = np.where(light, "#101722", "#ffffff")
    if roomy:
        for row, column in zip(*np.nonzero(known), strict=True):
            axes.text(
                column, row, f"{view.mean[row, column]:.2f}", ha="center", va="center",
                fontsize=SMALL, color=ink[row, column], zorder=4,
                fontweight="bold" if view.measured[row, column] else "normal",
            )  # fmt: skip
    for white in (True, False):
        here = (view.measured > 0) & (light != white)
        colour = "#ffffff" if white else "#101722"
        for part, filled in ((view.bounded < view.measured, colour), (view.bounded == view.measured, "none")):
            rows, columns = np.nonzero(here & part)
            axes.plot(
                columns - (0.38 if roomy else 0.0), rows - (0.32 if roomy else 0.0), linestyle="none", marker="o",
                markersize=3.4 if roomy else 2.0, color=colour, markerfacecolor=filled,
                markeredgewidth=0 if filled == colour else 0.7, zorder=5,
            )  # fmt: skip


def _label(
    axes: Axes, rows: Sequence[str], columns: Sequence[str], sites: tuple[str, str], palette: Palette, cell: Shape
) -> None:
    """Name the substituents, those down at the left, those across on top."""
    axes.set_xticks([])
    axes.set_yticks([])
    upright = max(inches_of(cut_middle(text, _UPRIGHT)) for text in columns) + 0.06 > cell[0]
    # Where cells are smaller than letters only some of them are named; hovering names each.
    step = (max(1, round(0.13 / cell[1] + 0.49)), max(1, round(0.14 / cell[0] + 0.49)) if upright else 1)
    for place in range(0, len(rows), step[0]):
        note(
            axes, cut_middle(rows[place], _LONGEST), (0.0, place), (-6, 0), palette.text, SMALL - 0.5,
            coords=axes.get_yaxis_transform(), ha="right", va="center",
        )  # fmt: skip
    for place in range(0, len(columns), step[1]):
        note(
            axes, cut_middle(columns[place], _UPRIGHT), (place, 1.0), (0, 5), palette.text, SMALL - 0.5,
            coords=axes.get_xaxis_transform(), ha="center", va="bottom", rotation=90 if upright else 0,
        )  # fmt: skip
    # Both names stand in the corner, where they are seen however far the map is scrolled.
    note(
        axes, f"{cut_middle(sites[0], _LONGEST)} ↓", (0.0, 1.0), (-6, 5), palette.text, SMALL + 0.5,
        coords="axes fraction", ha="right", va="bottom", fontweight="bold",
    )  # fmt: skip
    figure = axes.get_figure(root=True)
    if figure is not None:
        figure.text(
            axes.get_position().x0, 1.0 - 0.06 / figure.get_figheight(), f"{cut_middle(sites[1], 40)} →", ha="left",
            va="top", fontsize=SMALL + 0.5, fontweight="bold", color=palette.text, parse_math=False,
        )  # fmt: skip


def _bar(
    figure: Figure, colours: LinearSegmentedColormap, scale: Normalize, quantity: str, sign: float, palette: Palette,
    length: float,
) -> None:  # fmt: skip
    """Draw the colours with their numbers at the right, the better end up."""
    box = figure.axes[0].get_position()
    width, height = figure.get_figwidth(), figure.get_figheight()
    bar = figure.add_axes((box.x1 + 0.16 / width, box.y1 - length / height, 0.11 / width, length / height))
    drawn = figure.colorbar(ScalarMappable(scale, colours), cax=bar)
    drawn.outline.set_visible(False)
    drawn.locator = round_ticks(5)
    bar.tick_params(colors=palette.muted, labelsize=SMALL - 1, width=0.6, length=2.5)
    if sign < 0:
        bar.invert_yaxis()
    bar.set_ylabel(
        f"{cut_middle(quantity, 26)}   better →", color=palette.muted, fontsize=SMALL - 1, parse_math=False,
        rotation=90,
    )  # fmt: skip


def _key(figure: Figure, view: PairMap, rest: str, palette: Palette, corner: Shape) -> None:
    """Write the legend of the marks below the map."""
    parts = ["● measured (bold)"]
    if ((view.bounded == view.measured) & (view.measured > 0)).any():
        parts.append("○ only as a bound")
    if ((view.compounds > 0) & ~np.isfinite(view.mean)).any():
        parts.append("? not estimable")
    if view.gaps:
        parts.append("blank: no such compound")
    if any(view.left_out):
        parts.append(f"not shown: {view.left_out[0]:,} rows, {view.left_out[1]:,} columns")
    height, letters = figure.get_figheight(), (1.0 - corner[0]) * figure.get_figwidth() / 0.064
    together = "   ".join(part.replace(" ", "\0") for part in parts)  # no line ends within a part
    lines = [line for words in (together, rest) for line in textwrap.wrap(words, max(int(letters), 20))]
    text = "\n".join(lines).replace("\0", " ")
    y = corner[1] - 0.1 / height
    figure.text(corner[0], y, text, ha="left", va="top", fontsize=SMALL - 1,
                color=palette.muted, parse_math=False, linespacing=1.35)  # fmt: skip
