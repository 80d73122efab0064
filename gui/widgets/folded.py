"""A text of a few lines, the rest of which is folded away until it is asked for."""

from __future__ import annotations

from PySide6.QtCore import QEvent, QRect, Qt, Signal
from PySide6.QtGui import QFontMetrics, QResizeEvent
from PySide6.QtWidgets import QLabel

from ..models.base import plain_tip
from ..theme import theme
from .text import Role

__all__ = ["FoldedLabel"]

_TALL = 1_000_000


class FoldedLabel(QLabel):
    """Plain text that ends in … after so many lines (of large text fewer: it is the room that counts)."""

    longer = Signal(bool)
    """Whether there is more of it than fits the lines; said when that changes."""

    def __init__(self, role: Role = "", *, lines: int) -> None:
        super().__init__()
        self.setTextFormat(Qt.TextFormat.PlainText)
        self.setWordWrap(True)
        self.setProperty("role", role)
        self._lines, self._whole = lines, ""
        self._unfolded = self._longer = False

    def setText(self, text: str) -> None:
        """Show another text."""
        self._whole = text
        self.setAccessibleName(text)
        self._fit()

    def text(self) -> str:
        """The whole text."""
        return self._whole

    @property
    def shown(self) -> str:
        """What can be read of it now."""
        return super().text()

    def unfold(self, unfolded: bool) -> None:
        """Show all of it, or its first lines."""
        self._unfolded = unfolded
        self._fit()

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Fit the text into the new width."""
        super().resizeEvent(event)
        self._fit()

    def changeEvent(self, event: QEvent) -> None:
        """Fit the text anew when its letters change."""
        super().changeEvent(event)
        if event.type() == QEvent.Type.FontChange:
            self._fit()

    def _fit(self) -> None:
        fits = self._holds(self._whole)
        text = self._whole if fits or self._unfolded else self._cut()
        if text != super().text():
            super().setText(text)
        if fits is self._longer:
            self._longer = not fits
            self.longer.emit(self._longer)
        self.setToolTip("" if fits or self._unfolded else plain_tip(self._whole))

    def _holds(self, text: str) -> bool:
        """Whether a text is no longer than the lines there are."""
        metrics = QFontMetrics(self.font())
        room = QRect(0, 0, max(self.contentsRect().width(), 1), _TALL)
        flags = Qt.TextFlag.TextWordWrap | Qt.AlignmentFlag.AlignLeft
        lines = max(2, round(self._lines / theme().scale))
        return metrics.boundingRect(room, int(flags), text).height() <= lines * metrics.lineSpacing() + 1

    def _cut(self) -> str:
        """As many of its words as the lines hold, and an ellipsis."""
        words = self._whole.split(" ")
        low, high = 0, len(words)
        while high - low > 1:
            middle = (low + high) // 2
            low, high = (middle, high) if self._holds(f"{' '.join(words[:middle])} …") else (low, middle)
        return f"{' '.join(words[:low])} …"
