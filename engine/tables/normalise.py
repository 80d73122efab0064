"""Normal form of a table: indicators of sites, rows of summaries and points of curves are resolved."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace

from ..domain.library import is_hydrogen
from . import headers
from .column_roles import numbered_sites
from .endpoint_kinds import of_reactions
from .raw import HEADERS, PATTERNS, RawTable, columns_named, fold, rows_named
from .sequences import with_positions
from .values import is_missing, parse_value

_ATTACHED = re.compile(r".*\[\*:(?P<number>\d+)\].*")
_MARKED = re.compile(r"(?P<site>[^\s_=:|/]+?)\s*[_=:|/\-\s]\s*(?P<label>\S.*)")
_ONE = frozenset({"1", "1.0", "1,0", "x", "X", "TRUE", "True"})
_NONE = frozenset({"0", "0.0", "0,0", "", "FALSE", "False"})
_FEWEST = 4
"""Columns of marks below which nothing is read as sites."""
_NAMED = 4


def with_sites(raw: RawTable) -> RawTable:
    """Return the table with a column for each site instead of its columns of marks; the same one where there are none.

    A substituent is marked under ``R1_Me``, ``para-Cl`` or ``Cl[*:2]``, at most one of a site in every row. Where none
    is marked and no column is of hydrogen, hydrogen is meant, as in the original form of the model.
    """
    groups: dict[str, dict[str, str]] = {}
    """The columns of marks of each site, with their substituents."""
    for column in raw.columns:
        place = _place_of(column)
        if place is not None and _has_marks(raw.column(column)):
            groups.setdefault(place[0], {})[column] = place[1]
    found = {site: cells for site, of in groups.items() if len(of) > 1 and (cells := _marked(raw, site, of))}
    if len(found) == 1 and headers.SITE.fullmatch(fold(*found)) is None:
        return raw  # R1_Me is a site's by its name; para-Cl only where another place has marks as well
    gone = [column for site in found for column in groups[site]]
    if len(gone) < _FEWEST:
        return raw
    notes = [
        f"Columns {', '.join([*groups[site]][:_NAMED])}{', …' if len(groups[site]) > _NAMED else ''} hold marks of 0 "
        f"and 1: read as the site {site} ({len(groups[site])} substituents)."
        for site in found
    ]
    return replace(raw.without(gone).with_columns(found), warnings=(*raw.warnings, *notes))


def _place_of(column: str) -> tuple[str, str] | None:
    """Return the site and the substituent that a column of marks is called after."""
    attached = _ATTACHED.fullmatch(column)
    if attached is not None:
        return f"R{int(attached['number'])}", column
    match = _MARKED.fullmatch(column.strip())
    return None if match is None else (match["site"], match["label"])


def _has_marks(cells: Sequence[str]) -> bool:
    texts = set(cells[:1])
    if not texts <= _ONE | _NONE:
        return False
    texts = set(cells)
    return texts <= _ONE | _NONE and not texts.isdisjoint(_ONE)


def _marked(raw: RawTable, site: str, labels: Mapping[str, str]) -> list[str]:
    """Return the substituent that each row marks, "" or hydrogen where it marks none.

    Nothing where a row marks two, or the table has a column of the site.
    """
    rows = [
        [label for text, label in zip(row, labels.values(), strict=True) if text in _ONE]
        for row in zip(*map(raw.column, labels), strict=True)
    ]
    if raw.find(site) is not None or any(len(row) > 1 for row in rows):
        return []
    none = "" if any(map(is_hydrogen, labels.values())) else "H"
    return [row[0] if row else none for row in rows]


_CALLED = (*headers.ROLES["replicate"], *HEADERS["level of a row"])
"""Folded names of columns that distinguish single measurements from their summaries."""
_MEANS = frozenset((*headers.MEANS, "median", "mittelwert", "moyenne", "aggregate", "aggregated", "summary"))
_SPREADS = frozenset((*headers.ROLES["sd"], *headers.ROLES["sem"], "cv", "%cv", "cv %", "min", "max", "n", "count"))


def without_summaries(raw: RawTable) -> RawTable:
    """Return the table without spreads, and without means whose single measurements are in other rows.

    A warning names the rows left out; a single mean stays. The same table where no column marks such rows.
    """
    ids = raw.called(headers.IDS)
    if ids is None:
        return raw
    for column in raw.columns:
        if fold(column) not in _CALLED:
            continue
        words = [fold(text) for text in raw.column(column)]
        if not any(word in _MEANS for word in words) or all(word in _MEANS or not word for word in words):
            continue
        names = raw.column(ids)
        single = {name for name, word in zip(names, words, strict=True) if word not in _MEANS | _SPREADS}
        gone = [
            place
            for place, (name, word) in enumerate(zip(names, words, strict=True))
            if word in _SPREADS or (word in _MEANS and name in single)
        ]
        if not gone:
            continue
        rows = rows_named([raw.rows[place] for place in gone]).lower()
        note = f"Left out, as column {column} says {raw.column(column)[gone[0]]} of other rows: {rows}."
        left = frozenset(gone)
        kept = [place for place in range(len(raw)) if place not in left]
        return raw.at(kept, warnings=(*raw.warnings, note))
    return raw


_FEWEST_REPEATED = 3
"""Compounds whose rows repeat a value from which these are copies, in a table without concentrations."""


def without_repeats(raw: RawTable) -> RawTable:
    """Return the table with values once for each compound, where its rows repeat them while others differ.

    A row for each batch, for each replicate of one assay or for each point of a curve repeats what was measured once.
    Repeated is what never stands alone: a fitted IC50 of two curves is in the rows of all points of each.
    """
    keys, of_curves = _compounds(raw), any(map(is_dose, raw.columns))
    if keys is None or raw.called(headers.ENDPOINT_NAME) is not None:
        return raw
    if not of_curves and any(raw.called(headers.ROLES[role]) for role in ("replicate", "well", "date")):
        return raw  # each row is a measurement, and equal ones are equal results
    by_compound: dict[tuple[str, ...], list[int]] = {}
    for place, key in enumerate(keys):
        if any(key):
            by_compound.setdefault(key, []).append(place)
    several = [places for places in by_compound.values() if len(places) > 1]
    fewest = 1 if of_curves else _FEWEST_REPEATED
    cells = dict(zip(raw.columns, raw.cells, strict=True))
    values = [
        column
        for column, texts in cells.items()
        if not is_dose(column)
        and _may_be_values(column, texts)
        and any(_number(text, raw.decimal) is not None for text in texts)
    ]
    same = [column for column in values if sum(_repeats(cells[column], places) for places in several) >= fewest]
    same = [column for column in same if all(_repeats(cells[column], places, at_least=0) for places in several)]
    if not same or len(same) == len(values):
        return raw
    for column in same:
        texts = list(cells[column])
        for places in several:
            first = {texts[place]: place for place in reversed(places)}
            for place in places:
                texts[place] = texts[place] if first[cells[column][place]] == place else ""
        cells[column] = tuple(texts)
    named = [column for column in same if headers.looks_like_activity(column)] or same
    note = f"Repeated in the rows of a compound, and counted once: {columns_named(named)}."
    return replace(raw, cells=tuple(cells.values()), warnings=(*raw.warnings, note))


def _repeats(texts: Sequence[str], places: Sequence[int], at_least: int = 2) -> bool:
    """Whether no text of a compound's rows stands alone among them, and so many rows have one."""
    counts = Counter(texts[place] for place in places if texts[place])
    return counts.total() >= at_least and (min(counts.values(), default=2) > 1 or counts.total() == 1)


_ISOTOPE = re.compile(r"\[(\d+)\*\]")


def with_smiles(raw: RawTable) -> RawTable:
    """Return the table with SMILES in its columns of sites, where these hold drawings; an empty one is hydrogen."""
    sites = [site for site in numbered_sites(raw, raw.columns) if any("M  END" in text for text in raw.column(site))]
    if not sites:
        return raw
    from ..chemistry.structures import read_structures

    found = {}
    for site in sites:
        different = list(dict.fromkeys(raw.column(site)))
        read = [_ISOTOPE.sub(r"[*:\1]", one.smiles) for one in read_structures(different)]
        spelled = {text: (one or "H") if "M  END" in text else text for text, one in zip(different, read, strict=True)}
        found[site] = [spelled[text] for text in raw.column(site)]
    return raw.with_columns(found)


def as_meant(raw: RawTable) -> RawTable:
    """Return the table with its sites in columns, and without rows and cells that are no values of their own.

    A warning says so.
    """
    return without_points(without_repeats(without_summaries(with_positions(with_sites(with_smiles(raw))))))


_DOSE = PATTERNS["concentration tested"]
"""Folded names of columns of tested concentrations, without their unit."""
_ONLY_DOSE = re.compile(r"(?:@|at)?\s*\d+(?:[.,]\d+)?(?:e-?\d+)?\s*(?:[pnuµμm]?m|[pnuµμm]?mol/l)", re.I)
"""A header that is only a concentration."""
_FEWEST_DOSES = 3
_MEND = (
    "Points of curves are no replicates: fit them first (assaypilot curves), or give one fitted value for each "
    "compound (such as its IC50)"
)


def is_dose(header: str) -> bool:
    """Whether a column is called as tested concentrations are: Conc (uM), log[Dose], Assay: Dose."""
    bare = headers.split_unit(header)[0]
    return any(_DOSE.fullmatch(fold(text)) is not None for text in (header, bare, bare.rpartition(": ")[2]))


def doses(columns: Sequence[str]) -> tuple[str, ...]:
    """Return the columns whose headers are only concentrations (10 uM, 3 uM, 1 uM), three and more.

    () without.
    """
    found = tuple(column for column in columns if _ONLY_DOSE.fullmatch(column.strip()) is not None)
    return found if len(found) >= _FEWEST_DOSES else ()


def without_points(raw: RawTable) -> RawTable:
    """Return the table without responses of compounds tested at several concentrations, with a note.

    Each of their rows is a point of a curve: read as values they would be replicates of one quantity.
    The same table where no column of concentrations distinguishes rows of one compound.
    """
    dose = next((column for column in raw.columns if is_dose(column)), None)
    keys = None if dose is None else _compounds(raw)
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
    for number, column in enumerate(raw.columns):
        # An IC50 that differs within a compound belongs to another curve.
        if column == dose or headers.looks_like_activity(column) or not _may_be_values(column, raw.cells[number]):
            continue
        texts = raw.cells[number]
        filled = [text for places in curves for place in places if not is_missing(text := texts[place])]
        if 2 * sum(_number(text, raw.decimal) is not None for text in filled) > len(filled) and any(
            len({texts[place] for place in places if texts[place]}) > 1 for places in curves
        ):
            gone = frozenset(points)
            cells[number] = tuple("" if place in gone else text for place, text in enumerate(texts))
            varying.append(column)
    if not varying:
        return raw
    most = max(len({steps[place] for place in places}) for places in curves)
    kept = [k for k, column in enumerate(raw.columns) if column not in varying or any(cells[k])]
    note = (
        f"By column {dose} a compound was tested at up to {most} concentrations, one in each row. {_MEND}, or keep the "
        f"rows of one concentration. Not read as values: {columns_named(varying)}."
    )
    return replace(
        raw,
        columns=tuple(raw.columns[k] for k in kept),
        cells=tuple(cells[k] for k in kept),
        warnings=(*raw.warnings, note),
        points=note,
    )


def _compounds(raw: RawTable) -> list[tuple[str, ...]] | None:
    """Return the compound of each row, by its id or structure, and its substituents.

    None without any, and in tables of reactions, whose rows are of their conditions, too.
    """
    if of_reactions(raw):
        return None
    ids = raw.called((*headers.IDS, *headers.STRUCTURES))
    columns = (*(() if ids is None else (ids,)), *numbered_sites(raw, raw.columns))
    return list(zip(*map(raw.column, columns), strict=True)) if columns else None


def _names(raw: RawTable) -> Sequence[str]:
    """Return the name of each row's measured quantity; "" where there is none."""
    named = raw.called(headers.ENDPOINT_NAME)
    return ("",) * len(raw) if named is None else raw.column(named)


def points_in_columns(columns: Sequence[str]) -> str:
    """Return the warning about columns named only after concentrations; "" where there are none."""
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
