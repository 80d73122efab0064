"""The buttons above the list of a round: those that make sense for it, and how much of it is back."""

from __future__ import annotations

from PySide6.QtWidgets import QWidget

from assaypilot.engine.campaign.state import Round

from ..keys import as_here
from ..view import View
from ..widgets.flow import FlowRow
from ..widgets.text import button, label

__all__ = ["Tools", "round_name"]


def round_name(shown: Round) -> str:
    """``Round 3``, ``Confirmation round 5``."""
    return shown.title


class Tools(QWidget):
    """One row of buttons, or more where the window is narrow."""

    def __init__(self) -> None:
        super().__init__()
        row = FlowRow(self)
        self.work = button(
            "&Work list…", tip="The round for the lab: a table with empty cells or a page to print, on plates if wanted"
        )
        self.read = button(
            "Re&ad results…", tip="Reads results from a table or a workbook; shows them before they are kept"
        )
        self.paste = button("Paste", tip=as_here("Pastes values from a spreadsheet (Ctrl+V): onto the selected line "
                            "and those below it, or ids with values. Shown before they are kept"))  # fmt: skip
        self.practice = button("&Measure with the practice assay", "go", "Fills the round with simulated values")
        self.late = button("Enter &late results", tip="Lets results be typed that come after the round was closed")
        self.late.setCheckable(True)
        self.back = label("", "muted")
        self.withdraw = button("With&draw…", "link", "Takes the round back; only while it has no result")
        self.close_ = button("Clo&se round…", tip="Ends the round with what has come back; says first what that means")
        for made in (self.work, self.read, self.paste, self.practice, self.late):
            row.addWidget(made)
        row.push()
        row.addWidget(self.back)
        row.addWidget(self.withdraw)
        row.addWidget(self.close_)

    def show_round(self, view: View, shown: Round, *, late: bool) -> None:
        """Show what can be done with a round."""
        open_ = shown.state == "open" and not view.read_only
        may_come = shown.state == "closed" and shown.missing > 0 and not view.read_only
        self.work.setVisible(shown.state != "withdrawn")
        self.read.setVisible(open_ or may_come)
        self.paste.setVisible(open_ or (may_come and late))
        self.close_.setVisible(open_)
        self.withdraw.setVisible(open_ and not has_results(view, shown))
        self.practice.setVisible(open_ and view.practice and not shown.came)
        self.late.setVisible(may_come)
        self.late.blockSignals(True)
        self.late.setChecked(late)
        self.late.setText("Done with &late results" if late else "Enter &late results")
        self.late.blockSignals(False)
        self.back.setText("" if shown.state == "withdrawn" else f"{shown.came:,} of {shown.measurements:,} back")


def has_results(view: View, shown: Round) -> bool:
    """Whether anything came back for a round, in use or not."""
    return any(one.round == shown.number and not one.withdrawn for one in view.status.measurements)
