"""How often decisions are wrong where compounds scatter differently, by what is taken for their noise, and its cost.

``python -m tests.published.noise_classes`` runs it all and writes REPORT-noise-classes.md beside this file. Compounds
with one substituent at the first site scatter more than all others; every measurement is drawn by itself. What
``adaptive`` and LinFACT-G take for the noise is: the SD of each class; the largest for all; or one SD for all that a
lab would find by pooling replicates of all compounds (root mean square), which is too small for some; or, where nobody
knows anything, upper bounds by the replicates of the campaign itself, of each class or of all compounds together.
"""

from __future__ import annotations

import math
import sys
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from scipy.stats import norm

from assaypilot.engine.features import SiteFeatures
from assaypilot.engine.goals import AllEpsilonBest
from assaypilot.engine.models.sd_bound import LAST, OF_DECISIONS, TARGET, planning_sd, upper_sd
from assaypilot.engine.models.sd_classes import scale, weighing, worth
from assaypilot.engine.models.uneven import louder
from assaypilot.engine.simulate.scores import score
from assaypilot.engine.strategies import registry
from assaypilot.engine.strategies.protocol import BOUNDLESS, Capacity, Outcome, Problem
from tests.published.cases import processes
from tests.published.noise import SHAPES, Hurried, errors, interval

REPORT = Path(__file__).with_name("REPORT-noise-classes.md")
SIZES = (3, 3, 3)
STEP = 0.125
EPSILON, SLACK = 0.5, 0.25
TAKEN = ("by class", "largest", "one for all")
UNKNOWN = ("unknown, by class", "unknown, one for all")
"""What decisions take where nobody knows the SDs: bounds by replicates, of each class or of all together."""
GUESS = 0.3
"""What is said of an SD that nobody knows: of each class the same."""


@dataclass(frozen=True)
class Asked:
    """Campaigns of one kind."""

    strategy: str
    sds: tuple[float, float]
    """Of compounds with the first substituent at the first site, and of all others."""
    delta: float
    taken: str
    guesses: tuple[float, float] = (GUESS, GUESS)
    shrunk: float = 1.0
    """How many times too small bounds are taken."""


@dataclass(frozen=True)
class Found:
    """How they went."""

    asked: Asked
    runs: int
    wrong: int
    undecided: int
    measurements: tuple[float, float, float]
    """Quartiles."""
    below: int
    """Campaigns in which some bound was below an SD at some look."""
    each: tuple[int, ...]
    """Measurements of every campaign."""


def one(asked: Asked, seed: int) -> tuple[bool, int, int, bool]:
    """(wrong, undecided, measurements, some bound was too small) of one campaign."""
    if asked.taken in UNKNOWN:
        return unknown(asked, seed)
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
    return found.wrong, found.undecided, spent, False


def unknown(asked: Asked, seed: int) -> tuple[bool, int, int, bool]:
    """The same where nobody knows the SDs, by the replicates of every phase; all values are drawn."""
    rng = np.random.default_rng((seed, 78))
    codes = np.stack([g.ravel() for g in np.indices(SIZES)], axis=1)
    features = SiteFeatures(codes.astype(np.int32), SIZES)
    effects = [STEP * rng.integers(0, 9, n) for n in SIZES]
    truth = sum(effect[codes[:, k]] for k, effect in enumerate(effects)) * (1.0 - 1e-9)
    sds = np.where(codes[:, 0] == 0, *asked.sds)
    of = np.where(codes[:, 0] == 0, 0, 1) if asked.taken == UNKNOWN[0] else np.zeros(len(truth), dtype=int)
    alone = of.max() == 0
    n = 1 if alone else 2
    alpha = (1.0 - OF_DECISIONS) * asked.delta / n
    goal, everything = AllEpsilonBest(EPSILON, SLACK), np.ones(len(truth), dtype=bool)
    weights = np.array(asked.guesses[:n])
    problem = Problem(features, everything, everything, goal, OF_DECISIONS * asked.delta, (float(weights.max()),),
                      seed=seed, capacity=Capacity(24, 4), estimated=True,
                      precision=None if alone else worth(weights)[of][None])  # fmt: skip
    strategy = Hurried()
    state, spent, below = strategy.start(problem), 0, False
    squares, freedom = np.zeros(n), np.zeros(n, dtype=int)
    while spent < 20_000:
        told = [(asked.guesses[c], squares[c], int(freedom[c]), alpha) for c in range(n)]
        lacking = np.maximum(TARGET - freedom, 0)
        masks = () if alone else tuple(of == c for c in range(n) if lacking[c])
        state = _with(state, scale([planning_sd(*one) for one in told], weights), weights, of, alone,
                      repeats=int(lacking.sum()), lacking=masks)  # fmt: skip
        if strategy.stop(state):
            break
        allocation = strategy.ask(state)
        counts, means = np.zeros((1, len(truth))), np.zeros((1, len(truth)))
        for arm, m in zip(allocation.arms.tolist(), allocation.counts.tolist(), strict=True):
            values = truth[arm] + sds[arm] * rng.standard_normal(m)
            counts[0, arm], means[0, arm] = m, values.mean()
            if freedom[of[arm]] + m - 1 <= LAST:
                squares[of[arm]] += float(((values - values.mean()) ** 2).sum())
                freedom[of[arm]] += m - 1
        if spent == 0 and not alone:
            weights = np.array([weighing(asked.guesses[c], squares[c], int(freedom[c]), alpha) for c in range(n)])
        spent += allocation.total
        used = [min(upper_sd(squares[c], int(freedom[c]), alpha) / asked.shrunk, BOUNDLESS) for c in range(n)]
        below |= any(bound < true for bound, true in zip(used, asked.sds, strict=False))
        state = _with(state, min(scale(used, weights), BOUNDLESS), weights, of, alone)
        state = strategy.tell(state, Outcome(allocation, counts, means, spent))
    found = score(goal, strategy.answer(state).status, truth[None], everything)
    return found.wrong, found.undecided, spent, below


def _with(state, sd, weights, of, alone, **more):
    precision = None if alone else worth(weights)[of][None]
    return replace(state, problem=replace(state.problem, noise=(float(sd),), precision=precision, **more))


def whole(asked: Asked, runs: int, first: int = 0) -> Found:
    """So many campaigns; number k of every kind is on the same table."""
    told = [one(asked, first + k) for k in range(runs)]
    low, middle, high = np.quantile([each[2] for each in told], [0.25, 0.5, 0.75])
    quartiles = float(low), float(middle), float(high)
    wrong, undecided, below = (sum(each[k] > 0 for each in told) for k in (0, 1, 3))
    return Found(asked, runs, wrong, undecided, quartiles, below, tuple(each[2] for each in told))


def kinds() -> list[Asked]:
    """All that the report tells of."""
    found = [
        Asked("adaptive", sds, delta, taken)
        for sds in ((0.6, 0.2), (0.2, 0.6))
        for delta in (0.05, 0.3)
        for taken in TAKEN
    ]
    return [*found, Asked("linfact-g", (0.6, 0.2), 0.3, "largest"), Asked("linfact-g", (0.6, 0.2), 0.3, "one for all")]


def unknown_kinds() -> list[Asked]:
    """All that it tells of SDs that nobody knows."""
    apart, pooled = UNKNOWN
    return [
        Asked("adaptive", (0.6, 0.2), 0.3, apart),
        Asked("adaptive", (0.6, 0.2), 0.3, apart, (0.6, 0.2)),
        Asked("adaptive", (0.6, 0.2), 0.3, apart, (0.2, 0.6)),
        Asked("adaptive", (0.6, 0.2), 0.3, apart, shrunk=1.3),
        Asked("adaptive", (0.6, 0.2), 0.3, pooled),
        Asked("adaptive", (0.2, 0.6), 0.3, apart),
        Asked("adaptive", (0.2, 0.2), 0.3, apart),
        Asked("adaptive", (0.2, 0.2), 0.3, pooled),
        Asked("adaptive", (0.2, 0.2), 0.3, "by class"),
        Asked("adaptive", (0.6, 0.2), 0.05, apart),
        Asked("adaptive", (0.6, 0.2), 0.05, pooled),
    ]


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
squares, and a weight that is twice or half as large is noticed.

## Where nobody knows the SDs

The same campaigns with ``--sd unknown``. "By class": each class has an upper bound by its own replicates, measurements
are weighed by what was guessed and what the first phase's replicates say, and all walks are made by one scale
(``engine/models/sd_classes.py``). "One for all": one bound by the replicates of all compounds together. "Guessed": of
both classes. "Too small": campaigns in which some bound was below the SD of its compounds at some look; a tenth of
delta is for that. In one line all bounds are taken 1.3 times too small: that is noticed.

| SDs | taken | guessed | delta | campaigns | wrong | rate | 95 % | too small | 95 % | undecided | measurements |
|---|---|---|---|---|---|---|---|---|---|---|---|
{unknown}

Each campaign beside the one on the same table with the SDs stated: by class it takes {times:.1f} times the measurements
in the median at delta 0.3 (quartiles {low:.1f} and {high:.1f}). One bound for all takes fewer, and is too small for the
louder class nearly always: what is promised does not hold then. Where all scatter alike classes take {alike:.1f} times
what one bound for all takes.

## One SD for all that is too small

How wrong one SD for all can be is seen without a union over compounds: of two compounds of the louder class, SDs 0.6
and 0.2 as above and {pooled:.2f} taken for all, measured once each, the one is said to be ahead wrongly in

| delta | by class, or the largest | one for all |
|---|---|---|
| 0.3 | 0.300 | {wide:.3f} |
| 0.05 | 0.050 | {narrow:.3f} |

## The check

Cells of two values of one compound each, by 12 substituents at three sites and by their own mean, asked after every
sixth cell. One of the substituents (a quarter of the cells) scatters so many times as much as all others; "said of it":
how often that is found by the last cell; "of others": how often somebody else is named first.

| noise | times as much | cells | runs | said of it | of others |
|---|---|---|---|---|---|
"""


def alarms(shape: str, times: float, cells: int, runs: int) -> tuple[float, float]:
    """How often the check names the louder substituent, and anybody else, while cells come in."""
    rng, found, wrong = np.random.default_rng(9), 0, 0
    for _ in range(runs):
        codes = rng.integers(0, 4, (cells, 3))
        values = errors(shape, (cells, 2), rng) * np.where(codes[:, 0] == 0, times, 1.0)[:, None]
        means = values.mean(axis=1) + 3.0 * rng.standard_normal(cells)
        squares = (values[:, 0] - values[:, 1]) ** 2 / 2.0
        groups = [codes[:, site] == code for site in range(3) for code in range(4)]
        named: list[int] = []
        for k in range(12, cells + 1, 6):
            high = means[:k] > np.median(means[:k])
            told = louder(squares[:k], np.ones(k, dtype=np.intp), [*(one[:k] for one in groups), high, ~high])
            named += [one.group for one in told[:1]]
        wrong += bool(named) and (named[0] != 0 or times == 1.0)
        found += 0 in named and times > 1.0
    return found / runs, wrong / runs


def check_rows() -> list[str]:
    """The lines about the check."""
    asked = [(shape, 1.0, 60, 1500) for shape in SHAPES]
    asked += [(SHAPES[0], times, cells, 300) for times in (2.0, 3.0, 4.0) for cells in (40, 80, 160)]
    rows = []
    for shape, times, cells, runs in asked:
        found, wrong = alarms(shape, times, cells, runs)
        rows.append(f"| {shape} | {times:g} | {cells} | {runs} | {found:.3f} | {wrong:.3f} |")
    return rows


def unknown_row(found: Found) -> str:
    """One line of the table of SDs that nobody knows."""
    asked = found.asked
    low, high = interval(found.wrong, found.runs)
    least, most = interval(found.below, found.runs)
    stated = asked.taken not in UNKNOWN
    n = 1 if asked.taken == UNKNOWN[1] else 2
    guessed = "stated" if stated else ", ".join(f"{one:g}" for one in asked.guesses[:n])
    taken = asked.taken + (" / 1.3" if asked.shrunk > 1.0 else "")
    quartiles = " / ".join(f"{number:,.0f}" for number in found.measurements)
    return (
        f"| {asked.sds[0]:g}, {asked.sds[1]:g} | {taken} | {guessed} | {asked.delta} | {found.runs} | {found.wrong} "
        f"| {found.wrong / found.runs:.4f} | {low:.4f} to {high:.4f} | {found.below / found.runs:.4f} "
        f"| {least:.4f} to {most:.4f} | {found.undecided} | {quartiles} |"
    )


def beside(one: Found, other: Found) -> tuple[float, float, float]:
    """Quartiles of how many times the measurements of the other the one takes, campaign by campaign."""
    ratios = np.array(one.each) / np.array(other.each[: len(one.each)])
    low, middle, high = np.quantile(ratios, [0.25, 0.5, 0.75])
    return float(low), float(middle), float(high)


def tail(stated: Found, unknown: list[Found]) -> str:
    """All below the first table; ``stated``: campaigns with the SDs of the classes stated."""
    pooled = math.sqrt((0.6**2 + 2 * 0.2**2) / 3)
    wide, narrow = (float(norm.sf(norm.isf(delta) * pooled / 0.6)) for delta in (0.3, 0.05))
    low, times, high = beside(unknown[0], stated)
    alike = beside(unknown[6], unknown[7])[1]
    told = "\n".join(map(unknown_row, unknown))
    text = TAIL.format(
        pooled=pooled, wide=wide, narrow=narrow, unknown=told, times=times, low=low, high=high, alike=alike
    )
    return text + "\n".join(check_rows()) + "\n"


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
    rows, known = [], []
    with processes(1) as pool:
        # The other way round, and of LinFACT-G, half as many: they take the longest.
        each = [
            runs if asked.strategy == "adaptive" and asked.sds[0] > asked.sds[1] else runs // 2 for asked in kinds()
        ]
        for future in [pool.submit(whole, asked, n) for asked, n in zip(kinds(), each, strict=True)]:
            known.append(future.result())
            rows.append(row(known[-1]))
            print(rows[-1], flush=True)
        unknown = [future.result() for future in [pool.submit(whole, asked, runs) for asked in unknown_kinds()]]
    text = head + "\n".join(rows) + "\n" + tail(known[3], unknown)
    REPORT.write_text(text, encoding="utf-8", newline="\n")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
