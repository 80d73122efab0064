"""The columns of values in a table of results, their endpoints, and their side columns."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from ..domain.endpoint import CONCENTRATIONS, Endpoint
from ..domain.noise import is_p_scale
from ..errors import AssayPilotError
from . import headers
from .column_roles import Claims
from .normalise import points_in_columns
from .options import SIDES
from .raw import RawTable, columns_named, fold
from .side_columns import (
    Sides,
    about_errors,
    about_mean,
    bare_runs,
    counted,
    run_groups,
    run_number,
    standard_errors,
)
from .values import is_missing


@dataclass(frozen=True, slots=True)
class ValueColumn:
    """One column of values: of a fixed endpoint, or of the one each row names."""

    value: str
    endpoint: Endpoint | None
    sides: tuple[str | None, ...]
    unit: str = ""
    """The unit that its header names, of rows that name none."""
    run: str = ""
    """The run of its values, where an endpoint has a column for each."""
    logarithms: bool = False
    """Whether it has the negative logarithms of an endpoint that is entered as a concentration."""


def value_columns(
    raw: RawTable,
    endpoints: Sequence[Endpoint],
    roles: Mapping[str, str | None],
    name_column: str | None,
    id_column: str,
    asked: Endpoint | None = None,
) -> tuple[list[ValueColumn], list[str]]:
    """Return the columns with values; side columns belong to all of them in long form, to the only one otherwise.

    ``asked``: the only endpoint that results are expected of; a column of values without a name is taken for it.
    """
    value = raw.called(headers.VALUE) or next(
        (c for c in raw.columns if fold(headers.split_unit(c)[0]) in headers.VALUE), None
    )
    claims = Claims(raw)
    finder = Sides(claims)
    signs = [c for c in finder.signs if c not in roles.values() and headers.role_of(c) != "relation"]
    shared = tuple(roles[role] for role in SIDES)
    if value is not None and not any(fold(value) == fold(endpoint.name) for endpoint in endpoints):
        only_one = endpoints[0] if len(endpoints) == 1 else asked
        if name_column is None and only_one is None:
            raise AssayPilotError(
                "the results do not say which endpoint they are of",
                file=raw.file,
                mend=f"Add a column Endpoint with {', '.join(endpoint.name for endpoint in endpoints)}.",
            )
        unit = headers.split_unit(value)[1]
        if shared[0] is None:
            finder.values = [value]
            shared = (finder.of(value, "relation", several=False), *shared[1:])
        only = ValueColumn(value, None if name_column else only_one, shared, unit)
        known = {id_column, name_column, value, *shared, *roles.values()}
        taken = [f"The values of column {value} are taken for {asked.name}, which the round asks for."] if asked else []
        return [only], [*([] if name_column or len(endpoints) == 1 else taken), *_passed_over(raw, [value], known)]
    means: list[str] = []
    found = [(endpoint, *column) for endpoint in endpoints for column in _endpoint_columns(raw, endpoint, means)]
    warnings = [about_mean(column) for column in means]
    if not found and len(endpoints) == 1:
        found = [(endpoints[0], column, run) for column, run in _of_the_only_one(raw, endpoints[0], warnings)]
    if not found:
        raise _no_values(raw, endpoints)
    columns = []
    values = finder.values = [column for _, column, _ in found]
    claims.taken.update(values)
    for endpoint, column, run in found:
        sides = tuple(finder.of(column, role, several=len(found) > 1) for role in SIDES)
        logs = endpoint.is_potency and is_p_scale(Endpoint(column))
        if logs:
            warnings.append(f"Column {column} holds logarithms of {endpoint.name}, which were converted.")
        columns.append(ValueColumn(column, endpoint, sides, "" if logs else _unit_of(column, endpoint), run, logs))
    used = {side for column in columns for side in column.sides}
    lost = [side for side in (*shared, *signs) if side is not None and side not in used]
    if lost:
        warnings.append(f"Not used, because it is not clear to which endpoint they belong: {', '.join(lost)}.")
    known = {id_column, name_column, *(column.value for column in columns), *used, *roles.values()}
    called = {fold(headers.split_unit(endpoint.name)[0]) for endpoint in endpoints}
    other = [c for c in raw.columns if c not in known and fold(headers.split_unit(c)[0]) in called]
    if other:
        warnings.append(f"Not used, because their unit is not that of the endpoint: {', '.join(other)}.")
    known.update(other, means)
    numbers = [c for c in raw.columns if c not in known and headers.looks_like_potency(*headers.split_unit(c))]
    numbers = [c for c in numbers if not headers.is_of_fit(c)]
    if numbers:
        warnings.append(f"Not used, because they are no endpoint of this campaign: {', '.join(numbers)}.")
    return columns, [*warnings, *_passed_over(raw, values, known)]


def _passed_over(raw: RawTable, values: Sequence[str], known: Collection[str | None]) -> list[str]:
    """Return notes on columns that seem to belong to the values and are not used."""
    notes = []
    errors = standard_errors(column for column in raw.columns if column not in known)
    if errors:
        notes.append(about_errors(errors))
    numbered = [re.compile(rf"{re.escape(fold(value))} ?\(?\d{{1,2}}\)?") for value in values]
    again = [c for c in raw.columns if c not in known and any(one.fullmatch(fold(c)) for one in numbered)]
    if again:
        mend = (
            "Give each measurement a row of its own."
            if fold(headers.split_unit(values[0])[0]) in headers.VALUE
            else f"Replicates are called {values[0]} run 1, {values[0]} run 2."
        )
        notes.append(f"Not used, because their header is that of the values: {', '.join(again)}. {mend}")
    return notes


def _no_values(raw: RawTable, endpoints: Sequence[Endpoint]) -> AssayPilotError:
    """Return the refusal of a table without values, with a hint where rows and columns are swapped."""
    named = ", ".join(endpoint.name for endpoint in endpoints)
    first = [fold(text) for text in raw.cells[0]] if raw.cells else []
    known = {fold(headers.split_unit(endpoint.name)[0]) for endpoint in endpoints} | set(headers.VALUE)
    turned = any(fold(headers.split_unit(text)[0]) in known for text in first)
    unitless = [c for e in endpoints for c in raw.columns if is_p_scale(e) and p_name(fold(c)) == fold(e.name)]
    logs = [c for c in raw.columns if headers.is_log_concentration(c)]
    points = raw.points or points_in_columns(raw.columns)
    if points:
        what, _, mend = points.partition(". ")
        return AssayPilotError(f"there is no value of {named}. {what}", file=raw.file, mend=mend)
    return AssayPilotError(
        f"there is no column Value and none called {named}; the columns are {columns_named(raw.columns)}",
        file=raw.file,
        mend="Turn the table, so that each compound has a row."
        if turned
        else f"Say the unit of {unitless[0]} in its header, {unitless[0]} (nM): its logarithm is not known without."
        if unitless
        else f"Give {endpoints[0].name} itself, -log10 of mol/L; {logs[0]} is its negative, or of another unit."
        if logs and is_p_scale(endpoints[0])
        else "Give columns ID, Endpoint and Value, or one column per endpoint.",
    )


def _endpoint_columns(raw: RawTable, endpoint: Endpoint, means: list[str]) -> tuple[tuple[str, str], ...]:
    """Return the columns of an endpoint, each with its run: one, or one for each run of it; none where it has none.

    Runs go before their mean, which is less informative; it is added to ``means``.
    """
    column = _endpoint_column(raw, endpoint)
    bare, unit = headers.split_unit(endpoint.name)
    units = ("", unit, endpoint.unit, *(CONCENTRATIONS if endpoint.is_potency else ()))
    groups = {**run_groups(raw.columns), **counted(raw.columns, lambda name: fold(name) == fold(bare))}
    fitting = [
        runs
        for name, runs in groups.items()
        if fold(headers.split_unit(name)[0]) == fold(bare) and headers.split_unit(name)[1] in units
    ]
    runs = fitting[0] if len(fitting) == 1 and _filled(raw, fitting[0]) else ()
    if runs and column not in runs:
        if column is not None:
            means.append(column)
        return tuple((one, _run_of(one, place)) for place, one in enumerate(runs, start=1))
    return () if column is None else ((column, ""),)


def _filled(raw: RawTable, columns: Sequence[str]) -> bool:
    return any(not is_missing(text) for column in columns for text in raw.column(column))


def _run_of(column: str, place: int) -> str:
    found = run_number(column)
    return found[1] if found is not None else str(place)


def _of_the_only_one(raw: RawTable, endpoint: Endpoint, warnings: list[str]) -> tuple[tuple[str, str], ...]:
    """Columns that can only be of the campaign's one endpoint: its potency under another name, or bare replicates."""
    only = _plain_potency(raw, endpoint)
    if only is not None:
        warnings.append(f"Column {only} was taken for {endpoint.name}, the only endpoint of the campaign.")
        return ((only, ""),)
    # A run of nothing in particular (Rep 1, Rep 2) is one of what is measured.
    runs = bare_runs(raw.columns)
    if runs:
        warnings.append(f"Columns {', '.join(runs)} were taken for replicates of {endpoint.name}.")
    return tuple(runs.items())


def _endpoint_column(raw: RawTable, endpoint: Endpoint) -> str | None:
    """Return the column of an endpoint.

    By its name, else by its name with another unit or as a mean, when only one fits.

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
    if endpoint.is_potency:
        logs = [c for c in raw.columns if p_name(bare) in headers.bases(c) and is_p_scale(Endpoint(c))]
        return logs[0] if len(logs) == 1 else None
    if not is_p_scale(endpoint) or not bare.startswith("p"):
        return None
    plain = [
        c for c in raw.columns if bare[1:].strip() in headers.bases(c) and headers.split_unit(c)[1] in CONCENTRATIONS
    ]
    return plain[0] if len(plain) == 1 else None


def p_name(folded: str) -> str:
    """Return the name of a concentration's negative logarithm: ``pic50``, ``egfr pic50``."""
    return re.sub(r"(?:(?<=\s)|^)(?=\S+$)", "p", folded, count=1)


def _plain_potency(raw: RawTable, endpoint: Endpoint) -> str | None:
    """Return the only column of potencies, when its header ends the endpoint's name, or begins with more than it.

    ``IC50 (nM)`` for KIN7 IC50, and ``EGFR: IC50 (nM)`` for IC50.
    """
    potencies = [c for c in raw.columns if headers.looks_like_activity(c) or is_p_scale(Endpoint(c))]
    potencies = [c for c in potencies if not headers.is_of_fit(c) and headers.role_within(c) is None]
    if len(potencies) != 1:
        return None
    name, unit = headers.split_unit(potencies[0])
    of, called = fold(headers.split_unit(endpoint.name)[0]), fold(name)
    if is_p_scale(endpoint) and unit in CONCENTRATIONS:
        of = re.sub(r"(?<![^\s])p(?=\S+$)", "", of)
    elif not is_p_scale(endpoint) and not (endpoint.unit in CONCENTRATIONS and unit in CONCENTRATIONS):
        return None
    return potencies[0] if of == called or of.endswith(f" {called}") or called.endswith(f" {of}") else None


def _unit_of(column: str, endpoint: Endpoint) -> str:
    """Return the unit in a column's header where it is another one than the endpoint's.

    The endpoint's own name has none.
    """
    return "" if fold(column) == fold(endpoint.name) else headers.split_unit(column)[1]
