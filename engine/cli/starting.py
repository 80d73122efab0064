"""``check`` and ``new``: read a table by its options and make a campaign of it."""

from __future__ import annotations

import argparse
import re
from pathlib import Path
from typing import Any

from ..campaign.state import Status
from ..domain.controls import parse_control
from ..domain.derived import parts
from ..domain.desirability import parse_curve
from ..domain.endpoint import Endpoint
from ..domain.noise import StatedNoise
from ..errors import AssayPilotError
from ..strategies.registry import states_errors
from ..tables.check import check_report, endpoint_facts
from ..tables.column_roles import NoSites
from ..tables.importer import ImportedTable, import_table
from ..tables.join import join_tables, split_join
from ..tables.mapping import propose
from ..tables.opening import ReadAs, read_table
from ..tables.options import TableMapping, TableOptions, parse_endpoint_spec
from ..tables.raw import RawTable, is_workbook
from ..tables.stock import STOCK_ROLES
from ..text import many, pick
from .program import Console, Reply, count, table
from .standing import next_line, what_can_be_done
from .stocking import stock_count_lines, stock_document, stock_lines, table_stock_counts, terms_of


def read_mapped(
    options: argparse.Namespace, sd: StatedNoise | None, console: Console
) -> tuple[RawTable, TableMapping, dict[str, float]]:
    """Return the raw table, the mapping of its columns and the endpoints' epsilons, by the table options."""
    specs = tuple(map(parse_endpoint_spec, options.endpoint))
    if options.only_listed and not options.product:
        raise AssayPilotError(
            "only the table's compounds are in the library anyway", option="--only-listed", mend="Give --product, too."
        )
    same = pick(options, "id smiles product only_listed available assays")
    same |= {role: getattr(options, role, None) for role in STOCK_ROLES}
    table_options = TableOptions(
        **same,
        sites=options.sites or (),
        blank=options.blank or "missing",
        endpoints=specs,
        sd=sd,
        cores=tuple(options.core),
        merge=options.merge or "no",
        interactions=tuple(options.interaction),
    )
    raw = _tables(options, console)
    try:
        mapping = propose(raw, table_options, console.report)
    except NoSites as error:
        raise _with_advice(error, raw, options) from None
    return raw, mapping, {spec.name: spec.epsilon for spec in specs if spec.epsilon is not None}


def _tables(options: argparse.Namespace, console: Console) -> RawTable:
    """Return the table, with the one that is joined to it.

    Each sheet that was named belongs to the next of them that has any.

    A single sheet is that of the table when it is a workbook, else that of the joined one.
    """
    files = [options.table]
    column = None
    if options.join:
        file, column = split_join(options.join)
        files.append(file)
    sheets: list[str] = [options.sheet] if isinstance(options.sheet, str) else list(options.sheet or ())
    books = [place for place, file in enumerate(files) if is_workbook(file)]
    if len(sheets) > max(1, len(books)):
        raise AssayPilotError(
            f"{len(sheets)} sheets were named, for {many(len(books), 'workbook')}",
            option="--sheet",
            mend="Name one for each workbook: first that of the table, then that of --join.",
        )
    # Without any workbook, reading the table reports that it has no sheets.
    of_file = dict(zip(books or [0], sheets, strict=False))
    raw = read_given(options.table, of_file.get(0), options.decimal, console, options.header)
    for place, file in enumerate(files[1:], start=1):
        other = read_table(file, console.report, sheet=of_file.get(place))
        raw = join_tables(raw, other, id_column=options.id, other_column=column)
    return raw


def read_given(
    file: str, sheet: str | None, decimal: str | None, console: Console, header: tuple[int, int] | None = None
) -> RawTable:
    """Return the table in a file; its sheet, decimal mark and header may be given."""
    mark = {None: None, "point": ".", "comma": ","}[decimal]
    return read_table(file, console.report, sheet=sheet, how=ReadAs(header=header, decimal=mark))


def _with_advice(error: NoSites, raw: RawTable, options: argparse.Namespace) -> NoSites:
    """Return the refusal of a table without sites, with advice on a header that was missed, or structures elsewhere."""
    nameless = sum(re.fullmatch(r"column \d+", column) is not None for column in raw.columns)
    if options.header is None and raw.kind in ("text", "workbook") and 3 * nameless > len(raw.columns):
        error.mend = f"{error.mend} Or say which row is the header, for example --header 2 or --header 1-2."
    elif not error.candidates and not options.join and "core" not in (error.mend or ""):
        error.mend = f"{error.mend} Or, if another file has the structures of these ids, join it: --join FILE."
    return error


def check(options: argparse.Namespace, console: Console) -> Reply:
    """Return how an import would understand the table, without writing anything."""
    raw, mapping, _ = read_mapped(options, None, console)
    imported = import_table(raw, mapping, console.report)
    document = check_report(raw, mapping, imported) | {"stock": table_stock_counts(imported)}
    return Reply(document, [*check_lines(options.table, document), *stock_count_lines(document["stock"])])


def new(options: argparse.Namespace, console: Console) -> Reply:
    """Return a campaign file made from a table."""
    from ..campaign.from_table import Choices, campaign_from_table, refuse_taken

    path = Path(options.file)
    refuse_taken(path)
    terms = terms_of(options)
    raw, mapping, epsilons = read_mapped(options, options.sd, console)
    imported = import_table(raw, mapping, console.report)
    facts = endpoint_facts(imported)
    document = check_report(raw, mapping, imported, facts)
    requested = Choices(
        goal="top" if options.top is not None and options.goal is None else options.goal or "epsilon-best",
        objectives=options.objective or None,
        **pick(options, "epsilon name"),
        terms=pick(options, "slack delta strategy per_round max_replicates budget seed top")
        | {
            "parameters": parameters_of(options) | _set_aside(options),
            "controls": tuple(map(parse_control, options.control)),
        },
        stock=terms,
        epsilons=epsilons,
        profile=tuple(map(parse_curve, options.profile)),
    )
    made = campaign_from_table(path, raw, mapping, imported, requested, facts=facts, report=console.report)
    with made as campaign:
        now = campaign.status()
    return Reply(_document(path, now, imported, document), _lines(path, now, len(imported.history), document))


def _document(path: Path, now: Status, imported: ImportedTable, document: dict[str, Any]) -> dict[str, Any]:
    """Return the campaign that was made, as ``--json`` prints it; ``document`` is the check of its table."""
    endpoints = [now.endpoints[k] for k in now.requested_endpoints]
    return {
        "file": str(path),
        **pick(now, "name strategy why warnings head events goal=goal_sentence"),
        **pick(now.settings, "objective objectives"),
        **{key: document[key] for key in ("rank", "max_rank", "model_report", "not_used", "notes")},
        "compounds": len(now.library),
        "combinations": now.library.n_combinations if now.library.partial else None,
        "noise_sd": endpoints[0].noise_sd,
        "endpoints": [
            {
                **pick(e, "name noise_sd noise_estimated of"),
                "limit": e.limit_text or None,
                "in_goal": k in now.goal_endpoints,
                "curves": [curve.text for curve in e.curves],
            }
            for k, e in zip(now.requested_endpoints, endpoints, strict=True)
        ],
        "history": len(imported.history),
        "stock": stock_document(now),
        "additivity": [test.as_json(now.library.ids) for test in now.additivity],
    }


def _lines(path: Path, now: Status, history: int, document: dict[str, Any]) -> list[str]:
    """Return the same for the terminal; ``history``: how many values there were before."""
    endpoints = [now.endpoints[k] for k in now.requested_endpoints]
    measured = {endpoint["name"] for endpoint in document["endpoints"] if endpoint["measured"]}
    models = document["model_report"]
    return [
        f"Created {path}: {many(len(now.library), 'compound')}, rank {document['rank']} of {document['max_rank']}",
        now.goal_sentence,
        *(
            f"Assay noise (SD) of {endpoint.scale_name}: "
            + (f"unknown, at first {endpoint.noise_text}" if _unknown(now, endpoint) else endpoint.noise_text)
            for endpoint in endpoints
            if endpoint.kind == "value" and not endpoint.curves
        ),
        # How well contributions add up in the values measured so far: guarantees assume that they do.
        *(models[one.name]["sentence"] for one in endpoints if one.name in measured and one.name in models),
        f"Strategy {now.why}",
        *([] if now.guarantee.holds else [now.guarantee.sentence, *what_can_be_done(now)]),
        *stock_lines(now),
        *([f"History: {many(history, 'value')}; {_history(now)}"] if history else []),
        *(f"Note: {text}" for text in (*now.warnings, *document["notes"])),
        "",
        next_line(now, path),
    ]


def _history(now: Status) -> str:
    if not now.guarantee.calibrated:
        return "they are shown and used to estimate and to plan, not to decide"
    if now.settings.parameters.get("history") == "shown":
        return "they are shown only"
    return "data like any other, with a shift of their own (--history shown sets them aside)"


def _unknown(now: Status, endpoint: Endpoint) -> bool:
    """Whether the noise of an endpoint, or of one that it is the difference of, is to be estimated."""
    own = parts(now.endpoints, now.endpoints.index(endpoint))
    return any(now.endpoints[k].noise_estimated for k in own)


def _set_aside(options: argparse.Namespace) -> dict[str, Any]:
    """Return the parameter of the series model under which the table's values do not count; proofs never count them."""
    return {"history": "shown"} if options.history == "shown" and states_errors(options.strategy) else {}


def parameters_of(options: argparse.Namespace) -> dict[str, Any]:
    """Return the strategy's parameters by name; refuses one that is given two values."""
    given: dict[str, Any] = {}
    for name, value in options.parameter:
        if name in given and given[name] != value:
            raise AssayPilotError(
                f"{name} is given twice, as {given[name]} and as {value}", option="--parameter", mend="Give it once."
            )
        given[name] = value
    return given


_ROWS = 10
"""Unused rows shown."""
_LABELS = 12
"""Substituents of one site shown."""


def check_lines(path: str, report: dict[str, Any]) -> list[str]:
    """Return the report of a check as lines."""
    made = "numbered in the order of the table" if report["cores"] else "made from the substituents"
    lines = [
        f"{Path(path).name}: {report['rows_used']:,} of {many(report['rows_read'], 'row')} used ({report['read_as']})",
        f"Ids: {report['id_column'] or made}; structures: {report['smiles_column'] or 'none'}",
        f"{many(report['compounds'], 'compound')} in the table, {report['library_size']:,} in the library; "
        f"rank {report['rank']} of {report['max_rank']}",
        "",
    ]
    for site in report["sites"]:
        labels = [f"{entry['label']} ({entry['count']})" for entry in site["substituents"]]
        more = f", and {len(labels) - _LABELS} more" if len(labels) > _LABELS else ""
        lines.append(f"Site {site['name']}: {many(len(labels), 'substituent')}: {', '.join(labels[:_LABELS])}{more}")
    if report["endpoints"]:
        lines += ["", *_endpoint_table(report)]
        lines += ["", *(model["sentence"] for model in report["model_report"].values())]
    else:
        lines += ["", "No column of measured values"]
    if report["not_used"]:
        lines += ["", "Not used:"]
        lines += table(
            ["Row", "Column", "Reason"],
            [(entry["row"], entry["column"], entry["reason"]) for entry in report["not_used"][:_ROWS]],
            indent="  ",
        )
        lines += [f"  {line}" for line in count(len(report["not_used"]), _ROWS, "(--json lists them all)")]
        errors = [entry for entry in report["not_used"] if entry["severity"] == "error"]
        if errors:
            rows = ", ".join(str(entry["row"]) for entry in errors[:_ROWS]) + (", ..." if len(errors) > _ROWS else "")
            lines.append(f"Left out, since only you know what was meant: row {rows}; correct the table to use them")
    notes = [f"Note: {text}" for text in [*report["warnings"], *report.get("notes", [])]]
    return lines + notes + ["To change what was found: assaypilot check --help lists the options"] * bool(notes)


def _endpoint_table(report: dict[str, Any]) -> list[str]:
    rows = []
    for endpoint in report["endpoints"]:
        fit = report["additive_fit"].get(endpoint["name"]) or {}
        rows.append(
            (
                endpoint["name"],
                endpoint["unit"],
                # Name the modelled scale: "higher" next to "nM" would read as a higher concentration.
                f"{'higher' if endpoint['direction'] == 'max' else 'lower'}"
                f"{'' if endpoint['scale'] == endpoint['name'] else ' ' + endpoint['scale']}",
                endpoint["measured"],
                endpoint["censored"],
                _short(endpoint["noise_sd"]),
                _short(fit.get("r2")),
                _short(fit.get("q2")),
                _short(fit.get("residual_sd")),
            )
        )
    header = ["Endpoint", "Unit", "Better", "Measured", "Bounds", "Noise (SD)", "R2", "Q2", "Residual SD"]
    return table(header, rows)


def _short(value: float | None) -> str:
    return "-" if value is None else f"{value:.3g}"
