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


def draw_status(painter: QPainter, box: QRectF, left: float, code: int, text: str, *, bold: bool = True) -> None:
    """Draw the shape of a status, its centre so far from the left edge of a box, and words behind it."""
    draw_mark(painter, code, QPointF(box.left() + left, box.center().y()), 4.6)
    font = QFont(painter.font())
    font.setWeight(QFont.Weight.DemiBold if bold else QFont.Weight.Normal)
    painter.setFont(font)
    painter.setPen(QColor(theme().colours.muted) if code >= 2 else theme().colours.status(code))
    painter.drawText(box.adjusted(left + 11, 0, -2, 0), int(Qt.AlignmentFlag.AlignVCenter), text)


class StatusMark(QWidget):
    """The status of one compound: shape and word."""

    def __init__(self, code: int = 0, *, framed: bool = False) -> None:
        super().__init__()
        self._code, self._text, self._framed = code, "", framed
        self.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Fixed)
        theme().changed.connect(self.update)

    def show_status(self, code: int, text: str) -> None:
        """Show a status."""
        self._code, self._text = code, text
        self.setAccessibleName(text)
        self.updateGeometry()
        self.update()

    def text(self) -> str:
        """Return its text."""
        return self._text

    def sizeHint(self) -> QSize:
        """Room for the shape and the words, and for the frame around them."""
        font = QFont(self.font())
        font.setWeight(QFont.Weight.DemiBold)
        metrics = QFontMetrics(font)
        around = QSize(40, 13) if self._framed else QSize(24, 4)
        return QSize(metrics.horizontalAdvance(self._text), metrics.height()) + around

    def paintEvent(self, event: QPaintEvent) -> None:
        """Paint it."""
        painter, box = QPainter(self), QRectF(self.rect())
        if self._framed:
            box.adjust(0.5, 0.5, -0.5, -0.5)
            painter.setRenderHint(QPainter.RenderHint.Antialiasing)
            painter.setPen(QPen(QColor(theme().colours.line), 1))
            painter.setBrush(QColor(theme().colours.page))
            painter.drawRoundedRect(box, box.height() / 2, box.height() / 2)
        draw_status(painter, box, 18 if self._framed else 8, self._code, self._text)
        painter.end()


class Pill(StatusMark):
    """How many compounds have a status: shape, number, word."""

    def __init__(self, code: int) -> None:
        super().__init__(code, framed=True)

    def set_count(self, count: int) -> None:
        """Show a number."""
        self.show_status(self._code, f"{count:,} {STATUSES[self._code]}")
        self.setToolTip(f"{count:,} of the compounds are {STATUSES[self._code]}")


class StatusDelegate(QStyledItemDelegate):
    """Draws a status in a table: shape and word."""

    def paint(
        self, painter: QPainter, option: QStyleOptionViewItem, index: QModelIndex | QPersistentModelIndex
    ) -> None:
        """Paint the cell."""
        self.initStyleOption(option, index)
        code = index.data(STATUS)
        option.text = ""
        if option.widget is not None:
            option.widget.style().drawControl(QStyle.ControlElement.CE_ItemViewItem, option, painter, option.widget)
        if code is not None:
            painter.save()
            painter.setFont(option.font)
            draw_status(painter, QRectF(option.rect), 13, int(code), STATUSES[int(code)], bold=code < 2)
            painter.restore()
