"""Where a table begins and ends in the rows of a sheet: titles, header rows, units, footers."""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from ..errors import AssayPilotError
from . import headers
from .raw import CELLS, fold, free_name, rows_named
from .values import is_missing

_SEARCHED = 40
"""Rows among which the header is looked for."""
_FOOTERS = 40
_NUMBER = re.compile(r"[<>~≈]?\s*[+-]?(?:\d+(?:[.,]\d*)?|[.,]\d+)(?:[eE][+-]?\d+)?\s*%?")
_SUMMARY = frozenset(CELLS["summary"])
"""First words of a row that sums a table up."""
_TYPES = frozenset(CELLS["type"])
"""What programs call the types of columns."""
_SHOWN = 60
_NAMED = 3
_NEARLY_ALL = 0.9

Show = Callable[[Any], str]
"""The text of a cell as it came from its reader."""


@dataclass(frozen=True, slots=True)
class LaidOut:
    """The table itself: its columns by name, its cells as they came, its rows by number."""

    columns: tuple[str, ...]
    cells: tuple[tuple[Any, ...], ...]
    """One tuple per column, untrimmed."""
    rows: tuple[int, ...]
    header: tuple[int, ...] = ()
    """The rows of a header of several that was found; empty for one row."""


def lay_out(
    lines: list[list[Any]],
    numbers: list[int],
    show: Show,
    *,
    file: str | None,
    warnings: list[str],
    header: tuple[int, int] | None = None,
) -> LaidOut:
    """Return the table in the rows of a sheet that are not blank, with what was left out said in ``warnings``.

    ``numbers``: the row of each line as a spreadsheet counts. Rows above the header, a second header row, a row of
    units, rows below the table and repeated headers are recognised; whatever is in doubt stays a row of the table.
    ``header`` says the row of the header and how many rows it has (1 or 2); (0, 0) says that there is none; None: it
    is found. AssayPilotError when no row is left below the header, or none has the number said.
    """
    sheet = _Sheet(lines, numbers, show, file, warnings)
    head = sheet.texts(_SEARCHED)
    if header is not None:
        names, first, top = sheet.as_said(header)
        if top is not None:
            names, first = _under_units(sheet.texts(first + 2), numbers, first, names, warnings)
        return sheet.body(names, first, top)
    at = _header_at(head)
    group = _group_above(head, numbers, at)
    titles = at if group is None else at - 1
    if titles:
        said = "; ".join(", ".join(filter(None, line)) for line in head[:titles])
        sheet.left_out(0, titles, "above the header", said)
    first = at + 1
    names = list(head[at])
    begin = at if group is None else at - 1
    if group is not None:
        names = _combined(group, names)
    while (below := _continued(head, numbers, first, names)) is not None:
        names = _combined(names, below)
        first += 1
    rows = tuple(numbers[begin:first]) if first - begin > 1 else ()
    if rows:
        joined = "and" if len(rows) == 2 else "to"
        warnings.append(f"Rows {rows[0]} {joined} {rows[-1]} were read together as the header.")
    names, first = _under_units(head, numbers, first, names, warnings)
    if _are_types(head, numbers, first, names):
        warnings.append(f"Row {numbers[first]} says of which type the columns are, and was left out.")
        first += 1
    if at == 0 and first == 1 and _is_data(names):
        names, first = _numbered_columns(len(names)), 0
        warnings.append(
            f"Row {numbers[0]} holds numbers, so the table has no header; its columns are called column 1, column 2, …"
        )
    return replace(sheet.body(names, first, head[at] if first else None), header=rows)


def _under_units(
    head: Sequence[Sequence[str]], numbers: Sequence[int], first: int, names: list[str], warnings: list[str]
) -> tuple[list[str], int]:
    """Return the names with the units that stand in a row below them, and the first row of the table."""
    if (units := _units(head, numbers, first, names)) is None:
        return names, first
    warnings.append(f"Row {numbers[first]} holds units; they were joined to the headers.")
    return [_with_unit(name, unit) for name, unit in itertools.zip_longest(names, units, fillvalue="")], first + 1


def _numbered_columns(width: int) -> list[str]:
    return [f"column {place}" for place in range(1, width + 1)]


# ---------------------------------------------------------------------- the header


def _filled(line: Sequence[str]) -> int:
    return sum(1 for text in line if text)


def _known(line: Sequence[str]) -> int:
    """How many cells are headers that chemists use."""
    return sum(1 for text in line if text and headers.is_known(text))


def _numeric(line: Sequence[str]) -> int:
    return sum(1 for text in line if text and _NUMBER.fullmatch(text))


def _is_data(line: Sequence[str]) -> bool:
    """Whether a row is one of values, not of headers: mostly numbers, and hardly a header anybody knows."""
    numeric = _numeric(line)
    return 2 * numeric > len(line) and 4 * _known(line) < numeric


def _header_at(head: Sequence[Sequence[str]]) -> int:
    """Return the place of the header.

    The first row, unless narrower rows stand above a wide one that says what is below.
    """
    wide = max(map(_filled, head))
    # A title with a comma in it looks like two cells; a row of nothing but headers tells that it is none.
    named = next((place for place, line in enumerate(head) if _known(line) >= max(2, 0.6 * _filled(line))), 0)
    if named and not any(map(_known, head[:named])) and _filled(head[named]) >= max(map(_filled, head[:named])):
        return named
    at = next((place for place, line in enumerate(head) if _filled(line) >= max(2, 0.6 * wide)), 0)
    # Where nothing is known on either side only lone cells above three or more columns are surely titles.
    known = max(map(_known, head[:at]), default=0)
    titles = wide >= 3 and not known and all(_filled(above) == 1 for above in head[:at])
    more = known < min(2, _known(head[at]))
    return at if (titles or more) and 2 * _numeric(head[at]) <= _filled(head[at]) else 0


def _group_above(head: Sequence[Sequence[str]], numbers: Sequence[int], at: int) -> Sequence[str] | None:
    """Return row right above the header when it names groups of its columns (``IC50`` over ``mean``, ``SD``, ``N``)."""
    if at == 0 or numbers[at] != numbers[at - 1] + 1:
        return None
    above, header = head[at - 1], head[at]
    wide = len(header)
    spots = [place for place, text in enumerate(above[:wide]) if text]
    if not spots or spots == [0] or _numeric(above):
        return None
    repeated = len(set(filter(None, header))) < _filled(header)
    needed = {at for at in range(spots[0], wide) if not header[at] or headers.is_part(header[at]) or repeated}
    parts = bool(needed) and needed.issuperset(set(spots) - {0})
    merged = any(not header[at] and headers.is_known(above[at]) for at in spots)  # Compound, over both rows
    # IC50 (nM) above JAK1, JAK2: the columns have names, and only the group says what is in them.
    saying = any(_says_what(above[at]) and _is_bare(header[at]) for at in spots)
    return above if parts or merged or saying else None


def _continued(
    head: Sequence[Sequence[str]], numbers: Sequence[int], place: int, names: Sequence[str]
) -> Sequence[str] | None:
    """Return the row right below the header when it is one of headers, too; None for any other.

    It holds no number, and where the header names compounds nothing, or such a name; where that names none, it does.
    A row of units comes next.
    """
    if place + 1 >= len(head) or numbers[place] != numbers[place - 1] + 1 or _numeric(head[place]):
        return None
    own = {at for at, name in enumerate(names) if _names_compounds(name)}
    texts = {at: text for at, text in enumerate(head[place]) if text}
    again = {at for at, text in texts.items() if fold(text) in headers.IDS or fold(text) in headers.STRUCTURES}
    heading = texts.keys() == {0}  # Amides, above compounds
    if not texts or heading or not (own or again) or not own & texts.keys() <= again or head[place] == head[place - 1]:
        return None
    return None if all(headers.is_unit(text) or is_missing(text) for text in texts.values()) else head[place]


def _names_compounds(name: str) -> bool:
    """Whether a header is that of ids, structures or sites."""
    folded = fold(name)
    return folded in headers.IDS or folded in headers.STRUCTURES or headers.SITE.fullmatch(folded) is not None


def _says_what(text: str) -> bool:
    """Whether a group's name says what its columns hold, for all of them: IC50 (nM), Ki, % inhibition."""
    return headers.looks_like_activity(text) or (bool(text) and headers.split_unit(text)[1] != "")


def _is_bare(text: str) -> bool:
    """Whether a header is a name alone, which a group above may say the quantity of: JAK1, WT, HeLa."""
    known = headers.is_known(text) or headers.is_part(text) or headers.is_property(text) or headers.is_of_fit(text)
    return bool(text) and not known and not headers.split_unit(text)[1]


def _combined(upper: Sequence[str], lower: Sequence[str]) -> list[str]:
    """One name from two rows; a group's name holds for the columns on its right that have none."""
    names, group, of = [], "", ""
    repeated = {text for text in lower if text and list(lower).count(text) > 1}
    for place in range(max(len(upper), len(lower))):
        over = upper[place] if place < len(upper) else ""
        under = lower[place] if place < len(lower) else ""
        group = over or (group if under else "")
        # What stands behind EGFR IC50 (nM) in a group is of that, not of the group.
        of = of if headers.is_part(under) and not over else ""
        if not under or not group:
            names.append(under or over)
        elif of and not headers.is_unit(under):
            names.append(f"{of} {under}")
        elif headers.is_unit(under):
            names.append(_with_unit(group, under))
        elif headers.is_mean(under):
            names.append(group)
        elif under not in repeated and (
            _says_all(under) or headers.is_mean(group) or fold(under).startswith(f"{fold(group)} ")
        ):
            names.append(under)
            of = under if headers.looks_like_activity(under) and not headers.is_mean(group) else ""
        elif _says_what(group) and _is_bare(under):
            names.append(f"{under} {group}")
        elif over or headers.is_part(under) or under in repeated:
            names.append(f"{group} {under}")
        else:
            names.append(under)
    return names


def _says_all(text: str) -> bool:
    """Whether a header needs no group's name: ``R1`` under ``Substituents`` is the site R1, ``Date`` is a date."""
    if _names_compounds(text):
        return True
    if headers.looks_like_activity(text):
        # EGFR IC50 (nM) says of what; IC50 (nM) and Mean IC50 (nM) do not.
        return all(" " in base for base in headers.bases(headers.split_unit(text)[0]))
    return headers.role_of(text) in ("date", "comment", "plate", "well", "batch")


def _units(
    head: Sequence[Sequence[str]], numbers: Sequence[int], place: int, header: Sequence[str]
) -> Sequence[str] | None:
    """Return the row right below the header when it holds nothing but units."""
    if place + 1 >= len(head) or numbers[place] != numbers[place - 1] + 1:
        return None
    texts = [text for text in head[place] if text and not is_missing(text)]
    units = [text for text in texts if headers.is_unit(text)]
    if not units or len(units) < len(texts) or len(head[place]) > len(header):
        return None
    return ["" if is_missing(text) else text for text in head[place]]


def _are_types(head: Sequence[Sequence[str]], numbers: Sequence[int], place: int, header: Sequence[str]) -> bool:
    """Whether the row right below the header only names types (String, Real), as Spotfire and KNIME write it."""
    if place + 1 >= len(head) or numbers[place] != numbers[place - 1] + 1:
        return False
    texts = [fold(text) for text in head[place] if text]
    return len(texts) > 1 and len(texts) >= _filled(header) - 1 and all(text in _TYPES for text in texts)


def _with_unit(name: str, unit: str) -> str:
    bare = unit.strip("()[] ")
    return f"{name} ({bare})" if name and bare and not headers.split_unit(name)[1] else name


# ---------------------------------------------------------------------- the rows of the table


@dataclass(frozen=True, slots=True)
class _Sheet:
    """The rows of a sheet that are not blank."""

    lines: list[list[Any]]
    numbers: list[int]
    """The row of each line as a spreadsheet counts."""
    show: Show
    file: str | None
    warnings: list[str]

    def texts(self, count: int) -> list[list[str]]:
        """Return the first lines as texts."""
        return [[self.show(cell) for cell in line] for line in self.lines[:count]]

    def left_out(self, first: int, last: int, where: str, said: str) -> None:
        """Warn that lines beside the table were left out."""
        self.warnings.append(f"Left out {where}: {rows_named(self.numbers[first:last]).lower()} ({_short(said)}).")

    def as_said(self, header: tuple[int, int]) -> tuple[list[str], int, list[str] | None]:
        """Return the names below which the user said that the table stands, its first line, and the header."""
        row, count = header
        if count == 0:
            return _numbered_columns(max(map(len, self.lines), default=0)), 0, None
        if row not in self.numbers:
            raise AssayPilotError(f"row {row} is empty, so it is no header", file=self.file, mend="Name another row.")
        at = self.numbers.index(row)
        top, *below = self.texts(at + 2)[at:]
        return (top, at + 1, top) if count == 1 or not below else (_combined(top, below[0]), at + 2, top)

    def body(self, header: Sequence[str], first: int, repeated: Sequence[str] | None) -> LaidOut:
        """Return the table of the rows from ``first`` on; ``repeated`` is the header as it may stand again."""
        last = self._second_table(first, repeated)
        if last == len(self.lines):
            last = self._end(first, len(header))
        places = self._without_repeats(first, last, repeated)
        if not places:
            raise AssayPilotError("there is a header but no row below it", file=self.file, mend="Add the compounds.")
        body = [self.lines[place] for place in places] if len(places) < len(self.lines) else self.lines
        rows = tuple(self.numbers[place] for place in places)
        columns = tuple(zip(*self._evened(body, rows, self._width(header, body)), strict=True))
        names, kept = self._named(header, columns)
        return LaidOut(names, tuple(columns[place] for place in kept), rows)

    def _second_table(self, first: int, header: Sequence[str] | None) -> int:
        """Return the place where another table begins below this one; the number of lines where none does.

        Its first row is one of headers, after a blank line or beginning as this one's header does, and not the same.
        """
        lines, numbers = self.lines, self.numbers
        if header is None or _known(header) < 2:
            return len(lines)
        start = next(place for place, text in enumerate(header) if text)
        for place in range(first + 1, len(lines)):
            line = lines[place]
            gap = numbers[place] > numbers[place - 1] + 1
            if not gap and not (start < len(line) and line[start] == header[start]):
                continue
            texts = [self.show(cell) for cell in line]
            same = texts[: len(header)] == list(header[: len(texts)]) and not any(texts[len(header) :])
            if same or _known(texts) < max(2, 0.6 * _filled(texts)) or _numeric(texts):
                continue
            begins = _short(", ".join(filter(None, texts)))
            self.warnings.append(
                f"In row {numbers[place]} another table begins ({begins}) and was left out. Read it as a file of its "
                "own."
            )
            return place
        return len(lines)

    def _end(self, first: int, width: int) -> int:
        """Return the place behind the last row of the table; warn of what stands below."""
        numbers, last = self.numbers, len(self.lines)
        # Rows behind the last blank line are more likely remarks than those that follow without a gap.
        start = max(first + 1, last - _FOOTERS)
        block = next((place for place in range(last - 1, start, -1) if numbers[place] > numbers[place - 1] + 1), last)
        below: list[str] = []
        while last > start:
            texts = [text for text in map(self.show, self.lines[last - 1]) if text]
            if not _is_footer(texts, width, gap=last - 1 >= block):
                break
            below.append(" ".join(texts))
            last -= 1
        if below:
            self.left_out(last, len(self.lines), "below the table", "; ".join(reversed(below)))
        return last

    def _without_repeats(self, first: int, last: int, header: Sequence[str] | None) -> list[int]:
        """Return the places of the table's rows; the header once more, as in tables put together, is no row."""
        if header is None or _filled(header) < 2:
            return list(range(first, last))
        start = next(place for place, text in enumerate(header) if text)
        again = [
            place
            for place in range(first, last)
            if start < len(self.lines[place])
            and self.lines[place][start] == header[start]
            and [self.show(cell) for cell in self.lines[place]][: len(header)] == list(header)
        ]
        if again:
            named = rows_named([self.numbers[place] for place in again]).lower()
            self.warnings.append(f"The header stands once more and is no compound: {named}.")
        gone = {*again, *self._headings(first, last, start)}
        return [place for place in range(first, last) if place not in gone]

    def _headings(self, first: int, last: int, start: int) -> list[int]:
        """Return the places of rows that only name what follows (Amides, Sulfonamides), and warn of them.

        Such a row has a text in its first column and nothing else, and no number in it where nearly all ids have one.
        """
        alone = [place for place in range(first, last) if self._only_text(place, start)]
        if not alone or 2 * len(alone) > last - first:
            return []
        others = [self.show(line[start]) for line in self.lines[first:last] if start < len(line)]
        digits = sum(any(map(str.isdigit, text)) for text in others)
        if digits < _NEARLY_ALL * (len(others) - len(alone)):
            return []
        named = ", ".join(self.show(self.lines[place][start]) for place in alone[:_NAMED])
        rows = rows_named([self.numbers[place] for place in alone]).lower()
        self.warnings.append(f"Left out as headings: {rows} ({named}{', …' * (len(alone) > _NAMED)}).")
        return alone

    def _only_text(self, place: int, start: int) -> bool:
        """Whether the first column of a row holds a text without a number, and no other cell is filled."""
        line = self.lines[place]
        text = self.show(line[start]) if start < len(line) > 2 else ""
        if not text or any(map(str.isdigit, text)):
            return False
        return not any(self.show(cell) for at, cell in enumerate(line) if at != start)

    def _width(self, header: Sequence[str], body: Sequence[Sequence[Any]]) -> int:
        """How many columns there are once empty ones at the right are left out."""
        width = len(header)
        while (
            width > 1 and not header[width - 1] and not any(len(r) >= width and self.show(r[width - 1]) for r in body)
        ):
            width -= 1
        return width

    def _evened(self, body: list[list[Any]], rows: Sequence[int], width: int) -> Sequence[Sequence[Any]]:
        """Return the rows, each as wide as the table; warn of what had to be mended."""
        if all(len(line) == width for line in body):
            return body
        short, long, lines = [], [], []
        for row, line in zip(rows, body, strict=True):
            if len(line) < width:
                short.append(row)
            elif any(self.show(cell) for cell in line[width:]):
                long.append(row)
            lines.append((list(line) + [""] * width)[:width])
        for places, said in (
            (short, "fewer cells than the header; the rest counts as empty"),
            (long, "more cells than the header; those beyond it were left out"),
        ):
            if places:
                self.warnings.append(f"{rows_named(places)} {'has' if len(places) == 1 else 'have'} {said}.")
        return lines

    def _named(self, header: Sequence[str], columns: Sequence[Sequence[Any]]) -> tuple[tuple[str, ...], list[int]]:
        """Return unique names, and the places of the columns that have a header or a filled cell."""
        texts = [" ".join(text.split()) for text in header[: len(columns)]]
        texts += [""] * (len(columns) - len(texts))
        names: list[str] = []
        kept: list[int] = []
        taken = set(texts)
        for place, text in enumerate(texts):
            if not text and not any(map(self.show, columns[place])):
                continue
            number = place + 1
            name = text or f"column {number}"
            if name in names or (not text and name in taken):
                renamed = free_name(name, {*taken, name})
                self.warnings.append(f"Column {number} repeats the header {name!r}; it is called {renamed!r} here.")
                name = renamed
            elif not text:
                self.warnings.append(f"Column {number} has no header; it is called {name!r} here.")
            names.append(name)
            taken.add(name)
            kept.append(place)
        return tuple(names), kept


def _is_footer(texts: Sequence[str], width: int, *, gap: bool) -> bool:
    """Whether a row is a remark or a summary below a table, which no compound looks like."""
    if not texts:
        return True
    first = texts[0]
    if fold(first) in _SUMMARY and len(texts) < width and width > 2:
        return all(_NUMBER.fullmatch(text) for text in texts[1:])
    if len(texts) > 1 or width < 3 or len(first) < 2:
        return False
    remark = first[0] in "*#†‡§(" or ": " in first or len(first.split()) > 2
    return remark or (gap and (" " in first or first.endswith(":")))


def _short(text: str) -> str:
    line = " ".join(text.split()).rstrip(".")
    return line if len(line) <= _SHOWN else line[: _SHOWN - 1] + "…"
