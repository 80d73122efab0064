"""What documents and the terminal say of simulated campaigns."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from assaypilot.engine.campaign.words import many
from assaypilot.engine.cli.console import table
from assaypilot.engine.goals import Goal
from assaypilot.engine.simulate.instances import Instance
from assaypilot.engine.simulate.runner import Task, drawn_of, problem_of
from assaypilot.engine.simulate.yardsticks import Yardsticks

__all__ = ["simulated_document", "simulated_lines"]


def simulated_document(task: Task, void: tuple[str, ...], known: Yardsticks, figures: dict[str, Any]) -> dict[str, Any]:
    """The scores of one strategy, as ``--json`` prints them; ``figures`` are those of ``summary``."""
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
        "noise_by_class": task.instance.noise_text or None,
        "endpoints": len(drawn.noise),
        "budget": None if budget is None else budget * len(drawn.noise),
        "compounds": task.instance.compounds,
        "dimension": task.instance.dimension,
        "parameters": dict(task.parameters),
        "plates": None if task.plates is None else asdict(task.plates),
        "assay_range": None if task.ends is None else [_edge(task.ends.low), _edge(task.ends.high)],
        "baseline": info.baseline,
        "guarantee": info.guarantee,
        "void": [*void, *task.instance.void, *_bounds_left_out(task)],
        "notes": [note for note in task.instance.notes if note not in task.instance.void],
        "cautions": [*task.strategy.cautions(problem_of(task, drawn, 0)), *_by_class(task)],
    }


def _by_class(task: Task) -> list[str]:
    """Who takes the largest SD for all, where the noise differs by class; empty otherwise."""
    if not task.instance.noise_text:
        return []
    own = [] if task.strategy.info.by_class else ["the largest SD is taken for all compounds"]
    return [*own, "the oracle and the lower bound are those of the largest SD for all compounds"]


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


def simulated_lines(instance: Instance, task: Task, documents: Sequence[dict[str, Any]]) -> list[str]:
    """A table with a line for each strategy, and what has to be known beside it."""
    first = documents[0]
    noise = first["noise_by_class"] or " and ".join(f"{sd:g}" for sd in dict.fromkeys(first["noise"]))
    noise += " (estimated from replicates)" if first["noise_estimated"] else ""
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
    lines += [f"{note[:1].upper()}{note[1:]}" for note in first["notes"]]
    for entry in documents:
        lines += [f"{entry['strategy']}: no error rate is promised: {reason}" for reason in entry["void"]]
        lines += [f"{entry['strategy']}: {caution}" for caution in entry["cautions"]]
        if entry["unfinished"]:
            lines.append(f"{entry['strategy']}: {many(entry['unfinished'], 'run')} given up at the limit of phases")
    return lines
