"""``add``: more compounds for a campaign that runs, and what they do to its guarantee, said first."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from typing import Any

from ..campaign.campaign import Campaign
from ..campaign.phrases import many
from ..campaign.state import Source, Status
from ..tables.more import read_more
from ..tables.opening import read_table
from ..tables.options import TableOptions
from .changing import agreed, refusal
from .console import Console, Reply, count
from .standing import guarantee_of

__all__ = ["add"]

_ROWS = 5
"""Unused rows shown in the terminal."""


def add(options: argparse.Namespace, console: Console) -> Reply:
    """Return what was added; what that does is said first, and asked about once results were seen."""
    raw = read_table(options.table, console.report, sheet=options.sheet)
    with Campaign.open(options.file, read_only=options.dry_run, report=console.report) as campaign:
        before = campaign.status()
        wanted = TableOptions(id=options.id, smiles=options.smiles, available=options.available)
        more = read_more(raw, before.library, wanted, console.report)
        compounds = more.library
        not_used = [{"row": one.row, "column": one.column, "reason": one.reason} for one in more.not_used]
        told = campaign.consequences_of_adding(compounds)
        lines = [f"row {entry['row']}: {entry['reason']}" for entry in not_used]
        console.say(*lines[:_ROWS], *count(len(lines), _ROWS, "rows (--json lists them all)"), *told)
        if options.dry_run:
            return Reply(_document(before, (), told, not_used), ())
        free = not any(m.round > 0 for m in before.measurements)
        if not (free or options.yes or agreed(console)):
            return refusal(options, console, told)
        now = campaign.add_compounds(compounds, options.note, Source(raw.file or "", raw.digest))
    added = now.library.ids[len(before.library) :]
    said = [f"{many(len(added), 'compound')} added.", now.statement, now.promise]
    return Reply(_document(now, added, told, not_used), said)


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
