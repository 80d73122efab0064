"""Transfers from source wells to the wells of a round: lists for an Echo, a Hamilton and a Tecan."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from ..campaign.issued_rounds import Round
from ..campaign.state import Status
from ..domain.plates import FORMATS, Format, Layout, Well, read_well
from ..errors import AssayPilotError
from ..tables import headers
from ..tables.compound_names import CompoundNames
from ..tables.raw import RawTable, columns_named, fold
from ..tables.values import is_missing
from ..text import listed as names
from .formats import Handler, write_whole
from .sheet import write_plain_csv

TRANSFER_COLUMNS: dict[Handler, tuple[str, ...]] = {
    "echo": (
        *("Source Plate Name", "Source Well", "Destination Plate Name", "Destination Well", "Transfer Volume"),
        "Sample Name",
    ),
    "hamilton": ("SourceLabware", "SourcePosition", "TargetLabware", "TargetPosition", "Volume", "SampleID"),
}
"""The header of each csv list; an Echo takes nL, the others take uL."""
_DROPLET = 2.5e-9
"""Litres of one droplet of an Echo."""
_LONGEST_LABEL = 32
"""Letters of a rack's label in a Tecan work list."""
_UNITS = {"n": 1e-9, "u": 1e-6, "µ": 1e-6, "μ": 1e-6}


@dataclass(frozen=True, slots=True)
class Transfer:
    """One volume from a source well into a well of the round."""

    name: str
    """The compound's id or the control's name."""
    source_plate: str
    source_well: Well
    plate: str
    well: Well


@dataclass(frozen=True, slots=True)
class Sources:
    """The wells of compounds and controls in their source plates."""

    compounds: dict[int, tuple[str, Well]]
    """By position in the library; the first well of each."""
    others: dict[str, tuple[str, Well]]
    """By folded name."""


def read_volume(text: str, handler: Handler) -> float:
    """Return a volume such as ``25 nL`` in litres; AssayPilotError for anything else, or what an Echo cannot dose."""
    found = re.fullmatch(r"\s*(\d+(?:[.,]\d+)?)\s*([nuµμ])l\s*", text, re.I)
    volume = math.nan if found is None else float(found[1].replace(",", ".")) * _UNITS[found[2].casefold()]
    if not 0.0 < volume < 1e-2:
        raise AssayPilotError(
            f"{text.strip()!r} is no volume",
            option="--volume",
            mend='Give a number and a unit, such as "25 nL" or "2 uL".',
        )
    droplets = volume / _DROPLET
    if handler == "echo" and not math.isclose(droplets, round(droplets), rel_tol=1e-6):
        raise AssayPilotError(
            f"an Echo transfers multiples of 2.5 nL, not {volume * 1e9:g} nL",
            option="--volume",
            mend="Round the volume.",
        )
    return volume


def read_sources(raw: RawTable, status: Status, size: int) -> Sources:
    """Return the wells of all samples, from a table with ID, Plate and Well of source plates of ``size`` wells.

    AssayPilotError when a column is missing or a well does not exist on such a plate.
    """
    ids, plate, well = (
        raw.called(known)
        for known in (headers.IDS, ("source plate", *headers.ROLES["plate"]), ("source well", *headers.ROLES["well"]))
    )
    if ids is None or plate is None or well is None:
        raise AssayPilotError(
            f"the columns are {columns_named(raw.columns)}",
            file=raw.file,
            option="--sources",
            mend="Give the wells of compounds in columns ID, Plate and Well.",
        )
    compounds = CompoundNames(status.library)
    found = Sources({}, {})
    for row, name, on, text in zip(raw.rows, raw.column(ids), raw.column(plate), raw.column(well), strict=True):
        if is_missing(name) or is_missing(text):
            continue
        try:
            place = on.strip(), read_well(text, FORMATS[size])
        except AssayPilotError as error:
            raise AssayPilotError(
                error.message, file=raw.file, row=row, column=well, mend=f"{error.mend} See --source-plate."
            ) from None
        known = compounds.find(name)
        if known is not None and known.compound is not None:
            found.compounds.setdefault(known.compound, place)
        else:
            found.others.setdefault(fold(name), place)
    return found


def transfers(
    status: Status, issued: Round, layout: Layout | None, sources: Sources
) -> tuple[list[Transfer], list[str]]:
    """Return one transfer for each well of a round, plate by plate, and the controls missing in the sources.

    AssayPilotError without plates, where a measurement takes several wells, or where a compound has no source.
    """
    if layout is None:
        raise AssayPilotError(
            "the round has no plate layout, so there are no wells to fill",
            option="--transfers",
            mend="Lay it out with --plate.",
        )
    several = next((one for plate in layout.plates for one in plate.placed if len(one.wells) > 1), None)
    if several is not None:
        raise AssayPilotError(
            f"a measurement takes {len(several.wells)} wells, and how each is diluted is not known",
            option="--transfers",
            mend="Use the plate map in the software of the liquid handler.",
        )
    missing = [item.compound for item in issued.items if item.compound not in sources.compounds]
    if missing:
        raise AssayPilotError(
            f"the sources have no well of {names([status.library.ids[compound] for compound in missing])}",
            option="--sources",
            mend="Add their plates and wells; the round stays as it is.",
        )
    found: list[Transfer] = []
    lacking: dict[str, None] = {}
    for plate in layout.plates:
        wells: dict[Well, tuple[str, tuple[str, Well]]] = {}
        for well, (placed, _) in plate.contents().items():
            wells[well] = status.library.ids[placed.compound], sources.compounds[placed.compound]
        for well, name in layout.use.control_wells().items():
            place = sources.others.get(fold(name))
            if place is None:
                lacking[name] = None
            else:
                wells[well] = name, place
        found += [Transfer(name, *place, plate.name, well) for well, (name, place) in sorted(wells.items())]
    return found, list(lacking)


def write_transfers(
    path: Path, found: Sequence[Transfer], handler: Handler, volume: float, source: Format, destination: Format
) -> None:
    """Write transfers of ``volume`` litres as an Echo pick list, a Hamilton work list (csv) or a Tecan one (gwl).

    Plain text without a byte-order mark: the readers of these programs do not expect one.
    """
    if handler == "tecan":
        write_whole(path, "".join(_tecan(one, volume, source, destination) for one in found).encode("utf-8"))
        return
    amount = f"{volume * (1e9 if handler == 'echo' else 1e6):.6g}"
    rows = [(one.source_plate, str(one.source_well), one.plate, str(one.well), amount, one.name) for one in found]
    write_plain_csv(path, TRANSFER_COLUMNS[handler], rows)


def _tecan(one: Transfer, volume: float, source: Format, destination: Format) -> str:
    """Return the records of a transfer: aspirate, dispense, change the tip (the gwl format of Freedom EVOware)."""
    lines = [f"C;{one.name}"]
    for record, label, well, shape in (
        ("A", one.source_plate, one.source_well, source),
        ("D", one.plate, one.well, destination),
    ):
        if not label or ";" in label or len(label) > _LONGEST_LABEL:
            raise AssayPilotError(
                f"{label!r} is no label of a rack: 1 to {_LONGEST_LABEL} letters without a semicolon",
                option="--sources",
                mend="Rename the plate.",
            )
        # Positions count down the columns, from 1.
        position = well.column * shape.rows + well.row + 1
        lines.append(f"{record};{label};;;{position};;{volume * 1e6:.6g};;;;")
    return "".join(f"{line}\r\n" for line in [*lines, "W;"])
