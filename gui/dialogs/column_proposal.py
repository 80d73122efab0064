"""What the columns of a table seem to be, before anybody has said so. Needs no Qt."""

from __future__ import annotations

from dataclasses import dataclass, replace

from assaypilot.engine.errors import AssayPilotError
from assaypilot.engine.system.progress import Report
from assaypilot.engine.tables.options import TableMapping, TableOptions
from assaypilot.engine.tables.raw import RawTable

from .check_work import CoreChoice, blank_cells, known_cores

__all__ = ["Proposal", "propose_columns"]


@dataclass(frozen=True, slots=True)
class Proposal:
    """What the columns of a table seem to be."""

    mapping: TableMapping | None
    kept: bool
    """Whether it was said the last time."""
    structures: bool
    """Whether the structures have to be taken apart."""
    cores: tuple[CoreChoice, ...]
    blanks: dict[str, int]


def propose_columns(raw: RawTable, kept: TableMapping | None, report: Report) -> Proposal:
    """What the columns are: as ``kept`` says when it is given, else by their headers and contents."""
    from assaypilot.engine.tables.mapping import propose
    from assaypilot.engine.tables.site_columns import NoSites

    blanks = blank_cells(raw, raw.columns)
    report(0.3, "")
    if kept is not None:
        try:
            cores = known_cores(kept.cores, report) if kept.cores else ()
        except AssayPilotError:
            cores = ()
        return Proposal(kept, True, bool(kept.cores), cores, blanks)
    try:
        return Proposal(propose(raw, find_core=False), False, False, (), blanks)
    except NoSites as error:
        candidates = error.candidates
    except AssayPilotError:
        return Proposal(None, False, False, (), blanks)
    try:
        if len(candidates) > 1:
            # What may be a site is no result: temperatures stand beside the yield. The user ticks them.
            found = propose(raw, TableOptions(sites=candidates))
            return Proposal(replace(found, sites=()), False, found.smiles is not None, (), blanks)
        # Any core will do: only what the other columns are is asked.
        mapping = propose(raw, TableOptions(cores=("c1ccccc1",)))
    except AssayPilotError:
        return Proposal(None, False, False, (), blanks)
    return Proposal(mapping, False, mapping.smiles is not None, (), blanks)
