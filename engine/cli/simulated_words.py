"""What documents and the terminal say of simulated campaigns."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..campaign.phrases import many
from ..domain.goals import Goal
from ..simulate.instances import Instance
from ..simulate.runner import Task, drawn_of, problem_of
from ..simulate.yardsticks import Yardsticks
from ..strategies.phased import ADDITIVE
from ..text.percentages import percent
from .console import table

__all__ = ["simulated_document", "simulated_lines"]


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
        "baseline": info.baseline,
        "guarantee": info.guarantee,
        "void": [*void, *_additive_only(task)],
        "notes": [note for note in task.instance.notes if note not in task.instance.void],
        "cautions": list(task.strategy.cautions(problem_of(task, drawn, 0))),
    }


def _additive_only(task: Task) -> tuple[str, ...]:
    """Why nothing is promised to a strategy that rests on additive effects; empty for all others."""
    rests = ADDITIVE in task.strategy.assumes(problem_of(task, drawn_of(task, 0), 0))
    return task.instance.void if rests else ()


def _curve_lines(entry: dict[str, Any]) -> list[str]:
    """Return a line for each round: what was found, and what was missed and wrong beside what was expected."""

    def shown(value: float | None, form: str = ".2f") -> str:
        return "-" if value is None else format(value, form)

    header = [
        "Measurements",
        "Of the table",
        "Found",
        "Best found",
        "Missed",
        "expected",
        "Wrong",
        "expected",
        "In 95 %",
    ]
    rows = [
        (
            f"{point['measurements']:,.0f}",
            shown(point["share_of_table"], ".0%"),
            shown(point["found"], ".0%"),
            shown(point["best_found"], ".0%"),
            shown(point["missed"]),
            shown(point["expected_missed"]),
            shown(point["wrong"]),
            shown(point["expected_wrong"]),
            shown(point["cover95"], ".0%"),
        )
        for point in entry["curve"]
    ]
    ended = entry["ended"]
    lines = table(header, rows)
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
    """Return a table with a line for each strategy, and what has to be known beside it."""
    first = documents[0]
    noise = " and ".join(f"{sd:g}" for sd in dict.fromkeys(first["noise"]))
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
        if "curve" in entry:
            lines += ["", f"{entry['strategy']} along the budget:", *_curve_lines(entry)]
        if entry["unfinished"]:
            lines.append(f"{entry['strategy']}: {many(entry['unfinished'], 'run')} given up at the limit of phases")
    return lines
