"""Tables drawn in text, as chats, notebooks and terminals show them: bars or blanks between the columns."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence

from . import headers
from .raw import rows_named

__all__ = ["barred", "is_framed", "spaced"]

_BARS = str.maketrans("│┃║¦｜", "|||||")
_BORDER = re.compile(r"[\s|+:\-=_─━┄┈┌┐└┘├┤┬┴┼╔╗╚╝╠╣╦╩╬═╪╞╡╤╧╟╢╫]+")
"""A line that only draws the table."""
_SPLIT = re.compile(r"(?<!\\)\|")
_COUNT = re.compile(r"\(\d[\d,]* (?:rows?|lines?)\)")
"""What a database's terminal writes below its table."""
_EVEN = 0.9
_APART = re.compile(r" {2,}")


def barred(text: str) -> tuple[str, str] | None:
    """Return the text with tabs in place of the bars between its columns, line by line, and what to say.

    None without bars.

    Lines that only draw borders become blank, so that rows keep their numbers. Nine of ten lines, and the first, must
    have as many columns as most.
    """
    if "|" not in (plain := text.translate(_BARS)):
        return None
    lines = plain.splitlines()
    inside = [place for place, line in enumerate(lines) if line.strip() and not _is_border(line)]
    inside = [place for place in inside if not _COUNT.fullmatch(lines[place].strip())]
    if not inside or "|" not in lines[inside[0]]:
        # A title may stand above a table that has borders, but no bars begin in the middle of another kind of table.
        inside = [place for place in inside if lines[place].strip().startswith("|")]
    cells = {place: _cells(lines[place]) for place in inside}
    widths = Counter(map(len, cells.values()))
    width, often = widths.most_common(1)[0] if widths else (0, 0)
    if width < 2 or often < _EVEN * len(inside) or len(inside) < 2 or len(cells[inside[0]]) != width:
        return None
    if any("\t" in line for line in lines):
        return None
    return _tabbed(lines, inside, [cells[place] for place in inside]), "The columns are set apart by bars (|)."


def is_framed(text: str) -> bool:
    """Whether the lines of a text begin with the bars of a drawn table."""
    lines = [line.strip() for line in text.translate(_BARS).splitlines() if line.strip()]
    return bool(lines) and 2 * sum(line.startswith(("|", "+-", "+=", "┌")) for line in lines) > len(lines)


def _is_border(line: str) -> bool:
    return _BORDER.fullmatch(line) is not None and any(sign in line for sign in "-=─━═_┄┈")


def _cells(line: str) -> list[str]:
    body = line.strip()
    # Bars at both ends are a frame; at one end alone the cell beyond it is empty.
    if body.startswith("|") and body.endswith("|") and len(body) > 1:
        body = body[1:-1]
    return [cell.strip().replace("\\|", "|") for cell in _SPLIT.split(body)]


def spaced(text: str) -> tuple[str, str] | None:
    """Return the text with tabs where runs of blanks set its columns apart, and what to say; None where they do not.

    Either all lines have as many cells, set apart by two blanks or more or else by any, or the columns stand below
    each other, so that cells may be empty. The first line has to be a header with a name that chemists use.
    """
    lines = text.expandtabs().splitlines()
    inside = [place for place, line in enumerate(lines) if line.strip()]
    inside = [place for place in inside if not (_is_border(lines[place]) and place != inside[0])]
    if len(inside) < 2:
        return None
    for split in (_APART.split, str.split):
        cells: list[list[str]] = [list(split(lines[place].strip())) for place in inside]
        if {len(line) for line in cells[1:]} == {len(cells[0]) + 1}:
            cells[0] = ["", *cells[0]]  # the rows are numbered, and that column has no name
        widths = {len(line) for line in cells}
        if len(widths) == 1 and widths != {1} and _is_header(cells[0]):
            return _tabbed(lines, inside, cells), "The columns are set apart by blanks."
    cut = _below_each_other([lines[place] for place in inside])
    if cut is None or not _is_header(cut[0]):
        return None
    return _tabbed(lines, inside, cut), (
        "The columns are set apart by blanks, and were cut where all lines have some. Look at "
        f"{rows_named([inside[1] + 1]).lower()} in the check."
    )


def _tabbed(lines: Sequence[str], inside: Sequence[int], cells: Sequence[Sequence[str]]) -> str:
    of = dict(zip(inside, cells, strict=True))
    return "\n".join("\t".join(map(_quoted, of[place])) if place in of else "" for place in range(len(lines)))


def _quoted(cell: str) -> str:
    return '"' + cell.replace('"', '""') + '"' if '"' in cell else cell


def _is_header(cells: Sequence[str]) -> bool:
    """Whether the cells may be a header: none is a number, and one is known, an index without a name left aside."""
    return sum(map(headers.is_known, cells)) > 1 or (len(cells) == 2 and any(map(headers.is_known, cells)))


def _below_each_other(lines: Sequence[str]) -> list[list[str]] | None:
    """Return the cells of lines whose columns begin and end at the same places.

    None where no blank column runs through.
    """
    width = max(map(len, lines))
    padded = [line.ljust(width) for line in lines]
    blank = [all(line[place] == " " for line in padded) for place in range(width)]
    starts = [place for place in range(width) if not blank[place] and (place == 0 or blank[place - 1])]
    if len(starts) < 2:
        return None
    ends = [*starts[1:], width]
    cells = [[line[first:last].strip() for first, last in zip(starts, ends, strict=True)] for line in padded]
    # IC50 (nM) over short numbers falls apart: what has nothing below it belongs to the name on its left.
    kept: list[list[str]] = [[] for _ in cells]
    for column in range(len(starts)):
        if column and not any(line[column] for line in cells[1:]):
            kept[0][-1] = f"{kept[0][-1]} {cells[0][column]}".strip()
            continue
        for line, out in zip(cells, kept, strict=True):
            out.append(line[column])
    return kept if len(kept[0]) > 1 else None
