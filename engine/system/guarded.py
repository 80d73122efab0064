"""Work on what may come from anyone, in a process of its own that has an end: of time and of memory.

A workbook of a few hundred bytes can ask its reader for gigabytes, and a structure a library for hours. The process
gets its task as one line of JSON and bytes, and answers in the same form: nothing that comes back is unpickled. It
works in the packaged program, too (see packaging/frozen_start.py), and inside other worker processes.

Everything that reads a file or hands its contents to a library takes its limits of size from here: what is larger is no
table of a series.
"""

from __future__ import annotations

import importlib
import json
import math
import os
import queue
import signal
import subprocess
import sys
import threading
import time
import traceback
from collections.abc import Callable
from contextlib import suppress
from typing import IO, Any

from ..errors import AssayPilotError
from .progress import Report, silent, throttled

CHILD_SECONDS = 20.0
"""Of a processor, for a guarded process; reading an xlsx of 100,000 x 20 takes 3."""
CHILD_MEMORY = 1_000_000_000
"""Bytes that a guarded process may write to; reading an xlsx of 100,000 x 20 takes 310 MB."""
LARGEST_FILE = 1 << 28
"""Bytes of a file; a csv table of 100,000 x 20 has 15 MB."""
LARGEST_TEXT = 80_000_000
"""Bytes of a text, which is read without a process of its own: it takes up to ten times as much memory."""
MOST_CELLS = 8_000_000
"""Cells of a text, empty ones too: a million compounds in eight columns."""
MOST_RECORDS = 500_000
"""Records of an SD file."""
LONGEST_HEADER = 500
"""Characters of a column's name; patterns that look for units and runs in it need time that grows with its square."""
LONGEST_CELL = 131_072
"""Characters of one cell, as Python's csv reader has it; a spreadsheet keeps 32,767, a molblock of 50 atoms 5,000."""
LARGEST_UNPACKED = 1 << 29
"""Bytes of all parts of a workbook."""
MOST_PARTS = 20_000
MOST_SPANNED = 30_000_000
"""Cells between the first and the last of a sheet, empty ones too; the guarded process may hold fewer."""
LONGEST_SMILES = 5_000
"""Characters of a structure as SMILES."""
LONGEST_BLOCK = 100_000
"""Characters of a structure as a molblock; 300 atoms with their hydrogens have 40,000."""
MOST_ATOMS = 300
"""Heavy atoms of a structure: a peptide of 40 residues. What chemistry takes grows with the third power of it."""


Task = Callable[..., bytes]

_PULSE = 0.1
"""Seconds between two looks at whether to go on."""
_PATIENCE = 5.0
"""Seconds that a process gets to end by itself."""
_BUSY = 3.0
"""How much longer than its time of a processor the work may take, where other programs want that, too."""
_TIME_USED_UP = -getattr(signal, "SIGXCPU", 24)
"""How a process ends that had its time of a processor."""
_MODULE = "assaypilot.engine.system.guarded"
_INSIDE = "ASSAYPILOT_GUARDED"


class TooLong(AssayPilotError):
    """The work took more than its time."""


class TooMuch(AssayPilotError):
    """The work took more than its memory, or ended its process."""


def guarded(
    task: Task,
    data: bytes,
    *arguments: Any,
    report: Report = silent,
    file: str | None = None,
    seconds: float = CHILD_SECONDS,
) -> bytes:
    """Return what ``task(data, *arguments, report)`` returns in a process with limits.

    ``task`` is a function of a module and returns bytes; ``arguments`` are values of JSON. A refusal there is raised
    here. TooLong and TooMuch say which limit was reached; ``file`` is what they name. ``report`` may raise Cancelled,
    which ends the process.
    """
    if _INSIDE in os.environ:
        return task(data, *arguments, report)  # this is such a process
    order = {"task": [task.__module__, task.__qualname__], "arguments": arguments, "seconds": seconds}
    answers: queue.SimpleQueue[tuple[str, Any] | None] = queue.SimpleQueue()
    process = subprocess.Popen(
        _command(),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        env=_environment(),
        creationflags=getattr(subprocess, "CREATE_NO_WINDOW", 0),
    )
    talk = threading.Thread(target=_talk, args=(process, json.dumps(order).encode(), data, answers), daemon=True)
    talk.start()
    try:
        return _watched(process, answers, report, file, seconds)
    finally:
        process.kill()
        process.wait()
        talk.join()
        for stream in (process.stdin, process.stdout):
            with suppress(OSError):
                stream.close()  # type: ignore[union-attr]  # both are pipes


def _command() -> list[str]:
    if getattr(sys, "frozen", False):
        return [sys.executable, "-m", _MODULE]
    return [sys.executable, "-P", "-m", _MODULE]


def _environment() -> dict[str, str]:
    """Return the variables of the process.

    It finds what this one finds, and nothing in the folder it is started from.
    """
    own = dict(os.environ)
    own[_INSIDE] = "1"
    if not getattr(sys, "frozen", False):
        own["PYTHONPATH"] = os.pathsep.join(entry for entry in sys.path if entry)
    return own


def _talk(process: subprocess.Popen[bytes], order: bytes, data: bytes, answers: queue.SimpleQueue[Any]) -> None:
    """Give the process its task and take its answers; the last is None."""
    assert process.stdin is not None
    assert process.stdout is not None
    try:
        process.stdin.write(order + b"\n")
        process.stdin.write(data)
        process.stdin.close()
        while line := process.stdout.readline():
            kind, content = json.loads(line)
            if kind == "result":
                found = process.stdout.read(content)
                answers.put((kind, found) if len(found) == content else None)
                return
            answers.put((kind, content))
    except (OSError, ValueError):
        pass  # it ended in the middle
    answers.put(None)


def _watched(
    process: subprocess.Popen[bytes],
    answers: queue.SimpleQueue[tuple[str, Any] | None],
    report: Report,
    file: str | None,
    seconds: float,
) -> bytes:
    """Return the result, or raise what the task or ``report`` raised, or the limit that was reached."""
    end = time.monotonic() + _BUSY * seconds
    fraction, message = 0.0, "Starting"
    while True:
        report(fraction, message)
        try:
            found = answers.get(timeout=_PULSE)
        except queue.Empty:
            if time.monotonic() > end:
                raise _too_long(file, seconds) from None
            continue
        if found is None and process.wait(_PATIENCE) == _TIME_USED_UP:
            raise _too_long(file, seconds)
        if found is None:
            raise TooMuch(
                f"this is damaged, or takes more than {CHILD_MEMORY / 1e9:.1f} GB of memory, which no table of a "
                "series does",
                file=file,
                mend="Open it in the program it comes from, and save only the compounds and columns of the series.",
            )
        kind, content = found
        if kind == "result":
            result: bytes = content
            return result
        if kind == "progress":
            fraction, message = content
        elif kind == "refused":
            raise AssayPilotError(content.pop("message"), **content)
        else:
            raise RuntimeError(f"in another process:\n{content}")


def _too_long(file: str | None, seconds: float) -> TooLong:
    return TooLong(
        f"this takes more than {seconds:.0f} s, which no table of a series does",
        file=file,
        mend="Save only the compounds and columns of the series, as csv.",
    )


# ---------------------------------------------------------------------- in the process


def main() -> int:
    """Return the exit code of the process: it reads its task, does it within its limits, and answers."""
    # Not sys.stdin and sys.stdout, which a packaged window does not have. What a library prints is no answer.
    source, answer = open(0, "rb", closefd=False), open(os.dup(1), "wb")  # noqa: SIM115  # as long as the process
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
    order = json.loads(source.readline())
    module, name = order["task"]
    task: Task = getattr(importlib.import_module(module), name)
    _limit(order["seconds"])
    try:
        report = throttled(lambda fraction, message: _say(answer, "progress", [fraction, message]))
        result = task(source.read(), *order["arguments"], report)
        _say(answer, "result", len(result))
        answer.write(result)
        answer.flush()
    except AssayPilotError as error:
        _say(answer, "refused", error.as_json())
    except MemoryError:
        return 1
    except Exception:
        _say(answer, "failed", traceback.format_exc())
    return 0


def _say(answer: IO[bytes], kind: str, content: Any) -> None:
    answer.write(json.dumps([kind, content]).encode() + b"\n")
    answer.flush()


def _limit(seconds: float) -> None:
    """End this process when it takes more processor time or memory than it may; Windows knows only its time."""
    try:
        import resource
    except ImportError:  # the process that started this one ends it
        return
    used = resource.getrusage(resource.RUSAGE_SELF)
    cpu = math.ceil(used.ru_utime + used.ru_stime + seconds)
    # Linux counts everything a process may write to; a Mac knows no limit of memory that it keeps.
    for what, most in ((resource.RLIMIT_CPU, cpu), (resource.RLIMIT_DATA, CHILD_MEMORY), (resource.RLIMIT_CORE, 0)):
        with suppress(OSError, ValueError):  # the system has a lower one
            resource.setrlimit(what, (most, most + 1))


if __name__ == "__main__":
    sys.exit(main())
