"""The panel beside the pictures of structure and activity: the compound that is selected, and why it stands so."""

from __future__ import annotations

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QHBoxLayout, QVBoxLayout

from assaypilot.engine.campaign.state import STATUSES
from assaypilot.gui.pages.candidate_panel import details
from assaypilot.gui.pages.why import why
from assaypilot.gui.session import View
from assaypilot.gui.widgets.marks import StatusMark
from assaypilot.gui.widgets.structures import Structures, StructureView
from assaypilot.gui.widgets.text import Callout, Details, ElidedLabel, button, label

__all__ = ["SarPanel"]


class SarPanel(QVBoxLayout):
    """Structure, figures and reason of the selected compound."""

    wanted = Signal()
    """The compound is to be shown in the table of candidates."""

    def __init__(self, structures: Structures) -> None:
        super().__init__()
        self.setSpacing(12)
        self.setContentsMargins(0, 0, 0, 0)
        heading = QHBoxLayout()
        heading.setSpacing(8)
        self.name = ElidedLabel("title")
        self.mark = StatusMark()
        heading.addWidget(self.name, 1)
        heading.addWidget(self.mark)
        self.addLayout(heading)
        self.hint = label("Click a cell, a row or a point, or go to it with the arrow keys and press Enter.", "muted",
                          wrap=True)  # fmt: skip
        self.addWidget(self.hint)
        self.structure = StructureView(structures)
        self.addWidget(self.structure)
        self.details = Details()
        self.addWidget(self.details)
        self.why = Callout()
        self.addWidget(self.why)
        self.go = button("Show in &Candidates", tip="Goes to this compound in the table of the Candidates page")
        self.go.clicked.connect(self.wanted)
        self.addWidget(self.go)
        self.addStretch(1)

    def show_compound(self, view: View, compound: int | None) -> None:
        """Nothing; explains a compound; None: says how one is selected."""
        status = view.status
        for widget in (self.mark, self.details, self.go):
            widget.setVisible(compound is not None)
        self.hint.setVisible(compound is None)
        if compound is None:
            self.name.setText("No compound selected")
            self.structure.show_structure("")
            self.why.setVisible(False)
            return
        self.name.setText(status.library.ids[compound])
        code = int(status.candidates.status[compound])
        self.mark.show_status(code, STATUSES[code])
        smiles = status.library.smiles
        self.structure.show_structure("" if smiles is None else smiles[compound])
        self.details.show_rows(details(status, compound))
        said = why(status, compound)
        self.why.setVisible(said is not None)
        if said is not None:
            self.why.say(*said)
