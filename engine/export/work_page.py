"""The printed page of a round: its plates as pictures, and every compound with boxes for what comes back."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from reportlab.lib.colors import Color, HexColor
from reportlab.pdfbase.pdfmetrics import stringWidth
from reportlab.platypus import CondPageBreak, Flowable, KeepTogether, LongTable, Spacer, Table

from ..campaign.issued_rounds import Round, RoundItem
from ..campaign.state import Status
from ..chemistry.names import carried_names
from ..domain.plates import Layout, Plate, Well
from ..figures.aligned import Aligned
from ..system.progress import Report, silent
from ..text import in_letters, many
from .formats import write_whole
from .pdf_pages import (
    BARE,
    BOLD,
    DENSITY,
    INK,
    MUTED,
    REGULAR,
    RULES,
    WIDTH,
    Pages,
    Progress,
    Structure,
    cut,
    fitted,
    load_fonts,
    not_drawn,
    paragraph,
)
from .plain import interval, plain
from .shortlist import decimals_of, structure

_PICTURE = (112, 68)
"""Points of a structure."""
_RANK = 26.0
_VALUE, _BOX = 70.0, 16.0
"""Points of a box for a value: its width, and its height."""
_LABEL, _PLATE, _WELLS, _UNIT = 92.0, 60.0, 84.0, 30.0
"""Points at most for what a measurement is, its plate, its wells and its unit."""
_GAP = 8.0
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

    Each compound has its structure if known, its substituents and its expected value. Each measurement has its plate,
    its wells and an empty box; without a ``layout`` plate and well are left to be written in. The same for the same
    campaign, layout and ``printed``, a date and time as text. ``report`` may raise Cancelled.
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
    texts = [f"{measured} of {compounds}, issued {issued.issued[:10]}"]
    if layout is not None:
        count = len(layout.plates)
        names_of = ", ".join(plate.name for plate in layout.plates[:_NAMED]) + ", …" * (count > _NAMED)
        texts.append(f"{many(count, 'plate')} of {layout.use.size:,} wells: {names_of}")
    texts += [status.goal_sentence, *not_drawn(_names(status, issued))]
    signed = [[paragraph(f"{what}  {_RULE}", "label") for what in ("Tested on", "By", "Batch of reagents")]]
    return [
        paragraph(f"Work list, round {issued.number}", "label"),
        paragraph(cut(status.name, WIDTH, _LINES, "title"), "title"),
        *(paragraph(cut(text, WIDTH, _LINES + 1, "body")) for text in texts),
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
        parts: list[Flowable] = [
            Table([[title, code]], colWidths=[0.6 * WIDTH, 0.4 * WIDTH], style=BARE),
            plate_table(layout, plate, ranks, WIDTH),
            Spacer(1, 8),
        ]
        story.append(KeepTogether(parts if story else [*parts, legend(layout, WIDTH), Spacer(1, 8)]))
    return story


class _Look(NamedTuple):
    """How a well is shown."""

    text: str = ""
    ground: Color | None = None
    ink: Color = INK


_PALE, _FAINT, _SHUT, _WELL = HexColor("#dbe8fb"), HexColor("#f0f5fd"), HexColor("#e3e7ed"), HexColor("#b9c1cc")
_CONTROLS = (("#f2b84b", "#1c2430"), ("#4a5566", "#ffffff"), ("#c7b2e8", "#1c2430"), ("#0b7a5c", "#ffffff"))
"""Ground and ink of the controls in their order; they repeat where there are more, and letters distinguish them."""
_RIM, _LARGEST, _SAMPLE = 15.0, 36.0, 20.0
"""Points for the letters of the rows and the numbers of the columns; of a well at most, and of one in the legend."""
_ACROSS = 2
"""Entries of the legend in a row."""


def plate_table(layout: Layout, plate: Plate, ranks: Mapping[int, int], width: float) -> Table:
    """Return a plate, each measurement with the rank of its compound in its first well and a frame around all of them.

    Where a compound has several measurements, r2 below its rank is the second one.
    """
    use, shape = layout.use, layout.use.format
    step = min(_LARGEST, (width - _RIM) / shape.columns)
    looks = {well: _control(layout, name) for well, name in use.control_wells().items()}
    several = _several(layout)
    for well, (placed, point) in plate.contents().items():
        replicate = f"\nr{placed.replicate}" if placed.compound in several else ""
        looks[well] = _Look(f"{ranks[placed.compound]}{replicate}", _PALE) if point == 1 else _Look("", _FAINT)
    rows = [["", *(str(column + 1) for column in range(shape.columns))]]
    style: list[tuple[object, ...]] = [("GRID", (1, 1), (-1, -1), min(0.6, 0.03 * step), _WELL)]
    for row in range(shape.rows):
        rows.append([in_letters(row)])
        for column in range(shape.columns):
            edge = row in (0, shape.rows - 1) or column in (0, shape.columns - 1)
            look = looks.get(Well(row, column)) or _Look("", _SHUT if edge and not use.edge else None)
            rows[-1].append(look.text)
            style += _of_well(look, (column + 1, row + 1))
    for one in plate.placed:
        at = [(well.column + 1, well.row + 1) for well in one.wells]
        style.append(("BOX", tuple(map(min, *at, at[0])), tuple(map(max, *at, at[0])), min(0.9, 0.05 * step), _EDGE))
    words = [line for row in rows for text in row for line in text.split("\n")]
    size = min(8.0, step / 2.7, (step - 1.5) / max(stringWidth(word, REGULAR, 1.0) for word in words))
    return Table(
        rows,
        colWidths=[_RIM, *[step] * shape.columns],
        rowHeights=[_RIM, *[step] * shape.rows],
        style=[*_CENTRED, ("FONT", (0, 0), (-1, -1), REGULAR, size, 1.1 * size), *style],
        hAlign="LEFT",
    )


_EDGE = HexColor("#1f5fbf")
_CENTRED = [*BARE, ("ALIGN", (0, 0), (-1, -1), "CENTER"), ("VALIGN", (0, 0), (-1, -1), "MIDDLE")]


def _of_well(look: _Look, at: tuple[int, int]) -> list[tuple[object, ...]]:
    ground = [] if look.ground is None else [("BACKGROUND", at, at, look.ground)]
    return [*ground, ("TEXTCOLOR", at, at, look.ink)] if look.text else [*ground]


def _several(layout: Layout) -> set[int]:
    """Return the compounds that are measured more than once."""
    return {one.compound for plate in layout.plates for one in plate.placed if one.replicate > 1}


def _control(layout: Layout, name: str) -> _Look:
    """Return the look of a control: first and last letter of its name where these are unique, else C1, C2, ..."""
    names = [control.name for control in layout.use.controls]
    letters = [f"{name.strip()[0]}{name.strip()[-1]}".upper() for name in names]
    if len(set(letters)) < len(letters):
        letters = [f"C{place}" for place in range(1, len(names) + 1)]
    place = names.index(name)
    ground, ink = map(HexColor, _CONTROLS[place % len(_CONTROLS)])
    return _Look(letters[place], ground, ink)


def legend(layout: Layout, width: float) -> Table:
    """Return the legend of the plates, limited to their contents."""
    long = any(len(one.wells) > 1 for plate in layout.plates for one in plate.placed)
    entries = [(_Look("1", _PALE), "compound 1 of the list" + (": its first well" if long else ""))]
    entries += [(_Look("", _FAINT), "further wells of the same measurement")] if long else []
    entries += [(_Look("1\nr2", _PALE), "its second measurement")] if _several(layout) else []
    entries += [(_control(layout, one.name), f"{one.name} control") for one in layout.use.controls]
    entries += [(_Look(), "empty"), *([] if layout.use.edge else [(_Look("", _SHUT), "edge, not used")])]
    rows: list[list[object]] = []
    style: list[tuple[object, ...]] = []
    for place, (look, words) in enumerate(entries):
        row, column = divmod(place, _ACROSS)
        rows += [[""] * (2 * _ACROSS)] if column == 0 else []
        rows[row][2 * column : 2 * column + 2] = look.text, words
        at = (2 * column, row)
        style += [
            *_of_well(look, at),
            ("BOX", at, at, 0.6, _WELL),
            ("ALIGN", (at[0] + 1, row), (at[0] + 1, row), "LEFT"),
        ]
        style += [("LEFTPADDING", (at[0] + 1, row), (at[0] + 1, row), 5.0)]
    sizes = [_SAMPLE, width / _ACROSS - _SAMPLE] * _ACROSS
    style = [*_CENTRED, ("FONT", (0, 0), (-1, -1), REGULAR, 7.5, 8.0), *style]
    return Table(rows, colWidths=sizes, rowHeights=_SAMPLE, style=style, hAlign="LEFT")


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
    """Return the widths of a measurement's columns: as their widest texts need, within bounds; then its box."""
    rows = [_Line("", "Plate", "Wells", ""), *lines]
    widths = [max(stringWidth(plain(line[k]), REGULAR, _WORDS) for line in rows) for k in range(len(rows[0]))]
    bounds = (_LABEL, _PLATE, _WELLS, _UNIT)
    return [*(min(one, most) + _GAP if one else 0.0 for one, most in zip(widths, bounds, strict=True)), _VALUE]


def _list(status: Status, issued: Round, layout: Layout | None, progress: Progress) -> list[Flowable]:
    """Return the compounds as a table with its header on every page; compounds with many measurements span rows."""
    smiles = [structure(status, item.compound) for item in issued.items]
    aligned = Aligned.of(status.library, smiles)
    lines = [_lines(status, issued, layout, item) for item in issued.items]
    boxes = _columns(line for its in lines for line in its)
    picture = _PICTURE[0] + _GAP if any(smiles) else 0.0
    words = WIDTH - _RANK - picture - sum(boxes)
    header = Table([["", "Plate", "Wells", "", "Value"]], colWidths=boxes, style=_boxes(header=True))
    rows: list[list[object]] = [[paragraph("Compounds in order of rank", "head"), "", "", header]]
    for rank, (item, text, its) in enumerate(zip(issued.items, smiles, lines, strict=True), start=1):
        progress.step(f"Compound {rank:,} of {len(issued.items):,}", 1)
        png = aligned.png(text, *_PICTURE, scale=DENSITY) if text else None
        body = _description(status, item, words - _GAP)
        for start in range(0, max(len(its), 1), _MOST):
            shown: list[object] = [
                paragraph(f"{rank}", "head"),
                "",
                body[:1],
                _measured(its[start:][:_MOST], boxes),
            ]
            if start == 0:
                shown[1:3] = "" if png is None else Structure(png, *_PICTURE), body
            rows.append(shown)
    style = [*RULES, ("SPAN", (0, 0), (2, 0)), ("RIGHTPADDING", (0, 0), (-1, -1), 0.0)]
    sizes = [_RANK, picture, words, sum(boxes)]
    return [CondPageBreak(24 + 2 * _PICTURE[1]), LongTable(rows, colWidths=sizes, repeatRows=1, style=style)]


def _description(status: Status, item: RoundItem, width: float) -> list[Flowable]:
    """Return the page's texts about a compound: id, substituents, expected value and reason."""
    digits, scale = decimals_of(status), status.endpoints[status.objective].scale_name
    texts = [(f"{site}  {name}", "cell") for site, name in carried_names(status.library, item.compound).items()]
    if item.expected is not None and item.low is not None and item.high is not None:
        predicted = interval(f"{item.expected:.{digits}f}", item.low, item.high, digits)
        texts.append((f"expected {scale} {predicted}", "quiet"))
    texts.append((item.reason, "quiet"))
    name = paragraph(cut(status.library.ids[item.compound], width, _ID_LINES, "id"), "id")
    return [name, *(paragraph(cut(text, width, _LINES), style) for text, style in texts)]


def _measured(lines: Sequence[_Line], boxes: Sequence[float]) -> Table | str:
    """Return measurements in rows: endpoint and replicate, plate and wells, and a box for the value."""
    rows = [
        [*(fitted(text, REGULAR, _WORDS, width - _GAP) for text, width in zip(line, boxes[:4], strict=True)), ""]
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
