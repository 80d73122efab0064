"""Figures as lines and letters in a PDF: matplotlib draws on a page of reportlab, without a raster."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from matplotlib.backend_bases import GraphicsContextBase, RendererBase
from matplotlib.figure import Figure
from matplotlib.font_manager import FontProperties
from matplotlib.path import Path
from matplotlib.transforms import Transform, TransformedPath
from reportlab.pdfgen.canvas import Canvas
from reportlab.platypus import Flowable

from .pdf_pages import BOLD, REGULAR
from .plain import plain

_CAPS = {"butt": 0, "round": 1, "projecting": 2}
_JOINS = {"miter": 0, "round": 1, "bevel": 2}
_BOLD = 600
"""From this weight on a text is bold."""


class FigureFlowable(Flowable):
    """A matplotlib figure in the flow of a report, as wide as it says."""

    def __init__(self, figure: Figure) -> None:
        super().__init__()
        inches = figure.get_size_inches()
        self._figure = figure
        self.width, self.height = 72.0 * float(inches[0]), 72.0 * float(inches[1])
        self.hAlign = "LEFT"

    def wrap(self, room: float, height: float) -> tuple[float, float]:
        """Its size."""
        return self.width, self.height

    def draw(self) -> None:
        """Draw the figure at the canvas's origin."""
        figure, canvas = self._figure, self.canv
        canvas.saveState()
        figure.set_dpi(72.0)
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", message="Glyph .* missing")  # a box is drawn, which the report says
            figure.draw(_Renderer(canvas, self.width, self.height))
        canvas.restoreState()


class _Renderer(RendererBase):
    """matplotlib's drawing operations as those of a reportlab canvas; a pixel is a point."""

    def __init__(self, canvas: Canvas, width: float, height: float) -> None:
        super().__init__()
        self._canvas, self._size = canvas, (width, height)

    def flipy(self) -> bool:
        """No: y grows upwards here."""
        return False

    def get_canvas_width_height(self) -> tuple[float, float]:
        """In points."""
        return self._size

    def draw_path(
        self,
        gc: GraphicsContextBase,
        path: Path,
        transform: Transform,
        rgbFace: Any = None,
    ) -> None:
        """Draw a path, filled with ``rgbFace`` when that is given."""
        canvas = self._canvas
        width = gc.get_linewidth()
        if width <= 0.0 and rgbFace is None:
            return
        canvas.saveState()
        self._clip(gc)
        if rgbFace is not None:
            canvas.setFillColorRGB(*rgbFace[:3])
            own = rgbFace[3] if len(rgbFace) == 4 else 1.0
            canvas.setFillAlpha(gc.get_alpha() if gc.get_forced_alpha() else own)
        if width > 0.0:
            red, green, blue, alpha = gc.get_rgb()
            canvas.setStrokeColorRGB(red, green, blue)
            canvas.setStrokeAlpha(alpha)
            canvas.setLineWidth(width)
            canvas.setLineCap(_CAPS[gc.get_capstyle()])
            canvas.setLineJoin(_JOINS[gc.get_joinstyle()])
            offset, dashes = gc.get_dashes()
            if dashes is not None:
                canvas.setDash([float(length) for length in np.asarray(dashes)], offset or 0.0)
        canvas.drawPath(self._path(path, transform), stroke=int(width > 0.0), fill=int(rgbFace is not None))
        canvas.restoreState()

    def _clip(self, gc: GraphicsContextBase) -> None:
        canvas, box = self._canvas, gc.get_clip_rectangle()
        if box is not None:
            here = canvas.beginPath()
            here.rect(box.x0, box.y0, box.width, box.height)
            canvas.clipPath(here, stroke=0, fill=0)
        path, transform = gc.get_clip_path()
        if path is not None and transform is not None:
            canvas.clipPath(self._path(path, transform), stroke=0, fill=0)

    def _path(self, path: Path | TransformedPath, transform: Transform) -> Any:
        """Return the path as reportlab knows it; curves of second order become those of third."""
        made = self._canvas.beginPath()
        x = y = 0.0
        if isinstance(path, TransformedPath):
            path, transform = path.get_transformed_path_and_affine()
        for points, code in path.iter_segments(transform, simplify=False):
            if code == Path.MOVETO:
                made.moveTo(*points)
            elif code == Path.LINETO:
                made.lineTo(*points)
            elif code == Path.CURVE3:
                made.curveTo(*_cubic(x, y, *points))
            elif code == Path.CURVE4:
                made.curveTo(*points)
            elif code == Path.CLOSEPOLY:
                made.close()
                continue
            x, y = points[-2:]
        return made

    def draw_text(
        self,
        gc: GraphicsContextBase,
        x: float,
        y: float,
        s: str,
        prop: FontProperties,
        angle: float,
        ismath: Any = False,
        mtext: Any = None,
    ) -> None:
        """Write a text, which can be searched and copied in the report."""
        if ismath:
            super().draw_text(gc, x, y, s, prop, angle, ismath, mtext)
            return
        canvas = self._canvas
        canvas.saveState()
        self._clip(gc)
        red, green, blue, alpha = gc.get_rgb()
        canvas.setFillColorRGB(red, green, blue)
        canvas.setFillAlpha(alpha)
        canvas.translate(x, y)
        if angle:
            canvas.rotate(angle)
        canvas.setFont(BOLD if _weight(prop) >= _BOLD else REGULAR, prop.get_size_in_points())
        canvas.drawString(0.0, 0.0, plain(s))
        canvas.restoreState()


def _weight(prop: FontProperties) -> int:
    weight = prop.get_weight()
    names = {"bold": 700, "heavy": 800, "semibold": 600, "demibold": 600, "black": 900}
    return names.get(weight, 400) if isinstance(weight, str) else int(weight)


def _cubic(x: float, y: float, cx: float, cy: float, ex: float, ey: float) -> tuple[float, ...]:
    """Return the control points and end of the curve of third order that is this one of second order from (x, y)."""
    third = 2.0 / 3.0
    return (x + third * (cx - x), y + third * (cy - y), ex + third * (cx - ex), ey + third * (cy - ey), ex, ey)
