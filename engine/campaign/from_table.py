"""A campaign made from a table, with usual numbers for what is unknown, each of them named; and its results."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from ..domain.derived import profile_endpoint
from ..domain.desirability import Curve
from ..domain.endpoint import Endpoint
from ..domain.noise import about_unit, usual
from ..domain.stock import NOTHING_STATED, StockTerms
from ..errors import AssayPilotError
from ..system.progress import Report, silent
from ..tables.check import EndpointFacts, endpoint_facts
from ..tables.importer import ImportedTable
from ..tables.options import TableMapping
from ..tables.raw import RawTable
from ..tables.results import ResultsTable, read_results
from ..tables.values import is_missing
from ..text import many
from .campaign import Campaign
from .creation import objectives_of
from .issued_rounds import Source
from .settings import Settings
from .state import Status

_OF_SCORES = 0.1
"""Distance from the best score of a profile that counts as equal where none is given."""
_ROWS = 10
"""Rows named in one sentence."""


@dataclass(frozen=True, slots=True)
class Choices:
    """The goal of a campaign and what the lab can do; None where nothing was given."""

    goal: str = "epsilon-best"
    objectives: Sequence[str] | None = None
    """Endpoints the goal is about, as people call them; None: the only one, for trade-offs all of them."""
    epsilon: float | None = None
    terms: Mapping[str, Any] = field(default_factory=dict)
    """Further ``Settings``, by name."""
    stock: StockTerms = NOTHING_STATED
    name: str | None = None
    epsilons: Mapping[str, float] = field(default_factory=dict)
    """What was given with the endpoints, by name."""
    profile: Sequence[Curve] = ()
    """Desirability curves; they make one more endpoint, which the goal is about where no objective is named."""


def campaign_from_table(
    path: str | Path,
    raw: RawTable,
    mapping: TableMapping,
    imported: ImportedTable,
    choices: Choices,
    *,
    facts: Sequence[EndpointFacts] | None = None,
    name: str = "",
    report: Report = silent,
) -> Campaign:
    """Create the campaign file of a table that was read, mapped and imported; return the open campaign.

    ``facts``: those of the table's endpoints, where they are known already; ``name``: of a table without a file.
    AssayPilotError, with nothing written, as ``Campaign.create``, and where it is unclear which endpoint the goal is
    about.
    """
    profile = [profile_endpoint(choices.profile, imported.endpoints)] if choices.profile else []
    of_goal = choices.objectives
    if profile and of_goal is None:
        # Trade-offs are between what is measured; other goals are about the score.
        trade = choices.goal == "pareto"
        of_goal = [endpoint.name for endpoint in imported.endpoints] if trade else [profile[0].name]
    objectives = objectives_of(of_goal, [*imported.endpoints, *profile], choices.goal)
    epsilon = _epsilon(choices.epsilon, choices.epsilons, objectives, choices.goal)
    facts = endpoint_facts(imported) if facts is None else facts
    imported, epsilon, taken = _as_usual(imported, facts, objectives, epsilon, choices.goal)
    if epsilon is None and profile and choices.goal == "epsilon-best" and objectives == (profile[0].name,):
        epsilon = _OF_SCORES
        taken.append(
            f"No epsilon was given: the goal is the compounds within {epsilon:g} of the best {profile[0].name}, which "
            "goes from 0 to 1. Give yours if you know it."
        )
    if choices.goal == "pareto" and choices.terms.get("slack") is not None:
        taken.append("Trade-offs have no cutoff, so the slack is not used.")
    settings = Settings(
        objective=objectives[0] if objectives else "",
        objectives=objectives,
        epsilon=epsilon,
        goal=choices.goal,
        **choices.terms,
    )
    return Campaign.create(
        path,
        library=imported.library,
        endpoints=[*imported.endpoints, *profile],
        settings=settings,
        name=choices.name,
        history=imported.history,
        stock=(imported.stock, choices.stock),
        source=Source(raw.file or name, raw.digest),
        mapping=mapping.as_json(),
        warnings=[
            *taken,
            *_curves(profile, imported),
            *_wrong_limits(imported, mapping),
            *imported.warnings,
            *_contradictions(imported),
            *_left_out(imported),
        ],
        report=report,
    )


def _curves(profile: Sequence[Endpoint], imported: ImportedTable) -> list[str]:
    """Return a sentence for each curve of a profile: which values, in which unit, are of use."""
    units = {endpoint.name: endpoint.unit for endpoint in imported.endpoints}
    notes = []
    for curve in [curve for one in profile for curve in one.curves]:
        worth = [f"{value:.4g}" for value in curve.values]
        unit = f" {units[curve.endpoint]}" if units.get(curve.endpoint) else ""
        if len(worth) == 2:
            up, down = ("up to", "from") if curve.values[0] < curve.values[1] else ("from", "up to")
            text = f"worth 0 {up} {worth[0]}{unit}, and 1 {down} {worth[1]}{unit}"
        else:
            text = f"worth 1 from {worth[1]} to {worth[2]}{unit}, and 0 beyond {worth[0]} and {worth[3]}{unit}"
        notes.append(f"Profile: {curve.endpoint} is {text}.")
    return notes


def _wrong_limits(imported: ImportedTable, mapping: TableMapping) -> list[str]:
    """Return a question for each limit that leaves out the better compounds, where a name shows which are better."""
    return [
        f"The limit {endpoint.limit_text} leaves out the better compounds, as "
        f"{'higher' if endpoint.direction == 'max' else 'lower'} {endpoint.scale_name} is better. Is its sign right?"
        for endpoint, column in zip(imported.endpoints, mapping.endpoints, strict=True)
        if endpoint.limit_leaves_out_the_better and column.direction_known
    ]


def refuse_taken(path: Path) -> None:
    """Refuse a place for a campaign that is taken or absent, before a large table is read for it."""
    if path.exists():
        raise AssayPilotError("there is already a file of this name", file=str(path), mend="Choose another name.")
    if not path.parent.is_dir():
        raise AssayPilotError("there is no such folder", file=str(path), mend="Make the folder, or choose another.")


def _contradictions(imported: ImportedTable) -> list[str]:
    """Return one sentence about rows that contradict each other, none of which is used; empty without any."""
    if not imported.errors:
        return []
    rows = ", ".join(str(problem.row) for problem in imported.errors[:_ROWS])
    more = ", ..." if len(imported.errors) > _ROWS else ""
    first = imported.errors[0].reason.rstrip(".")
    return [f"left out, since only you know what was meant: row {rows}{more} ({first}); correct the table to use them"]


def _left_out(imported: ImportedTable) -> list[str]:
    """Return one sentence about rows and values that were not used; empty when all were."""
    if not imported.not_used:
        return []
    first = imported.not_used[0]
    places = ("" if first.row is None else f"row {first.row}", "" if first.column is None else f"column {first.column}")
    where = ", ".join(filter(None, places))
    return [
        f"{many(len(imported.not_used), 'row or value', 'rows or values')} of the table not used; "
        f"the first is {where}{': ' if where else ''}{first.reason}"
    ]


def _epsilon(
    given: float | None, by_endpoint: Mapping[str, float], objectives: Sequence[str], goal: str
) -> float | None:
    """Return the distance from the best; trade-offs take those of the endpoints from the endpoints themselves."""
    if given is not None or goal == "pareto":
        return given
    return next((value for name, value in by_endpoint.items() if name.casefold() == objectives[0].casefold()), None)


def _as_usual(
    imported: ImportedTable,
    facts: Sequence[EndpointFacts],
    objectives: Sequence[str],
    epsilon: float | None,
    goal: str,
) -> tuple[ImportedTable, float | None, list[str]]:
    """Return the table with unknown noise to be estimated, epsilon, and sentences on what was assumed."""
    endpoints, notes = [], []
    for endpoint, fact in zip(imported.endpoints, facts, strict=True):
        own = [r for r in imported.history if r.endpoint == endpoint.name and r.relation == "=" and not r.excluded]
        found = usual(endpoint, [endpoint.to_model(r.value, r.unit) for r in own])
        if found is not None and fact.noise_sd is None and endpoint.kind == "value" and endpoint.of is None:
            endpoint = replace(endpoint, noise_estimated=True)
        if found is not None and epsilon is None and goal == "epsilon-best" and endpoint.name in objectives:
            epsilon = found.epsilon
            notes.append(
                f"No epsilon was given: the goal is the compounds within {epsilon:g} of the best {endpoint.scale_name} "
                f"({found.what}). Give yours if you know it."
            )
        endpoints.append(endpoint)
    return replace(imported, endpoints=tuple(endpoints)), epsilon, notes


def returned(raw: RawTable, now: Status, report: Report = silent, *, unit: str | None = None) -> ResultsTable:
    """Return the results in a table, with a reason for each row that is not used.

    ``unit``: of the numbers that have none. AssayPilotError for a table without a usable value, and where numbers
    without a unit lie a factor of 1,000 from those before.
    """
    if unit is not None:
        column = raw.find("Unit")
        cells = [""] * len(raw) if column is None else raw.column(column)
        raw = raw.with_columns({column or "Unit": [unit if is_missing(cell) else cell for cell in cells]})
    found = read_results(
        raw,
        now.library,
        now.endpoints,
        report,
        controls=now.settings.controls,
        layouts=now.layouts,
        asked=now.asked_endpoint,
    )
    if not found.results:
        if not found.rejected:
            raise AssayPilotError(
                "no value is filled in",
                file=raw.file,
                mend=f"Fill in {' and '.join(now.value_columns)} and save the table as csv."
                if len(now.entered_endpoints) > 1
                else "Fill in the column Value and save the table as csv.",
            )
        first, others = found.rejected[0], len(found.rejected) - 1
        more = f" (and {many(others, 'more row')})" if others else ""
        raise AssayPilotError(
            f"{first.reason.rstrip('.')}{more}; nothing was recorded",
            file=raw.file,
            row=first.row,
            column=first.column,
            mend="Correct the table and try again.",
        )
    for place, endpoint in enumerate(now.endpoints if unit is None else ()):
        bare = [r.value for r in found.results if r.endpoint == endpoint.name and r.relation == "=" and not r.unit]
        earlier = [m for m in now.measurements if m.endpoint == place and m.usable and not m.entered.unit]
        question = about_unit(endpoint, bare, [endpoint.from_model(m.value) for m in earlier])
        if question is not None:
            raise AssayPilotError(
                f"{question} Nothing was recorded",
                file=raw.file,
                option="--unit",
                mend=f"Give their unit, such as --unit uM; --unit {endpoint.unit} if they are right.",
            )
    return found
