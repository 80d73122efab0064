"""A watched session: its latest actions are on the disk, so that a crash, a kill or a power cut is noticed.

Each running session has a lock file that the system frees when the process ends, however it ends. A session that
was closed takes its files away; what the next start finds with a free lock was not closed.
"""

from __future__ import annotations

import faulthandler
import os
import re
from collections import deque
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from io import TextIOWrapper
from pathlib import Path

from PySide6.QtCore import QLockFile

KEPT = 40
"""Events of a session that a report quotes."""
PLACE = re.compile(r'File "(?:[^"]*[\\/])?([^"\\/]+)", line (\d+) in (\S+)')


@dataclass(frozen=True, slots=True)
class Ended:
    """A session that ended without being closed."""

    events: tuple[str, ...]
    """What was done last, each with its time."""
    places: tuple[str, ...]
    """Where a native crash happened, without folders; empty when the system ended the program."""


class Watch:
    """The events of this session, in memory and (once begun) on the disk."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder / "sessions"
        self._events: deque[str] = deque(maxlen=KEPT)
        self._lock: QLockFile | None = None
        self._log: TextIOWrapper | None = None
        self._fault: TextIOWrapper | None = None

    @property
    def events(self) -> tuple[str, ...]:
        """What was done last in this session."""
        return tuple(self._events)

    def begin(self) -> list[Ended]:
        """Earlier sessions that were not closed, the latest first; from now on this one is watched."""
        try:
            self._folder.mkdir(parents=True, exist_ok=True)
            found = [ended for log in sorted(self._folder.glob("*.log"), reverse=True) if (ended := _ended(log))]
            self._start()
        except OSError:  # a full or a read-only disk: the program works without being watched
            return []
        return found

    def note(self, text: str) -> None:
        """Keep what was just done, in words that name no compound, structure or value."""
        line = f"{datetime.now(UTC):%H:%M:%S} {text}"
        self._events.append(line)
        if self._log is not None:
            try:
                self._log.write(line + "\n")
                self._log.flush()
            except OSError:
                self._log = None

    def end(self) -> None:
        """Remove the record of a session that was closed."""
        if self._lock is None:
            return
        faulthandler.disable()
        for stream in (self._log, self._fault):
            if stream is not None:
                stream.close()
        self._log = self._fault = None
        _remove(Path(self._lock.fileName()).with_suffix(".log"))
        self._lock.unlock()
        self._lock = None

    def _start(self) -> None:
        stem = self._folder / f"{datetime.now(UTC):%Y%m%d-%H%M%S-%f}-{os.getpid()}"
        lock = QLockFile(str(stem.with_suffix(".lock")))
        lock.setStaleLockTime(0)  # as long as its process lives, however long that is
        if not lock.tryLock(0):
            return
        self._lock = lock
        self._log = stem.with_suffix(".log").open("w", encoding="utf-8")
        self._fault = stem.with_suffix(".fault").open("w", encoding="utf-8")
        faulthandler.enable(file=self._fault, all_threads=True)
        for line in self._events:
            self._log.write(line + "\n")
        self._log.flush()


def _ended(log: Path) -> Ended | None:
    """Return what is left of a session that was not closed; None for one that goes on. Its files are taken away."""
    lock = QLockFile(str(log.with_suffix(".lock")))
    lock.setStaleLockTime(0)
    if not lock.tryLock(0):
        return None
    try:
        events = _lines(log)[-KEPT:]
        places = _places(_lines(log.with_suffix(".fault")))
        _remove(log)
    finally:
        lock.unlock()
    return Ended(tuple(events), tuple(places))


def _lines(path: Path) -> list[str]:
    try:
        return path.read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        return []


def _places(lines: Sequence[str]) -> list[str]:
    """Return the lines of a native crash that name its place, without folders."""
    kept = []
    for line in lines:
        place = PLACE.search(line)
        if place is not None:
            kept.append(f"  {place[1]}, line {place[2]}, in {place[3]}")
        elif line.startswith(("Fatal Python error", "Windows fatal exception", "Current thread", "Thread")):
            kept.append(line.split(" (most recent")[0])
    return kept[:120]


def _remove(log: Path) -> None:
    for suffix in (".log", ".fault"):
        with suppress(OSError):  # not there, or held for a moment by what looks for viruses
            log.with_suffix(suffix).unlink()
