"""The columns of values in a table of results: of which endpoints of the campaign, in which unit and form."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any, TypeVar

from ..domain.endpoint import CONCENTRATIONS, Endpoint
from ..domain.p_scale import is_p_scale
from ..errors import AssayPilotError
from . import headers
from .column_roles import Claims
from .normalise import points_in_columns
from .options import EndpointColumn
from .raw import RawTable, columns_named, fold
from .runs import about_mean, bare_runs, counted, run_groups, run_number
from .side_columns import Sides
from .values import is_missing

Named = TypeVar("Named")


def result_columns(
    claims: Claims, endpoints: Sequence[Endpoint], name_column: str | None, asked: Endpoint | None = None
) -> tuple[EndpointColumn, ...]:
    """Return the columns with values of endpoints, which are taken, as are their side columns.

    ``name_column``: the one that names each row's endpoint. ``asked``: the only endpoint that results are expected of;
    a column of values without a name is taken for it.
    """
    raw, sides = claims.raw, Sides(claims)
    value = raw.called(headers.VALUE) or next(
        (c for c in raw.columns if fold(headers.split_unit(c)[0]) in headers.VALUE), None
    )
    if value is not None and not any(fold(value) == fold(endpoint.name) for endpoint in endpoints):
        only_one = endpoints[0] if len(endpoints) == 1 else asked
        if name_column is None and only_one is None:
            raise AssayPilotError(
                "the results do not say which endpoint they are of",
                file=raw.file,
                mend=f"Add a column Endpoint with {', '.join(endpoint.name for endpoint in endpoints)}.",
            )
        claims.taken.add(value)
        found, values = _of_rows(raw, value, endpoints, name_column, only_one, sides.of_rows()), [value]
        if name_column is None and len(endpoints) > 1 and asked is not None:
            claims.warnings.append(
                f"The values of column {value} are taken for {asked.name}, which the round asks for."
            )
    else:
        both = _named(claims, endpoints)
        values = sides.values = [column for _, column, _ in both]
        claims.taken.update(values)
        found = [_column(sides, *one, several=len(both) > 1) for one in both]
        for one in found:
            if one.entered and one.endpoint.is_potency:
                claims.warnings.append(
                    f"Column {one.value} holds logarithms of {one.endpoint.name}, which were converted."
                )
        _note_others(claims, endpoints)
    claims.warnings += sides.unused(found)
    _note_repeated(claims, values)
    return tuple(found)


def _of_rows(
    raw: RawTable,
    value: str,
    endpoints: Sequence[Endpoint],
    name_column: str | None,
    only_one: Endpoint | None,
    sides: dict[str, Any],
) -> list[EndpointColumn]:
    """Return the column of values once for each name of an endpoint in the rows; once in all where they name none."""
    unit = headers.split_unit(value)[1]
    if name_column is None and only_one is not None:
        return [EndpointColumn(only_one, value, default_unit=unit, **sides)]
    names = {fold(text): text for text in raw.column(name_column or "")}
    found = [
        EndpointColumn(endpoint, value, text, entered=entered, default_unit=unit or of_name, **sides)
        for text in names.values()
        if (endpoint := _meant(text, endpoints)) is not None
        for entered, of_name in [_entered(endpoint, text)]
    ]
    if not found:
        raise AssayPilotError(
            f"column {name_column} names {columns_named(list(names.values()))}, and no endpoint of this campaign",
            file=raw.file,
            mend=f"Name {' or '.join(endpoint.name for endpoint in endpoints)} there.",
        )
    return found


def _meant(text: str, endpoints: Sequence[Endpoint]) -> Endpoint | None:
    """Return the endpoint that a row names; the only one where it names none."""
    if is_missing(text):
        return endpoints[0] if len(endpoints) == 1 else None
    return _surest([(rank, endpoint) for endpoint in endpoints if (rank := _fit(endpoint, text)) is not None])


def _surest(found: Sequence[tuple[int, Named]]) -> Named | None:
    """Return what has the lowest rank; None without any, and where several have it."""
    lowest = min((rank for rank, _ in found), default=0)
    surest = [one for rank, one in found if rank == lowest]
    return surest[0] if len(surest) == 1 else None


def _fit(endpoint: Endpoint, text: str) -> int | None:
    """Return how surely a header or the text in a row names an endpoint, 0 the surest; None where it does not.

    By its name; without its unit or as a mean; in another unit; as the logarithms of its concentrations; as the
    concentrations of its logarithms, ``IC50 (nM)`` for pIC50.
    """
    if fold(text) == fold(endpoint.name):
        return 0
    own, unit, names = _bare(endpoint), headers.split_unit(text)[1], headers.bases(text)
    if own in names:
        other = unit in CONCENTRATIONS and endpoint.unit in CONCENTRATIONS
        return 1 if unit in ("", endpoint.unit) else 2 if other else None
    if endpoint.is_potency and _p_name(own) in names and is_p_scale(Endpoint(text)):
        return 3
    return 4 if is_p_scale(endpoint) and own in map(_p_name, names) else None


def _bare(endpoint: Endpoint) -> str:
    return fold(headers.split_unit(endpoint.name)[0])


def _p_name(folded: str) -> str:
    """Return the name of a concentration's negative logarithm: ``pic50``, ``egfr pic50``."""
    return re.sub(r"(?:(?<=\s)|^)(?=\S+$)", "p", folded, count=1)


def _entered(endpoint: Endpoint, text: str) -> tuple[str, str]:
    """Return the quantity that a header or a row names instead of an endpoint, "" for the same, and the unit there."""
    if is_missing(text) or fold(text) == fold(endpoint.name):
        return "", ""
    bare, unit = headers.split_unit(text)
    logarithms = is_p_scale(Endpoint(text))
    other = logarithms if endpoint.is_potency else is_p_scale(endpoint) and headers.looks_like_potency(bare, unit)
    return (text if other else ""), ("" if logarithms else unit)


def _column(sides: Sides, endpoint: Endpoint, column: str, run: str, *, several: bool) -> EndpointColumn:
    """Return a column of one endpoint with its side columns."""
    entered, unit = _entered(endpoint, column)
    own = sides.of_run(column, several=several) if run else sides.all_of(column, several=several)
    return EndpointColumn(endpoint, column, entered=entered, default_unit=unit, run=run, **own)


def _named(claims: Claims, endpoints: Sequence[Endpoint]) -> list[tuple[Endpoint, str, str]]:
    """Return the columns of the endpoints by their headers, each with its run; the mean of runs is not read."""
    raw, means = claims.raw, list[str]()
    found = [(endpoint, *column) for endpoint in endpoints for column in _columns_of(raw, endpoint, means)]
    claims.taken.update(means)
    claims.warnings += map(about_mean, means)
    if not found and len(endpoints) == 1:
        found = [(endpoints[0], column, run) for column, run in _of_the_only_one(claims, endpoints[0])]
    if not found:
        raise _no_values(raw, endpoints)
    return found


def _columns_of(raw: RawTable, endpoint: Endpoint, means: list[str]) -> tuple[tuple[str, str], ...]:
    """Return the columns of an endpoint, each with its run: one, or one for each run of it; none where it has none.

    Runs go before their mean, which is less informative; it is added to ``means``.
    """
    column = _column_of(raw, endpoint)
    bare, unit = headers.split_unit(endpoint.name)
    units = ("", unit, endpoint.unit, *(CONCENTRATIONS if endpoint.is_potency else ()))
    groups = {**run_groups(raw.columns), **counted(raw.columns, lambda name: fold(name) == fold(bare))}
    fitting = [
        runs
        for name, runs in groups.items()
        if fold(headers.split_unit(name)[0]) == fold(bare) and headers.split_unit(name)[1] in units
    ]
    runs = fitting[0] if len(fitting) == 1 else ()
    if column not in runs and any(not is_missing(text) for one in runs for text in raw.column(one)):
        means += filter(None, [column])
        numbers = [run_number(one) for one in runs]
        return tuple(
            (one, str(place) if number is None else number[1])
            for place, (one, number) in enumerate(zip(runs, numbers, strict=True), start=1)
        )
    return () if column is None else ((column, ""),)


def _column_of(raw: RawTable, endpoint: Endpoint) -> str | None:
    """Return the column of an endpoint; concentrations of its logarithms only with their unit."""
    fits = [(rank, column) for column in raw.columns if (rank := _fit(endpoint, column)) is not None]
    return _surest([(rank, c) for rank, c in fits if rank < 4 or headers.split_unit(c)[1] in CONCENTRATIONS])


def _of_the_only_one(claims: Claims, endpoint: Endpoint) -> tuple[tuple[str, str], ...]:
    """Columns that can only be of the campaign's one endpoint: its potency under another name, or bare replicates."""
    only = _plain_potency(claims.raw, endpoint)
    if only is not None:
        claims.warnings.append(f"Column {only} was taken for {endpoint.name}, the only endpoint of the campaign.")
        return ((only, ""),)
    # A run of nothing in particular (Rep 1, Rep 2) is one of what is measured.
    runs = bare_runs(claims.raw.columns)
    if runs:
        claims.warnings.append(f"Columns {', '.join(runs)} were taken for replicates of {endpoint.name}.")
    return tuple(runs.items())


def _plain_potency(raw: RawTable, endpoint: Endpoint) -> str | None:
    """Return the only column of potencies, when its header ends the endpoint's name, or begins with more than it.

    ``IC50 (nM)`` for KIN7 IC50, and ``EGFR: IC50 (nM)`` for IC50.
    """
    potencies = [c for c in raw.columns if headers.looks_like_activity(c) or is_p_scale(Endpoint(c))]
    potencies = [c for c in potencies if not headers.is_of_fit(c) and headers.role_within(c) is None]
    if len(potencies) != 1:
        return None
    name, unit = headers.split_unit(potencies[0])
    of, called = _bare(endpoint), fold(name)
    if is_p_scale(endpoint) and unit in CONCENTRATIONS:
        of = re.sub(r"(?<![^\s])p(?=\S+$)", "", of)
    elif not is_p_scale(endpoint) and not (endpoint.unit in CONCENTRATIONS and unit in CONCENTRATIONS):
        return None
    return potencies[0] if of == called or of.endswith(f" {called}") or called.endswith(f" {of}") else None


def _note_others(claims: Claims, endpoints: Sequence[Endpoint]) -> None:
    """Note columns of potencies that are not of the campaign, or in a unit that is not the endpoint's."""
    called = set(map(_bare, endpoints))
    other = [c for c in claims.free() if fold(headers.split_unit(c)[0]) in called]
    numbers = [c for c in claims.free() if headers.looks_like_potency(*headers.split_unit(c)) and c not in other]
    numbers = [c for c in numbers if not headers.is_of_fit(c) and headers.role_within(c) is None]
    for columns, why in (
        (other, "their unit is not that of the endpoint"),
        (numbers, "they are no endpoint of this campaign"),
    ):
        if columns:
            claims.taken.update(columns)
            claims.warnings.append(f"Not used, because {why}: {', '.join(columns)}.")


def _note_repeated(claims: Claims, values: Sequence[str]) -> None:
    """Note columns whose header is that of values with a number behind it."""
    numbered = [re.compile(rf"{re.escape(fold(value))} ?\(?\d{{1,2}}\)?") for value in values]
    again = [c for c in claims.free() if any(one.fullmatch(fold(c)) for one in numbered)]
    if again:
        mend = (
            "Give each measurement a row of its own."
            if fold(headers.split_unit(values[0])[0]) in headers.VALUE
            else f"Replicates are called {values[0]} run 1, {values[0]} run 2."
        )
        claims.warnings.append(f"Not used, because their header is that of the values: {', '.join(again)}. {mend}")


def _no_values(raw: RawTable, endpoints: Sequence[Endpoint]) -> AssayPilotError:
    """Return the refusal of a table without values, with a hint where rows and columns are swapped."""
    named = ", ".join(endpoint.name for endpoint in endpoints)
    first = [fold(headers.split_unit(text)[0]) for text in raw.cells[0]] if raw.cells else []
    known = {*map(_bare, endpoints), *headers.VALUE}
    unitless = [c for e in endpoints for c in raw.columns if is_p_scale(e) and _p_name(fold(c)) == fold(e.name)]
    logs = [c for c in raw.columns if headers.is_log_concentration(c)]
    points = raw.points or points_in_columns(raw.columns)
    if points:
        what, _, mend = points.partition(". ")
        return AssayPilotError(f"there is no value of {named}. {what}", file=raw.file, mend=mend)
    mend = "Give columns ID, Endpoint and Value, or one column per endpoint."
    if not known.isdisjoint(first):
        mend = "Turn the table, so that each compound has a row."
    elif unitless:
        mend = f"Say the unit of {unitless[0]} in its header, {unitless[0]} (nM): its logarithm is not known without."
    elif logs and is_p_scale(endpoints[0]):
        mend = f"Give {endpoints[0].name} itself, -log10 of mol/L; {logs[0]} is its negative, or of another unit."
    return AssayPilotError(
        f"there is no column Value and none called {named}; the columns are {columns_named(raw.columns)}",
        file=raw.file,
        mend=mend,
    )
