"""How long a window does not answer, and how much memory its processes hold: a heart that beats in the event loop."""

from __future__ import annotations

import os
import sys
import threading
import time
import traceback
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from PySide6.QtCore import QEventLoop, Qt, QTimer

BEAT = 1
"""Milliseconds between two beats."""
LOOK = 0.05
"""Seconds of silence after which it is noted what the thread is doing, when that is wanted."""
PATIENCE = 300.0
WEIGH = 1.0
"""Seconds between two looks at the memory, by a thread of its own: meanwhile the system gives the process none."""


@dataclass
class Step:
    """What one step of the journey cost."""

    name: str
    seconds: float = 0.0
    stall: float = 0.0
    """The longest time between two beats, milliseconds."""
    own: float = 0.0
    """The most processor time of the window's thread between two beats, milliseconds."""
    process: float = 0.0
    """The same of all threads of the process: what a stall would be on a machine that has nothing else to do."""
    memory: float = 0.0
    """The most the processes held, MB."""


def memory():
    """MB that this process and those it has started hold now, what they share counted once; 0 where nobody says."""
    try:
        return sum(_held(one) for one in _family(os.getpid())) / 1e6
    except OSError:
        return 0.0


def _held(process):
    """Bytes: its own, and its part of those that several processes share, libraries above all (PSS)."""
    try:
        for line in Path(f"/proc/{process}/smaps_rollup").read_text().splitlines():
            if line.startswith("Pss:"):
                return 1024 * int(line.split()[1])
    except OSError:  # it has ended
        pass
    return 0


def _family(process):
    yield process
    for task in Path(f"/proc/{process}/task").iterdir():
        try:
            children = (task / "children").read_text().split()
        except OSError:
            continue
        for child in map(int, children):
            # Until it is given its own program a new process is in its parent's memory, which is not there twice.
            if _command(child) != _command(process):
                yield from _family(child)


def _command(process):
    """What was called for it; empty when it has ended."""
    try:
        return Path(f"/proc/{process}/cmdline").read_bytes()
    except OSError:
        return b""


class Heart:
    """Beats in the event loop of the window; what it misses is a stall."""

    def __init__(self, *, where=False):
        """``where``: also prints what the window's thread did in the longest silence of each step."""
        self.steps: list[Step] = []
        self._now: Step | None = None
        self._at = self._used = self._spent = 0.0
        self._timer = QTimer()
        self._timer.setTimerType(Qt.TimerType.PreciseTimer)
        self._timer.setInterval(BEAT)
        self._timer.timeout.connect(self._beat)
        self._timer.start()
        self._ended = threading.Event()
        threading.Thread(target=self._weigh_often, daemon=True).start()
        self._thread = threading.get_ident()
        self._seen: dict[float, str] = {}
        self._alive = True
        if where:
            threading.Thread(target=self._watch, daemon=True).start()

    def stop(self):
        """Beat no more."""
        self._alive = False
        self._timer.stop()
        self._ended.set()

    @contextmanager
    def step(self, name):
        """A context in which everything counts as one step."""
        self.turn(0.02)
        self._now = Step(name, memory=memory())
        self._seen.clear()
        self._at, self._used, self._spent = time.perf_counter(), time.thread_time(), time.process_time()
        begun = self._at
        yield self._now
        self._beat()
        self._now.seconds = time.perf_counter() - begun
        self._weigh()
        self.steps.append(self._now)
        print(_line(self._now), flush=True)
        if self._seen:
            print(self._seen[max(self._seen)], flush=True)
        self._now = None

    def until(self, reached, what=""):
        """Let the window work until something is reached."""
        ends = time.monotonic() + PATIENCE
        while not reached():
            if time.monotonic() > ends:
                raise TimeoutError(what)
            self.turn(0.004)

    def turn(self, seconds):
        """Let the window work for a while."""
        loop = QEventLoop()
        QTimer.singleShot(int(1000 * seconds), loop.quit)
        loop.exec()

    def _beat(self):
        now, used, spent = time.perf_counter(), time.thread_time(), time.process_time()
        if self._now is not None:
            self._now.stall = max(self._now.stall, 1000 * (now - self._at))
            self._now.own = max(self._now.own, 1000 * (used - self._used))
            self._now.process = max(self._now.process, 1000 * (spent - self._spent))
        self._at, self._used, self._spent = now, used, spent

    def _weigh(self):
        step = self._now
        if step is not None:
            held = memory()
            step.memory = max(step.memory, held)

    def _weigh_often(self):
        while not self._ended.wait(WEIGH):
            self._weigh()

    def _watch(self):
        while self._alive:
            time.sleep(0.01)
            silence = time.perf_counter() - self._at
            if self._now is not None and silence > LOOK:
                # One look at each thread; the longest silence of the step is printed.
                told = [
                    f"  {'window' if thread == self._thread else 'other'} thread:\n"
                    + "".join(traceback.format_stack(frame)[-5:])
                    for thread, frame in sys._current_frames().items()
                    if thread != threading.get_ident()
                ]
                self._seen[round(silence, 2)] = "".join(told)


def _line(step):
    return (
        f"{step.name:<52} {step.seconds:>8.2f} {step.stall:>9.0f} {step.process:>9.0f} {step.own:>9.0f} "
        f"{step.memory:>8.0f}{'  <-- over' if step.process >= 100 else ''}"
    )


def heading():
    """The line above the table."""
    return f"{'step':<52} {'seconds':>8} {'stall ms':>9} {'cpu ms':>9} {'own ms':>9} {'MB':>8}"
