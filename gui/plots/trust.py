"""Measured against predicted, and the set round by round, as scenes."""

from __future__ import annotations

import numpy as np
from matplotlib.figure import Figure

from assaypilot.engine.campaign.state import STATUSES
from assaypilot.engine.export.pictures import Look
from assaypilot.engine.export.sheet import Cell
from assaypilot.engine.figures.palette import Palette
from assaypilot.engine.text import many, signed

from .scene import Scene, Shape, Target, known_cells, stepped

NAMED = 5
"""Compounds that are named, those that fit worst."""


class PredictionScene(Scene):
    """Each measured compound against its prediction from the others."""

    title = "measured against predicted"

    def __init__(self, look: Look, selected: int | None) -> None:
        self.look, self.selected = look, selected
        self.rest = look.means - look.predicted
        known = np.flatnonzero(np.isfinite(look.surprise))
        self.order = known[np.argsort(-np.abs(look.surprise[known]), kind="stable")]
        """Places, the least expected first."""
        self.named = self.order[:NAMED]
        self.name = f"{look.endpoint.scale_name} measured against predicted from the other compounds"

    def least(self) -> Shape:
        """Inches below which points overlap."""
        return 4.2, 3.4

    def draw(self, palette: Palette, size: Shape, dpi: float) -> Figure:
        """Return the figure."""
        from assaypilot.engine.figures.predictions import agreement_plot

        look, ids = self.look, self.look.status.library.ids
        status = look.status.candidates.status
        ringed = np.flatnonzero(look.rows == self.selected) if self.selected is not None else np.zeros(0, dtype=np.intp)
        named = [(int(k), ids[int(look.rows[k])]) for k in self.named]
        return agreement_plot(
            look.predicted, look.means, status[look.rows], named=named, quantity=look.endpoint.scale_name,
            noise_sd=look.endpoint.noise_sd, selected=int(ringed[0]) if ringed.size else None, palette=palette,
            size=size, dpi=dpi,
        )  # fmt: skip

    def at(self, axes: int, x: float, y: float, reach: Shape) -> Target | None:
        """Return the nearest point, when one is near."""
        if axes or not self.order.size:
            return None
        look, order = self.look, self.order
        away = ((look.predicted[order] - x) / reach[0]) ** 2 + ((look.means[order] - y) / reach[1]) ** 2
        nearest = int(np.argmin(away))
        return self.point(int(order[nearest])) if away[nearest] <= 1.0 else None

    def point(self, place: int) -> Target:
        """Return the description of a compound, by its place."""
        look = self.look
        compound = int(look.rows[place])
        word = STATUSES[int(look.status.candidates.status[compound])]
        measured = f"{word}, {look.endpoint.scale_name} measured"
        foretold = f"predicted {look.predicted[place]:.2f} from the others"
        left = f"left {signed(self.rest[place])}, {abs(look.surprise[place]):.1f} SD"
        lines = [f"{measured} {look.means[place]:.2f} (n {int(look.counts[place])})", foretold, left]
        return Target(
            0, float(look.predicted[place]), float(look.means[place]), look.status.library.ids[compound],
            "\n".join(lines), look.status.library.drawing(compound), compound,
        )  # fmt: skip

    def step(self, now: Target | None, right: int, down: int) -> Target | None:
        """Return the compound that is expected next less, or more."""
        order = self.look.rows[self.order].tolist()
        found = stepped(order, None if now is None else now.compound, right + down)
        return None if found is None else self.point(int(self.order[order.index(found)]))

    def table(self) -> tuple[list[str], list[list[Cell]]]:
        """One row for each compound measured, the least expected first, those that cannot be predicted last."""
        look, ids = self.look, self.look.status.library.ids
        q = look.endpoint.scale_name
        left = np.setdiff1d(np.arange(look.rows.size), self.order)
        rows: list[list[Cell]] = []
        for k in [*self.order.tolist(), *left.tolist()]:
            compound = int(look.rows[k])
            numbers = (look.means[k], look.predicted[k], self.rest[k], look.surprise[k])
            rows.append([
                ids[compound], STATUSES[int(look.status.candidates.status[compound])],
                int(look.counts[k]), *known_cells(numbers),
            ])  # fmt: skip
        return ["ID", "status", "n", f"{q} measured", f"{q} predicted", "measured less predicted", "in SD"], rows


class RoundsScene(Scene):
    """The set round by round."""

    title = "rounds"
    name = "Compounds in and undecided after each round"

    def __init__(self, look: Look) -> None:
        self.look = look
        self.inside, self.undecided = zip(*look.status.sets, strict=True)
        self.last = len(self.inside) - 1
        self.used = [int(n) for n in look.by_round[: self.last + 1]]
        self.used += [0] * (self.last + 1 - len(self.used))

    def least(self) -> Shape:
        """Inches below which it cannot be read."""
        return 3.6, 3.2

    def most(self) -> Shape:
        """Inches above which it only grows emptier."""
        return 15.5, 7.0

    @property
    def words(self) -> str:
        """What a round took."""
        several = len(self.look.status.measured_endpoints) > 1
        return f"measurements of {self.look.endpoint.scale_name}" if several else "measurements"

    def draw(self, palette: Palette, size: Shape, dpi: float) -> Figure:
        """Return the figure."""
        from assaypilot.engine.figures.rounds import set_by_round

        return set_by_round(self.look.status.sets, palette=palette, size=size, dpi=dpi)

    def at(self, axes: int, x: float, y: float, reach: Shape) -> Target | None:
        """Return the round at a place."""
        number = round(x)
        near = not axes and self.last and abs(x - number) <= 0.5
        return self.round(number) if near and 0 <= number <= self.last else None

    def round(self, number: int) -> Target:
        """Return the description of a round."""
        heading = f"After round {number}" if number else "Before the first round"
        moved = f"{self.inside[number]:,} in, {self.undecided[number]:,} undecided"
        text = f"{moved}\n{many(self.used[number], 'measurement')}"
        return Target(0, number, self.undecided[number], heading, text)

    def step(self, now: Target | None, right: int, down: int) -> Target | None:
        """Return the next round."""
        if not self.last:
            return None
        return self.round(0 if now is None else min(max(round(now.x) + right, 0), self.last))

    def table(self) -> tuple[list[str], list[list[Cell]]]:
        """One row for each round."""
        rows: list[list[Cell]] = [[k, self.inside[k], self.undecided[k], self.used[k]] for k in range(self.last + 1)]
        return ["round", "in", "undecided", self.words], rows
