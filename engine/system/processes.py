"""Heavy work in a process of its own, so that a window stays alive: progress comes back, Cancel ends the process."""

from __future__ import annotations

import multiprocessing
import os
import sys
import traceback
from collections.abc import Callable
from contextlib import suppress
from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar

from ..errors import AssayPilotError
from .progress import Report, silent, throttled

if TYPE_CHECKING:
    from multiprocessing import connection

    if sys.platform == "win32":
        Pipe: TypeAlias = connection.PipeConnection[Any, Any]
    else:
        Pipe: TypeAlias = connection.Connection[Any, Any]


Result = TypeVar("Result")

_PULSE = 0.1
"""Seconds between two looks at whether to go on."""
_PATIENCE = 5.0
"""Seconds that a process gets to end by itself."""
_KILLED = -9
"""Exit code of a process that the system ended: so do Linux and macOS when memory runs out."""
_BEHIND = 5
"""How far it stands behind the window (nice) where there are fewer processors than work."""


def in_another_process(function: Callable[..., Result], *arguments: Any, report: Report = silent) -> Result:
    """Return what ``function(*arguments, report)`` returns when a new process (spawned) calls it.

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
    except _Ended:
        process.join(_PATIENCE)
        if process.exitcode == _KILLED:
            raise _no_memory() from None
        raise RuntimeError(f"a process ended without a result (exit code {process.exitcode})") from None
    finally:
        here.close()
        if process.is_alive():
            process.join(0.0)
            process.terminate()
        process.join(_PATIENCE)


def _no_memory() -> AssayPilotError:
    return AssayPilotError("there is not enough memory", mend="Close other programs, or use a smaller table.")


def _step_behind(process: int | None) -> None:
    """Let other processes go first, the window above all, where the system knows of that."""
    if sys.platform != "win32" and process is not None:
        with suppress(OSError):  # it has ended
            os.setpriority(os.PRIO_PROCESS, process, os.getpriority(os.PRIO_PROCESS, os.getpid()) + _BEHIND)


class _Ended(Exception):
    """The process ended without a result."""


def _watched(pipe: Pipe, report: Report) -> Any:
    """Return the result that comes through the pipe; raises what the work or ``report`` raised."""
    fraction, message = 0.0, "Starting"
    while True:
        report(fraction, message)
        try:
            found = pipe.recv() if pipe.poll(_PULSE) else None
        except (EOFError, BrokenPipeError, ConnectionResetError):  # the latter two on Windows, where poll says it, too
            raise _Ended from None
        if found is None:
            continue
        kind, content = found
        if kind == "progress":
            fraction, message = content
        elif kind == "result":
            return content
        elif kind == "refused":
            raise content
        elif kind == "no memory":
            raise _no_memory()
        else:
            raise RuntimeError(f"in another process:\n{content}")


def _work(pipe: Pipe, function: Callable[..., Any], arguments: tuple[Any, ...]) -> None:
    """Call the function and sends what comes of it."""
    report = throttled(lambda fraction, message: pipe.send(("progress", (fraction, message))))
    try:
        pipe.send(("result", function(*arguments, report)))
    except AssayPilotError as error:
        pipe.send(("refused", error))
    except MemoryError:
        pipe.send(("no memory", None))
    except Exception:
        pipe.send(("failed", traceback.format_exc()))
