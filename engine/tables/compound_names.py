"""Which compound of a campaign a lab means by the name it writes, or by the row and column of a grid of sites."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Hashable, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TypeVar

from ..domain.controls import Control, find_control
from ..domain.labels import is_hydrogen
from ..domain.library import Library, Site
from . import headers
from .raw import RawTable, fold
from .values import is_missing

_WHOLE = re.compile(r"0*(\d{1,18})(?:[.,]0+)?")
"""A whole number as an id."""
_PARTS = re.compile(r"[^\W\d_]+|\d+|[^\w\s.\-/]")
_BATCH = re.compile(r"(?P<name>.*?[^\s_\-./:#])[\s_\-./:#]+(?:batch|lot|b|l)?[\s_\-.#]*(?P<batch>\d{1,4})", re.I)
_LONG_NUMBER = 4
"""Digits from which a number is that of a register, not of an example."""
MOST_LOOKED_AT = 2_000_000
"""Compounds of a library beyond which none is looked for by anything but its id."""
Key = TypeVar("Key", bound=Hashable)


@dataclass(frozen=True, slots=True)
class Known:
    """Who a name is of: a compound of the library or a control."""

    compound: int | None = None
    control: int | None = None
    batch: str = ""
    """What stands behind the compound's id as its batch."""
    otherwise: bool = False
    """Whether the id is written in another way than in the campaign."""


class CompoundNames:
    """The compounds and controls of a campaign by their names, as labs write these.

    A name is an id or another id of a compound, a whole number (``1001.0`` for 1001, 7 for 007), the name of a
    control, or, where only one compound can be meant, an id in other marks (``AP_12`` and ``AP 0012`` for AP-0012) or
    with the number of a batch behind it (``AP-0012-03``). Ids that end so themselves are never taken apart.
    """

    def __init__(self, library: Library, controls: Sequence[Control] = ()) -> None:
        self.library = library
        self.controls = controls

    def find(self, text: str) -> Known | None:
        """Who is meant; None when nobody is, or it could be several."""
        compound = self.library.find(text)
        if compound is None and (number := _WHOLE.fullmatch(text.strip())) is not None:
            compound = self._by_number.get(int(number[1]))
        if compound is not None:
            return Known(compound)
        control = find_control(self.controls, text)
        if control is not None:
            return Known(control=control)
        compound = self._loosely(text)
        if compound is not None:
            return Known(compound, otherwise=True)
        return self._of_batch(text)

    def _loosely(self, text: str) -> int | None:
        parts = _parts(text)
        return self._by_parts.get(parts) if any(part.isalpha() for part in parts) else None

    def _of_batch(self, text: str) -> Known | None:
        match = _BATCH.fullmatch(text.strip())
        if match is None or self._ends_in_numbers or _is_short_number(match["name"], text):
            return None
        compound = self.library.find(match["name"])
        if compound is None:
            compound = self._loosely(match["name"])
        return None if compound is None else Known(compound, batch=match["batch"])

    @cached_property
    def _by_number(self) -> dict[int, int]:
        """Compounds whose ids are whole numbers, by these: spreadsheets drop leading zeros, other programs add ``.0``.

        Ids that are the same number (7 and 007) are left out, as it could be either.
        """
        numbers = ((int(name), place) for place, name in enumerate(self._ids) if name.isascii() and name.isdigit())
        return _only_ones(numbers)

    @cached_property
    def _by_parts(self) -> dict[tuple[str, ...], int]:
        """Compounds by the letters and numbers of their ids, where no two are alike."""
        return _only_ones((_parts(name), place) for place, name in enumerate(self._ids))

    @cached_property
    def _ends_in_numbers(self) -> bool:
        """Whether what looks like a batch is part of the campaign's ids: AP-1 and AP-1-2 are two compounds there."""
        return any(
            match is not None and self.library.find(match["name"]) is not None
            for match in map(_BATCH.fullmatch, self._ids)
        )

    @property
    def _ids(self) -> Sequence[str]:
        return self.library.ids if len(self.library) <= MOST_LOOKED_AT else ()


def _is_short_number(name: str, text: str) -> bool:
    """Whether 12-1 and 1001.5 are more likely numbers of their own than batches of 12 and of 1001."""
    return name.isdigit() and (len(name) < _LONG_NUMBER or text.strip()[len(name)] == ".")


def _parts(text: str) -> tuple[str, ...]:
    """Return the letters and numbers of an id, without what stands between them and without leading zeros."""
    return tuple(part.lstrip("0") or "0" if part.isdigit() else part for part in _PARTS.findall(text.casefold()))


def _only_ones(pairs: Iterable[tuple[Key, int]]) -> dict[Key, int]:
    """Return the places by keys that occur once."""
    found = list(pairs)
    times = Counter(key for key, _ in found)
    return {key: place for key, place in found if times[key] == 1}


def other_substituents(
    raw: RawTable, library: Library, of_row: Sequence[int | None], used: Collection[str | None]
) -> list[tuple[int, str, str, str]]:
    """Return the rows whose cells name other substituents than their compound has.

    Place in the table, site, there, here.

    ``of_row``: the compound of each row; columns that are ``used`` for something else are not looked at. A text that
    is no substituent of the site here may be one under another name, and counts only where most of them are none.
    """
    found = []
    for k, site in enumerate(library.sites):
        column = raw.find(site.name)
        if column is None or column in used:
            continue
        known = codes_of(site.substituents)
        cells = [
            (place, text, int(library.codes[compound, k]))
            for place, (text, compound) in enumerate(zip(raw.column(column), of_row, strict=True))
            if compound is not None and not is_missing(text) and "*" not in text
        ]
        cells = [cell for cell in cells if "*" not in site.substituents[cell[2]]]
        unknown = [text for _, text, _ in cells if label_of(text) not in known]
        if unknown and all(map(_is_number, unknown)):
            continue  # replicates are called R1 and R2, too
        strange = 2 * len(unknown) > len(cells)
        found += [
            (place, site.name, text, site.substituents[code])
            for place, text, code in cells
            if known.get(label_of(text), -1 if strange else code) != code
        ]
    return found


def codes_of(substituents: Sequence[str]) -> dict[str, int]:
    """Return the place of each substituent of a site by its text for comparison."""
    return {label_of(label): code for code, label in enumerate(substituents)}


def label_of(text: str) -> str:
    """Return a substituent or the step of a condition for comparison: 0.10 is 0.1, and [H] is H."""
    if is_hydrogen(text):
        return "h"
    return f"{float(text.replace(',', '.')):g}" if _is_number(text) else text.strip()


def _is_number(text: str) -> bool:
    try:
        float(text.replace(",", "."))
    except ValueError:
        return False
    return True


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
