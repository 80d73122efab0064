"""``check`` and ``new``: a table is read, and becomes a campaign."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from assaypilot.engine.campaign.state import Settings, Source
from assaypilot.engine.cli.console import Console, Reply, count, plural, table
from assaypilot.engine.errors import AssayPilotError
from assaypilot.engine.tables.check import check_report
from assaypilot.engine.tables.importer import ImportedTable, import_table
from assaypilot.engine.tables.join import join_tables, split_join
from assaypilot.engine.tables.mapping import propose
from assaypilot.engine.tables.options import EndpointSpec, TableMapping, TableOptions, parse_endpoint_spec
from assaypilot.engine.tables.raw import RawTable, read_table

__all__ = ["check", "new", "read_mapped"]

_HISTORY = "they are shown and used to estimate, not to decide"
_ROWS = 10
"""Unused rows shown in the terminal."""
_LABELS = 12
"""Substituents of one site shown in the terminal."""


def check(options: argparse.Namespace, console: Console) -> Reply:
    """What an import of the table would understand; writes nothing."""
    raw, mapping, imported, _ = _read(options, None, console)
    document = check_report(raw, mapping, imported)
    return Reply(document, _check_lines(options.table, document))


def new(options: argparse.Namespace, console: Console) -> Reply:
    """A campaign file made from a table."""
    from assaypilot.engine.campaign.campaign import Campaign

    path = Path(options.file)
    _refuse_taken(path)
    raw, mapping, imported, epsilons = _read(options, options.sd, console)
    _refuse_errors(raw, imported)
    names = [endpoint.name for endpoint in imported.endpoints]
    objective = _objective(options.objective, names)
    document = check_report(raw, mapping, imported)
    settings = Settings(
        objective=objective,
        epsilon=_epsilon(options.epsilon, epsilons, objective),
        slack=options.slack,
        delta=options.delta,
        goal=options.goal,
        strategy=options.strategy,
        parameters=dict(options.parameter),
        per_round=options.per_round,
        max_replicates=options.max_replicates,
        budget=options.budget,
        seed=options.seed,
    )
    with Campaign.create(
        path,
        library=imported.library,
        endpoints=imported.endpoints,
        settings=settings,
        name=options.name,
        history=imported.history,
        source=Source(raw.file or "", raw.digest),
        mapping=mapping.as_json(),
        warnings=[*imported.warnings, *_left_out(imported)],
        report=console.report,
    ) as campaign:
        now = campaign.status()
    measured = now.endpoints[now.objective]
    answer = {
        "file": str(path),
        "name": now.name,
        "compounds": len(now.library),
        "rank": document["rank"],
        "max_rank": document["max_rank"],
        "objective": objective,
        "goal": now.goal_sentence,
        "noise_sd": measured.noise_sd,
        "history": len(imported.history),
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
        f"Assay noise (SD) of {measured.scale_name}: {measured.noise_sd:.3g}",
        f"Strategy {now.why}",
        *([f"History: {plural(len(imported.history), 'value')}; {_HISTORY}"] if imported.history else []),
        *(f"Note: {warning}" for warning in now.warnings),
        "",
        f"Next: assaypilot plan {path} --out round1.csv",
    ]
    return Reply(answer, lines)


def _refuse_taken(path: Path) -> None:
    """Nothing; refuses a place for the campaign before a large table is read for it."""
    if path.exists():
        raise AssayPilotError("there is already a file of this name", file=str(path), mend="Choose another name.")
    if not path.parent.is_dir():
        raise AssayPilotError("there is no such folder", file=str(path), mend="Make the folder, or choose another.")


def _refuse_errors(raw: RawTable, imported: ImportedTable) -> None:
    """Nothing; refuses a table that contradicts itself, since nobody but the user knows what was meant."""
    if imported.errors:
        first, others = imported.errors[0], len(imported.errors) - 1
        more = f" (and {plural(others, 'more error')}, see assaypilot check)" if others else ""
        raise AssayPilotError(
            f"{first.reason.rstrip('.')}{more}",
            file=raw.file,
            row=first.row,
            column=first.column,
            mend="Correct the table and try again.",
        )


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
    options: argparse.Namespace, sd: float | None, console: Console
) -> tuple[RawTable, TableMapping, ImportedTable, dict[str, float]]:
    """The table as it is, what its columns are, what came of it, and the epsilons said with endpoints."""
    raw, mapping, epsilons = read_mapped(options, sd, console)
    return raw, mapping, import_table(raw, mapping, console.report), epsilons


def read_mapped(
    options: argparse.Namespace, sd: float | None, console: Console
) -> tuple[RawTable, TableMapping, dict[str, float]]:
    """The table as it is, what its columns are, and the epsilons said with endpoints, by the table options."""
    specs, epsilons = _endpoint_specs(options.endpoint)
    wanted = TableOptions(
        id=options.id,
        smiles=options.smiles,
        sites=options.sites or (),
        blank=options.blank or "missing",
        product=options.product,
        available=options.available,
        endpoints=specs,
        sd=sd,
    )
    raw = read_table(options.table, console.report)
    if options.join:
        file, column = split_join(options.join)
        raw = join_tables(raw, read_table(file, console.report), id_column=options.id, other_column=column)
    return raw, propose(raw, wanted), epsilons


def _endpoint_specs(texts: Sequence[str]) -> tuple[tuple[EndpointSpec, ...], dict[str, float]]:
    """What ``--endpoint`` says, and the distances from the best said there."""
    specs, epsilons = [], {}
    for text in texts:
        parts = text.split(";")
        own = [part for part in parts[1:] if part.partition("=")[0].strip().casefold() == "epsilon"]
        spec = parse_endpoint_spec(";".join(part for part in parts if part not in own))
        specs.append(spec)
        for part in own:
            try:
                epsilons[spec.name] = float(part.partition("=")[2].replace(",", "."))
            except ValueError:
                raise AssayPilotError(
                    f"epsilon of {spec.name} must be a number", option="--endpoint", mend="For example epsilon=0.5."
                ) from None
    return tuple(specs), epsilons


def _objective(wanted: str | None, names: Sequence[str]) -> str:
    """The endpoint the goal is about: the one named, else the only one."""
    if not names:
        raise AssayPilotError(
            "the table has no column of measured values, and no endpoint was named",
            option="--endpoint",
            mend='Say what will be measured, for example --endpoint "pIC50;sd=0.2".',
        )
    if wanted is None:
        if len(names) > 1:
            raise AssayPilotError(
                f"there are {len(names)} endpoints: {', '.join(names)}",
                option="--objective",
                mend="Say which one the goal is about: --objective NAME.",
            )
        return names[0]
    for name in names:
        if name.casefold() == wanted.strip().casefold():
            return name
    raise AssayPilotError(
        f"there is no endpoint {wanted!r}", option="--objective", mend=f"Choose one of: {', '.join(names)}."
    )


def _epsilon(given: float | None, by_endpoint: dict[str, float], objective: str) -> float:
    if given is not None:
        return given
    for name, value in by_endpoint.items():
        if name.casefold() == objective.casefold():
            return value
    raise AssayPilotError(
        "it was not said how far from the best still counts",
        option="--epsilon",
        mend="For example --epsilon 0.5: in log units, within 3-fold of the best.",
    )


def _check_lines(path: str, report: dict[str, Any]) -> list[str]:
    """A check report as text."""
    lines = [
        f"{Path(path).name}: {report['rows_used']:,} of {plural(report['rows_read'], 'row')} used "
        f"({report['encoding']}, separated by {_delimiter(report['delimiter'])})",
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
    return lines + [f"Note: {text}" for text in [*report["warnings"], *report.get("notes", [])]]


def _endpoint_table(report: dict[str, Any]) -> list[str]:
    rows = []
    for endpoint in report["endpoints"]:
        fit = report["additive_fit"].get(endpoint["name"]) or {}
        rows.append(
            (
                endpoint["name"],
                endpoint["unit"],
                "higher" if endpoint["direction"] == "max" else "lower",
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


def _delimiter(text: str) -> str:
    return {",": "commas", ";": "semicolons", "\t": "tabs"}.get(text, text)
