"""The oracle: it knows the truth and only has to prove it. What that takes is the yardstick of every strategy.

Sources of the run: RAGE, section 2.1 and appendix F (XY-oracle: weights optimal for the true gaps, phases growing by
1.1, the union over the compounds instead of their pairs); for all epsilon-best the allocation of ``oracle``.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import ndtri

from ...arrays import Flags, Floats, Ints
from ...design import Between, Design, Rows, UnionDirections, against, xy_optimal
from ...design.criteria import nearly_inverse
from ...domain.features import Features, ProjectedFeatures
from ...domain.goals import AllEpsilonBest, Best
from ...errors import AssayPilotError
from ...strategies.designs import table
from ...strategies.protocol import Certificate, Parameter, Problem, StrategyInfo
from ...system.progress import Report, silent
from ..lower_bounds import effects_of
from .static import Shares, StaticRun, run_parameters

_GAP = 1e-4
_LOOKS = 20
_GAIN = 1e-6
_ROWS = 256
_CLOSE = 1e-12
"""A difference below this is none."""


@dataclass(frozen=True, slots=True)
class Oracle:
    """The measurements that certify the answer when the truth is known, and their design."""

    measurements: int
    """The least whole number at which every comparison holds, by the optimal continuous design."""
    value: float
    """Worst ||y||^2_{V(w)^-1} / gap^2 over the comparisons; measurements = level^2 sigma^2 value."""
    lower_bound: float
    """Proven: no design has a smaller value with these sides and these rivals."""
    level: float
    """The quantile c: a comparison holds when c sigma ||y||_{V^-1} is at most its gap."""
    support: Ints
    weights: Floats
    called_in: Flags
    """Which compounds are certified to be in; those in the zone, whichever is cheaper."""


def simultaneous_level(n: int, delta: float) -> float:
    """Return the c with n (n - 1) (1 - Phi(c)) = delta: every ordered comparison of n compounds.

    5.31 for 960 and 5 %.
    """
    pairs = n * (n - 1)
    if pairs < 1 or not 0 < delta < 1:
        raise ValueError("two compounds and a delta between 0 and 1 are needed")
    return float(-ndtri(delta / pairs))


def oracle(
    candidates: ProjectedFeatures,
    theta: ArrayLike,
    epsilon: float,
    *,
    slack: float = 0.0,
    sigma: float = 1.0,
    delta: float = 0.05,
    level: float | None = None,
    report: Report = silent,
) -> Oracle:
    """Return the measurements needed to certify, with theta known, all compounds within ``epsilon`` of the best.

    Member i: every j has y_ij'theta + epsilon + slack >= c sigma ||y_ij||. Excluded m: the best compound j has
    y_jm'theta - epsilon >= c sigma ||y_jm||. A compound in the zone may be called either; the cheaper is taken. Sides
    are chosen by the design at hand and the design is made optimal for them, until nothing gains: the weights are
    optimal for their sides, the sides the best found. Every comparison is made at the same ``level``, that of all
    compounds when None.

    AssayPilotError for a compound exactly on its border without slack, which no number of measurements decides.
    """
    truth = np.asarray(theta, dtype=float)
    if candidates.n_rows < 2:
        raise AssayPilotError("there is nothing to compare", mend="Name at least two compounds.")
    if not (epsilon > 0 and slack >= 0 and math.isfinite(epsilon + slack) and sigma > 0 and math.isfinite(sigma)):
        raise AssayPilotError(
            "epsilon and the assay noise (SD) must be above 0 and slack 0 or more",
            mend="For example 0.5, 0.2 and 0.25.",
        )
    c = simultaneous_level(candidates.n_rows, delta) if level is None else level
    sides = _Sides(candidates, candidates.times(truth), epsilon, slack)
    called = sides.first()
    best: Oracle | None = None
    design = None
    for look in range(_LOOKS):
        report(look / _LOOKS, "certifying what is known")
        design = xy_optimal(candidates, sides.directions(called), gap=_GAP, warm=design)
        if best is not None and design.value >= best.value * (1.0 - _GAIN):
            break
        needed = c**2 * sigma**2 * design.value
        best = Oracle(
            math.ceil(needed * (1.0 - _CLOSE)),
            design.value,
            design.lower_bound,
            c,
            design.support,
            design.weights,
            called,
        )
        now = sides.cheaper(design.support, design.weights)
        if np.array_equal(now, called):
            break
        called = now
    assert best is not None
    return best


class _Sides:
    """Which compounds are called in; the others are shown to be out by the best."""

    def __init__(self, candidates: ProjectedFeatures, means: Floats, epsilon: float, slack: float) -> None:
        self.candidates = candidates
        self.x = candidates.coordinates()
        self.means = means
        self.epsilon = epsilon
        self.slack = slack
        self.best = int(np.argmax(means))
        behind = float(means.max()) - means
        self.may_be_in = behind < epsilon + slack - _CLOSE
        self.may_be_out = behind > epsilon + _CLOSE
        lost = np.flatnonzero(~(self.may_be_in | self.may_be_out))
        if len(lost):
            raise AssayPilotError(
                f"{len(lost)} compounds lie exactly on the border, so no number of measurements decides them",
                mend="Give some slack.",
            )

    def first(self) -> Flags:
        """Return the sides by the larger gap."""
        behind = self.means[self.best] - self.means
        nearer_in = self.epsilon + self.slack - behind >= behind - self.epsilon
        called: Flags = self.may_be_in & (nearer_in | ~self.may_be_out)
        return called

    def directions(self, called: Flags) -> UnionDirections | Between:
        """Return the comparisons that certify these calls, each divided by its gap."""
        members = np.flatnonzero(called).astype(np.intp)
        table = self.candidates
        inside = Between(
            table.onto(table.rows[members]),
            table,
            gaps=(self.means[members] + self.epsilon + self.slack, self.means),
        )
        out = np.flatnonzero(~called)
        if not len(out):
            return inside
        gaps = self.means[self.best] - self.means[out] - self.epsilon
        return UnionDirections([inside, Rows((self.x[self.best] - self.x[out]) / gaps[:, None])])

    def cheaper(self, support: Ints, weights: Floats) -> Flags:
        """Return the side of each compound that costs least under a design."""
        rows = self.x[support]
        inverse = nearly_inverse(rows, weights)
        half = self.x @ inverse
        own = np.einsum("ij,ij->i", half, self.x)
        n = len(self.means)
        cost_in, cost_out = np.full(n, math.inf), np.full(n, math.inf)
        for start in range(0, n, _ROWS):
            block = np.arange(start, min(start + _ROWS, n))
            lengths = np.maximum(own[block, None] + own - 2.0 * (half[block] @ self.x.T), 0.0)
            ahead = self.means - self.means[block, None]
            short = np.minimum(self.epsilon + self.slack - ahead, 1e150)
            with np.errstate(divide="ignore", invalid="ignore"):
                stay = np.where(short > 0, lengths / short**2, math.inf)
                stay[block - start, block] = 0.0
                leave = np.where(ahead > self.epsilon, lengths / (ahead - self.epsilon) ** 2, math.inf)
            cost_in[block] = stay.max(axis=1)
            cost_out[block] = leave[:, self.best]
        return self.may_be_in & ((cost_in <= cost_out) | ~self.may_be_out)


_RUN_GAP = 1e-3
_LAST: WeakKeyDictionary[Features, tuple[tuple[Any, ...], Shares]] = WeakKeyDictionary()


class OracleRun(StaticRun):
    """One design, optimal for the true means; the test is that of the other static runs."""

    pairs = True
    info: ClassVar[StrategyInfo] = StrategyInfo(
        name="oracle",
        version=1,
        title="Oracle allocation",
        goals=("epsilon-best", "best"),
        parameters=(
            Parameter("truth", None, "the true means, one list of one number per compound for every endpoint"),
            *run_parameters(1.1),
        ),
        guarantee="with the stated confidence what is decided before the budget ends is right; it knows the truth",
        source="RAGE, section 2.1 and appendix F",
        baseline=True,
    )

    def check(self, problem: Problem) -> dict[str, Any]:
        """Return the parameters; AssayPilotError without a truth, or for one that no measurements can prove."""
        given = super().check(problem)
        means = true_means(given["truth"], problem)
        wanted = means[problem.wanted]
        if isinstance(problem.goal, AllEpsilonBest) and problem.goal.slack == 0:
            behind = wanted.max() - wanted
            if (np.abs(behind - problem.goal.epsilon) <= 1e-12).any():
                raise AssayPilotError(
                    "a compound lies exactly epsilon below the best in truth, which no number of measurements decides",
                    option="--slack",
                    mend="Give some slack.",
                )
        if isinstance(problem.goal, Best) and problem.goal.slack == 0:
            ties = int((wanted == wanted.max()).sum())
            if ties > 1:
                raise AssayPilotError(
                    f"{ties} compounds are equally good in truth, so no number of measurements finds the best",
                    option="--slack",
                    mend="Give some slack.",
                )
        return given

    def comparisons(self, problem: Problem) -> int:
        """Return the number of comparisons: with a known best, each other once (RAGE, appendix F); else the pairs."""
        return int(problem.wanted.sum()) if isinstance(problem.goal, Best) else super().comparisons(problem)

    def shares(self, problem: Problem, measurable: Ints, targeted: Ints, report: Report) -> Shares:
        """Weights optimal for proving the truth; those of the last question are kept, since every look repeats it."""
        means = true_means(self.parameters(problem)["truth"], problem)
        key = (problem.goal, problem.noise, problem.delta, *(one.tobytes() for one in (means, measurable, targeted)))
        known = _LAST.get(problem.features)
        if known is None or known[0] != key:
            known = key, self._optimal(problem, means, measurable, targeted, report)
            _LAST[problem.features] = known
        return known[1]

    def _optimal(self, problem: Problem, means: Floats, measurable: Ints, targeted: Ints, report: Report) -> Shares:
        candidates = table(problem.features, measurable)
        goal, targets = problem.goal, table(problem.features, targeted, measurable)
        if isinstance(goal, Best):
            best = int(np.argmax(means[targeted]))
            if len(targeted) < 2:
                return Shares(measurable[:1], np.ones(1), Certificate("xy", 0.0, 0.0))
            gaps = means[targeted][best] - means[targeted] + goal.slack
            found: Design = xy_optimal(candidates, against(targets, best, gaps=gaps), gap=_RUN_GAP, report=report)
            return Shares(measurable[found.support], found.weights, Certificate("xy", found.value, found.lower_bound))
        assert isinstance(goal, AllEpsilonBest)
        return _all_within(problem, goal, means, candidates, targets, report)


def _all_within(
    problem: Problem,
    goal: AllEpsilonBest,
    means: Floats,
    candidates: ProjectedFeatures,
    targets: ProjectedFeatures,
    report: Report,
) -> Shares:
    rows = candidates.rows
    if len(targets.rows) < 2:
        return Shares(rows[:1], np.ones(1), Certificate("xy", 0.0, 0.0))
    if np.array_equal(rows, targets.rows):
        theta = effects_of(candidates, means[rows])
        made = oracle(
            candidates,
            theta,
            goal.epsilon,
            slack=goal.slack,
            sigma=problem.noise[0],
            delta=problem.delta,
            report=report,
        )
        return Shares(rows[made.support], made.weights, Certificate("xy", made.value, made.lower_bound))
    # Measured and sought compounds differ: each compound on the side of its larger gap.
    mu = means[targets.rows]
    behind = mu.max() - mu
    stays = behind <= goal.epsilon + goal.slack / 2.0
    inside = Between(targets.onto(targets.rows[stays]), targets, gaps=(mu[stays] + goal.epsilon + goal.slack, mu))
    x = targets.coordinates()
    away = (x[int(np.argmax(mu))] - x[~stays]) / (behind[~stays] - goal.epsilon)[:, None]
    directions = UnionDirections([inside, Rows(away)]) if len(away) else inside
    found = xy_optimal(candidates, directions, gap=_RUN_GAP, report=report)
    return Shares(rows[found.support], found.weights, Certificate("xy", found.value, found.lower_bound))


def true_means(given: Any, problem: Problem, name: str = "oracle") -> Floats:
    """Return the true means of the objective ``(n_arms,)``.

    AssayPilotError unless there is one number for every compound.
    """
    try:
        means = np.asarray(given, dtype=float)
    except (TypeError, ValueError):
        means = np.zeros(0)
    if isinstance(given, Sequence | np.ndarray) and means.ndim == 2:
        means = means[0]
    if means.shape != (problem.n_arms,) or not np.isfinite(means).all():
        raise AssayPilotError(
            f"{name} needs the true means: for every endpoint a number for each of {problem.n_arms:,} compounds",
            option="--parameter truth",
            mend="It is for simulations, which know them.",
        )
    return means
