"""Points of dose-response curves, which are no replicates: found in a table, left out of its values, and said."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from . import headers
from .raw import RawTable, columns_named, fold
from .site_columns import numbered_sites
from .values import is_missing, parse_value

_DOSE = re.compile(
    r"(?:log(?:10)? ?)?[(\[]?(?:(?:test(?:ed)?|final|compound|cmpd|drug|inhibitor|agonist|antagonist|ligand|assay|"
    r"nominal|well|sample|treatment) )?(?:conc(?:n|entrations?|s)?|konz(?:entration)?|doses?|dosis|dosage)"
    r"(?: (?:value|tested|used|final))?[)\]]?|"
    r"(?:log(?:10)? ?)?\[(?:m|inhibitor|compound|drug|agonist|antagonist|ligand|i|c)\]"
)
"""What the concentrations at which compounds were tested are called, folded, without their unit."""
_ONLY_DOSE = re.compile(r"(?:@|at)?\s*\d+(?:[.,]\d+)?(?:e-?\d+)?\s*(?:[pnuµμm]?m|[pnuµμm]?mol/l)", re.I)
"""A header that is nothing but a concentration."""
_REACTION = re.compile(
    r"\b(?:yields?|conversion|e ?e|e ?r|d ?r|(?:lc|hplc|uv)? ?area|ausbeute|umsatz|rendement|turnover|impurity)\b"
)
_FEWEST_DOSES = 3
_MEND = (
    "Points of curves are no replicates: fit them first (assaypilot curves), or give one fitted value for each "
    "compound (such as its IC50)"
)


def is_dose(header: str) -> bool:
    """Whether a column is called as the concentrations are at which compounds were tested: Conc (uM), log[Dose]."""
    return any(_DOSE.fullmatch(fold(text)) is not None for text in (header, headers.split_unit(header)[0]))


def doses(columns: Sequence[str]) -> tuple[str, ...]:
    """Return the columns whose headers are nothing but concentrations (10 uM, 3 uM, 1 uM), three and more.

    () without.
    """
    found = tuple(column for column in columns if _ONLY_DOSE.fullmatch(column.strip()) is not None)
    return found if len(found) >= _FEWEST_DOSES else ()


def without_points(raw: RawTable) -> RawTable:
    """Return the table without the responses of compounds that were tested at several concentrations, which is said.

    Each of their rows is a point of a curve: read as values they would be replicates of one quantity. What repeats in
    the rows of a compound, as a fitted IC50 beside its points does, stays in the first of them alone, so that it counts
    once. The same table where no column of concentrations tells rows of one compound apart.
    """
    dose = next((column for column in raw.columns if is_dose(column)), None)
    keys = None if dose is None or any(map(_is_of_reaction, raw.columns)) else _compounds(raw)
    if dose is None or keys is None:
        return raw
    of_what = _names(raw)
    steps = [_number(text, raw.decimal) for text in raw.column(dose)]
    by_compound: dict[tuple[str, ...], list[int]] = {}
    for place, key in enumerate(keys):
        if any(key) and steps[place] is not None:
            by_compound.setdefault((*key, of_what[place]), []).append(place)
    curves = [places for places in by_compound.values() if len({steps[place] for place in places}) > 1]
    if not curves:
        return raw
    # Where some compounds have curves, one that was tested at a single concentration has a point of one, too.
    named = {of_what[places[0]] for places in curves}
    points = [place for place, step in enumerate(steps) if step is not None and of_what[place] in named]
    cells = list(raw.cells)
    varying: list[str] = []
    once: list[str] = []
    for number, column in enumerate(raw.columns):
        if column == dose or not _may_be_values(column, raw.cells[number]):
            continue
        texts, role = _without(raw.cells[number], curves, points, raw.decimal, headers.looks_like_activity(column))
        if role:
            cells[number] = texts
            (varying if role == "varies" else once).append(column)
    if not varying and not once:
        return raw
    most = max(len({steps[place] for place in places}) for places in curves)
    kept = [k for k, column in enumerate(raw.columns) if column not in varying or any(cells[k])]
    said = f"By column {dose} a compound was tested at up to {most} concentrations, one in each row."
    if varying:
        said += f" {_MEND}, or keep the rows of one concentration. Not read as values: {columns_named(varying)}."
    if once:
        said += f" Repeated in the rows of a curve, and counted once: {columns_named(once)}."
    return replace(
        raw,
        columns=tuple(raw.columns[k] for k in kept),
        cells=tuple(cells[k] for k in kept),
        warnings=(*raw.warnings, said),
        points=said if varying else "",
    )


def _compounds(raw: RawTable) -> list[tuple[str, ...]] | None:
    """Return what each row is of, by its id and its substituents; None without either."""
    ids = raw.called(headers.IDS)
    columns = (*(() if ids is None else (ids,)), *numbered_sites(raw, raw.columns))
    return list(zip(*map(raw.column, columns), strict=True)) if columns else None


def _names(raw: RawTable) -> Sequence[str]:
    """Return what each row says was measured; "" where none does."""
    named = raw.called(headers.ENDPOINT_NAME)
    return ("",) * len(raw) if named is None else raw.column(named)


def _is_of_reaction(header: str) -> bool:
    """Whether a column holds what comes of a reaction, for which a concentration is a condition like others."""
    return _REACTION.search(fold(header)) is not None


def points_in_columns(columns: Sequence[str]) -> str:
    """Return what to say of columns that are called after concentrations alone; "" where there are none."""
    found = doses(columns)
    if not found:
        return ""
    return f"Columns {columns_named(found)} are called after concentrations. {_MEND}."


def _may_be_values(column: str, texts: Sequence[str]) -> bool:
    folded = fold(column)
    if folded in headers.IDS or folded in headers.STRUCTURES or headers.SITE.fullmatch(folded) is not None:
        return False
    return headers.role_of(column) is None and not headers.is_property(column) and any(map(str.isdigit, "".join(texts)))


def _number(text: str, decimal: str) -> float | None:
    """Return the number of a cell, whatever unit or sign is with it; None where there is none."""
    try:
        return None if is_missing(text) else parse_value(text, decimal).value
    except ValueError:
        return None


def _without(
    texts: Sequence[str], curves: Sequence[Sequence[int]], points: Sequence[int], decimal: str, potency: bool
) -> tuple[tuple[str, ...], str]:
    """Return the column without its points, and whether it ``varies`` within compounds or is the ``same``.

    "" for neither.
    """
    filled = [text for places in curves for place in places if not is_missing(text := texts[place])]
    if 2 * sum(_number(text, decimal) is not None for text in filled) <= len(filled):
        return tuple(texts), ""
    # An IC50 that differs within a compound is of another curve, and stands in the rows of all its points.
    varies = not potency and any(len({texts[place] for place in places if texts[place]}) > 1 for places in curves)
    found = list(texts)
    for place in points if varies else ():
        found[place] = ""
    for places in () if varies else curves:
        seen: set[str] = set()
        for place in places:
            if texts[place] in seen:
                found[place] = ""
            seen.add(texts[place])
    if found == list(texts):
        return tuple(texts), ""
    return tuple(found), "varies" if varies else "same"
