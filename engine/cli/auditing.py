"""``assaypilot audit``: a random sample of what is not in, to be measured, and the bound that it can give."""

from __future__ import annotations

import argparse
import time
from pathlib import Path
from typing import Any

from ..campaign.auditing import CONFIDENCE, members_if_none
from ..campaign.campaign import Campaign
from ..text.percentages import percent
from .console import Console, Reply
from .rounds import plan_document, round_lines
from .work_lists import check_out, keep_filled_in, write_out


def audit(options: argparse.Namespace, console: Console) -> Reply:
    """Issue an audit round, or show the open one again; with ``--out`` its work list or printed page is written."""
    out = None if options.out is None else Path(options.out)
    with Campaign.open(options.file, report=console.report) as campaign:
        if out is not None:
            check_out(out, options.file, plates=False)
            keep_filled_in(out, campaign.status())
        started = time.perf_counter()
        issued = campaign.plan_audit(options.size)
        seconds = time.perf_counter() - started
        now = campaign.status()
    sampled, rest = len(issued.items), issued.population - len(issued.items)
    missed = members_if_none(issued.population, sampled)
    document: dict[str, Any] = plan_document(now, issued, issued.layout, seconds) | {
        "audit": {
            "population": issued.population,
            "sampled": sampled,
            "missed_upper_if_none_found": missed,
            "confidence": CONFIDENCE,
        },
        "file": None,
        "plate_map": None,
    }
    lines = round_lines(now, issued, issued.layout)
    if rest:
        lines.insert(
            2, f"If none of them is a member: at most {missed:,} of the other {rest:,} are ({percent(CONFIDENCE)})."
        )
    if out is None:
        return Reply(document, lines)
    written, said = write_out(out, now, issued, issued.layout, options.file, console.report)
    return Reply(document | written, [*lines, "", *said])
