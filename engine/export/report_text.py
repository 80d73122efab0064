"""Texts of the report: its fonts and styles, and how any text of a table becomes words that are never markup."""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import cache
from pathlib import Path
from xml.sax.saxutils import escape

from reportlab.lib.colors import HexColor
from reportlab.lib.styles import ParagraphStyle
from reportlab.pdfbase import pdfmetrics
from reportlab.pdfbase.ttfonts import TTFont
from reportlab.platypus import Paragraph

from ..figures.palette import LIGHT
from .plain import plain

REGULAR, BOLD = "DejaVuSans", "DejaVuSans-Bold"
"""Names of the fonts: those that come with matplotlib, so that they are there on every machine."""
INK, MUTED, LINE = HexColor(LIGHT.text), HexColor(LIGHT.muted), HexColor(LIGHT.grid)

_SPACES = re.compile(r" (?= )|^ | $")


def load_fonts() -> None:
    """Make the fonts known to reportlab, once."""
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
    """Return the characters of these texts that the fonts do not have, which show as empty boxes.

    In order, each once.
    """
    known = _drawn()
    return sorted({letter for text in texts for letter in plain(text) if ord(letter) not in known})


def _style(name: str, size: float, leading: float, **more: object) -> ParagraphStyle:
    given = {"fontName": REGULAR, "textColor": INK, "splitLongWords": 1} | more
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
    "head": _style("head", 7, 9, fontName=BOLD),
    "large": _style("large", 15, 18, fontName=BOLD),
}
"""Paragraph styles by what they are for."""


def paragraph(text: object, style: str = "body", *, bullet: bool = False) -> Paragraph:
    """Return a paragraph of a text taken literally: every sign of it, spaces too, is shown and none is obeyed."""
    # Spaces beside each other would become one.
    literal = _SPACES.sub("\u00a0", plain(text))
    return Paragraph(escape(literal), STYLES[style], bulletText="•" if bullet else None)


def fitted(text: object, font: str, size: float, width: float) -> str:
    """Return a text on one line, its end left out (…) where it is wider than ``width`` points."""
    words = plain(text)
    if pdfmetrics.stringWidth(words, font, size) <= width:
        return words
    return f"{words[: _letters(words, font, size, width - pdfmetrics.stringWidth('…', font, size))]}…"


def _letters(text: str, font: str, size: float, width: float) -> int:
    """How many letters of a text, from its start, are at most ``width`` points wide."""
    fewest, most = 0, len(text)
    while fewest < most:
        middle = (fewest + most + 1) // 2
        if pdfmetrics.stringWidth(text[:middle], font, size) <= width:
            fewest = middle
        else:
            most = middle - 1
    return fewest


def wrapped(text: object, font: str, size: float, width: float, most: int) -> list[str]:
    """Return a text on lines of at most ``width`` points, broken between words, and in words too long; ``most`` lines.

    What does not fit on them is left out (…).
    """
    left = plain(text).strip()
    lines: list[str] = []
    while left and len(lines) < most - 1:
        if pdfmetrics.stringWidth(left, font, size) <= width:
            break
        end = max(_letters(left, font, size, width), 1)
        space = left.rfind(" ", 0, end + 1)
        cut = space if space > end // 2 else end
        lines.append(left[:cut].rstrip())
        left = left[cut:].lstrip()
    return [*lines, fitted(left, font, size, width)] if left else lines
