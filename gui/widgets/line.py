"""A line to type into."""

from __future__ import annotations

from PySide6.QtCore import QEvent
from PySide6.QtGui import QKeyEvent, QKeySequence
from PySide6.QtWidgets import QLineEdit

__all__ = ["Line"]


class Line(QLineEdit):
    """Leaves Undo and Redo to the campaign while there is nothing of its own to undo or redo."""

    def event(self, event: QEvent) -> bool:
        """Whether the event stops here."""
        if event.type() == QEvent.Type.ShortcutOverride and isinstance(event, QKeyEvent):
            undo, redo = QKeySequence.StandardKey.Undo, QKeySequence.StandardKey.Redo
            if (event.matches(undo) and not self.isUndoAvailable()) or (
                event.matches(redo) and not self.isRedoAvailable()
            ):
                event.ignore()
                return False
        return super().event(event)
