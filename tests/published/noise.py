"""How often decisions are wrong when the noise has to be estimated, what it costs, and what other noise does.

``python -m tests.published.noise`` runs it all and writes REPORT-noise.md beside this file. Every measurement is drawn
by itself here, so that noise can have any shape: normal; Student's t with 4 degrees of freedom, scaled to the same SD;
normal with 2 % gross errors, whose SD is ten times as large. What the lab says of its noise, where it says something,
is the SD of the plain part.
"""

from __future__ import annotations

import math
import sys
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from scipy.stats import beta, norm, t

from assaypilot.engine.domain.features import SiteFeatures
from assaypilot.engine.domain.goals import AllEpsilonBest
from assaypilot.engine.models.sd_bound import LAST, OF_DECISIONS, TARGET, planning_sd, upper_factor, upper_sd
from assaypilot.engine.simulate import forecast_quick
from assaypilot.engine.simulate.scores import score
from assaypilot.engine.strategies import registry
from assaypilot.engine.strategies.adaptive.epsilon_best import Adaptive
from assaypilot.engine.strategies.protocol import BOUNDLESS, Capacity, Outcome, Problem
from tests.published.cases import processes

REPORT = Path(__file__).with_name("REPORT-noise.md")
PAIRS = (8, 16, 32)
SHAPES = ("normal", "t with 4 degrees of freedom", "2 % gross errors")
TIMES = 10.0
SIGMA, EPSILON, SLACK = 0.2, 0.5, 0.25
SIZES = (3, 3, 3)
STEP = 0.125
"""Effects are multiples of it, so that many compounds stand at the very borders of the goal."""


def errors(shape: str, size: tuple[int, ...], rng: np.random.Generator) -> np.ndarray:
    """Errors with an SD of 1 (of the plain part), of a shape that names its degrees of freedom or gross errors."""
    if shape.startswith("t "):
        freedom = int(shape.split()[2])
        return rng.standard_t(freedom, size) / math.sqrt(freedom / (freedom - 2))
    plain = rng.standard_normal(size)
    share = float(shape.split()[0]) / 100.0 if "gross" in shape else 0.0
    return np.where(rng.random(size) < share, TIMES * plain, plain) if share else plain


def interval(wrong: int, runs: int) -> tuple[float, float]:
    """The 95 % interval of a rate (Clopper-Pearson)."""
    low = 0.0 if wrong == 0 else float(beta.ppf(0.025, wrong, runs - wrong + 1))
    high = 1.0 if wrong == runs else float(beta.ppf(0.975, wrong + 1, runs - wrong))
    return low, high


# ------------------------------------------------------------------ two compounds, one look


def exact(pairs: int, delta: float, shrunk: float = 1.0) -> tuple[float, float]:
    """How often two compounds are told apart wrongly, and the bound is below sigma, for normal noise.

    The difference's error over sigma is normal and independent of s, so their ratio is Student's t.
    """
    factor = upper_factor(pairs, (1.0 - OF_DECISIONS) * delta) / shrunk
    border = norm.isf(OF_DECISIONS * delta)
    return float(t.sf(border * factor, pairs)), float(_below(pairs, factor))


def _below(pairs: int, factor: float) -> float:
    from scipy.stats import chi2

    return float(chi2.cdf(pairs / factor**2, pairs))


def two(pairs: int, delta: float, shape: str, runs: int, seed: int, shrunk: float = 1.0) -> tuple[float, float, float]:
    """(wrong with the bound, wrong with sigma known, bound below sigma) of two compounds measured equally often."""
    rng = np.random.default_rng(seed)
    each = pairs // 2 + 1
    wrong = known = below = 0
    for _ in range(10):
        values = errors(shape, (runs // 10, 2, each), rng)
        means = values.mean(axis=2)
        squares = ((values - means[:, :, None]) ** 2).sum(axis=(1, 2))
        used = np.sqrt(squares / pairs) * upper_factor(pairs, (1.0 - OF_DECISIONS) * delta) / shrunk
        apart = (means[:, 0] - means[:, 1]) / math.sqrt(2.0 / each)
        wrong += int((apart > norm.isf(OF_DECISIONS * delta) * used).sum())
        known += int((apart > norm.isf(delta)).sum())
        below += int((used < 1.0).sum())
    return wrong / runs, known / runs, below / runs


# ------------------------------------------------------------------ whole campaigns


class Hurried(Adaptive):
    """``adaptive``, planned in the hurry of forecasts: worse plans take more measurements and err no more."""

    way = forecast_quick._HURRIED


@dataclass(frozen=True)
class Whole:
    """Campaigns of one kind."""

    strategy: str
    shape: str
    delta: float
    unknown: bool
    guess: float = SIGMA
    shrunk: float = 1.0
    """How many times too small the bound is taken."""


@dataclass(frozen=True)
class Found:
    """How they went."""

    asked: Whole
    runs: int
    wrong: int
    undecided: int
    measurements: tuple[float, float, float]
    """Quartiles."""
    freedom: float
    """Median degrees of freedom at the end."""
    times: float
    """Median of what decisions used at the end, over the SD of the plain part."""


def one(asked: Whole, seed: int) -> tuple[bool, int, int, int, float]:
    """(wrong, undecided, measurements, degrees of freedom, bound over sigma) of one campaign."""
    rng = np.random.default_rng((seed, 77))
    codes = np.stack([g.ravel() for g in np.indices(SIZES)], axis=1)
    features = SiteFeatures(codes.astype(np.int32), SIZES)
    effects = [STEP * rng.integers(0, 9, n) for n in SIZES]
    # A hair inside each border: at it, errors are as likely as they can be.
    truth = sum(effect[codes[:, k]] for k, effect in enumerate(effects)) * (1.0 - 1e-9)
    goal = AllEpsilonBest(EPSILON, SLACK)
    share = OF_DECISIONS if asked.unknown else 1.0
    everything = np.ones(len(truth), dtype=bool)
    problem = Problem(features, everything, everything, goal, share * asked.delta, (asked.guess,), seed=seed,
                      capacity=Capacity(24, 4), estimated=asked.unknown)  # fmt: skip
    strategy = Hurried() if asked.strategy == "adaptive" else registry.get(asked.strategy)
    state, squares, freedom, spent = strategy.start(problem), 0.0, 0, 0
    alpha, used = (1.0 - OF_DECISIONS) * asked.delta, SIGMA
    while spent < 20_000:
        if asked.unknown:
            sd = planning_sd(asked.guess, squares, freedom, alpha)
            state = _with(state, sd, max(TARGET - freedom, 0))
        if strategy.stop(state):
            break
        allocation = strategy.ask(state)
        counts, means = np.zeros((1, len(truth))), np.zeros((1, len(truth)))
        for arm, n in zip(allocation.arms.tolist(), allocation.counts.tolist(), strict=True):
            values = truth[arm] + SIGMA * errors(asked.shape, (n,), rng)
            counts[0, arm], means[0, arm] = n, values.mean()
            if freedom + n - 1 <= LAST:
                squares, freedom = squares + float(((values - values.mean()) ** 2).sum()), freedom + n - 1
        spent += allocation.total
        if asked.unknown:
            used = upper_sd(squares, freedom, alpha) / asked.shrunk
            state = _with(state, min(used, BOUNDLESS), 0)
        state = strategy.tell(state, Outcome(allocation, counts, means, spent))
    found = score(goal, state.status, truth[None], everything)
    return found.wrong, found.undecided, spent, freedom, used / SIGMA


def _with(state, sd, repeats):
    return replace(state, problem=replace(state.problem, noise=(sd,), repeats=repeats))


def whole(asked: Whole, runs: int, first: int = 0) -> Found:
    """So many campaigns; number k of every kind is on the same table."""
    told = [one(asked, first + k) for k in range(runs)]
    quartiles = np.quantile([each[2] for each in told], [0.25, 0.5, 0.75])
    return Found(
        asked,
        runs,
        sum(each[0] for each in told),
        sum(each[1] > 0 for each in told),
        (float(quartiles[0]), float(quartiles[1]), float(quartiles[2])),
        float(np.median([each[3] for each in told])),
        float(np.median([each[4] for each in told])),
    )


def kinds() -> list[Whole]:
    """All that the report tells of."""
    found = [
        Whole("adaptive", shape, delta, unknown)
        for delta, shapes in ((0.05, SHAPES[:1]), (0.3, SHAPES))
        for shape in shapes
        for unknown in (False, True)
    ]
    found += [Whole("adaptive", "normal", 0.05, True, guess) for guess in (0.5 * SIGMA, 2.0 * SIGMA)]
    found += [Whole("linfact-g", "normal", 0.05, unknown) for unknown in (False, True)]
    return found


# ------------------------------------------------------------------ the report

HEAD = """# Noise that is not known

Made by `python -m tests.published.noise`; seeds are fixed.

What is used in place of sigma is s sqrt(nu / q), where q is such that the sums of squares of replicates stay above all
q of all numbers of degrees of freedom nu together, but for a tenth of delta; decisions have nine tenths of it.

## Two compounds, one look, no union

Two compounds are measured equally often, and one is said to be better when it is ahead by more than it may: known sigma
times the normal quantile of delta, or the bound times that of 0.9 delta. For normal noise the rate is known (Student's
t). "below" is how often the bound is below sigma; looked at once it may spend only a part of its tenth. A bound shrunk
by 1.3 is far off in both.

"""
AFTER = """
"measurements x" is what the bound multiplies measurements by where nothing more is learned. With 4 degrees of freedom
the estimate itself scatters more than the bound allows for: it is below sigma about twice as often as its share; the
decisions stay well within delta all the same. With gross errors decisions by the stated SD are wrong more often than
they should be; the bound grows with the squares of the errors, and decisions by it are not.

## Whole campaigns

{size} compounds (full {sizes}), effects in steps of {step} so that many stand at a border, epsilon {epsilon}, slack
{slack}, sigma {sigma}, rounds of 24, at most 4 replicates. Intervals are 95 % (Clopper-Pearson). "Used" is the median
of what decisions used at the end, over sigma. ``adaptive`` is planned in the hurry of forecasts here, whether sigma is
known or not: that takes a little more measurements and errs no more.

"""


def campaigns(runs: int, jobs: int) -> list[str]:
    """The lines of all kinds of campaigns."""
    rows = []
    with processes(jobs) as pool:
        waiting = [pool.submit(whole, asked, runs * (2 if asked.delta > 0.1 else 1)) for asked in kinds()]
        for future in waiting:
            rows.append(row(future.result()))
            print(rows[-1], flush=True)
    return rows


def report(runs: int, rows: list[str]) -> str:
    """The whole report, with the lines of the campaigns."""
    lines = [HEAD.rstrip("\n"), ""]
    lines += [
        "| noise | delta | pairs | wrong, exact | wrong, bound | wrong, sigma known | below, exact | below "
        "| measurements x |",
        "|---|---|---|---|---|---|---|---|---|",
    ]
    for shape in SHAPES:
        for delta in (0.3, 0.05):
            for pairs in PAIRS:
                wrong, known, below = two(pairs, delta, shape, runs, 5)
                right, under = exact(pairs, delta)
                told = ("-", "-") if shape != "normal" else (f"{right:.4f}", f"{under:.5f}")
                more = upper_factor(pairs, (1.0 - OF_DECISIONS) * delta) ** 2
                lines.append(
                    f"| {shape} | {delta} | {pairs} | {told[0]} | {wrong:.4f} | {known:.4f} | {told[1]} | {below:.5f} "
                    f"| {more:.1f} |"
                )
    for pairs in PAIRS:
        wrong, _, below = two(pairs, 0.3, "normal", runs, 5, 1.3)
        right, under = exact(pairs, 0.3, 1.3)
        lines.append(
            f"| normal, bound shrunk by 1.3 | 0.3 | {pairs} | {right:.4f} | {wrong:.4f} | - "
            f"| {under:.5f} | {below:.5f} | - |"
        )
    size = math.prod(SIZES)
    lines += [
        AFTER.format(size=size, sizes=" x ".join(map(str, SIZES)), step=STEP, epsilon=EPSILON, slack=SLACK,
                     sigma=SIGMA).rstrip("\n"),
        "",
        "| strategy | noise | delta | sigma | guess | campaigns | wrong | rate | 95 % | undecided "
        "| measurements (quartiles) | degrees of freedom | used |",
        "|---|---|---|---|---|---|---|---|---|---|---|---|---|",
    ]  # fmt: skip
    lines += rows
    return "\n".join(lines) + "\n"


def row(found: Found) -> str:
    """One line of the table of campaigns."""
    asked = found.asked
    low, high = interval(found.wrong, found.runs)
    quartiles = " / ".join(f"{n:,.0f}" for n in found.measurements)
    guess = f"{asked.guess:g}" if asked.unknown else "-"
    return (
        f"| {asked.strategy} | {asked.shape} | {asked.delta} | {'unknown' if asked.unknown else 'known'} | {guess} "
        f"| {found.runs} | {found.wrong} | {found.wrong / found.runs:.4f} | {low:.4f} to {high:.4f} "
        f"| {found.undecided} | {quartiles} | {found.freedom:,.0f} | {found.times:.2f} |"
    )


def main() -> int:
    rows = campaigns(int(sys.argv[1]) if len(sys.argv) > 1 else 200, 2)
    REPORT.write_text(report(200_000, rows), encoding="utf-8", newline="\n")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
