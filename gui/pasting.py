"""What a pasted block or a results file would write into a round, before anything is written."""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence
from dataclasses import dataclass

from assaypilot.engine.campaign.state import Round, Source, Status
from assaypilot.engine.errors import AssayPilotError
from assaypilot.engine.measurements import Result
from assaypilot.engine.progress import Report, silent
from assaypilot.engine.tables.raw import RawTable, parse_text
from assaypilot.engine.tables.results import ResultsTable, read_results
from assaypilot.engine.tables.values import is_missing
from assaypilot.gui.entry import Entry, entered_text, parse_entries, result_of
from assaypilot.gui.models.notes import PastedRow

__all__ = ["Intended", "intend_file", "intend_paste"]


@dataclass(frozen=True, slots=True)
class Intended:
    """What would be written, line by line, and what was rejected."""

    title: str
    rows: tuple[PastedRow, ...]
    results: tuple[Result, ...]
    warnings: tuple[str, ...] = ()
    source: Source | None = None

    @property
    def rejected(self) -> int:
        """Lines that cannot be used."""
        return sum(row.rejected for row in self.rows)


def intend_file(raw: RawTable, status: Status, shown: Round | None, report: Report = silent) -> Intended:
    """What a results table would write."""
    found = read_results(raw, status.library, status.endpoints, report)
    return _of_table(f"Results in {raw.file or 'the clipboard'}", found, raw, status, shown)


def intend_paste(text: str, status: Status, shown: Round, lines: Sequence[int], report: Report = silent) -> Intended:
    """What a pasted block would write.

    A block with a header row is read as a results table, one whose first column holds ids as ids and values, and
    anything else is put line by line onto ``lines`` of the round (the selected row and those below it, as shown).
    AssayPilotError when there is nothing in it.
    """
    block = _block(text)
    if not block:
        raise AssayPilotError("there is nothing to paste", mend="Copy the values in the spreadsheet first.")
    wide = max(len(row) for row in block) > 1
    ids = [status.library.find(row[0]) for row in block]
    if wide and ids[0] is None and any(place is not None for place in ids[1:]):
        raw = parse_text("\n".join("\t".join(row) for row in block), report)
        found = read_results(raw, status.library, status.endpoints, report)
        return _of_table("What the paste will write", found, raw, status, shown)
    if wide and sum(place is not None for place in ids) * 2 >= len(block):
        return _by_id(block, status, shown)
    return _by_line(block, status, shown, lines)


def _block(text: str) -> list[list[str]]:
    """Cells of a copied block; the line end a spreadsheet adds at the bottom is no row."""
    lines = text.replace("\r\n", "\n").replace("\r", "\n").rstrip("\n")
    if not lines.strip():
        return []
    return [[cell.strip() for cell in row] for row in csv.reader(io.StringIO(lines), delimiter="\t")]


def _by_line(block: list[list[str]], status: Status, shown: Round, lines: Sequence[int]) -> Intended:
    """Values line by line, several columns of one row being several measurements."""
    endpoint = status.endpoints[status.objective]
    rows: list[PastedRow] = []
    results: list[Result] = []
    first = 1 if len(block) > 1 and not _any_value(block[0], status) and any(cell for cell in block[0]) else 0
    for place, cells in enumerate(block[first:]):
        text = "; ".join(cell for cell in cells if not is_missing(cell))
        at = str(place + first + 1)
        if place >= len(lines):
            if text:
                rows.append(PastedRow(at, "", text, "", "there is no line left in the round", rejected=True))
            continue
        line = lines[place]
        name = status.library.ids[shown.items[line].compound]
        if not text:
            continue
        _add(rows, results, at, name, text, status, shown)
    title = "What the paste will write" + (f" ({endpoint.name})" if endpoint.name else "")
    return Intended(title, tuple(rows), tuple(results), source=Source("pasted"))


def _by_id(block: list[list[str]], status: Status, shown: Round) -> Intended:
    """Ids in the first column, values behind them."""
    rows: list[PastedRow] = []
    results: list[Result] = []
    for place, cells in enumerate(block, start=1):
        compound = status.library.find(cells[0])
        text = "; ".join(cell for cell in cells[1:] if not is_missing(cell))
        if compound is None:
            if text or cells[0]:
                rows.append(PastedRow(str(place), cells[0], text, "", "no compound of this campaign", rejected=True))
            continue
        if text:
            _add(rows, results, str(place), status.library.ids[compound], text, status, shown)
    return Intended("What the paste will write", tuple(rows), tuple(results), source=Source("pasted"))


def _add(
    rows: list[PastedRow], results: list[Result], at: str, name: str, text: str, status: Status, shown: Round
) -> None:
    """Nothing; one line of a block: its values, or why they cannot be read."""
    endpoint = status.endpoints[status.objective]
    try:
        entries: list[Entry] = parse_entries(text, endpoint)
    except ValueError as error:
        rows.append(PastedRow(at, name, text, "", str(error), rejected=True))
        return
    results.extend(result_of(entry, name, endpoint, row=int(at)) for entry in entries)
    becomes = "; ".join(entry.shown(endpoint) for entry in entries)
    rows.append(PastedRow(at, name, text, becomes, _place_note(name, status, shown)))


def _place_note(name: str, status: Status, shown: Round | None) -> str:
    """What is worth knowing about where a value goes."""
    compound = status.library.find(name)
    if shown is None or shown.state != "open":
        return "not asked for: used in estimates, not in decisions"
    line = next((n for n, item in enumerate(shown.items) if item.compound == compound), None)
    if line is None:
        return "not in this round: used in estimates, not in decisions"
    endpoint = status.endpoints[status.objective]
    there = [
        entered_text(one, endpoint)
        for one in status.measurements
        if one.compound == compound and one.round == shown.number and not one.withdrawn and one.excluded is None
    ]
    if there:
        return f"line {line + 1}, beside {'; '.join(there)}"
    return f"line {line + 1}"


def _any_value(cells: Sequence[str], status: Status) -> bool:
    """Whether a row holds something that could be a result."""
    for cell in cells:
        try:
            if parse_entries(cell, status.endpoints[status.objective]):
                return True
        except ValueError as error:
            if any(sign.isdigit() for sign in cell) and not cell[:1].isalpha():
                return bool(str(error))
    return False


def _of_table(title: str, found: ResultsTable, raw: RawTable, status: Status, shown: Round | None) -> Intended:
    """A results table line by line."""
    names = {endpoint.name: endpoint for endpoint in status.endpoints}
    rows: list[tuple[int, PastedRow]] = []
    for result in found.results:
        endpoint = names.get(result.endpoint or "", status.endpoints[status.objective])
        entry = Entry(result.value, result.relation, result.unit, result.n, result.sd)
        text = entry.shown(endpoint)
        note = _place_note(result.compound, status, shown)
        if endpoint.name != status.settings.objective:
            note = endpoint.name
        at = result.row or 0
        rows.append((at, PastedRow(str(at), result.compound, text, text, note)))
    for refused in found.rejected:
        where = f"column {refused.column}: " if refused.column else ""
        rows.append((refused.row, PastedRow(str(refused.row), "", "", "", where + refused.reason, rejected=True)))
    rows.sort(key=lambda pair: pair[0])
    return Intended(
        title, tuple(row for _, row in rows), found.results, found.warnings, Source(raw.file or "pasted", raw.digest)
    )
