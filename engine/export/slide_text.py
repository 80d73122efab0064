"""Texts and tables of a slide: written literally, in a size that fits whatever font a computer has for them."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from PIL import ImageFont
from pptx.dml.color import RGBColor
from pptx.enum.text import MSO_ANCHOR, MSO_AUTO_SIZE
from pptx.util import Emu, Inches, Pt

from ..figures.palette import LIGHT
from .plain import plain, shared_out, shortened

_rgb: Any = RGBColor  # it carries no types
INK, MUTED = (_rgb.from_string(colour.lstrip("#").upper()) for colour in (LIGHT.text, LIGHT.muted))
_TINT, _WHITE = _rgb(0xF1, 0xF4, 0xF8), _rgb(0xFF, 0xFF, 0xFF)
_CELL = 0.05
"""Inches beside the words of a cell."""
_PLAIN_TABLE = "{2D5ABB26-0587-4C30-8999-92F81FD0307C}"
"""The style without lines and fills, by the name every version of PowerPoint knows."""
_LEADING = 1.2
_WORD = re.compile(r"[^ -]*(?:-+| +)|[^ -]+")
"""Behind a space or a hyphen a line may end."""
_WIDEST = 1.6
"""Inches of a column beyond which a text may be cut."""


@dataclass(frozen=True, slots=True)
class Box:
    """A place on the slide, in inches."""

    left: float
    top: float
    width: float
    height: float


@dataclass(frozen=True, slots=True)
class Words:
    """A paragraph of one kind of letters."""

    text: str
    size: float
    """Points."""
    bold: bool = False
    quiet: bool = False

    def height(self, width: float) -> float:
        """Inches that it takes on lines of ``width`` inches."""
        return lines_of(self.text, self.size, width, bold=self.bold) * self.size * _LEADING / 72.0


@cache
def _font(bold: bool) -> ImageFont.FreeTypeFont:
    import matplotlib

    name = "DejaVuSans-Bold.ttf" if bold else "DejaVuSans.ttf"
    return ImageFont.truetype(str(Path(matplotlib.get_data_path()) / "fonts" / "ttf" / name), 100)


def width_of(text: str, size: float, *, bold: bool = False) -> float:
    """Inches that a text takes on one line in the widest of the common sans serifs; most computers need less."""
    # Letters of East Asia come from another font, where they are square.
    narrow = "".join(letter for letter in text if unicodedata.east_asian_width(letter) not in "WF")
    return (_font(bold).getlength(narrow) / 100.0 + len(text) - len(narrow)) * size / 72.0


def lines_of(text: str, size: float, width: float, *, bold: bool = False) -> int:
    """How many lines a text takes at most, ``size`` in points and ``width`` in inches."""
    used, count = 0.0, 1
    for word in _WORD.findall(plain(text)):
        long = width_of(word, size, bold=bold)
        if used and used + width_of(word.rstrip(), size, bold=bold) > width:
            count, used = count + 1, 0.0
        used += long
        if used > width and word.strip():  # broken in the word
            count, used = count + int(used / width), used % width
    return count


def cut(text: str, size: float, width: float, most: int, *, bold: bool = False) -> str:
    """Return the text, its end left out (…) where it takes more than ``most`` lines."""
    return shortened(text, lambda words: lines_of(words, size, width, bold=bold) <= most)


def fill(frame: Any, words: Sequence[Words]) -> None:
    """Put paragraphs into a text frame that keeps its size."""
    frame.word_wrap = True
    frame.auto_size = MSO_AUTO_SIZE.NONE
    frame.vertical_anchor = MSO_ANCHOR.TOP
    frame.margin_left = frame.margin_right = frame.margin_top = frame.margin_bottom = Emu(0)
    for k, part in enumerate(words):
        paragraph = frame.paragraphs[0] if k == 0 else frame.add_paragraph()
        run = paragraph.add_run()
        run.text = plain(part.text)
        run.font.size = Pt(part.size)
        run.font.bold = part.bold
        run.font.color.rgb = MUTED if part.quiet else INK


def add_text(shapes: Any, box: Box, words: Sequence[Words], name: str) -> Any:
    """Return a text box that can be edited."""
    made = shapes.add_textbox(Inches(box.left), Inches(box.top), Inches(box.width), Inches(box.height))
    made.name = plain(name)
    fill(made.text_frame, words)
    return made


def table_width(rows: Sequence[Sequence[str]], size: float) -> float:
    """Inches that a table of these texts, the first row its headers, needs so that none is cut."""
    return sum(_natural(rows, size))


def _natural(rows: Sequence[Sequence[str]], size: float) -> list[float]:
    found = []
    for place in range(len(rows[0])):
        widest = max(width_of(plain(row[place]), size, bold=k == 0) for k, row in enumerate(rows))
        found.append(widest + 2.0 * _CELL + 0.03)
    return found


def add_table(shapes: Any, box: Box, rows: Sequence[Sequence[str]], size: float, name: str) -> Any:
    """Return a real table: the first row its headers, rows of one line each; what does not fit is cut (…)."""
    natural = _natural(rows, size)
    widths = shared_out(natural, [min(one, _WIDEST) for one in natural], box.width)
    frame = shapes.add_table(
        len(rows), len(rows[0]), Inches(box.left), Inches(box.top), Inches(sum(widths)), Inches(box.height)
    )
    frame.name = name
    table = frame.table
    table.first_row, table.horz_banding = True, False
    table._tbl.tblPr.find("{*}tableStyleId").text = _PLAIN_TABLE
    for column, width in zip(table.columns, widths, strict=True):
        column.width = Inches(width)
    for k, (row, cells) in enumerate(zip(table.rows, rows, strict=True)):
        row.height = Inches(box.height / len(rows))
        for cell, text, width in zip(row.cells, cells, widths, strict=True):
            words = cut(text, size, width - 2.0 * _CELL, 1, bold=k == 0)
            fill(cell.text_frame, [Words(words, size, bold=k == 0)])
            cell.margin_left = cell.margin_right = Inches(_CELL)
            cell.margin_top = cell.margin_bottom = Inches(0.02)
            cell.vertical_anchor = MSO_ANCHOR.MIDDLE
            cell.fill.solid()
            cell.fill.fore_color.rgb = _WHITE if k else _TINT
    return frame


def describe(shape: Any, text: str) -> None:
    """Say what a picture shows to those who do not see it."""
    shape._element.xpath(".//p:cNvPr")[0].set("descr", plain(text))
