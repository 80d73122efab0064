"""What other settings would do to the campaign, said before it is done, with the two ways out beside it."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QFrame, QGridLayout, QLineEdit, QVBoxLayout

from ..widgets.text import button, label, polish

__all__ = ["ChangePanel"]


class ChangePanel(QFrame):
    """Sentences, a reason for the history, Apply and As it is."""

    apply = Signal(str)
    """The settings are to be changed, for this reason."""
    leave = Signal()
    """All is to stay as it is."""

    def __init__(self) -> None:
        super().__init__()
        self.setObjectName("card")
        column = QVBoxLayout(self)
        column.setContentsMargins(14, 12, 14, 14)
        column.setSpacing(9)
        self.heading = label("If this is applied", "heading", wrap=True)
        self.words = label("", wrap=True, selectable=True)
        self.note = QLineEdit()
        self.note.setAccessibleName("Why the settings are changed")
        self.note.setPlaceholderText("Why? (kept in the history)")
        self.note.setToolTip("A few words for whoever reads the history later; may stay empty")
        self.apply_button = button("&Apply", "go")
        self.apply_button.clicked.connect(lambda: self.apply.emit(self.note.text().strip()))
        self.note.returnPressed.connect(self.apply_button.click)
        self.leave_button = button("As &it is", tip="Takes back what was typed; nothing is changed")
        self.leave_button.clicked.connect(self.leave)
        row = QGridLayout()
        row.setHorizontalSpacing(8)
        row.addWidget(self.apply_button, 0, 0)
        row.addWidget(self.leave_button, 0, 1)
        row.setColumnStretch(2, 1)
        for part in (self.heading, self.words, self.note):
            column.addWidget(part)
        column.addLayout(row)
        self._locked = ""
        self.hide()

    def lock(self, why: str) -> None:
        """Let nothing be applied, and say why; empty: it may be."""
        self._locked = why

    def wait(self) -> None:
        """Something was typed, and what it does is not known yet."""
        self._say("If this is applied", "Checking what this does…", ready=False)

    def tell(self, sentences: Sequence[str]) -> None:
        """Say what the settings typed would do."""
        self._say("If this is applied", "\n\n".join(sentences) or "Nothing else changes.", ready=True)

    def refuse(self, text: str) -> None:
        """Say why the settings typed cannot be applied."""
        self._say("This cannot be applied", text, ready=False, problem=True)

    def nothing(self) -> None:
        """There is nothing to apply."""
        self.note.clear()
        self.hide()

    def _say(self, heading: str, text: str, *, ready: bool, problem: bool = False) -> None:
        self.heading.setText(heading)
        locked = bool(self._locked)
        self.words.setText(f"{text}\n\n{self._locked}" if locked and ready else text)
        polish(self.words, role="problem" if problem else "")
        self.note.setVisible(not problem and not locked)
        self.apply_button.setVisible(not problem and not locked)
        self.apply_button.setEnabled(ready)
        tip = "Changes the campaign; Undo takes it back" if ready else "As soon as it is known what this does"
        self.apply_button.setToolTip(tip)
        self.setAccessibleName(f"{heading}: {text}")
        self.show()
