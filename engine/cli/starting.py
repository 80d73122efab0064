"""``check`` and ``new``: a table is read, and becomes a campaign."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from assaypilot.engine.campaign.state import Settings, Source, Status
from assaypilot.engine.campaign.words import many
from assaypilot.engine.cli.check_words import check_lines
from assaypilot.engine.cli.console import Console, Reply
from assaypilot.engine.cli.naming import named
from assaypilot.engine.cli.next_line import next_line
from assaypilot.engine.cli.reading import read_mapped
from assaypilot.engine.cli.standing import what_can_be_done
from assaypilot.engine.cli.stock_options import terms_of
from assaypilot.engine.cli.stock_words import said_lines, said_of_stock, stock_document, stock_lines
from assaypilot.engine.domain.controls import parse_control
from assaypilot.engine.domain.difference import parts
from assaypilot.engine.domain.endpoint import Endpoint
from assaypilot.engine.domain.stated_noise import StatedNoise
from assaypilot.engine.domain.usual import usual
from assaypilot.engine.errors import AssayPilotError
from assaypilot.engine.tables.check import EndpointFacts, check_report, endpoint_facts
from assaypilot.engine.tables.importer import ImportedTable, import_table
from assaypilot.engine.tables.options import TableMapping
from assaypilot.engine.tables.raw import RawTable

__all__ = ["check", "new", "parameters_of"]

_HISTORY = "they are shown and used to estimate, not to decide"
_ROWS = 10
"""Rows named in one sentence."""


def check(options: argparse.Namespace, console: Console) -> Reply:
    """What an import of the table would understand; writes nothing."""
    raw, mapping, imported, _ = _read(options, None, console)
    document = check_report(raw, mapping, imported) | {"stock": said_of_stock(imported)}
    return Reply(document, [*check_lines(options.table, document), *said_lines(document["stock"])])


def new(options: argparse.Namespace, console: Console) -> Reply:
    """A campaign file made from a table."""
    from assaypilot.engine.campaign.campaign import Campaign

    path = Path(options.file)
    _refuse_taken(path)
    terms = terms_of(options)
    raw, mapping, imported, epsilons = _read(options, options.sd, console)
    objectives = _objectives(options.objective, imported.endpoints, options.goal)
    facts = endpoint_facts(imported)
    document = check_report(raw, mapping, imported, facts)
    epsilon = _epsilon(options.epsilon, epsilons, objectives, options.goal)
    imported, epsilon, taken = _as_usual(imported, mapping, facts, objectives, epsilon, options.goal)
    settings = Settings(
        objective=objectives[0] if objectives else "",
        objectives=objectives,
        epsilon=epsilon,
        slack=options.slack,
        delta=options.delta,
        goal=options.goal,
        strategy=options.strategy,
        parameters=parameters_of(options),
        per_round=options.per_round,
        max_replicates=options.max_replicates,
        budget=options.budget,
        seed=options.seed,
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
        warnings=[*taken, *imported.warnings, *_contradictions(imported), *_left_out(imported), *_unused(options)],
        report=console.report,
    ) as campaign:
        now = campaign.status()
    return Reply(_document(path, now, imported, document), _lines(path, now, len(imported.history), document))


def _document(path: Path, now: Status, imported: ImportedTable, document: dict[str, Any]) -> dict[str, Any]:
    """The campaign that was made, as ``--json`` prints it; ``document`` is the check of its table."""
    asked = [now.endpoints[k] for k in now.asked_endpoints]
    return {
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


def _lines(path: Path, now: Status, history: int, document: dict[str, Any]) -> list[str]:
    """The same for the terminal; ``history``: how many values there were before."""
    asked = [now.endpoints[k] for k in now.asked_endpoints]
    return [
        f"Created {path}: {many(len(now.library), 'compound')}, rank {document['rank']} of {document['max_rank']}",
        now.goal_sentence,
        *(
            f"Assay noise (SD) of {endpoint.scale_name}: "
            + (f"unknown, at first {endpoint.noise_text}" if _unknown(now, endpoint) else endpoint.noise_text)
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
        *([f"History: {many(history, 'value')}; {_HISTORY}"] if history else []),
        *(f"Note: {warning}" for warning in now.warnings),
        "",
        next_line(now, path),
    ]


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
        f"{many(len(imported.not_used), 'row or value', 'rows or values')} of the table not used; "
        f"the first is {where}{': ' if where else ''}{first.reason}"
    ]


def _read(
    options: argparse.Namespace, sd: StatedNoise | None, console: Console
) -> tuple[RawTable, TableMapping, ImportedTable, dict[str, float]]:
    """The table as it is, what its columns are, what came of it, and the epsilons said with endpoints."""
    raw, mapping, epsilons = read_mapped(options, sd, console)
    return raw, mapping, import_table(raw, mapping, console.report), epsilons


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
    found = named(wanted, endpoints)
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


def _as_usual(
    imported: ImportedTable,
    mapping: TableMapping,
    facts: Sequence[EndpointFacts],
    objectives: Sequence[str],
    epsilon: float | None,
    goal: str,
) -> tuple[ImportedTable, float | None, list[str]]:
    """The table with usual numbers for noise that nobody knows, and epsilon likewise, each named with its option."""
    endpoints, said = [], []
    for endpoint, fact, column in zip(imported.endpoints, facts, mapping.endpoints, strict=True):
        own = [r for r in imported.history if r.endpoint == endpoint.name and r.relation == "=" and not r.excluded]
        found = usual(endpoint, [endpoint.to_model(r.value, r.unit) for r in own])
        wanted = endpoint.name in objectives or (not objectives and goal == "pareto")
        if found is not None and fact.noise_sd is None and endpoint.kind == "value" and endpoint.of is None:
            endpoint = replace(endpoint, noise_sd=found.noise_sd, noise_estimated=True)
            if wanted:
                said.append(
                    f"No assay noise (SD) of {endpoint.name} was given, and no compound was measured twice: "
                    f"{found.noise_sd:g} is taken at first ({found.what}). Give yours: "
                    f'--endpoint "{endpoint.name};sd=...".'
                )
        if found is not None and epsilon is None and goal == "epsilon-best" and endpoint.name in objectives:
            epsilon = found.epsilon
            said.append(
                f"No epsilon was given: wanted are the compounds within {epsilon:g} of the best {endpoint.scale_name} "
                f"({found.what}). Give yours: --epsilon."
            )
        if wanted and not column.direction_known:
            said.append(
                f"Higher {endpoint.name} is taken as better, as its name does not say. If lower is better: "
                f'--endpoint "{endpoint.name};direction=min".'
            )
        endpoints.append(endpoint)
    return replace(imported, endpoints=tuple(endpoints)), epsilon, said


def _unused(options: argparse.Namespace) -> list[str]:
    """One sentence about an option that has no meaning for the goal; empty when all have."""
    if options.goal == "pareto" and options.slack is not None:
        return ["Trade-offs have no cutoff, so the slack is not used."]
    return []
