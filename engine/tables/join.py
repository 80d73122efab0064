"""Two tables as one: joined by the ids of the compounds, or one under the other."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from ..errors import AssayPilotError
from ..system.progress import Report, silent
from ..text.statements import listed
from . import headers
from .importer import ImportedTable, import_table
from .options import TableMapping
from .raw import Problem, RawTable, free_name
from .values import is_missing

_NAMED = 5
_NUMBER = re.compile(r"[<>=≤≥]*\s*[+-]?\d*[.,]\d+(?:[eE][+-]?\d+)?(?:\s*[A-Za-zµμ%]+)?")


def split_join(text: str) -> tuple[str, str | None]:
    """File and column of ``FILE[:COL]``; a colon inside an existing file's name or behind a drive letter is no mark."""
    file, colon, column = text.rpartition(":")
    if not colon or Path(text).exists() or len(file) == 1:
        return text, None
    return file, column.strip() or None


def join_tables(
    raw: RawTable, other: RawTable, *, id_column: str | None = None, other_column: str | None = None
) -> RawTable:
    """Return the rows of ``raw`` with the columns of ``other`` beside them, by id without regard to case.

    Several rows of ``other`` with one id (replicates) give several rows; a row without a partner stays, its new cells
    empty. Ids found on one side only are named in the warnings. Row numbers are those of ``raw``.
    """
    key = _id_column(raw, id_column, "--id")
    other_key = _id_column(other, other_column, "--join")
    partners: dict[str, list[int]] = {}
    for place, name in enumerate(other.column(other_key)):
        if not is_missing(name):
            partners.setdefault(name.casefold(), []).append(place)
    pairs: list[tuple[int, int | None]] = []
    alone, seen = [], set()
    for place, name in enumerate(raw.column(key)):
        found = [] if is_missing(name) else partners.get(name.casefold(), [])
        # Replicates on both sides are not multiplied: the second row of an id here brings nothing new from there.
        fresh = found if name.casefold() not in seen else []
        pairs += [(place, partner) for partner in fresh] or [(place, None)]
        if not found:
            alone.append(name or f"row {raw.rows[place]}")
        seen.add(name.casefold())
    strangers = [other.column(other_key)[places[0]] for name, places in partners.items() if name not in seen]
    if len(alone) == len(raw):
        raise AssayPilotError(
            f"no id of column {key} is in column {other_key} of {other.file or 'the other table'}",
            file=raw.file,
            option="--join",
            mend="Name the column of ids of the other file: --join FILE:COLUMN.",
        )
    added = [column for column in other.columns if column != other_key]
    cells = [tuple(column[left] for left, _ in pairs) for column in raw.cells]
    for column in added:
        texts = _with_decimal(other.column(column), other.decimal, raw.decimal)
        cells.append(tuple("" if right is None else texts[right] for _, right in pairs))
    warnings = [*raw.warnings, *(f"{other.file or 'Joined table'}: {text}" for text in other.warnings)]
    for names, where in ((alone, f"not found in {other.file or 'the joined table'}"), (strangers, "only found there")):
        if names:
            warnings.append(
                f"Joining: {len(names)} {'id was' if len(names) == 1 else 'ids were'} {where}: {listed(names, _NAMED)}."
            )
    return replace(
        raw,
        columns=(*raw.columns, *_unique(added, raw.columns)),
        cells=tuple(cells),
        rows=tuple(raw.rows[left] for left, _ in pairs),
        digest=hashlib.sha256(f"{raw.digest} {other.digest}".encode()).hexdigest(),
        warnings=tuple(warnings),
        problems=(*raw.problems, *_problems_there(other)),
        unmatched=(tuple(dict.fromkeys(alone)), tuple(strangers)),
    )


def _problems_there(other: RawTable) -> list[Problem]:
    """Return what could not be read of the other table, its rows named with its file."""
    where = other.file or "the joined table"
    return [
        replace(problem, row=None, reason=f"row {problem.row} of {where}: {problem.reason}")
        for problem in other.problems
    ]


def _id_column(table: RawTable, name: str | None, option: str) -> str:
    if name is not None:
        return table.named(name, option)
    found = table.called(headers.IDS)
    if found is None:
        raise AssayPilotError(
            "there is no column of ids to join by", file=table.file, option=option, mend="Name it: --join FILE:COLUMN."
        )
    return found


def _with_decimal(texts: Sequence[str], own: str, wanted: str) -> Sequence[str]:
    """Cells with the decimal mark of the other table, where they are numbers with one."""
    if own == wanted:
        return texts
    return [text.replace(own, wanted) if own in text and _NUMBER.fullmatch(text) else text for text in texts]


def _unique(names: Sequence[str], taken: Sequence[str]) -> list[str]:
    out: list[str] = []
    for name in names:
        out.append(free_name(name, {*taken, *out}))
    return out


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
        found = other.find(mapping.id) or other.called(headers.IDS)
        if found is not None:
            columns[mapping.id] = found
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
