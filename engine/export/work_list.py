"""The work list of a round as rows and columns: what the lab gets, and sends back filled in."""

from __future__ import annotations

from collections.abc import Sequence

from assaypilot.engine.campaign.state import Round, Status
from assaypilot.engine.export.csv_file import Cell
from assaypilot.engine.export.shortlist import Sheet, decimals_of, rounded, unique
from assaypilot.engine.tables import headers
from assaypilot.engine.tables.raw import fold

__all__ = ["NOT_ASKED", "value_columns", "work_list"]

_SIDE_COLUMNS = ("Relation", "Unit", "Date", "Plate", "Well", "Batch", "Comment")
"""What a lab may add to a value; the reader of results knows these headers."""


NOT_ASKED = "N/A"
"""In a work list where a value is in already; the reader of results takes it for none."""


def value_columns(status: Status) -> list[str]:
    """The columns of a work list that are filled in: Value with one endpoint, else one for each."""
    return ["Value"] if len(status.endpoints) == 1 else [endpoint.name for endpoint in status.endpoints]


def work_list(status: Status, issued: Round) -> Sheet:
    """One row per measurement of a round, in its order, with empty cells for what comes back.

    With one endpoint the values go into ``Value``, with several into one column per endpoint, with
    N/A where a value is in already and is not asked for again (it reads as no result); what is filled in can
    be recorded as it is, and as often as it is filled in further: round and replicate tell what is there already.
    """
    library, endpoints = status.library, status.endpoints
    digits = decimals_of(status)
    values = value_columns(status)
    sides = list(_SIDE_COLUMNS) if len(endpoints) == 1 else [name for name in _SIDE_COLUMNS if name not in _PER_VALUE]
    scale = endpoints[status.objective].scale_name
    known = library.smiles is not None
    header = [
        "Rank",
        "ID",
        *(["SMILES"] if known else []),
        *(_site_header(site.name, values) for site in library.sites),
        "Round",
        "Replicate",
        f"Expected {scale}",
        f"Low {scale}",
        f"High {scale}",
        "Why",
        *values,
        *sides,
    ]
    unit = endpoints[0].unit if len(endpoints) == 1 else ""
    beside: tuple[Cell, ...] = tuple(unit if name == "Unit" else "" for name in sides)
    rows: list[tuple[Cell, ...]] = []
    for rank, item in enumerate(issued.items, start=1):
        told = rounded([item.expected, item.low, item.high], digits)
        structure = () if library.smiles is None else (library.smiles[item.compound],)
        labels = library.substituents(item.compound).values()
        known_so_far = (rank, library.ids[item.compound], *structure, *labels)
        for replicate in range(1, item.replicates + 1):
            done = {k for place, k in enumerate(issued.endpoints) if replicate > item.of(place)}
            cells = [NOT_ASKED if k in done else "" for k in range(len(values))]
            rows.append((*known_so_far, issued.number, replicate, *told, item.reason, *cells, *beside))
    return Sheet(unique(header), tuple(rows))


_PER_VALUE = ("Relation", "Unit")
"""Columns that would not say which of several values they belong to."""


def _site_header(name: str, values: Sequence[str]) -> str:
    """A site's header; one that the reader of results would take for something else (a site N or Value) is marked."""
    names = {*headers.IDS, *headers.VALUE, *headers.ENDPOINT_NAME, *map(fold, values)}
    return f"site {name}" if headers.role_of(name) or fold(name) in names else name
