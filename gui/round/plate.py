"""A plate: its wells, controls, and how they look by what has come back, by value, or by what is decided."""

from __future__ import annotations

import textwrap
from collections.abc import Callable, Collection, Iterable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Literal

from PySide6.QtCore import QEvent, QPointF, QRectF, QSize, Qt
from PySide6.QtGui import QBrush, QColor, QHelpEvent, QMouseEvent, QPainter, QPaintEvent, QPen
from PySide6.QtWidgets import QSizePolicy, QToolTip, QWidget

from assaypilot.engine.campaign.phrases import joined, many
from assaypilot.engine.campaign.state import Status
from assaypilot.engine.domain.endpoint import Endpoint
from assaypilot.engine.domain.plates.layout import Layout, Placed, Plate
from assaypilot.engine.domain.plates.wells import Well, row_letters

from ..resources.theme import theme
from ..tables.rows import plain_tip
from .entry import entered_text
from .round_columns import Slot
from .round_rows import RoundModel

LONGEST = 22
"""Letters of an endpoint's name in the legend."""
STATE, DECISION, VALUE = "state", "decision", "value"
"""What wells are coloured by; a value is ``value`` and the endpoint's place in the round."""

Kind = Literal["waiting", "missing", "back", "partly", "excluded", "asked", "wrong"]
WORDS: dict[Kind, str] = {
    "waiting": "pending",
    "back": "back",
    "partly": "partly back",
    "asked": "asked about",
    "wrong": "not kept",
    "excluded": "excluded",
    "missing": "never came",
}
"""The kinds as the legend has them, in its order."""


@dataclass(frozen=True, slots=True)
class Look:
    """One well."""

    kind: Kind
    line: int
    """Line of the list, from 0."""
    words: str
    """What stands in the well, in a sentence."""
    text: str = ""
    """The value, where wells are coloured by it."""
    share: float | None = None
    """How far up the scale of values it lies, 0 to 1."""
    status: int = 0
    """Status code of the compound."""


@dataclass(frozen=True, slots=True)
class Looks:
    """The wells of one plate, and what their colours mean."""

    by: str
    wells: dict[Well, Look]
    low: str = ""
    """The lowest and the highest value of the round, where wells are coloured by it."""
    high: str = ""
    scale: str = ""

    @property
    def kinds(self) -> list[Kind]:
        """The kinds there are, in the order of the legend."""
        there = {look.kind for look in self.wells.values()}
        return [kind for kind in WORDS if kind in there]


def looks_of(model: RoundModel, status: Status, plate: Plate, by: str, questioned: Collection[int] = ()) -> Looks:
    """The wells of a plate; ``questioned``: numbers of measurements that are asked about."""
    shown = model.round
    assert shown is not None
    lines = {item.compound: line for line, item in enumerate(shown.items)}
    place = int(by.removeprefix(VALUE)) if by.startswith(VALUE) else None
    low, high = (0.0, 0.0) if place is None else _range(model, place)
    refused = model.refused
    wells: dict[Well, Look] = {}
    for placed in plate.placed:
        line = lines[placed.compound]
        cells = [(shown.endpoints.index(endpoint), placed.replicate - 1) for endpoint in placed.endpoints]
        slots = [(k, model.slot(line, k, at) or Slot()) for k, at in cells]
        wrong = any((line, *cell) in refused for cell in cells)
        kind = _kind([slot for _, slot in slots], questioned, wrong=wrong, open_=shown.state == "open")
        own = next((one for k, slot in slots if k == place and (one := slot.kept or slot.within) is not None), None)
        share = None if own is None else 1.0 if high <= low else (own.value - low) / (high - low)
        text = "" if own is None else f"{'' if own.relation == '=' else own.relation}{own.value:.1f}"
        words = _words(model, status, placed, line, slots, kind)
        status_code = int(status.candidates.status[placed.compound])
        look = Look(kind, line, words, text, share, status_code)
        wells |= dict.fromkeys(placed.wells, look)
    scale = "" if place is None else textwrap.shorten(model.endpoints[place].scale_name, LONGEST, placeholder=" …")
    return Looks(by, wells, f"{low:.2f}", f"{high:.2f}", scale)


def _range(model: RoundModel, place: int) -> tuple[float, float]:
    """The lowest and the highest value of an endpoint in the round."""
    rows = range(len(model.values))
    values = [one.value for row in rows for one in model.values_of(row, place) if one.excluded is None]
    return (min(values), max(values)) if values else (0.0, 0.0)


def _kind(slots: list[Slot], questioned: Collection[int], *, wrong: bool, open_: bool) -> Kind:
    """What is to be seen of the cells that are measured in one well."""
    if wrong:
        return "wrong"
    ones = [slot.kept or slot.within for slot in slots]
    if any(one is not None and one.number in questioned for one in ones):
        return "asked"
    if any(slot.excluded and slot.empty for slot in slots):
        return "excluded"
    if all(one is not None for one in ones) and ones:
        return "back"
    if any(one is not None for one in ones):
        return "partly"
    return "waiting" if open_ else "missing"


def _words(
    model: RoundModel, status: Status, placed: Placed, line: int, slots: list[tuple[int, Slot]], kind: Kind
) -> str:
    """``line 5, BZ-137, measurement 1: 6.51``."""
    name = status.library.ids[placed.compound]
    said = [part for k, slot in slots if (part := _value(slot, model.endpoints[k], several=len(slots) > 1))]
    text = f"line {line + 1}, {name}, measurement {placed.replicate}"
    state = "" if kind == "back" else f" ({WORDS[kind]})"
    return f"{text}: {', '.join(said)}{state}" if said else f"{text}: {WORDS[kind]}"


def _value(slot: Slot, endpoint: Endpoint, *, several: bool) -> str:
    one = slot.kept or slot.within or (slot.excluded[-1] if slot.excluded else None)
    if one is None:
        return ""
    text = entered_text(one, endpoint)
    return f"{endpoint.name} {text}" if several else text


Draw = Callable[[QPainter, QRectF], None]
"""Draws a sample of the legend into a box."""

EDGE = 22
"""Pixels for the letters at the left and the numbers on top."""
LEGEND = 20
"""Pixels of a line of the legend."""
MOST_OF_A_WELL = 1.3
"""How much larger the number in a well may be for those who read large text: it still fits."""
SAMPLE = 16
"""Pixels of a well in the legend."""
PATTERNS = (
    Qt.BrushStyle.SolidPattern, Qt.BrushStyle.NoBrush, Qt.BrushStyle.BDiagPattern, Qt.BrushStyle.Dense6Pattern,
)  # fmt: skip
"""How the squares of one control differ from those of the next."""
SHOWN_LETTERS = 9
"""Pixels of a well from which on the number of its compound has room."""


def short_names(names: Iterable[str]) -> dict[str, str]:
    """Each name by as few of its first letters as tell it from the others: ``max`` and ``min`` are ma and mi."""
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
        self._ranks: dict[int, int] = {}
        self._placed: tuple[tuple[int, str], list[tuple[int, float, Draw, str]]] | None = None
        """The legend laid out for a width and a font; every well asks how much room it leaves."""
        self.under: int | None = None
        """The compound under the mouse."""
        theme().changed.connect(self.update)
        self.setAccessibleName("Plate")

    def show_plate(self, status: Status, layout: Layout | None, number: int, ranks: dict[int, int]) -> None:
        """Show a plate of a layout, by its place among them; ``ranks``: the line of each compound."""
        self._status, self._layout, self._number, self._ranks = status, layout, number, ranks
        plate = self.plate
        self.contents = {} if plate is None else plate.contents()
        self._controls = {} if layout is None else layout.use.control_wells()
        self._short = short_names(self._controls.values())
        self._placed = None
        self.under = None
        words = "" if plate is None or layout is None else f"{plate.name}: {plate_words(plate, layout, status)}"
        self.setAccessibleDescription(words)
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
        """What stands in a well."""
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
        """The smallest that can be read."""
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
        """The well at a place of the widget."""
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
            painter.drawText(QRectF(left - EDGE, top + row * step - 6, EDGE - 3, step + 12), centre, row_letters(row))

    def _paint_well(self, painter: QPainter, well: Well) -> None:
        colours, box = theme().colours, self.box(well)
        if well in self._controls:
            # A control is a square with its letter, so that nobody has to tell it by its colour.
            self._paint_control(painter, box, self._controls[well])
            return
        if well not in self.contents:
            painter.setPen(QPen(QColor(colours.line), 1))
            painter.setBrush(Qt.BrushStyle.NoBrush)
            painter.drawEllipse(box)
            return
        compound = self.contents[well][0].compound
        lit = compound == self.under
        painter.setPen(QPen(QColor(colours.accent), 2.0 if lit else 1.0))
        painter.setBrush(QColor(colours.accent if lit else colours.soft_accent))
        painter.drawEllipse(box)
        ink = colours.on_accent if lit else colours.text
        self._letters(painter, box, str(self._ranks.get(compound, "")), ink)

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
        """What the shapes mean, in order: how each is drawn, and in words."""
        yield self._sample_used, "line of the list"
        yield from self._controls_legend()
        yield self._sample_empty, "empty"

    def _controls_legend(self) -> Iterator[tuple[Draw, str]]:
        for name in self._short:
            yield partial(self._sample_control, name), name

    def _sample_used(self, painter: QPainter, box: QRectF) -> None:
        painter.setPen(QPen(QColor(theme().colours.accent), 1))
        painter.setBrush(QColor(theme().colours.soft_accent))
        painter.drawEllipse(box)
        self._letters(painter, box, "1", theme().colours.text)

    def _sample_control(self, name: str, painter: QPainter, box: QRectF) -> None:
        self._paint_control(painter, box, name)

    def _sample_empty(self, painter: QPainter, box: QRectF) -> None:
        painter.setPen(QPen(QColor(theme().colours.line), 1))
        painter.setBrush(Qt.BrushStyle.NoBrush)
        painter.drawEllipse(box)

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

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        """Light all wells of the compound under the mouse."""
        well = self.well_at(event.position())
        under = self.contents[well][0].compound if well is not None and well in self.contents else None
        if under != self.under:
            self.under = under
            self.update()

    def leaveEvent(self, event: QEvent) -> None:
        """Light none."""
        self.under = None
        self.update()

    def event(self, event: QEvent) -> bool:
        """Whether it was dealt with; says what stands in the well under the mouse."""
        if isinstance(event, QHelpEvent) and event.type() == QEvent.Type.ToolTip:
            well = self.well_at(QPointF(event.pos()))
            QToolTip.showText(event.globalPos(), "" if well is None else plain_tip(self.tip(well)), self)
            return True
        return super().event(event)
