"""Plates drawn by hand on a page: wells with letters and numbers, and a legend drawn by the same hand."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from reportlab.lib.colors import Color, HexColor
from reportlab.pdfbase.pdfmetrics import stringWidth
from reportlab.pdfgen.canvas import Canvas

from ..domain.plates.layout import Layout, Placed, Plate
from ..domain.plates.wells import Well, row_letters
from .pdf_pages import BOLD, INK, LINE, MUTED, REGULAR

_RIM = 15.0
"""Points for the letters of the rows and the numbers of the columns."""
_LARGEST = 36.0
"""Points from well to well at most."""
_FILLED = 0.84
"""A well's diameter from well to well."""
_MOST_ROUND = 96
"""Plates with more wells than these have square ones."""
_SAMPLE, _LINE, _WORDS = 20.0, 24.0, 7.5
"""Points of a well in the legend, from line to line, and of its words."""

_BLUE, _PALE, _FAINT, _WHITE = HexColor("#1f5fbf"), HexColor("#dbe8fb"), HexColor("#f0f5fd"), HexColor("#ffffff")
_GREY = HexColor("#b9c1cc")
_CONTROLS = (("#f2b84b", "#1c2430"), ("#4a5566", "#ffffff"), ("#c7b2e8", "#1c2430"), ("#0b7a5c", "#ffffff"))
"""Ground and ink of the controls in their order; they come again where there are more, the letters tell them apart."""


@dataclass(frozen=True, slots=True)
class _Look:
    """How a well is drawn."""

    ground: Color | None
    edge: Color
    text: str = ""
    small: str = ""
    """Below the text."""
    ink: Color = INK
    dot: bool = False
    """Only a dot: nothing goes in there."""


_EMPTY, _CLOSED, _FURTHER = _Look(_WHITE, _GREY), _Look(None, _GREY, dot=True), _Look(_WHITE, _BLUE)


def plate_height(layout: Layout, width: float) -> float:
    """Points a plate takes on a page so wide."""
    return _RIM + layout.use.format.rows * _step(layout, width)


def _step(layout: Layout, width: float) -> float:
    return min(_LARGEST, (width - _RIM) / layout.use.format.columns)


def draw_plate(
    canvas: Canvas, top: float, *, layout: Layout, plate: Plate, ranks: Mapping[int, int], x: float, width: float
) -> None:
    """Draw a plate from (x, top) downwards: each measurement has the rank of its compound in its first well.

    A measurement of several wells lies on a ground of its own. Where a compound has several measurements, r2 below
    its rank is the second one.
    """
    step, shape = _step(layout, width), layout.use.format
    left, upper = x + _RIM, top - _RIM
    canvas.saveState()
    canvas.setFillColor(MUTED)
    size = min(8.0, 0.5 * step)
    canvas.setFont(REGULAR, size)
    for column in range(shape.columns):
        canvas.drawCentredString(left + (column + 0.5) * step, upper + 4, str(column + 1))
    for row in range(shape.rows):
        canvas.drawCentredString(x + _RIM / 2, upper - (row + 0.5) * step - 0.35 * size, row_letters(row))
    canvas.setStrokeColor(LINE)
    canvas.setLineWidth(0.8)
    canvas.roundRect(left, upper - shape.rows * step, shape.columns * step, shape.rows * step, 0.3 * step)
    for one in plate.placed:
        if len(one.wells) > 1:
            _draw_ground(canvas, one, left, upper, step)
    looks = _looks(layout, plate, ranks)
    for row in range(shape.rows):
        for column in range(shape.columns):
            look = looks.get(Well(row, column)) or (_EMPTY if _is_open(layout, row, column) else _CLOSED)
            _draw_well(canvas, look, left + (column + 0.5) * step, upper - (row + 0.5) * step, step, layout)
    canvas.restoreState()


def _looks(layout: Layout, plate: Plate, ranks: Mapping[int, int]) -> dict[Well, _Look]:
    """How the wells in use are drawn."""
    looks = {well: _control(layout, name) for well, name in layout.use.control_wells().items()}
    several = _several(layout)
    for well, (placed, point) in plate.contents().items():
        replicate = f"r{placed.replicate}" if placed.compound in several else ""
        looks[well] = _first(ranks[placed.compound], replicate) if point == 1 else _FURTHER
    return looks


def _first(rank: int, replicate: str) -> _Look:
    return _Look(_PALE, _BLUE, str(rank), replicate)


def _control(layout: Layout, name: str) -> _Look:
    names = [control.name for control in layout.use.controls]
    place = names.index(name)
    ground, ink = _CONTROLS[place % len(_CONTROLS)]
    return _Look(HexColor(ground), HexColor(ink), _letters(names)[place], ink=HexColor(ink))


def _letters(names: Sequence[str]) -> list[str]:
    """Two letters for each control: first and last of its name where that tells them apart, else C1, C2, ..."""
    short = [f"{name.strip()[0]}{name.strip()[-1]}".upper() for name in names]
    return short if len(set(short)) == len(short) else [f"C{place}" for place in range(1, len(names) + 1)]


def _several(layout: Layout) -> set[int]:
    """Return the compounds that are measured more than once."""
    return {one.compound for plate in layout.plates for one in plate.placed if one.replicate > 1}


def _is_open(layout: Layout, row: int, column: int) -> bool:
    """Whether a well may hold a measurement by its place alone."""
    shape = layout.use.format
    return layout.use.edge or (0 < row < shape.rows - 1 and 0 < column < shape.columns - 1)


def _draw_ground(canvas: Canvas, one: Placed, left: float, upper: float, step: float) -> None:
    """Draw what the wells of one measurement lie on."""
    columns, rows = [well.column for well in one.wells], [well.row for well in one.wells]
    inset = 0.03 * step
    canvas.setFillColor(_FAINT)
    canvas.setStrokeColor(_BLUE)
    canvas.setLineWidth(min(0.7, 0.04 * step))
    canvas.roundRect(
        left + min(columns) * step + inset,
        upper - (max(rows) + 1) * step + inset,
        (max(columns) - min(columns) + 1) * step - 2 * inset,
        (max(rows) - min(rows) + 1) * step - 2 * inset,
        0.25 * step,
        fill=1,
    )


def _draw_well(canvas: Canvas, look: _Look, x: float, y: float, step: float, layout: Layout) -> None:
    """One well around (x, y)."""
    radius = 0.5 * _FILLED * step
    canvas.setStrokeColor(look.edge)
    canvas.setLineWidth(min(0.7, 0.04 * step))
    if look.dot:
        canvas.setFillColor(look.edge)
        canvas.circle(x, y, 0.07 * step, stroke=0, fill=1)
        return
    if look.ground is not None:
        canvas.setFillColor(look.ground)
    if layout.use.size <= _MOST_ROUND:
        canvas.circle(x, y, radius, fill=1)
    else:
        canvas.roundRect(x - radius, y - radius, 2 * radius, 2 * radius, 0.3 * radius, fill=1)
    if look.text:
        room = (1.55 if layout.use.size <= _MOST_ROUND else 1.75) * radius
        size = min(9.5, 0.95 * radius, room / stringWidth(look.text, BOLD, 1.0))
        canvas.setFillColor(look.ink)
        canvas.setFont(BOLD, size)
        canvas.drawCentredString(x, y - (0.02 if look.small else 0.36) * size, look.text)
        if look.small:
            small = min(6.0, 0.62 * radius)
            canvas.setFont(REGULAR, small)
            canvas.drawCentredString(x, y - 0.05 * size - 1.05 * small, look.small)


def _entries(layout: Layout) -> Iterator[tuple[_Look, str]]:
    """Yield what the legend explains: only what is on the plates."""
    yield _first(1, ""), "compound 1 of the list" + (": its first well" if _long(layout) else "")
    if _long(layout):
        yield _FURTHER, "further wells of the same measurement"
    if _several(layout):
        yield _first(1, "r2"), "its second measurement"
    for control in layout.use.controls:
        yield _control(layout, control.name), f"{control.name} control"
    yield _EMPTY, "empty"
    if not layout.use.edge:
        yield _CLOSED, "edge, not used"


def _long(layout: Layout) -> bool:
    return any(len(one.wells) > 1 for plate in layout.plates for one in plate.placed)


def _legend(layout: Layout, width: float) -> list[list[tuple[float, _Look, str]]]:
    """Return the lines of the legend: (where it begins, how the well is drawn, what it says)."""
    lines: list[list[tuple[float, _Look, str]]] = [[]]
    x = 0.0
    for look, words in _entries(layout):
        takes = _SAMPLE + 4 + stringWidth(words, REGULAR, _WORDS)
        if lines[-1] and x + takes > width:
            lines.append([])
            x = 0.0
        lines[-1].append((x, look, words))
        x += takes + 14
    return lines


def legend_height(layout: Layout, width: float) -> float:
    """Points the legend takes on a page so wide."""
    return _LINE * len(_legend(layout, width))


def draw_legend(canvas: Canvas, top: float, *, layout: Layout, x: float, width: float) -> None:
    """Draw the legend from (x, top) downwards, its wells by the hand that draws those of the plates."""
    canvas.saveState()
    for number, line in enumerate(_legend(layout, width)):
        middle = top - (number + 0.5) * _LINE
        for place, look, words in line:
            _draw_well(canvas, look, x + place + _SAMPLE / 2, middle, _SAMPLE, layout)
            canvas.setFillColor(INK)
            canvas.setFont(REGULAR, _WORDS)
            canvas.drawString(x + place + _SAMPLE + 4, middle - 0.36 * _WORDS, words)
    canvas.restoreState()
