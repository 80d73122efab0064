"""The values a table already holds: each usable one with its row, and a question about each unlikely one."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from operator import attrgetter

import numpy as np

from ..domain.endpoint import Endpoint
from ..domain.measurements import Result
from ..domain.noise import is_p_scale
from ..system.progress import Report
from .entries import ValueReader, read_entry
from .headers import is_of_fit
from .options import ROLES, TableMapping
from .raw import Problem, RawTable, Said, fold
from .values import is_missing, plain_number, quoted

_REPORT_EVERY = 20_000
_NAMED = 3
_LOWEST = -999.0
"""Numbers from here down may be codes for no value."""
_FEWEST = 8
"""Values of an endpoint below which none can be told to be far from the others."""
_MADS = 8.0
"""Robust SDs from the median at which a value is asked about."""
_MOST_FAR = 0.05
_LEAST_LOGS = 2.5
_SD_OF_MAD = 1.4826


def read_history(
    raw: RawTable, mapping: TableMapping, ids: Sequence[str], of_row: Sequence[int], said: Said, report: Report
) -> list[Result]:
    """Every usable value of every used row, row by row; what cannot be used goes to the problems of ``said``.

    ``of_row``: the place in ``ids`` of each row's compound, -1 where the row is not used.
    """
    blank = ("",) * len(raw)

    def texts(column: str | None) -> Sequence[str]:
        return blank if column is None else raw.column(column)

    roles = {role: getattr(mapping, role) for role in (*ROLES, "excluded")}
    bare = not any((*roles.values(), mapping.assay_column))
    told = {role: texts(column) for role, column in roles.items()}
    names = texts(mapping.endpoint_column)
    assays = texts(mapping.assay_column)
    if (
        mapping.assay_column is not None
        and mapping.batch is None
        and all(one.assay is None for one in mapping.endpoints)
    ):
        told["batch"] = assays
    if mapping.endpoint_column is not None:
        _unknown_endpoints(raw, mapping, of_row, said.problems)
    found: list[Result] = []
    doubts: list[str] = []
    for column in (one for of_endpoint in mapping.endpoints for one in of_endpoint.each()):
        if column.value is None:
            continue
        endpoint = column.endpoint
        reader = ValueReader(endpoint, column.value)
        sides = column.sides
        given = {role: texts(side) for role, side in sides.items()}
        only = None if column.only is None else fold(column.only)
        # Most cells of a large table are plain numbers with nothing beside them; they take a short way.
        plain = bare and endpoint.transform == "none" and endpoint.kind == "value" and raw.decimal == "."
        plain = plain and not is_p_scale(endpoint) and not any(sides.values())
        for place, text in enumerate(raw.column(column.value)):
            if place % _REPORT_EVERY == 0:
                report(0.3 + 0.6 * place / len(raw), f"Reading the values of {endpoint.name}")
            compound = of_row[place]
            if not text or compound < 0 or (only is not None and fold(names[place]) != only):
                continue
            if column.assay is not None and assays[place] != column.assay:
                continue
            row = raw.rows[place]
            if plain and (number := plain_number(text)) is not None and number > _LOWEST:
                reader.results.append(Result(ids[compound], number, endpoint.name, row=row))
                continue
            beside = {role: column_of[place] for role, column_of in told.items()}
            own = {role: column_of[place] for role, column_of in given.items()}
            reader.add(partial(read_entry, endpoint, text, raw.decimal, **own), ids[compound], row, beside, sides)
        said.warnings.extend(reader.close())
        said.problems.extend(reader.problems)
        found += reader.results
        far = far_from_the_others(endpoint, reader.results)
        doubts += [f"Row {result.row}: {question}" for result, question in far]
    found.sort(key=attrgetter("row"))
    said.warnings.extend(doubts[:_NAMED])
    if len(doubts) > _NAMED:
        said.warnings.append(f"{len(doubts) - _NAMED} more values are as unusual.")
    return found


def _unknown_endpoints(raw: RawTable, mapping: TableMapping, of_row: Sequence[int], problems: list[Problem]) -> None:
    """Values of rows that name no endpoint of the mapping."""
    known = {fold(column.only) for column in mapping.endpoints if column.only is not None}
    value = next((column.value for column in mapping.endpoints if column.value is not None), None)
    if value is None or mapping.endpoint_column is None:
        return
    for place, (name, text) in enumerate(zip(raw.column(mapping.endpoint_column), raw.column(value), strict=True)):
        if of_row[place] >= 0 and not is_missing(text) and fold(name) not in known and not is_of_fit(name):
            reason = "names no endpoint" if is_missing(name) else f"endpoint {quoted(name)} is not part of the campaign"
            problems.append(Problem(raw.rows[place], mapping.endpoint_column, reason))


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
    far = np.flatnonzero(np.abs(levels - middle) > reach)
    if not logs and len(far) > max(1.0, _MOST_FAR * len(exact)):
        return []  # so many are a part of what was measured, as yields are where most reactions fail
    return [
        (
            exact[place],
            f"{exact[place].value:g} {exact[place].unit or endpoint.unit}".rstrip()
            + f" is far from the other values of {endpoint.name} (most are {low:.3g} to {high:.3g}"
            + (f" as {endpoint.scale_name}" if endpoint.transform == "log" else "")
            + "). Is it right, and in this unit?",
        )
        for place in far
    ]
