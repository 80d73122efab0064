"""Simulated campaigns on several processes of this computer, or on a Dask cluster."""

from __future__ import annotations

import os
import tempfile
import time
import warnings
from collections.abc import Callable, Generator, Sequence
from contextlib import closing
from functools import partial
from typing import TypeVar

import numpy as np

from ..domain.features import span_basis
from ..errors import AssayPilotError
from ..strategies.protocol import Calibrated, Problem, State, Strategy
from ..system.progress import Report, silent
from .runner import Run, Task, drawn_of, problem_of, run_of

Part = TypeVar("Part")
Result = TypeVar("Result")

_CONNECT = 10.0
"""Seconds to wait for the scheduler."""
_LOOK = 0.2
"""Seconds between two looks at whether to go on."""


def on_cluster(
    work: Callable[[Part], Result], parts: Sequence[Part], address: str, report: Report
) -> Generator[Result, None, None]:
    """Yield the result of each part, as they come, from the workers of the scheduler at ``address``.

    With ``tls://`` Dask takes its certificates from its own settings (``distributed.comm.tls``). With ``tcp://``
    traffic is neither encrypted nor authenticated, and results are pickled: the network must be one to trust.

    Workers need the same program installed. AssayPilotError without the extra, or when the address does not answer.
    What is under way is cancelled when the iterator is closed.
    """
    try:
        from distributed import Client, wait
    except ImportError:
        raise AssayPilotError(
            "the cluster extra is not installed", option="--cluster", mend="pip install assaypilot[cluster]"
        ) from None
    report(0.0, "connecting to the cluster")
    try:
        client = Client(address, timeout=_CONNECT, set_as_default=False)
    except (OSError, ValueError, TypeError, ImportError) as error:
        raise AssayPilotError(
            f"no answer from {address!r} ({type(error).__name__})",
            option="--cluster",
            mend="Give the scheduler's address, such as tcp://host:8786.",
        ) from None
    with client, client.as_current():
        futures = client.map(work, parts, pure=False)
        open_ones = set(futures)
        try:
            done = 0
            while open_ones:
                try:
                    finished = wait(open_ones, timeout=_LOOK, return_when="FIRST_COMPLETED").done
                except TimeoutError:
                    report(done / len(parts), f"{done:,} of {len(parts):,} parts are back from the cluster")
                    continue
                for future in finished:
                    done += 1
                    yield future.result()
                open_ones -= finished
        finally:
            if open_ones:
                client.cancel(list(open_ones))


_PARTS = 16
"""Parts of the work per process: enough for progress and for runs of unequal length."""
_LONGEST = 50
"""Runs in a part: what is given up late, and what one message to another process is worth."""
_PULSE = 0.1
"""Seconds between two looks at whether to go on."""


def processors() -> int:
    """Return how many processors this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def check(task: Task) -> tuple[str, ...]:
    """Return why no error probability is promised (empty when one is); AssayPilotError when the task cannot run."""
    problem = problem_of(task, drawn_of(task, 0), 0)
    state = task.strategy.start(problem)
    _check_budget(task.strategy, problem, state)
    return task.strategy.void(problem)


def _check_budget(strategy: Strategy, problem: Problem, state: State) -> None:
    """Raise AssayPilotError for a budget too small to estimate anything in any run.

    A strategy with a prior for unmeasured compounds needs no more than one measurement.
    """
    prior = isinstance(strategy, Calibrated) or any(knob.name == "prior" for knob in strategy.info.parameters)
    if problem.budget is None or prior:
        return
    own = next((reason.numbers for reason in strategy.stop(state) if reason.name == "budget"), {})
    measurable = np.flatnonzero(problem.measurable)
    needed = int(own.get("needed", span_basis(problem.features, measurable).shape[1]))
    if problem.budget >= needed:
        return
    several = f", of {problem.n_endpoints} endpoints each" if problem.in_lab(1) > 1 else ""
    raise AssayPilotError(
        f"a budget of {problem.in_lab(problem.budget):,} is below one measurement per effect that {strategy.info.name} "
        f"has to estimate before it decides anything: {needed}{several}",
        option="--budget",
        mend=f"Give at least {problem.in_lab(needed):,} measurements.",
    )


def simulate(
    task: Task, runs: int, *, jobs: int = 1, cluster: str | None = None, report: Report = silent
) -> tuple[Run, ...]:
    """Return runs 0 to ``runs`` - 1 of a task in order, each depending on the seed and its number alone.

    ``jobs`` processes here (0: one per processor), or the workers of the Dask cluster at an address. Each process keeps
    to one thread in linear algebra. ``report`` may raise Cancelled, which stops everything.
    """
    if runs < 1:
        raise AssayPilotError(f"at least one run is needed, got {runs}", option="--runs")
    if jobs < 0:
        raise AssayPilotError(f"processes must be 0 or more, got {jobs}", option="--jobs")
    check(task)
    name = task.strategy.info.name
    processes = jobs or processors()
    if cluster is None and (processes == 1 or runs == 1):
        return _here(task, runs, name, report)
    if cluster is not None:
        parts = _parts(runs, max(processes, processors()) * 4)
        made = on_cluster(partial(_part, task), parts, cluster, report)
    else:
        parts = _parts(runs, processes)
        made = _in_processes(partial(_part, task), parts, processes, report)
    results: list[Run] = []
    with closing(made):
        for part in made:
            results += part
            report(len(results) / runs, f"{name}: {len(results):,} of {runs:,} runs")
    return tuple(sorted(results, key=lambda run: run.number))


def _here(task: Task, runs: int, name: str, report: Report) -> tuple[Run, ...]:
    results: list[Run] = []
    looked = 0.0

    def pulse() -> None:
        nonlocal looked
        now = time.monotonic()
        if now - looked >= _PULSE:
            looked = now
            report(len(results) / runs, f"{name}: {len(results):,} of {runs:,} runs")

    for number in range(runs):
        results.append(run_of(task, number, pulse))
        pulse()
    report(1.0, f"{name}: {runs:,} runs")
    return tuple(results)


def _parts(runs: int, processes: int) -> list[range]:
    size = max(1, min(_LONGEST, runs // (processes * _PARTS)))
    return [range(start, min(start + size, runs)) for start in range(0, runs, size)]


def _part(task: Task, numbers: range) -> list[Run]:
    return [run_of(task, number) for number in numbers]


def _in_processes(
    work: Callable[[range], list[Run]], parts: list[range], jobs: int, report: Report
) -> Generator[list[Run], None, None]:
    from joblib import Parallel, delayed, parallel_config

    report(0.0, f"starting {jobs} processes")
    shared = _any_letters()
    with parallel_config(backend="loky", n_jobs=min(jobs, len(parts)), inner_max_num_threads=1, max_nbytes=shared):
        results = Parallel(return_as="generator_unordered")(delayed(work)(part) for part in parts)
        try:
            # Not "yield from", which would close the results outside of what follows.
            while (part := next(results, None)) is not None:
                yield part
        finally:
            with warnings.catch_warnings():
                # joblib warns of cancelled work; the user cancelled it.
                warnings.simplefilter("ignore", UserWarning)
                results.close()


def _any_letters() -> str | None:
    """From which size on joblib shares arrays by files in its temporary folder; None: it shares none.

    It notes that folder down in ASCII, and would fail for a user named Jürg on Windows, where the folder is in
    the user's own. Its other way takes any letters, but is unknown to the processes that would note the files.
    """
    if (os.environ.get("JOBLIB_TEMP_FOLDER") or tempfile.gettempdir()).isascii():
        return "1M"  # as without a word
    from joblib.externals.loky.backend import resource_tracker

    resource_tracker._resource_tracker._use_simple_format = False
    return None
