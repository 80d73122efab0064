"""The pages of the report: their size and margins, the foot of each, the outline beside them, and the file's title."""

from __future__ import annotations

import re
from io import BytesIO
from typing import Any

from reportlab.lib.pagesizes import A4
from reportlab.lib.units import mm
from reportlab.pdfbase.pdfmetrics import stringWidth
from reportlab.pdfgen.canvas import Canvas
from reportlab.platypus import BaseDocTemplate, CondPageBreak, Flowable, Frame, PageTemplate

from ..system.progress import Report
from .contents import Contents
from .plain import plain
from .report_text import LINE, MUTED, REGULAR, fitted, paragraph

__all__ = ["WIDTH", "Pages", "Progress", "heading"]

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
