"""A plate, painted: its wells, its controls and what the shapes mean."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import partial

from PySide6.QtCore import QEvent, QPointF, QRectF, QSize, Qt
from PySide6.QtGui import QBrush, QColor, QHelpEvent, QPainter, QPaintEvent, QPen, QPolygonF
from PySide6.QtWidgets import QSizePolicy, QToolTip, QWidget

from assaypilot.engine.campaign.state import Status
from assaypilot.engine.domain.plates import Layout, Placed, Plate, Well
from assaypilot.engine.text import in_letters, joined, many

from ..resources.theme import blend, theme
from ..tables.rows import plain_tip
from .plate_looks import LINES, VALUE, WORDS, Look, Looks, unvalued

Draw = Callable[[QPainter, QRectF], None]
"""Draws a sample of the legend into a box."""

EDGE = 22
"""Pixels for the letters at the left and the numbers on top."""
LEGEND = 20
"""Pixels of a line of the legend."""
MOST_OF_A_WELL = 1.3
"""How much larger the number in a well may be with large text: it still fits."""
SAMPLE = 16
"""Pixels of a well in the legend."""
PATTERNS = (
    Qt.BrushStyle.SolidPattern, Qt.BrushStyle.NoBrush, Qt.BrushStyle.BDiagPattern, Qt.BrushStyle.Dense6Pattern,
)  # fmt: skip
"""How the squares of one control differ from those of the next."""
NUMBERED = 17.0
"""Pixels of a well large enough for a number; in smaller ones the size of the dot shows the value."""
SHOWN_LETTERS = 9
"""Pixels of a well from which on the number of its compound has room."""


def short_names(names: Iterable[str]) -> dict[str, str]:
    """Return the shortest distinct beginning of each name: ``max`` and ``min`` are ma and mi."""
    known = list(dict.fromkeys(names))

    def short(name: str) -> str:
        for length in range(1, len(name)):
            if not any(other != name and other.startswith(name[:length]) for other in known):
                return name[:length]
        return name

    return {name: short(name) for name in known}


def plate_words(plate: Plate, layout: Layout, status: Status) -> str:
    """``48 measurements of pIC50, 16 wells with controls, 32 empty``."""
    controls = len(layout.use.control_wells())
    used = sum(len(one.wells) for one in plate.placed)
    free = layout.use.format.wells - controls - used
    names = joined([status.endpoints[k].name for k in plate.endpoints])
    parts = [f"{many(len(plate.placed), 'measurement')} of {names}"]
    if controls:
        parts.append(f"{many(controls, 'well')} with controls")
    parts.append(f"{free:,} empty")
    return ", ".join(parts)


class PlateView(QWidget):
    """One plate of a layout."""

    def __init__(self) -> None:
        super().__init__()
        self.setMouseTracking(True)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Expanding)
        self._status: Status | None = None
        self._layout: Layout | None = None
        self._number = 0
        self.contents: dict[Well, tuple[Placed, int]] = {}
        self._controls: dict[Well, str] = {}
        self._short: dict[str, str] = {}
        self.looks: Looks | None = None
        self.chosen: frozenset[int] = frozenset()
        """The compounds that are chosen."""
        self._placed: tuple[tuple[int, str], list[tuple[int, float, Draw, str]]] | None = None
        """The legend laid out for a width and a font; every well needs to know its height."""
        theme().changed.connect(self.update)
        self.setAccessibleName("Plate")

    def show_plate(self, status: Status, layout: Layout | None, number: int) -> None:
        """Show a plate of a layout, by its place among them."""
        self._status, self._layout, self._number = status, layout, number
        plate = self.plate
        self.contents = {} if plate is None else plate.contents()
        self._controls = {} if layout is None else layout.use.control_wells()
        self._short = short_names(self._controls.values())
        self._placed = None
        words = "" if plate is None or layout is None else f"{plate.name}: {plate_words(plate, layout, status)}"
        self.setAccessibleDescription(words)
        self.update()

    def show_looks(self, looks: Looks | None) -> None:
        """Colour the wells."""
        self.looks = looks
        self._placed = None
        self.update()

    @property
    def plate(self) -> Plate | None:
        """The plate shown."""
        if self._layout is None or not 0 <= self._number < len(self._layout.plates):
            return None
        return self._layout.plates[self._number]

    @property
    def wells(self) -> int:
        """How many wells the plate has; 0 without one."""
        return 0 if self._layout is None else self._layout.use.format.wells

    def tip(self, well: Well) -> str:
        """Return the text of a well."""
        if well in self._controls:
            return f"{well}: {self._controls[well]}"
        if well not in self.contents or self._status is None:
            return f"{well}: empty"
        placed, part = self.contents[well]
        text = f"{well}: {self._status.library.ids[placed.compound]}, measurement {placed.replicate}"
        return f"{text}, well {part} of {len(placed.wells)}" if len(placed.wells) > 1 else text

    def sizeHint(self) -> QSize:
        """Room for a 96-well plate."""
        return QSize(460, 330)

    def minimumSizeHint(self) -> QSize:
        """Return the smallest that can be read."""
        return QSize(240, 190)

    # ------------------------------------------------------------------ geometry

    def _step(self) -> tuple[float, float, float]:
        """Pixels from well to well, and where the first one's corner is."""
        assert self._layout is not None
        shape = self._layout.use.format
        wide, high = self.width() - EDGE - 2, self.height() - EDGE - self.legend_height(self.width())
        step = max(min(wide / shape.columns, high / shape.rows), 1.0)
        return step, EDGE + (wide - step * shape.columns) / 2, float(EDGE)

    def height_for(self, width: int) -> int:
        """Pixels a plate of this width takes, legend and all."""
        if self._layout is None:
            return 0
        shape = self._layout.use.format
        return int(EDGE + (width - EDGE - 2) / shape.columns * shape.rows + self.legend_height(width))

    def box(self, well: Well) -> QRectF:
        """Return where a well is drawn."""
        step, left, top = self._step()
        gap = min(2.0, step * 0.1)
        return QRectF(left + well.column * step + gap, top + well.row * step + gap, step - 2 * gap, step - 2 * gap)

    def well_at(self, at: QPointF) -> Well | None:
        """Return the well at a place of the widget."""
        if self._layout is None:
            return None
        step, left, top = self._step()
        shape = self._layout.use.format
        row, column = int((at.y() - top) // step), int((at.x() - left) // step)
        return Well(row, column) if 0 <= row < shape.rows and 0 <= column < shape.columns else None

    # ------------------------------------------------------------------ Qt

    def paintEvent(self, event: QPaintEvent) -> None:
        """Paint wells, their contents and the legend."""
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        if self._layout is not None:
            self._paint_edges(painter)
            shape = self._layout.use.format
            for row in range(shape.rows):
                for column in range(shape.columns):
                    self._paint_well(painter, Well(row, column))
            self._paint_legend(painter)
        painter.end()

    def _paint_edges(self, painter: QPainter) -> None:
        assert self._layout is not None
        step, left, top = self._step()
        shape = self._layout.use.format
        font = self.font()
        font.setPixelSize(max(7, min(round(11 * theme().scale), EDGE - 5, int(step * 0.7))))
        painter.setFont(font)
        painter.setPen(QColor(theme().colours.muted))
        centre = int(Qt.AlignmentFlag.AlignCenter)
        every = 1 if step > 13 else 2 if step > 8 else 4
        for column in range(0, shape.columns, every):
            painter.drawText(QRectF(left + column * step - 10, 0, step + 20, EDGE - 3), centre, str(column + 1))
        for row in range(0, shape.rows, every):
            painter.drawText(QRectF(left - EDGE, top + row * step - 6, EDGE - 3, step + 12), centre, in_letters(row))

    def _paint_well(self, painter: QPainter, well: Well) -> None:
        box = self.box(well)
        look = None if self.looks is None else self.looks.wells.get(well)
        if well in self._controls:
            # A control is a square with its letter, so that it is recognised without colour.
            self._paint_control(painter, box, self._controls[well])
        elif look is None:
            self._paint_empty(painter, box)
        else:
            self._paint_look(painter, self._ring(painter, well, box), look)

    def _ring(self, painter: QPainter, well: Well, box: QRectF) -> QRectF:
        """Draw a frame around the wells of a chosen compound, and return the room inside it."""
        if self.contents[well][0].compound not in self.chosen:
            return box
        colours, around = theme().colours, min(2.0, box.width() * 0.09)
        painter.setPen(QPen(QColor(colours.text), 1.6))
        painter.setBrush(QColor(colours.hover))
        painter.drawRoundedRect(box.adjusted(-around, -around, around, around), 3, 3)
        return box.adjusted(around, around, -around, -around)

    def _paint_look(self, painter: QPainter, box: QRectF, look: Look) -> None:
        by = "" if self.looks is None else self.looks.by
        if by.startswith(VALUE) and look.share is not None and unvalued(look) is None:
            self._paint_value(painter, box, look.share, look.text, numbered=box.width() >= NUMBERED)
        else:
            self._paint_kind(painter, box, look.kind, "" if by.startswith(VALUE) else str(look.line + 1))

    def _paint_empty(self, painter: QPainter, box: QRectF) -> None:
        painter.setPen(QPen(QColor(theme().colours.line), 1))
        painter.setBrush(Qt.BrushStyle.NoBrush)
        painter.drawEllipse(box)

    def _paint_value(self, painter: QPainter, box: QRectF, share: float, text: str, *, numbered: bool) -> None:
        """Draw the well darker, and without room for the number larger, the higher its value."""
        colours = theme().colours
        ground = QColor(blend(colours.accent, colours.soft_accent, share))
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

    def _paint_control(self, painter: QPainter, box: QRectF, name: str) -> None:
        colours, place = theme().colours, list(self._short).index(name)
        pattern = PATTERNS[place % len(PATTERNS)]
        painter.setPen(QPen(QColor(colours.question_edge), 1.2))
        solid = pattern == Qt.BrushStyle.SolidPattern
        painter.setBrush(QBrush(QColor(colours.question if solid else colours.question_edge), pattern))
        painter.drawRect(box)
        self._letters(painter, box, self._short[name], colours.text)

    def _letters(self, painter: QPainter, box: QRectF, text: str, colour: str) -> None:
        if box.width() < SHOWN_LETTERS or not text:
            return
        font = self.font()
        share = (0.5 if len(text) < 3 else 0.4) * min(theme().scale, MOST_OF_A_WELL)
        font.setPixelSize(max(6, int(box.height() * share)))
        painter.setFont(font)
        painter.setPen(QColor(colour))
        painter.drawText(box, int(Qt.AlignmentFlag.AlignCenter), text)

    def legend(self) -> Iterator[tuple[Draw, str]]:
        """Yield what the shapes mean, in order: how each is drawn, and in words."""
        looks = self.looks or Looks(LINES, {})
        valued = looks.by.startswith(VALUE)
        if looks.by == LINES:
            yield partial(self._paint_kind, kind="waiting", number="1"), "line of the list"
        else:
            bare = {unvalued(look) for look in looks.wells.values()} if valued else set(looks.kinds)
            if valued and any(unvalued(look) is None for look in looks.wells.values()):
                for share, words in ((0.0, looks.low), (1.0, f"{looks.high} {looks.scale}")):
                    yield partial(self._sample_value, share=share), words
            for kind in looks.kinds:
                if kind in bare:
                    yield partial(self._paint_kind, kind=kind, number="" if valued else "1"), WORDS[kind]
        for name in self._short:
            yield partial(self._paint_control, name=name), name
        yield self._paint_empty, "empty"

    def _sample_value(self, painter: QPainter, box: QRectF, share: float) -> None:
        self._paint_value(painter, box, share, "", numbered=self.box(Well(0, 0)).width() >= NUMBERED)

    def legend_height(self, width: int) -> int:
        """Pixels of the legend, which takes as many lines as it needs."""
        places = self._legend_places(width)
        line = max(LEGEND, self.fontMetrics().height() + 4)
        return 8 + line * (1 + max((place[0] for place in places), default=0))

    def _legend_places(self, width: int) -> list[tuple[int, float, Draw, str]]:
        """Line and left edge of each entry of the legend, its sample and its words."""
        key = (width, self.font().key())
        if self._placed is not None and self._placed[0] == key:
            return self._placed[1]
        metrics, x, line = self.fontMetrics(), float(EDGE), 0
        found: list[tuple[int, float, Draw, str]] = []
        for draw, words in self.legend():
            needed = SAMPLE + 6 + metrics.horizontalAdvance(words)
            if x > EDGE and x + needed > width - 2:
                x, line = float(EDGE), line + 1
            found.append((line, x, draw, words))
            x += needed + 14
        self._placed = (key, found)
        return found

    def _paint_legend(self, painter: QPainter) -> None:
        """Paint what the shapes mean."""
        line = max(LEGEND, self.fontMetrics().height() + 4)
        top = self.height() - self.legend_height(self.width()) + 6
        for row, x, draw, words in self._legend_places(self.width()):
            box = QRectF(x, top + row * line + (line - SAMPLE) / 2, SAMPLE, SAMPLE)
            draw(painter, box)
            painter.setFont(self.font())
            painter.setPen(QColor(theme().colours.muted))
            words_box = QRectF(x + SAMPLE + 6, top + row * line, self.width(), line)
            painter.drawText(words_box, int(Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignLeft), words)

    def event(self, event: QEvent) -> bool:
        """Show the text of the well under the mouse; return whether the event is handled."""
        if isinstance(event, QHelpEvent) and event.type() == QEvent.Type.ToolTip:
            well = self.well_at(QPointF(event.pos()))
            QToolTip.showText(event.globalPos(), "" if well is None else plain_tip(self.tip(well)), self)
            return True
        return super().event(event)
