"""``stock``: available compounds, their costs and lead times."""

from __future__ import annotations

import argparse
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..campaign.campaign import Campaign
from ..campaign.issued_rounds import Source
from ..campaign.state import Status
from ..campaign.stock_view import Order, money
from ..domain.stock import CANNOT, IN_STOCK, TO_MAKE, USUAL, StockLine, StockTerms
from ..errors import AssayPilotError
from ..text import many, pick
from .program import Console, Reply, count, table
from .work_lists import check_target

if TYPE_CHECKING:
    from ..tables.importer import ImportedTable


def terms_of(options: argparse.Namespace) -> StockTerms:
    """Return the general terms of cost and time that the options give."""
    currency = None if options.currency is None else options.currency.strip()
    return StockTerms(currency, options.round_days)


def _counted(states: Sequence[int | None]) -> dict[str, Any]:
    names = {"in_stock": IN_STOCK, "to_be_made": TO_MAKE, "cannot_be_made": CANNOT}
    return {name: states.count(code) for name, code in names.items()}


def stock_counts(now: Status) -> dict[str, Any]:
    """Return the numbers of compounds by stock state, and the general terms of cost and time."""
    terms = USUAL if now.stock is None else now.stock.terms.over(USUAL)
    counts = _counted([] if now.stock is None else now.stock.state.tolist())
    return counts | pick(terms, "currency round_days")


def stock_document(now: Status) -> dict[str, Any] | None:
    """Return the key ``stock`` of ``status --json``; None when nothing is known of it."""
    return None if now.stock is None else {**stock_counts(now), "orders": orders_document(now)}


def table_stock_counts(imported: ImportedTable) -> dict[str, int] | None:
    """Count the compounds by stock state; None when the table has no stock column."""
    if not imported.stock:
        return None
    return _counted([line.state for line in imported.stock]) | {
        "costs": sum(line.cost is not None for line in imported.stock),
        "leads": sum(line.lead is not None for line in imported.stock),
    }


def stock_count_lines(counts: Mapping[str, int] | None) -> list[str]:
    """Return the same for people; empty without such a column."""
    if counts is None:
        return []
    return [
        f"Stock: {counts['in_stock']:,} in stock, {counts['to_be_made']:,} to be made, {counts['cannot_be_made']:,} "
        f"cannot be made; {counts['costs']:,} with a cost, {counts['leads']:,} with a lead time"
    ]


def stock_lines(now: Status) -> list[str]:
    """One line about the stock, and what is waited for; empty when nothing is known of it."""
    return [] if now.stock is None else [_in_stock(stock_counts(now)), *orders_lines(now)]


def _in_stock(counts: Mapping[str, Any]) -> str:
    return (
        f"In stock: {counts['in_stock']:,}; to be made: {counts['to_be_made']:,}; "
        f"cannot be made: {counts['cannot_be_made']:,}"
    )


def orders_document(now: Status) -> list[dict[str, Any]]:
    """Return the compounds that the current phase waits for, for ``--json``."""
    if now.stock is None:
        return []
    return [
        {
            "id": now.library.ids[order.compound],
            **pick(order, "measurements cost lead_days=lead expected reason=why"),
            "ordered": order.ordered or None,
        }
        for order in now.stock.orders
    ]


def orders_lines(now: Status) -> list[str]:
    """Return the same for people; empty when nothing is waited for."""
    if now.stock is None or not now.stock.orders:
        return []
    orders, currency = now.stock.orders, now.stock.currency
    known = [order.cost for order in orders if order.cost is not None]
    costs = f", {money(sum(known), currency)}" if known else ""
    some = f" (the cost of {len(orders) - len(known)} is not known)" if known and len(known) < len(orders) else ""
    rows = [(now.library.ids[o.compound], f"{o.measurements}x", *_of(o, currency), o.why) for o in orders[:_ROWS]]
    return [
        f"To order: {many(len(orders), 'compound')}{costs}{some}; they come in later rounds",
        *table(["ID", "Measure", "Cost", "Lead (days)", "Expected", "Why"], rows, indent="  "),
        *(f"  {line}" for line in count(len(orders), _ROWS, "compounds (--orders CSV writes them all)")),
    ]


def _of(order: Order, currency: str) -> tuple[str, str, str]:
    cost = "-" if order.cost is None else money(order.cost, currency)
    return cost, "-" if order.lead is None else f"{order.lead:g}", order.expected or "-"


_ROWS = 10
"""Lines that could not be used, and compounds to be made, shown in the terminal."""


def stock(options: argparse.Namespace, console: Console) -> Reply:
    """Return the stock, after recording a list, arrivals or terms if given."""
    arrived, terms = options.arrived, terms_of(options)
    _refuse_aimless(options)
    changes = options.list is not None or bool(arrived) or terms.stated
    if options.orders is not None:
        check_orders(Path(options.orders), options.file)
    not_used: list[dict[str, Any]] = []
    with Campaign.open(options.file, read_only=not changes, report=console.report) as campaign:
        before = campaign.status()
        lines: list[StockLine] = []
        source = None
        if options.list is not None:
            lines, not_used, source = _listed(options, before, terms, console)
        lines += _arrived(arrived, before)
        changed = campaign.set_stock(lines, terms, source=source, note=_note(options, arrived)) if changes else False
        now = campaign.status()
    document = _document(now, changed, len({line.compound for line in lines}), not_used)
    texts = _lines(now, document, changes=changes)
    if options.orders is not None:
        from ..export.work_list import write_order_list

        document["orders_file"] = options.orders
        texts.append(f"Order list: {options.orders}, {many(write_order_list(Path(options.orders), now), 'compound')}")
    return Reply(document, texts)


def _refuse_aimless(options: argparse.Namespace) -> None:
    """Raise AssayPilotError for options about a list without one, and for arrivals that name no compound."""
    for name in ("stock", "cost", "lead", "sheet"):
        if options.list is None and getattr(options, name) is not None:
            raise AssayPilotError(
                "it is about a stock list, and none is given",
                option=f"--{name}",
                mend="Give it: assaypilot stock FILE LIST.",
            )
    if any(not text.strip(" ,") for text in options.arrived):
        raise AssayPilotError("no compound is named", option="--arrived", mend="Name compounds by their ids, or all.")


def _note(options: argparse.Namespace, arrived: Sequence[str]) -> str:
    note: str = options.note
    return "arrived" if arrived and options.list is None and not note else note


def _listed(
    options: argparse.Namespace, now: Status, terms: StockTerms, console: Console
) -> tuple[list[StockLine], list[dict[str, Any]], Source]:
    """Return the lines of a stock list, the rejected rows, and the list's source.

    Refuse a list without a usable line.
    """
    from ..tables.opening import read_table
    from ..tables.stock import read_stock_list

    raw = read_table(options.list, console.report, sheet=options.sheet)
    known = terms if now.stock is None else terms.over(now.stock.terms)
    days = known.over(USUAL).round_days or 7.0
    columns = {"stock": options.stock, "cost": options.cost, "lead": options.lead}
    found = read_stock_list(raw, now.library, columns, round_days=days)
    lines: list[StockLine] = []
    not_used: list[dict[str, Any]] = [problem.as_json() for problem in found.not_used]
    if found.unread is not None:
        reason = f"it may say what is in stock, and was not read; if it does: --stock {found.unread!r}"
        not_used.append({"row": None, "column": found.unread, "reason": reason, "severity": "warning"})
    for line in found.lines:
        if not now.library.measurable[line.compound] and line.state in (IN_STOCK, TO_MAKE):
            reason = f"{now.library.ids[line.compound]} was taken in as a compound that cannot be measured"
            not_used.append({"row": None, "column": None, "reason": reason, "severity": "warning"})
        else:
            lines.append(line)
    if not lines:
        first: dict[str, Any] = {"row": None, "column": None, "reason": "nothing is filled in"}
        first = not_used[0] if not_used else first
        more = f" (and {many(len(not_used) - 1, 'more line')})" if len(not_used) > 1 else ""
        raise AssayPilotError(
            f"{first['reason']}{more}; nothing was taken in",
            file=raw.file,
            row=first["row"],
            column=first["column"],
            mend="Correct the list and try again.",
        )
    return lines, not_used, Source(raw.file or "", raw.digest)


def _arrived(texts: Sequence[str], now: Status) -> list[StockLine]:
    """Return stock lines for compounds that have arrived; ``all`` means every ordered compound."""
    lines = []
    for text in texts:
        if text.strip().casefold() == "all":
            waiting = () if now.stock is None else now.stock.orders
            if not waiting:
                raise AssayPilotError("nothing is waited for", option="--arrived", mend="Name compounds by their ids.")
            lines += [StockLine(order.compound, IN_STOCK) for order in waiting]
            continue
        lines += [StockLine(compound, IN_STOCK) for compound in compounds_named([text], now, "--arrived")]
    return lines


def compounds_named(texts: Sequence[str], now: Status, option: str) -> list[int]:
    """Return the compounds named, each once; AssayPilotError for a name that is not there.

    A text that is a whole id names that compound, even with commas; any other is split at commas.
    """
    found: dict[int, None] = {}
    for text in texts:
        whole = now.library.find(text) is not None
        for name in [text] if whole else [part.strip() for part in text.split(",") if part.strip()]:
            compound = now.library.find(name)
            if compound is None:
                raise AssayPilotError(
                    f"there is no compound {name!r} in the campaign", option=option, mend="Check the id."
                )
            found[compound] = None
    return list(found)


def check_orders(path: Path, campaign: str) -> None:
    """Raise AssayPilotError unless an order list can be written there."""
    from ..export.work_list import MARKS

    check_target(path, campaign, "--orders", (".csv",), lambda columns: set(MARKS) <= set(columns))


# ---------------------------------------------------------------------- answers


def _document(now: Status, changed: bool, taken: int, not_used: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    return {
        "changed": changed,
        "known": now.stock is not None,
        "taken": taken,
        "not_used": list(not_used),
        **stock_counts(now),
        "orders": orders_document(now),
        "orders_file": None,
        **pick(now, "warnings head events"),
    }


def _lines(now: Status, document: Mapping[str, Any], *, changes: bool) -> list[str]:
    lines = []
    not_used = document["not_used"]
    if changes:
        taken = f"{many(document['taken'], 'compound')} taken in, " if document["taken"] or not_used else ""
        lines.append(f"{taken}{many(len(not_used), 'line')} not used" if taken else "Taken in")
        for entry in not_used[:_ROWS]:
            where = f"row {entry['row']}: " if entry["row"] else ""
            column = f"column {entry['column']}: " if entry["column"] else ""
            lines.append(f"  {where}{column}{entry['reason']}")
        lines += [f"  {line}" for line in count(len(not_used), _ROWS, "lines (--json lists them all)")]
        if not document["changed"]:
            lines.append("Nothing of it is new.")
    if now.stock is None:
        return [*lines, "Nothing is known of stock: every compound counts as at hand."]
    lines.append(_in_stock(document))
    lines.append(f"A round takes {document['round_days']:g} days")
    return [*lines, *orders_lines(now)]
