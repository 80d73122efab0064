"""The oracle allocation: it knows the truth and only has to prove it. For simulations alone.

Sources: RAGE, section 2.1 and appendix F (XY-oracle: weights optimal for the true gaps, phases growing by 1.1, the
union over the compounds instead of their pairs); for all epsilon-best the allocation of ``design.oracle``.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar
from weakref import WeakKeyDictionary

import numpy as np

from ...arrays import Floats, Ints
from ...design import Between, Design, Rows, UnionDirections, against, xy_optimal
from ...domain.features import Features, ProjectedFeatures
from ...domain.goals import AllEpsilonBest, Best
from ...errors import AssayPilotError
from ...strategies.designs import table
from ...strategies.protocol import Certificate, Parameter, Problem, StrategyInfo
from ...system.progress import Report
from ..lower_bounds import effects_of
from ..oracle_design import oracle
from .static import Shares, StaticRun, run_parameters

_GAP = 1e-3
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
            found: Design = xy_optimal(candidates, against(targets, best, gaps=gaps), gap=_GAP, report=report)
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
    found = xy_optimal(candidates, directions, gap=_GAP, report=report)
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
