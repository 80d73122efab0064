"""The compounds of a second table under those of the first, read as one."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, replace

from ..errors import AssayPilotError
from ..system.progress import Report, silent
from . import headers
from .importer import ImportedTable, Problem, import_table
from .options import TableMapping
from .raw import RawTable, fold

__all__ = ["Stacked", "import_stacked"]


@dataclass(frozen=True, slots=True)
class Stacked:
    """Two tables' compounds in one library, over the substituents of both."""

    imported: ImportedTable
    """Without endpoints and history."""
    first: tuple[str | None, ...]
    """The compound of each row of the first table, None where the row is not used."""
    second: tuple[str | None, ...]
    """The same of the second."""
    problems: tuple[tuple[str | None, Problem], ...]
    """What was not used, each with the file its row is in."""


def import_stacked(raw: RawTable, other: RawTable, mapping: TableMapping, report: Report = silent) -> Stacked:
    """Return the compounds of both tables, so that the same substituents mean the same in both.

    ``mapping`` is that of ``raw``; ``other`` needs its columns of sites, by name, and may have ids. Problems name the
    row of the file they are in. AssayPilotError when ``other`` lacks a site.
    """
    columns: dict[str, str] = {}
    for site in mapping.sites:
        found = other.find(site)
        if found is None:
            raise AssayPilotError(
                f"there is no column {site!r}; the columns are {', '.join(other.columns)}",
                file=other.file,
                mend=f"It needs the sites of the first table: {', '.join(mapping.sites)}.",
            )
        columns[site] = found
    if mapping.cores and mapping.smiles is not None:
        structures = other.find(mapping.smiles)
        if structures is None:
            raise AssayPilotError(
                f"there is no column {mapping.smiles!r} of structures; the columns are {', '.join(other.columns)}",
                file=other.file,
                mend="It needs the structures, from which the sites are made.",
            )
        columns[mapping.smiles] = structures
    if mapping.id is not None:
        found = other.find(mapping.id)
        known = [column for wanted in headers.IDS for column in other.columns if fold(column) == wanted]
        if found is not None or known:
            columns[mapping.id] = found or known[0]
    blank = ("",) * len(other)
    shift = max(raw.rows)
    both = replace(
        raw,
        cells=tuple(
            own + (other.column(columns[name]) if name in columns else blank)
            for name, own in zip(raw.columns, raw.cells, strict=True)
        ),
        rows=raw.rows + tuple(row + shift for row in other.rows),
        digest=hashlib.sha256(f"{raw.digest} {other.digest}".encode()).hexdigest(),
        warnings=(*raw.warnings, *(f"{other.file}: {text}" for text in other.warnings)),
        spelled=None,
    )
    imported = import_table(both, replace(mapping, endpoints=(), endpoint_column=None), report)
    problems = tuple(
        (raw.file, problem)
        if problem.row is None or problem.row <= shift
        else (other.file, replace(problem, row=problem.row - shift))
        for problem in imported.not_used
    )
    n = len(raw)
    return Stacked(imported, imported.of_row[:n], imported.of_row[n:], problems)
