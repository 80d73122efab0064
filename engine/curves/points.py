"""The points of dose-response curves in a table: a list, columns of concentrations or compounds, plates with a map."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from ..domain.endpoint import CONCENTRATIONS, normalise_unit
from ..errors import AssayPilotError
from ..tables import headers
from ..tables.normalise import doses, is_dose
from ..tables.raw import CELLS, HEADERS, PATTERNS, RawTable, columns_named, fold
from ..tables.values import is_missing, parse_number, parse_value, quoted

Role = Literal["compound", "neutral", "full"]
Scale = Literal["raw", "effect", "remaining"]
"""Scale of responses: a signal, percent of the full effect, or percent of the neutral signal remaining."""

NEUTRAL, FULL = CELLS["neutral"], CELLS["full"]
_COMPOUND = ("", "compound", "sample", "test", "unknown", "cpd", "x", "no", "false")
_OTHER = ("max", "min", "high", "low", "control", "reference", "standard", "empty")
"""Names of wells that are not compounds of the series; the user must state their effect."""
_CONTROL = HEADERS["control of a well"]
_RESPONSE = PATTERNS["response of a curve"]
_EFFECT = PATTERNS["effect in per cent"]
_REMAINING = PATTERNS["remaining in per cent"]
_UNITS = ("unit", "units", "conc unit", "conc units", "concentration unit", "concentration units", "dose unit")
_EXCLUDED = ("excluded", "exclude", "exclusion", "knocked out", "knockout", "masked")
_KEPT = ("", "no", "n", "false", "0", "-", "ok", "included", "kept")
_MEND = "Points of curves need a compound, a concentration and a response."


@dataclass(frozen=True, slots=True)
class Columns:
    """The user's settings for the columns, where the table has none."""

    response: str | None = None
    unit: str | None = None
    """Of concentrations without one."""
    neutral: tuple[str, ...] = ()
    """Names of the controls without effect."""
    full: tuple[str, ...] = ()
    """Names of the controls with the full effect."""
    scale: Scale | None = None


@dataclass(frozen=True, slots=True)
class Point:
    """One reading."""

    compound: str
    """The compound's id, or the control's name."""
    role: Role
    concentration: float
    """mol/L; 0 for a control."""
    response: float
    """As it was read."""
    plate: str = ""
    well: str = ""
    replicate: str = ""
    excluded: str = ""
    """Why it is not used; empty where it is."""
    row: int = 0


@dataclass(frozen=True, slots=True)
class Points:
    """All readings of a table."""

    points: tuple[Point, ...]
    scale: Scale
    rejected: tuple[tuple[int, str], ...] = ()
    """Row and reason of what cannot be used."""
    warnings: tuple[str, ...] = ()
    unit: str = "µM"
    """Of the concentrations as the table has them."""
    response: str = "Response"
    """The table's name for its responses."""


def read_points(raw: RawTable, columns: Columns = Columns()) -> Points:
    """Return the points of curves in a table.

    A list has a row for each reading with compound, concentration and response. Several columns called after
    concentrations hold one reading each; where nothing names compounds, every column besides the concentrations is one.
    AssayPilotError when one of the three is missing.
    """
    raw, named = _long(raw)
    ids = raw.called(headers.IDS)
    dose = named or next((column for column in raw.columns if is_dose(column)), None)
    if ids is None or dose is None:
        missing = "of compound ids" if ids is None else "of concentrations"
        raise AssayPilotError(
            f"there is no column {missing}; the columns are {columns_named(raw.columns)}",
            file=raw.file,
            mend=f"{_MEND} Call the column {'ID' if ids is None else 'Concentration (uM)'}"
            + ("" if ids is None else ", or give a plate map")
            + ".",
        )
    control = _control_column(raw, columns)
    response = _response_column(raw, columns, {ids, dose, control})
    unit, log = _unit(raw, dose, columns.unit)
    unit_column = raw.called(_UNITS)
    scale = columns.scale or _scale_of(response)
    texts = {
        role: raw.column(found) if found else ("",) * len(raw)
        for role, found in (
            *((role, raw.called(headers.ROLES[role])) for role in ("plate", "well", "replicate")),
            ("excluded", raw.called(_EXCLUDED)),
            ("unit", unit_column),
            ("control", control),
        )
    }
    points: list[Point] = []
    rejected: list[tuple[int, str]] = []
    unknown: dict[str, None] = {}
    for place, row in enumerate(raw.rows):
        name, dosed, read = (raw.column(column)[place].strip() for column in (ids, dose, response))
        if is_missing(read):
            continue
        role = _role(texts["control"][place], name, columns)
        if role is None and not is_missing(dosed):
            role = "compound"  # a reference or standard with a curve of its own
        if role is None:
            unknown[texts["control"][place].strip()] = None
            continue
        starred = read.endswith("*")  # as Prism marks what is excluded
        try:
            value = parse_number(read.removesuffix("*").removesuffix("%"), raw.decimal)
            amount = 0.0
            if role == "compound":
                if is_missing(name):
                    raise ValueError("the id is missing")
                amount = _amount(dosed, texts["unit"][place] or unit, raw.decimal, log=log)
        except ValueError as error:
            rejected.append((row, str(error)))
            continue
        if role == "compound" and amount == 0.0:
            role = "neutral"  # a titration that begins with no compound at all
        excluded = texts["excluded"][place].strip() or ("excluded in the table" if starred else "")
        points.append(
            Point(
                compound=name or texts["control"][place].strip(),
                role=role,
                concentration=amount,
                response=value,
                plate=texts["plate"][place],
                well=texts["well"][place],
                replicate=texts["replicate"][place],
                excluded="" if excluded.casefold() in _KEPT else excluded,
                row=row,
            )
        )
    warnings = list(raw.warnings)
    if unknown:
        warnings.append(f"Wells called {', '.join(unknown)} are left out: name them as neutral or of full effect.")
    if not any(point.role == "compound" for point in points):
        why = f"row {rejected[0][0]}: {rejected[0][1]}" if rejected else "no row has all three"
        raise AssayPilotError(f"no point of a curve can be read ({why})", file=raw.file, mend=_MEND)
    shown = unit if unit in CONCENTRATIONS else next((normalise_unit(u) for u in texts["unit"] if u), "µM")
    shown = shown if shown in CONCENTRATIONS else "µM"
    return Points(tuple(points), scale, tuple(rejected), tuple(warnings), shown, response)


def with_map(raw: RawTable, plate_map: RawTable) -> RawTable:
    """Return readings by well, each with its compound, control and concentration from a plate map.

    Wells that the map does not name are left out.
    AssayPilotError when one of the tables has no wells, or plates cannot be matched.
    """
    where = {}
    for table in (raw, plate_map):
        well = table.called(headers.ROLES["well"])
        if well is None:
            raise AssayPilotError(
                f"there is no column of wells; the columns are {columns_named(table.columns)}",
                file=table.file,
                mend="A plate map and its readings name their wells (A1 to H12) in a column Well.",
            )
        plate = table.called(headers.ROLES["plate"])
        plates = table.column(plate) if plate is not None else ("",) * len(table)
        where[id(table)] = [(name.strip(), _well(text)) for name, text in zip(plates, table.column(well), strict=True)]
    names = [list(dict.fromkeys(plate for plate, _ in where[id(table)])) for table in (raw, plate_map)]
    # A single map applies to every plate if it names no plate, or the readings name only one.
    one_plate = len(names[1]) == 1 and (not names[1][0] or len(names[0]) == 1)
    found = {("" if one_plate else plate, well): place for place, (plate, well) in enumerate(where[id(plate_map)])}
    pairs = []
    for place, (plate, well) in enumerate(where[id(raw)]):
        other = found.get(("" if one_plate else plate, well))
        if other is not None:
            pairs.append((place, other))
    if not pairs:
        raise AssayPilotError(
            f"no well of the readings (plates {columns_named(names[0])}) is in the map ({columns_named(names[1])})",
            file=plate_map.file,
            mend="Name the plates alike in both files.",
        )
    own = {fold(column) for column in raw.columns}
    added = {
        column: [texts[other] for _, other in pairs]
        for column, texts in zip(plate_map.columns, plate_map.cells, strict=True)
        if fold(column) not in own
    }
    warnings = (*raw.warnings, *plate_map.warnings)
    if (left := len(raw) - len(pairs)) > 0:
        warnings = (*warnings, f"{left:,} wells that the map does not name are left out.")
    return raw.at([place for place, _ in pairs], warnings=warnings).with_columns(added)


def _well(text: str) -> str:
    match = re.fullmatch(r"\s*([A-Za-z]{1,2})[ _-]?0*(\d{1,2})\s*", text)
    return f"{match[1].upper()}{match[2]}" if match else text.strip()


def _long(raw: RawTable) -> tuple[RawTable, str | None]:
    """Return the table with one reading in each row, and its column of concentrations where it was made."""
    across = doses(raw.columns)
    if across and raw.called(headers.IDS) is not None:
        return _melted(raw, across, "Concentration", "Response"), "Concentration"
    dose = next((column for column in raw.columns if is_dose(column)), None)
    if dose is not None and raw.called(headers.IDS) is None and raw.columns[0] == dose:
        # As Prism has it: concentrations in the first column, a column for each compound or each of its replicates.
        others = [c for c in raw.columns[1:] if headers.role_of(c) is None and fold(c) not in _EXCLUDED]
        if not others:
            return raw, None
        bare = {column: re.sub(r"(?: \(\d+\)|_Y?\d+|:Y\d+)$", "", column) for column in others}
        return _melted(raw, others, "ID", "Response", bare), dose
    return raw, None


def _melted(
    raw: RawTable, across: Sequence[str], called: str, value: str, names: dict[str, str] | None = None
) -> RawTable:
    """Return the table with the columns ``across`` under each other: their headers in one column, values in another."""
    places = [(place, column) for place in range(len(raw)) for column in across]
    header = [(names or {}).get(column, column).lstrip("@ ") for _, column in places]
    read = [raw.column(column)[place] for place, column in places]
    return raw.without(across).at([place for place, _ in places]).with_columns({called: header, value: read})


def _control_column(raw: RawTable, columns: Columns) -> str | None:
    """Return the column that marks the wells of controls."""
    known = {*NEUTRAL, *FULL, *_OTHER, *map(fold, (*columns.neutral, *columns.full))}
    candidates = [column for name in _CONTROL for column in raw.columns if fold(column) == name]
    return next((c for c in candidates if any(fold(text) in known for text in raw.column(c))), None)


def _response_column(raw: RawTable, columns: Columns, taken: set[str | None]) -> str:
    """Return the column of responses: the named one, else the only one with such a header or with numbers."""
    if columns.response is not None:
        found = raw.find(columns.response)
        if found is None:
            raise AssayPilotError(
                f"there is no column {columns.response!r}; the columns are {columns_named(raw.columns)}",
                file=raw.file,
                option="--response",
            )
        return found
    free = [c for c in raw.columns if c not in taken and not is_dose(c) and fold(c) not in (*_UNITS, *_EXCLUDED)]
    called = [c for c in free if _RESPONSE.fullmatch(fold(headers.split_unit(c)[0])) or _RESPONSE.fullmatch(fold(c))]
    numbers = [c for c in free if headers.role_of(c) is None and _is_numeric(raw, c)]
    for candidates in (called, numbers):
        if len(candidates) == 1:
            return candidates[0]
    what = "several columns may be the response" if len(called or numbers) > 1 else "there is no column of responses"
    named = columns_named(called or numbers or raw.columns)
    raise AssayPilotError(f"{what}: {named}", file=raw.file, mend="Name the column of responses.")


def _is_numeric(raw: RawTable, column: str) -> bool:
    filled = [text for text in raw.column(column) if not is_missing(text)]
    try:
        for text in filled:
            parse_number(text.removesuffix("%"), raw.decimal)
    except ValueError:
        return False
    return bool(filled)


def _unit(raw: RawTable, dose: str, stated: str | None) -> tuple[str, bool]:
    """Return the default unit of concentrations, "" where each row needs its own, and whether they are logs."""
    unit = headers.split_unit(dose)[1] or (re.findall(r"\b([pnuµμm]?M)\b", dose) or [""])[0]
    log = fold(dose).startswith("log")
    if stated is not None:
        unit = unit or stated
    unit = normalise_unit(unit) if unit else "M" if log else ""
    if unit and unit not in CONCENTRATIONS:
        raise AssayPilotError(
            f"{unit} is no unit of concentrations", file=raw.file, column=dose, mend="Use M, mM, uM, nM or pM."
        )
    return unit, log


def _amount(text: str, unit: str, decimal: str, *, log: bool) -> float:
    """Return a concentration in mol/L; ValueError gives the reason there is none."""
    if is_missing(text):
        raise ValueError("the concentration is missing")
    found = parse_value(text, decimal)
    own = normalise_unit(found.unit or unit)
    if found.relation != "=":
        raise ValueError(f"{quoted(text)} is no concentration")
    if own not in CONCENTRATIONS:
        raise ValueError(
            f"the unit {quoted(own)} is no concentration" if own else "the concentration has no unit; give one"
        )
    value = 10.0**found.value if log else found.value
    if not 0.0 <= value * CONCENTRATIONS[own] < 100.0:
        raise ValueError(f"{quoted(text)} is no concentration")
    return value * CONCENTRATIONS[own]


def _scale_of(column: str) -> Scale:
    names = [fold(column), fold(headers.split_unit(column)[0])]
    percent = "%" in column or "percent" in names[0]
    if any(_REMAINING.fullmatch(name) for name in names) and percent:
        return "remaining"
    return "effect" if percent and any(_EFFECT.fullmatch(name) for name in names) else "raw"


def _role(control: str, name: str, columns: Columns) -> Role | None:
    """Return the role of a well; None for a control whose effect is not known."""
    neutral, full = ({*known, *map(fold, given)} for known, given in ((NEUTRAL, columns.neutral), (FULL, columns.full)))
    for text in (fold(control), fold(name)):
        if text in neutral and text:
            return "neutral"
        if text in full and text:
            return "full"
    return "compound" if fold(control) in _COMPOUND or fold(control) == fold(name) else None
