"""``add``: more compounds for a campaign that runs, and what they do to its guarantee, said first."""

from __future__ import annotations

import argparse
from collections.abc import Mapping, Sequence
from typing import Any

from assaypilot.engine.campaign.campaign import Campaign
from assaypilot.engine.campaign.noise.classes import columns
from assaypilot.engine.campaign.state import Source, Status
from assaypilot.engine.campaign.words import many
from assaypilot.engine.cli.changing import agreed, refusal
from assaypilot.engine.cli.console import Console, Reply, count
from assaypilot.engine.cli.standing import guarantee_of
from assaypilot.engine.errors import AssayPilotError
from assaypilot.engine.library import Library
from assaypilot.engine.tables.mapping import propose
from assaypilot.engine.tables.opening import read_table
from assaypilot.engine.tables.options import TableOptions
from assaypilot.engine.tables.raw import RawTable
from assaypilot.engine.tables.spellings import one_spelling
from assaypilot.engine.tables.values import NO, is_missing

__all__ = ["add"]

_ROWS = 5
"""Unused rows shown in the terminal."""


def add(options: argparse.Namespace, console: Console) -> Reply:
    """What was added; what that does is said first, and asked about once results were seen."""
    raw = read_table(options.table, console.report, sheet=options.sheet)
    with Campaign.open(options.file, read_only=options.dry_run, report=console.report) as campaign:
        before = campaign.status()
        compounds, places, not_used = _compounds(raw, before.library, options)
        classes = _classes(raw, before, dict(zip(places, compounds.ids, strict=True)))
        told = campaign.consequences_of_adding(compounds, classes)
        lines = [f"row {entry['row']}: {entry['reason']}" for entry in not_used]
        console.say(*lines[:_ROWS], *count(len(lines), _ROWS, "rows (--json lists them all)"), *told)
        if options.dry_run:
            return Reply(_document(before, (), told, not_used), ())
        free = not any(m.round > 0 for m in before.measurements)
        if not (free or options.yes or agreed(console)):
            return refusal(options, console, told)
        now = campaign.add_compounds(compounds, options.note, Source(raw.file or "", raw.digest), classes)
    added = now.library.ids[len(before.library) :]
    said = [f"{many(len(added), 'compound')} added.", now.statement, now.guarantee.sentence]
    return Reply(_document(now, added, told, not_used), said)


def _compounds(
    raw: RawTable, library: Library, options: argparse.Namespace
) -> tuple[Library, list[int], list[dict[str, Any]]]:
    """The compounds of a table at the campaign's sites, the places of their rows, and rows not used with reasons."""
    folded = {column.strip().casefold(): column for column in raw.columns}
    lacking = [site.name for site in library.sites if site.name.casefold() not in folded]
    if lacking:
        raise AssayPilotError(
            f"the table has no column {', '.join(lacking)}",
            file=raw.file,
            mend="It needs a column for every site of the campaign, named as there.",
        )
    own = tuple(folded[site.name.casefold()] for site in library.sites)
    wanted = TableOptions(id=options.id, smiles=options.smiles, sites=own, available=options.available)
    mapping = propose(raw, wanted)
    side = {name: _column(raw, name) for name in (mapping.id, mapping.smiles, mapping.available) if name}
    cells = [_column(raw, column) for column in own]
    # The library's own spelling comes first, and so is what the others are written for.
    meant = [
        one_spelling(site.name, [*site.substituents, *column], [], [])
        for site, column in zip(library.sites, cells, strict=True)
    ]
    rows, places, ids, smiles, had, not_used = [], [], [], [], [], []
    known: set[str] = set()
    for place, number in enumerate(raw.rows):
        labels = [column[place] for column in cells]
        empty = [site.name for site, label in zip(library.sites, labels, strict=True) if is_missing(label)]
        name = side[mapping.id][place] if mapping.id else ""
        if empty or (mapping.id and (not name or name in known)):
            why = f"no substituent at {', '.join(empty)}" if empty else "no id" if not name else f"{name} comes twice"
            not_used.append({"row": number, "column": None, "reason": why})
            continue
        places.append(place)
        rows.append([known_as.get(label, label) for known_as, label in zip(meant, labels, strict=True)])
        ids.append(name)
        known.add(name)
        smiles.append(side[mapping.smiles][place] if mapping.smiles else "")
        had.append(not mapping.available or side[mapping.available][place].strip().casefold() not in NO)
    if not rows:
        raise AssayPilotError("no row of the table is a compound", file=raw.file, mend="Correct the table.")
    sites = [site.name for site in library.sites]
    made = Library.listed(sites, rows, ids=ids if mapping.id else None, smiles=smiles, measurable=had)
    return made, places, not_used


def _classes(raw: RawTable, before: Status, of_row: Mapping[int, str]) -> dict[str, dict[str, str]]:
    """By column that names classes of noise what it says of each compound, by id; without columns the table lacks.

    ``of_row``: the ids of the compounds by the places of their rows.
    """
    folded = {column.strip().casefold(): column for column in raw.columns}
    found = {}
    for name in columns(before.endpoints):
        if name.strip().casefold() in folded:
            words = _column(raw, folded[name.strip().casefold()])
            found[name] = {own: words[place] for place, own in of_row.items() if not is_missing(words[place])}
    return found


def _column(raw: RawTable, name: str) -> Sequence[str]:
    return raw.column(name)


def _document(
    now: Status, added: Sequence[str], told: Sequence[str], not_used: Sequence[dict[str, Any]]
) -> dict[str, Any]:
    return {
        "added": added,
        "compounds": len(now.library),
        "not_used": not_used,
        "consequences": told,
        "statement": now.statement,
        "guarantee": guarantee_of(now),
        "counts": now.counts,
        "warnings": now.warnings,
    }
