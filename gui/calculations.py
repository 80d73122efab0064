"""The calculated properties of the open library: worked out once, when some page wants to show them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Signal

from assaypilot.engine.errors import AssayPilotError
from assaypilot.engine.system.progress import Report

from .models import properties
from .models.properties import Calculated
from .tasks import Job

if TYPE_CHECKING:
    from assaypilot.engine.domain.library import Library

    from .session import Session

__all__ = ["Calculations"]


class Calculations(QObject):
    """The properties of one library at a time, for all pages; alerts only when somebody asks for them."""

    changed = Signal()
    """Properties are there."""
    stopped = Signal()
    """They were stopped, or could not be calculated: nobody shall wait for them."""

    def __init__(self, session: Session) -> None:
        super().__init__(session)
        self._session = session
        self._library: Library | None = None
        self._found: Calculated | None = None
        self._alerts = False
        """Whether they are wanted."""
        self._job: Job | None = None

    def of(self, library: Library) -> Calculated | None:
        """What is known of a library; None while nothing is."""
        return self._found if library is self._library else None

    def want(self, library: Library, *, alerts: bool = False) -> None:
        """Calculate the properties of a library unless that was done or be being done."""
        if library.smiles is None or not any(library.smiles):
            return
        if library is not self._library:
            if self._job is not None:
                self._job.cancelled = True
            self._library, self._found, self._alerts, self._job = library, None, False, None
        self._alerts = self._alerts or alerts
        if self._job is None:
            self._go_on(library)

    def _go_on(self, library: Library) -> None:
        """Begin with what is wanted and not there: figures come first, alerts take much longer."""
        smiles, known = library.smiles, self._found
        if smiles is None or (known is not None and (known.alerts is not None or not self._alerts)):
            return
        job = list[Job]()

        def work(report: Report) -> Calculated:
            if known is None:
                return properties.calculate(smiles, report)
            return properties.alerts_too(known, smiles, report)

        def found(values: Calculated) -> None:
            if self._job is job[0]:
                self._job, self._found = None, values
                self._go_on(library)
                self.changed.emit()

        def failed(error: Exception) -> None:
            if self._job is job[0]:
                self._job, self._alerts = None, False
                self.stopped.emit()
                if isinstance(error, AssayPilotError):
                    self._session.failed.emit(error)

        doing = "Calculating properties" if known is None else "Looking for alerts"
        job.append(self._session.aside(doing, work, found, failed))
        self._job = job[0]
