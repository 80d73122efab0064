"""Output files of commands: work lists and pages, lists for liquid handlers; never over another file."""

from __future__ import annotations

import argparse
import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..campaign.issued_rounds import Round, RoundItem
from ..campaign.state import Status
from ..domain.plates import FORMATS
from ..errors import AssayPilotError
from ..export.formats import ENDINGS
from ..export.work_list import NOT_PLANNED, work_list
from ..system.places import refuse_name, refused, try_folder
from ..system.progress import Report
from ..text import listed as names
from .program import word

if TYPE_CHECKING:
    from ..domain.plates import Layout, PlateUse


_TABLES = (".csv", ".xlsx", ".sdf")


def check_place(path: Path, source: str, option: str | None = None) -> None:
    """Raise AssayPilotError unless ``path`` can be written and is not the file that is read."""
    if path.exists() and os.path.exists(source) and os.path.samefile(path, source):
        raise AssayPilotError(
            "this file is the one that is read", file=str(path), option=option, mend="Choose another name."
        )
    if path.is_dir():
        raise AssayPilotError("this is a folder", file=str(path), option=option, mend="Name a file in it.")
    refuse_name(path)
    try:
        try_folder(path.parent)
        if path.exists():
            with path.open("ab"):
                pass
    except OSError as error:
        refusal = refused(error, path)
        refusal.option = option
        raise refusal from None


def check_target(
    path: Path,
    source: str,
    option: str | None,
    endings: Sequence[str],
    is_ours: Callable[[Sequence[str]], bool] | None = None,
) -> None:
    """Raise AssayPilotError unless a file of one of these endings can be written at ``path``; see ``check_place``.

    ``is_ours`` tests by its columns whether an existing table may be replaced.
    """
    if path.suffix.casefold() not in endings:
        raise AssayPilotError(
            f"the name must end in {' or '.join(endings)}",
            file=str(path),
            option=option,
            mend=f"For example {path.stem or 'list'}{endings[0]}.",
        )
    check_place(path, source, option)
    if is_ours is not None:
        keep_other_tables(path, is_ours, option)


def keep_other_tables(path: Path, is_ours: Callable[[Sequence[str]], bool], option: str | None = None) -> None:
    """Refuse to write over another table, such as the one the compounds came from.

    ``is_ours``: whether a table with these columns is one that the program wrote, which it may overwrite.
    """
    if path.suffix.casefold() not in _TABLES or not path.is_file():
        return
    from ..tables.opening import read_table

    try:
        columns = read_table(path).columns
    except AssayPilotError:
        return  # no table, or unreadable
    if not is_ours(columns):
        raise AssayPilotError(
            "there is another table of this name, which would be lost",
            file=str(path),
            option=option,
            mend="Choose another name.",
        )


_PAGE = ".pdf"
_MARKS = ("Rank", "ID", "Round", "Replicate")
"""Columns of every work list; with plates the others are not the same as without."""
_SHOWN = 4
"""Places of a compound's measurements shown in the terminal."""


def plate_use(options: argparse.Namespace) -> PlateUse | None:
    """How the plates are used; None without ``--plate``. AssayPilotError when no such plate can be."""
    if options.plate is None:
        return None
    from ..domain.plates import PlateUse, read_controls

    controls = read_controls(options.control_columns)
    return PlateUse(options.plate, controls, edge=not options.no_edge, same_wells=options.same_wells)


def check_out(out: Path, campaign: str, *, plates: bool) -> None:
    """Raise AssayPilotError unless the requested files can be written."""
    check_target(out, campaign, "--out", (".csv", _PAGE), lambda columns: set(_MARKS) <= set(columns))
    if plates and out.suffix.casefold() != _PAGE:
        check_place(_map_path(out), campaign, "--out")


def _map_path(out: Path) -> Path:
    """Return the path of a work list's plate map."""
    return out.with_name(f"{out.stem}_plates.csv")


def keep_filled_in(out: Path, now: Status) -> None:
    """Refuse to write over a work list of the open round in which values are filled in."""
    if now.open_round is None or out.suffix.casefold() == _PAGE or not out.exists():
        return
    from ..tables.opening import read_table

    try:
        raw = read_table(out)
    except AssayPilotError:
        return  # not a work list
    if any(name not in raw.columns for name in _MARKS) or set(raw.column("Round")) != {str(now.open_round.number)}:
        return
    values = [name for name in dict.fromkeys(("Value", *now.value_columns)) if name in raw.columns]
    if any(cell not in ("", NOT_PLANNED) for name in values for cell in raw.column(name)):
        raise AssayPilotError(
            "this work list of the open round has values filled in, which would be lost",
            file=str(out),
            option="--out",
            mend="Record it first, or choose another name.",
        )


def write_out(
    out: Path, now: Status, issued: Round, layout: Layout | None, campaign: str, report: Report
) -> tuple[dict[str, Any], list[str]]:
    """Write the work list; return its files as keys of the document and as lines for people."""
    if out.suffix.casefold() == _PAGE:
        from ..export.contents import contents
        from ..export.work_page import write_work_page

        facts = contents(now)
        write_work_page(out, now, issued, layout, program=facts.program, printed=facts.exported, report=report)
        return {"file": str(out), "plate_map": None}, [f"To print: {out}"]
    from ..export.sheet import write_csv

    sheet = work_list(now, issued, layout)
    map_path = None
    if layout is not None:
        from ..export.work_list import plate_map

        map_path = _map_path(out)
        plates = plate_map(now, issued, layout)
        write_csv(map_path, plates.header, plates.rows)
    write_csv(out, sheet.header, sheet.rows)
    values = ["Value"] if "Value" in sheet.header else now.value_columns
    column = f"the column {values[0]}" if len(values) == 1 else f"the columns {', '.join(values)}"
    lines = [f"Work list: {out}. Fill in {column}, then: assaypilot record {word(campaign)} {word(out)}"]
    if map_path is not None:
        lines.append(f"Plate map: {map_path}, one row per well, controls included")
    return {"file": str(out), "plate_map": None if map_path is None else str(map_path)}, lines


def plates_document(now: Status, layout: Layout | None) -> list[dict[str, Any]] | None:
    """Return the plates of a round for ``--json``; None without plates."""
    if layout is None:
        return None
    return [
        {
            "name": plate.name,
            "wells": layout.use.size,
            "endpoints": [now.endpoints[k].name for k in plate.endpoints],
            "measurements": len(plate.placed),
            "controls": len(layout.use.control_wells()),
        }
        for plate in layout.plates
    ]


def wells_document(now: Status, issued: Round, item: RoundItem, layout: Layout | None) -> dict[str, Any]:
    """Return the key ``wells`` of a compound for ``--json``; nothing without plates."""
    if layout is None:
        return {}
    wells = []
    for place, k in enumerate(issued.endpoints):
        for replicate in range(1, item.of(place) + 1):
            plate, placed = layout.find(item.compound, replicate, k)
            of = {"endpoint": now.endpoints[k].name, "replicate": replicate, "plate": plate.name}
            wells.append(of | {"well": placed.well, "wells": placed.range})
    return {"wells": wells}


def wells_text(layout: Layout, compound: int) -> str:
    """Return the wells of a compound's measurements, for the terminal: ``R1-P1 B2, R1-P1 G5``."""
    places = [f"{plate.name} {placed.range}" for plate, placed in layout.of(compound)]
    return names(places, _SHOWN)


Handed = Callable[[Status, Round], tuple[dict[str, Any], list[str]]]


def prepare_transfers(options: argparse.Namespace, before: Status, report: Report) -> Handed:
    """Return a function that writes the list once a round is issued; refuse unusable files before that."""
    from ..export.transfers import TRANSFER_COLUMNS, read_sources, read_volume, transfers, write_transfers
    from ..tables.opening import read_table

    out, handler = Path(options.transfers), options.format
    ours = set(TRANSFER_COLUMNS.get(handler, ()))
    check_target(out, options.file, "--transfers", (ENDINGS[handler],), lambda columns: set(columns) == ours)
    volume = read_volume(options.volume, handler)
    sources = read_sources(read_table(options.sources, report), before, options.source_plate)

    def hand_over(now: Status, issued: Round) -> tuple[dict[str, Any], list[str]]:
        layout = issued.layout
        found, lacking = transfers(now, issued, layout, sources)
        assert layout is not None  # transfers refuses a round without plates
        write_transfers(out, found, handler, volume, FORMATS[options.source_plate], layout.use.format)
        lines = [f"Transfers: {out}, {len(found):,} of {options.volume}"]
        if lacking:
            lines.append(f"Note: the sources do not name {', '.join(lacking)}; fill their wells by hand.")
        return {"transfers_file": str(out), "transfers": len(found), "not_transferred": lacking}, lines

    return hand_over
