"""The map of two sites, as a scene."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from matplotlib.figure import Figure

from assaypilot.engine.chemistry.names import pictures, site_names
from assaypilot.engine.export.measured import bound_text
from assaypilot.engine.export.pictures import Look
from assaypilot.engine.export.sheet import Cell
from assaypilot.engine.figures.heat import PairMap, heat_map, heat_size, pair_map
from assaypilot.engine.figures.palette import Palette
from assaypilot.engine.text import many, signed

from .scene import Scene, Shape, Target


def shown_smiles(look: Look, site: int, code: int) -> str:
    """Return the structure that shows a substituent: its own where it is known, else of the best compound with it."""
    own = pictures(look.status.library, site)[code]
    if own:
        return own
    compound = int(look.best_with[site][code])
    return look.status.library.drawing(compound) if compound >= 0 else ""


class HeatScene(Scene):
    """Each pair of substituents of two sites with the mean estimate of its compounds."""

    def __init__(
        self, look: Look, sites: tuple[int, int], fixed: Mapping[int, int], *, by_effect: bool, selected: int | None
    ) -> None:
        self.look, self.sites, self.fixed, self.selected = look, sites, dict(fixed), selected
        library = look.status.library
        self.names = (library.sites[sites[0]].name, library.sites[sites[1]].name)
        sizes = tuple(len(site.substituents) for site in library.sites)
        self.view: PairMap = pair_map(
            library.codes, sizes, sites, look.estimate, look.determinations, sign=look.endpoint.sign, fixed=fixed,
            by_effect=by_effect, bounded=look.bounded,
        )  # fmt: skip
        self.rows = [site_names(library.sites[sites[0]].substituents)[k] for k in self.view.rows]
        self.columns = [site_names(library.sites[sites[1]].substituents)[k] for k in self.view.columns]
        self.title = f"{self.names[0]} x {self.names[1]}"
        quantity = look.endpoint.scale_name
        self.name = f"Map of {self.names[0]} against {self.names[1]}: mean estimated {quantity} of each pair"

    @property
    def rest(self) -> str:
        """What became of the other sites, in words."""
        library = self.look.status.library
        parts = [
            f"{library.sites[site].name} = {site_names(library.sites[site].substituents)[code]}"
            for site, code in sorted(self.fixed.items())
        ]
        free = [
            site.name for k, site in enumerate(library.sites)
            if k not in self.sites and k not in self.fixed and len(site.substituents) > 1
        ]  # fmt: skip
        if free:
            parts.append(f"{', '.join(free)} averaged over the compounds there are")
        return "   ".join(parts)

    def least(self) -> Shape:
        """Inches below which cells cannot be read."""
        return heat_size(self.rows, self.columns, self.names)

    def most(self) -> Shape:
        """Inches that its cells fill at most."""
        return heat_size(self.rows, self.columns, self.names, largest=True)

    def draw(self, palette: Palette, size: Shape, dpi: float) -> Figure:
        """Return the figure."""
        endpoint = self.look.endpoint
        return heat_map(
            self.view, self.rows, self.columns, sites=self.names, quantity=endpoint.scale_name, sign=endpoint.sign,
            rest=self.rest, selected=self._selected_cell(), palette=palette, size=size, dpi=dpi,
        )  # fmt: skip

    def _selected_cell(self) -> tuple[int, int] | None:
        if self.selected is None:
            return None
        codes = self.look.status.library.codes[self.selected]
        if any(codes[site] != code for site, code in self.fixed.items()):
            return None
        return self.view.cell_of(int(codes[self.sites[0]]), int(codes[self.sites[1]]))

    def at(self, axes: int, x: float, y: float, reach: Shape) -> Target | None:
        """Return the cell at a place, or the substituent whose label is there."""
        n, m = self.view.mean.shape
        row, column = int(np.floor(y + 0.5)), int(np.floor(x + 0.5))
        if axes or not n or not m:
            return None
        if 0 <= row < n and 0 <= column < m:
            return self.cell(row, column)
        if 0 <= row < n and column < 0:
            return self._label(0, int(self.view.rows[row]), -0.5, float(row))
        if row < 0 and 0 <= column < m:
            return self._label(1, int(self.view.columns[column]), float(column), -0.5)
        return None

    def cell(self, row: int, column: int) -> Target:
        """Return the description of a cell; a click selects its best compound."""
        view, status = self.view, self.look.status
        heading = f"{self.names[0]} = {self.rows[row]}\n{self.names[1]} = {self.columns[column]}"
        number, seen = int(view.compounds[row, column]), int(view.measured[row, column])
        if not number:
            return Target(0, column, row, heading, "A gap: no compound carries both.", extent=(1.0, 1.0))
        mean, best = float(view.mean[row, column]), int(view.best[row, column])
        quantity = self.look.endpoint.scale_name
        value = f"{quantity} {mean:.2f}" if np.isfinite(mean) else "Cannot be estimated yet"
        value += " in the mean" if number > 1 and np.isfinite(mean) else ""
        bounded = int(view.bounded[row, column])
        only = f", {bounded:,} only as a bound" if bounded else ""
        if number == 1 and bounded:
            only = f", only as a bound ({bound_text(status, self.look.endpoint.name, best)})"
        lines = [value, f"{many(number, 'compound')}, {seen:,} of them measured{only}"]
        lines.append(f"Click selects {'the best, ' if number > 1 else ''}{status.library.ids[best]}")
        structure = status.library.drawing(best)
        return Target(0, column, row, heading, "\n".join(lines), structure, best, extent=(1.0, 1.0))

    def _label(self, which: int, code: int, x: float, y: float) -> Target:
        site = self.look.status.library.sites[self.sites[which]]
        structure = shown_smiles(self.look, self.sites[which], code)
        one = self.look.contributions[self.sites[which]].substituents[code]
        adds = (
            f"Adds {signed(one.value)} to the mean measurement, n {one.measurements:,}"
            if np.isfinite(one.value)
            else "Its effect is not known"
        )
        return Target(0, x, y, f"{site.name} = {site_names(site.substituents)[code]}", adds, structure)

    def step(self, now: Target | None, right: int, down: int) -> Target | None:
        """Return the next cell; from nowhere the first."""
        n, m = self.view.mean.shape
        if not n or not m:
            return None
        if now is None:
            return self.cell(0, 0)
        row, column = round(now.y) + down, round(now.x) + right
        return self.cell(min(max(row, 0), n - 1), min(max(column, 0), m - 1))

    def table(self) -> tuple[list[str], list[list[Cell]]]:
        """One row for each cell, gaps too."""
        ids, view = self.look.status.library.ids, self.view
        cut = bool(view.bounded.any())
        header = [*self.names, f"mean {self.look.endpoint.scale_name}", "compounds", "measured compounds",
                  *(("only as bounds",) if cut else ()), "best compound",
                  "other sites"]  # fmt: skip
        rows: list[list[Cell]] = []
        for row, down in enumerate(self.rows):
            for column, across in enumerate(self.columns):
                mean, best = float(view.mean[row, column]), int(view.best[row, column])
                rows.append([
                    down, across, mean if np.isfinite(mean) else None, int(view.compounds[row, column]),
                    int(view.measured[row, column]),
                    ids[best] if best >= 0 else None, self.rest,
                ])  # fmt: skip
                if cut:
                    rows[-1].insert(5, int(view.bounded[row, column]))
        return header, rows
