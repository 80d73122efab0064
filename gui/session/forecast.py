"""One question about the future at a time: asked a moment after the last key, dropped when a newer one comes."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Hashable

from PySide6.QtCore import QObject, Signal

from assaypilot.engine.simulate.foresight import Foresight
from assaypilot.engine.system.progress import Report

from ..runtime.tasks import Latest, single_shot
from .session import Session

PAUSE = 350
"""Milliseconds without a further change before the simulation starts."""
SLOW = 3.0
"""Seconds after which the line above the foot of the window shows it, with Cancel."""
KEPT = 24
"""Answers remembered: going back to settings that were looked at before takes no time."""

Ask = Callable[[Report], Foresight]


class Forecasting(QObject):
    """Asks for what some settings will take, off the window's thread; only the latest answer is told."""

    known = Signal(object)
    """The Foresight of what was asked last."""
    refused = Signal(object)
    """Why there is none: an AssayPilotError, or Cancelled when the user stopped it."""

    def __init__(self, session: Session, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._session = session
        self._job = Latest()
        self._asked: tuple[Hashable, Ask] | None = None
        self._answers: OrderedDict[Hashable, Foresight] = OrderedDict()
        self._pause = single_shot(self, PAUSE, self._start)

    @property
    def busy(self) -> bool:
        """Whether an answer is to come."""
        return self._asked is not None

    def ask(self, key: Hashable, work: Ask) -> None:
        """Ask, or tell at once what was answered before; ``key`` is alike only where the answer is."""
        if self._asked is not None and self._asked[0] == key:
            return
        self.stop()
        if key in self._answers:
            self._answers.move_to_end(key)
            self.known.emit(self._answers[key])
            return
        self._asked = (key, work)
        self._pause.start()

    def stop(self) -> None:
        """Drop the answer to what is being asked."""
        self._pause.stop()
        self._asked = None
        self._job.drop()

    def forget(self) -> None:
        """Another campaign: no answer holds any more."""
        self.stop()
        self._answers.clear()

    def _start(self) -> None:
        if self._asked is None:
            return
        key, work = self._asked

        def landed(found: Foresight) -> None:
            self._answers[key] = found
            while len(self._answers) > KEPT:
                self._answers.popitem(last=False)
            self._asked = None
            self.known.emit(found)

        def failed(error: Exception) -> None:
            self._asked = None
            self.refused.emit(error)

        self._job.start(
            self._session.look_ahead("Simulating what it will take", work, landed, failed, shown_after=SLOW)
        )
