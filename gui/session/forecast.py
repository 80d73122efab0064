"""One forecast at a time: started a moment after the last key, dropped when a newer one is requested."""

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
"""Remembered answers: earlier settings need no new simulation."""

Ask = Callable[[Report], Foresight]


class Forecasting(QObject):
    """Forecasts what some settings will take, off the window's thread; only the latest answer is emitted."""

    known = Signal(object)
    """The Foresight of the latest request."""
    refused = Signal(object)
    """Why there is none: an AssayPilotError, or Cancelled when the user stopped it."""

    def __init__(self, session: Session, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._session = session
        self._job = Latest()
        self._pending: tuple[Hashable, Ask] | None = None
        self._answers: OrderedDict[Hashable, Foresight] = OrderedDict()
        self._pause = single_shot(self, PAUSE, self._start)

    @property
    def busy(self) -> bool:
        """Whether an answer is to come."""
        return self._pending is not None

    def ask(self, key: Hashable, work: Ask) -> None:
        """Request a forecast, or emit a remembered one at once; equal keys mean equal answers."""
        if self._pending is not None and self._pending[0] == key:
            return
        self.stop()
        if key in self._answers:
            self._answers.move_to_end(key)
            self.known.emit(self._answers[key])
            return
        self._pending = (key, work)
        self._pause.start()

    def stop(self) -> None:
        """Drop the answer to the pending request."""
        self._pause.stop()
        self._pending = None
        self._job.drop()

    def forget(self) -> None:
        """Forget all answers, for another campaign."""
        self.stop()
        self._answers.clear()

    def _start(self) -> None:
        if self._pending is None:
            return
        key, work = self._pending

        def landed(found: Foresight) -> None:
            self._answers[key] = found
            while len(self._answers) > KEPT:
                self._answers.popitem(last=False)
            self._pending = None
            self.known.emit(found)

        def failed(error: Exception) -> None:
            self._pending = None
            self.refused.emit(error)

        self._job.start(
            self._session.look_ahead("Simulating what it will take", work, landed, failed, shown_after=SLOW)
        )
