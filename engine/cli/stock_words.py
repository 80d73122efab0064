"""What documents and the terminal say of stock, for all commands that speak of it."""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from ..campaign.phrases import many
from ..campaign.state import Status
from ..campaign.stock_view import Order, money
from ..domain.stock import CANNOT, IN_STOCK, TO_MAKE, USUAL, StockTerms
from .console import count, table

if TYPE_CHECKING:
    from ..tables.importer import ImportedTable


_ROWS = 10
"""Compounds to be made shown in the terminal."""


def terms_of(options: argparse.Namespace) -> StockTerms:
    """Return what the options say of money and time in general."""
    currency = None if options.currency is None else options.currency.strip()
    return StockTerms(currency, options.measurement_cost, options.default_plan, options.round_days)


def stock_counts(now: Status) -> dict[str, Any]:
    """How many compounds are in stock, and what is said of money in general."""
    known = now.stock
    terms = USUAL if known is None else known.terms.over(USUAL)
    counts = {CANNOT: 0, IN_STOCK: 0, TO_MAKE: 0}
    if known is not None:
        counts = {code: int((known.state == code).sum()) for code in counts}
    return {
        "in_stock": counts[IN_STOCK],
        "to_be_made": counts[TO_MAKE],
        "cannot_be_made": counts[CANNOT],
        "currency": terms.currency,
        "measurement_cost": terms.measurement_cost,
        "default_plan": terms.plan,
        "round_days": terms.round_days,
    }


def stock_document(now: Status) -> dict[str, Any] | None:
    """Return the key ``stock`` of ``status --json``; None when nothing is known of it."""
    return None if now.stock is None else {**stock_counts(now), "orders": orders_document(now)}


def said_of_stock(imported: ImportedTable) -> dict[str, int] | None:
    """How many compounds a table says what of; None when it has no such column."""
    if not imported.stock:
        return None
    states = [line.state for line in imported.stock]
    return {
        "in_stock": states.count(IN_STOCK),
        "to_be_made": states.count(TO_MAKE),
        "cannot_be_made": states.count(CANNOT),
        "costs": sum(line.cost is not None for line in imported.stock),
        "leads": sum(line.lead is not None for line in imported.stock),
    }


def said_lines(said: Mapping[str, int] | None) -> list[str]:
    """Return the same for people; empty without such a column."""
    if said is None:
        return []
    return [
        f"Stock: {said['in_stock']:,} in stock, {said['to_be_made']:,} to be made, {said['cannot_be_made']:,} cannot "
        f"be made; {said['costs']:,} with a cost, {said['leads']:,} with a lead time"
    ]


def stock_lines(now: Status) -> list[str]:
    """One line about the stock, and what is waited for; empty when nothing is known of it."""
    if now.stock is None:
        return []
    counts = stock_counts(now)
    lines = [
        f"In stock: {counts['in_stock']:,}; to be made: {counts['to_be_made']:,}; "
        f"cannot be made: {counts['cannot_be_made']:,}"
    ]
    return [*lines, *orders_lines(now)]


def orders_document(now: Status) -> list[dict[str, Any]]:
    """Return what the phase under way waits for, for ``--json``."""
    if now.stock is None:
        return []
    return [
        {
            "id": now.library.ids[order.compound],
            "measurements": order.measurements,
            "cost": order.cost,
            "lead_days": order.lead,
            "ordered": order.ordered or None,
            "expected": order.expected,
            "reason": order.why,
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
        f"To order: {many(len(orders), 'compound')}{costs}{some}; they come in later rounds of this phase",
        *table(["ID", "Measure", "Cost", "Lead (days)", "Expected", "Why"], rows, indent="  "),
        *(f"  {line}" for line in count(len(orders), _ROWS, "compounds (--orders CSV writes them all)")),
    ]


def _of(order: Order, currency: str) -> tuple[str, str, str]:
    cost = "-" if order.cost is None else money(order.cost, currency)
    return cost, "-" if order.lead is None else f"{order.lead:g}", order.expected or "-"
