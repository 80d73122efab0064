"""What every kind of event is: a name and version, what it does to the state, what takes it back, how it reads."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
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
    """What of the event redo needs."""
    back: Draft
    """The event that takes it back."""


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
    remade: ClassVar[bool] = False
    """Whether a redone one is remembered as it was made then, and not as it was before."""

    @property
    def data(self) -> Mapping[str, Any]:
        """What the file holds of it."""
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

    def step(self) -> Step | None:
        """Return what undo takes back of it; None where it cannot be undone on its own."""
        return None

    def remember(self, ledger: Ledger) -> None:
        """Keep what can be undone and redone; a closed round or a decision ends both."""
        undo, redo, data = ledger.undo, ledger.redo, self.data
        if "undoes" in data:
            redo.append(undo.pop())
        elif self.ends_undo:
            undo.clear()
            redo.clear()
        elif self.remade and data.get("redoes") is not None:
            redo.pop()
            step = self.step()
            assert step is not None
            undo.append(step)
        elif "redoes" in data:
            undo.append(redo.pop())
        else:
            step = self.step()
            if step is not None:
                undo.append(step)
                redo.clear()


def laid_out_since(undo: Sequence[Step]) -> bool:
    """Return whether nothing but the plates of a round was stated since it was planned."""
    plan = next((step for step in reversed(undo) if step.kind.name != "plates_laid_out"), None)
    return plan is not None and plan.kind.issues and undo[-1] is not plan


def note_in_words(note: str) -> str:
    """Return a note behind a sentence, in brackets; empty without one."""
    return f" ({note})" if note else ""
