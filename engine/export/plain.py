"""Texts about compounds for pages and slides: valid in every format, with numbers as people read them."""

from __future__ import annotations

import math
import re
import unicodedata
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from ..campaign.state import STATUSES, Status
from ..chemistry.names import carried_names
from ..domain.library import Library, name_from_substituents
from .measured import estimate_text, means_of, means_words
from .sheet import Cell
from .shortlist import availability, confirmed, decimals_of, evidence

if TYPE_CHECKING:
    from PIL import ImageFont

_NEVER = "\ufffe\uffff"
"""Characters that XML does not allow."""
_LINES = ("Cc", "Zl", "Zp")
_SENTENCE = re.compile(r"(?<=\.) (?=[0-9A-Z])")


def plain(text: object) -> str:
    """Return the text without control characters, line breaks and halves of surrogate pairs.

    Each of which leaves a place.
    """
    whole = str(text).encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return "".join(
        " " if unicodedata.category(letter) in _LINES else "\ufffd" if letter in _NEVER else letter for letter in whole
    )


def shortened(text: str, fits: Callable[[str], bool]) -> str:
    """Return the text on one line, its end left out (…) where it does not fit."""
    words = plain(text)
    if fits(words):
        return words
    fewest, longest = 0, len(words)
    while fewest < longest:
        middle = (fewest + longest + 1) // 2
        fewest, longest = (middle, longest) if fits(f"{words[:middle]}…") else (fewest, middle - 1)
    return f"{words[:fewest].rstrip()}…"


def sentences(text: str) -> tuple[str, str]:
    """Return the first sentence of a text, and the rest; together they are the text."""
    first, _, rest = _SENTENCE.sub("\n", plain(text), count=1).partition("\n")
    return first, rest


def named_by_substituents(library: Library, compounds: Sequence[int]) -> bool:
    """Whether the ids of these compounds list their substituents (``R1=Me|R2=Cl``), so columns would repeat them."""
    return all(library.ids[c] == name_from_substituents(library.sites, library.codes[c]) for c in compounds)


def shown_id(library: Library, compound: int) -> str:
    """Return the id as pages show it; one made of substituents with their short names: ``R1 Me, R2 3-pyridyl``."""
    if not named_by_substituents(library, [compound]):
        return library.ids[compound]
    return ", ".join(f"{site} {name}" for site, name in carried_names(library, compound).items())


def interval(estimate: str, low: float, high: float, digits: int) -> str:
    """Return a number with its interval: ``7.42 (7.21 to 7.63)``; ``not known`` without the number."""
    if not estimate:
        return "not known"
    known = math.isfinite(low) and math.isfinite(high)
    return estimate + (f" ({low:.{digits}f} to {high:.{digits}f})" if known else "")


def _values(status: Status, compound: int, digits: int) -> tuple[tuple[str, str], ...]:
    """Return quantity and number with interval of each endpoint of the goal or with a limit.

    Where nothing is decided yet the objective has its 95 % posterior interval.
    """
    known = status.candidates
    found = []
    for place in status.requested_endpoints:
        name = status.endpoints[place].name
        low, high = (float(of[name][compound]) if name in of else math.nan for of in (known.lows, known.highs))
        if place == status.objective and not (math.isfinite(low) and math.isfinite(high)):
            low, high = float(known.posterior_low[compound]), float(known.posterior_high[compound])
        estimate = estimate_text(status, name, compound, digits)
        found.append((status.endpoints[place].scale_name, interval(estimate, low, high, digits)))
    return tuple(found)


@dataclass(frozen=True, slots=True)
class CompoundLine:
    """The texts of a page or a slide about one compound, in any layout."""

    compound: int
    id: str
    sites: Mapping[str, str]
    """Short names of the substituents, by site."""
    values: tuple[tuple[str, str], ...]
    """Quantity, and number with interval."""
    state: str
    """``in, decided in round 3``; the reason where a limit excludes it."""
    measured: str
    """``measured 6.75 (n = 3)``; empty when nothing was measured."""
    evidence: str
    availability: str
    confirmed: str
    """Whether a confirmation round confirms it; empty where none is about it."""

    @property
    def rests_on(self) -> str:
        """The measured mean, else why it is predicted."""
        return self.measured or self.evidence


def compound_lines(status: Status, compounds: Sequence[int]) -> list[CompoundLine]:
    """Return the line of each compound, in the order given."""
    library, digits, means = status.library, decimals_of(status), means_of(status)
    return [
        CompoundLine(
            compound,
            shown_id(library, compound),
            carried_names(library, compound),
            _values(status, compound, digits),
            state_words(status, compound),
            means_words(means, compound, digits),
            evidence(status, compound),
            availability(status, compound),
            confirmed(status, compound),
        )
        for compound in compounds
    ]


_MOST_COLUMNS = 5
"""Sites that get columns of their own in a table."""


def compound_rows(library: Library, lines: Sequence[CompoundLine]) -> list[list[str]]:
    """Return id, substituents and values of compounds, the headers first.

    A column for each site, one for many, none where ids list the substituents.
    """
    sites = [site.name for site in library.sites]
    carried = [list(line.sites.values()) for line in lines]
    if named_by_substituents(library, [line.compound for line in lines]):
        sites, carried = [], [[] for _ in lines]
    elif len(sites) > _MOST_COLUMNS:
        carried = [[", ".join(f"{site} {label}" for site, label in line.sites.items())] for line in lines]
        sites = ["Substituents"]
    header = ["ID", *sites, *(name for name, _ in lines[0].values)]
    rows = zip(lines, carried, strict=True)
    return [header, *([line.id, *own, *(number for _, number in line.values)] for line, own in rows)]


def state_words(status: Status, compound: int) -> str:
    """Return a compound's status in words: ``in, decided in round 3``."""
    decided = int(status.candidates.decided_in_round[compound])
    when = f", decided in round {decided}" if decided else ""
    return f"{STATUSES[int(status.candidates.status[compound])]}{when}"


_LONGEST = 32_767
"""Characters of a cell, those beyond the basic plane counted twice."""
_CUT = " ... (cut)"
_UNHELD = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f\ud800-\udfff\ufffe\uffff]")
"""Characters that cells cannot contain."""


def cell_text(text: str) -> str:
    """Return a text as a cell of a workbook holds it: without what it cannot contain, cut where it is too long."""
    clean = _UNHELD.sub("\N{REPLACEMENT CHARACTER}", text.replace("\r\n", "\n").replace("\r", "\n"))
    if 2 * len(clean) <= _LONGEST or len(units := clean.encode("utf-16-le")) <= 2 * _LONGEST:
        return clean
    return units[: 2 * (_LONGEST - len(_CUT))].decode("utf-16-le", "ignore") + _CUT


def number_format(digits: int) -> str:
    """Return the number format with so many decimals."""
    return f"0.{'0' * digits}" if digits else "0"


def length_of(cell: Cell, shown: str) -> int:
    """Characters that a cell shows, the longest line of it."""
    if cell is None:
        return 0
    if isinstance(cell, bool):
        return 3
    if isinstance(cell, (int, float)):
        if shown:
            return len(f"{cell:.{max(0, len(shown) - 2)}f}")
        return len(f"{cell:.10g}")
    return max(map(len, cell.splitlines()), default=0)


def in_header(text: str) -> str:
    """Return a text for the head of a printed page, where & begins a code.

    Short enough for the head of a page.
    """
    line = " ".join(text.split())
    return (line if len(line) <= 70 else f"{line[:69]}…").replace("&", "&&")


_HALVINGS = 40
"""Enough to find a width to far below a point."""


def shared_out(natural: Sequence[float], least: Sequence[float], width: float) -> list[float]:
    """Return the columns' widths, at most ``width`` together.

    ``natural`` are what the texts need on one line, ``least`` what their longest words need, never more. When all fit
    they get what they need. Else none gets more than a common limit, unless its longest word needs it. Columns of long
    texts so take nothing from short ones; when the longest words do not fit, the same holds for those.
    """
    if sum(natural) <= width:
        return list(natural)
    if sum(least) >= width:
        natural, least = least, [0.0] * len(least)
    low, high = 0.0, max(natural)
    for _ in range(_HALVINGS):
        limit = (low + high) / 2.0
        low, high = (low, limit) if sum(_limited(natural, least, limit)) > width else (limit, high)
    return _limited(natural, least, low)


def _limited(natural: Sequence[float], least: Sequence[float], limit: float) -> list[float]:
    return [max(word, min(text, limit)) for word, text in zip(least, natural, strict=True)]


_WORD = re.compile(r"[^ -]*(?:-+| +)|[^ -]+")
"""Behind a space or a hyphen a line may end."""


@cache
def _font(bold: bool) -> ImageFont.FreeTypeFont:
    import matplotlib
    from PIL import ImageFont

    name = "DejaVuSans-Bold.ttf" if bold else "DejaVuSans.ttf"
    return ImageFont.truetype(str(Path(matplotlib.get_data_path()) / "fonts" / "ttf" / name), 100)


def width_of(text: str, size: float, *, bold: bool = False) -> float:
    """Inches that a text takes on one line in the widest of the common sans serifs; most computers need less."""
    # Letters of East Asia come from another font, where they are square.
    narrow = "".join(letter for letter in text if unicodedata.east_asian_width(letter) not in "WF")
    return (_font(bold).getlength(narrow) / 100.0 + len(text) - len(narrow)) * size / 72.0


def lines_of(text: str, size: float, width: float, *, bold: bool = False) -> int:
    """Return how many lines a text takes at most, ``size`` in points and ``width`` in inches."""
    used, count = 0.0, 1
    for word in _WORD.findall(plain(text)):
        long = width_of(word, size, bold=bold)
        if used and used + width_of(word.rstrip(), size, bold=bold) > width:
            count, used = count + 1, 0.0
        used += long
        if used > width and word.strip():  # broken in the word
            count, used = count + int(used / width), used % width
    return count


def cut_lines(text: str, size: float, width: float, most: int, *, bold: bool = False) -> str:
    """Return the text, its end left out (…) where it takes more than ``most`` lines."""
    return shortened(text, lambda words: lines_of(words, size, width, bold=bold) <= most)
