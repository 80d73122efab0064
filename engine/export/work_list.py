"""The work list of a round with its controls, its plates for a robot, the transfers that fill them, order lists."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from ..campaign.issued_rounds import Round, RoundItem
from ..campaign.state import Status
from ..domain.controls import find_control
from ..domain.plates import Layout, Well
from ..tables import headers
from ..tables.raw import fold
from ..text import in_letters
from .sheet import Cell, Sheet, rounded, unique, write_csv
from .shortlist import decimals_of, structure

_SIDE_COLUMNS = ("Relation", "Unit", "Date", "Plate", "Well", "Batch", "Comment")
"""Columns that a lab may fill in for a value; the reader of results knows these headers."""

NOT_PLANNED = "N/A"
"""In a work list where a value is in already; the reader of results takes it for none."""


def work_list(status: Status, issued: Round, layout: Layout | None = None) -> Sheet:
    """One row per measurement of a round, in its order, with empty cells for what comes back.

    With one endpoint the values go into ``Value``, with several into one column per endpoint. N/A marks a value that is
    recorded already and not requested again (it reads as no result). A partly filled list can be recorded, and again
    once there is more: round and replicate identify values recorded before.

    With a ``layout`` Plate and Well are filled in (the first well of a measurement; Wells lists all of them where there
    are more). Endpoints on plates of their own then have separate rows, one endpoint after another, with the columns
    Endpoint and Value. The campaign's own controls follow at the end; wells of other controls are in the plate map
    alone.
    """
    long = layout is not None and not layout.use.same_wells and len(status.endpoints) > 1
    names = ["Endpoint", "Value"] if long else status.value_columns
    per_value = long or len(status.endpoints) == 1
    sides = [name for name in _SIDE_COLUMNS if per_value or name not in _PER_VALUE]
    if layout is not None and any(len(one.wells) > 1 for plate in layout.plates for one in plate.placed):
        sides.insert(sides.index("Well") + 1, "Wells")
    scale, digits = status.endpoints[status.objective].scale_name, decimals_of(status)
    header = [
        "Rank",
        "ID",
        *(["SMILES"] if status.library.smiles is not None else []),
        *(_site_header(site.name, status.value_columns) for site in status.library.sites),
        "Round",
        "Replicate",
        f"Expected {scale}",
        f"Low {scale}",
        f"High {scale}",
        "Why",
        *names,
        *sides,
    ]
    rows: list[tuple[Cell, ...]] = []
    for part in [(k,) for k in issued.endpoints] if long else [issued.endpoints]:
        unit = status.endpoints[part[0] if long else 0].unit if per_value else ""
        for rank, item in enumerate(issued.items, start=1):
            known = _known(status, rank, item)
            predicted = rounded([item.expected, item.low, item.high], digits)
            for replicate in range(1, item.replicates + 1):
                planned = [k for k in part if replicate <= item.of(issued.endpoints.index(k))]
                if long and not planned:
                    continue
                fields: dict[str, Cell] = {"Unit": unit}
                if layout is not None and planned:
                    plate, placed = layout.find(item.compound, replicate, planned[0])
                    fields |= {"Plate": plate.name, "Well": placed.well, "Wells": placed.range}
                cells: list[Cell] = [status.endpoints[part[0]].name, ""] if long else _cells(status, part, planned)
                at_last = (fields.get(name, "") for name in sides)
                rows.append((*known, issued.number, replicate, *predicted, item.reason, *cells, *at_last))
    for one in control_wells(status, issued, layout):
        control = status.settings.controls[one.control]
        blank = ("",) * (len(status.library.sites) + (status.library.smiles is not None))
        unit = status.endpoints[one.endpoints[0] if long else 0].unit if per_value else ""
        of_plate: dict[str, Cell] = {"Unit": unit, "Plate": one.plate, "Well": one.well}
        for part in [(k,) for k in one.endpoints] if long else [one.endpoints]:
            nominal = control.nominal(status.endpoints[part[0] if long else status.objective].name)
            predicted = rounded([nominal, None, None], digits)
            cells = [status.endpoints[part[0]].name, ""] if long else _cells(status, part, part)
            at_last = (of_plate.get(name, "") for name in sides)
            rows.append(
                ("", control.name, *blank, issued.number, one.replicate, *predicted, "control", *cells, *at_last)
            )
    return Sheet(unique(header), tuple(rows))


def _known(status: Status, rank: int, item: RoundItem) -> tuple[Cell, ...]:
    """Return the first cells of a compound's rows: rank, id, structure, substituents."""
    library = status.library
    structure = () if library.smiles is None else (library.smiles[item.compound],)
    return (rank, library.ids[item.compound], *structure, *library.substituents(item.compound).values())


def _cells(status: Status, measured: Sequence[int], planned: Sequence[int]) -> list[Cell]:
    """Return the cells of a row that are filled in, N/A where the value is in already."""
    return [NOT_PLANNED if k in measured and k not in planned else "" for k in status.entered_endpoints]


_PER_VALUE = ("Relation", "Unit")
"""Columns that would be ambiguous with several values in a row."""


def _site_header(name: str, values: Sequence[str]) -> str:
    """Return a site's header.

    One that the reader of results would take for something else (a site N or Value) is marked.
    """
    names = {*headers.IDS, *headers.VALUE, *headers.ENDPOINT_NAME, *map(fold, values)}
    return f"site {name}" if headers.role_of(name) or fold(name) in names else name


_WITHOUT_PLATES = 4
"""Rows of each control where no plate is laid out; those that are left empty are no results."""


@dataclass(frozen=True, slots=True)
class ControlWell:
    """One measurement of a control to come."""

    control: int
    """Position among the campaign's controls."""
    replicate: int
    """From 1, of this control and endpoint on its plate."""
    endpoints: tuple[int, ...]
    """Positions of what is read there."""
    plate: str = ""
    well: str = ""
    """The first one, where a measurement takes several."""


def control_wells(status: Status, issued: Round, layout: Layout | None) -> Iterator[ControlWell]:
    """Yield the controls of a round in order of plates and wells; without a layout some of each, on no plate.

    Wells of controls that are none of the campaign's, such as those of a solvent, are in the plate map alone.
    """
    controls = status.settings.controls
    if layout is None:
        for place in range(len(controls)):
            for replicate in range(1, _WITHOUT_PLATES + 1):
                yield ControlWell(place, replicate, issued.endpoints)
        return
    for plate in layout.plates:
        # A curve takes as many wells of a control as of a compound.
        size = max((status.endpoints[k].wells_per_measurement for k in plate.endpoints), default=1)
        wells: dict[int, list[str]] = {}
        for well, name in sorted(layout.use.control_wells().items()):
            found = find_control(controls, name)
            if found is not None:
                wells.setdefault(found, []).append(str(well))
        for control, own in sorted(wells.items()):
            for replicate in range(1, len(own) // size + 1):
                first = own[(replicate - 1) * size]
                yield ControlWell(control, replicate, plate.endpoints, plate.name, first)


def plate_map(status: Status, issued: Round, layout: Layout) -> Sheet:
    """Return one row per used well, plate by plate in reading order, with its compound or control.

    The software of robots and readers imports this, and a pivot table turns it into the shape of a plate;
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
        contents: dict[Well, tuple[Cell, ...]] = {
            well: ("control", "", None, issued.number, None, None, name) for well, name in controls.items()
        }
        for well, (placed, point) in plate.contents().items():
            name, rank = status.library.ids[placed.compound], ranks[placed.compound]
            contents[well] = ("compound", name, rank, issued.number, placed.replicate, point, "")
        rows += [
            (plate.name, str(well), in_letters(well.row), well.column + 1, *contents[well], measured)
            for well in sorted(contents)
        ]
    return Sheet(header, tuple(rows))


MARKS = ("ID", "Stock", "Cost", "Lead (days)", "Ordered")
"""Columns of every order list."""


def order_list(status: Status) -> Sheet:
    """Return one row per compound to be made, in the order of the phase; empty when it waits for none.

    Where ``Stock`` is changed to ``arrived`` (or ``cannot``) the list can be read as it is by ``assaypilot stock``.
    """
    stock, library = status.stock, status.library
    orders = () if stock is None else stock.orders
    structures = [structure(status, order.compound) for order in orders]
    drawn = library.smiles is not None or any(structures)
    header = ["ID", *(["SMILES"] if drawn else []), *(site.name for site in library.sites)]
    header += ["Measurements", "Stock", "Cost", "Currency", "Lead (days)", "Ordered", "Expected", "Why"]
    rows = [
        (
            library.ids[order.compound],
            *([text] if drawn else []),
            *library.substituents(order.compound).values(),
            order.measurements,
            "to be made",
            _plain(order.cost),
            "" if stock is None or order.cost is None else stock.currency,
            _plain(order.lead),
            order.ordered[:10],
            order.expected or "",
            order.why,
        )
        for order, text in zip(orders, structures, strict=True)
    ]
    return Sheet(unique(header), tuple(rows))


def _plain(number: float | None) -> float | int | None:
    """Return a whole number without its point."""
    return int(number) if number is not None and number == int(number) else number


def write_order_list(path: Path, status: Status) -> int:
    """Write the order list; return its number of compounds."""
    sheet = order_list(status)
    return write_csv(path, sheet.header, sheet.rows)
