"""What happens on tables that are not additive: how soon it is said, and how often the answer is wrong all the same.

``python -m tests.published.additivity`` writes REPORT-additivity.md beside this file. Seeds are fixed. Every run is a
whole campaign of a strategy against a simulated assay; after every round the program's rule is applied to the values so
far, before the round decides anything.
"""

from __future__ import annotations

import argparse
import csv
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from assaypilot.engine.campaign.additivity import SHARE, SURE
from assaypilot.engine.domain.features import SiteFeatures, merge_equal_rows
from assaypilot.engine.domain.goals import AllEpsilonBest
from assaypilot.engine.domain.library import Library, Site
from assaypilot.engine.errors import AssayPilotError
from assaypilot.engine.models.additivity import Additivity, additivity, interactions
from assaypilot.engine.strategies.protocol import IN, OUT, Capacity, Outcome, Problem
from assaypilot.engine.strategies.registry import get
from tests.public import DATA

REPORT = Path(__file__).with_name("REPORT-additivity.md")
SIZES = (5, 4, 4, 3)
NOISE, EPSILON, SLACK, DELTA, ROUND = 0.2, 0.5, 0.5, 0.05, 96
MOST = 4000
"""Measurements after which a run is ended."""

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Told:
    """One campaign."""

    flagged: int | None
    """The round after which additivity was contradicted, before it decided anything; None: never."""
    rounds: int
    measurements: int
    wrong: bool
    """Somebody decided that no right answer agrees with."""
    decided: bool
    refused: bool = False
    first: Additivity | None = None
    """What the values of the first round said."""


def table(pairs: tuple[tuple[str, str], ...] = ()) -> Library:
    sites = [Site(f"R{k + 1}", tuple(f"x{j}" for j in range(n))) for k, n in enumerate(SIZES)]
    whole = Library.product(sites)
    return Library(whole.sites, whole.codes, whole.ids, interactions=pairs)


def truth_of(seed: int, tau: float, pair: float) -> Floats:
    """Means of the table: a sum of effects, an interaction of R1 and R2, and own deviations of every compound."""
    codes, rng = table().codes, np.random.default_rng((77, seed))
    means = sum(rng.normal(0.0, 0.5, n)[codes[:, k]] for k, n in enumerate(SIZES))
    means = means + pair * rng.standard_normal(SIZES[:2])[codes[:, 0], codes[:, 1]]
    return np.asarray(means + tau * rng.standard_normal(len(codes)), dtype=float)


def campaign(
    features: SiteFeatures,
    truth: Floats,
    seed: int,
    strategy: str = "adaptive",
    goal: AllEpsilonBest | None = None,
    noise: float = NOISE,
    most_rounds: int = 60,
) -> Told:
    """A campaign to its end; ``truth`` ``(n_arms,)``."""
    goal = AllEpsilonBest(EPSILON, SLACK) if goal is None else goal
    everything = np.ones(len(truth), dtype=bool)
    problem = Problem(features, everything, everything, goal, DELTA, (noise,), {}, seed, Capacity(ROUND, 4))
    own, rng = get(strategy), np.random.default_rng((78, seed))
    try:
        state = own.start(problem)
    except AssayPilotError:
        return Told(None, 0, 0, False, False, refused=True)
    counts, sums, flagged, first = np.zeros(len(truth)), np.zeros(len(truth)), None, None
    share = SHARE * (goal.slack or noise)
    while not own.stop(state) and state.phase < most_rounds and counts.sum() < MOST:
        plan = own.ask(state)
        came, means = np.zeros(len(truth)), np.zeros(len(truth))
        came[plan.arms] = plan.counts
        scatter = noise / np.sqrt(plan.counts) * rng.standard_normal(len(plan.arms))
        means[plan.arms] = truth[plan.arms] + scatter
        counts, sums = counts + came, sums + came * means
        rows = np.flatnonzero(counts)
        if flagged is None:
            found = additivity(features, rows, sums[rows] / counts[rows], counts[rows], noise, sure=SURE)
            first = first or found
            against = found.p is not None and found.p < SURE and found.tau_low > share
            flagged = state.phase + 1 if against else None
        state = own.adjust(
            own.tell(state, Outcome(plan, came[None], means[None], int(counts.sum()))),
            measurable=everything,
            spent=int(counts.sum()),
        )
    best = truth.max()
    wrong = bool(((state.status == OUT) & (truth >= best - goal.epsilon)).any())
    wrong |= bool(((state.status == IN) & (truth < best - goal.epsilon - goal.slack)).any())
    decided = any(reason.name == "decided" for reason in own.stop(state))
    return Told(flagged, state.phase, int(counts.sum()), wrong, decided, first=first)


def share_of(told: Sequence[bool]) -> str:
    """A share with its 95 % interval (Clopper and Pearson)."""
    from scipy.stats import binomtest

    n, hits = len(told), sum(told)
    low, high = binomtest(hits, n).proportion_ci()
    return f"{hits / n:.1%} ({low:.1%} to {high:.1%})"


def line(name: str, told: Sequence[Told]) -> str:
    ran = [one for one in told if not one.refused]
    by = (
        [share_of([one.flagged is not None and one.flagged <= k for one in ran]) for k in (1, 2)] if ran else ["-", "-"]
    )
    ever = share_of([one.flagged is not None for one in ran]) if ran else "-"
    used = f"{np.median([one.measurements for one in ran]):,.0f}" if ran else "-"
    open_ = sum(not one.decided for one in told)
    silent = share_of([one.wrong and one.flagged is None for one in told])
    wrong = share_of([one.wrong for one in told])
    return f"| {name} | {len(told)} | {by[0]} | {by[1]} | {ever} | {wrong} | {silent} | {open_} | {used} |"


HEAD = """| table, strategy | runs | said before the 1st decision | before the 2nd | ever | answer wrong | wrong and nothing said | undecided at the end | measurements (median) |
| --- | --- | --- | --- | --- | --- | --- | --- | --- |
"""  # noqa: E501


def simulated(runs: int) -> str:
    plain, both = SiteFeatures.of(table()), SiteFeatures.of(table((("R1", "R2"),)))
    lines = []
    for tau in (0.0, 0.1, 0.2, 0.3, 0.4):
        n = 3 * runs if tau == 0.0 else runs
        told = [campaign(plain, truth_of(seed, tau, 0.0), seed) for seed in range(n)]
        lines.append(line(f"tau {tau:g}, adaptive", told))
        print(lines[-1], flush=True)
    for pair in (0.2, 0.4):
        for name, features in (("adaptive", plain), ("adaptive, R1 with R2", both)):
            told = [campaign(features, truth_of(seed, 0.0, pair), seed) for seed in range(runs)]
            lines.append(line(f"interaction of R1 and R2, SD {pair:g}; {name}", told))
            print(lines[-1], flush=True)
    return HEAD + "\n".join(lines) + "\n"


def alarms(draws: int) -> str:
    """How often additive tables are called not additive, by designs of one round; and that the right pair is found."""
    library, features = table(), SiteFeatures.of(table())
    false = found = other = 0
    for seed in range(draws):
        rng = np.random.default_rng((79, seed))
        rows = np.sort(rng.choice(len(library), int(rng.integers(30, 97)), replace=False))
        counts = rng.integers(1, 5, len(rows)).astype(float)
        means = truth_of(seed, 0.0, 0.0)[rows] + NOISE * rng.standard_normal(len(rows)) / np.sqrt(counts)
        told = additivity(features, rows, means, counts, NOISE)
        false += told.p is not None and told.p < SURE and told.tau_low > SHARE * SLACK
        if seed < draws // 20:
            means = truth_of(seed, 0.0, 0.4)[rows] + NOISE * rng.standard_normal(len(rows)) / np.sqrt(counts)
            worth = [one.sites for one in interactions(library, rows, means, counts, NOISE) if one.worth]
            found += ("R1", "R2") in worth
            other += any(sites != ("R1", "R2") for sites in worth)
    n = draws // 20
    return (
        f"Additive tables, {draws:,} draws of 30 to 96 compounds measured 1 to 4 times: called not additive "
        f"{share_of([True] * false + [False] * (draws - false))}. Interaction of R1 and R2 (SD 0.4), {n} draws: the "
        f"pair is proposed {share_of([True] * found + [False] * (n - found))}, another "
        f"{share_of([True] * other + [False] * (n - other))}.\n"
    )


def halides(runs: int) -> str:
    """The yields of the public table baybe_aryl_halide.csv as the truth, as values there are and by a first round."""
    path = DATA / "baybe_aryl_halide.csv"
    if not path.exists():
        return "The table baybe_aryl_halide.csv is not here.\n"
    with path.open(encoding="utf-8-sig", newline="") as stream:
        rows = [row for row in csv.DictReader(stream) if row["aryl_halide"] and row["additive"]]
    library = Library.listed(
        ("base", "ligand", "aryl_halide", "additive"),
        [[row[name] for name in ("base", "ligand", "aryl_halide", "additive")] for row in rows],
        ids=[f"{place}" for place in range(len(rows))],
    )
    values = np.array([float(row["yield"]) for row in rows])
    first, arm_of = merge_equal_rows(library.codes)
    truth = np.bincount(arm_of, values) / np.bincount(arm_of)
    features = SiteFeatures(library.codes[first], tuple(len(site.substituents) for site in library.sites))
    lines = []
    for noise in (2.0, 5.0, 10.0):
        start = time.perf_counter()
        found = additivity(features, np.arange(len(truth)), truth, np.ones(len(truth)), noise)
        took = 1000 * (time.perf_counter() - start)
        goal = AllEpsilonBest(10.0, 5.0)
        told = [campaign(features, truth, seed, goal=goal, noise=noise, most_rounds=1) for seed in range(runs)]
        taus = [one.first.tau for one in told if one.first is not None]
        lines.append(
            f"| {noise:g} | {found.tau:.1f} (at least {found.tau_low:.1f}) | {took:.0f} ms | {runs} | "
            f"{share_of([one.flagged == 1 for one in told])} | {np.mean(taus):.1f} |"
        )
        print(lines[-1], flush=True)
    return (
        "Goal: within 10 % yield of the best, soft by 5. The table's own values as history, and adaptive's first round "
        f"against them with noise ({len(truth):,} compounds).\n\n"
        "| noise (SD) | tau by the table's values | computed in | runs | said before the first decision | tau by the "
        "first round (mean) |\n| --- | --- | --- | --- | --- | --- |\n" + "\n".join(lines) + "\n"
    )


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=40)
    options = parser.parse_args(arguments)
    parts = [
        "# Tables that are not additive\n",
        "Made by `python -m tests.published.additivity`; seeds are fixed. The rule: p < "
        f"{SURE:g} for lack of fit and a lower 95 % bound of tau above {SHARE:g} of the slack. Tables of "
        f"{'x'.join(map(str, SIZES))} compounds, effects with an SD of 0.5, sigma {NOISE:g}, epsilon {EPSILON:g}, "
        f"slack {SLACK:g}, delta {DELTA:g}, rounds of {ROUND}. Wrong: somebody decided that no right answer agrees "
        "with. Intervals are of 95 %.\n",
        "## Whole campaigns\n",
        simulated(options.runs),
        "## False alarms, and the pair that is proposed\n",
        alarms(20 * options.runs),
        "## Yields of a coupling (baybe_aryl_halide)\n",
        halides(max(5, options.runs // 10)),
    ]
    REPORT.write_text("\n".join(parts), encoding="utf-8", newline="\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
