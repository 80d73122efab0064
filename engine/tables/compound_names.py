"""The compounds that a lab means: by their names, the substituents of a row, or the well of a plate."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TypeVar

from ..domain.controls import Control, find_control
from ..domain.endpoint import Endpoint
from ..domain.library import Library, Site, is_hydrogen
from ..domain.plates import Format, Layout, Placed, Plate, Well, read_well
from ..errors import AssayPilotError
from ..text import in_letters, listed
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
    """The owner of a name: a compound of the library or a control."""

    compound: int | None = None
    control: int | None = None
    batch: str = ""
    """The batch after the compound's id."""
    otherwise: bool = False
    """Whether the id is written in another way than in the campaign."""


class CompoundNames:
    """The compounds and controls of a campaign by their names, as labs write these.

    A name is an id or another id of a compound, a whole number (``1001.0`` for 1001, 7 for 007) or the name of a
    control. Where it is unambiguous, it may be an id with other marks (``AP_12`` and ``AP 0012`` for AP-0012) or
    followed by the number of a batch (``AP-0012-03``). Ids that end so themselves are never split.
    """

    def __init__(self, library: Library, controls: Sequence[Control] = ()) -> None:
        self.library = library
        self.controls = controls

    def find(self, text: str) -> Known | None:
        """Return the compound or control that is meant; None without one, or with several."""
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
        """Compounds by ids that are whole numbers: spreadsheets drop leading zeros, other programs add ``.0``.

        Ids that are the same number (7 and 007) are left out, as it could be either.
        """
        numbers = ((int(name), place) for place, name in enumerate(self._ids) if name.isascii() and name.isdigit())
        return _only_ones(numbers)

    @cached_property
    def _by_parts(self) -> dict[tuple[str, ...], int]:
        """Compounds by the letters and numbers of their ids, where these are unique."""
        return _only_ones((_parts(name), place) for place, name in enumerate(self._ids))

    @cached_property
    def _ends_in_numbers(self) -> bool:
        """Whether apparent batch numbers are part of the campaign's ids: AP-1 and AP-1-2 are two compounds there."""
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
    """Return the letters and numbers of an id, without separators and leading zeros."""
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

    ``of_row``: the compound of each row; columns that are ``used`` for something else are not looked at. A text that is
    no substituent of the site may be one under another name. It counts only where most of them are none.
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
        unknown = [text for _, text, _ in cells if code_of(known, text) < 0]
        if unknown and all(map(_is_number, unknown)):
            continue  # replicates are called R1 and R2, too
        strange = 2 * len(unknown) > len(cells)
        found += [
            (place, site.name, text, site.substituents[code])
            for place, text, code in cells
            if code_of(known, text, -1 if strange else code) != code
        ]
    return found


def codes_of(substituents: Sequence[str]) -> dict[str, int]:
    """Return the place of each substituent of a site by its text, and by its text for comparison (see ``code_of``)."""
    folded: dict[str, int] = {}
    for code, label in enumerate(substituents):
        folded.setdefault(label_of(label), code)
    return folded | {label.strip(): code for code, label in enumerate(substituents)}


def code_of(codes: Mapping[str, int], text: str, otherwise: int = -1) -> int:
    """Return the place of the substituent of a cell: as it is written, else as a number; a site may have 01 and 1."""
    return codes.get(text.strip(), codes.get(label_of(text), otherwise))


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


def named_by_sites(raw: RawTable, library: Library) -> tuple[str, ...] | None:
    """Return the id of each row by the substituents in its columns of sites, "" where no compound is so.

    None when the table lacks a site, or hardly a row is a compound of the library.
    """
    columns = [column for site in library.sites if (column := _called(raw, site)) is not None]
    if len(library) > MOST_LOOKED_AT or not columns or len(columns) < len(library.sites):
        return None
    codes = [codes_of(site.substituents) for site in library.sites]
    places: dict[tuple[int, ...], int] = {}
    for place, own in enumerate(library.codes.tolist()):
        places.setdefault(tuple(own), place)
    ids = []
    for row in zip(*map(raw.column, columns), strict=True):
        at = places.get(tuple(code_of(of, text) for of, text in zip(codes, row, strict=True)))
        ids.append("" if at is None else library.ids[at])
    return tuple(ids) if 2 * sum(map(bool, ids)) > len(ids) else None


def _called(raw: RawTable, site: Site) -> str | None:
    """Return the column named after a site, R-group 1 for R1; None without one, or with several."""
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


_NAMED = 5
_ROWS = ("row", "plate row", "well row")
_COLUMNS = ("col", "column", "plate column", "plate col", "well column", "well col")


def with_compounds(
    raw: RawTable,
    library: Library,
    endpoints: Sequence[Endpoint],
    controls: Sequence[Control],
    layouts: Sequence[Layout],
) -> RawTable | None:
    """Return the table with the contents of its wells: columns ID, Round, Replicate, Endpoint and the plate's own name.

    Wells of controls that the campaign does not know, and empty wells, are left out, with a note.
    None where it has no column of wells, or no round was laid out on plates. ``layouts`` in the order of their rounds,
    the open one last. AssayPilotError when it is not clear which plate is meant, or measurements take several wells.
    """
    wells = _well_texts(raw) if layouts else None
    if wells is None:
        return None
    plate_column = raw.called(headers.ROLES["plate"])
    blank = ("",) * len(raw)
    named = blank if plate_column is None else raw.column(plate_column)
    warnings: list[str] = []
    plates = _plates(raw, tuple(dict.fromkeys(named)), layouts, warnings)
    kept: list[int] = []
    found_wells: list[tuple[str, str, str, str, str]] = []
    empty: dict[str, None] = {}
    others: dict[str, None] = {}
    for place, (text, name) in enumerate(zip(wells, named, strict=True)):
        layout, plate, contents = plates[name]
        well = _well(text, layout.use.format)
        found = None if well is None else contents.get(well)
        control = None if well is None else layout.use.control_wells().get(well)
        if found is not None:
            of = [endpoints[k].name for k in found.endpoints]
            kept.append(place)
            found_wells.append(
                (
                    library.ids[found.compound],
                    str(layout.round),
                    str(found.replicate),
                    of[0] if len(of) == 1 else "",
                    plate.name,
                )
            )
        elif control is not None and find_control(controls, control) is not None:
            kept.append(place)
            of = [endpoints[k].name for k in plate.endpoints]
            found_wells.append((control, str(layout.round), "", of[0] if len(of) == 1 else "", plate.name))
        elif control is not None:
            others[control] = None
        else:
            empty[text.strip()] = None
    if others:
        warnings.append(f"Wells of controls were left out: {', '.join(others)}.")
    if empty:
        warnings.append(f"Wells where nothing stands were left out: {listed(empty, _NAMED)}.")
    ids, rounds, replicates, of_each, places = zip(*found_wells, strict=True) if found_wells else ((),) * 5
    given = {"ID": ids, "Round": rounds, "Replicate": replicates, "Plate": places}
    if all(of_each) and len(endpoints) > 1 and not any(fold(c) in headers.ENDPOINT_NAME for c in raw.columns):
        given["Endpoint"] = of_each
    left = raw.at(kept, warnings=(*raw.warnings, *warnings))
    return (left if plate_column is None else left.without([plate_column])).with_columns(given)


def _well_texts(raw: RawTable) -> tuple[str, ...] | None:
    """Return the well of each row, from its column or those of row and column of the plate.

    None where there is neither.
    """
    column = raw.called(headers.ROLES["well"])
    if column is not None:
        return raw.column(column)
    both = [raw.called(names) for names in (_ROWS, _COLUMNS)]
    if both[0] is None or both[1] is None:
        return None
    rows = (in_letters(int(text) - 1) if text.isdigit() and int(text) else text for text in raw.column(both[0]))
    return tuple(f"{row}{text}" for row, text in zip(rows, raw.column(both[1]), strict=True))


Contents = dict[Well, Placed]


def _plates(
    raw: RawTable, names: Sequence[str], layouts: Sequence[Layout], warnings: list[str]
) -> dict[str, tuple[Layout, Plate, Contents]]:
    """Return the plate of the campaign that each name in the table means."""
    every = {fold(plate.name): (layout, plate) for layout in layouts for plate in layout.plates}
    found = {}
    for name in names:
        near = [both for own, both in every.items() if own == fold(name) or f" {own} " in f" {fold(name)} "]
        if len(near) == 1:
            found[name] = near[0]
            continue
        last = layouts[-1]
        if len(last.plates) > 1 or len(names) > 1:
            ours = ", ".join(plate.name for plate in last.plates)
            called = (
                f"{name!r} is no plate of this campaign" if name else "the wells do not say of which plate they are"
            )
            raise AssayPilotError(
                called, file=raw.file, mend=f"Name the plates as the work list does ({ours}), or add a column ID."
            )
        found[name] = (last, last.plates[0])
        if name:
            warnings.append(f"Plate {name} was taken for {last.plates[0].name}, the only one of round {last.round}.")
    return {name: (layout, plate, _contents(raw, plate)) for name, (layout, plate) in found.items()}


def _contents(raw: RawTable, plate: Plate) -> Contents:
    """Return the measurement in each well of a plate; AssayPilotError when one takes several wells."""
    several = next((placed for placed in plate.placed if len(placed.wells) > 1), None)
    if several is not None:
        raise AssayPilotError(
            f"a measurement takes {len(several.wells)} wells on {plate.name}, so a well alone is no result",
            file=raw.file,
            mend="Give one value for each compound, with a column ID.",
        )
    return {placed.wells[0]: placed for placed in plate.placed}


def _well(text: str, on: Format) -> Well | None:
    try:
        return None if is_missing(text) else read_well(text, on)
    except AssayPilotError:
        return None
