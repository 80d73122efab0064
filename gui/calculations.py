"""The calculated properties of the open library: worked out once, when some page wants to show them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Signal

from assaypilot.engine.errors import AssayPilotError
from assaypilot.engine.progress import Report
from assaypilot.gui.models import properties
from assaypilot.gui.models.properties import Calculated
from assaypilot.gui.tasks import Job

if TYPE_CHECKING:
    from assaypilot.engine.library import Library
    from assaypilot.gui.session import Session

__all__ = ["Calculations"]


class Calculations(QObject):
    """The properties of one library at a time, for all pages."""

    changed = Signal()
    """Properties are there."""
    stopped = Signal()
    """They were stopped, or could not be calculated: nobody shall wait for them."""

    def __init__(self, session: Session) -> None:
        super().__init__(session)
        self._session = session
        self._library: Library | None = None
        self._found: Calculated | None = None
        self._job: Job | None = None

    def of(self, library: Library) -> Calculated | None:
        """What is known of a library; None while nothing is."""
        return self._found if library is self._library else None

    def want(self, library: Library) -> None:
        """Nothing; calculates the properties of a library unless that was done or is being done."""
        smiles = library.smiles
        if library is self._library and (self._found is not None or self._job is not None):
            return
        if smiles is None or not any(smiles):
            return
        if self._job is not None:
            self._job.cancelled = True
        self._library, self._found = library, None
        job = list[Job]()

        def work(report: Report) -> Calculated:
            return properties.calculate(smiles, report)

        def found(values: Calculated) -> None:
            if self._job is job[0]:
                self._job, self._found = None, values
                self.changed.emit()

        def failed(error: Exception) -> None:
            if self._job is job[0]:
                self._job = None
                self.stopped.emit()
                if isinstance(error, AssayPilotError):
                    self._session.failed.emit(error)

        job.append(self._session.aside("Calculating properties", work, found, failed))
        self._job = job[0]
