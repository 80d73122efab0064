"""The plates of a round: where each measurement stands, and the same as rows for a robot or a plate reader."""

from __future__ import annotations

from assaypilot.engine.campaign.state import Round, Status
from assaypilot.engine.errors import AssayPilotError
from assaypilot.engine.export.sheet import Cell, Sheet
from assaypilot.engine.plates.layout import Grid, Layout, Placed, Plate, PlateUse
from assaypilot.engine.plates.spreading import spread
from assaypilot.engine.plates.wells import Well, row_letters

__all__ = ["check_plates", "plate_layout", "plate_map"]

_MOST_PLATES = 1_000
"""No lab runs more in a round; more is a slip, such as 24-well plates for a screen."""


def check_plates(status: Status, use: PlateUse) -> None:
    """Nothing; AssayPilotError unless a measurement of every endpoint that is measured fits on a plate."""
    for group in _groups(status.measured_endpoints, use):
        _grid(status, group, use)


def plate_layout(status: Status, issued: Round, use: PlateUse) -> Layout:
    """Where each measurement of a round stands; the same for the same campaign seed, round and use of plates.

    Each endpoint has its own plates, unless all are read from the same wells. As few plates as hold the round;
    replicates of a compound are kept apart (see ``spread``). AssayPilotError when a measurement fits on no plate.
    """
    plates: list[Plate] = []
    for group in _groups(issued.endpoints, use):
        grid = _grid(status, group, use)
        asked = [[item.of(issued.endpoints.index(k)) for k in group] for item in issued.items]
        counts = [max(of_it) for of_it in asked]
        n_plates = -(-sum(counts) // len(grid))
        if len(plates) + n_plates > _MOST_PLATES:
            raise AssayPilotError(
                f"the round would take {len(plates) + n_plates:,} plates, more than {_MOST_PLATES:,}",
                option="--plate",
                mend="Choose larger plates, or plan fewer measurements per round.",
            )
        entropy = (status.settings.seed, issued.number, group[0])
        where = spread(counts, len(grid.tops), len(grid.lefts), entropy)
        placed: list[list[Placed]] = [[] for _ in range(n_plates)]
        for item, of_it, places in zip(issued.items, asked, where, strict=True):
            for replicate, (plate, row, column) in enumerate(places, start=1):
                endpoints = tuple(k for k, n in zip(group, of_it, strict=True) if replicate <= n)
                placed[plate].append(Placed(item.compound, endpoints, replicate, grid.at(row, column)))
        for own in placed:
            name = f"R{issued.number}-P{len(plates) + 1}"
            plates.append(Plate(name, group, tuple(sorted(own, key=lambda one: one.wells))))
    return Layout(use, issued.number, tuple(plates))


def _groups(endpoints: tuple[int, ...], use: PlateUse) -> list[tuple[int, ...]]:
    """The endpoints (positions) that share plates."""
    return [endpoints] if use.same_wells else [(endpoint,) for endpoint in endpoints]


def _grid(status: Status, group: tuple[int, ...], use: PlateUse) -> Grid:
    """Where measurements of some endpoints can stand: of as many wells as the largest of them takes."""
    largest = max((status.endpoints[k] for k in group), key=lambda endpoint: endpoint.wells_per_measurement)
    return use.grid(largest.wells_per_measurement, f"a measurement of {largest.name}")


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
