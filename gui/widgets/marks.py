"""The shape of a status, drawn: the same in pills, tables and plots; never a colour alone."""

from __future__ import annotations

from PySide6.QtCore import QModelIndex, QPersistentModelIndex, QPointF, QRectF, QSize, Qt
from PySide6.QtGui import QColor, QFont, QFontMetrics, QPainter, QPaintEvent, QPen, QPolygonF
from PySide6.QtWidgets import QSizePolicy, QStyle, QStyledItemDelegate, QStyleOptionViewItem, QWidget

from assaypilot.engine.campaign.state import STATUSES

from ..resources.theme import theme
from ..tables.rows import STATUS


def draw_mark(painter: QPainter, code: int, centre: QPointF, radius: float) -> None:
    """Draw the shape of a status: in a disc, undecided a diamond, out a ring, not estimable a cross."""
    colour = theme().colours.status(code)
    painter.save()
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    painter.setPen(QPen(colour, 1.6))
    painter.setBrush(colour if code < 2 else Qt.BrushStyle.NoBrush)
    if code == 0:
        r = radius * 1.12
        x, y = centre.x(), centre.y()
        painter.drawPolygon(QPolygonF([QPointF(x, y - r), QPointF(x + r, y), QPointF(x, y + r), QPointF(x - r, y)]))
    elif code in (1, 2):
        painter.drawEllipse(centre, radius * 0.95, radius * 0.95)
    else:
        r = radius * 0.8
        painter.drawLine(centre + QPointF(-r, -r), centre + QPointF(r, r))
        painter.drawLine(centre + QPointF(-r, r), centre + QPointF(r, -r))
    painter.restore()


class Pill(QWidget):
    """How many compounds have a status: shape, number, word."""

    def __init__(self, code: int) -> None:
        super().__init__()
        self._code = code
        self._count = 0
        self.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Fixed)
        theme().changed.connect(self.update)

    def set_count(self, count: int) -> None:
        """Show a number."""
        self._count = count
        self.setAccessibleName(self.text())
        self.setToolTip(f"{count:,} of the compounds are {STATUSES[self._code]}")
        self.updateGeometry()
        self.update()

    def text(self) -> str:
        """The pill in words."""
        return f"{self._count:,} {STATUSES[self._code]}"

    def _font(self) -> QFont:
        font = QFont(self.font())
        font.setWeight(QFont.Weight.DemiBold)
        return font

    def sizeHint(self) -> QSize:
        """Room for shape and text."""
        metrics = QFontMetrics(self._font())
        return QSize(metrics.horizontalAdvance(self.text()) + 40, metrics.height() + 13)

    def paintEvent(self, event: QPaintEvent) -> None:
        """Paint the pill."""
        colours = theme().colours
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        box = QRectF(self.rect()).adjusted(0.5, 0.5, -0.5, -0.5)
        painter.setPen(QPen(QColor(colours.line), 1))
        painter.setBrush(QColor(colours.page))
        painter.drawRoundedRect(box, box.height() / 2, box.height() / 2)
        draw_mark(painter, self._code, QPointF(18, box.center().y()), 4.6)
        painter.setFont(self._font())
        painter.setPen(QColor(colours.muted) if self._code >= 2 else colours.status(self._code))
        painter.drawText(box.adjusted(29, 0, -6, 0), int(Qt.AlignmentFlag.AlignVCenter), self.text())
        painter.end()


class StatusMark(QWidget):
    """The status of one compound: shape and word."""

    def __init__(self) -> None:
        super().__init__()
        self._code, self._word = 0, ""
        self.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Fixed)
        theme().changed.connect(self.update)

    def show_status(self, code: int, word: str) -> None:
        """Show a status."""
        self._code, self._word = code, word
        self.setAccessibleName(word)
        self.updateGeometry()
        self.update()

    def sizeHint(self) -> QSize:
        """Room for shape and word."""
        metrics = QFontMetrics(self.font())
        return QSize(int(metrics.horizontalAdvance(self._word) * 1.1) + 24, metrics.height() + 4)

    def paintEvent(self, event: QPaintEvent) -> None:
        """Paint shape and word."""
        painter = QPainter(self)
        box = QRectF(self.rect())
        draw_mark(painter, self._code, QPointF(8, box.center().y()), 4.6)
        font = QFont(self.font())
        font.setWeight(QFont.Weight.DemiBold)
        painter.setFont(font)
        painter.setPen(QColor(theme().colours.muted) if self._code >= 2 else theme().colours.status(self._code))
        painter.drawText(box.adjusted(19, 0, 0, 0), int(Qt.AlignmentFlag.AlignVCenter), self._word)
        painter.end()


class StatusDelegate(QStyledItemDelegate):
    """Draws a status cell: shape and word in its colour."""

    def paint(
        self, painter: QPainter, option: QStyleOptionViewItem, index: QModelIndex | QPersistentModelIndex
    ) -> None:
        """Paint the cell."""
        self.initStyleOption(option, index)
        code = index.data(STATUS)
        option.text = ""
        widget = option.widget
        style = widget.style() if widget is not None else None
        if style is not None:
            style.drawControl(QStyle.ControlElement.CE_ItemViewItem, option, painter, widget)
        if code is None:
            return
        box = QRectF(option.rect)
        draw_mark(painter, int(code), QPointF(box.left() + 13, box.center().y()), 4.4)
        painter.save()
        font = QFont(option.font)
        font.setWeight(QFont.Weight.DemiBold if code < 2 else QFont.Weight.Normal)
        painter.setFont(font)
        painter.setPen(QColor(theme().colours.muted) if code >= 2 else theme().colours.status(int(code)))
        painter.drawText(box.adjusted(23, 0, -2, 0), int(Qt.AlignmentFlag.AlignVCenter), STATUSES[int(code)])
        painter.restore()
