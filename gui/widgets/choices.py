"""A row of buttons of which one is down, and the box that narrows a table."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import Qt, QTimer, Signal
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QButtonGroup, QHBoxLayout, QPushButton, QWidget

from .line import Line
from .text import mnemonic_free

__all__ = ["FilterBox", "Segments"]

PAUSE = 150
"""Milliseconds after the last key before a table is narrowed."""


class Segments(QWidget):
    """Choices side by side; arrow keys move between them."""

    chosen = Signal(str)

    def __init__(self, choices: Sequence[tuple[str, str]], name: str) -> None:
        super().__init__()
        self.setAccessibleName(name)
        row = QHBoxLayout(self)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(0)
        self._group = QButtonGroup(self)
        self._buttons: dict[str, QPushButton] = {}
        for place, (key, text) in enumerate(choices):
            made = QPushButton(mnemonic_free(text))
            made.setProperty("role", "segment")
            made.setProperty("place", "first" if place == 0 else "last" if place == len(choices) - 1 else "middle")
            made.setCheckable(True)
            made.setAutoDefault(False)
            self._group.addButton(made)
            self._buttons[key] = made
            row.addWidget(made)
            made.clicked.connect(lambda _=False, key=key: self.chosen.emit(key))
        next(iter(self._buttons.values())).setChecked(True)

    @property
    def key(self) -> str:
        """What is chosen."""
        return next(key for key, made in self._buttons.items() if made.isChecked())

    @property
    def keys(self) -> list[str]:
        """What can be chosen, left to right."""
        return list(self._buttons)

    def text(self, key: str) -> str:
        """What a choice says."""
        return self._buttons[key].text().replace("&&", "&")

    def choose(self, key: str) -> None:
        """Press a button."""
        self._buttons[key].setChecked(True)
        self.chosen.emit(key)

    def set_text(self, key: str, text: str) -> None:
        """Name a choice anew."""
        self._buttons[key].setText(mnemonic_free(text))


class FilterBox(Line):
    """Text that narrows a table; Escape empties it."""

    narrowed = Signal(str)

    def __init__(self, hint: str, name: str = "Filter") -> None:
        super().__init__()
        self.setPlaceholderText(hint)
        self.setAccessibleName(name)
        self.setClearButtonEnabled(True)
        self._pause = QTimer(self)
        self._pause.setSingleShot(True)
        self._pause.setInterval(PAUSE)
        self._pause.timeout.connect(self._tell)
        self.textChanged.connect(lambda _: self._pause.start())

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Escape empties the box, Enter narrows at once and presses no button of a dialog."""
        if event.key() == Qt.Key.Key_Escape and self.text():
            self.clear()
            return
        if event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            self._tell()
            return
        super().keyPressEvent(event)

    def settle(self) -> None:
        """A text just typed counts at once."""
        if self._pause.isActive():
            self._tell()

    def _tell(self) -> None:
        self._pause.stop()
        self.narrowed.emit(self.text())
