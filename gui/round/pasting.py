"""What a pasted block or a results file would write into a round, before anything is written."""

from __future__ import annotations

import csv
import io
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace

from assaypilot.engine.campaign.issued_rounds import Round, Source
from assaypilot.engine.campaign.state import Status
from assaypilot.engine.domain.controls import find_control
from assaypilot.engine.domain.measurements import Measurement, Result
from assaypilot.engine.domain.plates import Layout
from assaypilot.engine.errors import AssayPilotError
from assaypilot.engine.system.progress import Report, silent
from assaypilot.engine.tables.entries import is_empty
from assaypilot.engine.tables.opening import parse_text
from assaypilot.engine.tables.raw import Problem, RawTable
from assaypilot.engine.tables.results import ResultsTable, read_results
from assaypilot.engine.tables.values import is_missing

from .entry import (
    Entry,
    Question,
    decimal_of,
    in_round,
    line_of,
    parse_cells,
    place_note,
    requested_of,
    results_in_round,
)

TITLE = "What the paste will write"
REPEATED = "repeats row {}, and the round asks for no more; type it in if it is a further measurement"


@dataclass(frozen=True, slots=True)
class PastedRow:
    """One value of a paste or a results file, and what becomes of it."""

    place: str
    """Where it stood: a row of the file or of the clipboard."""
    compound: str
    text: str
    """The value as read."""
    becomes: str
    """What will be kept; empty when it is rejected."""
    note: str
    rejected: bool = False


@dataclass(frozen=True, slots=True)
class Wrong:
    """A value that cannot be used, and belongs into a cell of the round."""

    line: int
    place: int
    """Of the endpoint, among the round's."""
    text: str
    reason: str
    suggestion: str = ""
    """What may be meant."""


@dataclass(frozen=True, slots=True)
class Intended:
    """What would be written, line by line, and what was rejected."""

    title: str
    rows: tuple[PastedRow, ...]
    results: tuple[Result, ...]
    warnings: tuple[str, ...] = ()
    source: Source | None = None
    wrong: tuple[Wrong, ...] = ()
    """Rejected values with a cell that shows them until they are corrected."""
    pending: int = 0
    """Cells without a value, such as n.d.; nothing is written for them."""

    @property
    def rejected(self) -> int:
        """Lines that cannot be used."""
        return sum(row.rejected for row in self.rows)


def rejected_first(rows: Iterable[PastedRow]) -> tuple[PastedRow, ...]:
    """Return the rows in their order, those that cannot be used on top."""
    return tuple(sorted(rows, key=lambda row: not row.rejected))


def _read(raw: RawTable, status: Status, report: Report, layouts: Sequence[Layout] = ()) -> ResultsTable:
    """Return the results in a table, read by what the campaign has and its open round asks for."""
    return read_results(
        raw,
        status.library,
        status.endpoints,
        report,
        controls=status.settings.controls,
        layouts=layouts,
        asked=status.asked_endpoint,
    )


def intend_file(raw: RawTable, status: Status, shown: Round | None, report: Report = silent) -> Intended:
    """Return what a results table would write."""
    found = _read(raw, status, report, status.layouts)
    return _of_table(f"Results in {raw.file or 'the clipboard'}", found, raw, status, shown)


def intend_paste(
    text: str,
    status: Status,
    shown: Round,
    lines: Sequence[int],
    place: int = 0,
    *,
    report: Report = silent,
    decimal: str = ".",
) -> Intended:
    """Return what a pasted block would write.

    A block with a header row is read as a results table; one with ids in its first column as ids and values.
    Any other goes line by line onto ``lines`` of the round (the selected row and those below it, as shown),
    from the endpoint at ``place`` on. ``decimal``: the user's decimal mark, where the block
    does not show it. AssayPilotError when there is nothing in it.
    """
    block = _block(text)
    if not block:
        raise AssayPilotError("there is nothing to paste", mend="Copy the values in the spreadsheet first.")
    wide = max(len(row) for row in block) > 1
    ids = [status.library.find(row[0]) for row in block]
    if wide and ids[0] is None and any(place is not None for place in ids[1:]):
        raw = parse_text("\n".join("\t".join(row) for row in block), report)
        found = _read(raw, status, report)
        return _of_table(TITLE, found, raw, status, shown)
    pasted = _Pasted(
        status, shown, decimal_of((cell for row in block for cell in row), decimal), in_round(status, shown)
    )
    pasted.pending = sum(bool(cell) and is_missing(cell) for row in block for cell in row)
    if wide and sum(place is not None for place in ids) * 2 >= len(block):
        pasted.by_id(block)
        return pasted.intended(TITLE)
    pasted.by_line(block, lines, place)
    title = TITLE
    if len(shown.endpoints) == 1:
        name = status.endpoints[shown.endpoints[0]].name
        title += f" ({name})" if name else ""
    return pasted.intended(title)


def _block(text: str) -> list[list[str]]:
    """Cells of a copied block; the line end a spreadsheet adds at the bottom is no row."""
    lines = text.replace("\r\n", "\n").replace("\r", "\n").rstrip("\n")
    if not lines.strip():
        return []
    return [[cell.strip() for cell in row] for row in csv.reader(io.StringIO(lines), delimiter="\t")]


@dataclass
class _Pasted:
    """A block in the making: what becomes of each of its lines."""

    status: Status
    shown: Round
    decimal: str
    there: dict[tuple[int, int], list[Measurement]]
    """What the round has already."""
    rows: list[PastedRow] = field(default_factory=list)
    results: list[Result] = field(default_factory=list)
    wrong: list[Wrong] = field(default_factory=list)
    pending: int = 0
    made: dict[tuple[int, int], list[Result]] = field(default_factory=dict)
    """The results by compound and endpoint."""

    def intended(self, title: str) -> Intended:
        """Return what would be written."""
        return Intended(
            title,
            rejected_first(self.rows),
            tuple(self.results),
            source=Source("pasted"),
            wrong=tuple(self.wrong),
            pending=self.pending,
        )

    def by_line(self, block: list[list[str]], lines: Sequence[int], place: int) -> None:
        """Values line by line.

        Several columns of one row are replicates of the only endpoint, or the endpoints of the round from
        ``place`` on, or those that a row of headings names.
        """
        first, columns = self._columns(block, place)
        for at, cells in enumerate(block[first:]):
            row = str(at + first + 1)
            if at >= len(lines):
                text = "; ".join(cell for cell in cells if not is_missing(cell))
                if text:
                    self._reject(row, "", text, "there is no line left in the round")
                continue
            compound = self.shown.items[lines[at]].compound
            self._add_each(row, compound, cells, columns)

    def by_id(self, block: list[list[str]]) -> None:
        """Ids in the first column, values behind them, or an endpoint's name and values."""
        seen: dict[tuple[str, ...], str] = {}
        for at, cells in enumerate(block, start=1):
            row = str(at)
            compound = self.status.library.find(cells[0])
            first = seen.setdefault(tuple(cells), row)
            if first != row and compound is not None and self._full(compound):
                self._reject(row, cells[0], "; ".join(cells[1:]), REPEATED.format(first))
                continue
            if compound is None and find_control(self.status.settings.controls, cells[0]) is not None:
                self._reject(
                    row, cells[0], "; ".join(cells[1:]), "a control: type it in its row, or paste a header, too"
                )
                continue
            if compound is None:
                text = "; ".join(cell for cell in cells[1:] if not is_missing(cell))
                if text or cells[0]:
                    self._reject(row, cells[0], text, "no compound of this campaign")
                continue
            named = self._endpoint_named(cells[1]) if len(cells) > 2 else None
            if named is not None:
                self._add(row, compound, named, cells[2:])
                continue
            self._add_each(row, compound, cells[1:], self._in_order(0, len(cells)))

    def _add_each(self, row: str, compound: int, cells: Sequence[str], columns: Sequence[int]) -> None:
        """Add the cells of one compound, each for the endpoint of its column."""
        for endpoint, texts in self._cells(cells, columns):
            if endpoint is None:
                name = self.status.library.ids[compound]
                self._reject(row, name, "; ".join(texts), "there is no endpoint left in the round for this column")
            else:
                self._add(row, compound, endpoint, texts)

    def _full(self, compound: int) -> bool:
        """Whether a compound has all requested values of the round."""
        return all(
            sum(m.n for m in self.there.get((compound, endpoint), ()) if m.excluded is None)
            + sum(result.n for result in self.made.get((compound, endpoint), ()))
            >= requested_of(self.shown, compound, endpoint)
            for endpoint in self.shown.endpoints
        )

    def _columns(self, block: list[list[str]], place: int) -> tuple[int, list[int]]:
        """Return the first row with values, and the endpoint of each column."""
        names = [self._endpoint_named(cell) for cell in block[0]]
        known = [name for name in names if name is not None]
        if len(known) == len(names) and len(block) > 1:
            return 1, known
        headed = len(block) > 1 and not self._any_value(block[0]) and any(block[0])
        return int(headed), self._in_order(place, max(len(row) for row in block))

    def _in_order(self, place: int, most: int) -> list[int]:
        """Return the endpoints of columns without headings: the only one, or those of the round in order."""
        endpoints = self.shown.endpoints
        return list(endpoints[place : place + most]) if len(endpoints) > 1 else [endpoints[0]]

    def _cells(self, cells: Sequence[str], columns: Sequence[int]) -> list[tuple[int | None, list[str]]]:
        """Endpoint and cells of a row's values; None for those beyond the last column."""
        own = [self.status.endpoints[columns[at if at < len(columns) else -1]] for at in range(len(cells))]
        there = [(at, cell) for at, cell in enumerate(cells) if not is_empty(own[at], cell)]
        if len(columns) == 1 and (len(self.shown.endpoints) == 1 or len(self.status.endpoints) == 1):
            return [(columns[0], [cell for _, cell in there])] if there else []
        return [(columns[at] if at < len(columns) else None, [cell]) for at, cell in there]

    def _endpoint_named(self, text: str) -> int | None:
        """Return the endpoint that a heading names, in its own or in its modelled name."""
        wanted = text.strip().casefold()
        for place, endpoint in enumerate(self.status.endpoints):
            if wanted and endpoint.of is None and wanted in (endpoint.name.casefold(), endpoint.scale_name.casefold()):
                return place if endpoint.name.casefold() == wanted or endpoint.transform == "none" else None
        return None

    def _add(self, row: str, compound: int, endpoint: int, cells: Sequence[str]) -> None:
        """Add the cells of one compound and endpoint: a value each, or why they cannot be read."""
        described, name = self.status.endpoints[endpoint], self.status.library.ids[compound]
        entries: list[Entry] = []
        texts: list[str] = []
        for cell in cells:
            try:
                entries += parse_cells([cell], described, self.decimal)
                texts += [] if is_empty(described, cell) else [cell]
            except ValueError as error:
                self._reject(row, name, cell, str(error))
                self._mark(compound, endpoint, cell, error)
        if not entries:
            return
        text = "; ".join(texts)
        made = results_in_round(
            entries,
            self.status,
            self.shown,
            compound,
            endpoint,
            row=int(row),
            before=self.made.get((compound, endpoint), ()),
            there=self.there,
        )
        self.results += made
        self.made.setdefault((compound, endpoint), []).extend(made)
        becomes = "; ".join(entry.shown(described) for entry in entries)
        note = place_note(compound, endpoint, self.status, self.shown, self.there)
        self.rows.append(PastedRow(row, name, text, becomes, note))

    def _mark(self, compound: int, endpoint: int, text: str, error: ValueError) -> None:
        """Keep what cannot be used for the cell it belongs to."""
        line = line_of(compound, self.shown)
        if line is not None and endpoint in self.shown.endpoints:
            suggestion = error.suggestion if isinstance(error, Question) else ""
            self.wrong.append(Wrong(line, self.shown.endpoints.index(endpoint), text, str(error), suggestion))

    def _reject(self, row: str, name: str, text: str, reason: str) -> None:
        self.rows.append(PastedRow(row, name, text, "", reason, rejected=True))

    def _any_value(self, cells: Sequence[str]) -> bool:
        """Whether a row contains a possible result."""
        for cell in cells:
            try:
                if parse_cells([cell], self.status.endpoints[self.shown.endpoints[0]], self.decimal):
                    return True
            except ValueError as error:
                if any(sign.isdigit() for sign in cell) and not cell[:1].isalpha():
                    return bool(str(error))
        return False


def _of_table(title: str, found: ResultsTable, raw: RawTable, status: Status, shown: Round | None) -> Intended:
    """Return a results table line by line."""
    places = {endpoint.name: place for place, endpoint in enumerate(status.endpoints)}
    there = {} if shown is None else in_round(status, shown)
    rows: list[tuple[int, PastedRow]] = []
    used: list[Result] = []
    seen: dict[Result, int] = {}
    counted: Counter[tuple[int, int]] = Counter()
    for result in found.results:
        place = places.get(result.endpoint or "", status.objective)
        text = Entry(result.value, result.relation, result.unit, result.n, result.sd).shown(status.endpoints[place])
        compound = status.library.find(result.compound)
        note = "a control" if compound is None else place_note(compound, place, status, shown, there)
        at = result.row or 0
        first = seen.setdefault(replace(result, row=None), at)
        if first != at and compound is not None and shown is not None:
            known = sum(m.n for m in there.get((compound, place), ()) if m.excluded is None)
            if known + counted[compound, place] >= requested_of(shown, compound, place):
                rows.append((at, PastedRow(str(at), result.compound, text, "", REPEATED.format(first), rejected=True)))
                continue
        if compound is not None:
            counted[compound, place] += result.n
        used.append(result)
        rows.append((at, PastedRow(str(at), result.compound, text, text, note)))
    wrong = []
    for refused in found.rejected:
        where = f"column {refused.column}: " if refused.column else ""
        name, text, own = _rejected_cell(refused, raw, status, shown)
        wrong += [] if own is None else [own]
        rows.append(
            (refused.row or 0, PastedRow(str(refused.row), name, text, "", where + refused.reason, rejected=True))
        )
    rows.sort(key=lambda pair: pair[0])
    return Intended(
        title,
        rejected_first(row for _, row in rows),
        tuple(used),
        found.warnings,
        Source(raw.file or "pasted", raw.digest),
        tuple(wrong),
        found.pending,
    )


def _rejected_cell(
    refused: Problem, raw: RawTable, status: Status, shown: Round | None
) -> tuple[str, str, Wrong | None]:
    """Id and text of a row that cannot be used, and the cell of the round its value belongs to, if there is one."""
    at = next((place for place, row in enumerate(raw.rows) if row == refused.row), None)
    if at is None or refused.column is None or refused.column not in raw.columns:
        return "", "", None
    text = raw.column(refused.column)[at]
    cells = [raw.column(column)[at] for column in raw.columns if column != refused.column]
    compound = next((found for cell in cells if cell and (found := status.library.find(cell)) is not None), None)
    if compound is None:
        return text, "", None
    name = status.library.ids[compound]
    line = None if shown is None else line_of(compound, shown)
    if shown is None or line is None or not text:
        return name, text, None
    own = refused.column.split("(")[0].strip().casefold()
    named = [k for k, n in enumerate(shown.endpoints) if status.endpoints[n].name.casefold() == own]
    place = named[0] if named else 0 if len(shown.endpoints) == 1 else None
    return name, text, None if place is None else Wrong(line, place, text, refused.reason)
