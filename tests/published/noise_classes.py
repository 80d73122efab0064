"""How often decisions are wrong where compounds scatter differently, by what is taken for their noise, and its cost.

``python -m tests.published.noise_classes`` runs it all and writes REPORT-noise-classes.md beside this file. Compounds
with one substituent at the first site scatter more than all others; every measurement is drawn by itself. What
``adaptive`` and LinFACT-G take for the noise is: the SD of each class; the largest for all; or one SD for all that a
lab would find by pooling replicates of all compounds (root mean square), which is too small for some.
"""

from __future__ import annotations

import math
import sys
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from assaypilot.engine.features import SiteFeatures
from assaypilot.engine.goals import AllEpsilonBest
from assaypilot.engine.simulate.scores import score
from assaypilot.engine.strategies import registry
from assaypilot.engine.strategies.protocol import Capacity, Outcome, Problem
from tests.published.cases import processes
from tests.published.noise import Hurried, interval

REPORT = Path(__file__).with_name("REPORT-noise-classes.md")
SIZES = (3, 3, 3)
STEP = 0.125
EPSILON, SLACK = 0.5, 0.25
TAKEN = ("by class", "largest", "one for all")


@dataclass(frozen=True)
class Asked:
    """Campaigns of one kind."""

    strategy: str
    sds: tuple[float, float]
    """Of compounds with the first substituent at the first site, and of all others."""
    delta: float
    taken: str


@dataclass(frozen=True)
class Found:
    """How they went."""

    asked: Asked
    runs: int
    wrong: int
    undecided: int
    measurements: tuple[float, float, float]
    """Quartiles."""


def one(asked: Asked, seed: int) -> tuple[bool, int, int]:
    """(wrong, undecided, measurements) of one campaign."""
    rng = np.random.default_rng((seed, 78))
    codes = np.stack([g.ravel() for g in np.indices(SIZES)], axis=1)
    features = SiteFeatures(codes.astype(np.int32), SIZES)
    effects = [STEP * rng.integers(0, 9, n) for n in SIZES]
    # A hair inside each border: at it, errors are as likely as they can be.
    truth = sum(effect[codes[:, k]] for k, effect in enumerate(effects)) * (1.0 - 1e-9)
    sds = np.where(codes[:, 0] == 0, *asked.sds)
    goal, everything = AllEpsilonBest(EPSILON, SLACK), np.ones(len(truth), dtype=bool)
    sd = float(np.sqrt((sds**2).mean())) if asked.taken == "one for all" else float(sds.max())
    precision = (sd / sds[None]) ** 2 if asked.taken == "by class" else None
    problem = Problem(features, everything, everything, goal, asked.delta, (sd,), seed=seed, capacity=Capacity(24, 4),
                      precision=precision)  # fmt: skip
    strategy = Hurried() if asked.strategy == "adaptive" else registry.get(asked.strategy)
    state, spent = strategy.start(problem), 0
    while spent < 20_000 and not strategy.stop(state):
        allocation = strategy.ask(state)
        arms, n = allocation.arms, allocation.counts
        counts, means = np.zeros((1, len(truth))), np.zeros((1, len(truth)))
        counts[0, arms] = n
        means[0, arms] = truth[arms] + sds[arms] / np.sqrt(n) * rng.standard_normal(len(arms))
        spent += allocation.total
        state = strategy.tell(state, Outcome(allocation, counts, means, spent))
    found = score(goal, strategy.answer(state).status, truth[None], everything)
    return found.wrong, found.undecided, spent


def whole(asked: Asked, runs: int, first: int = 0) -> Found:
    """So many campaigns; number k of every kind is on the same table."""
    told = [one(asked, first + k) for k in range(runs)]
    low, middle, high = np.quantile([each[2] for each in told], [0.25, 0.5, 0.75])
    quartiles = float(low), float(middle), float(high)
    return Found(asked, runs, sum(each[0] for each in told), sum(each[1] > 0 for each in told), quartiles)


def kinds() -> list[Asked]:
    """All that the report tells of."""
    found = [
        Asked("adaptive", sds, delta, taken)
        for sds in ((0.6, 0.2), (0.2, 0.6))
        for delta in (0.05, 0.3)
        for taken in TAKEN
    ]
    return [*found, Asked("linfact-g", (0.6, 0.2), 0.3, "largest"), Asked("linfact-g", (0.6, 0.2), 0.3, "one for all")]


HEAD = """# Noise that differs by class

Made by `python -m tests.published.noise_classes`; seeds are fixed.

{size} compounds (full {sizes}), effects in steps of {step} so that many stand at a border, epsilon {epsilon}, slack
{slack}, rounds of 24, at most 4 replicates. "SDs": of compounds with the first substituent at the first site, and of
all others. "Taken": what decisions take for the noise: the SD of each class, the largest for all, or one for all (the
root mean square over the compounds), which is too small for some. Intervals are 95 % (Clopper-Pearson). ``adaptive`` is
planned in the hurry of forecasts, in all rows alike.

| strategy | SDs | taken | delta | campaigns | wrong | rate | 95 % | undecided | measurements (quartiles) |
|---|---|---|---|---|---|---|---|---|---|
"""
TAIL = """
Simultaneous bounds are wide, so that errors are rare by classes and by the largest SD; that classes are weighed rightly
is tested by itself: standardised errors of a phase are standard normal, to the last digit those of generalised least
squares, and a weight 1.3 times too large is noticed.
"""


def row(found: Found) -> str:
    """One line of the table."""
    asked = found.asked
    low, high = interval(found.wrong, found.runs)
    quartiles = " / ".join(f"{n:,.0f}" for n in found.measurements)
    return (
        f"| {asked.strategy} | {asked.sds[0]:g}, {asked.sds[1]:g} | {asked.taken} | {asked.delta} | {found.runs} "
        f"| {found.wrong} | {found.wrong / found.runs:.4f} | {low:.4f} to {high:.4f} | {found.undecided} "
        f"| {quartiles} |"
    )


def main() -> int:
    runs = int(sys.argv[1]) if len(sys.argv) > 1 else 200
    head = HEAD.format(size=math.prod(SIZES), sizes=" x ".join(map(str, SIZES)), step=STEP, epsilon=EPSILON,
                       slack=SLACK)  # fmt: skip
    rows = []
    with processes(1) as pool:
        # The other way round, and of LinFACT-G, half as many: they take the longest.
        each = [
            runs if asked.strategy == "adaptive" and asked.sds[0] > asked.sds[1] else runs // 2 for asked in kinds()
        ]
        for future in [pool.submit(whole, asked, n) for asked, n in zip(kinds(), each, strict=True)]:
            rows.append(row(future.result()))
            print(rows[-1], flush=True)
    REPORT.write_text(head + "\n".join(rows) + "\n" + TAIL, encoding="utf-8", newline="\n")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
