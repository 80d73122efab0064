"""Tables that are no lists, made lists: drawn in text, turned, sites down and across, plates as readers write."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from ..domain.plates import FORMATS, Well
from ..text import in_letters
from . import headers
from .header_rows import count_numeric
from .layout import LaidOut, lay_out
from .products import is_usual
from .raw import fold
from .side_columns import run_number
from .values import is_missing

_FEWEST_COMPOUNDS = 2
_MOST_NAMES = 60
_KNOWN = 0.6
"""The share of the texts on the left that are headers chemists use."""


Lines = Sequence[Sequence[Any]]
Show = Callable[[Any], str]
Listed = tuple[list[list[str]], list[int], str]
"""The lines of a list with its header first, the row of each line, and a note on how it was read."""


def as_list(lines: Lines, numbers: Sequence[int], show: Show) -> Listed | None:
    """Return the list that lines in another arrangement stand for; None where they are a list already."""
    return listed(lines, numbers, show) or paired(lines, numbers, show) or turned(lines, numbers, show)


def table_of(
    lines: list[list[Any]],
    numbers: list[int],
    show: Show,
    *,
    file: str | None,
    warnings: list[str],
    header: tuple[int, int] | None,
) -> tuple[LaidOut, bool]:
    """Return the table in lines, as ``lay_out`` does, and whether they were made a list first, which is warned of."""
    drawn = None if header is not None else as_list(lines, numbers, show)
    if drawn is not None:
        lines, numbers, note = drawn
        warnings.append(note)
    return lay_out(lines, numbers, show, file=file, warnings=warnings, header=header), drawn is not None


def turned(lines: Lines, numbers: Sequence[int], show: Show) -> Listed | None:
    """Return the lines with the first cells of all as their header, and the column of the sheet of each.

    With a note on it. None unless it is clear: the cells on the left are different headers, one of them that of values
    or structures. Those of the first line become the ids and are no headers.
    """
    if not _FEWEST_COMPOUNDS <= len(lines) <= _MOST_NAMES or len(lines[0]) < _FEWEST_COMPOUNDS + 1:
        return None
    texts = [[show(cell).strip() for cell in line] for line in lines]
    left = [line[0] if line else "" for line in texts]
    ids = texts[0][1:]
    if not all(left[1:]) or len(set(left)) < len(left) or len({text for text in ids if text}) < _FEWEST_COMPOUNDS:
        return None
    corner = fold(left[0])
    if corner and corner not in headers.IDS and not headers.is_known(left[0]):
        return None
    known = sum(map(_names_a_column, left[1:]))
    telling = any(_has_values(text) for text in left[1:])
    if not telling or known < _KNOWN * (len(left) - 1) or any(map(_names_a_column, filter(None, ids))):
        return None
    width = max(map(len, texts))
    upright = [["" if place >= len(line) else line[place] for line in texts] for place in range(width)]
    if not left[0] or corner not in headers.IDS:
        upright[0][0] = "ID"
    kept = [place for place in range(width) if place == 0 or any(upright[place])]
    note = (
        f"A compound stands in each column and {', '.join(left[1:4])}{', …' if len(left) > 4 else ''} in the rows, so "
        "the table was turned: row 2 here is column 2 (B) of the file."
    )
    return [upright[place] for place in kept], [place + 1 for place in kept], note


def _names_a_column(text: str) -> bool:
    run = run_number(text)
    return headers.is_known(text) or (run is not None and headers.is_known(run[0]))


def _has_values(text: str) -> bool:
    """Whether a header is one of values or structures: sites alone may be the names of compounds (R-1, R-2)."""
    run = run_number(text)
    bare = fold(headers.split_unit(text)[0])
    return (
        headers.looks_like_activity(text if run is None else run[0])
        or bare in headers.STRUCTURES
        or bare in headers.VALUE
    )


_CORNER = re.compile(r"(?P<down>[^\\/|×]+?)\s*[\\/|×]\s*(?P<across>[^\\/|×]+)")
_TITLE_LINES = 5
"""Lines above the corner, which may be a title."""


def _is_across(labels: Sequence[str], below: Sequence[str]) -> bool:
    """Whether a line has usual substituents, each once, behind a site's name, that of potencies or nothing.

    ``below``: the first cells of the lines below it, which are no headers as those of a table on its side are.
    """
    corner, across = labels[:1], [text for text in labels[1:] if text]
    if len(across) < 2 or len(set(across)) < len(across) or not all(map(is_usual, across)):
        return False
    if any(map(_names_a_column, below)):
        return False
    return not corner[0] or _is_site(corner[0]) or headers.looks_like_activity(corner[0])


def _is_site(text: str) -> bool:
    return headers.SITE.fullmatch(fold(text)) is not None


def paired(lines: Lines, numbers: Sequence[int], show: Show) -> Listed | None:
    r"""Return pairs of a table whose corner names two sites (``R1 \ R2``), one line each, with the row of each.

    With a note on it. The line above the corner, if any, names the values. Usual substituents across need no such
    corner: it may name the site down, or the values. None where no such table begins in the first lines.
    """
    for at, line in enumerate(lines[: _TITLE_LINES + 1]):
        labels = [show(cell).strip() for cell in line]
        above = [text for one in lines[:at] for cell in one if (text := show(cell).strip())]
        corner = _CORNER.fullmatch(labels[0]) if labels else None
        if corner is not None:
            down, across = corner["down"].strip(), corner["across"].strip()
        elif labels and above and _is_site(above[-1]) and sum(bool(show(cell).strip()) for cell in lines[at - 1]) <= 2:
            # R2 above the substituents, R1 in the corner.
            down, across = labels[0], above.pop()
        elif _is_across(labels, [show(row[0]).strip() for row in lines[at + 1 :] if row]):
            down = labels[0] if _is_site(labels[0]) else "R1"
            across = "R1" if fold(down) == "r2" else "R2"
            above += [text for text in labels[:1] if text and text != down]
        else:
            continue
        if not (_is_site(down) and _is_site(across)):
            if corner is not None:
                return None
            continue
        name = above[-1] if above else "Value"
        out, rows = [[down, across, name]], [numbers[at]]
        for below, row in zip(lines[at + 1 :], numbers[at + 1 :], strict=True):
            texts = [show(cell).strip() for cell in below]
            if not texts or not texts[0] or not any(texts[1:]):
                continue
            for label, text in zip(labels[1:], texts[1:], strict=False):
                if label and not is_missing(text):
                    out.append([texts[0], label, text])
                    rows.append(row)
        note = f"{down} stands in the rows and {across} in the columns: {len(out) - 1} pairs have a value ({name})."
        values = [text for *_, text in out[1:]]
        numeric = 2 * count_numeric(values) >= len(values) and not {"0", "1"}.issuperset(values)
        return (out, rows, note) if len(out) > 2 and numeric else None
    return None


PLATE, WELL, VALUE = "Plate", "Well", "Value"
_WHOLE = re.compile(r"0*([1-9]\d?)(?:\.0+)?")
_SIZES = sorted({(shape.rows, shape.columns) for shape in FORMATS.values()}, reverse=True)
_TITLE = re.compile(
    r"(?:assay[ _-]?)?plate(?![ _-]?(?:read|type|format|size|layout|map))(?:[ _-]?(?:name|id|barcode|no|number))?"
    r"\s*[:=#]?\s*(?P<name>.*)",
    re.I,
)
_FEWEST_COLUMNS = 6
_LOOKED_AT = 40
_MOST = 4_000
_ABOVE = 12
"""Lines above a plate in which its name is looked for."""


@dataclass(frozen=True, slots=True)
class _Grid:
    """One plate in the lines of a sheet."""

    first: int
    """The line with the numbers of its columns."""
    left: int
    """The cell with the letters of its rows."""
    rows: int
    columns: int


def listed(lines: Lines, numbers: Sequence[int], show: Show) -> Listed | None:
    """Return wells of every plate drawn in the lines, one line each under Plate, Well, Value, with its row.

    With a note on it. None where no plate is drawn, or the lines contain a table as well.
    """
    # The first cells of most tables show that they contain no drawn plate.
    if not any(_WHOLE.fullmatch(show(cell)) for line in lines[:_LOOKED_AT] for cell in line[:4]):
        return None
    texts = [[show(cell).strip() for cell in line] for line in lines[:_MOST]]
    grids = _grids(texts)
    inside = sum(grid.rows + 1 for grid in grids)
    if not grids or len(lines) > _MOST or len(texts) > 2 * inside + _LOOKED_AT:
        return None
    out: list[list[str]] = [[PLATE, WELL, VALUE]]
    rows = [numbers[grids[0].first]]
    for grid in grids:
        name = _title(texts, grid)
        for row in range(grid.rows):
            line = texts[grid.first + 1 + row]
            for column in range(grid.columns):
                place = grid.left + 1 + column
                text = line[place] if place < len(line) else ""
                if not is_missing(text):
                    out.append([name, str(Well(row, column)), text])
                    rows.append(numbers[grid.first + 1 + row])
    drawn = "A plate is drawn" if len(grids) == 1 else f"{len(grids)} plates are drawn"
    last = Well(grids[0].rows - 1, grids[0].columns - 1)
    note = f"{drawn} (A1 to {last}); {len(out) - 1} wells hold something, and each is a row."
    return (out, rows, note) if len(out) > 1 else None


def _grids(texts: Sequence[Sequence[str]]) -> list[_Grid]:
    """Return the plates in the lines, from the top on; of two sizes that fit the larger one counts."""
    found: list[_Grid] = []
    at = 0
    while at < len(texts):
        grid = _grid_at(texts, at)
        if grid is None:
            at += 1
        else:
            found.append(grid)
            at = grid.first + grid.rows + 1
    return found


def _grid_at(texts: Sequence[Sequence[str]], at: int) -> _Grid | None:
    """Return the plate whose columns are numbered in a line."""
    line = texts[at]
    starts = [place for place, text in enumerate(line) if _number(text) == 1]
    for start in starts:
        if start == 0:
            continue
        count = 0
        while start + count < len(line) and _number(line[start + count]) == count + 1:
            count += 1
        for rows, columns in _SIZES:
            if columns == count and columns >= _FEWEST_COLUMNS and _lettered(texts, at, start - 1, rows):
                return _Grid(at, start - 1, rows, columns)
    return None


def _lettered(texts: Sequence[Sequence[str]], at: int, left: int, rows: int) -> bool:
    below = texts[at + 1 : at + 1 + rows]
    return len(below) == rows and all(
        left < len(line) and line[left].upper() == in_letters(row) for row, line in enumerate(below)
    )


def _number(text: str) -> int:
    match = _WHOLE.fullmatch(text)
    return int(match[1]) if match else 0


def _title(texts: Sequence[Sequence[str]], grid: _Grid) -> str:
    """Return the plate's name: behind the word plate in the lines above it, or in the corner of its numbers.

    "" where none.
    """
    for line in reversed(texts[max(0, grid.first - _ABOVE) : grid.first]):
        filled = [text for text in line if text]
        if filled and _is_row_of_another(filled):
            break
        match = _TITLE.fullmatch(filled[0]) if filled else None
        name = match["name"].strip() or (filled[1] if len(filled) > 1 else "") if match is not None else ""
        if name:
            return name
    corner = texts[grid.first][grid.left]
    return "" if re.fullmatch(r"(?:row|well)?[<>/\\\s]*", corner, re.I) else corner


def _is_row_of_another(filled: Sequence[str]) -> bool:
    """Whether a line belongs to the plate above: a letter with values behind it."""
    return len(filled) > 2 and len(filled[0]) <= 2 and filled[0].isalpha() and filled[0].isupper()


_BARS = str.maketrans("│┃║¦｜", "|||||")
_BORDER = re.compile(r"[\s|+:\-=_─━┄┈┌┐└┘├┤┬┴┼╔╗╚╝╠╣╦╩╬═╪╞╡╤╧╟╢╫]+")
"""A line that only draws the table."""
_SPLIT = re.compile(r"(?<!\\)\|")
_COUNT = re.compile(r"\(\d[\d,]* (?:rows?|lines?)\)")
"""The line that a database's terminal writes below its table."""
_EVEN = 0.9
_GAPS = re.compile(r" {2,}")


def barred(text: str) -> tuple[list[list[str]], str] | None:
    """Return the cells between the bars of each line, and a note; None without bars.

    Lines that only draw borders have none, so that rows keep their numbers. Nine of ten lines, and the first, must
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
    return _in_place(lines, inside, [cells[place] for place in inside]), "The columns are separated by bars (|)."


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


def spaced(text: str) -> tuple[list[list[str]], str] | None:
    """Return the cells of each line, separated by runs of blanks, and a note; None where they are not.

    All lines have equally many cells, separated by two blanks or more or else by any, so that none is empty. The first
    line has to be a header with a name that chemists use.
    """
    lines = text.expandtabs().splitlines()
    inside = [place for place, line in enumerate(lines) if line.strip()]
    inside = [place for place in inside if not (_is_border(lines[place]) and place != inside[0])]
    if len(inside) < 2:
        return None
    for split in (_GAPS.split, str.split):
        cells: list[list[str]] = [list(split(lines[place].strip())) for place in inside]
        if {len(line) for line in cells[1:]} == {len(cells[0]) + 1}:
            cells[0] = ["", *cells[0]]  # the rows are numbered, and that column has no name
        widths = {len(line) for line in cells}
        if len(widths) == 1 and widths != {1} and _is_header(cells[0]):
            return _in_place(lines, inside, cells), "The columns are separated by blanks."
    return None


def _in_place(lines: Sequence[str], inside: Sequence[int], cells: Sequence[list[str]]) -> list[list[str]]:
    """Return the cells of each line, of those between the rows of the table none."""
    of = dict(zip(inside, cells, strict=True))
    return [of.get(place, []) for place in range(len(lines))]


def _is_header(cells: Sequence[str]) -> bool:
    """Whether the cells may be a header: none is a number, and one is known, an index without a name left aside."""
    return sum(map(headers.is_known, cells)) > 1 or (len(cells) == 2 and any(map(headers.is_known, cells)))
