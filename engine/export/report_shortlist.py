"""The shortlist of the report: a card with a picture for each compound, or a table where no structures are known."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from reportlab.lib.colors import HexColor, white
from reportlab.pdfgen.canvas import Canvas
from reportlab.platypus import Flowable

from ..campaign.state import Status
from ..figures.aligned import Aligned
from ..figures.cores import carried
from ..figures.palette import LIGHT
from ..strategies.protocol import IN, NOT_ESTIMABLE, OUT, UNDECIDED
from .contents import Contents
from .plain import CompoundLine, compound_lines, named_by_substituents, plain
from .report_page import WIDTH, Progress, ruled
from .report_text import BOLD, INK, LINE, MUTED, REGULAR, fitted, wrapped
from .report_vector import draw_structure
from .shortlist import chances

MOST = 1_000
"""Compounds shown: nobody reads a report of more pages, and csv and xlsx hold them all."""

_ACROSS, _GAP, _PAD = 3, 8.0, 6.0
_CARD = (WIDTH - (_ACROSS - 1) * _GAP) / _ACROSS
_INSIDE = _CARD - 2.0 * _PAD
_PICTURE = 82.0
_ID, _ID_LEADING, _SMALL, _LEADING = 8.5, 11.0, 7.0, 9.4
_ID_LINES, _LINES, _ALL_LINES = 14, 3, 40
"""Lines of an id, of any other text, and of a card, which must fit a page."""
_SCALED = 100
"""Structures that the size of all pictures is found from, evenly taken."""
_MARK = 9.0
"""Points that the mark of a status takes before its words."""
_SITES_APART = 5
"""Sites that get columns of their own in the table."""


@dataclass(frozen=True, slots=True)
class _Card:
    rank: int
    smiles: str
    carried: Mapping[int, str]
    """What stands at which site, for the picture."""
    substituents: tuple[str, ...]
    """One line per site, which stand where there is no picture."""
    name: tuple[str, ...]
    status: int
    state: tuple[str, ...]
    lines: tuple[tuple[str, bool], ...]
    """Words, and whether they are quiet."""

    @property
    def height(self) -> float:
        words = _ID_LEADING * len(self.name) + _LEADING * (len(self.state) + len(self.lines))
        return _PICTURE + words + 2.0 * _PAD + 3.0


def cards(contents: Contents, compounds: Sequence[int], progress: Progress) -> list[Flowable]:
    """Rows of cards, one for each compound in the order given, each structure turned to the library's core."""
    library = contents.status.library
    smiles = [plain(contents.structure(compound)) for compound in compounds]
    aligned = Aligned(library.scaffold.cores if library.scaffold else (), smiles)
    lines = compound_lines(contents.status, compounds)
    made = [_card(contents.status, line, k + 1, smiles[k]) for k, line in enumerate(lines)]
    bond = aligned.bond(smiles[:: max(1, len(smiles) // _SCALED)], int(_INSIDE), int(_PICTURE))
    return [_Row(made[k : k + _ACROSS], aligned, bond, progress) for k in range(0, len(made), _ACROSS)]


def _card(status: Status, line: CompoundLine, rank: int, smiles: str) -> _Card:
    compound, code = line.compound, int(status.candidates.status[line.compound])
    texts = [(f"{name} {number}", False) for name, number in line.values]
    if code == UNDECIDED:
        texts += [(f"P({name}) {chance[compound]:.2f}", False) for name, chance in chances(status).items()]
    texts.append((f"{line.rests_on}; {line.availability}", True))
    if line.confirmed:
        # What was not confirmed is not said quietly.
        texts.append((line.confirmed, compound not in status.confirmation.not_confirmed))
    return _Card(
        rank,
        smiles,
        carried(status.library, compound) if smiles else {},
        tuple(f"{site}  {name}" for site, name in line.sites.items()),
        tuple(wrapped(line.id, BOLD, _ID, _INSIDE, _ID_LINES)),
        code,
        tuple(wrapped(line.state, REGULAR, _SMALL, _INSIDE - _MARK, _LINES)),
        tuple((part, quiet) for text, quiet in texts for part in wrapped(text, REGULAR, _SMALL, _INSIDE, _LINES))[
            :_ALL_LINES
        ],
    )


class _Row(Flowable):
    """Cards side by side."""

    def __init__(self, members: Sequence[_Card], aligned: Aligned, bond: float, progress: Progress) -> None:
        super().__init__()
        self._members, self._aligned, self._bond, self._progress = members, aligned, bond, progress
        self.width, self.height = WIDTH, max(card.height for card in members)
        self.spaceAfter = _GAP

    def wrap(self, room: float, height: float) -> tuple[float, float]:
        """Its size."""
        return self.width, self.height

    def draw(self) -> None:
        """Draw the cards at the canvas's origin. Raises Cancelled when that is wanted."""
        for place, card in enumerate(self._members):
            self._progress.step(f"Drawing compound {card.rank:,}", 1)
            self._card(self.canv, card, place * (_CARD + _GAP))

    def _card(self, canvas: Canvas, card: _Card, left: float) -> None:
        canvas.saveState()
        canvas.setStrokeColor(LINE)
        canvas.setLineWidth(0.7)
        canvas.roundRect(left, 0.0, _CARD, self.height, 3.0, stroke=1, fill=0)
        x, y = left + _PAD, self.height - _PAD - _PICTURE
        self._picture(canvas, card, x, y)
        canvas.setFillColor(MUTED)
        canvas.setFont(REGULAR, _SMALL)
        canvas.drawString(x, self.height - _PAD - _SMALL, str(card.rank))
        canvas.setFillColor(INK)
        canvas.setFont(BOLD, _ID)
        y -= 3.0
        for line in card.name:
            y -= _ID_LEADING
            canvas.drawString(x, y + 2.0, line)
        canvas.setFont(REGULAR, _SMALL)
        for k, line in enumerate(card.state):
            y -= _LEADING
            if k == 0:
                _mark(canvas, x + 3.0, y + 4.4, card.status)
            canvas.setFillColor(INK)
            canvas.drawString(x + _MARK, y + 2.0, line)
        for line, quiet in card.lines:
            y -= _LEADING
            canvas.setFillColor(MUTED if quiet else INK)
            canvas.drawString(x, y + 2.0, line)
        canvas.restoreState()

    def _picture(self, canvas: Canvas, card: _Card, x: float, y: float) -> None:
        """Draw the structure, or the substituents where there is none."""
        svg = None
        if card.smiles:
            size = (int(_INSIDE), int(_PICTURE))
            svg = self._aligned.svg(card.smiles, *size, carried=card.carried, bond=self._bond)
        if svg is not None:
            draw_structure(canvas, svg, x, y, int(_PICTURE))
            return
        canvas.setFillColor(MUTED)
        canvas.setFont(REGULAR, _SMALL)
        top = y + _PICTURE - 2.0 * _LEADING
        most = int((top - y) // _LEADING)
        lines = ["structure not known", *card.substituents]
        if len(lines) > most:
            lines = [*lines[: most - 1], f"and {len(lines) - most + 1} more sites"]
        for line in lines:
            canvas.drawString(x, top, fitted(line, REGULAR, _SMALL, _INSIDE))
            top -= _LEADING


def _mark(canvas: Canvas, x: float, y: float, status: int) -> None:
    """Draw the mark of a status, as in the figures: never a colour alone."""
    colour = HexColor(LIGHT.status[status])
    canvas.setStrokeColor(colour)
    canvas.setFillColor(white if status == OUT else colour)
    canvas.setLineWidth(0.9)
    if status in (IN, OUT):
        canvas.circle(x, y, 2.4, stroke=1, fill=1)
        return
    path = canvas.beginPath()
    if status == NOT_ESTIMABLE:
        for up in (-1.0, 1.0):
            path.moveTo(x - 2.2, y - 2.2 * up)
            path.lineTo(x + 2.2, y + 2.2 * up)
    else:
        path.moveTo(x - 2.8, y)
        for across, up in ((0.0, 2.8), (2.8, 0.0), (0.0, -2.8)):
            path.lineTo(x + across, y + up)
        path.close()
    canvas.drawPath(path, stroke=1, fill=int(status == UNDECIDED))


def table(contents: Contents, compounds: Sequence[int], progress: Progress) -> list[Flowable]:
    """Return the shortlist as a table, one row for each compound in the order given: where no structure is known."""
    status = contents.status
    library = status.library
    apart = len(library.sites) <= _SITES_APART
    named = named_by_substituents(library, compounds)
    lines = compound_lines(status, compounds)
    scales = [name for name, _ in lines[0].values] if lines else []
    sites = [] if named else [site.name for site in library.sites] if apart else ["Substituents"]
    more = ["Confirmed"] if status.confirmation.rounds else []
    rows = [["", "ID", *sites, *scales, "Status", "Evidence", "Availability", *more]]
    for k, line in enumerate(lines):
        progress.step(f"Compound {k + 1:,}", 1)
        joined = ", ".join(f"{site} {label}" for site, label in line.sites.items())
        rows.append(
            [
                str(k + 1),
                line.id,
                *([] if named else list(line.sites.values()) if apart else [joined]),
                *(number for _, number in line.values),
                line.state.replace("decided in round", "round"),
                line.rests_on,
                line.availability,
                *([line.confirmed] if more else []),
            ]
        )
    return [ruled(rows, WIDTH, fill=True)]
