"""Values beyond the range of the assay: how often ``adaptive`` is wrong, what it costs, and what is done without it.

``python -m tests.published.beyond`` runs whole campaigns on random tables whose weakest compounds the assay does not
tell, and on a table made to deceive, and writes REPORT-beyond.md beside this file. delta is 0.3, so that errors can be
seen. Three ways of taking such values: as bounds (ours), left out, and the limit itself for the value.
"""

import sys
import time
from dataclasses import dataclass
from itertools import product
from pathlib import Path

import numpy as np

from assaypilot.engine.features import SiteFeatures
from assaypilot.engine.goals import AllEpsilonBest
from assaypilot.engine.strategies.adaptive.one import Adaptive
from assaypilot.engine.strategies.protocol import IN, OUT, UNDECIDED, Capacity, Outcome, Problem
from tests.published.calibration_checks import limits

REPORT = Path(__file__).with_name("REPORT-beyond.md")
WAYS = {"bound": "as bounds", "drop": "left out", "limit": "the limit for the value"}
DELTA, SIGMA, EPSILON, SLACK = 0.3, 0.2, 0.5, 0.5
SHARES = (0.0, 0.1, 0.3, 0.5)
DECEIVING = (6.0, 5.35, 5.8, 5.75)
"""Means of four compounds; the second is just too far behind the first to be in, and the limit cuts its values."""
NARROW = 0.1
"""The soft zone there."""
DECEIVED = 5.45
MOST_PHASES = 20


@dataclass(frozen=True)
class Run:
    """One campaign."""

    measurements: int
    wrong: bool
    undecided: int
    first: float
    """Share of the first phase's values that were censored."""
    all: float


def campaign(rng, features, means, limit, way, per_round=48, slack=SLACK):
    """A campaign in which values below a limit are not told."""
    n = len(means)
    goal = AllEpsilonBest(EPSILON, slack)
    every = np.ones(n, dtype=bool)
    state = Adaptive().start(Problem(features, every, every, goal, DELTA, (SIGMA,), capacity=Capacity(per_round, 4)))
    spent, censored, first = 0, 0, 0.0
    for phase in range(MOST_PHASES):
        if Adaptive().stop(state):
            break
        plan = Adaptive().ask(state)
        counts, sums = np.zeros((1, n)), np.zeros((2, 1, n))
        for arm, count in zip(plan.arms, plan.counts, strict=True):
            values = means[arm] + SIGMA * rng.standard_normal(count)
            beyond = values < limit
            censored += int(beyond.sum())
            low = np.where(beyond & (way == "bound"), -np.inf, np.maximum(values, limit))
            kept = ~beyond if way == "drop" else np.ones(count, dtype=bool)
            counts[0, arm] = kept.sum()
            if kept.any():
                sums[:, 0, arm] = np.maximum(values, limit)[kept].mean(), low[kept].mean()
        spent += plan.total
        first = first if phase else censored / spent
        open_ = bool((sums[1] < sums[0]).any())
        outcome = Outcome(plan, counts, sums[0], spent, *((sums[1], sums[0]) if open_ else (None, None)))
        state = Adaptive().tell(state, outcome)
    behind = means.max() - means
    wrong = ((state.status == OUT) & (behind <= EPSILON)).any() or (
        (state.status == IN) & (behind > EPSILON + slack)
    ).any()
    return Run(spent, bool(wrong), int((state.status == UNDECIDED).sum()), first, censored / spent)


def random_table(rng, share):
    """Features, means and a limit below which that share of the compounds lies."""
    sizes = (5, 4, 4)
    codes = np.array(list(product(*map(range, sizes))))
    means = 6.0 + sum(rng.normal(0.0, 0.7, size)[codes[:, k]] for k, size in enumerate(sizes))
    return SiteFeatures(codes, sizes), means, np.quantile(means, share) if share else -np.inf


def on_random_tables(share, way, runs):
    """Campaigns on as many tables."""
    found = []
    for seed in range(runs):
        rng = np.random.default_rng((17, seed))
        features, means, limit = random_table(rng, share)
        found.append(campaign(rng, features, means, limit, way))
    return found


def deceived(way, runs):
    """Campaigns on the table made to deceive."""
    features = SiteFeatures(np.arange(4)[:, None], (4,))
    return [
        campaign(np.random.default_rng((23, seed)), features, np.array(DECEIVING), DECEIVED, way, 16, NARROW)
        for seed in range(runs)
    ]


def row(name, way, runs, exact=None):
    """A line of the report."""
    wrong = sum(run.wrong for run in runs)
    lower, upper = limits(wrong, len(runs))
    taken = np.array([run.measurements for run in runs])
    times = "" if exact is None else f"{np.exp(np.log(taken / [run.measurements for run in exact]).mean()):.2f}"
    return (
        f"| {name} | {WAYS[way]} | {len(runs)} | {np.mean([run.first for run in runs]):.0%} | "
        f"{np.mean([run.all for run in runs]):.0%} | {wrong} | {wrong / len(runs):.3f} | {lower:.3f} | {upper:.3f} | "
        f"{sum(run.undecided > 0 for run in runs)} | {np.median(taken):,.0f} | {times} |"
    )


INTRODUCTION = f"""# Values beyond the range of the assay

Made by `python -m tests.published.beyond`; seeds are fixed. delta {DELTA}, assay noise (SD) {SIGMA}, all within
{EPSILON} of the best, cutoff soft by {SLACK}, under `adaptive`. A value below a limit comes back as a bound only.

- Random tables: 5 x 4 x 4 = 80 compounds, contributions with an SD of 0.7 at every site, rounds of 48, at most
  {MOST_PHASES} phases; the limit is such that the given share of the compounds lies below it. The same tables and
  seeds in every row.
- Deceiving table: four compounds with means {", ".join(map(str, DECEIVING))} and a limit at {DECEIVED}, cutoff
  soft by {NARROW}: the second is too far behind to be in, and of its values only the better ones are told. As bounds
  they leave it open for good, since what lies beyond the limit could put it on either side.
- "First round", "all": the share of values that came back as bounds. Later rounds avoid compounds that would give
  one more, so there are few of them in all.
- A rate holds when its one-sided 95 % lower limit is not above delta. "Open": campaigns not decided after
  {MOST_PHASES} phases. "Times": measurements beside the same campaigns without a limit (geometric mean).

"""
HEADER = (
    "| table | bounds are taken | campaigns | first round | all | wrong | rate | lower 95 % | upper 95 % | open "
    "| measurements (median) | times |\n|" + "---|" * 12 + "\n"
)


def main(runs=60):
    """The report."""
    began = time.process_time()
    lines = [row("deceiving", way, deceived(way, runs)) for way in WAYS]
    print(*lines, sep="\n", flush=True)
    exact = on_random_tables(0.0, "bound", runs)
    for share in SHARES:
        for way in WAYS if share else ("bound",):
            found = exact if not share else on_random_tables(share, way, runs)
            lines.append(row(f"random, {share:.0%} below", way, found, exact))
            print(lines[-1], flush=True)
            REPORT.write_text(INTRODUCTION + HEADER + "\n".join(lines) + "\n")
    lines.append(f"\nProcessor time {(time.process_time() - began) / 60:.0f} minutes.")
    REPORT.write_text(INTRODUCTION + HEADER + "\n".join(lines) + "\n")


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
