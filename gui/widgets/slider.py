"""A slider painted in the colours of the theme: the style's own marks cannot be seen in the dark."""

from __future__ import annotations

from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QColor, QPainter, QPaintEvent, QPen
from PySide6.QtWidgets import QSlider, QStyle, QStyleOptionSlider

from ..resources.theme import theme

EMPTY, FULL, MARK, RADIUS = 2.0, 4.0, 4.0, 6.0
"""Pixels: the height of the groove and of its chosen part, the length of a mark, and the radius of the handle."""


class Slider(QSlider):
    """A horizontal slider with a groove, a mark for each tick where ticks are wanted, and a round handle."""

    def __init__(self, name: str, *, rising: bool = False) -> None:
        """``name``: for a screen reader; ``rising``: values from here on are chosen, not those up to here."""
        super().__init__(Qt.Orientation.Horizontal)
        self._rising = rising
        self.setAccessibleName(name)
        theme().changed.connect(self.update)

    def middle_of(self, value: int) -> float:
        """Pixels from the left to the middle of the handle at a value."""
        span = self.maximum() - self.minimum()
        room = self.width() - 2 * (RADIUS + 1)
        return RADIUS + 1 + (room * (value - self.minimum()) / span if span else 0.0)

    def paintEvent(self, event: QPaintEvent) -> None:
        """Draw it, and a frame when keys go here."""
        option = QStyleOptionSlider()
        self.initStyleOption(option)
        handle = self.style().subControlRect(
            QStyle.ComplexControl.CC_Slider, option, QStyle.SubControl.SC_SliderHandle, self
        )
        colours = theme().colours
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        at, line = self.middle_of(self.value()), handle.center().y() + 0.5
        accent = QColor(colours.accent if self.isEnabled() else colours.muted)
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(QColor(colours.muted))
        painter.drawRect(QRectF(1, line - EMPTY / 2, self.width() - 2, EMPTY))
        painter.setBrush(accent)
        first, last = (at, self.width() - 1.0) if self._rising else (1.0, at)
        painter.drawRect(QRectF(first, line - FULL / 2, max(last - first, 0), FULL))
        if self.tickPosition() != QSlider.TickPosition.NoTicks and self.maximum() - self.minimum() <= self.width() / 4:
            painter.setPen(QPen(QColor(colours.muted), 1))
            for value in range(self.minimum(), self.maximum() + 1):
                x = round(self.middle_of(value)) + 0.5
                painter.drawLine(QPointF(x, self.height() - MARK - 1), QPointF(x, self.height() - 1))
        painter.setPen(QPen(QColor(colours.page), 1.5))
        painter.setBrush(accent)
        painter.drawEllipse(QPointF(at, line), RADIUS, RADIUS)
        if self.hasFocus():
            painter.setBrush(Qt.BrushStyle.NoBrush)
            painter.setPen(QPen(QColor(colours.accent), 1.5))
            painter.drawRoundedRect(QRectF(self.rect()).adjusted(1, 1, -1, -1), 4, 4)
        painter.end()
