"""From readings to half-maximal concentrations, with a qualifier where needed, and what is written of them."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ..arrays import Flags, Floats
from ..domain.endpoint import Relation
from ..errors import AssayPilotError
from ..system.progress import Report, silent
from .fitting import Fit, Plateaus, fit_curve
from .points import Point, Points

HALF = 50.0
"""Percent effect that a curve has to reach."""
_LEVELS = (0.0, 100.0)
"""Percent effect of the plateaus: where they are expected, or fixed."""
_REPORT_EVERY = 50
_FEWEST = 4
"""Different concentrations of a curve; fewer do not determine four parameters."""
_REACHED = 0.8
"""Share of the way between the plateaus up to which one counts as not reached."""
_FALL, _SURELY = 15.0, 4.0
"""Percent effect, and standard errors, by which responses at the highest concentrations have to lie below the curve of
the others before they are left out."""
_WIDE = 1.0
"""Width of a 95 % interval in log10 units from which a value is hardly one."""


@dataclass(frozen=True, slots=True)
class PlateControls:
    """The controls of a plate."""

    plate: str
    neutral: float
    """Median signal without effect."""
    full: float
    """Median signal with the full effect."""
    n_neutral: int
    n_full: int
    z_prime: float | None
    """1 - 3 (SD + SD) / difference of the means; None with fewer than two wells of one kind."""


@dataclass(frozen=True, slots=True)
class Curve:
    """The curve of one compound, normally on one plate: one independent determination."""

    compound: str
    plate: str
    points: tuple[Point, ...]
    """All points, excluded ones too, by concentration."""
    x: Floats
    """``(n,)``, log10 mol/L."""
    y: Floats
    """``(n,)``, percent effect where there are controls or the table has percent, else the signal."""
    used: Flags
    """``(n,)``, points that are not excluded."""
    outliers: Flags
    """``(n,)``, used points too far from the curve; flagged only, never left out on their own."""
    falling: Flags
    """``(n,)``, points at the highest concentrations where the effect falls again, as by precipitation or toxicity.

    The fit is without them: no rising curve describes them.
    """
    fit: Fit | None
    """None where there are too few points."""
    relation: Relation | None
    """Of the half-maximal concentration; None where the points give no value."""
    log_value: float
    """log10 mol/L: the inflection, or the end of the tested range that bounds it; NaN without a value."""
    se: float | None
    """Standard error of ``log_value``; None for a bound, or where it is not determined."""
    flags: tuple[str, ...]
    """Points for a chemist to check, in plain words."""


@dataclass(frozen=True, slots=True)
class Analysis:
    """All curves of a table."""

    curves: tuple[Curve, ...]
    plates: tuple[PlateControls, ...]
    percent: bool
    """Whether responses are percent effect; signals otherwise."""
    excluded: int
    """Points excluded by hand."""


def analyse(
    points: Points,
    *,
    plateaus: Plateaus = "free",
    report: Report = silent,
) -> Analysis:
    """Fit the curve of each compound on each plate.

    A compound with fewer than four concentrations on a plate has one curve across its plates.
    """
    plates = _controls(points)
    percent = bool(plates) or points.scale != "raw"
    if plateaus == "fixed" and not percent:
        raise AssayPilotError(
            "plateaus can be fixed for percent effect only, and there are no controls",
            option="--plateaus",
            mend="Add controls, name the neutral wells and those of full effect, or leave the plateaus free.",
        )
    own = [point for point in points.points if point.role == "compound"]
    effects = dict(zip(map(id, own), _effects(own, plates, points), strict=True))
    groups = _groups(own)
    curves: list[Curve] = []
    for place, ((compound, plate), members) in enumerate(groups.items()):
        if place % _REPORT_EVERY == 0:
            report(place / len(groups), f"Fitting curves: {place:,} of {len(groups):,}")
        members = sorted(members, key=lambda point: point.concentration)
        x = np.log10([point.concentration for point in members])
        y = np.array([effects[id(point)] for point in members])
        used = np.array([not point.excluded for point in members])
        falling = _falling(x, y, used) if percent else np.zeros(len(x), dtype=bool)
        kept, fit = used & ~falling, None
        if _is_enough(x, kept, plateaus):
            levels = {"fixed" if plateaus == "fixed" else "expected": _LEVELS if percent else None}
            fit = fit_curve(x[kept], y[kept], **levels)
        curves.append(_judged(compound, plate, tuple(members), x, y, used, falling, fit, percent=percent))
    report(1.0, "Curves fitted")
    excluded = sum(bool(point.excluded) for point in points.points)
    return Analysis(tuple(curves), tuple(plates.values()), percent, excluded)


def _controls(points: Points) -> dict[str, PlateControls]:
    """Return the controls of each plate; none where the table has none. AssayPilotError where some plates lack them."""
    if points.scale != "raw":
        return {}
    signals: dict[str, dict[str, list[float]]] = {}
    for point in points.points:
        wells = signals.setdefault(point.plate, {"neutral": [], "full": []})
        if point.role != "compound" and not point.excluded:
            wells[point.role].append(point.response)
    if not any(wells["neutral"] or wells["full"] for wells in signals.values()):
        return {}
    found = {}
    for plate, wells in signals.items():
        neutral, full = wells["neutral"], wells["full"]
        if not neutral or not full:
            where = f"plate {plate}" if plate else "the table"
            missing = "without effect" if not neutral else "with the full effect"
            raise AssayPilotError(
                f"{where} has no control {missing}",
                option="--full" if neutral else "--neutral",
                mend="Name the neutral wells and those of full effect, or leave all controls out.",
            )
        middle = float(np.median(neutral)), float(np.median(full))
        if middle[0] == middle[1]:
            raise AssayPilotError(f"the controls of plate {plate or '1'} have the same signal", mend="Check the plate.")
        z_prime = None
        if min(len(neutral), len(full)) > 1:
            spread = float(np.std(neutral, ddof=1) + np.std(full, ddof=1))
            z_prime = 1.0 - 3.0 * spread / abs(float(np.mean(full) - np.mean(neutral)))
        found[plate] = PlateControls(plate, *middle, len(neutral), len(full), z_prime)
    return found


def _effects(own: Sequence[Point], plates: dict[str, PlateControls], points: Points) -> list[float]:
    """Return the response of each point as percent effect, or as read where its scale is unknown."""
    if points.scale == "remaining":
        return [100.0 - point.response for point in own]
    if not plates:
        return [point.response for point in own]
    found = []
    for point in own:
        control = plates[point.plate]
        found.append(100.0 * (point.response - control.neutral) / (control.full - control.neutral))
    return found


def _groups(own: Sequence[Point]) -> dict[tuple[str, str], list[Point]]:
    """Return the points of each curve by compound and plate, in the order of the table."""
    by_plate: dict[tuple[str, str], list[Point]] = {}
    for point in own:
        by_plate.setdefault((point.compound, point.plate), []).append(point)
    sparse = {
        compound for (compound, _), members in by_plate.items() if len({p.concentration for p in members}) < _FEWEST
    }
    groups: dict[tuple[str, str], list[Point]] = {}
    for (compound, plate), members in by_plate.items():
        groups.setdefault((compound, "" if compound in sparse else plate), []).extend(members)
    return groups


def _falling(x: Floats, y: Floats, used: Flags) -> Flags:
    """Return the points above the last concentration of about the largest effect, where they lie clearly below."""
    none = np.zeros(len(x), dtype=bool)
    doses = np.unique(x[used])
    means = np.array([y[used & (x == dose)].mean() for dose in doses])
    if not len(doses) or means.max() - means[-1] < _FALL:
        return none
    peak = doses[means > means.max() - 0.5 * _FALL][-1]
    above, below = used & (x > peak), used & (x <= peak)
    if not _is_enough(x, below, "free"):
        return none
    fit = fit_curve(x[below], y[below], expected=_LEVELS)
    drop = float((fit.at(x[above]) - y[above]).mean())
    noise = math.sqrt(float(((fit.fitted - y[below]) ** 2).sum()) / fit.freedom)
    error = noise * math.sqrt(1.0 / above.sum() + 1.0 / (used & (x == peak)).sum())
    return above if drop > max(_FALL, _SURELY * error) else none


def _is_enough(x: Floats, used: Flags, plateaus: Plateaus) -> bool:
    own = 4 if plateaus == "free" else 2
    return len(set(x[used])) >= _FEWEST and int(used.sum()) > own


def _judged(
    compound: str,
    plate: str,
    points: tuple[Point, ...],
    x: Floats,
    y: Floats,
    used: Flags,
    falling: Flags,
    fit: Fit | None,
    *,
    percent: bool,
) -> Curve:
    """Return the curve with its value, qualifier and flags."""
    outliers, kept = np.zeros(len(x), dtype=bool), used & ~falling
    if fit is None:
        few = ("too few concentrations",)
        return Curve(compound, plate, points, x, y, used, outliers, falling, None, None, math.nan, None, few)
    ends = float(x[kept].min()), float(x[kept].max())
    relation, value = _value(fit, ends, percent=percent)
    if relation == "=":
        # A curve without a turn follows its noise; points away from it are not outliers.
        outliers[kept] = fit.outliers
    flags = [f"{n} outlier" + ("s" if n > 1 else "")] if (n := int(outliers.sum())) else []
    if n := len(set(x[falling])):
        highest = "highest concentration" if n == 1 else f"{n} highest concentrations"
        flags.append(f"falls at the {highest}, left out")
    if relation is None:
        flags.append("response falls where it should rise" if percent else "no clear response")
    elif relation == "=":
        first, last = map(float, fit.at(np.array(ends)))
        room = (1.0 - _REACHED) * abs(fit.end - fit.start)
        flags += ["low-dose plateau not reached"] * (abs(first - fit.start) > room)
        flags += ["high-dose plateau not reached"] * (abs(last - fit.end) > room)
        flags += ["slope at its limit"] * fit.at_limit
        flags += ["wide interval"] * (not fit.high - fit.low < _WIDE)
    se = fit.se if relation == "=" and math.isfinite(fit.se) else None
    if relation == "=" and se is None:
        relation, value = None, math.nan
        flags.append("half-maximal concentration not determined")
    return Curve(compound, plate, points, x, y, used, outliers, falling, fit, relation, value, se, tuple(flags))


def _value(fit: Fit, ends: tuple[float, float], *, percent: bool) -> tuple[Relation | None, float]:
    """Return the relation and log10 of the half-maximal concentration.

    In percent effect a curve that stays below 50 % has its value beyond the highest tested concentration. One that
    stays above has it below the lowest. So has every curve whose inflection lies outside of the range.
    """
    least, most = ends
    low, high = map(float, fit.at(np.array(ends)))
    if percent and max(low, high) < HALF:
        return ">", most
    if percent and min(low, high) > HALF:
        return "<", least
    if percent and fit.end < fit.start:
        return None, math.nan
    if not percent and not _is_clear(fit):
        return None, math.nan
    if fit.log_c50 > most:
        return ">", most
    if fit.log_c50 < least:
        return "<", least
    return "=", fit.log_c50


def _is_clear(fit: Fit) -> bool:
    """Return whether the curve explains significantly more than a constant response (F test, p < 0.01)."""
    from scipy.special import fdtrc

    if fit.r2 >= 1.0:
        return True
    f = (fit.r2 / 3.0) / ((1.0 - fit.r2) / fit.freedom)
    return bool(fdtrc(3.0, float(fit.freedom), f) < 0.01)
