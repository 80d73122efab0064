"""Which strategy plans the rounds: the one proposed for a goal, or another one that answers it."""

from __future__ import annotations

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QComboBox, QVBoxLayout, QWidget

from assaypilot.engine.strategies.registry import choose, strategies
from assaypilot.gui.widgets.text import label

__all__ = ["StrategyChoice"]

NOT_OFFERED = ("linfact-mis",)
"""Strategies that need to be told a number of their own; the command line asks for it."""

WORDS = (("epsilon + slack", "that and the soft zone"), ("within epsilon", "within the distance"))
"""What the engine calls things, and how the fields beside are named."""


class StrategyChoice(QWidget):
    """A combo, with what the strategy promises below it."""

    changed = Signal()

    def __init__(self) -> None:
        super().__init__()
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(2)
        self.combo = QComboBox()
        self.combo.setAccessibleName("Strategy")
        self.note = label("", "muted", wrap=True)
        column.addWidget(self.combo)
        column.addWidget(self.note)
        self._goal = ""
        self.combo.currentIndexChanged.connect(lambda _: self._chosen())

    @property
    def name(self) -> str:
        """The strategy chosen, ``auto`` for the one proposed."""
        return str(self.combo.currentData() or "auto")

    def show_for(self, goal: str) -> None:
        """Nothing; offers what answers a goal; a choice that answers it, too, stays."""
        if goal == self._goal:
            return
        self._goal = goal
        before = self.name
        self.combo.blockSignals(True)
        self.combo.clear()
        self.combo.addItem(f"Proposed: {choose('auto', goal)[0].info.title}", "auto")
        for kind in strategies():
            if goal in kind.info.goals and kind.info.name not in NOT_OFFERED:
                self.combo.addItem(kind.info.title, kind.info.name)
        self.combo.setCurrentIndex(max(self.combo.findData(before), 0))
        self.combo.blockSignals(False)
        self._chosen()

    def _chosen(self) -> None:
        words = choose(self.name, self._goal)[0].info.guarantee
        for engine, here in WORDS:
            words = words.replace(engine, here)
        self.note.setText(f"{words[:1].upper()}{words[1:]}.")
        self.changed.emit()
