"""Results that come back from the lab: one row per measurement, or one column per endpoint."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial

from ..domain.controls import Control
from ..domain.endpoint import CONCENTRATIONS, FLIPPED, Endpoint
from ..domain.library import Library
from ..domain.measurements import Result
from ..domain.noise import is_p_scale, is_unusual
from ..domain.plates import Layout
from ..errors import AssayPilotError
from ..system.progress import Report, silent
from . import headers
from .compound_names import CompoundNames, named_by_sites, other_substituents, with_compounds
from .entries import Unreadable, ValueReader, is_empty, quality_column, read_entry
from .options import SIDES
from .products import looks_changed
from .raw import Problem, RawTable, columns_named, fold
from .result_columns import ValueColumn, p_name, value_columns
from .side_columns import names_people
from .values import Value, is_missing, quoted

_TEXTS = ("round", "replicate", "date", "plate", "well", "batch", "comment", "excluded")
_MADE = "ID by its substituents"
"""What the column of ids is called that stands for the columns of sites."""
_REPORT_EVERY = 5_000
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
    roles = {role: raw.called(headers.ROLES[role]) for role in (*SIDES, *_TEXTS)}
    if roles["relation"] is not None and names_people(raw, roles["relation"]):
        roles["relation"] = None
    roles["excluded"] = roles["excluded"] or quality_column(raw, raw.columns)
    name_column = raw.called(headers.ENDPOINT_NAME) or _naming_column(raw, endpoints)
    columns, warnings = value_columns(raw, endpoints, roles, name_column, id_column, asked)
    warnings = [*raw.warnings, *warnings]
    given = [endpoint.name for endpoint in calculated if raw.find(endpoint.name) is not None]
    if given:
        warnings.append(f"Not used, because it is calculated, never entered: {', '.join(given)}.")
    texts = {role: raw.column(column) if column else ("",) * len(raw) for role, column in roles.items()}
    texts["named"] = ("",) * len(raw) if name_column is None else raw.column(name_column)
    ids = raw.column(id_column)
    compounds: list[int | None] = [None] * len(raw)
    spelled: dict[str, str] = {}
    batches: dict[str, str] = {}
    readers: dict[tuple[str, str], ValueReader] = {}
    rejected: list[Problem] = []
    pending = 0
    for place, row in enumerate(raw.rows):
        if place % _REPORT_EVERY == 0:
            report(place / len(raw), f"Reading row {row}")
        filled = [column for column in columns if not _is_empty(raw.column(column.value)[place], column, endpoints)]
        pending += len(columns) - len(filled)
        if not filled:
            continue
        known = names.find(ids[place]) if ids[place] else None
        if known is None:
            changed = looks_changed(ids[place])
            reason = f"{quoted(ids[place])} is no compound of this campaign" if ids[place] else "the id is missing"
            reason += f"; a spreadsheet may have made {changed} of its id" if changed else ""
            rejected.append(Problem(row, id_column, reason))
            continue
        compounds[place] = known.compound
        other = ids[place].strip()
        name = library.ids[known.compound] if known.compound is not None else controls[known.control or 0].name
        alias = "" if other.casefold() == name.strip().casefold() else other
        if known.batch or known.otherwise:
            (batches if known.batch else spelled).setdefault(alias, name)
        elif alias:
            warnings.append(f"Row {row}: {alias} is another id of {name}, for which it counts.")
        for column in filled:
            endpoint = column.endpoint or _named_endpoint(raw, place, name_column, endpoints)
            if endpoint is None:
                said = "" if name_column is None else raw.column(name_column)[place]
                ours = ", ".join(e.name for e in endpoints)
                made = any(fold(said) == fold(whole.name) for whole in calculated)
                what = "is calculated, never entered" if made else "is no endpoint of this campaign"
                reason = f"{quoted(said)} {what} ({ours})" if said else f"names no endpoint ({ours})"
                rejected.append(Problem(row, name_column, reason))
                continue
            beside = {role: texts[role][place] for role in _TEXTS}
            beside["replicate"] = "-".join(filter(None, (beside["replicate"], column.run)))
            beside["batch"] = beside["batch"] or known.batch
            beside["comment"] = "; ".join(filter(None, (beside["comment"], alias and f"reported as {alias}")))
            reader = readers.setdefault((column.value, endpoint.name), ValueReader(endpoint, column.value))
            read = partial(_read, raw, place, column, endpoint, texts["named"][place])
            sides = dict(zip(SIDES, column.sides, strict=True))
            # A row of a plate that is drawn holds many values, told apart by their wells.
            reader.add(read, name, row, beside, sides, f", well {texts['well'][place]}" if by_well is not None else "")
    questions = [question for reader in readers.values() for question in reader.close()]
    results = sorted((result for reader in readers.values() for result in reader.results), key=_row)
    rejected = sorted([*rejected, *(problem for reader in readers.values() for problem in reader.problems)], key=_row)
    used = {id_column, name_column, *roles.values(), *(side for one in columns for side in (one.value, *one.sides))}
    warnings += _of_this_series(raw, other_substituents(raw, library, compounds, used), compounds)
    warnings += [*_otherwise_named(spelled, batches), *_not_to_be_used(results, roles["excluded"]), *questions]
    report(1.0, "Results read")
    return ResultsTable(tuple(results), tuple(rejected), pending, tuple(dict.fromkeys(warnings)))


def _row(one: Result | Problem) -> int:
    return one.row or 0


def _is_empty(text: str, column: ValueColumn, endpoints: Sequence[Endpoint]) -> bool:
    """Whether a cell of values has none (yet), for the endpoint of its column, or any of those that rows name."""
    return all(is_empty(one, text) for one in ([column.endpoint] if column.endpoint is not None else endpoints))


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


def _otherwise_named(spelled: Mapping[str, str], batches: Mapping[str, str]) -> list[str]:
    """How ids are written that are not the campaign's, each kind said once with an example."""
    said = []
    for kind, names in (("Ids are written in another way", spelled), ("Batches stand behind ids", batches)):
        if names:
            other, own = next(iter(names.items()))
            more = f", and {len(names) - 1:,} more" if len(names) > 1 else ""
            said.append(f"{kind}: {other} counts for {own}{more}. Is that right?")
    return said


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


def _named_endpoint(
    raw: RawTable, place: int, name_column: str | None, endpoints: Sequence[Endpoint]
) -> Endpoint | None:
    text = "" if name_column is None else raw.column(name_column)[place]
    if is_missing(text):
        return endpoints[0] if len(endpoints) == 1 else None
    wanted = fold(text)
    exact = [endpoint for endpoint in endpoints if fold(endpoint.name) == wanted]
    near = exact or [e for e in endpoints if fold(headers.split_unit(e.name)[0]) == wanted]
    bare = fold(headers.split_unit(text)[0])
    if not near and headers.split_unit(text)[1] in CONCENTRATIONS:
        near = [e for e in endpoints if e.is_potency and fold(headers.split_unit(e.name)[0]) == bare]
    if not near:
        # pIC50 where the campaign has IC50 (nM), or IC50 where it has pIC50: the value is converted.
        near = [e for e in endpoints if e.is_potency and p_name(fold(headers.split_unit(e.name)[0])) == bare]
        near = near or [e for e in endpoints if is_p_scale(e) and fold(e.name) == p_name(bare)]
    return near[0] if len(near) == 1 else None


def _read(raw: RawTable, place: int, column: ValueColumn, endpoint: Endpoint, named: str) -> Value | None:
    """Return the value of a row, a logarithm of a concentration converted to the one that the endpoint is entered as.

    ``named``: what the row says was measured. Raises Unreadable.
    """
    sides = zip(SIDES, column.sides, strict=True)
    given = {role: raw.column(side)[place] if side else "" for role, side in sides}
    if is_missing(given["unit"]):
        # Where a row names IC50 (nM), that is its unit.
        own = fold(named) == fold(endpoint.name)
        given["unit"] = column.unit or ("" if own else headers.split_unit(named)[1])
    text = raw.column(column.value)[place]
    name = column.value if column.logarithms else named
    if not (column.logarithms or (endpoint.is_potency and is_p_scale(Endpoint(named)))):
        if not is_missing(named) and is_p_scale(endpoint) and not is_p_scale(Endpoint(named)):
            # The row says IC50, of which a number without a unit is no pIC50.
            entry = read_entry(endpoint, text, raw.decimal, **given)
            if entry is not None and not entry.note:
                raise Unreadable(f"{quoted(text)} has no unit, so its logarithm is not known", "unit")
            return entry
        return read_entry(endpoint, text, raw.decimal, **given)
    # The row says pIC50 where the campaign has IC50.
    entry = read_entry(Endpoint(name), text, raw.decimal, **{**given, "unit": ""})
    if entry is None:
        return None
    if entry.unit is not None or entry.note:
        return read_entry(endpoint, text, raw.decimal, **{**given, "unit": ""})
    if is_unusual(Endpoint(name), entry.value):
        raise Unreadable(f"{entry.value:g} is no {name}")
    value = float(f"{endpoint.from_model(entry.value):.10g}")
    note = f"entered as {name} {' '.join(text.split())}" + ("; its SD is not used" if entry.sd is not None else "")
    return replace(entry, value=value, relation=FLIPPED[entry.relation], sd=None, note=note, rest="")
