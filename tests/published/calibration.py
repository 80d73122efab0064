"""How often LinFACT-G is wrong, and whether its errors are as large as it says: simulations with a known truth.

``python -m tests.published.calibration`` runs them all and writes REPORT-calibration.md beside this file. "At most
delta wrong" alone would notice little, because union bounds are loose: a radius 1.3 times too small passes it. So three
more things are checked, and each is shown to fail for such a radius:

- standardised errors, whitened per phase by covariances computed here from the counts alone, are N(0, 1)
  (Kolmogorov-Smirnov); in realised mode they are standardised by the half-widths the strategy decided with;
- in planned mode, the counts bound every active mean by the radius that was promised;
- two compounds that are each other's mirror image, one phase, no union: here the bound is exactly the error's quantile,
  so the rate of errors is known in closed form.
"""

import math
import tempfile
import time
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from unittest import mock

import numpy as np
from scipy import stats

from assaypilot.engine.campaign.campaign import Campaign
from assaypilot.engine.campaign.state import Settings
from assaypilot.engine.endpoint import Endpoint
from assaypilot.engine.features import DenseFeatures, SiteFeatures
from assaypilot.engine.library import Library
from assaypilot.engine.measurements import Result
from assaypilot.engine.strategies import linfact_g
from assaypilot.engine.strategies.linfact_g import LinFactG
from assaypilot.engine.strategies.protocol import IN, OUT, Capacity
from tests.oracles import linfact as oracle
from tests.strategies import came_back, dense, phases, problem_of, product

REPORT = Path(__file__).with_name("REPORT-calibration.md")
MODES = ("realised", "planned")
KS_FLOOR = 1e-3
"""Smallest p value that passes; seeds are fixed, so a right program passes always."""
SHRUNK = 1.3
PER_ROUND, REPLICATES = 240, 30
"""Of the campaigns in files."""


@dataclass(frozen=True)
class Instance:
    """A table with its truth; gaps lie at and just beyond the limits of right answers, so that errors can happen."""

    name: str
    codes: np.ndarray
    sizes: tuple
    effects: tuple
    sd: float
    epsilon: float
    slack: float
    delta: float = 0.3
    budget: int | None = None

    @property
    def features(self):
        return SiteFeatures(self.codes, self.sizes)

    @property
    def truth(self):
        return dense(self.features) @ np.array(self.effects)

    def problem(self, mode):
        capacity = None if self.budget is None else Capacity(10**6, 10**6, self.budget)
        return problem_of(
            self.features,
            epsilon=self.epsilon,
            slack=self.slack,
            delta=self.delta,
            sd=self.sd,
            capacity=capacity,
            decide=mode,
        )


SPARSE = np.array(
    # Two blocks that share no substituent of the first two sites, and a third site that goes with the first.
    [
        *([0, 0, 0], [0, 1, 0], [1, 0, 1], [1, 1, 1], [0, 2, 0], [1, 2, 1]),
        *([2, 3, 2], [2, 4, 2], [3, 3, 2], [3, 4, 2], [2, 3, 0], [3, 4, 0]),
    ]
)

INSTANCES = (
    # Best 7.5; two compounds exactly 0.5 below it, two 0.75 + 1e-9 below it, others on both sides.
    Instance(
        "full 3 x 3 x 2",
        product((3, 3, 2)),
        (3, 3, 2),
        (6.0, 0.5, 0.25, 0.0, 0.5, 0.0, -0.2500000001, 0.5, 0.0),
        sd=0.3,
        epsilon=0.5,
        slack=0.25,
    ),
    Instance(
        "sparse 12, rank 8 of 10",
        SPARSE,
        (4, 5, 3),
        (6.0, 0.4, 0.0, 0.2, -0.3, 0.3, 0.0, -0.1, 0.3, 0.0, 0.0, 0.0, 0.2),
        sd=0.25,
        epsilon=0.4,
        slack=0.2,
    ),
    # No slack: gaps of exactly epsilon are never resolved, so the budget ends it; every phase is a chance to be wrong.
    Instance(
        "full 5 x 2, no slack, 3,000 measurements",
        product((5, 2)),
        (5, 2),
        (6.0, 0.6, 0.3, 0.1, -0.2, -0.6, 0.5, 0.0),
        sd=0.3,
        epsilon=0.5,
        slack=0.0,
        budget=3000,
    ),
)


@dataclass
class Calibration:
    """What a number of simulated campaigns came to."""

    name: str
    mode: str
    delta: float
    runs: int = 0
    wrong: int = 0
    unfinished: int = 0
    """Runs that ended with compounds undecided, at the budget."""
    measurements: list = field(default_factory=list)
    errors: list = field(default_factory=list)
    """Standardised, independent."""
    promise: float = 0.0
    """Largest planned half-width / radius promised, planned mode."""
    seconds: float = 0.0

    @property
    def rate(self):
        return self.wrong / self.runs

    @property
    def ks(self):
        """p value of the standardised errors against N(0, 1)."""
        return float(stats.kstest(self.errors, "norm").pvalue)

    @property
    def spread(self):
        return float(np.std(self.errors))


def limits(wrong, runs):
    """One-sided 95 % lower and upper limits of a rate (Clopper and Pearson)."""
    lower = stats.beta.ppf(0.05, wrong, runs - wrong + 1) if wrong else 0.0
    upper = stats.beta.ppf(0.95, wrong + 1, runs - wrong) if wrong < runs else 1.0
    return float(lower), float(upper)


def complaints(found):
    """Why a calibration does not pass; empty when it does."""
    out = []
    if limits(found.wrong, found.runs)[0] > found.delta:
        out.append("errors")
    if found.ks < KS_FLOOR:
        out.append("standardised errors")
    if found.promise > 1.0 + 1e-6:
        out.append("promise")
    return out


def is_wrong(goal, status, truth):
    """Whether an answer says something untrue: a member out, or one in that is worse than epsilon + slack."""
    return bool(np.any(goal.members(truth) & (status == OUT)) or np.any((status == IN) & ~goal.acceptable(truth)))


def standardised(x, counts, errors, sds):
    """Independent N(0, 1) numbers from the errors of some means ``errors / sds`` (NaN where there are none).

    ``x`` are the dense rows, ``counts`` the measurements of a phase. Of the means with a number as many are taken as
    are independent, and their correlations, known from the counts, are taken out.
    """
    measured = counts > 0
    inverse = np.linalg.pinv((x[measured].T * counts[measured]) @ x[measured], rcond=1e-10, hermitian=True)
    chosen = []
    for arm in np.flatnonzero(np.isfinite(errors) & np.isfinite(sds)):
        if np.linalg.matrix_rank(x[[*chosen, arm]], tol=1e-8) == len(chosen) + 1:
            chosen.append(arm)
    if not chosen:
        return []
    covariance = x[chosen] @ inverse @ x[chosen].T
    own = np.sqrt(np.diagonal(covariance))
    factor = np.linalg.cholesky(covariance / own / own[:, None])
    return list(np.linalg.solve(factor, errors[chosen] / sds[chosen]))


def own_sds(x, counts, sd):
    """The SD of every mean, from the counts alone; NaN for one that the measured compounds do not span."""
    measured = counts > 0
    inverse = np.linalg.pinv((x[measured].T * counts[measured]) @ x[measured], rcond=1e-10, hermitian=True)
    outside = np.linalg.norm(x - x @ np.linalg.pinv(x[measured], rcond=1e-10) @ x[measured], axis=1)
    sds = sd * np.sqrt(np.einsum("ij,jk,ik->i", x, inverse, x).clip(0.0))
    return np.where(outside < 1e-7, sds, np.nan)


def calibrate(instance, mode, runs, *, first=0, lost=0.0):
    """Campaigns on the strategy's level, a phase at a time, from sufficient statistics."""
    begun = time.perf_counter()
    found = Calibration(instance.name, mode, instance.delta)
    x, truth, problem, strategy = dense(instance.features), instance.truth, instance.problem(mode), LinFactG()
    for seed in range(first, first + runs):
        rng = np.random.default_rng((2070, seed))
        state = strategy.start(problem)
        for before, outcome, decision in phases(strategy, problem, truth, rng, lost=lost):
            if decision is None:
                continue
            allocation = outcome.allocation
            widest = math.sqrt(2 * oracle.log_term(len(x), allocation.phase, instance.delta))
            if mode == "realised":
                sds = (decision.high[0] - decision.low[0]) / 2 / widest
            else:
                planned = np.zeros(len(x))
                planned[allocation.arms] = allocation.counts
                promised = own_sds(x, planned, instance.sd)[before.active].max() * widest
                found.promise = max(found.promise, promised / allocation.radius)
                sds = own_sds(x, outcome.counts[0], instance.sd)
            found.errors += standardised(x, outcome.counts[0], decision.estimate[0] - truth, sds)
            state = strategy.apply(before, decision)
        found.runs += 1
        found.wrong += is_wrong(problem.goal, state.status, truth)
        found.unfinished += bool((state.status == 0).any())
        found.measurements.append(state.spent)
    found.seconds = time.perf_counter() - begun
    return found


def calibrate_files(instance, mode, runs, *, first=0):
    """Whole campaigns in files: phases cut into rounds, rounds that come back in part, some measurements failed."""
    begun = time.perf_counter()
    found = Calibration(instance.name, mode, instance.delta)
    x, truth = dense(instance.features), instance.truth
    rows = [[f"{'abc'[k]}{code}" for k, code in enumerate(row)] for row in instance.codes]
    library = Library.listed([f"R{k + 1}" for k in range(len(instance.sizes))], rows)
    goal = instance.problem(mode).goal
    for seed in range(first, first + runs):
        rng = np.random.default_rng((2071, seed))
        settings = Settings(
            objective="pIC50",
            epsilon=instance.epsilon,
            slack=instance.slack,
            delta=instance.delta,
            per_round=PER_ROUND,
            max_replicates=REPLICATES,
            budget=instance.budget,
            parameters={"decide": mode},
            seed=seed,
        )
        with (
            tempfile.TemporaryDirectory() as folder,
            Campaign.create(
                Path(folder) / "c.assaypilot",
                library=library,
                endpoints=[Endpoint("pIC50", noise_sd=instance.sd)],
                settings=settings,
            ) as campaign,
        ):
            _carry_out(campaign, found, x, truth, rng)
            status = campaign.status()
            found.runs += 1
            found.wrong += is_wrong(goal, status.candidates.status, truth)
            found.unfinished += status.counts["undecided"] > 0
            found.measurements.append(status.measurements_used)
    found.seconds = time.perf_counter() - begun
    return found


def _carry_out(campaign, found, x, truth, rng):
    """Nothing; plans and records rounds until the campaign is finished."""
    counts = np.zeros(len(x))
    status = campaign.status()
    ids, sd = status.library.ids, status.endpoints[0].noise_sd
    decided, bounds = 0, status.candidates.low
    while (issued := campaign.plan()) is not None:
        part = rng.random() < 0.4
        results = []
        for item in issued.items:
            back = int(rng.binomial(item.replicates, 0.7)) if part else item.replicates
            counts[item.compound] += back
            values = truth[item.compound] + sd * rng.standard_normal(back)
            results += [Result(ids[item.compound], float(value)) for value in values]
        if len(results) == issued.measurements or not results:
            missing = "return"
        else:
            missing = "failed" if rng.random() < 0.3 else "return"
        order = rng.permutation(len(results))
        if results:
            campaign.record([results[k] for k in order], close=True, missing=missing)
        else:
            campaign.close_round(missing)
        status = campaign.status()
        if status.phases_decided > decided:
            decided, candidates = status.phases_decided, status.candidates
            if found.mode == "realised":
                anew = candidates.low != bounds
                half = (candidates.high - candidates.low) / 2
                centre = np.where(anew, (candidates.high + candidates.low) / 2, np.nan)
                sds = half / math.sqrt(2 * oracle.log_term(len(x), decided, found.delta))
                found.errors += standardised(x, counts, centre - truth, sds)
            counts, bounds = np.zeros(len(x)), candidates.low


@dataclass(frozen=True)
class Mirror:
    """The rate of errors on two compounds with means theta and -theta: found, and exact."""

    name: str
    delta: float
    runs: int
    wrong: int
    exact: float

    @property
    def p(self):
        """p value of the number of errors under the exact rate."""
        return float(stats.binomtest(self.wrong, self.runs, self.exact).pvalue)

    @property
    def passes(self):
        return 0 < self.wrong / self.runs <= self.delta and self.p >= KS_FLOOR


@contextmanager
def no_union():
    """log(2 / delta): two sides of one mean in one phase."""
    with mock.patch.object(linfact_g, "union_log", lambda n_arms, phase, delta: math.log(2.0 / delta)):
        yield


@contextmanager
def shrunk(by=SHRUNK):
    """Radii too small by a factor: half-widths in realised mode, measurements for a radius in planned mode."""
    right = linfact_g.union_log
    with mock.patch.object(linfact_g, "union_log", lambda *given: right(*given) / by**2):
        yield


def mirror(mode, side, runs, *, delta=0.3, broken=1.0, first=0):
    """Errors on two compounds with features (1) and (-1), one phase, no union over arms and phases.

    Both means are wrong by the same amount e = theta_hat - theta, in opposite directions, with SD s = sd / sqrt(N).
    ``out``: they differ by exactly epsilon, so the second is a member; it is put out when 2 theta_hat > 2 C + epsilon,
    that is e > C. ``in``: they differ by a hair more, so the second is none; it is taken in when e < -C. With
    C = s sqrt(2 log(2 / delta)) the chance is Phi(-sqrt(2 log(2 / delta))); planned, Phi(-C / s) for the planned C.
    """
    epsilon, sd = 10.0, 1.0
    hair = 0.0 if side == "out" else 1e-9
    problem = problem_of(
        DenseFeatures(np.array([[1.0], [-1.0]])), epsilon=epsilon, slack=0.0, delta=delta, sd=sd, decide=mode
    )
    truth = np.array([1.0, -1.0]) * (epsilon + hair) / 2
    strategy, wrong = LinFactG(), 0
    with no_union():
        radius = strategy.ask(strategy.start(problem)).radius
    with no_union(), shrunk(broken):
        state = strategy.start(problem)
        # The radius of the right program, so that a broken one shows in the measurements it asks for it.
        state = replace(state, first_radius=radius)
        allocation = strategy.ask(state)
        for seed in range(first, first + runs):
            outcome = came_back(problem, truth, allocation, np.random.default_rng((2072, seed)))
            decision = strategy.decide(state, outcome)
            wrong += 1 in (decision.outs if side == "out" else decision.ins)
    right = 2 * sd**2 / radius**2 * math.log(2 / delta)
    s = sd / math.sqrt(math.ceil(right - 1e-9))
    z = radius / s if mode == "planned" else math.sqrt(2 * math.log(2 / delta))
    return Mirror(f"{mode}, wrongly {side}", delta, runs, int(wrong), float(stats.norm.sf(z)))


def mirrors(runs, broken=1.0):
    return [mirror(mode, side, runs, broken=broken) for mode in MODES for side in ("out", "in")]


def table(found):
    """Markdown rows of calibrations."""
    lines = [
        "| instance | decides by | delta | campaigns | wrong | rate | lower 95 % | upper 95 % | unfinished |"
        " measurements (median) | standardised errors | their SD | KS p | promise kept |",
        "|---|---|---|---|---|---|---|---|---|---|---|---|---|---|",
    ]
    for one in found:
        lower, upper = limits(one.wrong, one.runs)
        errors = f"{len(one.errors):,} | {one.spread:.3f} | {one.ks:.3f}" if one.errors else "- | - | -"
        promise = f"{one.promise:.3f}" if one.promise else "-"
        lines.append(
            f"| {one.name} | {one.mode} | {one.delta} | {one.runs} | {one.wrong} | {one.rate:.4f} | {lower:.4f} |"
            f" {upper:.4f} | {one.unfinished} | {int(np.median(one.measurements)):,} | {errors} | {promise} |"
        )
    return "\n".join(lines)


def mirror_table(found):
    lines = ["| decides by | runs | wrong | rate | exact rate | p | delta |", "|---|---|---|---|---|---|---|"]
    lines += [
        f"| {m.name} | {m.runs:,} | {m.wrong} | {m.wrong / m.runs:.4f} | {m.exact:.4f} | {m.p:.3f} | {m.delta} |"
        for m in found
    ]
    return "\n".join(lines)


def everything(runs=500, files=100, tiny=4000):
    """All results: plain, with losses, through files, mirrors, and the same with a radius that is too small."""
    plain = [calibrate(i, mode, runs) for i in INSTANCES for mode in MODES]
    losing = [calibrate(i, "realised", runs, first=10**6, lost=0.25) for i in INSTANCES]
    whole = [calibrate_files(i, mode, files) for i in INSTANCES for mode in MODES]
    exact = mirrors(tiny)
    with shrunk():
        broken = [calibrate(i, mode, runs) for i in INSTANCES for mode in MODES]
    return plain, losing, whole, exact, broken, mirrors(tiny, SHRUNK)


def report(plain, losing, whole, exact, broken, broken_exact):
    """The report as markdown."""
    return f"""# LinFACT-G: how often it is wrong, and how well it knows its errors

Made by `python -m tests.published.calibration`; seeds are fixed. A rate passes when its one-sided 95 % lower limit is
not above delta. "Wrong" is a campaign that at its end has a compound within epsilon of the best out, or one worse than
epsilon + slack in. Standardised errors are whitened per phase, so they are independent and N(0, 1) when the SDs behind
the bounds are right. "Promise kept" is the largest planned half-width divided by the radius promised (at most 1).
"Unfinished" campaigns end at their budget with compounds undecided, as without slack they may. Of n p values of a right
program the smallest is about 1 / n; one below {KS_FLOOR:g} fails.

## A phase at a time

{table(plain)}

## A quarter of the measurements lost, whatever their values

{table(losing)}

## Whole campaigns in files

Rounds of {PER_ROUND} with at most {REPLICATES} of a compound; 40 % of the rounds come back in part, and what is missing
is asked for again or, in 3 of 10 of these, given up as failed for lab reasons.

{table(whole)}

## Two mirrored compounds, one phase, no union

The error has a closed form here: the chance that a normal variable exceeds the bound.

{mirror_table(exact)}

## The same checks on a radius {SHRUNK} times too small

They must fail, and do: by the standardised errors (realised), by the promise (planned), by the mirrored compounds. The
plain rate of errors notices nothing, which is why it is not the only check.

{table(broken)}

{mirror_table(broken_exact)}
"""


def main():
    found = everything()
    REPORT.write_text(report(*found), encoding="utf-8", newline="\n")
    print(REPORT.read_text(encoding="utf-8"))


if __name__ == "__main__":
    main()
