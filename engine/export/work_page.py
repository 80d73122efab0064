"""The printed page of a round: its plates as pictures, and every compound with boxes for what comes back."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from io import BytesIO
from pathlib import Path

from reportlab.lib.colors import white
from reportlab.lib.pagesizes import A4
from reportlab.lib.units import mm
from reportlab.pdfbase.pdfmetrics import stringWidth
from reportlab.pdfgen.canvas import Canvas

from ..campaign.state import Round, RoundItem, Status
from ..chemistry.names import carried_names
from ..domain.plates.layout import Layout, Plate
from ..figures.aligned import Aligned
from ..system.progress import Report, silent
from .plain import interval, plain
from .plate_drawing import draw_legend, draw_plate, legend_height, plate_height
from .report_text import BOLD, INK, LINE, MUTED, REGULAR, fitted, load_fonts, not_drawn, wrapped
from .report_vector import draw_structure
from .shortlist import decimals_of, structure
from .whole import write_whole

_PICTURE = (112, 68)
"""Points of a structure."""
_RANK = 26.0
_BOX = (70.0, 14.0)
_LABEL, _PLATE, _WELLS, _UNIT = 92.0, 60.0, 84.0, 30.0
"""Points at most for what a measurement is, its plate, its wells and its unit."""
_APART = 8.0
_WORDS = 8.0
_LEADING, _BOX_LEADING, _PAD = 9.4, 18.0, 5.0
_ID, _SMALL = 9.0, 7.0
_ID_LINES, _SITE_LINES, _WHY_LINES = 4, 2, 2
_NAMED = 8
"""Plates named in the head."""
_RULE, _BLANK = "____________", "______"


@dataclass(frozen=True, slots=True)
class _Line:
    """One measurement as the page lists it."""

    label: str
    """Endpoint and replicate, as far as they need saying."""
    plate: str
    wells: str
    unit: str


@dataclass(frozen=True, slots=True)
class _Boxes:
    """How wide the parts of a measurement's line are, in points with the gap behind; 0 for what no line has."""

    label: float
    plate: float
    wells: float
    unit: float

    @classmethod
    def of(cls, lines: Iterable[_Line]) -> _Boxes:
        """As wide as the widest of them needs, within bounds."""
        every = list(lines)

        def widest(texts: Iterable[str], at_most: float, title: str = "") -> float:
            needed = max(stringWidth(plain(text), REGULAR, _WORDS) for text in (*texts, title))
            return min(needed, at_most) + _APART if needed else 0.0

        return cls(
            widest((line.label for line in every), _LABEL),
            widest((line.plate or _BLANK for line in every), _PLATE, "Plate"),
            widest((line.wells or _BLANK for line in every), _WELLS, "Wells"),
            widest((line.unit for line in every), _UNIT),
        )

    @property
    def width(self) -> float:
        """Points in all."""
        return self.label + self.plate + self.wells + self.unit + _BOX[0]


@dataclass(frozen=True, slots=True)
class _Entry:
    """One compound as the page lists it."""

    rank: int
    smiles: str
    name: tuple[str, ...]
    words: tuple[tuple[str, bool], ...]
    """Lines below the name, and whether they are quiet."""
    lines: tuple[_Line, ...]


def write_work_page(
    path: str | Path, status: Status, issued: Round, layout: Layout | None, *, program: str, printed: str,
    report: Report = silent,
) -> None:  # fmt: skip
    """Write the page of a round as PDF, whole or not at all. AssayPilotError when that fails."""
    write_whole(path, work_page(status, issued, layout, program=program, printed=printed, report=report))


def work_page(
    status: Status, issued: Round, layout: Layout | None, *, program: str, printed: str, report: Report = silent
) -> bytes:
    """Return the page of a round as PDF, A4 upright: its plates, then its compounds in the round's order.

    Each compound has its structure where that is known, its substituents, what is expected, and for each measurement
    the plate, the wells and an empty box; without a ``layout`` plate and well are left to be written in. The same for
    the same campaign, layout and ``printed``, a date and time as text. ``report`` may raise Cancelled.
    """
    load_fonts()
    pages = Pages(status, issued, program, printed)
    lines = [_lines(status, issued, layout, item) for item in issued.items]
    boxes = _Boxes.of(line for its in lines for line in its)
    entries = [_entry(status, rank, item, lines[rank - 1], boxes) for rank, item in enumerate(issued.items, start=1)]
    _head(pages, status, issued, layout)
    if layout is not None:
        _plates(pages, status, issued, layout)
    _list(pages, status, entries, boxes, report)
    return pages.made(report)


def _head(pages: Pages, status: Status, issued: Round, layout: Layout | None) -> None:
    """Write the title, what the round is, and lines to be signed."""
    names = wrapped(status.name, BOLD, 17, WIDTH, 3)
    count = 0 if layout is None else len(layout.plates)
    said = [
        f"{issued.measurements:,} measurement{'s' * (issued.measurements != 1)} of "
        f"{len(issued.items):,} compound{'s' * (len(issued.items) != 1)}, issued {issued.issued[:10]}"
    ]
    if layout is not None:
        names_of = ", ".join(plate.name for plate in layout.plates[:_NAMED]) + ", …" * (count > _NAMED)
        said.append(f"{count:,} plate{'s' * (count != 1)} of {layout.use.size:,} wells: {names_of}")
    said.append(status.goal_sentence)
    boxed = not_drawn(_names(status, issued))
    if boxed:
        said.append(
            f"{len(boxed):,} character{'s' * (len(boxed) != 1)} of names are not in the font of this page and show as "
            "empty boxes; the work list as a table has them as they are."
        )
    words = [line for text in said for line in wrapped(text, REGULAR, 9, WIDTH, 3)]

    def draw(canvas: Canvas, top: float) -> None:
        canvas.setFillColor(MUTED)
        canvas.setFont(REGULAR, 9)
        canvas.drawString(SIDE, top - 9, f"Work list, round {issued.number}")
        canvas.setFillColor(INK)
        canvas.setFont(BOLD, 17)
        for k, name in enumerate(names):
            canvas.drawString(SIDE, top - 30 - 21 * k, name)
        y = top - 26 - 21 * len(names)
        canvas.setFont(REGULAR, 9)
        for k, line in enumerate(words):
            canvas.drawString(SIDE, y - 13 * k, line)
        y -= 13 * len(words) + 5
        canvas.setFillColor(MUTED)
        for k, what in enumerate(("Tested on", "By", "Batch of reagents")):
            canvas.drawString(SIDE + k * WIDTH / 3, y, f"{what}  {_RULE}")

    pages.put(26 + 21 * len(names) + 13 * len(words) + 20, draw)


def _names(status: Status, issued: Round) -> list[str]:
    """Every text of the user that the page shows."""
    library = status.library
    labels = [text for item in issued.items for text in library.substituents(item.compound).values()]
    ids = [library.ids[item.compound] for item in issued.items]
    return [status.name, *ids, *labels, *(site.name for site in library.sites), *(e.name for e in status.endpoints)]


def _plates(pages: Pages, status: Status, issued: Round, layout: Layout) -> None:
    """Draw the plates, as many on a page as there is room for, and the legend below the first."""
    ranks = {item.compound: rank for rank, item in enumerate(issued.items, start=1)}
    high, legend = plate_height(layout, WIDTH), legend_height(layout, WIDTH)
    for number, plate in enumerate(layout.plates):
        if pages.room < 20 + high + (legend if number == 0 else 0):
            pages.turn()
        pages.put(20, partial(_plate_title, status=status, plate=plate))
        pages.put(high + 8, partial(draw_plate, layout=layout, plate=plate, ranks=ranks, x=SIDE, width=WIDTH))
        if number == 0:
            pages.put(legend + 8, partial(draw_legend, layout=layout, x=SIDE, width=WIDTH))


def _plate_title(canvas: Canvas, top: float, *, status: Status, plate: Plate) -> None:
    canvas.setFillColor(INK)
    canvas.setFont(BOLD, 10)
    names = " and ".join(status.endpoints[k].name for k in plate.endpoints)
    canvas.drawString(SIDE, top - 11, fitted(f"Plate {plate.name}: {names}", BOLD, 10, 0.7 * WIDTH))
    canvas.setFillColor(MUTED)
    canvas.setFont(REGULAR, 8)
    canvas.drawRightString(SIDE + WIDTH, top - 11, f"Barcode  {_RULE}{_RULE}")


def _entry(status: Status, rank: int, item: RoundItem, lines: Sequence[_Line], boxes: _Boxes) -> _Entry:
    """Return what the page says of a compound of the round."""
    smiles = structure(status, item.compound)
    width = WIDTH - _RANK - boxes.width - _APART - (_PICTURE[0] + _APART if smiles else 0)
    digits, scale = decimals_of(status), status.endpoints[status.objective].scale_name
    words = [
        (line, False)
        for site, name in carried_names(status.library, item.compound).items()
        for line in wrapped(f"{site}  {name}", REGULAR, _SMALL, width, _SITE_LINES)
    ]
    if item.expected is not None and item.low is not None and item.high is not None:
        told = interval(f"{item.expected:.{digits}f}", item.low, item.high, digits)
        expected = f"expected {scale} {told}"
        words += [(line, True) for line in wrapped(expected, REGULAR, _SMALL, width, 2)]
    words += [(line, True) for line in wrapped(item.reason, REGULAR, _SMALL, width, _WHY_LINES)]
    name = wrapped(status.library.ids[item.compound], BOLD, _ID, width, _ID_LINES)
    return _Entry(rank, smiles, tuple(name), tuple(words), tuple(lines))


def _lines(status: Status, issued: Round, layout: Layout | None, item: RoundItem) -> list[_Line]:
    """Return the measurements of a compound, one endpoint after the other."""
    lines = []
    for place, k in enumerate(issued.endpoints):
        endpoint = status.endpoints[k]
        for replicate in range(1, item.of(place) + 1):
            label = endpoint.name if len(issued.endpoints) > 1 else ""
            label += f" r{replicate}" if item.of(place) > 1 else ""
            plate, wells = "", ""
            if layout is not None:
                on, placed = layout.find(item.compound, replicate, k)
                plate, wells = on.name, placed.range
            lines.append(_Line(label.strip(), plate, wells, endpoint.unit))
    return lines


def _list(pages: Pages, status: Status, entries: Sequence[_Entry], boxes: _Boxes, report: Report) -> None:
    """List the compounds, each kept together unless a page has no room for its measurements."""
    pictures = any(entry.smiles for entry in entries)
    library = status.library
    cores = library.scaffold.cores if library.scaffold is not None else ()
    aligned = Aligned(cores, [entry.smiles for entry in entries])
    if pages.room < 24 + 2 * _PICTURE[1]:
        pages.turn()
    pages.put(24, partial(_list_head, boxes=boxes, continued=False))
    for number, entry in enumerate(entries):
        report(LAID_OUT * number / len(entries), f"Compound {number + 1:,} of {len(entries):,}")
        svg = aligned.svg(entry.smiles, *_PICTURE) if entry.smiles else None
        left: Sequence[_Line] = entry.lines
        first = True
        while left or first:
            own = _text_height(entry, pictures) if first else 0.0
            most = int((HIGHEST - LOWEST - 24 - 2 * _PAD) / _BOX_LEADING)
            height = max(own, _BOX_LEADING * min(len(left), most)) + 2 * _PAD
            if pages.room < height:
                pages.turn()
                pages.put(24, partial(_list_head, boxes=boxes, continued=True))
            part, left = left[:most], left[most:]
            pages.put(height, _Drawn(entry, svg if first else None, part, boxes, first))
            first = False


def _text_height(entry: _Entry, pictures: bool) -> float:
    text = 12.0 * len(entry.name) + _LEADING * len(entry.words)
    return max(text, _PICTURE[1] if pictures and entry.smiles else 0.0)


def _list_head(canvas: Canvas, top: float, *, boxes: _Boxes, continued: bool) -> None:
    canvas.setFillColor(INK)
    canvas.setFont(BOLD, 10)
    canvas.drawString(SIDE, top - 11, "Compounds in order of rank" + (", continued" if continued else ""))
    canvas.setFillColor(MUTED)
    canvas.setFont(REGULAR, _SMALL)
    x = SIDE + WIDTH - boxes.width + boxes.label
    canvas.drawString(x, top - 11, "Plate")
    canvas.drawString(x + boxes.plate, top - 11, "Wells")
    canvas.drawString(SIDE + WIDTH - _BOX[0], top - 11, "Value")


@dataclass(frozen=True, slots=True)
class _Drawn:
    """A compound of the list, or what of its measurements is on a further page, to be drawn."""

    entry: _Entry
    svg: str | None
    lines: Sequence[_Line]
    boxes: _Boxes
    first: bool

    def __call__(self, canvas: Canvas, top: float) -> None:
        """Draw it from ``top`` downwards."""
        entry, x = self.entry, SIDE + _RANK
        canvas.setStrokeColor(LINE)
        canvas.setLineWidth(0.6)
        canvas.line(SIDE, top, SIDE + WIDTH, top)
        canvas.setFillColor(INK)
        rank = str(entry.rank)
        canvas.setFont(BOLD, min(11.0, (_RANK - 3.0) / stringWidth(rank, BOLD, 1.0)))
        canvas.drawString(SIDE, top - _PAD - 10, rank)
        if self.svg is not None:
            draw_structure(canvas, self.svg, x, top - _PAD - _PICTURE[1], _PICTURE[1])
        x += _PICTURE[0] + _APART if entry.smiles else 0.0
        y = top - _PAD - 9
        canvas.setFont(BOLD, _ID)
        for line in entry.name if self.first else entry.name[:1]:
            canvas.drawString(x, y, line)
            y -= 12
        canvas.setFont(REGULAR, _SMALL)
        for line, quiet in entry.words if self.first else ():
            canvas.setFillColor(MUTED if quiet else INK)
            canvas.drawString(x, y, line)
            y -= _LEADING
        for k, measured in enumerate(self.lines):
            _draw_line(canvas, measured, self.boxes, top - _PAD - k * _BOX_LEADING)


def _draw_line(canvas: Canvas, line: _Line, boxes: _Boxes, top: float) -> None:
    """One measurement: what it is of, where it stands, and a box for its value."""
    right, middle = SIDE + WIDTH, top - 10
    x = right - boxes.width
    canvas.setFillColor(INK)
    canvas.setFont(REGULAR, _WORDS)
    for text, width in ((line.label, boxes.label), (line.plate, boxes.plate), (line.wells, boxes.wells)):
        if width:
            canvas.drawString(x, middle, fitted(text, REGULAR, _WORDS, width - _APART))
        x += width
    if not line.plate:
        canvas.drawString(x - boxes.wells - boxes.plate, middle, _BLANK)
        canvas.drawString(x - boxes.wells, middle, _BLANK)
    canvas.setStrokeColor(MUTED)
    canvas.setFillColor(white)
    canvas.setLineWidth(0.6)
    canvas.rect(right - _BOX[0], top - _BOX[1], *_BOX, fill=1)
    canvas.setFillColor(MUTED)
    canvas.setFont(REGULAR, _SMALL)
    canvas.drawRightString(right - _BOX[0] - 3, middle + 0.5, fitted(line.unit, REGULAR, _SMALL, _UNIT))


SIDE = 15 * mm
"""Points of the margin at each side."""
WIDTH = A4[0] - 2 * SIDE
"""Points between the margins."""
HIGHEST: float = A4[1] - 14 * mm
LOWEST: float = 20 * mm
"""Where what a page holds begins and ends, in points from its lower edge."""
_FOOT = 12 * mm
_FOOT_SIZE = 7.0
LAID_OUT = 0.2
"""Share of the work that is done when all is laid out and nothing is drawn."""


class Pages:
    """Pages that are drawn when all are known, so that each can say how many there are."""

    def __init__(self, status: Status, issued: Round, program: str, printed: str) -> None:
        self._status, self._issued, self._program, self._printed = status, issued, program, printed
        self._pages: list[list[Callable[[Canvas], None]]] = [[]]
        self.top = HIGHEST
        """Where the next thing on the page begins."""

    @property
    def room(self) -> float:
        """Points left on the page."""
        return self.top - LOWEST

    def turn(self) -> None:
        """Begin a new page."""
        self._pages.append([])
        self.top = HIGHEST

    def put(self, height: float, draw: Callable[[Canvas, float], None]) -> None:
        """Take ``height`` points of the page and call ``draw`` with the upper end of them later."""
        top = self.top
        self._pages[-1].append(lambda canvas: draw(canvas, top))
        self.top -= height

    def made(self, report: Report) -> bytes:
        """Return the pages as a PDF."""
        stream = BytesIO()
        canvas = Canvas(stream, pagesize=A4, invariant=1, lang="en")
        canvas.setTitle(plain(f"{self._status.name}, round {self._issued.number}: work list"))
        canvas.setAuthor(plain(self._program))
        canvas.setCreator(plain(self._program))
        canvas.setSubject(plain(self._status.goal_sentence))
        digits = re.findall(r"\d+", self._printed)[:5]
        when = f"D:{''.join(digits)}" if len(digits) >= 3 else "D:20000101"
        canvas.setDateFormatter(lambda *_: when)
        for number, page in enumerate(self._pages, start=1):
            done = (number - 1) / len(self._pages)
            report(LAID_OUT + (1.0 - LAID_OUT) * done, f"Page {number:,} of {len(self._pages):,}")
            for draw in page:
                draw(canvas)
            self._foot(canvas, number)
            canvas.showPage()
        canvas.save()
        return stream.getvalue()

    def _foot(self, canvas: Canvas, number: int) -> None:
        status, right = self._status, SIDE + WIDTH
        canvas.setStrokeColor(LINE)
        canvas.setLineWidth(0.6)
        canvas.line(SIDE, _FOOT + 11, right, _FOOT + 11)
        canvas.setFillColor(MUTED)
        canvas.setFont(REGULAR, _FOOT_SIZE)
        canvas.drawString(SIDE, _FOOT, f"Page {number} of {len(self._pages)}")
        name = fitted(f"{status.name}, round {self._issued.number}", REGULAR, _FOOT_SIZE, 0.75 * WIDTH)
        canvas.drawRightString(right, _FOOT, name)
        canvas.setFont(REGULAR, 6.0)
        canvas.drawString(SIDE, _FOOT - 9, fitted(f"{self._program}, {self._printed}", REGULAR, 6.0, 0.4 * WIDTH))
        canvas.drawRightString(right, _FOOT - 9, f"campaign head {status.head} after {status.events:,} events")
