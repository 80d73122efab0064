"""One line of a published table or figure: a strategy on an instance, some runs of it, and what they came to."""

from __future__ import annotations

import json
import math
import os
from collections.abc import Iterator
from concurrent.futures import Executor, Future, ProcessPoolExecutor, as_completed
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field, replace
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import numpy as np
from scipy import stats

from assaypilot.engine.domain.goals import AllEpsilonBest, Best, Goal
from assaypilot.engine.simulate import baselines, instances
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
        name = self.instance
        if self.file:
            name += f"{',' if ':' in name else ':'}file={DATA / self.file}"
        return Task(
            baselines.get(self.strategy),
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

    return run_of(case.task(), number, given=softer)


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


class Kept:
    """Runs that are made, line by line in a file, so that a report that is cut goes on where it was."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._runs: dict[tuple[str, int], Run] = {}
        if path.exists():
            text = path.read_text(encoding="utf-8")
            # A last line that was cut off goes.
            whole = text[: text.rfind("\n") + 1]
            if len(whole) < len(text):
                path.write_text(whole, encoding="utf-8", newline="\n")
            for line in whole.splitlines():
                found = json.loads(line)
                run = Run(**{**found["run"], "curve": ()})
                self._runs[found["case"], run.number] = run

    def __len__(self) -> int:
        return len(self._runs)

    def of(self, case: Case) -> list[Run]:
        """The runs of a case that were made before, in order and without a gap."""
        found, key = [], _key(case)
        while (key, len(found)) in self._runs and len(found) < case.runs:
            found.append(self._runs[key, len(found)])
        return found

    def add(self, case: Case, runs: list[Run]) -> None:
        """Write runs down."""
        key = _key(case)
        with self.path.open("a", encoding="utf-8", newline="\n") as file:
            for run in runs:
                self._runs[key, run.number] = run
                file.write(json.dumps({"case": key, "run": asdict(run)}) + "\n")


def _key(case: Case) -> str:
    """What a case is told from others by, whatever it is called and however often it is run."""
    return json.dumps(asdict(replace(case, runs=0, label="", published="")), sort_keys=True)


def run_all(cases: list[Case], pool: Executor, kept: Kept | None = None) -> list[Found]:
    """All runs of all cases; the same however many processes there are, and whatever was made before."""
    before = [[] if kept is None else kept.of(case) for case in cases]
    waiting: dict[Future[list[Run]], int] = {}
    for place, case in enumerate(cases):
        size = max(1, case.runs // _PARTS)
        for start in range(len(before[place]), case.runs, size):
            waiting[pool.submit(some, case, range(start, min(start + size, case.runs)))] = place
    made: list[list[Run]] = [list(runs) for runs in before]
    for future in as_completed(waiting):
        place = waiting[future]
        made[place] += future.result()
        if kept is not None:
            kept.add(cases[place], future.result())
    return [
        Found(case, tuple(sorted(runs, key=lambda run: run.number)), void_of(case))
        for case, runs in zip(cases, made, strict=True)
    ]
