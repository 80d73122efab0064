"""What every substituent adds, as a scene of rows in one block for each site."""

from __future__ import annotations

from abc import abstractmethod
from typing import TYPE_CHECKING

import numpy as np

from assaypilot.engine.arrays import Ints
from assaypilot.engine.chemistry.names import site_names
from assaypilot.engine.export.pictures import Look
from assaypilot.engine.figures.palette import Palette
from assaypilot.engine.text import signed

from .heat import shown_smiles
from .scene import Scene, Shape, Target, known_cells

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from assaypilot.engine.export.sheet import Cell
    from assaypilot.engine.figures.blocks import Block


MOST, MOST_ALONE = 40, 200
"""Rows of one site among several, and of one alone; of more the middle is left out."""


class _SitesScene(Scene):
    """Rows in blocks; ``site`` None: all sites with a choice."""

    def __init__(self, look: Look, site: int | None, selected: int | None) -> None:
        self.look, self.selected = look, selected
        sites = look.status.library.sites
        self.sites = [k for k, one in enumerate(sites) if len(one.substituents) > 1] if site is None else [site]
        most = MOST_ALONE if len(self.sites) == 1 else MOST
        whole = [self._order(k) for k in self.sites]
        self.codes = [
            order if len(order) <= most else np.concatenate([order[: most // 2], order[-most // 2 :]])
            for order in whole
        ]  # fmt: skip
        self.left_out = [len(order) - len(kept) for order, kept in zip(whole, self.codes, strict=True)]

    def _order(self, site: int) -> Ints:
        """Return the substituents of a site from the top."""
        values = np.array([one.value for one in self.look.contributions[site].substituents])
        return np.argsort(np.where(np.isfinite(values), -self.look.endpoint.sign * values, np.inf), kind="stable")

    def blocks(self) -> list[Block]:
        """Return the rows."""
        from assaypilot.engine.figures.blocks import Block

        sites = self.look.status.library.sites
        return [
            Block(sites[k].name, tuple(site_names(sites[k].substituents)[code] for code in codes.tolist()), left_out)
            for k, codes, left_out in zip(self.sites, self.codes, self.left_out, strict=True)
        ]

    def least(self) -> Shape:
        """Inches of its rows."""
        from assaypilot.engine.figures.blocks import blocks_height

        return 4.6, blocks_height(self.blocks())

    def most(self) -> Shape:
        """As high as its rows look well, and no wider than lines can be followed."""
        from assaypilot.engine.figures.blocks import blocks_height

        return 15.5, blocks_height(self.blocks(), largest=True)

    def marked(self) -> list[int]:
        """For each block the row that the selected compound carries; -1 for none."""
        if self.selected is None:
            return [-1] * len(self.sites)
        carried = self.look.status.library.codes[self.selected]
        found = [np.flatnonzero(codes == carried[k]) for k, codes in zip(self.sites, self.codes, strict=True)]
        return [int(one[0]) if one.size else -1 for one in found]

    def at(self, axes: int, x: float, y: float, reach: Shape) -> Target | None:
        """Return the row at a height."""
        from assaypilot.engine.figures.blocks import row_at

        found = None if axes else row_at(self.blocks(), y)
        return None if found is None else self.row(*found)

    def row(self, block: int, row: int) -> Target:
        """Return the description of a row; a click selects the best compound that carries it."""
        from assaypilot.engine.figures.blocks import row_places

        site, code = self.sites[block], int(self.codes[block][row])
        library = self.look.status.library
        name = f"{library.sites[site].name} = {site_names(library.sites[site].substituents)[code]}"
        best = int(self.look.best_with[site][code])
        text = "\n".join(
            [*self.words(site, code), *([f"Click selects the best with it, {library.ids[best]}"] if best >= 0 else [])]
        )
        y = float(row_places(self.blocks())[block][row])
        structure = shown_smiles(self.look, site, code)
        return Target(0, self.place(site, code), y, name, text, structure, best if best >= 0 else None)

    @abstractmethod
    def words(self, site: int, code: int) -> list[str]:
        """Return what is known of a substituent."""

    @abstractmethod
    def place(self, site: int, code: int) -> float:
        """Where its mark is."""

    def step(self, now: Target | None, right: int, down: int) -> Target | None:
        """Return the next row; to the side the next site."""
        from assaypilot.engine.figures.blocks import row_at

        if not self.sites:
            return None
        found = None if now is None else row_at(self.blocks(), now.y)
        if found is None:
            return self.row(0, 0)
        block, row = found
        if right:
            return self.row(min(max(block + right, 0), len(self.sites) - 1), 0)
        row += down
        if row < 0 and block > 0:
            return self.row(block - 1, len(self.codes[block - 1]) - 1)
        if row >= len(self.codes[block]) and block + 1 < len(self.sites):
            return self.row(block + 1, 0)
        return self.row(block, min(max(row, 0), len(self.codes[block]) - 1))


class ContributionScene(_SitesScene):
    """What every substituent adds."""

    title = "contributions"

    @property
    def name(self) -> str:  # type: ignore[override]  # made of the endpoint's name
        """What it shows."""
        return f"What every substituent adds to {self.look.endpoint.scale_name}, with 95 % interval and measurements"

    def draw(self, palette: Palette, size: Shape, dpi: float) -> Figure:
        """Return the figure."""
        from assaypilot.engine.figures.blocks import forest_plot

        values = []
        for site, codes in zip(self.sites, self.codes, strict=True):
            rows = [self.look.contributions[site].substituents[code] for code in codes.tolist()]
            values.append((
                np.array([one.value for one in rows]), np.array([one.low for one in rows]),
                np.array([one.high for one in rows]), np.array([one.measurements for one in rows], dtype=np.intp),
            ))  # fmt: skip
        endpoint = self.look.endpoint
        return forest_plot(
            self.blocks(), values, quantity=endpoint.scale_name, sign=endpoint.sign, selected=self.marked(),
            palette=palette, width=size[0], height=size[1], dpi=dpi,
        )  # fmt: skip

    def words(self, site: int, code: int) -> list[str]:
        """Its effect."""
        one = self.look.contributions[site].substituents[code]
        if not np.isfinite(one.value):
            never = "Never measured" if not one.measurements else "Cannot be distinguished from another site"
            return [f"{never}, n {one.measurements:,}"]
        bounds = f" ({signed(one.low)} to {signed(one.high)})" if np.isfinite(one.low) else ""
        return [f"Adds {signed(one.value)}{bounds} to the mean measurement", f"n {one.measurements:,}"]

    def place(self, site: int, code: int) -> float:
        """Its point."""
        value = self.look.contributions[site].substituents[code].value
        return value if np.isfinite(value) else 0.0

    def table(self) -> tuple[list[str], list[list[Cell]]]:
        """One row for each substituent, those left out of the picture too."""
        rows: list[list[Cell]] = []
        for site in self.sites:
            of_site = self.look.contributions[site]
            names = site_names(self.look.status.library.sites[site].substituents)
            for code in self._order(site).tolist():
                one = of_site.substituents[code]
                rows.append([
                    of_site.site, names[code],
                    *known_cells((one.value, one.low, one.high)), one.measurements,
                ])  # fmt: skip
        quantity = self.look.endpoint.scale_name
        return ["site", "substituent", f"adds to {quantity}", "95 % from", "95 % to", "measurements"], rows
