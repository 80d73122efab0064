"""The compound that is selected, the same one on every page."""

from __future__ import annotations

from PySide6.QtCore import QObject, Signal

__all__ = ["Selection"]


class Selection(QObject):
    """One compound of the open campaign, or none."""

    changed = Signal()

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.compound: int | None = None
        """Position in the library."""

    def choose(self, compound: int | None) -> None:
        """Select a compound, everywhere."""
        if compound != self.compound:
            self.compound = compound
            self.changed.emit()
