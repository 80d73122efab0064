"""``simulate``: whole campaigns against a simulated assay, scored against a truth that is known."""

from __future__ import annotations

import argparse
import math
from collections.abc import Iterable

from ..domain.features import SiteFeatures
from ..domain.goals import Goal
from ..errors import AssayPilotError
from ..simulate import comparison
from ..simulate.instances import Instance, listing
from ..simulate.parallel import check, simulate
from ..simulate.runner import Limits, Task
from ..simulate.summary import along, summary
from ..simulate.yardsticks import yardsticks
from ..strategies import registry
from ..strategies.phased import refuse_unknown_noise
from ..strategies.protocol import Strategy, check_delta
from ..system.progress import part_of
from .console import Console, Reply, table
from .played_on import played_on
from .simulated_words import simulated_document, simulated_lines

__all__ = ["simulate_command"]

_YARDSTICKS = 0.1
"""Share of the progress that lower bound and oracle take."""


def simulate_command(options: argparse.Namespace, console: Console) -> Reply:
    """Scores of one or several strategies on one instance; or the instances by name."""
    if options.list:
        return _listing()
    instance, goal = played_on(options, console)
    tasks = _tasks(options, instance, goal)
    # Everything that can be refused is, before the first long run.
    voids = [check(task) for task in tasks]
    known = yardsticks(tasks[0], options.runs, part_of(console.report, 0.0, _YARDSTICKS))
    starts = [_YARDSTICKS + (1.0 - _YARDSTICKS) * place / len(tasks) for place in range(len(tasks) + 1)]
    documents = []
    for place, (task, void) in enumerate(zip(tasks, voids, strict=True)):
        report = part_of(console.report, starts[place], starts[place + 1])
        runs = simulate(task, options.runs, jobs=options.jobs, cluster=options.cluster, report=report)
        figures = summary(runs) | (along(runs, instance.compounds) if task.curve else {})
        documents.append(simulated_document(task, void, known, figures))
    return Reply(documents, simulated_lines(instance, tasks[0], documents))


def _listing() -> Reply:
    entries = listing()
    rows = [(e["name"], e["compounds"], e["dimension"], e["goal"], e["title"], e["paper"]) for e in entries]
    lines = table(["Name", "Compounds", "Dimension", "Goal", "What", "From"], rows)
    lines += [
        "",
        "NAME:setting=value,... changes a setting, for example rage-sphere:arms=1000. Settings:",
        *(
            f"  {entry['name']}: {', '.join(f'{key}={value}' for key, value in entry['settings'].items())}"
            for entry in entries
        ),
    ]
    return Reply(entries, lines)


def _strategies(text: str) -> list[Strategy]:
    names = [name.strip() for name in text.split(",") if name.strip()]
    if not names:
        raise AssayPilotError("no strategy was named", option="--strategy", mend="See assaypilot strategies.")
    return [comparison.get(name) for name in dict.fromkeys(names)]


def _named(options: argparse.Namespace, instance: Instance, goal: Goal, given: Iterable[str]) -> list[Strategy]:
    """Return the strategies by name; ``auto`` and ``proven`` are those a campaign would take."""
    names = [name.strip() for name in options.strategy.split(",")]
    drawn = instance.make(0)
    sites = isinstance(drawn.features, SiteFeatures)
    for place, name in enumerate(names):
        if name in ("auto", "proven"):
            chooser = name if sites else "proven"
            taken, _ = registry.choose(chooser, goal.name, values=drawn.truth.size, parameters=given)
            names[place] = taken.info.name
    return _strategies(",".join(names))


def _tasks(options: argparse.Namespace, instance: Instance, goal: Goal) -> list[Task]:
    from .starting import parameters_of

    given = parameters_of(options)
    strategies = _named(options, instance, goal, given)
    known = {strategy.info.name: {knob.name for knob in strategy.info.parameters} for strategy in strategies}
    for name in given:
        if not any(name in own for own in known.values()):
            listed = "; ".join(f"{who}: {', '.join(sorted(own)) or 'none'}" for who, own in known.items())
            raise AssayPilotError(
                f"no strategy here has a parameter {name!r}", option="--parameter", mend=f"There are {listed}."
            )
    endpoints = len(instance.make(0).noise)
    per_round = _samples("--per-round", options.per_round, endpoints)
    budget = _samples("--budget", options.budget, endpoints)
    if options.curve and budget is None and instance.budget is None:
        # A curve ends where the whole table could have been measured once.
        budget = instance.compounds
    if options.max_replicates < 1:
        raise AssayPilotError(
            f"replicates must be 1 or more, got {options.max_replicates}",
            option="--max-replicates",
            mend="Give the measurements of one compound that a round takes.",
        )
    changed = options.instance is not None and goal != instance.make(0).goal
    noise = None
    if options.instance is not None and options.sd is not None:
        sd = options.sd.sd
        if sd is not None and not (math.isfinite(sd) and sd > 0):
            raise AssayPilotError(
                f"assay noise (SD) must be a number > 0, got {sd}", option="--sd", mend="For example --sd 0.2."
            )
        noise = None if sd is None else (sd,) * len(instance.make(0).noise)
    estimated = options.sd is not None and options.sd.estimated
    for strategy in strategies if estimated else ():
        refuse_unknown_noise(strategy, parameters=given, max_replicates=options.max_replicates)
    return [
        Task(
            strategy=strategy,
            instance=instance,
            seed=options.seed,
            parameters={name: value for name, value in given.items() if name in known[strategy.info.name]},
            goal=goal if changed else None,
            delta=None if options.delta is None else check_delta(options.delta),
            noise=noise,
            per_round=per_round,
            max_replicates=options.max_replicates,
            estimated=estimated,
            budget=budget,
            limits=Limits(phases=options.max_phases),
            deviation=_deviation(options, instance),
            curve=options.curve,
        )
        for strategy in strategies
    ]


def _deviation(options: argparse.Namespace, instance: Instance) -> float:
    """Return the SD of own deviations; AssayPilotError for one that is no SD, or where means are no plain values."""
    deviation = float(options.own_deviation)
    if not (math.isfinite(deviation) and deviation >= 0):
        raise AssayPilotError(
            f"own deviations need an SD of 0 or more, got {deviation}",
            option="--own-deviation",
            mend="For example 0.2.",
        )
    if deviation and instance.make(0).kind != "gaussian":
        raise AssayPilotError(
            "own deviations are added to plain values, not to answers or counts", option="--own-deviation"
        )
    return deviation


def _samples(option: str, measurements: int | None, endpoints: int) -> int | None:
    """Measurements as a lab counts them, one for each endpoint, in samples of all endpoints; refuses less than one."""
    if measurements is None:
        return None
    if measurements < endpoints:
        what, least = option[2:].replace("-", " "), "1" if endpoints == 1 else f"{endpoints}, one for each endpoint,"
        raise AssayPilotError(
            f"{what} must be {least} or more, got {measurements}", option=option, mend="Leave it out for none."
        )
    return measurements // endpoints
