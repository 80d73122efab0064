"""What plates do to decisions of ``adaptive``, with their effects taken out and without.

``python -m tests.published.plates FEW MANY`` plays MANY campaigns on two compounds, where nothing of delta is spent on
others, and FEW on practice-960, on plates of an SD of 0.3 log that are filled in the order of the list, and writes
REPORT-plates.md beside this file.
"""

import sys
from functools import partial
from pathlib import Path

import numpy as np
from scipy.stats import beta, kstest

from assaypilot.engine.goals import AllEpsilonBest
from assaypilot.engine.simulate.instances import get
from assaypilot.engine.simulate.on_plates import Plates
from assaypilot.engine.simulate.runner import Task, run_of
from assaypilot.engine.strategies.adaptive.one import Adaptive
from tests.engine.strategies.test_adaptive_blocks import errors, steps

REPORT = Path(__file__).with_name("REPORT-plates.md")
DELTA = 0.3


def interval(wrong, runs):
    """The exact (Clopper-Pearson) 95 % interval of an error rate."""
    low = 0.0 if not wrong else beta.ppf(0.025, wrong, runs - wrong + 1)
    return low, 1.0 if wrong == runs else beta.ppf(0.975, wrong + 1, runs - wrong)


def row(name, wrong, runs, measurements=""):
    low, high = interval(wrong, runs)
    return f"| {name} | {runs} | {wrong} | {wrong / runs:.3f} ({low:.3f} to {high:.3f}) | {measurements} |"


def practice(told, runs, shift=0.3):
    """Wrong campaigns on practice-960 and the median of their measurements."""
    plates = Plates(shift, 48, 4, filled="table", told=told)
    task = Task(Adaptive(), get("practice-960"), seed=7, goal=AllEpsilonBest(0.5, 0.25), delta=DELTA, per_round=96,
                plates=plates, budget=1920)  # fmt: skip
    found = [run_of(task, number) for number in range(runs)]
    return sum(run.wrong for run in found), round(float(np.median([run.measurements for run in found])))


def report(few, many):
    """The report's lines, from so many campaigns of each kind on practice-960 and on two compounds."""
    asked = partial(Plates, 0.3, 16, 4, filled="table")
    lines = [
        "# Plates that shift all their values",
        "",
        "Assay noise (SD) 0.2, SD of plates 0.3 log, 4 controls on each, filled in the order of the list; delta 0.3.",
        f"Made by `python -m tests.published.plates {few} {many}`.",
        "",
        "| Campaigns | Runs | Wrong | Error rate (95 %) | Measurements (median) |",
        "|---|---|---|---|---|",
    ]
    for name, plates in (
        ("two compounds, no plate effects", None),
        ("two compounds, plates, no blocks", asked(told=False)),
        ("two compounds, plates as blocks", asked(told=True)),
    ):
        lines.append(row(name, round(errors(plates, runs=many) * many), many))
    for name, told, shift in (
        ("practice-960, no plate effects", False, 0.0),
        ("practice-960, plates, no blocks", False, 0.3),
        ("practice-960, plates as blocks", True, 0.3),
    ):
        wrong, measurements = practice(told, few, shift)
        lines.append(row(name, wrong, few, f"{measurements:,}"))
    z, other = steps(told=True), steps(told=False)
    lines += [
        "",
        f"Standardised steps of campaigns on plates as blocks: {len(z)}, SD {np.std(z):.3f}, Kolmogorov-Smirnov p "
        f"{kstest(z, 'norm').pvalue:.2g} against N(0, 1); without blocks SD {np.std(other):.3f}.",
        "",
    ]
    return "\n".join(lines)


if __name__ == "__main__":
    few, many = (int(text) for text in (sys.argv[1:] or ("10", "150")))
    REPORT.write_text(report(few, many), encoding="utf-8")
    print(REPORT.read_text(encoding="utf-8"))
