"""Simulated assays: ``demo``, a whole practice campaign, and what ``simulate`` plays on."""

from __future__ import annotations

import argparse
import time
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ..arrays import Floats
from ..campaign.creation import objectives_of
from ..campaign.from_table import refuse_taken
from ..campaign.settings import Settings
from ..campaign.state import Status
from ..domain.goals import AllEpsilonBest, Best, Goal, ParetoSet
from ..errors import AssayPilotError
from ..export.shortlist import ranked
from ..simulate.instances import Instance, get
from ..simulate.practice import create_practice, practice_results, practice_truth
from ..simulate.tables import Truth, of_table, truth_of
from ..strategies.protocol import IN, check_delta
from ..system.places import refused, temporary_folder
from ..system.progress import part_of
from ..text import many, percent, tally
from .files import export_shortlist
from .program import Console, Reply, table
from .standing import status_document

if TYPE_CHECKING:
    from ..tables.importer import ImportedTable


_CAMPAIGN, _SHORTLIST = "practice.assaypilot", "shortlist.csv"
_SHOWN = 25
"""Compounds of the answer shown in the terminal."""


def demo(options: argparse.Namespace, console: Console) -> Reply:
    """Return a practice campaign from the first round to the decided set, compared with the truth."""
    if options.out is None:
        with temporary_folder() as place:
            return _run(place / _CAMPAIGN, None, options.seed, console)
    folder = Path(options.out)
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise refused(error, folder) from None
    refuse_taken(folder / _SHORTLIST)
    return _run(folder / _CAMPAIGN, folder / _SHORTLIST, options.seed, console)


def _run(path: Path, shortlist: Path | None, seed: int, console: Console) -> Reply:
    started = time.perf_counter()
    with create_practice(path, seed=seed) as campaign:
        now = campaign.status()
        console.print(
            f"Practice campaign: {many(len(now.library), 'compound')}, synthetic, with a simulated assay "
            f"(noise SD {now.endpoints[now.objective].noise_sd:g}), seed {seed}",
            f"Goal: {now.goal_sentence}",
            "",
        )
        while (issued := campaign.plan(console.report)) is not None:
            campaign.record(practice_results(campaign, issued))
            now = campaign.status()
            made = f"{issued.measurements:,} measurements of {len(issued.items):,} compounds"
            console.print(f"Round {issued.number}: {made} -> {tally(now.counts)}")
        now = campaign.status()
    if shortlist is not None:
        export_shortlist(now, shortlist, "in")
    truth = practice_truth()
    score = _score(now, truth)
    document = status_document(now) | score | {"seed": seed, "seconds": time.perf_counter() - started}
    if shortlist is not None:
        document |= {"file": str(path), "shortlist": str(shortlist)}
    return Reply(document, _lines(now, truth, document, None if shortlist is None else path.parent))


def _score(now: Status, truth: Floats) -> dict[str, Any]:
    """Return the answer against the truth.

    precision: share of the returned that are truly within epsilon + slack. recall: share of those truly within
    epsilon that are returned. Both 1 is what the guarantee promises.
    """
    goodness = now.endpoints[now.objective].sign * truth
    behind = goodness.max() - goodness
    within = behind <= now.settings.distance
    acceptable = behind <= now.settings.distance + now.settings.softness
    returned = now.candidates.status == IN
    ids = now.library.ids
    return {
        "truth": {
            "within_epsilon": [ids[compound] for compound in np.flatnonzero(within).tolist()],
            "within_epsilon_plus_slack": [ids[compound] for compound in np.flatnonzero(acceptable).tolist()],
        },
        "precision": float((returned & acceptable).sum() / returned.sum()) if returned.any() else None,
        "recall": float((returned & within).sum() / within.sum()),
        "correct": bool(np.all(returned[within]) and not np.any(returned & ~acceptable)),
    }


def _lines(now: Status, truth: Floats, document: dict[str, Any], folder: Path | None) -> list[str]:
    settings = now.settings
    wide = settings.distance + settings.softness
    precision = document["precision"]
    lines = [
        "",
        now.statement,
        now.promise,
        "",
        f"The truth, known here: {len(document['truth']['within_epsilon'])} compounds within {settings.distance:g} of "
        f"the best; {percent(document['recall'])} of them returned",
        f"Of the {now.counts['in']} returned, "
        f"{'none' if precision is None else percent(precision)} are truly within {wide:g} of the best",
        f"{now.measurements_used:,} measurements in {many(now.rounds_made, 'round')}, {document['seconds']:.1f} s",
    ]
    shown = ranked(now, "in")[:_SHOWN].tolist()
    rows = [
        (now.library.ids[c], f"{now.candidates.estimate[c]:.2f}", f"{truth[c]:.2f}", int(now.candidates.measured[c]))
        for c in shown
    ]
    lines += ["", *table(["Best of those in", "Estimate", "Truth", "Measured"], rows)]
    if folder is not None:
        lines += ["", f"Left in {folder}: {_CAMPAIGN}, {_SHORTLIST}"]
    return lines


def played_on(options: argparse.Namespace, console: Console) -> tuple[Instance, Goal]:
    """Return the instance and the goal: a paper's own by default, or those of a table."""
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
    # The user's own endpoint options go before --sd, as in a campaign; a shipped table's do not.
    whole = options.sd is not None and not options.endpoint
    endpoints = [replace(e, noise_sd=options.sd.sd or e.noise_sd) if whole else e for e in imported.endpoints]
    goal_name = options.goal or "epsilon-best"
    names = objectives_of(options.objective and [options.objective], endpoints, goal_name)
    called = {endpoint.name: endpoint for endpoint in endpoints}
    objectives = [called[name] for name in names or called]
    # As in a campaign: for trade-offs --epsilon is for the endpoints that name none of their own.
    epsilon = objectives[0].epsilon if options.epsilon is None else options.epsilon
    margins = tuple((options.epsilon or 0.0) if one.epsilon is None else one.epsilon for one in objectives)
    goal = _goal(options, goal_name, options.epsilon if goal_name == "best" else epsilon, options.slack, margins)
    # The user gives a range in the endpoint's direction; simulated values are larger when better.
    options.smaller_is_better = objectives[0].sign < 0
    truth = truth_of(imported.library, imported.history, objectives, kind, known)
    delta = 0.05 if options.delta is None else options.delta
    return of_table(name, paper, title, truth, goal, check_delta(delta)), goal


def _readable(given: argparse.Namespace, options: argparse.Namespace, console: Console) -> ImportedTable:
    """Return the imported table; AssayPilotError where it holds anything a simulation cannot use."""
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
