"""Two tables as one: joined by the ids of compounds, or more compounds for those of a library."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from ..domain.library import Library, is_hydrogen
from ..errors import AssayPilotError
from ..system.progress import Report, silent
from ..text import listed
from . import headers
from .importer import compounds_of
from .mapping import propose
from .options import TableMapping, TableOptions
from .raw import Problem, RawTable, Said, free_name
from .structures import UNKNOWN, numbered
from .values import is_missing, with_decimal

_NAMED = 5


def split_join(text: str) -> tuple[str, str | None]:
    """File and column of ``FILE[:COL]``; a colon inside an existing file's name or behind a drive letter is no mark."""
    file, colon, column = text.rpartition(":")
    if not colon or Path(text).exists() or len(file) == 1:
        return text, None
    return file, column.strip() or None


def join_tables(
    raw: RawTable, other: RawTable, *, id_column: str | None = None, other_column: str | None = None
) -> RawTable:
    """Return the rows of ``raw`` with the columns of ``other`` added, by id without regard to case.

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
        # Replicates on both sides are not multiplied: the second row of an id here gets nothing from there.
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
            mend="Name the column of ids of the other file.",
        )
    left = raw.at([place for place, _ in pairs])
    added: dict[str, tuple[str, ...]] = {}
    for column in other.columns:
        if column != other_key:
            texts = with_decimal(other.column(column), other.decimal, raw.decimal)
            name = free_name(column, {*raw.columns, *added})
            added[name] = tuple("" if right is None else texts[right] for _, right in pairs)
    warnings = [*raw.warnings, *(f"{other.file or 'Joined table'}: {text}" for text in other.warnings)]
    for names, where in ((alone, f"not found in {other.file or 'the joined table'}"), (strangers, "only found there")):
        if names:
            warnings.append(
                f"Joining: {len(names)} {'id was' if len(names) == 1 else 'ids were'} {where}: {listed(names, _NAMED)}."
            )
    return replace(
        left,
        columns=(*left.columns, *added),
        cells=(*left.cells, *added.values()),
        digest=hashlib.sha256(f"{raw.digest} {other.digest}".encode()).hexdigest(),
        warnings=tuple(warnings),
        problems=(*raw.problems, *_problems_there(other)),
        unmatched=(tuple(dict.fromkeys(alone)), tuple(strangers)),
    )


def _problems_there(other: RawTable) -> list[Problem]:
    """Return the problems of the other table, its rows named with its file."""
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
        raise AssayPilotError("there is no column of ids to join by", file=table.file, option=option, mend="Name it.")
    return found


@dataclass(frozen=True, slots=True)
class MoreCompounds:
    """The compounds that a table adds."""

    library: Library
    """At the campaign's sites; those that the campaign has already are among them."""
    places: tuple[int, ...]
    """The row of each of them, by its place in the table."""
    not_used: tuple[Problem, ...]
    notes: tuple[str, ...]
    """Notes on parts of the table left out or used."""


def read_more(raw: RawTable, library: Library, options: TableOptions, report: Report = silent) -> MoreCompounds:
    """Return the compounds of a table, to be added to those of ``library``; rows that cannot be used are named.

    Of ``options`` those that name columns count. Where the campaign's compounds were decomposed, so are the structures
    of the table. AssayPilotError when it has neither these nor a column for each site, or no row is left.
    """
    findings, unusable = Said(), frozenset[int]()
    mapping = None
    if library.scaffold is not None:
        mapping = propose(raw, replace(options, sites=(), cores=library.scaffold.cores))
    drawn = mapping is not None and mapping.smiles is not None
    if mapping is not None and drawn:
        raw, mapping, unusable = _decomposed(raw, library, mapping, findings, report)
    else:
        mapping = propose(raw, replace(options, sites=_site_columns(raw, library), cores=()))
        if library.scaffold is not None:
            unusable = _only_named(raw, library, mapping.sites, findings)
    if mapping.id is not None:
        nameless = [place for place, name in enumerate(raw.column(mapping.id)) if is_missing(name)]
        findings.problems.extend(Problem(raw.rows[place], mapping.id, "no id") for place in nameless)
        unusable = unusable.union(nameless)
    # The library's own spelling comes first, and so is what the others are written for.
    found = compounds_of(raw, mapping, unusable, findings, [site.substituents for site in library.sites])
    not_used = tuple(sorted(findings.problems, key=lambda problem: problem.row or 0))
    if not found.ids:
        first = f": row {not_used[0].row}, {not_used[0].reason}" if not_used else ""
        raise AssayPilotError(f"no row of the table is a compound{first}", file=raw.file, mend="Correct the table.")
    ids = found.ids
    if mapping.id is None:
        ids = _numbered(library, found.labels) if drawn else [_named(library, labels) for labels in found.labels]
    names = [site.name for site in library.sites]
    more = Library.listed(names, found.labels, ids=ids, smiles=found.smiles, measurable=found.available)
    notes = (*mapping.warnings, *findings.warnings, *findings.notes)
    return MoreCompounds(more, tuple(map(found.of_row.index, range(len(ids)))), not_used, notes)


def _site_columns(raw: RawTable, library: Library) -> tuple[str, ...]:
    """Return the column of each site; AssayPilotError where the table lacks one."""
    folded = {column.strip().casefold(): column for column in raw.columns}
    lacking = [site.name for site in library.sites if site.name.casefold() not in folded]
    if lacking:
        mend = "It needs a column for each site of the compounds there are, named alike."
        if library.scaffold is not None:
            mend += " Or a column of structures: they are taken apart as those of the campaign were."
        raise AssayPilotError(f"the table has no column {', '.join(lacking)}", file=raw.file, mend=mend)
    return tuple(folded[site.name.casefold()] for site in library.sites)


def _only_named(raw: RawTable, library: Library, columns: Sequence[str], findings: Said) -> frozenset[int]:
    """Return the rows that name a substituent where those of the library are drawn; each has its problem."""
    named: dict[int, Problem] = {}
    for site, column in zip(library.sites, columns, strict=True):
        example = next((label for label in site.substituents if "*" in label and not is_hydrogen(label)), "")
        for place, text in enumerate(raw.column(column)):
            if not (is_missing(text) or "*" in text or is_hydrogen(text) or text in site.substituents or not example):
                why = f"{text} is a name, and the substituents at {site.name} are structures, such as {example}"
                named.setdefault(place, Problem(raw.rows[place], column, why))
    findings.problems.extend(named.values())
    return frozenset(named)


def _named(library: Library, labels: Sequence[str]) -> str:
    """Return the name of a compound that has none, as an import gives it."""
    return "|".join(f"{site.name}={label}" for site, label in zip(library.sites, labels, strict=True))


def _numbered(library: Library, rows: Sequence[Sequence[str]]) -> list[str]:
    """Return the names of structures that a table does not name: those the campaign knows them by, else numbers."""
    own = {tuple(library.substituents(k).values()): name for k, name in enumerate(library.ids)}
    names = [own.get(tuple(row), "") for row in rows]
    free = iter(numbered(names.count(""), library.ids))
    return [name or next(free) for name in names]


def _decomposed(
    raw: RawTable, library: Library, mapping: TableMapping, findings: Said, report: Report
) -> tuple[RawTable, TableMapping, frozenset[int]]:
    """Return the table with a column for each site, by decomposing structures like those of the campaign.

    With its mapping, and the rows that cannot be used; each has its problem.
    """
    assert library.scaffold is not None
    assert mapping.smiles is not None
    from ..chemistry.decomposition import extend, parts_of
    from ..chemistry.structures import read_structures

    texts = raw.column(mapping.smiles)
    structures = read_structures(
        ["" if is_missing(text) else text for text in texts], ours=raw.spelled == mapping.smiles
    )
    smiles = [structure.smiles for structure in structures]
    reasons = {place: one.reason for place, one in enumerate(structures) if one.reason}
    # A symmetric core has several decompositions: structures of the campaign keep theirs.
    there = {text: compound for compound, text in enumerate(library.smiles or ()) if text}
    before = parts_of(library)
    after = extend(before, smiles, report)
    new = len(before.parts)
    fixed = dict(library.scaffold.fixed)
    labels: dict[str, list[str]] = {site.name: [] for site in library.sites}
    for place, text in enumerate(smiles):
        part, compound = after.parts[new + place], there.get(text)
        carried: dict[str, str] = {}
        if compound is not None:
            carried = dict(library.substituents(compound))
        elif part is None:
            reasons.setdefault(place, after.reasons[new + place])
        else:
            carried = dict(zip(after.sites, part.substituents, strict=True))
            other = next((site for site, label in fixed.items() if not _equal(carried.get(site, label), label)), None)
            if other is not None:
                reasons[place] = f"it has {carried[other]} at {other}, where all of the campaign have {fixed[other]}"
        for name, column in labels.items():
            column.append(carried.get(name, UNKNOWN))
    findings.problems.extend(Problem(raw.rows[place], mapping.smiles, why) for place, why in reasons.items())
    decomposed = raw.with_columns({mapping.smiles: smiles, **labels})
    return decomposed, replace(mapping, sites=tuple(labels), cores=()), frozenset(reasons)


def _equal(one: str, other: str) -> bool:
    return one == other or (is_hydrogen(one) and is_hydrogen(other))
