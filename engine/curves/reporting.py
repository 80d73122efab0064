"""Output of curves: results, points, and JSON."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from ..domain.endpoint import CONCENTRATIONS, FLIPPED, Endpoint, Relation
from ..domain.noise import is_p_scale
from ..errors import AssayPilotError
from ..tables.headers import split_unit
from ..text import pick
from .analysis import Analysis, Curve
from .points import Points

Cell = str | int | float | None

RESULTS = (
    *("ID", "Endpoint", "Value", "Relation", "Unit", "N", "SD", "Plate", "Comment"),
    *("Hill slope", "Lower plateau", "Upper plateau", "R2", "95 % CI low", "95 % CI high"),
)
POINTS = ("ID", "Control", "Plate", "Well", "Replicate")
"""The first columns of a table of points."""


@dataclass(frozen=True, slots=True)
class Reported:
    """The value of a curve in the form of an endpoint."""

    value: float | None
    relation: Relation | None
    sd: float | None
    low: float | None
    high: float | None


def endpoint_unit(endpoint: str, default: str) -> str:
    """Return the unit an endpoint is written in: "" for a pIC50, that of its name, else the default."""
    if is_p_scale(Endpoint(endpoint)):
        return ""
    name, unit = split_unit(endpoint)
    if unit and unit not in CONCENTRATIONS:
        raise AssayPilotError(
            f"{name} has the unit {unit}, which is no concentration",
            option="--endpoint",
            mend='For example pIC50 or "IC50 (nM)".',
        )
    return unit or default


def reported(curve: Curve, unit: str) -> Reported:
    """Return the value of a curve as -log10 mol/L (``unit`` ""), or as a concentration.

    The SD of a concentration is the standard error of its logarithm by the first-order rule, which ``record`` reverses.
    """
    if curve.relation is None:
        return Reported(None, None, None, None, None)
    interval = None if curve.se is None or curve.fit is None else (curve.fit.low, curve.fit.high)
    if not unit:
        low, high = (None, None) if interval is None else (round(-interval[1], 4), round(-interval[0], 4))
        sd = None if curve.se is None else round(curve.se, 4)
        return Reported(round(-curve.log_value, 4), FLIPPED[curve.relation], sd, low, high)
    factor = CONCENTRATIONS[unit]
    value = _five(10.0**curve.log_value / factor)
    low, high = (None, None) if interval is None else (_five(10.0**end / factor) for end in interval)
    sd = None if curve.se is None else _five(curve.se * math.log(10.0) * value)
    return Reported(value, curve.relation, sd, low, high)


def _five(value: float) -> float:
    return float(f"{value:.5g}")


def result_rows(analysis: Analysis, endpoint: str, unit: str) -> Iterator[Sequence[Cell]]:
    """Yield one row of RESULTS for each curve; a curve without a value has its reason as a comment."""
    for curve in analysis.curves:
        own, fit = reported(curve, unit), curve.fit
        details: tuple[Cell, ...] = (None,) * 4
        if fit is not None and curve.relation == "=":
            plateaus = sorted((fit.start, fit.end))
            details = (round(fit.slope, 3), *map(_five, plateaus), round(fit.r2, 4))
        yield (
            curve.compound, endpoint, own.value, own.relation or "", unit, 1, own.sd, curve.plate, comment(curve),
            *details, own.low, own.high,
        )  # fmt: skip


def comment(curve: Curve) -> str:
    """Return the flags of a curve and its exclusions as one text."""
    excluded = int((~curve.used).sum())
    parts = [*curve.flags, *([f"{excluded} excluded"] if excluded else [])]
    return "; ".join(parts)


def point_header(points: Points) -> list[str]:
    """Return the columns of a table of points."""
    dose = f"Concentration ({points.unit})"
    return [*POINTS, dose, points.response, "Normalised", "Fitted", "Outlier", "Excluded"]


def point_rows(points: Points, analysis: Analysis) -> Iterator[Sequence[Cell]]:
    """Yield one row for each point in the order of the table, controls too, with its result in the fit.

    Read as a raw table again it gives the same curves; a reason in Excluded takes a point out for good.
    """
    found: dict[int, tuple[Cell, Cell, Cell]] = {}
    for curve in analysis.curves:
        fitted = curve.x * math.nan if curve.fit is None else curve.fit.at(curve.x)
        for place, point in enumerate(curve.points):
            outlier = "yes" if curve.outliers[place] else "falls" if curve.falling[place] else ""
            found[id(point)] = (_five(float(curve.y[place])), _five(float(fitted[place])), outlier)
    factor = CONCENTRATIONS[points.unit]
    for point in points.points:
        own = point.role == "compound"
        normalised, fit, mark = found.get(id(point), (None, None, ""))
        amount = float(f"{point.concentration / factor:.10g}") if own else None
        yield (
            point.compound, "" if own else point.role, point.plate, point.well, point.replicate,
            amount, point.response, normalised, fit, mark, point.excluded,
        )  # fmt: skip


def document(curve: Curve, unit: str) -> dict[str, Any]:
    """Return a curve as the command line's JSON has it."""
    return {
        **pick(curve, "id=compound plate se_log10=se"),
        **pick(reported(curve, unit), "value relation sd low high"),
        **pick(curve.fit, "slope start end r2"),
        "points": int(curve.used.sum()),
        "excluded": int((~curve.used).sum()),
        "falling": int(curve.falling.sum()),
        "outliers": [curve.points[place].row for place in curve.outliers.nonzero()[0]],
        "flags": list(curve.flags),
    }
