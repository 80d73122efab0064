"""The values a table already holds: each usable one with its row, and a question about each unlikely one."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ..domain.endpoint import Endpoint
from ..domain.measurements import Result
from ..system.progress import Report, part_of
from .headers import is_of_fit
from .measured_values import read_values, refuse_unnamed
from .options import TableMapping
from .raw import Findings, RawTable
from .values import is_missing, quoted

_NAMED = 3
_FEWEST = 8
"""Values of an endpoint below which none can be told to be far from the others."""
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
