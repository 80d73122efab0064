"""The compounds that fit a filter: found at once where that is quick, else off the window's thread."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from PySide6.QtCore import QObject, Signal

from assaypilot.engine.chemistry.substructure import packed_holding
from assaypilot.engine.domain.library import Library
from assaypilot.engine.errors import AssayPilotError
from assaypilot.engine.system.packing import pack_texts
from assaypilot.engine.system.processes import in_another_process
from assaypilot.engine.system.progress import Report

from .filtering import Facts, narrow, patterns
from .models.base import AT_ONCE
from .session import Session
from .tasks import Job

__all__ = ["Narrowed", "Narrower"]

Mask = NDArray[np.bool_]
KEPT = 8
"""Substructures whose compounds are remembered."""


@dataclass(frozen=True, eq=False)
class Narrowed:
    """What a filter leaves."""

    text: str
    mask: Mask | None
    """None: all compounds, because it says nothing."""


class Narrower(QObject):
    """Asked with a text; answers at once, or says by ``ready`` when it can."""

    ready = Signal()
    """The answer to what was asked last is there, or never will be: ask again."""

    def __init__(self, session: Session, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._session = session
        self._job: Job | None = None
        self._answer: Narrowed | None = None
        self._question: tuple[str, object] = ("", None)
        self._library: Library | None = None
        self.latest = Narrowed("", None)
        """The last answer about this library, which holds until the next one is there."""
        self._having: dict[str, Mask] = {}

    def ask(self, text: str, library: Library, key: object, facts: Callable[[], Facts]) -> Narrowed | None:
        """The answer; None while it is worked out. ``key``: what ``facts`` are of; another one is another question."""
        if library is not self._library:
            self._library, self._having, self.latest = library, {}, Narrowed("", None)
        self._drop(text, key)
        if self._job is not None:
            return None
        if self._answer is None:
            missing = [one for one in patterns(text, library) if one not in self._having]
            if not text.strip():
                self._answer = Narrowed(text, None)
            elif missing or len(library) > AT_ONCE:
                self._work(text, library, facts, missing)
                return None
            else:
                self._answer = self.now(text, library, facts())
        self.latest = self._answer
        return self._answer

    def now(self, text: str, library: Library, facts: Facts) -> Narrowed:
        """The answer at once, with the substructures that were looked for before."""
        return self._found(text, library, facts, self._having)

    @property
    def busy(self) -> bool:
        """Whether an answer is being worked out."""
        return self._job is not None

    def _drop(self, text: str, key: object) -> None:
        """Forget what belongs to another question."""
        if self._question[0] == text and self._question[1] is key:
            return
        self._question, self._answer = (text, key), None
        if self._job is not None:
            self._job.cancelled = True
            self._job = None

    def _work(self, text: str, library: Library, facts: Callable[[], Facts], missing: list[str]) -> None:
        smiles, having, job = library.smiles, dict(self._having), list[Job]()

        def work(report: Report) -> tuple[Narrowed, dict[str, Mask]]:
            for one in missing:
                if smiles is None or not any(smiles):
                    raise AssayPilotError(
                        "no structure is known to look through", mend="Give the table a column of SMILES."
                    )
                held = in_another_process(packed_holding, pack_texts(smiles), one, report=report)
                having[one] = np.frombuffer(held, dtype=np.uint8).astype(bool)
            return self._found(text, library, facts(), having), having

        def landed(found: tuple[Narrowed, dict[str, Mask]]) -> None:
            if self._job is job[0]:
                self._job, self._answer = None, found[0]
                self._having = dict(list(found[1].items())[-KEPT:])
                self.ready.emit()

        def stopped() -> None:
            if self._job is job[0]:  # what cannot be found leaves the table as it is
                self._job, self._answer = None, Narrowed("", None)
                self.ready.emit()

        label = "Looking through structures" if missing else "Filtering"
        job.append(self._session.arrange(label, work, landed, stopped))
        self._job = job[0]

    @staticmethod
    def _found(text: str, library: Library, facts: Facts, having: dict[str, Mask]) -> Narrowed:
        return Narrowed(text, narrow(text, library, facts.numbers, facts.named, facts.coded, having))
