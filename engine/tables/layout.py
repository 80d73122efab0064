"""The extent of a table in the rows of a sheet: titles, header rows, units, footers."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from ..errors import AssayPilotError
from .header_rows import NUMBER, SEARCHED, count_filled, count_known, count_numeric, find_header, given_header
from .raw import CELLS, fold, free_name, rows_named

_FOOTERS = 40
_SUMMARY = frozenset(CELLS["summary"])
"""First words of a row that sums a table up."""
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
    """Return the table in the rows of a sheet that are not blank, with ``warnings`` about lines left out.

    ``numbers``: the row of each line as a spreadsheet counts. Rows above the header, a second header row, a row of
    units, rows below the table and repeated headers are recognised; any doubtful line stays a row of the table.
    ``header``: the row of the header and its number of rows (1 or 2); (0, 0) without one; None: it is
    found. AssayPilotError when no row is left below the header, or the given row is empty.
    """
    sheet = _Sheet(lines, numbers, show, file, warnings)
    about: list[str] = []
    if header is not None:
        found = given_header(sheet.texts(), numbers, header, file=file, warnings=about)
    else:
        found = find_header(sheet.texts(SEARCHED), numbers, about)
    if found.titles:
        titles = "; ".join(", ".join(filter(None, line)) for line in sheet.texts(found.titles))
        sheet.left_out(0, found.titles, "above the header", titles)
    warnings += about
    return replace(sheet.body(found.names, found.first, found.top), header=found.rows)


@dataclass(frozen=True, slots=True)
class _Sheet:
    """The rows of a sheet that are not blank."""

    lines: list[list[Any]]
    numbers: list[int]
    """The row of each line as a spreadsheet counts."""
    show: Show
    file: str | None
    warnings: list[str]

    def texts(self, count: int | None = None) -> list[list[str]]:
        """Return the first lines, or all, as texts."""
        return [[self.show(cell) for cell in line] for line in self.lines[:count]]

    def left_out(self, first: int, last: int, where: str, text: str) -> None:
        """Warn that lines outside the table were left out."""
        self.warnings.append(f"Left out {where}: {rows_named(self.numbers[first:last]).lower()} ({_short(text)}).")

    def body(self, header: Sequence[str], first: int, repeated: Sequence[str] | None) -> LaidOut:
        """Return the table of the rows from ``first`` on; ``repeated`` is a header that may occur again."""
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
        if header is None or count_known(header) < 2:
            return len(lines)
        start = next(place for place, text in enumerate(header) if text)
        for place in range(first + 1, len(lines)):
            line = lines[place]
            gap = numbers[place] > numbers[place - 1] + 1
            if not gap and not (start < len(line) and line[start] == header[start]):
                continue
            texts = [self.show(cell) for cell in line]
            same = texts[: len(header)] == list(header[: len(texts)]) and not any(texts[len(header) :])
            if same or count_known(texts) < max(2, 0.6 * count_filled(texts)) or count_numeric(texts):
                continue
            begins = _short(", ".join(filter(None, texts)))
            self.warnings.append(
                f"In row {numbers[place]} another table begins ({begins}) and was left out. Read it as a file of its "
                "own."
            )
            return place
        return len(lines)

    def _end(self, first: int, width: int) -> int:
        """Return the place after the last row of the table; warn of lines below it."""
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
        if header is None or count_filled(header) < 2:
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

        Such a row has a text in its first column and nothing else. The text has no number where nearly all ids have
        one.
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
        """Whether the first cell of a row is a text without a number, and no other cell is filled."""
        line = self.lines[place]
        text = self.show(line[start]) if start < len(line) > 2 else ""
        if not text or any(map(str.isdigit, text)):
            return False
        return not any(self.show(cell) for at, cell in enumerate(line) if at != start)

    def _width(self, header: Sequence[str], body: Sequence[Sequence[Any]]) -> int:
        """Return the number of columns without empty ones at the right."""
        width = len(header)
        while (
            width > 1 and not header[width - 1] and not any(len(r) >= width and self.show(r[width - 1]) for r in body)
        ):
            width -= 1
        return width

    def _evened(self, body: list[list[Any]], rows: Sequence[int], width: int) -> Sequence[Sequence[Any]]:
        """Return the rows, each as wide as the table; warn of rows that were changed."""
        if all(len(line) == width for line in body):
            return body
        short, long, lines = [], [], []
        for row, line in zip(rows, body, strict=True):
            if len(line) < width:
                short.append(row)
            elif any(self.show(cell) for cell in line[width:]):
                long.append(row)
            lines.append((list(line) + [""] * width)[:width])
        for places, what in (
            (short, "fewer cells than the header; the rest counts as empty"),
            (long, "more cells than the header; those beyond it were left out"),
        ):
            if places:
                self.warnings.append(f"{rows_named(places)} {'has' if len(places) == 1 else 'have'} {what}.")
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
        return all(NUMBER.fullmatch(text) for text in texts[1:])
    if len(texts) > 1 or width < 3 or len(first) < 2:
        return False
    remark = first[0] in "*#†‡§(" or ": " in first or len(first.split()) > 2
    return remark or (gap and (" " in first or first.endswith(":")))


def _short(text: str) -> str:
    line = " ".join(text.split()).rstrip(".")
    return line if len(line) <= _SHOWN else line[: _SHOWN - 1] + "…"
