"""``check`` and ``new``: a table is read, and becomes a campaign."""

from __future__ import annotations

import argparse
import re
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from assaypilot.engine.campaign.state import Settings, Source, Status
from assaypilot.engine.cli.console import Console, Reply, count, plural, table
from assaypilot.engine.cli.naming import spellings
from assaypilot.engine.cli.standing import what_can_be_done
from assaypilot.engine.cli.stock_options import terms_of
from assaypilot.engine.cli.stock_words import said_lines, said_of_stock, stock_document, stock_lines
from assaypilot.engine.controls import parse_control
from assaypilot.engine.difference import parts
from assaypilot.engine.endpoint import Endpoint
from assaypilot.engine.errors import AssayPilotError
from assaypilot.engine.noise_classes import parse_noise_classes
from assaypilot.engine.stated_noise import StatedNoise
from assaypilot.engine.tables.check import check_report
from assaypilot.engine.tables.files import is_workbook
from assaypilot.engine.tables.importer import ImportedTable, import_table
from assaypilot.engine.tables.join import join_tables, split_join
from assaypilot.engine.tables.mapping import propose
from assaypilot.engine.tables.noise_column import with_classes_of
from assaypilot.engine.tables.opening import read_table
from assaypilot.engine.tables.options import TableMapping, TableOptions, parse_endpoint_spec
from assaypilot.engine.tables.raw import RawTable
from assaypilot.engine.tables.reading import ReadAs, read_as
from assaypilot.engine.tables.structures import core_hint

__all__ = ["check", "new", "parameters_of", "read_mapped"]

_HISTORY = "they are shown and used to estimate, not to decide"
_ROWS = 10
"""Unused rows shown in the terminal."""
_LABELS = 12
"""Substituents of one site shown in the terminal."""


def check(options: argparse.Namespace, console: Console) -> Reply:
    """What an import of the table would understand; writes nothing."""
    raw, mapping, imported, _ = _read(options, None, console)
    for endpoint in imported.endpoints:
        if endpoint.noise_classes is not None:
            endpoint.noise_classes.check(imported.library)
    document = check_report(raw, mapping, imported) | {"stock": said_of_stock(imported)}
    return Reply(document, [*_check_lines(options.table, document), *said_lines(document["stock"])])


def new(options: argparse.Namespace, console: Console) -> Reply:
    """A campaign file made from a table."""
    from assaypilot.engine.campaign.campaign import Campaign

    path = Path(options.file)
    _refuse_taken(path)
    terms = terms_of(options)
    raw, mapping, imported, epsilons = _read(options, options.sd, console)
    objectives = _objectives(options.objective, imported.endpoints, options.goal)
    document = check_report(raw, mapping, imported)
    settings = Settings(
        objective=objectives[0] if objectives else "",
        objectives=objectives,
        epsilon=_epsilon(options.epsilon, epsilons, objectives, options.goal),
        slack=options.slack,
        delta=options.delta,
        goal=options.goal,
        strategy=options.strategy,
        parameters=parameters_of(options),
        per_round=options.per_round,
        max_replicates=options.max_replicates,
        budget=options.budget,
        seed=options.seed,
        blocks=options.blocks,
        controls=tuple(map(parse_control, options.control)),
    )
    with Campaign.create(
        path,
        library=imported.library,
        endpoints=imported.endpoints,
        settings=settings,
        name=options.name,
        history=imported.history,
        stock=(imported.stock, terms),
        source=Source(raw.file or "", raw.digest),
        mapping=mapping.as_json(),
        warnings=[*imported.warnings, *_contradictions(imported), *_left_out(imported), *_unused(options)],
        report=console.report,
    ) as campaign:
        now = campaign.status()
    asked = [now.endpoints[k] for k in now.asked_endpoints]
    answer = {
        "file": str(path),
        "name": now.name,
        "compounds": len(now.library),
        "rank": document["rank"],
        "max_rank": document["max_rank"],
        "objective": now.settings.objective,
        "objectives": now.settings.objectives,
        "goal": now.goal_sentence,
        "noise_sd": asked[0].noise_sd,
        "endpoints": [
            {
                "name": e.name,
                "noise_sd": e.noise_sd,
                "noise_estimated": e.noise_estimated,
                "limit": e.limit_text or None,
                "in_goal": k in now.goal_endpoints,
                "of": None if e.of is None else list(e.of),
            }
            for k, e in zip(now.asked_endpoints, asked, strict=True)
        ],
        "history": len(imported.history),
        "stock": stock_document(now),
        "model_report": document["model_report"],
        "additivity": [told.as_json(now.library.ids) for told in now.additivity],
        "strategy": now.strategy,
        "why": now.why,
        "not_used": document["not_used"],
        "warnings": now.warnings,
        "head": now.head,
        "events": now.events,
    }
    lines = [
        f"Created {path}: {plural(len(now.library), 'compound')}, rank {document['rank']} of {document['max_rank']}",
        now.goal_sentence,
        *(
            f"Assay noise (SD) of {endpoint.scale_name}: "
            + (f"unknown, at first {endpoint.noise_sd:.3g}" if _unknown(now, endpoint) else endpoint.noise_text)
            for endpoint in asked
            if endpoint.kind == "value"
        ),
        *_how_additive(document, [endpoint.name for endpoint in asked]),
        f"Strategy {now.why}",
        *(
            [now.guarantee.sentence, *what_can_be_done(now)]
            if any(told.contradicted for told in now.additivity)
            else []
        ),
        *stock_lines(now),
        *([f"History: {plural(len(imported.history), 'value')}; {_HISTORY}"] if imported.history else []),
        *(f"Note: {warning}" for warning in now.warnings),
        "",
        f"Next: assaypilot plan {path} --out round1.csv",
    ]
    return Reply(answer, lines)


def _unknown(now: Status, endpoint: Endpoint) -> bool:
    """Whether the noise of an endpoint, or of one that it is the difference of, is to be estimated."""
    own = parts(now.endpoints, now.endpoints.index(endpoint))
    return any(now.endpoints[k].noise_estimated for k in own)


def _how_additive(document: dict[str, Any], names: Sequence[str]) -> list[str]:
    """How well contributions add up in what is measured already, said before anything is guaranteed on them."""
    measured = {endpoint["name"] for endpoint in document["endpoints"] if endpoint["measured"]}
    models = document["model_report"]
    return [models[name]["sentence"] for name in names if name in measured and name in models]


def _refuse_taken(path: Path) -> None:
    """Nothing; refuses a place for the campaign before a large table is read for it."""
    if path.exists():
        raise AssayPilotError("there is already a file of this name", file=str(path), mend="Choose another name.")
    if not path.parent.is_dir():
        raise AssayPilotError("there is no such folder", file=str(path), mend="Make the folder, or choose another.")


def _contradictions(imported: ImportedTable) -> list[str]:
    """One sentence about rows that contradict each other, none of which is used; empty without any."""
    if not imported.errors:
        return []
    rows = ", ".join(str(problem.row) for problem in imported.errors[:_ROWS])
    more = ", ..." if len(imported.errors) > _ROWS else ""
    first = imported.errors[0].reason.rstrip(".")
    return [f"left out, since only you know what was meant: row {rows}{more} ({first}); correct the table to use them"]


def _left_out(imported: ImportedTable) -> list[str]:
    """One sentence about rows and values that were not used; empty when all were."""
    if not imported.not_used:
        return []
    first = imported.not_used[0]
    places = ("" if first.row is None else f"row {first.row}", "" if first.column is None else f"column {first.column}")
    where = ", ".join(filter(None, places))
    return [
        f"{plural(len(imported.not_used), 'row or value', 'rows or values')} of the table not used; "
        f"the first is {where}{': ' if where else ''}{first.reason}"
    ]


def _read(
    options: argparse.Namespace, sd: StatedNoise | None, console: Console
) -> tuple[RawTable, TableMapping, ImportedTable, dict[str, float]]:
    """The table as it is, what its columns are, what came of it, and the epsilons said with endpoints."""
    raw, mapping, epsilons = read_mapped(options, sd, console)
    imported = import_table(raw, mapping, console.report)
    endpoints = tuple(with_classes_of(endpoint, raw, imported) for endpoint in imported.endpoints)
    return raw, mapping, replace(imported, endpoints=endpoints), epsilons


def read_mapped(
    options: argparse.Namespace, sd: StatedNoise | None, console: Console
) -> tuple[RawTable, TableMapping, dict[str, float]]:
    """The table as it is, what its columns are, and the epsilons said with endpoints, by the table options."""
    specs = tuple(map(parse_endpoint_spec, options.endpoint))
    noise_class = getattr(options, "noise_class", None)
    if options.only_listed and not options.product:
        raise AssayPilotError(
            "only the table's compounds are in the library anyway", option="--only-listed", mend="Give --product, too."
        )
    wanted = TableOptions(
        id=options.id,
        smiles=options.smiles,
        sites=options.sites or (),
        blank=options.blank or "missing",
        product=options.product,
        only_listed=options.only_listed,
        available=options.available,
        stock=getattr(options, "stock", None),
        cost=getattr(options, "cost", None),
        lead=getattr(options, "lead", None),
        endpoints=specs,
        sd=sd,
        noise_classes=None if noise_class is None else parse_noise_classes(noise_class),
        cores=tuple(options.core),
        merge=options.merge or "no",
        min_seen=options.min_seen,
        drop_sites=tuple(options.drop_site),
        joined=tuple(options.join_substituents),
        interactions=tuple(options.interaction),
    )
    raw = _tables(options, console)
    try:
        mapping = propose(raw, wanted)
    except AssayPilotError as error:
        raise _with_cores(error, raw, options, console) from None
    return raw, mapping, {spec.name: spec.epsilon for spec in specs if spec.epsilon is not None}


def _tables(options: argparse.Namespace, console: Console) -> RawTable:
    """The table, with the one that is joined to it; each sheet that was named belongs to the next of them that has any.

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
            f"{len(sheets)} sheets were named, for {plural(len(books), 'workbook')}",
            option="--sheet",
            mend="Name one for each workbook: first that of the table, then that of --join.",
        )
    # Without any workbook the table itself says that it has no sheets.
    of_file = dict(zip(books or [0], sheets, strict=False))
    if options.header is None and options.decimal is None:
        raw = read_table(options.table, console.report, sheet=of_file.get(0))
    else:
        decimal = {None: None, "point": ".", "comma": ","}[options.decimal]
        how = ReadAs(sheet=of_file.get(0), header=options.header, decimal=decimal)
        raw = read_as(options.table, how, console.report).raw
    for place, file in enumerate(files[1:], start=1):
        other = read_table(file, console.report, sheet=of_file.get(place))
        raw = join_tables(raw, other, id_column=options.id, other_column=column)
    return raw


def _with_cores(
    error: AssayPilotError, raw: RawTable, options: argparse.Namespace, console: Console
) -> AssayPilotError:
    """The refusal of a table without sites, with the cores its structures share or the header; any other as it is."""
    nameless = sum(re.fullmatch(r"column \d+", column) is not None for column in raw.columns)
    if (
        error.option == "--sites"
        and options.header is None
        and raw.kind in ("text", "workbook")
        and 3 * nameless > len(raw.columns)
    ):
        error.mend = f"{error.mend} Or say which row is the header, for example --header 2 or --header 1-2."
        return error
    if error.option != "--sites" or options.sites or not error.mend or "--core" not in error.mend:
        return error
    hint = core_hint(raw, options.smiles, console.report)
    if hint:
        error.mend = error.mend.replace("--core SMILES.", f"{hint}. Look at a core before you use it.")
    return error


def parameters_of(options: argparse.Namespace) -> dict[str, Any]:
    """The strategy's parameters by name; refuses one that is given two values."""
    given: dict[str, Any] = {}
    for name, value in options.parameter:
        if name in given and given[name] != value:
            raise AssayPilotError(
                f"{name} is given twice, as {given[name]} and as {value}", option="--parameter", mend="Give it once."
            )
        given[name] = value
    return given


def _objectives(wanted: Sequence[str] | None, endpoints: Sequence[Endpoint], goal: str) -> tuple[str, ...]:
    """The endpoints the goal is about: those named, else the only one; for trade-offs () stands for all of them."""
    names = [endpoint.name for endpoint in endpoints]
    if not names:
        raise AssayPilotError(
            "the table has no column of measured values, and no endpoint was named",
            option="--endpoint",
            mend='Say what will be measured, for example --endpoint "pIC50;sd=0.2".',
        )
    if wanted is None:
        if len(names) == 1:
            return (names[0],)
        if goal == "pareto":
            return ()
        raise AssayPilotError(
            f"there are {len(names)} endpoints: {', '.join(names)}",
            option="--objective",
            mend="Say which one the goal is about: --objective NAME.",
        )
    by_name = spellings(endpoints)
    found = []
    for text in wanted:
        # A text that is a name as a whole is that endpoint, commas and all.
        for piece in [text] if text.strip().casefold() in by_name else text.split(","):
            name = by_name.get(piece.strip().casefold())
            if name is None:
                raise AssayPilotError(
                    f"there is no endpoint {piece.strip()!r}",
                    option="--objective",
                    mend=f"Choose one of: {', '.join(names)}.",
                )
            found.append(name)
    if len(found) > 1 and goal != "pareto":
        raise AssayPilotError(
            f"the goal {goal} is about one endpoint, and {len(found)} were named: {', '.join(found)}",
            option="--objective",
            mend="Name one, or ask for trade-offs: --goal pareto.",
        )
    return tuple(found)


def _epsilon(given: float | None, by_endpoint: dict[str, float], objectives: Sequence[str], goal: str) -> float | None:
    """The distance from the best; trade-offs take those of the endpoints from the endpoints themselves."""
    if given is not None or goal == "pareto":
        return given
    return next((value for name, value in by_endpoint.items() if name.casefold() == objectives[0].casefold()), None)


def _unused(options: argparse.Namespace) -> list[str]:
    """One sentence about an option that has no meaning for the goal; empty when all have."""
    if options.goal == "pareto" and options.slack is not None:
        return ["Trade-offs have no cutoff, so the slack is not used."]
    return []


def _check_lines(path: str, report: dict[str, Any]) -> list[str]:
    """A check report as text."""
    lines = [
        f"{Path(path).name}: {report['rows_used']:,} of {plural(report['rows_read'], 'row')} used "
        f"({report['read_as']})",
        f"Ids: {report['id_column'] or 'made from the substituents'}; structures: {report['smiles_column'] or 'none'}",
        f"{plural(report['compounds'], 'compound')} in the table, {report['library_size']:,} in the library; "
        f"rank {report['rank']} of {report['max_rank']}",
        "",
    ]
    for site in report["sites"]:
        labels = [f"{entry['label']} ({entry['count']})" for entry in site["substituents"]]
        more = f", and {len(labels) - _LABELS} more" if len(labels) > _LABELS else ""
        lines.append(f"Site {site['name']}: {plural(len(labels), 'substituent')}: {', '.join(labels[:_LABELS])}{more}")
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
    return lines + [f"Note: {text}" for text in [*report["warnings"], *report.get("notes", [])]]


def _endpoint_table(report: dict[str, Any]) -> list[str]:
    rows = []
    for endpoint in report["endpoints"]:
        fit = report["additive_fit"].get(endpoint["name"]) or {}
        rows.append(
            (
                endpoint["name"],
                endpoint["unit"],
                # Of a concentration the logarithm is meant, and "higher" beside "nM" would say the contrary.
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
