"""How good an answer is: what was found, missed and wrong, at the end of a run and along the budget."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..arrays import Flags, Floats
from ..domain.goals import Best, Goal
from ..strategies.protocol import IN, NOT_ESTIMABLE, OUT, UNDECIDED, Allocation, State
from .instances.instance import Drawn


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
    """Compounds in question without a decision."""


def score(goal: Goal, status: NDArray[np.int8], truth: Floats, wanted: Flags) -> Score:
    """Return the score of the statuses ``(n_arms,)`` for a truth ``(n_endpoints, n_arms)``.

    What cannot be estimated is no part of the question, as in the strategies themselves.
    """
    scored = wanted & (status != NOT_ESTIMABLE)
    answer = scored & (status == IN)
    undecided = int((scored & (status == UNDECIDED)).sum())
    if not scored.any():
        return Score(1.0, 1.0, 1.0, False, 0)
    known = np.where(scored, truth, np.nan)
    means = known if goal.name == "pareto" else known[0]
    members, acceptable = goal.members(means), goal.acceptable(means)
    returned = int(answer.sum())
    precision = float((answer & acceptable).sum() / returned) if returned else 1.0
    # Several compounds may tie for the best, or be within the slack: one of them is enough.
    single = isinstance(goal, Best)
    if single:
        recall = float((answer & acceptable).any())
    else:
        recall = float((answer & members).sum() / members.sum()) if members.any() else 1.0
    f1 = 2.0 * precision * recall / (precision + recall) if precision + recall > 0 else 0.0
    possible = scored & (status != OUT)
    # What is undecided may still be decided for the best: of best, only while none is named.
    rest = possible & members if not single else _first(possible & acceptable & (returned == 0))
    kindest = answer | rest
    return Score(precision, recall, f1, not goal.is_right(kindest, means), undecided)


def _first(among: Flags) -> Flags:
    chosen = np.zeros(len(among), dtype=bool)
    chosen[np.flatnonzero(among)[:1]] = True
    return chosen


_SURE = 0.95


def error_limits(errors: int, runs: int) -> tuple[float, float]:
    """Return one-sided lower and upper limits of an error rate (Clopper and Pearson), each at 95 %."""
    from scipy.special import betaincinv

    if not 0 <= errors <= runs or runs < 1:
        raise ValueError("errors must be between 0 and the number of runs")
    lower = 0.0 if errors == 0 else float(betaincinv(errors, runs - errors + 1, 1.0 - _SURE))
    upper = 1.0 if errors == runs else float(betaincinv(errors + 1, runs - errors, _SURE))
    return lower, upper


def mean(values: Sequence[float]) -> float:
    """Return the mean; exact summation, so that the order of the values does not matter."""
    return math.fsum(values) / len(values)


@dataclass(frozen=True, slots=True)
class Point:
    """The state of a run at the end of a round; None where the strategy states no such number."""

    measurements: int
    found: float
    """Share of the members measured at least once."""
    best_found: float
    """1 when a best compound was measured, else 0."""
    recall: float
    precision: float
    expected_missed: float | None
    missed: float
    """Members that are not in."""
    expected_wrong: float | None
    wrong: float
    """Compounds in that no right answer contains."""
    cover95: float | None
    """Share of the unmeasured compounds whose 95 % interval contains the truth."""


class Curve:
    """Collects the points of one run; the true means of the instance decide."""

    def __init__(self, drawn: Drawn, per_round: int) -> None:
        means = drawn.truth if drawn.goal.name == "pareto" else drawn.truth[0]
        scored = np.where(drawn.wanted, means, np.nan)
        self._truth, self._wanted = drawn.truth, drawn.wanted
        self._members, self._acceptable = drawn.goal.members(scored), drawn.goal.acceptable(scored)
        first = drawn.truth[0]
        self._best = (
            self._members if drawn.goal.name == "pareto" else drawn.wanted & (first >= first[drawn.wanted].max())
        )
        self._per_round = per_round
        self._measured = np.zeros(drawn.n_arms, dtype=bool)
        self._spent = 0
        self.points: list[Point] = []

    def phase(self, before: NDArray[np.int8], allocation: Allocation, after: State) -> None:
        """Note the rounds of a phase; its decision falls at the end of the last one."""
        order = _passes(allocation)
        for start in range(0, len(order), self._per_round):
            arms = order[start : start + self._per_round]
            self._measured[arms] = True
            self._spent += len(arms)
            last = start + self._per_round >= len(order)
            self.points.append(self._point(after.status if last else before, after if last else None))

    def _point(self, status: NDArray[np.int8], state: State | None) -> Point:
        inside = (status == IN) & self._wanted
        right = int((inside & self._acceptable).sum())
        members = max(int(self._members.sum()), 1)
        numbers = state.last.numbers if state is not None and state.last is not None else {}
        cover = None
        unmeasured = self._wanted & ~self._measured
        if state is not None and state.last is not None and "expected_missed" in numbers and unmeasured.any():
            low, high = state.last.low[:, unmeasured], state.last.high[:, unmeasured]
            truth = self._truth[:, unmeasured]
            cover = float(((truth >= low) & (truth <= high)).mean())
        return Point(
            self._spent,
            float((self._members & self._measured).sum()) / members,
            float((self._best & self._measured).any()),
            float((self._members & inside).sum()) / members,
            right / int(inside.sum()) if inside.any() else 1.0,
            numbers.get("expected_missed"),
            float((self._members & ~inside).sum()),
            numbers.get("expected_wrong"),
            float((inside & ~self._acceptable).sum()),
            cover,
        )


def _passes(allocation: Allocation) -> NDArray[np.intp]:
    """Return one arm per measurement, replicates last: as a lab would fill its rounds."""
    most = int(allocation.counts.max(initial=0))
    parts = [allocation.arms[allocation.counts > times] for times in range(most)]
    return np.concatenate(parts) if parts else np.zeros(0, dtype=np.intp)


def mean_curve(curves: Sequence[Sequence[Point]], compounds: int) -> list[dict[str, float | None]]:
    """Return the means over the runs at the end of each round; a run that has ended keeps its last point."""
    rounds = max((len(curve) for curve in curves), default=0)
    names = [name for name in Point.__slots__ if name != "measurements"]
    found = []
    for number in range(rounds):
        points = [curve[min(number, len(curve) - 1)] for curve in curves if curve]
        spent = sum(point.measurements for point in points) / len(points)
        entry: dict[str, float | None] = {"measurements": spent, "share_of_table": spent / compounds}
        for name in names:
            values = [value for point in points if (value := getattr(point, name)) is not None]
            entry[name] = math.fsum(values) / len(values) if values else None
        found.append(entry)
    return found
