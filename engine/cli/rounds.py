"""``plan`` and ``audit``: a round goes out to the lab."""

from __future__ import annotations

import argparse
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..campaign.auditing import CONFIDENCE, members_if_none
from ..campaign.campaign import Campaign
from ..campaign.issued_rounds import Round, RoundItem
from ..campaign.plating import moved_in_words
from ..campaign.state import Status
from ..chemistry.names import carried_names
from ..domain.stock import TO_MAKE
from ..export.plain import named_by_substituents
from ..export.shortlist import decimals_of
from ..text import many, percent, pick
from .program import Console, Reply, count, table
from .standing import confirmation_lines, guarantee_of, next_line, no_longer, number, what_can_be_done
from .stocking import check_orders, orders_document, orders_lines
from .work_lists import (
    check_out,
    keep_filled_in,
    plate_use,
    plates_document,
    prepare_transfers,
    wells_document,
    wells_text,
    write_out,
)

if TYPE_CHECKING:
    from ..domain.plates import Layout


_LINES = 25
"""Compounds of a round shown in the terminal."""


def plan(options: argparse.Namespace, console: Console) -> Reply:
    """Return the next round, or the open one again; with ``--out`` its work list or printed page is written."""
    if options.withdraw:
        return _withdraw(options, console)
    out, use = None if options.out is None else Path(options.out), plate_use(options)
    if options.orders is not None:
        check_orders(Path(options.orders), options.file)
    with Campaign.open(options.file, report=console.report) as campaign:
        before = campaign.status()
        handed = None if options.transfers is None else prepare_transfers(options, before, console.report)
        if out is not None:
            kept = before.open_round is not None and before.open_round.layout is not None and not options.no_plates
            check_out(out, options.file, plates=use is not None or kept)
            keep_filled_in(out, before)
        if use is not None:
            # Refuse an impossible layout before a round is issued that could not be used.
            from ..campaign.plating import check_plates

            check_plates(before, use)
        started = time.perf_counter()
        issued = campaign.plan_confirmation(console.report) if options.confirm else campaign.plan(console.report)
        seconds = time.perf_counter() - started
        if issued is not None and (use is not None or options.no_plates):
            # Print the plates from the file: every other window and program sees the same ones.
            was, laid_out = issued.layout, campaign.lay_out(issued.number, use)
            if laid_out.layout != was:
                console.print(*moved_in_words(campaign.status(), issued.number))
            issued = laid_out
        now = campaign.status()
    orders_file, ordered = _write_orders(options, now)
    if issued is None:
        reasons = _nothing_to_confirm(now) if options.confirm else _nothing_to_plan(now)
        unwritten = [] if out is None else [f"{out} was not written."]
        return Reply(plan_document(now, None, None, seconds) | orders_file, [*reasons, *unwritten, *ordered])
    layout = issued.layout
    document, lines = plan_document(now, issued, layout, seconds), round_lines(now, issued, layout)
    written: dict[str, Any] = {"file": None, "plate_map": None}
    notes: list[str] = []
    if out is not None:
        written, notes = write_out(out, now, issued, layout, options.file, console.report)
    notes += ordered
    if handed is not None:
        listed, texts = handed(now, issued)
        written, notes = written | listed, notes + texts
    return Reply(document | written | orders_file, [*lines, "", *notes] if notes else lines)


_LOOKED_AT = 10_000
"""Compounds that are searched for ids of their own."""


def _withdraw(options: argparse.Namespace, console: Console) -> Reply:
    """Withdraw the open round."""
    with Campaign.open(options.file, report=console.report) as campaign:
        before = campaign.status().open_round
        campaign.withdraw_round()
        now = campaign.status()
    number = None if before is None else before.number
    message = f"Round {number} is withdrawn; its number is not used again."
    return Reply(plan_document(now, None, None, 0.0) | {"withdrawn": number}, [message, next_line(now, options.file)])


def _write_orders(options: argparse.Namespace, now: Status) -> tuple[dict[str, Any], list[str]]:
    """Write the order list, if requested; return it as a key of the document and a line for people."""
    if options.orders is None:
        return {"orders_file": None}, []
    from ..export.work_list import write_order_list

    n = write_order_list(Path(options.orders), now)
    line = f"Order list: {options.orders}, {many(n, 'compound')}. When some have arrived: assaypilot stock"
    return {"orders_file": options.orders}, [f"{line} {options.file} --arrived ID,..."]


def plan_document(now: Status, issued: Round | None, layout: Layout | None, seconds: float) -> dict[str, Any]:
    """Return the promised keys of ``plan --json``; no compounds when nothing is left to measure."""
    items = () if issued is None else issued.items
    library = now.library
    return {
        "round": None if issued is None else issued.number,
        "confirmation": issued is not None and issued.confirmation,
        "phase": now.phases_decided if issued is None or issued.confirmation else issued.phase,
        **pick(now, "strategy finished finish_reason warnings"),
        "measurements": 0 if issued is None else issued.measurements,
        "outstanding": 0 if issued is None else issued.missing,
        "endpoints": [now.endpoints[k].name for k in now.measured_endpoints],
        "compounds": [
            {
                "id": library.ids[item.compound],
                **pick(item, "replicates reason expected low high"),
                "sites": library.substituents(item.compound),
                **_replicates(now, item),
                **({} if issued is None else _predicted(now, issued, item)),
                **({} if issued is None else wells_document(now, issued, item, layout)),
            }
            for item in items
        ],
        **_to_make(now, [item.compound for item in items]),
        "certificate": pick(None if issued is None else now.phase, "criterion value lower_bound"),
        "orders": orders_document(now),
        "plates": plates_document(now, layout),
        "seconds": seconds,
        "guarantee": guarantee_of(now),
    }


def _to_make(now: Status, compounds: list[int]) -> dict[str, int]:
    """Count a round's compounds in stock and to be made, by stock lists or else by the table's rows."""
    if now.stock is not None:
        n = int((now.stock.state[compounds] == TO_MAKE).sum())
    else:
        # Where other compounds have ids of their own, those named by their substituents are unmade combinations.
        rows = not named_by_substituents(now.library, range(min(len(now.library), _LOOKED_AT)))
        new = [c for c in compounds if not now.candidates.made[c] and named_by_substituents(now.library, [c])]
        n = len(new) if rows else 0
    return {"in_stock": len(compounds) - n, "to_make": n}


def _replicates(now: Status, item: RoundItem) -> dict[str, Any]:
    """Return the replicates of each endpoint where they differ because some values are already recorded."""
    if not item.asked:
        return {}
    names = [now.endpoints[k].name for k in now.measured_endpoints]
    return {"replicates_of": dict(zip(names, item.asked, strict=True))}


def _predicted(now: Status, issued: Round, item: RoundItem) -> dict[str, Any]:
    """Of a confirmation round what a measurement of each endpoint must give to confirm the compound."""
    if not issued.confirmation:
        return {}
    own = (one for one in issued.predicted if one.compound == item.compound)
    return {"predicted": {now.endpoints[one.endpoint].name: pick(one, "mean low high") for one in own}}


def _nothing_to_confirm(now: Status) -> list[str]:
    gone = bool(now.confirmation.gone)
    why = "every compound that is in was measured"
    if not now.counts["in"]:
        why = "no compound is in"
    elif gone:
        why = "every available compound that is in was measured"
    return [f"No confirmation round was issued: {why}", now.statement, *confirmation_lines(now)]


def _nothing_to_plan(now: Status) -> list[str]:
    if not now.finished and now.stock is not None and now.stock.orders:
        return [
            "No round was issued: all that is left has to be made first",
            *orders_lines(now),
            "When some have arrived: assaypilot stock FILE --arrived ID,... (or all); what cannot be made after all: "
            "assaypilot record FILE --unavailable ID,...",
        ]
    reason = now.finish_reason or "there is nothing left to ask"
    return [f"No round was issued: {reason}", now.statement, now.promise, *confirmation_lines(now)]


def round_lines(now: Status, issued: Round, layout: Layout | None) -> list[str]:
    """Return a round as people read it."""
    library, digits = now.library, decimals_of(now)
    scale = now.endpoints[now.objective].scale_name
    again = f", {issued.missing:,} still to come" if issued.came else ""
    lines = [
        f"{issued.title}: "
        f"{many(issued.measurements, 'measurement')} of "
        f"{many(len(issued.items), 'compound')}{_each(now)}{again}"
    ]
    if issued.population:
        lines.append(f"Drawn at random from the {issued.population:,} compounds that are not in and were not measured.")
    elif issued.confirmation:
        lines.append(
            f"Each was predicted: a value outside its interval is named. All intervals hold together at "
            f"{percent(now.confirmation.level)}{'' if now.guarantee.calibrated else '; nothing is decided by them'}."
        )
    if now.phase is not None and not now.guarantee.calibrated:
        after = max(0, now.phase.outstanding)
        lines.append(f"Next decision after {many(after, 'more measurement', 'more measurements')}")
    stock = _to_make(now, [item.compound for item in issued.items])
    if stock["to_make"]:
        lines.append(f"{stock['in_stock']:,} in stock, {stock['to_make']:,} to be made")
    if layout is not None:
        names = ", ".join(plate.name for plate in layout.plates)
        lines.append(f"{many(len(layout.plates), 'plate')} of {layout.use.size:,} wells: {names}")
    costs, leads = ([], []) if now.stock is None else now.stock.costs_and_days([item.compound for item in issued.items])
    header = ["#", "ID", *(site.name for site in library.sites), "Measure"]
    header += [f"Cost ({now.stock.currency})"] if costs and now.stock is not None else []
    header += ["Lead (days)"] if leads else []
    header += [f"Expected {scale}", "Low", "High", "Why", *(() if layout is None else ("Wells",))]
    rows = [
        (
            rank,
            library.ids[item.compound],
            *carried_names(library, item.compound).values(),
            _times(now, item),
            *(("" if values[rank - 1] is None else f"{values[rank - 1]:,.10g}") for values in (costs, leads) if values),
            number(item.expected, digits),
            number(item.low, digits),
            number(item.high, digits),
            item.reason,
            *(() if layout is None else (wells_text(layout, item.compound),)),
        )
        for rank, item in enumerate(issued.items[:_LINES], start=1)
    ]
    lines += [*no_longer(now), *what_can_be_done(now)]
    lines += ["", *table(header, rows), *count(len(issued.items), _LINES, "compounds (--out CSV writes them all)")]
    if now.stock is not None and now.stock.orders:
        lines += ["", *orders_lines(now)]
    return lines


def _each(now: Status) -> str:
    """Return the endpoints measured for every compound of a round, where there are several."""
    names = [now.endpoints[k].name for k in now.measured_endpoints]
    return f", each for {', '.join(names[:-1])} and {names[-1]}" if len(names) > 1 else ""


def _times(now: Status, item: RoundItem) -> str:
    """How often an item is measured: ``2x``, or by endpoint where they differ."""
    if not item.asked:
        return f"{item.replicates}x"
    names = [now.endpoints[k].name for k in now.measured_endpoints]
    return ", ".join(f"{n}x {name}" for n, name in zip(item.asked, names, strict=True) if n)


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
    written, notes = write_out(out, now, issued, issued.layout, options.file, console.report)
    return Reply(document | written, [*lines, "", *notes])
