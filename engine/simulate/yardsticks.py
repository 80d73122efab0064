"""What the runs of a simulation are measured against: a lower bound, and a method that knows the truth."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from scipy.special import ndtri

from ..arrays import Floats
from ..design.directions import against
from ..design.xy import xy_optimal
from ..domain.features import ProjectedFeatures, span_basis
from ..domain.goals import AllEpsilonBest, Best, ParetoSet
from ..errors import AssayPilotError
from ..system.progress import Report, silent
from .baselines.oracle import oracle
from .instances import Drawn
from .lower_bounds import all_epsilon_best, best_arm, effects_of, pareto_complexity
from .runner import Task, drawn_of
from .scores import mean

DRAWS = 10
"""Draws of a random instance that the yardsticks are the mean of."""


@dataclass(frozen=True, slots=True)
class Yardsticks:
    """Measurements to compare with; None where they are not defined."""

    lower_bound: float | None
    """Proven: with errors at most delta no method needs fewer in the mean."""
    oracle: float | None
    """Where a method that knows theta stops: the optimal continuous design, all half-widths within the gap, one level.

    Its estimates then certify each tight comparison half of the time only. So with few comparisons and a small delta it
    can be below ``lower_bound``, which requires being right with probability 1 - delta.
    """
    complexity: tuple[float, float] | None = None
    """Of a Pareto set: H1 and H2 of GEGE, endpoints in units of their noise."""
    note: str = ""
    """Why something is not defined."""
    draws: int = 1
    """Draws behind the means."""


def yardsticks(task: Task, runs: int, report: Report = silent) -> Yardsticks:
    """Return the mean over the first draws (one where nothing is random); None where one of them has none."""
    draws = min(runs, DRAWS) if task.instance.random else 1
    delta = task.instance.delta if task.delta is None else task.delta
    found = []
    for number in range(draws):
        report(number / draws, "lower bound and oracle")
        found.append(of_draw(drawn_of(task, number), delta))

    def together(values: list[float | None]) -> float | None:
        known = [value for value in values if value is not None]
        return mean(known) if len(known) == len(values) and all(map(math.isfinite, known)) else None

    complexity = None
    if all(entry.complexity is not None for entry in found):
        pairs = [entry.complexity for entry in found if entry.complexity is not None]
        complexity = (mean([h1 for h1, _ in pairs]), mean([h2 for _, h2 in pairs]))
    return Yardsticks(
        lower_bound=together([entry.lower_bound for entry in found]),
        oracle=together([entry.oracle for entry in found]),
        complexity=complexity,
        note=next((entry.note for entry in found if entry.note), ""),
        draws=draws,
    )


def of_draw(drawn: Drawn, delta: float) -> Yardsticks:
    """Return the yardsticks of one draw."""
    if drawn.kind != "gaussian":
        return Yardsticks(None, None, note="they are for Gaussian noise")
    goal = drawn.goal
    if isinstance(goal, ParetoSet):
        scaled = drawn.truth[:, drawn.wanted] / np.array(drawn.noise)[:, None]
        rank = int(span_basis(drawn.features, np.flatnonzero(drawn.wanted)).shape[1])
        hardness = pareto_complexity(scaled, rank)
        return Yardsticks(None, None, (hardness.h1_lin, hardness.h2_lin), "there is none for a Pareto set")
    candidates = ProjectedFeatures(drawn.features, np.flatnonzero(drawn.measurable))
    wanted = candidates.onto(np.flatnonzero(drawn.wanted))
    try:
        theta = effects_of(candidates, drawn.truth[0, candidates.rows])
        if np.abs(wanted.times(theta) - drawn.truth[0, wanted.rows]).max() > 1e-6 * max(
            float(np.ptp(drawn.truth)), 1.0
        ):
            return Yardsticks(None, None, note="measurable compounds do not determine the compounds in question")
        if isinstance(goal, Best):
            return _best(candidates, wanted, theta, goal.slack, drawn.noise[0], delta)
        if isinstance(goal, AllEpsilonBest) and np.array_equal(drawn.measurable, drawn.wanted):
            return _epsilon_best(candidates, theta, goal, drawn.noise[0], delta)
    except AssayPilotError as error:
        return Yardsticks(None, None, note=error.message)
    return Yardsticks(None, None, note="they are not defined for this goal")


def _epsilon_best(
    candidates: ProjectedFeatures, theta: Floats, goal: AllEpsilonBest, sigma: float, delta: float
) -> Yardsticks:
    bound = all_epsilon_best(candidates, theta, goal.epsilon, slack=goal.slack, sigma=sigma)
    known = oracle(candidates, theta, goal.epsilon, slack=goal.slack, sigma=sigma, delta=delta)
    return Yardsticks(bound.measurements(delta), float(known.measurements))


def _best(
    candidates: ProjectedFeatures,
    wanted: ProjectedFeatures,
    theta: Floats,
    slack: float,
    sigma: float,
    delta: float,
) -> Yardsticks:
    """Return the best against each other, at Bonferroni's level over those; with slack every gap is so much wider.

    With slack the bound holds only where no other compound is acceptable: there it is that of the wider gaps.
    """
    means = wanted.times(theta)
    best = int(np.argmax(means))
    behind = means[best] - means
    if wanted.n_rows < 2:
        return Yardsticks(0.0, 0.0)
    others = np.delete(behind, best)
    alone = bool(others.min() > slack)
    if not alone and slack == 0:
        return Yardsticks(None, None, note="the best is not unique, so no number of measurements decides")
    level = -float(ndtri(delta / (wanted.n_rows - 1)))
    if slack == 0:
        bound = best_arm(candidates, theta, targets=wanted, sigma=sigma)
        return Yardsticks(bound.measurements(delta), float(math.ceil(level**2 * bound.value / 2.0)))
    design = xy_optimal(candidates, against(wanted, best, gaps=behind + slack), gap=1e-4)
    least = 2.0 * sigma**2 * float(design.lower_bound) * math.log(1.0 / (2.4 * delta)) if alone else None
    return Yardsticks(
        None if least is None else max(least, 0.0),
        float(math.ceil(level**2 * sigma**2 * float(design.value))),
        note="" if alone else "several compounds are good enough, so the bound is not known",
    )
