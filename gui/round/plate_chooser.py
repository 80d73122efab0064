"""A plate of the round under way: wells by state, value or decision, chosen with the mouse or the keyboard."""

from __future__ import annotations

from PySide6.QtCore import Qt, Signal
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
    opened = Signal(object)
    """The Placed of a well that is to be typed into."""
    copied = Signal()
    described = Signal(str)
    """The text of the well under the mouse, or under the keyboard's mark; empty for none."""

    def __init__(self) -> None:
        super().__init__()
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setAccessibleName("Plate of the round")
        self.mark = Well(0, 0)
        """Where the keyboard is."""
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

    def _pick(self, compounds: frozenset[int]) -> None:
        """Choose compounds; the one of the keyboard's well is the current one."""
        self.chosen = compounds
        current = self.contents.get(self.mark)
        self.picked.emit(sorted(compounds), None if current is None else current[0].compound)
        self._describe()
        self.update()

    def _go(self, well: Well, *, more: bool = False) -> None:
        """Go to a well and choose its compound; ``more``: besides those chosen, or no more if it was one of them."""
        self.mark = well
        own = frozenset({self.contents[well][0].compound} if well in self.contents else ())
        self._pick(self.chosen ^ own if more else own)
        self.described.emit(self.text_at(well))

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Arrows go from well to well, Space adds its compound or takes it out; Enter goes to the cell of the list."""
        key, mark = Qt.Key(event.key()), self.mark
        if self._layout is None:
            super().keyPressEvent(event)
        elif event.matches(QKeySequence.StandardKey.Copy):
            self.copied.emit()
        elif key in STEPS:
            shape, (down, right) = self._layout.use.format, STEPS[key]
            row, column = (
                min(max(mark.row + down, 0), shape.rows - 1),
                min(max(mark.column + right, 0), shape.columns - 1),
            )
            self._go(Well(row, column))
        elif key in (Qt.Key.Key_Return, Qt.Key.Key_Enter, Qt.Key.Key_F2):
            self._open(mark)
        elif key == Qt.Key.Key_Space:
            self._go(mark, more=True)
        elif key == Qt.Key.Key_Escape and self.chosen:
            self._pick(frozenset())
        else:
            super().keyPressEvent(event)

    def mousePressEvent(self, event: QMouseEvent) -> None:
        """Choose a well; with Ctrl besides those chosen."""
        well = self.well_at(event.position())
        if event.button() == Qt.MouseButton.LeftButton and well is not None:
            self._go(well, more=bool(event.modifiers() & Qt.KeyboardModifier.ControlModifier))
        else:
            super().mousePressEvent(event)

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        """Emit the text of the well under the mouse."""
        well = self.well_at(event.position())
        self.described.emit("" if well is None else self.text_at(well))

    def mouseDoubleClickEvent(self, event: QMouseEvent) -> None:
        """Go to the cell of the list that belongs to a well."""
        self._open(self.well_at(event.position()))

    def _open(self, well: Well | None) -> None:
        if well in self.contents:
            self.opened.emit(self.contents[well][0])

    def focusInEvent(self, event: QFocusEvent) -> None:
        """Emit the text of the keyboard's well."""
        super().focusInEvent(event)
        if event.reason() in (Qt.FocusReason.TabFocusReason, Qt.FocusReason.BacktabFocusReason):
            self.described.emit(self.text_at(self.mark))

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
        painter.end()
