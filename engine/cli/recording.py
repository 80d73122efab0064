"""``record``: results come back from the lab."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from ..campaign.campaign import Campaign
from ..campaign.cautions import newly_outlying, of_bounds, of_unplanned
from ..campaign.issued_rounds import Source
from ..campaign.state import Status
from ..errors import AssayPilotError
from ..text import many
from .program import Console, Reply, count
from .standing import guarantee_of, next_line, no_longer, what_can_be_done
from .stocking import compounds_named

if TYPE_CHECKING:
    from ..tables.results import ResultsTable


_REASONS = 5
"""Unusable rows shown in the terminal."""


def record(options: argparse.Namespace, console: Console) -> Reply:
    """Return what became of a table of results; with ``--close`` the round ends with what has come back."""
    with Campaign.open(options.file, report=console.report) as campaign:
        now = campaign.status()
        named = compounds_named(options.unavailable, now, "--unavailable")
        gone = [now.library.ids[compound] for compound in named if compound not in now.unavailable]
        if options.close and now.open_round is None:
            raise AssayPilotError(
                "there is no open round to close",
                file=str(options.file),
                option="--close",
                mend="Plan the next round first, or record without --close.",
            )
        before = now.open_round.number if now.open_round else max((r.number for r in now.rounds), default=0)
        found, source = _read_table(options, console, now)
        # One transaction: a later part that is refused must not leave the first parts behind.
        report = None
        if found.results or gone or options.close:
            report = campaign.record(
                found.results,
                close=options.close,
                missing=options.missing or "return",
                unavailable=(gone, "reported with results"),
                again=options.again,
                source=source,
            )
        after = campaign.status()
        closed = now.open_round is not None and after.open_round is None
    rejected: list[tuple[int | None, str]] = [
        (entry.row, f"column {entry.column}: {entry.reason}" if entry.column else entry.reason)
        for entry in found.rejected
    ]
    rejected += [] if report is None else report.rejected
    # What the table's reader asks about a value, the campaign asks too.
    warnings = [*found.warnings, *(() if report is None else report.warnings), *newly_outlying(now, after)]
    kept = ("accepted", "controls", "unplanned", "duplicates", "censored")
    document = {
        **{name: 0 if report is None else getattr(report, name) for name in kept},
        "excluded": sum(m.excluded is not None for m in after.measurements[len(now.measurements) :]),
        "rejected": [{"row": row, "reason": reason} for row, reason in rejected],
        "round": before if not found.results or report is None else report.round,
        "round_closed": closed,
        "unavailable": gone,
        "outstanding": 0 if after.open_round is None else after.open_round.missing,
        "finished": after.finished,
        "guarantee": guarantee_of(after),
        "warnings": list(dict.fromkeys(warnings)),
    }
    confirming = now.open_round is not None and now.open_round.confirmation
    return Reply(document, _record_lines(document, after, options.file, confirming=confirming))


def _read_table(options: argparse.Namespace, console: Console, now: Status) -> tuple[ResultsTable, Source | None]:
    """Return what the table of results says and where it comes from; refuses one without a usable value."""
    from ..campaign.from_table import returned
    from ..tables.results import ResultsTable

    if options.results is None:
        return ResultsTable((), (), 0, ()), None
    from .starting import read_given

    raw = read_given(options.results, options.sheet, options.decimal, console)
    found = returned(raw, now, console.report, unit=options.unit)
    return found, Source(raw.file or "", raw.digest)


def _record_lines(document: dict[str, Any], after: Status, file: str, *, confirming: bool) -> list[str]:
    rejected: Sequence[dict[str, Any]] = document["rejected"]
    bound = of_bounds(document["censored"], calibrated=after.guarantee.calibrated)
    if confirming:
        bound = "kept and shown; only a number confirms a compound"
    kinds = [
        (document["unplanned"], f"not requested: {of_unplanned(calibrated=after.guarantee.calibrated)}"),
        (document["duplicates"], "there already: not counted again"),
        (document["excluded"], "marked in the table as not to be used: kept and shown, not used"),
        (document["censored"], f"known only as a bound: {bound}"),
    ]
    lines = [
        f"{many(document['accepted'], 'result')} recorded, {many(len(rejected), 'row')} not used",
        *([f"  {many(document['controls'], 'control value')} besides"] if document["controls"] else []),
        *(f"  {number_of:,} {what}" for number_of, what in kinds if number_of),
        *(
            f"  {'' if entry['row'] is None else 'row {}: '.format(entry['row'])}{entry['reason']}"
            for entry in rejected[:_REASONS]
        ),
        *(f"  {line}" for line in count(len(rejected), _REASONS, "rows (--json lists them all)")),
        *(f"Note: {warning}" for warning in document["warnings"]),
    ]
    if document["unavailable"]:
        lines.append(f"No longer requested: {', '.join(document['unavailable'])}")
    if document["round_closed"]:
        lines.append(f"Round {document['round']} is closed")
    elif after.open_round is not None:
        lines.append(f"Round {after.open_round.number} is open: {after.open_round.missing:,} still to come")
    lines += [f"Note: {text}" for text in after.quality.drift]
    return [*lines, after.statement, *no_longer(after), *what_can_be_done(after), next_line(after, file)]
