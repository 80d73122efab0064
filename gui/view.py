"""What the window shows of the campaign at one moment: values to read, none of them writable."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from assaypilot.engine.campaign.reasons.reasons import Reasons
    from assaypilot.engine.campaign.state import Round, Status

__all__ = ["View"]


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
    """What the library can tell apart of the model's unknowns, and how many unknowns there are."""
    reasons: Reasons | None = None
    """Why every compound stands where it stands."""

    @property
    def round(self) -> Round | None:
        """The open round, else the latest one."""
        standing = [one for one in self.status.rounds if one.state != "withdrawn"]
        return self.status.open_round or (standing[-1] if standing else None)
