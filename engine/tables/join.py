"""Two tables as one, joined by the compounds' ids: structures here, activities there."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from ..errors import AssayPilotError
from ..text.statements import listed
from . import headers
from .raw import Problem, RawTable, fold, free_name
from .values import is_missing

__all__ = ["join_tables", "split_join"]

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
        column = table.find(name)
        if column is None:
            raise AssayPilotError(
                f"there is no column {name!r}; the columns are {', '.join(table.columns)}",
                file=table.file,
                option=option,
                mend="Name one of them.",
            )
        return column
    found = next((column for wanted in headers.IDS for column in table.columns if fold(column) == wanted), None)
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
