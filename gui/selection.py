"""The compounds that are selected, the same ones on every page."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QObject, Signal

__all__ = ["Selection"]


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
