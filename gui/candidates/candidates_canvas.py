"""The picture over the table of candidates, and its visible part."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING

import numpy as np
from PySide6.QtCore import Signal

from assaypilot.engine.arrays import Flags, Ints
from assaypilot.engine.campaign.state import Status

from ..plots.candidates import CandidatesScene, Frame, Picture
from ..plots.choices import ANSWER, HISTOGRAM, PlotChoice
from ..plots.pointing import PointingCanvas
from ..plots.scatter import Extent, HistogramScene, ScatterScene
from ..plots.scene import Scene
from ..structures.drawing import Structures

if TYPE_CHECKING:
    from assaypilot.engine.export.answer import Ends


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
