"""The Goal page: what is wanted and guaranteed, what it will take, and what other settings would change."""

from __future__ import annotations

from PySide6.QtWidgets import QVBoxLayout

from assaypilot.gui.pages.base import Page, side_panel, with_side
from assaypilot.gui.session import Session, View
from assaypilot.gui.widgets.text import label

__all__ = ["GoalPage"]


class GoalPage(Page):
    """The goal in words, and its guarantee beside it."""

    def __init__(self, session: Session) -> None:
        super().__init__(session, "Goal")
        self.sentence = label("", "big", wrap=True, selectable=True)
        self.column.addWidget(self.sentence)
        self.column.addStretch(1)
        side, panel = side_panel()
        self.promise = QVBoxLayout()
        self.guarantee = label("", wrap=True, selectable=True)
        self.promise.addWidget(label("What is guaranteed", "heading"))
        self.promise.addWidget(self.guarantee)
        panel.addLayout(self.promise)
        panel.addStretch(1)
        self.sides = with_side(self, side)

    def refresh(self, view: View, *, opened: bool) -> None:
        """Nothing; shows a campaign as it is now."""
        self.sentence.setText(f"{view.status.goal_sentence}.")
        self.guarantee.setText(view.status.guarantee.sentence)
