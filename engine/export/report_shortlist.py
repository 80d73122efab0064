"""The shortlist of the report: a card with a picture for each compound, or a table where no structures are known."""

from __future__ import annotations

from collections.abc import Sequence

from reportlab.lib.colors import HexColor
from reportlab.platypus import Flowable, Table

from ..campaign.state import Status
from ..figures.aligned import Aligned
from ..figures.cores import carried
from ..figures.palette import LIGHT
from ..strategies.protocol import IN, NOT_ESTIMABLE, OUT, UNDECIDED
from .contents import Contents
from .pdf_pages import LINE, WIDTH, Progress, cut, paragraph, ruled
from .plain import CompoundLine, compound_lines, plain, site_cells
from .report_vector import Structure
from .shortlist import chances

MOST = 1_000
"""Compounds shown: nobody reads a report of more pages, and csv and xlsx hold them all."""

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
        svg = None
        if text:
            svg = aligned.svg(text, *_PICTURE, carried=carried(library, line.compound), bond=bond)
        made.append([*_picture(line, rank, svg), *_words(contents.status, line)])
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


def _picture(line: CompoundLine, rank: int, svg: str | None) -> list[Flowable]:
    """Return the structure with the rank in its corner, or the substituents where there is none."""
    if svg is not None:
        return [Structure(svg, *_PICTURE, corner=str(rank))]
    sites = [f"{site}  {name}" for site, name in line.sites.items()]
    if len(sites) > _SITES:
        sites = [*sites[: _SITES - 1], f"and {len(sites) - _SITES + 1} more sites"]
    texts = [str(rank), "structure not known", *sites]
    return [paragraph(cut(text, _INSIDE, _LINES), "quiet") for text in texts]


def _words(status: Status, line: CompoundLine) -> list[Flowable]:
    """Return what a card says below its picture."""
    compound, code = line.compound, int(status.candidates.status[line.compound])
    texts = [(f"{name} {number}", False) for name, number in line.values]
    if code == UNDECIDED:
        texts += [(f"P({name}) {chance[compound]:.2f}", False) for name, chance in chances(status).items()]
    texts.append((f"{line.rests_on}; {line.availability}", True))
    if line.confirmed:
        # What was not confirmed is not said quietly.
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
    scales = [name for name, _ in lines[0].values] if lines else []
    sites, carried_by = site_cells(status.library, lines)
    more = ["Confirmed"] if status.confirmation.rounds else []
    rows = [["", "ID", *sites, *scales, "Status", "Evidence", "Availability", *more]]
    for k, (line, carries) in enumerate(zip(lines, carried_by, strict=True)):
        progress.step(f"Compound {k + 1:,}", 1)
        rows.append(
            [
                str(k + 1),
                line.id,
                *carries,
                *(number for _, number in line.values),
                line.state.replace("decided in round", "round"),
                line.rests_on,
                line.availability,
                *([line.confirmed] if more else []),
            ]
        )
    return [ruled(rows, WIDTH, fill=True)]
