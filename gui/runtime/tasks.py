"""The one worker thread: jobs one after the other, progress at a bearable rate, and Cancel."""

from __future__ import annotations

import queue
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from PySide6.QtCore import QCoreApplication, QEvent, QObject, Qt, QThread, QTimer, Signal

from assaypilot.engine.system.progress import Cancelled, Report

SHOWN_AFTER = 0.2
"""Seconds after which work is shown, with its time and Cancel."""
EVERY = 0.1
"""Seconds between two shown steps of progress."""
SURE_AFTER, SURE_FROM = 1.5, 0.04
"""Seconds, and share of the work, after which the time that is left is more than a guess."""


def single_shot(parent: QObject, pause: int, then: object) -> QTimer:
    """Return a timer that calls once, so many milliseconds after its latest start."""
    made = QTimer(parent)
    made.setSingleShot(True)
    made.setInterval(pause)
    made.timeout.connect(then)
    return made


class AfterPainting(QObject):
    """Calls once the window has painted what had changed: a thread that begins before takes Python from its own."""

    def __init__(self, parent: QObject, then: Callable[[], object]) -> None:
        super().__init__(parent)
        self._then = then
        self.waiting = False
        """Whether it will be called."""

    def start(self) -> None:
        """Call it soon, however often this is called until then."""
        if not self.waiting:
            self.waiting = True
            # Qt paints at its low priority.
            QCoreApplication.postEvent(self, QEvent(QEvent.Type.User), Qt.EventPriority.LowEventPriority.value - 1)

    def customEvent(self, event: QEvent) -> None:
        """Call it."""
        self.waiting = False
        self._then()


@dataclass(frozen=True, slots=True)
class Progress:
    """The label of the work, as shown."""

    label: str
    message: str
    fraction: float | None
    """The fraction done, 0 to 1; None while it is unknown."""
    seconds: float
    cancellable: bool

    @property
    def left(self) -> float | None:
        """Seconds it will still take if it goes on as so far; None while that would be a guess."""
        if self.fraction is None or self.seconds < SURE_AFTER or not SURE_FROM <= self.fraction < 1.0:
            return None
        return self.seconds * (1.0 - self.fraction) / self.fraction

    @property
    def detail(self) -> str:
        """``Drawing 40 of 100 · 4 s, about 6 s left``."""
        time_ = f"{_duration(self.seconds)}" if self.seconds >= 1 else "just started"
        if self.left is not None and self.left >= 1:
            time_ += f", about {_duration(self.left)} left"
        return f"{self.message} · {time_}" if self.message else time_


def _duration(seconds: float) -> str:
    return f"{seconds:.0f} s" if seconds < 99.5 else f"{seconds / 60:.0f} min"


@dataclass(eq=False)
class Job:
    """One piece of work for the worker."""

    label: str
    work: Callable[[Report], Any]
    done: Callable[[Any], None]
    failed: Callable[[BaseException], None]
    writes: bool = False
    """A write that has returned is reported as done even when Cancel came late; a cancelled read never lands."""
    cancellable: bool = True
    shown_after: float = SHOWN_AFTER
    """Seconds after which it is shown."""
    cancelled: bool = False
    going: bool = True
    """False once it has landed, or its result is not needed any more."""
    fraction: float | None = None
    message: str = ""
    started: float = field(default_factory=time.monotonic)

    def report(self, fraction: float, message: str) -> None:
        """Take note of the progress, and raise Cancelled when the user asked for that."""
        self.fraction, self.message = min(max(fraction, 0.0), 1.0), message
        if self.cancelled:
            raise Cancelled

    def drop(self) -> None:
        """Stop it at its next report, without a call back."""
        self.cancelled, self.going = True, False


class Latest:
    """The latest of repeated jobs: it replaces the one before, which then makes no call back."""

    def __init__(self) -> None:
        self._job: Job | None = None

    @property
    def busy(self) -> bool:
        """Whether its answer is to come."""
        return self._job is not None and self._job.going

    def start(self, job: Job) -> None:
        """Wait for this job and for none before it."""
        self.drop()
        self._job = job

    def drop(self) -> None:
        """Wait for none."""
        if self._job is not None:
            self._job.drop()
        self._job = None


class _Worker(QThread):
    """Takes jobs from a queue until its end marker."""

    finished_job = Signal(object, object, object)

    def __init__(self) -> None:
        super().__init__()
        self.setObjectName("campaign worker")
        self.jobs: queue.SimpleQueue[Job | None] = queue.SimpleQueue()

    def run(self) -> None:
        """Do the work of the thread."""
        while (job := self.jobs.get()) is not None:
            result: Any = None
            error: BaseException | None = None
            job.started = time.monotonic()
            try:
                if job.cancelled:
                    raise Cancelled
                result = job.work(job.report)
            except BaseException as raised:  # whatever it is, the window has to receive it
                error = raised
            self.finished_job.emit(job, result, error)
            del job, result, error


class Tasks(QObject):
    """Gives work to the worker and its results back to the window, in order."""

    progress = Signal(object)
    """A Progress, or None when nothing is going on that has to be shown."""
    idle = Signal()
    """Nothing is waiting any more."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._waiting: list[Job] = []
        self._new: list[Job] = []
        """Jobs for the worker, which begins after painting."""
        self._soon = AfterPainting(self, self._hand_over)
        self._worker: _Worker | None = None
        self._timer = QTimer(self)
        self._timer.setInterval(int(1000 * EVERY))
        self._timer.timeout.connect(self._tick)
        self._shown = False

    @property
    def busy(self) -> bool:
        """Whether something is being done or waits for it."""
        return bool(self._waiting)

    @property
    def writing(self) -> bool:
        """Whether something is being written or waits to be."""
        return any(job.writes for job in self._waiting)

    def run(
        self,
        label: str,
        work: Callable[[Report], Any],
        done: Callable[[Any], None],
        failed: Callable[[BaseException], None],
        *,
        writes: bool = False,
        cancellable: bool = True,
        shown_after: float = SHOWN_AFTER,
    ) -> Job:
        """Return the job.

        ``done`` or ``failed`` is called in the window's thread, ``failed`` with Cancelled after Cancel.
        """
        if self._worker is None:
            self._worker = _Worker()
            self._worker.finished_job.connect(self._landed)
            self._worker.start()
        job = Job(label, work, done, failed, writes, cancellable, shown_after)
        self._waiting.append(job)
        if not self._timer.isActive():
            self._timer.start()
        self._new.append(job)
        self._soon.start()
        return job

    def _hand_over(self) -> None:
        for job in self._new:
            assert self._worker is not None
            self._worker.jobs.put(job)
        self._new.clear()

    def cancel(self, job: Job | None = None) -> None:
        """Stop a job (default: the one being done) at its next report."""
        if job is None and self._waiting:
            job = self._waiting[0]
        if job is not None and job.cancellable:
            job.cancelled = True
            self._tick()

    def stop(self, *, at_once: bool = False) -> None:
        """Cancel waiting jobs, let a write finish (unless ``at_once``), and end the thread."""
        self._timer.stop()
        for job in self._waiting:
            if at_once or not job.writes:
                job.cancelled = True
        self._hand_over()
        if self._worker is not None:
            self._worker.jobs.put(None)
            self._worker.wait()
            self._worker = None
        self._waiting.clear()

    def _landed(self, job: Job, result: Any, error: BaseException | None) -> None:
        if job not in self._waiting:  # the window is closing
            return
        self._waiting.remove(job)
        if not self._waiting:
            self._timer.stop()
        if not self._waiting or not self._running_long():
            self._hide()
        waited_for, job.going = job.going, False
        if not waited_for:
            pass
        elif job.cancelled and not job.writes:
            job.failed(Cancelled())
        elif error is not None:
            job.failed(error)
        else:
            job.done(result)
        if not self._waiting:
            self.idle.emit()

    def _running_long(self) -> bool:
        return bool(self._waiting) and time.monotonic() - self._waiting[0].started > self._waiting[0].shown_after

    def _hide(self) -> None:
        if self._shown:
            self._shown = False
            self.progress.emit(None)

    def _tick(self) -> None:
        if not self._running_long():
            return
        job = self._waiting[0]
        self._shown = True
        message = "Stopping…" if job.cancelled else job.message
        seconds = time.monotonic() - job.started
        self.progress.emit(Progress(job.label, message, job.fraction, seconds, job.cancellable and not job.cancelled))
