"""An interactive picture: a card describes the part under the pointer, arrow keys move, Enter selects."""

from __future__ import annotations

from functools import partial

import numpy as np
from PySide6.QtCore import QEvent, QPoint, QPointF, QRectF, Qt, Signal
from PySide6.QtGui import (
    QColor,
    QEnterEvent,
    QFocusEvent,
    QFont,
    QKeyEvent,
    QMouseEvent,
    QPainter,
    QPaintEvent,
    QPen,
    QPolygonF,
    QWheelEvent,
)
from PySide6.QtWidgets import QMenu

from ..resources.theme import theme
from ..structures.drawing import Structures
from ..structures.shown import HoverCard
from ..widgets.layout import show_menu
from .canvas import Canvas, inch
from .scene import Scene, Shape, Target

REACH = 9.0
"""Pixels within which a point counts as pointed at."""
DRAG = 12
"""Pixels after which a drag moves the picture."""
ZOOM = 1.25
KINDS = (".png", ".svg", ".pdf")
"""What a picture is written as."""
_KEYS = {
    Qt.Key.Key_Left: (-1, 0),
    Qt.Key.Key_Right: (1, 0),
    Qt.Key.Key_Up: (0, -1),
    Qt.Key.Key_Down: (0, 1),
}


class PointingCanvas(Canvas):
    """A canvas that shows a scene."""

    picked = Signal(int)
    """A compound was clicked or chosen with Enter."""
    copy_wanted = Signal(object)
    """The scene is to be copied as a picture."""
    data_wanted = Signal(object)
    """The data behind the scene are to be copied as text."""
    export_wanted = Signal(object, str)
    """The scene is to be written to a file of a kind (``.png``)."""

    zoomed = Signal(float, float, float)
    """The wheel was turned: a place of the data, and how much more is to be shown."""
    panned = Signal(float, float)
    """The picture was dragged by so much of the data."""
    unzoomed = Signal()
    """It was clicked twice."""
    enclosed = Signal(object)
    """A line was drawn around a part of the picture: its places in the data, ``(k, 2)``."""

    def __init__(self, structures: Structures) -> None:
        super().__init__("Picture")
        self.zoomable = False
        self.encloses = False
        """Whether a drag draws a line around compounds; where it moves the picture, one with Shift does."""
        self._outline: list[QPointF] = []
        self._dragged: QPointF | None = None
        """Where a drag that may move the picture began."""
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setMouseTracking(True)
        self.scene: Scene | None = None
        self.target: Target | None = None
        """What is pointed at, with the mouse or with keys."""
        self._structures = structures
        self._card: HoverCard | None = None

    @property
    def card(self) -> HoverCard:
        """The card, made when first needed; its parent is the window so that nothing clips it."""
        if self._card is None:
            self._card = HoverCard(self.window(), self._structures)
        return self._card

    def show_scene(self, scene: Scene | None, *, new: bool) -> None:
        """Show a scene; ``new``: it replaces another one, and nothing is pointed at."""
        self.scene = scene
        if new or scene is None:
            self.point(None)
        if scene is None:
            self.show_figure(None)
            return
        self.setAccessibleName(scene.name)
        self.setAccessibleDescription("Arrow keys go through the picture, Enter selects the compound.")
        self.show_figure(lambda size, dpi: scene.draw(theme().colours.figure, size, dpi))

    def copy(self) -> None:
        """Have the picture copied, where there is one."""
        if self.scene is not None:
            self.copy_wanted.emit(self.scene)

    def copy_data(self) -> None:
        """Have the data behind it copied."""
        if self.scene is not None:
            self.data_wanted.emit(self.scene)

    def export(self, suffix: str) -> None:
        """Have it written to a file of a kind."""
        if self.scene is not None:
            self.export_wanted.emit(self.scene, suffix)

    @property
    def inches(self) -> Shape:
        """How large the picture is shown."""
        return self.width() / inch(), self.height() / inch()

    def point(self, target: Target | None, at: QPointF | None = None) -> None:
        """Point at something and describe it; None: at nothing."""
        self.target = target
        if target is None:
            if self._card is not None:
                self._card.hide()
        else:
            where = self.place_of(target) if at is None else at
            if where is not None:
                window = self.window()
                self.card.show_text(target.heading, target.text, target.smiles, self.mapTo(window, where.toPoint()))
        self.update()

    def place_of(self, target: Target) -> QPointF | None:
        """Where a target is shown, in pixels; None before the picture is there."""
        return self.parts[target.axes].pixel(target.x, target.y) if target.axes < len(self.parts) else None

    def under(self, at: QPointF) -> Target | None:
        """Return the target at a pixel."""
        if self.scene is None or not self.parts:
            return None
        number = next((k for k, part in enumerate(self.parts) if part.contains(at)), 0)
        part = self.parts[number]
        reach = (abs(part.scale[1]) * REACH, abs(part.scale[3]) * REACH)
        return self.scene.at(number, *part.data(at), reach)

    # ------------------------------------------------------------------ Qt

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        """Describe the part under the pointer."""
        if self._drag(event):
            return
        target = self.under(event.position())
        self.setCursor(
            Qt.CursorShape.PointingHandCursor if target is not None and target.compound is not None
            else Qt.CursorShape.ArrowCursor
        )  # fmt: skip
        self.point(target, event.position())

    def mousePressEvent(self, event: QMouseEvent) -> None:
        """Select what is under the pointer."""
        super().mousePressEvent(event)
        if event.button() == Qt.MouseButton.LeftButton:
            shift = bool(event.modifiers() & Qt.KeyboardModifier.ShiftModifier)
            self._outline = [event.position()] if self.encloses or (self.zoomable and shift) else []
            self._dragged = event.position() if self.zoomable and not self._outline else None
            target = self.under(event.position())
            if target is not None and target.compound is not None:
                self.picked.emit(target.compound)

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        """Emit the enclosing outline, in data units."""
        super().mouseReleaseEvent(event)
        outline, self._outline = self._outline, []
        if len(outline) > 2 and QPolygonF(outline).boundingRect().width() >= DRAG and self.parts:
            self.enclosed.emit(np.array([self.parts[0].data(at) for at in outline]))
        self.update()

    def _drag(self, event: QMouseEvent) -> bool:
        """Whether a drag goes on, which moves the picture or draws a line around a part of it."""
        if self._outline and event.buttons() & Qt.MouseButton.LeftButton:
            self._outline.append(event.position())
            self.point(None)
            return True
        start = self._dragged
        if start is None or not event.buttons() & Qt.MouseButton.LeftButton or not self.parts:
            self._dragged = None
            return False
        moved = event.position() - start
        if moved.manhattanLength() >= DRAG:
            part = self.parts[0]
            self.panned.emit(-moved.x() * part.scale[1], -moved.y() * part.scale[3])
            self._dragged = event.position()
        return True

    def wheelEvent(self, event: QWheelEvent) -> None:
        """Zoom about the pointer, where the picture can be zoomed."""
        if not self.zoomable or not self.parts or not event.angleDelta().y():
            event.ignore()
            return
        x, y = self.parts[0].data(event.position())
        self.zoomed.emit(x, y, ZOOM if event.angleDelta().y() < 0 else 1 / ZOOM)
        event.accept()

    def mouseDoubleClickEvent(self, event: QMouseEvent) -> None:
        """Show all again."""
        if self.zoomable:
            self.unzoomed.emit()

    def leaveEvent(self, event: QEvent | QEnterEvent) -> None:
        """Hide the description."""
        super().leaveEvent(event)
        self.point(None)

    def focusOutEvent(self, event: QFocusEvent) -> None:
        """Hide the description."""
        super().focusOutEvent(event)
        self.point(None)

    def hideEvent(self, event: QEvent) -> None:
        """Take its card along."""
        self.point(None)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Arrow keys go through the picture, Enter and the space bar select, Escape ends it."""
        key = Qt.Key(event.key())
        if key in _KEYS and self.scene is not None and not event.modifiers() & Qt.KeyboardModifier.ControlModifier:
            found = self.scene.step(self.target, *_KEYS[key])
            if found is not None:
                self.point(found)
                self.setAccessibleDescription(f"{found.heading}. {found.text}")
            return
        if key in (Qt.Key.Key_Return, Qt.Key.Key_Enter, Qt.Key.Key_Space) and self.target is not None:
            if self.target.compound is not None:
                self.picked.emit(self.target.compound)
            return
        if key == Qt.Key.Key_Escape and self.target is not None:
            self.point(None)
            return
        super().keyPressEvent(event)

    def paintEvent(self, event: QPaintEvent) -> None:
        """Paint the picture, what is pointed at, and whether the keyboard is here."""
        super().paintEvent(event)
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        colours = theme().colours
        where = None if self.target is None else self.place_of(self.target)
        if where is not None and self.target is not None:
            painter.setPen(QPen(QColor(colours.text), 1.4))
            if self.target.extent is None:
                painter.drawEllipse(where, 4.5, 4.5)
            else:
                dx, dy = (abs(self.parts[self.target.axes].scale[k]) for k in (1, 3))
                wide, high = self.target.extent[0] / dx, self.target.extent[1] / dy
                painter.drawRect(QRectF(where.x() - wide / 2, where.y() - high / 2, wide, high))
        if len(self._outline) > 1:
            painter.setPen(QPen(QColor(colours.accent), 1.4))
            painter.drawPolygon(QPolygonF(self._outline))
        if self.hasFocus():
            painter.setPen(QPen(QColor(colours.accent), 1.0))
            painter.drawRoundedRect(QRectF(self.rect()).adjusted(0.5, 0.5, -0.5, -0.5), 4, 4)
        if self.scene is not None and not self.shown and not self.parts:
            painter.setPen(QColor(colours.muted))
            painter.setFont(QFont(self.font()))
            painter.drawText(self.rect(), Qt.AlignmentFlag.AlignCenter, "Drawing…")
        painter.end()

    def _menu(self, at: QPoint) -> None:
        show_menu(self.menu(), self.mapToGlobal(at))

    def menu(self) -> QMenu:
        """Return what can be done with the picture."""
        menu = QMenu(self)
        menu.addAction("&Copy Picture", self.copy)
        menu.addAction("Copy &Data", self.copy_data)
        for suffix in KINDS:
            menu.addAction(f"Export as {suffix[1:].upper()}…", partial(self.export, suffix))
        return menu
