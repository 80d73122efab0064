"""What rows and columns mean together, once read: indicators of sites, rows of summaries, points of curves."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

from ..domain.labels import is_hydrogen
from . import headers
from .curves import without_points
from .raw import RawTable, fold, rows_named
from .vocabulary import HEADERS

_ATTACHED = re.compile(r".*\[\*:(?P<number>\d+)\].*")
_MARKED = re.compile(r"(?P<site>[^\s_=:|/]+?)\s*[_=:|/\-\s]\s*(?P<label>\S.*)")
_ONE = frozenset({"1", "1.0", "1,0", "x", "X", "TRUE", "True"})
_NONE = frozenset({"0", "0.0", "0,0", "", "FALSE", "False"})
_FEWEST = 4
"""Columns of marks below which nothing is read as sites."""
_NAMED = 4


@dataclass(frozen=True, slots=True)
class _Group:
    """The columns of marks of one site, each with its substituent."""

    site: str
    columns: tuple[str, ...]
    labels: tuple[str, ...]


def with_sites(raw: RawTable) -> RawTable:
    """Return the table with a column for each site in place of its columns of marks; the same one where there are none.

    A substituent is marked under ``R1_Me``, ``para-Cl`` or ``Cl[*:2]``, at most one of a site in every row. Where none
    is marked and no column is of hydrogen, hydrogen is meant, as in the original form of the model.
    """
    groups = _groups(raw)
    if not groups:
        return raw
    gone = {column: group for group in groups for column in group.columns}
    columns: list[str] = []
    cells: list[tuple[str, ...]] = []
    for column in raw.columns:
        group = gone.get(column)
        if group is None:
            columns.append(column)
            cells.append(raw.column(column))
        elif group.site not in columns:
            columns.append(group.site)
            cells.append(_marked(raw, group))
    said = [
        f"Columns {', '.join(group.columns[:_NAMED])}{', …' if len(group.columns) > _NAMED else ''} hold marks of 0 "
        f"and 1: read as the site {group.site} ({len(group.columns)} substituents)."
        for group in groups
    ]
    return replace(raw, columns=tuple(columns), cells=tuple(cells), warnings=(*raw.warnings, *said))


def _groups(raw: RawTable) -> list[_Group]:
    """Return the sites whose substituents have columns of marks, when all of the table's marks are such."""
    named: dict[str, list[tuple[str, str]]] = {}
    for column in raw.columns:
        place = _place_of(column)
        if place is not None and _holds_marks(raw.column(column)):
            named.setdefault(place[0], []).append((column, place[1]))
    groups = [
        _Group(site, tuple(column for column, _ in found), tuple(label for _, label in found))
        for site, found in named.items()
        if len(found) > 1
    ]
    groups = [group for group in groups if raw.find(group.site) is None and _one_each(raw, group)]
    known = [group for group in groups if headers.SITE.fullmatch(fold(group.site)) is not None]
    # R1_Me is a site's by its name; para-Cl only where another place has marks as well.
    chosen = groups if len(groups) > 1 else known
    return chosen if sum(len(group.columns) for group in chosen) >= _FEWEST else []


def _place_of(column: str) -> tuple[str, str] | None:
    """Return the site and the substituent that a column of marks is called after."""
    attached = _ATTACHED.fullmatch(column)
    if attached is not None:
        return f"R{int(attached['number'])}", column
    match = _MARKED.fullmatch(column.strip())
    return None if match is None else (match["site"], match["label"])


def _holds_marks(cells: Sequence[str]) -> bool:
    texts = set(cells[:1])
    if not texts <= _ONE | _NONE:
        return False
    texts = set(cells)
    return texts <= _ONE | _NONE and not texts.isdisjoint(_ONE)


def _one_each(raw: RawTable, group: _Group) -> bool:
    """Whether no row marks two substituents of a site."""
    marks = ([text in _ONE for text in raw.column(column)] for column in group.columns)
    return all(sum(row) <= 1 for row in zip(*marks, strict=True))


def _marked(raw: RawTable, group: _Group) -> tuple[str, ...]:
    """Return the substituent that each row marks; "" or hydrogen where it marks none."""
    none = "" if any(map(is_hydrogen, group.labels)) else "H"
    found = [none] * len(raw)
    for column, label in zip(group.columns, group.labels, strict=True):
        for place, text in enumerate(raw.column(column)):
            if text in _ONE:
                found[place] = label
    return tuple(found)


_CALLED = (*headers.ROLES["replicate"], *HEADERS["level of a row"])
"""What columns are called that tell single measurements from what is made of them, folded."""
_MEANS = frozenset((*headers.MEANS, "median", "mittelwert", "moyenne", "aggregate", "aggregated", "summary"))
_SPREADS = frozenset((*headers.ROLES["sd"], *headers.ROLES["sem"], "cv", "%cv", "cv %", "min", "max", "n", "count"))


def without_summaries(raw: RawTable) -> RawTable:
    """Return table without rows of means whose single measurements stand in other rows of the compound, and of spreads.

    What is left out is said; a mean that stands alone stays. The same table where no column tells such rows.
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
        many = len(gone) > 1
        said = (
            f"{rows_named([raw.rows[place] for place in gone])} {'sum' if many else 'sums'} up other rows by column "
            f"{column} ({raw.column(column)[gone[0]]}) and {'were' if many else 'was'} left out."
        )
        left = frozenset(gone)
        kept = [place for place in range(len(raw)) if place not in left]
        return replace(
            raw,
            cells=tuple(tuple(cells[place] for place in kept) for cells in raw.cells),
            rows=tuple(raw.rows[place] for place in kept),
            warnings=(*raw.warnings, said),
        )
    return raw


def as_meant(raw: RawTable) -> RawTable:
    """Return the table with its sites in columns, and without rows and cells that are no values of their own.

    Said in it.
    """
    return without_points(without_summaries(with_sites(raw)))
