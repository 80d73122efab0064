"""Heavy work in a process of its own, so that a window stays alive: progress comes back, Cancel ends the process."""

from __future__ import annotations

import multiprocessing
import os
import time
import traceback
from collections.abc import Callable
from contextlib import suppress
from multiprocessing.connection import Connection
from typing import Any, TypeVar

from assaypilot.engine.errors import AssayPilotError
from assaypilot.engine.progress import Report, silent

__all__ = ["in_another_process"]

Result = TypeVar("Result")

_PULSE = 0.1
"""Seconds between two looks at whether to go on."""
_EVERY = 0.05
"""Seconds between two messages of progress."""
_PATIENCE = 5.0
"""Seconds that a process gets to end by itself."""
_BEHIND = 5
"""How far it stands behind the window (nice) where there are fewer processors than work."""


def in_another_process(function: Callable[..., Result], *arguments: Any, report: Report = silent) -> Result:
    """What ``function(*arguments, report)`` returns when a new process (spawned) calls it.

    Function, arguments and result are pickled: a function of a module, plain values, arrays and dataclasses.
    ``report`` is called here with the progress there, and at least every tenth of a second; when it raises (Cancelled)
    the process is ended at once. A refusal (AssayPilotError) there is raised here; any other exception there becomes
    a RuntimeError with its traceback.
    """
    context = multiprocessing.get_context("spawn")
    here, there = context.Pipe(duplex=False)
    process = context.Process(target=_work, args=(there, function, arguments), daemon=True)
    process.start()
    _step_behind(process.pid)
    there.close()
    try:
        result: Result = _watched(here, report)
        return result
    finally:
        here.close()
        if process.is_alive():
            process.join(0.0)
            process.terminate()
        process.join(_PATIENCE)


def _step_behind(process: int | None) -> None:
    """Nothing; a process lets others go first, the window above all; only where the system knows of such manners."""
    if process is not None and hasattr(os, "setpriority"):
        with suppress(OSError):  # it has ended
            os.setpriority(os.PRIO_PROCESS, process, os.getpriority(os.PRIO_PROCESS, os.getpid()) + _BEHIND)


def _watched(pipe: Connection, report: Report) -> Any:
    """The result that comes through the pipe; raises what the work or ``report`` raised."""
    fraction, message = 0.0, "Starting"
    while True:
        report(fraction, message)
        if not pipe.poll(_PULSE):
            continue
        try:
            kind, content = pipe.recv()
        except EOFError:
            raise RuntimeError("a process ended without a result; perhaps the memory was used up") from None
        if kind == "progress":
            fraction, message = content
        elif kind == "result":
            return content
        elif kind == "refused":
            raise content
        else:
            raise RuntimeError(f"in another process:\n{content}")


def _work(pipe: Connection, function: Callable[..., Any], arguments: tuple[Any, ...]) -> None:
    """Nothing; calls the function and sends what comes of it."""
    last = 0.0

    def report(fraction: float, message: str) -> None:
        nonlocal last
        now = time.monotonic()
        if now - last >= _EVERY:
            last = now
            pipe.send(("progress", (fraction, message)))

    try:
        pipe.send(("result", function(*arguments, report)))
    except AssayPilotError as error:
        pipe.send(("refused", error))
    except Exception:
        pipe.send(("failed", traceback.format_exc()))
