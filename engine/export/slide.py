"""One slide of a campaign, ready to be sent: the answer, the figure that shows it, and the best of the shortlist."""

from __future__ import annotations

import datetime
import io
import re
import zipfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pptx import Presentation
from pptx.dml.color import RGBColor
from pptx.enum.text import MSO_ANCHOR, MSO_AUTO_SIZE, PP_ALIGN
from pptx.opc.constants import RELATIONSHIP_TYPE
from pptx.util import Emu, Inches, Pt

from ..campaign.state import Status
from ..figures.aligned import Aligned
from ..figures.cores import carried
from ..figures.palette import LIGHT
from ..system.progress import Report, silent
from .answer import picture_of
from .contents import Contents
from .formats import write_whole
from .pictures import as_png
from .plain import (
    CompoundLine,
    compound_lines,
    cut_lines,
    lines_of,
    plain,
    sentences,
)

_rgb: Any = RGBColor  # it carries no types
INK, MUTED = (_rgb.from_string(colour.lstrip("#").upper()) for colour in (LIGHT.text, LIGHT.muted))
_LEADING = 1.2


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


def describe(shape: Any, text: str) -> None:
    """Set the description of a picture for people who do not see it."""
    shape._element.xpath(".//p:cNvPr")[0].set("descr", plain(text))


_WIDTH, _HEIGHT = 13.333, 7.5
_LEFT, _RIGHT = 0.5, 12.833
_TITLE = Box(_LEFT, 0.42, _RIGHT - _LEFT, 1.26)
"""The answer: its first sentence, and below it the rest."""
_FIGURE = Box(_LEFT, 1.85, 6.7, 4.3)
_CAPTION = Box(_LEFT, 6.2, 6.7, 0.48)
_HEADING = Box(7.5, 1.75, _RIGHT - 7.5, 0.3)
_BEST = Box(7.5, 2.12, _RIGHT - 7.5, 4.58)
_FOOT = Box(_LEFT, 6.82, _RIGHT - _LEFT, 0.42)
_DPI = 300
_ENLARGED = 1.3
"""The figure is drawn smaller by this, so that its letters can be read from the back of a room."""
_GAP = 0.14
_LEAST = 0.95
"""Inches of the lowest picture of a structure."""
_PICTURED = 9
"""Most compounds shown."""
_ID, _VALUE, _SMALL = 11.0, 9.5, 8.0
_ONE_LINE, _TWO_LINES = (28.0, 26.0, 24.0, 22.0), (24.0, 22.0, 20.0, 18.0)
"""Points of the title's letters, the largest that fits."""


def write(path: Path, contents: Contents, report: Report = silent) -> int:
    """Return the number of compounds in the shortlist that the slide is about; it is there whole or not at all."""
    write_whole(path, presentation(contents, report))
    return len(contents.compounds)


def presentation(contents: Contents, report: Report = silent) -> bytes:
    """Return the slide; the same bytes for the same contents. ``report`` may raise Cancelled."""
    report(0.0, "Drawing the slide")
    made = Presentation()
    _widen(made)
    slide = made.slides.add_slide(made.slide_layouts.get_by_name("Title Only"))
    status = contents.status
    _answer(slide, status)
    _figure(slide, status)
    report(0.4, "Drawing the best compounds")
    _best(slide, contents, report)
    _foot(slide, contents)
    slide.notes_slide.notes_text_frame.text = plain(f"{status.statement} {status.promise}")
    _properties(made, contents)
    stream = io.BytesIO()
    made.save(stream)
    report(1.0, "The slide is drawn")
    return _repacked(stream.getvalue())


def _widen(made: Any) -> None:
    """Make slide, master and layouts 16:9, so that a slide added to it fits too."""
    share = Inches(_WIDTH) / made.slide_width
    for page in (made.slide_master, *made.slide_layouts):
        for shape in page.placeholders:
            if shape._element.spPr.xfrm is not None:
                shape.left, shape.width = Emu(round(shape.left * share)), Emu(round(shape.width * share))
    made.slide_width, made.slide_height = Inches(_WIDTH), Inches(_HEIGHT)


def _answer(slide: Any, status: Status) -> None:
    """Write the answer as the slide's title, the rest of the statement below it."""
    first, rest = sentences(status.statement)
    guarantee = status.guarantee
    void = "" if guarantee.holds else f"No guarantee: {'; '.join(guarantee.void)}."
    title, width = slide.shapes.title, _TITLE.width
    size = next((s for s in _ONE_LINE if lines_of(first, s, width, bold=True) == 1), 0.0)
    size = size or next((s for s in _TWO_LINES if lines_of(first, s, width, bold=True) <= 2), 15.0)
    words = Words(cut_lines(first, size, width, 3, bold=True), size, bold=True)
    height = words.height(width)
    title.left, title.top = Inches(_TITLE.left), Inches(_TITLE.top)
    title.width, title.height = Inches(width), Inches(height)
    fill(title.text_frame, [words])
    for paragraph in title.text_frame.paragraphs:
        paragraph.alignment = PP_ALIGN.LEFT
    below = Box(_LEFT, _TITLE.top + height + 0.06, width, _TITLE.height - height)
    parts = []
    if void:
        parts.append(Words(cut_lines(void, 12.0, width, 2, bold=True), 12.0, bold=True))
    if rest:
        size = 14.0 if lines_of(rest, 14.0, width) == 1 and not void else 11.0
        room = below.height - sum(part.height(width) for part in parts)
        parts.append(Words(cut_lines(rest, size, width, max(1, int(room * 72.0 / (1.2 * size)))), size, quiet=True))
    if parts:
        add_text(slide.shapes, below, parts, "Answer in full")


def _figure(slide: Any, status: Status) -> None:
    size = (_FIGURE.width / _ENLARGED, _FIGURE.height / _ENLARGED)
    answer = picture_of(status)
    picture, caption = as_png(answer.draw(size, _DPI), _DPI), answer.caption
    place = (Inches(_FIGURE.left), Inches(_FIGURE.top), Inches(_FIGURE.width), Inches(_FIGURE.height))
    made = slide.shapes.add_picture(picture, *place)
    made.name = "Figure"
    describe(made, caption or "No estimates yet")
    if caption:
        add_text(
            slide.shapes, _CAPTION, [Words(cut_lines(caption, 9.0, _CAPTION.width, 3), 9.0, quiet=True)], "Caption"
        )


def _best(slide: Any, contents: Contents, report: Report) -> None:
    """Write the first compounds of the shortlist, and how many more there are."""
    total = len(contents.compounds)
    if not total:
        words = [Words("The shortlist is empty", 14.0, bold=True), Words(contents.what, 11.0, quiet=True)]
        add_text(slide.shapes, Box(_HEADING.left, _HEADING.top, _HEADING.width, 0.8), words, "Shortlist")
        return
    shown = _cards(slide, contents, contents.compounds[:_PICTURED].tolist(), report)
    head = "Shortlist" if shown == total else f"Shortlist: the first {shown} of {total:,}"
    if len(contents.status.requested_endpoints) == 1:
        head += f", {contents.status.endpoints[contents.status.objective].scale_name}"
    head = cut_lines(head, 14.0, _HEADING.width, 1, bold=True)
    words = [Words(head, 14.0, bold=True)]
    add_text(slide.shapes, _HEADING, words, "Shortlist")
    if shown < total:
        more = Box(_BEST.left, _BEST.top + _BEST.height - 0.24, _BEST.width, 0.24)
        add_text(slide.shapes, more, [Words(f"+ {total - shown:,} more", 11.0, quiet=True)], "More")


def _cards(slide: Any, contents: Contents, compounds: list[int], report: Report) -> int:
    """Add compounds, each a picture with its id and values below, or its substituents; return how many."""
    status = contents.status
    across = 2 if len(compounds) <= 4 else 3
    width = (_BEST.width - (across - 1) * _GAP) / across
    smiles = [plain(contents.structure(compound)) for compound in compounds]
    aligned = Aligned.of(status.library, smiles)
    pictured = [bool(text) and aligned.molecule(text) is not None for text in smiles]
    lines = compound_lines(status, compounds)
    texts = [_card_words(line, width, sites=not drawn) for line, drawn in zip(lines, pictured, strict=True)]
    tall = max(sum(part.height(width) for part in words) for words in texts)
    least = _LEAST if any(pictured) else 0.0
    room = _BEST.height - 0.28
    down = min(-(-len(compounds) // across), max(1, int((room + _GAP) / (tall + least + _GAP))))
    height = (room - (down - 1) * _GAP) / down
    picture = min(height - tall - 0.05, 0.72 * width) if least else 0.0
    size = (round(72 * width), round(72 * picture))
    bond = aligned.bond(smiles, *size) if least else 0.0
    shown = min(len(compounds), across * down)
    for k, (line, words) in enumerate(zip(lines[:shown], texts, strict=False)):
        report(0.4 + 0.5 * k / shown, f"Drawing compound {k + 1}")
        left = _BEST.left + (k % across) * (width + _GAP)
        top = _BEST.top + (k // across) * (picture + tall + 0.05 + _GAP)
        group = slide.shapes.add_group_shape()
        name = plain(status.library.ids[line.compound])
        group.name = name
        if pictured[k]:
            has = carried(status.library, line.compound)
            drawn = aligned.png(smiles[k], *size, carried=has, bond=bond, scale=4.0)
            assert drawn is not None  # its molecule was read
            place = (Inches(left), Inches(top), Inches(width), Inches(picture))
            made = group.shapes.add_picture(io.BytesIO(drawn), *place)
            describe(made, f"Structure of {name}: {smiles[k]}")
            made.name = f"Structure of {name}"
        add_text(group.shapes, Box(left, top + picture + 0.03, width, tall), words, f"Values of {name}")
    return shown


def _card_words(line: CompoundLine, width: float, *, sites: bool) -> list[Words]:
    texts = [number if len(line.values) == 1 else f"{name} {number}" for name, number in line.values]
    small = ["; ".join(filter(None, (line.rests_on, line.availability, line.confirmed)))]
    if sites:
        small.append(", ".join(f"{site} {name}" for site, name in line.sites.items()))
    return [
        Words(cut_lines(line.id, _ID, width, 2, bold=True), _ID, bold=True),
        *(Words(cut_lines(text, _VALUE, width, 2), _VALUE) for text in texts),
        *(Words(cut_lines(text, _SMALL, width, 2), _SMALL, quiet=True) for text in small),
    ]


def _foot(slide: Any, contents: Contents) -> None:
    """Write a small line: goal, guarantee, measurements, date, program, head."""
    status, guarantee = contents.status, contents.status.guarantee
    claim = guarantee.brief
    first = f"Goal: {status.goal_sentence}; {claim}"
    second = (
        f"{contents.title}; {status.measurements_used:,} measurements used; {contents.exported}; {contents.program}; "
        f"campaign head {status.head}"
    )
    size = 8.0
    words = [Words(cut_lines(text, size, _FOOT.width, 1), size, quiet=True) for text in (first, second)]
    add_text(slide.shapes, _FOOT, words, "Goal, guarantee and source")


def _properties(made: Any, contents: Contents) -> None:
    known = made.core_properties
    known.title, known.subject = plain(contents.title)[:255], plain(contents.status.goal_sentence)[:255]
    known.author = known.last_modified_by = plain(contents.program)[:255]
    known.created = known.modified = _date(contents.exported)
    known.keywords, known.revision = "", 1
    # The picture of an empty slide that the library's own template carries.
    package = made.part.package
    for key, relation in list(package._rels.items()):
        if relation.reltype == RELATIONSHIP_TYPE.THUMBNAIL:
            package._rels.pop(key)


def _date(text: str) -> datetime.datetime:
    """Return the first date and time in a text; the first day of 2000 where there is none."""
    digits = [int(part) for part in re.findall(r"\d+", text)]
    try:
        year, month, day, hour, minute = (digits if len(digits) > 4 else [*digits[:3], 0, 0])[:5]
        return datetime.datetime(year, month, day, hour, minute)
    except ValueError:
        return datetime.datetime(2000, 1, 1)


def _repacked(data: bytes) -> bytes:
    """Return the same file without the clock's time in it: the same contents make the same bytes."""
    stream = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(data)) as old, zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as new:
        for entry in old.infolist():
            fresh = zipfile.ZipInfo(entry.filename, (1980, 1, 1, 0, 0, 0))
            fresh.compress_type = zipfile.ZIP_DEFLATED
            new.writestr(fresh, old.read(entry))
    return stream.getvalue()
