"""Pages of a PDF: fonts and styles, texts that are never markup, feet, the outline, and tables ruled across pages."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from functools import cache
from io import BytesIO
from pathlib import Path
from typing import Any
from xml.sax.saxutils import escape

from reportlab import rl_config
from reportlab.lib.colors import Color, HexColor
from reportlab.lib.pagesizes import A4
from reportlab.lib.styles import ParagraphStyle
from reportlab.lib.units import mm
from reportlab.pdfbase import pdfmetrics
from reportlab.pdfbase.pdfmetrics import stringWidth
from reportlab.pdfbase.ttfonts import TTFont
from reportlab.pdfgen.canvas import Canvas
from reportlab.platypus import (
    BaseDocTemplate,
    CondPageBreak,
    Flowable,
    Frame,
    Image,
    LongTable,
    PageTemplate,
    Paragraph,
)

from ..campaign.state import Status
from ..figures.palette import LIGHT
from ..system.progress import Report
from ..text import many
from .plain import plain, shared_out, shortened

_SIDE, _TOP, _BOTTOM = 18 * mm, 16 * mm, 22 * mm
WIDTH = A4[0] - 2 * _SIDE
"""Points between the margins."""
_FOOT = 13 * mm
_SMALL, _SMALLEST = 7.0, 6.0
_TOTAL = "pages"
DENSITY = 3.5
"""Pixels of a picture for each point, as sharp as print."""

REGULAR, BOLD = "DejaVuSans", "DejaVuSans-Bold"
"""Names of the fonts: those that come with matplotlib, so that they are there on every machine."""
INK, MUTED, LINE = HexColor(LIGHT.text), HexColor(LIGHT.muted), HexColor(LIGHT.grid)

_SPACES = re.compile(r" (?= )|^ | $")


def load_fonts() -> None:
    """Make the fonts known to reportlab, once; its files are no texts, which are slower to write and larger."""
    rl_config.useA85 = 0
    known = set(pdfmetrics.getRegisteredFontNames())
    for name in (REGULAR, BOLD):
        if name not in known:
            pdfmetrics.registerFont(TTFont(name, str(_folder() / f"{name}.ttf")))
    if REGULAR not in known:
        pdfmetrics.registerFontFamily(REGULAR, normal=REGULAR, bold=BOLD, italic=REGULAR, boldItalic=BOLD)


@cache
def _folder() -> Path:
    import matplotlib

    return Path(matplotlib.get_data_path()) / "fonts" / "ttf"


@cache
def _drawn() -> frozenset[int]:
    """Every character the fonts have."""
    load_fonts()
    return frozenset(pdfmetrics.getFont(REGULAR).face.charToGlyph)


def not_drawn(texts: Iterable[str]) -> list[str]:
    """Return a sentence on the characters of these texts that the fonts do not have; none where they have all."""
    known = _drawn()
    boxed = len({letter for text in texts for letter in plain(text) if ord(letter) not in known})
    sentence = f"{many(boxed, 'character')} of names are not in the font of this page and show as empty boxes"
    return [f"{sentence}; tables and slides hold them as they are."] if boxed else []


def _style(name: str, size: float, leading: float, **more: object) -> ParagraphStyle:
    given = {"fontName": REGULAR, "textColor": INK, "splitLongWords": 1, "bulletFontName": REGULAR} | more
    return ParagraphStyle(name, fontSize=size, leading=leading, **given)


STYLES = {
    "title": _style("title", 19, 24, fontName=BOLD, spaceAfter=2),
    "subtitle": _style("subtitle", 9, 13, textColor=MUTED, spaceAfter=10),
    "answer": _style("answer", 12, 17, fontName=BOLD),
    "heading": _style("heading", 13, 17, fontName=BOLD, spaceBefore=14, spaceAfter=5),
    "subheading": _style("subheading", 10, 14, fontName=BOLD, spaceBefore=8, spaceAfter=3),
    "label": _style("label", 7.5, 10, textColor=MUTED),
    "body": _style("body", 9, 13, spaceAfter=3),
    "caption": _style("caption", 7.5, 10.5, textColor=MUTED, spaceAfter=6),
    "bullet": _style("bullet", 8.5, 12, leftIndent=10, bulletIndent=1, spaceAfter=1),
    "cell": _style("cell", 7, 9),
    "quiet": _style("quiet", 7, 9, textColor=MUTED),
    "head": _style("head", 7, 9, fontName=BOLD),
    "id": _style("id", 8.5, 11, fontName=BOLD),
    "large": _style("large", 15, 18, fontName=BOLD),
}
"""Paragraph styles by what they are for."""


def paragraph(text: object, style: str = "body", *, bullet: str = "", colour: Color = None) -> Paragraph:
    """Return a paragraph of a text taken literally: every sign of it, spaces too, is shown and none is obeyed.

    ``bullet`` precedes it, in its own colour where one is given.
    """
    # Adjacent spaces would become one.
    literal = _SPACES.sub("\u00a0", plain(text))
    look = STYLES[style]
    if colour is not None:
        look = ParagraphStyle(style, parent=look, bulletColor=colour, bulletFontSize=look.fontSize, leftIndent=10)
    return Paragraph(escape(literal), look, bulletText=bullet or None)


def cut(text: str, width: float, lines: int = 50, style: str = "cell") -> str:
    """Return a text without its end (…) where it would take more than so many lines of ``width`` points."""
    most = max(int(lines * width / (0.8 * STYLES[style].fontSize)), lines)
    return text if len(text) <= most else f"{text[:most]}…"


def fitted(text: str, font: str, size: float, width: float) -> str:
    """Return a text on one line, its end left out (…) where it is wider than ``width`` points."""
    return shortened(text, lambda words: stringWidth(words, font, size) <= width)


class Structure(Image):
    """A picture of a structure on a page, points wide and high, with a short text in its upper left corner."""

    def __init__(self, png: bytes, width: float, height: float, corner: str = "") -> None:
        super().__init__(BytesIO(png), width, height, hAlign="LEFT")
        self._corner = corner

    def draw(self) -> None:
        """Draw the structure at the canvas's origin."""
        super().draw()
        self.canv.setFillColor(MUTED)
        self.canv.setFont(REGULAR, _SMALL)
        self.canv.drawString(0.0, self.drawHeight - _SMALL, self._corner)


class Progress:
    """Progress of a document: counted steps, reported to the caller, who may cancel at each."""

    def __init__(self, report: Report, total: int) -> None:
        self._report, self._total, self._done = report, max(total, 1), 0

    def step(self, message: str, count: int = 0) -> None:
        """Report ``count`` more steps as done. Raises Cancelled when the caller cancels."""
        self._done += count
        self._report(min(self._done / self._total, 1.0), message)


def heading(text: str, level: int = 0, *, room: float = 110.0) -> list[Flowable]:
    """Return a heading that is in the outline too, on a page with ``room`` points for what follows."""
    made = paragraph(text, "heading" if level == 0 else "subheading")
    made.outline = (plain(text), level)
    return [CondPageBreak(room), made]


class Pages(BaseDocTemplate):
    """A document in the making: A4 pages, each with the campaign, its head and the program at its foot."""

    def __init__(self, status: Status, progress: Progress, *, title: str, about: str, program: str, when: str) -> None:
        """``about`` and ``program`` stand at every foot; ``when`` is the date and time that the file carries."""
        self._stream = BytesIO()
        super().__init__(
            self._stream,
            pagesize=A4,
            leftMargin=_SIDE,
            rightMargin=_SIDE,
            topMargin=_TOP,
            bottomMargin=_BOTTOM,
            title=plain(title),
            author=plain(program),
            subject=plain(status.goal_sentence),
            creator=plain(program),
            lang="en",
            invariant=1,
        )
        self._status, self._progress, self._marks = status, progress, 0
        self._about, self._program, self._when = about, program, when
        frame = Frame(_SIDE, _BOTTOM, WIDTH, A4[1] - _TOP - _BOTTOM, 0, 0, 0, 0, id="page")
        self.addPageTemplates(PageTemplate("page", [frame], onPage=self._foot))

    def made(self, story: list[Flowable]) -> bytes:
        """Return the document that a story makes, the same for the same contents."""
        self.build(story, canvasmaker=_Canvas)
        return self._stream.getvalue()

    def _startBuild(self, *arguments: Any, **named: Any) -> None:
        super()._startBuild(*arguments, **named)
        digits = re.findall(r"\d+", self._when)[:5]
        when = f"D:{''.join(digits)}" if len(digits) >= 3 else "D:20000101"
        # The date the contents give, not that of the clock: the same contents make the same file.
        self.canv.setDateFormatter(lambda *_: when)

    def afterFlowable(self, flowable: Flowable) -> None:
        """Put a heading into the outline."""
        entry = getattr(flowable, "outline", None)
        if entry is not None:
            self._marks += 1
            key = f"section-{self._marks}"
            self.canv.bookmarkPage(key)
            self.canv.addOutlineEntry(entry[0], key, level=entry[1], closed=0)

    def _foot(self, canvas: Canvas, _document: BaseDocTemplate) -> None:
        status, number = self._status, canvas.getPageNumber()
        self._progress.step(f"Page {number:,}")
        left, right = _SIDE, _SIDE + WIDTH
        canvas.saveState()
        canvas.setStrokeColor(LINE)
        canvas.setLineWidth(0.6)
        canvas.line(left, _FOOT + 11, right, _FOOT + 11)
        canvas.setFillColor(MUTED)
        canvas.setFont(REGULAR, _SMALL)
        words = f"Page {number} of "
        canvas.drawString(left, _FOOT, words)
        canvas.saveState()
        canvas.translate(left + stringWidth(words, REGULAR, _SMALL), _FOOT)
        canvas.doForm(_TOTAL)
        canvas.restoreState()
        canvas.drawRightString(right, _FOOT, fitted(self._about, REGULAR, _SMALL, 0.8 * WIDTH))
        canvas.setFont(REGULAR, _SMALLEST)
        head = f"campaign head {status.head} after {status.events:,} events"
        room = WIDTH - stringWidth(head, REGULAR, _SMALLEST) - 12
        canvas.drawString(left, _FOOT - 9, fitted(self._program, REGULAR, _SMALLEST, room))
        canvas.drawRightString(right, _FOOT - 9, head)
        canvas.restoreState()


class _Canvas(Canvas):
    """A canvas that fills in the number of pages at its end; the foot of each page reserves room for it."""

    def save(self) -> None:
        """Fill in the number of pages, and write."""
        self.beginForm(_TOTAL)
        self.setFillColor(MUTED)
        self.setFont(REGULAR, _SMALL)
        self.drawString(0.0, 0.0, str(self.getPageNumber() - 1))
        self.endForm()
        super().save()


_PAD = 3.0
RULES = [
    ("VALIGN", (0, 0), (-1, -1), "TOP"),
    ("LINEBELOW", (0, 0), (-1, 0), 0.9, MUTED),
    ("LINEBELOW", (0, 1), (-1, -1), 0.4, LINE),
    ("LEFTPADDING", (0, 0), (-1, -1), 0.0),
    ("RIGHTPADDING", (0, 0), (-1, -1), 2.0 * _PAD),
    ("TOPPADDING", (0, 0), (-1, -1), 2.5),
    ("BOTTOMPADDING", (0, 0), (-1, -1), 3.0),
]
"""The style of a table with a header."""
BARE = [
    ("VALIGN", (0, 0), (-1, -1), "TOP"),
    *((f"{side}PADDING", (0, 0), (-1, -1), 0.0) for side in ("LEFT", "RIGHT", "TOP", "BOTTOM")),
]
"""The style of a table that only places things side by side."""
_LONGEST_WORD = 90.0
"""Points; a longer word may be broken."""


def ruled(rows: Sequence[Sequence[str]], width: float, *, fill: bool = False) -> LongTable:
    """Return the table of texts, the first row its headers, at most ``width`` points wide; just that with ``fill``."""
    sizes = widths(rows, width, fill=fill)
    made = [
        [paragraph(cut(cell, size), "cell" if k else "head") for cell, size in zip(row, sizes, strict=True)]
        for k, row in enumerate(rows)
    ]
    return LongTable(made, colWidths=sizes, repeatRows=1, style=RULES, hAlign="LEFT")


def widths(rows: Sequence[Sequence[str]], width: float, *, fill: bool = False) -> list[float]:
    """Return the columns' widths in points, so that as few texts as possible are broken.

    All of ``width`` with ``fill``.
    """
    natural = [0.0] * len(rows[0])
    least = [0.0] * len(rows[0])
    size = STYLES["cell"].fontSize
    for k, row in enumerate(rows):
        font = REGULAR if k else BOLD
        for place, cell in enumerate(row):
            text = plain(cell)
            natural[place] = max(natural[place], stringWidth(text, font, size))
            for word in text.split():
                if len(word) * size > least[place]:  # no letter is wider than it is high
                    least[place] = max(least[place], min(stringWidth(word, font, size), _LONGEST_WORD))
    # A little more than the letters, so that rounding does not break a line.
    natural = [one + 2.0 * _PAD + 1.0 for one in natural]
    least = [one + 2.0 * _PAD + 1.0 for one in least]
    found = shared_out(natural, least, width)
    return [one * width / sum(found) for one in found] if fill else found
