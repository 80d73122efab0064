"""What ``simulate`` plays on: an instance of a paper or a table, and the goal there."""

from __future__ import annotations

import argparse
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from ..campaign.from_table import objectives_of
from ..campaign.state import Settings
from ..domain.goals import AllEpsilonBest, Best, Goal, ParetoSet
from ..errors import AssayPilotError
from ..simulate.instances import Instance, get
from ..simulate.tables import Truth, of_table, truth_of
from ..strategies.protocol import check_delta
from ..system.progress import part_of
from .program import Console

if TYPE_CHECKING:
    from ..tables.importer import ImportedTable


def played_on(options: argparse.Namespace, console: Console) -> tuple[Instance, Goal]:
    """Return the instance and the goal: a paper's own unless said otherwise, or those of a table."""
    if options.instance is not None:
        instance = get(options.instance)
        return instance, _goal_of_instance(options, instance)
    return _from_table(options, console)


def _goal_of_instance(options: argparse.Namespace, instance: Instance) -> Goal:
    drawn = instance.make(0)
    own, endpoints = drawn.goal, len(drawn.noise)
    name = options.goal or own.name
    epsilon, slack = options.epsilon, options.slack
    margins = own.margins if isinstance(own, ParetoSet) else (0.0,) * endpoints
    if endpoints > 1 and name != "pareto":
        raise AssayPilotError(
            f"{instance.name} has {endpoints} endpoints: its goal is pareto", option="--goal", mend="Leave --goal out."
        )
    # Random instances come with their epsilon in every draw; all draws of one instance share it.
    if name == "epsilon-best" and isinstance(own, AllEpsilonBest):
        epsilon, slack = epsilon or own.epsilon, own.slack if slack is None else slack
    if name == "best" and isinstance(own, Best) and epsilon is None and slack is None:
        slack = own.slack
    return _goal(options, name, epsilon, slack, margins if epsilon is None else (epsilon,) * endpoints)


def _goal(
    options: argparse.Namespace, name: str, epsilon: float | None, slack: float | None, margins: tuple[float, ...]
) -> Goal:
    """Return the goal of that name as a campaign has it; AssayPilotError where it lacks something."""
    if name == "pareto" and slack is not None:
        raise AssayPilotError(
            f"trade-offs have no cutoff, so there is no slack to soften it by, got {slack:g}",
            option="--slack",
            mend="Leave --slack out; --epsilon says how much better in every endpoint does not matter.",
        )
    return Settings(goal=name, epsilon=epsilon, slack=slack, top=options.top).goal_of(margins)


def _from_table(options: argparse.Namespace, console: Console) -> tuple[Instance, Goal]:
    from assaypilot import datasets

    known = None
    kind: Truth = options.truth or "fit"
    given = argparse.Namespace(**vars(options))
    if options.dataset is not None:
        entry = datasets.load(options.dataset)
        given.table, given.id, given.sites = str(entry.path), options.id or entry.id, options.sites or entry.sites
        given.endpoint = options.endpoint or list(entry.endpoints)
        name, paper, title = entry.name, "shipped table", entry.title
        if entry.truth is not None:
            known, kind = dict(zip(*datasets.truth(entry.name), strict=True)), "known"
    else:
        name, paper, title = Path(options.table).name, "a table", f"the table {Path(options.table).name}"
    imported = _readable(given, options, console)
    # What the user says of an endpoint goes before --sd, as in a campaign; what a shipped table says does not.
    whole = options.sd is not None and not options.endpoint
    endpoints = [replace(e, noise_sd=options.sd.sd or e.noise_sd) if whole else e for e in imported.endpoints]
    goal_name = options.goal or "epsilon-best"
    names = objectives_of(options.objective and [options.objective], endpoints, goal_name)
    called = {endpoint.name: endpoint for endpoint in endpoints}
    asked = [called[name] for name in names or called]
    # As in a campaign: for trade-offs --epsilon is for the endpoints that name none of their own.
    epsilon = asked[0].epsilon if options.epsilon is None else options.epsilon
    margins = tuple((options.epsilon or 0.0) if one.epsilon is None else one.epsilon for one in asked)
    goal = _goal(options, goal_name, options.epsilon if goal_name == "best" else epsilon, options.slack, margins)
    # A range is said on the endpoint's own side, and simulated values are turned to where larger is better.
    options.smaller_is_better = asked[0].sign < 0
    truth = truth_of(imported.library, imported.history, asked, kind, known)
    delta = 0.05 if options.delta is None else options.delta
    return of_table(name, paper, title, truth, goal, check_delta(delta)), goal


def _readable(given: argparse.Namespace, options: argparse.Namespace, console: Console) -> ImportedTable:
    """Return what came of the table; AssayPilotError where it holds what a simulation does not know."""
    from ..tables.importer import import_table
    from .starting import read_mapped

    raw, mapping = read_mapped(given, options.sd, console)[:2]
    imported = import_table(raw, mapping, part_of(console.report, 0.0, 0.0))
    if imported.errors:
        first = imported.errors[0]
        raise AssayPilotError(
            first.reason.rstrip("."), file=raw.file, row=first.row, column=first.column, mend="Correct the table."
        )
    limited = next((e.limit_text for e in imported.endpoints if e.limit is not None), None)
    if limited is not None:
        raise AssayPilotError(
            f"simulations know no limits, and there is one: {limited}",
            option="--endpoint",
            mend="Leave limit= out; a campaign decides it together with the goal.",
        )
    calculated = next((e.name for e in imported.endpoints if e.of is not None), None)
    if calculated is not None:
        raise AssayPilotError(
            f"simulations know no differences of endpoints, and there is one: {calculated}",
            option="--endpoint",
            mend="Leave of= out; a campaign can have it.",
        )
    return imported
