"""A scene as the bytes of a picture file."""

from __future__ import annotations

import io
from typing import TYPE_CHECKING, Any

from assaypilot.engine.figures.palette import LIGHT

if TYPE_CHECKING:
    from .scene import Scene, Shape

__all__ = ["picture_bytes"]

FINE = 300.0
"""Dots per inch of a file."""
MOST_DOTS = 60e6
"""Dots of a picture; a larger one is coarser."""


def picture_bytes(scene: Scene, size: Shape, suffix: str, dpi: float = FINE) -> bytes:
    """The scene as PNG, SVG or PDF on white, ``size`` inches; the same scene gives the same bytes."""
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
