"""What a pasted block or a results file would write into a round, before anything is written."""

from __future__ import annotations

import csv
import io
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from assaypilot.engine.campaign.issued_rounds import Round, Source
from assaypilot.engine.campaign.state import Status
from assaypilot.engine.domain.measurements import Result
from assaypilot.engine.errors import AssayPilotError
from assaypilot.engine.system.progress import Report, silent
from assaypilot.engine.tables.entries import is_empty
from assaypilot.engine.tables.opening import parse_text
from assaypilot.engine.tables.raw import Problem, RawTable
from assaypilot.engine.tables.results import ResultsTable, read_results
from assaypilot.engine.tables.values import Value, is_missing

from ..tables.table import as_clipboard
from .entry import Question, in_round, in_their_cells, line_of, parse_entry, place_note, requested_of, shown_entry

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


def intend_file(raw: RawTable, status: Status, shown: Round | None, report: Report = silent) -> Intended:
    """Return what a results table would write."""
    title = f"Results in {raw.file or 'the clipboard'}"
    return _of_table(title, raw, status, shown, Source(raw.file or "pasted", raw.digest), report)


def intend_paste(
    text: str, status: Status, shown: Round, lines: Sequence[int], place: int = 0, *, report: Report = silent
) -> Intended:
    """Return what a pasted block would write.

    A block with a header row is read as a results table; one with ids in its first column as ids and values, or ids,
    an endpoint's name and values. Any other goes line by line onto ``lines`` of the round (the selected row and those
    below it, as shown), from the endpoint at ``place`` on, or to the endpoints that a row of headings names. Several
    columns are replicates of the only endpoint, or the endpoints of the round. AssayPilotError when there is nothing
    in it.
    """
    block = _block(text)
    if not block:
        raise AssayPilotError("there is nothing to paste", mend="Copy the values in the spreadsheet first.")
    wide = max(len(row) for row in block) > 1
    ids = [status.library.find(row[0]) for row in block]
    if wide and ids[0] is None and any(compound is not None for compound in ids[1:]):
        raw = parse_text(as_clipboard(block), report)
        return _of_table(TITLE, raw, status, shown, Source("pasted", raw.digest), report)
    named = wide and sum(compound is not None for compound in ids) * 2 >= len(block)
    cells, refused = _by_id(block, status, shown) if named else _by_line(block, status, shown, lines, place)
    endpoint = status.endpoints[shown.endpoints[0]].name
    title = f"{TITLE} ({endpoint})" if len(shown.endpoints) == 1 and not named and endpoint else TITLE
    if not cells:
        return Intended(title, tuple(refused), ())
    texts = [(name, endpoint, text) for _, name, endpoint, text in cells]
    raw = parse_text(as_clipboard([("ID", "Endpoint", "Value"), *texts]), report)
    raw = replace(raw, rows=tuple(cells[row - 2][0] for row in raw.rows))
    found = _of_table(title, raw, status, shown, Source("pasted"), report, headed=False)
    results = in_their_cells(found.results, status, shown)
    pending = sum(bool(cell) and is_missing(cell) for row in block for cell in row)
    rows = rejected_first(sorted((*refused, *found.rows), key=lambda row: int(row.place)))
    return replace(found, rows=rows, results=tuple(results), pending=pending)


def _block(text: str) -> list[list[str]]:
    """Cells of a copied block; the line end a spreadsheet adds at the bottom is no row."""
    lines = text.replace("\r\n", "\n").replace("\r", "\n").rstrip("\n")
    if not lines.strip():
        return []
    return [[cell.strip() for cell in row] for row in csv.reader(io.StringIO(lines), delimiter="\t")]


Cells = list[tuple[int, str, str, str]]
"""Row, id, endpoint and text of each value of a block."""


def _by_id(block: list[list[str]], status: Status, shown: Round) -> tuple[Cells, list[PastedRow]]:
    """Ids in the first column, values behind them, or an endpoint's name and values."""
    cells: Cells = []
    refused: list[PastedRow] = []
    for row, (name, *texts) in enumerate(block, start=1):
        endpoint = _endpoint_named(texts[0], status) if len(texts) > 1 else None
        own = texts if endpoint is None else texts[1:]
        _add(row, name, own, _in_order(shown) if endpoint is None else [endpoint], status, cells, refused)
    return cells, refused


def _by_line(
    block: list[list[str]], status: Status, shown: Round, lines: Sequence[int], place: int
) -> tuple[Cells, list[PastedRow]]:
    """Values line by line, below a row of headings or without one."""
    cells: Cells = []
    refused: list[PastedRow] = []
    named = [one for cell in block[0] if (one := _endpoint_named(cell, status)) is not None]
    all_named = len(named) == len(block[0])
    headed = len(block) > 1 and any(block[0]) and (all_named or not any(map(_may_be_value, block[0])))
    columns = named if headed and all_named else _in_order(shown, place)
    for at, texts in enumerate(block[int(headed) :]):
        row = at + int(headed) + 1
        if at < len(lines):
            name = status.library.ids[shown.items[lines[at]].compound]
            _add(row, name, texts, columns, status, cells, refused)
        elif text := "; ".join(cell for cell in texts if not is_missing(cell)):
            refused.append(PastedRow(str(row), "", text, "", "there is no line left in the round", rejected=True))
    return cells, refused


def _add(
    row: int, name: str, texts: Sequence[str], columns: Sequence[int], status: Status, cells: Cells,
    refused: list[PastedRow],
) -> None:  # fmt: skip
    """Add the values of one compound, each for the endpoint of its column; of one endpoint all are replicates."""
    for at, text in enumerate(texts):
        endpoint = columns[0] if len(columns) == 1 else columns[at] if at < len(columns) else None
        if is_empty(None if endpoint is None else status.endpoints[endpoint], text):
            continue
        if endpoint is None:
            reason = "there is no endpoint left in the round for this column"
            refused.append(PastedRow(str(row), name, text, "", reason, rejected=True))
        else:
            cells.append((row, name, status.endpoints[endpoint].name, text))


def _in_order(shown: Round, place: int = 0) -> list[int]:
    """Return the endpoints of columns without headings: the only one, or those of the round from a place on."""
    return list(shown.endpoints[place:] if len(shown.endpoints) > 1 else shown.endpoints)


def _endpoint_named(text: str, status: Status) -> int | None:
    """Return the endpoint that a heading names."""
    wanted = text.strip().casefold()
    found = (k for k, one in enumerate(status.endpoints) if one.of is None and one.name.casefold() == wanted)
    return next(found, None) if wanted else None


def _may_be_value(cell: str) -> bool:
    """Whether a cell of a first row is a value, readable or not, and no heading."""
    return any(sign.isdigit() for sign in cell) and not cell[:1].isalpha()


def _read(raw: RawTable, status: Status, report: Report) -> ResultsTable:
    """Return the results in a table, read by what the campaign has and its open round asks for."""
    return read_results(
        raw,
        status.library,
        status.endpoints,
        report,
        controls=status.settings.controls,
        layouts=status.layouts,
        asked=status.asked_endpoint,
    )


def _of_table(
    title: str,
    raw: RawTable,
    status: Status,
    shown: Round | None,
    source: Source,
    report: Report,
    *,
    headed: bool = True,
) -> Intended:
    """Return a results table line by line; ``headed``: whether its columns are named by whoever wrote it."""
    found = _read(raw, status, report)
    places = {endpoint.name: place for place, endpoint in enumerate(status.endpoints)}
    there = {} if shown is None else in_round(status, shown)
    rows: list[tuple[int, PastedRow]] = []
    used: list[Result] = []
    seen: dict[Result, int] = {}
    counted: Counter[tuple[int, int]] = Counter()
    for result in found.results:
        place = places.get(result.endpoint or "", status.objective)
        kept = Value(result.value, result.relation, result.unit, result.n, result.sd)
        text = shown_entry(kept, status.endpoints[place])
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
        where = f"column {refused.column}: " if refused.column and headed else ""
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
        source,
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
    said = {cell.split("(")[0].strip().casefold() for cell in (refused.column, *cells)}
    named = [k for k, n in enumerate(shown.endpoints) if status.endpoints[n].name.casefold() in said]
    place = named[0] if named else 0 if len(shown.endpoints) == 1 else None
    if place is None:
        return name, text, None
    try:
        parse_entry(text, status.endpoints[shown.endpoints[place]], raw.decimal)
    except Question as question:
        return name, text, Wrong(line, place, text, str(question), question.suggestion)
    except ValueError:
        pass
    return name, text, Wrong(line, place, text, refused.reason)
