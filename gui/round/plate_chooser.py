"""A plate of the round under way: wells by state, value or decision, chosen with the mouse or the keyboard."""

from __future__ import annotations

from collections.abc import Iterator

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
)

from assaypilot.engine.domain.plates import Well

from ..resources.theme import theme
from .plate import PlateView
from .plate_looks import Looks

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
    described = Signal(str)
    """The text of the well under the mouse, or under the keyboard's mark; empty for none."""

    def __init__(self) -> None:
        super().__init__()
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setAccessibleName("Plate of the round")
        self.mark = Well(0, 0)
        """Where the keyboard is."""
        self._anchor: Well | None = None
        self._dragged: QRectF | None = None
        self._before: frozenset[int] = frozenset()
        self._words = ""

    def show_looks(self, looks: Looks | None) -> None:
        """Colour the wells."""
        super().show_looks(looks)
        self._describe()

    def choose(self, compounds: frozenset[int]) -> None:
        """Ring the wells of these compounds, which were chosen elsewhere."""
        if compounds != self.chosen:
            self.chosen = compounds
            self._describe()
            self.update()

    def show_text(self, words: str) -> None:
        """Set the accessible name of the plate, to which that of the well is added."""
        self._words = words
        self._describe()

    def text_at(self, well: Well) -> str:
        """Return the content of a well, in a sentence."""
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
        """Choose the compounds of wells, with ``more`` in addition to those chosen before."""
        found = self._compounds(wells)
        self.chosen = found | self._before if more else found
        current = self.contents.get(self.mark)
        self.picked.emit(sorted(self.chosen), None if current is None else current[0].compound)
        self._describe()
        self.update()

    def _go(self, well: Well, *, extend: bool) -> None:
        """Move the keyboard to a well, and choose it or all from where it was."""
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
        self.described.emit(self.text_at(self.mark))

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
        self.described.emit(self.text_at(well))

    def _edge_at(self, at: QPointF) -> Iterator[Well] | None:
        """Return the wells of the row or column whose header is at a place; None for any other place."""
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
        self.described.emit("" if well is None else self.text_at(well))

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        """Take the choice."""
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
        """Emit the text of the keyboard's well."""
        super().focusInEvent(event)
        if event.reason() in (Qt.FocusReason.TabFocusReason, Qt.FocusReason.BacktabFocusReason):
            self.described.emit(self.text_at(self.mark))
        self.update()

    def focusOutEvent(self, event: QFocusEvent) -> None:
        """Remove the mark of the keyboard."""
        super().focusOutEvent(event)
        self.update()

    def _describe(self) -> None:
        """Announce to a screen reader the keyboard's well, and how many are chosen."""
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
