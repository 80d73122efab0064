"""The compounds a phase waits for, as rows and columns: what is to be made or bought, and sent back as a stock list."""

from __future__ import annotations

from pathlib import Path

from ..campaign.state import Status
from .csv_file import write_csv
from .sheet import Sheet, unique
from .shortlist import structure

MARKS = ("ID", "Stock", "Cost", "Lead (days)", "Ordered")
"""Columns of every order list."""


def order_list(status: Status) -> Sheet:
    """One row per compound that is to be made, in the order the phase wants them; empty when it waits for none.

    Where ``Stock`` is changed to ``arrived`` (or ``cannot``) the list can be read as it is by ``assaypilot stock``.
    """
    stock, library = status.stock, status.library
    orders = () if stock is None else stock.orders
    structures = [structure(status, order.compound) for order in orders]
    drawn = library.smiles is not None or any(structures)
    header = ["ID", *(["SMILES"] if drawn else []), *(site.name for site in library.sites)]
    header += ["Measurements", "Stock", "Cost", "Currency", "Lead (days)", "Ordered", "Expected", "Why"]
    rows = [
        (
            library.ids[order.compound],
            *([text] if drawn else []),
            *library.substituents(order.compound).values(),
            order.measurements,
            "to be made",
            _plain(order.cost),
            "" if stock is None or order.cost is None else stock.currency,
            _plain(order.lead),
            order.ordered[:10],
            order.expected or "",
            order.why,
        )
        for order, text in zip(orders, structures, strict=True)
    ]
    return Sheet(unique(header), tuple(rows))


def _plain(number: float | None) -> float | int | None:
    """Return a whole number without its point."""
    return int(number) if number is not None and number == int(number) else number


def write_order_list(path: Path, status: Status) -> int:
    """How many compounds the list that was written has."""
    sheet = order_list(status)
    return write_csv(path, sheet.header, sheet.rows)
