"""The picture over the table of candidates, and its visible part: ranked intervals, a front, or two columns."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

import numpy as np
from matplotlib.figure import Figure
from PySide6.QtCore import Signal

from assaypilot.engine.arrays import Flags, Floats, Ints
from assaypilot.engine.campaign.state import STATUSES, Status
from assaypilot.engine.export import answer
from assaypilot.engine.export.answer import Ends, Frame, Picture
from assaypilot.engine.export.sheet import Cell
from assaypilot.engine.figures.palette import Palette

from ..resources.theme import theme
from ..structures.drawing import Structures
from .choices import ANSWER, HISTOGRAM, PlotChoice
from .pointing import PointingCanvas
from .scatter import Extent, HistogramScene, ScatterScene, compound_target
from .scene import Scene, Shape, Target, known_cells, stepped


class CandidatesScene(Scene):
    """The candidates of a campaign, one of them ringed; what is drawn can be pointed at."""

    title = "candidates"

    def __init__(
        self,
        status: Status,
        selected: int | None,
        within: Ends | None = None,
        *,
        only: Flags | None = None,
        frame: Frame | None = None,
    ) -> None:
        """``within``: the ends of the axes, where they are not to follow from what is drawn.

        ``only``: the compounds to draw, None for all; ``frame``: what was zoomed or moved to.
        """
        self.status, self.selected, self.within = status, selected, within
        self.only, self.frame = only, frame
        self.picture = self._picture(theme().colours.figure)
        """The latest drawing, which knows the place of each part; None before."""
        self.name = self.picture.name

    def _picture(self, palette: Palette) -> Picture:
        made = answer.picture_of(self.status, self.selected, lambda: palette)
        made.within, made.only, made.frame, made.steady = self.within, self.only, self.frame, True
        return made

    def draw(self, palette: Palette, size: Shape, dpi: float) -> Figure:
        """Return the figure."""
        from assaypilot.engine.figures.canvas import blank, with_message

        made = self._picture(palette)
        if self.only is not None and not self.only.any():
            figure = with_message(
                blank(size, dpi, palette, (0.1, 0.1, 0.1, 0.1)), palette, "No compound fits the filter."
            )
        else:
            figure = made.draw(size, dpi)
        self.picture = made
        return figure

    def at(self, axes: int, x: float, y: float, reach: Shape) -> Target | None:
        """Return the compound at a place; of a ranking the one of that rank, however high the place."""
        compound = self.picture.near(x, y, reach)
        return None if compound is None else self.target(compound, x)

    def target(self, compound: int, x: float = 0.0) -> Target | None:
        """Return the description of a compound at its place (of several the one nearest to ``x``)."""
        place = self.picture.place(compound, x)
        if place is None:
            return None
        return compound_target(self.status, compound, place)

    def step(self, now: Target | None, right: int, down: int) -> Target | None:
        """Return the next compound to the right or left."""
        found = stepped(self.picture.along, *((self.selected, 0) if now is None else (now.compound, right + down)))
        return None if found is None else self.target(found, 0.0 if now is None else now.x)

    def table(self) -> tuple[list[str], list[list[Cell]]]:
        """One row for each compound drawn, from left to right."""
        known, ids = self.status.candidates, self.status.library.ids
        endpoints = [self.status.endpoints[k] for k in self.status.goal_endpoints]
        header = ["ID", "status", "decided in round", "n"]
        for endpoint in endpoints:
            header += [endpoint.scale_name, f"{endpoint.scale_name} low", f"{endpoint.scale_name} high"]
        rows: list[list[Cell]] = []
        for compound in self.picture.along:
            numbers = [
                part[endpoint.name][compound]
                for endpoint in endpoints
                for part in (known.estimates, known.lows, known.highs)
            ]
            rows.append([
                ids[compound], STATUSES[int(known.status[compound])], int(known.decided_in_round[compound]) or None,
                int(known.measured[compound]), *known_cells(numbers),
            ])  # fmt: skip
        return header, rows

    def enclosed(self, outline: Floats) -> Ints:
        """Return the compounds whose marks a line encloses."""
        from matplotlib.path import Path

        order = self.picture.along
        places = [self.picture.place(compound, 0.0) or (np.nan, np.nan) for compound in order]
        if not order:
            return np.zeros(0, dtype=np.intp)
        found: Ints = np.array(order, dtype=np.intp)[Path(outline).contains_points(np.array(places))]
        return found


class CandidatesCanvas(PointingCanvas):
    """The ranking, the trade-offs or the chosen columns; it changes only on request."""

    moved = Signal()
    """Another part is to be seen: it is to be drawn again."""

    def __init__(self, structures: Structures, choice: PlotChoice) -> None:
        super().__init__(structures)
        self._choice = choice
        self._frame: Frame | None = None
        """The visible range of the data; None: the default range."""
        self._drawn_of: Flags | None = None
        self._extent: Extent | None = None
        """The visible range of two columns; None: all."""
        self._pointed = False
        """Whether a selection comes from the plot itself, which then does not move."""
        self.zoomable = True
        self.zoomed.connect(self._zoom)
        self.panned.connect(self._pan)
        self.unzoomed.connect(self._unzoom)

    @contextmanager
    def pointing(self) -> Iterator[None]:
        """Do not move while something is chosen in the plot itself."""
        self._pointed = True
        yield
        self._pointed = False

    def forget(self) -> None:
        """Show nothing, as before the first campaign."""
        self._frame = self._drawn_of = self._extent = None
        self.show_scene(None, new=True)

    def show_kind(self) -> None:
        """Another kind of picture is chosen."""
        self._extent = None
        self.encloses = self._choice.key != ANSWER

    def draw_status(
        self, status: Status, compound: int | None, *, rows: Ints, chosen: Sequence[int], only: Flags | None,
        within: Ends | None,
    ) -> None:  # fmt: skip
        """Draw the compounds of the table.

        ``rows`` are those in the table, ``chosen`` those selected in it, ``only`` what the filter leaves (None: all),
        ``within`` the ends of axes that do not move from round to round.
        """
        columns = self._columns_scene(status, rows, compound, chosen)
        before = self.scene
        if columns is not None:
            self.show_scene(columns, new=type(before) is not type(columns))
            return
        same = isinstance(before, CandidatesScene) and before.status is status
        if not same or only is not self._drawn_of:
            self._frame, self._drawn_of = None, only
        if same and self.picture is not None and compound is not None and not self._pointed:
            self._frame = self.picture.framed(self._frame, compound)
        scene = CandidatesScene(status, compound, within, only=only, frame=self._frame)
        if same and self.picture is not None:
            scene.picture = self.picture  # until it is drawn again: the same compounds are there
        self.show_scene(scene, new=not same)

    @property
    def picture(self) -> Picture | None:
        """The data of the ranking or the trade-offs."""
        return self.scene.picture if isinstance(self.scene, CandidatesScene) else None

    def _columns_scene(self, status: Status, rows: Ints, compound: int | None, chosen: Sequence[int]) -> Scene | None:
        """Return the picture of columns that is chosen, of the compounds in the table; None where the answer's is."""
        choice = self._choice
        x = None if choice.key == ANSWER else choice.quantity("x")
        if x is None:
            return None
        given = status, rows, compound, np.array(chosen if len(chosen) > 1 else [], dtype=np.intp)
        y = choice.quantity("y")
        if choice.key == HISTOGRAM or y is None:
            return HistogramScene(*given, x)
        colour, size = choice.quantity("colour"), choice.quantity("size")
        return ScatterScene(*given, (x, y), colour=colour, size=size, extent=self._extent)

    def _zoom(self, x: float, y: float, factor: float) -> None:
        """Zoom about a place of the data."""
        if isinstance(self.scene, ScatterScene):
            self._extent = self.scene.zoomed(x, y, factor)
            self.moved.emit()
        elif self.picture is not None:
            self._reframe(self.picture.zoomed(self._frame, x, y, factor))

    def _pan(self, dx: float, dy: float) -> None:
        """Move by so much of the data."""
        if self.picture is not None:
            self._reframe(self.picture.panned(self._frame, dx, dy))

    def _unzoom(self) -> None:
        """Show all again."""
        self._extent = None
        self._reframe(None)

    def _reframe(self, frame: Frame | None) -> None:
        self._frame = frame
        with self.pointing():
            self.moved.emit()
