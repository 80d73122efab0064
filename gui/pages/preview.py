"""What a paste or a file would write, before it is written: it takes the round's place until it is decided."""

from __future__ import annotations

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QHBoxLayout, QVBoxLayout, QWidget

from assaypilot.engine.campaign.phrases import many

from ..models.notes import PastedModel
from ..pasting import Intended
from ..theme import theme
from ..widgets.table import Table
from ..widgets.text import Callout, button, label

__all__ = ["Preview"]


LONG = 60
"""Letters of a reason that fit a line."""


class Preview(QWidget):
    """Lines, warnings, Write and Cancel."""

    accepted = Signal(object)
    cancelled = Signal()

    def __init__(self) -> None:
        super().__init__()
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(10)
        self.title = label("", "heading")
        self.summary = label("", wrap=True)
        column.addWidget(self.title)
        column.addWidget(self.summary)
        self.warning = Callout()
        column.addWidget(self.warning)
        self.model = PastedModel(self)
        self.table = Table(self.model, name="What will be written")
        self.table.widths.stretch("note")
        column.addWidget(self.table, 1)
        row = QHBoxLayout()
        self.write = button("&Write", "go")
        self.write.clicked.connect(self._accept)
        self.cancel = button("Cancel")
        self.cancel.clicked.connect(self.cancelled)
        row.addStretch(1)
        row.addWidget(self.cancel)
        row.addWidget(self.write)
        column.addLayout(row)
        self._intended: Intended | None = None

    def show_intended(self, intended: Intended) -> None:
        """Show what would be written."""
        self._intended = intended
        n, rejected, wrong = len(intended.results), intended.rejected, len(intended.wrong)
        self.title.setText(intended.title)
        words = f"{many(n, 'value')} will be written"
        if rejected:
            words += f"; {many(rejected, 'line')} cannot be used and will be left out"
        if wrong:
            words += f", {wrong:,} of them kept in the list, marked, to be put right"
        if intended.pending:
            words += f"; {many(intended.pending, 'cell')} without a value yet (empty, n.d., NA)"
        self.summary.setText(words + ". Nothing has been written yet.")
        self.warning.setVisible(bool(intended.warnings))
        self.warning.say("Please look at", "\n".join(intended.warnings[:6]))
        long = LONG / theme().scale
        self.table.tall = any(len(one.note) > long or len(one.compound) > long // 2 for one in intended.rows)
        self.model.show(intended.rows)
        nothing = "&Mark them in the list" if wrong else "Nothing to write"
        self.write.setText(f"&Write {many(n, 'value')}" if n else nothing)
        self.write.setEnabled(n + wrong > 0)
        (self.write if n + wrong else self.cancel).setFocus(Qt.FocusReason.OtherFocusReason)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Escape cancels, Enter writes."""
        if event.key() == Qt.Key.Key_Escape:
            self.cancelled.emit()
        elif event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter) and self.write.isEnabled():
            (self.cancelled.emit if self.cancel.hasFocus() else self._accept)()
        else:
            super().keyPressEvent(event)

    def _accept(self) -> None:
        if self._intended is not None and (self._intended.results or self._intended.wrong):
            self.accepted.emit(self._intended)
