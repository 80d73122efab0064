"""What a picture that can be pointed at is made of, and the file it becomes."""

from __future__ import annotations

import io
from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from matplotlib.figure import Figure

from assaypilot.engine.arrays import Floats, Ints
from assaypilot.engine.export.sheet import Cell
from assaypilot.engine.figures.palette import LIGHT, Palette

Shape = tuple[float, float]


@dataclass(frozen=True, slots=True)
class Target:
    """One thing in a picture: a cell, a point, a row."""

    axes: int
    """Its axes in the picture, by number."""
    x: float
    y: float
    """Where in their data."""
    heading: str
    text: str
    """Its description."""
    smiles: str = ""
    """The structure shown with it; empty for none."""
    compound: int | None = None
    """What a click selects; None: nothing."""
    extent: Shape | None = None
    """Width and height in the data of a thing with an area; None: a point."""


def stepped(order: Sequence[int], now: int | None, by: int) -> int | None:
    """Return the target so many places on in an order, within its ends; from outside its first, None if empty."""
    if now not in order:
        return order[0] if len(order) else None
    return order[min(max(order.index(now) + by, 0), len(order) - 1)]


def known_cells(values: Iterable[float]) -> list[Cell]:
    """Return numbers for a table, an empty cell for each that is not known."""
    return [float(value) if np.isfinite(value) else None for value in values]


class Scene(ABC):
    """A picture: drawn off the window's thread, queried on it."""

    name = ""
    """What it shows, for a screen reader."""
    title = ""
    """A few words for the name of a file."""

    def least(self) -> Shape:
        """Inches below which the picture cannot be read; it is scrolled then."""
        return 0.0, 0.0

    def most(self) -> Shape:
        """Inches above which it does not grow."""
        return 1e9, 1e9

    @abstractmethod
    def draw(self, palette: Palette, size: Shape, dpi: float) -> Figure:
        """Return the figure."""

    @abstractmethod
    def at(self, axes: int, x: float, y: float, reach: Shape) -> Target | None:
        """Return the target at a data position of some axes; ``reach``: a few pixels in data units."""

    @abstractmethod
    def step(self, now: Target | None, right: int, down: int) -> Target | None:
        """Return what the arrow keys lead to; None where there is nothing."""

    @abstractmethod
    def table(self) -> tuple[list[str], list[list[Cell]]]:
        """Return the data behind the picture: a header, and rows."""

    def enclosed(self, outline: Floats) -> Ints:
        """Return the compounds that a line encloses, ``(k, 2)`` places of the data of the first axes.

        None by default.
        """
        return np.zeros(0, dtype=np.intp)


FINE = 300.0
"""Dots per inch of a file."""
MOST_DOTS = 60e6
"""Dots of a picture; a larger one is coarser."""


def picture_bytes(scene: Scene, size: Shape, suffix: str, dpi: float = FINE) -> bytes:
    """Return the scene as PNG, SVG or PDF on white, ``size`` inches; the same scene gives the same bytes."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.backends.backend_pdf import FigureCanvasPdf
    from matplotlib.backends.backend_svg import FigureCanvasSVG

    inches = max(size[0] * size[1], 1e-6)
    dots = min(dpi, (MOST_DOTS / inches) ** 0.5)
    figure = scene.draw(LIGHT, size, dots)
    stream = io.BytesIO()
    canvas: Any  # their methods carry no types
    if suffix == ".svg":
        canvas = FigureCanvasSVG(figure)
        canvas.print_svg(stream, metadata={"Date": None, "Title": scene.name})
    elif suffix == ".pdf":
        canvas = FigureCanvasPdf(figure)
        canvas.print_pdf(stream, metadata={"CreationDate": None, "Title": scene.name})
    else:
        canvas = FigureCanvasAgg(figure)
        canvas.print_png(stream)
    return stream.getvalue()
