"""What plates do to decisions of ``adaptive``: with their effects taken out and without, and by how plates are filled.

``python -m tests.published.plates`` plays campaigns on two compounds, where nothing of delta is spent on others, and on
practice-960, on plates of an SD of 0.3 log. What is made is written down in plates-runs.jsonl (or ``--kept FILE``), ten
campaigns a line, so it can be stopped at any time and gone on with; REPORT-plates.md is written from what there is.
``--report`` only writes that, ``--few`` and ``--many`` say how many campaigns on practice-960 and on two compounds.
"""

import argparse
import json
from pathlib import Path

import numpy as np
from scipy.stats import beta, kstest

from assaypilot.engine.campaign.layout import lay_out
from assaypilot.engine.design.dealing import in_turn
from assaypilot.engine.design.keeping import dealt_for
from assaypilot.engine.features import ProjectedFeatures
from assaypilot.engine.goals import AllEpsilonBest
from assaypilot.engine.models.blocks import Effects
from assaypilot.engine.simulate.instances import get
from assaypilot.engine.simulate.on_plates import Plates
from assaypilot.engine.simulate.runner import Task, drawn_of, problem_of, run_of, sample
from assaypilot.engine.strategies.adaptive.goals import compared
from assaypilot.engine.strategies.adaptive.one import Adaptive
from tests.engine.strategies.test_adaptive_blocks import steps, task_of

REPORT = Path(__file__).with_name("REPORT-plates.md")
KEPT = Path(__file__).with_name("plates-runs.jsonl")
DELTA = 0.3
PART = 10
SIZES = ((48, 4), (20, 4), (8, 2), (8, 0))
"""Measurements and controls on a plate: of single wells on 96, on 24, of curves of ten wells on 96."""
BEFORE = {
    "practice-960, no plate effects": 611,
    "practice-960, plates, no blocks": 638,
    "practice-960, plates as blocks, in the order of the table": 1165,
}
"""Medians of ten campaigns when rounds and their lists knew nothing of plates."""


def practice(plates):
    return Task(Adaptive(), get("practice-960"), seed=7, goal=AllEpsilonBest(0.5, 0.25), delta=DELTA, per_round=96,
                plates=plates, budget=1920)  # fmt: skip


def rows():
    """Every kind of campaign by name."""
    two = {"shift": 0.3, "size": 16, "controls": 4, "filled": "table"}
    small = {"shift": 0.3, "size": 8, "controls": 2}
    return {
        "two compounds, no plate effects": task_of(None),
        "two compounds, plates, no blocks": task_of(Plates(**two, told=False)),
        "two compounds, plates as blocks": task_of(Plates(**two)),
        "practice-960, no plate effects": practice(Plates(0.0, 48, 4, "table", told=False)),
        "practice-960, plates, no blocks": practice(Plates(0.3, 48, 4, "table", told=False)),
        "practice-960, plates as blocks, in the order of the table": practice(Plates(0.3, 48, 4, "table")),
        "practice-960, plates as blocks, by lot": practice(Plates(0.3, 48, 4, "lot")),
        "practice-960, plates as blocks, along the list": practice(Plates(0.3, 48, 4, "list")),
        "practice-960, plates as blocks, as laid out": practice(Plates(0.3, 48, 4, "design")),
        "practice-960, plates of 8 as blocks, by lot": practice(Plates(**small, filled="lot")),
        "practice-960, plates of 8 as blocks, along the list": practice(Plates(**small, filled="list")),
        "practice-960, plates of 8 as blocks, as laid out": practice(Plates(**small, filled="design")),
        "practice-960, plates of 8 as blocks, no controls, as laid out": practice(Plates(0.3, 8, 0, "design")),
    }


def read(path):
    """What was made: by name and first number, whether each was wrong and what it took."""
    if not path.exists():
        return {}
    lines = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    return {(one["row"], one["first"]): (one["wrong"], one["measurements"]) for one in lines}


def make(path, few, many):
    """Nothing; plays what is missing, ten campaigns of every kind in turn."""
    known = read(path)
    for first in range(0, max(few, many), PART):
        for name, task in rows().items():
            if (name, first) in known or first >= (many if name.startswith("two") else few):
                continue
            found = [run_of(task, number) for number in range(first, first + PART)]
            made = {"row": name, "first": first, "wrong": [bool(run.wrong) for run in found],
                    "measurements": [run.measurements for run in found]}  # fmt: skip
            with path.open("a", encoding="utf-8") as file:
                file.write(json.dumps(made) + "\n")


def interval(wrong, runs):
    """The exact (Clopper-Pearson) 95 % interval of an error rate."""
    low = 0.0 if not wrong else beta.ppf(0.025, wrong, runs - wrong + 1)
    return low, 1.0 if wrong == runs else beta.ppf(0.975, wrong + 1, runs - wrong)


def line(name, wrong, measurements):
    runs, taken, before = len(wrong), "", BEFORE.get(name, "")
    low, high = interval(sum(wrong), runs)
    if name.startswith("practice"):
        lower, upper = (f"{round(q):,}" for q in np.quantile(measurements, (0.25, 0.75)))
        taken = f"{round(float(np.median(measurements))):,} ({lower} to {upper})"
    rate = f"{sum(wrong) / runs:.3f} ({low:.3f} to {high:.3f})"
    return f"| {name} | {runs} | {sum(wrong)} | {rate} | {taken} | {before and f'{before:,}'} |"


def fillings(x, counts, size, controls, seed, aims):
    """Shares of plates, filled in several ways, by name; ``aims``: what is compared."""
    n_plates = -(-int(counts.sum()) // size)
    runs = lay_out(counts, x, int(counts.sum()), int(counts.max()), seed)
    orders = {
        "in the order of the table": np.arange(len(counts)),
        "in the order of lists before": np.array([position for position, _ in runs]),
        "by lot": None,
        "along the list": in_turn(x, counts),
    }
    found = {}
    for name, order in orders.items():
        each = np.repeat(np.arange(len(counts)) if order is None else order, counts if order is None else counts[order])
        if order is None:
            each = np.random.default_rng(seed).permutation(each)
        found[name] = np.zeros((n_plates, len(counts)), dtype=int)
        np.add.at(found[name], (np.arange(len(each)) * n_plates // len(each), each), 1)
    return {**found, "as laid out": dealt_for(x, counts, (n_plates, size), directions=aims, controls=controls)}


def comparisons(strategy, state):
    """What the next phase is for, each as long as it matters, as rows of features: in a first phase all, with one."""
    features = state.problem.features
    needs = compared(strategy, state)
    if needs is None:
        return features.dense(np.arange(1, features.n_rows)) - features.dense(np.array([0]))
    return needs.rows(features)


def told_of(y, span):
    """Those that the measurements of a phase tell of without any plates: nothing can be lost of others."""
    lengths = (y**2).sum(axis=1)
    return y[(lengths - ((y @ span.basis) ** 2).sum(axis=1)) < 1e-9 * lengths]


def information(campaigns=3):
    """Of what the phases of campaigns are for: the variance without plates over that with, mean and worst."""
    found, strategy, task = {}, Adaptive(), practice(None)
    for number in range(campaigns):
        drawn = drawn_of(task, number)
        problem, rng = problem_of(task, drawn, number), np.random.default_rng(number)
        state = strategy.start(problem)
        while not strategy.stop(state):
            allocation = strategy.ask(state)
            arms, counts = allocation.arms, allocation.counts
            span = ProjectedFeatures(problem.features, arms)
            y = told_of(comparisons(strategy, state), span) @ span.basis
            assert len(y)
            for size, controls in SIZES:
                for name, shares in fillings(span.coordinates(), counts, size, controls, 11 + number, y).items():
                    kept = variances(problem.features, span, y, arms, shares, None) / variances(
                        problem.features, span, y, arms, shares, controls
                    )
                    found.setdefault(name, {}).setdefault((size, controls), []).append(kept)
            state = strategy.tell(state, sample(drawn, allocation, rng, state.spent + allocation.total))
    return found


def variances(features, span, y, arms, shares, controls):
    """Of differences by what plates leave, mean and largest; all of it with ``controls`` None."""
    plates, places = np.nonzero(shares)
    blocks = np.full(len(plates), -1) if controls is None else plates
    of_controls = np.full(len(shares), float(controls or 0))
    whole = Effects(features, arms[places], blocks, shares[plates, places].astype(float), of_controls).information()
    values, vectors = np.linalg.eigh(span.basis.T @ whole @ span.basis)
    told = values > 1e-9 * values[-1]
    each = (y @ vectors[:, told]) ** 2 @ (1.0 / values[told])
    each[np.abs(y @ vectors[:, ~told]).max(axis=1, initial=0.0) > 1e-6] = np.inf
    return np.array([each.mean(), each.max()])


def report(kept):
    """The report's lines, from what was made."""
    made = {}
    for (name, _), (wrong, measurements) in sorted(read(kept).items()):
        both = made.setdefault(name, ([], []))
        both[0].extend(wrong)
        both[1].extend(measurements)
    lines = [
        "# Plates that shift all their values",
        "",
        "Assay noise (SD) 0.2, SD of plates 0.3 log; 48 measurements and 4 controls on each, or 8 and 2; delta 0.3.",
        "Where nothing else is said plates are filled in the order of the table. Made by",
        "`python -m tests.published.plates`.",
        "",
        "| Campaigns | Runs | Wrong | Error rate (95 %) | Measurements, median (quarters) | Before |",
        "|---|---|---|---|---|---|",
        *(line(name, *made[name]) for name in rows() if name in made),
        "",
        "*Before*: medians of ten campaigns when neither lists nor plates knew of plate effects.",
        "",
        "## Where the measurements go",
        "",
        "Information on the comparisons that a phase is for that is left beside plates, of what there is without them:",
        "on average, and of the one that is known least. In all phases of three campaigns on practice-960, by how",
        "plates were filled; in brackets the worst of these phases. Up to 1.000 is what another choice of compounds",
        "could win at most.",
        "",
        f"| Plates filled | {' | '.join(f'{size} and {controls} controls' for size, controls in SIZES)} |",
        f"|---|{'---|' * len(SIZES)}",
    ]
    for name, by_size in information().items():
        cells = []
        for size in SIZES:
            mean, worst = np.array(by_size[size]).T
            cells.append(f"{mean.mean():.3f}, {worst.mean():.3f} ({worst.min():.3f})")
        lines.append(f"| {name} | {' | '.join(cells)} |")
    z, other = steps(told=True), steps(told=False, filled="lot")
    lines += [
        "",
        f"Standardised steps of campaigns on plates as blocks, as laid out: {len(z)}, SD {np.std(z):.3f}, "
        f"Kolmogorov-Smirnov p {kstest(z, 'norm').pvalue:.2g} against N(0, 1); by lot and without blocks SD "
        f"{np.std(other):.3f}.",
        "",
    ]
    return "\n".join(lines)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--few", type=int, default=60)
    parser.add_argument("--many", type=int, default=150)
    parser.add_argument("--kept", type=Path, default=KEPT)
    parser.add_argument("--report", action="store_true")
    options = parser.parse_args()
    if not options.report:
        make(options.kept, options.few, options.many)
    REPORT.write_text(report(options.kept), encoding="utf-8")
    print(REPORT.read_text(encoding="utf-8"))


if __name__ == "__main__":
    main()
