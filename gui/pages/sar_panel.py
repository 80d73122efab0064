"""The panel beside the pictures of structure and activity: the compound that is selected, and why it stands so."""

from __future__ import annotations

from PySide6.QtCore import Signal

from ..session import Session
from ..view import View
from ..widgets.structures import Structures
from ..widgets.text import button, label
from .candidate_panel import CompoundPanel

__all__ = ["SarPanel"]

_HINT = "Click a cell, a row or a point, or go to it with the arrow keys and press Enter."


class SarPanel(CompoundPanel):
    """The selected compound, or how one is selected."""

    wanted = Signal()
    """The compound is to be shown in the table of candidates."""

    def __init__(self, structures: Structures, session: Session) -> None:
        super().__init__(structures, session)
        self.hint = label(_HINT, "muted", wrap=True)
        self.insertWidget(1, self.hint)
        self.go = button("Show in &Candidates", tip="Goes to this compound in the table of the Candidates page")
        self.go.clicked.connect(self.wanted)
        self.addWidget(self.go)
        self.addStretch(1)

    def show_compound(self, view: View, compound: int | None) -> None:
        """Explain a compound; None: says how one is selected."""
        super().show_compound(view, compound)
        self.hint.setVisible(compound is None)
        self.go.setVisible(compound is not None)
