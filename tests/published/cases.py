"""One line of a published table or figure: a strategy on an instance, some runs of it, and what they came to."""

from __future__ import annotations

import math
import os
from collections.abc import Iterator
from concurrent.futures import Executor, ProcessPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from multiprocessing import get_context
from typing import Any

import numpy as np
from scipy import stats

from assaypilot.engine.domain.goals import AllEpsilonBest, Best, Goal
from assaypilot.engine.simulate import comparison, instances
from assaypilot.engine.simulate.runner import Run, Task, drawn_of, problem_of, run_of
from assaypilot.engine.simulate.scores import error_limits
from tests.public import DATA

SEED = 2090
_PARTS = 16
"""Parts a case is cut into."""


@dataclass(frozen=True)
class Case:
    """What is run."""

    instance: str
    strategy: str
    runs: int
    parameters: dict[str, Any] = field(default_factory=dict)
    label: str = ""
    """The strategy as the report calls it."""
    delta: float | None = None
    budget: int | None = None
    noise: tuple[float, ...] | None = None
    told_slack: float | None = None
    """Slack the strategy is told of; the answer is scored without it."""
    file: str = ""
    """A file of the shared data folder that the instance is made of."""
    published: str = "-"

    @property
    def name(self) -> str:
        return self.label or self.strategy

    def task(self) -> Task:
        name = f"{self.instance}:file={DATA / self.file}" if self.file else self.instance
        return Task(
            comparison.get(self.strategy),
            instances.get(name),
            SEED,
            self.parameters,
            delta=self.delta,
            budget=self.budget,
            noise=self.noise,
        )

    def scaled(self, factor: float) -> Case:
        return replace(self, runs=max(round(self.runs * factor), 2))


@dataclass(frozen=True)
class Found:
    """What the runs of a case came to."""

    case: Case
    runs: tuple[Run, ...]
    void: tuple[str, ...]
    """Which guarantee its parameters give up."""

    @property
    def measurements(self) -> tuple[float, float]:
        """Mean and half-width of its 95 % interval."""
        return interval([run.measurements for run in self.runs])

    @property
    def seconds(self) -> float:
        """Processor time per run, median."""
        return float(np.median([run.seconds for run in self.runs]))

    @property
    def f1(self) -> tuple[float, float]:
        return interval([run.f1 for run in self.runs])

    @property
    def accuracy(self) -> float:
        """Share of runs that ended with a right and complete answer."""
        return sum(run.right for run in self.runs) / len(self.runs)

    @property
    def errors(self) -> int:
        return sum(run.wrong for run in self.runs)

    @property
    def open(self) -> int:
        """Runs that ended without a complete answer, and without a wrong one."""
        return sum(not run.wrong and not run.right for run in self.runs)

    @property
    def upper(self) -> float:
        """One-sided 95 % upper limit of the error rate."""
        return error_limits(self.errors, len(self.runs))[1]


def interval(values: list[float] | list[int]) -> tuple[float, float]:
    """The mean and the half-width of its 95 % interval (Student); infinite for one value."""
    mean = math.fsum(values) / len(values)
    if len(values) < 2:
        return mean, math.inf
    spread = float(np.std(values, ddof=1)) / math.sqrt(len(values))
    return mean, float(stats.t.ppf(0.975, len(values) - 1)) * spread


def ratio(one: Found, other: Found) -> tuple[float, float, float]:
    """How many times the measurements of the other one takes on the same draw: geometric mean and its 95 % limits."""
    pairs = zip(one.runs, other.runs, strict=False)
    logs = [math.log(a.measurements / b.measurements) for a, b in pairs]
    mean, half = interval(logs)
    return math.exp(mean), math.exp(mean - half), math.exp(mean + half)


def one_run(case: Case, number: int) -> Run:
    """As a run of ``simulate``, but that the strategy may be told a slack that its answer is not scored by."""
    if case.told_slack is None:
        return run_of(case.task(), number)

    def softer(goal: Goal) -> Goal:
        assert isinstance(goal, AllEpsilonBest | Best)
        return replace(goal, slack=case.told_slack)

    return run_of(case.task(), number, told=softer)


def some(case: Case, numbers: range) -> list[Run]:
    return [one_run(case, number) for number in numbers]


def void_of(case: Case) -> tuple[str, ...]:
    task = case.task()
    return tuple(task.strategy.void(problem_of(task, drawn_of(task, 0), 0)))


@contextmanager
def processes(jobs: int) -> Iterator[ProcessPoolExecutor]:
    """Processes that each keep to one thread in linear algebra."""
    for name in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS"):
        os.environ.setdefault(name, "1")
    # New ones, which load their libraries with these settings, and not copies of this one.
    with ProcessPoolExecutor(jobs, get_context("spawn")) as pool:
        yield pool


def run_all(cases: list[Case], pool: Executor) -> list[Found]:
    """All runs of all cases; the same however many processes there are."""
    waiting = []
    for case in cases:
        size = max(1, case.runs // _PARTS)
        parts = [range(start, min(start + size, case.runs)) for start in range(0, case.runs, size)]
        waiting.append((case, [pool.submit(some, case, part) for part in parts]))
    return [
        Found(case, tuple(run for part in parts for run in part.result()), void_of(case)) for case, parts in waiting
    ]
