"""A structure drawn with the mouse: a core with its sites, or a substructure to look for."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

from PySide6.QtCore import QByteArray, QEvent, QPointF, QRectF, Qt, Signal
from PySide6.QtGui import (
    QColor,
    QGuiApplication,
    QKeyEvent,
    QKeySequence,
    QMouseEvent,
    QPainter,
    QPaintEvent,
    QPen,
    QResizeEvent,
)
from PySide6.QtWidgets import QButtonGroup, QDialog, QPushButton, QWidget

from assaypilot.engine.chemistry.sketch import SITE, Sketch
from assaypilot.engine.errors import AssayPilotError

from ..resources.theme import theme
from ..widgets.inputs import line_edit
from ..widgets.layout import STRETCH, FlowRow, column_of, put, resize_within_screen, row_of
from ..widgets.text import button, error_words, go_or_cancel, label

UNIT = 26.0
"""Pixels of a unit of the coordinates, of which a bond has one and a half; fewer where a structure is larger."""
EDGE = 1.5
"""Units around the structure that stay free."""
TOUCHED = 0.45
"""Distance in these units at which the pointer is on an atom, and a bit less on a bond."""
DRAGGED = 8
"""Pixels of a movement that is no click."""
STEP = math.pi / 6.0
"""Bonds are drawn in directions that are multiples of this."""


@dataclass(frozen=True, slots=True)
class Tool:
    """What a click does: ``atom``, ``bond``, ``ring``, ``erase`` or ``charge``, with what of it."""

    kind: str
    symbol: str = "C"
    number: int = 1
    """The order of a bond, the size of a ring, or by how much the charge changes."""
    aromatic: bool = False


ATOMS = ("C", "N", "O", "S", "P", "F", "Cl", "Br", "I")
TOOLS: tuple[tuple[tuple[str, Tool], ...], ...] = (
    (*((symbol, Tool("atom", symbol)) for symbol in ATOMS), (SITE, Tool("atom", SITE))),
    (("Single", Tool("bond")), ("Double", Tool("bond", number=2)), ("Triple", Tool("bond", number=3))),
    (
        ("Benzene", Tool("ring", number=6, aromatic=True)),
        *((f"{size}-ring", Tool("ring", number=size)) for size in (6, 5, 4, 3)),
    ),
    (("+", Tool("charge")), ("\N{MINUS SIGN}", Tool("charge", number=-1)), ("Erase", Tool("erase"))),
)
"""The tools, side by side in groups."""
KEYS = {symbol[0].lower(): symbol for symbol in ("C", "N", "O", "S", "P", "F", "I", SITE)} | {"l": "Cl", "b": "Br"}
"""The elements by the keys that put them under the pointer."""


class Canvas(QWidget):
    """Where the structure is drawn: clicks and drags use the tool, keys put an element under the pointer."""

    changed = Signal()
    pasted = Signal(str)
    """A SMILES or a molfile, whose lines a line of text would lose."""

    def __init__(self) -> None:
        super().__init__()
        self.setMouseTracking(True)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setMinimumSize(360, 260)
        self.setCursor(Qt.CursorShape.CrossCursor)
        self.setAccessibleName("Drawing of the structure; the line below has it as SMILES")
        self.tool = TOOLS[0][0][1]
        self.sketch = Sketch()
        self._before: list[Sketch] = []
        self._after: list[Sketch] = []
        self._middle, self._unit = (0.0, 0.0), UNIT
        self._atom: int | None = None
        self._bond: int | None = None
        """The atom or the bond under the pointer."""
        self._start: QPointF | None = None
        self._at = QPointF()
        theme().changed.connect(self.update)

    # ------------------------------------------------------------------ the structure

    def show_sketch(self, sketch: Sketch) -> None:
        """Show another structure in the middle; it can be undone."""
        self.change(sketch)
        self._fit()

    def change(self, sketch: Sketch) -> None:
        """Take the next state of the structure."""
        if sketch != self.sketch:
            self._before.append(self.sketch)
            self._after.clear()
            self._take(sketch)

    def begin(self) -> None:
        """Start the steps here."""
        self._before.clear()

    @property
    def can_undo(self) -> bool:
        """Whether there is a step to take back."""
        return bool(self._before)

    @property
    def can_redo(self) -> bool:
        """Whether a step was taken back."""
        return bool(self._after)

    def undo(self) -> None:
        """Take the latest step back."""
        if self._before:
            self._after.append(self.sketch)
            self._take(self._before.pop())

    def redo(self) -> None:
        """Take back what was undone last."""
        if self._after:
            self._before.append(self.sketch)
            self._take(self._after.pop())

    def _take(self, sketch: Sketch) -> None:
        self.sketch = sketch
        inside = self.rect().adjusted(6, 6, -6, -6)
        if not all(inside.contains(self.place_of(atom).toPoint()) for atom in range(len(sketch.atoms))):
            self._fit()
        self._look(self._at)
        self.update()
        self.changed.emit()

    def _fit(self) -> None:
        """Bring the whole structure into the middle, smaller where it is too large."""
        xs, ys = [one.x for one in self.sketch.atoms] or [0.0], [one.y for one in self.sketch.atoms] or [0.0]
        self._middle = (min(xs) + max(xs)) / 2, (min(ys) + max(ys)) / 2
        across, up = max(xs) - min(xs) + 2 * EDGE, max(ys) - min(ys) + 2 * EDGE
        self._unit = min(UNIT, self.width() / across, self.height() / up)
        self.update()

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Keep the whole structure in sight."""
        super().resizeEvent(event)
        self._fit()

    # ------------------------------------------------------------------ the mouse and the keys

    def mousePressEvent(self, event: QMouseEvent) -> None:
        """Begin a click or a drag."""
        if event.button() == Qt.MouseButton.LeftButton:
            self._look(event.position())
            self._start = event.position()

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        """Ring what is under the pointer."""
        if self._start is None:
            self._look(event.position())
        self._at = event.position()
        self.update()

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        """Use the tool."""
        start, self._start = self._start, None
        if start is None or event.button() != Qt.MouseButton.LeftButton:
            return
        moved = event.position() - start
        if self._atom is not None and math.hypot(moved.x(), moved.y()) > DRAGGED:
            self.change(self._dragged(self._atom, event.position()))
        else:
            self.change(self._clicked(start))
        self._look(event.position())

    def leaveEvent(self, event: QEvent) -> None:
        """Ring nothing any more."""
        self._atom = self._bond = None
        self.update()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Put an element, an order or nothing under the pointer."""
        key, text = event.key(), event.text().lower()
        if event.matches(QKeySequence.StandardKey.Paste):
            self.pasted.emit(QGuiApplication.clipboard().text())
        elif key in (Qt.Key.Key_Delete, Qt.Key.Key_Backspace):
            self.change(self._used(Tool("erase")))
        elif text in KEYS and self._atom is not None:
            self.change(self._used(Tool("atom", KEYS[text])))
        elif text in ("1", "2", "3") and (self._atom is not None or self._bond is not None):
            self.change(self._used(Tool("bond", number=int(text))))
        elif text in ("+", "-") and self._atom is not None:
            self.change(self._used(Tool("charge", number=1 if text == "+" else -1)))
        else:
            super().keyPressEvent(event)

    def _clicked(self, at: QPointF) -> Sketch:
        if self._atom is not None or self._bond is not None:
            return self._used(self.tool)
        x, y = self._there(at)
        if self.tool.kind == "ring":
            return self.sketch.with_ring(self.tool.number, x, y, aromatic=self.tool.aromatic)
        if self.tool.kind == "atom":
            return self.sketch.placed(self.tool.symbol, x, y)
        if self.tool.kind == "bond":
            return self.sketch.placed("C", x, y).grown(len(self.sketch.atoms), order=self.tool.number)
        return self.sketch

    def _dragged(self, atom: int, to: QPointF) -> Sketch:
        """Bind an atom to the one where the pointer is, else to a new one in its direction."""
        order = self.tool.number if self.tool.kind == "bond" else 1
        x, y = self._there(to)
        other = self.sketch.nearest(x, y, TOUCHED)
        if other is not None:
            return self.sketch if other == atom else self.sketch.joined(atom, other, order)
        here = self.sketch.atoms[atom]
        symbol = self.tool.symbol if self.tool.kind == "atom" else "C"
        toward = round(math.atan2(y - here.y, x - here.x) / STEP) * STEP
        return self.sketch.grown(atom, symbol, order, toward)

    def _used(self, tool: Tool) -> Sketch:
        """Use a tool on the atom or the bond under the pointer."""
        sketch, atom, bond = self.sketch, self._atom, self._bond
        if atom is not None:
            if tool.kind == "erase":
                return sketch.without_atom(atom)
            if tool.kind == "charge":
                return sketch.charged(atom, tool.number)
            if tool.kind == "ring":
                return sketch.ring_at(atom, tool.number, aromatic=tool.aromatic)
            if tool.kind == "bond":
                return sketch.grown(atom, order=tool.number)
            # A site goes on an atom of the core; another element takes the atom's place.
            inside = tool.symbol == SITE and len(sketch.neighbours(atom)) > 1
            same = tool.symbol == sketch.atoms[atom].symbol
            return sketch.grown(atom, tool.symbol) if inside or same else sketch.put(atom, tool.symbol)
        if bond is not None:
            if tool.kind == "erase":
                return sketch.without_bond(bond)
            if tool.kind == "ring":
                return sketch.ring_on(bond, tool.number, aromatic=tool.aromatic)
            order = sketch.bonds[bond].order
            asked = tool.number if tool.kind == "bond" else order
            return sketch.ordered(bond, asked if asked != order else order % 3 + 1)
        return sketch

    # ------------------------------------------------------------------ places

    def _there(self, at: QPointF) -> tuple[float, float]:
        """Return the coordinates of a place on the widget."""
        return (
            self._middle[0] + (at.x() - self.width() / 2) / self._unit,
            self._middle[1] - (at.y() - self.height() / 2) / self._unit,
        )

    def place_of(self, atom: int) -> QPointF:
        """Return where an atom is on the widget."""
        one = self.sketch.atoms[atom]
        across, up = (one.x - self._middle[0]) * self._unit, (one.y - self._middle[1]) * self._unit
        return QPointF(self.width() / 2 + across, self.height() / 2 - up)

    def _look(self, at: QPointF) -> None:
        """Find what is under the pointer."""
        self._at = at
        x, y = self._there(at)
        self._atom = self.sketch.nearest(x, y, TOUCHED)
        self._bond = self.sketch.nearest_bond(x, y, 0.7 * TOUCHED) if self._atom is None else None

    # ------------------------------------------------------------------ painting

    def paintEvent(self, event: QPaintEvent) -> None:
        """Paint the structure, what is under the pointer, and a bond that is being drawn."""
        from PySide6.QtSvg import QSvgRenderer

        from assaypilot.engine.figures.aligned import drawn_in_place

        colours, painter = theme().colours, QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(QColor(colours.accent if self.hasFocus() else colours.line))
        painter.setBrush(QColor(colours.page))
        painter.drawRoundedRect(QRectF(self.rect()).adjusted(0.5, 0.5, -0.5, -0.5), 8, 8)
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(QColor(colours.soft_accent))
        reach = TOUCHED * self._unit
        if self._atom is not None:
            painter.drawEllipse(self.place_of(self._atom), reach, reach)
        if self._bond is not None:
            one = self.sketch.bonds[self._bond]
            painter.setPen(QPen(QColor(colours.soft_accent), reach, Qt.PenStyle.SolidLine, Qt.PenCapStyle.RoundCap))
            painter.drawLine(self.place_of(one.first), self.place_of(one.second))
        if self.sketch.atoms:
            size = self.width(), self.height()
            svg = drawn_in_place(self.sketch.molecule, *size, unit=self._unit, middle=self._middle, dark=colours.dark)
            QSvgRenderer(QByteArray(svg.encode())).render(painter)
        painter.setBrush(Qt.BrushStyle.NoBrush)
        painter.setPen(QPen(QColor(colours.error), 1.5))
        for atom in self.sketch.wrong:
            painter.drawEllipse(self.place_of(atom), reach, reach)
        if self._start is not None and self._atom is not None:
            moved = self._at - self._start
            if math.hypot(moved.x(), moved.y()) > DRAGGED:
                painter.setPen(QPen(QColor(colours.accent), 1.5, Qt.PenStyle.DashLine))
                painter.drawLine(self.place_of(self._atom), self._at)
        painter.end()


class SketchDialog(QDialog):
    """Draw a structure, or type it; ``smiles`` is what was drawn when the dialog is accepted."""

    def __init__(self, title: str, go: str, start: str, parent: QWidget | None) -> None:
        super().__init__(parent)
        self.setWindowTitle(title)
        column = column_of(holder=self, margins=(22, 18, 22, 16), spacing=10)
        self.canvas = Canvas()
        self._group = QButtonGroup(self)
        self.tools: dict[str, QPushButton] = {}
        """The buttons of the tools, by their words."""
        holder = QWidget()
        flow = FlowRow(holder, spacing=14)
        for group in TOOLS:
            part = QWidget()
            row = row_of(holder=part, spacing=0)
            for place, (words, tool) in enumerate(group):
                row.addWidget(self._tool(words, tool, place, len(group)))
            flow.addWidget(part)
        self.undo, self.redo = button("Undo", then=self.canvas.undo), button("Redo", then=self.canvas.redo)
        self.tidy = button("Tidy", tip="Lays the structure out again", then=self._tidy)
        self.clear = button("Clear", then=lambda: self.canvas.change(Sketch()))
        self.undo.setShortcut("Ctrl+Z")
        self.redo.setShortcut("Ctrl+Y")
        about = "Click to add, drag from an atom for a bond; keys such as N or 2 change what is under the pointer."
        self.smiles_line = line_edit("The structure as SMILES", hint="SMILES", tip="What is typed or pasted is drawn")
        self.smiles_line.editingFinished.connect(self._typed)
        self.problem = label("", "problem")
        buttons, self.go = go_or_cancel(go, self)
        put(column, holder, label(about, "muted", wrap=True), (self.canvas, 1), self.smiles_line, self.problem)
        put(column, row_of(self.undo, self.redo, self.tidy, self.clear, STRETCH, buttons, spacing=8))
        next(iter(self.tools.values())).setChecked(True)
        self.canvas.changed.connect(self._show)
        self.canvas.pasted.connect(self.draw)
        resize_within_screen(self, round(720 * theme().scale), round(600 * theme().scale))
        self._show()
        if start:
            self.draw(start)
            self.canvas.begin()
            self._show()
        self.canvas.setFocus()

    @property
    def smiles(self) -> str:
        """The structure; AssayPilotError for an atom with too many bonds."""
        return self.canvas.sketch.smiles

    def _tool(self, words: str, tool: Tool, place: int, size: int) -> QPushButton:
        made = button(words, then=lambda: self._use(tool))
        made.setProperty("role", "segment")
        made.setProperty("place", "first" if place == 0 else "last" if place == size - 1 else "middle")
        made.setCheckable(True)
        if tool.symbol == SITE:
            made.setToolTip("A site: where substituents go; as a filter any atom")
        self._group.addButton(made)
        self.tools[words] = made
        return made

    def _use(self, tool: Tool) -> None:
        self.canvas.tool = tool
        self.canvas.setFocus()

    def draw(self, text: str) -> None:
        """Draw a SMILES or a molfile, or show why that is impossible."""
        try:
            self.canvas.show_sketch(Sketch.of(text))
            self._show()
        except AssayPilotError as error:
            self.problem.setText(" ".join(error_words(error)))
            self.go.setEnabled(False)

    def _typed(self) -> None:
        text = self.smiles_line.text().strip()
        if self.smiles_line.isModified():
            self.smiles_line.setModified(False)
            if text:
                self.draw(text)
            else:
                self.canvas.change(Sketch())

    def _tidy(self) -> None:
        self.draw(self.smiles_line.text())

    def _show(self) -> None:
        """Show the SMILES of what is drawn, or what is wrong with it."""
        problem = smiles = ""
        try:
            smiles = self.smiles
        except AssayPilotError as error:
            problem = " ".join(error_words(error))
        self.smiles_line.setText(smiles)
        self.problem.setText(problem)
        self.undo.setEnabled(self.canvas.can_undo)
        self.redo.setEnabled(self.canvas.can_redo)
        for made in (self.go, self.tidy):
            made.setEnabled(bool(smiles))
        self.clear.setEnabled(bool(self.canvas.sketch.atoms))


def ask_for_structure(title: str, go: str, start: str, parent: QWidget, then: Callable[[str], object]) -> SketchDialog:
    """Return the open dialog; ``then`` takes the SMILES that was drawn."""
    from ..widgets.layout import show_dialog

    dialog = SketchDialog(title, go, start, parent)
    show_dialog(dialog, lambda: then(dialog.smiles))
    return dialog
