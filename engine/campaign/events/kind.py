"""The base of all kinds of events: name and version, effect on the state and what takes it back, and text."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any, ClassVar

from ..file.chain import Draft, Event
from ..replay import Ledger

Revert = Callable[[Ledger], None]
"""Takes back in a state what an event has just changed there."""


@dataclass(frozen=True, slots=True)
class Step:
    """One user action that can be undone."""

    done: Kind
    """The event that it was."""
    revert: Revert

    @property
    def label(self) -> str:
        """Its name in the menu."""
        return self.done.label


@dataclass(frozen=True, slots=True)
class Kind(ABC):
    """One event as its kind understands it; each kind is a class of its own."""

    event: Event

    name: ClassVar[str]
    """The word for it in the file."""
    version: ClassVar[int] = 1
    """The newest shape of its data that this program reads."""
    issues: ClassVar[bool] = False
    """Whether it issues a round."""
    ends_undo: ClassVar[bool] = False
    """Whether nothing before it can be undone any more."""

    @property
    def data(self) -> Mapping[str, Any]:
        """Its data in the file."""
        return self.event.data

    @classmethod
    def draft(cls, data: Mapping[str, Any]) -> Draft:
        """Return an event of this kind as it is written."""
        return Draft(cls.name, data, cls.version)

    @property
    def label(self) -> str:
        """Its name in the menu, where it can be undone."""
        return ""

    @abstractmethod
    def apply(self, ledger: Ledger) -> Revert | None:
        """Take it into the state; return what takes it back, None where undo cannot reach it."""

    @abstractmethod
    def sentence(self, ledger: Ledger) -> str:
        """Return it in one plain sentence; ``ledger`` has just taken it in."""

    def again(self, ledger: Ledger) -> Revert | None:
        """Take it into the state once more after it was taken back."""
        return self.apply(ledger)

    def remember(self, ledger: Ledger, revert: Revert | None) -> None:
        """Keep what can be undone; a closed round or a decision ends that."""
        if self.ends_undo:
            ledger.undo.clear()
        elif revert is not None:
            ledger.undo.append(Step(self, revert))
        if self.ends_undo or revert is not None:
            ledger.redo.clear()


class Undone(Kind):
    """The last action taken back."""

    name = "undone"

    def apply(self, ledger: Ledger) -> None:
        """Return to the state before."""
        step = ledger.undo.pop()
        step.revert(ledger)
        ledger.redo.append(step)

    def sentence(self, ledger: Ledger) -> str:
        """Return what is taken back."""
        return f"Undone: {self.data['label']}"


class Redone(Kind):
    """The action taken back last, done once more."""

    name = "redone"

    def apply(self, ledger: Ledger) -> None:
        """Apply the same event again; ``instead``: what is other in its data, such as the number of a round."""
        was = ledger.redo.pop().done
        data = {**was.data, **self.data["instead"]}
        done = type(was)(replace(was.event, time=self.event.time, data=data))
        revert = done.again(ledger)
        if revert is not None:
            ledger.undo.append(Step(done, revert))

    def sentence(self, ledger: Ledger) -> str:
        """Return what is done again."""
        return f"Redone: {self.data['label']}"


def note_in_words(note: str) -> str:
    """Return a note behind a sentence, in brackets; empty without one."""
    return f" ({note})" if note else ""
