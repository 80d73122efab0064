"""Tables of the report: ruled, as wide as they need, with their headers on every page."""

from __future__ import annotations

from collections.abc import Sequence

from reportlab.pdfbase.pdfmetrics import stringWidth
from reportlab.platypus import LongTable

from .columns import shared_out
from .plain import plain
from .report_text import BOLD, LINE, MUTED, REGULAR, STYLES, paragraph

__all__ = ["BARE", "ruled", "widths"]

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
