"""The picture of the candidates as a scene: ranked intervals, a front of two endpoints, or a line for each compound."""

from __future__ import annotations

import numpy as np
from matplotlib.figure import Figure

from assaypilot.engine.arrays import Flags, Floats, Ints
from assaypilot.engine.campaign.state import STATUSES, Status
from assaypilot.engine.export import answer
from assaypilot.engine.export.answer import Ends, Frame, Picture
from assaypilot.engine.export.measured import estimate_text
from assaypilot.engine.export.sheet import Cell
from assaypilot.engine.export.shortlist import decimals_of
from assaypilot.engine.figures.palette import Palette
from assaypilot.engine.text import many

from ..resources.theme import theme
from .scene import Scene, Shape, Target, known_cells, stepped

__all__ = ["CandidatesScene", "Frame", "Picture", "compound_target"]


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
