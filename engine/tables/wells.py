"""Results that name wells and no compounds: who stands there by the plates of the campaign's rounds."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from ..domain.controls import Control, find_control
from ..domain.endpoint import Endpoint
from ..domain.library import Library
from ..domain.plates.layout import Layout, Placed, Plate
from ..domain.plates.wells import Format, Well, read_well, row_letters
from ..errors import AssayPilotError
from ..text.statements import listed
from . import headers
from .raw import RawTable, fold
from .values import is_missing

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
    """Return the table with what stands in its wells: columns ID, Round, Replicate, Endpoint and the plate's own name.

    Wells of controls that the campaign does not know, and wells where nothing stands, are left out, which is said.
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
    said: list[tuple[str, str, str, str, str]] = []
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
            said.append(
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
            said.append((control, str(layout.round), "", of[0] if len(of) == 1 else "", plate.name))
        elif control is not None:
            others[control] = None
        else:
            empty[text.strip()] = None
    if others:
        warnings.append(f"Wells of controls were left out: {', '.join(others)}.")
    if empty:
        warnings.append(f"Wells where nothing stands were left out: {listed(empty, _NAMED)}.")
    ids, rounds, replicates, of_each, places = zip(*said, strict=True) if said else ((),) * 5
    given = {"ID": ids, "Round": rounds, "Replicate": replicates, "Plate": places}
    if all(of_each) and len(endpoints) > 1 and not any(fold(c) in headers.ENDPOINT_NAME for c in raw.columns):
        given["Endpoint"] = of_each
    own = {fold(name) for name in given} | ({fold(plate_column)} if plate_column is not None else set())
    columns = [column for column in raw.columns if fold(column) not in own]
    return replace(
        raw,
        columns=(*columns, *given),
        cells=(*(tuple(raw.column(column)[place] for place in kept) for column in columns), *given.values()),
        rows=tuple(raw.rows[place] for place in kept),
        warnings=(*raw.warnings, *warnings),
    )


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
    rows = (row_letters(int(text) - 1) if text.isdigit() and int(text) else text for text in raw.column(both[0]))
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
