"""Results that come back from the lab: one row per measurement, or one column per endpoint."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from assaypilot.engine.controls import Control, find_control
from assaypilot.engine.endpoint import CONCENTRATIONS, Endpoint
from assaypilot.engine.errors import AssayPilotError
from assaypilot.engine.library import Library
from assaypilot.engine.measurements import Result
from assaypilot.engine.progress import Report, silent
from assaypilot.engine.tables import headers
from assaypilot.engine.tables.entries import Unreadable, doubt, is_empty, is_p_scale, left_behind, read_entry
from assaypilot.engine.tables.raw import RawTable, fold
from assaypilot.engine.tables.runs import run_groups, run_number
from assaypilot.engine.tables.values import YES, is_missing, quoted

__all__ = ["Rejected", "ResultsTable", "read_results"]

_SIDES = ("relation", "unit", "n", "sd")
_TEXTS = ("round", "replicate", "date", "plate", "well", "batch", "comment", "excluded")
_ROUND = re.compile(r"(?:round|r)?[ _]?0*([1-9]\d{0,5})(?:[.,]0*)?", re.I)
_WHOLE = re.compile(r"0*(\d{1,18})(?:[.,]0+)?")
"""A whole number as an id."""
_REPORT_EVERY = 5_000
_FEWEST_ALIKE = 3
_P_RANGE = (3.0, 11.0)
"""Where nearly every pIC50 lies."""


@dataclass(frozen=True, slots=True)
class Rejected:
    """A result that cannot be recorded, and why."""

    row: int
    """As a spreadsheet counts."""
    column: str | None
    reason: str

    def as_json(self) -> dict[str, int | str | None]:
        """The keys of the command line's list."""
        return {"row": self.row, "column": self.column, "reason": self.reason}


@dataclass(frozen=True, slots=True)
class ResultsTable:
    """What a table of results says."""

    results: tuple[Result, ...]
    """In the order of the rows, endpoints by their full name, compounds by the library's id."""
    rejected: tuple[Rejected, ...]
    pending: int
    """Cells that say there is no result yet (empty, NA, PENDING, ...)."""
    warnings: tuple[str, ...]
    """Questions about unlikely values, and columns that were not used."""


@dataclass(frozen=True, slots=True)
class _Column:
    """One column of values: of a fixed endpoint, or of the one each row names."""

    value: str
    endpoint: Endpoint | None
    sides: tuple[str | None, ...]
    unit: str = ""
    """The unit that its header names, of rows that name none."""
    run: str = ""
    """Which run its values are of, where an endpoint has a column for each."""


def read_results(
    raw: RawTable,
    library: Library,
    endpoints: Sequence[Endpoint],
    report: Report = silent,
    *,
    controls: Sequence[Control] = (),
) -> ResultsTable:
    """The results in a table, those of ``controls`` too, with a reason for each row that cannot be used.

    AssayPilotError when the table as a whole is no table of results: no id column, no column of values.
    """
    calculated = [endpoint for endpoint in endpoints if endpoint.of is not None]
    endpoints = [endpoint for endpoint in endpoints if endpoint.of is None]
    id_column = _any(raw, headers.IDS) or _made_ids(raw, library)
    roles = {role: _any(raw, headers.ROLES[role]) for role in (*_SIDES, *_TEXTS)}
    name_column = _any(raw, headers.ENDPOINT_NAME)
    columns, warnings = _value_columns(raw, endpoints, roles, name_column, id_column)
    given = [endpoint.name for endpoint in calculated if raw.find(endpoint.name) is not None]
    if given:
        warnings.append(f"Not used, because it is calculated, never entered: {', '.join(given)}.")
    texts = {role: raw.column(column) if column else ("",) * len(raw) for role, column in roles.items()}
    ids = raw.column(id_column)
    by_number: dict[int, int] | None = None
    results: list[Result] = []
    rejected: list[Rejected] = []
    pending = 0
    for place, row in enumerate(raw.rows):
        if place % _REPORT_EVERY == 0:
            report(place / len(raw), f"Reading row {row}")
        filled = [column for column in columns if not _is_empty(raw.column(column.value)[place], column, endpoints)]
        pending += len(columns) - len(filled)
        if not filled:
            continue
        compound = library.find(ids[place]) if ids[place] else None
        if compound is None and (number := _WHOLE.fullmatch(ids[place].strip())) is not None:
            by_number = _by_number(library) if by_number is None else by_number
            compound = by_number.get(int(number[1]))
        control = None if compound is not None or not ids[place] else find_control(controls, ids[place])
        if compound is None and control is None:
            reason = f"{quoted(ids[place])} is no compound of this campaign" if ids[place] else "the id is missing"
            rejected.append(Rejected(row, id_column, reason))
            continue
        other = ids[place].strip()
        name = controls[control].name if compound is None and control is not None else library.ids[compound or 0]
        alias = "" if other.casefold() == name.strip().casefold() else other
        if alias:
            warnings.append(f"Row {row}: {alias} is another id of {name}, for which it counts.")
        for column in filled:
            endpoint = column.endpoint or _named_endpoint(raw, place, name_column, endpoints)
            if endpoint is None:
                said = "" if name_column is None else raw.column(name_column)[place]
                known = ", ".join(e.name for e in endpoints)
                made = any(fold(said) == fold(whole.name) for whole in calculated)
                what = "is calculated, never entered" if made else "is no endpoint of this campaign"
                reason = f"{quoted(said)} {what} ({known})" if said else "names no endpoint"
                rejected.append(Rejected(row, name_column, f"{reason}" if said else f"{reason} ({known})"))
                continue
            result = _result(raw, place, column, endpoint, name, texts, rejected, warnings)
            if result is not None and alias:
                result = replace(result, comment="; ".join(filter(None, (result.comment, f"reported as {alias}"))))
            if result is not None:
                results.append(result)
    warnings += _like_logarithms(endpoints, results)
    report(1.0, "Results read")
    return ResultsTable(tuple(results), tuple(rejected), pending, tuple(dict.fromkeys(warnings)))


def _is_empty(text: str, column: _Column, endpoints: Sequence[Endpoint]) -> bool:
    """Whether a cell of values has none (yet), for the endpoint of its column, or any of those that rows name."""
    return all(is_empty(one, text) for one in ([column.endpoint] if column.endpoint is not None else endpoints))


def _like_logarithms(endpoints: Sequence[Endpoint], results: Sequence[Result]) -> list[str]:
    """A question for each potency in nM whose values all look like its logarithm, as a work list shows what it expects.

    Three compounds and more that all lie between 3 and 11 nM are rare; 3 to 11 is where nearly every pIC50 lies.
    """
    asked = []
    for endpoint in endpoints:
        own = [r for r in results if r.endpoint == endpoint.name]
        if endpoint.unit != "nM" or endpoint.transform != "log" or len({r.compound for r in own}) < _FEWEST_ALIKE:
            continue
        values = [r.value for r in own]
        if all(r.unit is None for r in own) and all(_P_RANGE[0] <= value <= _P_RANGE[1] for value in values):
            asked.append(
                f"All {len(values)} values of {endpoint.name} lie between {min(values):g} and {max(values):g}: are "
                f"they {endpoint.scale_name} and not nM? They were taken as nM."
            )
    return asked


def _by_number(library: Library) -> dict[int, int]:
    """Compounds whose ids are whole numbers, by these: spreadsheets drop leading zeros, and other programs add ``.0``.

    Ids that are the same number (7 and 007) are left out, as it could be either.
    """
    found: dict[int, int] = {}
    twice = set()
    for place, name in enumerate(library.ids):
        if name.isascii() and name.isdigit():
            number = int(name)
            if number in found:
                twice.add(number)
            found[number] = place
    return {number: place for number, place in found.items() if number not in twice}


def _any(raw: RawTable, names: Sequence[str]) -> str | None:
    return next((column for name in names for column in raw.columns if fold(column) == name), None)


def _made_ids(raw: RawTable, library: Library) -> str:
    """The column whose texts are ids of the library, when none is called so."""
    for column in raw.columns:
        texts = [text for text in raw.column(column) if text]
        known = sum(library.find(text) is not None for text in texts)
        if texts and known * 2 > len(texts):
            return column
    raise AssayPilotError(
        f"there is no column of compound ids; the columns are {', '.join(raw.columns)}",
        file=raw.file,
        mend="Call the column of compound ids ID.",
    )


def _value_columns(
    raw: RawTable,
    endpoints: Sequence[Endpoint],
    roles: dict[str, str | None],
    name_column: str | None,
    id_column: str,
) -> tuple[list[_Column], list[str]]:
    """The columns with values; side columns belong to all of them in long form, to the only one otherwise."""
    value = _any(raw, headers.VALUE) or next(
        (c for c in raw.columns if fold(headers.split_unit(c)[0]) in headers.VALUE), None
    )
    shared = tuple(roles[role] for role in _SIDES)
    if value is not None and not any(fold(value) == fold(endpoint.name) for endpoint in endpoints):
        if name_column is None and len(endpoints) > 1:
            raise AssayPilotError(
                "the results do not say which endpoint they are of",
                file=raw.file,
                mend=f"Add a column Endpoint with {', '.join(endpoint.name for endpoint in endpoints)}.",
            )
        return [_Column(value, None if name_column else endpoints[0], shared, headers.split_unit(value)[1])], []
    found = [(endpoint, column) for endpoint in endpoints for column in _endpoint_columns(raw, endpoint)]
    warnings: list[str] = []
    if not found and len(endpoints) == 1 and (only := _plain_potency(raw, endpoints[0])) is not None:
        found = [(endpoints[0], only)]
        warnings.append(f"Column {only} was taken for {endpoints[0].name}, the only endpoint of the campaign.")
    if not found:
        named = ", ".join(endpoint.name for endpoint in endpoints)
        raise AssayPilotError(
            f"there is no column Value and none called {named}; the columns are {', '.join(raw.columns)}",
            file=raw.file,
            mend="Give columns ID, Endpoint and Value, or one column per endpoint.",
        )
    columns = []
    for endpoint, column in found:
        own = tuple(_own_side(raw, column, role) for role in _SIDES)
        sides = shared if len(found) == 1 and not any(own) else own
        run = run_number(column) if fold(column) != fold(endpoint.name) else None
        columns.append(_Column(column, endpoint, sides, _unit_of(column, endpoint), str(run[1]) if run else ""))
    used = {side for column in columns for side in column.sides}
    lost = [side for side in shared if side is not None and side not in used]
    if lost:
        warnings.append(f"Not used, because it is not clear to which endpoint they belong: {', '.join(lost)}.")
    known = {id_column, name_column, *(column.value for column in columns), *used, *roles.values()}
    called = {fold(headers.split_unit(endpoint.name)[0]) for endpoint in endpoints}
    other = [c for c in raw.columns if c not in known and fold(headers.split_unit(c)[0]) in called]
    if other:
        warnings.append(f"Not used, because their unit is not that of the endpoint: {', '.join(other)}.")
    known.update(other)
    numbers = [c for c in raw.columns if c not in known and headers.looks_like_potency(*headers.split_unit(c))]
    if numbers:
        warnings.append(f"Not used, because they are no endpoint of this campaign: {', '.join(numbers)}.")
    return columns, warnings


def _endpoint_columns(raw: RawTable, endpoint: Endpoint) -> tuple[str, ...]:
    """The columns of an endpoint: one, or one for each run of it; none where it is not in the table."""
    column = _endpoint_column(raw, endpoint)
    if column is not None:
        return (column,)
    bare, unit = headers.split_unit(endpoint.name)
    fitting = [
        runs
        for name, runs in run_groups(raw.columns).items()
        if fold(headers.split_unit(name)[0]) == fold(bare)
        and headers.split_unit(name)[1] in ("", unit, endpoint.unit, *(CONCENTRATIONS if endpoint.is_potency else ()))
    ]
    return fitting[0] if len(fitting) == 1 else ()


def _endpoint_column(raw: RawTable, endpoint: Endpoint) -> str | None:
    """The column of an endpoint: by its name, else by its name with another unit or as a mean, when only one fits.

    A lab may give the concentrations of an endpoint that is their logarithm: ``IC50 (nM)`` for pIC50.
    """
    column = raw.find(endpoint.name)
    if column is not None:
        return column
    bare = fold(headers.split_unit(endpoint.name)[0])
    near = [c for c in raw.columns if bare in headers.bases(c)]
    for units in (("", endpoint.unit), CONCENTRATIONS if endpoint.unit in CONCENTRATIONS else ()):
        fitting = [c for c in near if headers.split_unit(c)[1] in units]
        if fitting:
            return fitting[0] if len(fitting) == 1 else None
    if not is_p_scale(endpoint) or not bare.startswith("p"):
        return None
    plain = [
        c for c in raw.columns if bare[1:].strip() in headers.bases(c) and headers.split_unit(c)[1] in CONCENTRATIONS
    ]
    return plain[0] if len(plain) == 1 else None


def _plain_potency(raw: RawTable, endpoint: Endpoint) -> str | None:
    """The only column of potencies, when its header ends the endpoint's name: ``IC50 (nM)`` for KIN7 IC50."""
    potencies = [c for c in raw.columns if headers.looks_like_activity(c)]
    if len(potencies) != 1 or endpoint.unit not in CONCENTRATIONS:
        return None
    name, unit = headers.split_unit(potencies[0])
    of = fold(headers.split_unit(endpoint.name)[0])
    return potencies[0] if unit in CONCENTRATIONS and of.endswith(f" {fold(name)}") else None


def _unit_of(column: str, endpoint: Endpoint) -> str:
    """The unit in a column's header where it is another one than the endpoint's; the endpoint's own name has none."""
    return "" if fold(column) == fold(endpoint.name) else headers.split_unit(column)[1]


def _own_side(raw: RawTable, value: str, role: str) -> str | None:
    bases = (fold(value), fold(headers.split_unit(value)[0]))
    names = [f"{base} {name}" for base in bases for name in headers.ROLES[role]]
    return _any(raw, names)


def _named_endpoint(
    raw: RawTable, place: int, name_column: str | None, endpoints: Sequence[Endpoint]
) -> Endpoint | None:
    text = "" if name_column is None else raw.column(name_column)[place]
    if is_missing(text):
        return endpoints[0] if len(endpoints) == 1 else None
    wanted = fold(text)
    exact = [endpoint for endpoint in endpoints if fold(endpoint.name) == wanted]
    near = exact or [e for e in endpoints if fold(headers.split_unit(e.name)[0]) == wanted]
    return near[0] if len(near) == 1 else None


def _result(
    raw: RawTable,
    place: int,
    column: _Column,
    endpoint: Endpoint,
    compound: str,
    texts: Mapping[str, Sequence[str]],
    rejected: list[Rejected],
    warnings: list[str],
) -> Result | None:
    row = raw.rows[place]
    sides = dict(zip(_SIDES, column.sides, strict=True))
    given = {role: raw.column(side)[place] if side else "" for role, side in sides.items()}
    if column.unit and is_missing(given["unit"]):
        given["unit"] = column.unit
    try:
        entry = read_entry(endpoint, raw.column(column.value)[place], raw.decimal, **given)
    except Unreadable as error:
        rejected.append(Rejected(row, sides.get(error.part) or column.value, error.reason))
        return None
    if entry is None:
        return None
    question = doubt(endpoint, entry)
    if question is not None:
        warnings.append(f"Row {row}, {compound}: {question}")
    if entry.rest:
        warnings.append(left_behind(column.value, [(row, entry.rest)]))
    return Result(
        compound=compound,
        value=entry.value,
        endpoint=endpoint.name,
        relation=entry.relation,
        unit=entry.unit,
        n=entry.n,
        sd=entry.sd,
        round=_round(texts["round"][place]),
        replicate="-".join(filter(None, (texts["replicate"][place], column.run))),
        date=texts["date"][place],
        plate=texts["plate"][place],
        well=texts["well"][place],
        batch=texts["batch"][place],
        comment="; ".join(filter(None, (texts["comment"][place], entry.note))),
        excluded=texts["excluded"][place].casefold() in YES,
        row=row,
    )


def _round(text: str) -> int | None:
    """The number of a round (3, 3.0, Round 3); None when there is none, or the lab means something else by it."""
    match = _ROUND.fullmatch(text.strip())
    return int(match[1]) if match else None
