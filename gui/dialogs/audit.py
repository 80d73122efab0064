"""The question how many compounds an audit round is to draw, with what that would show."""

from __future__ import annotations

import numpy as np
from PySide6.QtWidgets import QDialog, QFormLayout, QSpinBox, QVBoxLayout, QWidget

from assaypilot.engine.campaign.auditing import CONFIDENCE, members_if_none
from assaypilot.engine.campaign.state import Status
from assaypilot.engine.strategies.protocol import IN
from assaypilot.engine.text.percentages import percent

from ..widgets.text import go_or_cancel, label

__all__ = ["AuditDialog", "population_of"]

USUAL = 48
"""Compounds that are proposed."""


def population_of(status: Status) -> int:
    """Return how many compounds are not in, can be measured and never were; 0 where no audit is possible."""
    if status.settings.goal in ("pareto", "top") or status.limited_endpoints or not status.measurements or status.phase:
        return 0
    free = status.library.measurable & (status.candidates.status != IN) & (status.candidates.measured == 0)
    free[list(status.unavailable)] = False
    return int(np.count_nonzero(free))


class AuditDialog(QDialog):
    """Asks for the size of the sample."""

    def __init__(self, status: Status, parent: QWidget | None) -> None:
        super().__init__(parent)
        self.setWindowTitle("Plan audit round")
        self._population = population_of(status)
        column = QVBoxLayout(self)
        column.setContentsMargins(22, 20, 22, 16)
        column.setSpacing(12)
        about = f"Draws from the {self._population:,} compounds that are not in and were never measured, at random."
        column.addWidget(label(about, wrap=True))
        self.size_box = QSpinBox()
        self.size_box.setRange(1, self._population)
        self.size_box.setValue(min(USUAL, self._population))
        self.size_box.setAccessibleName("Compounds to draw")
        self.size_box.valueChanged.connect(self._told)
        form = QFormLayout()
        form.addRow("&Compounds to draw", self.size_box)
        column.addLayout(form)
        self.bound = label("", wrap=True)
        column.addWidget(self.bound)
        buttons, self.go = go_or_cancel("&Plan audit round")
        buttons.accepted.connect(self.accept)
        buttons.rejected.connect(self.reject)
        column.addWidget(buttons)
        self.setMinimumWidth(26 * self.fontMetrics().height())
        self._told()

    def _told(self) -> None:
        size = self.size_box.value()
        missed, rest = members_if_none(self._population, size), self._population - size
        self.bound.setText(
            f"If none of them is a member, at most {missed:,} of the other {rest:,} are ({percent(CONFIDENCE)}), "
            "whatever the model believes."
            if rest
            else "All of them are measured: nothing is missed."
        )
