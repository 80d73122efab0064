"""The options about stock and synthesis: columns of a table, and what is said of money in general."""

from __future__ import annotations

import argparse

from ..domain.stock import PLANS, StockTerms
from .options import number

__all__ = ["add_stock_options", "terms_of"]


def add_stock_options(parser: argparse.ArgumentParser, *, columns: bool = True, terms: bool = True) -> None:
    """Add the columns that say what can be had, and what is said of money in general."""
    group = parser.add_argument_group("stock and synthesis", "What is in stock, can be made, or cannot be made.")
    add = group.add_argument
    if columns:
        add("--stock", metavar="COL", help="column that says yes, no, an amount, in stock, to be made, or cannot")
        add("--cost", metavar="COL", help="column of what making each compound costs; 0: it is there")
        add("--lead", metavar="COL", help="column of how long that takes: days, or such as 3 weeks, 2 rounds")
    if terms:
        add("--measurement-cost", type=number, metavar="X", help="what one measurement costs")
        add("--currency", metavar="EUR", help="of all costs (default EUR)")
        add("--default-plan", choices=PLANS, help="which plan is issued when none is named (default balanced)")
        add("--round-days", type=number, metavar="N", help="how many days a round takes in the lab (default 7)")


def terms_of(options: argparse.Namespace) -> StockTerms:
    """Return what the options say of money and time in general."""
    currency = None if options.currency is None else options.currency.strip()
    return StockTerms(currency, options.measurement_cost, options.default_plan, options.round_days)
