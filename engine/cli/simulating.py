"""``simulate``: whole campaigns against a simulated assay, scored against a truth that is known."""

from __future__ import annotations

import argparse
import math
from collections.abc import Iterable, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

from assaypilot.engine.cli.console import Console, Reply, plural, table
from assaypilot.engine.cli.naming import spellings
from assaypilot.engine.endpoint import Endpoint
from assaypilot.engine.errors import AssayPilotError
from assaypilot.engine.goals import GOALS, AllEpsilonBest, Best, Goal, ParetoSet
from assaypilot.engine.progress import Report
from assaypilot.engine.simulate.assay_range import AssayRange, parse_range
from assaypilot.engine.simulate.instances import Instance, get, listing
from assaypilot.engine.simulate.on_plates import Plates
from assaypilot.engine.simulate.parallel import check, simulate
from assaypilot.engine.simulate.runner import Limits, Task, drawn_of, problem_of
from assaypilot.engine.simulate.summary import summary
from assaypilot.engine.simulate.tables import Truth, of_table, truth_of
from assaypilot.engine.simulate.yardsticks import Yardsticks, yardsticks
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
    instance, goal = _instance(options, console)
    tasks = _tasks(options, instance, goal)
    # Everything that can be refused is, before the first long run.
    voids = [check(task) for task in tasks]
    known = yardsticks(tasks[0], options.runs, _within(console.report, 0.0, _YARDSTICKS))
    documents = []
    for place, (task, void) in enumerate(zip(tasks, voids, strict=True)):
        share = (1.0 - _YARDSTICKS) / len(tasks)
        report = _within(console.report, _YARDSTICKS + place * share, share)
        runs = simulate(task, options.runs, jobs=options.jobs, cluster=options.cluster, report=report)
        documents.append(_document(task, void, known, summary(runs)))
    return Reply(documents, _lines(instance, tasks[0], documents))


def _within(report: Report, start: float, share: float) -> Report:
    """A report for a part of the work."""

    def told(fraction: float, message: str) -> None:
        report(start + share * fraction, message)

    return told


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


# ---------------------------------------------------------------------- what is played on


def _instance(options: argparse.Namespace, console: Console) -> tuple[Instance, Goal]:
    """The instance and the goal: a paper's own unless said otherwise, or those of a table."""
    if options.instance is not None:
        instance = get(options.instance)
        return instance, _goal_of_instance(options, instance)
    return _from_table(options, console)


def _check_goal_name(name: str) -> str:
    if name not in GOALS:
        raise AssayPilotError(f"there is no goal {name!r}", option="--goal", mend=f"Choose one of: {', '.join(GOALS)}.")
    return name


def _goal_of_instance(options: argparse.Namespace, instance: Instance) -> Goal:
    drawn = instance.make(0)
    own = drawn.goal
    endpoints = len(drawn.noise)
    name = own.name if options.goal is None else _check_goal_name(options.goal)
    if name == "pareto":
        _refuse_slack(options)
        margins = own.margins if isinstance(own, ParetoSet) else (0.0,) * endpoints
        return ParetoSet(margins if options.epsilon is None else (options.epsilon,) * endpoints)
    if endpoints > 1:
        raise AssayPilotError(
            f"{instance.name} has {endpoints} endpoints: its goal is pareto", option="--goal", mend="Leave --goal out."
        )
    if name == "best":
        slack = own.slack if isinstance(own, Best) else 0.0
        slack = slack if options.epsilon is None else options.epsilon / 2.0
        return Best(slack if options.slack is None else options.slack)
    if isinstance(own, AllEpsilonBest):
        # Random instances come with their epsilon in every draw; all draws of one instance share it.
        epsilon = own.epsilon if options.epsilon is None else options.epsilon
        return AllEpsilonBest(epsilon, own.slack if options.slack is None else options.slack)
    return _epsilon_best(options.epsilon, options.slack)


def _refuse_slack(options: argparse.Namespace) -> None:
    if options.slack is not None:
        raise AssayPilotError(
            f"trade-offs have no cutoff, so there is no slack to soften it by, got {options.slack:g}",
            option="--slack",
            mend="Leave --slack out; --epsilon says how much better in every endpoint does not matter.",
        )


def _epsilon_best(epsilon: float | None, slack: float | None) -> AllEpsilonBest:
    if epsilon is None:
        raise AssayPilotError(
            "it was not said how far from the best still counts",
            option="--epsilon",
            mend="For example --epsilon 0.5: in log units, within 3-fold of the best.",
        )
    return AllEpsilonBest(epsilon, epsilon / 2.0 if slack is None else slack)


def _from_table(options: argparse.Namespace, console: Console) -> tuple[Instance, Goal]:
    from assaypilot import datasets
    from assaypilot.engine.cli.starting import read_mapped
    from assaypilot.engine.tables.importer import import_table

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
    raw, mapping = read_mapped(given, options.sd, console)[:2]
    if any(column.endpoint.noise_classes is not None for column in mapping.endpoints):
        raise AssayPilotError(
            "simulated campaigns have one assay noise (SD) for all compounds",
            option="--endpoint",
            mend="Leave noise_class out.",
        )
    imported = import_table(raw, mapping, _within(console.report, 0.0, 0.0))
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
            mend="Leave limit= out; a campaign decides it beside the goal.",
        )
    calculated = next((e.name for e in imported.endpoints if e.of is not None), None)
    if calculated is not None:
        raise AssayPilotError(
            f"simulations know no differences of endpoints, and there is one: {calculated}",
            option="--endpoint",
            mend="Leave of= out; a campaign can have it.",
        )
    # What the user says of an endpoint goes before --sd, as in a campaign; what a shipped table says does not.
    whole = options.sd is not None and not options.endpoint
    endpoints = [replace(e, noise_sd=options.sd.sd or e.noise_sd) if whole else e for e in imported.endpoints]
    goal_name = _check_goal_name(options.goal or "epsilon-best")
    asked = _asked(options.objective, endpoints, several=goal_name == "pareto")
    goal: Goal
    if goal_name == "pareto":
        _refuse_slack(options)
        # As in a campaign: --epsilon is for the endpoints that name none of their own.
        margins = [options.epsilon if endpoint.epsilon is None else endpoint.epsilon for endpoint in asked]
        goal = ParetoSet(tuple(0.0 if margin is None else margin for margin in margins))
    elif goal_name == "best":
        half = 0.0 if options.epsilon is None else options.epsilon / 2.0
        goal = Best(half if options.slack is None else options.slack)
    else:
        goal = _epsilon_best(asked[0].epsilon if options.epsilon is None else options.epsilon, options.slack)
    # A range is said on the endpoint's own side, and simulated values are turned to where larger is better.
    options.smaller_is_better = asked[0].sign < 0
    truth = truth_of(imported.library, imported.history, asked, kind, known)
    delta = 0.05 if options.delta is None else options.delta
    return of_table(name, paper, title, truth, goal, check_delta(delta)), goal


def _asked(wanted: str | None, endpoints: Sequence[Endpoint], *, several: bool) -> list[Endpoint]:
    """The endpoints the goal is about: those named, else the only one, else for trade-offs all of them."""
    names = [endpoint.name for endpoint in endpoints]
    if not names:
        raise AssayPilotError(
            "the table has no column of measured values",
            option="--endpoint",
            mend='Name one, for example --endpoint "pIC50;sd=0.2".',
        )
    if wanted is None:
        if several or len(names) == 1:
            return list(endpoints)
        raise AssayPilotError(
            f"there are {len(names)} endpoints: {', '.join(names)}",
            option="--objective",
            mend="Say which one the goal is about: --objective NAME.",
        )
    called = {endpoint.name: endpoint for endpoint in endpoints}
    by_name = {spelling: called[name] for spelling, name in spellings(endpoints).items()}
    pieces = [wanted] if wanted.strip().casefold() in by_name else wanted.split(",")
    chosen = []
    for piece in pieces:
        endpoint = by_name.get(piece.strip().casefold())
        if endpoint is None:
            raise AssayPilotError(
                f"there is no endpoint {piece.strip()!r}",
                option="--objective",
                mend=f"Choose one of: {', '.join(names)}.",
            )
        chosen.append(endpoint)
    if len(chosen) > 1 and not several:
        raise AssayPilotError("only a Pareto goal has several endpoints", option="--objective", mend="Name one.")
    return list(dict.fromkeys(chosen))


# ---------------------------------------------------------------------- what is said


def _document(task: Task, void: tuple[str, ...], known: Yardsticks, figures: dict[str, Any]) -> dict[str, Any]:
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
        "lower_bound": known.lower_bound,
        "oracle": known.oracle,
        "complexity": None if known.complexity is None else dict(zip(("h1", "h2"), known.complexity, strict=True)),
        "yardsticks_note": known.note,
        "seed": task.seed,
        "goal": _goal_document(drawn.goal),
        "delta": task.instance.delta if task.delta is None else task.delta,
        "noise": list(drawn.noise),
        "endpoints": len(drawn.noise),
        "budget": None if budget is None else budget * len(drawn.noise),
        "compounds": task.instance.compounds,
        "dimension": task.instance.dimension,
        "parameters": dict(task.parameters),
        "plates": None if task.plates is None else asdict(task.plates),
        "assay_range": None if task.ends is None else [_edge(task.ends.low), _edge(task.ends.high)],
        "baseline": info.baseline,
        "guarantee": info.guarantee,
        "void": [*void, *task.instance.notes, *_bounds_left_out(task)],
        "cautions": list(task.strategy.cautions(problem_of(task, drawn, 0))),
    }


def _edge(value: float) -> float | None:
    return value if math.isfinite(value) else None


def _bounds_left_out(task: Task) -> list[str]:
    """That values beyond the range are left out by a strategy that cannot take them in; empty otherwise."""
    if task.ends is None or task.strategy.info.bounds:
        return []
    return ["values beyond the assay's range are left out because of their size; adaptive takes them in"]


def _times(figures: dict[str, float | None], endpoints: int) -> dict[str, float | None]:
    """The figures of samples in measurements, as campaigns count them: one for every endpoint of a sample."""
    return {name: None if value is None else value * endpoints for name, value in figures.items()}


def _goal_document(goal: Goal) -> dict[str, Any]:
    fields = {name: getattr(goal, name) for name in ("epsilon", "slack", "margins", "threshold") if hasattr(goal, name)}
    return {"name": goal.name, **fields}


def _lines(instance: Instance, task: Task, documents: Sequence[dict[str, Any]]) -> list[str]:
    first = documents[0]
    noise = " and ".join(f"{sd:g}" for sd in dict.fromkeys(first["noise"]))
    noise += " (estimated from replicates)" if first["noise_estimated"] else ""
    size = f"{plural(first['compounds'], 'compound')}, dimension {first['dimension']}"
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
            "-" if entry["measurements"]["sd"] is None else f"{entry['measurements']['sd']:,.0f}",
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
    for entry in documents:
        lines += [f"{entry['strategy']}: no error rate is promised: {reason}" for reason in entry["void"]]
        lines += [f"{entry['strategy']}: {caution}" for caution in entry["cautions"]]
        if entry["unfinished"]:
            lines.append(f"{entry['strategy']}: {plural(entry['unfinished'], 'run')} given up at the limit of phases")
    return lines
