"""The shared data of all pages: the campaign at one moment, and the compounds selected in it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Signal

if TYPE_CHECKING:
    from assaypilot.engine.campaign.issued_rounds import Round
    from assaypilot.engine.campaign.reasons import Reasons
    from assaypilot.engine.campaign.state import Status


@dataclass(frozen=True, eq=False)
class View:
    """Everything the window shows of the campaign, at one head of its log."""

    status: Status
    path: Path
    read_only: bool
    read_only_reason: str | None
    undo: str | None
    redo: str | None
    practice: bool
    """Whether the shipped simulated assay can measure its rounds."""
    rank: tuple[int, int] | None
    """The rank of the model (its estimable unknowns) and the number of unknowns."""
    reasons: Reasons | None = None
    """The reason for the status of every compound."""

    @property
    def locked(self) -> str:
        """Why nothing can be changed, as a sentence; empty where it can."""
        why = (self.read_only_reason or "the file cannot be written").rstrip(".")
        return f"Read-only: {why}." if self.read_only else ""

    @property
    def round(self) -> Round | None:
        """The open round, else the latest one."""
        standing = [one for one in self.status.rounds if one.state != "withdrawn"]
        return self.status.open_round or (standing[-1] if standing else None)


class Selection(QObject):
    """One compound of the open campaign, or none; and those that were selected along with it."""

    changed = Signal()

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.compound: int | None = None
        """Position in the library."""
        self.group: tuple[int, ...] = ()
        """Several compounds selected at once; empty when one is."""

    def choose(self, compound: int | None, group: Sequence[int] = ()) -> None:
        """Select a compound everywhere, or several, of which it is the one that is explained."""
        if compound != self.compound or tuple(group) != self.group:
            self.compound, self.group = compound, tuple(group)
            self.changed.emit()
