"""A plate of the round under way: wells by state, value or decision, chosen with the mouse or the keyboard."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from PySide6.QtCore import QPointF, QRectF, Qt, Signal
from PySide6.QtGui import (
    QAccessible,
    QAccessibleEvent,
    QColor,
    QFocusEvent,
    QKeyEvent,
    QKeySequence,
    QMouseEvent,
    QPainter,
    QPaintEvent,
    QPen,
    QPolygonF,
)

from assaypilot.engine.campaign.state import STATUSES
from assaypilot.engine.domain.plates.wells import Well

from ..resources.theme import theme
from ..widgets.marks import draw_mark
from .plate import DECISION, VALUE, WORDS, Draw, Look, Looks, PlateView

NUMBERED = 17.0
"""Pixels of a well from which on a value can be read in it; in smaller ones its size says how high it is."""
STEPS = {
    Qt.Key.Key_Left: (0, -1),
    Qt.Key.Key_Right: (0, 1),
    Qt.Key.Key_Up: (-1, 0),
    Qt.Key.Key_Down: (1, 0),
}


class PlateChooser(PlateView):
    """Wells chosen are compounds chosen; all wells of a compound are chosen together."""

    picked = Signal(list, object)
    """The compounds that are chosen now, and the one that is current (None: none)."""
    opened = Signal(int, int)
    """Compound and replicate of a well that is to be typed into."""
    copied = Signal()
    said = Signal(str)
    """What stands in the well under the mouse, or under the keyboard's mark; empty for none."""

    def __init__(self) -> None:
        super().__init__()
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setAccessibleName("Plate of the round")
        self.looks: Looks | None = None
        self.chosen: frozenset[int] = frozenset()
        """The compounds that are chosen."""
        self.mark = Well(0, 0)
        """Where the keyboard is."""
        self._anchor: Well | None = None
        self._dragged: QRectF | None = None
        self._before: frozenset[int] = frozenset()
        self._words = ""

    def show_looks(self, looks: Looks | None) -> None:
        """Colour the wells."""
        self.looks = looks
        self._placed = None
        self._describe()
        self.update()

    def choose(self, compounds: frozenset[int]) -> None:
        """Ring the wells of these compounds, which were chosen elsewhere."""
        if compounds != self.chosen:
            self.chosen = compounds
            self._describe()
            self.update()

    def say(self, words: str) -> None:
        """The words of the plate, to which those of the well are added."""
        self._words = words
        self._describe()

    def text_at(self, well: Well) -> str:
        """What stands in a well, in a sentence."""
        look = None if self.looks is None else self.looks.wells.get(well)
        return self.tip(well) if look is None else f"{well}: {look.words}"

    # ------------------------------------------------------------------ choosing

    def _compounds(self, wells: Iterator[Well]) -> frozenset[int]:
        return frozenset(self.contents[well][0].compound for well in wells if well in self.contents)

    def _within(self, one: Well, other: Well) -> Iterator[Well]:
        rows = range(min(one.row, other.row), max(one.row, other.row) + 1)
        columns = range(min(one.column, other.column), max(one.column, other.column) + 1)
        return (Well(row, column) for row in rows for column in columns)

    def _pick(self, wells: Iterator[Well], *, more: bool = False) -> None:
        """Choose the compounds of wells, with ``more`` beside those chosen before."""
        found = self._compounds(wells)
        self.chosen = found | self._before if more else found
        current = self.contents.get(self.mark)
        self.picked.emit(sorted(self.chosen), None if current is None else current[0].compound)
        self._describe()
        self.update()

    def _go(self, well: Well, *, extend: bool) -> None:
        """The keyboard goes to a well, and chooses it or all from where it was."""
        shape = self._layout.use.format if self._layout is not None else None
        if shape is None:
            return
        row, column = min(max(well.row, 0), shape.rows - 1), min(max(well.column, 0), shape.columns - 1)
        if extend and self._anchor is None:
            self._anchor = self.mark
        self.mark = Well(row, column)
        if not extend:
            self._anchor = None
        self._before = frozenset()
        self._pick(self._within(self._anchor or self.mark, self.mark))
        self.said.emit(self.text_at(self.mark))

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Arrows go from well to well, with Shift they choose; Enter goes to the cell of the list."""
        if self._layout is None:
            super().keyPressEvent(event)
            return
        extend = bool(event.modifiers() & Qt.KeyboardModifier.ShiftModifier)
        far = bool(event.modifiers() & Qt.KeyboardModifier.ControlModifier)
        shape, key = self._layout.use.format, event.key()
        step = STEPS.get(Qt.Key(key))
        if event.matches(QKeySequence.StandardKey.Copy):
            self.copied.emit()
        elif event.matches(QKeySequence.StandardKey.SelectAll):
            self._pick(iter(self.contents))
        elif step is not None:
            rows, columns = (shape.rows, shape.columns) if far else (1, 1)
            self._go(Well(self.mark.row + step[0] * rows, self.mark.column + step[1] * columns), extend=extend)
        elif key in (Qt.Key.Key_Home, Qt.Key.Key_End):
            first = key == Qt.Key.Key_Home
            row = (0 if first else shape.rows - 1) if far else self.mark.row
            self._go(Well(row, 0 if first else shape.columns - 1), extend=extend)
        elif key in (Qt.Key.Key_Return, Qt.Key.Key_Enter, Qt.Key.Key_F2) and self.mark in self.contents:
            placed = self.contents[self.mark][0]
            self.opened.emit(placed.compound, placed.replicate)
        elif key == Qt.Key.Key_Space:
            self._before = self.chosen
            at = self._compounds(iter([self.mark]))
            self._before = self.chosen - at if at <= self.chosen else self.chosen | at
            self._pick(iter(()), more=True)
        elif key == Qt.Key.Key_Escape and self.chosen:
            self._pick(iter(()))
        else:
            super().keyPressEvent(event)

    def mousePressEvent(self, event: QMouseEvent) -> None:
        """Begin to choose: a well, a row by its letter, a column by its number."""
        if event.button() != Qt.MouseButton.LeftButton or self._layout is None:
            super().mousePressEvent(event)
            return
        more = bool(event.modifiers() & Qt.KeyboardModifier.ControlModifier)
        extend = bool(event.modifiers() & Qt.KeyboardModifier.ShiftModifier)
        self._before = self.chosen if more else frozenset()
        well, shape = self.well_at(event.position()), self._layout.use.format
        if well is None:
            line = self._edge_at(event.position())
            if line is not None:
                self._pick(line, more=more)
            return
        self._anchor = self.mark if extend and self._anchor is None else self._anchor if extend else well
        self.mark = well
        placed = self.contents.get(well)
        if more and placed is not None and placed[0].compound in self._before:
            self._before -= {placed[0].compound}
            self._anchor = None
            self._pick(iter(()), more=True)
            return
        assert shape is not None
        self._pick(self._within(self._anchor or well, well), more=more)
        self.said.emit(self.text_at(well))

    def _edge_at(self, at: QPointF) -> Iterator[Well] | None:
        """The wells of the row or column whose letter or number is at a place; None for any other place."""
        assert self._layout is not None
        step, left, top = self._step()
        shape = self._layout.use.format
        row, column = int((at.y() - top) // step), int((at.x() - left) // step)
        if at.y() < top and 0 <= column < shape.columns:
            return (Well(k, column) for k in range(shape.rows))
        if at.x() < left and 0 <= row < shape.rows:
            return (Well(row, k) for k in range(shape.columns))
        return None

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        """Choose all wells between where the button went down and the mouse."""
        super().mouseMoveEvent(event)
        well = self.well_at(event.position())
        if event.buttons() & Qt.MouseButton.LeftButton and self._anchor is not None:
            if well is not None and well != self.mark:
                self.mark = well
                self._dragged = QRectF(self.box(self._anchor)).united(self.box(well))
                self._pick(self._within(self._anchor, well), more=bool(self._before))
            return
        self.said.emit("" if well is None else self.text_at(well))

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        """The choice is made."""
        self._dragged = None
        self._before = frozenset()
        self.update()
        super().mouseReleaseEvent(event)

    def mouseDoubleClickEvent(self, event: QMouseEvent) -> None:
        """Go to the cell of the list that belongs to a well."""
        well = self.well_at(event.position())
        if well is not None and well in self.contents:
            placed = self.contents[well][0]
            self.opened.emit(placed.compound, placed.replicate)

    def focusInEvent(self, event: QFocusEvent) -> None:
        """Say where the keyboard is."""
        super().focusInEvent(event)
        if event.reason() in (Qt.FocusReason.TabFocusReason, Qt.FocusReason.BacktabFocusReason):
            self.said.emit(self.text_at(self.mark))
        self.update()

    def focusOutEvent(self, event: QFocusEvent) -> None:
        """The mark of the keyboard goes."""
        super().focusOutEvent(event)
        self.update()

    def _describe(self) -> None:
        """Tell a screen reader where the keyboard is, and how many are chosen."""
        parts = [self._words]
        if self._layout is not None:
            parts.append(self.text_at(self.mark))
        if self.chosen:
            there = {placed.compound for placed, _ in self.contents.values()}
            parts.append(f"{len(self.chosen & there)} of its compounds are chosen")
        text = ". ".join(filter(None, parts))
        if text != self.accessibleDescription():
            self.setAccessibleDescription(text)
            QAccessible.updateAccessibility(QAccessibleEvent(self, QAccessible.Event.DescriptionChanged))

    # ------------------------------------------------------------------ painting

    def paintEvent(self, event: QPaintEvent) -> None:
        """Paint the plate, and the mark of the keyboard over it."""
        super().paintEvent(event)
        if self._layout is None:
            return
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setBrush(Qt.BrushStyle.NoBrush)
        if self.hasFocus():
            painter.setPen(QPen(QColor(theme().colours.text), 1.2, Qt.PenStyle.DotLine))
            painter.drawRect(self.box(self.mark).adjusted(-1.5, -1.5, 1.5, 1.5))
        if self._dragged is not None:
            painter.setPen(QPen(QColor(theme().colours.accent), 1.2))
            painter.drawRoundedRect(self._dragged.adjusted(-1, -1, 1, 1), 4, 4)
        painter.end()

    def _paint_well(self, painter: QPainter, well: Well) -> None:
        look = None if self.looks is None else self.looks.wells.get(well)
        if look is None:
            super()._paint_well(painter, well)
            return
        compound = self.contents[well][0].compound
        box = self.box(well)
        if compound in self.chosen or compound == self.under:
            chosen = compound in self.chosen
            painter.setPen(
                QPen(QColor(theme().colours.text if chosen else theme().colours.muted), 1.6 if chosen else 1)
            )
            painter.setBrush(QColor(theme().colours.hover) if chosen else Qt.BrushStyle.NoBrush)
            around = min(2.0, box.width() * 0.09)
            painter.drawRoundedRect(box.adjusted(-around, -around, around, around), 3, 3)
            box = box.adjusted(around, around, -around, -around)
        self._paint_look(painter, box, look)

    def _paint_look(self, painter: QPainter, box: QRectF, look: Look) -> None:
        by = "" if self.looks is None else self.looks.by
        if by == DECISION:
            draw_mark(painter, look.status, box.center(), box.width() * 0.36)
        elif by.startswith(VALUE) and look.share is not None and _unvalued(look) is None:
            self._paint_value(painter, box, look.share, look.text, numbered=box.width() >= NUMBERED)
        else:
            number = "" if by.startswith(VALUE) else str(look.line + 1)
            self._paint_kind(painter, box, look.kind, number)

    def _paint_value(self, painter: QPainter, box: QRectF, share: float, text: str, *, numbered: bool) -> None:
        """The higher the value, the darker the well, and without room for the number the larger."""
        colours = theme().colours
        ground = _between(QColor(colours.soft_accent), QColor(colours.accent), share)
        painter.setPen(QPen(QColor(colours.accent), 1))
        painter.setBrush(ground)
        size = 0.0 if numbered else box.width() * 0.3 * (1 - share)
        painter.drawEllipse(box.adjusted(size, size, -size, -size))
        if numbered:
            self._letters(painter, box, text, colours.on_accent if share > 0.55 else colours.text)

    def _paint_kind(self, painter: QPainter, box: QRectF, kind: str, number: str) -> None:
        """Each kind has a shape of its own."""
        colours = theme().colours
        accent, page = QColor(colours.accent), QColor(colours.page)
        dashed = Qt.PenStyle.DotLine if kind == "missing" else Qt.PenStyle.SolidLine
        painter.setPen(QPen(accent if kind in ("waiting", "back", "partly") else QColor(colours.muted), 1.2, dashed))
        ink = colours.text
        if kind == "back":
            painter.setBrush(accent)
            painter.drawEllipse(box)
            ink = colours.on_accent
        elif kind == "partly":
            painter.setBrush(QColor(colours.soft_accent))
            painter.drawEllipse(box)
            painter.setBrush(accent)
            painter.drawPie(box, 90 * 16, 180 * 16)
            number = ""
        elif kind == "asked":
            painter.setPen(QPen(QColor(colours.question_edge), 1.4))
            painter.setBrush(QColor(colours.question))
            c, r = box.center(), box.width() * 0.52
            tops = [QPointF(c.x(), c.y() - r), QPointF(c.x() + r, c.y()), QPointF(c.x(), c.y() + r)]
            painter.drawPolygon(QPolygonF([*tops, QPointF(c.x() - r, c.y())]))
            number = "?"
        elif kind == "wrong":
            painter.setPen(QPen(QColor(colours.error), 1.6))
            painter.setBrush(QColor(colours.error_ground))
            painter.drawRoundedRect(box, 3, 3)
            number, ink = "!", colours.error
        else:
            painter.setBrush(QColor(colours.soft_accent) if kind == "waiting" else page)
            painter.drawEllipse(box)
            if kind == "excluded":
                painter.drawLine(box.bottomLeft() + QPointF(2, -2), box.topRight() + QPointF(-2, 2))
                ink = colours.muted
            elif kind == "missing":
                ink = colours.muted
        self._letters(painter, box, number, ink)

    # ------------------------------------------------------------------ the legend

    def legend(self) -> Iterator[tuple[Draw, str]]:
        """What the shapes and colours mean: those there are, and no others."""
        looks = self.looks
        if looks is None:
            yield from super().legend()
            return
        if looks.by == DECISION:
            for code in sorted({look.status for look in looks.wells.values()}, key=(1, 0, 2, 3).index):
                yield partial(self._sample_status, code), STATUSES[code]
        else:
            valued = looks.by.startswith(VALUE)
            bare = {_unvalued(look) for look in looks.wells.values()} if valued else set(looks.kinds)
            there = any(_unvalued(look) is None for look in looks.wells.values())
            if valued and there:
                yield partial(self._sample_value, 0.0), looks.low
                yield partial(self._sample_value, 1.0), f"{looks.high} {looks.scale}"
            for kind in looks.kinds:
                if kind in bare:
                    yield partial(self._sample_kind, kind), WORDS[kind]
        yield from self._controls_legend()
        yield self._sample_empty, "empty"

    def _sample_status(self, code: int, painter: QPainter, box: QRectF) -> None:
        draw_mark(painter, code, box.center(), box.width() * 0.34)

    def _sample_value(self, share: float, painter: QPainter, box: QRectF) -> None:
        numbered = self.box(Well(0, 0)).width() >= NUMBERED
        self._paint_value(painter, box, share, "", numbered=numbered)

    def _sample_kind(self, kind: str, painter: QPainter, box: QRectF) -> None:
        valued = self.looks is not None and self.looks.by.startswith(VALUE)
        self._paint_kind(painter, box, kind, "" if valued else "1")


def _unvalued(look: Look) -> str | None:
    """The kind of a well that has no value to be coloured by; None for one that has."""
    return None if look.share is not None and look.kind != "excluded" else look.kind


def _between(low: QColor, high: QColor, share: float) -> QColor:
    """The colour a share of the way from one to another."""
    pairs = ((low.red(), high.red()), (low.green(), high.green()), (low.blue(), high.blue()))
    return QColor(*(round(a + (b - a) * min(max(share, 0.0), 1.0)) for a, b in pairs))
