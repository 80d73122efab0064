"""What each command of the command line takes, in the order of ``--help``."""

from __future__ import annotations

from typing import Any

from ..domain.stock import PLANS
from ..export.formats import FORMATS, HANDLERS
from .changing_options import add_addition_options, add_amendments, add_change_options, add_stock_options
from .options import (
    JSON_LIMIT,
    TEXT_LIMIT,
    add_goal_options,
    add_table_options,
    names,
    natural,
    number,
    positive,
)

__all__ = ["add_commands"]


def add_commands(command: Any) -> None:
    """``command(name, about, more)`` makes the parser of each, which gets its options here."""
    for add in (
        _of_the_program,
        _check_and_new,
        _plan,
        _record,
        _audit,
        _curves,
        _stock,
        _changes,
        _status,
        _forecast,
        _export,
        _overview,
        _log_and_verify,
        _design,
        _simulate,
    ):
        add(command)


def _of_the_program(command: Any) -> None:
    demo = command(
        "demo",
        "A whole practice campaign with a simulated assay, until the set is decided",
        "The table is synthetic: 960 compounds, 5 sites.",
    )
    demo.add_argument("--seed", type=natural, default=0, metavar="N", help="of the simulated assay (default 0)")
    demo.add_argument("--out", metavar="DIR", help="leave practice.assaypilot and shortlist.csv in this folder")
    command("strategies", "The strategies by name")
    command("datasets", "The tables that come with the program")
    command("doctor", "Versions, Qt platform, fonts, write access: what a bug report needs")


def _check_and_new(command: Any) -> None:
    check = command("check", "Reads a table as an import would and reports what it understood; writes nothing")
    check.add_argument("table", metavar="TABLE", help="csv, tsv, txt, xlsx, xls, ods, sdf or smi file")
    add_table_options(check)
    add_stock_options(check, terms=False)

    new = command("new", "Creates a campaign file from a table")
    new.add_argument("file", metavar="FILE", help="the campaign file to create, usually NAME.assaypilot")
    new.add_argument("--table", required=True, metavar="TABLE", help="csv, xlsx, sdf or other table with the compounds")
    new.add_argument("--name", help="of the campaign (default: the file's name)")
    add_table_options(new)
    add_stock_options(new)
    add_goal_options(new)


def _plan(command: Any) -> None:
    plan = command(
        "plan",
        "Issues the next round, or shows the open one again, unchanged",
        "When the set is decided there is nothing to issue, and that is said.",
    )
    plan.add_argument("file", metavar="FILE", help="campaign file")
    plan.add_argument(
        "--out",
        metavar="CSV|PDF",
        help="write the round as a work list (.csv), to be filled in and recorded, or as a page to print (.pdf)",
    )
    plan.add_argument(
        "--confirm",
        action="store_true",
        help="when the campaign has ended: a confirmation round of each compound that is in and was never measured, "
        "once; what lies outside its prediction interval is named by status",
    )
    plan.add_argument(
        "--options",
        action="store_true",
        help="only show the three plans to choose from, with what each costs, waits for and tells (see stock)",
    )
    plan.add_argument(
        "--choose", choices=PLANS, metavar="PLAN", help="issue this plan: cheapest, balanced or fastest (see --options)"
    )
    plan.add_argument(
        "--withdraw", action="store_true", help="take the open round back, with its plates, while it has no result"
    )
    plan.add_argument("--orders", metavar="CSV", help="write the compounds that have to be made first as an order list")
    plates = plan.add_argument_group(
        "plates",
        "Where each measurement stands. The campaign keeps it, so that plan asked again and the window show the same "
        "plates. A work list X.csv names plate and well, and X_plates.csv beside it lists every well with its content.",
    )
    plates.add_argument(
        "--plate",
        type=int,
        choices=(24, 48, 96, 384, 1536),
        help="lay the round out on plates of so many wells, replicates apart, each endpoint on its own plates",
    )
    plates.add_argument(
        "--control-columns",
        action="append",
        default=[],
        metavar="[NAME=]COL,...",
        help="columns kept for controls, such as 1,12 (max and min controls in turn), or max=1 and min=12; may be "
        "given several times",
    )
    plates.add_argument("--no-edge", action="store_true", help="no measurement in the outermost rows and columns")
    plates.add_argument("--same-wells", action="store_true", help="all endpoints are read from the same wells")
    robots = plan.add_argument_group(
        "liquid handlers", "Which source well goes into which well of the round, for a round on plates."
    )
    robots.add_argument(
        "--transfers",
        metavar="FILE",
        help="write the transfers: an Echo pick list or a Hamilton work list (.csv), or a Tecan work list (.gwl)",
    )
    robots.add_argument("--format", choices=HANDLERS, help="whose list it is")
    robots.add_argument("--sources", metavar="TABLE", help="where compounds and controls stand: ID, Plate, Well")
    robots.add_argument("--volume", metavar="VOL", help='of each transfer, such as "25 nL" or "2 uL"')
    robots.add_argument("--source-plate", type=int, choices=(24, 48, 96, 384, 1536), help="wells of the source plates")
    plates.add_argument("--no-plates", action="store_true", help="the round stands on no plates any more")


def _audit(command: Any) -> None:
    audit = command(
        "audit",
        "Issues an audit round: a random sample of the compounds that are not in",
        "Its results are recorded as ever; status then bounds the members missed, whatever the model believes.",
    )
    audit.add_argument("file", metavar="FILE", help="campaign file")
    audit.add_argument("--size", type=positive, required=True, metavar="N", help="compounds to draw")
    audit.add_argument(
        "--out", metavar="CSV|PDF", help="write the sample as a work list (.csv) or a page to print (.pdf)"
    )


def _record(command: Any) -> None:
    record = command("record", "Adds results from a table; what was recorded before is not counted again")
    record.add_argument("file", metavar="FILE", help="campaign file")
    record.add_argument(
        "results",
        metavar="RESULTS",
        nargs="?",
        help="csv or xlsx with the columns ID, Value and optionally Endpoint, Relation, Unit, Replicate, N, SD, Date, "
        "Plate, Well, Batch, Comment; or one column per endpoint; may be left out with --close or --unavailable",
    )
    record.add_argument("--sheet", metavar="NAME", help="sheet of a workbook (default: the first with a table)")
    record.add_argument("--close", action="store_true", help="end the round with what has come back")
    record.add_argument("--again", action="store_true", help="count the same results once more: they are new runs")
    record.add_argument(
        "--missing",
        choices=("return", "failed", "other"),
        help="with --close, what becomes of measurements that did not come back. return (default): they are asked for "
        "again. failed: lost for reasons in the lab, whatever their value; decisions go on without them. other: the "
        "same, but nothing is guaranteed from here on",
    )
    record.add_argument(
        "--unavailable",
        metavar="ID,...",
        action="append",
        help="compounds that cannot be had: they are not asked for any more; may be given several times, which an id "
        "with a comma needs",
    )


def _curves(command: Any) -> None:
    curves = command(
        "curves",
        "Fits dose-response curves and writes a table of results with standard errors, which record reads",
        "A raw table is a list (compound, concentration, response), has a column for each concentration or, as Prism, "
        "for each compound; or it is read by well beside a plate map (--map). Controls on a plate make responses "
        "percent effect. A curve that does not reach 50 % in the tested range gives a bound.",
    )
    curves.add_argument("raw", metavar="RAW", help="csv, xlsx or other table of readings")
    curves.add_argument("out", metavar="OUT.csv", help="the table of results to write")
    curves.add_argument("--sheet", metavar="NAME", help="sheet of a workbook (default: the first with a table)")
    curves.add_argument(
        "--endpoint",
        metavar="NAME",
        default="pIC50",
        help='what the values are called: pIC50 (default), pEC50, or a concentration such as "IC50 (nM)"',
    )
    curves.add_argument("--points", metavar="CSV", help="write every point with its fit; a reason in its column "
                        "Excluded takes a point out when that file is fitted again")  # fmt: skip
    curves.add_argument("--prism", metavar="CSV", help="write the normalised responses as an XY table for Prism")
    curves.add_argument("--plots", metavar="PDF|PNG", help="draw the curves, with what to look at")
    curves.add_argument(
        "--plateaus",
        choices=("free", "shared", "fixed"),
        default="free",
        help="free (default): each curve has its own; shared: all curves have the same two; fixed: 0 and 100 %% effect",
    )
    curves.add_argument("--robust", action="store_true", help="give points far from their curve less weight")
    reading = curves.add_argument_group("reading", "What the table does not say itself.")
    reading.add_argument("--response", metavar="COL", help="column of responses")
    reading.add_argument("--unit", metavar="UNIT", help="of concentrations that have none: M, mM, uM, nM or pM")
    reading.add_argument(
        "--responses",
        choices=("raw", "effect", "remaining"),
        help="raw: a signal; effect: percent of the full effect (%% inhibition); remaining: percent that is left "
        "(%% activity); default: by the column's name",
    )
    reading.add_argument(
        "--neutral", type=names, default=(), metavar="NAME,...", help="wells without effect (DMSO, negative control)"
    )
    reading.add_argument(
        "--full",
        type=names,
        default=(),
        metavar="NAME,...",
        help="wells with full effect (blank, positive control)",
    )
    reading.add_argument(
        "--map",
        metavar="MAP.csv",
        help="plate map: Well, ID, Concentration or Point; Plate and Control where needed",
    )
    reading.add_argument(
        "--highest", metavar="CONC", help='concentration of Point 1 in the map, such as "10 uM"; needs --dilution'
    )
    reading.add_argument("--dilution", type=number, metavar="X", help="each Point is this many times below the last")


def _stock(command: Any) -> None:
    stock = command(
        "stock",
        "What is in stock, can be made or cannot, what that costs and how long it takes; and what has arrived",
        "A list has an ID and Stock, Cost or Lead. "
        "It may come at any time; what cannot be read is named, the rest is taken.",
    )
    stock.add_argument("file", metavar="FILE", help="campaign file")
    stock.add_argument("list", metavar="LIST", nargs="?", help="csv or xlsx with ID, and Stock, Cost or Lead")
    stock.add_argument("--sheet", metavar="NAME", help="sheet of a workbook (default: the first with a table)")
    stock.add_argument(
        "--arrived", metavar="ID,...", action="append", help="compounds that are there now; all: everything on order"
    )
    stock.add_argument("--orders", metavar="CSV", help="write what is on order as a list, which can be read back")
    stock.add_argument("--note", default="", metavar="TEXT", help="why, for the history")
    add_stock_options(stock)


def _changes(command: Any) -> None:
    add_amendments(command)
    add_change_options(
        command(
            "change",
            "Changes the goal, the assay noise, the limits or what the lab takes, and says first what that does",
            "Where it changes what is guaranteed, it asks, or needs --yes. The window can undo it while nothing "
            "was decided since.",
        )
    )
    add_addition_options(
        command(
            "add",
            "Adds compounds, with new substituents perhaps, to a campaign, and says first what that does",
            "Values in the table are not taken over; record them.",
        )
    )


def _status(command: Any) -> None:
    status = command("status", "What is in, out and undecided, how sure that is, and what was measured")
    status.add_argument("file", metavar="FILE", help="campaign file")
    status.add_argument(
        "--only", choices=("in", "undecided", "out", "all"), default="all", help="list these compounds (default all)"
    )
    status.add_argument(
        "--limit",
        type=natural,
        metavar="N",
        help=f"list at most N compounds, best first (default {JSON_LIMIT:,} with --json, {TEXT_LIMIT} without); "
        "counts are always complete",
    )
    status.add_argument(
        "--round",
        type=natural,
        metavar="N",
        help="as it stood at the end of round N, when the next one was planned; 0: before the first",
    )
    status.add_argument(
        "--forecast",
        action="store_true",
        help="and what it will still take, by simulated campaigns (a second or more; the command forecast says more)",
    )


def _forecast(command: Any) -> None:
    forecast = command(
        "forecast",
        "What a campaign will still take, what its budget decides and what the next round is worth",
        "By simulated campaigns that go on from where it stands, with the same strategy. The file is only read.",
    )
    forecast.add_argument("file", metavar="FILE", help="campaign file")
    forecast.add_argument(
        "--runs", type=positive, metavar="N", help="simulated campaigns: 9, 19, 29, .. (default: what takes seconds)"
    )
    forecast.add_argument("--seed", type=natural, default=0, metavar="S", help="of what is simulated (default 0)")


def _export(command: Any) -> None:
    export = command(
        "export",
        "Writes the shortlist as a table, a workbook, an SD file, a report or a slide",
        "The ending of the name says which. Workbook and report hold measurements, rounds and settings, too.",
    )
    export.add_argument("file", metavar="FILE", help="campaign file")
    export.add_argument("out", metavar=f"OUT{'|'.join(FORMATS)}", help="the file to write")
    export.add_argument(
        "--only", choices=("in", "undecided", "out", "all"), default="in", help="which compounds (default in)"
    )


def _overview(command: Any) -> None:
    overview = command("overview", "The campaigns of a project: where each stands, and what comes next")
    overview.add_argument("places", metavar="FOLDER|FILE", nargs="*", help="default: the folder it is called in")


def _log_and_verify(command: Any) -> None:
    log = command("log", "The history: every event, in order; or every value, with its number")
    log.add_argument("file", metavar="FILE", help="campaign file")
    log.add_argument(
        "--values",
        nargs="?",
        const="",
        metavar="ID",
        help="instead, every recorded value (of the compound or control ID) with the number that exclude and correct "
        "ask for",
    )

    verify = command("verify", "Whether the file is consistent; exit code 1 when it is not")
    verify.add_argument("file", metavar="FILE", help="campaign file")
    verify.add_argument("--recompute", action="store_true", help="make every decision again, however long that takes")
    verify.add_argument("--head", metavar="HEAD", help="a head noted earlier that must be in the history")
    verify.add_argument("--key", metavar="KEY", help="the key (public or private) by which the history was signed")

    sign = command("sign", "Sign the history by a key of the lab, so that verify --key shows whether it was rewritten")
    sign.add_argument("file", metavar="FILE", help="campaign file; signatures are kept in FILE.signatures")
    sign.add_argument("--key", metavar="KEY", required=True, help="file of an Ed25519 private key (PEM)")
    sign.add_argument("--new-key", action="store_true", help="make the key first, with its public half in KEY.public")


def _design(command: Any) -> None:
    design = command(
        "design",
        "One optimal design with its certificate: which compounds to measure how often, to learn most",
        "Without the results of a campaign: for a first plate, or to see what a plan could reach at best.",
    )
    design.add_argument("table", metavar="TABLE", help="csv, xlsx, sdf or other table of what can be measured")
    design.add_argument(
        "--criterion",
        choices=("g", "xy"),
        required=True,
        help="g: the least certain mean is as certain as can be; xy: the least certain difference of two means",
    )
    design.add_argument(
        "--measurements", type=positive, required=True, metavar="N", help="measurements in all; with a budget at most"
    )
    design.add_argument(
        "--targets", metavar="TABLE", help="the compounds that matter, with the same sites (default: those of TABLE)"
    )
    design.add_argument("--forbid", metavar="COL", help="column of yes and no: compounds that cannot be measured")
    design.add_argument("--force", metavar="COL", help="column of yes and no: compounds that must be measured")
    design.add_argument("--max-per-compound", type=positive, metavar="N", help="measurements of one compound")
    design.add_argument("--max-support", type=positive, metavar="N", help="different compounds")
    design.add_argument(
        "--tau",
        type=number,
        default=0.0,
        metavar="X",
        help="SD of each compound's own deviation from additivity, in units of the assay noise (SD): turns many "
        "replicates of few compounds into more compounds (default 0)",
    )
    design.add_argument("--cost", metavar="COL", help="column of what making each compound costs; 0: already made")
    design.add_argument("--budget", type=number, metavar="X", help="money in all")
    design.add_argument(
        "--cost-per-measurement", type=number, default=0.0, metavar="X", help="beside --cost (default 0)"
    )
    add_table_options(design)


def _simulate(command: Any) -> None:
    simulate = command(
        "simulate",
        "Whole campaigns against a simulated assay, scored against a truth that is known",
        "The same seed gives the same result whatever the number of processes. Without goal options an instance keeps "
        "those of its paper.",
    )
    simulate.add_argument("--list", action="store_true", help="the instances by name")
    simulate.add_argument("--dataset", metavar="NAME", help="a table that comes with the program")
    simulate.add_argument("--table", metavar="TABLE", help="csv, xlsx, sdf or other table with measured values")
    simulate.add_argument("--instance", metavar="NAME[:SETTING=VALUE,...]", help="an instance of a paper; see --list")
    simulate.add_argument(
        "--truth",
        choices=("fit", "values"),
        help="what is true of a table's compounds. fit (default): the sum of contributions that fits its values best. "
        "values: the values themselves, so that contributions do not add up and nothing is guaranteed",
    )
    simulate.add_argument("--runs", type=positive, default=100, metavar="N", help="campaigns to run (default 100)")
    simulate.add_argument(
        "--jobs", type=natural, default=1, metavar="N", help="processes (default 1; 0: one per processor)"
    )
    simulate.add_argument(
        "--cluster",
        metavar="ADDRESS",
        help="of a Dask scheduler, such as tls://host:8786 with the certificates of Dask's own settings "
        "(distributed.comm.tls). With tcp:// nothing is encrypted and nobody proves who they are, and whoever answers "
        "can run code here: for a network you trust",
    )
    simulate.add_argument(
        "--curve", action="store_true", help="also what was found, missed and wrong at the end of each round"
    )
    simulate.add_argument(
        "--own-deviation",
        type=number,
        default=0.0,
        metavar="SD",
        help="what each compound's mean deviates from the sum of effects, drawn in every run (default 0)",
    )
    simulate.add_argument(
        "--max-phases", type=positive, default=100_000, metavar="N", help="give a run up after these (default 100,000)"
    )
    add_goal_options(simulate, simulated=True)
    add_table_options(simulate)
