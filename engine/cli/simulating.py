"""``simulate``: whole campaigns against a simulated assay, scored against a known truth."""

from __future__ import annotations

import argparse
import math
from collections.abc import Iterable, Sequence
from typing import Any

from ..domain.features import SiteFeatures
from ..domain.goals import Goal
from ..errors import AssayPilotError
from ..simulate import baselines
from ..simulate.instances import Instance, listing
from ..simulate.parallel import check, simulate
from ..simulate.runner import Limits, Task, along, drawn_of, problem_of, summary
from ..simulate.yardsticks import Yardsticks, yardsticks
from ..strategies import registry
from ..strategies.phased import ADDITIVE, refuse_unknown_noise
from ..strategies.protocol import Calibrated, Strategy, check_delta
from ..system.progress import part_of
from ..text import many, percent, pick
from .practice import played_on
from .program import Console, Reply, table

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
    return [baselines.get(name) for name in dict.fromkeys(names)]


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
            listed = "; ".join(f"{strategy}: {', '.join(sorted(own)) or 'none'}" for strategy, own in known.items())
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
    for strategy in strategies:
        if not estimated or isinstance(strategy, Calibrated):
            continue
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
    """Return the SD of the compounds' own deviations; AssayPilotError where it is invalid or does not apply."""
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


def simulated_document(task: Task, void: tuple[str, ...], known: Yardsticks, figures: dict[str, Any]) -> dict[str, Any]:
    """Return the scores of one strategy, as ``--json`` prints them; ``figures`` are those of ``summary``."""
    drawn = drawn_of(task, 0)
    info = task.strategy.info
    budget = task.instance.budget if task.budget is None else task.budget
    return {
        "strategy": info.name,
        "noise_estimated": task.estimated,
        "instance": task.instance.name,
        **figures,
        "measurements": _times(figures["measurements"], len(drawn.noise)),
        "samples": figures["measurements"],
        **pick(known, "lower_bound oracle yardsticks_note=note"),
        "complexity": None if known.complexity is None else dict(zip(("h1", "h2"), known.complexity, strict=True)),
        "seed": task.seed,
        "goal": _goal_document(drawn.goal),
        "delta": task.instance.delta if task.delta is None else task.delta,
        "noise": list(drawn.noise),
        "endpoints": len(drawn.noise),
        "budget": None if budget is None else budget * len(drawn.noise),
        **pick(task.instance, "compounds dimension"),
        "parameters": dict(task.parameters),
        **pick(info, "baseline guarantee"),
        "void": [*void, *_additive_only(task)],
        "notes": [note for note in task.instance.notes if note not in task.instance.void],
        "cautions": list(task.strategy.cautions(problem_of(task, drawn, 0))),
    }


def _additive_only(task: Task) -> tuple[str, ...]:
    """Why nothing is promised to a strategy that rests on additive effects; empty for all others."""
    rests = ADDITIVE in task.strategy.assumes(problem_of(task, drawn_of(task, 0), 0))
    return task.instance.void if rests else ()


_CURVE = (
    ("Measurements", "measurements", ",.0f"),
    ("Of the table", "share_of_table", ".0%"),
    ("Found", "found", ".0%"),
    ("Best found", "best_found", ".0%"),
    ("Missed", "missed", ".2f"),
    ("expected", "expected_missed", ".2f"),
    ("Wrong", "wrong", ".2f"),
    ("expected", "expected_wrong", ".2f"),
    ("In 95 %", "cover95", ".0%"),
)
"""The columns of a curve: what each is called, its key, and how it is shown."""


def _shown(value: float | None, form: str) -> str:
    return "-" if value is None else format(value, form)


def _curve_lines(entry: dict[str, Any]) -> list[str]:
    """Return a line for each round: compounds found, missed and wrong, each with its expected number."""
    rows = [[_shown(point[key], form) for _, key, form in _CURVE] for point in entry["curve"]]
    ended = entry["ended"]
    lines = table([name for name, _, _ in _CURVE], rows)
    if ended["wrong_share"] is not None:
        lines.append(
            f"Ended by itself: {percent(ended['share'])} of the runs, {percent(ended['wrong_share'])} of them wrong, "
            f"after {ended['measurements_median']:,.0f} measurements in the median"
        )
    return lines


def _times(figures: dict[str, float | None], endpoints: int) -> dict[str, float | None]:
    """Return the figures of samples in measurements, as campaigns count them: one for every endpoint of a sample."""
    return {name: None if value is None else value * endpoints for name, value in figures.items()}


def _goal_document(goal: Goal) -> dict[str, Any]:
    fields = {name: getattr(goal, name) for name in ("epsilon", "slack", "margins", "threshold") if hasattr(goal, name)}
    return {"name": goal.name, **fields}


def simulated_lines(instance: Instance, task: Task, documents: Sequence[dict[str, Any]]) -> list[str]:
    """Return a table with a line for each strategy, and the notes needed to read it."""
    first = documents[0]
    noise = " and ".join(f"{sd:g}" for sd in dict.fromkeys(first["noise"]))
    noise += " (estimated)" if first["noise_estimated"] else ""
    size = f"{many(first['compounds'], 'compound')}, dimension {first['dimension']}"
    several = first["endpoints"] > 1
    each = f", {first['endpoints']} endpoints" if several else ""
    lines = [
        f"{instance.name}: {instance.title} ({instance.paper})",
        f"{size}, noise SD {noise}{each}, delta {first['delta']:g}, seed {task.seed}",
        "",
    ]
    header = ["Strategy", "Runs", "Measurements", "SD", "Median"]
    header += [*(["Samples"] if several else []), "Rounds", "Precision", "Recall", "F1"]
    header += ["Errors", "Error rate", "at most (95 %)", "Undecided", "Unfinished", "Seconds per run"]
    rows = [
        (
            entry["strategy"],
            entry["runs"],
            f"{entry['measurements']['mean']:,.0f}",
            _shown(entry["measurements"]["sd"], ",.0f"),
            f"{entry['measurements']['median']:,.0f}",
            *([f"{entry['samples']['mean']:,.0f}"] if several else []),
            f"{entry['rounds']['mean']:.1f}",
            f"{entry['precision']:.3f}",
            f"{entry['recall']:.3f}",
            f"{entry['f1']:.3f}",
            entry["errors"],
            f"{entry['error_rate']:.3f}",
            f"{entry['error_rate_upper']:.3f}",
            entry["undecided"],
            entry["unfinished"],
            f"{entry['seconds_per_run']:.4f}",
        )
        for entry in documents
    ]
    lines += [*table(header, rows), ""]
    if several:
        lines.append(
            f"A sample of a compound gives all {first['endpoints']} endpoints: {first['endpoints']} measurements, "
            "as in a campaign. The papers count samples."
        )
    if first["oracle"] is not None:
        lines.append(f"Oracle (knows the truth, certifies every comparison): {first['oracle']:,.0f} measurements")
    if first["lower_bound"] is not None:
        lines.append(f"Lower bound, proven: {first['lower_bound']:,.0f} measurements in the mean")
    if first["complexity"] is not None:
        lines.append(f"Complexity: H1 {first['complexity']['h1']:,.1f}, H2 {first['complexity']['h2']:,.1f}")
    if first["yardsticks_note"]:
        lines.append(f"Lower bound and oracle: {first['yardsticks_note']}")
    lines += [f"{note[:1].upper()}{note[1:]}" for note in first["notes"]]
    for entry in documents:
        lines += [f"{entry['strategy']}: no error rate is promised: {reason}" for reason in entry["void"]]
        lines += [f"{entry['strategy']}: {caution}" for caution in entry["cautions"]]
        if "curve" in entry:
            lines += ["", f"{entry['strategy']} along the budget:", *_curve_lines(entry)]
        if entry["unfinished"]:
            lines.append(f"{entry['strategy']}: {many(entry['unfinished'], 'run')} given up at the limit of phases")
    return lines
