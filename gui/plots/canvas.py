"""Shows a matplotlib figure that is drawn off the window's thread."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

from matplotlib.figure import Figure
from PySide6.QtCore import QObject, QPoint, QPointF, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QColor, QGuiApplication, QImage, QPainter, QPaintEvent, QResizeEvent
from PySide6.QtWidgets import QMenu, QSizePolicy, QWidget

from ..resources.theme import theme
from ..runtime.gc_policy import figure_gone
from ..runtime.tasks import AfterPainting, single_shot
from ..structures.drawing import drawing_pool

Drawer = Callable[[tuple[float, float], float], "Figure"]
"""Makes a figure of a size in inches at a resolution; called off the window's thread."""

_INCH = 96.0
"""Pixels of an inch of a figure, on a screen without scaling and with text of the usual size."""
ABOVE_STRUCTURES = 1 << 30
"""Plots are drawn before pictures of structures that wait."""


def inch() -> float:
    """Pixels of an inch of a figure: more of them where text is larger, so that a figure's letters are larger, too."""
    return _INCH * theme().scale


_LEAST_GROWS = 0.2
"""How much of the text's growth the least height of a picture follows: what is below it needs room, too."""


@dataclass(frozen=True, slots=True)
class Part:
    """One pair of axes in a picture, in pixels of the widget from the top left."""

    box: tuple[float, float, float, float]
    """Left, top, right, bottom."""
    scale: tuple[float, float, float, float]
    """Data x = scale[0] + scale[1] * pixel, data y likewise with the other two."""

    @classmethod
    def of(cls, axes: Any, across: int, down: int, ratio: float) -> Part:
        """Return the place of axes (matplotlib's) in a picture of so many pixels."""
        back, box = axes.transData.inverted(), axes.bbox
        x0, y0 = back.transform((0.0, down))
        x1, y1 = back.transform((across, 0.0))
        wide, high = across / ratio, down / ratio
        return cls(
            (box.x0 / ratio, (down - box.y1) / ratio, box.x1 / ratio, (down - box.y0) / ratio),
            (float(x0), float(x1 - x0) / wide, float(y0), float(y1 - y0) / high),
        )

    def contains(self, at: QPointF) -> bool:
        """Whether a pixel is within the axes."""
        left, top, right, bottom = self.box
        return left <= at.x() <= right and top <= at.y() <= bottom

    def data(self, at: QPointF) -> tuple[float, float]:
        """Return the data at a pixel."""
        x0, dx, y0, dy = self.scale
        return x0 + dx * at.x(), y0 + dy * at.y()

    def pixel(self, x: float, y: float) -> QPointF:
        """Return the pixel of data."""
        x0, dx, y0, dy = self.scale
        return QPointF((x - x0) / dx, (y - y0) / dy)


@dataclass(frozen=True, slots=True)
class _Drawn:
    """A picture and how its points map to data."""

    image: QImage
    number: int
    parts: tuple[Part, ...]
    """Its axes, in order."""


class _Signals(QObject):
    """What a drawing may touch of its canvas: it may outlive it."""

    drawn = Signal(object)

    def __init__(self) -> None:
        super().__init__()
        self.latest = 0


def _drawing(owner: _Signals, draw: Drawer, size: QSize, ratio: float, number: int, dots: float) -> None:
    """Draw a figure and hand its picture over, unless another one was requested meanwhile; ``dots``: of an inch."""
    if owner.latest == number:
        owner.drawn.emit(_picture(draw, size, ratio, number, dots))


def _picture(draw: Drawer, size: QSize, ratio: float, number: int, dots: float) -> _Drawn:
    """Return the picture; its figure is thrown away before it is handed over."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg

    figure = draw((size.width() / dots, size.height() / dots), dots * ratio)
    canvas: Any = FigureCanvasAgg(figure)  # its methods carry no types
    canvas.draw()
    pixels = canvas.buffer_rgba()
    across, down = canvas.get_width_height()
    image = QImage(pixels, across, down, 4 * across, QImage.Format.Format_RGBA8888).copy()
    image.setDevicePixelRatio(ratio)
    parts = tuple(Part.of(axes, across, down, ratio) for axes in figure.axes)
    return _Drawn(image, number, parts)


class Canvas(QWidget):
    """A figure as large as the widget, drawn again when size, theme or data change."""

    def __init__(self, name: str, *, on_panel: bool = False) -> None:
        super().__init__()
        self._on_panel = on_panel
        self.setAccessibleName(name)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Expanding)
        self.setMinimumWidth(160)
        self._draw: Drawer | None = None
        self._drawn: _Drawn | None = None
        self._signals = _Signals()
        self._signals.drawn.connect(self._take)
        self._ready = AfterPainting(self, self._start)
        self._pause = single_shot(self, 25, self._ready.start)
        self._painted = False
        self._reserved = (90, False)
        theme().changed.connect(self._dress)
        self._grow()
        self.setContextMenuPolicy(Qt.ContextMenuPolicy.CustomContextMenu)
        self.customContextMenuRequested.connect(self._menu)

    def reserve(self, least: int, *, fixed: bool = False) -> None:
        """Be this high at least (``fixed``: exactly) with text of the usual size, higher with a larger one."""
        self._reserved = (least, fixed)
        self._grow()

    def _grow(self) -> None:
        least, fixed = self._reserved
        # What only has to be there at least leaves a table below it some room, too.
        high = round(least * (1 + (theme().scale - 1) * (1.0 if fixed else _LEAST_GROWS)))
        if fixed:
            self.setFixedHeight(high)
        else:
            self.setMinimumHeight(high)

    def show_figure(self, draw: Drawer | None) -> None:
        """Show what ``draw`` makes, from now on also in other sizes."""
        self._draw = draw
        self.redraw()

    def _dress(self) -> None:
        self._grow()
        self.redraw()

    def redraw(self) -> None:
        """Draw soon, off this thread."""
        if self._draw is None:
            self._drawn = None
            self.update()
        elif self._painted:  # the window comes first: nothing is drawn before it is seen
            self._pause.start()

    @property
    def shown(self) -> bool:
        """Whether the picture of the latest figure is there."""
        coming = self._pause.isActive() or self._ready.waiting
        return self._drawn is not None and self._drawn.number == self._signals.latest and not coming

    def stop(self) -> None:
        """Draw nothing any more."""
        self._pause.stop()
        self._draw = None
        self._signals.latest += 1

    def paintEvent(self, event: QPaintEvent) -> None:
        """Paint the picture there is, stretched until one of the right size comes."""
        painter = QPainter(self)
        painter.fillRect(self.rect(), QColor(theme().colours.panel if self._on_panel else theme().colours.page))
        if self._drawn is not None:
            painter.setRenderHint(QPainter.RenderHint.SmoothPixmapTransform)
            painter.drawImage(QRectF(self.rect()), self._drawn.image)
        painter.end()
        if not self._painted:
            self._painted = True
            self.redraw()

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Draw for the new size."""
        super().resizeEvent(event)
        self.redraw()

    @property
    def parts(self) -> tuple[Part, ...]:
        """The axes of the picture shown; none before there is one."""
        return () if self._drawn is None else self._drawn.parts

    def _menu(self, at: QPoint) -> None:
        if self._drawn is None:
            return
        menu = QMenu(self)
        menu.addAction("Copy picture", self.copy_picture)
        menu.exec(self.mapToGlobal(at))

    def copy_picture(self) -> None:
        """Put the picture on the clipboard."""
        if self._drawn is not None:
            QGuiApplication.clipboard().setImage(self._drawn.image)

    def _start(self) -> None:
        size = self.size()
        if self._draw is None or size.width() < 20 or size.height() < 20:
            return
        self._signals.latest += 1
        given = self._signals, self._draw, size, self.devicePixelRatioF(), self._signals.latest, inch()
        drawing_pool().start(partial(_drawing, *given), ABOVE_STRUCTURES)

    def _take(self, drawn: _Drawn) -> None:
        if drawn.number == self._signals.latest and self._draw is not None:
            self._drawn = drawn
            self.update()
        figure_gone()
