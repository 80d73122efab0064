"""``simulate``: whole campaigns against a simulated assay, scored against a truth that is known."""

from __future__ import annotations

import argparse
import math
from collections.abc import Iterable, Sequence

from assaypilot.engine.cli.console import Console, Reply, table
from assaypilot.engine.cli.played_on import played_on
from assaypilot.engine.cli.simulated_words import simulated_document, simulated_lines
from assaypilot.engine.errors import AssayPilotError
from assaypilot.engine.goals import Goal
from assaypilot.engine.progress import part_of
from assaypilot.engine.simulate.assay_range import AssayRange, parse_range
from assaypilot.engine.simulate.instances import Instance, listing
from assaypilot.engine.simulate.on_plates import Plates
from assaypilot.engine.simulate.parallel import check, simulate
from assaypilot.engine.simulate.runner import Limits, Task
from assaypilot.engine.simulate.summary import summary
from assaypilot.engine.simulate.yardsticks import yardsticks
from assaypilot.engine.strategies import registry
from assaypilot.engine.strategies.protocol import Strategy, check_delta
from assaypilot.engine.strategies.repeating import refuse_unknown_noise

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
        documents.append(simulated_document(task, void, known, summary(runs)))
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
    return [registry.get(name) for name in dict.fromkeys(names)]


def _named(options: argparse.Namespace, instance: Instance, goal: Goal, given: Iterable[str]) -> list[Strategy]:
    """The strategies by name; ``auto`` is the one a campaign would take."""
    names = [name.strip() for name in options.strategy.split(",")]
    if "auto" in names:
        auto, _ = registry.choose("auto", goal.name, values=instance.make(0).truth.size, parameters=given)
        names = [auto.info.name if name == "auto" else name for name in names]
    return _strategies(",".join(names))


def _tasks(options: argparse.Namespace, instance: Instance, goal: Goal) -> list[Task]:
    from assaypilot.engine.cli.starting import parameters_of

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
    from assaypilot.engine.campaign.noise.classes import unknown_by_class

    for strategy in strategies if estimated else ():
        refuse_unknown_noise(strategy, parameters=given, max_replicates=options.max_replicates)
        if instance.make(0).sds is not None and not strategy.info.by_class:
            raise unknown_by_class(strategy.info.name)
        if instance.make(0).sds is not None and options.plate_sd is not None:
            raise AssayPilotError(
                "beside plate effects SDs by class are stated, and --sd unknown tells nobody",
                option="--sd",
                mend="Give the SD of all others, or leave --plate-sd or --noise-class out.",
            )
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
            plates=_plates(options, strategies, instance),
            ends=_range(options, instance),
        )
        for strategy in strategies
    ]


def _plates(options: argparse.Namespace, strategies: Sequence[Strategy], instance: Instance) -> Plates | None:
    """The plates of the simulated assay; None without any. Refuses what cannot take their effects out."""
    if options.plate_sd is None:
        return None
    if instance.make(0).kind != "gaussian":
        raise AssayPilotError(
            "plates shift plain values, and those of this instance are yes or no, or counts",
            option="--plate-sd",
            mend="Leave it out.",
        )
    for strategy in strategies:
        if options.blocks != "none" and not strategy.info.blocks:
            raise AssayPilotError(
                f"{strategy.info.name} cannot take plate effects out",
                option="--blocks",
                mend="Choose adaptive, or --blocks none to see what plates do to it.",
            )
    told = options.blocks != "none"
    return Plates(options.plate_sd, options.plate_size, options.plate_controls, options.plates_filled, told)


def _range(options: argparse.Namespace, instance: Instance) -> AssayRange | None:
    """The range of the simulated assay, larger values being better; None without one."""
    if options.assay_range is None:
        return None
    ends = parse_range(options.assay_range)
    drawn = instance.make(0)
    if drawn.kind != "gaussian" or len(drawn.noise) > 1 or options.plate_sd is not None:
        beside = "plates" if options.plate_sd is not None else "answers and counts"
        raise AssayPilotError(
            "an assay's range is that of one endpoint, and there are "
            + (f"{len(drawn.noise)}" if len(drawn.noise) > 1 else beside),
            option="--assay-range",
            mend="Leave it out.",
        )
    return ends.turned if getattr(options, "smaller_is_better", False) else ends


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
