"""The plates of a round as rows for a robot or a plate reader."""

from __future__ import annotations

from ..campaign.state import Round, Status
from ..domain.plates.layout import Layout
from ..domain.plates.wells import Well, row_letters
from .sheet import Cell, Sheet

__all__ = ["plate_map"]


def plate_map(status: Status, issued: Round, layout: Layout) -> Sheet:
    """One row per well that is used, plate by plate in reading order: what stands there, compound or control.

    That is what the software of robots and readers imports, and what a pivot table turns into the shape of a plate;
    the shape itself is on the printed page. The wells of controls name no compound, so that no control is ever taken
    for one. Point is the place of a well within its measurement: 1 is the first concentration of a curve.
    """
    ranks = {item.compound: rank for rank, item in enumerate(issued.items, start=1)}
    header = (
        "Plate", "Well", "Row", "Column", "Content", "ID", "Rank", "Round", "Replicate", "Point", "Control", "Endpoint"
    )  # fmt: skip
    controls = layout.use.control_wells()
    rows: list[tuple[Cell, ...]] = []
    for plate in layout.plates:
        measured = " + ".join(status.endpoints[k].name for k in plate.endpoints)
        said: dict[Well, tuple[Cell, ...]] = {
            well: ("control", "", None, issued.number, None, None, name) for well, name in controls.items()
        }
        for well, (placed, point) in plate.contents().items():
            name, rank = status.library.ids[placed.compound], ranks[placed.compound]
            said[well] = ("compound", name, rank, issued.number, placed.replicate, point, "")
        rows += [
            (plate.name, str(well), row_letters(well.row), well.column + 1, *said[well], measured)
            for well in sorted(said)
        ]
    return Sheet(header, tuple(rows))
