"""Columns of the table as pictures: two against each other, or one as a histogram; what a line encloses is selected."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from assaypilot.engine.arrays import Flags, Floats, Ints
from assaypilot.engine.campaign.state import STATUSES, Status
from assaypilot.engine.export.measured import estimate_text
from assaypilot.engine.export.sheet import Cell
from assaypilot.engine.export.shortlist import decimals_of
from assaypilot.engine.figures.palette import DARK, MARKERS, Palette
from assaypilot.engine.text import many

from ..widgets.text import three_digits
from .scene import Scene, Shape, Target, known_cells, stepped

Extent = tuple[float, float, float, float]
"""Left, right, bottom and top of what is shown."""
_MARK, _SMALLEST, _LARGEST = 22.0, 9.0, 90.0
"""Points squared of a mark, and of the smallest and largest where a column gives the size."""
_MOST_BARS = 40
_OVER = 0.05
"""How much of its range an axis goes on beyond it."""
_DRAWN_LAST = (3, 2, 0, 1)
"""Status codes from the back to the front."""


@dataclass(frozen=True, eq=False)
class Quantity:
    """A column of numbers."""

    name: str
    values: Floats
    """One per compound; NaN where nothing is known."""


class _ColumnsScene(Scene):
    """``rows``: the compounds the table shows; ``chosen``: those selected in it."""

    def __init__(self, status: Status, rows: Ints, selected: int | None, chosen: Ints) -> None:
        self.status, self.rows, self.selected, self.chosen = status, rows, selected, chosen

    def _left(self, *needed: Quantity) -> Ints:
        """Return the rows whose values are known."""
        known: Flags = np.ones(len(self.rows), dtype=bool)
        for one in needed:
            known &= np.isfinite(one.values[self.rows])
        return self.rows[known]


class ScatterScene(_ColumnsScene):
    """Two columns against each other; colour and size may show two more."""

    title = "scatter"

    def __init__(
        self, status: Status, rows: Ints, selected: int | None, chosen: Ints, axes: tuple[Quantity, Quantity], *,
        colour: Quantity | None = None, size: Quantity | None = None, extent: Extent | None = None,
    ) -> None:  # fmt: skip
        """``colour`` None: by status; ``size`` None: all the same; ``extent``: the zoomed range."""
        super().__init__(status, rows, selected, chosen)
        self.x, self.y = axes
        self.colour, self.size, self._extent = colour, size, extent
        self.compounds = self._left(*axes)
        self.name = f"{self.y.name} against {self.x.name} of {many(len(self.compounds), 'compound')}"

    @property
    def extent(self) -> Extent:
        """What is shown."""
        if self._extent is not None:
            return self._extent
        x, y = _range(self.x.values[self.compounds]), _range(self.y.values[self.compounds])
        return (*x, *y)

    def zoomed(self, x: float, y: float, factor: float) -> Extent:
        """Return what is shown after zooming about a place."""
        left, right, bottom, top = self.extent
        return (
            x + (left - x) * factor, x + (right - x) * factor, y + (bottom - y) * factor, y + (top - y) * factor,
        )  # fmt: skip

    def draw(self, palette: Palette, size: Shape, dpi: float) -> Figure:
        """Return the figure."""
        from assaypilot.engine.figures.canvas import blank, fitting, with_message

        figure = blank(size, dpi, palette, (0.62, 0.15 if self.colour is None else 0.85, 0.42, 0.1))
        axes = figure.axes[0]
        if not self.compounds.size:
            return with_message(figure, palette, "No compound shown has both values.")
        left, right, bottom, top = self.extent
        axes.set_xlim(left, right)
        axes.set_ylim(bottom, top)
        axes.set_xlabel(fitting(axes, "x", self.x.name), color=palette.text, fontsize=8.5, parse_math=False)
        axes.set_ylabel(fitting(axes, "y", self.y.name), color=palette.text, fontsize=8.5, parse_math=False)
        if self.colour is None:
            self._by_status(axes, palette)
        else:
            self._by_value(axes, self.colour, palette)
        self._rings(axes, palette)
        return figure

    def _sizes(self, compounds: Ints) -> Floats:
        if self.size is None:
            return np.full(len(compounds), _MARK)
        values = self.size.values
        known = values[self.compounds][np.isfinite(values[self.compounds])]
        if not known.size:
            return np.full(len(compounds), _MARK)
        low, high = float(known.min()), float(known.max())
        share = (np.nan_to_num(values[compounds], nan=low) - low) / ((high - low) or 1.0)
        found: Floats = _SMALLEST + share * (_LARGEST - _SMALLEST)
        return found

    def _by_status(self, axes: Axes, palette: Palette) -> None:
        codes = self.status.candidates.status[self.compounds]
        for code in _DRAWN_LAST:
            part = self.compounds[codes == code]
            if part.size:
                colour = palette.status[code]
                axes.scatter(
                    self.x.values[part], self.y.values[part], s=self._sizes(part), marker=MARKERS[code],
                    facecolors="none" if code == 2 else colour, edgecolors=None if code == 3 else colour,
                    color=colour if code == 3 else None, linewidths=0.9,
                )  # fmt: skip

    def _by_value(self, axes: Axes, colour: Quantity, palette: Palette) -> None:
        from matplotlib import colormaps
        from matplotlib.colors import ListedColormap

        values = colour.values[self.compounds]
        known = np.isfinite(values)
        unknown = self.compounds[~known]
        axes.scatter(
            self.x.values[unknown], self.y.values[unknown], s=self._sizes(unknown), facecolors="none",
            edgecolors=palette.muted, linewidths=0.7,
        )  # fmt: skip
        part = self.compounds[known]
        if not part.size:
            return
        ends = (0.25, 1.0) if palette is DARK else (0.0, 0.88)  # what is seen on the ground
        shades = ListedColormap(colormaps["viridis"](np.linspace(*ends, 256)))
        drawn = axes.scatter(
            self.x.values[part], self.y.values[part], s=self._sizes(part), c=values[known], cmap=shades, linewidths=0
        )
        figure = axes.get_figure(root=True)
        if figure is not None:
            box = axes.get_position()
            bar = figure.colorbar(drawn, cax=figure.add_axes((box.x1 + 0.012, box.y0, 0.012, box.height)))
            bar.ax.tick_params(colors=palette.muted, labelsize=8, width=0.6, length=2.5)
            bar.outline.set_visible(False)
            bar.set_label(colour.name, color=palette.text, fontsize=8, parse_math=False)

    def _rings(self, axes: Axes, palette: Palette) -> None:
        chosen = np.intersect1d(self.chosen, self.compounds)
        if chosen.size:
            axes.scatter(
                self.x.values[chosen], self.y.values[chosen], s=self._sizes(chosen) + 34, facecolors="none",
                edgecolors=palette.text, linewidths=1.1,
            )  # fmt: skip
        if self.selected is not None and self.selected in self.compounds:
            axes.scatter(
                [self.x.values[self.selected]], [self.y.values[self.selected]], s=110, facecolors="none",
                edgecolors=palette.accent, linewidths=2.0,
            )  # fmt: skip

    def enclosed(self, outline: Floats) -> Ints:
        """Return the compounds that a line encloses."""
        from matplotlib.path import Path

        points = np.column_stack([self.x.values[self.compounds], self.y.values[self.compounds]])
        found: Ints = self.compounds[Path(outline).contains_points(points)]
        return found

    def at(self, axes: int, x: float, y: float, reach: Shape) -> Target | None:
        """Return the nearest compound."""
        if axes or not self.compounds.size:
            return None
        away = np.hypot(
            (self.x.values[self.compounds] - x) / (reach[0] or 1.0),
            (self.y.values[self.compounds] - y) / (reach[1] or 1.0),
        )
        nearest = int(np.argmin(away))
        return self._target(int(self.compounds[nearest])) if away[nearest] <= 1.0 else None

    def _target(self, compound: int) -> Target:
        place = float(self.x.values[compound]), float(self.y.values[compound])
        return compound_target(self.status, compound, place)

    def step(self, now: Target | None, right: int, down: int) -> Target | None:
        """Return the next compound to the right or left."""
        order = self.compounds[np.argsort(self.x.values[self.compounds], kind="stable")].tolist()
        found = stepped(order, *((self.selected, 0) if now is None else (now.compound, right + down)))
        return None if found is None else self._target(found)

    def table(self) -> tuple[list[str], list[list[Cell]]]:
        """One row for each compound drawn."""
        shown = [one for one in (self.x, self.y, self.colour, self.size) if one is not None]
        return _table(self.status, self.compounds, shown)


class HistogramScene(_ColumnsScene):
    """How often each value of a column occurs, by status."""

    title = "histogram"

    def __init__(self, status: Status, rows: Ints, selected: int | None, chosen: Ints, x: Quantity) -> None:
        super().__init__(status, rows, selected, chosen)
        self.x = x
        self.compounds = self._left(x)
        values = x.values[self.compounds]
        bars = min(_MOST_BARS, max(5, round(2 * len(values) ** (1 / 3))))
        low, high = (float(values.min()), float(values.max())) if values.size else (0.0, 1.0)
        self.edges: Floats = np.linspace(low, high if high > low else low + 1.0, bars + 1)
        codes = status.candidates.status[self.compounds]
        self.counts = np.array([np.histogram(values[codes == code], self.edges)[0] for code in range(len(STATUSES))])
        """By status and bar."""
        self.name = f"Histogram of {x.name} of {many(len(self.compounds), 'compound')}"

    def draw(self, palette: Palette, size: Shape, dpi: float) -> Figure:
        """Return the figure."""
        from assaypilot.engine.figures.canvas import blank, fitting, with_message

        figure = blank(size, dpi, palette, (0.62, 0.15, 0.42, 0.1))
        axes = figure.axes[0]
        if not self.compounds.size:
            return with_message(figure, palette, "No compound shown has a value.")
        below = np.zeros(len(self.edges) - 1)
        for code in reversed(_DRAWN_LAST):
            if self.counts[code].any():
                axes.bar(
                    self.edges[:-1], self.counts[code], np.diff(self.edges), bottom=below, align="edge",
                    facecolor="none" if code == 2 else palette.status[code], edgecolor=palette.status[code],
                    linewidth=0.8, hatch="xxx" if code == 3 else None,
                )  # fmt: skip
                below += self.counts[code]
        if self.selected is not None and np.isfinite(self.x.values[self.selected]):
            axes.axvline(float(self.x.values[self.selected]), color=palette.accent, linewidth=1.6)
        chosen = np.intersect1d(self.chosen, self.compounds)
        if chosen.size:
            axes.plot(
                self.x.values[chosen], np.zeros(chosen.size), "|", color=palette.text, markersize=9, clip_on=False
            )
        axes.set_xlabel(fitting(axes, "x", self.x.name), color=palette.text, fontsize=8.5, parse_math=False)
        axes.set_ylabel("compounds", color=palette.text, fontsize=8.5)
        axes.set_ylim(0.0, float(below.max()) * (1.0 + _OVER))
        return figure

    def enclosed(self, outline: Floats) -> Ints:
        """Return the compounds between the left and the right end of a line."""
        values = self.x.values[self.compounds]
        found: Ints = self.compounds[(values >= outline[:, 0].min()) & (values <= outline[:, 0].max())]
        return found

    def _bar(self, place: int) -> Target:
        low, high = self.edges[place], self.edges[place + 1]
        counts = self.counts[:, place]
        parts = [f"{count:,} {word}" for word, count in zip(STATUSES, counts.tolist(), strict=True) if count]
        high_up = float(counts.sum())
        return Target(
            0, float(low + high) / 2, high_up / 2, f"{self.x.name} {three_digits(low)} – {three_digits(high)}",
            ", ".join(parts) or "no compound", extent=(float(high - low), high_up),
        )  # fmt: skip

    def at(self, axes: int, x: float, y: float, reach: Shape) -> Target | None:
        """Return the bar at a place."""
        place = int(np.searchsorted(self.edges, x, side="right")) - 1
        if axes or not self.compounds.size or not 0 <= place < len(self.edges) - 1:
            return None
        return self._bar(place) if 0 <= y <= self.counts[:, place].sum() else None

    def step(self, now: Target | None, right: int, down: int) -> Target | None:
        """Return the next bar."""
        if not self.compounds.size:
            return None
        place = 0 if now is None else int(np.searchsorted(self.edges, now.x, side="right")) - 1 + right + down
        return self._bar(min(max(place, 0), len(self.edges) - 2))

    def table(self) -> tuple[list[str], list[list[Cell]]]:
        """One row for each compound counted."""
        return _table(self.status, self.compounds, [self.x])


def _range(values: Floats) -> tuple[float, float]:
    low, high = (float(values.min()), float(values.max())) if values.size else (0.0, 1.0)
    over = (high - low) * _OVER or 0.5
    return low - over, high + over


def _table(status: Status, compounds: Ints, shown: list[Quantity]) -> tuple[list[str], list[list[Cell]]]:
    status_of = status.candidates.status
    rows: list[list[Cell]] = [
        [status.library.ids[k], STATUSES[int(status_of[k])], *known_cells(one.values[k] for one in shown)]
        for k in compounds.tolist()
    ]
    return ["ID", "status", *(one.name for one in shown)], rows


def compound_target(status: Status, compound: int, place: Shape) -> Target:
    """Return the description of a compound that the picture draws at a place."""
    known, library = status.candidates, status.library
    decided = int(known.decided_in_round[compound])
    lines = [STATUSES[int(known.status[compound])] + (f", decided after round {decided}" if decided else "")]
    for k in status.goal_endpoints:
        endpoint = status.endpoints[k]
        low, high = known.lows[endpoint.name][compound], known.highs[endpoint.name][compound]
        bounds = f" ({low:.2f} – {high:.2f})" if np.isfinite(low) and np.isfinite(high) else ""
        estimate = estimate_text(status, endpoint.name, compound, decimals_of(status))
        lines.append(f"{endpoint.scale_name} {estimate}{bounds}")
    times = int(known.measured[compound])
    lines.append(f"measured {many(times, 'time')}" if times else "never measured")
    drawing = library.drawing(compound)
    return Target(0, *place, library.ids[compound], "\n".join(lines), drawing, compound)
