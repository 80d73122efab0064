"""Options that several commands share: how a table is read, what is wanted; and what a word of them may be."""

from __future__ import annotations

import argparse

from ..domain.stated_noise import StatedNoise, parse_noise
from ..errors import AssayPilotError

__all__ = [
    "JSON_LIMIT",
    "TEXT_LIMIT",
    "add_goal_options",
    "add_table_options",
    "header_rows",
    "names",
    "natural",
    "noise",
    "number",
    "positive",
    "setting",
]

JSON_LIMIT, TEXT_LIMIT = 10_000, 25
"""Compounds that ``status`` lists unless told otherwise, as a document and in the terminal."""


def add_table_options(parser: argparse.ArgumentParser) -> None:
    """Add how a table is to be read."""
    group = parser.add_argument_group("table options")
    group.add_argument("--id", metavar="COL", help="column of compound ids (default: found by its name)")
    group.add_argument(
        "--sheet",
        action="append",
        default=[],
        metavar="NAME",
        help="sheet of TABLE, a workbook (default: the first with a table); given twice, the second is that of --join",
    )
    group.add_argument(
        "--header",
        type=header_rows,
        metavar="ROW[-ROW]",
        help="row of TABLE that is its header, as a spreadsheet counts; 1-2 for two rows; none (default: found)",
    )
    group.add_argument(
        "--decimal", choices=("point", "comma"), help="what marks the decimals of TABLE, a text file (default: found)"
    )
    group.add_argument("--smiles", metavar="COL", help="column of structures")
    group.add_argument(
        "--core",
        action="append",
        default=[],
        metavar="SMILES|FILE",
        help="what all structures share, with its sites as [*:1], [*:2]; or a .mol or .sdf file: sites are made by "
        "taking the structures apart; may be given several times",
    )
    group.add_argument(
        "--merge",
        choices=("identical", "charge", "tautomer"),
        help="ids with the same structure are one compound; also when they differ in charge; or also as tautomers",
    )
    group.add_argument("--sites", type=names, metavar="COL,...", help="columns of substituents (default: R1, R2, ...)")
    group.add_argument(
        "--blank", choices=("h", "missing"), help="what an empty substituent means: hydrogen, or missing (default)"
    )
    group.add_argument("--join", metavar="FILE[:COL]", help="a second table, joined by its column of ids")
    group.add_argument("--available", metavar="COL", help="column that says whether a compound can be had (yes or no)")
    group.add_argument(
        "--drop-site", action="append", default=[], metavar="SITE", help="leave a site out; may be given several times"
    )
    group.add_argument(
        "--join-substituents",
        action="append",
        default=[],
        metavar="SITE:LABEL,LABEL=NAME",
        help="let substituents of a site count as one; may be given several times",
    )
    group.add_argument(
        "--interaction",
        action="append",
        default=[],
        metavar="SITE,SITE",
        help="take two sites together where their effects do not add up: the model then knows their combinations that "
        "occur; may be given several times (check proposes pairs)",
    )
    group.add_argument(
        "--min-seen",
        type=positive,
        default=1,
        metavar="N",
        help="leave out compounds with a substituent that fewer than N compounds carry (default 1)",
    )
    group.add_argument(
        "--product", action="store_true", help="the library is every combination of the substituents, not only the rows"
    )
    group.add_argument(
        "--only-listed",
        action="store_true",
        help="with --product: only the compounds of the table can be measured, the others are what could be made",
    )
    group.add_argument(
        "--assays",
        metavar="each|pooled|NAME",
        help="where a column names assays or sources: an endpoint for each, all pooled, or one of them alone",
    )
    group.add_argument(
        "--endpoint",
        action="append",
        default=[],
        metavar="SPEC",
        help="what is measured: 'NAME[;unit=][;direction=max|min][;transform=log|none][;sd=][;epsilon=][;limit=<5]"
        "[;wells_per_measurement=1]', once for each; it need not be a column. The limit is in the unit of the values. "
        "An sd may be unknown, or unknown:0.2 with a guess: see --sd. "
        "'NAME;of=NAME - NAME' is the difference of two others on the log scale, such as a selectivity",
    )


def add_goal_options(parser: argparse.ArgumentParser, *, simulated: bool = False) -> None:
    """Add what is wanted and what the lab can do; ``simulated`` ones have the defaults of an instance."""
    group = parser.add_argument_group(
        "goal options", "epsilon, slack and sd are on the scale that is modelled: log10 units for a log endpoint."
    )
    own = "the instance's own, else " if simulated else ""
    group.add_argument(
        "--goal",
        help="epsilon-best (default): all compounds within epsilon of the best; best: the best compound; top: the best "
        "compounds, as many as --top says; pareto: the best trade-offs between several endpoints",
    )
    group.add_argument("--top", type=int, metavar="N", help="how many of the best compounds are wanted (goal top)")
    group.add_argument(
        "--objective",
        action="store" if simulated else "append",
        metavar="NAME,...",
        help="the endpoint the goal is about (default: the only one); for pareto two or more (default: all)",
    )
    if not simulated:
        group.add_argument(
            "--profile",
            action="append",
            default=[],
            metavar="CURVE",
            help="how desirable values of an endpoint are, 'NAME:0AT..1AT[..1TO..0FROM][;weight=1]' in the unit of its "
            "values, once for each: 'pIC50:6..8' is 0 up to 6 and 1 from 8. The goal is then about the score, the "
            "geometric mean from 0 to 1 (name an --objective to only show it)",
        )
    group.add_argument(
        "--epsilon",
        type=number,
        metavar="X",
        help="distance from the best that still counts; for pareto the difference that does not matter, in endpoints "
        "that name none of their own",
    )
    group.add_argument(
        "--slack", type=number, metavar="X", help="how soft that cutoff is (default epsilon / 2); not for pareto"
    )
    group.add_argument(
        "--delta",
        type=number,
        default=None if simulated else 0.05,
        metavar="X",
        help=f"1 - confidence (default {own}0.05: 95 %% sure)",
    )
    if not simulated:
        group.add_argument(
            "--control",
            action="append",
            default=[],
            metavar="SPEC",
            help="a compound beside the table that is measured on every plate: 'NAME[;value=7.1]', or "
            "'NAME;ENDPOINT=7.1' for one of several endpoints, on the scale that is modelled; may be given several "
            "times. Rows of results with its name are its values",
        )
    if simulated:
        group.add_argument(
            "--strategy", metavar="NAME[,NAME]", help="see assaypilot strategies; baselines can be named here, too"
        )
    else:
        group.add_argument(
            "--strategy", default="auto", metavar="NAME", help="see assaypilot strategies (default auto)"
        )
    group.add_argument(
        "--parameter", action="append", type=setting, default=[], metavar="NAME=VALUE", help="of the strategy"
    )
    if not simulated:
        group.add_argument(
            "--history",
            choices=("data", "shown"),
            default="data",
            help="values of the table: data for the series model (default), or only shown",
        )
    group.add_argument(
        "--per-round",
        type=int,
        default=None if simulated else 96,
        metavar="N",
        help="measurements the lab takes in a round "
        + ("(default: every phase is one round)" if simulated else "(default 96)"),
    )
    group.add_argument("--budget", type=int, metavar="N", help="measurements in all (default: no limit)")
    group.add_argument(
        "--max-replicates", type=int, default=4, metavar="N", help="of one compound in a round (default 4)"
    )
    group.add_argument(
        "--sd",
        type=noise,
        metavar="X",
        help="assay noise: SD between measurements of one compound; or unknown, or unknown:0.2 with a guess for the "
        "first plan: then it is estimated from replicates, and decisions use an upper bound on it",
    )
    group.add_argument("--seed", type=natural, default=0, metavar="N", help="of random choices (default 0)")


def natural(text: str) -> int:
    """Return a whole number of 0 or more."""
    try:
        value = int(text)
    except ValueError:
        value = -1
    if value < 0:
        raise argparse.ArgumentTypeError(f"{text!r} is not a whole number of 0 or more")
    return value


def header_rows(text: str) -> tuple[int, int]:
    """Return the row of a header and how many rows it has: 3 is (3, 1), 1-2 is (1, 2), none is (0, 0)."""
    if text.strip().casefold() == "none":
        return 0, 0
    first, dash, last = text.partition("-")
    rows = positive(first.strip()), positive(last.strip()) if dash else positive(first.strip())
    if rows[1] - rows[0] not in (0, 1):
        raise argparse.ArgumentTypeError(f"{text!r} is neither one row nor two that follow each other, such as 1-2")
    return rows[0], rows[1] - rows[0] + 1


def positive(text: str) -> int:
    """Return a whole number of 1 or more."""
    value = natural(text)
    if value < 1:
        raise argparse.ArgumentTypeError(f"{text!r} is not a whole number of 1 or more")
    return value


def number(text: str) -> float:
    """Return a number, perhaps with a decimal comma; what is out of range is refused later, with the reason."""
    try:
        return float(text.replace(",", "."))
    except ValueError:
        raise argparse.ArgumentTypeError(f"{text!r} is not a number") from None


def noise(text: str) -> StatedNoise:
    """Return what is said of the assay noise: an SD, or that it is unknown."""
    try:
        return parse_noise(text)
    except AssayPilotError as error:
        raise argparse.ArgumentTypeError(f"{error.message}. {error.mend}") from None


def names(text: str) -> tuple[str, ...]:
    """Names between commas, at least one."""
    found = tuple(name.strip() for name in text.split(",") if name.strip())
    if not found:
        raise argparse.ArgumentTypeError("name at least one column")
    return found


def setting(text: str) -> tuple[str, bool | int | float | str]:
    """Name and value of a strategy's parameter."""
    name, equals, value = (part.strip() for part in text.partition("="))
    if not (name and equals and value):
        raise argparse.ArgumentTypeError(f"{text!r} is not NAME=VALUE")
    if value.casefold() in ("true", "yes", "false", "no"):
        return name, value.casefold() in ("true", "yes")
    for kind in (int, float):
        try:
            return name, kind(value)
        except ValueError:
            continue
    return name, value
