"""The question what an empty substituent cell means, asked once for each set of headers, with counts."""

from __future__ import annotations

from collections.abc import Mapping

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QButtonGroup, QHBoxLayout, QRadioButton

from assaypilot.engine.tables.options import Blank

from ..widgets.text import Callout

__all__ = ["BlankQuestion"]


class BlankQuestion(Callout):
    """Hydrogen, or not known; neither is chosen until somebody says so, and the rows are left out meanwhile."""

    answered = Signal()

    def __init__(self) -> None:
        super().__init__()
        self._answers = QButtonGroup(self)
        row = QHBoxLayout()
        row.setSpacing(18)
        self.hydrogen = QRadioButton("Hydro&gen")
        self.unknown = QRadioButton("Not &known: leave those rows out")
        for made in (self.hydrogen, self.unknown):
            made.setAccessibleName(f"An empty substituent: {made.text().replace('&', '')}")
            self._answers.addButton(made)
            row.addWidget(made)
            made.toggled.connect(self._toggled)
        row.addStretch(1)
        self.body.addLayout(row)
        self.hide()

    @property
    def meaning(self) -> Blank:
        """What an empty cell means."""
        return "h" if self.hydrogen.isChecked() else "missing"

    def answer(self, blank: Blank | None) -> None:
        """Take an answer given before (None: there is none)."""
        self._answers.setExclusive(False)
        for made, meant in ((self.hydrogen, "h"), (self.unknown, "missing")):
            made.blockSignals(True)
            made.setChecked(blank == meant)
            made.blockSignals(False)
        self._answers.setExclusive(True)

    def ask(self, empty: Mapping[str, int]) -> None:
        """Ask about the columns that have empty cells, each with its count; hides when there is none."""
        if empty:
            counts = ", ".join(f"{name}: {count:,}" for name, count in empty.items())
            self.say("What is an empty substituent cell?", f"Empty cells: {counts}. This is asked once.")
        self.setVisible(bool(empty))

    def _toggled(self, checked: bool) -> None:
        if checked:
            self.answered.emit()
