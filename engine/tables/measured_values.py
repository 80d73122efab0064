"""The values in the columns of a table: each usable one with its row, and questions about unlikely ones."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from ..domain.endpoint import FLIPPED, Endpoint
from ..domain.measurements import Result
from ..domain.p_scale import is_p_scale, is_unusual
from ..system.progress import Report, part_of, silent
from .entries import (
    Entry,
    Unreadable,
    another_scale,
    as_result,
    left_behind,
    may_be_bounds,
    no_p_value,
    none_of_them,
    read_entry,
    why_none,
    with_log_sds,
)
from .headers import is_of_fit
from .options import ROLES, EndpointColumn, TableMapping
from .raw import Findings, Problem, RawTable, fold
from .values import is_missing, plain_number, quoted

_REPORT_EVERY = 20_000
_LOWEST = -999.0
"""Numbers from here down may be codes for no value."""


class Found(NamedTuple):
    """A value, and its row by its place in the table."""

    place: int
    result: Result
    column: EndpointColumn


def read_values(
    raw: RawTable, mapping: TableMapping, compounds: Sequence[str], findings: Findings, report: Report = silent
) -> list[Found]:
    """Return every usable value, row by row; what cannot be used goes to the problems of ``findings``.

    ``compounds``: the name of each row's compound, "" where the row is not used.
    """
    reader = _Reader(raw, mapping, compounds, findings, report)
    by_endpoint: dict[str, list[EndpointColumn]] = {}
    for column in (one for of_endpoint in mapping.endpoints for one in of_endpoint.each()):
        if column.value is not None:
            by_endpoint.setdefault(column.endpoint.name, []).append(column)
    found = [one for columns in by_endpoint.values() for one in reader.values(columns)]
    return sorted(found, key=lambda one: one.place)


class _Reader:
    """Reads the columns of one table."""

    def __init__(
        self, raw: RawTable, mapping: TableMapping, compounds: Sequence[str], findings: Findings, report: Report
    ) -> None:
        self._raw, self._compounds, self._findings, self._report = raw, compounds, findings, report
        self._blank = ("",) * len(raw)
        roles = {role: getattr(mapping, role) for role in (*ROLES, "excluded")}
        self._bare = not any((*roles.values(), mapping.assay_column))
        self._given = {role: self._texts(column) for role, column in roles.items()}
        self._names = self._texts(mapping.endpoint_column)
        self._assays = self._texts(mapping.assay_column)
        if not mapping.batch and all(one.assay is None for one in mapping.endpoints) and mapping.assay_column:
            self._given["batch"] = self._assays

    def _texts(self, column: str | None) -> Sequence[str]:
        return self._blank if column is None else self._raw.column(column)

    def values(self, columns: Sequence[EndpointColumn]) -> list[Found]:
        """Return the usable values of one endpoint."""
        endpoint, problems, warnings = columns[0].endpoint, self._findings.problems, self._findings.warnings
        found: list[Found] = []
        impossible = 0
        for column in columns:
            own, strange, behind = self._of_column(column)
            found += own
            impossible += strange
            warnings += filter(None, [left_behind(column.value or "", behind)])
        results = [one.result for one in found]
        others = set(map(id, none_of_them(endpoint, results, impossible)))
        problems += [
            Problem(one.result.row, one.column.value, why_none(endpoint)) for one in found if id(one.result) in others
        ]
        found = [one for one in found if id(one.result) not in others]
        results, of_logarithms = with_log_sds(endpoint, [one.result for one in found])
        questions = (of_logarithms, may_be_bounds(endpoint, results), another_scale(endpoint, results))
        warnings += filter(None, questions)
        return [one._replace(result=result) for one, result in zip(found, results, strict=True)]

    def _of_column(self, column: EndpointColumn) -> tuple[list[Found], int, list[tuple[int | None, str]]]:
        """Return the values of one column, how many are impossible, and the rows with more behind a value."""
        raw, endpoint, problems = self._raw, column.endpoint, self._findings.problems
        found: list[Found] = []
        behind: list[tuple[int | None, str]] = []
        impossible = 0
        sides = {role: self._texts(side) for role, side in column.sides.items()}
        only = None if column.only is None else fold(column.only)
        # Most cells of a large table are plain numbers with nothing else in their row; they take a short way.
        plain = self._bare and endpoint.transform == "none" and endpoint.kind == "value" and raw.decimal == "."
        plain = plain and not is_p_scale(endpoint) and not any(column.sides.values())
        plain = plain and not (column.default_unit or column.run)
        for place, text in enumerate(self._texts(column.value)):
            if place % _REPORT_EVERY == 0:
                self._report(place / len(raw), f"Reading the values of {endpoint.name}")
            compound, row = self._compounds[place], raw.rows[place]
            if not text or not compound or (only is not None and fold(self._names[place]) != only):
                continue
            if column.assay is not None and self._assays[place] != column.assay:
                continue
            if plain and (number := plain_number(text)) is not None and number > _LOWEST:
                found.append(Found(place, Result(compound, number, endpoint.name, row=row), column))
                continue
            try:
                entry = _read(raw, column, text, {role: texts[place] for role, texts in sides.items()})
            except Unreadable as error:
                well = self._given["well"][place]
                reason = f"well {well}: {error.reason}" if well else error.reason
                problems.append(Problem(row, column.sides.get(error.part) or column.value, reason))
                continue
            if entry is None:
                continue
            why = no_p_value(endpoint, entry)
            if why is not None:
                problems.append(Problem(row, column.value, why))
                impossible += 1
                continue
            if entry.rest:
                behind.append((row, entry.rest))
            given = {role: texts[place] for role, texts in self._given.items()}
            given["replicate"] = "-".join(filter(None, (given["replicate"], column.run)))
            found.append(Found(place, as_result(entry, compound, endpoint, row, given), column))
        return found, impossible, behind


def _read(raw: RawTable, column: EndpointColumn, text: str, given: dict[str, str]) -> Entry | None:
    """Return the value of a cell, a logarithm of a concentration converted to the one that the endpoint is entered as.

    Raises Unreadable.
    """
    endpoint, entered = column.endpoint, Endpoint(column.entered or column.endpoint.name)
    if is_missing(given["unit"]):
        given["unit"] = column.default_unit
    if not (column.entered and endpoint.is_potency and is_p_scale(entered)):
        entry = read_entry(endpoint, text, raw.decimal, **given)
        if entry is not None and not entry.note and is_p_scale(endpoint) and not is_p_scale(entered):
            # The row says IC50, of which a number without a unit is no pIC50.
            raise Unreadable(f"{quoted(text)} has no unit, so its logarithm is not known", "unit")
        return entry
    # The row says pIC50 where the campaign has IC50.
    given["unit"] = ""
    entry = read_entry(entered, text, raw.decimal, **given)
    if entry is None:
        return None
    if entry.unit is not None or entry.note:
        return read_entry(endpoint, text, raw.decimal, **given)
    if is_unusual(entered, entry.value):
        raise Unreadable(f"{entry.value:g} is no {entered.name}")
    value = float(f"{endpoint.from_model(entry.value):.10g}")
    note = f"entered as {entered.name} {' '.join(text.split())}" + (
        "; its SD is not used" if entry.sd is not None else ""
    )
    return replace(entry, value=value, relation=FLIPPED[entry.relation], sd=None, note=note, rest="")


def refuse_unnamed(
    raw: RawTable,
    mapping: TableMapping,
    compounds: Sequence[str],
    problems: list[Problem],
    why: Callable[[str], str],
) -> None:
    """Add a problem for each value in a row that names no endpoint of the mapping; ``why``: "" for one to pass over."""
    known = {fold(column.only) for column in mapping.endpoints if column.only is not None}
    value = next((column.value for column in mapping.endpoints if column.value is not None), None)
    if value is None or mapping.endpoint_column is None:
        return
    for place, (name, text) in enumerate(zip(raw.column(mapping.endpoint_column), raw.column(value), strict=True)):
        if compounds[place] and not is_missing(text) and fold(name) not in known and (reason := why(name)):
            problems.append(Problem(raw.rows[place], mapping.endpoint_column, reason))


_NAMED = 3
_FEWEST = 8
"""Values of an endpoint below which none is called far from the others."""
_MADS = 8.0
"""Robust SDs from the median at which a value is asked about."""
_LEAST_LOGS = 2.5
_SD_OF_MAD = 1.4826


def read_history(
    raw: RawTable, mapping: TableMapping, ids: Sequence[str], of_row: Sequence[int], findings: Findings, report: Report
) -> list[Result]:
    """Return every usable value of every used row, row by row; what cannot be used goes to ``findings``.

    ``of_row``: the place in ``ids`` of each row's compound, -1 where the row is not used.
    """
    compounds = ["" if place < 0 else ids[place] for place in of_row]
    refuse_unnamed(raw, mapping, compounds, findings.problems, _why_not)
    found = [one.result for one in read_values(raw, mapping, compounds, findings, part_of(report, 0.3, 0.9))]
    doubts = []
    for endpoint in dict.fromkeys(column.endpoint for column in mapping.endpoints):
        far = far_from_the_others(endpoint, [result for result in found if result.endpoint == endpoint.name])
        doubts += [f"Row {result.row}: {question}" for result, question in far]
    findings.warnings.extend(doubts[:_NAMED])
    if len(doubts) > _NAMED:
        findings.warnings.append(f"{len(doubts) - _NAMED} more values are as unusual.")
    return found


def _why_not(name: str) -> str:
    if is_of_fit(name):
        return ""
    return "names no endpoint" if is_missing(name) else f"endpoint {quoted(name)} is not part of the campaign"


def far_from_the_others(endpoint: Endpoint, results: Sequence[Result]) -> list[tuple[Result, str]]:
    """Exact values of one endpoint that lie absurdly far from the rest of them, each with a question about it.

    Far: eight robust SDs (1.4826 times the median absolute deviation) from the median, and on a logarithmic scale at
    least 2.5 units; asked about only, never left out.
    """
    exact = [result for result in results if result.relation == "=" and not result.excluded]
    if len(exact) < _FEWEST or endpoint.kind != "value":
        return []
    plain = endpoint.transform == "none" and all(result.unit is None for result in exact)
    levels = np.array([r.value if plain else endpoint.to_model(r.value, r.unit) for r in exact])
    middle = float(np.median(levels))
    spread = _SD_OF_MAD * float(np.median(np.abs(levels - middle)))
    logs = endpoint.scale_unit == "log"
    reach = max(_MADS * spread, _LEAST_LOGS if logs else 0.0)
    if reach <= 0.0:
        return []
    low, high = (float(np.quantile(levels, q)) for q in (0.05, 0.95))
    return [
        (
            exact[place],
            f"{exact[place].value:g} {exact[place].unit or endpoint.unit}".rstrip()
            + f" is far from the other values of {endpoint.name} (most are {low:.3g} to {high:.3g}"
            + (f" as {endpoint.scale_name}" if endpoint.transform == "log" else "")
            + "). Is it right, and in this unit?",
        )
        for place in np.flatnonzero(np.abs(levels - middle) > reach)
    ]
