"""Results without ids, whose columns of substituents or conditions say which compound each row is."""

from __future__ import annotations

from dataclasses import dataclass

from ..domain.library import Library, Site
from . import headers
from .compound_names import MOST_LOOKED_AT, codes_of, label_of
from .raw import RawTable, fold
from .values import is_missing

__all__ = ["BySites", "named_by_sites"]


@dataclass(frozen=True, slots=True)
class BySites:
    """The compounds of a table's rows."""

    ids: tuple[str, ...]
    """The id of each row; "" where no compound of the library is so."""
    said: str
    """Which columns were taken for sites by what stands in them; "" where all are called as their sites are."""


def named_by_sites(raw: RawTable, library: Library) -> BySites | None:
    """Return the id of each row by the substituents in its columns of sites.

    A column under another name counts for a site when all its texts are substituents of it, and neither another column
    nor another site can be meant. None when the table lacks a site, or hardly a row is a compound of the library.
    """
    if len(library) > MOST_LOOKED_AT or not library.sites:
        return None
    columns = [_called(raw, site) for site in library.sites]
    renamed = _by_contents(raw, library, columns)
    if renamed is None:
        return None
    found = [renamed[place] if column is None else column for place, column in enumerate(columns)]
    codes = [codes_of(site.substituents) for site in library.sites]
    places: dict[tuple[int, ...], int] = {}
    for place, own in enumerate(library.codes.tolist()):
        places.setdefault(tuple(own), place)
    ids = []
    for row in zip(*map(raw.column, found), strict=True):
        at = places.get(tuple(of.get(label_of(text), -1) for of, text in zip(codes, row, strict=True)))
        ids.append("" if at is None else library.ids[at])
    if 2 * sum(map(bool, ids)) <= len(ids):
        return None
    pairs = [f"{column} for {library.sites[place].name}" for place, column in renamed.items()]
    said = f"By what stands in them columns were taken for sites: {', '.join(pairs)}. Is that right?" if pairs else ""
    return BySites(tuple(ids), said)


def _called(raw: RawTable, site: Site) -> str | None:
    """Return the column that is called as a site is, R-group 1 for R1; None where none is, or several could be."""
    column = raw.find(site.name)
    if column is not None:
        return column
    own = headers.SITE.fullmatch(fold(site.name))
    if own is None:
        return None
    matches = ((column, headers.SITE.fullmatch(fold(column))) for column in raw.columns)
    near = [
        column for column, match in matches if match and match.group("number", "more") == own.group("number", "more")
    ]
    return near[0] if len(near) == 1 else None


def _by_contents(raw: RawTable, library: Library, columns: list[str | None]) -> dict[int, str] | None:
    """Return the columns, by the place of their site, of sites that no column is called after.

    None where one has none.
    """
    open_sites = [place for place, column in enumerate(columns) if column is None]
    free = [column for column in raw.columns if column not in columns]
    free = [c for c in free if headers.role_of(c) is None and not headers.looks_like_activity(c)]
    candidates = {place: [c for c in free if _all_known(raw, c, library.sites[place])] for place in open_sites}
    found: dict[int, str] = {}
    while len(found) < len(open_sites):
        sure = [(place, own[0]) for place, own in candidates.items() if place not in found and len(own) == 1]
        if not sure:
            return None
        place, column = sure[0]
        found[place] = column
        candidates = {
            other: own if other in found else [c for c in own if c != column] for other, own in candidates.items()
        }
        candidates[place] = [column]
    return found


def _all_known(raw: RawTable, column: str, site: Site) -> bool:
    texts = {text for text in raw.column(column) if not is_missing(text)}
    return bool(texts) and all(label_of(text) in codes_of(site.substituents) for text in texts)
