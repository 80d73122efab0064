"""Pages to print, drawn when all of them are known, so that each can say how many there are."""

from __future__ import annotations

import re
from collections.abc import Callable
from io import BytesIO

from reportlab.lib.pagesizes import A4
from reportlab.lib.units import mm
from reportlab.pdfgen.canvas import Canvas

from ..campaign.state import Round, Status
from ..system.progress import Report
from .plain import plain
from .report_text import LINE, MUTED, REGULAR, fitted

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
