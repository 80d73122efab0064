"""The printed page of a round: its plates as pictures, and every compound with boxes for what comes back."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import partial
from pathlib import Path
from typing import NamedTuple

from reportlab.pdfbase.pdfmetrics import stringWidth
from reportlab.platypus import CondPageBreak, Flowable, KeepTogether, LongTable, Spacer, Table

from ..campaign.phrases import many
from ..campaign.state import Round, RoundItem, Status
from ..chemistry.names import carried_names
from ..domain.plates.layout import Layout
from ..figures.aligned import Aligned
from ..system.progress import Report, silent
from .pdf_pages import (
    BARE,
    BOLD,
    MUTED,
    REGULAR,
    RULES,
    WIDTH,
    Drawn,
    Pages,
    Progress,
    cut,
    fitted,
    load_fonts,
    not_drawn,
    paragraph,
)
from .plain import interval, plain
from .plate_drawing import draw_legend, draw_plate, legend_height, plate_height
from .report_vector import Structure
from .shortlist import decimals_of, structure
from .whole import write_whole

_PICTURE = (112, 68)
"""Points of a structure."""
_RANK = 26.0
_VALUE, _BOX = 70.0, 16.0
"""Points of a box for a value: its width, and its height."""
_LABEL, _PLATE, _WELLS, _UNIT = 92.0, 60.0, 84.0, 30.0
"""Points at most for what a measurement is, its plate, its wells and its unit."""
_APART = 8.0
_WORDS = 8.0
_ID_LINES, _LINES = 4, 2
"""Lines of an id, and of any other text of a compound."""
_MOST = 36
"""Measurements of a compound that stand on one page."""
_NAMED = 8
"""Plates named in the head."""
_RULE, _BLANK = "____________", "______"


class _Line(NamedTuple):
    """One measurement as the page lists it."""

    label: str
    """Endpoint and replicate, as far as they need saying."""
    plate: str
    wells: str
    unit: str


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
    progress = Progress(report, len(issued.items) + 1)
    story = _head(status, issued, layout)
    if layout is not None:
        story += _plates(status, issued, layout)
    story += _list(status, issued, layout, progress)
    about = f"{status.name}, round {issued.number}"
    pages = Pages(
        status,
        progress,
        title=f"{about}: work list",
        about=about,
        program=f"{program}, {printed}",
        when=printed,
    )
    return pages.made(story)


def _head(status: Status, issued: Round, layout: Layout | None) -> list[Flowable]:
    """Return the title, what the round is, and lines to be signed."""
    measured, compounds = many(issued.measurements, "measurement"), many(len(issued.items), "compound")
    said = [f"{measured} of {compounds}, issued {issued.issued[:10]}"]
    if layout is not None:
        count = len(layout.plates)
        names_of = ", ".join(plate.name for plate in layout.plates[:_NAMED]) + ", …" * (count > _NAMED)
        said.append(f"{many(count, 'plate')} of {layout.use.size:,} wells: {names_of}")
    said += [status.goal_sentence, *not_drawn(_names(status, issued))]
    signed = [[paragraph(f"{what}  {_RULE}", "label") for what in ("Tested on", "By", "Batch of reagents")]]
    return [
        paragraph(f"Work list, round {issued.number}", "label"),
        paragraph(cut(status.name, WIDTH, _LINES, "title"), "title"),
        *(paragraph(cut(text, WIDTH, _LINES + 1, "body")) for text in said),
        Spacer(1, 5),
        Table(signed, colWidths=[WIDTH / 3] * 3, style=BARE),
        Spacer(1, 10),
    ]


def _names(status: Status, issued: Round) -> list[str]:
    """Every text of the user that the page shows."""
    library = status.library
    labels = [text for item in issued.items for text in library.substituents(item.compound).values()]
    ids = [library.ids[item.compound] for item in issued.items]
    return [status.name, *ids, *labels, *(site.name for site in library.sites), *(e.name for e in status.endpoints)]


def _plates(status: Status, issued: Round, layout: Layout) -> list[Flowable]:
    """Return the plates, each whole on a page, and the legend below the first."""
    ranks = {item.compound: rank for rank, item in enumerate(issued.items, start=1)}
    story: list[Flowable] = []
    for plate in layout.plates:
        names = " and ".join(status.endpoints[k].name for k in plate.endpoints)
        title = paragraph(cut(f"Plate {plate.name}: {names}", 0.6 * WIDTH, 1, "subheading"), "subheading")
        code = paragraph(f"Barcode  {_RULE}{_RULE}", "label")
        draw = partial(draw_plate, layout=layout, plate=plate, ranks=ranks, x=0.0, width=WIDTH)
        parts: list[Flowable] = [
            Table([[title, code]], colWidths=[0.6 * WIDTH, 0.4 * WIDTH], style=BARE),
            Drawn(WIDTH, plate_height(layout, WIDTH), draw),
            Spacer(1, 8),
        ]
        if not story:
            parts.append(
                Drawn(WIDTH, legend_height(layout, WIDTH), partial(draw_legend, layout=layout, x=0.0, width=WIDTH))
            )
        story.append(KeepTogether(parts))
    return story


def _lines(status: Status, issued: Round, layout: Layout | None, item: RoundItem) -> list[_Line]:
    """Return the measurements of a compound, one endpoint after the other."""
    lines = []
    for place, k in enumerate(issued.endpoints):
        endpoint = status.endpoints[k]
        for replicate in range(1, item.of(place) + 1):
            label = endpoint.name if len(issued.endpoints) > 1 else ""
            label += f" r{replicate}" if item.of(place) > 1 else ""
            plate, wells = _BLANK, _BLANK
            if layout is not None:
                on, placed = layout.find(item.compound, replicate, k)
                plate, wells = on.name, placed.range
            lines.append(_Line(label.strip(), plate, wells, endpoint.unit))
    return lines


def _columns(lines: Iterable[_Line]) -> list[float]:
    """Return the widths of what a measurement's line holds: as its widest texts need, within bounds; then its box."""
    rows = [_Line("", "Plate", "Wells", ""), *lines]
    wanted = [max(stringWidth(plain(line[k]), REGULAR, _WORDS) for line in rows) for k in range(len(rows[0]))]
    bounds = (_LABEL, _PLATE, _WELLS, _UNIT)
    return [*(min(one, most) + _APART if one else 0.0 for one, most in zip(wanted, bounds, strict=True)), _VALUE]


def _list(status: Status, issued: Round, layout: Layout | None, progress: Progress) -> list[Flowable]:
    """Return the compounds as a table whose header stands on every page; one of very many measurements goes on."""
    smiles = [structure(status, item.compound) for item in issued.items]
    aligned = Aligned.of(status.library, smiles)
    lines = [_lines(status, issued, layout, item) for item in issued.items]
    boxes = _columns(line for its in lines for line in its)
    picture = _PICTURE[0] + _APART if any(smiles) else 0.0
    words = WIDTH - _RANK - picture - sum(boxes)
    header = Table([["", "Plate", "Wells", "", "Value"]], colWidths=boxes, style=_boxes(header=True))
    rows: list[list[object]] = [[paragraph("Compounds in order of rank", "head"), "", "", header]]
    for rank, (item, text, its) in enumerate(zip(issued.items, smiles, lines, strict=True), start=1):
        progress.step(f"Compound {rank:,} of {len(issued.items):,}", 1)
        svg = aligned.svg(text, *_PICTURE) if text else None
        said = _said(status, item, words - _APART)
        for start in range(0, max(len(its), 1), _MOST):
            shown: list[object] = [paragraph(f"{rank}", "head"), "", said[:1], _measured(its[start:][:_MOST], boxes)]
            if start == 0:
                shown[1:3] = "" if svg is None else Structure(svg, *_PICTURE), said
            rows.append(shown)
    style = [*RULES, ("SPAN", (0, 0), (2, 0)), ("RIGHTPADDING", (0, 0), (-1, -1), 0.0)]
    sizes = [_RANK, picture, words, sum(boxes)]
    return [CondPageBreak(24 + 2 * _PICTURE[1]), LongTable(rows, colWidths=sizes, repeatRows=1, style=style)]


def _said(status: Status, item: RoundItem, width: float) -> list[Flowable]:
    """Return what the page says of a compound: its id, what it carries, what is expected, why it was picked."""
    digits, scale = decimals_of(status), status.endpoints[status.objective].scale_name
    texts = [(f"{site}  {name}", "cell") for site, name in carried_names(status.library, item.compound).items()]
    if item.expected is not None and item.low is not None and item.high is not None:
        told = interval(f"{item.expected:.{digits}f}", item.low, item.high, digits)
        texts.append((f"expected {scale} {told}", "quiet"))
    texts.append((item.reason, "quiet"))
    name = paragraph(cut(status.library.ids[item.compound], width, _ID_LINES, "id"), "id")
    return [name, *(paragraph(cut(text, width, _LINES), style) for text, style in texts)]


def _measured(lines: Sequence[_Line], boxes: Sequence[float]) -> Table | str:
    """Return measurements, one below the other: what each is of, where it stands, and a box for its value."""
    rows = [
        [*(fitted(text, REGULAR, _WORDS, width - _APART) for text, width in zip(line, boxes[:4], strict=True)), ""]
        for line in lines
    ]
    return Table(rows, colWidths=boxes, rowHeights=_BOX, style=_boxes()) if rows else ""


def _boxes(*, header: bool = False) -> list[tuple[object, ...]]:
    """Return the style of measurements, with boxes below the header."""
    style: list[tuple[object, ...]] = [
        *BARE,
        ("FONT", (0, 0), (-1, -1), BOLD if header else REGULAR, 7.0 if header else _WORDS),
        ("TEXTCOLOR", (3, 0), (3, -1), MUTED),
        ("ALIGN", (3, 0), (3, -1), "RIGHT"),
        ("RIGHTPADDING", (3, 0), (3, -1), 3.0),
    ]
    return style if header else [*style, ("GRID", (4, 0), (4, -1), 0.6, MUTED), ("VALIGN", (0, 0), (-1, -1), "MIDDLE")]
