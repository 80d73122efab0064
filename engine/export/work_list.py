"""The work list of a round as rows and columns: what the lab gets, and sends back filled in."""

from __future__ import annotations

from collections.abc import Sequence

from ..campaign.state import Round, RoundItem, Status
from ..domain.plates.layout import Layout
from ..tables import headers
from ..tables.raw import fold
from .control_rows import control_wells
from .sheet import Cell, Sheet, rounded, unique
from .shortlist import decimals_of

__all__ = ["NOT_ASKED", "work_list"]

_SIDE_COLUMNS = ("Relation", "Unit", "Date", "Plate", "Well", "Batch", "Comment")
"""What a lab may add to a value; the reader of results knows these headers."""

NOT_ASKED = "N/A"
"""In a work list where a value is in already; the reader of results takes it for none."""


def work_list(status: Status, issued: Round, layout: Layout | None = None) -> Sheet:
    """One row per measurement of a round, in its order, with empty cells for what comes back.

    With one endpoint the values go into ``Value``, with several into one column per endpoint, with
    N/A where a value is in already and is not asked for again (it reads as no result); what is filled in can
    be recorded as it is, and as often as it is filled in further: round and replicate tell what is there already.

    With a ``layout`` Plate and Well are filled in (the first well of a measurement; Wells says all of them where there
    are more). Endpoints on plates of their own have rows of their own then, those of one endpoint after those of
    another, with the columns Endpoint and Value. The campaign's own controls follow at the
    end; wells of other controls are in the plate map alone.
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
            told = rounded([item.expected, item.low, item.high], digits)
            for replicate in range(1, item.replicates + 1):
                asked = [k for k in part if replicate <= item.of(issued.endpoints.index(k))]
                if long and not asked:
                    continue
                beside: dict[str, Cell] = {"Unit": unit}
                if layout is not None and asked:
                    plate, placed = layout.find(item.compound, replicate, asked[0])
                    beside |= {"Plate": plate.name, "Well": placed.well, "Wells": placed.range}
                cells: list[Cell] = [status.endpoints[part[0]].name, ""] if long else _cells(status, part, asked)
                at_last = (beside.get(name, "") for name in sides)
                rows.append((*known, issued.number, replicate, *told, item.reason, *cells, *at_last))
    for one in control_wells(status, issued, layout):
        control = status.settings.controls[one.control]
        blank = ("",) * (len(status.library.sites) + (status.library.smiles is not None))
        unit = status.endpoints[one.endpoints[0] if long else 0].unit if per_value else ""
        of_plate: dict[str, Cell] = {"Unit": unit, "Plate": one.plate, "Well": one.well}
        for part in [(k,) for k in one.endpoints] if long else [one.endpoints]:
            nominal = control.nominal(status.endpoints[part[0] if long else status.objective].name)
            told = rounded([nominal, None, None], digits)
            cells = [status.endpoints[part[0]].name, ""] if long else _cells(status, part, part)
            at_last = (of_plate.get(name, "") for name in sides)
            rows.append(("", control.name, *blank, issued.number, one.replicate, *told, "control", *cells, *at_last))
    return Sheet(unique(header), tuple(rows))


def _known(status: Status, rank: int, item: RoundItem) -> tuple[Cell, ...]:
    """Return what the rows of a compound begin with: rank, id, structure, substituents."""
    library = status.library
    structure = () if library.smiles is None else (library.smiles[item.compound],)
    return (rank, library.ids[item.compound], *structure, *library.substituents(item.compound).values())


def _cells(status: Status, measured: Sequence[int], asked: Sequence[int]) -> list[Cell]:
    """Return the cells of a row that are filled in, N/A where the value is in already."""
    return [NOT_ASKED if k in measured and k not in asked else "" for k in status.entered_endpoints]


_PER_VALUE = ("Relation", "Unit")
"""Columns that would not say which of several values they belong to."""


def _site_header(name: str, values: Sequence[str]) -> str:
    """Return a site's header.

    One that the reader of results would take for something else (a site N or Value) is marked.
    """
    names = {*headers.IDS, *headers.VALUE, *headers.ENDPOINT_NAME, *map(fold, values)}
    return f"site {name}" if headers.role_of(name) or fold(name) in names else name
