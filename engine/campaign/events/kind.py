"""The base of all kinds of events: name and version, effect on the state, opposite, and text."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from ..file.chain import Draft, Event
from ..replay import Ledger


@dataclass(frozen=True, slots=True)
class Step:
    """One user action that can be undone."""

    label: str
    kind: type[Kind]
    """The kind of event that it was."""
    data: Mapping[str, Any]
    """That of the event."""
    back: Draft
    """The event that takes it back."""
    forth: Draft
    """The event that does it once more: the same, as nothing but undo came after it."""


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

    @abstractmethod
    def apply(self, ledger: Ledger) -> None:
        """Take it into the state."""

    @abstractmethod
    def sentence(self, ledger: Ledger) -> str:
        """Return it in one plain sentence; ``ledger`` has just taken it in."""

    def undone(self) -> tuple[str, Draft] | None:
        """Return its label in the menu, and the event that takes it back; None where undo cannot reach it."""
        return None

    def done_again(self) -> Draft:
        """Return the event that does it once more after it was taken back."""
        return self.draft(self.data)

    def _step(self) -> Step | None:
        undone = self.undone()
        return None if undone is None else Step(undone[0], type(self), self.data, undone[1], self.done_again())

    def remember(self, ledger: Ledger) -> None:
        """Keep what can be undone and redone; a closed round or a decision ends both."""
        undo, redo, data = ledger.undo, ledger.redo, self.data
        if "undoes" in data:
            redo.append(undo.pop())
        elif self.ends_undo:
            undo.clear()
            redo.clear()
        elif "redoes" in data:
            before = redo.pop()
            undo.append(self._step() or before)
        else:
            step = self._step()
            if step is not None:
                undo.append(step)
                redo.clear()


def note_in_words(note: str) -> str:
    """Return a note behind a sentence, in brackets; empty without one."""
    return f" ({note})" if note else ""
