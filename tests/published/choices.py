"""What the three plans come to: whole campaigns on practice-960 with a stock that is made up.

``python -m tests.published.choices [RUNS]`` plays them and writes REPORT-stock.md beside this file. The stock is drawn
anew for every seed: a share of the compounds is in stock, each other one costs 500 to 3,000 and takes two to six weeks.
"""

from __future__ import annotations

import sys
import time
from dataclasses import dataclass
from functools import partial
from multiprocessing import Pool
from pathlib import Path

import numpy as np

from assaypilot.engine.domain.features import SiteFeatures
from assaypilot.engine.domain.goals import AllEpsilonBest
from assaypilot.engine.domain.stock import PLANS, PlanName
from assaypilot.engine.simulate.practice import _library, practice_truth
from assaypilot.engine.strategies.choosing import Costs, Plans
from assaypilot.engine.strategies.protocol import Capacity, Outcome, Problem
from assaypilot.engine.strategies.registry import get

REPORT = Path(__file__).with_name("REPORT-stock.md")
SHARES = (0.3, 0.05)
NOISE, EPSILON, SLACK, DELTA = 0.2, 0.5, 0.5, 0.05
PER_ROUND, REPLICATES, MEASUREMENT, ROUND_WEEKS = 96, 4, 40.0, 1.0
WAYS: tuple[PlanName | None, ...] = (*PLANS, None)
"""None: planned as if everything were at hand."""


@dataclass(frozen=True)
class Played:
    share: float
    way: PlanName | None
    measurements: int
    made: int
    making: float
    rounds: int
    weeks: float
    wrong: bool
    seconds: tuple[float, ...]
    """Processor time of the three plans together, of each phase."""

    @property
    def cost(self) -> float:
        return self.making + MEASUREMENT * self.measurements


def play(job: tuple[float, int, PlanName | None]) -> Played:
    """One campaign. What is at hand is tested at once; the rest of a phase when the last of its compounds is there."""
    share, seed, way = job
    library, truth = _library(), practice_truth()
    n, features = len(library), SiteFeatures.of(library)
    drawn = np.random.default_rng((2026, seed))
    ready = drawn.random(n) < share
    price, lead = drawn.uniform(500.0, 3000.0, n), drawn.uniform(2.0, 6.0, n)
    rng = np.random.default_rng((7, seed))
    every = np.ones(n, dtype=bool)
    goal, capacity = AllEpsilonBest(EPSILON, SLACK), Capacity(PER_ROUND, REPLICATES)
    strategy = get("adaptive")
    state = strategy.start(Problem(features, every, every, goal, DELTA, (NOISE,), {}, seed, capacity))
    making, made, rounds, weeks, seconds = 0.0, 0, 0, 0.0, []
    while not strategy.stop(state):
        costs = Costs(ready, np.where(ready, 0.0, price), MEASUREMENT, REPLICATES)
        begun = time.process_time()
        if way is None:
            allocation = strategy.ask(state)
        else:
            plans = Plans(strategy, state, costs)
            three = {name: plans.named(name) for name in PLANS}
            seconds.append(time.process_time() - begun)
            allocation = three[way].allocation
        new = allocation.arms[~ready[allocation.arms]]
        first = int(allocation.counts[ready[allocation.arms]].sum())
        making, made = making + float(price[new].sum()), made + len(new)
        here = -(-first // PER_ROUND)
        later = -(-(allocation.total - first) // PER_ROUND)
        wait = float(lead[new].max(initial=0.0))
        rounds += here + later
        weeks += max(here * ROUND_WEEKS, wait) + later * ROUND_WEEKS
        ready = ready | np.isin(np.arange(n), new)
        counts, means = np.zeros((1, n)), np.zeros((1, n))
        counts[0, allocation.arms] = allocation.counts
        noise = rng.standard_normal(len(allocation.arms)) * NOISE / np.sqrt(allocation.counts)
        means[0, allocation.arms] = truth[allocation.arms] + noise
        state = strategy.tell(state, Outcome(allocation, counts, means, state.spent + allocation.total))
    status = strategy.answer(state).status
    within, acceptable = truth >= truth.max() - EPSILON, truth >= truth.max() - EPSILON - SLACK
    wrong = bool((within & (status != 1)).any() or (~acceptable & (status == 1)).any())
    return Played(share, way, state.spent, made, making, rounds, weeks, wrong, tuple(seconds))


def row(share: float, way: PlanName | None, runs: list[Played]) -> str:
    def middle(values: list[float], digits: int = 0) -> str:
        low, median, high = np.percentile(values, [10, 50, 90])
        return f"{median:,.{digits}f} ({low:,.{digits}f} to {high:,.{digits}f})"

    cells = [
        way or "as if all were at hand",
        middle([one.cost for one in runs]),
        middle([one.made for one in runs]),
        middle([one.measurements for one in runs]),
        middle([one.rounds for one in runs]),
        middle([one.weeks for one in runs], 1),
        str(sum(one.wrong for one in runs)),
    ]
    return f"| {' | '.join(cells)} |"


def report(found: list[Played], runs: int) -> str:
    lines = [
        "# What the three plans come to",
        "",
        f"Made by `python -m tests.published.choices {runs}`: {runs} campaigns of each kind on practice-960, by "
        "adaptive, each with the same choice in every phase. **The stock is made up**: drawn anew for every seed, each "
        "compound that is not in stock costs 500 to 3,000 EUR and takes two to six weeks.",
        "",
        f"All within {EPSILON} of the best, soft by {SLACK}, 95 % sure, assay noise {NOISE}; rounds of {PER_ROUND}, "
        f"a week each, at most {REPLICATES} measurements of a compound in one; a measurement costs {MEASUREMENT:.0f} "
        "EUR. What is at hand is tested at once, the rest of a phase when the last of its compounds has come; who was "
        "made stays at hand. Medians, in parentheses 10 and 90 %. Wrong: campaigns with a decision that is not right.",
    ]
    for share in SHARES:
        lines += ["", f"## {share:.0%} of the compounds in stock", ""]
        lines += [
            "| plan | cost (EUR) | made | measurements | rounds | weeks | wrong |",
            "|---|---|---|---|---|---|---|",
        ]
        for way in WAYS:
            own = [one for one in found if one.share == share and one.way == way]
            lines.append(row(share, way, own))
    times = [second for one in found for second in one.seconds]
    lines += [
        "",
        f"The three plans of a phase together: {np.median(times):.2f} s of processor time (median), at most "
        f"{max(times):.2f} s, on a machine that was busy with other things; less when it is not.",
        "",
        '"As if all were at hand" is how plans were made before there was a choice. Where a third of the table is in '
        "stock, designs on it tell nearly as much as designs on everything: making compounds buys next to nothing. "
        "Where little is in stock, the balanced plan saves most of the measurements that the fastest saves, for a "
        "part of its money. Fastest means fewest measurements: with weeks of waiting it is not the first to end, which "
        "is why the wait and the expected end stand beside every plan.",
        "",
    ]
    return "\n".join(lines)


def main(arguments: list[str]) -> int:
    """0; plays the campaigns and writes the report."""
    runs = int(arguments[0]) if arguments else 10
    jobs = [(share, seed, way) for seed in range(runs) for share in SHARES for way in WAYS]
    with Pool(2) as pool:
        found = list(pool.imap_unordered(partial(play), jobs))
    REPORT.write_text(report(found, runs), encoding="utf-8", newline="\n")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
