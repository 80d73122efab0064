"""The options of the commands that change something of a campaign: terms, compounds, stock, recorded values."""

from __future__ import annotations

import argparse
import re
from typing import Any, NamedTuple

from ..domain.stock import PLANS, StockTerms
from .options import number

__all__ = [
    "NONE",
    "Numbered",
    "add_addition_options",
    "add_amendments",
    "add_change_options",
    "add_stock_options",
    "terms_of",
    "value_number",
]

NONE = "none"
"""The word for a term that is to go."""
_NUMBER = re.compile(r"([Cc]?)0*([1-9]\d{0,8})")


def add_change_options(parser: argparse.ArgumentParser) -> None:
    """Add what can be changed."""
    parser.add_argument("file", metavar="FILE", help="campaign file")
    add = parser.add_argument
    add("--epsilon", type=number, metavar="X", help="distance from the best that still counts")
    add("--slack", type=_or_none(number), metavar="X", help="how soft that cutoff is; none: half of epsilon")
    add("--delta", type=number, metavar="X", help="1 - confidence")
    add("--strategy", metavar="NAME", help="go on by another strategy, with everything measured")
    add("--sd", action="append", default=[], metavar="[NAME=]X",
        help="assay noise (SD) of an endpoint; or unknown: from then on it is estimated from replicates")  # fmt: skip
    add("--limit", action="append", default=[], metavar="NAME<X", help="limit of an endpoint, or NAME=none")
    add("--profile", action="append", default=[], metavar="CURVE",
        help="another curve of the profile, as new takes it: pIC50:6..8; the others stay")  # fmt: skip
    add("--margin", action="append", default=[], metavar="NAME=X",
        help="for trade-offs the difference in an endpoint that does not matter, or none for that of all")  # fmt: skip
    add("--per-round", type=int, metavar="N", help="measurements the lab takes in one round")
    add("--max-replicates", type=int, metavar="N", help="of one compound in one round")
    add("--budget", type=_or_none(int), metavar="N", help="measurements in all; none: no limit")
    add(
        "--control",
        action="append",
        default=[],
        metavar="SPEC",
        help="one more control, as new takes it: 'NAME;value=7.1', or 'NAME;ENDPOINT=7.1'; may be given several times",
    )
    add("--endpoint", metavar="SPEC",
        help="one more endpoint, as new takes it: NAME;sd=0.3;limit=>50 with a limit from the next round on, without "
        "limit to be recorded only")  # fmt: skip
    add("--goal", choices=("pareto",),
        help="with --endpoint and --into: the best trade-offs between the objective and the new endpoint")  # fmt: skip
    add(
        "--into",
        metavar="FILE",
        help="the campaign file to create, for --endpoint in a new campaign with what was measured as its history",
    )
    add("--note", default="", metavar="TEXT", help="why, for the history")
    add("--yes", action="store_true", help="do it though it changes what is guaranteed")
    add("--dry-run", action="store_true", help="only say what it would do")


def add_addition_options(parser: argparse.ArgumentParser) -> None:
    """Add how more compounds are told of."""
    parser.add_argument("file", metavar="FILE", help="campaign file")
    parser.add_argument(
        "table",
        metavar="TABLE",
        help="csv, xlsx, sdf or other table: ids, and a column for every site; or structures, where those of the "
        "campaign were taken apart",
    )
    add = parser.add_argument
    add("--id", metavar="COL", help="column of compound ids (default: found by its name)")
    add("--smiles", metavar="COL", help="column of structures")
    add("--available", metavar="COL", help="column that says whether a compound can be had (yes or no)")
    add("--sheet", metavar="NAME", help="sheet of a workbook (default: the first with a table)")
    add("--note", default="", metavar="TEXT", help="why, for the history")
    add("--yes", action="store_true", help="do it though results were seen already")
    add("--dry-run", action="store_true", help="only say what it would do")


def add_amendments(command: Any) -> None:
    """Add the three commands about a recorded value. ``command`` makes one from its name and what it does."""
    by_number = "Values are named by their numbers, those of controls C1, C2, ...: assaypilot log FILE --values."
    for name, about, more in (
        ("exclude", "Leaves a recorded value out, for a reason that is kept", "It stays in the file."),
        ("include", "Uses a value again that was left out", ""),
        ("correct", "Corrects a recorded value; what was entered first is kept", ""),
    ):
        made = command(name, about, f"{more} {by_number}".strip())
        made.add_argument("file", metavar="FILE", help="campaign file")
        made.add_argument("number", metavar="NUMBER", type=value_number, help="of the value: 17, or C3 of a control")
        if name == "correct":
            made.add_argument(
                "value", metavar="VALUE", help="the right one, in the unit of its endpoint or with its own: 12.5, "
                "12,5, '>10000', '0.35 uM'")  # fmt: skip
        made.add_argument("--reason", required=True, metavar="TEXT", help="why, for the history")
        if name == "exclude":
            made.add_argument(
                "--judgement", action="store_true",
                help="it is left out because of what it says, not for a technical cause: nothing is guaranteed then",
            )  # fmt: skip
        made.add_argument("--yes", action="store_true", help="do it though it changes what is decided or guaranteed")
        made.add_argument("--dry-run", action="store_true", help="only say what it would do")


class Numbered(NamedTuple):
    """A recorded value as people name it: ``17``, or ``C3`` for the third one of a control."""

    number: int
    control: bool = False


def value_number(text: str) -> Numbered:
    """Return the value that ``17`` or ``C3`` names."""
    found = _NUMBER.fullmatch(text.strip())
    if found is None:
        raise argparse.ArgumentTypeError(f"{text!r} is no number of a value, such as 17 or C3")
    return Numbered(int(found[2]), control=bool(found[1]))


def _or_none(kind: Any) -> Any:
    def read(text: str) -> Any:
        return NONE if text.strip().casefold() == NONE else kind(text)

    read.__name__ = kind.__name__
    return read


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
