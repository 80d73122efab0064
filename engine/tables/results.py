"""Results that come back from the lab: one row per measurement, or one column per endpoint."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from ..domain.controls import Control
from ..domain.endpoint import Endpoint
from ..domain.library import Library
from ..domain.measurements import Result
from ..domain.plates.layout import Layout
from ..errors import AssayPilotError
from ..system.progress import Report, silent
from . import headers
from .column_roles import Claims
from .compound_names import CompoundNames, Known, named_by_sites, other_substituents, with_compounds
from .entries import is_empty, quality_column
from .measured_values import read_values, refuse_unnamed
from .options import ROLES, TableMapping
from .products import looks_changed
from .raw import Findings, Problem, RawTable, columns_named, fold
from .result_columns import result_columns
from .values import is_missing, quoted

_ROUND = re.compile(r"(?:round|r)?[ _]?0*([1-9]\d{0,5})(?:[.,]0*)?", re.I)
_MADE = "ID by its substituents"
"""What the column of ids is called that stands for the columns of sites."""
_SAMPLED = 500
_FEWEST_ACROSS = 2
_NAMED = 5


@dataclass(frozen=True, slots=True)
class ResultsTable:
    """What a table of results says."""

    results: tuple[Result, ...]
    """In the order of the rows, endpoints by their full name, compounds by the library's id."""
    rejected: tuple[Problem, ...]
    pending: int
    """Cells that say there is no result yet (empty, NA, PENDING, ...)."""
    warnings: tuple[str, ...]
    """Questions about unlikely values, and columns that were not used."""


def read_results(
    raw: RawTable,
    library: Library,
    endpoints: Sequence[Endpoint],
    report: Report = silent,
    *,
    controls: Sequence[Control] = (),
    layouts: Sequence[Layout] = (),
    asked: Endpoint | None = None,
) -> ResultsTable:
    """Return the results in a table, those of ``controls`` too, with a reason for each row that cannot be used.

    ``layouts``: the plates of the rounds, the open one last, by which a table of wells without ids is understood.
    ``asked``: the only endpoint that the open round asks for.

    AssayPilotError when the table as a whole is no table of results: no id column, no column of values.
    """
    calculated = [endpoint for endpoint in endpoints if endpoint.of is not None]
    endpoints = [endpoint for endpoint in endpoints if endpoint.of is None]
    names = CompoundNames(library, controls)
    ids_called = any(fold(column) in headers.IDS for column in raw.columns)
    by_well = None if ids_called else with_compounds(raw, library, endpoints, controls, layouts)
    raw = by_well or raw
    _refuse_compounds_across(raw, names)
    raw, id_column = _with_ids(raw, names)
    findings = Findings(warnings=list(raw.warnings))
    mapping, round_column = _mapped(raw, id_column, endpoints, asked, findings)
    given = [endpoint.name for endpoint in calculated if raw.find(endpoint.name) is not None]
    if given:
        findings.warnings.append(f"Not used, because it is calculated, never entered: {', '.join(given)}.")
    filled, pending = _filled(raw, mapping, endpoints)
    both = zip(raw.column(id_column), filled, strict=True)
    owners = [names.find(text) if text and there else None for text, there in both]
    compounds = ["" if one is None else _name(one, library, controls) for one in owners]
    _note_unknown(raw, id_column, filled, compounds, findings.problems)

    def why(name: str) -> str:
        ours = ", ".join(endpoint.name for endpoint in endpoints)
        if is_missing(name):
            return f"names no endpoint ({ours})"
        made = any(fold(name) == fold(whole.name) for whole in calculated)
        return (
            f"{quoted(name)} {'is calculated, never entered' if made else 'is no endpoint of this campaign'} ({ours})"
        )

    refuse_unnamed(raw, mapping, compounds, findings.problems, why)
    aliases = _aliases(raw, id_column, owners, compounds, findings.warnings)
    rounds = [""] * len(raw) if round_column is None else raw.column(round_column)
    found = read_values(raw, mapping, compounds, findings, report)
    results = [
        replace(
            one.result,
            round=_round(rounds[one.place]),
            batch=one.result.batch or (owners[one.place] or Known()).batch,
            comment="; ".join(filter(None, (one.result.comment, aliases[one.place]))),
        )
        for one in found
    ]
    used = {*mapping.columns(), round_column}
    of_row = [None if one is None else one.compound for one in owners]
    findings.warnings.extend(_of_this_series(raw, other_substituents(raw, library, of_row, used), of_row))
    findings.warnings.extend(_not_to_be_used(results, mapping.excluded))
    findings.problems.sort(key=lambda problem: problem.row or 0)
    report(1.0, "Results read")
    return ResultsTable(tuple(results), tuple(findings.problems), pending, tuple(dict.fromkeys(findings.warnings)))


def _mapped(
    raw: RawTable, id_column: str, endpoints: Sequence[Endpoint], asked: Endpoint | None, findings: Findings
) -> tuple[TableMapping, str | None]:
    """Return which column is what, and the column of rounds."""
    claims = Claims(raw)
    claims.taken.add(id_column)
    name_column = claims.first(headers.ENDPOINT_NAME) or _naming_column(raw, endpoints)
    claims.taken.update(filter(None, [name_column]))
    roles: dict[str, Any] = {role: claims.role(role) for role in (*ROLES, "excluded")}
    round_column = claims.role("round")
    if roles["excluded"] is None:
        roles["excluded"] = quality_column(raw, claims.free())
        claims.taken.update(filter(None, [roles["excluded"]]))
    columns = result_columns(claims, endpoints, name_column, asked)
    findings.warnings.extend(claims.warnings)
    return TableMapping(sites=(), endpoints=columns, id=id_column, endpoint_column=name_column, **roles), round_column


def _filled(raw: RawTable, mapping: TableMapping, endpoints: Sequence[Endpoint]) -> tuple[list[bool], int]:
    """Return whether each row has a value, and the number of cells that say there is none (yet)."""
    of: dict[str, list[Endpoint]] = {}
    for column in mapping.endpoints:
        of.setdefault(column.value or "", []).append(column.endpoint)
    held = [
        [not all(is_empty(one, text) for one in dict.fromkeys(own or endpoints)) for text in raw.column(column)]
        for column, own in of.items()
    ]
    return list(map(any, zip(*held, strict=True))), sum(row.count(False) for row in held)


def _name(owner: Known, library: Library, controls: Sequence[Control]) -> str:
    return controls[owner.control or 0].name if owner.compound is None else library.ids[owner.compound]


def _note_unknown(
    raw: RawTable, id_column: str, filled: Sequence[bool], compounds: Sequence[str], problems: list[Problem]
) -> None:
    """Add a problem for each row with a value and no compound of the campaign."""
    for row, text, there, compound in zip(raw.rows, raw.column(id_column), filled, compounds, strict=True):
        if there and not compound:
            changed = looks_changed(text)
            reason = f"{quoted(text)} is no compound of this campaign" if text else "the id is missing"
            reason += f"; a spreadsheet may have made {changed} of its id" if changed else ""
            problems.append(Problem(row, id_column, reason))


def _aliases(
    raw: RawTable, id_column: str, owners: Sequence[Known | None], compounds: Sequence[str], warnings: list[str]
) -> list[str]:
    """Return the remark on each row whose id is not the campaign's, and warn of them, each kind with an example."""
    spelled: dict[str, str] = {}
    batches: dict[str, str] = {}
    remarks = []
    for row, text, owner, name in zip(raw.rows, map(str.strip, raw.column(id_column)), owners, compounds, strict=True):
        alias = "" if owner is None or text.casefold() == name.strip().casefold() else text
        remarks.append(f"reported as {alias}" if alias else "")
        if owner is not None and (owner.batch or owner.otherwise):
            (batches if owner.batch else spelled).setdefault(alias, name)
        elif alias:
            warnings.append(f"Row {row}: {alias} is another id of {name}, for which it counts.")
    for kind, names in (("Ids are written in another way", spelled), ("Batches follow ids", batches)):
        if names:
            other, own = next(iter(names.items()))
            more = f", and {len(names) - 1:,} more" if len(names) > 1 else ""
            warnings.append(f"{kind}: {other} counts for {own}{more}. Is that right?")
    return remarks


def _of_this_series(
    raw: RawTable, other: Sequence[tuple[int, str, str, str]], compounds: Sequence[int | None]
) -> list[str]:
    """Return a question where some rows name ``other`` substituents than their compounds have.

    AssayPilotError when most do: ids such as 1, 2, 3 are those of many series.
    """
    rows = {place for place, *_ in other}
    if not rows:
        return []
    place, site, there, here = other[0]
    example = f"row {raw.rows[place]}: {site} is {quoted(there)} there, and {quoted(here)} in this campaign"
    filled = sum(compound is not None for compound in compounds)
    if 2 * len(rows) > filled:
        raise AssayPilotError(
            f"{len(rows):,} of {filled:,} compounds have other substituents than in this campaign ({example})",
            file=raw.file,
            mend="These may be results of another campaign; if they are not, leave out the columns of its sites.",
        )
    return [f"{len(rows):,} of {filled:,} rows name other substituents than in this campaign ({example})."]


def _not_to_be_used(results: Sequence[Result], column: str | None) -> list[str]:
    """Which values came with a mark that they are not to be used."""
    failed = [result for result in results if result.excluded]
    if not failed:
        return []
    named = ", ".join(dict.fromkeys(one.compound for one in failed[:_NAMED])) + ", …" * (len(failed) > _NAMED)
    values = "value" if len(failed) == 1 else "values"
    return [
        f"Column {column} marks {len(failed):,} {values} as not to be used ({named}): recorded, and left out of "
        "estimates and decisions."
    ]


def _naming_column(raw: RawTable, endpoints: Sequence[Endpoint]) -> str | None:
    """Return the column in which every filled cell names one of several endpoints, whatever it is called.

    None without.
    """
    names = {fold(text) for endpoint in endpoints for text in (endpoint.name, headers.split_unit(endpoint.name)[0])}
    for column in raw.columns if len(endpoints) > 1 else ():
        texts = {fold(text) for text in raw.column(column) if not is_missing(text)}
        if texts and texts <= names:
            return column
    return None


def _with_ids(raw: RawTable, names: CompoundNames) -> tuple[RawTable, str]:
    """Return the table, and its column of ids.

    Called so, else the one that holds ids, else made of its columns of sites.
    """
    order = [column for name in headers.IDS for column in raw.columns if fold(column) == name]
    if order:
        # A column Sample or Name may say something else where another one holds the ids.
        held = (column for column in order if any(names.find(text) for text in raw.column(column)[:_SAMPLED] if text))
        return raw, next(held, order[0])
    for column in raw.columns:
        texts = [text for text in raw.column(column) if text]
        known = sum(names.find(text) is not None for text in texts)
        if texts and known * 2 > len(texts):
            return raw, column
    made = named_by_sites(raw, names.library)
    if made is not None:
        return raw.with_columns({_MADE: made}), _MADE
    raise AssayPilotError(
        f"there is no column of compound ids; the columns are {columns_named(raw.columns)}",
        file=raw.file,
        mend="Call the column of compound ids ID, or give a column for each site, called as there.",
    )


def _refuse_compounds_across(raw: RawTable, names: CompoundNames) -> None:
    """Raise AssayPilotError for a table whose columns are called after compounds, one for each."""
    across = [column for column in raw.columns if names.find(column) is not None]
    if len(across) < _FEWEST_ACROSS or 2 * len(across) < len(raw.columns):
        return
    raise AssayPilotError(
        f"the columns are called after compounds ({columns_named(across[:_NAMED])}); what the rows hold is unclear",
        file=raw.file,
        mend="Turn the table, so that each compound has a row, and call the columns ID and as the endpoint is called.",
    )


def _round(text: str) -> int | None:
    """Return the number of a round (3, 3.0, Round 3).

    None when there is none, or the lab means something else by it.
    """
    match = _ROUND.fullmatch(text.strip())
    return int(match[1]) if match else None
