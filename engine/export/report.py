"""The report of a campaign as PDF: the answer, the shortlist as cards or a table, the evidence, the history."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from matplotlib.figure import Figure
from reportlab.lib.colors import HexColor
from reportlab.platypus import Flowable, Image, KeepTogether, Spacer, Table

from ..campaign.state import Status
from ..figures.aligned import Aligned
from ..figures.cores import carried
from ..figures.palette import LIGHT
from ..figures.rounds import set_by_round
from ..models.report import Noise, model_report
from ..strategies.protocol import IN, NOT_ESTIMABLE, OUT, UNDECIDED
from ..system.progress import Report, silent
from ..text import intervals_are
from . import pictures
from .answer import picture_of
from .contents import Contents
from .formats import write_whole
from .measured import bounds_note
from .pdf_pages import (
    BARE,
    DENSITY,
    LINE,
    WIDTH,
    Pages,
    Progress,
    Structure,
    cut,
    heading,
    load_fonts,
    not_drawn,
    paragraph,
    ruled,
)
from .plain import CompoundLine, compound_lines, compound_rows, plain
from .sheet import Sheet
from .shortlist import AVAILABILITY_MEANS, chances, decimals_of

_INCH = 72.0
_HALF = (WIDTH - 12.0) / 2.0
_TINT = HexColor("#f4f6f9")
_LONGEST = 800
"""Characters of a text on the first page."""
_GOOD, _WARN = HexColor(LIGHT.status[1]), HexColor(LIGHT.cutoff)


def write(path: Path, contents: Contents, report: Report = silent) -> int:
    """Return the number of compounds in the shortlist of the report written, which is there whole or not at all."""
    write_whole(path, document(contents, report))
    return len(contents.compounds)


def document(contents: Contents, report: Report = silent) -> bytes:
    """Return the report; the same bytes for the same contents. ``report`` may raise Cancelled."""
    load_fonts()
    shown = min(len(contents.compounds), MOST)
    progress = Progress(report, shown + 40)
    story = _answer(contents)
    progress.step("Drawing the shortlist", 10)
    story += _shortlist(contents, progress)
    if not len(contents.compounds):  # the answer is all there is
        return _made(contents, story, progress, report)
    data = {endpoint: pictures.measured(contents.status, endpoint) for endpoint in contents.status.requested_endpoints}
    story += _contributions(contents.status, data)
    progress.step("Drawing the figures", 10)
    story += _agreement(contents.status, data)
    progress.step("Drawing the figures", 10)
    story += _rounds(contents)
    story += _settings(contents)
    return _made(contents, story, progress, report)


def _made(contents: Contents, story: list[Flowable], progress: Progress, report: Report) -> bytes:
    status, when = contents.status, contents.exported
    about = f"{status.name}, {when}"
    made = Pages(status, progress, title=contents.title, about=about, program=contents.program, when=when)
    pages = made.made(story)
    report(1.0, "The report is drawn")
    return pages


def _answer(contents: Contents) -> list[Flowable]:
    """Return the first page: what was found, how sure it is, and the figure that shows it."""
    status, guarantee = contents.status, contents.status.guarantee
    about = contents.exported if contents.title == status.name else f"{status.name}, {contents.exported}"
    parts = [
        paragraph("Answer" if status.finished else "So far", "label"),
        paragraph(_cut(status.statement), "answer"),
        Spacer(1, 3),
        paragraph("Goal", "label"),
        paragraph(_cut(status.goal_sentence)),
        paragraph(guarantee.label, "label"),
        paragraph(_cut(guarantee.without_assumptions)),
    ]
    if guarantee.holds and guarantee.assumptions:
        parts.append(paragraph("It assumes that", "label"))
        parts += [paragraph(_cut(text), "bullet", bullet="•") for text in guarantee.assumptions]
    # One row for each, so that it may go on on the next page.
    box = Table([[part] for part in parts], colWidths=[WIDTH])
    box.setStyle(
        [
            ("BACKGROUND", (0, 0), (-1, -1), _TINT),
            ("LINEBEFORE", (0, 0), (0, -1), 3.0, _GOOD if guarantee.holds else _WARN),
            ("LEFTPADDING", (0, 0), (-1, -1), 12),
            ("RIGHTPADDING", (0, 0), (-1, -1), 10),
            ("TOPPADDING", (0, 0), (-1, -1), 1),
            ("BOTTOMPADDING", (0, 0), (-1, -1), 1),
            ("TOPPADDING", (0, 0), (-1, 0), 9),
            ("BOTTOMPADDING", (0, -1), (-1, -1), 9),
        ]
    )
    answer = picture_of(status)
    figure = answer.draw((WIDTH / _INCH, 3.4), 100.0)
    story = [_title(contents.title), paragraph(_cut(about), "subtitle"), box, Spacer(1, 8), _tally(status)]
    story += [
        Spacer(1, 8),
        KeepTogether([_figure(figure), paragraph(answer.caption, "caption")]),
    ]
    if status.warnings:
        story += [paragraph("To be kept in mind", "label")]
        story += [paragraph(_cut(text), "bullet", bullet="•") for text in status.warnings]
    return [*story, *(paragraph(text, "caption") for text in not_drawn(_names(contents)))]


def _cut(text: str) -> str:
    """Return a text that fits half a page, without its end (…) where it would not."""
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}…"


def _title(text: str) -> Flowable:
    """Return the title, which is also an entry of the outline."""
    made = paragraph(_cut(text), "title")
    made.outline = ("Answer", 0)
    return made


def _names(contents: Contents) -> list[str]:
    """Every text of the user's that the report shows."""
    status = contents.status
    labels = [label for site in status.library.sites for label in (site.name, *site.substituents)]
    ids = [status.library.ids[compound] for compound in contents.compounds[:MOST]]
    return [contents.title, status.name, *labels, *ids, *(endpoint.name for endpoint in status.endpoints)]


def _tally(status: Status) -> Flowable:
    """Return the numbers of the campaign in a row."""
    counts = status.counts
    known = [
        (counts["in"], "in"),
        (counts["undecided"], "undecided"),
        (counts["out"], "out"),
        *(((counts["not_estimable"], "not estimable"),) if counts["not_estimable"] else ()),
        (status.measurements_used, "measurements used"),
        (status.rounds_made, "rounds"),
    ]
    cells = [[[paragraph(f"{count:,}", "large"), paragraph(word, "label")] for count, word in known]]
    row = Table(cells, colWidths=[WIDTH / len(known)] * len(known))
    row.setStyle([("LEFTPADDING", (0, 0), (-1, -1), 0), ("TOPPADDING", (0, 0), (-1, -1), 0)])
    return row


def _shortlist(contents: Contents, progress: Progress) -> list[Flowable]:
    status = contents.status
    compounds = contents.compounds[:MOST].tolist()
    story = heading("Shortlist", room=230.0)
    if not compounds:
        return [*story, paragraph(_cut(f"The shortlist is empty ({contents.what}). {status.statement}"))]
    left_out = len(contents.compounds) - len(compounds)
    more = f" The first {len(compounds):,} are shown; a table (csv, xlsx) holds all." if left_out else ""
    story.append(
        paragraph(
            f"{contents.what}.{more} {_intervals(status)} {AVAILABILITY_MEANS[:1].upper()}{AVAILABILITY_MEANS[1:]}",
            "caption",
        )
    )
    pictured = any(contents.structure(compound) for compound in compounds)
    return story + (cards if pictured else table)(contents, compounds, progress)


def _intervals(status: Status) -> str:
    """Return the note on the intervals of the shortlist."""
    kind, decided = status.guarantee.kind, bool(status.phases_decided)
    text = f"Estimates are from all measurements that count; intervals are {intervals_are(kind, decided=decided)}"
    note = ", so an estimate may be off the middle of its interval" if decided and kind != "calibrated" else ""
    return f"{text}{note}. {bounds_note(status)}".rstrip()


def _contributions(status: Status, measured: Mapping[int, pictures.Measured]) -> list[Flowable]:
    """Return the contribution of every substituent, for each measured endpoint."""
    title = "What each substituent adds"
    if not _additive(status):
        words = "Effects add up on the scale of this strategy's link, not on that of the values."
        return [*heading(title), paragraph(words)]
    parts: list[tuple[str, list[Flowable], float]] = []
    for endpoint, data in measured.items():
        name = status.endpoints[endpoint].scale_name
        found = pictures.contribution_figures(status, endpoint, data, WIDTH / _INCH) if len(data.rows) else []
        figures = [_figure(figure) for figure in found]
        none = "No site has more than one substituent." if len(data.rows) else "Nothing was measured yet."
        first = figures[0].drawHeight if figures else 20.0
        parts.append((name, [*figures] if figures else [paragraph(none)], first))
    # A heading stays with the first figures below it.
    story = heading(title, room=parts[0][2] + 125.0)
    story.append(
        paragraph(
            "Against the average of the measurements at the site, with 95 % intervals, the assay noise taken as given; "
            "n is the number of measurements of compounds that carry the substituent. Free-Wilson: what a substituent "
            "adds is taken to be the same whatever else a compound carries.",
            "caption",
        )
    )
    for name, flowables, first in parts:
        if len(parts) > 1:
            story += heading(name, 1, room=first + 30.0)
        story += flowables
    return story


def _figure(figure: Figure) -> Image:
    """Return a figure as a picture of the same size."""
    width, height = figure.get_size_inches()
    return Image(pictures.as_png(figure, _INCH * DENSITY), _INCH * width, _INCH * height, hAlign="LEFT")


def _additive(status: Status) -> bool:
    """Whether effects add up on the scale of the values."""
    return str(status.settings.parameters.get("link", "identity")) == "identity"


def _agreement(status: Status, measured: Mapping[int, pictures.Measured]) -> list[Flowable]:
    """Return measured against predicted values, and the verdict on the model, for each measured endpoint."""
    story = heading("Measured against predicted", room=285.0)
    if not _additive(status):
        return [*story, paragraph("Not shown: effects add up on the scale of this strategy's link.")]
    for endpoint, data in measured.items():
        own = status.endpoints[endpoint]
        if not len(data.rows):
            story.append(paragraph(f"Nothing was measured yet for {own.scale_name}."))
            continue
        noise = None if own.noise_sd is None else Noise(own.noise_sd)
        judged = model_report(status.library, data.rows, data.means, data.counts, noise, own.scale_name)
        figure = _figure(pictures.agreement_figure(status, endpoint, data, (_HALF / _INCH, _HALF / _INCH)))
        digits = decimals_of(status)
        rows = [["Furthest from the model", "measured", "fitted", "in SDs"]]
        rows += [
            [w.id, f"{w.measured:.{digits}f}", f"{w.fitted:.{digits}f}", f"{w.standardised:+.1f}"] for w in judged.worst
        ]
        right: list[Flowable] = [Spacer(1, 14), paragraph(judged.sentence), Spacer(1, 6)]
        if judged.worst:
            right.append(ruled(rows, _HALF))
        both = Table([[figure, right]], colWidths=[_HALF + 12.0, _HALF])
        both.setStyle(BARE)
        story.append(both)
    return story


def _rounds(contents: Contents) -> list[Flowable]:
    """Return the history of the set, and the measurements requested in each round."""
    status = contents.status
    story = heading("Rounds", room=190.0)
    if not status.rounds:
        return [*story, paragraph("No round was issued yet.")]
    if any(issued.state == "closed" for issued in status.rounds):
        figure = _figure(set_by_round(status.sets, size=(_HALF * 1.2 / _INCH, 1.9)))
        story.append(KeepTogether([figure, paragraph("Compounds in and undecided after each round.", "caption")]))
    sheet = contents.rounds
    hidden = {"Endpoints"} if len(set(sheet.column("Endpoints"))) == 1 else set()
    return [*story, _sheet(sheet.only([name for name in sheet.header if name not in hidden]))]


def _settings(contents: Contents) -> list[Flowable]:
    return [*heading("Settings", room=150.0), _sheet(contents.settings)]


def _sheet(sheet: Sheet) -> Flowable:
    """Return a table as wide as the page."""
    return ruled([sheet.header, *sheet.texts()], WIDTH, fill=True)


MOST = 1_000
"""Compounds shown, to keep the report short; csv and xlsx have them all."""

_ACROSS, _GAP, _PAD = 3, 8.0, 6.0
_CARD = (WIDTH - (_ACROSS - 1) * _GAP) / _ACROSS
_INSIDE = _CARD - 2.0 * _PAD
_PICTURE = (int(_INSIDE), 82)
_ID_LINES, _LINES = 14, 3
"""Lines of an id, and of any other text of a card, which must fit a page."""
_SITES = 8
"""Substituents that stand in place of a picture."""
_SCALED = 100
"""Structures that the size of all pictures is found from, evenly taken."""
_MARKS = {IN: "●", UNDECIDED: "◆", OUT: "○", NOT_ESTIMABLE: "×"}
"""As in the figures: never a colour alone."""


def cards(contents: Contents, compounds: Sequence[int], progress: Progress) -> list[Flowable]:
    """Rows of cards, one for each compound in the order given, each structure turned to the library's core."""
    library = contents.status.library
    smiles = [plain(contents.structure(compound)) for compound in compounds]
    aligned = Aligned.of(library, smiles)
    bond = aligned.bond(smiles[:: max(1, len(smiles) // _SCALED)], *_PICTURE)
    made = []
    for rank, (line, text) in enumerate(zip(compound_lines(contents.status, compounds), smiles, strict=True), start=1):
        progress.step(f"Drawing compound {rank:,}", 1)
        png = None
        if text:
            png = aligned.png(text, *_PICTURE, scale=DENSITY, carried=carried(library, line.compound), bond=bond)
        made.append([*_picture(line, rank, png), *_words(contents.status, line)])
    return [_row(made[k : k + _ACROSS]) for k in range(0, len(made), _ACROSS)]


def _row(members: Sequence[list[Flowable]]) -> Flowable:
    """Return cards side by side, all as high as the highest."""
    cells: list[list[Flowable] | str] = [""] * (2 * _ACROSS - 1)
    cells[: 2 * len(members) : 2] = members
    style = [
        ("VALIGN", (0, 0), (-1, -1), "TOP"),
        *((f"{side}PADDING", (0, 0), (-1, -1), _PAD) for side in ("LEFT", "RIGHT", "TOP", "BOTTOM")),
        *(("BOX", (2 * k, 0), (2 * k, 0), 0.7, LINE) for k in range(len(members))),
    ]
    return Table([cells], colWidths=[_CARD, _GAP] * (_ACROSS - 1) + [_CARD], style=style, spaceAfter=_GAP)


def _picture(line: CompoundLine, rank: int, png: bytes | None) -> list[Flowable]:
    """Return the structure with the rank in its corner, or the substituents where there is none."""
    if png is not None:
        return [Structure(png, *_PICTURE, corner=str(rank))]
    sites = [f"{site}  {name}" for site, name in line.sites.items()]
    if len(sites) > _SITES:
        sites = [*sites[: _SITES - 1], f"and {len(sites) - _SITES + 1} more sites"]
    texts = [str(rank), "structure not known", *sites]
    return [paragraph(cut(text, _INSIDE, _LINES), "quiet") for text in texts]


def _words(status: Status, line: CompoundLine) -> list[Flowable]:
    """Return the texts of a card below its picture."""
    compound, code = line.compound, int(status.candidates.status[line.compound])
    texts = [(f"{name} {number}", False) for name, number in line.values]
    if code == UNDECIDED:
        texts += [(f"P({name}) {chance[compound]:.2f}", False) for name, chance in chances(status).items()]
    texts.append((f"{line.rests_on}; {line.availability}", True))
    if line.confirmed:
        # A compound that was not confirmed is emphasised.
        texts.append((line.confirmed, compound not in status.confirmation.not_confirmed))
    return [
        paragraph(cut(line.id, _INSIDE, _ID_LINES, "id"), "id"),
        paragraph(cut(line.state, _INSIDE, _LINES), "cell", bullet=_MARKS[code], colour=HexColor(LIGHT.status[code])),
        *(paragraph(cut(text, _INSIDE, _LINES), "quiet" if quiet else "cell") for text, quiet in texts),
    ]


def table(contents: Contents, compounds: Sequence[int], progress: Progress) -> list[Flowable]:
    """Return the shortlist as a table, one row for each compound in the order given: where no structure is known."""
    status = contents.status
    lines = compound_lines(status, compounds)
    more = ["Confirmed"] if status.confirmation.rounds else []
    header, *cells = compound_rows(status.library, lines)
    rows = [["", *header, "Status", "Evidence", "Availability", *more]]
    for k, (line, own) in enumerate(zip(lines, cells, strict=True), start=1):
        progress.step(f"Compound {k:,}", 1)
        state = line.state.replace("decided in round", "round")
        rows.append([str(k), *own, state, line.rests_on, line.availability, *([line.confirmed] if more else [])])
    return [ruled(rows, WIDTH, fill=True)]
