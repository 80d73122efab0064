"""Pages and tables of the report: margins, feet, the outline, the file's title, and tables ruled across pages."""

from __future__ import annotations

import re
from collections.abc import Sequence
from io import BytesIO
from typing import Any

from reportlab.lib.pagesizes import A4
from reportlab.lib.units import mm
from reportlab.pdfbase.pdfmetrics import stringWidth
from reportlab.pdfgen.canvas import Canvas
from reportlab.platypus import BaseDocTemplate, CondPageBreak, Flowable, Frame, LongTable, PageTemplate

from ..system.progress import Report
from .contents import Contents
from .fitting import shared_out
from .plain import plain
from .report_text import BOLD, LINE, MUTED, REGULAR, STYLES, fitted, paragraph

_SIDE, _TOP, _BOTTOM = 18 * mm, 16 * mm, 22 * mm
WIDTH = A4[0] - 2 * _SIDE
"""Points between the margins."""
_FOOT = 13 * mm
_SMALL, _SMALLEST = 7.0, 6.0
_TOTAL = "pages"


class Progress:
    """How far the report is: counted steps, told to whoever waits; it may be stopped at each."""

    def __init__(self, report: Report, total: int) -> None:
        self._report, self._total, self._done = report, max(total, 1), 0

    def step(self, message: str, count: int = 0) -> None:
        """Tell how far it is after ``count`` more steps. Raises Cancelled when that is wanted."""
        self._done += count
        self._report(min(self._done / self._total, 1.0), message)


def heading(text: str, level: int = 0, *, room: float = 110.0) -> list[Flowable]:
    """Return a heading that is in the outline too, on a page with ``room`` points for what follows."""
    made = paragraph(text, "heading" if level == 0 else "subheading")
    made.outline = (plain(text), level)
    return [CondPageBreak(room), made]


class Pages(BaseDocTemplate):
    """A report in the making: A4 pages, each with the campaign, its head and the program at its foot."""

    def __init__(self, contents: Contents, progress: Progress) -> None:
        self._stream = BytesIO()
        super().__init__(
            self._stream,
            pagesize=A4,
            leftMargin=_SIDE,
            rightMargin=_SIDE,
            topMargin=_TOP,
            bottomMargin=_BOTTOM,
            title=plain(contents.title),
            author=plain(contents.program),
            subject=plain(contents.status.goal_sentence),
            creator=plain(contents.program),
            lang="en",
            invariant=1,
        )
        self._contents, self._progress, self._marks = contents, progress, 0
        frame = Frame(_SIDE, _BOTTOM, WIDTH, A4[1] - _TOP - _BOTTOM, 0, 0, 0, 0, id="page")
        self.addPageTemplates(PageTemplate("page", [frame], onPage=self._foot))

    def made(self, story: list[Flowable]) -> bytes:
        """Return the report that a story makes, the same for the same contents."""
        self.build(story, canvasmaker=_Canvas)
        return self._stream.getvalue()

    def _startBuild(self, *arguments: Any, **named: Any) -> None:
        super()._startBuild(*arguments, **named)
        digits = re.findall(r"\d+", self._contents.exported)[:5]
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
        contents, number = self._contents, canvas.getPageNumber()
        status = contents.status
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
        canvas.drawRightString(
            right, _FOOT, fitted(f"{status.name}, {contents.exported}", REGULAR, _SMALL, 0.8 * WIDTH)
        )
        canvas.setFont(REGULAR, _SMALLEST)
        head = f"campaign head {status.head} after {status.events:,} events"
        room = WIDTH - stringWidth(head, REGULAR, _SMALLEST) - 12
        canvas.drawString(left, _FOOT - 9, fitted(contents.program, REGULAR, _SMALLEST, room))
        canvas.drawRightString(right, _FOOT - 9, head)
        canvas.restoreState()


class _Canvas(Canvas):
    """A canvas that knows only at its end how many pages it has: the foot of each holds a place for it."""

    def save(self) -> None:
        """Fill in the number of pages, and write."""
        self.beginForm(_TOTAL)
        self.setFillColor(MUTED)
        self.setFont(REGULAR, _SMALL)
        self.drawString(0.0, 0.0, str(self.getPageNumber() - 1))
        self.endForm()
        super().save()


_PAD = 3.0
_RULES = [
    ("VALIGN", (0, 0), (-1, -1), "TOP"),
    ("LINEBELOW", (0, 0), (-1, 0), 0.9, MUTED),
    ("LINEBELOW", (0, 1), (-1, -1), 0.4, LINE),
    ("LEFTPADDING", (0, 0), (-1, -1), 0.0),
    ("RIGHTPADDING", (0, 0), (-1, -1), 2.0 * _PAD),
    ("TOPPADDING", (0, 0), (-1, -1), 2.5),
    ("BOTTOMPADDING", (0, 0), (-1, -1), 3.0),
]
BARE = [(f"{side}PADDING", (0, 0), (-1, -1), 0.0) for side in ("LEFT", "RIGHT", "TOP", "BOTTOM")]
"""The style of a table that only puts things beside each other."""
_MOST_LINES = 50
_LONGEST_WORD = 90.0
"""Points; a longer word may be broken."""


def ruled(rows: Sequence[Sequence[str]], width: float, *, fill: bool = False) -> LongTable:
    """Return the table of texts, the first row its headers, at most ``width`` points wide; just that with ``fill``."""
    sizes = widths(rows, width, fill=fill)
    made = [
        [paragraph(_cut(cell, size), "cell" if k else "head") for cell, size in zip(row, sizes, strict=True)]
        for k, row in enumerate(rows)
    ]
    return LongTable(made, colWidths=sizes, repeatRows=1, style=_RULES, hAlign="LEFT")


def _cut(text: str, width: float) -> str:
    """Return a text without its end (…) where it would take more than a page of a column of ``width`` points."""
    most = max(int(_MOST_LINES * width / (0.8 * STYLES["cell"].fontSize)), _MOST_LINES)
    return text if len(text) <= most else f"{text[:most]}…"


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
