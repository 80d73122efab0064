"""How good the answers of simulated campaigns are, when the truth is known."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..arrays import Flags, Floats
from ..domain.goals import Best, Goal
from ..strategies.protocol import IN, NOT_ESTIMABLE, OUT, UNDECIDED

__all__ = ["Score", "error_limits", "score"]


@dataclass(frozen=True, slots=True)
class Score:
    """One answer against the truth."""

    precision: float
    """Share of the returned compounds that may be returned; 1 when none is."""
    recall: float
    """Share of the compounds that must be returned that are; of best, whether an acceptable one is."""
    f1: float
    wrong: bool
    """A decision was made that no right answer agrees with, whatever becomes of what is undecided."""
    undecided: int
    """Wanted compounds without a decision."""


def score(goal: Goal, status: NDArray[np.int8], truth: Floats, wanted: Flags) -> Score:
    """The score of the statuses ``(n_arms,)`` for a truth ``(n_endpoints, n_arms)``.

    What cannot be estimated is no part of the question, as strategies say of it themselves.
    """
    asked = wanted & (status != NOT_ESTIMABLE)
    answer = asked & (status == IN)
    undecided = int((asked & (status == UNDECIDED)).sum())
    if not asked.any():
        return Score(1.0, 1.0, 1.0, False, 0)
    known = np.where(asked, truth, np.nan)
    means = known if goal.name == "pareto" else known[0]
    members, acceptable = goal.members(means), goal.acceptable(means)
    returned = int(answer.sum())
    precision = float((answer & acceptable).sum() / returned) if returned else 1.0
    # Several compounds may tie for the best, or lie within the slack: one of them is all that is asked for.
    single = isinstance(goal, Best)
    if single:
        recall = float((answer & acceptable).any())
    else:
        recall = float((answer & members).sum() / members.sum()) if members.any() else 1.0
    f1 = 2.0 * precision * recall / (precision + recall) if precision + recall > 0 else 0.0
    possible = asked & (status != OUT)
    # What is undecided may still be decided for the best: of best, only while none is named.
    rest = possible & members if not single else _first(possible & acceptable & (returned == 0))
    kindest = answer | rest
    return Score(precision, recall, f1, not goal.is_right(kindest, means), undecided)


def _first(among: Flags) -> Flags:
    chosen = np.zeros(len(among), dtype=bool)
    chosen[np.flatnonzero(among)[:1]] = True
    return chosen


def error_limits(errors: int, runs: int, confidence: float = 0.95) -> tuple[float, float]:
    """One-sided lower and upper limits of an error rate (Clopper and Pearson), each at the confidence."""
    from scipy.special import betaincinv

    if not 0 <= errors <= runs or runs < 1:
        raise ValueError("errors must be between 0 and the number of runs")
    lower = 0.0 if errors == 0 else float(betaincinv(errors, runs - errors + 1, 1.0 - confidence))
    upper = 1.0 if errors == runs else float(betaincinv(errors + 1, runs - errors, confidence))
    return lower, upper


def mean(values: Sequence[float]) -> float:
    """The mean; exact summation, so that the order of the values does not matter."""
    return math.fsum(values) / len(values)
